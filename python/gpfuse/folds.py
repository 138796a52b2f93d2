"""What cross-validation finds: the scores of folds and their mean, with its error."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .scores import Score, Scores
from .table import aligned, pandas, with_error

NAMES = ("nlpd", "crps", "rmse", "mae")


@dataclass(frozen=True)
class Fold:
    """One fit and its scores on the rows that were left out."""

    scores: Scores | None
    """None if the job failed."""
    converged: bool | None
    """None for estimators without chains."""
    seconds: float
    train: int
    """How many rows were fitted to."""
    test: int
    """How many were left out."""
    error: str | None = None
    """Why the job failed."""

    def score(self, name: str) -> Score:
        """A score whose `mcse` is 0 without Monte Carlo; None is left for too little to tell."""
        found: Score = getattr(self.scores, name)
        exact = self.converged is None and found.mcse is None
        return replace(found, mcse=0.0) if exact else found


class Mean(Score):
    """The mean of a score over folds: `se` is its standard error in all, as `over_folds` has it."""

    def __str__(self) -> str:
        return super().__str__().replace("(rows)", "(in all)")


@dataclass(frozen=True, repr=False)
class CrossValidation:
    """The scores of one estimator on folds.

    `nlpd`, `crps`, `rmse` and `mae` are means over the folds that did not fail; `over_folds` says
    what their errors are.
    """

    folds: list[Fold]

    @property
    def done(self) -> list[Fold]:
        """The folds that did not fail."""
        return [fold for fold in self.folds if fold.scores is not None]

    @property
    def nlpd(self) -> Mean:
        """Mean negative log predictive density."""
        return self.score("nlpd")

    @property
    def crps(self) -> Mean:
        """Mean continuous ranked probability score."""
        return self.score("crps")

    @property
    def rmse(self) -> Mean:
        """Mean of the folds' root mean square errors."""
        return self.score("rmse")

    @property
    def mae(self) -> Mean:
        """Mean absolute error."""
        return self.score("mae")

    def score(self, name: str) -> Mean:
        """The mean of a score over folds; NaN if all of them failed."""
        return over_folds(self.done, [fold.score(name) for fold in self.done])

    @property
    def seconds(self) -> float:
        """What all folds took together."""
        return sum(fold.seconds for fold in self.folds)

    @property
    def notes(self) -> str:
        """Which folds failed, or did not converge."""
        failed = [fold.error for fold in self.folds if fold.error is not None]
        apart = sum(fold.converged is False for fold in self.folds)
        of = len(self.folds)
        words = [f"{len(failed)} of {of} failed: {_line(failed[0])}"] if failed else []
        words += [f"{apart} of {of} did not converge"] if apart else []
        return "; ".join(words)

    def to_pandas(self) -> Any:
        """A data frame with a row for each fold."""
        return pandas().DataFrame(
            [_values(fold.scores) | _facts(fold) for fold in self.folds],
            index=pandas().Index(range(len(self.folds)), name="fold"),
        )

    def __repr__(self) -> str:
        rows = [
            [str(i), *_cells(fold.scores), f"{fold.seconds:.1f}", CrossValidation([fold])._word()]
            for i, fold in enumerate(self.folds)
        ]
        scores = [with_error(self.score(name)) for name in NAMES]
        seconds = f"{self.seconds:.1f}"
        rows.append(["mean", *(value for value, _ in scores), seconds, ""])
        rows.append(["+-", *(error for _, error in scores), "", ""])
        return aligned(["fold", *(name.upper() for name in NAMES), "seconds", ""], rows)

    def _word(self) -> str:
        (fold,) = self.folds
        if fold.error is not None:
            return f"failed: {_line(fold.error)}"
        return "did not converge" if fold.converged is False else ""


def over_folds(folds: Sequence[Fold], scores: Sequence[Score]) -> Mean:
    """The mean of a score over k folds and its two errors.

    Training sets of folds overlap, so folds are not independent. Nadeau and Bengio (2003) take
    account of that, with the sample variance :math:`s^2` of the scores of the folds. Of few folds
    that can be far too small by chance: with three it has two degrees of freedom. So the error is
    not smaller than what the rows of the folds and the Monte Carlo draws show by themselves:

    .. math:: \\mathrm{se}^2 = \\max\\left\\{\\left(\\frac{1}{k} +
        \\frac{n_\\mathrm{test}}{n_\\mathrm{train}}\\right) s^2, \\;
        \\frac{1}{k^2} \\sum_i \\left(\\mathrm{se}_i^2 + \\mathrm{mcse}_i^2\\right)\\right\\}

    `mcse` is None without Monte Carlo, or if in one fold there is too little of it to tell. `se` is
    None for a single fold without an error over its rows.
    """
    count = len(scores)
    if count == 0:
        return Mean(math.nan, None, None)
    values = np.array([score.value for score in scores])
    mcse, rows = _joined([score.mcse for score in scores]), _joined([score.se for score in scores])
    among = None
    if count > 1:
        overlap = sum(fold.test for fold in folds) / sum(fold.train for fold in folds)
        among = math.sqrt(float(values.var(ddof=1)) * (1 / count + overlap))
    known = among is not None or rows is not None
    se = max(among or 0.0, math.hypot(rows or 0.0, mcse or 0.0)) if known else None
    return Mean(float(values.mean()), mcse or None, se)


def _joined(errors: Sequence[float | None]) -> float | None:
    """The error of a mean of independent values; None if one of theirs is not known."""
    known = [error for error in errors if error is not None]
    return math.hypot(*known) / len(errors) if len(known) == len(errors) else None


def _values(scores: Scores | None) -> dict[str, float]:
    if scores is None:
        return dict.fromkeys((*NAMES, *(f"{name}_mcse" for name in NAMES)), math.nan)
    found: dict[str, float] = {}
    for name in NAMES:
        score: Score = getattr(scores, name)
        found |= {name: score.value, f"{name}_mcse": _number(score.mcse)}
    return found


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _facts(fold: Fold) -> dict[str, Any]:
    names = ("seconds", "converged", "train", "test", "error")
    return {name: getattr(fold, name) for name in names}


def _cells(scores: Scores | None) -> Iterable[str]:
    return (f"{_values(scores)[name]:.3f}" if scores is not None else "-" for name in NAMES)


def _line(text: str, width: int = 90) -> str:
    line = text.strip().splitlines()[0] if text.strip() else "no words"
    return line if len(line) <= width else line[: width - 3] + "..."
