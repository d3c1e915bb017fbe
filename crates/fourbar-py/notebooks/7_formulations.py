# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---
# %% [markdown]
# # Formulations compared
#
# The same mechanism can be described in various coordinates and integrated by various methods. All give the same motion, but need different
# amounts of work for a given accuracy.

# %%
import fourbar
import matplotlib.pyplot as plt
import numpy as np

fourbar.formulations()

# %%
pendulum = fourbar.load("ra_double_pendulum")
verdict = pendulum.verify(0.5)
assert verdict
print(verdict)

# %% [markdown]
# ## Work and precision
#
# Each method runs at several tolerances; the error is that of the last position, relative to a far more accurate run.

# %%
T_END = 1.0
body = pendulum.bodies[-1]
columns = [f"{body}.r.{axis}" for axis in "xyz"]


def last(**settings):
    r = pendulum.run(T_END, output_step=T_END / 20, columns=columns, **settings)
    work = r.report["work"]
    return np.array([r[c][-1] for c in columns]), work.get("evaluations", work.get("newton_iterations", np.nan))


exact, _ = last(formulation="grcr", integrator="dop853", tol=1e-13)
methods = [("grcr", "dopri5"), ("grcr", "dop853"), ("so3xr3", "dopri5"), ("ra", "gen-alpha"), ("ra", "radau"), ("natural", "taylor")]
fig, ax = plt.subplots(figsize=(7, 4.2))
for formulation, integrator in methods:
    points = []
    for tol in 10.0 ** -np.arange(4, 8 if integrator == "gen-alpha" else 11):
        position, work = last(formulation=formulation, integrator=integrator, tol=tol)
        points.append((work, max(np.abs(position - exact).max(), 1e-15)))
    ax.loglog(*np.array(points).T, "o-", label=f"{formulation} {integrator}")
    errors = np.array(points)[:, 1]
    assert errors[-1] < errors[0], (formulation, errors)
ax.set(xlabel="evaluations, or Newton iterations of implicit methods", ylabel="error of the last position [m]")
ax.legend(fontsize=8);
