"""What the engine is told in its own words: seeds, threads, settings."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
from sklearn.utils import check_random_state


def seed_of(random_state: Any) -> int:
    """A seed of the engine: a whole number as it is, else one drawn from the generator."""
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ValueError(f"random_state: {random_state} is negative: use 0 or more")
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    return int(check_random_state(random_state).randint(2**31 - 1))


def threads_of(asked: int | None) -> int:
    """As many as asked for, else one for each core that this process may use."""
    if asked is not None:
        return int(asked)
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def to_json(settings: dict[str, Any]) -> str:
    """Settings as the engine reads them."""

    def plain(value: Any) -> Any:
        if isinstance(value, np.generic | np.ndarray):
            return value.tolist()
        raise TypeError(f"settings: {value!r} is of type {type(value).__name__}: use a number")

    return json.dumps(settings, default=plain)
