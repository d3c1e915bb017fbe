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
# What is it? `check` answers in words: how it moves, which constraints are too many, where it is singular, how else it can be assembled.

# %%
model.check()

# %% [markdown]
# `run` moves it as its author says. The result is a mapping from names of columns to arrays of numpy; `units` has their units.

# %%
result = model.run()
result["P.y"].max(), result.units["P.y"], len(result), result.rows

# %% [markdown]
# Columns can be drawn over the time or over each other, and go to pandas, polars, xarray or Arrow.

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
result.plot("P.y", x="P.x", ax=left)
left.set_aspect("equal")
result.plot("motor.effort", ax=right)
fig.tight_layout()

# %%
result.to_pandas()[["P.x", "P.y", "motor.effort"]].describe()

# %% [markdown]
# A result shows itself: the page below is the one that `fourbar view` of the command writes. It can be turned, played and measured, without a
# connection to anywhere.

# %%
result

# %% [markdown]
# ## The same from Python
#
# A mechanism can be written in Python. Numbers are SI; texts are expressions that know the parameters.

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
# Nothing is lost on the way.
assert np.ptp(swing["energy.total"]) < 1e-4
