"""Columns of tables as inputs: categories and what is missing, encoded by the engine."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from . import _gpfuse

_Array = NDArray[np.float64]
_Column = tuple[_Array | list[str | None], bool]

_CATEGORIES = ("category", "Categorical", "Enum")
"""How the types of categories of pandas and polars begin."""


class Encoded(NamedTuple):
    """Rows that are inputs already."""

    rows: _Array


@dataclass(frozen=True)
class Columns:
    """What became of the columns of a fit; the file of the model has it."""

    told: str
    """In the words of the engine."""

    @classmethod
    def learn(cls, X: Any, names: list[str], missing: str) -> Self:
        """What is to become of the columns of `X`."""
        return cls(_gpfuse.learn_columns(names, cells(X), missing))

    @classmethod
    def plain(cls, names: list[str]) -> Self:
        """Columns of numbers, none of them missing."""
        return cls(_gpfuse.learn_columns(names, [(np.zeros(1), False)] * len(names), "refuse"))

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return _gpfuse.names_of_columns(self.told)[0]

    @property
    def inputs(self) -> list[str]:
        """The names of the inputs."""
        return _gpfuse.names_of_columns(self.told)[1]

    def training_rows(self, X: Any) -> tuple[_Array, NDArray[np.bool_]]:
        """The inputs of rows of the fit, and which rows are not left out."""
        rows, dropped, _ = _gpfuse.apply_columns(self.told, cells(X), True)
        kept = np.ones(len(rows), dtype=bool)
        kept[dropped] = False
        return rows, kept

    def new_rows(self, X: Any) -> _Array:
        """The inputs of rows of a prediction; levels that the fit did not see are a warning."""
        rows, _, doubts = _gpfuse.apply_columns(self.told, cells(X), False)
        for doubt in doubts:
            warnings.warn(doubt, stacklevel=4)
        return rows


def holds_words(X: Any) -> bool:
    """Whether a data frame has columns that are not plain numbers."""
    return hasattr(X, "columns") and any(
        _is_category(X[name]) or np.asarray(X[name]).dtype.kind not in "biuf" for name in X.columns
    )


def cells(X: Any) -> list[_Column]:
    """The columns of a data frame or of an array, as the engine takes them."""
    if not hasattr(X, "columns"):
        return [(np.array(column, dtype=np.float64), False) for column in np.asarray(X).T]
    return [(_values(str(name), np.asarray(X[name])), _is_category(X[name])) for name in X.columns]


def _is_category(column: Any) -> bool:
    return str(getattr(column, "dtype", "")).startswith(_CATEGORIES)


def _values(name: str, values: NDArray[Any]) -> _Array | list[str | None]:
    if values.dtype.kind in "biuf":
        return np.array(values, dtype=np.float64)
    return [_text(name, value) for value in values.tolist()]


def _text(name: str, value: Any) -> str | None:
    """What stands in a cell, as it would in a file; None where nothing does."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, Real) and not isinstance(value, bool) and math.isnan(value):
        return None
    if isinstance(value, str | Real):
        return str(value)
    kind = type(value).__name__
    raise ValueError(
        f"column `{name}` holds a {kind}, which is no number and no text: leave it out"
    )
