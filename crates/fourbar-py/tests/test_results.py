"""Runs and their results."""

import io
import pathlib
import pickle
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import fourbar


def test_a_result_is_a_mapping_of_arrays(fourbar_model):
    r = fourbar_model.run()
    assert r.rows == 201 and len(r) == len(fourbar_model.columns) and list(r)[0] == "t"
    y = r["P.y"]
    assert y.dtype == np.float64 and y.shape == (201,) and y.flags["C_CONTIGUOUS"]
    # Read-only views on one block.
    assert np.shares_memory(y, r.to_numpy())
    with pytest.raises(ValueError):
        y[0] = 1.0
    with pytest.raises(ValueError):
        r.to_numpy()[0, 0] = 1.0
    assert r.to_numpy().shape == (201, len(r)) and np.array_equal(r.to_numpy()[:, 3], r[r.columns[3]])
    assert "P.y" in r and "Q.y" not in r and r.get("Q.y") is None
    assert np.asarray(r).shape == (201, len(r)) and len(list(r.values())) == len(dict(r)) == len(r)


def test_columns_are_chosen_by_patterns(fourbar_model):
    r = fourbar_model.run()
    assert list(r["P.*"]) == ["t", "P.x", "P.y", "P.z"]
    assert list(r[["P.x", "O.angle"]]) == ["t", "O.angle", "P.x"]
    assert r.vector("P").shape == (201, 3)
    few = fourbar_model.run(columns=["P", "*.angle"])
    assert "crank.r.x" not in few and np.array_equal(few["P.y"], r["P.y"])
    for wrong in ("Q.y", "P.w", "crnak.r.x"):
        with pytest.raises(KeyError) as caught:
            r[wrong]
        assert isinstance(caught.value, fourbar.FourbarError) and caught.value.code == "U005"
    with pytest.raises(KeyError):
        few["crank.r.x"]
    for wrong in (3, 2.5, None, []):
        with pytest.raises(TypeError):
            r[wrong]
    with pytest.raises(fourbar.FourbarError):
        fourbar_model.run(columns="nothing.*")


def test_the_coupler_curve_is_that_of_the_closed_form(fourbar_model):
    """The pin B is the intersection of two circles; the coupler point follows from it."""
    p = fourbar_model.parameters
    r = fourbar_model.run()
    a = r["O.angle"] + p["start"]
    A = p["crank_length"] * np.exp(1j * a)
    d = p["ground_length"] - A
    along = (abs(d) ** 2 + p["coupler_length"] ** 2 - p["rocker_length"] ** 2) / (2 * abs(d))
    across = np.sqrt(p["coupler_length"] ** 2 - along**2)
    direction = (along + 1j * across) * d / abs(d) / p["coupler_length"]
    P = A + (p["Px"] + 1j * p["Py"]) * direction
    np.testing.assert_allclose(r["P.x"] + 1j * r["P.y"], P, atol=1e-10)


def test_settings_reach_the_engine(pendulum):
    r = pendulum.run(0.5, output_step=0.05, formulation="grcr", integrator="rk4", step=1e-3)
    assert r.rows == 11 and r.report["formulation"] == "grcr" and r.report["integrator"] == "rk4"
    assert r.study["step"] == 1e-3 and r.complete and r.report["work"]["steps"] > 0
    k = fourbar.load("fourbar").kinematics(0.25)
    assert k.report["analysis"] == "kinematics" and k.t[-1] == 0.25
    # Equations of motion integrated by scipy over half a second.
    from scipy.integrate import solve_ivp

    exact = solve_ivp(lambda t, y: [y[1], 1.5 * 9.81 * np.cos(y[0])], (0, 0.5), [0, 0], rtol=1e-12, atol=1e-12, t_eval=r.t)
    np.testing.assert_allclose(r["pin.angle"], exact.y[0], atol=1e-7)


def test_inputs_over_time(pendulum):
    times, values = np.array([0.0, 0.3, 0.6]), np.array([1.0, -2.0, 3.0])
    r = pendulum.run(inputs={"torque": (times, values)})
    assert np.array_equal(np.unique(r["torque"]), [-2.0, 1.0, 3.0])
    linear = pendulum.run(tol=1e-9, inputs={"torque": (times, values, "linear")})
    np.testing.assert_allclose(linear["torque"], np.interp(linear.t, times, values), atol=1e-12)
    assert pendulum.run(inputs={"torque": 2})["torque"].min() == 2.0
    # The work of the torque equals the gain of energy.
    np.testing.assert_allclose(linear["energy.total"] - linear["energy.total"][0], linear["energy.work"], atol=1e-5)


