"""Fusions of classifiers."""

from __future__ import annotations

import pickle
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import gpfuse as gf
from gpfuse.classifiers import labels

matplotlib.use("Agg")
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

QUICK: dict[str, Any] = {"chains": 2, "warmup": 100, "draws": 60, "random_state": 0, "threads": 1}
LABELS = np.array(["blue", "green", "red"])
KINDS = [gf.BHSClassifier, gf.PBHSClassifier]


def rows(count: int = 150, seed: int = 0) -> tuple[Any, Any]:
    """Rows of three classes that overlap."""
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 3, count)
    X = np.stack([code + 0.7 * rng.standard_normal(count), rng.standard_normal(count)], axis=1)
    return X, LABELS[code]


def halves(X: Any, y: Any, seed: int = 0) -> dict[str, Any]:
    """Two experts, of which one knows the class where the first input is large, one elsewhere."""
    sure = np.random.default_rng(seed).uniform(0.3, 0.9, len(X))[:, None]
    knows = np.where(np.asarray(y)[:, None] == LABELS, sure, (1.0 - sure) / 2.0)
    right = (X[:, 0] > 1.0)[:, None]
    guess = np.full((len(X), 3), 1.0 / 3.0)
    return {"east": np.where(right, knows, guess), "west": np.where(right, guess, knows)}


