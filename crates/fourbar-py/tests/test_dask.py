"""Sweeps by Dask: on a local cluster, and with a scheduler and workers in separate processes that are killed."""

import contextlib
import csv
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

import pytest

import fourbar

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")

COUNT = 240
VARY = {"crank_length": (0.05, 0.09, COUNT)}
MEASURES = {"torque": "max(abs(motor.effort))", "rise": "range(P.y)"}
# Short tasks, so that workers are killed during the sweep.
CHUNK = 0.05
# Largest start time of processes, s, on a busy machine.
START = 180
# Losses are detected quickly; real clusters wait longer.
QUICK = {
    "distributed.comm.timeouts.connect": "5s", "distributed.worker.daemon": False,
    "distributed.scheduler.worker-ttl": "10s", "distributed.scheduler.allowed-failures": 5, "distributed.dashboard.link": "",
}  # fmt: skip
ENVIRONMENT = os.environ | {
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s",
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "10s", "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "5",
}  # fmt: skip


@pytest.fixture(scope="module")
def model():
    return fourbar.load("fourbar")


@pytest.fixture(scope="module")
def expected(model):
    return model.sweep(VARY, MEASURES)


def whole(result, expected, out):
    """No row is lost or duplicated, bit for bit."""
    for name in ("case", "set.crank_length", "torque", "rise"):
        assert result[name].tobytes() == expected[name].tobytes(), name
    if out is not None:
        with open(pathlib.Path(out) / "cases.csv") as file:
            assert [row["case"] for row in csv.DictReader(file)] == [str(k) for k in range(COUNT)]
        assert not list(pathlib.Path(out).glob("part-*"))


class Cluster:
    """A scheduler and workers as on a cluster: processes that connect through a file."""

    def __init__(self, folder):
        self.file, self.folder, self.processes = folder / "scheduler.json", folder, []
        self.scheduler = self.start("scheduler", "--port", "0", "--no-dashboard", "--host", "127.0.0.1", "--scheduler-file", str(self.file))
        deadline = time.monotonic() + START
        while not self.file.exists():
            assert time.monotonic() < deadline and self.scheduler.poll() is None, "the scheduler did not start"
            time.sleep(0.05)
        self.workers = [self.worker() for _ in range(2)]

    def start(self, *words):
        log = open(self.folder / f"{words[0]}-{len(self.processes)}.log", "w")
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *words], stdout=log, stderr=log, env=ENVIRONMENT, cwd=self.folder
        )
        self.processes.append(process)
        return process

    def worker(self):
        return self.start(
            "worker", "--scheduler-file", str(self.file), "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1",
            "--local-directory", str(self.folder),
        )  # fmt: skip

    def client(self):
        return distributed.Client(scheduler_file=str(self.file), timeout="8s")

    def stop(self):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()


@contextlib.contextmanager
def cluster(folder):
    folder.mkdir()
    with dask.config.set(QUICK):
        made = Cluster(folder)
        try:
            yield made
        finally:
            made.stop()


def when_parts(out, count, act, after=2.0 * START):
    """Calls a function in a separate thread once a number of parts are on disk."""
    told = {}

    def watch():
        deadline = time.monotonic() + after
        while time.monotonic() < deadline:
            if len(list(pathlib.Path(out).glob("part-*.parquet"))) >= count:
                told["acted"] = True
                act()
                return
            time.sleep(0.002)

    thread = threading.Thread(target=watch)
    thread.start()
    return thread, told


def test_a_local_cluster(model, expected):
    with dask.config.set(QUICK), distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local:
        with distributed.Client(local) as client:
            whole(model.sweep(VARY, MEASURES, executor=client.get_executor(), chunk=0.2), expected, None)


def test_a_worker_that_is_killed_is_replaced(model, expected, tmp_path):
    out = tmp_path / "s"
    with cluster(tmp_path / "c") as made, made.client() as client:
        client.wait_for_workers(2, timeout=START)
        thread, told = when_parts(out, 3, made.workers[0].kill)
        result = model.sweep(VARY, MEASURES, executor=client.get_executor(), chunk=CHUNK, out=out)
        thread.join()
        assert told, "the sweep was too quick to be disturbed"
        whole(result, expected, out)


def test_a_scheduler_that_is_killed_costs_only_what_had_not_come_in(model, expected, tmp_path):
    out = tmp_path / "s"
    with cluster(tmp_path / "c") as made:
        client = made.client()
        client.wait_for_workers(2, timeout=START)
        thread, told = when_parts(out, 3, made.scheduler.kill)
        with pytest.raises(fourbar.FourbarError) as caught:
            model.sweep(VARY, MEASURES, executor=client.get_executor(), chunk=CHUNK, out=out)
        thread.join()
        assert told and caught.value.code == "U441" and "resume" in caught.value.help
        with contextlib.suppress(Exception):
            client.close(timeout=1)
    kept = len(list(out.glob("part-*.parquet")))
    assert kept >= 3
    with cluster(tmp_path / "d") as made, made.client() as client:
        result = model.sweep(VARY, MEASURES, executor=client.get_executor(), chunk=CHUNK, out=out, resume=True)
    assert 0 < result.computed < COUNT
    whole(result, expected, out)


CLIENT = """
import sys, distributed, fourbar
with distributed.Client(scheduler_file=sys.argv[1], timeout={start}) as client:
    fourbar.load("fourbar").sweep({vary!r}, {measures!r}, executor=client.get_executor(), chunk={chunk}, out=sys.argv[2])
"""


def test_a_client_that_is_killed_is_continued_by_another(model, expected, tmp_path):
    out = tmp_path / "s"
    with cluster(tmp_path / "c") as made:
        code = CLIENT.format(vary=VARY, measures=MEASURES, chunk=CHUNK, start=START)
        process = subprocess.Popen([sys.executable, "-c", code, str(made.file), str(out)], env=ENVIRONMENT)
        thread, told = when_parts(out, 3, process.kill)
        assert process.wait(timeout=3 * START) != 0, "the sweep was too quick to be disturbed"
        thread.join()
        before = set(out.glob("part-*.parquet"))
        assert told and before
        with made.client() as client:
            result = model.sweep(VARY, MEASURES, executor=client.get_executor(), chunk=CHUNK, out=out, resume=True)
        assert 0 < result.computed < COUNT
        whole(result, expected, out)
    hash_ = json.loads((out / "plan.json").read_text())["hash"]
    assert all(p.name.split("-")[2].startswith(hash_[:16]) for p in before)
