# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---
# %% [markdown]
# # Design of a coupler curve with scipy
#
# The coupler point of a four-bar linkage is to move along a straight line for a part of a revolution, as in a film feed or a walking leg.
# The lengths of the links and the position of the point are free; scipy optimises them.

# %%
import fourbar
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

model = fourbar.load("fourbar")
names = ["crank_length", "coupler_length", "rocker_length", "Px", "Py"]
start = np.array([model.parameters[n] for n in names])
PART = 80  # of 200 rows: two fifths of the turn


def curve(x):
    """The coupler curve, as complex numbers."""
    r = model.replace(**dict(zip(names, x))).kinematics(output_step=0.005, columns="P")
    return r["P.x"][:-1] + 1j * r["P.y"][:-1]


def straightness(z):
    """The best stretch: where it begins, and its largest distance from a line, relative to its length."""
    best = (np.inf, 0)
    for k in range(0, len(z), 5):
        stretch = np.roll(z, -k)[:PART]
        centred = stretch - stretch.mean()
        _, s, v = np.linalg.svd(np.stack([centred.real, centred.imag], axis=1), full_matrices=False)
        along, across = np.stack([centred.real, centred.imag], axis=1) @ v.T @ np.eye(2)[:, :1], s[1]
        best = min(best, (across / np.sqrt(PART) / np.ptp(along), k))
    return best


def cost(x):
    try:
        return np.log(straightness(curve(x))[0])
    except fourbar.FourbarError:
        # It cannot be assembled, or the crank cannot turn round.
        return 0.0


before = straightness(curve(start))[0]
found = minimize(cost, start, method="Nelder-Mead", options={"maxfev": 150, "initial_simplex": start * (1 + 0.12 * np.vstack([np.zeros(5), np.eye(5)]))})
after, k = straightness(curve(found.x))
print(f"rms distance from a line, relative to its length: {before:.2e} before, {after:.2e} after {found.nfev} linkages")
assert after < 0.5 * before

# %%
fig, ax = plt.subplots(figsize=(6, 4))
for x, label in ((start, "before"), (found.x, "after")):
    z = curve(x)
    ax.plot(z.real, z.imag, label=label)
z = np.roll(curve(found.x), -k)[:PART]
ax.plot(z.real, z.imag, lw=3, label="almost straight")
ax.set_aspect("equal")
ax.legend();

# %% [markdown]
# Is it still a good linkage? `check` analyses it.

# %%
model.replace(**dict(zip(names, found.x))).check()
