"""Results of the analyses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import _html
from ._errors import Diagnostic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    import pandas

    from ._fourbar import State

    Array = NDArray[np.float64]
else:
    from ._lazy import np


@dataclass(frozen=True)
class Check:
    """What a mechanism is: mobility, redundancy and cures, singular poses, assembly modes, in words and in `fields`.

    >>> import fourbar
    >>> check = fourbar.load("a04_bricard").check()
    >>> check.mobility, check.redundant
    (1, 1)
    >>> check["planar"]
    False
    """

    headline: str
    text: str
    all: str = field(repr=False)
    fields: dict[str, Any] = field(repr=False)
    warnings: list[Diagnostic] = field(repr=False)
    title: str = ""

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    @property
    def mobility(self) -> int:
        """Degrees of freedom without the drives, at a generic pose."""
        return int(self.fields["mobility"]["generic"])

    @property
    def redundant(self) -> int:
        """Number of redundant constraint rows."""
        return int(self.fields["redundancy"]["total"])

    @property
    def assembles(self) -> bool:
        """Whether the mechanism can be assembled."""
        return bool(self.fields["start"]["assembles"])

    @property
    def not_unique(self) -> dict[str, list[str]]:
        """Reaction components that are not unique due to redundancy, by joint."""
        return dict(self.fields["reactions_not_unique"])

    def __str__(self) -> str:
        notes = "".join(f"\n{d}\n" for d in self.warnings)
        return f"{self.title}\n\n{self.text}{notes}" if self.title else self.text + notes

    def _repr_html_(self) -> str:
        return _html.text(str(self))


@dataclass(frozen=True)
class Verification:
    """Comparison of the motions of all formulations, true if they agree over the whole time.

    ``word`` is the verdict, ``words`` its reasons, ``table`` the comparison as text and ``rows`` the same as dictionaries.
    """

    word: str
    agreed: bool
    words: list[str]
    table: str = field(repr=False)
    fields: dict[str, Any] = field(repr=False)

    def __bool__(self) -> bool:
        return self.agreed

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per formulation."""
        return list(self.fields["rows"])

    def __str__(self) -> str:
        return "\n".join([self.table, self.word, *(f"  {w}" for w in self.words)])

    def _repr_html_(self) -> str:
        return _html.text(str(self))


@dataclass(frozen=True)
class Equilibrium:
    """An equilibrium of a mechanism.

    ``stability`` is ``stable``, ``unstable``, ``neutral`` or ``held``; ``omega2`` are the squares of its circular frequencies, (rad/s)^2,
    lowest first; ``softest`` describes the softest motion; ``state.reactions()`` gives the joint reactions.
    """

    state: State
    stability: str
    omega2: Array = field(repr=False)
    softest: str
    energy: float
    residual: float
    iterations: int
    method: str
    freedom: int
    redundant: int
    warnings: list[Diagnostic] = field(repr=False)

    @property
    def stable(self) -> bool:
        """Whether the equilibrium is stable."""
        return self.stability == "stable"

    @property
    def frequencies(self) -> Array:
        """Frequencies about the equilibrium, Hz; zero for motions without a restoring force."""
        return np.sqrt(np.clip(self.omega2, 0.0, None)) / (2 * np.pi)


class Equilibria(Sequence[Equilibrium]):
    """The equilibria found by a search, stable ones first. `complete` is true if none can be missing in this assembly mode."""

    def __init__(self, found: list[Equilibrium], starts: int, hits: int, complete: bool):
        self._list = found
        self.starts, self.hits, self.complete = starts, hits, complete

    def __getitem__(self, k: Any) -> Any:
        return self._list[k]

    def __len__(self) -> int:
        return len(self._list)

    def __repr__(self) -> str:
        kinds = ", ".join(e.stability for e in self._list)
        return f"<fourbar.Equilibria: {len(self)} ({kinds}), {'complete' if self.complete else 'there may be others'}>"


@dataclass(frozen=True)
class Mode:
    """A vibration, or a motion that grows or decays without oscillation.

    ``eigenvalue`` in 1/s, for a pair the one with positive imaginary part; ``frequency`` in Hz; ``motion`` (bodies, 6) are complex
    increments of the poses: linear in world axes, rotations in body axes.
    """

    eigenvalue: complex
    frequency: float
    damping: float
    omega: float
    words: str
    condition: float = field(repr=False)
    energy: list[tuple[str, float]] = field(repr=False)
    motion: NDArray[np.complex128] = field(repr=False)


class Modes(Sequence[Mode]):
    """Vibrations about an equilibrium or a steady motion, the lowest frequency first."""

    def __init__(self, found: dict[str, Any]):
        self._list = [Mode(**m) for m in found["modes"]]
        self.about: str = found["about"]
        self.state: State = found["state"]
        self.states: int = found["states"]
        self.rigid: int = found["rigid"]
        self.rigid_motions: list[str] = found["rigid_motions"]
        self.idle: int = found["idle"]
        self.stable: bool = found["stable"]
        self.warnings: list[Diagnostic] = found["warnings"]

    def __getitem__(self, k: Any) -> Any:
        return self._list[k]

    def __len__(self) -> int:
        return len(self._list)

    @property
    def eigenvalues(self) -> NDArray[np.complex128]:
        """One eigenvalue of each pair, 1/s."""
        return np.array([m.eigenvalue for m in self._list], dtype=complex)

    @property
    def frequencies(self) -> Array:
        """Frequencies, Hz; zero for non-oscillating modes."""
        return np.array([m.frequency for m in self._list])

    @property
    def damping(self) -> Array:
        """Damping ratios."""
        return np.array([m.damping for m in self._list])

    def to_pandas(self) -> pandas.DataFrame:
        """A DataFrame with one row per mode."""
        import pandas as pd

        names = ["eigenvalue", "frequency", "damping", "omega", "words"]
        return pd.DataFrame([[getattr(m, n) for n in names] for m in self._list], columns=names)

    def __str__(self) -> str:
        lines = [f"about {self.about}: {'stable' if self.stable else 'unstable'}"]
        for m in self._list:
            root = f"{m.eigenvalue.real:11.5g}{m.eigenvalue.imag:+11.5g}i 1/s" if m.frequency else f"{m.eigenvalue.real:11.5g}{'':12} 1/s"
            lines.append(f"{root}  {f'{m.frequency:9.4g} Hz' if m.frequency else '':12}  {m.words}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return _html.text(str(self))

    def __repr__(self) -> str:
        return f"<fourbar.Modes about {self.about}: {len(self)}, {'stable' if self.stable else 'unstable'}>"


@dataclass(frozen=True)
class Linear:
    """A linear model ``x' = A x + B u``, ``y = C x + D u``; it unpacks to the four matrices.

    >>> import fourbar
    >>> A, B, C, D = fourbar.load("pid_pendulum").linearize(outputs=["O.angle"])
    >>> A.shape, B.shape, C.shape, D.shape
    ((4, 4), (4, 1), (1, 4), (1, 1))
    """

    A: Array
    B: Array
    C: Array
    D: Array
    states: list[str]
    inputs: list[str]
    outputs: list[str]
    about: str
    state: State
    warnings: list[Diagnostic] = field(repr=False)

    def __iter__(self) -> Iterator[Array]:
        return iter((self.A, self.B, self.C, self.D))


def _check(found: tuple[Any, ...], title: str) -> Check:
    headline, text, everything, fields, warnings = found
    return Check(headline, text, everything, json.loads(fields), warnings, title)
