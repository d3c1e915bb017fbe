"""Mechanisms changed by events, limits and friction: states, ends and episodes take these changes into account."""

import copy
import pickle
import time
import warnings

import numpy as np
import pytest

import fourbar

BALL = """
fourbar: 1
gravity: [0, 0, -10]
bodies: {ball: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0, 0, 0]}}
joints: {rail: {type: prismatic, bodies: [ground, ball], at: [0, 0, 0], axis: [0, 0, 1], limits: {min: 0}}}
study: {t_end: 1}
"""

BOX = """
fourbar: 1
bodies: {box: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0, 0, 0]}}
joints: {rail: {type: prismatic, bodies: [ground, box], at: [0, 0, 0], axis: [1, 0, 0]}}
inputs: {f: {unit: N, range: [-100, 100], default: 4}}
forces: {a: {type: actuator, joint: rail, effort: f}, fr: {type: friction, joint: rail, coulomb: 1, static: 1, preload: 5, stick: true}}
study: {t_end: 1.2}
"""


@pytest.fixture(scope="module")
def catapult():
    return fourbar.load("event_catapult")


def alike(sim, state, model):
    """The simulation and its state agree for all elements."""
    for name in model.joints:
        a, b = sim.joint(name), state.joint(name)
        for what in ("angle", "distance", "speed", "acceleration", "force", "torque"):
            np.testing.assert_allclose(getattr(b, what), getattr(a, what), rtol=1e-6, atol=1e-6, err_msg=f"{name}.{what}")
    for name in model.bodies:
        np.testing.assert_allclose(state.body(name).acceleration, sim.body(name).acceleration, rtol=1e-6, atol=1e-6)
    for name in model.forces:
        a, b = sim.force(name), state.force(name)
        assert a.keys() == b.keys()
        np.testing.assert_allclose(list(b.values()), list(a.values()), rtol=1e-6, atol=1e-6, err_msg=name)
        columns = {f"{name}.{k}": x for k, x in a.items()}
        np.testing.assert_allclose([sim[c] for c in columns], list(columns.values()), rtol=1e-9, atol=1e-9, err_msg=name)
    for name in model.drives:
        assert state.drive(name).effort == pytest.approx(sim.drive(name).effort, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("t", [0.5, 2.0])
def test_a_state_knows_its_mode(catapult, t):
    sim = catapult.simulation()
    sim.advance(t)
    state = sim.state
    for kept in (state, pickle.loads(pickle.dumps(state)), state.replace(t=state.t)):
        alike(sim, kept, catapult)
    if t == 0.5:
        # The latch holds the arm.
        assert state.joint("pivot").acceleration == pytest.approx(0, abs=1e-9)
        assert any("held" in row for row in state.rows())
    else:
        # The cup has released the stone, which falls.
        assert not any(row.startswith("cup") for row in state.rows())
        np.testing.assert_allclose(state.reactions()["cup"], 0)


def test_states_on_a_limit_and_with_sticking_friction():
    ball = fourbar.loads(BALL)
    sim = ball.simulation()
    sim.advance(0.5)
    alike(sim, sim.state, ball)
    assert sim.state.joint("rail").acceleration == pytest.approx(0, abs=1e-9)
    box = fourbar.loads(BOX)
    sim = box.simulation()
    sim.advance(0.2)
    alike(sim, sim.state, box)
    # Static friction holds against the actuator.
    assert sim.force("fr")["effort"] == pytest.approx(-4) and sim.state.force("fr")["effort"] == pytest.approx(-4)
    sim = box.simulation(inputs={"f": 10.0})
    sim.advance(0.2)
    alike(sim, sim.state, box)
    assert sim.force("fr")["effort"] == pytest.approx(-5) and sim["box.a.x"] == pytest.approx(5)


def test_a_state_of_another_mode_is_told(catapult):
    sim = catapult.simulation()
    sim.advance(2.0)
    other = catapult.simulation()
    with pytest.raises(fourbar.FourbarError, match="another mode.*`cup`") as caught:
        other.state = sim.state
    assert caught.value.code == "U313" and "cup" in caught.value.names
    other.restore(sim.save())
    assert np.array_equal(other.row(), sim.row())


def test_an_event_ends_loops(catapult):
    sim = catapult.simulation()
    assert not sim.ended and sim.ended_by is None and sim.events == []
    steps = 0
    while sim.t < 4 and not sim.ended:
        sim.step(0.05)
        steps += 1
    assert steps < 80 and sim.t < 4 and sim.ended_by == sim.events[-1]["name"]
    here = sim.t
    for on in (lambda: sim.step(0.05), lambda: sim.advance(4.0), lambda: sim.step()):
        with pytest.raises(fourbar.FourbarError, match=sim.ended_by) as caught:
            on()
        assert caught.value.code == "U315" and sim.t == here
    # Advancing to the current time is permitted.
    assert sim.advance(here) == here
    again = pickle.loads(pickle.dumps(sim))
    assert again.ended and again.ended_by == sim.ended_by


def test_times_must_be_finite(pendulum):
    for sim in (pendulum.simulation(), fourbar.loads(BALL).simulation()):
        for x in (float("inf"), float("nan")):
            for on in (sim.advance, sim.step):
                with pytest.raises(fourbar.FourbarError, match="finite") as caught:
                    on(x)
                assert caught.value.code == "U303"
            with pytest.raises(ValueError, match="finite"):
                sim.run_ahead(x)
        assert sim.t == 0 and sim.advance(0.1) == 0.1


def test_a_simulation_leaves_a_stiff_choice_as_a_run_does():
    beam = fourbar.load("stiff_beam")
    sim = beam.simulation()
    first = sim.chosen
    started = time.monotonic()
    sim.advance(0.02)
    assert first[1] != "radau" and sim.chosen[1] == "radau", f"{first} to {sim.chosen} in {time.monotonic() - started:.1f} s"


@pytest.mark.parametrize("method", [("grcr", "radau"), ("grcr", "dopri5"), ("ra", "radau"), ("lie", "dopri5"), ("dca", "dopri5"), (None, None)])
def test_friction_goes_on_to_the_bit(method):
    model = fourbar.load("stiff_friction")
    sim = model.simulation(formulation=method[0], integrator=method[1])
    for t in (0.06, 0.12, 0.2):
        sim.advance(t)
        kept = sim.save()
        rows = []
        for _ in range(2):
            for later in (t + 0.01, t + 0.02):
                sim.advance(later)
            rows.append(sim.row())
            sim.restore(kept)
        assert np.array_equal(*rows), f"{method} from t = {t} s: {np.abs(rows[0] - rows[1]).max()}"


def test_signs_of_quaternions_are_restored():
    model = fourbar.loads("""
fourbar: 1
bodies: {rod: {mass: 1, inertia: [1, 1, 1]}}
joints: {pin: {type: revolute, bodies: [ground, rod], at: [0, 0, 0], axis: [0, 0, 1]}}
drives: {motor: {joint: pin, angle: 1 rad/s * t}}
study: {t_end: 10}
""")
    sim = model.simulation()
    for t in np.arange(0.5, 4.0, 0.5):
        sim.advance(t)
        sim.row()
    kept = sim.save()
    sim.advance(4.5)
    there = sim.row()
    for t in np.arange(5.0, 11.0, 0.5):
        sim.advance(t)
        sim.row()
    sim.restore(kept)
    sim.advance(4.5)
    assert np.array_equal(sim.row(), there)
    again = pickle.loads(pickle.dumps(sim))
    assert np.array_equal(again.row(), sim.row())


def test_episodes_begin_without_past_events():
    gymnasium = pytest.importorskip("gymnasium")
    import fourbar.gym

    assert gymnasium.__version__
    env = fourbar.gym.MechanismEnv(
        "event_catapult", dt=0.05, observations=["shot.x", "shot.y", "pivot.angle"], limits={"wind": (0, 100)}, t_end=4
    )
    episodes = []
    for _ in range(2):
        observation, info = env.reset(seed=1)
        rows, terminated, truncated = [observation], False, False
        while not (terminated or truncated):
            observation, _, terminated, truncated, info = env.step(np.array([60.0 if info["t"] < 0.5 else 0.0]))
            rows.append(observation)
        # The stone hits the ground, which ends the episode.
        assert terminated and not truncated and info["ended_by"]
        episodes.append(np.array(rows))
    assert np.array_equal(*episodes)


def test_copies_of_simulations_are_their_own(catapult):
    sim = catapult.simulation()
    sim.advance(0.5)
    other = copy.deepcopy(sim)
    other.advance(1.0)
    assert sim.t == 0.5 and np.array_equal(pickle.loads(pickle.dumps(sim)).row(), sim.row())


def test_nothing_is_said_of_past_modes():
    """Evaluating a state of a changed mechanism raises no further warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim = fourbar.loads(BALL).simulation()
        sim.advance(0.5)
        assert sim.state.energy.potential == pytest.approx(sim.energy.potential)
