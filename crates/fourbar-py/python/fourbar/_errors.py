"""What can go wrong, and what is worth knowing."""

from __future__ import annotations

import json
import warnings as _warnings
from dataclasses import dataclass, field
from typing import Any, Iterable


@dataclass(frozen=True)
class Diagnostic:
    """One thing to say about a mechanism or a run.

    ``code`` is stable and has a page (`fourbar.explain`). ``line`` and ``column`` tell where the cause stands in the mechanism file, ``time``
    when a run failed; they are ``None`` where that means nothing.
    """

    code: str
    message: str
    help: str = ""
    names: tuple[str, ...] = ()
    at: str | None = None
    time: float | None = None
    file: str | None = None
    line: int | None = None
    column: int | None = None
    text: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))

    def __str__(self) -> str:
        return self.text or f"[{self.code}] {self.message}"


class FourbarError(Exception):
    """Something could not be done.

    Printed, it shows every cause with its place in the file and a cure. ``diagnostics`` has all of them; the attributes ``code``, ``message``,
    ``help``, ``names``, ``at``, ``file``, ``line``, ``column`` and ``time`` are those of the first. An error of a run that had come some way
    has its rows in ``result``.

    >>> import fourbar
    >>> try:
    ...     fourbar.load("fuorbar")
    ... except fourbar.FourbarError as error:
    ...     print(error.code, error.help)
    M010 did you mean the shipped model `fourbar`? `fourbar.examples()` lists them
    """

    def __init__(self, diagnostics: Iterable[Diagnostic]):
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        super().__init__(list(self.diagnostics))
        first = self.diagnostics[0]
        self.code: str = first.code
        self.message: str = first.message
        self.help: str = first.help
        self.names: tuple[str, ...] = first.names
        self.at: str | None = first.at
        self.file: str | None = first.file
        self.line: int | None = first.line
        self.column: int | None = first.column
        self.time: float | None = first.time
        self.result: Any = None

    def __str__(self) -> str:
        return "\n\n".join(str(d) for d in self.diagnostics)


class ColumnError(FourbarError, KeyError):
    """There is no such column."""


class FourbarWarning(UserWarning):
    """Something that is worth knowing; ``diagnostic`` has its fields."""

    def __init__(self, diagnostic: Diagnostic):
        self.diagnostic = diagnostic
        super().__init__(diagnostic)

    def __str__(self) -> str:
        return str(self.diagnostic)


def warn(diagnostics: Iterable[Diagnostic], stacklevel: int = 3) -> None:
    """Hands diagnostics to the warnings of Python."""
    for d in diagnostics:
        _warnings.warn(FourbarWarning(d), stacklevel=stacklevel)


def _finished(report: str, notes: list[Diagnostic]) -> dict[str, Any]:
    """The report of a simulation that ended."""
    warn(notes)
    return json.loads(report)
