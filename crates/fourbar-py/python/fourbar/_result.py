"""The result of a run: columns of numbers by name."""

from __future__ import annotations

import json
import os
import pathlib
from typing import TYPE_CHECKING, Any, Iterable

from . import _fourbar, _html
from ._columns import Columns, frozen
from ._errors import ColumnError, Diagnostic, FourbarError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    import xarray

    from ._model import Model

    Array = NDArray[np.float64]
else:
    from ._lazy import np


class Result(Columns):
    """The result of a run: a mapping from names of columns to arrays.

    Arrays are read-only views on one block of numbers; use their `copy()` for a writable array. The name of an element, a pattern with
    ``*`` or a list of these gives a `Result` with fewer columns.

    >>> import fourbar
    >>> r = fourbar.load("fourbar").run()
    >>> r["O.angle"][-1] / (2 * np.pi)
    np.float64(1.0)
    >>> list(r["P"])
    ['t', 'P.x', 'P.y', 'P.z']
    >>> r.units["motor.effort"]
    'N*m'
    """

    _index = "t"

    def __init__(self, model: Model, names: tuple[str, ...], units: tuple[str, ...], values: Array, ran: Any):
        super().__init__(names)
        self._model = model
        self._units = units
        # One row per column; users see the transpose.
        self._values = frozen(values)
        self._ran = ran
        self._told: dict[str, Any] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return (Result, (self._model, self._names, self._units, np.array(self._values), self._ran))

    def __getitem__(self, key: str | Iterable[str]) -> Any:
        if isinstance(key, str):
            k = self._places.get(key)
            if k is not None:
                return self._values[k]
        return self.select(key)

    def select(self, patterns: str | Iterable[str]) -> Result:
        """The columns that match patterns, and the time: names, names of whole elements, or ``*`` for anything."""
        try:
            list_ = [patterns] if isinstance(patterns, str) else [str(p) for p in patterns]
            if not list_:
                raise TypeError
        except TypeError:
            raise TypeError(f"columns are chosen by names and patterns, not by {patterns!r}") from None
        try:
            chosen = {self._model.columns[k] for k in self._model._core.choose(list_)}
        except FourbarError as error:
            raise ColumnError(error.diagnostics) from None
        places = [k for k, name in enumerate(self._names) if name in chosen]
        if len(places) <= 1 and list_ != ["t"]:
            asked = ", ".join(list_)
            message = f"this result has no column `{asked}`: it holds those that the run was asked for"
            raise ColumnError([Diagnostic("U005", message, help="leave `columns` of `run` out, or name it there")])
        names = tuple(self._names[k] for k in places)
        return Result(self._model, names, tuple(self._units[k] for k in places), self._values[places], self._ran)

    def vector(self, name: str) -> Array:
        """The three columns of a vector, such as ``P``, ``crank.v`` or ``O.force``: (rows, 3)."""
        return np.stack([self[f"{name}.{axis}"] for axis in "xyz"], axis=1)

    @property
    def model(self) -> Model:
        """The mechanism."""
        return self._model

    @property
    def units(self) -> dict[str, str]:
        """Units of the columns by name."""
        return dict(zip(self._names, self._units))

    @property
    def t(self) -> Array:
        """Output times, s."""
        return self._values[self._places["t"]]

    def to_numpy(self) -> Array:
        """All numbers: (rows, columns), without a copy."""
        return self._values.T

    @property
    def rows(self) -> int:
        """Number of output times."""
        return int(self._values.shape[1])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if copy is False and dtype is not None and np.dtype(dtype) != self._values.dtype:
            raise ValueError(f"numbers of a result are {self._values.dtype}; as {np.dtype(dtype)} they have to be copied")
        return np.array(self._values.T, dtype=dtype) if copy else np.asarray(self._values.T, dtype=dtype)

    def _said(self) -> dict[str, Any]:
        if self._told is None:
            self._told = json.loads(self._ran.json())
        return self._told

    @property
    def report(self) -> dict[str, Any]:
        """The report of the run: formulation, integrator, work counts, redundant rows, singular positions, notes."""
        said = self._said()
        report = dict(said["report"] or {})
        report["work"] = dict(report.get("work", []))
        report["not_unique"] = dict(report.get("not_unique", []))
        return report | {"wall_time": said["wall_time"], "totals": said["totals"], "complete": self.complete}

    @property
    def study(self) -> dict[str, Any]:
        """The settings of the run."""
        return dict(self._said()["study"])

    @property
    def complete(self) -> bool:
        """Whether the run reached its end."""
        return self._said()["error"] is None and not self._said()["interrupted"]

    @property
    def warnings(self) -> list[Diagnostic]:
        """Warnings of the file and of the run."""
        return list(self._ran.warnings(self._model._core))

    def to_xarray(self) -> xarray.Dataset:
        """A Dataset over ``t``; every variable has its unit in ``attrs["units"]``."""
        import xarray as xr

        variables = {n: ("t", self._values[k], {"units": self._units[k]}) for k, n in enumerate(self._names) if n != "t"}
        time = xr.Variable("t", self.t, {"units": "s"})
        return xr.Dataset(variables, coords={"t": time}, attrs={"title": self._model.title})

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return _fourbar.arrow_stream(list(self._names), list(self._units), self._values)

    def save(self, folder: str | os.PathLike[str], force: bool = False) -> pathlib.Path:
        """Writes a result folder, which `fourbar view` and `fourbar plot` of the command can read. Existing results of other mechanisms are
        not replaced, unless `force` is set."""
        path = pathlib.Path(folder)
        self._model._core.save(self._ran, list(self._names), list(self._units), self._values, path, force)
        return path

    def _parquet(self) -> bytes:
        facts = json.dumps({"file": self._model.name, "title": self._model.title, "complete": self.complete})
        return _fourbar.parquet_file(list(self._names), list(self._units), self._values, facts)

    def _given(self, label: str) -> tuple[Any, ...]:
        return (label, list(self._names), list(self._units), self._values, self._ran)

    def html(self, *others: Result) -> str:
        """The page: motion, plots and diagnosis, in one self-contained file. Other results of the mechanism are compared."""
        labels = [f"result {k + 1}" if others else self._model.name for k in range(1 + len(others))]
        return self._model._core.page([r._given(label) for r, label in zip((self, *others), labels)])

    def view(
        self, *others: Result, path: str | os.PathLike[str] | None = None, open: bool | None = None
    ) -> pathlib.Path | None:
        """Shows the page in the cell of a notebook, otherwise in a browser; with `path` it is written there."""
        return _html.show(self.html(*others), None if path is None else pathlib.Path(path), open)

    def plot(self, *columns: str, x: str = "t", ax: Any = None, **keywords: Any) -> Any:
        """Draws columns over the time or over another column with matplotlib; returns the axes.

        Without names it draws the points of the mechanism, or else the joint coordinates.
        """
        from matplotlib import pyplot

        names: list[str] = []
        for pattern in columns or self._telling():
            names += [pattern] if pattern in self else [n for n in self.select(pattern) if n != "t"]
        ax = ax if ax is not None else pyplot.subplots()[1]
        units = self.units
        for name in names:
            ax.plot(self[x], self[name], **({"label": name} | keywords))
        ax.set_xlabel(f"{x} [{units[x]}]")
        of_names = {units[n] for n in names}
        ax.set_ylabel(f"{names[0]} [{units[names[0]]}]" if len(names) == 1 else ", ".join(f"[{u}]" for u in sorted(of_names)))
        if len(names) > 1:
            ax.legend()
        return ax

    def _telling(self) -> list[str]:
        moving = [n for p in self._model.points for n in (f"{p}.x", f"{p}.y", f"{p}.z") if n in self and np.ptp(self[n]) > 0]
        coordinates = [n for j in self._model.joints for n in (f"{j}.angle", f"{j}.distance") if n in self]
        chosen = moving or coordinates or [n for n in self._names if n != "t"]
        return chosen[:6]

    def _repr_html_(self) -> str:
        try:
            return _html.frame(self.html())
        except FourbarError:
            # The columns do not include the poses, which a page needs.
            return _html.text(repr(self))

    def __repr__(self) -> str:
        title = self._model.title or self._model.name
        end = f"{self.t[-1]:g}" if self.rows else "0"
        unfinished = "" if self.complete else ", not complete"
        return f"<fourbar.Result of {title!r}: {self.rows} rows to t = {end} s, {len(self)} columns{unfinished}>"
