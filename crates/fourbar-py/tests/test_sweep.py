"""Sweeps: the same rows with any executor, stored and resumed, readable by other programs."""

import csv
import json
import os
import pathlib
import pickle
import random
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import fourbar
from fourbar import _sweep

VARY = {"crank_length": "50..130 mm:5", "rocker_length": [0.12, 0.15, 0.2]}
MEASURES = {"torque": "max(abs(motor.effort))", "rise": "range(P.y)"}


@pytest.fixture(scope="module")
def expected(fourbar_model):
    return fourbar_model.sweep(VARY, MEASURES, threads=1)


def same(a, b):
    assert a.columns == b.columns and len(a) == len(b)
    for name in a.columns:
        if a[name].dtype == object:
            assert list(a[name]) == list(b[name]), name
        else:
            assert a[name].tobytes() == b[name].tobytes(), name


def test_rows_are_those_of_plain_runs(fourbar_model, expected):
    assert len(expected) == 15 and expected.columns[:3] == ("case", "set.crank_length", "set.rocker_length")
    # A crank of 130 mm cannot rotate fully with a rocker of 120 mm.
    assert expected["status"][12] == "not-assembled" and expected["code"][12] == "S220" and np.isnan(expected["rise"][12])
    assert expected.counts["ok"] == 14 and expected.ok.sum() == 14
    k = 7
    run = fourbar_model.replace(crank_length=expected["set.crank_length"][k], rocker_length=expected["set.rocker_length"][k]).run()
    assert expected["rise"][k] == np.ptp(run["P.y"]) and expected["torque"][k] == np.abs(run["motor.effort"]).max()
    assert expected.units["torque"] == "N*m" and expected.units["set.crank_length"] == "m"
    with pytest.raises(ValueError):
        expected["rise"][0] = 1.0


def test_batches_have_the_rows_of_plain_runs(fourbar_model, expected, tmp_path):
    batch = fourbar_model.sweep(VARY, MEASURES, batch=True, threads=1)
    assert batch.columns == expected.columns and list(batch["status"]) == list(expected["status"])
    for name in MEASURES:
        np.testing.assert_allclose(batch[name], expected[name], rtol=1e-7, equal_nan=True)
    # Bit-identical for any number of threads and with an executor.
    same(batch, fourbar_model.sweep(VARY, MEASURES, batch=True, threads=2, out=tmp_path / "batch"))
    with ThreadPoolExecutor(2) as pool:
        same(batch, fourbar_model.sweep(VARY, MEASURES, batch=True, executor=pool))


def test_rows_have_the_same_bits_whoever_computes_them(fourbar_model, expected, tmp_path):
    same(expected, fourbar_model.sweep(VARY, MEASURES, threads=2))
    same(expected, fourbar_model.sweep(VARY, MEASURES, out=tmp_path / "here"))
    with ThreadPoolExecutor(2) as pool:
        same(expected, fourbar_model.sweep(VARY, MEASURES, executor=pool))
        same(expected, fourbar_model.sweep(VARY, MEASURES, executor=pool, chunk=0.02, out=tmp_path / "threads"))
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        same(expected, fourbar_model.sweep(VARY, MEASURES, executor=pool, out=tmp_path / "processes"))
    tables = {(tmp_path / where / "cases.csv").read_bytes() for where in ("here", "threads", "processes")}
    assert len(tables) == 1
    assert not list(tmp_path.glob("*/part-*")) and not list(tmp_path.glob("*/*.part"))
    same(expected, pickle.loads(pickle.dumps(expected)))


def drawn(seed, count, low, high):
    print("seed", seed)
    return np.random.default_rng(seed).uniform(low, high, count).tolist()


