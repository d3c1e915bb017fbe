# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---
# %% [markdown]
# # A first mechanism
#
# A mechanism is read from a file, or taken from those that come with the package. `fourbar.examples()` lists them.

# %%
import fourbar
import matplotlib.pyplot as plt
import numpy as np

model = fourbar.load("fourbar")
model.bodies, model.joints, model.drives

# %% [markdown]
# `check` describes the mechanism: mobility, redundant constraints, singular positions, other assembly modes.

# %%
model.check()

# %% [markdown]
# `run` runs the study of the file. The result is a mapping from names of columns to numpy arrays; `units` has their units.

# %%
result = model.run()
result["P.y"].max(), result.units["P.y"], len(result), result.rows

# %% [markdown]
# Columns can be plotted over the time or over each other, and converted to pandas, polars, xarray or Arrow.

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
result.plot("P.y", x="P.x", ax=left)
left.set_aspect("equal")
result.plot("motor.effort", ax=right)
fig.tight_layout()

# %%
result.to_pandas()[["P.x", "P.y", "motor.effort"]].describe()

# %% [markdown]
# A result is displayed as a page, the same that the command `fourbar view` writes. The view can be rotated, played and measured without a
# network connection.

# %%
result

# %% [markdown]
# ## The same from Python
#
# A mechanism can be built in Python. Numbers are SI; texts are expressions that may use the parameters.

# %%
pendulum = (
    fourbar.Mechanism("Pendulum", gravity=[0, 0, -9.81])
    .parameters(m=2.0, L=1.0)
    .body("rod", mass="m", inertia=[1e-4, "m*L^2/12", "m*L^2/12"], at=["L/2", 0, 0])
    .revolute("pin", fourbar.GROUND, "rod", at=[0, 0, 0], axis=[0, 1, 0])
    .point("tip", fourbar.on("rod", ["L/2", 0, 0]))
    .study(t_end=2, output_step=0.01)
    .build()
)
swing = pendulum.run()
swing.plot("pin.angle")
# Energy is conserved.
assert np.ptp(swing["energy.total"]) < 1e-4
