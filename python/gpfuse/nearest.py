"""GPs that predict each row from its nearest training rows, which stay in their partitions."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _gpfuse
from .chunks import executor_for, pieces, placed
from .engine import seed_of, threads_of
from .executors import Here, executor_of
from .expert import Elsewhere, ask_there, on_cluster, results
from .experts import agree
from .gp import GP
from .partitions import look, of_part

__all__ = ["NearestExpert", "fit_nearest"]

KERNELS = ("rbf", "matern12", "matern32", "matern52")
"""Those of the experts that `BHS` and `PBHS` train on many rows."""

_Array = NDArray[np.float64]
_Numbers = NDArray[np.uint32]

_TOGETHER = 1024
"""Rows that are asked about at once: what their neighbours fill is bounded."""


def fit_nearest(
    partitions: Any,
    *,
    executor: Any = None,
    kernels: Sequence[str] = KERNELS,
    random_state: Any = None,
    threads: int | None = None,
) -> list[NearestExpert]:
    """Train GPs on nearest rows, one for each kernel, on the rows of all partitions together.

    The rows stay. Each partition finds its nearest rows to those that are asked about; the nearest
    of all come here, and are all that is needed. Each expert has the bits of
    ``gf.GP(kernel, random_state=seed).fit(X, y)`` on all rows with more than 3,000 of them, in the
    order of the partitions, whatever the executor.

    Parameters
    ----------
    partitions, executor
        As in `fit_experts`.
    kernels : sequence of str
        As in `GP`.
    random_state : int, RandomState, Generator or None
        All experts have the same seed.
    threads : int, optional
        Threads here; all cores if not given. The jobs of the partitions have one each.

    Returns
    -------
    list of NearestExpert
        In the order of the kernels: `estimators` of `BHS` and `PBHS`.
    """
    kernels = [kernels] if isinstance(kernels, str) else list(kernels)
    seed, threads = seed_of(random_state), threads_of(threads)
    rows = _Rows(partitions, executor)
    first = rows.some(np.array(_gpfuse.Ascent.first_rows(rows.count, seed), dtype=np.uint32))
    return [NearestExpert._fitted(rows, kernel, seed, threads, first) for kernel in kernels]


class NearestExpert(Elsewhere):
    """A GP on nearest rows that stay where they are; made by `fit_nearest`.

    It is fitted: `fit` does nothing, and scikit-learn's `clone` gives back the same expert, as for
    a FrozenEstimator. As one of the `estimators` of `BHS` and `PBHS` it says of the rows of their
    fit what it says without them (`left_out`), so these may be its own.

    Attributes
    ----------
    kernel_ : str
    hyper_ : dict
        mean, var, ell per input, noise, in the units of the data.
    neighbours_ : int
        How many of the nearest rows predict one.
    n_rows_, n_features_in_ : int
    feature_names_in_
        If the rows are in data frames.
    """

    @classmethod
    def _fitted(
        cls, rows: _Rows, kernel: str, seed: int, threads: int, first: tuple[_Array, _Array]
    ) -> Self:
        settings = GP(kernel, random_state=seed, threads=threads)._settings()
        means, squares = rows.moments
        ascent = _gpfuse.Ascent(rows.count, first, means, squares, settings)
        while (most := ascent.neighbours) is not None:
            ascent = ascent.climbed(rows.without(ascent.rows, kernel, ascent.hyper, most))
        hyper = ascent.hyper
        judged, most = _gpfuse.Ascent.judged_rows(rows.count)
        around = rows.without(judged, kernel, hyper, most)
        made = cls()
        made._begin(kernel, hyper, rows.known)
        made.n_rows_ = rows.count
        made.neighbours_ = around.enough(kernel, hyper, rows.count, threads)
        made._rows, made._seed, made._threads = rows, seed, threads
        return made

    def _moments(self, X: Any, noise: bool) -> tuple[_Array, _Array]:
        return self._each(self._plain(X), None, noise)

    def left_out(self, X: Any, y: ArrayLike) -> tuple[_Array, _Array]:
        """What it says of rows without them: means and standard deviations of observations.

        A row that is one of its own, with this target, is left out of its neighbours, its copies
        with it. Of other rows it says what `predict` says.
        """
        rows, targets = self._plain(X), np.ascontiguousarray(y, dtype=np.float64)
        if targets.shape != (len(rows),):
            raise ValueError(f"y: found shape {targets.shape}: expected {(len(rows),)}")
        return self._each(rows, targets, True)

    def sample(self, rows: int = 4000) -> tuple[_Array, _Array]:
        """Some of its rows with their targets, the same for all experts of one fit."""
        count = self._rows.count
        if not 0 < rows <= count:
            raise ValueError(f"rows: {rows} of {count} rows: use a number from 1 to {count}")
        numbers = np.random.default_rng(self._seed).choice(count, rows, replace=False)
        found: tuple[_Array, _Array] = self._rows.some(np.sort(numbers).astype(np.uint32))
        return found

    def _each(self, x: _Array, y: _Array | None, noise: bool) -> tuple[_Array, _Array]:
        if len(holes := np.argwhere(~np.isfinite(x))):
            row, i = holes[0]
            raise ValueError(f"row {row + 1}, input {i + 1} is {x[row, i]}: drop the row")
        said = [np.empty((2, 0))]
        for first in range(0, len(x), _TOGETHER):
            part = slice(first, first + _TOGETHER)
            own = None if y is None else _Own(None, y[part])
            around = self._rows.around(x[part], self.kernel_, self._hyper, self.neighbours_, own)
            said.append(np.stack(around.predict(self.kernel_, self._hyper, noise, self._threads)))
        mean, std = np.concatenate(said, axis=1)
        return mean, std

    def __repr__(self, *_: Any) -> str:
        return self._told("", self._rows.executor)


class _Own(NamedTuple):
    """Rows that are asked about without themselves."""

    numbers: list[int] | None
    """Which these are among all; if not known, they are found."""
    y: _Array


class _Rows:
    """The rows of all partitions, numbered through from 0."""

    def __init__(self, partitions: Any, executor: Any) -> None:
        self.sources = pieces(partitions)
        self.executor = executor_for(executor_of(executor), self.sources)
        self._given = placed(self.executor, self.sources)
        self._tokens = [uuid.uuid4().hex for _ in self._given]
        looked = results(range(len(self._given)), lambda i: self._submit(i, look))
        known = [each for each, _ in looked]
        agree(known)
        self.known = known[0]
        self._ends = np.cumsum([each.rows for each in known])
        self.count = int(self._ends[-1])
        if self.count >= 2**32:
            raise ValueError(f"partitions: {self.count} rows together are too many: use less")
        self._look_for_copies(*map(np.concatenate, zip(*(p for _, p in looked), strict=True)))
        self.moments = self._moments()

    def _submit(self, i: int, job: Any, *args: Any) -> Future[Any]:
        source, partition = self.sources[i], self._given[i]
        return ask_there(self.executor, source, partition, job, self._tokens[i], *args)

    def _ask(self, what: tuple[Any, ...], i: int) -> Future[Any]:
        return self._submit(i, of_part, *what)

    def _parts(self) -> Iterator[tuple[int, int, int]]:
        """Each partition, its first row and its end."""
        ends = self._ends.tolist()
        return zip(range(len(ends)), [0, *ends], ends, strict=False)

    def _look_for_copies(self, of_inputs: Any, of_rows: Any) -> None:
        """Whether rows with the same inputs are copies, and of which there are how many."""
        self._copies = _gpfuse.are_copies(of_inputs, of_rows)
        prints, counts = np.unique(of_inputs if self._copies else of_inputs[:0], return_counts=True)
        self._prints, self._counts = prints[counts > 1], counts[counts > 1]

    def _moments(self) -> tuple[list[float], list[float]]:
        """The mean of each input and of the target, and the mean squares around these.

        One partition goes on with the sum of the one before: so the bits are those of one table.
        """

        def sums(*around: list[float]) -> list[float]:
            found = [0.0] * (self.known.inputs + 1)
            for i in range(len(self._given)):
                (found,) = results([i], partial(self._ask, ("means", found, self.count, *around)))
            return found

        means = sums()
        return means, sums(means)

    def some(self, numbers: _Numbers) -> tuple[_Array, _Array]:
        """The inputs and targets of the rows with these numbers."""
        where = np.searchsorted(self._ends, numbers, side="right")
        places = {i: np.flatnonzero(where == i) for i in np.unique(where).tolist()}
        starts = {i: start for i, start, _ in self._parts()}

        def begin(i: int) -> Future[Any]:
            own = numbers[places[i]] - np.uint32(starts[i])
            return self._ask(("rows", own), i)

        x, y = np.empty((len(numbers), self.known.inputs)), np.empty(len(numbers))
        for i, (own_x, own_y) in zip(places, results(places, begin), strict=True):
            x[places[i]], y[places[i]] = own_x, own_y
        return x, y

    def without(
        self, numbers: list[int], kernel: str, hyper: str, most: int
    ) -> _gpfuse.Neighbourhoods:
        """Some of the rows, and of each so many of the nearest others, without its copies."""
        x, y = self.some(np.array(numbers, dtype=np.uint32))
        return self.around(x, kernel, hyper, most, _Own(numbers, y))

    def around(
        self, x: _Array, kernel: str, hyper: str, most: int, own: _Own | None
    ) -> _gpfuse.Neighbourhoods:
        """The rows `x`, and of each so many of the nearest ones of all partitions."""
        counts = np.full(len(x), most) if own is None else most + self._same(x)
        asked = ("nearest", kernel, json.loads(hyper)["ell"], x, counts.tolist())
        merged = _gpfuse.Merged(counts.tolist())
        found = results(range(len(self._given)), partial(self._ask, asked))
        for (_, start, end), each in zip(self._parts(), found, strict=True):
            merged.add(each, end - start, start)
        left_out = None if own is None else (*own, self._copies)
        return merged.gathered(self.some(merged.rows()), x, most, left_out)

    def _same(self, x: _Array) -> NDArray[np.intp]:
        """How many rows there are of each, copies included, if it is one of them."""
        if not len(self._prints):
            return np.ones(len(x), dtype=np.intp)
        prints = _gpfuse.prints(x)
        at = np.searchsorted(self._prints, prints).clip(max=len(self._prints) - 1)
        return np.where(self._prints[at] == prints, self._counts[at], 1)

    def __getstate__(self) -> dict[str, Any]:
        if any(on_cluster(self.executor, source) for source in self.sources):
            raise TypeError(
                "the rows of this expert are on a Dask cluster, which does not pickle: keep what "
                "the expert predicts"
            )
        return self.__dict__ | {"executor": Here(), "_given": self.sources}
