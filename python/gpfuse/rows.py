"""Tables from users: checked once, with words that name the column and the row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_X_y, column_or_1d, validate_data

from .columns import Columns, Encoded, holds_words

_Array = NDArray[np.float64]

_CHECKS: dict[str, Any] = {"dtype": np.float64, "order": "C", "ensure_all_finite": False}


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
    _refuse_times(X)
    if _is_time(y):
        raise ValueError("y holds times: make numbers of them, such as days since the first")
    missing = estimator.missing
    estimator.__dict__.pop("columns_", None)
    if missing == "refuse" and not holds_words(X):
        X, y = validate_data(estimator, X, y, **_CHECKS, ensure_min_samples=2, y_numeric=numeric)
        if np.isnan(X).any():
            Columns.learn(X, _names(estimator), missing)
        return _finite(X, _names(estimator)), y
    X = _columns_of(estimator, X, reset=True)
    columns = Columns.learn(X, _names(estimator), missing)
    rows, kept = columns.training_rows(X)
    rows, y = check_X_y(rows, y, **_CHECKS, ensure_min_samples=2, y_numeric=numeric)
    estimator.columns_ = columns
    rows = _finite(rows, columns.inputs)
    return rows[kept], np.asarray(y)[kept]


def new_rows(estimator: Any, X: Any) -> _Array:
    """The rows of a prediction."""
    if isinstance(X, Encoded):
        return X.rows
    _refuse_times(X)
    columns: Columns | None = getattr(estimator, "columns_", None)
    if columns is None and holds_words(X):
        columns = Columns.plain(_names(estimator))
    if columns is not None:
        rows = columns.new_rows(_columns_of(estimator, X, reset=False))
        return _finite(rows, columns.inputs)
    X = validate_data(estimator, X, **_CHECKS, reset=False)
    if np.isnan(X).any():
        # The engine says how many there are, and what to do.
        Columns.plain(_names(estimator)).new_rows(X)
    return _finite(X, _names(estimator))


def allows_nan(tags: Any, missing: str) -> Any:
    """The tags of scikit-learn, with what these estimators do about missing values."""
    tags.input_tags.allow_nan = missing in ("mean", "indicator")
    return tags


def refuse_drop(missing: str, what: str) -> None:
    """Refuse to leave out rows of `X` alone."""
    if missing == "drop":
        raise ValueError(
            f"missing: drop would leave out rows of X and not of {what}: leave them out of both "
            'before, or use missing="mean"'
        )


def input_names(estimator: Any) -> list[str]:
    """The names of a fitted estimator's inputs."""
    columns: Columns | None = getattr(estimator, "columns_", None)
    return _names(estimator) if columns is None else columns.inputs


def _names(estimator: Any) -> list[str]:
    names = getattr(estimator, "feature_names_in_", None)
    return numbered(estimator.n_features_in_) if names is None else [str(name) for name in names]


def _columns_of(estimator: Any, X: Any, *, reset: bool) -> Any:
    """A table that may hold words, or lack values: only its columns are checked."""
    if hasattr(X, "columns"):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X
    checks = _CHECKS | {"ensure_all_finite": "allow-nan"}
    return validate_data(estimator, X, **checks, reset=reset)


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


def _refuse_times(X: Any) -> None:
    words = "holds times: make numbers of them, such as days since the first"
    if not hasattr(X, "columns"):
        if isinstance(X, np.ndarray) and _is_time(X):
            raise ValueError(f"X {words}")
        return
    for name in X.columns:
        if _is_time(X[name]):
            raise ValueError(f"column `{name}` {words}")


def _finite(X: Any, names: list[str]) -> _Array:
    rows: _Array = np.ascontiguousarray(X)
    if not np.isfinite(rows).all():
        row, column = np.argwhere(~np.isfinite(rows))[0]
        raise ValueError(
            f"row {row + 1}, column `{names[column]}` is {rows[row, column]}: drop the row (rows "
            "count from 1)"
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
