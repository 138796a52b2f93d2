"""What is done where the rows of a partition are: find them, train a GP on them, ask it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, column_or_1d

from . import _gpfuse

_Array = NDArray[np.float64]


@dataclass(frozen=True)
class Trained:
    """What travels back from a partition: all that a GP is, but its rows."""

    kernel: str
    hyper: str
    log_marginal: float | None
    rows: int
    inputs: int
    names: tuple[str, ...] | None


def train(partition: Any, token: str, settings: str) -> Trained:
    """Find the hyperparameters of one partition."""
    x, y, names = rows_of(partition)
    gp = _gpfuse.Gp.fit(x, y, settings, exact=True)
    # Conditioning on these hyperparameters gives the same bits, so the GP can stay.
    _KEPT.keep(token, gp, len(y))
    return Trained(gp.kernel, gp.hyper, gp.log_marginal, len(y), x.shape[1], names)


def ask(
    partition: Any, token: str, kernel: str, hyper: str, x: _Array, noise: bool
) -> tuple[_Array, _Array]:
    """Means and standard deviations at `x`, given the rows of the partition."""

    def condition() -> tuple[_gpfuse.Gp, int]:
        own, y, _ = rows_of(partition)
        return _gpfuse.Gp.condition(kernel, hyper, own, y), len(y)

    return _KEPT.find(token, condition).predict(x, noise, 1)


def rows_of(partition: Any) -> tuple[_Array, _Array, tuple[str, ...] | None]:
    """The inputs and targets of a partition, checked, and the names of the inputs."""
    if isinstance(partition, Future):
        partition = partition.result()
    elif hasattr(partition, "__dask_graph__"):
        # In a pool that knows nothing of Dask, one core works on one partition.
        partition = partition.compute(scheduler="synchronous")
    elif callable(partition):
        partition = partition()
    if not isinstance(partition, tuple | list) or len(partition) != 2:
        kind = type(partition).__name__
        raise TypeError(f"expected a pair (X, y), found {kind}: give the rows and their targets")
    x, y = partition
    columns = tuple(getattr(x, "columns", ()))
    names = columns if columns and all(isinstance(name, str) for name in columns) else None
    x = check_array(x, dtype=np.float64, order="C", ensure_all_finite=False, input_name="X")
    y = column_or_1d(y, dtype=np.float64)
    if len(x) != len(y):
        raise ValueError(f"X has {len(x)} rows and y {len(y)}: give one target per row")
    return np.ascontiguousarray(x), np.ascontiguousarray(y), names


class _Kept:
    """GPs that were conditioned in this process, the most recently used ones.

    They may fill `room` bytes together; the last one stays, whatever its size.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._held: OrderedDict[str, tuple[_gpfuse.Gp, int]] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, token: str, gp: _gpfuse.Gp, rows: int) -> None:
        """Keep a GP, and let go of those that were not used for longest."""
        with self._lock:
            self._held[token] = (gp, 8 * rows**2)
            self._held.move_to_end(token)
            while len(self._held) > 1 and sum(size for _, size in self._held.values()) > self._room:
                self._held.popitem(last=False)

    def find(self, token: str, make: Callable[[], tuple[_gpfuse.Gp, int]]) -> _gpfuse.Gp:
        """The GP of this token, made if it is not kept."""
        with self._lock:
            found = self._held.get(token)
            if found is not None:
                self._held.move_to_end(token)
                return found[0]
        # Two threads may make the same one: that costs time, and nothing else.
        gp, rows = make()
        self.keep(token, gp, rows)
        return gp

    def __len__(self) -> int:
        return len(self._held)


_KEPT = _Kept(room=2**30)
