"""Dask's ways to hold rows, made into partitions that stay on the cluster."""

from __future__ import annotations

import sys
from concurrent.futures import Executor
from copy import deepcopy
from importlib import import_module
from typing import Any

import numpy as np

from .executors import Here, client_of, place


def pieces(partitions: Any) -> list[Any]:
    """One partition per element, or per chunk of rows of two Dask arrays."""
    if isinstance(partitions, tuple) and len(partitions) == 2:
        x, y = partitions
        if _is_array(x) and _is_array(y):
            return _by_chunk(x, y)
    found = [_joined(partition) for partition in partitions]
    if not found:
        raise ValueError("partitions: there are none: give at least one pair (X, y)")
    return found


def executor_for(executor: Executor, partitions: list[Any]) -> Executor:
    """The executor to use: rows that are on a cluster already are worked on there."""
    future = next((piece for piece in partitions if is_dask_future(piece)), None)
    if future is None or client_of(executor) is not None:
        return executor
    if isinstance(executor, Here):
        found: Executor = future.client.get_executor()
        return found
    raise TypeError(
        "partitions: Dask futures can only be used on their cluster: give executor=None or "
        "executor=client.get_executor()"
    )


def placed(executor: Executor, partitions: list[Any]) -> list[Any]:
    """What jobs are given for each partition; on Dask a future of its rows.

    Every future is the result of tasks that the scheduler knows, so if its worker dies Dask
    computes it again.
    """
    client = client_of(executor)
    if client is None:
        return [_culled(piece) for piece in partitions]

    def on_cluster(piece: Any) -> Any:
        if is_dask_future(piece):
            return piece
        if is_collection(piece):
            return client.compute(piece)
        return client.submit(piece, pure=False) if callable(piece) else place(executor, piece)

    return [on_cluster(piece) for piece in partitions]


def is_collection(value: Any) -> bool:
    """Whether it is a Dask array, delayed value or the like."""
    return hasattr(value, "__dask_graph__") and value.__dask_graph__() is not None


def is_dask_future(value: Any) -> bool:
    """Whether it is a future of a Dask cluster; Dask is not imported for that."""
    module = sys.modules.get("distributed")
    return module is not None and isinstance(value, module.Future)


def _is_array(value: Any) -> bool:
    return is_collection(value) and hasattr(value, "chunks")


def _by_chunk(x: Any, y: Any) -> list[Any]:
    if x.ndim != 2:
        raise ValueError(f"partitions: X has {x.ndim} dimensions: give rows and columns")
    if y.ndim != 1:
        raise ValueError(f"partitions: y has {y.ndim} dimensions: give one target per row")
    if x.numblocks[1] != 1:
        raise ValueError(
            f"partitions: the columns of X are in {x.numblocks[1]} chunks: use "
            "X.rechunk({1: -1}), so that a chunk has all inputs of its rows"
        )
    rows, targets = x.chunks[0], y.chunks[0]
    # Sizes can be unknown, which is NaN; then the jobs compare them.
    if len(rows) != len(targets) or any(
        a == a and b == b and a != b for a, b in zip(rows, targets, strict=True)
    ):
        raise ValueError(
            f"partitions: the chunks of X have {_some(rows)} rows and those of y {_some(targets)}: "
            "use y.rechunk(X.chunks[0])"
        )
    return [_joined((x.blocks[i, 0], y.blocks[i])) for i in range(len(rows))]


def _joined(partition: Any) -> Any:
    """A pair of Dask collections as one of a pair; a pair in memory copied; all else as it is."""
    if not isinstance(partition, tuple | list):
        return partition
    if any(map(is_collection, partition)):
        return _dask().delayed(_tuple)(*partition)
    return tuple(map(_copied, partition))


def _copied(values: Any) -> Any:
    """Rows that do not change with the caller's; those of a mapped file stay where they are."""
    if isinstance(values, np.memmap):
        return values
    known = isinstance(values, np.ndarray | list | tuple) or hasattr(values, "__dataframe__")
    return deepcopy(values) if known or hasattr(values, "iloc") else values


def _culled(piece: Any) -> Any:
    """Without those parts of a graph that make other partitions."""
    if not is_collection(piece):
        return piece
    return _dask().optimize(piece)[0]


def _dask() -> Any:
    return import_module("dask")


def _tuple(*values: Any) -> tuple[Any, ...]:
    return values


def _some(sizes: tuple[Any, ...]) -> str:
    return f"{', '.join(map(str, sizes[:4]))}{', ...' if len(sizes) > 4 else ''}"
