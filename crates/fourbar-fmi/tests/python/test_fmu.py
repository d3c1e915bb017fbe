"""Units validated and simulated by fmpy, compared with the engine bit for bit."""

import os
import re
import subprocess
from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmpy.fmi3 import FMU3Slave
from fmpy.validation import validate_fmu

COMMAND = os.environ["FOURBAR"]
POINTS = os.environ["FOURBAR_POINTS"]
DOCS = Path(__file__).parents[4] / "docs" / "fmi.md"
MODELS = ["fourbar", "a04_bricard", "dc_motor_slider_crank", "pid_pendulum", "trebuchet", "catapult", "stewart_platform", "bicycle"]


def written(folder, name, *options):
    path = folder / f"{Path(name).stem}.fmu"
    done = subprocess.run([COMMAND, "fmu", name, "-o", str(path), *options], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return path


class Held:
    """An instance and its variables by name."""

    def __init__(self, path, folder):
        self.description = fmpy.read_model_description(str(path))
        self.folder = fmpy.extract(str(path), str(folder))
        self.reference = {v.name: v.valueReference for v in self.description.modelVariables}
        self.fmu = FMU3Slave(
            guid=self.description.guid,
            unzipDirectory=self.folder,
            modelIdentifier=self.description.coSimulation.modelIdentifier,
            instanceName="one",
        )
        self.fmu.instantiate()
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()
        self.t = 0.0

    def get(self, *names):
        return self.fmu.getFloat64([self.reference[n] for n in names])

    def set(self, **values):
        self.fmu.setFloat64([self.reference[n] for n in values], list(values.values()))

    def step(self, h):
        told = self.fmu.doStep(currentCommunicationPoint=self.t, communicationStepSize=h)
        self.t = told[3]
        return told

    def close(self):
        self.fmu.terminate()
        self.fmu.freeInstance()


def engine(name, lines, folder):
    """Columns and rows of the engine at the same points."""
    done = subprocess.run([POINTS, name], input="\n".join(lines) + "\n", capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    head, *rows = done.stdout.splitlines()
    return head.split(","), np.array([[float(x) for x in row.split(",")] for row in rows])


@pytest.mark.parametrize("name", MODELS)
def test_units_are_valid_and_equal_the_engine_to_the_bit(name, tmp_path):
    path = written(tmp_path, name)
    assert validate_fmu(str(path)) == []
    one = Held(path, tmp_path / "unpacked")
    h = 1 / 128
    columns, rows = engine(name, [repr(k * h) for k in range(40)], tmp_path)
    shared = [c for c in columns[1:] if c in one.reference]
    assert len(shared) == len(columns) - 1, "every column is a variable"
    for k in range(40):
        values = np.array(one.get(*shared))
        expected = rows[k][[columns.index(c) for c in shared]]
        wrong = [(c, a, b) for c, a, b in zip(shared, values, expected) if a != b]
        assert not wrong, f"{name} at {k * h}: {wrong[:3]}"
        one.step(h)
    one.close()


def test_inputs_between_steps_equal_the_engine_to_the_bit(tmp_path):
    one = Held(written(tmp_path, "dc_motor_slider_crank"), tmp_path / "unpacked")
    rng = np.random.default_rng(7)
    h, lines, got = 1 / 256, [], []
    for k in range(60):
        u = float(rng.uniform(-20, 20))
        lines.append(f"{(k + 1) * h!r} voltage={u!r}")
        one.set(voltage=u)
        one.step(h)
        got.append(one.get("O.angle", "current", "energy.total"))
    one.close()
    columns, rows = engine("dc_motor_slider_crank", lines, tmp_path)
    expected = rows[:, [columns.index(c) for c in ("O.angle", "current", "energy.total")]]
    assert (np.array(got) == expected).all()


def test_fmpy_simulates_a_unit_by_itself(tmp_path):
    path = written(tmp_path, "pid_pendulum", "--columns", "O.angle", "energy.*")
    names = [v.name for v in fmpy.read_model_description(str(path)).modelVariables if v.causality == "output"]
    assert names == ["O.angle", "energy.kinetic", "energy.potential", "energy.total", "energy.work"]
    result = fmpy.simulate_fmu(str(path), start_values={"target": 2.0, "kp": 8.0}, stop_time=8.0, output=["O.angle"])
    assert abs(result["O.angle"][-1] - 2.0) < 1e-2
    signals = np.array([(0.0, 1.0), (4.0, 1.0), (4.0, -1.0), (12.0, -1.0)], dtype=[("time", float), ("target", float)])
    result = fmpy.simulate_fmu(str(path), input=signals, stop_time=12.0, output_interval=0.02, output=["O.angle"])
    assert abs(result["O.angle"][-1] + 1.0) < 1e-2
    with pytest.raises(Exception):
        fmpy.simulate_fmu(str(path), start_values={"target": 99.0})


def test_events_end_the_simulation(tmp_path):
    path = written(tmp_path, "trebuchet")
    said = []
    result = fmpy.simulate_fmu(
        str(path), stop_time=20.0, output_interval=0.05, output=["stone.y"], use_event_mode=True,
        debug_logging=True, logger=lambda e, s, c, m: said.append(m.decode()),
    )
    assert result["time"][-1] < 10.0, "it ends where the ball lands"
    assert any(m.startswith("let-go") for m in said) and any(m.startswith("landed") for m in said), said


def test_states_are_kept_and_restored(tmp_path):
    one = Held(written(tmp_path, "dc_motor_slider_crank"), tmp_path / "unpacked")
    h = 1 / 64
    for _ in range(8):
        one.step(h)
    state, t = one.fmu.getFMUState(), one.t
    bytes_ = one.fmu.serializeFMUState(state)

    def onwards():
        rows = []
        for k in range(8):
            one.set(voltage=float(k))
            one.step(h)
            rows.append(one.get("O.angle", "current"))
        return rows

    first = onwards()
    one.fmu.setFMUState(state)
    one.t = t
    assert onwards() == first
    again = one.fmu.deserializeFMUState(bytes_)
    one.fmu.setFMUState(again)
    one.t = t
    assert onwards() == first
    one.fmu.freeFMUState(state)
    one.fmu.freeFMUState(again)
    one.close()


def blocks(kind):
    """Files of the page, named by `file=`."""
    return re.findall(rf"```{kind}[^\n]*?file=(\S+)\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.S)


def test_the_page_of_the_docs(tmp_path):
    """Plant and controller of the page, coupled by its script, converge to the same loop in one file with smaller steps."""
    for name, text in blocks("yaml"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    scripts = dict(blocks("python"))
    for name in ("plant", "controller"):
        path = written(tmp_path, f"{name}.yaml")
        assert validate_fmu(str(path)) == []
    space = {}
    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        exec(compile(scripts["couple.py"], "couple.py", "exec"), space)
        errors = []
        for n in (128, 256, 512):
            t, angle = space["simulate"](1 / n, 2.0)
            columns, rows = engine("together.yaml", [repr(float(x)) for x in t], tmp_path)
            errors.append(np.abs(angle - rows[:, columns.index("hinge.angle")]).max())
    finally:
        os.chdir(here)
    assert abs(angle[-1] - 0.8) < 0.05, "the controller holds its angle"
    assert errors[2] < 0.01
    for coarse, fine in zip(errors, errors[1:]):
        assert 1.7 < coarse / fine < 2.4, f"values are exchanged once a step: first order, {errors}"
