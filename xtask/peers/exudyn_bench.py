"""The mechanisms of `cargo xtask peers` in Exudyn. Prints one JSON object per case:
{"case", "version", "h", "steps", "cpu" (seconds of the solver call, shortest of the repeats), "value" (for computing the error), "ok"}.
CPU time of the process, independent of other programs. Models as in xtask/src/peers.rs; no file is written.
usage: exudyn_bench.py [CASE...]"""
import json
import sys
import time
import warnings

warnings.filterwarnings("ignore")
import numpy as np
import exudyn as exu
from exudyn.utilities import (LoadMassProportional, MarkerBodyMass, MarkerBodyPosition, NodeRigidBody2D, ObjectGround, RevoluteJoint2D,
                              RigidBody2D, RigidBodyInertia, SensorBody)

G = 9.81
OUT = exu.OutputVariableType


def settings(h, steps, linear, redundant=False, period=None, own=False):
    """Generalised-alpha on the index-3 equations; redundant constraints need the dense solver, which accepts a singular matrix."""
    s = exu.SimulationSettings()
    t = s.timeIntegration
    t.endTime, t.numberOfSteps, t.verboseMode, t.adaptiveStep = h * steps, steps, 0, False
    if not own:  # otherwise Newton and damping as the engine has them by itself
        t.newton.useModifiedNewton = True
        t.newton.relativeTolerance, t.newton.absoluteTolerance = 1e-8, 1e-10
        t.generalizedAlpha.spectralRadius = 0.9
        t.generalizedAlpha.useIndex2Constraints = False
    s.linearSolver.solverType = {"dense": exu.LinearSolverType.EigenDense, "sparse": exu.LinearSolverType.EigenSparse}[linear]
    s.linearSolver.ignoreSingularJacobian = redundant
    s.solutionSettings.writeSolutionToFile = False
    s.solutionSettings.sensorsWritePeriod = period or 0.01
    return s


def system():
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    return container, mbs, mbs.AddObject(ObjectGround())


def planar_bars(mbs, specs):
    out = []
    for x, y, a, vx, vy, w in specs:
        n = mbs.AddNode(NodeRigidBody2D(referenceCoordinates=[x, y, a], initialVelocities=[vx, vy, w]))
        b = mbs.AddObject(RigidBody2D(nodeNumber=n, physicsMass=1.0, physicsInertia=1 / 12))
        mbs.AddLoad(LoadMassProportional(markerNumber=mbs.AddMarker(MarkerBodyMass(bodyNumber=b)), loadVector=[0, -G, 0]))
        out.append(b)
    return out


def spatial_bars(mbs, specs):
    inertia = RigidBodyInertia(mass=1.0, com=[0, 0, 0], inertiaTensor=np.diag([1e-3, 1 / 12, 1 / 12]))
    out = []
    for x, y, a, vx, vy, w in specs:
        c, s = np.cos(a), np.sin(a)
        out.append(mbs.CreateRigidBody(inertia=inertia, referencePosition=[x, y, 0],
                                       referenceRotationMatrix=np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]),
                                       initialVelocity=[vx, vy, 0], initialAngularVelocity=[0, 0, w], gravity=[0, -G, 0]))
    return out


def hinge(mbs, planar, b0, p0, b1, p1, at):
    if planar:
        m = [mbs.AddMarker(MarkerBodyPosition(bodyNumber=b, localPosition=list(p))) for b, p in ((b0, p0), (b1, p1))]
        mbs.AddObject(RevoluteJoint2D(markerNumbers=m))
    else:
        mbs.CreateRevoluteJoint(bodyNumbers=[b0, b1], position=list(at), axis=[0, 0, 1], useGlobalFrame=True)


def sensor(mbs, body, what):
    return mbs.AddSensor(SensorBody(bodyNumber=body, storeInternal=True, outputVariableType=what))


def ladder(n, planar, h, linear, redundant=False):
    """The N-four-bar of benchmark A02; the value is the tip of the first crank at 10 s."""
    keep, mbs, ground = system()
    specs = [(i, .5, np.pi / 2, .5, 0, -1.0) for i in range(n + 1)] + [(i + .5, 1.0, 0.0, 1.0, 0, 0.0) for i in range(n)]
    bodies = (planar_bars if planar else spatial_bars)(mbs, specs)
    cranks, couplers = bodies[:n + 1], bodies[n + 1:]
    a, e = [-.5, 0, 0], [.5, 0, 0]
    for i in range(n + 1):
        hinge(mbs, planar, ground, [i, 0, 0], cranks[i], a, [i, 0, 0])
    for i in range(n):
        hinge(mbs, planar, cranks[i], e, couplers[i], a, [i, 1, 0])
        hinge(mbs, planar, couplers[i], e, cranks[i + 1], e, [i + 1, 1, 0])
    tip = sensor(mbs, cranks[0], OUT.Position)
    mbs.Assemble()
    return keep, mbs, settings(h, round(10 / h), linear, redundant), lambda: list(2 * mbs.GetSensorStoredData(tip)[-1, 1:3])


def chain(n, planar, h, steps, linear, redundant=False):
    """A chain hanging like a V between two supports, 60 degrees steep; the value is not used."""
    keep, mbs, ground = system()
    x, y, specs, joints = 0.0, 0.0, [], [(0.0, 0.0, 0.0)]
    for i in range(n):
        a = -np.pi / 3 if i < n // 2 else np.pi / 3
        specs.append((x + .5 * np.cos(a), y + .5 * np.sin(a), a, 0, 0, 0))
        x, y = x + np.cos(a), y + np.sin(a)
        joints.append((x, y, 0.0))
    line = [ground] + (planar_bars if planar else spatial_bars)(mbs, specs) + [ground]
    for i in range(n + 1):
        hinge(mbs, planar, line[i], [.5, 0, 0] if i else [0, 0, 0], line[i + 1], [-.5, 0, 0] if i < n else joints[-1], joints[i])
    mbs.Assemble()
    return keep, mbs, settings(h, steps, linear, redundant, period=h * steps), lambda: []


