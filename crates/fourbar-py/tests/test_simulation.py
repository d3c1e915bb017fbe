"""Simulations advanced step by step, and states."""

import pickle
import signal
import threading
import time

import numpy as np
import pytest

import fourbar

G = 9.81


def test_a_pendulum_swings_as_its_equation_says(pendulum):
    from scipy.integrate import solve_ivp

    def rhs(t, y):
        return [y[1], (2 * G * 0.5 * np.cos(y[0]) + (3.0 if t >= 0.2 else 0.0)) / (2 / 3)]

    first = solve_ivp(rhs, (0, 0.2), [0, 0], rtol=1e-11, atol=1e-12).y[:, -1]
    second = solve_ivp(rhs, (0.2, 0.5), first, rtol=1e-11, atol=1e-12).y[:, -1]
    sim = pendulum.simulation(tol=1e-10)
    assert sim.advance(0.2) == 0.2
    sim.inputs["torque"] = 3.0
    assert sim.inputs["torque"] == 3.0 and dict(sim.inputs) == {"torque": 3.0} and len(sim.inputs) == 1 and "torque" in sim.inputs
    sim.advance(0.5)
    pin = sim.joint("pin")
    np.testing.assert_allclose([pin.angle, pin.speed], second, atol=1e-8)
    assert sim["pin.angle"] == pin.angle and sim.row()[pendulum.columns.index("pin.speed")] == pin.speed
    np.testing.assert_allclose(sim.point("tip")[0], [np.cos(pin.angle), 0, -np.sin(pin.angle)], atol=1e-9)
    assert sim.force("motor")["effort" if "effort" in sim.force("motor") else "torque"] == pytest.approx(3.0)
    assert sim.energy.total == pytest.approx(sim.energy.work, abs=1e-7)
    report = sim.finish()
    assert report["t"] == 0.5 and sim.finish() is None
    with pytest.raises(ValueError, match="finished"):
        sim.advance(1.0)


def test_steps_and_a_context(pendulum):
    with pendulum.simulation() as sim:
        size = sim.step()
        assert sim.t == pytest.approx(size) and size > 0
        assert sim.step(0.01) == pytest.approx(0.01)
        assert sim.chosen[0] in fourbar.formulations()
    assert "finished" in repr(sim)
    with pytest.raises(ValueError):
        sim.t


def test_saved_ones_go_on_to_the_bit(pendulum):
    a = pendulum.simulation()
    a.advance(0.3)
    kept, stored = a.save(), pickle.dumps(a)
    a.inputs["torque"] = 5.0
    a.advance(0.6)
    there = a.row()
    for again in (pendulum.simulation(), pickle.loads(stored)):
        again.restore(kept)
        assert again.t == 0.3
        again.inputs["torque"] = 5.0
        again.advance(0.6)
        assert np.array_equal(again.row(), there)


def test_one_that_has_not_begun_is_pickled_too(pendulum):
    a = pendulum.simulation()
    a.inputs["torque"] = 2.0
    b = pickle.loads(pickle.dumps(a))
    assert b.t == 0.0 and b.inputs["torque"] == 2.0
    a.advance(0.2)
    b.advance(0.2)
    np.testing.assert_allclose(b.row(), a.row(), atol=1e-8)


def test_states_are_set_and_assembled(pendulum):
    sim = pendulum.simulation()
    sim.advance(0.4)
    state = sim.state
    other = pendulum.simulation()
    other.state = state
    assert other.t == 0.4 and np.array_equal(other.state.q, state.q)
    sim.advance(0.8)
    other.advance(0.8)
    np.testing.assert_allclose(other.row()[1:8], sim.row()[1:8], atol=1e-6)
    # A state moved off its pin is rejected; assembled, it is consistent again.
    q = state.q
    q[0, 0] += 0.01
    broken = state.replace(q=q)
    with pytest.raises(fourbar.FourbarError):
        other.state = broken
    other.assemble(broken)
    assert np.abs(pendulum.assemble(broken).q - broken.q).max() < 0.02
    # Returned arrays are copies.
    q[:] = 0
    assert state.q[0, 0] != 0


