"""Experts of any kind: given a name, and trained where they are not yet."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from .wrapped import is_forest

_Array = NDArray[np.float64]
_Rows = NDArray[np.intp]

Experts = list[tuple[str, Any]]


def named(estimators: Any, refuse: Callable[[str, Any], None] | None = None) -> Experts:
    """The experts in a list of estimators, callables, or pairs of a name and one of them.

    `refuse` those that cannot say what they have to: if not given, a mean and a std.
    """
    if not isinstance(estimators, list | tuple):
        kind = type(estimators).__name__
        raise TypeError(f"estimators: give a list of experts, found {kind}")
    if not estimators:
        raise ValueError("estimators: the list is empty: give at least one expert")
    pairs = [e if _is_pair(e) else (None, e) for e in estimators]
    words = [_word(expert) for _, expert in pairs]
    taken = [name for name, _ in pairs]
    found: Experts = []
    for k, (name, expert) in enumerate(pairs):
        if name is None:
            alone = words.count(words[k]) == 1 and words[k] not in taken
            name = words[k] if alone else f"{words[k]}-{k + 1}"
        if name in (before for before, _ in found):
            raise ValueError(f"two experts are called `{name}`: rename one")
        (refuse or refuse_mute)(name, expert)
        found.append((name, expert))
    return found


def _is_pair(entry: Any) -> bool:
    return isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str)


def _word(expert: Any) -> str:
    """A word for an expert without a name."""
    found = inner(expert)
    name = getattr(found, "__name__", type(found).__name__)
    return "expert" if name == "<lambda>" else str(name).lower()


def inner(expert: Any) -> Any:
    """The expert that was frozen, or itself."""
    return expert.estimator if isinstance(expert, FrozenEstimator) else expert


def takes_std(expert: Any) -> bool:
    """Whether it has a `predict` that could take `return_std`."""
    try:
        parameters = inspect.signature(expert.predict).parameters
    except AttributeError:
        return False
    except (TypeError, ValueError):  # Compiled code may not tell.
        return True
    return "return_std" in parameters or any(
        p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values()
    )


def refuse_mute(
    name: str, expert: Any, method: str = "", cure: str = "give a callable X -> (mean, std)"
) -> None:
    """Refuse, before anything is trained, what cannot say how sure it is.

    With `method` it must have that to say it by.
    """
    kind = type(expert).__name__
    if isinstance(expert, FrozenEstimator) and not is_ready(expert):
        raise ValueError(f"expert `{name}` was frozen before its fit: fit it first")
    if isinstance(expert, type):
        raise TypeError(f"expert `{name}` is the class {expert.__name__}: give an instance of it")
    if hasattr(expert, "submit") or callable(expert):
        return
    if method:
        if not hasattr(expert, method):
            raise TypeError(f"expert `{name}`: {kind} has no `{method}`: {cure}")
        return
    if takes_std(expert) or hasattr(expert, "pred_dist") or is_forest(inner(expert)):
        return
    cure = f"wrap it in gf.PointExpert, or {cure}"
    if hasattr(expert, "predict"):
        raise TypeError(f"expert `{name}`: `predict` of {kind} does not take return_std: {cure}")
    raise TypeError(f"expert `{name}` is of type {kind}, which has no `predict`: {cure}")


def is_ready(expert: Any) -> bool:
    """Whether an expert is used as it is: nothing to train, or trained already.

    `check_is_fitted` does not tell: it passes a GaussianProcessRegressor before its fit, because
    that can predict from its prior. A regressor that keeps what it learned under names without a
    trailing underscore does not look trained: it has to be frozen, or given as a callable.
    """
    if hasattr(expert, "submit") or not hasattr(expert, "fit"):
        return True
    if isinstance(expert, FrozenEstimator):
        return is_ready(expert.estimator) or _has_state(expert.estimator)
    if isinstance(expert, Pipeline):
        return is_ready(expert[-1])
    if hasattr(expert, "__sklearn_is_fitted__"):
        return bool(expert.__sklearn_is_fitted__())
    return any(name.endswith("_") and not name.startswith("__") for name in vars(expert))


def at_fit(experts: Experts, y: Any) -> Experts:
    """Experts that are fitted, as they speak about rows of a fit with targets `y`.

    Those that can leave out rows of their own do.
    """

    def leaving_out(expert: Any) -> Any:
        own = inner(expert)
        return (lambda X: own.left_out(X, y)) if hasattr(own, "left_out") else expert

    return [(name, leaving_out(expert)) for name, expert in experts]


def refuse_unready(experts: Experts) -> None:
    """Refuse experts that nobody has fitted, where none is to be fitted."""
    for name, expert in experts:
        if not (is_ready(expert) or _has_state(expert)):
            raise ValueError(
                f"expert `{name}` is not fitted, and cv='prefit' takes experts as they are: fit it "
                "first, or leave out cv"
            )


def _has_state(expert: Any) -> bool:
    """Whether it may have been fitted: it has something that a fresh copy has not.

    What cannot be copied is believed. A GaussianProcessRegressor keeps what it learned under names
    that tell, and without them would predict from its prior.
    """
    if isinstance(expert, GaussianProcessRegressor) or hasattr(expert, "__sklearn_is_fitted__"):
        return False
    try:
        fresh = vars(clone(expert))
    except TypeError:
        return True
    return any(
        value is not None and fresh.get(name) is None for name, value in vars(expert).items()
    )


def refuse_no_share(share: Any) -> None:
    """Refuse what is no number."""
    if isinstance(share, bool | np.bool) or not isinstance(share, Real):
        raise TypeError(f"hold_out: {share!r} is no number: give a share between 0 and 1")


def held_out(rows: int, share: float, seed: int, strata: Any = None) -> tuple[_Rows, _Rows]:
    """The rows for the weights, a random share, and the others, all ascending.

    With `strata`, a number for each row, about this share of each.
    """
    refuse_no_share(share)
    if not 0 < share < 1:
        raise ValueError(f"hold_out: {share} must lie between 0 and 1")
    order = np.random.default_rng(seed).permutation(rows)
    # One row says nothing about where to trust whom.
    held = max(2, round(rows * share))
    if rows - held < 2:
        raise ValueError(
            f"hold_out: {held} of {rows} rows leave {rows - held} to the experts: use a smaller "
            "share or more rows"
        )
    if strata is None:
        return np.sort(order[:held]), np.sort(order[held:])
    order = order[np.argsort(np.asarray(strata)[order], kind="stable")]
    steps = np.floor(np.arange(rows + 1) * share + 0.5)
    taken = np.diff(steps) > 0
    return np.sort(order[taken]), np.sort(order[~taken])


def part(X: Any, rows: _Rows) -> Any:
    """Some rows of an array or a data frame."""
    return _safe_indexing(X, rows)


@contextmanager
def blame(name: str) -> Iterator[None]:
    """Errors of an expert's own code keep their kind and get a note that names the expert."""
    try:
        yield
    except Exception as error:
        if f"expert `{name}`" not in str(error):
            error.add_note(f"This happened in expert `{name}`.")
        raise
