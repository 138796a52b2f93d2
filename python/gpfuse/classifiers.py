"""Input-dependent weights for classifiers: BHSClassifier and PBHSClassifier."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .asking import ByClass, ask
from .base import Sampled, name_of_target
from .crossfit import Table
from .engine import seed_of, threads_of
from .fused import Gathered, OfExperts, seen
from .given import Probabilities, from_proba
from .rows import class_rows, refuse_drop
from .scores import ClassScores, Score
from .stacking import box_around
from .worth import Worth

_Array = NDArray[np.float64]

MOST_GP_ROWS = 200
"""With more rows the usual experts have no Gaussian process."""

_ESTIMATORS = """estimators : list, optional
        The experts: classifiers with `predict_proba`, callables ``X -> probabilities`` of shape
        (n, classes) in the order of `classes_`, objects with ``submit(X)`` that returns a Future of
        such an array, or pairs of a name and one of these. Fitted classifiers and callables are
        used as they are: the rows of the fit must not have trained them. Of the others, copies are
        fitted to all rows, and about each row the fusion learns from what they say without it
        (`cv`). If not given: logistic regression, boosted trees, a random forest, and of at most
        200 rows a Gaussian process.
    hold_out : float, optional
        Instead of `cv`, the share of the rows, of each class, from which the weights are learned,
        not the experts.
    cv : int, splitter of scikit-learn, iterable of (train, test), or "prefit", optional
        How experts that are fitted here come to speak about rows that did not train them: five
        folds if not given. A number means shuffled folds, each with its share of every class, and
        with copies of a row in the same one. "prefit" takes all experts as they are."""

_FITTED = """classes_ : array
        The classes, ascending, as `predict_proba` has them.
    experts_ : list of pairs of a name and an expert
        The experts, trained; not where `fit` had `proba`.
    weight_rows_ : array of int
        The numbers of the rows of the fit, from 0, that the weights were learned from."""


@dataclass(eq=False, repr=False)
class ClassStacking(OfExperts, Worth, ClassifierMixin, Sampled):  # type: ignore[misc]
    """A model of the weights of experts that say how probable each class is."""

    estimators: list[Any] | None = None
    hold_out: float | None = None
    cv: Any = None
    gate: str = "auto"

    if TYPE_CHECKING:
        classes_: NDArray[Any] = field(init=False)

    def __init_subclass__(cls, **options: Any) -> None:
        words = (cls.__doc__ or "").replace("{estimators}", _ESTIMATORS)
        cls.__doc__ = words.replace("{fitted}", _FITTED)
        super().__init_subclass__(**options)

    def fit(
        self, X: Any, y: Any, *, proba: Any = None, groups: Any = None, executor: Any = None
    ) -> Self:
        """Sample the posterior of the weights.

        Parameters
        ----------
        X, y : shapes (n, inputs) and (n,)
            The labels may be words or numbers.
        proba : array of shape (n, experts, classes), or dict of arrays (n, classes), optional
            What experts say of these rows, which must not have trained them, with the classes in
            ascending order, instead of `estimators`. The keys of a dict are the names of the
            experts.
        groups : array of shape (n,), optional
            Rows of the same group are left out together; a splitter gets them.
        executor : concurrent.futures.Executor or Dask client, optional
            Where experts are fitted; here and now if not given. The result does not depend on it.
        """
        if proba is not None and self.estimators is not None:
            raise ValueError(
                "proba: the experts are estimators, which are asked by themselves: leave out "
                "proba= or estimators="
            )
        if self.estimators is not None or proba is not None:
            refuse_drop(self.missing, "what experts see or say")
        rows, words, codes = class_rows(self, X, y)
        self._forget()
        own_experts = self.estimators
        if own_experts is None and proba is None:
            own_experts = portfolio(len(rows))
        self._refuse_ways(groups, own_experts)
        seed = seed_of(self.random_state)
        if own_experts is None:
            own, said = Gathered(np.arange(len(rows)), from_proba(proba, len(rows), self.classes_))
        else:
            _refuse_single(self.classes_, codes, self.cv)
            way = ByClass(self.classes_)
            table = Table(self._shown(X, rows), rows, words, groups, way, codes)
            own, said = self._ask_all(own_experts, table, seed, executor)
        self.weight_rows_ = own
        return self._infer(
            rows[own],
            codes[own].astype(np.float64),
            name_of_target(y),
            {"experts": len(said.names), "box": box_around(rows, own, self.box)},
            names=said.names,
            proba=said.for_engine(),
            classes=[str(label) for label in self.classes_],
        )

    def _shown(self, X: Any, rows: _Array) -> Any:
        """What experts see: rows as they came, but the usual ones what words and gaps became."""
        return rows if self.estimators is None else seen(X, rows)

    # ---- predictions

    def _proba_at(self, X: Any, proba: Any) -> tuple[_Array, Probabilities]:
        """Checked rows of a fitted model, and what the experts say there."""
        rows = self._new_rows(X)
        experts = getattr(self, "experts_", None)
        if experts is not None:
            if proba is not None:
                raise ValueError(
                    "proba: the experts are estimators, which are asked by themselves: leave it out"
                )
            way = ByClass(self.classes_)
            return rows, ask(experts, self._shown(X, rows), len(rows), way=way)
        known = self.model_.given_experts
        if proba is None:
            names = ", ".join(f"`{name}`" for name in known)
            raise ValueError(
                f"the experts {names} were made elsewhere: give their probabilities of the classes "
                "at these rows as proba="
            )
        return rows, from_proba(proba, len(rows), self.classes_, known)

    def predict_log_proba(self, X: Any, *, proba: Any = None) -> _Array:
        """The log probability of each class at each row of `X`, of shape (n, classes).

        Where `fit` had `proba`, it is wanted here, at the rows of `X`.
        """
        check_is_fitted(self)
        rows, said = self._proba_at(X, proba)
        threads = threads_of(self.threads, self.n_jobs)
        found: _Array = self.model_.predict_classes(rows, threads, said.for_engine())
        return found

    def predict_proba(self, X: Any, *, proba: Any = None) -> _Array:
        """The probability of each class at each row of `X`, averaged over the draws of the weights.

        Where `fit` had `proba`, it is wanted here, at the rows of `X`.
        """
        found = np.exp(self.predict_log_proba(X, proba=proba))
        share: _Array = found / found.sum(axis=1, keepdims=True)
        return share

    def predict(self, X: Any, *, proba: Any = None) -> NDArray[Any]:
        """The most probable class at each row of `X`."""
        most = self.predict_log_proba(X, proba=proba).argmax(axis=1)
        found: NDArray[Any] = self.classes_[most]
        return found

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, proba: Any = None) -> float:
        """The share of rows whose class is the most probable one."""
        found = self.predict(X, proba=proba)
        return float(accuracy_score(y, found, sample_weight=sample_weight))

    def evaluate(self, X: Any, y: Any, *, proba: Any = None) -> ClassScores:
        """All scores of the predictions at `X` against `y`: `.nlpd`, `.brier`, `.accuracy`.

        `.nlpd` is the log loss: the mean of minus the log probability of the class that came.
        """
        check_is_fitted(self)
        rows, said = self._proba_at(X, proba)
        codes = self._codes(y, len(rows))
        threads = threads_of(self.threads, self.n_jobs)
        text, logs = self.model_.score_classes(rows, codes, threads, said.for_engine())
        scores = json.loads(text)
        plain = {name: Score(**scores[name]) for name in ("nlpd", "brier", "accuracy")}
        return ClassScores(**plain, losses=-logs)

    def _codes(self, y: Any, rows: int) -> _Array:
        """The numbers of the classes of labels."""
        labels = column_or_1d(y)
        if len(labels) != rows:
            raise ValueError(f"y: {len(labels)} labels for {rows} rows of X: give one each")
        numbers = {label: float(c) for c, label in enumerate(self.classes_.tolist())}
        found = [numbers.get(label) for label in labels.tolist()]
        if None in found:
            row = found.index(None)
            known = ", ".join(str(label) for label in self.classes_)
            raise ValueError(
                f"y, row {row + 1}: the class `{labels[row]}` was not in the fit, which knows "
                f"{known}: leave the row out, or fit to rows of it"
            )
        return np.array(found, dtype=np.float64)


def portfolio(rows: int) -> list[tuple[str, Any]]:
    """Classifiers that are often right in different places."""
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    found: list[tuple[str, Any]] = [
        ("logistic", make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))),
        ("boosting", HistGradientBoostingClassifier()),
        ("forest", RandomForestClassifier(200)),
    ]
    if rows <= MOST_GP_ROWS:
        gp = GaussianProcessClassifier(ConstantKernel(1.0) * RBF(1.0))
        found.append(("gp", make_pipeline(StandardScaler(), gp)))
    return found


def labels(names: Sequence[str]) -> NDArray[Any]:
    """The labels of classes from a file, where they are text."""
    if set(names) <= {"False", "True"}:
        return np.array([name == "True" for name in names])
    for kind in (int, float):
        try:
            return np.array([kind(name) for name in names])
        except ValueError:
            continue
    return np.array(names, dtype=object)


def _refuse_single(classes: NDArray[Any], codes: NDArray[np.int64], cv: Any) -> None:
    """A class with one row is unknown to experts that are fitted without it."""
    single = classes[np.bincount(codes) < 2]
    if len(single) and not isinstance(cv, str):
        raise ValueError(
            f"class `{single[0]}` has one row, without which an expert does not know the class: "
            "give more rows of it, or leave it out"
        )


@dataclass(eq=False, repr=False)
class BHSClassifier(ClassStacking):
    """Bayesian hierarchical stacking of classifiers: a linear pool.

    .. math:: p(c | x) = \\sum_k w_k(x) \\, p_k(c | x), \\quad
        w(x) = \\mathrm{softmax}(g_1(x), ..., g_K(x))

    with a GP for each gate :math:`g_k`. The experts are given as `estimators` or by their
    probabilities (``fit(X, y, proba=...)``); if they are not, four usual classifiers are trained.

    Parameters
    ----------
    {estimators}
    {settings}
    {fitted}
    """

    _method: ClassVar[str] = "bhs"


@dataclass(eq=False, repr=False)
class PBHSClassifier(ClassStacking):
    """A product of classifiers: a log-linear pool, normalised over the classes.

    .. math:: p(c | x) \\propto \\prod_k p_k(c | x)^{w_k(x)}, \\quad w_k(x) = e^{g_k(x)}

    with a GP for each log weight :math:`g_k`. The weights need not sum to one: where they sum to
    more, the product is surer than its experts. So that an expert that counts, as a forest, has no
    veto, a probability is taken for a hundredth of an even guess where it is less. The experts are
    given as `estimators` or by their probabilities (``fit(X, y, proba=...)``); if they are not,
    four usual classifiers are trained.

    Parameters
    ----------
    {estimators}
    {settings}
    {fitted}
    """

    normalise: bool = False

    _method: ClassVar[str] = "pbhs"
