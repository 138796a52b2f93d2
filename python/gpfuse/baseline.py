"""The classical fusion rules as one regressor: constant weights or none, no Monte Carlo."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from . import _gpfuse
from .adapters import Experts, held_out
from .asking import ask
from .crossfit import Table
from .distribution import Distribution
from .engine import seed_of, threads_of
from .expert import PartitionExpert
from .fused import Fused, Gathered, seen
from .gp import GP
from .rows import allows_nan, new_rows, refuse_drop, training_rows
from .settings import described

RULES: tuple[str, ...] = tuple(_gpfuse.rules())
"""The names of all rules."""

USUAL_SHARE = 0.2
"""The share of the rows that the fusion is learned from, where GPs get rows of their own."""

_Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class Baseline(Fused, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A classical rule that fuses the predictions of experts.

    Experts are given by their predictions (``fit(X, y, mean=..., std=...)``) or as `estimators`;
    if they are not, exact GPs are trained, each on its own random rows. With the experts
    :math:`N(\\mu_k, \\sigma_k^2)` at a row, the linear pools are
    :math:`\\sum_k w_k N(\\mu_k, \\sigma_k^2)` and the products
    :math:`\\prod_k N(\\mu_k, \\sigma_k^2)^{\\beta_k}`:

    ==================  ===========================================================================
    "linear-pool"       :math:`w_k = 1/K`
    "stacking"          constant weights that predict rows best that trained no expert
    "pseudo-bma"        weights from the experts' summed log scores on these rows
    "pseudo-bma-plus"   the same, averaged over a Bayesian bootstrap of these rows
    "bma"               weights from the experts' marginal likelihoods of the same training rows
    "best-expert"       the expert with the highest log score on these rows
    "poe"               product, :math:`\\beta_k = 1`
    "gpoe-uniform"      product, :math:`\\beta_k = 1/K`
    "gpoe-entropy"      product, powers from how much surer than the prior an expert is; sum one
    "gpoe-softmax"      product, powers from a softmax of minus the variance
    "bcm"               product, divided by the prior that it counts K times
    "rbcm"              the same with the powers from entropy, not normalised
    "barycentre"        normal with the mean of the means and of the standard deviations
    ==================  ===========================================================================

    The prior of the target is normal, with the mean and the variance of `y` at the fit.

    Parameters
    ----------
    rule : str
        One of `gf.RULES`.
    {estimators}
    hold_out : float, optional
        Share of the rows from which the fusion is learned, not the experts. If not given: none with
        `estimators`, which are cross-fitted (`cv`); 0.2 where GPs are trained here.
    experts : int
        How many exact GPs to train as experts, where none are given.
    {missing}
    random_state : int, RandomState, Generator or None
    threads : int, optional
        All cores if not given. The result does not depend on it.
    n_jobs : int, optional
        Another name for `threads`, as scikit-learn has it: -1 is all cores.

    Attributes
    ----------
    weights_ : array of shape (experts,) or None
        The constant weights of a linear pool; None for the other rules.
    experts_ : list of pairs of a name and an expert
        The experts, trained; not where `fit` had `mean` and `std`.
    names_ : list of str
        The names of the experts.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    """

    rule: str = "stacking"
    estimators: list[Any] | None = None
    hold_out: float | None = None
    cv: Any = None
    experts: int = 3
    missing: str = "refuse"
    random_state: Any = None
    threads: int | None = None
    n_jobs: int | None = None

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        mean: Any = None,
        std: Any = None,
        groups: Any = None,
        executor: Any = None,
    ) -> Self:
        """Learn what the rule has to learn.

        Parameters
        ----------
        X, y : shapes (n, inputs) and (n,)
        mean, std : arrays or data frames of shape (n, experts), optional
            What experts predict at these rows, which must not have trained them. The names of
            columns are the names of the experts.
        groups : array of shape (n,), optional
            Rows of the same group are left out together, where `estimators` are fitted; a splitter
            gets them.
        executor : concurrent.futures.Executor or Dask client, optional
            Where `estimators` are fitted; here and now if not given. The result does not depend on
            it. On an executor an expert with `threads=None` uses one thread.
        """
        self._refuse_ways(groups, self.estimators)
        if self.rule not in RULES:
            raise ValueError(f"rule: there is no `{self.rule}`: use one of {', '.join(RULES)}")
        if self.estimators is not None or mean is not None:
            refuse_drop(self.missing, "what experts see or say")
        rows, target = training_rows(self, X, y)
        self._forget()
        seed = seed_of(self.random_state)
        if self.estimators is None and mean is None and std is None:
            own, said = self._train(rows, target, seed)
        else:
            table = Table(seen(X, rows), rows, target, groups)
            own, said = self._gather(table, mean, std, seed, executor)
        self.names_ = said.names
        self.learned_ = _gpfuse.Learned(
            self.rule,
            said.mean,
            said.std,
            target[own],
            prior=(float(target.mean()), float(target.var())),
            log_evidence=self._evidence() if self.rule == "bma" else None,
            seed=seed,
        )
        return self

    def _train(self, rows: _Array, y: _Array, seed: int) -> Gathered:
        """Experts of our own, each an exact GP on its own random rows."""
        if self.rule == "bma":
            raise ValueError(
                "rule: `bma` compares experts that were trained on the same rows, and these would "
                "share the rows out: give it estimators="
            )
        if self.experts < 1:
            raise ValueError(f"experts: {self.experts} is out of range: use 1 or more")
        share = USUAL_SHARE if self.hold_out is None else self.hold_out
        held, own = held_out(len(rows), share, seed)
        if len(own) < 2 * self.experts:
            raise ValueError(
                f"experts: {self.experts} experts for {len(own)} rows: each wants two rows or "
                "more: use fewer experts or a smaller hold_out"
            )
        shuffled = np.random.default_rng([seed, 1]).permutation(own)
        threads = threads_of(self.threads, self.n_jobs)
        self.experts_ = [
            (str(k + 1), GP(random_state=seed, threads=threads).fit(rows[each], y[each]))
            for k, each in enumerate(np.array_split(shuffled, self.experts))
        ]
        return Gathered(held, ask(self.experts_, rows[held], len(held), held.tolist()))

    def _evidence(self) -> list[float]:
        experts = getattr(self, "experts_", None)
        if experts is None:
            raise ValueError(
                "rule: `bma` needs the experts' log marginal likelihoods, which mean= and std= do "
                "not have: give it estimators="
            )
        return log_evidence(experts)

    def __sklearn_tags__(self) -> Any:
        return allows_nan(super().__sklearn_tags__(), self.missing)

    @property
    def weights_(self) -> _Array | None:
        """The constant weights of a linear pool; None for the other rules."""
        check_is_fitted(self, "learned_")
        return self.learned_.weights

    def _dist(
        self, X: Any, mean: Any = None, std: Any = None, rao_blackwell: bool = False
    ) -> Distribution:
        check_is_fitted(self, "learned_")
        rows = new_rows(self, X)
        # Experts of our own were trained on plain rows.
        said = self._said(rows if self.estimators is None else X, rows, mean, std, self.names_)
        fused = self.learned_.fuse(said.mean, said.std, threads_of(self.threads, self.n_jobs))
        return Distribution(fused)

    def predict_dist(self, X: Any, *, mean: Any = None, std: Any = None) -> Distribution:
        """The fused predictive distribution at each row of `X`.

        Where `fit` had `mean` and `std`, they are wanted here, at the rows of `X`.
        """
        return self._dist(X, mean, std)


