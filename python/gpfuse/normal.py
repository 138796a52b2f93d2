"""Predictions of a model that says a mean and a standard deviation of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _gpfuse
from .distribution import Distribution
from .scores import Scores

_Array = NDArray[np.float64]


class NormalPredictions:
    """What follows from `_moments`."""

    def _moments(self, X: Any, noise: bool) -> tuple[_Array, _Array]:
        """Means and standard deviations: of the function, or with `noise` of an observation."""
        raise NotImplementedError

    def predict(self, X: Any, return_std: bool = False, *, noise: bool = True) -> Any:
        """Means, and with `return_std` standard deviations of a new observation.

        With `noise=False` they are those of the function without its noise.
        """
        mean, std = self._moments(X, noise)
        return (mean, std) if return_std else mean

    def predict_dist(self, X: Any) -> Distribution:
        """The predictive distribution at each row of `X`: a normal one."""
        mean, std = self._moments(X, True)
        return Distribution(_gpfuse.Predictive.normal(mean, std, 1))

    def evaluate(self, X: Any, y: ArrayLike) -> Scores:
        """All scores of the predictions at `X` against `y`."""
        return self.predict_dist(X).evaluate(y)
