"""Times of the package beside the same loops in Rust, as ratios of one run: `python bench.py`.

Each pair is measured in turns, so that a machine with other work disturbs both alike; of the ratios of all turns the median is given.
"""

import resource
import statistics
import subprocess
import sys
import threading
import time

import fourbar
from fourbar import _fourbar


def paired(first, second, turns=7):
    """Medians of the ratio of two timings and of both."""
    pairs = [(first(), second()) for _ in range(turns)]
    return statistics.median(a / b for a, b in pairs), *(statistics.median(x) for x in zip(*pairs))


def clock(f):
    started = time.perf_counter()
    f()
    return time.perf_counter() - started


def runs(count=1000):
    """Runs of the four-bar linkage from a loop in Python and in Rust."""
    model = fourbar.load("fourbar")
    share = max(count // 7, 1)

    def loop():
        for _ in range(share):
            model.run()

    return paired(lambda: clock(loop), lambda: _fourbar._loop_of_runs(model._core, share)), share


def threads(count=60):
    """One thread over two, each with half of the runs; and, whatever else the machine does, processor time and waits for each other."""
    model = fourbar.load("fourbar")
    model.run()

    def work(n):
        for _ in range(n):
            model.run()

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
    return *paired(lambda: clock(lambda: work(count)), lambda: clock(two)), both[0] / alone[0], both[1] / count


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
    """A step of 1 ms with one input and one joint read: seconds a step in Python and in Rust."""
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
    """Processor time that the import takes, and with a first run, which loads numpy; the best of five, beyond an empty program, s."""

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


if __name__ == "__main__":
    (ratio, python, rust), share = runs()
    print(f"runs of the four-bar linkage   Python {1e3 * python / share:.3f} ms, Rust {1e3 * rust / share:.3f} ms, ratio {ratio:.3f} (at most 1.15)")
    ratio, one, two, more, waits = threads()
    print(f"two threads                    {ratio:.2f} times one (at least 1.7 on two free cores); processor time {more:.2f} of one, {waits:.2f} waits a run")
    python, rust = steps()
    print(f"step of 1 ms, input and joint  Python {1e6 * python:.1f} us, Rust {1e6 * rust:.1f} us, overhead {1e6 * (python - rust):.1f} us (at most 5)")
    alone, used = imported()
    print(f"import                         {1e3 * alone:.0f} ms (at most 300); with a first run, which loads numpy, {1e3 * used:.0f} ms")
