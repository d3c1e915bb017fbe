# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---
# %% [markdown]
# # Redundancy and reactions
#
# By counting, Bricard's loop of six hinges has no degree of freedom, and yet it moves: one of its constraints is redundant. This does not
# affect the motion, but the forces in the hinges are not unique.

# %%
import fourbar
import numpy as np

bricard = fourbar.load("a04_bricard")
check = bricard.check()
check

# %%
check.mobility, check["mobility"]["by_count"], check.redundant

# %% [markdown]
# The Jacobian of the constraints confirms this: it has one row more than its rank.

# %%
state = bricard.assemble()
J = state.jacobian()
rank = np.linalg.matrix_rank(J, tol=1e-9)
assert J.shape[0] - rank == check.redundant == 1
J.shape, rank

# %% [markdown]
# The left null vector of the Jacobian is a self-stress: forces in the hinges that balance each other and cause no motion. Any multiple of
# it can be added to the reactions; the solution of smallest norm is returned.

# %%
stress = np.linalg.svd(J.T)[2][-1]
assert np.abs(J.T @ stress).max() < 1e-9
M, a, h, Q = state.mass_matrix(), state.acceleration().ravel(), state.bias(), state.applied()
for multiple in (0.0, 10.0):
    multipliers = state.multipliers() + multiple * stress
    print(f"multiple {multiple:4}: balance left over {np.abs(M @ a + h - Q + J.T @ multipliers).max():.1e} N")

# %% [markdown]
# Which components are not unique is listed by joint; all others can be trusted.

# %%
check.not_unique

# %% [markdown]
# `check` also proposes replacement joints that remove the redundancy and keep the motion. A planar four-bar linkage with four hinges has
# three redundant rows; this is the proposal for it.

# %%
cures = fourbar.load("fourbar").check()
assert cures.redundant == 3 and cures["cures"]["exchanges"]
print(cures)
