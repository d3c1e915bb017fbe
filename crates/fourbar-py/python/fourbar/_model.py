"""Mechanisms, read from files and texts."""

from __future__ import annotations

import json
import numbers
import os
from typing import TYPE_CHECKING, Any, Iterable, Mapping

from . import _fourbar, _html, _settings
from ._answers import Check, Equilibria, Equilibrium, Linear, Modes, Verification, _check
from ._errors import Diagnostic, FourbarError, warn
from ._fourbar import Simulation, State
from ._progress import Bar, bar
from ._result import Result
from ._settings import Progress, Run, Settings
from ._studies import Studies

if TYPE_CHECKING:
    from typing_extensions import Unpack


def _expression(name: str, value: object) -> str:
    """A parameter as an expression for the reader."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        raise TypeError(f"parameter {name!r} is a number or an expression, not {value!r}")
    try:
        number = float(value) if isinstance(value, numbers.Real) or hasattr(value, "__float__") else None  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = None
    if number is None:
        raise TypeError(f"parameter {name!r} is a number or an expression, not {value!r}")
    if number != number or number in (float("inf"), float("-inf")):
        raise ValueError(f"parameter {name!r} cannot be {number}")
    return repr(number)


def _set(parameters: Mapping[str, object]) -> list[tuple[str, str]]:
    return [(name, _expression(name, value)) for name, value in parameters.items()]


def load(source: str | os.PathLike[str], /, *, large: bool = False, **parameters: float | str) -> Model:
    """Reads a mechanism: the path of a file (YAML, JSON or MechSpec), or the name of a shipped model.

    Keywords set parameters of the mechanism to other values: numbers in SI units, or texts such as ``"60 mm"`` and ``"2*pi"``. `large`
    permits files of up to 200 MB.

    >>> import fourbar
    >>> fourbar.load("fourbar", crank_length="60 mm").parameters["crank_length"]
    0.06
    """
    model = Model(_fourbar.load(os.fspath(source), set=_set(parameters), large=large))
    warn(model.warnings)
    return model


def loads(text: str, /, *, name: str = "<text>", large: bool = False, **parameters: float | str) -> Model:
    """Reads a mechanism from a text; `name` is its name in messages.

    >>> import fourbar
    >>> stone = fourbar.loads('''
    ... fourbar: 1
    ... gravity: [0, 0, -10]
    ... bodies: {stone: {mass: 1, inertia: [1, 1, 1], at: [0, 0, height]}}
    ... parameters: {height: 5}
    ... study: {t_end: 1}
    ... ''')
    >>> bool(abs(stone.run()["stone.r.z"][-1]) < 1e-12)
    True
    """
    if not isinstance(text, str):
        raise TypeError(f"a mechanism is read from a text, not from {type(text).__name__}")
    model = Model(_fourbar.load(name, text, None, _set(parameters), large))
    warn(model.warnings)
    return model


def examples() -> dict[str, str]:
    """Names and titles of the shipped models, for use in `load`.

    >>> import fourbar
    >>> fourbar.examples()["bicycle"]
    'Benchmark bicycle'
    """
    return {name: title for name, title, _ in _fourbar.examples()}


def explain(code: str) -> str:
    """The page of a code of a diagnostic.

    >>> import fourbar
    >>> print(fourbar.explain("U303").splitlines()[0])
    U303: A setting of the run is out of range
    """
    page = _fourbar.explain(code)
    if page is None:
        raise KeyError(code)
    return f"{code}: {page[0]}\n\n{page[1].strip()}\n"


def formulations() -> dict[str, dict[str, Any]]:
    """The formulations by name, with descriptions and integrators, the default first."""
    return {name: {"summary": summary, "integrators": list(i)} for name, summary, i in _fourbar.formulations()}


class Model(Studies):
    """A mechanism: bodies, joints, drives, forces. It is immutable; `replace` returns a changed copy.

    It is created by `load`, `loads` and `Mechanism.build`.

    >>> import fourbar
    >>> model = fourbar.load("fourbar")
    >>> model.bodies
    ('crank', 'coupler', 'rocker')
    >>> short = model.replace(crank_length=0.06)
    >>> bool(short.run()["P.y"].max() < model.run()["P.y"].max())
    True
    """

    def __init__(self, core: _fourbar.Core):
        if not isinstance(core, _fourbar.Core):
            raise TypeError("use `fourbar.load`, `fourbar.loads` or `fourbar.Mechanism`")
        self._core = core
        self._columns: tuple[str, ...] | None = None
        self._units: tuple[str, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return (Model, (self._core,))

    # Properties.

    @property
    def title(self) -> str:
        """The title."""
        return self._core.title

    @property
    def name(self) -> str:
        """The name of the file."""
        return self._core.name

    @property
    def text(self) -> str:
        """The text it was read from."""
        return self._core.text

    @property
    def parameters(self) -> dict[str, float]:
        """Parameters by name, in SI units."""
        return self._core.parameters

    @property
    def warnings(self) -> list[Diagnostic]:
        """Warnings of the file."""
        return self._core.warnings

    def _elements(self, section: str) -> tuple[str, ...]:
        return tuple(self._core.elements(section))

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the moving bodies."""
        return self._elements("bodies")

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints."""
        return self._elements("joints")

    @property
    def joint_kinds(self) -> dict[str, tuple[str, str, str]]:
        """Kind, base and moving body of every joint."""
        return {name: (kind, base, moving) for name, kind, base, moving in self._core.joint_kinds()}

    @property
    def drives(self) -> tuple[str, ...]:
        """Names of the drives."""
        return self._elements("drives")

    @property
    def forces(self) -> tuple[str, ...]:
        """Names of the force elements."""
        return self._elements("forces")

    @property
    def contacts(self) -> tuple[str, ...]:
        """Names of the contacts."""
        return self._elements("contacts")

    @property
    def events(self) -> tuple[str, ...]:
        """Names of the events, in the order of the file.

        >>> import fourbar
        >>> fourbar.load("event_catapult").events
        ('latched', 'fired', 'thrown', 'landed')
        """
        return self._elements("events")

    @property
    def points(self) -> tuple[str, ...]:
        """Names of the points."""
        return self._elements("points")

    @property
    def constraints(self) -> tuple[str, ...]:
        """Names of bare constraints and rolling elements."""
        return self._elements("constraints") + self._elements("rolling")

    @property
    def inputs(self) -> dict[str, float]:
        """Inputs by name with their defaults."""
        return {i[0]: i[2] for i in self._core.inputs()}

    @property
    def input_ranges(self) -> dict[str, tuple[float, float]]:
        """Smallest and largest value of every input; infinite if unbounded."""
        return {i[0]: (i[3], i[4]) for i in self._core.inputs()}

    @property
    def states(self) -> tuple[str, ...]:
        """Names of the user-defined states, which are integrated with the motion."""
        return self._elements("states")

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the user-defined result columns."""
        return self._elements("outputs")

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of its results, ``t`` first."""
        if self._columns is None:
            self._columns, self._units = self._core.columns()
        return self._columns

    @property
    def units(self) -> dict[str, str]:
        """Units of the columns by name."""
        return dict(zip(self.columns, self._units))

    @property
    def t_end(self) -> float:
        """End of the study of the file, s."""
        return self._core.study()[0]

    @property
    def output_step(self) -> float:
        """Time between outputs in the study of the file, s."""
        return self._core.study()[1]

    def replace(self, **parameters: float | str) -> Model:
        """The same mechanism with other parameters."""
        model = Model(self._core.replace(_set(parameters)))
        warn(model.warnings)
        return model

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it as a mechanism file, with the values of parameters."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._core.written())

    # Analyses.

    def run(
        self,
        t_end: float | None = None,
        *,
        columns: str | Iterable[str] | None = None,
        progress: Progress = None,
        **settings: Unpack[Settings],
    ) -> Result:
        """Runs the study of the file; keywords change settings.

        t_end: end, s. columns: patterns of the columns to keep; others cost nothing. progress: ``True``, ``False``, or a function of the
        time and its end; by default a bar is shown if output is interactive. Settings are

        output_step: time between outputs, s. formulation, integrator: names of `fourbar.formulations()`; chosen automatically by default.
        step: fixed step size, s. tol: relative tolerance of adaptive steps. analysis: ``"dynamics"`` or ``"kinematics"``. options: of
        formulation and integrator. inputs: by name a number, ``(times, values)`` held from point to point, or ``(times, values,
        "linear")``. mode: initial assembly mode, counted from 1.

        Ctrl-C ends it; the `KeyboardInterrupt` has the rows so far in its attribute ``result``, as does a `FourbarError`.

        >>> import fourbar
        >>> r = fourbar.load("ra_double_pendulum").run(0.5, tol=1e-9, columns="energy.*")
        >>> r["energy.total"].shape == r.t.shape, list(r)
        (True, ['t', 'energy.kinetic', 'energy.potential', 'energy.total', 'energy.work'])
        """
        given = _settings.of("run", settings)
        names = self.columns
        if columns is None:
            chosen, units = list(range(len(names))), self._units
        else:
            patterns = [columns] if isinstance(columns, str) else list(columns)
            # Without a pattern only the time is kept.
            chosen = self._core.choose(patterns) if patterns else [names.index("t")]
            names, units = tuple(names[k] for k in chosen), tuple(self._units[k] for k in chosen)
        shown = bar(progress)
        try:
            values, ran, error = self._core.run({"t_end": t_end, **given}, chosen, shown)
        finally:
            if isinstance(shown, Bar):
                shown.close()
        result = Result(self, names, units, values, ran)
        if error is not None:
            error.result = result
            raise error
        warn(ran.warnings(self._core)[len(self._core.warnings):])
        return result

    def kinematics(self, t_end: float | None = None, **settings: Unpack[Run]) -> Result:
        """Computes the kinematics of a fully driven mechanism, regardless of the study of the file; settings are those of `run`."""
        if "analysis" in settings:
            raise TypeError("kinematics() got an unexpected keyword argument 'analysis'")
        settings["analysis"] = "kinematics"
        return self.run(t_end, **settings)

    def simulation(self, **settings: Unpack[Settings]) -> Simulation:
        """Assembles the mechanism and returns a simulation at time zero, to be advanced step by step; settings are those of `run`.

        >>> import fourbar
        >>> with fourbar.load("pid_pendulum").simulation() as sim:
        ...     sim.inputs["target"] = 0.5
        ...     while sim.t < 3:
        ...         _ = sim.step(0.01)
        ...     bool(abs(sim.joint("O").angle - 0.5) < 0.01)
        True
        """
        return self._core.simulation(_settings.of("simulation", settings, without=["output_step"]))

    def assemble(self, state: State | None = None, *, mode: int | None = None) -> State:
        """The consistent start, or the consistent state nearest to another one. `mode` is an assembly mode, counted from 1."""
        return self._core.assemble(state, mode)

    # Reports and studies.

    def check(self) -> Check:
        """Analyses mobility, redundancy with remedies, singular poses, assembly modes, and implausible data."""
        return _check(self._core.check(), self.title)

    def verify(
        self,
        t_end: float | None = None,
        *,
        output_step: float | None = None,
        tol: float | None = None,
        formulations: Iterable[str] | None = None,
        inputs: Mapping[str, object] | None = None,
        mode: int | None = None,
        patience: float | None = None,
        threads: int | None = None,
    ) -> Verification:
        """Runs every applicable formulation and compares them; `patience` is the time limit for each, s."""
        settings = {
            "t_end": t_end, "output_step": output_step, "tol": tol, "mode": mode, "patience": patience, "threads": threads,
            "formulations": [formulations] if isinstance(formulations, str) else None if formulations is None else list(formulations),
            "inputs": None if inputs is None else dict(inputs),
        }  # fmt: skip
        word, agreed, words, table, fields = self._core.verify(settings)
        return Verification(word, agreed, words, table, json.loads(fields))

    def equilibrium(
        self, *, kind: str = "stable", t: float = 0.0, inputs: Mapping[str, float] | None = None
    ) -> Equilibrium:
        """The equilibrium reached from the drawn position: ``"stable"``, or the nearest of ``"any"`` kind.

        >>> import fourbar
        >>> rest = fourbar.load("ra_double_pendulum").equilibrium()
        >>> rest.stability, rest.freedom
        ('stable', 2)
        """
        found, _, _, _, _ = self._core.equilibrium(kind, t, None if inputs is None else dict(inputs), False, 0)
        one = Equilibrium(**found[0])
        warn(one.warnings)
        return one

    def equilibria(
        self, *, t: float = 0.0, inputs: Mapping[str, float] | None = None, starts: int = 48
    ) -> Equilibria:
        """All equilibria found by a search from random starts, stable or not."""
        found, made, hits, complete, warnings = self._core.equilibrium(
            "any", t, None if inputs is None else dict(inputs), True, starts
        )
        warn(warnings[len(self._core.warnings):])
        return Equilibria([Equilibrium(**e) for e in found], made, hits, complete)

    def modes(
        self,
        about: str | float | State | None = None,
        *,
        inputs: Mapping[str, float] | None = None,
        frozen: bool = False,
        count: int = 10,
    ) -> Modes:
        """Vibrations about ``"equilibrium"``, the ``"start"``, a time of the motion or a state; by default chosen automatically.

        `frozen` linearises at the instant even if the motion is not steady; `count` is the number of modes to be computed for a very large
        mechanism.

        >>> import fourbar
        >>> bicycle = fourbar.load("bicycle")
        >>> bicycle.replace(v=5).modes().stable, bicycle.replace(v=3).modes().stable
        (True, False)
        """
        modes = Modes(self._core.modes(about, None if inputs is None else dict(inputs), frozen, count))
        warn(modes.warnings)
        return modes

    def linearize(
        self,
        about: str | float | State | None = None,
        *,
        inputs: Iterable[str] | None = None,
        outputs: Iterable[str] | None = None,
        values: Mapping[str, float] | None = None,
        frozen: bool = False,
    ) -> Linear:
        """The linear model about a state, as in `modes`, from inputs to outputs by name; `values` are the input values there."""
        u, y = (None if x is None else ([x] if isinstance(x, str) else list(x)) for x in (inputs, outputs))
        linear = Linear(**self._core.linearize(about, u, y, None if values is None else dict(values), frozen))
        warn(linear.warnings)
        return linear

    # Display.

    def html(self) -> str:
        """The page of the mechanism at its start."""
        with self.simulation() as sim:
            row = sim.row()
        return self._core.page([(self.name, list(self.columns), list(self._units), row.reshape(-1, 1), None)])

    def view(self, path: str | os.PathLike[str] | None = None, open: bool | None = None) -> Any:
        """Shows the mechanism at its start: in the cell of a notebook, otherwise in a browser; with `path` the page is written there."""
        return _html.show(self.html(), None if path is None else os.fspath(path), open)  # type: ignore[arg-type]

    def _repr_html_(self) -> str:
        try:
            return _html.frame(self.html(), 420)
        except FourbarError as error:
            return _html.text(f"{self!r}\n\n{error}")

    def __repr__(self) -> str:
        parts = [("bod" + ("y" if len(self.bodies) == 1 else "ies"), self.bodies), ("joint", self.joints), ("drive", self.drives)]
        counts = [f"{len(x)} {w}{'s' if len(x) != 1 and not w.startswith('bod') else ''}" for w, x in parts if x]
        return f"<fourbar.Model {self.title or self.name!r}: {', '.join(counts)}>"
