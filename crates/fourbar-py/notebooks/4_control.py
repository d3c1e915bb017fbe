# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---
# %% [markdown]
# # A controller for a pendulum on a cart
#
# A controller is designed for the linear model about the upright position and tested on the full mechanism.

# %%
import fourbar
import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import solve_continuous_are

cart = (
    fourbar.Mechanism("Pendulum on a cart", gravity=[0, 0, -9.81])
    .parameters(M=1.0, m=0.2, L=0.5)
    .body("cart", mass="M", inertia=[0.01, 0.01, 0.01], shape=[{"type": "box", "at": [0, 0, 0], "size": [0.3, 0.15, 0.1]}])
    .body("rod", mass="m", inertia=["m*L^2/12", "m*L^2/12", 1e-5], at=[0, 0, "L/2"])
    .prismatic("track", fourbar.GROUND, "cart", at=[0, 0, 0], axis=[1, 0, 0])
    .revolute("pin", "cart", "rod", at=[0, 0, 0], axis=[0, 1, 0])
    .input("push", unit="N", range=[-20, 20])
    .actuator("motor", "track", "push")
    .point("tip", fourbar.on("rod", [0, 0, "L/2"]))
    .study(t_end=4, output_step=0.02)
    .build()
)

# %% [markdown]
# The upright position is an unstable equilibrium. The linear model about it is `x' = A x + B u`.

# %%
linear = cart.linearize("start", outputs=["track.distance", "pin.angle", "track.speed", "pin.speed"])
A, B, C, D = linear
np.linalg.eigvals(A)

# %% [markdown]
# The outputs are four coordinates that determine the state: the controller uses these.

# %%
T = np.linalg.inv(C)
a, b = C @ A @ T, C @ B
Q, R = np.diag([10.0, 10.0, 1.0, 1.0]), np.array([[0.1]])
K = np.linalg.solve(R, b.T @ solve_continuous_are(a, b, Q, R))
assert np.linalg.eigvals(a - b @ K).real.max() < 0
K

# %% [markdown]
# Now the full mechanism: the controller reads the outputs and sets the force a hundred times per second. At one second the rod is hit,
# which changes its velocity.

# %%
rows = []
with cart.simulation(tol=1e-8) as sim:
    while sim.t < 5:
        if abs(sim.t - 1.0) < 1e-9:
            state = sim.state
            v = state.v
            v[1, 0] += 0.3
            sim.assemble(state.replace(v=v))
        track, pin = sim.joint("track"), sim.joint("pin")
        x = np.array([track.distance, pin.angle, track.speed, pin.speed])
        sim.inputs["push"] = float(np.clip(-K @ x, -20, 20)[0])
        rows.append([sim.t, *x, sim.inputs["push"]])
        sim.step(0.01)
rows = np.array(rows)
assert np.abs(rows[:, 2]).max() > 0.02 and np.abs(rows[-1, 1:5]).max() < 0.02

fig, axes = plt.subplots(3, 1, figsize=(7, 5), sharex=True)
for ax, k, label in zip(axes, (1, 2, 5), ("cart [m]", "angle [rad]", "push [N]")):
    ax.plot(rows[:, 0], rows[:, k])
    ax.set_ylabel(label)
axes[-1].set_xlabel("t [s]");