@pytest.mark.filterwarnings("ignore:.*near the wall of the Hilbert basis.*")
@parametrize_with_checks(
    [
        kind(
            estimators=[LogisticRegression(), GaussianNB()],
            cv=2,
            chains=1,
            warmup=20,
            draws=20,
            max_depth=4,
            gate="constant",
            random_state=0,
            threads=1,
        )
        for kind in KINDS
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module", params=KINDS)
def fitted(request):
    X, y = rows()
    return request.param(**QUICK).fit(X, y, proba=halves(X, y))


def test_scores_are_those_of_the_probabilities(fitted):
    X, y = rows(80, 1)
    said = {"proba": halves(X, y, 1)}
    proba = fitted.predict_proba(X, **said)
    assert proba.shape == (80, 3)
    assert_allclose(proba.sum(axis=1), 1.0)
    assert_allclose(np.log(proba), fitted.predict_log_proba(X, **said), atol=1e-12)
    found = fitted.evaluate(X, y, **said)
    assert_allclose(found.nlpd.value, log_loss(y, proba), rtol=1e-10)
    apart = proba - (np.asarray(y)[:, None] == LABELS)
    assert_allclose(found.brier.value, (apart**2).sum(axis=1).mean(), rtol=1e-10)
    assert_array_equal(fitted.predict(X, **said), LABELS[proba.argmax(axis=1)])
    assert found.accuracy.value == pytest.approx(fitted.score(X, y, **said))
    assert len(found.losses) == 80 and found.nlpd.se > 0 and "accuracy" in repr(found)


def test_experts_count_where_they_know(fitted):
    """All seeds are fixed."""
    weights = fitted.weights([[-1.0, 0.0], [3.0, 0.0]])
    assert weights.experts == ["east", "west"] and weights.expert_mean is None
    if isinstance(fitted, gf.BHSClassifier):
        assert weights.mean[0, 1] > 0.7 and weights.mean[1, 0] > 0.7
    table = fitted.compare()
    assert table.index[0] in ("fusion", "constant weights", "weights by input")
    assert table.loc["east", "elpd_diff"] > 10
    assert fitted.worth_["rows"] == 150


def test_files_and_copies_keep_it(fitted, tmp_path):
    X, y = rows(20, 2)
    said = {"proba": halves(X, y)}
    fitted.save(tmp_path / "m.nc")
    expected = fitted.predict_proba(X, **said)
    for other in (pickle.loads(pickle.dumps(fitted)), gf.load(tmp_path / "m.nc")):
        assert type(other) is type(fitted)
        assert_allclose(other.predict_proba(X, **said), expected, atol=1e-9)
        assert_array_equal(other.classes_, LABELS)
        assert other.worth_ == fitted.worth_
    assert clone(fitted).get_params()["warmup"] == 100


def test_labels_come_back_from_text():
    for classes in ([0, 3], [0.5, 1.0], [False, True], ["1", "a"]):
        found = labels([str(label) for label in classes])
        assert found.tolist() == classes


def test_the_program_reads_its_file(fitted, tmp_path, gpfuse):
    fitted.save(tmp_path / "m.nc")
    X, _ = rows(5, 2)
    pd.DataFrame(X, columns=["x0", "x1"]).to_csv(tmp_path / "new.csv", index=False)
    assert "weight_east" in gpfuse("predict", tmp_path / "m.nc", tmp_path / "new.csv", "--experts")
    assert "east" in gpfuse("inspect", tmp_path / "m.nc")
    gpfuse("report", tmp_path / "m.nc", "--out", tmp_path / "m.html")
    page = (tmp_path / "m.html").read_text(encoding="utf-8")
    assert "each expert said a probability of each class and no more" in page
    with pytest.raises(subprocess.CalledProcessError) as failed:
        gpfuse("predict", tmp_path / "m.nc", tmp_path / "new.csv")
    assert "its target is a class: predict and score it in Python" in failed.value.stderr


EXPERTS = [("line", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=3))]


@pytest.mark.parametrize("kind", KINDS)
def test_estimators_are_cross_fitted(kind):
    """Two classes by numbers, folds that are stratified, and the same result on an executor."""
    X, words = rows(90)
    y = (words == "red").astype(int)
    model = kind(EXPERTS, gate="constant", **QUICK)
    here = clone(model).fit(X, y)
    with ThreadPoolExecutor(2) as pool:
        there = clone(model).fit(X, y, executor=pool)
    new, _ = rows(30, 3)
    assert_array_equal(here.predict_proba(new), there.predict_proba(new))
    assert [name for name, _ in here.experts_] == ["line", "tree"]
    assert_array_equal(here.weight_rows_, np.arange(90))
    # Of two classes the Brier score is that of one of them.
    proba = here.predict_proba(X)
    scores = gf.evaluate(here, X, y)
    assert_allclose(scores.brier.value, brier_score_loss(y, proba[:, 1]), rtol=1e-10)
    # Prefit experts, in another order of classes, say the same.
    ready = [(name, expert.fit(X, 1 - y)) for name, expert in clone_all(EXPERTS)]
    flipped = [(name, lambda X, e=expert: e.predict_proba(X)[:, ::-1]) for name, expert in ready]
    assert kind(flipped, gate="constant", **QUICK).fit(X, y).predict_proba(new).shape == (30, 2)
    held = clone(model).set_params(hold_out=0.3).fit(X, y)
    own = y[held.weight_rows_]
    assert len(own) == pytest.approx(27, abs=1) and 0.2 < own.mean() < 0.5


def clone_all(experts):
    return [(name, clone(expert)) for name, expert in experts]


def test_pipelines_and_searches_take_it():
    X, y = rows(90)
    model = gf.BHSClassifier(EXPERTS, cv=3, gate="constant", **QUICK)
    pipe = make_pipeline(StandardScaler(), model)
    scores = cross_val_score(pipe, X, y, cv=2, scoring="neg_log_loss")
    assert (scores > -1.1).all()
    pipe.fit(X, y)
    assert gf.weights(pipe, X).mean.shape == (90, 2)
    assert gf.scorers.nlpd(pipe, X, y) == pytest.approx(-log_loss(y, pipe.predict_proba(X)))
    ax = gf.plot_calibration(pipe, X, y)
    share = ax.containers[0].lines[0].get_ydata()
    assert len(share) and ((share >= 0) & (share <= 1)).all()


def test_without_experts_there_is_a_portfolio():
    X, y = rows(36)
    model = gf.PBHSClassifier(cv=2, gate="constant", **QUICK).fit(X, y)
    assert [name for name, _ in model.experts_] == ["logistic", "boosting", "forest", "gp"]
    assert model.score(X, y) > 0.6


def test_an_expert_that_never_saw_a_class_in_a_leaf_has_no_veto():
    """Forests say 0 often; the product and its scores stay numbers."""
    X, y = rows(60)
    forest = RandomForestClassifier(3, random_state=0)
    model = gf.PBHSClassifier([LogisticRegression(), forest], gate="constant", **QUICK).fit(X, y)
    new, z = rows(200, 5)
    assert np.isfinite(model.evaluate(new, z).losses).all()
    assert (model.predict_proba(new) > 0).all()


def broken(change):
    def says(X, y):
        table = halves(X, y)
        change(table["west"])
        return table

    return says


def put(value):
    def change(table):
        table[4, 1] = value

    return change


WRONG = [
    (put(0.9999), r"expert `west`, row 5: the probabilities of the classes sum to 1\.\d+: they"),
    (put(-0.2), r"expert `west`, row 5: the probability of class `green` is -0\.2: it must lie"),
    (put(np.nan), r"expert `west`, row 5: the probability of class `green` is nan"),
]


@pytest.mark.parametrize(("change", "words"), WRONG)
def test_what_are_no_probabilities_is_refused(change, words):
    X, y = rows(40)
    with pytest.raises(ValueError, match=words):
        gf.BHSClassifier(**QUICK).fit(X, y, proba=broken(change)(X, y))


def test_other_mistakes_have_words(fitted):
    X, y = rows(40)
    said = halves(X, y)
    model = gf.BHSClassifier(**QUICK)

    def refused(words, fit=model.fit, *args, **more):
        with pytest.raises(ValueError, match=words):
            fit(*(args or (X, y)), **more)

    refused("y has one class, `red`", model.fit, X, ["red"] * 40)
    refused("class `odd` has one row", model.fit, X, ["odd", *y[1:]])
    refused(r"expected shape \(40, experts, 3\)", proba=np.ones((40, 2)))
    refused(r"expert `west` has shape \(39, 3\)", proba=said | {"west": said["west"][1:]})
    refused(
        "row 2: the class `pink` was not in the fit",
        fitted.evaluate,
        X[:2],
        ["red", "pink"],
        proba={name: table[:2] for name, table in said.items()},
    )
    refused("`east`, `west` were made elsewhere", fitted.predict_proba, X)
    refused(
        "expected the experts `east`, `west`, found `a`",
        fitted.predict,
        X,
        proba={"a": said["east"]},
    )
    ready = LogisticRegression().fit(X[y != "red"], y[y != "red"])
    both = gf.BHSClassifier([ready, GaussianNB()], cv=2, **QUICK)
    refused(r"knows the classes blue, green: expected blue, green, red \(red missing\)", both.fit)
    with pytest.raises(TypeError, match="has no `predict_proba`"):
        gf.BHSClassifier([gf.GP(), GaussianNB()], **QUICK).fit(X, y)


@pytest.mark.filterwarnings("ignore:.*near the wall of the Hilbert basis.*")
def test_the_usual_experts_see_words_and_gaps_as_numbers():
    X, y = rows(90)
    table = pd.DataFrame(X, columns=["a", "b"]).assign(kind=np.where(X[:, 1] > 0, "up", "down"))
    table.loc[4, "b"] = np.nan
    model = gf.BHSClassifier(missing="mean", **QUICK).fit(table, y)
    assert model.columns_.inputs == ["a", "b", "kind=up"]
    # A guess is right in a third of the rows: fails by chance below 1e-9.
    assert model.score(table, y) > 0.6
    with pytest.raises(ValueError, match="missing"):
        gf.BHSClassifier(**QUICK).fit(table, y)
