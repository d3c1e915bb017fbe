"""Sweeps: many cases of one mechanism, in this process or by executors."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import pathlib
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _fourbar, _html
from ._columns import Columns, frozen
from ._errors import Diagnostic, FourbarError
from ._progress import Bar, bar
from ._settings import Progress, number

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    import numpy as np
else:
    from ._lazy import np

# Intended duration of a task of an executor, seconds.
CHUNK = 1.0
# Largest number of cases of a task, and of attempts if an executor loses it.
MOST = 10_000
TRIES = 3


class Sweep(Columns):
    """The rows of a sweep: a mapping from names of columns to arrays, one row per case.

    Columns are ``case``, ``set.NAME`` for each parameter, ``status`` (``ok``, ``not-built``, ``not-assembled`` or ``failed``), ``code``,
    ``time``, ``names`` and ``message`` of a failed case, then the measures. Numbers are in SI units. ``computed`` is the number of cases
    computed by this call, ``alone`` the number of cases of a batch sweep that ran alone, the most frequent reason and the first of these;
    ``None`` if all ran in batches, or elsewhere.

    >>> import fourbar
    >>> sweep = fourbar.load("fourbar").sweep({"crank_length": [0.06, 0.07, 0.09]}, {"rise": "range(P.y)"})
    >>> len(sweep), sweep["set.crank_length"].tolist(), sweep.units["rise"]
    (3, [0.06, 0.07, 0.09], 'm')
    >>> bool((np.diff(sweep["rise"]) > 0).all())
    True
    """

    _index = "case"

    def __init__(
        self, table: _fourbar.CaseTable, folder: pathlib.Path | None = None, computed: int = 0, alone: tuple[int, str, int] | None = None
    ):
        super().__init__(table.names())
        self._table = table
        self._kept: dict[str, Any] = {}
        self.schema: dict[str, Any] = json.loads(table.schema())
        self.folder = folder
        self.computed = computed
        self.alone = alone

    def __reduce__(self) -> tuple[Any, ...]:
        return (Sweep, (self._table, self.folder, self.computed, self.alone))

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, name: str) -> Any:
        if name not in self._kept:
            column = self._table.column(name)
            self._kept[name] = frozen(np.array(column, dtype=object) if isinstance(column, list) else column)
        return self._kept[name]

    @property
    def units(self) -> dict[str, str]:
        """Units of the columns by name."""
        return {c["name"]: c["unit"] for c in self.schema["columns"]}

    @property
    def ok(self) -> Any:
        """Mask of the successful cases."""
        return self["status"] == "ok"

    @property
    def counts(self) -> dict[str, int]:
        """Number of cases by status."""
        words, numbers = np.unique(self["status"].astype(str), return_counts=True)
        return {str(w): int(n) for w, n in zip(words, numbers)}

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.arrow_stream()

    def _parquet(self) -> bytes:
        return self._table.parquet()

    def __repr__(self) -> str:
        counts = ", ".join(f"{n} {word}" for word, n in self.counts.items())
        return f"<fourbar.Sweep: {len(self)} cases ({counts}), {len(self._names)} columns>"

    def _repr_html_(self) -> str:
        try:
            return str(self.to_pandas().to_html(max_rows=20, show_dimensions=True))
        except ImportError:
            return _html.text(repr(self))


def values(name: str, given: Any) -> str:
    """Values of a parameter for the command: from a text, ``(from, to)`` or ``(from, to, count)``, or a sequence of numbers."""
    if isinstance(given, str):
        return given
    what = f"the values of {name!r}"
    if isinstance(given, tuple) and len(given) in (2, 3):
        count = ""
        if len(given) == 3:
            if isinstance(given[2], bool) or not hasattr(given[2], "__index__"):
                raise TypeError(f"{what} are (from, to, count), not {given!r}")
            count = f":{given[2].__index__()}"
        return f"{number(what, given[0])}..{number(what, given[1])}{count}"
    try:
        numbers = [number(what, x) for x in given]
    except TypeError:
        raise TypeError(f"{what} are a text, (from, to), (from, to, count) or a sequence of numbers, not {given!r}") from None
    if not numbers:
        raise ValueError(f"{what} are none")
    return ",".join(numbers)


class Spec:
    """Data for a worker to run cases: the mechanism, the sweep and its hash."""

    def __init__(self, core: _fourbar.Core, words: Sequence[str], hash_: str):
        self.parts = (core.parts(), tuple(words), hash_, _fourbar.version())

    def __reduce__(self) -> tuple[Any, ...]:
        return (_spec, self.parts)


def _spec(core: tuple[Any, ...], words: tuple[str, ...], hash_: str, version: str) -> Spec:
    spec = Spec.__new__(Spec)
    spec.parts = (core, words, hash_, version)
    return spec


@functools.lru_cache(maxsize=4)
def _ready(core: str, words: tuple[str, ...], hash_: str, version: str) -> _fourbar.Cases:
    """The sweep in this process, created once for many tasks."""
    if version != _fourbar.version():
        raise RuntimeError(f"this worker has fourbar {_fourbar.version()}, the sweep was begun with {version}")
    name, text, path, set_, large = json.loads(core)
    cases = _fourbar.load(name, text, path, [tuple(pair) for pair in set_], large).cases(list(words))
    if cases.hash != hash_:
        raise RuntimeError("this worker reads another mechanism: tables or meshes beside the file differ")
    return cases


def compute(spec: Spec, numbers: Sequence[int]) -> tuple[bytes, list[tuple[int, bytes]], float]:
    """A task of an executor: rows of some cases as Parquet, their trajectories if kept, and the computing time in seconds."""
    started = time.perf_counter()
    (name, text, path, set_, large), words, hash_, version = spec.parts
    core = json.dumps([name, text, None if path is None else os.fspath(path), [list(pair) for pair in set_], large])
    cases = _ready(core, words, hash_, version)
    started = time.perf_counter()
    try:
        part, trajectories = cases.part(list(numbers), 1)
    except RuntimeError:
        # Another thread of this process is running it: a separate one is created.
        cases = _fourbar.load(name, text, path, list(set_), large).cases(list(words))
        part, trajectories = cases.part(list(numbers), 1)
    return part, trajectories, time.perf_counter() - started


def _workers(executor: Executor) -> int:
    """The number of tasks that an executor processes in parallel, if it reports it."""
    known = getattr(executor, "_max_workers", None)
    if isinstance(known, int) and known > 0:
        return known
    client = getattr(executor, "_client", None)
    try:
        return max(1, sum(client.nthreads().values())) if client is not None else os.cpu_count() or 1
    except Exception:
        return os.cpu_count() or 1


class _Broken(Exception):
    """An executor lost a task too often."""


def _steady(executor: Executor) -> bool:
    """Whether an executor of Dask has kept its scheduler. Waits while it reconnects; false means that it has reconnected, but earlier tasks
    may be lost."""
    steady = True
    while True:
        status = getattr(getattr(executor, "_client", None), "status", "running")
        if status in ("closing", "closed"):
            raise _Broken("the client of Dask lost its scheduler")
        if status != "connecting":
            return steady
        steady = False
        time.sleep(0.1)


def _elsewhere(executor: Executor, spec: Spec, missing: Sequence[int], keep: Any, shown: Any, chunk: float) -> None:
    """Runs cases by an executor and passes every finished part to `keep`."""
    from concurrent.futures import FIRST_COMPLETED, wait

    at, done, rate = 0, 0, 0.0
    most = 2 * _workers(executor)
    running: dict[Future[Any], tuple[Sequence[int], int]] = {}
    again: list[tuple[Sequence[int], int]] = []
    try:
        while at < len(missing) or running or again:
            while len(running) < most and (again or at < len(missing)):
                if again:
                    numbers, tries = again.pop()
                else:
                    # The first tasks are short, to measure the time per case. The last ones share the remaining cases.
                    size = 1 if rate == 0.0 else int(chunk / rate)
                    size = max(1, min(size, MOST, -(-(len(missing) - at) // most)))
                    numbers, tries = missing[at : at + size], 0
                    at += size
                try:
                    running[executor.submit(compute, spec, list(numbers))] = (numbers, tries)
                except Exception as error:
                    raise _Broken(f"it takes no more tasks: {error!r}") from error
            finished, waiting = wait(list(running), timeout=0.5, return_when=FIRST_COMPLETED)
            if not _steady(executor):
                again += [(numbers, tries + 1) for numbers, tries in (running.pop(future) for future in waiting)]
            for future in finished:
                numbers, tries = running.pop(future)
                try:
                    part, trajectories, seconds = future.result()
                except FourbarError:
                    raise
                except BaseException as error:
                    if isinstance(error, (KeyboardInterrupt, SystemExit)):
                        raise
                    # The worker was lost; errors of a case give a row instead.
                    if tries + 1 >= TRIES:
                        raise _Broken(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__) from error
                    again.append((numbers, tries + 1))
                    continue
                rate = seconds / len(numbers) if rate == 0.0 else 0.5 * (rate + seconds / len(numbers))
                keep(part, trajectories)
                done += len(numbers)
            if shown is not None:
                shown(float(done), float(len(missing)))
    except BaseException:
        for future in running:
            # Finished parts are kept and pending tasks cancelled. A broken executor may even fail to cancel.
            with contextlib.suppress(Exception):
                if not future.cancel() and future.done() and future.exception() is None:
                    keep(*future.result()[:2])
        raise


def sweep(
    core: _fourbar.Core,
    words: list[str],
    *,
    out: str | os.PathLike[str] | None,
    resume: bool,
    force: bool,
    executor: Executor | None,
    threads: int | None,
    chunk: float,
    progress: Progress,
) -> Sweep:
    """Runs the sweep of a command line."""
    if executor is not None and not hasattr(executor, "submit"):
        raise TypeError(f"executor is a concurrent.futures.Executor, not {executor!r}")
    if resume and out is None:
        raise ValueError("resume goes with out: the folder of the sweep that is continued")
    cases = core.cases(words)
    folder = None if out is None else cases.open(pathlib.Path(out), resume, force)
    count = 0 if threads is None else int(threads)
    shown = bar(progress, "case", "")
    try:
        if folder is None:
            table = _gathered(cases, Spec(core, words, cases.hash), executor, count, chunk, shown)
            return Sweep(table, None, len(table), cases.alone())
        if executor is None:
            computed = cases.fill(folder, count, shown)
        else:
            missing = folder.missing()
            try:
                _elsewhere(executor, Spec(core, words, cases.hash), missing, folder.add, shown, chunk)
            except _Broken as error:
                kept = f"{len(missing) - len(folder.missing())} of {len(missing)} cases came in and are kept"
                raise _broken(error, kept, "start it again with `resume=True`: only what is missing is computed") from error
            computed = len(missing)
        if not folder.missing():
            folder.finish()
        return Sweep(folder.table(), pathlib.Path(out) if out is not None else None, computed, cases.alone())
    finally:
        if isinstance(shown, Bar):
            shown.close()
        if folder is not None:
            folder.close()


def _broken(error: _Broken, kept: str, cure: str) -> FourbarError:
    return FourbarError([Diagnostic("U441", f"the executor of the sweep broke ({error}); {kept}", help=cure)])


def _gathered(cases: _fourbar.Cases, spec: Spec, executor: Executor | None, threads: int, chunk: float, shown: Any) -> _fourbar.CaseTable:
    """All rows of a sweep that has no folder."""
    numbers = list(range(len(cases)))
    if executor is None:
        return cases.rows(numbers, threads, shown)
    parts: list[bytes] = []
    try:
        _elsewhere(executor, spec, numbers, lambda part, _: parts.append(part), shown, chunk)
    except _Broken as error:
        raise _broken(error, "nothing is kept", "give `out=` a folder, so that what comes in is kept") from error
    return cases.table(parts)
