"""Errors and warnings."""

from __future__ import annotations

import json
import warnings as _warnings
from dataclasses import dataclass, field
from typing import Any, Iterable


@dataclass(frozen=True)
class Diagnostic:
    """An error or warning about a mechanism or a run.

    ``code`` is stable and has a page (`fourbar.explain`). ``line`` and ``column`` locate the cause in the mechanism file, ``time`` is that
    of a failure in a run; they are ``None`` if not applicable.
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
    """An error of the package.

    Printed, it shows every cause with its place in the file and a help text. ``diagnostics`` has all of them; the attributes ``code``,
    ``message``, ``help``, ``names``, ``at``, ``file``, ``line``, ``column`` and ``time`` are those of the first. An error of a run that had
    computed rows has them in ``result``.

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
    """An unknown column."""


class FourbarWarning(UserWarning):
    """A warning of the package; ``diagnostic`` has its fields."""

    def __init__(self, diagnostic: Diagnostic):
        self.diagnostic = diagnostic
        super().__init__(diagnostic)

    def __str__(self) -> str:
        return str(self.diagnostic)


def warn(diagnostics: Iterable[Diagnostic], stacklevel: int = 3) -> None:
    """Issues diagnostics as Python warnings."""
    for d in diagnostics:
        _warnings.warn(FourbarWarning(d), stacklevel=stacklevel)


def _finished(report: str, notes: list[Diagnostic]) -> dict[str, Any]:
    """The report of a finished simulation."""
    warn(notes)
    return json.loads(report)
