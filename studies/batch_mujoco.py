"""The hanging chain of eight rods in MuJoCo's native rollout on one thread: error at the end of two seconds and runs per second, for steps of RK4.

    python studies/batch_mujoco.py

The chains are those of `cargo bench -p fourbar-bench --bench batch -- --reference`, which prints the same two figures for batches: rods of about 1 kg and 1 m with
masses that differ between cases, hinges alternately about y and z, at rest and horizontal at the start. Errors are the largest of a joint angle against RK4 with a step of
1e-4 s, which is verified with 2e-4 s. Times are CPU times of the process, the shortest of several rollouts, to be compared at equal errors.
"""

import math
import time

import mujoco
import numpy as np
from mujoco import rollout

LINKS, CASES, END = 8, 8, 2.0


def chain(case):
    """The chain of a case, as in the benchmark of batches."""
    xml = "<mujoco><option gravity='0 0 -9.81' integrator='RK4'><flag contact='disable' constraint='disable'/></option><worldbody>"
    for i in range(LINKS):
        m = 1.0 + 0.1 * math.sin(1.0 + case + 7.0 * i)
        axis = "0 1 0" if i % 2 == 0 else "0 0 1"
        xml += (
            f"<body pos='{1.0 if i else 0.0} 0 0'><joint type='hinge' axis='{axis}'/>"
            f"<inertial pos='0.5 0 0' mass='{m!r}' diaginertia='{0.01 * m!r} {0.09 * m!r} {0.09 * m!r}'/>"
        )
    return mujoco.MjModel.from_xml_string(xml + "</body>" * LINKS + "</worldbody></mujoco>")


def ends(step, repeats=1):
    """Final joint angles, one row per case, and CPU seconds of all cases."""
    models = [chain(k) for k in range(CASES)]
    for m in models:
        m.opt.timestep = step
    data = mujoco.MjData(models[0])
    size = mujoco.mj_stateSize(models[0], mujoco.mjtState.mjSTATE_FULLPHYSICS)
    initial, n = np.zeros((CASES, size)), round(END / step)
    mujoco.mj_getState(models[0], data, initial[0], mujoco.mjtState.mjSTATE_FULLPHYSICS)
    initial[:] = initial[0]
    best, state = math.inf, None
    for _ in range(repeats):
        begin = time.process_time()
        state, _ = rollout.rollout(models, data, initial, nstep=n)
        best = min(best, time.process_time() - begin)
    # Time, then coordinates.
    return state[:, -1, 1 : 1 + LINKS].copy(), best


def main():
    print(f"MuJoCo {mujoco.__version__}, native rollout, one thread, RK4, chain of {LINKS} over {END} s")
    exact, _ = ends(1e-4)
    print(f"reference: RK4 at 1e-4 s; at 2e-4 s it differs by {np.abs(ends(2e-4)[0] - exact).max():.1e} rad")
    for step in [2e-2, 1e-2, 5e-3, 4e-3, 2e-3, 1e-3]:
        angles, seconds = ends(step, 7)
        print(f"  h = {step:g} s: {np.abs(angles - exact).max():.2e} rad, {CASES / seconds:.0f} runs/s")


if __name__ == "__main__":
    main()
