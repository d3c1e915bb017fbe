# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---
# %% [markdown]
# # Modes of a bicycle
#
# The benchmark bicycle has two wheels that roll without slipping and a rigid rider. Whether it is self-stable depends on its speed, as
# shown by the eigenvalues of small motions.

# %%
import fourbar
import matplotlib.pyplot as plt
import numpy as np

bicycle = fourbar.load("bicycle")
bicycle

# %%
modes = bicycle.modes()
modes

# %% [markdown]
# As the speed changes, eigenvalues merge, separate and cross zero. Between weave speed and capsize speed all real parts are negative.

# %%
speeds = np.linspace(0.5, 9, 35)
found = [bicycle.replace(v=v).modes().eigenvalues for v in speeds]
fig, ax = plt.subplots(figsize=(7, 4))
for v, values in zip(speeds, found):
    ax.plot(np.full(len(values), v), values.real, "k.", ms=4)
    moving = values.imag > 1e-6
    ax.plot(np.full(moving.sum(), v), values.imag[moving], "C0.", ms=3)
ax.axhline(0, color="0.7", lw=0.8)
ax.set(xlabel="speed [m/s]", ylabel="eigenvalues [1/s]: real (black), imaginary (blue)", ylim=(-12, 12));

# %%
stable = [v for v, values in zip(speeds, found) if values.real.max() < 1e-6]
print(f"it rides by itself between about {min(stable):.1f} and {max(stable):.1f} m/s")
assert 4.0 < min(stable) < 4.6 and 5.7 < max(stable) < 6.1

# %% [markdown]
# A run shows the same. A lateral push decays at 5 m/s; at 3 m/s the bicycle weaves and falls.

# %%
fig, ax = plt.subplots(figsize=(7, 3))
for v in (3.0, 5.0):
    sim = bicycle.replace(v=v).simulation(tol=1e-9)
    state = sim.state
    w = state.v
    k = bicycle.bodies.index("frame")
    w[k, 1] += 0.02
    sim.assemble(state.replace(v=w))
    t = np.arange(0, 2.5, 0.02)
    steer = []
    for time in t:
        sim.advance(time)
        steer.append(sim.joint("steer").angle)
    ax.plot(t, steer, label=f"{v:g} m/s")
ax.set(xlabel="t [s]", ylabel="steering angle [rad]")
ax.legend();
