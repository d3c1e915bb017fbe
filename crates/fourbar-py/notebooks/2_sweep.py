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
# Threads help: the engine lets go of the interpreter's lock while it computes. So do processes, because models and results can be pickled.

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
# Some lengths cannot be assembled. That is an error with a code and a cure, which a sweep can catch.

# %%
try:
    model.replace(crank_length=0.2).run()
except fourbar.FourbarError as error:
    print(error)
else:
    raise AssertionError("a crank of 200 mm cannot turn round")
