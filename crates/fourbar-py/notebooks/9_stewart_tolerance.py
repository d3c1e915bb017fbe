# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---
# %% [markdown]
# # Tolerance of a Stewart platform
#
# How accurate is the motion of the shipped Stewart platform if the strokes of its motors are accurate to 0.05 mm, its height to 0.1 mm, the
# angles between its joints have a standard deviation of 0.02 degrees, and each of the six balls has a clearance of 20 um?

# %%
import fourbar
import matplotlib.pyplot as plt
import numpy as np

platform = fourbar.load("stewart_platform")
tolerances = {"stroke": "0.05 mm", "height": "0.1 mm", "spread": "sigma:0.02 deg"}
tolerances |= {f"ball{k}": "clearance:20 um" for k in range(1, 7)}
measures = {"low": "min(centre.z)", "rim": "range(rim.z)", "across": "max(centre.x)"}
result = platform.tolerance(tolerances, measures, samples=60, output_step=0.1)
print(result)

# %% [markdown]
# Samples and the linear stack-up are compared: if they agree, the contributions of the stack-up can be trusted.

# %%
for name in measures:
    linear, sampled = result.sigma(name, linear=True), result.measures[name]["samples"]
    assert abs(sampled["sigma"] - linear) < 4 * sampled["sigma_error"], name
shares = {name: result.measures[name]["linear"]["shares"] for name in measures}
fig, ax = plt.subplots(figsize=(5.5, 3))
left = np.zeros(len(shares))
for parameter in ["stroke", "height", "spread"]:
    widths = np.array([shares[name][parameter] for name in shares])
    ax.barh(list(shares), widths, left=left, label=parameter)
    left += widths
ax.set(xlabel="share of the variance")
ax.legend();

# %% [markdown]
# The lowest position of the centre depends almost only on the height of the assembly. The clearances have a bound instead of a
# distribution: which balls should have no clearance?

# %%
assert shares["low"]["height"] > 0.9
clearances = {ball: 1e3 * x for ball, x in result.measures["across"]["linear"]["clearances"].items()}
fig, ax = plt.subplots(figsize=(5.5, 2.5))
ax.bar(list(clearances), list(clearances.values()))
ax.set(ylabel="to the side, at worst [mm]");
