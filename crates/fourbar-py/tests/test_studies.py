"""Tolerances, optima, synthesis, inverse dynamics, sensitivities, reports: comparison with closed forms and single runs."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import fourbar

SLIDER_CRANK = """
fourbar: 1
title: Slider-crank
parameters: {r: 50 mm, l: 150 mm}
bodies:
  crank: {mass: 1, inertia: [1e-3, 1e-3, 1e-3], at: [r/2, 0, 0]}
  rod: {mass: 1, inertia: [1e-3, 1e-3, 1e-3], at: [r + l/2, 0, 0]}
  slider: {mass: 1, inertia: [1e-3, 1e-3, 1e-3], at: [r + l, 0, 0]}
joints:
  O: {type: revolute, bodies: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1]}
  A: {type: revolute, bodies: [crank, rod], at: [r, 0, 0], axis: [0, 0, 1]}
  B: {type: revolute, bodies: [rod, slider], at: [r + l, 0, 0], axis: [0, 0, 1]}
  G: {type: prismatic, bodies: [ground, slider], at: [r + l, 0, 0], axis: [1, 0, 0]}
drives: {motor: {joint: O, angle: '2*pi*t'}}
points: {P: {body: slider, at: [0, 0, 0]}}
study: {analysis: kinematics, t_end: 1, output_step: 0.01}
"""


@pytest.fixture(scope="module")
def slider_crank():
    return fourbar.loads(SLIDER_CRANK)


def test_a_stack_up_is_that_of_the_closed_form(slider_crank):
    # The stroke is 2 r, the outer dead point r + l.
    t = slider_crank.tolerance({"r": "sigma:0.01 mm", "l": "sigma:0.02 mm"}, {"stroke": "range(P.x)", "far": "max(P.x)"}, samples=400, seed=3)
    assert t.assembled == 1.0
    assert t.sigma("stroke", linear=True) == pytest.approx(2e-5, rel=1e-6)
    assert t.sigma("far", linear=True) == pytest.approx(np.hypot(1e-5, 2e-5), rel=1e-6)
    assert t.sigma("far") == pytest.approx(np.hypot(1e-5, 2e-5), rel=0.15)
    assert t.measures["stroke"]["nominal"] == pytest.approx(0.1)
    assert "stroke" in str(t) and "<pre" in t._repr_html_() and t["samples"] == 400


def test_an_optimum_is_that_of_the_closed_form(slider_crank):
    best = slider_crank.optimize({"r": (0.03, 0.07)}, fit={"stroke": "range(P.x) - 120 mm"}, starts=2)
    assert best.parameters["r"] == pytest.approx(0.06, abs=1e-8)
    assert best.model.parameters["r"] == pytest.approx(0.06, abs=1e-8)
    assert np.ptp(best.model.run()["P.x"]) == pytest.approx(0.12, abs=1e-8)
    with pytest.warns(fourbar.FourbarWarning, match="bound"):
        large = slider_crank.optimize({"r": "40..60 mm"}, maximize="range(P.x)", method="cma", evaluations=60)
    assert large.goal == pytest.approx(0.12, abs=1e-3)


def test_linkages_are_synthesised():
    # Freudenstein's equation for three pairs is exact.
    pairs = np.radians([[40, 70], [45, 76], [50, 83]])
    f = fourbar.synthesize(function=pairs)
    assert max(abs(x) for x in f["misses"]) < 1e-9
    m = f.model
    assert m.check().mobility == 1 and "rocker" in f.linkage
    with pytest.raises(TypeError, match="path"):
        fourbar.synthesize()
    with pytest.raises(fourbar.FourbarError) as caught:
        fourbar.synthesize(function=[(1, 2)])
    assert caught.value.code


def test_efforts_of_inverse_dynamics_are_those_of_the_run():
    model = fourbar.load("fourbar")
    i = model.inverse(t_end=1.0, output_step=0.01)
    assert i.motors == ("motor",) and i.unique("motor")
    run = model.run(1.0, output_step=0.01, tol=1e-10)
    np.testing.assert_allclose(i.effort("motor"), run["motor.effort"], rtol=1e-6, atol=1e-8)
    assert i.sizing("motor")["peak"] == pytest.approx(np.abs(run["motor.effort"]).max(), rel=1e-6)
    with pytest.raises(KeyError):
        i.effort("left")


def test_sensitivities_are_the_derivatives(slider_crank):
    s = slider_crank.sensitivities(["max(P.x)", "range(P.x)"], to=["r", "l"])
    assert s.outputs == ("max(P.x)", "range(P.x)")
    assert s.gradient("max(P.x)") == pytest.approx({"r": 1.0, "l": 1.0}, abs=1e-5)
    assert s.gradient("range(P.x)") == pytest.approx({"r": 2.0, "l": 0.0}, abs=1e-5)
    with pytest.raises(fourbar.FourbarError) as caught:
        slider_crank.sensitivities("max(P.x)", to="lenght")
    assert caught.value.code == "U412"


def test_many_parameters_have_the_derivatives_of_few():
    names = [f"m{k}" for k in range(30)]
    parameters = ", ".join(f"{n}: {1 + 0.01 * k}" for k, n in enumerate(names))
    mass = " + ".join(f"{n}/30" for n in names)
    text = f"""fourbar: 1
parameters: {{{parameters}}}
gravity: [0, 0, -9.81]
bodies:
  rod: {{mass: {mass}, inertia: [1e-3, 0.1 + m3/10, 0.1 + m3/10], at: [0.5, 0, 0]}}
