# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---
# %% [markdown]
# # A sweep
#
# How do the coupler curve and the motor of a four-bar linkage change with the length of its crank? `replace` gives the same mechanism with
# another parameter; a loop does the rest.

# %%
import fourbar
import matplotlib.pyplot as plt
import numpy as np

model = fourbar.load("fourbar")
lengths = np.linspace(0.05, 0.095, 10)
results = [model.replace(crank_length=length).run(columns=["P", "motor"]) for length in lengths]

# %%
colours = plt.cm.viridis(np.linspace(0, 1, len(lengths)))
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
for length, result, colour in zip(lengths, results, colours):
    left.plot(result["P.x"], result["P.y"], color=colour, label=f"{1e3 * length:.0f} mm")
    right.plot(result.t, result["motor.effort"], color=colour)
left.set(xlabel="P.x [m]", ylabel="P.y [m]", aspect="equal")
left.legend(fontsize=7)
right.set(xlabel="t [s]", ylabel="motor.effort [N m]")
fig.tight_layout()

# %% [markdown]
# Threads help, as the engine releases the interpreter's lock while it computes. So do processes, as models and results can be pickled.

# %%
from concurrent.futures import ThreadPoolExecutor


def peak(length):
    return np.abs(model.replace(crank_length=length).run(columns="motor.effort")["motor.effort"]).max()


with ThreadPoolExecutor() as pool:
    peaks = np.array(list(pool.map(peak, lengths)))
assert np.allclose(peaks, [np.abs(r["motor.effort"]).max() for r in results])
plt.figure(figsize=(5, 3))
plt.plot(1e3 * lengths, peaks, "o-")
plt.xlabel("length of the crank [mm]")
plt.ylabel("largest torque [N m]");

# %% [markdown]
# `Model.sweep` does the same in one call: on all cores, with one row per case and measures given by expressions. Which crank and which
# rocker need the smallest motor torque?

# %%
sweep = model.sweep(
    {"crank_length": (0.05, 0.13, 9), "rocker_length": (0.12, 0.20, 9)},
    {"torque": "max(abs(motor.effort))", "rise": "range(P.y)"},
)
sweep

# %%
crank, rocker = 1e3 * np.unique(sweep["set.crank_length"]), 1e3 * np.unique(sweep["set.rocker_length"])
torque = sweep["torque"].reshape(len(crank), len(rocker))
fig, ax = plt.subplots(figsize=(5.5, 4))
shown = ax.pcolormesh(rocker, crank, torque, norm="log")
fig.colorbar(shown, label="largest torque [N m]")
for k in np.flatnonzero(~sweep.ok):
    ax.plot(1e3 * sweep["set.rocker_length"][k], 1e3 * sweep["set.crank_length"][k], "rx")
ax.set(xlabel="length of the rocker [mm]", ylabel="length of the crank [mm]");

# %% [markdown]
# The torque grows with the crank, and much faster from 110 mm on, where the linkage comes close to folding flat. If the crank cannot rotate
# fully, the case is also a row, with the code, joints and time of its failure.

# %%
failed = sweep.to_pandas().query("status != 'ok'")
assert len(failed) >= 1 and set(failed["code"]) == {"S220"}
failed[["set.crank_length", "set.rocker_length", "status", "code", "time", "names"]]

# %% [markdown]
# `sweep(..., executor=...)` takes any executor of `concurrent.futures`: a pool of processes, Dask, MPI. The rows are bit-identical.

# %%
with ThreadPoolExecutor(2) as pool:
    again = model.sweep({"crank_length": list(lengths)}, {"torque": "max(abs(motor.effort))"}, executor=pool)
assert np.array_equal(again["torque"], peaks)

# %% [markdown]
# Some lengths cannot be assembled. This is an error with a code and a help text, which a loop can catch.

# %%
try:
    model.replace(crank_length=0.2).run()
except fourbar.FourbarError as error:
    print(error)
else:
    raise AssertionError("a crank of 200 mm cannot turn round")
