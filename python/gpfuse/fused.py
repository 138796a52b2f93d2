"""What fusions of given experts share: where the experts come from, at fit and at new rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import r2_score

from .adapters import Experts, held_out, is_ready, named, part, trained
from .asking import ask
from .distribution import Distribution
from .given import Said, from_tables
from .scores import Scores

_Array = NDArray[np.float64]

_ESTIMATORS = """estimators : list, optional
        The experts: regressors whose `predict` takes `return_std=True`, callables
        ``X -> (mean, std)``, objects with ``submit(X)`` that returns a Future of such a pair, or
        pairs of a name and one of these. The standard deviations are those of a new observation,
        noise included. Fitted regressors and callables are used as they are. Of the others, copies
        are fitted on the rows that are not held out. Experts see the `X` that this estimator sees:
        after a scaler in a pipeline, scaled inputs. `clone`, and so `GridSearchCV` and
        `cross_val_score`, makes fitted regressors unfitted: wrap them in
        `sklearn.frozen.FrozenEstimator` to keep them as they are. A fitted regressor is known by
        attributes that end in an underscore, as scikit-learn's have; one without them would be
        fitted again: freeze it, or give its predictions as a callable. Where experts are trained
        here, rows for the fusion are drawn at random (`hold_out`), and no expert sees them. Where
        all are trained already, or `mean` and `std` are given to `fit`, the fusion is learned from
        all rows, which then must not have trained the experts."""


class Gathered(NamedTuple):
    """What a fusion is learned from."""

    rows: NDArray[np.intp]
    """The numbers of the rows, from 0."""
    said: Said
    """What the experts say there."""


class Fused:
    """A regressor over experts that are given as estimators or by what they predict."""

    estimators: list[Any] | None
    hold_out: float
    experts_: Experts

    def __init_subclass__(cls, **options: Any) -> None:
        cls.__doc__ = (cls.__doc__ or "").replace("{estimators}", _ESTIMATORS)
        super().__init_subclass__(**options)

    # ---- where experts come from

    def _forget(self) -> None:
        """A fit that fails must not leave the experts of an earlier one."""
        for name in ("experts_", "weight_rows_", "model_", "learned_"):
            self.__dict__.pop(name, None)

    def _gather(self, X: Any, rows: _Array, y: _Array, mean: Any, std: Any, seed: int) -> Gathered:
        """What the experts say at the rows of the fit that they were not trained on.

        `rows` are the checked rows of `X`.
        """
        everything = np.arange(len(rows))
        if self.estimators is None:
            return Gathered(everything, from_tables(mean, std, len(rows)))
        refuse_tables(mean, std)
        X, experts = seen(X, rows), named(self.estimators)
        if all(is_ready(expert) for _, expert in experts):
            self.experts_ = experts
            return Gathered(everything, ask(experts, X, len(rows)))
        held, own = held_out(len(rows), self.hold_out, seed)
        self.experts_ = trained(experts, X, y, own)
        return Gathered(held, ask(self.experts_, part(X, held), len(held), held.tolist()))

    def _said(self, X: Any, rows: _Array, mean: Any, std: Any, known: list[str]) -> Said:
        """What the experts say at new rows; `rows` are the checked rows of `X`."""
        experts = getattr(self, "experts_", None)
        if experts is not None:
            refuse_tables(mean, std)
            return ask(experts, seen(X, rows), len(rows))
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
