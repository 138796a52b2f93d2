"""One Gaussian process: an expert, or a model to compare with."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from . import _gpfuse
from .engine import seed_of, threads_of, to_json
from .normal import NormalPredictions
from .rows import allows_nan, new_rows, training_rows
from .settings import OF_GP, described

_Array = NDArray[np.float64]


@dataclass(eq=False, repr=False, kw_only=True)
class GP(NormalPredictions, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A Gaussian process with a constant mean and one lengthscale per input.

    .. math:: y = f(x) + e, \\quad f \\sim GP(m, v \\, k(r)), \\quad
        r^2 = \\sum_i (x_i - x'_i)^2 / \\ell_i^2, \\quad e \\sim N(0, s^2)

    It is exact up to 3,000 rows. With more, each row is predicted from its nearest training rows,
    and the hyperparameters are those under which random rows, left out, have the highest density.
    That begins at an exact GP on 1,500 rows, which `objective`, `starts` and `steps` are for.

    Parameters
    ----------
    {settings}
    {missing}
    random_state : int, RandomState, Generator or None
    threads : int, optional
        All cores if not given. The result does not depend on it.
    n_jobs : int, optional
        Another name for `threads`, as scikit-learn has it: -1 is all cores.

    Attributes
    ----------
    hyper_ : dict
    log_marginal_likelihood_ : float
        Of an exact GP only.
    neighbours_ : int or None
        How many of the nearest rows predict one; None for an exact GP.
    """

    kernel: str = field(default="rbf", kw_only=False)
    objective: str = "map"
    mean: float | None = None
    starts: int = 20
    steps: int = 200
    missing: str = "refuse"
    random_state: Any = None
    threads: int | None = None
    n_jobs: int | None = None

    if TYPE_CHECKING:
        gp_: _gpfuse.Gp = field(init=False)

    def fit(self, X: Any, y: Any) -> Self:
        """Find the hyperparameters and condition on the rows."""
        rows, target = training_rows(self, X, y)
        # From here on nothing of an earlier fit holds.
        self.__dict__.pop("gp_", None)
        self.gp_ = _gpfuse.Gp.fit(rows, target, self._settings())
        return self

    def __sklearn_tags__(self) -> Any:
        return allows_nan(super().__sklearn_tags__(), self.missing)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "gp_")

    def _settings(self) -> str:
        settings = {
            "kernel": self.kernel,
            "objective": self.objective,
            "mean": "learned" if self.mean is None else {"fixed": float(self.mean)},
            "starts": self.starts,
            "steps": self.steps,
            "seed": seed_of(self.random_state),
        }
        return to_json(settings | {"threads": self._threads()})

    def _threads(self) -> int:
        return threads_of(self.threads, self.n_jobs)

    @property
    def hyper_(self) -> dict[str, Any]:
        """The hyperparameters in the units of the data: mean, var, ell per input, noise."""
        check_is_fitted(self)
        found: dict[str, Any] = json.loads(self.gp_.hyper)
        return found

    @property
    def log_marginal_likelihood_(self) -> float:
        """The log marginal likelihood of the training rows."""
        check_is_fitted(self)
        if self.gp_.log_marginal is None:
            raise AttributeError(
                "a GP on nearest rows has no log marginal likelihood: compare by `leave_one_out`"
            )
        return self.gp_.log_marginal

    @property
    def neighbours_(self) -> int | None:
        """How many of the nearest rows predict one; None for an exact GP."""
        check_is_fitted(self)
        return self.gp_.neighbours

    def _moments(self, X: Any, noise: bool) -> tuple[_Array, _Array]:
        check_is_fitted(self)
        return self.gp_.predict(new_rows(self, X), noise, self._threads())

    def leave_one_out(self) -> tuple[_Array, _Array]:
        """Mean and standard deviation of each training target, given all the others."""
        check_is_fitted(self)
        return self.gp_.leave_one_out(self._threads())

    def _left_out(self, labels: list[int] | None) -> tuple[_Array, _Array, None]:
        """The same where rows with the same label are left out together."""
        return *self.gp_.leave_one_out(self._threads(), labels), None


GP.__doc__ = (GP.__doc__ or "").replace("{settings}", described(OF_GP, OF_GP))
GP.__doc__ = GP.__doc__.replace("{missing}", described({"missing"}))