@pytest.mark.parametrize("name", ["fourbar", "a04_bricard", "bicycle", "stewart_platform", "pid_pendulum", "double_wishbone"])
def test_equations_of_motion_hold_at_a_state(name):
    model = fourbar.load(name)
    sim = model.simulation()
    sim.advance(0.05)
    s = sim.state
    n = len(model.bodies)
    M, J, v, a = s.mass_matrix(), s.jacobian(), s.v.ravel(), s.acceleration().ravel()
    assert s.q.shape == (n, 7) and M.shape == (6 * n, 6 * n) and J.shape == (len(s.rows()), 6 * n)
    np.testing.assert_allclose(np.linalg.norm(s.q[:, 3:], axis=1), 1, atol=1e-12)
    size = np.abs(s.applied()).max() + np.abs(M @ a).max() + 1.0
    np.testing.assert_allclose(M @ a + s.bias(), s.applied() - J.T @ s.multipliers(), atol=1e-8 * size)
    np.testing.assert_allclose(J @ v, s.velocity_terms(), atol=1e-6 * (1 + np.abs(v).max()))
    np.testing.assert_allclose(J @ a, s.acceleration_terms(), atol=1e-5 * (1 + np.abs(a).max()))
    assert 0.5 * v @ M @ v == pytest.approx(s.energy.kinetic, rel=1e-10, abs=1e-12)
    assert s.free_motions().shape[1] == 6 * n - np.linalg.matrix_rank(J, tol=1e-8)
    np.testing.assert_allclose(J @ s.free_motions(), 0, atol=1e-10)
    assert set(s.reactions()) == set(model.joints)


def test_reactions_carry_the_weight():
    s = fourbar.load("ra_double_pendulum").equilibrium().state
    first = list(s.reactions().values())[0]
    weight = -s.mass_matrix().diagonal().reshape(-1, 6)[:, 0].sum() * -G
    assert abs(first[:3]).max() == pytest.approx(weight, rel=1e-6)


def test_inverse_dynamics_and_equations(pendulum):
    s = pendulum.assemble()
    mass, bias, force, names = s.equations(["pin.angle"])
    assert names == ["pin.angle"] and mass[0, 0] == pytest.approx(2 / 3) and force[0] == pytest.approx(G)
    assert s.joint("pin").acceleration == pytest.approx((force - bias)[0] / mass[0, 0])
    # At rest the effort balances the weight; an acceleration of 2 rad/s^2 needs more.
    assert s.inverse_dynamics({"pin.angle": 0.0}, ["motor"])["motor"] == pytest.approx(-G)
    assert s.inverse_dynamics({"pin.angle": 2.0}, ["motor"])["motor"] == pytest.approx(-G + 4 / 3)
    with pytest.raises(fourbar.FourbarError):
        s.inverse_dynamics({"pin.angel": 0.0}, ["motor"])


def test_drives_that_follow_inputs_belong_to_their_state():
    model = fourbar.loads("""
fourbar: 1
bodies: {a: {mass: 1, inertia: [1, 1, 1]}}
joints: {pin: {type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}}
inputs: {push: {default: 1}}
drives: {motor: {joint: pin, acceleration: push}}
study: {t_end: 1}
""")
    sim = model.simulation()
    sim.advance(1.0)
    early = sim.state
    sim.inputs["push"] = -3.0
    sim.advance(2.0)
    # The earlier state keeps the input of its time.
    for state in (early, pickle.loads(pickle.dumps(early))):
        assert state.drive("motor").effort == pytest.approx(1.0)
        assert state.joint("pin").speed == pytest.approx(1.0)
    assert sim.joint("pin").speed == pytest.approx(1.0 - 3.0)


def test_ctrl_c_ends_a_run_at_once_and_keeps_rows():
    model = fourbar.load("jansen_pair")
    timer = threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT))
    started = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt) as caught:
        model.run(1e5, output_step=0.01)
    assert time.monotonic() - started < 20
    assert caught.value.result.rows > 1 and not caught.value.result.complete
    # A simulation stays at the time before the interrupted call.
    sim = model.simulation()
    sim.advance(0.1)
    threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        sim.advance(1e6)
    assert sim.t == 0.1
    assert sim.advance(0.2) == 0.2


def test_the_lock_is_released_while_the_engine_computes(pendulum):
    """While one thread runs the engine, another one counts in Python."""
    counted, running = [0], threading.Event()
    model = fourbar.load("jansen_pair")

    def count():
        running.wait(10)
        while running.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    running.set()
    model.run(30)
    running.clear()
    thread.join(10)
    assert counted[0] > 1000


