"""Regressors of other libraries made to say how sure they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.utils.validation import check_is_fitted

from .saying import quantile_moments

_Array = NDArray[np.float64]


class PointExpert(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A regressor that predicts points, with the std of its errors at rows left out.

    ``std^2 = sum_i (y_i - m_-i(x_i))^2 / n``, where ``m_-i`` was fitted without the fold of row i.
    It is the same at all rows.

    Parameters
    ----------
    estimator : regressor
    cv : int or splitter of scikit-learn
        The folds; a number means shuffled ones.
    """

    def __init__(self, estimator: Any, cv: Any = 5) -> None:
        self.estimator = estimator
        self.cv = cv

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the regressor to all rows, and to all but each fold."""
        cv = self.cv
        folds = KFold(cv, shuffle=True, random_state=0) if isinstance(cv, int) else cv
        errors = np.asarray(y) - cross_val_predict(clone(self.estimator), X, y, cv=folds)
        self.std_ = float(np.sqrt(np.mean(errors**2)))
        self.estimator_ = clone(self.estimator).fit(X, y)
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Points, and with `return_std` their std."""
        check_is_fitted(self)
        mean = np.asarray(self.estimator_.predict(X), dtype=np.float64)
        return (mean, np.full(mean.shape, self.std_)) if return_std else mean


class QuantileExpert(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Several quantile regressors as one expert: mean and std of the density through them.

    The density is that of `gf.saying.quantiles`. Quantiles that cross are sorted.

    Parameters
    ----------
    estimators : list of regressors
        One for each level, such as HistGradientBoostingRegressor(loss="quantile", quantile=0.1).
    levels : list of float
        The levels, ascending.
    """

    def __init__(self, estimators: Sequence[Any], levels: Sequence[float]) -> None:
        self.estimators = estimators
        self.levels = levels

    def fit(self, X: Any, y: Any) -> Self:
        """Fit each to all rows."""
        self.estimators_ = [clone(each).fit(X, y) for each in self.estimators]
        return self

    def quantiles(self, X: Any) -> _Array:
        """The quantiles at each row, of shape (n, levels)."""
        check_is_fitted(self)
        return np.sort(np.stack([each.predict(X) for each in self.estimators_], axis=1), axis=1)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Means, and with `return_std` standard deviations."""
        mean, std = quantile_moments(self.quantiles(X), self.levels)
        return (mean, std) if return_std else mean


def is_forest(expert: Any) -> bool:
    """Whether it is a forest of scikit-learn, whose leaves tell how sure it is."""
    from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

    return isinstance(expert, ExtraTreesRegressor | RandomForestRegressor)


def of_forest(forest: Any, X: Any) -> tuple[_Array, _Array]:
    """Mean and std of a target that is drawn from a leaf of a random tree.

    ``var = mean_t(v_t + m_t^2) - mean_t(m_t)^2``, with mean ``m_t`` and variance ``v_t`` of the
    training rows in the leaf of tree t.
    """
    if forest.criterion not in ("squared_error", "friedman_mse"):
        raise ValueError(
            f"criterion: the leaves of {forest.criterion!r} keep no variance: use 'squared_error'"
        )
    trees = [tree.tree_ for tree in forest.estimators_]
    leaves = forest.apply(X).T
    means = np.stack([tree.value[leaf, 0, 0] for tree, leaf in zip(trees, leaves, strict=True)])
    within = np.stack([tree.impurity[leaf] for tree, leaf in zip(trees, leaves, strict=True)])
    return means.mean(axis=0), np.sqrt(within.mean(axis=0) + means.var(axis=0))
