"""Tables from users: checked once, with words that name the column and the row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

_Array = NDArray[np.float64]


def training_rows(estimator: Any, X: Any, y: Any) -> tuple[_Array, _Array]:
    """The rows of a fit; the number of columns and their names are noted on the estimator."""
    rows, y = _training_rows(estimator, X, y, numeric=True)
    return rows, np.ascontiguousarray(y, dtype=np.float64)


def class_rows(estimator: Any, X: Any, y: Any) -> tuple[_Array, NDArray[Any], NDArray[np.int64]]:
    """The same where the target is a class: the rows, the labels, and the numbers of the classes.

    The classes are noted on the estimator.
    """
    rows, y = _training_rows(estimator, X, y, numeric=False)
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    estimator.classes_, codes = np.unique(y, return_inverse=True)
    if len(estimator.classes_) < 2:
        only = estimator.classes_[0]
        raise ValueError(f"y has one class, `{only}`, in all rows: a classifier needs two or more")
    return rows, y, codes


def _training_rows(estimator: Any, X: Any, y: Any, numeric: bool) -> tuple[_Array, Any]:
    _refuse_columns(X)
    if _is_time(y):
        raise ValueError("y holds times: make numbers of them, such as days since the first")
    X, y = validate_data(
        estimator,
        X,
        y,
        dtype=np.float64,
        order="C",
        ensure_all_finite=False,
        ensure_min_samples=2,
        y_numeric=numeric,
    )
    return _finite(X, getattr(estimator, "feature_names_in_", None)), y


def new_rows(estimator: Any, X: Any) -> _Array:
    """The rows of a prediction."""
    _refuse_columns(X)
    X = validate_data(
        estimator, X, dtype=np.float64, order="C", ensure_all_finite=False, reset=False
    )
    return _finite(X, getattr(estimator, "feature_names_in_", None))


def numbered(inputs: int) -> list[str]:
    """The names of inputs that have none."""
    return [f"x{i}" for i in range(inputs)]


def refuse_other_order(X: Any, own: list[str]) -> None:
    """scikit-learn compares names where a fit had some; a file cannot tell that `x0` was one."""
    found = [str(name) for name in getattr(X, "columns", [])]
    if found != own and sorted(found) == sorted(own):
        raise ValueError(
            f"The feature names should match those of the fit: found {', '.join(found)}, expected "
            f"{', '.join(own)}: give the columns in this order"
        )


def _is_time(values: Any) -> bool:
    return getattr(np.asarray(values), "dtype", np.dtype(float)).kind in "Mm"


def _refuse_columns(X: Any) -> None:
    """Columns of a frame that hold no numbers; an array has one type for all."""
    if not hasattr(X, "columns"):
        if isinstance(X, np.ndarray) and _is_time(X):
            raise ValueError("X holds times: make numbers of them, such as days since the first")
        return
    for name in X.columns:
        column = np.asarray(X[name])
        if _is_time(column):
            raise ValueError(
                f"column `{name}` holds times: make numbers of them, such as days since the first"
            )
        try:
            column.astype(float)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"column `{name}` holds what is no number ({error}): leave it out or encode it"
            ) from None


def _finite(X: Any, names: Any) -> _Array:
    rows: _Array = np.ascontiguousarray(X)
    if not np.isfinite(rows).all():
        row, column = np.argwhere(~np.isfinite(rows))[0]
        value = rows[row, column]
        word = "NaN" if np.isnan(value) else str(value)
        name = (numbered(rows.shape[1]) if names is None else names)[column]
        raise ValueError(
            f"row {row + 1}, column `{name}` is {word}: drop the row (rows count from 1)"
        )
    return rows


def number_of(name: int | str, names: Sequence[str]) -> int:
    """The number of an input from its name, or from its number."""
    if isinstance(name, str):
        if name not in names:
            raise ValueError(f"no input is called {name!r}: use one of {list(names)}")
        return list(names).index(name)
    if not 0 <= name < len(names):
        raise ValueError(f"input {name} is out of range: use 0 to {len(names) - 1}")
    return int(name)
