"""Every method and rule on the same rows, as `gpfuse compare` has them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import column_or_1d

from . import _gpfuse
from .engine import to_json
from .errors import warn_convergence
from .progress import bar, wanted
from .rows import input_names, new_rows, training_rows
from .scores import Score
from .stacking import Stacking
from .table import aligned, pandas, with_error


@dataclass(eq=False, repr=False)
class _Told(Stacking):
    """The settings that all methods of a comparison share."""

    normalise: bool = False
    density: str = "auto"

    _method: ClassVar[str] = "bhs"


@dataclass(frozen=True, repr=False)
class Comparison:
    """Methods and rules on the same rows."""

    methods: dict[str, dict[str, Any]]
    """What is known of each by its name, the best first: what `gpfuse compare --json` prints."""
    scored: str
    """Where: "test" rows, or "leave-one-out" at rows of the training table."""
    rows: int
    """How many rows they were scored at."""
    experts: int
    """How many experts those have that have several."""

    @property
    def best(self) -> str:
        """The name of the one with the smallest NLPD."""
        return next(iter(self.methods))

    def to_pandas(self) -> Any:
        """A data frame with a row for each, the best first."""
        kept = ("error", "converged", "rhat_max", "fit_seconds", "predict_seconds")
        rows = []
        for found in self.methods.values():
            nlpd, apart = found["nlpd"] or {}, found["difference"] or {}
            row = {"nlpd": nlpd.get("value"), "nlpd_se": nlpd.get("se")}
            row |= {"nlpd_mcse": nlpd.get("mcse"), "difference": apart.get("mean")}
            row |= {"difference_se": apart.get("se")}
            row |= {name: (found[name] or {}).get("value") for name in ("crps", "rmse", "mae")}
            rows.append(row | {name: found[name] for name in kept})
        return pandas().DataFrame(rows, index=pandas().Index(list(self.methods), name="method"))

    def __repr__(self) -> str:
        rows = []
        for name, found in self.methods.items():
            apart = found["difference"]
            cells = [*with_error(_score(found["nlpd"]))]
            if apart and name == self.best:
                cells += ["0", ""]
            else:
                cells += with_error(Score(apart["mean"], None, apart["se"]) if apart else None)
            cells += [with_error(_score(found[each]))[0] for each in ("crps", "rmse", "mae")]
            note = "did not converge" if found["converged"] is False else ""
            if found["error"]:
                note = f"failed: {found['error']}"
            rows.append([name, *cells, note])
        return aligned(["", "NLPD", "+-", "to best", "+-", "CRPS", "RMSE", "MAE", ""], rows)


def _score(found: dict[str, Any] | None) -> Score | None:
    return None if found is None else Score(**found)


def compare(
    X: Any,
    y: Any,
    X_test: Any = None,
    y_test: Any = None,
    *,
    methods: list[str] | None = None,
    random_state: Any = 0,
    threads: int | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> Comparison:
    """Fit every method and rule to the same rows, and score all of them on the same rows.

    It is `gpfuse compare`: with the same settings and seed the same experts and the same numbers.
    To compare estimators of your own, use `cross_validate_all`.

    Parameters
    ----------
    X, y : shapes (n, inputs) and (n,)
        Rows to fit to.
    X_test, y_test : shapes (m, inputs) and (m,), optional
        Rows to score on. Without them the rows that the weights are learned from are scored, each
        left out in turn.
    methods : list of str, optional
        Names of what to compare: "het", "mogpe", "pogpe", "bhs", "pbhs", "pbhs-plain",
        "gp", and the rules in `gf.RULES`. If not given, all that these experts can be used
        by: trees have no marginal likelihood, which "bma" needs.
    random_state : int, RandomState, Generator or None
        An int is the seed of the command line.
    threads : int, optional
        All cores if not given. The result does not depend on it.
    progress : bool, optional
        A bar on a terminal and in notebooks if not given.
    **settings
        Settings of sampled models, and of the experts that are trained, as of `PBHS`.

    Raises
    ------
    ValueError
        If all of them failed, with the words of the first; some that failed are only noted.
    """
    known = set(_Told._get_param_names()) - {"estimators"}
    if unknown := sorted(set(settings) - known):
        raise TypeError(
            f"compare: there is no setting `{unknown[0]}`: use {', '.join(sorted(known))}"
        )
    if (X_test is None) != (y_test is None):
        raise ValueError("test rows: give both X_test and y_test, or neither")
    told = _Told(random_state=random_state, threads=threads, **settings)
    rows, target = training_rows(told, X, y)
    test = None
    if X_test is not None:
        test = (new_rows(told, X_test), np.ascontiguousarray(column_or_1d(y_test), dtype=float))
    chosen = None if methods is None else list(methods)
    # All methods run, each in its turn.
    words = to_json({name: value for name, value in told._given().items() if name != "method"})
    inputs = input_names(told)
    shown = bar(len(chosen or _gpfuse.contestants()), "methods") if wanted(progress) else None

    def show(done: tuple[int, int], _: Any) -> None:
        if shown is not None:
            shown.total = done[1]
            shown.update(done[0] - shown.n)

    try:
        text = _gpfuse.compare(rows, target, words, inputs, chosen, test=test, progress=show)
    finally:
        if shown is not None:
            shown.close()
    found = json.loads(text)
    by_name = {each["method"]: each for each in found["methods"]}
    if all(each["error"] for each in by_name.values()):
        first = next(iter(by_name.values()))
        raise ValueError(f"every method failed, {first['method']} so: {first['error']}")
    for name, each in by_name.items():
        warn_convergence([f"{name}: {word}" for word in each["warnings"] or []], stacklevel=2)
    return Comparison(by_name, found["scored"], found["rows"], found["experts"])
