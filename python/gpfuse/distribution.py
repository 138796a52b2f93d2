"""Predictive distributions: one Gaussian mixture per row, computed when asked for."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import column_or_1d

from ._gpfuse import Predictive
from .engine import seed_of
from .scores import Scores

_Array = NDArray[np.float64]


class Distribution:
    """The predictive distribution at each of n rows, in the units of the target.

    At a row it is a finite mixture of normal distributions,

    .. math:: p(y) = \\sum_i w_i \\, N(y; m_i, s_i^2),

    with a component for each draw of the posterior and, under a linear pool, each expert. Nothing
    is stored per row: each method runs over the draws when it is called, in memory that does not
    grow with the rows.
    """

    def __init__(self, predictive: Predictive) -> None:
        self._predictive = predictive

    def __len__(self) -> int:
        return len(self._predictive)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} rows>"

    def __reduce__(self) -> Any:
        raise TypeError(
            "a Distribution holds the draws of its model and does not pickle: pickle the "
            "estimator, or take arrays from it, such as mean, std and quantile(...)"
        )

    @cached_property
    def _moments(self) -> tuple[_Array, _Array]:
        return self._predictive.moments()

    @property
    def mean(self) -> _Array:
        """The means, shape (n,)."""
        return self._moments[0]

    @property
    def std(self) -> _Array:
        """The standard deviations, shape (n,)."""
        return self._moments[1]

    def quantile(self, q: ArrayLike) -> _Array:
        """Quantiles: shape (n,) for a number `q`, else (n, len(q))."""
        levels = np.asarray(q, dtype=float)
        found = self._predictive.quantiles([float(p) for p in np.atleast_1d(levels)])
        return found[:, 0] if levels.ndim == 0 else found

    def interval(self, level: float = 0.9) -> tuple[_Array, _Array]:
        """Lower and upper ends of the central intervals that hold `level`."""
        if not 0 < level < 1:
            raise ValueError(f"level: {level} is out of range: use a number between 0 and 1")
        tail = 0.5 * (1.0 - level)
        ends = self.quantile([tail, 1.0 - tail])
        return ends[:, 0], ends[:, 1]

    def logpdf(self, y: ArrayLike) -> _Array:
        """Log densities of outcomes: `y` of shape (n,), or (n, m) for m outcomes per row."""
        return self._at(self._predictive.log_density, y)

    def pdf(self, y: ArrayLike) -> _Array:
        """Densities of outcomes."""
        return np.exp(self.logpdf(y))

    def cdf(self, y: ArrayLike) -> _Array:
        """The distribution function; at the outcomes it is the probability integral transform."""
        return self._at(self._predictive.cdf, y)

    def crps(self, y: ArrayLike) -> _Array:
        """The continuous ranked probability score of outcomes, exactly."""
        return self._at(self._predictive.crps, y)

    def sample(self, size: int = 1, random_state: Any = None) -> _Array:
        """`size` independent samples for each row, shape (n, size)."""
        return self._predictive.sample(int(size), seed_of(random_state))

    def evaluate(self, y: ArrayLike) -> Scores:
        """All scores against the outcomes `y`, with Monte Carlo errors and errors over rows."""
        try:
            outcomes = column_or_1d(y, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"y: {error}: give one number per row") from error
        return Scores.of(self._predictive, np.ascontiguousarray(outcomes))

    def _at(self, of: Any, y: ArrayLike) -> _Array:
        outcomes = np.asarray(y, dtype=float)
        if outcomes.ndim == 0:
            outcomes = np.full(len(self), float(outcomes))
        if outcomes.ndim > 2:
            raise ValueError(f"outcomes: expected 1 or 2 dimensions, found {outcomes.ndim}")
        flat = outcomes.reshape(len(outcomes), -1)
        found: _Array = of(np.ascontiguousarray(flat))
        return found.reshape(outcomes.shape)