def test_batches_give_the_rows_of_plain_runs(fourbar_model, expected, tmp_path):
    """Kinematics, including a case that cannot be assembled: it runs alone and is reported."""
    batch = fourbar_model.sweep(VARY, MEASURES, batch=True)
    for name in ("case", "status", "code", "set.crank_length", "set.rocker_length"):
        assert list(batch[name]) == list(expected[name]), name
    for name in MEASURES:
        np.testing.assert_allclose(batch[name], expected[name], rtol=1e-9, atol=1e-12, err_msg=name)
    count, why, first = batch.alone
    assert 1 <= count < 15 and why and 0 <= first < 15 and expected.alone is None
    # A case is bit-identical in any batch and with any executor.
    same(batch, fourbar_model.sweep(VARY, MEASURES, batch=True, threads=1))
    with ThreadPoolExecutor(2) as pool:
        same(batch, fourbar_model.sweep(VARY, MEASURES, batch=True, executor=pool, chunk=0.01, out=tmp_path / "s"))
    seed = random.SystemRandom().randrange(2**31)
    few = drawn(seed, 5, 0.05, 0.09)
    a, b = (fourbar_model.sweep({"crank_length": list_}, MEASURES, batch=True) for list_ in (few, few[::-1]))
    assert a["rise"].tobytes() == b["rise"][::-1].tobytes() and a["torque"].tobytes() == b["torque"][::-1].tobytes()


def test_batches_of_motions_by_forces(pendulum):
    two = (
        fourbar.Mechanism("Two rods", gravity=[0, 0, -9.81])
        .parameters(L=1.0)
        .body("a", mass=1, inertia=[1e-3, "L^2/12", "L^2/12"], at=["L/2", 0, 0])
        .body("b", mass=1, inertia=[1e-3, 1 / 12, 1 / 12], at=["L + 0.5", 0, 0])
        .revolute("p", fourbar.GROUND, "a", at=[0, 0, 0], axis=[0, 1, 0])
        .revolute("q", "a", "b", at=["L", 0, 0], axis=[0, 1, 0])
        .point("tip", fourbar.on("b", [0.5, 0, 0]))
        .study(t_end=0.5, output_step=0.01)
        .build()
    )
    vary, measures = {"L": drawn(random.SystemRandom().randrange(2**31), 11, 0.5, 1.5)}, {"low": "min(tip.z)", "x": "last(tip.x)"}
    fixed = {"formulation": "grcr", "integrator": "rk4", "step": 1e-3}
    plain, batch = two.sweep(vary, measures, **fixed), two.sweep(vary, measures, batch=True, **fixed)
    assert batch.alone is None and batch.counts == {"ok": 11}
    for name in measures:
        np.testing.assert_allclose(batch[name], plain[name], rtol=1e-9, atol=1e-12)
    loose, tight = two.sweep(vary, measures, batch=True), two.sweep(vary, measures, tol=1e-11)
    np.testing.assert_allclose(loose["x"], tight["x"], atol=1e-4)
    # Mechanisms unsuitable for batches run as usual, with the reason.
    inputs = pendulum.sweep({"L": [0.8, 1.2]}, {"x": "last(tip.x)"}, batch=True, formulation="ra")
    assert inputs.alone[0] == 2 and inputs.alone[1]
    same(inputs, pendulum.sweep({"L": [0.8, 1.2]}, {"x": "last(tip.x)"}, formulation="ra"))


def test_plans_spread_cases(fourbar_model):
    s = fourbar_model.sweep({"crank_length": (0.06, 0.09)}, {"rise": "range(P.y)"}, sobol=8, seed=3, t_end=0.2)
    assert len(s) == 8 and len(set(s["set.crank_length"])) == 8
    assert ((0.06 <= s["set.crank_length"]) & (s["set.crank_length"] <= 0.09)).all()
    assert len(fourbar_model.sweep({"crank_length": (0.06, 0.09)}, {"rise": "range(P.y)"}, lhs=5, t_end=0.2)) == 5