def bricard(h):
    """Benchmark A04 with square rods of 0.1 m; the value is the largest change of the total energy within 10 s."""
    keep, mbs, ground = system()
    p = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1.]])
    axes = np.eye(3)[[1, 2, 0, 1, 2, 0]]
    across, along = 1.01 / 12, 1 / 600
    previous, ids, inertias = ground, [], []
    for i in range(5):
        J = np.diag(across + (along - across) * np.abs(p[i + 1] - p[i]))
        b = mbs.CreateRigidBody(inertia=RigidBodyInertia(mass=1., com=[0, 0, 0], inertiaTensor=J),
                                referencePosition=list((p[i] + p[i + 1]) / 2), gravity=[0, -G, 0])
        mbs.CreateRevoluteJoint(bodyNumbers=[previous, b], position=list(p[i]), axis=list(axes[i]), useGlobalFrame=True)
        ids.append([sensor(mbs, b, o) for o in (OUT.Position, OUT.Velocity, OUT.AngularVelocityLocal)])
        inertias.append(np.diag(J))
        previous = b
    mbs.CreateRevoluteJoint(bodyNumbers=[previous, ground], position=list(p[5]), axis=list(axes[5]), useGlobalFrame=True)
    mbs.Assemble()

    def drift():
        total = 0.0
        for row, J in zip(ids, inertias):
            P, V, W = (mbs.GetSensorStoredData(i)[:, 1:4] for i in row)
            total = total + .5 * (V ** 2).sum(1) + .5 * (W ** 2 @ J) + G * P[:, 1]
        return [float(np.max(np.abs(total - total[0])))]
    return keep, mbs, settings(h, round(10 / h), "dense", True), drift


def slider_crank(h):
    """A spatial slider-crank without a motor; the value is the position of the slider at 5 s."""
    A = np.array([0, .1, .12])
    B, C, w0 = A + [0, 0, .08], np.array([.2, 0, 0.]), 6.0
    vB, r = np.cross([w0, 0, 0], B - A), C - B
    L = np.linalg.norm(r)
    vC = np.array([r @ vB / r[0], 0, 0])
    omega = np.cross(r, vC - vB) / L ** 2
    x = r / L
    z = np.cross(x, [0, 1, 0.])
    z /= np.linalg.norm(z)
    keep, mbs, ground = system()
    across = .5 * L ** 2 / 12

    def body(m, J, at, **more):
        return mbs.CreateRigidBody(inertia=RigidBodyInertia(mass=m, com=[0, 0, 0], inertiaTensor=np.diag(J)), referencePosition=list(at),
                                   gravity=[0, 0, -G], **more)
    crank = body(.12, [1e-4, 1e-4, 1e-5], (A + B) / 2, initialVelocity=list(vB / 2), initialAngularVelocity=[w0, 0, 0])
    rod = body(.5, [1e-5, across, across], (B + C) / 2, referenceRotationMatrix=np.column_stack([x, np.cross(z, x), z]),
               initialVelocity=list((vB + vC) / 2), initialAngularVelocity=list(omega))
    slider = body(2., [1e-4] * 3, C, initialVelocity=list(vC))
    mbs.CreateRevoluteJoint(bodyNumbers=[ground, crank], position=list(A), axis=[1, 0, 0], useGlobalFrame=True)
    mbs.CreateSphericalJoint(bodyNumbers=[crank, rod], position=list(B), useGlobalFrame=True)
    mbs.CreateSphericalJoint(bodyNumbers=[rod, slider], position=list(C), useGlobalFrame=True)
    mbs.CreateGenericJoint(bodyNumbers=[ground, slider], position=list(C), constrainedAxes=[0, 1, 1, 1, 1, 1], useGlobalFrame=True)
    place = sensor(mbs, slider, OUT.Position)
    mbs.Assemble()
    return keep, mbs, settings(h, round(5 / h), "dense", own=True), lambda: [float(mbs.GetSensorStoredData(place)[-1, 1])]


CASES = {
    "ladder2_spatial": (1e-3, lambda h: ladder(2, False, h, "dense", True)),
    "ladder2_planar": (1e-3, lambda h: ladder(2, True, h, "dense")),
    "ladder40_planar": (1e-3, lambda h: ladder(40, True, h, "sparse")),
    "chain1000_planar": (1e-3, lambda h: chain(1000, True, h, 50, "sparse")),
    "chain100_spatial": (1e-3, lambda h: chain(100, False, h, 10, "dense", True)),
    "bricard": (1e-3, bricard),
    "slider_crank": (1e-4, slider_crank),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or CASES:
        h, make = CASES[name]
        cpu, ok, value, steps = float("inf"), True, [], 0
        for _ in range(3):
            keep, mbs, s, read = make(h)
            t = time.process_time()
            try:
                ok = bool(mbs.SolveDynamic(s))
            except Exception:
                ok = False
            t = time.process_time() - t
            cpu, steps = min(cpu, t), s.timeIntegration.numberOfSteps
            if ok:
                value = [float(v) for v in read()]
            if not ok:
                break
        print(json.dumps({"case": name, "version": exu.__version__ if hasattr(exu, "__version__") else "", "h": h, "steps": steps,
                          "cpu": cpu, "value": value, "ok": ok}), flush=True)
