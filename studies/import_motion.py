"""The motion of imported robots compared with MuJoCo.

    python studies/import_motion.py FOURBAR FOLDER

Takes the MJCF files of a folder whose bodies state their inertia, removes features that the two programs model differently (shapes and
hence contacts, dry friction, limits), and simulates the rest with both programs from the drawn pose. MuJoCo takes steps
of 1e-5 s with RK4; its equalities are compliant and made as stiff as the step permits, and twice as stiff, to show the effect.
Needs `pip install mujoco numpy`; FOURBAR is the command.
"""

import csv
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

import mujoco
import numpy as np

# Durations, and whether actuators are kept: servos on light wrists are too stiff for explicit methods.
FILES = {
    "universal_robots_ur5e/ur5e.xml": (0.2, False),
    "kuka_iiwa_14/iiwa14.xml": (0.2, False),
    "franka_emika_panda/panda_nohand.xml": (0.2, True),
    "ufactory_xarm7/xarm7_nohand.xml": (0.2, False),
    "unitree_go1/go1.xml": (0.2, True),
    "shadow_hand/right_hand.xml": (0.1, False),
    "bitcraze_crazyflie_2/cf2.xml": (0.2, True),
    "robotiq_2f85/2f85.xml": (0.05, True),
    "ufactory_xarm7/hand.xml": (0.05, True),
    "agility_cassie/cassie.xml": (0.1, True),
}
DROPPED = {"geom", "asset", "contact", "sensor", "keyframe", "statistic", "visual", "camera", "light", "exclude", "pair", "texture", "material", "mesh", "skin"}
ATTRIBUTES = {"frictionloss", "range", "limited", "forcerange", "actuatorfrcrange", "forcelimited", "actuatorfrclimited"}


def stripped(root, actuated):
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in DROPPED:
                parent.remove(child)
    if not actuated:
        for e in root.findall("actuator"):
            root.remove(e)
    for e in root.iter():
        if e.tag in ("joint", "general", "position", "motor", "velocity"):
            for a in ATTRIBUTES & set(e.attrib):
                del e.attrib[a]
    for e in root.iter("compiler"):
        for a in ("meshdir", "texturedir", "assetdir"):
            e.attrib.pop(a, None)
        e.set("inertiafromgeom", "false")
    for e in root.iter("option"):
        e.attrib.clear()
    # Separate flags and options: only the mechanism.
    root.append(ET.fromstring('<option timestep="1e-5" integrator="RK4" cone="elliptic" solver="Newton" iterations="100" tolerance="1e-14"><flag contact="disable"/></option>'))
    return root


def in_mujoco(path, t_end, step, softness):
    m = mujoco.MjModel.from_xml_path(str(path))
    m.opt.timestep = step
    m.eq_solref[:] = [softness, 1.0]
    m.eq_solimp[:] = [0.9999, 0.9999, 1e-3, 0.5, 2.0]
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    for _ in range(round(t_end / step)):
        mujoco.mj_step(m, d)
    return {m.body(k).name: d.xipos[k].copy() for k in range(1, m.nbody)}, m


def in_fourbar(command, path, t_end, folder):
    out = folder / "out"
    done = subprocess.run(
        [command, "run", str(path), "--out", str(out), "--t-end", str(t_end), "--output-step", str(t_end), "--tol", "1e-10", "--force"],
        capture_output=True, text=True,
    )
    if done.returncode != 0:
        return None, (done.stdout + done.stderr).strip().splitlines()[-1]
    with open(out / "trajectory.csv", newline="") as f:
        rows = list(csv.reader(f))
    return {n: float(x) for n, x in zip(rows[0], rows[-1])}, None


def main(command, corpus):
    print("| file | actuators | time, s | bodies | moved by, m | apart, m | MuJoCo with half the step, m |\n|---|---|---|---|---|---|---|")
    for name, (t_end, actuated) in FILES.items():
        with tempfile.TemporaryDirectory() as tmp:
            folder = Path(tmp)
            path = folder / "robot.xml"
            ET.ElementTree(stripped(ET.parse(Path(corpus) / name).getroot(), actuated)).write(path)
            try:
                coarse, m = in_mujoco(path, t_end, 1e-5, 2e-5)
                fine, _ = in_mujoco(path, t_end, 5e-6, 1e-5)
            except ValueError as e:
                print(f"| {name} | MuJoCo: {str(e).splitlines()[0]} | | | | | |")
                continue
            start = mujoco.MjData(m)
            mujoco.mj_forward(m, start)
            ours, why = in_fourbar(command, path, t_end, folder)
            if ours is None:
                print(f"| {name} | | {t_end} | {why} | | | |")
                continue
            apart = moved = change = 0.0
            count = 0
            for k in range(1, m.nbody):
                body = m.body(k).name
                if f"{body}.r.x" not in ours or m.body_dofnum[k] == 0:
                    continue
                # Welded bodies here are one body there: only other bodies are compared.
                if any(m.body_parentid[j] == k and m.body_dofnum[j] == 0 for j in range(1, m.nbody)):
                    continue
                r = np.array([ours[f"{body}.r.{c}"] for c in "xyz"])
                count += 1
                apart = max(apart, np.abs(r - fine[body]).max())
                change = max(change, np.abs(coarse[body] - fine[body]).max())
                moved = max(moved, np.abs(fine[body] - start.xipos[k]).max())
            print(f"| {name} | {'kept' if actuated else 'left out'} | {t_end} | {count} | {moved:.3g} | {apart:.2g} | {change:.2g} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
