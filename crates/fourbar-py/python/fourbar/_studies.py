"""Design studies: many runs of a mechanism for optimisation, tolerances and sensitivities."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import _fourbar, _html, _sweep
from ._errors import Diagnostic, warn
from ._settings import Progress, Settings, flags, number, pairs, quantity, texts, whole

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from ._model import Model
    from ._result import Result

    Array = NDArray[np.float64]
else:
    from ._lazy import np


@dataclass(frozen=True, repr=False)
class Study:
    """The result of a study: ``text`` is the output of the command, ``fields`` its output with ``--json``."""

    text: str = field(repr=False)
    fields: dict[str, Any] = field(repr=False)
    warnings: list[Diagnostic] = field(repr=False)

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def __str__(self) -> str:
        return self.text

    def _brief(self) -> str:
        return next((line.strip() for line in self.text.splitlines() if line.strip()), "")

    def __repr__(self) -> str:
        return f"<fourbar.{type(self).__name__}: {self._brief()}>"

    def _repr_html_(self) -> str:
        return _html.text(self.text)


class Tolerance(Study):
    """Effect of tolerances and clearances on measures."""

    @property
    def measures(self) -> dict[str, Any]:
        """By measure: its nominal value, the linear stack-up (``linear``) and the statistics of the samples (``samples``)."""
        return dict(self.fields["measures"])

    def _brief(self) -> str:
        listed = [f"{name} = {m['nominal']:.6g}" for name, m in self.fields["measures"].items()]
        return f"{', '.join(listed)}; {100 * self.assembled:.4g} % of the samples assemble, {100 * self.good:.4g} % are good"

    @property
    def assembled(self) -> float:
        """Fraction of the samples that can be assembled and run."""
        return float(self.fields["assembled"]["share"])

    @property
    def good(self) -> float:
        """Fraction of the samples that meet all conditions."""
        return float(self.fields["yield"]["share"])

    def sigma(self, measure: str, linear: bool = False) -> float:
        """Standard deviation of a measure, from the samples or from the linear stack-up."""
        return float(self.fields["measures"][measure]["linear" if linear else "samples"]["sigma"])


class Optimum(Study):
    """The best values found."""

    @property
    def parameters(self) -> dict[str, float]:
        """The best values, SI."""
        return dict(self.fields["set"])

    def _brief(self) -> str:
        return f"goal {self.goal:.6g} at {', '.join(f'{name} = {x:.6g}' for name, x in self.parameters.items())}"

    @property
    def goal(self) -> float:
        """The goal at the best values."""
        return float(self.fields["goal"])

    @property
    def model(self) -> Model:
        """The mechanism with the best values."""
        from ._model import loads

        return loads(self.fields["model"], name=self.fields["file"])


class Linkage(Study):
    """Synthesised linkages, the best first."""

    @property
    def linkage(self) -> dict[str, Any]:
        """Lengths, pins and coupler point of the best linkage, m."""
        return dict(self.fields["linkage"] if "linkage" in self.fields else self.fields["found"][0]["linkage"])

    @property
    def model(self) -> Model:
        """The best linkage as a mechanism."""
        from ._model import loads

        return loads(self.fields["model"], name="linkage.yaml")


class Inverse(Study):
    """Motion, effort and power of motors for a prescribed motion."""

    @property
    def t(self) -> Array:
        """Output times, s."""
        return np.array(self.fields["t"], dtype=float)

    @property
    def motors(self) -> tuple[str, ...]:
        """Names of the motors."""
        return tuple(m["name"] for m in self.fields["motors"])

    def _motor(self, name: str) -> dict[str, Any]:
        for m in self.fields["motors"]:
            if m["name"] == name:
                return dict(m)
        raise KeyError(name)

    def column(self, motor: str, what: str) -> Array:
        """``position``, ``speed``, ``effort`` or ``power`` of a motor over the time."""
        if what not in ("position", "speed", "effort", "power"):
            raise KeyError(what)
        return np.array(self._motor(motor)[what], dtype=float)

    def effort(self, motor: str) -> Array:
        """Effort of a motor over the time, N*m or N."""
        return self.column(motor, "effort")

    def sizing(self, motor: str) -> dict[str, Any]:
        """Sizing data of a motor: peaks, root mean squares, powers, energies."""
        return dict(self._motor(motor)["sizing"])

    def unique(self, motor: str) -> bool:
        """Whether the effort of a motor is unique."""
        return bool(self._motor(motor)["unique"])


class Sensitivities(Study):
    """Derivatives of measures with respect to parameters."""

    @property
    def outputs(self) -> tuple[str, ...]:
        """The differentiated outputs."""
        return tuple(o["of"] for o in self.fields["outputs"])

    def _output(self, of: str | None) -> dict[str, Any]:
        for o in self.fields["outputs"]:
            if of is None or o["of"] == of:
                return dict(o)
        raise KeyError(of)

    def value(self, of: str | None = None) -> float:
        """Value of an output; default: the first one."""
        return float(self._output(of)["value"])

    def gradient(self, of: str | None = None) -> dict[str, float]:
        """Derivatives of an output by parameter, the most influential first."""
        return {p["parameter"]: float(p["derivative"]) for p in self._output(of)["parameters"]}


class Report(Study):
    """Peaks, root mean squares and powers of a result, for choosing motors, bearings and springs."""

    @property
    def motors(self) -> list[dict[str, Any]]:
        """Motors and drives."""
        return list(self.fields["motors"])

    @property
    def joints(self) -> list[dict[str, Any]]:
        """Loads of the joints."""
        return list(self.fields["joints"])

    @property
    def springs(self) -> list[dict[str, Any]]:
        """Springs."""
        return list(self.fields["springs"])


def _answer(core: _fourbar.Core | None, verb: str, words: list[str], stacklevel: int = 4) -> tuple[str, dict[str, Any], list[Diagnostic]]:
    text, fields, warnings = _fourbar.answer(core, verb, words)
    known = set() if core is None else {d.message for d in core.warnings}
    warn([d for d in warnings if d.message not in known], stacklevel)
    return text, json.loads(fields), warnings


def report(
    result: Result | str | os.PathLike[str], *, window: float | None = None, output: str | os.PathLike[str] | None = None, force: bool = False
) -> Report:
    """One page of a result: motors, bearing loads, springs, energies. `result` is a `Result` or the folder of one.

    `window` also gives the largest root mean square of each effort over this number of seconds; `output` writes the page (HTML).

    >>> import fourbar
    >>> r = fourbar.report(fourbar.load("fourbar").run())
    >>> [m["name"] for m in r.motors]
    ['motor']
    """
    words = [] if window is None else [f"--window={number('window', window)}"]
    words += ["--text"] if output is None else [f"--output={os.fspath(output)}"] + (["--force"] if force else [])
    if not hasattr(result, "save"):
        return Report(*_answer(None, "report", [os.fspath(result), *words]))
    import tempfile

    with tempfile.TemporaryDirectory(prefix="fourbar-") as folder:
        return Report(*_answer(None, "report", [str(result.save(pathlib.Path(folder) / "result")), *words]))


def _rows(what: str, given: str | Iterable[Iterable[object]]) -> str:
    """Rows of numbers in the notation of the command."""
    if isinstance(given, str):
        return given
    try:
        return "; ".join(",".join(quantity(what, x) for x in row) for row in given)
    except TypeError:
        raise TypeError(f"{what} are rows of numbers, not {given!r}") from None


def synthesize(
    *,
    path: str | Iterable[Iterable[object]] | None = None,
    function: str | Iterable[Iterable[object]] | None = None,
    motion: str | Iterable[Iterable[object]] | None = None,
    timing: str | None = None,
    place: Sequence[object] | str | None = None,
    tilt: float | str | None = None,
    ground: float | None = None,
    moving: str | Iterable[Iterable[object]] | None = None,
    fixed: str | Iterable[Iterable[object]] | None = None,
    starts: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
) -> Linkage:
    """A planar four-bar for a path, a function or three positions; exactly one of them is given.

    path: points (x, y) that a coupler point passes, m; a third number is the crank angle, used with `timing` ``"given"`` (also ``"free"``,
    ``"equal"``, or the angle from point to point). place, tilt: fixed pin of the crank and angle of the line of fixed pins. function: pairs
    of crank and rocker angles, with `ground` the distance of the fixed pins. motion: three positions (x, y, angle), with the two `moving`
    or the two `fixed` pins.

    >>> import fourbar
    >>> f = fourbar.synthesize(function=[("40 deg", "70 deg"), ("45 deg", "76 deg"), ("50 deg", "83 deg")])
    >>> sorted(f.linkage)[:3]
    ['coupler', 'crank', 'crank_turns']
    """
    if sum(task is not None for task in (path, function, motion)) != 1:
        raise TypeError("synthesize() takes one of path, function and motion")
    words = []
    for flag, rows in [("--path", path), ("--function", function), ("--motion", motion), ("--moving", moving), ("--fixed", fixed)]:
        words += [] if rows is None else [f"{flag}={_rows(flag.strip('-'), rows)}"]
    words += [] if place is None else [f"--place={place if isinstance(place, str) else _rows('place', [place])}"]
    words += [] if tilt is None else [f"--tilt={quantity('tilt', tilt)}"]
    words += [] if ground is None else [f"--ground={number('ground', ground)}"]
    words += texts("--timing", timing) + whole("--starts", starts) + whole("--seed", seed) + whole("--threads", threads)
    return Linkage(*_answer(None, "synthesize", words))


class Studies:
    """The studies of a `Model`."""

    _core: _fourbar.Core

    def sweep(
        self,
        vary: Mapping[str, Any] | None = None,
        measures: Mapping[str, str] | None = None,
        *,
        lhs: int | None = None,
        sobol: int | None = None,
        seed: int | None = None,
        out: str | os.PathLike[str] | None = None,
        resume: bool = False,
        force: bool = False,
        trajectories: str | Iterable[str] | None = None,
        executor: Executor | None = None,
        threads: int | None = None,
        chunk: float = _sweep.CHUNK,
        batch: bool = False,
        progress: Progress = None,
        t_end: float | None = None,
        **settings: Unpack[Settings],
    ) -> _sweep.Sweep:
        """Runs the mechanism for many parameter values and computes measures of each run: one row per case, including failed cases.

        vary: by parameter a text such as ``"60..100 mm:41"``, ``(from, to, count)``, ``(from, to)`` for `lhs` and `sobol`, or a sequence of
        numbers; several make a grid. measures: by name an expression of columns, ``max(abs(motor.effort))``. Both may be given in the file
        instead. lhs, sobol: number of cases sampled by a Latin hypercube or a Sobol sequence. out: a folder with ``cases.csv``,
        ``cases.parquet``, ``plan.json`` and, for `trajectories` (patterns of columns), the rows of every run as a partitioned dataset.
        resume: compute the missing cases of this folder. executor: any `concurrent.futures.Executor`, such as a process pool or
        ``client.get_executor()`` of Dask, which gets tasks of about `chunk` seconds; by default all cores of this machine, or `threads`.
        batch: advance several cases at once in the vector registers of each core, if their mechanism permits; the others run as usual and
        are counted by ``alone`` of the result. t_end and settings are those of `run`. The rows are bit-identical for any distribution of
        the work.
        """
        words = pairs("--vary", vary, _sweep.values) + pairs("--measure", measures, lambda _, text: str(text))
        words += whole("--lhs", lhs) + whole("--sobol", sobol) + whole("--seed", seed) + (["--batch"] if batch else [])
        if trajectories is not None:
            patterns = [trajectories] if isinstance(trajectories, str) else list(trajectories)
            if out is None:
                raise ValueError("trajectories go with out: the folder where they are kept")
            # The command requires its folder here; the sweep itself opens it.
            words += [f"--trajectories={','.join(patterns)}", f"--out={os.fspath(out)}"]
        words += flags("sweep", t_end, settings)
        return _sweep.sweep(
            self._core, words, out=out, resume=resume, force=force, executor=executor, threads=threads, chunk=chunk, progress=progress
        )

    def tolerance(
        self,
        tolerances: Mapping[str, float | str] | None = None,
        measures: Mapping[str, str] | None = None,
        *,
        keep: str | Iterable[str] | None = None,
        samples: int | None = None,
        seed: int | None = None,
        threads: int | None = None,
        t_end: float | None = None,
        **settings: Unpack[Settings],
    ) -> Tolerance:
        """The effect of tolerances on measures: samples, the linear stack-up, and the contribution of every parameter.

        tolerances: by parameter ``"0.1 mm"`` (three standard deviations), ``"sigma:0.03mm"``, ``"uniform:0.2mm"``, ``"IT7"``; by joint
        ``"clearance:20um"``; by default ``tolerances:`` of the file. keep: conditions that good samples meet, ``"max(P.y) < 101 mm"``.

        >>> import fourbar
        >>> t = fourbar.load("fourbar").tolerance({"crank_length": "0.1 mm"}, {"rise": "range(P.y)"}, samples=40, t_end=1)
        >>> t.assembled, bool(abs(t.sigma("rise") / t.sigma("rise", linear=True) - 1) < 0.4)
        (1.0, True)
        """
        words = pairs("--tolerance", tolerances) + pairs("--measure", measures, lambda _, text: str(text)) + texts("--keep", keep)
        words += whole("--samples", samples) + whole("--seed", seed) + whole("--threads", threads) + flags("tolerance", t_end, settings)
        return Tolerance(*_answer(self._core, "tolerance", words))

    def optimize(
        self,
        vary: Mapping[str, Any] | None = None,
        *,
        minimize: str | None = None,
        maximize: str | None = None,
        fit: Mapping[str, str] | None = None,
        keep: str | Iterable[str] | None = None,
        method: str | None = None,
        starts: int | None = None,
        evaluations: int | None = None,
        difference: float | None = None,
        seed: int | None = None,
        threads: int | None = None,
        t_end: float | None = None,
        **settings: Unpack[Settings],
    ) -> Optimum:
        """Parameter values that minimise or maximise a measure, or bring several measures to zero.

        vary: by parameter its bounds, ``"60..100 mm"`` or ``(least, most)``. minimize, maximize: a measure; fit: measures to bring to zero,
        by name. keep: conditions, ``"min(P.y) > 40 mm"``. method: ``"auto"``, ``"least-squares"`` or ``"cma"``. evaluations: largest number
        of cases per start. The result has the best values in ``parameters`` and the mechanism with them as ``model``.

        >>> import fourbar
        >>> best = fourbar.load("fourbar").optimize({"crank_length": (0.05, 0.09)}, fit={"rise": "range(P.y) - 150 mm"}, starts=1)
        >>> bool(best.goal < 1e-12), bool(0.05 < best.parameters["crank_length"] < 0.09)
        (True, True)
        """
        words = pairs("--vary", vary, _sweep.values) + texts("--minimize", minimize) + texts("--maximize", maximize)
        words += pairs("--fit", fit, lambda _, text: str(text)) + texts("--keep", keep) + texts("--method", method)
        words += whole("--starts", starts) + whole("--evaluations", evaluations) + whole("--seed", seed) + whole("--threads", threads)
        words += [] if difference is None else [f"--difference={number('difference', difference)}"]
        return Optimum(*_answer(self._core, "optimize", words + flags("optimize", t_end, settings)))

    def inverse(
        self,
        path: str | None = None,
        *,
        motors: str | Iterable[str] | None = None,
        weights: Mapping[str, float] | None = None,
        window: float | None = None,
        t_end: float | None = None,
        output_step: float | None = None,
        mode: int | None = None,
        forward: bool = False,
    ) -> Inverse:
        """Positions, speeds, efforts and powers of motors for a prescribed motion: a path of the file, or its drives.

        motors: names under ``motors:``, or of joints, drives and actuators. weights: for motors that share a load. window: also the largest
        root mean square over this number of seconds. forward: simulate with the efforts found and report the deviation from the path.

        >>> import fourbar
        >>> i = fourbar.load("five_bar_robot").inverse()
        >>> i.motors, i.effort("left").shape == i.t.shape
        (('left', 'right'), True)
        """
        words = texts("--path", path) + texts("--motors", motors) + pairs("--weights", weights)
        for name, value in [("window", window), ("t_end", t_end), ("output_step", output_step)]:
            words += [] if value is None else [f"--{name.replace('_', '-')}={number(name, value)}"]
        words += whole("--mode", mode) + (["--forward"] if forward else [])
        return Inverse(*_answer(self._core, "inverse", words))

    def sensitivities(
        self,
        of: str | Iterable[str],
        to: str | Iterable[str] | None = None,
        *,
        check: bool = False,
        t_end: float | None = None,
        output_step: float | None = None,
        tol: float | None = None,
    ) -> Sensitivities:
        """Derivatives of measures with respect to parameters, ranked.

        of: measures of the run (``"max(abs(motor.effort))"``), values at a time (``"tip.x@0.5"``), ``"start.tip.x"`` of the assembled start,
        ``"rest.pin.angle"`` of the equilibrium, ``"modes.1.omega"`` of vibrations. to: parameters; by default all independent ones. check:
        compare with central differences.

        >>> import fourbar
        >>> s = fourbar.load("fourbar").sensitivities("max(P.y)", to=["crank_length"], t_end=1)
        >>> list(s.gradient()), bool(s.value() > 0)
        (['crank_length'], True)
        """
        words = texts("--of", of) + texts("--to", to) + (["--check"] if check else [])
        for name, value in [("t_end", t_end), ("output_step", output_step), ("tol", tol)]:
            words += [] if value is None else [f"--{name.replace('_', '-')}={number(name, value)}"]
        return Sensitivities(*_answer(self._core, "sensitivities", words))
