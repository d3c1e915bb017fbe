"""Open chains and the ladder in engines with joint coordinates, for `cargo xtask peers`. Prints one JSON object per case:
{"case", "version", "steps" (evaluations), "cpu" (seconds for them, shortest of the repeats), "value" (norm of all accelerations), "ok"}.
The state changes on every call, because some engines cache results of the same state. CPU time of the process; it includes the Python
binding, well below a microsecond per call. Models and states as in benches/src/lib.rs; no file is written.
usage: joint_bench.py pinocchio_chain8 mujoco_chain128 pinocchio_ladder2 ..."""
import json
import sys
import time

import numpy as np

STATES = 8


def chain_states(n):
    """The states of `fourbar_bench::acceleration`: sines of small amplitude, different for every call."""
    i = np.arange(n)
    return [(0.3 * np.sin(1.0 + i + 0.37 * k), 0.5 * np.sin(2.0 + i + 0.53 * k)) for k in range(STATES)]


def fastest(f, states, seconds=1.2):
    """Seconds and number of calls of the fastest burst, and the norm of all accelerations."""
    norm = float(np.sqrt(sum(np.sum(np.square(f(q, v))) for q, v in states)))
    t = time.process_time()
    for q, v in states:
        f(q, v)
    rounds = max(1, int(0.02 / max(time.process_time() - t, 1e-6)))
    best, end = np.inf, time.perf_counter() + seconds
    while time.perf_counter() < end:
        t = time.process_time()
        for _ in range(rounds):
            for q, v in states:
                f(q, v)
        best = min(best, time.process_time() - t)
    return best, rounds * len(states), norm


def rod(pin, inertia):
    return pin.Inertia(1.0, np.array([0.5, 0.0, 0.0]), np.diag(inertia))


def pinocchio_chain(n):
    import pinocchio as pin
    m = pin.Model()
    m.gravity.linear = np.array([0.0, 0.0, -9.81])
    j = 0
    for i in range(n):
        place = pin.SE3(np.eye(3), np.array([1.0 if i else 0.0, 0.0, 0.0]))
        # As in our model: the first hinge is about y, and the axes alternate.
        j = m.addJoint(j, pin.JointModelRY() if i % 2 == 0 else pin.JointModelRZ(), place, f"j{i}")
        m.appendBodyToJoint(j, rod(pin, [0.01, 0.09, 0.09]), pin.SE3.Identity())
    d, tau = m.createData(), np.zeros(n)
    both = [fastest(lambda q, v: pin.aba(m, d, q, v, tau, c), chain_states(n)) for c in (pin.Convention.LOCAL, pin.Convention.WORLD)]
    return pin.__version__, min(both, key=lambda x: x[0] / x[1])


def mujoco_chain(n):
    import mujoco as mj
    spec = mj.MjSpec()
    spec.option.gravity = [0, 0, -9.81]
    spec.option.disableflags |= mj.mjtDisableBit.mjDSBL_CONTACT | mj.mjtDisableBit.mjDSBL_CONSTRAINT
    b = spec.worldbody
    for i in range(n):
        b = b.add_body(pos=[1.0 if i else 0.0, 0, 0], mass=1.0, ipos=[0.5, 0, 0], inertia=[0.01, 0.09, 0.09], explicitinertial=True)
        b.add_joint(type=mj.mjtJoint.mjJNT_HINGE, axis=[0, 1, 0] if i % 2 == 0 else [0, 0, 1])
    m = spec.compile()
    d = mj.MjData(m)

    def f(q, v):
        d.qpos[:] = q
        d.qvel[:] = v
        mj.mj_forward(m, d)
        return d.qacc

    return mj.__version__, fastest(f, chain_states(n))


def pinocchio_ladder(n):
    """Cranks on the ground, couplers on the cranks, closed by points at the next crank; proximal solver with its drift correction."""
    import pinocchio as pin
    m = pin.Model()
    m.gravity.linear = np.array([0.0, -9.81, 0.0])
    up = pin.SE3(pin.utils.rotate("z", np.pi / 2), np.zeros(3))
    cranks, couplers = [], []
    for i in range(n + 1):
        c = m.addJoint(0, pin.JointModelRZ(), pin.SE3(up.rotation, np.array([float(i), 0.0, 0.0])), f"crank{i}")
        m.appendBodyToJoint(c, rod(pin, [1e-3, 1 / 12, 1 / 12]), pin.SE3.Identity())
        cranks.append(c)
        if i < n:
            k = m.addJoint(c, pin.JointModelRZ(), pin.SE3(up.rotation.T, np.array([1.0, 0.0, 0.0])), f"coupler{i}")
            m.appendBodyToJoint(k, rod(pin, [1e-3, 1 / 12, 1 / 12]), pin.SE3.Identity())
            couplers.append(k)
    tip = pin.SE3(np.eye(3), np.array([1.0, 0.0, 0.0]))
    # Vectors of the engine: lists would be converted on every call.
    closings, data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for k, c in zip(couplers, cranks[1:]):
        x = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, m, k, tip, c, tip, pin.ReferenceFrame.LOCAL)
        x.m_baumgarte_parameters.Kp, x.m_baumgarte_parameters.Kd = 100.0, 20.0
        closings.append(x)
    d = m.createData()
    for x in closings:
        data.append(x.createData())
    pin.initConstraintDynamics(m, d, closings, data)
    settings, tau = pin.ProximalSettings(1e-12, 1e-8, 20), np.zeros(m.nv)
    # On the branch of the parallelogram: cranks turn together, couplers in the opposite direction.
    sign = np.ones(m.nv)
    for k in couplers:
        sign[m.joints[k].idx_v] = -1.0
    states = [(sign * 0.3 * np.sin(1.0 + 0.37 * k), -sign) for k in range(STATES)]
    return pin.__version__, fastest(lambda q, v: pin.constraintDynamics(m, d, q, v, tau, closings, data, settings), states)


MAKE = {"pinocchio_chain": pinocchio_chain, "mujoco_chain": mujoco_chain, "pinocchio_ladder": pinocchio_ladder}
for case in sys.argv[1:]:
    out = {"case": case, "ok": False}
    try:
        name = case.rstrip("0123456789")
        version, (cpu, steps, norm) = MAKE[name](int(case[len(name):]))
        out.update(version=version, steps=steps, cpu=cpu, value=[norm], ok=bool(np.isfinite(norm)))
    except Exception as e:  # an engine that is missing or gives up is told, not fatal
        out["why"] = str(e)
    print(json.dumps(out), flush=True)
