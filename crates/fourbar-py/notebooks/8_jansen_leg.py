# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---
# %% [markdown]
# # Ground clearance of Jansen's leg
#
# The foot of the shipped leg lifts by 22 mm while it swings forward. How much higher can it be lifted by changing three of its thirteen
# lengths, if the step length is kept and the motor torque hardly increases?

# %%
import fourbar
import matplotlib.pyplot as plt
import numpy as np

leg = fourbar.load("jansen_leg")
before = leg.run(columns=["foot", "motor"])
print(f"lift {1e3 * np.ptp(before['foot.y']):.1f} mm, step {1e3 * np.ptp(before['foot.x']):.1f} mm, torque {np.abs(before['motor.effort']).max():.4f} N m")

# %% [markdown]
# `optimize` searches for the best values within bounds. Conditions restrict the search: without the one on the torque it would approach the
# position where the leg almost folds. Cases that cannot be assembled are infeasible, not large values.

# %%
best = leg.optimize(
    {"len_j": "47..53 mm", "len_k": "59..65 mm", "len_f": "37..42 mm"},
    maximize="range(foot.y)",
    keep=["range(foot.x) > 65 mm", "max(abs(motor.effort)) < 0.025 Nm"],
    evaluations=200,
)
print(best)

# %%
after = best.model.run(columns=["foot", "motor"])
assert np.ptp(after["foot.y"]) > 1.5 * np.ptp(before["foot.y"])
assert np.ptp(after["foot.x"]) > 0.0649 and np.abs(after["motor.effort"]).max() < 0.02501
fig, ax = plt.subplots(figsize=(6, 3))
for run, label in [(before, "as shipped"), (after, "optimised")]:
    ax.plot(1e3 * run["foot.x"], 1e3 * run["foot.y"], label=label)
ax.set(xlabel="foot.x [mm]", ylabel="foot.y [mm]", aspect="equal")
ax.legend();

# %% [markdown]
# Which parameters influence the lift most?

# %%
best.model.sensitivities("range(foot.y)", to=["len_j", "len_k", "len_f"])
