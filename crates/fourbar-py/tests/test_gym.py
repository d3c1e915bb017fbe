"""Mechanisms as environments."""

import warnings

import numpy as np
import pytest

import fourbar

gymnasium = pytest.importorskip("gymnasium")

import fourbar.gym
from gymnasium.utils.env_checker import check_env


def environment(pendulum, **more):
    return fourbar.gym.MechanismEnv(pendulum, dt=0.02, t_end=0.4, observations=["pin.angle", "pin.speed"], **more)


def test_gymnasium_has_nothing_to_say_against_it(pendulum):
    env = environment(pendulum, reward=lambda c: -c["pin.angle"] ** 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Gymnasium warns of unbounded observations.
        warnings.filterwarnings("ignore", message=".*infinity.*")
        # Actions are in the units of the inputs.
        warnings.filterwarnings("ignore", message=".*symmetric and normalized.*")
        warnings.filterwarnings("ignore", message=".*not having a spec.*")
        check_env(env)
        check_env(gymnasium.make("fourbar/Mechanism-v0", model="pid_pendulum", dt=0.05).unwrapped)


def test_episodes_repeat_to_the_bit_and_end_in_time(pendulum):
    env = environment(pendulum, terminated=lambda c: c["pin.angle"] > 100)
    episodes = []
    for _ in range(2):
        observation, _ = env.reset(seed=3)
        env.action_space.seed(3)
        rows, over = [observation], False
        while not over:
            observation, _, terminated, over, info = env.step(env.action_space.sample())
            assert not terminated
            rows.append(observation)
        assert info["t"] == pytest.approx(0.4) and len(rows) == 21
        episodes.append(np.array(rows))
    assert np.array_equal(*episodes)


def test_actions_are_inputs(pendulum):
    """A torque that balances the weight keeps the rod horizontal."""
    env = environment(pendulum, reward="energy.kinetic")
    env.reset()
    for _ in range(5):
        observation, reward, *_ = env.step(np.array([-9.81]))
    np.testing.assert_allclose(observation, 0, atol=1e-9)
    assert reward == pytest.approx(0, abs=1e-12)


def test_parameters_are_drawn_anew(pendulum):
    env = environment(pendulum, vary={"m": (1.0, 3.0)})
    drawn = [env.reset(seed=k)[1]["parameters"]["m"] for k in (1, 2, 1)]
    assert drawn[0] == drawn[2] != drawn[1] and all(1 <= m <= 3 for m in drawn)


def test_what_is_missing_is_said(pendulum):
    with pytest.raises(ValueError, match="no inputs"):
        fourbar.gym.MechanismEnv("fourbar")
    with pytest.raises(ValueError, match="limits"):
        fourbar.gym.MechanismEnv(fourbar.loads("fourbar: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1]}}\ninputs: {u: {}}\nforces: {f: {type: force, body: a, force: [u, 0, 0]}}\n"))
    with pytest.raises(ValueError, match="dt"):
        environment(pendulum, actions=["torque"]).__class__(pendulum, dt=float("nan"))
    with pytest.raises(ValueError, match="no column"):
        environment(pendulum, reward="nothing")
    with pytest.raises(gymnasium.error.ResetNeeded):
        environment(pendulum).step(np.zeros(1))


def test_observations_come_in_the_order_asked_for(pendulum):
    one = fourbar.gym.MechanismEnv(pendulum, dt=0.02, observations=["pin.speed", "t", "pin.angle", "pin.speed"])
    assert one.observations == ("pin.speed", "t", "pin.angle")
    one.reset(seed=1)
    observation, *_ = one.step(np.array([3.0]))
    np.testing.assert_array_equal(observation, [one._simulation["pin.speed"], 0.02, one._simulation["pin.angle"]])
    assert fourbar.gym.MechanismEnv(pendulum, observations=["tip", "pin.angle"]).observations[:3] == ("tip.x", "tip.y", "tip.z")


@pytest.mark.parametrize("action", [[], [1.0, 2.0], 1.0, [[1.0]]])
def test_actions_of_another_shape_are_refused(pendulum, action):
    env = environment(pendulum)
    env.reset(seed=1)
    env.step(np.array([5.0]))
    with pytest.raises(ValueError, match="shape"):
        env.step(np.array(action))
    assert env._simulation.inputs["torque"] == 5.0 and env._simulation.t == pytest.approx(0.02)


@pytest.mark.parametrize("vary", [{"nothing": (1, 2)}, {"m": (2, 1)}, {"m": (1, float("nan"))}, {"m": (1, 2, 3)}])
def test_what_varies_is_checked_at_once(vary):
    text = """
    fourbar: 1
    parameters: {m: 1}
    bodies: {rod: {mass: m, inertia: [1e-4, 0.1, 0.1], at: [0.5, 0, 0]}}
    joints: {pin: {type: revolute, bodies: [ground, rod], at: [0, 0, 0], axis: [0, 1, 0]}}
    inputs: {torque: {unit: N*m, range: [-5, 5]}}
    forces: {motor: {type: actuator, joint: pin, effort: torque}}
    study: {t_end: 1}
    """
    model = fourbar.loads(text)
    fourbar.gym.MechanismEnv(model, vary={"m": (1, 2)}).reset(seed=1)
    with pytest.raises(ValueError):
        fourbar.gym.MechanismEnv(model, vary=vary)