@pytest.mark.parametrize(
    "settings, kind",
    [
        ({"t_end": -1}, fourbar.FourbarError),
        ({"t_end": float("nan")}, fourbar.FourbarError),
        ({"tol": 0}, fourbar.FourbarError),
        ({"formulation": "lagrange"}, fourbar.FourbarError),
        ({"integrator": "rk45"}, fourbar.FourbarError),
        ({"mode": 99}, fourbar.FourbarError),
        ({"mode": -1}, TypeError),
        ({"tol": "small"}, TypeError),
        ({"analysis": "statics"}, ValueError),
        ({"options": {"no": 1}}, fourbar.FourbarError),
        ({"inputs": {"no": 1}}, fourbar.FourbarError),
        ({"inputs": {"torque": float("nan")}}, fourbar.FourbarError),
        ({"inputs": {"torque": 1e9}}, fourbar.FourbarError),
        ({"inputs": {"torque": ([0, 1], [1])}}, fourbar.FourbarError),
        ({"inputs": {"torque": ([1, 0], [1, 1])}}, fourbar.FourbarError),
        ({"inputs": {"torque": object()}}, TypeError),
        ({"inputs": {"torque": ([0], [1], "cubic")}}, TypeError),
        ({"columns": 3}, TypeError),
    ],
)
def test_settings_that_make_no_sense_are_refused(pendulum, settings, kind):
    with pytest.raises(kind):
        pendulum.run(**settings)


def test_a_run_that_fails_keeps_its_rows():
    model = fourbar.loads("""
fourbar: 1
bodies: {b: {mass: 1, inertia: [1, 1, 1]}}
outputs: {root: sqrt(0.5 - t)}
study: {t_end: 1, output_step: 0.1}
""")
    with pytest.raises(fourbar.FourbarError) as caught:
        model.run()
    e = caught.value
    assert e.code == "S250" and e.names == ("root",) and 0.5 < e.time <= 0.7
    assert e.result.rows >= 5 and not e.result.complete and e.result.t[-1] < e.time
    np.testing.assert_allclose(e.result["root"], np.sqrt(0.5 - e.result.t), atol=1e-12)


def test_frames_and_streams_hold_the_same_numbers(fourbar_model):
    pd, pl, xr, pa = (pytest.importorskip(m) for m in ("pandas", "polars", "xarray", "pyarrow"))
    r = fourbar_model.run()
    frame = r.to_pandas()
    assert frame.index.name == "t" and frame.attrs["units"]["motor.effort"] == "N*m"
    assert np.array_equal(frame["P.y"].to_numpy(), r["P.y"])
    assert np.array_equal(r.to_polars()["P.y"].to_numpy(), r["P.y"])
    data = r.to_xarray()
    assert data["P.y"].attrs["units"] == "m" and np.array_equal(data["P.y"].values, r["P.y"]) and data["t"].attrs["units"] == "s"
    table = pa.table(r)
    assert table.num_rows == 201 and table.schema.field("motor.effort").metadata == {b"unit": b"N*m"}
    assert np.array_equal(table["P.y"].to_numpy(), r["P.y"])
    assert np.array_equal(pl.DataFrame(r)["P.x"].to_numpy(), r["P.x"])
    del r
    # The stream owns its numbers.
    assert table["P.y"].to_numpy().max() > 0.1


def test_results_are_saved_as_the_command_saves_them(fourbar_model, tmp_path):
    r = fourbar_model.run()
    folder = r.save(tmp_path / "out")
    header, *rows = (folder / "trajectory.csv").read_text().splitlines()
    assert header.split(",") == list(r) and len(rows) == 201
    again = np.array([[float(x) for x in row.split(",")] for row in rows])
    assert np.array_equal(again, r.to_numpy())
    import json

    summary = json.loads((folder / "summary.json").read_text())
    assert summary["complete"] is True and summary["rows"] == 201 and summary["units"]["P.y"] == "m"
    assert summary["largest_errors"]["position"] == r["error.position"].max()
    r.save(tmp_path / "out")
    # Files of other origin are not replaced.
    other = tmp_path / "other"
    other.mkdir()
    (other / "trajectory.csv").write_text("important")
    with pytest.raises(fourbar.FourbarError):
        r.save(other)
    assert (other / "trajectory.csv").read_text() == "important"


