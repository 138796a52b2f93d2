"""Experts asked at rows, here or elsewhere, and what they answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .adapters import Experts, blame, inner, refuse_mute, takes_std
from .given import Probabilities, Said
from .wrapped import is_forest, of_forest

_Array = NDArray[np.float64]


class Way(Protocol):
    """In what way experts speak about rows."""

    def refuse_mute(self, name: str, expert: Any) -> None:
        """Refuse, before anything is trained, what cannot speak so."""

    def hear(self, name: str, expert: Any, X: Any) -> Any:
        """What an expert says here."""

    def columns(self, name: str, answer: Any, rows: int) -> _Array:
        """Its answer as an array of shape (parts, rows)."""

    def said(self, names: list[str], columns: list[_Array]) -> Any:
        """What all say, to be checked."""


class Moments:
    """By mean and standard deviation."""

    def refuse_mute(self, name: str, expert: Any) -> None:
        """Refuse what cannot say how sure it is."""
        refuse_mute(name, expert)

    def hear(self, name: str, expert: Any, X: Any) -> Any:
        """A pair of mean and std."""
        return _hear(name, expert, X)

    def columns(self, name: str, answer: Any, rows: int) -> _Array:
        """Mean and std."""
        return np.stack(_columns(name, answer, rows))

    def said(self, names: list[str], columns: list[_Array]) -> Said:
        """Means and stds of all."""
        mean, std = (np.stack([each[i] for each in columns], axis=1) for i in (0, 1))
        return Said(names, mean, std)


class ByClass:
    """By a probability for each of the `classes`."""

    def __init__(self, classes: NDArray[Any]) -> None:
        self.classes = classes

    def refuse_mute(self, name: str, expert: Any) -> None:
        """Refuse what has no probabilities."""
        refuse_mute(
            name, expert, "predict_proba", "give a callable X -> probabilities (n, classes)"
        )

    def hear(self, name: str, expert: Any, X: Any) -> Any:
        """Probabilities, in the order of `classes`."""
        if not hasattr(expert, "predict_proba"):
            return expert(X)
        own = list(getattr(expert, "classes_", self.classes))
        if set(own) != set(self.classes):
            missing = [c for c in self.classes if c not in own]
            cure = (
                "it was fitted to rows without the first: use folds that have all classes, or give "
                "more rows of it"
                if missing
                else "fit it to the same target"
            )
            found, expected = (", ".join(str(c) for c in all) for all in (own, self.classes))
            raise ValueError(
                f"expert `{name}` knows the classes {found}: expected {expected}"
                + (f" ({', '.join(str(c) for c in missing)} missing)" if missing else "")
                + f": {cure}"
            )
        return np.asarray(expert.predict_proba(X))[:, [own.index(c) for c in self.classes]]

    def columns(self, name: str, answer: Any, rows: int) -> _Array:
        """The probabilities of each class."""
        table = np.asarray(answer, dtype=np.float64)
        if table.shape != (rows, len(self.classes)):
            raise ValueError(
                f"expert `{name}`: probabilities have shape {table.shape}: expected "
                f"{(rows, len(self.classes))}, one row per row of X and one column per class"
            )
        return table.T

    def said(self, names: list[str], columns: list[_Array]) -> Probabilities:
        """The probabilities of all."""
        return Probabilities(names, self.classes, np.stack(columns).transpose(2, 0, 1))


MOMENTS = Moments()


def ask(
    experts: Experts,
    X: Any,
    rows: int,
    numbers: Sequence[int] | None = None,
    way: Way = MOMENTS,
) -> Any:
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
            answers.append(way.hear(name, expert, X) if future is None else None)
    columns = []
    for (name, _), future, answer in zip(experts, asked, answers, strict=True):
        with blame(name):
            said = answer if future is None else future.result()
            columns.append(way.columns(name, said, rows))
    return way.said([name for name, _ in experts], columns).checked(numbers)


def told(name: str, expert: Any, X: Any, rows: int, way: Way = MOMENTS) -> _Array:
    """What one expert says here at the rows of `X`, of shape (parts, rows)."""
    return way.columns(name, way.hear(name, expert, X), rows)


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
