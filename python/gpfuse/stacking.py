"""Input-dependent weights for experts that are given, or trained first: BHS and PBHS."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.utils.validation import check_is_fitted

from .base import SampledRegressor, name_of_target
from .crossfit import Table
from .distribution import Distribution
from .engine import seed_of, threads_of
from .fused import Fused, refuse_own, seen
from .given import LogDensities, drawn, from_log_density
from .insample import warn_in_sample
from .rows import refuse_drop
from .scores import LogScores, Score
from .weighing import Weights
from .worth import Worth

_Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class Stacking(Fused, Worth, SampledRegressor):
    """A model of the weights of experts that are known already."""

    estimators: list[Any] | None = None
    hold_out: float | None = None
    cv: Any = None
    experts: int | None = None
    partition: str | None = None
    along: int | str = 0
    expert_kernel: str | None = None
    expert_objective: str = "map"
    expert_inputs: Sequence[Sequence[int | str]] | None = None
    gate: str = "auto"

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        mean: Any = None,
        std: Any = None,
        log_density: Any = None,
        groups: Any = None,
        executor: Any = None,
    ) -> Self:
        """Sample the posterior of the weights.

        Parameters
        ----------
        X, y : shapes (n, inputs) and (n,)
        mean, std : arrays or data frames of shape (n, experts), optional
            What experts predict at these rows, which must not have trained them. The names of
            columns are the names of the experts. Without them, the experts are `estimators`, or
            are trained here.
        log_density : array or data frame of shape (n, experts), optional
            Instead, for `BHS`, the log density (or log probability) that each expert gave the
            target of each row, which must not have trained it: as of leave-one-out, or of rows held
            out. Minus infinity where it held the target impossible.
        groups : array of shape (n,), optional
            Rows of the same group are left out together, where `estimators` are fitted; a splitter
            gets them.
        executor : concurrent.futures.Executor or Dask client, optional
            Where `estimators` are fitted; here and now if not given. The result does not depend on
            it. On an executor an expert with `threads=None` uses one thread.
        """
        self._refuse_ways(groups, self.estimators)
        if any(given is not None for given in (self.estimators, mean, log_density)):
            refuse_drop(self.missing, "what experts see or say")
        rows, target = self._training(X, y)
        self._forget()
        if log_density is not None:
            if self.estimators is not None or mean is not None or std is not None:
                raise ValueError(
                    "log_density: it says all there is to say about experts: leave out mean=, std= "
                    "and estimators="
                )
            logs = from_log_density(log_density, len(target))
            self.weight_rows_ = np.arange(len(target))
            return self._infer(
                rows,
                target,
                name_of_target(y),
                {"experts": len(logs.names)},
                names=logs.names,
                log_density=logs.log_density,
            )
        if self.estimators is None and mean is None and std is None:
            return self._infer(rows, target, name_of_target(y))
        seed = seed_of(self.random_state)
        table = Table(seen(X, rows), rows, target, groups)
        own, said = self._gather(table, mean, std, seed, executor)
        refuse_constant(target, own)
        self.weight_rows_ = own
        return self._infer(
            rows[own],
            target[own],
            name_of_target(y),
            {"experts": len(said.names), "box": box_around(rows, own, self.box)},
            names=said.names,
            **said.for_engine(),
        )

    @classmethod
    def _parameters(cls, settings: dict[str, Any], inputs: int) -> dict[str, Any]:
        own = super()._parameters(settings, inputs)
        if own["partition"] == "all":
            # The engine counts the experts of its portfolio.
            own["experts"] = None
        return own | {"expert_inputs": own["expert_inputs"] or None}

    def _experts_at(self, X: Any, mean: Any, std: Any) -> dict[str, _Array]:
        if self.model_.says_outcomes:
            raise ValueError(
                f"this {type(self).__name__} knows the log densities of its experts and no more, "
                "so that it has no mean, std, quantile or sample: use log_density, evaluate and "
                "weights"
            )
        if not self.model_.needs_predictions:
            refuse_own(mean, std)
            return {}
        return self._said(X, self._new_rows(X), mean, std, self.model_.given_experts).for_engine()

    def predict_dist(
        self, X: Any, *, rao_blackwell: bool = False, mean: Any = None, std: Any = None
    ) -> Distribution:
        """The predictive distribution at each row of `X`.

        Where `fit` had `mean` and `std`, they are wanted here, at the rows of `X`. There is no
        `rao_blackwell` for these models.
        """
        return self._dist(X, mean, std, rao_blackwell)

    def weights(self, X: Any, level: float = 0.9, *, mean: Any = None, std: Any = None) -> Weights:
        """How much each expert is trusted at each row, with central intervals of `level`.

        Where `fit` had `mean` and `std`, they are wanted here, at the rows of `X`; where it had
        `log_density`, the rows are enough.
        """
        return self._weigh(X, level, mean, std)

    def log_density(self, X: Any, *, log_density: Any) -> _Array:
        """The log density of the target at each row of `X`, from those of the experts.

        With `log_density` of shape (n, experts), it is averaged over the draws of the weights. Of
        models that were fitted with `log_density`; others have `predict_dist(X).logpdf(y)`.
        """
        return self._measured(X, log_density)[0][1]

    def evaluate(
        self,
        X: Any,
        y: Any = None,
        *,
        mean: Any = None,
        std: Any = None,
        log_density: Any = None,
    ) -> Any:
        """All scores of the predictions at `X` against `y`: `.nlpd`, `.crps`, `.coverage`, ...

        Where `fit` had `log_density`, it is wanted here instead of `y`, at the rows of `X`, and
        there is `.nlpd` alone. A warning names an expert whose log densities are far above those
        here at the rows that the weights were learned from, as those of rows that trained it are.
        """
        check_is_fitted(self)
        if not self.model_.says_outcomes and log_density is None:
            scores = super().evaluate(X, y, mean=mean, std=std)
            if mean is not None:
                said = self._experts_at(X, mean, std)
                logs = norm.logpdf(np.asarray(y)[:, None], said["mean"], said["sd"])
                warn_in_sample(self.worth_, LogDensities(self.model_.given_experts, logs))
            return scores
        (text, logs), experts = self._measured(X, log_density)
        warn_in_sample(self.worth_, experts)
        return LogScores(Score(**json.loads(text)["nlpd"]), -logs)

    def _measured(self, X: Any, log_density: Any) -> tuple[tuple[str, _Array], LogDensities]:
        """The scores as JSON, the log densities, and what the experts said."""
        rows = self._new_rows(X)
        if not self.model_.says_outcomes:
            raise ValueError(
                "log_density: it is for models that were fitted with log_density=: use "
                "predict_dist(X).logpdf(y)"
            )
        if log_density is None:
            names = ", ".join(f"`{name}`" for name in self.model_.experts)
            raise ValueError(
                f"the experts {names} were made elsewhere: give their log densities of the target "
                "at these rows as log_density="
            )
        logs = from_log_density(log_density, len(rows), self.model_.experts)
        threads = threads_of(self.threads, self.n_jobs)
        return self.model_.log_density(rows, threads, logs.log_density), logs


def refuse_constant(y: _Array, own: NDArray[np.intp]) -> None:
    """Refuse rows for the weights that have one target, where not all rows have."""
    if len(own) < len(y) and np.ptp(y[own]) == 0 < np.ptp(y):
        raise ValueError(
            f"hold_out, cv: the {len(own)} targets of the rows for the weights are all "
            f"{y[own][0]:g}: use a larger share, other folds or another random_state"
        )


def box_around(rows: _Array, own: NDArray[np.intp], box: float) -> float:
    """`box`, in half-ranges of the rows `own`, made as many times wider as spans all rows.

    The engine sees the rows of the weights alone. Where they are few, the other rows of the fit,
    and new ones like those, might lie beyond its box.
    """
    if len(own) == len(rows):
        return box
    low, high = rows[own].min(axis=0), rows[own].max(axis=0)
    half, far = 0.5 * (high - low), np.abs(rows - 0.5 * (low + high)).max(axis=0)
    ratio = float(np.divide(far, half, out=np.ones_like(far), where=half > 0).max())
    return max(box, min(box * ratio, 100.0))


@dataclass(eq=False, repr=False)
class BHS(Stacking):
    """Bayesian hierarchical stacking: a linear pool of experts that are known already.

    .. math:: p(y | x) = \\sum_k w_k(x) \\, N(y; \\mu_k(x), \\sigma_k(x)^2), \\quad
        w(x) = \\mathrm{softmax}(g_1(x), ..., g_K(x))

    with a GP for each gate :math:`g_k`. The experts are given by their predictions
    (``fit(X, y, mean=..., std=...)``), by their log densities of the target
    (``fit(X, y, log_density=...)``) or as `estimators`; if they are not, exact GPs and boosted
    trees are trained.

    Parameters
    ----------
    {estimators}
    {settings}
    experts_ : list of pairs of a name and an expert
        The experts, trained; only with `estimators`.
    weight_rows_ : array of int
        The numbers of the rows of the fit, from 0, that the weights were learned from: all, or
        those that were held out or left out by some fold; not where the experts are trained here.
    loo_, pareto_k_ : arrays of shape (n, models)
        Leave-one-out log densities, and how far to trust them; only from `gf.stack`.
    """

    _method: ClassVar[str] = "bhs"

    def blend(self, X: Any, draws: Mapping[str, Any], *, random_state: Any = 0) -> _Array:
        """Posterior-predictive draws of the fusion at each row of `X`, from those of the experts.

        A linear pool is the mixture of its experts with the posterior means of their weights, so
        each draw of a row is one of an expert, who is drawn in the proportion of its weight there.
        `draws` has, for each expert, an array of shape (n, S), or an xarray DataArray with the
        dimensions chain, draw and one more, as in the group `posterior_predictive`. The result is
        of shape (n, S). Rows are drawn one by one: it says nothing of how they go together.
        """
        share = self.weights(X).mean
        said = np.stack(drawn(draws, self.model_.experts, len(share)))
        size = said.shape[2]
        rng = np.random.default_rng(seed_of(random_state))
        # Evenly spread, so that each expert has its share to within one draw.
        places = (np.arange(size) + rng.random((len(share), 1))) / size
        places = rng.permuted(places, axis=1)
        bounds = np.cumsum(share, axis=1)[:, None, :-1]
        who = (places[:, :, None] >= bounds).sum(axis=2)
        found: _Array = np.take_along_axis(said, who[None], axis=0)[0]
        return found


@dataclass(eq=False, repr=False)
class PBHS(Stacking):
    """A product of experts that are known already: a log-linear pool, made robust.

    .. math:: p(y | x) \\propto \\prod_k N(y; \\mu_k(x), \\sigma_k(x)^2)^{w_k(x)}, \\quad
        w_k(x) = e^{g_k(x)}

    with a GP for each log weight :math:`g_k`. Beside the weights it learns a scale of each
    expert's standard deviation, a noise floor, tails, a part of the equal linear pool, and how much
    more a surer expert counts, so that experts that are too sure of themselves do little harm. The
    experts are given by their predictions (``fit(X, y, mean=..., std=...)``) or as `estimators`;
    if they are not, exact GPs and boosted trees are trained.

    Parameters
    ----------
    {estimators}
    {settings}
    experts_ : list of pairs of a name and an expert
        The experts, trained; only with `estimators`.
    weight_rows_ : array of int
        The numbers of the rows of the fit, from 0, that the weights were learned from: all, or
        those that were held out or left out by some fold; not where the experts are trained here.
    """

    plain: bool = False
    normalise: bool = False

    _method: ClassVar[str] = "pbhs"


@dataclass(eq=False, repr=False)
class OneGP(Stacking):
    """One exact GP on all rows, as ``gpfuse fit --method gp`` writes it: the fusion of one expert.

    `load` makes it. Use `GP` to fit one here.

    Parameters
    ----------
    {settings}
    """

    _method: ClassVar[str] = "gp"


@dataclass(eq=False, repr=False)
class FixedRule(Stacking):
    """A classical rule, as ``gpfuse fit --method stacking`` and the like write it.

    `load` makes it. Use `Baseline` to fit one here.

    Parameters
    ----------
    rule : str
        One of `gf.RULES`.
    {settings}
    """

    rule: str = "stacking"

    def _given(self) -> dict[str, Any]:
        return super()._given() | {"method": self.rule}

    @classmethod
    def _parameters(cls, settings: dict[str, Any], inputs: int) -> dict[str, Any]:
        return super()._parameters(settings, inputs) | {"rule": settings["method"]}

    _method: ClassVar[str] = "stacking"
