"""What fusions of given experts share: where the experts come from, at fit and at new rows."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import r2_score

from .adapters import Experts, at_fit, held_out, is_ready, named, refuse_no_share, refuse_unready
from .asking import ask
from .crossfit import Table, cross_fit, fit_apart
from .distribution import Distribution
from .given import Said, from_tables
from .scores import Scores
from .splits import Split, refuse_no_splits

_Array = NDArray[np.float64]

_ESTIMATORS = """estimators : list, optional
        The experts: regressors whose `predict` takes `return_std=True` or that have `pred_dist`
        (NGBoost), random forests and extra trees of scikit-learn (which are as sure as the targets
        in their leaves), callables
        ``X -> (mean, std)``, objects with ``submit(X)`` that returns a Future of such a pair, or
        pairs of a name and one of these. The standard deviations are those of a new observation,
        noise included. Fitted regressors and callables are used as they are: the rows of the fit
        must not have trained them. Of the others, copies are fitted to all rows, and about each
        row the fusion learns from what they say without it (`cv`). A copy without a
        `random_state` gets one. Experts see the `X` that this estimator sees:
        after a scaler in a pipeline, scaled inputs. `clone`, and so `GridSearchCV` and
        `cross_val_score`, makes fitted regressors unfitted: wrap them in
        `sklearn.frozen.FrozenEstimator` to keep them as they are. A fitted regressor is known by
        attributes that end in an underscore, as scikit-learn's have; one without them would be
        fitted again: freeze it, or give its predictions as a callable.
    cv : int, splitter of scikit-learn, iterable of (train, test), or "prefit", optional
        How experts that are fitted here come to speak about rows that did not train them. If not
        given, exact GPs tell in closed form and sampled models of gpfuse from their draws, by
        Pareto-smoothed importance sampling, both after one fit; all others are fitted again for
        each of five folds. With folds, all are fitted to all but one fold and speak about that
        one. A number means shuffled folds, with copies of a row in the same one. The fusion is
        learned from the rows that some fold leaves out. "prefit" takes all experts as they are."""


class Gathered(NamedTuple):
    """What a fusion is learned from."""

    rows: NDArray[np.intp]
    """The numbers of the rows, from 0."""
    said: Any
    """What the experts say there."""


class OfExperts:
    """A fusion of experts, some of which may be estimators that are fitted here."""

    estimators: list[Any] | None
    hold_out: float | None
    cv: Any
    experts_: Experts

    def _forget(self) -> None:
        """A fit that fails must not leave the experts of an earlier one."""
        known = ("experts_", "weight_rows_", "model_", "learned_", "loo_", "pareto_k_")
        for name in known:
            self.__dict__.pop(name, None)

    def _refuse_ways(self, groups: Any, estimators: Any) -> None:
        """Refuse what says twice, or in vain, which rows train the experts."""
        if self.hold_out is not None:
            refuse_no_share(self.hold_out)
        if self.cv is not None and self.hold_out is not None:
            raise ValueError(
                "cv, hold_out: two ways to learn from rows that did not train the experts: give "
                "one of them"
            )
        if isinstance(self.cv, str) and not _is_prefit(self.cv):
            raise ValueError(f"cv: {self.cv!r} is no choice: use 'prefit', or a number of folds")
        if self.cv is not None and not _is_prefit(self.cv):
            refuse_no_splits(self.cv)
        for name, value in (("cv", self.cv), ("groups", groups)):
            if value is not None and estimators is None:
                raise ValueError(
                    f"{name}: it is for experts that are estimators: leave it out, or give "
                    "estimators="
                )
        if groups is not None and (self.hold_out is not None or _is_prefit(self.cv)):
            raise ValueError("groups: they are for folds: leave out hold_out= and cv='prefit'")

    def _ask_all(self, estimators: Any, table: Table, seed: int, executor: Any = None) -> Gathered:
        """What estimators say at rows of the fit that did not train them."""
        count = len(table.y)
        everything = np.arange(count)
        experts = named(estimators, table.way.refuse_mute)
        if _is_prefit(self.cv):
            refuse_unready(experts)
        if _is_prefit(self.cv) or all(is_ready(expert) for _, expert in experts):
            self.experts_ = experts
            speaking = at_fit(experts, table.y)
            return Gathered(everything, ask(speaking, table.X, count, way=table.way))
        if self.hold_out is not None:
            held, own = held_out(count, self.hold_out, seed, table.codes)
            found = fit_apart(experts, table, Split(own, held), seed, executor)
        else:
            found = cross_fit(experts, table, self.cv, seed, executor)
        self.experts_ = found.experts
        for doubt in found.doubts:
            warnings.warn(doubt, stacklevel=4)
        return Gathered(found.own, found.said)


class Fused(OfExperts):
    """A regressor over experts that are given as estimators or by what they predict."""

    def __init_subclass__(cls, **options: Any) -> None:
        cls.__doc__ = (cls.__doc__ or "").replace("{estimators}", _ESTIMATORS)
        super().__init_subclass__(**options)

    # ---- where experts come from

    def _gather(
        self, table: Table, mean: Any, std: Any, seed: int, executor: Any = None
    ) -> Gathered:
        """What the experts say at rows of the fit that did not train them."""
        if self.estimators is None:
            return Gathered(np.arange(len(table.y)), from_tables(mean, std, len(table.y)))
        refuse_tables(mean, std)
        return self._ask_all(self.estimators, table, seed, executor)

    def _said(self, X: Any, rows: _Array, mean: Any, std: Any, known: list[str]) -> Said:
        """What the experts say at new rows; `rows` are the checked rows of `X`."""
        experts = getattr(self, "experts_", None)
        if experts is not None:
            refuse_tables(mean, std)
            told: Said = ask(experts, seen(X, rows), len(rows))
            return told
        if mean is None and std is None:
            names = ", ".join(f"`{name}`" for name in known)
            raise ValueError(
                f"the experts {names} were made elsewhere: give what they predict at these rows "
                "as mean= and std="
            )
        return from_tables(mean, std, len(rows), known)

    # ---- predictions

    if TYPE_CHECKING:

        def _dist(
            self, X: Any, mean: Any = None, std: Any = None, rao_blackwell: bool = False
        ) -> Distribution: ...

    def predict(
        self, X: Any, return_std: bool = False, *, mean: Any = None, std: Any = None
    ) -> Any:
        """Predictive means, and with `return_std` standard deviations, noise included.

        Where `fit` had `mean` and `std`, they are wanted here, at the rows of `X`.
        """
        found = self._dist(X, mean, std)
        return (found.mean, found.std) if return_std else found.mean

    def evaluate(self, X: Any, y: ArrayLike, *, mean: Any = None, std: Any = None) -> Scores:
        """All scores of the predictions at `X` against `y`: `.nlpd`, `.crps`, `.coverage`, ..."""
        return self._dist(X, mean, std).evaluate(y)

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, mean: Any = None, std: Any = None
    ) -> float:
        """The coefficient of determination of the predictive means."""
        found = self._dist(X, mean, std).mean
        return float(r2_score(y, found, sample_weight=sample_weight))


def _is_prefit(cv: Any) -> bool:
    return isinstance(cv, str) and cv == "prefit"


def seen(X: Any, rows: _Array) -> Any:
    """Rows as experts see them: a data frame with its names, all else as checked numbers."""
    return X if hasattr(X, "columns") else rows


def refuse_own(mean: Any, std: Any) -> None:
    """The experts were trained inside the model."""
    if mean is not None or std is not None:
        raise ValueError(
            "mean, std: this model trained experts of its own: leave out mean= and std="
        )


def refuse_tables(mean: Any, std: Any) -> None:
    """The experts speak for themselves."""
    if mean is not None or std is not None:
        raise ValueError(
            "mean, std: the experts are estimators, which are asked by themselves: leave out "
            "mean= and std=, or estimators="
        )