Baseline.__doc__ = (Baseline.__doc__ or "").replace("{missing}", described({"missing"}))


def log_evidence(experts: Experts) -> list[float]:
    """Each expert's log marginal likelihood, in the units of its target.

    Likelihoods of different rows cannot be compared, so the experts must have seen equally many.
    """
    found, rows = [], {}
    for name, expert in experts:
        if isinstance(getattr(expert, "estimator", expert), PartitionExpert):
            raise ValueError(
                f"expert `{name}` was trained on a partition of its own, and the rule `bma` "
                "compares likelihoods of the same rows: use another rule"
            )
        if hasattr(expert, "gp_"):
            rows[name] = len(expert.gp_.y)
        elif hasattr(expert, "X_train_"):
            rows[name] = len(expert.X_train_)
        if hasattr(expert, "log_marginal_likelihood_"):
            found.append(float(expert.log_marginal_likelihood_))
        elif hasattr(expert, "log_marginal_likelihood_value_"):
            # With `normalize_y` it is the density of the scaled target.
            scale = float(np.squeeze(getattr(expert, "_y_train_std", 1.0)))
            value = float(expert.log_marginal_likelihood_value_)
            found.append(value - len(expert.X_train_) * math.log(scale))
        else:
            raise ValueError(
                f"expert `{name}`: a {type(expert).__name__} has no log_marginal_likelihood_, "
                "which the rule `bma` needs: use another rule or GPs"
            )
    if len(set(rows.values())) > 1:
        each = ", ".join(f"`{name}` {count}" for name, count in rows.items())
        raise ValueError(
            f"rule: `bma` compares likelihoods of the same rows, and the experts were trained on "
            f"different numbers of rows ({each}): use another rule, or train all on the same rows"
        )
    return found
