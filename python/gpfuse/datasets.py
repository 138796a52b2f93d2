"""The paper's synthetic data: a mixture of GP experts with GP gates and GP noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _gpfuse
from .engine import seed_of, to_json

_Array = NDArray[np.float64]


@dataclass(frozen=True)
class Simulated:
    """A simulated data set and the truth behind it."""

    X: _Array
    y: _Array
    component: NDArray[np.int64]
    """The expert that each row came from."""
    mean: _Array
    """The experts' means, (n, experts)."""
    log_std: _Array
    """The experts' log standard deviations."""
    weight: _Array
    """The experts' weights."""
    log_density: _Array
    """The log density of each row's y under the mixture that made it."""


def simulate(n: int = 1000, *, random_state: Any = 0, **settings: object) -> Simulated:
    """Draw a data set. `gpfuse simulate` with the same seed draws the same.

    Settings beside `n`, with the paper's values as defaults: `experts` (3), `inputs` (1), `low`
    (-5), `high` (5), `mean_lengthscale` (0.2), `gate_lengthscale` (0.5), `log_sd_lengthscale`
    (0.5), `log_sd_mean` (-2), `log_sd_scale` (0.5), `sorted` (True), `kernel` ("rbf").
    """
    given = {"n": n, "seed": seed_of(random_state)} | {
        name.replace("_", "-"): value for name, value in settings.items()
    }
    drawn = _gpfuse.simulate(to_json(given))
    drawn["component"] = np.asarray(drawn["component"], dtype=np.int64)
    return Simulated(**drawn)