def test_pages_stand_alone_and_show_themselves(fourbar_model, tmp_path):
    r = fourbar_model.run()
    page = r.html()
    assert page.lstrip().lower().startswith("<!doctype html>") and "Four-bar linkage" in page
    for link in ('src="http', "src='http", '<link rel="stylesheet" href="http'):
        assert link not in page
    shown = r._repr_html_()
    assert shown.startswith("<iframe") and "srcdoc=" in shown and "<script" not in shown
    path = r.view(path=tmp_path / "page.html", open=False)
    assert pathlib.Path(path).read_text(encoding="utf-8") == page
    assert len(r.html(fourbar_model.replace(turn=6).run())) > len(page)
    assert fourbar_model._repr_html_().startswith("<iframe")
    few = fourbar_model.run(columns="P")
    assert few._repr_html_().startswith("<pre")
    with pytest.raises(fourbar.FourbarError):
        few.html()


def test_plots(fourbar_model):
    pytest.importorskip("matplotlib")
    r = fourbar_model.run()
    ax = r.plot("P.y", x="P.x")
    line = ax.get_lines()[0]
    assert np.array_equal(line.get_xdata(), r["P.x"]) and ax.get_xlabel() == "P.x [m]"
    assert len(r.plot("O.force").get_lines()) == 3
    assert r.plot().get_lines()


def test_everything_survives_pickling(fourbar_model):
    model = pickle.loads(pickle.dumps(fourbar_model.replace(crank_length=0.06)))
    assert model.parameters["crank_length"] == 0.06
    r = model.run()
    again = pickle.loads(pickle.dumps(r))
    assert np.array_equal(again.to_numpy(), r.to_numpy()) and again.report == r.report and again.units == r.units
    assert again["P.*"].rows == 201
    state = model.assemble()
    assert pickle.loads(pickle.dumps(state)) == state


def _highest(length):
    return fourbar.load("fourbar", crank_length=length).run(columns="P")["P.y"].max()


def _highest_of(model):
    return model.run(columns="P")["P.y"].max()


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_process_pools_give_what_one_process_gives(method):
    import multiprocessing

    if method not in multiprocessing.get_all_start_methods():
        pytest.skip("this system has no such processes")
    lengths = [0.05, 0.06, 0.07, 0.08]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        there = list(pool.map(_highest, lengths, timeout=120))
        of_models = list(pool.map(_highest_of, [fourbar.load("fourbar", crank_length=x) for x in lengths], timeout=120))
    here = [_highest(x) for x in lengths]
    assert there == here == of_models


def test_progress_is_told_and_can_stop_a_run():
    model = fourbar.load("jansen_pair")
    seen = []
    model.run(20, progress=lambda t, end: seen.append((t, end)))
    if seen:
        assert all(0 <= t <= end == 20 for t, end in seen) and seen == sorted(seen)

    class Stop(Exception):
        pass

    def stop(t, end):
        raise Stop

    with pytest.raises(Stop) as caught:
        model.run(2000, output_step=0.05, progress=stop)
    assert caught.value.result.rows >= 1 and not caught.value.result.complete


def test_the_bar_writes_and_clears(monkeypatch):
    from fourbar._progress import Bar

    out = io.StringIO()
    monkeypatch.setattr(sys, "stderr", out)
    bar = Bar(patience=0.0)
    bar(0.5, 1.0)
    bar.close()
    assert "50 %" in out.getvalue() and out.getvalue().endswith("\r\x1b[K")


def test_results_cannot_be_made_writable(fourbar_model):
    r = fourbar_model.run(0.1)
    for array in (r["P.x"], r.t, r.to_numpy(), np.asarray(r), r["P"]["P.x"], r["P"].to_numpy()):
        with pytest.raises(ValueError):
            array.setflags(write=True)
        with pytest.raises(ValueError):
            array[...] = 0
    own = r["P.x"].copy()
    own[:] = 0
    assert r["P.x"].any()


def test_an_array_of_another_type_is_a_copy(fourbar_model):
    r = fourbar_model.run(0.1)
    assert np.asarray(r, dtype=np.float32).dtype == np.float32
    assert r.__array__(dtype=np.float64, copy=False).base is not None
    with pytest.raises(ValueError, match="copied"):
        r.__array__(dtype=np.float32, copy=False)
    copied = r.__array__(copy=True)
    copied[0, 0] = 7.0
    assert r.t[0] == 0.0


def test_no_columns_leave_the_time():
    """An empty selection keeps the time only."""
    result = fourbar.load("fourbar").run(0.1, columns=[])
    assert list(result) == ["t"] and result.t[-1] == pytest.approx(0.1)
