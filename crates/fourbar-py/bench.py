"""Times of the package relative to the same loops in Rust: `python bench.py`.

Each pair is measured alternately, so that other work on the machine affects both equally; the median of all ratios is given.
"""

import concurrent.futures
import functools
import multiprocessing
import os
import resource
import statistics
import subprocess
import sys
import threading
import time

import fourbar
from fourbar import _fourbar


def paired(first, second, turns=7):
    """Medians of the ratio of two timings and of the timings."""
    pairs = [(first(), second()) for _ in range(turns)]
    return statistics.median(a / b for a, b in pairs), *(statistics.median(x) for x in zip(*pairs))


def clock(f):
    started = time.perf_counter()
    f()
    return time.perf_counter() - started


def runs(count=1000):
    """Runs of the four-bar linkage from a loop in Python and in Rust."""
    model = linkage()
    share = max(count // 7, 1)

    def loop():
        for _ in range(share):
            model.run()

    return paired(lambda: clock(loop), lambda: _fourbar._loop_of_runs(model._core, share)), share


@functools.cache
def linkage():
    """The four-bar linkage, read once in every process."""
    return fourbar.load("fourbar")


def work(count):
    """Runs of the four-bar linkage one after the other."""
    model = linkage()
    for _ in range(count):
        model.run()


def threads(count=60):
    """Ratio of the times of one thread and of two, each with half of the runs; the same with two independent processes, as the largest
    possible gain of the machine. Also processor time and mutual waits, which do not depend on other work."""
    work(1)

    def two():
        pair = [threading.Thread(target=work, args=(count // 2,)) for _ in range(2)]
        [t.start() for t in pair]
        [t.join() for t in pair]

    def used(f):
        before = resource.getrusage(resource.RUSAGE_SELF)
        f()
        after = resource.getrusage(resource.RUSAGE_SELF)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, after.ru_nvcsw - before.ru_nvcsw

    alone, both = used(lambda: work(count)), used(two)
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:

        def apart():
            return list(pool.map(work, [count // 2] * 2))

        apart()
        timed = [(clock(lambda: work(count)), clock(two), clock(apart)) for _ in range(7)]
    by_threads, by_processes = (statistics.median(t[0] / t[k] for t in timed) for k in (1, 2))
    return by_threads, by_processes, both[0] / alone[0], both[1] / count


PENDULUM = """
fourbar: 1
gravity: [0, 0, -9.81]
bodies: {rod: {mass: 1, inertia: [1e-4, 0.0833, 0.0833], at: [0.5, 0, 0]}}
joints: {pin: {type: revolute, bodies: [ground, rod], at: [0, 0, 0], axis: [0, 1, 0]}}
inputs: {torque: {unit: N*m}}
forces: {motor: {type: actuator, joint: pin, effort: torque}}
study: {t_end: 1}
"""


def steps(count=2000):
    """A step of 1 ms with one input set and one joint read: seconds per step in Python and in Rust."""
    model = fourbar.loads(PENDULUM)
    mine, theirs = model.simulation(), model.simulation()

    def loop():
        for k in range(count):
            mine.inputs["torque"] = 1e-3 * (k % 7)
            mine.step(0.001)
            mine.joint("pin").angle

    _, a, b = paired(lambda: clock(loop), lambda: _fourbar._loop_of_steps(theirs, "torque", "pin", 0.001, count))
    return a / count, b / count


def imported():
    """Processor time of the import, and of the import with a first run, which loads numpy; best of five, without an empty program, s."""

    def used():
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        return now.ru_utime + now.ru_stime

    def once(code):
        before = used()
        subprocess.run([sys.executable, "-c", code], check=True)
        return used() - before

    def best(code):
        return min(once(code) for _ in range(5))

    bare = best("pass")
    return best("import fourbar") - bare, best("import fourbar; fourbar.load('fourbar').run(0.01).t") - bare


def dask(seconds=12.0, turns=3):
    """A sweep of the four-bar linkage by two workers of Dask, in tasks of about a second, and in this process: ratios of the times to those
    of one and two threads; `None` if Dask is not installed. The workers have loaded the model in an earlier sweep."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        return None
    model, measures = linkage(), {"torque": "max(abs(motor.effort))"}

    def swept(count, **how):
        return clock(lambda: model.sweep({"crank_length": (0.05, 0.09, count)}, measures, progress=False, **how))

    swept(200, threads=1)
    count = max(int(1000 * seconds / swept(1000, threads=1)), 200)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        executor = client.get_executor()
        swept(count // 10, executor=executor)
        timed = [(swept(count, executor=executor, chunk=1.0), swept(count, threads=1), swept(count, threads=2)) for _ in range(turns)]
    by_one = statistics.median(2 * a / b for a, b, _ in timed)
    by_two = statistics.median(a / c for a, _, c in timed)
    return by_one, by_two, count, *(statistics.median(x) for x in zip(*timed))


if __name__ == "__main__":
    print(f"load of the machine at the start {', '.join(f'{x:.1f}' for x in os.getloadavg())} on {os.cpu_count()} cores")
    (ratio, python, rust), share = runs()
    print(f"runs of the four-bar linkage   Python {1e3 * python / share:.3f} ms, Rust {1e3 * rust / share:.3f} ms, ratio {ratio:.3f} (at most 1.15)")
    by_threads, by_processes, more, waits = threads()
    print(
        f"two threads                    {by_threads:.2f} times one (at least 1.7 on two free cores), two processes {by_processes:.2f}; "
        f"processor time {more:.2f} of one, {waits:.2f} waits a run"
    )
    python, rust = steps()
    print(f"step of 1 ms, input and joint  Python {1e6 * python:.1f} us, Rust {1e6 * rust:.1f} us, overhead {1e6 * (python - rust):.1f} us (at most 5)")
    alone, used = imported()
    print(f"import                         {1e3 * alone:.0f} ms (at most 300); with a first run, which loads numpy, {1e3 * used:.0f} ms")
    found = dask()
    if found is None:
        print("sweep by Dask                  left out: Dask is not installed (`pip install distributed`)")
    else:
        by_one, by_two, count, workers, one, two = found
        print(
            f"sweep by Dask, {count} cases    two workers {workers:.2f} s, one thread {one:.2f} s, two threads {two:.2f} s: "
            f"per core {by_two:.3f} of two threads (at most 1.15), {by_one:.3f} of one"
        )
