"""Multibody dynamics for mechanisms: rigid bodies, joints, closed loops, redundant constraints.

Read a mechanism, run it, look at it:

>>> import fourbar
>>> model = fourbar.load("fourbar")              # a shipped model, or the path of a file
>>> result = model.run()
>>> result["P.y"].shape                          # arrays of numpy by column name
(201,)
>>> print(model.check().headline)
It has 1 degree of freedom, and `motor` drives it. 3 constraint rows are redundant; the motion is not affected.

The main entry points are

- `load`, `loads`, `examples` and `Mechanism` for mechanisms (`Model`),
- `Model.run`, `Model.kinematics` for a `Result`; `Model.simulation` for a `Simulation` advanced step by step, with inputs set in between,
- `Model.assemble` and `Simulation.state` for a `State`: accelerations, mass matrix, Jacobian, reactions, energy,
- `Model.check`, `Model.verify`, `Model.equilibrium`, `Model.modes`, `Model.linearize`, `Model.inverse`, `Model.sensitivities` for
  design questions, `report` for the sizes of motors and bearings,
- `Model.sweep`, `Model.tolerance`, `Model.optimize` for many cases, here or by any executor, and `synthesize` for linkages from tasks.

Numbers are in SI units and radians. Errors are a `FourbarError` with a code (`explain`), the place in the file and a help text; warnings
are a `FourbarWarning`. Lengthy calls release the interpreter's lock, so that threads run concurrently, and end with Ctrl-C. Models,
results, states and simulations can be pickled, so that process pools work.
"""

from collections.abc import Mapping as _Mapping

from . import _fourbar
from ._answers import Check, Equilibria, Equilibrium, Linear, Mode, Modes, Verification
from ._builder import GROUND, Mechanism, drawn, on, plane, side
from ._errors import ColumnError, Diagnostic, FourbarError, FourbarWarning
from ._fourbar import BodyState, DriveState, Energy, JointState, Simulation, State
from ._model import Model, examples, explain, formulations, load, loads
from ._result import Result
from ._studies import Inverse, Linkage, Optimum, Report, Sensitivities, Study, Tolerance, report, synthesize
from ._sweep import Sweep

# Code that tests for a mapping accepts the inputs of a simulation.
_Mapping.register(_fourbar.Inputs)

__version__ = _fourbar.version()

__all__ = [
    "BodyState", "Check", "ColumnError", "Diagnostic", "DriveState", "Energy", "Equilibria", "Equilibrium", "FourbarError",
    "FourbarWarning", "GROUND", "Inverse", "JointState", "Linear", "Linkage", "Mechanism", "Mode", "Model", "Modes", "Optimum", "Report",
    "Result", "Sensitivities", "Simulation", "State", "Study", "Sweep", "Tolerance", "Verification", "drawn", "examples", "explain",
    "formulations", "load", "loads", "on", "plane", "report", "side", "synthesize",
]  # fmt: skip