def test_threads_give_the_same_bits(fourbar_model):
    models = [fourbar_model.replace(crank_length=0.05 + 0.001 * k) for k in range(8)]
    alone = [m.run()["P.y"] for m in models]
    together = [None] * 8

    def work(k):
        together[k] = models[k].run()["P.y"]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    [t.start() for t in threads]
    [t.join(60) for t in threads]
    assert all(np.array_equal(a, b) for a, b in zip(alone, together))


def test_two_threads_on_one_simulation_are_told_apart():
    sim = fourbar.load("jansen_pair").simulation()
    seen = []

    def advance():
        try:
            sim.advance(20.0)
        except RuntimeError as e:
            seen.append(str(e))

    threads = [threading.Thread(target=advance) for _ in range(2)]
    [t.start() for t in threads]
    [t.join(120) for t in threads]
    assert sim.t == 20.0 and all("another thread" in s for s in seen)


def test_inputs_are_a_mapping(pendulum):
    from collections.abc import Mapping

    sim = pendulum.simulation()
    assert isinstance(sim.inputs, Mapping) and 5 not in sim.inputs and None not in sim.inputs
    sim.inputs.update({"torque": 1.0})
    assert sim.inputs.get("torque") == 1.0 and sim.inputs.get("none") is None and sim.inputs.get("none", 2) == 2
    assert list(sim.inputs.items()) == [("torque", 1.0)] and list(sim.inputs.values()) == [1.0] and sim.inputs == {"torque": 1.0}
    sim.inputs.update(torque=3.0)
    assert {**sim.inputs} == {"torque": 3.0}


def test_quaternions_of_any_size_are_directions(pendulum):
    state = pendulum.assemble()
    q = state.q
    for size in (1e200, 1e-5, 3e307):
        q[0, 3:] = np.array([0.5, 0.5, -0.5, 0.5]) * size
        np.testing.assert_allclose(state.replace(q=q).q[0, 3:], [0.5, 0.5, -0.5, 0.5], atol=1e-14)
    q[0, 3:] = 0
    with pytest.raises(ValueError, match="zero"):
        state.replace(q=q)
    assert "1 body>" in repr(state)


def test_wrong_numbers_are_named_as_what_they_are(pendulum):
    with pytest.raises(ValueError, match="acceleration of"):
        pendulum.assemble().inverse_dynamics({"pin.angle": float("nan")}, ["motor"])
    with pytest.raises(ValueError, match="finite number of seconds"):
        pendulum.verify(patience=float("inf"))


def test_advice_is_in_the_words_of_python(pendulum):
    sim = pendulum.simulation()
    sim.advance(0.1)
    with pytest.raises(fourbar.FourbarError) as caught:
        sim.advance(0.05)
    assert "sim.state = ..." in caught.value.help and "set_state" not in str(caught.value)
    q = sim.state.q
    q[0, 0] += 0.1
    with pytest.raises(fourbar.FourbarError) as caught:
        sim.state = sim.state.replace(q=q)
    assert "sim.assemble(state)" in caught.value.help and "assemble_state" not in str(caught.value)
    with pytest.raises(fourbar.FourbarError) as caught:
        sim.joint("something_else")
    assert "`Model.joints` lists them" in caught.value.help
    with pytest.raises(fourbar.FourbarError) as caught:
        pendulum.simulation(inputs={"torque": ([0, 1], [0, 1])})
    assert "sim.inputs[name] = ..." in caught.value.help and "set_input" not in str(caught.value)


def test_options_of_the_command_are_keywords_here(pendulum, tmp_path, fourbar_model):
    with pytest.raises(fourbar.FourbarError) as caught:
        pendulum.run(0.1, integrator="rk4")
    assert "`step=1e-3`" in caught.value.help
    with pytest.raises(fourbar.FourbarError) as caught:
        pendulum.sweep({"m": [1, 2]}, {})
    assert 'measures={"NAME": "EXPRESSION"}' in caught.value.help and "--" not in str(caught.value)
    folder = tmp_path / "kept"
    pendulum.run(0.1).save(folder)
    with pytest.raises(fourbar.FourbarError) as caught:
        fourbar_model.run(0.1).save(folder)
    assert "`force=True`" in caught.value.help
