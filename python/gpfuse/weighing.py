"""How much each expert is trusted, and what each says, at some rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Weights:
    """The experts of a model at n rows; arrays have shape (n, experts).

    In a joint model the experts are exchangeable: a label means the same expert within a draw, but
    not always in another draw or chain.
    """

    experts: list[str]
    """Their names."""
    mean: NDArray[np.float64]
    """The posterior means of the weights."""
    low: NDArray[np.float64]
    """The lower ends of the weights' central posterior intervals."""
    high: NDArray[np.float64]
    """Their upper ends."""
    expert_mean: NDArray[np.float64]
    """What each expert predicts, in the units of the target."""
    expert_std: NDArray[np.float64]
    """With which standard deviation."""
    level: float
    """The part of the draws that the intervals hold."""
