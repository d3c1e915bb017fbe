"""Common parts of results and sweeps: columns of numbers by name, with units."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pandas
    import polars
else:
    from ._lazy import np


def frozen(array: Any) -> Any:
    """A view of an array that cannot be made writable again, because its base is read-only."""
    part = array
    while isinstance(part, np.ndarray):
        part.setflags(write=False)
        part = part.base
    return array.view()


class Columns(Mapping[str, Any]):
    """A mapping from names of columns to arrays. Subclasses provide names, units and the table as Arrow and Parquet."""

    # The column that identifies rows.
    _index: str

    def __init__(self, names: Iterable[str]):
        self._names = tuple(names)
        self._places = {name: k for k, name in enumerate(self._names)}

    # A mapping compares its items, which is not possible for arrays.
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self._names

    @property
    def units(self) -> dict[str, str]:
        """Units of the columns by name."""
        raise NotImplementedError

    def to_pandas(self) -> pandas.DataFrame:
        """A DataFrame with the time, or the case of a sweep, as its index; units are in ``attrs["units"]``."""
        import pandas as pd

        frame = pd.DataFrame({name: self[name] for name in self._names}).set_index(self._index)
        frame.attrs["units"] = self.units
        return frame

    def to_polars(self) -> polars.DataFrame:
        """A DataFrame of polars."""
        import polars as pl

        return pl.DataFrame(self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The stream read by pyarrow, polars, DuckDB and others; units are in the metadata of the fields."""
        raise NotImplementedError

    def _parquet(self) -> bytes:
        raise NotImplementedError

    def to_parquet(self, path: str | os.PathLike[str]) -> pathlib.Path:
        """Writes a Parquet file; units are in its metadata, and pandas puts them into ``attrs``."""
        target = pathlib.Path(path)
        target.write_bytes(self._parquet())
        return target
