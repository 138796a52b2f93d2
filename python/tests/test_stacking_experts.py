"""Experts as estimators: trained, frozen, elsewhere, within scikit-learn's own tools."""

from __future__ import annotations

from concurrent.futures import Future

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import BayesianRidge, LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gpfuse as gf
from halves import FAST, Recorder, east, rows, tables, west

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_experts_are_fitted_on_the_rows_that_are_not_held_out():
    X, y = rows()
    asked = []

    def noting(X):
        asked.append(X[:, 0])
        return west(X)

    ready, fresh = Recorder(shift=1.0).fit(X[:3], y[:3]), Recorder()
    model = gf.PBHS(estimators=[ready, fresh, noting], hold_out=0.25, **FAST).fit(X, y)
    assert not hasattr(fresh, "seen_")
    names, experts = zip(*model.experts_, strict=True)
    assert names == ("recorder-1", "recorder-2", "noting")
    assert experts[0] is ready
    assert len(asked) == 1
    assert len(asked[0]) == 20
    assert_array_equal(np.sort([*asked[0], *experts[1].seen_]), np.sort(X[:, 0]))
    assert_array_equal(X[model.weight_rows_, 0], asked[0])
    again = clone(model).fit(X, y)
    assert_array_equal(again.experts_[1][1].seen_[:30], experts[1].seen_[:30])
    other = clone(model).set_params(random_state=1).fit(X, y)
    assert not np.array_equal(other.experts_[1][1].seen_[:30], experts[1].seen_[:30])


def test_a_gp_that_could_predict_from_its_prior_is_fitted():
    """scikit-learn's own check passes such a GP before its fit, alone and in a pipeline."""
    X, y = rows()
    gp = GaussianProcessRegressor(RBF() + WhiteKernel(0.1))
    experts = [gp, make_pipeline(StandardScaler(), gp), west]
    model = gf.BHS(estimators=experts, **FAST).fit(X, y)
    assert len(model.experts_[0][1].X_train_) == 80
    assert len(model.experts_[1][1][-1].X_train_) == 80
    assert not hasattr(gp, "X_train_")
    with pytest.raises(ValueError, match="expert `gaussianprocessregressor` was frozen before"):
        gf.BHS(estimators=[FrozenEstimator(gp), west], **FAST).fit(X, y)


def test_experts_elsewhere_are_all_asked_before_one_is_awaited():
    X, y = rows()
    log = []

    class Answer(Future):
        def result(self, timeout=None):
            log.append("awaited")
            return super().result(timeout)

    class Elsewhere:
        def __init__(self, expert):
            self.expert = expert

        def submit(self, X):
            log.append("asked")
            answer = Answer()
            answer.set_result(self.expert(X))
            return answer

    def here(X):
        log.append("here")
        return west(X)

    experts = [Elsewhere(west), here, Elsewhere(east)]
    model = gf.BHS(estimators=experts, **FAST).fit(X, y)
    assert log == ["asked", "asked", "here", "awaited", "awaited"]
    assert model.model_.experts == ["elsewhere-1", "here", "elsewhere-3"]
    plain = gf.BHS(estimators=[west, west, east], **FAST).fit(X, y)
    assert_array_equal(model.predict(X), plain.predict(X))


def test_frozen_experts_survive_a_clone_and_others_do_not():
    X, y = rows()
    ready = Recorder().fit(X[:5], y[:5])
    frozen = gf.PBHS(estimators=[FrozenEstimator(ready), east], **FAST)
    model = clone(frozen).fit(X, y)
    assert model.experts_[0][0] == "recorder"
    assert len(model.experts_[0][1].seen_) == 5
    thawed = clone(gf.PBHS(estimators=[ready, east], **FAST)).fit(X, y)
    assert len(thawed.experts_[0][1].seen_) == 80


class Private(Recorder):
    """A regressor whose state has names of its own."""

    def fit(self, X, y):
        self._rows = len(X)
        return self


def test_frozen_experts_need_not_name_their_state_as_scikit_learn_does():
    X, y = rows()
    tiny = FAST | {"chains": 1, "warmup": 20, "draws": 20}
    ready = Private().fit(X[:5], y[:5])
    model = gf.BHS(estimators=[FrozenEstimator(ready), east], **tiny).fit(X, y)
    assert ready._rows == 5
    assert len(model.weight_rows_) == 80
    with pytest.raises(ValueError, match="expert `private` was frozen before its fit"):
        gf.BHS(estimators=[FrozenEstimator(Private()), east], **tiny).fit(X, y)


def test_scikit_learn_searches_and_pipelines_take_it():
    X, y = rows(60)
    gp = GaussianProcessRegressor(RBF() + WhiteKernel(0.1))
    tiny = FAST | {"chains": 1, "warmup": 50, "draws": 50}
    model = gf.PBHS(estimators=[gp, BayesianRidge()], hold_out=0.4, **tiny)
    search = GridSearchCV(model, {"normalise": [False, True], "hold_out": [0.3]}, cv=2)
    search.fit(X, y)
    assert search.best_params_["hold_out"] == 0.3
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    scaled = make_pipeline(StandardScaler(), model)
    # Experts see scaled rows: other units of X change nothing. A power of two rounds nothing.
    one, two = clone(scaled).fit(X, y), clone(scaled).fit(1024.0 * X, y)
    assert_allclose(one.predict(X), two.predict(1024.0 * X), rtol=0, atol=1e-10)
    assert one.predict(X, return_std=True)[1].shape == (60,)


def test_arrays_are_routed_through_cross_validation():
    X, y = rows(60)
    tiny = FAST | {"chains": 1, "warmup": 50, "draws": 50}
    with sklearn.config_context(enable_metadata_routing=True):
        model = gf.PBHS(**tiny).set_fit_request(mean=True, std=True)
        model = model.set_score_request(mean=True, std=True)
        scores = cross_val_score(model, X, y, cv=2, params=tables(X))
    assert scores.shape == (2,)
    assert np.isfinite(scores).all()


def test_predictions_of_a_pipeline_are_asked_with_return_std():
    X, y = rows()
    pipe = make_pipeline(StandardScaler(), BayesianRidge())
    model = gf.BHS(estimators=[pipe, west], **FAST).fit(X, y)
    assert [name for name, _ in model.experts_] == ["pipeline", "west"]
    mute = make_pipeline(StandardScaler(), LinearRegression())
    with pytest.raises(TypeError, match="expert `pipeline`: it does not take return_std"):
        gf.BHS(estimators=[mute, west], **FAST).fit(X, y)
