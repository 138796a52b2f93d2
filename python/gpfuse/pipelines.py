"""What estimators of gpfuse say beyond scikit-learn's interface, asked through pipelines.

A pipeline passes on `fit`, `predict` and `score`. These functions ask the estimator at its end,
about rows as the steps before it make them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike
from sklearn.compose import TransformedTargetRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .distribution import Distribution
from .scores import Scores
from .weighing import WeightEffects, Weights

_USE = "use an estimator of gpfuse, or a pipeline or a search around one"


def predict_dist(model: Any, X: Any, **said: Any) -> Distribution:
    """The predictive distribution at each row of `X`.

    Parameters
    ----------
    model : a fitted estimator of gpfuse
        Or a fitted pipeline that ends in one, or a search (`GridSearchCV`) over one of these.
    X : rows as `model` takes them
    **said
        What the estimator's own `predict_dist` takes besides.
    """
    found: Distribution = _method(model, "predict_dist")(_rows(model, X), **said)
    return found


def evaluate(model: Any, X: Any, y: ArrayLike, **said: Any) -> Scores:
    """All scores of the predictions at `X` against `y`; parameters are those of `predict_dist`."""
    found: Scores = _method(model, "evaluate")(_rows(model, X), y, **said)
    return found


def weights(model: Any, X: Any, level: float = 0.9, **said: Any) -> Weights:
    """How much each expert is trusted at each row of `X`, with central intervals of `level`.

    Other parameters are those of `predict_dist`.
    """
    found: Weights = _method(model, "weights")(_rows(model, X), level, **said)
    return found


def weight_effects(
    model: Any, X: Any, level: float = 0.9, inputs: Sequence[int | str] | None = None
) -> WeightEffects:
    """How the weights depend on each input, averaged over rows like those of `X`.

    `inputs` are the inputs to look at, by number or name, as the estimator within pipelines has
    them; all if not given.
    """
    found: WeightEffects = _method(model, "weight_effects")(_rows(model, X), level, inputs=inputs)
    return found


def refuse_no_density(model: Any, name: str = "") -> None:
    """Refuse what has no predictive density, fitted or not."""
    kind = type(model).__name__
    words = f"{name}: " if name else ""
    inner = model
    while (further := _inside(inner)) is not None:
        inner = further
    if isinstance(inner, TransformedTargetRegressor):
        raise TypeError(
            f"{words}TransformedTargetRegressor has no density of the target itself: leave it out; "
            "estimators of gpfuse scale the target by themselves"
        )
    if not all(hasattr(inner, method) for method in ("fit", "evaluate", "get_params")):
        ends = "" if inner is model else f" around {type(inner).__name__}"
        raise TypeError(f"{words}{kind}{ends} has no method `evaluate`: {_USE}")


def innermost(model: Any) -> Any:
    """The fitted estimator within pipelines, searches and what is frozen."""
    while (inner := _inside(model)) is not None:
        check_is_fitted(model, "best_estimator_" if _is_search(model) else None)
        model = getattr(model, "best_estimator_", inner)
    return model


def _inside(model: Any) -> Any:
    """What stands one layer further inside, fitted or not."""
    if isinstance(model, Pipeline):
        return model.steps[-1][1]
    return model.estimator if _is_search(model) or isinstance(model, FrozenEstimator) else None


def _is_search(model: Any) -> bool:
    """Whether it looks for the best parameters of an estimator, as `GridSearchCV` does."""
    return all(hasattr(model, name) for name in ("estimator", "refit", "get_params"))


def _rows(model: Any, X: Any) -> Any:
    """Rows as the estimator inside sees them."""
    while _inside(model) is not None:
        if isinstance(model, Pipeline) and len(model.steps) > 1:
            X = model[:-1].transform(X)
        model = getattr(model, "best_estimator_", _inside(model))
    return X


def _method(model: Any, name: str) -> Any:
    inner = innermost(model)
    if not hasattr(inner, name):
        refuse_no_density(model)
        kind = type(inner).__name__
        raise TypeError(f"{kind} has no weights that depend on the input: use PBHS, BHS or PoGPE")
    return getattr(inner, name)
