"""Check, verify, equilibria, modes, linear models: comparison with closed forms and literature."""

import pathlib

import numpy as np
import pytest

import fourbar

G = 9.81


def test_check_tells_mobility_and_redundancy():
    check = fourbar.load("a04_bricard").check()
    # Six hinges in a loop: zero degrees of freedom by counting, one by geometry.
    assert (check.mobility, check.redundant, check.assembles) == (1, 1, True)
    assert check["mobility"]["by_count"] == 0 and check.not_unique
    assert check.headline.split(". ")[0] in str(check) and "<pre" in check._repr_html_()
    assert len(check.all) > len(check.text)
    assert fourbar.load("ra_double_pendulum").check().redundant == 0


def test_what_cannot_be_closed_is_said():
    text = """
fourbar: 1
bodies: {a: {mass: 1, inertia: [1, 1, 1]}}
joints:
  p: {type: spherical, bodies: [ground, a], at: [0, 0, 0]}
  d: {type: distance, from: {body: ground, at: [5, 0, 0]}, to: {body: a, at: [1, 0, 0]}, length: 1}
"""
    model = fourbar.loads(text)
    check = model.check()
    assert not check.assembles and check.warnings and "cannot be assembled" in check.headline
    for call in (model.run, model.assemble, model.simulation):
        with pytest.raises(fourbar.FourbarError) as caught:
            call()
        assert caught.value.code.startswith("S")
    assert "<pre" in model._repr_html_()


def test_formulations_agree_on_the_pendulum():
    v = fourbar.load("ra_double_pendulum").verify(0.3, patience=20)
    assert v and v.word and len(v.rows) >= 5 and "position" in v.table
    assert str(v).startswith("largest differences")


def test_equilibrium_of_a_pendulum(pendulum):
    rest = pendulum.equilibrium()
    assert rest.stable and rest.freedom == 1
    # A rod hangs down; omega^2 = 3 g / (2 L).
    assert rest.omega2[0] == pytest.approx(1.5 * G, rel=1e-9)
    np.testing.assert_allclose(rest.state.body("rod").position, [0, 0, -0.5], atol=1e-9)
    assert rest.state.reactions()["pin"][2] == pytest.approx(2 * G)
    all_ = pendulum.equilibria()
    assert sorted(e.stability for e in all_) == ["stable", "unstable"] and all_.complete
    pushed = pendulum.equilibrium(inputs={"torque": -4.905})
    # Half of the largest moment of the weight: thirty degrees from the vertical.
    assert np.cos(pushed.state.joint("pin").angle) == pytest.approx(0.5)
    with pytest.raises(fourbar.FourbarError):
        pendulum.equilibrium(inputs={"torqe": 1})


def published():
    """Eigenvalues of the benchmark bicycle by speed, from the tests of the engine."""
    path = pathlib.Path(__file__).parents[2] / "fourbar-design/tests/data/bicycle.csv"
    rows = [line.split(",") for line in path.read_text().splitlines() if line[:1].isdigit()]
    return [(float(r[0]), np.array(r[1::2], float) + 1j * np.array(r[2::2], float)) for r in rows]


def test_eigenvalues_of_the_benchmark_bicycle():
    for v, values in published():
        if v not in (3.0, 5.0, 8.0):
            continue
        modes = fourbar.load("bicycle", v=v).modes()
        for value in values[values.imag >= 0]:
            assert np.abs(modes.eigenvalues - value).min() < 1e-6, (v, value)
        assert modes.stable == (values.real.max() < 0), v
        assert modes.to_pandas().shape[0] == len(modes) and str(modes).startswith("about")


def test_the_linear_model_is_the_derivative(pendulum):
    A, B, C, D = pendulum.linearize("equilibrium", outputs=["pin.angle"])
    # theta'' = -3 g/(2 L) theta + torque / (m L^2 / 3)
    assert np.sort(np.linalg.eigvals(A).imag)[-1] == pytest.approx(np.sqrt(1.5 * G))
    gain = (C @ np.linalg.solve(-A, B) + D)[0, 0]
    assert gain == pytest.approx(1 / (2 / 3 * 1.5 * G))
    signal = pytest.importorskip("scipy.signal")
    w, response = signal.freqresp(signal.StateSpace(A, B, C, D), w=[1.0])
    assert abs(response[0]) == pytest.approx(1.5 / (1.5 * G - 1), rel=1e-9)


def test_modes_about_a_state_and_a_time(pendulum):
    rest = pendulum.equilibrium().state
    assert pendulum.modes(rest).frequencies[0] == pytest.approx(np.sqrt(1.5 * G) / (2 * np.pi))
    assert pendulum.modes("equilibrium").about.startswith("the equilibrium")
    mode = pendulum.modes(rest)[0]
    assert mode.motion.shape == (1, 6) and mode.damping == pytest.approx(0, abs=1e-9)
    with pytest.raises(fourbar.FourbarError):
        pendulum.modes(0.3)
    assert len(pendulum.modes(0.3, frozen=True)) >= 1
    for wrong, kind in (("middle", ValueError), (object(), TypeError), (float("nan"), TypeError)):
        with pytest.raises(kind):
            pendulum.modes(wrong)
    with pytest.raises(fourbar.FourbarError):
        fourbar.load("fourbar").modes(rest)


def test_inputs_outside_their_range_are_refused(pendulum):
    calls = [
        lambda: pendulum.run(0.1, inputs={"torque": 500}),
        lambda: pendulum.equilibrium(inputs={"torque": 500}),
        lambda: pendulum.equilibria(inputs={"torque": 500}),
        lambda: pendulum.modes(inputs={"torque": 500}),
        lambda: pendulum.linearize(values={"torque": 500}),
    ]
    for call in calls:
        with pytest.raises(fourbar.FourbarError) as caught:
            call()
        assert caught.value.code == "U320"
    with pytest.raises(fourbar.FourbarError) as caught:
        pendulum.equilibrium(inputs={"torqe": 1})
    assert caught.value.code == "U322"
