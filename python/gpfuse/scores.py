"""Scores of predictions, each with its two standard errors."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._gpfuse import Predictive
from .table import pandas


@dataclass(frozen=True)
class Score:
    """A score: `mcse` is its Monte Carlo standard error, `se` that over the test rows.

    `mcse` is None where there is no Monte Carlo or too little to tell, `se` for a single row.
    """

    value: float
    mcse: float | None
    se: float | None

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        errors = [
            f"{error:.2g} ({kind})"
            for error, kind in [(self.mcse, "Monte Carlo"), (self.se, "rows")]
            if error is not None
        ]
        return " +- ".join([f"{self.value:.4g}", *errors])


@dataclass(frozen=True)
class LogScores:
    """What can be scored of experts that are known by their log densities of the target."""

    nlpd: Score
    """Mean negative log predictive density."""
    losses: NDArray[np.float64] = field(repr=False)
    """The negative log density of each row, for paired comparisons."""


@dataclass(frozen=True, repr=False)
class ClassScores(LogScores):
    """All scores of probabilities of classes against outcomes."""

    brier: Score
    """Mean over rows of ``sum_c (p_c - [c is the class])^2``, and half of that of two classes."""
    accuracy: Score
    """The share of rows whose class is the most probable one."""

    def __repr__(self) -> str:
        names = ("nlpd", "brier", "accuracy")
        return "\n".join(f"{name:9}{getattr(self, name)}" for name in names)


@dataclass(frozen=True, repr=False)
class Scores:
    """All scores of predictions against outcomes."""

    nlpd: Score
    """Mean negative log predictive density."""
    crps: Score
    """Mean continuous ranked probability score."""
    rmse: Score
    """Root mean square error of the predictive mean."""
    mae: Score
    """Mean absolute error of the predictive mean."""
    coverage: dict[float, Score]
    """The share of outcomes inside central intervals, by the level of the interval."""
    losses: NDArray[np.float64]
    """The negative log density of each row, for paired comparisons."""

    @classmethod
    def of(cls, predictive: Predictive, y: NDArray[np.float64]) -> Scores:
        """The scores of the densities against `y`."""
        text, losses = predictive.evaluate(y)
        found = json.loads(text)
        scores, levels = found["scores"], found["levels"]
        plain = {name: Score(**scores[name]) for name in ("nlpd", "crps", "rmse", "mae")}
        pairs = zip(levels, scores["coverage"], strict=True)
        coverage = {level: Score(**score) for level, score in pairs}
        return cls(**plain, coverage=coverage, losses=losses)

    def to_pandas(self) -> Any:
        """A data frame with a row for each score: its value and both standard errors."""
        scores = {name: getattr(self, name) for name in ("nlpd", "crps", "rmse", "mae")}
        scores |= {f"coverage_{100 * p:.0f}": score for p, score in self.coverage.items()}
        rows = [{"value": s.value, "mcse": s.mcse, "se": s.se} for s in scores.values()]
        return pandas().DataFrame(
            rows, index=pandas().Index(list(scores), name="score"), dtype=float
        )

    def __repr__(self) -> str:
        lines = [
            f"{name.upper():5}{getattr(self, name)}" for name in ("nlpd", "crps", "rmse", "mae")
        ]
        lines += [f"coverage of {100 * p:.0f} %  {score}" for p, score in self.coverage.items()]
        return "\n".join(lines)
