"""The stiff governor (model `flyball_governor`, 10 s) with SUNDIALS' CVODE and with Fourbar: work and errors relative to one reference.

CVODE (BDF, dense differences) gets hand-written equations in the four joint coordinates; Fourbar gets its file. The reference is
Fourbar's Taylor series at 1e-12, so that an error in the hand-written equations would be visible. Evaluations of the equations are counted,
which do not depend on the machine. CPU times are also printed: those of CVODE are mostly spent in the Python function that it calls, those of
Fourbar include the whole command with reading and writing.
Needs `pip install scikit-sundae`.
usage: sundials_bench.py [FOURBAR]    the program, `fourbar` if left out"""
import csv
import json
import math
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
import sksundae
from sksundae.cvode import CVODE

PROGRAM = sys.argv[1] if len(sys.argv) > 1 else "fourbar"
END, MODEL = 10.0, "flyball_governor"
G, K, C, REST = 9.81, 8e5, 4e4, 0.5
ROD, SLIDER = 5.3, 3.0
AXIAL, ACROSS, ARM = 5e-6, 0.09575721698113207, 0.971698113207547
# Inertia of shaft and slider about the axis.
SPIN = 5e-6 + 0.005


def motion(_t, y, out):
    """Rates of (turn, height of the slider, angles of the arms below the horizontal) and of their speeds."""
    height, turn_rate, height_rate = y[1], y[4], y[5]
    out[:4] = y[4:]
    inertia, couple, lift = SPIN, 0.0, -SLIDER * G
    for k in (0, 1):
        angle, rate = y[2 + k], y[6 + k]
        c, s = math.cos(angle), math.sin(angle)
        radius = 0.05 + ARM * c
        inertia += ROD * radius * radius + ACROSS * c * c + AXIAL * s * s
        # Half the derivative of the inertia about the shaft.
        slope = -ROD * radius * ARM * s - (ACROSS - AXIAL) * c * s
        couple += 2.0 * slope * rate
        x, z = 0.5 * c, 1.0 - 0.5 * s - height
        length = math.hypot(x, z)
        x_rate, z_rate = -0.5 * s * rate, -0.5 * c * rate - height_rate
        tension = K * (length - REST) + C * (x * x_rate + z * z_rate) / length
        lift += tension * z / length
        along = tension * (0.5 * s * x + 0.5 * c * z) / length
        out[6 + k] = (slope * turn_rate**2 + ROD * G * ARM * c + along) / (ROD * ARM * ARM + ACROSS)
    out[4] = -couple * turn_rate / inertia
    out[5] = lift / SLIDER


def centres(y):
    """Centres of slider and arms."""
    turn = np.array([math.cos(y[0]), math.sin(y[0])])
    out = [np.array([0.0, 0.0, y[1]])]
    for angle, side in ((y[2], 1.0), (y[3], -1.0)):
        radius = side * (0.05 + ARM * math.cos(angle))
        out.append(np.array([*(radius * turn), 1.0 - ARM * math.sin(angle)]))
    return out


def fourbar(formulation, integrator, tol):
    """Final centres, and the work of the run."""
    with tempfile.TemporaryDirectory() as folder:
        command = [PROGRAM, "run", MODEL, "--formulation", formulation, "--integrator", integrator, "--tol", str(tol), "--t-end", str(END),
                   "--output-step", str(END), "--out", folder + "/r", "--json"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        with open(folder + "/r/trajectory.csv", encoding="utf8") as file:
            last = list(csv.DictReader(file))[-1]
    places = [np.array([float(last[f"{body}.r.{axis}"]) for axis in "xyz"]) for body in ("slider", "rod_right", "rod_left")]
    return places, answer["work"], seconds


def cvode(tol):
    """Final centres, and the work of the run."""
    start = np.array([0.0, 0.5, math.pi / 6, math.pi / 6, 2 * math.pi, 0.0, 0.0, 0.0])
    evaluations = [0]

    def counted(t, y, out):
        evaluations[0] += 1
        motion(t, y, out)

    solver = CVODE(counted, method="BDF", rtol=tol, atol=tol, max_num_steps=1_000_000)
    before = time.process_time()
    answer = solver.solve(np.array([0.0, END]), start)
    return centres(answer.y[-1]), evaluations[0], time.process_time() - before


def main():
    truth = fourbar("natural", "taylor", 1e-12)[0]

    def error(places):
        return max(float(np.linalg.norm(a - b)) for a, b in zip(places, truth))

    print(f"scikit-sundae {sksundae.__version__}, SUNDIALS {sksundae.SUNDIALS_VERSION}\n")
    print("| method | tolerance | error at the end, m | evaluations | CPU, ms |\n|---|---|---|---|---|")
    for tol in (1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10):
        places, evaluations, seconds = cvode(tol)
        print(f"| CVODE, BDF | {tol:.0e} | {error(places):.1e} | {evaluations} | {1e3 * seconds:.0f} |")
    for formulation in ("grcr", "ra"):
        for tol in (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9):
            places, work, seconds = fourbar(formulation, "radau", tol)
            print(f"| {formulation} radau | {tol:.0e} | {error(places):.1e} | {work['evaluations']:.0f} | {1e3 * seconds:.0f} |")


main()
