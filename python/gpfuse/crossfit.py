"""Experts that are fitted here, and what they say about rows that did not train them."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _gpfuse
from .adapters import Experts, at_fit, blame, is_ready, part
from .asking import MOMENTS, Way, ask, told
from .copies import prepared
from .errors import without_warnings
from .executors import as_job, cancelling, executor_of, first_failure, place, submit
from .gp import GP
from .joint import Joint
from .splits import USUAL, Split, left_out_once, refuse_no_splits, splits, together

_Array = NDArray[np.float64]
_Rows = NDArray[np.intp]


class Table(NamedTuple):
    """The rows of a fit."""

    X: Any
    """As experts see them."""
    rows: _Array
    """The same as checked numbers."""
    y: Any
    groups: Any = None
    """Rows of the same group are left out together."""
    way: Way = MOMENTS
    """In what way experts speak."""
    codes: NDArray[np.int64] | None = None
    """Where `y` is a class, its number."""


class CrossFitted(NamedTuple):
    """Experts that know all rows, and what they would say without them."""

    experts: Experts
    own: _Rows
    """The numbers of the rows that they speak of, from 0."""
    said: Any
    doubts: list[str]
    """Where that is not to be trusted, in words."""


def cross_fit(experts: Experts, table: Table, cv: Any, seed: int, executor: Any) -> CrossFitted:
    """Fit copies of the experts that are not fitted to all rows.

    About each row an expert says what it would say had it never seen this row. With `cv` as None,
    exact GPs and sampled models of gpfuse tell from the fit to all rows. All others are fitted
    again for each fold. Experts that are fitted already say what they say.
    """
    labels = _labels(table)
    apart = len(set(labels)) == len(labels)
    fresh = [(name, expert) for name, expert in experts if not is_ready(expert)]
    direct = {name for name, expert in fresh if cv is None and _tells(expert, apart)}
    folds = _folds(table, labels, cv, seed) if len(direct) < len(fresh) else []
    own = left_out_once(folds, len(table.y)) if folds else np.arange(len(table.y))
    jobs = _Jobs(executor, table, seed)
    with cancelling(jobs.all):
        for name, expert in fresh:
            if name in direct:
                jobs.add(name, expert, _fit_and_leave_out, None if apart else labels)
                continue
            for fold in folds:
                jobs.add(name, expert, _tell, name, fold)
            jobs.add(name, expert, _fit, None)
        fitted, said = _ready(experts, table, own)
        done = jobs.results()
    doubts = []
    for name, _ in fresh:
        *each, last = done[name]
        if name in direct:
            fitted[name], *pair, doubt = last
            said[name] = np.stack(pair)
            doubts += [] if doubt is None else [f"expert `{name}`: {doubt}"]
        else:
            fitted[name], said[name] = last, _joined(each, folds, own)
    return _in_order(table.way, experts, fitted, said, own, doubts)


def fit_apart(
    experts: Experts, table: Table, split: Split, seed: int, executor: Any
) -> CrossFitted:
    """Fit copies of the experts that are not fitted to one part, and ask all about the other."""
    jobs = _Jobs(executor, table, seed)
    with cancelling(jobs.all):
        for name, expert in experts:
            if not is_ready(expert):
                jobs.add(name, expert, _fit_and_tell, name, split)
        fitted, said = _ready(experts, table, split.test)
        for name, found in jobs.results().items():
            ((fitted[name], said[name]),) = found
    return _in_order(table.way, experts, fitted, said, split.test, [])


def _ready(experts: Experts, table: Table, own: _Rows) -> tuple[dict[str, Any], dict[str, _Array]]:
    """The experts that are fitted already, and what they say about the rows `own`."""
    ready = [(name, expert) for name, expert in experts if is_ready(expert)]
    if not ready:
        return {}, {}
    speaking = at_fit(ready, part(table.y, own))
    said = ask(speaking, part(table.X, own), len(own), own.tolist(), table.way)
    return dict(ready), dict(zip(said.names, said.columns(), strict=True))


def _in_order(
    way: Way,
    experts: Experts,
    fitted: dict[str, Any],
    said: dict[str, _Array],
    own: _Rows,
    doubts: list[str],
) -> CrossFitted:
    names = [name for name, _ in experts]
    checked = way.said(names, [said[name] for name in names]).checked(own.tolist())
    return CrossFitted([(name, fitted[name]) for name in names], own, checked, doubts)


def _tells(expert: Any, apart: bool) -> bool:
    """Whether it can tell from one fit what it would say about rows without them.

    A sampled model leaves out row by row, and needs draws for it.
    """
    sampled = isinstance(expert, Joint) and expert.sampler != "map"
    return isinstance(expert, GP) or (sampled and apart)


def _labels(table: Table) -> list[int]:
    """A number for each row, the same for rows to be left out together: groups, else copies."""
    if table.groups is None:
        target = table.y if table.codes is None else table.codes.astype(np.float64)
        return _gpfuse.twins(table.rows, target)
    groups = np.asarray(table.groups)
    if groups.shape != table.y.shape:
        raise ValueError(f"groups: found shape {groups.shape}: expected {table.y.shape}")
    found: list[int] = np.unique(groups, return_inverse=True)[1].tolist()
    return found


def _folds(table: Table, labels: list[int], cv: Any, seed: int) -> list[Split]:
    if cv is None:
        cv = max(2, min(USUAL, len(set(labels))))
    refuse_no_splits(cv)
    if isinstance(cv, int | np.integer):
        return together(labels, int(cv), seed, table.codes)
    return splits(cv, table.X, table.y, seed, table.groups)


def _joined(each: list[_Array], folds: list[Split], own: _Rows) -> _Array:
    """What was said fold by fold, in the order of the rows `own`."""
    found = np.empty((len(each[0]), len(own)))
    for columns, (_, test) in zip(each, folds, strict=True):
        found[:, np.searchsorted(own, test)] = columns
    return found


# ---- jobs, which may run elsewhere

_Data = tuple[Any, Any, Way]


def _fit(data: _Data, expert: Any, rows: _Rows | None) -> Any:
    X, y, _ = data
    with as_job():
        return expert.fit(X, y) if rows is None else expert.fit(part(X, rows), y[rows])


def _fit_and_tell(data: _Data, expert: Any, name: str, split: Split) -> tuple[Any, _Array]:
    fitted = _fit(data, expert, split.train)
    X, _, way = data
    with as_job():
        return fitted, told(name, fitted, part(X, split.test), len(split.test), way)


def _tell(data: _Data, expert: Any, name: str, fold: Split) -> _Array:
    # Chains are judged where all rows are fitted to.
    with without_warnings():
        return _fit_and_tell(data, expert, name, fold)[1]


def _fit_and_leave_out(
    data: _Data, expert: Any, labels: list[int] | None
) -> tuple[Any, _Array, _Array, str | None]:
    fitted = _fit(data, expert, None)
    return fitted, *fitted._left_out(labels)


class _Jobs:
    """Fits of experts on an executor, by the name of the expert."""

    def __init__(self, executor: Any, table: Table, seed: int) -> None:
        self._where: Executor = executor_of(executor)
        self._here = executor is None
        self._data = place(self._where, (table.X, table.y, table.way))
        # Estimators of scikit-learn take no larger seeds.
        self._seed = seed % 2**32
        self._names: list[str] = []
        self.all: list[Future[Any]] = []

    def add(self, name: str, expert: Any, job: Any, *args: Any) -> None:
        """Submit a job with a copy of the expert."""
        with blame(name):
            copy = prepared(expert, self._seed, alone=self._here)
            self.all.append(submit(self._where, job, self._data, copy, *args))
            self._names.append(name)
            if self.all[-1].done():
                self.all[-1].result()

    def results(self) -> dict[str, list[Any]]:
        """What the jobs of each expert gave, in their order."""
        if (failed := first_failure(self.all)) is not None:
            with blame(self._names[failed]):
                self.all[failed].result()
        found: dict[str, list[Any]] = {}
        for name, job in zip(self._names, self.all, strict=True):
            found.setdefault(name, []).append(job.result())
        return found
