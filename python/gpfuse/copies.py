"""Copies of estimators for jobs: seeded, without bars, with the threads that are theirs."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone


def prepared(estimator: Any, seed: int, alone: bool) -> Any:
    """A copy for one job: seeded, without bars of its own, and on executors with one thread."""
    copy = clone(estimator)
    _fill(copy, {"random_state": seed, "progress": False} | ({} if alone else {"threads": 1}))
    return copy


def _fill(copy: Any, instead: dict[str, Any]) -> None:
    """Set parameters that are None, also those of experts in lists, which have no names there."""
    own = copy.get_params(deep=True)
    open_ones = {name: name.rsplit("__", 1)[-1] for name, value in own.items() if value is None}
    # Who says `n_jobs` has said how many threads.
    named = [name.removesuffix("n_jobs") + "threads" for name in own if name.endswith("n_jobs")]
    for name in named:
        if own[name.removesuffix("threads") + "n_jobs"] is not None:
            open_ones.pop(name, None)
    copy.set_params(**{name: instead[last] for name, last in open_ones.items() if last in instead})
    lists = [value for value in own.values() if isinstance(value, list | tuple)]
    for entry in (entry for values in lists for entry in values):
        expert = entry[-1] if isinstance(entry, tuple) and entry else entry
        # What is frozen is not a copy but the caller's own: cloning gives back the same.
        settable = hasattr(expert, "get_params") and not isinstance(expert, type)
        if settable and clone(expert, safe=False) is not expert:
            _fill(expert, instead)