def test_tables_are_read_by_everybody(expected, fourbar_model, tmp_path):
    fourbar_model.sweep(VARY, MEASURES, out=tmp_path / "s", trajectories=["P"])
    path = tmp_path / "s" / "cases.parquet"
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = pd.read_parquet(path)
    assert list(frame.columns) == list(expected.columns) and frame.attrs["units"]["torque"] == "N*m"
    assert frame["torque"].to_numpy().tobytes() == expected["torque"].tobytes() and frame["code"][12] == "S220"
    assert pd.read_csv(tmp_path / "s" / "cases.csv")["rise"].to_numpy().tobytes() == expected["rise"].tobytes()
    read = pl.read_parquet(path)
    assert read.columns == list(expected.columns) and read["rise"].null_count() == 1
    assert expected.to_polars()["torque"].to_list()[:3] == expected["torque"][:3].tolist()
    assert expected.to_pandas().attrs["units"]["rise"] == "m"
    pa = pytest.importorskip("pyarrow")
    table = pa.table(expected)
    assert table.schema.field("torque").metadata[b"unit"] == b"N*m" and table.num_rows == 15
    import pyarrow.parquet as pq

    told = json.loads(pq.read_schema(path).metadata[b"fourbar"])
    assert {c["name"]: c["unit"] for c in told["columns"]} == expected.units
    plan = json.loads((tmp_path / "s" / "plan.json").read_text())
    assert told["plan"] == plan["hash"] and told["model"] == plan["model"]
    # Trajectories are a dataset with one part per case.
    data = pq.read_table(tmp_path / "s" / "trajectories")
    assert set(data.column_names) >= {"t", "P.x", "P.y", "case"} and len(set(data["case"].to_pylist())) == 15
    db = pytest.importorskip("duckdb")
    assert db.sql(f"select count(*), max(torque) from '{path}' where status = 'ok'").fetchall()[0] == (14, np.nanmax(expected["torque"]))
    rows = db.sql(f"select \"case\", max(\"P.y\") - min(\"P.y\") from read_parquet('{tmp_path}/s/trajectories/*/*.parquet', hive_partitioning = true) where \"case\" = 7 group by 1")
    assert rows.fetchall()[0][1] == expected["rise"][7]


def test_a_trajectory_as_parquet(fourbar_model, tmp_path):
    run = fourbar_model.run(0.5)
    path = run.to_parquet(tmp_path / "run.parquet")
    pd = pytest.importorskip("pandas")
    frame = pd.read_parquet(path)
    assert list(frame.columns) == list(run.columns) and frame.attrs["units"] == run.units
    assert frame["motor.effort"].to_numpy().tobytes() == run["motor.effort"].tobytes()


class Failing:
    """An executor that loses some tasks, and may break permanently."""

    def __init__(self, share, seed, most=10**9):
        self.random, self.share, self.most, self.count = random.Random(seed), share, most, 0
        self._max_workers = 2

    def submit(self, f, *args):
        self.count += 1
        future = Future()
        if self.count > self.most:
            raise RuntimeError("the pool is gone")
        if self.random.random() < self.share:
            future.set_exception(OSError("worker lost"))
        else:
            # Arguments of workers are pickled.
            f, args = pickle.loads(pickle.dumps((f, args)))
            future.set_result(f(*args))
        return future


@pytest.mark.parametrize("seed", range(3))
def test_tasks_that_are_lost_are_tried_again(fourbar_model, expected, tmp_path, seed):
    print("seed", seed)
    same(expected, fourbar_model.sweep(VARY, MEASURES, executor=Failing(0.15, seed), chunk=0.01, out=tmp_path / "s"))


def test_a_broken_executor_keeps_what_came_in(fourbar_model, expected, tmp_path):
    out = tmp_path / "s"
    with pytest.raises(fourbar.FourbarError) as caught:
        fourbar_model.sweep(VARY, MEASURES, executor=Failing(0.0, 1, most=4), chunk=0.005, out=out)
    assert caught.value.code == "U441" and "resume=True" in caught.value.help
    parts = sorted(out.glob("part-*.parquet"))
    hash_ = json.loads((out / "plan.json").read_text())["hash"]
    assert parts and all(p.stem.endswith(hash_[:16]) for p in parts) and parts[0].name.startswith("part-000000000-")
    with pytest.raises(fourbar.FourbarError) as caught:
        fourbar_model.sweep(VARY, MEASURES, out=out)
    assert caught.value.code == "U432"
    with pytest.raises(fourbar.FourbarError) as caught:
        fourbar_model.replace(crank_length=0.05).sweep(VARY, MEASURES, out=out, resume=True)
    assert caught.value.code == "U432"
    done = fourbar_model.sweep(VARY, MEASURES, out=out, resume=True)
    same(expected, done)
    assert 0 < done.computed < 15 and not list(out.glob("part-*"))
    assert fourbar_model.sweep(VARY, MEASURES, out=out, resume=True).computed == 0
    with pytest.raises(fourbar.FourbarError) as caught:
        fourbar_model.sweep(VARY, MEASURES, executor=Failing(1.0, 1))
    assert caught.value.code == "U441" and "out=" in caught.value.help


