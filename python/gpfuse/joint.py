"""Experts and weights learned together: MoGPE, PoGPE, and with one expert HetGP."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .base import SampledRegressor, name_of_target
from .engine import threads_of

_Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class Joint(SampledRegressor):
    """A model that learns its experts with their weights."""

    def fit(self, X: Any, y: Any) -> Self:
        """Sample the posterior of experts and weights given rows `X` (n, inputs) and `y` (n,)."""
        rows, target = self._training(X, y)
        return self._infer(rows, target, name_of_target(y))

    def leave_one_out(self) -> tuple[_Array, _Array]:
        """Mean and standard deviation of each training target, given all the others.

        The model is not fitted again: its draws are weighted anew for each row, by Pareto-smoothed
        importance sampling. A warning says for how many rows this is not to be trusted.
        """
        check_is_fitted(self)
        mean, std, doubt = self._left_out(None)
        if doubt is not None:
            warnings.warn(doubt, stacklevel=2)
        return mean, std

    def _left_out(self, labels: None) -> tuple[_Array, _Array, str | None]:
        """The same, with the words of the warning, if there is one."""
        threads = threads_of(self.threads, self.n_jobs)
        (mean, std), (bad, good) = self.model_.leave_one_out(threads)
        doubt = (
            f"{bad} of {len(mean)} rows have a Pareto k above {good:.2f}: what is said about them "
            "without them may be too good; use more draws, or folds (cv=5)"
        )
        return mean, std, doubt if bad else None


@dataclass(eq=False, repr=False)
class MoGPE(Joint):
    """A mixture of GP experts: experts and weights learned together, linear pool.

    .. math:: p(y | x) = \\sum_k w_k(x) \\, N(y; \\mu_k(x), \\sigma_k(x)^2), \\quad
        w(x) = \\mathrm{softmax}(g_1(x), ..., g_K(x))

    Every mean, log standard deviation and gate is a GP. The density can have several modes: take
    it where the data do.

    Parameters
    ----------
    {settings}
    """

    experts: int | str = 3

    _method: ClassVar[str] = "mogpe"


@dataclass(eq=False, repr=False)
class PoGPE(Joint):
    """A product of GP experts: experts and weights learned together, log-linear pool.

    .. math:: p(y | x) \\propto \\prod_k N(y; \\mu_k(x), \\sigma_k(x)^2)^{w_k(x)}, \\quad
        w_k(x) = e^{g_k(x)}

    which is one normal density with precision :math:`\\sum_k w_k / \\sigma_k^2`. Every mean, log
    standard deviation and log weight is a GP.

    Parameters
    ----------
    {settings}
    """

    experts: int | str = 3
    normalise: bool = False
    density: str = "auto"

    _method: ClassVar[str] = "pogpe"


@dataclass(eq=False, repr=False)
class HetGP(Joint):
    """One GP with a GP for its noise: heteroscedastic regression.

    .. math:: p(y | x) = N(y; \\mu(x), \\sigma(x)^2)

    Parameters
    ----------
    {settings}
    """

    density: str = "auto"

    _method: ClassVar[str] = "het"
