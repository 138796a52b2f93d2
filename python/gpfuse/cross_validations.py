"""Several estimators on the same folds, side by side."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .folds import NAMES, CrossValidation, Fold, Mean, over_folds
from .scores import Score
from .table import aligned, pandas, with_error


@dataclass(frozen=True, repr=False)
class CrossValidations:
    """Several estimators on the same folds."""

    results: dict[str, CrossValidation]

    @cached_property
    def ranked(self) -> list[str]:
        """The names by NLPD, the best first; those with failed folds come last."""

        def order(name: str) -> tuple[int, float]:
            found = self.results[name]
            value = found.nlpd.value
            return len(found.folds) - len(found.done), math.inf if math.isnan(value) else value

        return sorted(self.results, key=order)

    @property
    def best(self) -> str:
        """The name of the estimator with the smallest NLPD."""
        return self.ranked[0]

    def difference(self, name: str, to: str | None = None, score: str = "nlpd") -> Mean:
        """How much larger a score is than that of `to`, the best if not given.

        It is the mean of the differences in each fold, so what makes a fold hard for both is not
        in its error. Of the NLPD the differences are paired row by row as well, and the error `se`
        is the larger one of that over folds (Nadeau and Bengio) and that of the rows and the Monte
        Carlo draws together; see `over_folds`. Folds that failed for either are left out.
        """
        pairs = zip(self.results[name].folds, self.results[to or self.best].folds, strict=True)
        both = [(a, b) for a, b in pairs if a.scores is not None and b.scores is not None]
        return over_folds([a for a, _ in both], [_minus(a, b, score) for a, b in both])

    def to_pandas(self) -> Any:
        """A data frame with a row for each estimator, the best first."""
        rows = []
        for name in self.ranked:
            found, apart = self.results[name], self.difference(name)
            row: dict[str, Any] = {"nlpd": found.nlpd.value, "nlpd_se": found.nlpd.se}
            row |= {"nlpd_mcse": found.nlpd.mcse, "difference": apart.value}
            row |= {"difference_se": apart.se, "difference_mcse": apart.mcse}
            row |= {other: found.score(other).value for other in NAMES[1:]}
            row |= {"seconds": found.seconds, "folds": len(found.folds)}
            row |= {"failed": len(found.folds) - len(found.done)}
            row |= {"not_converged": sum(fold.converged is False for fold in found.folds)}
            rows.append(row | {"notes": found.notes})
        return pandas().DataFrame(rows, index=pandas().Index(self.ranked, name="estimator"))

    def __repr__(self) -> str:
        rows = []
        for name in self.ranked:
            found = self.results[name]
            apart = ("0", "") if name == self.best else with_error(self.difference(name))
            others = [with_error(found.score(other))[0] for other in NAMES[1:]]
            rows.append([name, *with_error(found.nlpd), *apart, *others])
            rows[-1] += [f"{found.seconds:.1f}", found.notes]
        others = [other.upper() for other in NAMES[1:]]
        return aligned(["", "NLPD", "+-", "to best", "+-", *others, "seconds", ""], rows)


def _minus(a: Fold, b: Fold, name: str) -> Score:
    """The difference of a score in one fold; its error over rows is known for the NLPD only."""
    if a is b:
        return Score(0.0, 0.0, 0.0)
    first, second = a.score(name), b.score(name)
    told = first.mcse is not None and second.mcse is not None
    noise = math.hypot(first.mcse or 0.0, second.mcse or 0.0) if told else None
    return Score(first.value - second.value, noise, _paired(a, b) if name == "nlpd" else None)


def _paired(a: Fold, b: Fold) -> float | None:
    """The standard error over rows of the mean difference of their losses."""
    if a.scores is None or b.scores is None or a.test < 2:
        return None
    apart = a.scores.losses - b.scores.losses
    return float(apart.std(ddof=1) / np.sqrt(len(apart)))