def test_a_spoilt_part_is_refused(fourbar_model, tmp_path):
    out = tmp_path / "s"
    with pytest.raises(fourbar.FourbarError):
        fourbar_model.sweep(VARY, MEASURES, executor=Failing(0.0, 1, most=2), chunk=0.005, out=out)
    part = sorted(out.glob("part-*.parquet"))[0]
    whole = part.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"", b"PAR1" + bytes(100)):
        part.write_bytes(damaged)
        with pytest.raises(fourbar.FourbarError):
            fourbar_model.sweep(VARY, MEASURES, out=out, resume=True)


def test_mechanisms_go_to_workers_with_their_parameters(tmp_path):
    text = pathlib.Path(__file__).parents[3].joinpath("models/fourbar.yaml").read_text()
    model = fourbar.loads(text, name="mine.yaml", rocker_length="170 mm")
    here = model.sweep({"crank_length": [0.06, 0.08]}, {"rise": "range(P.y)"}, t_end=1)
    there = model.sweep({"crank_length": [0.06, 0.08]}, {"rise": "range(P.y)"}, t_end=1, executor=Failing(0.0, 1))
    same(here, there)
    assert here["rise"][0] != fourbar.load("fourbar").sweep({"crank_length": [0.06]}, {"rise": "range(P.y)"}, t_end=1)["rise"][0]


def test_what_is_wrong_is_told(fourbar_model, tmp_path):
    for vary, measures, error in [
        ({"crank": (1, 2, 3)}, MEASURES, "U430"), ({"crank_length": (1, 1, 3)}, MEASURES, "U430"), ({}, MEASURES, "U430"),
        (VARY, {}, "U436"), (VARY, {"case": "max(P.y)"}, "U436"), (VARY, {"x": "max(Q.y)"}, None), (VARY, {"x": "max("}, None),
    ]:  # fmt: skip
        with pytest.raises(fourbar.FourbarError) as caught:
            fourbar_model.sweep(vary, measures)
        assert error is None or caught.value.code == error, caught.value
    for vary in [{"crank_length": 3}, {"crank_length": None}, {"crank_length": (0, 1, 2.5)}, {"crank_length": ["a"]}, 3, ["crank_length"]]:
        with pytest.raises(TypeError):
            fourbar_model.sweep(vary, MEASURES)
    for vary in [{"crank_length": [float("nan")]}, {"crank_length": []}, {"crank_length": (0, float("inf"))}]:
        with pytest.raises(ValueError):
            fourbar_model.sweep(vary, MEASURES)
    with pytest.raises(TypeError, match="executor"):
        fourbar_model.sweep(VARY, MEASURES, executor=3)
    with pytest.raises(ValueError):
        fourbar_model.sweep(VARY, MEASURES, resume=True)
    with pytest.raises(ValueError):
        fourbar_model.sweep(VARY, MEASURES, trajectories="P.*")
    with pytest.raises(TypeError, match="t_ende"):
        fourbar_model.sweep(VARY, MEASURES, t_ende=1)


KILLED = """
import fourbar
fourbar.load("fourbar").sweep({vary!r}, {measures!r}, out={out!r}, threads=1)
"""


def killed_midway(code, out, files):
    """Starts a program, waits until rows are on disk, and kills it."""
    process = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        there = list(pathlib.Path(out).glob(files))
        if any(p.stat().st_size > 600 for p in there):
            break
        time.sleep(0.005)
    alive = process.poll() is None
    process.kill()
    process.wait()
    return alive


def test_a_sweep_whose_process_is_killed_goes_on(fourbar_model, tmp_path):
    out, vary = str(tmp_path / "s"), {"crank_length": (0.05, 0.09, 300)}
    assert killed_midway(KILLED.format(vary=vary, measures=MEASURES, out=out), out, "cases.csv.part"), "it was too quick to be killed"
    done = fourbar_model.sweep(vary, MEASURES, out=out, resume=True)
    assert 0 < done.computed < 300
    same(done, fourbar_model.sweep(vary, MEASURES))
    cases = [row["case"] for row in csv.DictReader(open(out + "/cases.csv"))]
    assert cases == [str(k) for k in range(300)]
