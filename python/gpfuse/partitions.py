"""What is done where the rows of a partition are: find them, train a GP on them, ask it or them."""

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
_Prints = NDArray[np.uint64]


@dataclass(frozen=True)
class Known:
    """What a partition is like."""

    rows: int
    inputs: int
    names: tuple[str, ...] | None


@dataclass(frozen=True)
class Trained(Known):
    """What travels back from a partition: all that a GP is, but its rows."""

    kernel: str
    hyper: str
    log_marginal: float | None


def train(partition: Any, token: str, settings: str) -> Trained:
    """Find the hyperparameters of one partition."""
    x, y, names = rows_of(partition)
    gp = _gpfuse.Gp.fit(x, y, settings, exact=True)
    # Conditioning on these hyperparameters gives the same bits, so the GP can stay.
    _KEPT.keep(token, gp, 8 * len(y) ** 2)
    return Trained(len(y), x.shape[1], names, gp.kernel, gp.hyper, gp.log_marginal)


def ask(
    partition: Any, token: str, kernel: str, hyper: str, x: _Array, noise: bool
) -> tuple[_Array, _Array]:
    """Means and standard deviations at `x`, given the rows of the partition."""

    def condition() -> tuple[_gpfuse.Gp, int]:
        own, y, _ = rows_of(partition)
        return _gpfuse.Gp.condition(kernel, hyper, own, y), 8 * len(y) ** 2

    found: tuple[_Array, _Array] = _KEPT.find(token, condition).predict(x, noise, 1)
    return found


def look(partition: Any, token: str) -> tuple[Known, tuple[_Prints, _Prints]]:
    """What a partition is like, and what tells copies of its rows."""
    x, y, names = rows_of(partition)
    part, size = _part(x, y)
    _KEPT.keep(token, part, size)
    return Known(len(y), x.shape[1], names), part.prints()


def of_part(partition: Any, token: str, what: str, *args: Any) -> Any:
    """What the part of a table that a partition is gives: `what` is a method of it."""
    return getattr(_KEPT.find(token, lambda: _part(*rows_of(partition)[:2])), what)(*args)


def _part(x: _Array, y: _Array) -> tuple[_gpfuse.Part, int]:
    """The part, and what it may fill: its numbers, and an index half as large for each kernel."""
    return _gpfuse.Part(x, y), 3 * (x.nbytes + y.nbytes)


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
    """GPs and parts of tables that were made in this process, the most recently used ones.

    They may fill `room` bytes together; the last one stays, whatever its size.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._held: OrderedDict[str, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, token: str, made: Any, size: int) -> None:
        """Keep what has this size, and let go of what was not used for longest."""
        with self._lock:
            self._held[token] = (made, size)
            self._held.move_to_end(token)
            while len(self._held) > 1 and sum(size for _, size in self._held.values()) > self._room:
                self._held.popitem(last=False)

    def find(self, token: str, make: Callable[[], tuple[Any, int]]) -> Any:
        """What this token stands for, made if it is not kept."""
        with self._lock:
            found = self._held.get(token)
            if found is not None:
                self._held.move_to_end(token)
                return found[0]
        # Two threads may make the same one: that costs time, and nothing else.
        made, size = make()
        self.keep(token, made, size)
        return made

    def __len__(self) -> int:
        return len(self._held)


_KEPT = _Kept(room=2**30)