joints: {{pin: {{type: revolute, bodies: [ground, rod], at: [0, 0, 0], axis: [0, 1, 0]}}}}
study: {{t_end: 0.3, output_step: 10 ms}}
"""
    model = fourbar.loads(text)
    many = model.sensitivities("last(pin.angle)").gradient("last(pin.angle)")
    few = model.sensitivities("last(pin.angle)", to=["m3", "m7"]).gradient("last(pin.angle)")
    assert len(many) == 30
    for name, slope in few.items():
        assert many[name] == pytest.approx(slope, rel=1e-7)


def test_reports_have_peaks(fourbar_model, tmp_path):
    run = fourbar_model.run()
    r = fourbar.report(run)
    assert r.motors[0]["name"] == "motor" and len(r.joints) == len(fourbar_model.joints)
    assert str(float(f"{np.abs(run['motor.effort']).max():.3g}"))[:3] in str(r)
    page = tmp_path / "page.html"
    assert fourbar.report(run.save(tmp_path / "out"), output=page).motors and page.read_text().startswith("<!")


def test_what_is_wrong_is_told(slider_crank):
    with pytest.raises(TypeError, match="tolerence"):
        slider_crank.tolerance({"r": "1 mm"}, {"x": "max(P.x)"}, tolerence=1)
    with pytest.raises(fourbar.FourbarError) as caught:
        slider_crank.tolerance({"radius": "1 mm"}, {"x": "max(P.x)"})
    assert caught.value.code == "U437" and "radius" in caught.value.names
    with pytest.raises(fourbar.FourbarError):
        slider_crank.optimize({"r": (0.1, 0.2)})
    with pytest.raises(ValueError):
        slider_crank.optimize({"r": (0.1, float("nan"))}, minimize="max(P.x)")
    with pytest.raises(TypeError):
        slider_crank.tolerance(["r"], {"x": "max(P.x)"})


INTERRUPTED = """
import os, signal, threading, time
import fourbar
model = fourbar.load("fourbar")
def chain(n):
    m = fourbar.Mechanism("Chain", gravity=[0, 0, -9.81])
    for k in range(n):
        m = m.body(f"b{{k}}", mass=1, inertia=[1e-3, 0.08, 0.08], at=[k + 0.5, 0, 0])
        m = m.revolute(f"j{{k}}", f"b{{k - 1}}" if k else fourbar.GROUND, f"b{{k}}", at=[k, 0, 0], axis=[0, 1, 0])
    return m.build()
def press():
    time.sleep(1.0)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=press, daemon=True).start()
started = time.monotonic()
try:
    {call}
    print("came to its end")
except KeyboardInterrupt:
    waited = time.monotonic() - started
    # No thread of the engine may go on.
    before = time.process_time()
    time.sleep(0.5)
    print("interrupted", waited < 3.0, time.process_time() - before < 0.2)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
@pytest.mark.parametrize(
    "call",
    [
        'model.sweep({"crank_length": (0.05, 0.09, 100000)}, {"rise": "range(P.y)"})',
        'model.tolerance({"crank_length": "0.1 mm"}, {"rise": "range(P.y)"}, samples=1000000)',
        'model.optimize({"crank_length": (0.05, 0.09)}, minimize="max(abs(motor.effort))", evaluations=10000000, starts=1000)',
        'model.verify(1e6, patience=600)',
        'fourbar.load("ra_double_pendulum").equilibria(starts=10**9)',
        'fourbar.load("ra_double_pendulum").modes(1e7, frozen=True)',
        'fourbar.load("ra_double_pendulum").linearize(1e7, frozen=True)',
        'fourbar.load("five_bar_robot").inverse(output_step=1e-7)',
        'model.sensitivities("max(P.y)", to=["crank_length"], output_step=1e-6)',
        'chain(60).equilibria(starts=10**6)',
    ],
)
def test_ctrl_c_ends_studies_and_their_threads(call):
    out = subprocess.run([sys.executable, "-c", INTERRUPTED.format(call=call)], capture_output=True, text=True, timeout=60)
    assert out.stdout.strip() == "interrupted True True", (out.stdout, out.stderr)


def test_an_interrupt_of_one_does_not_end_another(slider_crank):
    """Every study has a separate flag: an exception of a progress function ends one sweep, while another one continues."""
    done = {}

    def other():
        done["rows"] = len(slider_crank.sweep({"r": (0.04, 0.06, 400)}, {"x": "max(P.x)"}, threads=1))

    thread = threading.Thread(target=other)
    thread.start()

    def stop(now, end):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        slider_crank.sweep({"r": (0.04, 0.06, 100000)}, {"x": "max(P.x)"}, threads=1, progress=stop)
    thread.join()
    assert done["rows"] == 400


def test_answers_show_what_they_say():
    model = fourbar.load("fourbar")
    t = model.tolerance({"crank_length": "0.1 mm"}, {"rise": "range(P.y)"}, samples=10, t_end=1)
    assert "rise = " in repr(t) and "assemble" in repr(t)
    best = model.optimize({"crank_length": (0.05, 0.09)}, fit={"rise": "range(P.y) - 150 mm"}, starts=1, t_end=1)
    assert "goal" in repr(best) and "crank_length = 0.0" in repr(best)
    assert repr(model.sensitivities("max(P.y)", to=["crank_length"], t_end=1)) != "<fourbar.Sensitivities: >"
