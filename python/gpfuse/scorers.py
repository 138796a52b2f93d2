"""Scores of whole densities for scikit-learn's searches: more is better.

`scoring=gf.scorers.nlpd` in `GridSearchCV` or `cross_val_score`, or several as a dict. They take
estimators of gpfuse, and pipelines that end in one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .pipelines import evaluate, predict_dist

__all__ = ["coverage", "coverage_of", "crps", "nlpd"]


@dataclass(frozen=True)
class _Mean:
    """Minus the mean of a score of which less is better."""

    name: str

    def __call__(self, model: Any, X: Any, y: Any, **said: Any) -> float:
        return -float(getattr(evaluate(model, X, y, **said), self.name).value)


@dataclass(frozen=True)
class _Coverage:
    """Minus the distance of the share of outcomes inside central intervals to their level."""

    level: float

    def __call__(self, model: Any, X: Any, y: Any, **said: Any) -> float:
        low, high = predict_dist(model, X, **said).interval(self.level)
        y = np.asarray(y, dtype=np.float64)
        return -abs(float(np.mean((low <= y) & (y <= high))) - self.level)


nlpd = _Mean("nlpd")
"""Mean log predictive density: minus the NLPD."""
crps = _Mean("crps")
"""Minus the mean CRPS."""
coverage = _Coverage(0.95)
"""`coverage_of(0.95)`."""


def coverage_of(level: float) -> _Coverage:
    """Minus the distance to `level` of the share of outcomes inside intervals of that level."""
    if not 0 < level < 1:
        raise ValueError(f"level: {level} is out of range: use a number between 0 and 1")
    return _Coverage(float(level))
