"""Experts trained where their rows are: one exact GP per partition."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from .chunks import executor_for, pieces, placed
from .executors import executor_of, submit
from .expert import PartitionExpert, results
from .gp import GP
from .partitions import Known, train

__all__ = ["PartitionExpert", "fit_experts"]


def fit_experts(
    partitions: Any,
    *,
    executor: Any = None,
    kernel: str = "rbf",
    objective: str = "map",
    mean: float | None = None,
    starts: int = 20,
    steps: int = 200,
    random_state: Any = None,
    threads: int = 1,
) -> list[PartitionExpert]:
    """Train one exact GP per partition, where the partition is.

    Hyperparameters come back, and later predictions; the rows stay. Each expert has the bits of
    ``gf.GP(..., random_state=seed).fit(X, y)`` on its rows, whatever the executor.

    Parameters
    ----------
    partitions : sequence, or pair of Dask arrays
        Each element is a pair (X, y); a function without arguments that returns one, called where
        the job runs; a Dask delayed or Dask future of one; or any future that the executor
        resolves. A pair of Dask arrays, X with one chunk of columns, is one partition per chunk.
    executor : concurrent.futures.Executor or Dask client, optional
        Where to work; here and now if not given. Futures of a Dask cluster are worked on there.
    kernel, objective, mean, starts, steps, random_state
        As in `GP`; all experts have the same seed.
    threads : int
        Threads of each job; on executors, jobs are what fills the cores.

    Returns
    -------
    list of PartitionExpert
        In the order of the partitions: the `estimators` of `BHS` and `PBHS`.
    """
    gp = GP(
        kernel,
        objective=objective,
        mean=mean,
        starts=starts,
        steps=steps,
        random_state=random_state,
        threads=threads,
    )
    settings = gp._settings()
    sources = pieces(partitions)
    where = executor_for(executor_of(executor), sources)
    given = placed(where, sources)
    tokens = [uuid.uuid4().hex for _ in given]
    known = results(
        range(len(given)), lambda i: submit(where, train, given[i], tokens[i], settings)
    )
    agree(known)
    return [
        PartitionExpert._of(i, where, source, partition, token, found)
        for i, (source, partition, token, found) in enumerate(
            zip(sources, given, tokens, known, strict=True)
        )
    ]


def agree(known: Sequence[Known]) -> None:
    """All partitions have the same inputs."""
    first = known[0]
    for i, other in enumerate(known):
        if other.inputs != first.inputs:
            raise ValueError(
                f"partition {i}: has {other.inputs} inputs where partition 0 has {first.inputs}"
            )
        if other.names != first.names:
            raise ValueError(
                f"partition {i}: its inputs are {_names(other)} and those of partition 0 "
                f"{_names(first)}: give all of them the same columns"
            )


def _names(known: Known) -> str:
    return "without names" if known.names is None else ", ".join(known.names)
