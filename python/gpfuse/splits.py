"""Folds of rows: from a number, a splitter of scikit-learn, or pairs of row numbers."""

from __future__ import annotations

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import KFold

_Rows = NDArray[np.int64]

USUAL = 5
"""How many folds there are where nobody says."""

_GIVE = "give a number, a splitter or (train, test) pairs"


class Split(NamedTuple):
    """One fold."""

    train: _Rows
    """The numbers of the rows to fit to, from 0."""
    test: _Rows
    """Those of the rows that are left out."""


def splits(cv: Any, X: Any, y: Any, seed: int, groups: Any = None) -> list[Split]:
    """The folds; a number means shuffled ones."""
    refuse_no_splits(cv)
    if isinstance(cv, Integral):
        cv = KFold(int(cv), shuffle=True, random_state=seed % 2**32)
    pairs = cv.split(X, y, groups) if hasattr(cv, "split") else cv
    folds = [_split(i, pair) for i, pair in enumerate(pairs)]
    if not folds:
        raise ValueError(f"cv: there are no folds: {_GIVE}")
    for i, (train, test) in enumerate(folds):
        if len(train) == 0 or len(test) == 0:
            raise ValueError(f"cv: fold {i} has {len(train)} rows to fit and {len(test)} to score")
    return folds


def refuse_no_splits(cv: Any) -> None:
    """Refuse what cannot be folds, before anything is fitted."""
    splitter = hasattr(cv, "split") and not isinstance(cv, str | bytes | type)
    number = isinstance(cv, Integral) and not isinstance(cv, bool)
    pairs = hasattr(cv, "__iter__") and not isinstance(cv, str | bytes | dict | type)
    if not (splitter or number or pairs):
        raise TypeError(f"cv: {cv!r} is of type {type(cv).__name__}: {_GIVE}")
    if number and int(cv) < 2:
        raise ValueError(f"cv: {cv} is no number of folds: use 2 or more")


def together(labels: ArrayLike, folds: int, seed: int, strata: Any = None) -> list[Split]:
    """Shuffled folds of about equally many labels; rows with the same label are in one fold.

    With `strata`, a number for each row, each fold has about its share of each.
    """
    known, first, label = np.unique(np.asarray(labels), return_index=True, return_inverse=True)
    if folds > len(known):
        what = "rows" if len(known) == len(label) else "groups of rows"
        raise ValueError(f"cv: {folds} folds for {len(known)} {what}: use fewer")
    order = np.random.default_rng(seed).permutation(len(known))
    place = order % folds
    if strata is not None:
        order = order[np.argsort(np.asarray(strata)[first][order], kind="stable")]
        place[order] = np.arange(len(known)) % folds
    fold = place[label]
    return [Split(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(folds)]


def left_out_once(folds: list[Split], rows: int) -> _Rows:
    """The rows that some fold leaves out, ascending; each must be left out once and truly."""
    for i, (train, test) in enumerate(folds):
        for part in (train, test):
            beyond = part[(part < 0) | (part >= rows)]
            if len(beyond):
                raise ValueError(f"cv: fold {i} has row {beyond[0]}: there are {rows}, from 0")
        seen = np.intersect1d(train, test)
        if len(seen):
            raise ValueError(
                f"cv: fold {i} fits to row {seen[0]} (from 0), which it should leave out: no row "
                "may be in both parts of a fold"
            )
    own, count = np.unique(np.concatenate([test for _, test in folds]), return_counts=True)
    if (count > 1).any():
        raise ValueError(
            f"cv: row {own[count > 1][0]} (from 0) is left out {count.max()} times: use folds that "
            "leave out each row once at most, such as those of KFold"
        )
    return own


def _split(i: int, pair: Any) -> Split:
    try:
        train, test = pair
        return Split(_numbers(train), _numbers(test))
    except (TypeError, ValueError):
        raise TypeError(f"cv: fold {i} is {pair!r}, not a pair of row numbers: {_GIVE}") from None


def _numbers(rows: Any) -> _Rows:
    """Numbers of rows, from numbers or a mask."""
    given = np.asarray(rows)
    if given.ndim != 1:
        raise TypeError(f"{rows!r} is no list of rows")
    return np.flatnonzero(given) if given.dtype == bool else given.astype(np.int64)
