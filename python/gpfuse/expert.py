"""Experts whose rows stay where they are, and jobs that are done there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import validate_data

from .chunks import is_collection, is_dask_future
from .executors import Here, cancelling, client_of, first_failure, in_job, submit
from .normal import NormalPredictions
from .partitions import Known, Trained, ask, rows_of

_Array = NDArray[np.float64]


class Elsewhere(NormalPredictions, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted GP whose rows stay where they are."""

    kernel_: str
    n_rows_: int

    def _begin(self, kernel: str, hyper: str, known: Known) -> None:
        self.kernel_ = kernel
        self._hyper = hyper
        self.n_rows_ = known.rows
        self.n_features_in_ = known.inputs
        if known.names is not None:
            self.feature_names_in_ = np.array(known.names, dtype=object)

    @property
    def hyper_(self) -> dict[str, Any]:
        """The hyperparameters in the units of the data: mean, var, ell per input, noise."""
        found: dict[str, Any] = json.loads(self._hyper)
        return found

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Nothing: the expert is fitted."""
        return self

    def _plain(self, X: Any) -> _Array:
        """New rows as checked numbers."""
        X = validate_data(
            self, X, dtype=np.float64, order="C", ensure_all_finite=False, reset=False
        )
        return np.ascontiguousarray(X)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_clone__(self) -> Self:
        return self

    def _told(self, name: str, executor: Executor) -> str:
        hyper = self.hyper_
        ell = ", ".join(f"{ell:.3g}" for ell in hyper["ell"])
        where = "" if isinstance(executor, Here) else f", {type(executor).__name__}"
        return (
            f"<{type(self).__name__}{name}: {self.kernel_}, {self.n_rows_} rows, "
            f"ell=[{ell}], noise={hyper['noise']:.3g}{where}>"
        )


class PartitionExpert(Elsewhere):
    """An exact GP whose rows stay where they are; made by `fit_experts`.

    It is fitted: `fit` does nothing, and scikit-learn's `clone` gives back the same expert, as for
    a FrozenEstimator. Predictions send X to the partition. If the rows are in memory, or come from
    a function, the expert can be pickled; a copy has no executor and works where it is.

    Attributes
    ----------
    partition_ : int
        Its place in the partitions, from 0.
    kernel_ : str
    hyper_ : dict
        mean, var, ell per input, noise, in the units of the data.
    log_marginal_likelihood_ : float
    n_rows_, n_features_in_ : int
    feature_names_in_
        If the rows are in a data frame.
    """

    @classmethod
    def _of(
        cls, index: int, executor: Executor, source: Any, partition: Any, token: str, known: Trained
    ) -> Self:
        made = cls()
        made._begin(known.kernel, known.hyper, known)
        made.partition_ = index
        made.log_marginal_likelihood_ = known.log_marginal
        made._executor, made._source, made._partition = executor, source, partition
        made._token = token
        return made

    def submit(self, X: Any, *, noise: bool = True) -> Future[tuple[_Array, _Array]]:
        """Ask for means and standard deviations at `X`; the future's result is the pair."""
        job = (self._token, self.kernel_, self._hyper, self._plain(X), noise)
        return ask_there(self._executor, self._source, self._partition, ask, *job)

    def _moments(self, X: Any, noise: bool) -> tuple[_Array, _Array]:
        found: tuple[_Array, _Array] = result_of(self.partition_, self.submit(X, noise=noise))
        return found

    def gather(self) -> PartitionExpert:
        """A copy of this expert with its rows here, to be saved or used without the executor."""
        x, y, _ = result_of(self.partition_, submit(self._executor, rows_of, self._partition))
        found = PartitionExpert()
        found.__dict__ |= self.__dict__
        found._executor, found._source, found._partition = Here(), (x, y), (x, y)
        return found

    def __getstate__(self) -> dict[str, Any]:
        if on_cluster(self._executor, self._source):
            raise TypeError(
                f"partition {self.partition_}: its rows are on a Dask cluster, which does not "
                "pickle: use `expert.gather()`, which brings them here"
            )
        state: dict[str, Any] = dict(super().__getstate__())
        return state | {"_executor": Here(), "_partition": self._source}

    def __repr__(self, *_: Any) -> str:
        return self._told(f" {self.partition_}", self._executor)


def on_cluster(executor: Executor, source: Any) -> bool:
    """Whether a partition is only to be had on a Dask cluster."""
    dask = is_dask_future(source) or is_collection(source)
    return dask and client_of(executor) is not None


def ask_there(
    executor: Executor, source: Any, partition: Any, job: Callable[..., Any], *args: Any
) -> Future[Any]:
    """Submit a job for a partition; within another job, or of a pool that was shut down, here."""
    there = on_cluster(executor, source)
    if in_job() and not there:
        return Here().submit(job, source, *args)
    try:
        return submit(executor, job, partition, *args)
    except BrokenExecutor:
        raise
    except RuntimeError:
        # A pool that was shut down. What can be computed here is.
        if there:
            raise
        return Here().submit(job, source, *args)


def results(partitions: Iterable[int], begin: Callable[[int], Future[Any]]) -> list[Any]:
    """What the jobs of some partitions give; the first that fails is the error."""
    numbers, jobs = list(partitions), list[Future[Any]]()
    with cancelling(jobs):
        for i in numbers:
            try:
                jobs.append(begin(i))
            except (TypeError, ValueError) as error:
                raise named(i, error) from error
            if jobs[-1].done():
                result_of(i, jobs[-1])
        if (failed := first_failure(jobs)) is not None:
            result_of(numbers[failed], jobs[failed])
    return [job.result() for job in jobs]


def named(index: int, error: BaseException) -> Exception:
    """The same error with the partition's number."""
    kind = next((kind for kind in (ValueError, TypeError) if isinstance(error, kind)), RuntimeError)
    return kind(f"partition {index}: {error}")


def result_of(index: int, job: Future[Any]) -> Any:
    """What a job gives; its error names the partition."""
    try:
        return job.result()
    except CancelledError as error:
        raise RuntimeError(
            f"partition {index}: its job was cancelled. If a worker died that held the rows, give "
            "rows that can be made again (a Dask delayed or array), not scattered ones"
        ) from error
    except Exception as error:
        raise named(index, error) from error
