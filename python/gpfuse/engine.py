"""What the engine is told in its own words: seeds, threads, settings."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

SEEDS = 2**64
"""Seeds of the engine are smaller."""


def seed_of(random_state: Any) -> int:
    """A seed of the engine: a whole number as it is, else one drawn from the generator."""
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ValueError(f"random_state: {random_state} is negative: use 0 or more")
        if random_state >= SEEDS:
            raise ValueError(f"random_state: {random_state} is too large: use less than 2**64")
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    return int(check_random_state(random_state).randint(2**31 - 1))


def threads_of(threads: int | None, n_jobs: int | None = None) -> int:
    """As many as asked for by either name, else one for each core that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    if threads is not None and n_jobs is not None:
        raise ValueError("threads, n_jobs: two names for one number: give one of them")
    name, asked = ("threads", threads) if n_jobs is None else ("n_jobs", n_jobs)
    if asked is None:
        return cores
    least = 1 if name == "threads" else -cores
    if isinstance(asked, bool) or not isinstance(asked, Integral) or asked < least or asked == 0:
        use = "1 or more, or None" if name == "threads" else "1 or more, -1 for all cores, or None"
        raise ValueError(f"{name}: {asked!r} is no number of threads: use {use}")
    return int(asked) if asked > 0 else cores + 1 + int(asked)


def to_json(settings: dict[str, Any]) -> str:
    """Settings as the engine reads them."""

    def plain(value: Any) -> Any:
        if isinstance(value, np.generic | np.ndarray):
            return value.tolist()
        raise TypeError(f"settings: {value!r} is of type {type(value).__name__}: use a number")

    try:
        return json.dumps(settings, default=plain, allow_nan=False)
    except ValueError:
        name, value = next(_not_finite(settings), ("settings", "a value"))
        raise ValueError(f"{name}: {value} is no finite number: use one") from None


def _not_finite(value: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """Numbers that are not finite, each with the name of its setting."""
    if isinstance(value, dict):
        for key, own in value.items():
            yield from _not_finite(own, f"{name}.{key}".lstrip("."))
    elif isinstance(value, list | tuple | np.ndarray):
        for own in np.ravel(np.asarray(value, dtype=object)):
            yield from _not_finite(own, name)
    elif isinstance(value, float | np.floating) and not math.isfinite(value):
        yield name, float(value)


def omega_of(omega: ArrayLike, inputs: int) -> list[float]:
    """Base frequencies row by row, each with a number for each input."""
    given = np.asarray(omega, dtype=float)
    rows = given[:, None] if given.ndim == 1 and inputs == 1 else given
    if rows.ndim != 2 or rows.shape[1] != inputs:
        raise ValueError(
            f"omega: expected shape (frequencies, {inputs}), one column for each input, found "
            f"{given.shape}"
        )
    found: list[float] = rows.ravel().tolist()
    return found
