"""Experts asked at rows, here or elsewhere, and what they answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .adapters import Experts, blame, inner, takes_std
from .given import Said
from .wrapped import is_forest, of_forest

_Array = NDArray[np.float64]


def ask(experts: Experts, X: Any, rows: int, numbers: Sequence[int] | None = None) -> Said:
    """What each expert says at the rows of `X`; in errors these have the `numbers`, from 0.

    Experts elsewhere are all asked before the first answer is awaited.
    """
    asked: list[Any] = []
    for name, expert in experts:
        with blame(name):
            asked.append(expert.submit(X) if hasattr(expert, "submit") else None)
    answers: list[Any] = []
    for (name, expert), future in zip(experts, asked, strict=True):
        with blame(name):
            answers.append(_hear(name, expert, X) if future is None else None)
    columns = []
    for (name, _), future, answer in zip(experts, asked, answers, strict=True):
        with blame(name):
            pair = answer if future is None else future.result()
            columns.append(_columns(name, pair, rows))
    mean, std = (
        np.ascontiguousarray(np.stack(each, axis=1)) for each in zip(*columns, strict=True)
    )
    return Said([name for name, _ in experts], mean, std).checked(numbers)


def told(name: str, expert: Any, X: Any, rows: int) -> tuple[_Array, _Array]:
    """What one expert says here at the rows of `X`."""
    return _columns(name, _hear(name, expert, X), rows)


def _hear(name: str, expert: Any, X: Any) -> Any:
    if not takes_std(expert):
        if hasattr(expert, "pred_dist"):
            told = expert.pred_dist(X)
            return told.mean(), told.std()
        return of_forest(inner(expert), X) if is_forest(inner(expert)) else expert(X)
    try:
        return expert.predict(X, return_std=True)
    except TypeError as error:
        # What hides behind `**params`, as in a pipeline, is seen only now.
        if "return_std" not in str(error):
            raise
        raise TypeError(f"expert `{name}`: it does not take return_std: {error}") from error


def _columns(name: str, pair: Any, rows: int) -> tuple[_Array, _Array]:
    """A pair of mean and std, each with one number per row."""
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise TypeError(f"expert `{name}` gave a {type(pair).__name__}: expected (mean, std)")
    found = []
    for what, values in zip(("mean", "std"), pair, strict=True):
        column = np.asarray(values, dtype=np.float64)
        if column.shape not in ((rows,), (rows, 1)):
            raise ValueError(
                f"expert `{name}`: {what} has shape {column.shape}: expected {(rows,)}, one "
                "number per row"
            )
        found.append(column.reshape(rows))
    return found[0], found[1]
