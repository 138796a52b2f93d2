"""Cross-validation: every fit of an estimator to a fold is a job of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor, Future, wait
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, indexable

from .copies import prepared
from .cross_validations import CrossValidations
from .engine import SEEDS, seed_of
from .errors import without_warnings
from .executors import as_job, cancelling, executor_of, place, submit
from .folds import CrossValidation, Fold
from .pipelines import evaluate, innermost, refuse_no_density
from .progress import bar, wanted
from .splits import splits

__all__ = ["CrossValidation", "CrossValidations", "Fold", "cross_validate", "cross_validate_all"]

_Rows = NDArray[np.int64]


def cross_validate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    executor: Any = None,
    random_state: Any = 0,
    progress: bool | None = None,
) -> CrossValidation:
    """Fit to all rows but those of a fold, score on that fold, for each fold.

    Parameters
    ----------
    estimator : any estimator of gpfuse, or a pipeline or a search around one
    cv : int, scikit-learn splitter, or iterable of (train, test)
        Folds: a number means shuffled ones.
    executor : concurrent.futures.Executor or Dask client, optional
        Where the jobs run; here and now if not given. On an executor an estimator or expert with
        `threads=None` uses one thread, so that jobs do not fight for cores.
    random_state : int, RandomState, Generator or None
        Shuffles the rows, and is the seed of estimators, and of experts in them, that have none.
    progress : bool, optional
        A bar on a terminal and in notebooks if not given.

    Raises
    ------
    ValueError
        If every fold failed, with the words of the first; some that failed are only noted.
    """
    found = cross_validate_all(
        {"": estimator},
        X,
        y,
        cv=cv,
        executor=executor,
        random_state=random_state,
        progress=progress,
    )
    result = found.results[""]
    if not result.done:
        raise ValueError(f"all {len(result.folds)} folds failed: {result.folds[0].error}")
    return result


def cross_validate_all(
    estimators: Mapping[str, Any] | Iterable[Any],
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    executor: Any = None,
    random_state: Any = 0,
    progress: bool | None = None,
) -> CrossValidations:
    """Cross-validate several estimators on the same folds, and compare them.

    A job that fails is in the table with its error; the others go on. Parameters are those of
    `cross_validate`, and

    Parameters
    ----------
    estimators : dict or list
        Estimators by name, or to be named after what they are.
    """
    named = _by_name(estimators)
    X, y = indexable(X, y)
    seed = seed_of(random_state)
    folds = splits(cv, X, y, seed)
    where = executor_of(executor)
    data = place(where, (X, y))
    jobs: list[Future[Fold]] = []
    shown = bar(len(named) * len(folds), "folds") if wanted(progress) else None
    try:
        with cancelling(jobs):
            for estimator in named.values():
                for i, (train, test) in enumerate(folds):
                    one = prepared(estimator, (seed + i) % SEEDS, alone=executor is None)
                    jobs.append(_submitted(where, data, one, train, test))
                    if shown is not None:
                        jobs[-1].add_done_callback(lambda _: shown.update())
            wait(jobs)
            done = iter([_outcome(job, *folds[i % len(folds)]) for i, job in enumerate(jobs)])
    finally:
        if shown is not None:
            shown.close()
    return CrossValidations({name: CrossValidation([next(done) for _ in folds]) for name in named})


def _job(data: tuple[Any, Any], estimator: Any, train: _Rows, test: _Rows) -> Fold:
    X, y = data
    begin = perf_counter()
    scores, converged, words = None, None, None
    try:
        with without_warnings(), as_job():
            estimator.fit(_safe_indexing(X, train), _safe_indexing(y, train))
            scores = evaluate(estimator, _safe_indexing(X, test), _safe_indexing(y, test))
        converged = getattr(innermost(estimator), "converged_", None)
    except Exception as error:
        words = _words(error)
    return Fold(scores, converged, perf_counter() - begin, len(train), len(test), words)


def _submitted(
    where: Executor, data: Any, estimator: Any, train: _Rows, test: _Rows
) -> Future[Fold]:
    try:
        return submit(where, _job, data, estimator, train, test)
    # The pool broke, or the job does not travel: one more that failed.
    except Exception as error:
        future: Future[Fold] = Future()
        future.set_exception(_root(error))
        return future


def _root(error: BaseException) -> BaseException:
    """The error that began it: Dask wraps what does not pickle in words of its own."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return error


def _outcome(job: Future[Fold], train: _Rows, test: _Rows) -> Fold:
    try:
        return job.result()
    except Exception as error:
        return Fold(None, None, 0.0, len(train), len(test), _words(error))


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _by_name(estimators: Mapping[str, Any] | Iterable[Any]) -> dict[str, Any]:
    if isinstance(estimators, Mapping):
        named = {str(name): estimator for name, estimator in estimators.items()}
    else:
        named = {}
        for estimator in estimators:
            words = " ".join(repr(estimator).split())
            name = words if len(words) <= 40 else type(estimator).__name__
            alike = sum(other.split(" #")[0] == name for other in named)
            named[f"{name} #{alike + 1}" if alike else name] = estimator
    if not named:
        raise ValueError("estimators: there are none: give at least one")
    for name, estimator in named.items():
        refuse_no_density(estimator, f"estimator {name}" if name else "estimator")
    return named
