"""What a fusion of given experts is worth on rows left out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _gpfuse
from .engine import threads_of
from .table import pandas


class Worth:
    """A fusion whose weights are learned from what its experts say about rows left out."""

    if TYPE_CHECKING:
        model_: _gpfuse.Model
        threads: int | None
        n_jobs: int | None

    @property
    def worth_(self) -> dict[str, Any] | None:
        """How well each expert, and each way to weigh them, predicts training rows left out.

        `rows` is their number; each of `lines` has `what`, such as "expert trees" or "by-input",
        `nlpd` and `se`, and `above` and `above_se`: how far it is above the fusion, whose own line
        has no `above_se`. None where that was not found out.
        """
        check_is_fitted(self)
        found = self.model_.worth
        if found is None:
            return None
        worth: dict[str, Any] = json.loads(found)
        for line in worth["lines"]:
            # An expert comes with its name.
            if isinstance(line["what"], dict):
                line["what"] = f"expert {line['what']['expert']}"
        return worth

    def compare(self) -> Any:
        """`worth_` as a data frame like that of `arviz.compare`, the best first.

        Its rows are "fusion", the experts, "equal weights" and "constant weights" (where the fusion
        has those, "weights by input" instead). `elpd` is the sum of the log densities of the rows
        left out, `se` its standard error, `elpd_diff` how far it is below that of the fusion, and
        `dse` the standard error of this difference, row by row. `weight` is the average weight of
        an expert over the rows of the fit, for experts known by their log densities.
        """
        worth = self.worth_
        if worth is None:
            raise ValueError("compare: it was not found out what the experts are worth")
        rows, lines = worth["rows"], worth["lines"]
        words = {"equal": "equal weights", "constant": "constant weights"}
        words |= {"by-input": "weights by input", "mixture": "mixture, constant weights"}
        words |= {"pseudo-bma": "mixture, pseudo-BMA+ weights"}
        names = [
            "fusion"
            if line["above_se"] is None
            else words.get(line["what"], line["what"].removeprefix("expert "))
            for line in lines
        ]
        columns = {"elpd": "nlpd", "se": "se", "elpd_diff": "above", "dse": "above_se"}
        found = pandas().DataFrame(
            {name: [line[key] for line in lines] for name, key in columns.items()},
            index=names,
            dtype=float,
        )
        found *= rows
        found["elpd"] *= -1.0
        if self.model_.says_outcomes:
            _, seen_at = self.model_.groups()["constant_data"]["vars"]["x"]
            threads = threads_of(self.threads, self.n_jobs)
            share = self.model_.weigh(np.asarray(seen_at), 0.9, threads)[0].mean(axis=0)
            found["weight"] = pandas().Series(share, index=self.model_.experts)
        return found.sort_values("elpd", ascending=False, kind="stable")
