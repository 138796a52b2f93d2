"""Pipelines and searches: they say what the estimator at their end says about their rows."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gpfuse as gf

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SHORT: dict[str, Any] = {"chains": 1, "warmup": 30, "draws": 20, "max_depth": 4, "random_state": 3}
DATA = gf.simulate(60, random_state=1)
FRAME = pd.DataFrame({"a": 1000 + 50 * DATA.X[:, 0], "b": np.cos(np.arange(60.0))})


@pytest.fixture(scope="module")
def pipeline() -> Any:
    return make_pipeline(StandardScaler(), gf.PoGPE(experts=2, **SHORT)).fit(FRAME, DATA.y)


def test_a_pipeline_says_what_its_last_step_says(pipeline: Any) -> None:
    rows, model = pipeline[0].transform(FRAME), pipeline[-1]
    scores = gf.evaluate(pipeline, FRAME, DATA.y)
    assert np.array_equal(scores.losses, model.evaluate(rows, DATA.y).losses)
    assert np.array_equal(gf.predict_dist(pipeline, FRAME).mean, pipeline.predict(FRAME))
    told = gf.weights(pipeline, FRAME, level=0.5)
    assert np.array_equal(told.low, model.weights(rows, level=0.5).low)
    # The estimator itself, frozen, and a pipeline of one step.
    for same in (model, FrozenEstimator(model), make_pipeline(FrozenEstimator(model))):
        assert np.array_equal(gf.predict_dist(same, rows).mean, pipeline.predict(FRAME))


def test_searches_by_density(pipeline: Any) -> None:
    grid = {"pogpe__experts": [1, 2]}
    search = GridSearchCV(pipeline, grid, scoring=gf.scorers.nlpd, cv=KFold(2), error_score="raise")
    search.fit(FRAME, DATA.y)
    by_hand = []
    for train, test in KFold(2).split(FRAME):
        one = make_pipeline(StandardScaler(), gf.PoGPE(experts=1, **SHORT))
        one.fit(FRAME.iloc[train], DATA.y[train])
        scores = one[-1].evaluate(one[0].transform(FRAME.iloc[test]), DATA.y[test])
        by_hand.append(-scores.nlpd.value)
    assert search.cv_results_["mean_test_score"][0] == pytest.approx(np.mean(by_hand))
    best = gf.predict_dist(search.best_estimator_, FRAME)
    assert np.array_equal(gf.predict_dist(search, FRAME).mean, best.mean)
    assert gf.weights(search, FRAME).mean.shape[0] == 60


def test_scorers_together() -> None:
    several = {name: getattr(gf.scorers, name) for name in ("nlpd", "crps", "coverage")}
    several["half"] = gf.scorers.coverage_of(0.5)
    several = pickle.loads(pickle.dumps(several))
    found = cross_validate(
        make_pipeline(StandardScaler(), gf.GP(starts=2, random_state=0)),
        FRAME,
        DATA.y,
        scoring=several,
        cv=KFold(2),
        return_estimator=True,
        error_score="raise",
    )
    for i, (_, test) in enumerate(KFold(2).split(FRAME)):
        scores = gf.evaluate(found["estimator"][i], FRAME.iloc[test], DATA.y[test])
        assert found["test_nlpd"][i] == -scores.nlpd.value
        assert found["test_crps"][i] == -scores.crps.value
        for name, level in (("coverage", 0.95), ("half", 0.5)):
            share = scores.coverage[level].value
            assert found[f"test_{name}"][i] == pytest.approx(-abs(share - level))
    with pytest.raises(ValueError, match=r"level: 1\.5 is out of range"):
        gf.scorers.coverage_of(1.5)


def test_folds_of_pipelines_and_of_searches() -> None:
    """A pipeline's scores are those of its estimator where its scaler changes nothing."""
    gp = gf.GP(starts=2, random_state=0)
    search = GridSearchCV(gp, {"kernel": ["rbf", "matern52"]}, scoring=gf.scorers.crps, cv=2)
    rows = StandardScaler().fit_transform(FRAME)
    named = {"alone": gp, "pipeline": make_pipeline("passthrough", gp), "search": search}
    found = gf.cross_validate_all(named, rows, DATA.y, cv=KFold(2))
    alone, pipeline, search = (found.results[name] for name in named)
    assert [fold.error for fold in search.folds] == [None, None]
    assert pipeline.nlpd.value == alone.nlpd.value
    chains = make_pipeline(StandardScaler(), gf.HetGP(**SHORT))
    assert gf.cross_validate(chains, FRAME, DATA.y, cv=2).folds[0].converged is not None


def test_what_has_no_density(pipeline: Any) -> None:
    line = make_pipeline(StandardScaler(), LinearRegression()).fit(FRAME, DATA.y)
    target = TransformedTargetRegressor(pipeline, transformer=StandardScaler())
    for model, words in [
        (line, "Pipeline around LinearRegression has no method `evaluate`: use an estimator of g"),
        (LinearRegression(), "LinearRegression has no method `evaluate`"),
        (make_pipeline(StandardScaler(), None), "Pipeline has no method"),
        (target, "TransformedTargetRegressor has no density of the target itself: leave it out"),
        ("PBHS", "str has no method `evaluate`"),
    ]:
        with pytest.raises(TypeError, match=words):
            gf.evaluate(model, FRAME, DATA.y)
        with pytest.raises(TypeError, match=words):
            gf.cross_validate(model, FRAME, DATA.y)
    with pytest.raises(TypeError, match="GP has no weights that depend on the input"):
        gf.weights(gf.GP(starts=1).fit(FRAME, DATA.y), FRAME)
    for unfitted in (
        make_pipeline(StandardScaler(), gf.GP()),
        GridSearchCV(gf.GP(), {"starts": [1]}, refit=False, cv=2).fit(FRAME, DATA.y),
    ):
        with pytest.raises(NotFittedError):
            gf.evaluate(unfitted, FRAME, DATA.y)


@pytest.mark.parametrize("cv", [2.5, True, {"a": 1}, object(), KFold, b"five", 3 + 0j])
def test_cv_of_a_wrong_type(cv: Any) -> None:
    fits = [
        lambda: gf.PBHS(cv=cv, **SHORT).fit(FRAME, DATA.y),
        lambda: gf.Baseline(cv=cv).fit(FRAME, DATA.y),
        lambda: gf.PBHS(estimators=[gf.GP()], cv=cv, **SHORT).fit(FRAME, DATA.y),
        lambda: gf.cross_validate(gf.GP(), FRAME, DATA.y, cv=cv),
    ]
    for fit in fits:
        with pytest.raises(TypeError, match=r"^cv: .* is of type .*: give a number, a splitter"):
            fit()


@pytest.mark.parametrize("cv", [[1, 2], [(1, 2)], [([0, 1], [2], [3])], [([[0]], [1])]])
def test_folds_that_are_no_pairs(cv: Any) -> None:
    with pytest.raises(TypeError, match=r"^cv: fold 0 is .*, not a pair of row numbers"):
        gf.cross_validate(gf.GP(), FRAME, DATA.y, cv=cv)


@pytest.mark.parametrize("share", ["0.2", True, [0.2], {"a": 1}, np.bool(True), 1j])
def test_hold_out_of_a_wrong_type(share: Any) -> None:
    for model in (
        gf.PBHS(hold_out=share, **SHORT),
        gf.BHS(estimators=[gf.GP()], hold_out=share, **SHORT),
        gf.Baseline(hold_out=share),
    ):
        with pytest.raises(TypeError, match=r"^hold_out: .* is no number: give a share"):
            model.fit(FRAME, DATA.y)
