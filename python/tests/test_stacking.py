"""BHS and PBHS over experts of any kind: laws of the weights, ways to give experts, errors."""

from __future__ import annotations

import pickle
from concurrent.futures import Future

import gpfuse as gf
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import BayesianRidge, LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

FAST = {"chains": 2, "warmup": 100, "draws": 100, "random_state": 0, "progress": False}
KINDS = [gf.BHS, gf.PBHS]


def rows(n=80, seed=0):
    """A sine with noise of 0.2."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, size=(n, 1))
    return X, np.sin(2.0 * X[:, 0]) + rng.normal(0.0, 0.2, size=n)


def west(X):
    """Right on the left."""
    return np.sin(2.0 * X[:, 0]) + 2.0 * (X[:, 0] > 0.0), np.full(len(X), 0.2)


def east(X):
    """Right on the right."""
    return np.sin(2.0 * X[:, 0]) + 2.0 * (X[:, 0] < 0.0), np.full(len(X), 0.2)


def tables(X, experts=(west, east)):
    """What experts say, as two arrays."""
    said = [expert(X) for expert in experts]
    return {"mean": np.stack([m for m, _ in said], 1), "std": np.stack([s for _, s in said], 1)}


class Recorder(RegressorMixin, BaseEstimator):
    """A regressor that notes which rows it was fitted to."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y):
        self.seen_ = np.asarray(X)[:, 0]
        return self

    def predict(self, X, return_std=False):
        mean, std = west(np.asarray(X))
        return (mean + self.shift, std) if return_std else mean + self.shift


# ---- laws


def test_weights_of_a_linear_pool_sum_to_one():
    X, y = rows()
    for model, said in [
        (gf.BHS(**FAST), tables(X)),
        (gf.BHS(experts=3, **FAST), {}),
        (gf.PBHS(normalise=True, **FAST), tables(X)),
    ]:
        found = model.fit(X, y, **said).weights(X, **said)
        assert_allclose(found.mean.sum(axis=1), 1.0, rtol=0, atol=1e-12)
        assert (found.low <= found.mean).all()
        assert (found.mean <= found.high).all()


@pytest.mark.parametrize("kind", KINDS)
def test_weights_follow_the_expert_that_is_right(kind):
    """Fixed seed. The true shares are 0 and 1; the margin is 0.2."""
    X, y = rows()
    model = kind(estimators=[west, east], **FAST).fit(X, y)
    assert model.weights(X).experts == ["west", "east"]
    share = model.weights([[-1.5], [1.5]]).mean
    share = share / share.sum(axis=1, keepdims=True)
    assert share[0, 0] > 0.8
    assert share[1, 1] > 0.8
    alone = gf.Baseline("best-expert", estimators=[west, east]).fit(X, y)
    assert float(model.evaluate(X, y).nlpd) < float(alone.evaluate(X, y).nlpd) - 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_experts_have_no_order(kind):
    """Fixed seed. Two runs of 400 draws each.

    Over 8 seeds the largest difference of means was 0.041, and of weights 0.018 in all cases but
    one with 0.121, where a chain was slow; the margins are more than twice 0.041 and 0.018.
    """
    X, y = rows()
    more = FAST | {"draws": 200}
    forth = kind(estimators=[west, east], **more).fit(X, y)
    back = kind(estimators=[east, west], **more).fit(X, y)
    assert_allclose(forth.predict(X), back.predict(X), rtol=0, atol=0.1)
    shares = [m.weights(X[::8]).mean for m in (forth, back)]
    shares = [s / s.sum(axis=1, keepdims=True) for s in shares]
    assert_allclose(shares[0], shares[1][:, ::-1], rtol=0, atol=0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_and_experts_that_return_them_give_the_same_draws(kind):
    X, y = rows()
    new = np.linspace(-2.0, 2.0, 9)[:, None]
    given = kind(**FAST).fit(X, y, **tables(X))
    asked = kind(estimators=[west, Recorder().fit(X, y)], **FAST).fit(X, y)
    same = kind(**FAST).fit(X, y, **tables(X, (west, west)))
    named = kind(estimators=[("a", west), ("b", east)], **FAST).fit(X, y)
    assert_array_equal(given.predict(new, **tables(new)), named.predict(new))
    assert_array_equal(same.predict(new, **tables(new, (west, west))), asked.predict(new))
    found = given.weights(new, 0.5, **tables(new))
    assert_array_equal(found.high, named.weights(new, 0.5).high)
    assert given.evaluate(X, y, **tables(X)).nlpd == named.evaluate(X, y).nlpd
    dist = given.predict_dist(new, **tables(new))
    assert_array_equal(dist.std, named.predict(new, return_std=True)[1])
    assert given.score(X, y, **tables(X)) == named.score(X, y)


# ---- experts as estimators


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
    assert len(model.experts_[0][1].X_train_) == 64
    assert len(model.experts_[1][1][-1].X_train_) == 64
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
    assert len(thawed.experts_[0][1].seen_) == 64


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


# ---- names, files, pickles


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_columns_of_frames_are_names(frame):
    X, y = rows()
    said = {what: frame(dict(zip("ab", v.T, strict=True))) for what, v in tables(X).items()}
    model = gf.PBHS(**FAST).fit(frame({"x": X[:, 0]}), y, **said)
    assert model.model_.experts == ["a", "b"]
    assert model.model_.inputs == ["x"]
    named = frame({"x": X[:, 0]})
    assert model.weights(named, **said).experts == ["a", "b"]
    assert_array_equal(model.predict(named, **said), model.predict(named, **tables(X)))
    other = {what: table[["b", "a"]] for what, table in said.items()}
    with pytest.raises(ValueError, match=r"mean: the columns are `b`, `a`: expected .* `a`, `b`"):
        model.predict(named, **other)
    with pytest.raises(ValueError, match="std: the columns are `b`, `a`"):
        gf.PBHS(**FAST).fit(X, y, mean=said["mean"], std=other["std"])


def test_experts_see_frames_as_frames():
    X, y = rows()
    frame = pd.DataFrame({"depth": X[:, 0]})

    def by_name(X):
        return np.sin(2.0 * X["depth"]), np.full(len(X), 0.2)

    model = gf.BHS(estimators=[by_name, BayesianRidge()], **FAST).fit(frame, y)
    assert list(model.experts_[1][1].feature_names_in_) == ["depth"]
    assert np.isfinite(model.predict(frame)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_files_and_pickles_predict_the_same(kind, tmp_path):
    X, y = rows()
    experts = [("a", west), ("b", Recorder())]
    for model, fit, said in [
        (kind(**FAST), tables(X), tables(X)),
        (kind(estimators=experts, **FAST), {}, tables(X, (west, west))),
        (kind(experts=2, **FAST), {}, {}),
    ]:
        model.fit(X, y, **fit)
        expected = model.predict(X, **fit)
        assert_allclose(pickle.loads(pickle.dumps(model)).predict(X, **fit), expected, atol=1e-12)
        model.save(tmp_path / "m.nc")
        loaded = gf.load(tmp_path / "m.nc")
        assert type(loaded) is kind
        assert loaded.estimators is None
        assert_allclose(loaded.predict(X, **said), expected, atol=1e-12)
        if said:
            with pytest.raises(ValueError, match=r"were made elsewhere.*mean= and std="):
                loaded.predict(X)


def test_a_loaded_model_has_the_parameters_of_its_fit(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    y = X["a"] + 0.1 * rng.normal(size=60)
    own = {
        "experts": 2,
        "partition": "inputs",
        "expert_inputs": [["a"], ["b", "a"]],
        "expert_kernel": "matern32",
        "expert_objective": "marginal-likelihood",
        "hold_out": 0.3,
        "along": "b",
        "plain": True,
    }
    model = gf.PBHS(**own, **FAST).fit(X, y)
    model.save(tmp_path / "m.nc")
    loaded = gf.load(tmp_path / "m.nc")
    numbers = own | {"expert_inputs": [[0], [1, 0]], "along": 1}
    assert {name: loaded.get_params()[name] for name in numbers} == numbers
    assert_allclose(clone(loaded).fit(X, y).predict(X), model.predict(X), atol=1e-10)


def test_own_experts_differ_as_the_partition_says():
    X, y = rows()
    tiny = FAST | {"chains": 1, "warmup": 50, "draws": 50}
    found = {}
    for partition in ("random", "kmeans", "contiguous", "kernels"):
        model = gf.BHS(experts=2, partition=partition, along="x0", **tiny).fit(X, y)
        found[partition] = model.weights([[-1.9], [1.9]]).expert_std
    # The expert of the other half is less sure: stretches go along the input.
    assert found["contiguous"][0, 0] < found["contiguous"][0, 1]
    assert found["contiguous"][1, 1] < found["contiguous"][1, 0]
    assert len({std.tobytes() for std in found.values()}) == 4


def test_the_box_reaches_all_rows_of_the_fit():
    """The weights have 4 of 80 rows; without a wider box some of the others lie beyond it."""
    X, y = rows()
    for seed in range(4):
        tiny = FAST | {"chains": 1, "warmup": 20, "draws": 20, "random_state": seed}
        model = gf.BHS(estimators=[Recorder(), east], hold_out=0.05, **tiny).fit(X, y)
        assert model.model_.outside(X) == []


# ---- errors


def spoiled(what, value):
    said = tables(rows()[0])
    said[what][2, 1] = value
    return said


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (spoiled("std", 0.0), r"expert `2`, row 3: std is 0.0: .*WhiteKernel.*noise floor"),
        (spoiled("std", -1.0), r"expert `2`, row 3: std is -1.0: it must be positive"),
        (spoiled("std", np.nan), r"expert `2`, row 3: std is nan"),
        (spoiled("mean", np.inf), r"expert `2`, row 3: mean is inf"),
        ({"mean": np.zeros((80, 2))}, r"`std` is missing: give both"),
        ({"std": np.zeros((80, 2))}, r"`mean` is missing: give both"),
        ({"mean": np.zeros(80), "std": np.ones(80)}, r"mean: expected shape \(rows, experts\)"),
        ({"mean": np.zeros((80, 2)), "std": np.ones((80, 3))}, r"std: .*\(80, 2\).*\(80, 3\)"),
        ({"mean": np.zeros((9, 2)), "std": np.ones((9, 2))}, r"mean: .*\(80, 2\).*\(9, 2\)"),
        ({"mean": [["a", "b"]] * 80, "std": np.ones((80, 2))}, r"mean: .*give numbers"),
    ],
)
def test_bad_tables_are_named(said, words):
    X, y = rows()
    with pytest.raises(ValueError, match=words):
        gf.PBHS(**FAST).fit(X, y, **said)


@pytest.mark.parametrize(
    ("experts", "error", "words"),
    [
        ([], ValueError, "the list is empty"),
        (3, TypeError, "estimators: give a list"),
        ([west, "west"], TypeError, "expert `str` is of type str"),
        ([west, Recorder], TypeError, "is the class Recorder: give an instance"),
        ([LinearRegression(), west], TypeError, "expert `linearregression`: .*return_std"),
        ([("a", west), ("a", east)], ValueError, "two experts are called `a`"),
        ([west, lambda X: X], TypeError, "expert `expert` gave a ndarray"),
        ([west, lambda X: (X[:5, 0], X[:5, 0])], ValueError, r"mean has shape \(5,\): .*\(80,\)"),
        (
            [west, ("sure", lambda X: (X[:, 0], 0.0 * X**2))],
            ValueError,
            "expert `sure`, row 1: std is 0",
        ),
    ],
)
def test_bad_experts_are_named(experts, error, words):
    X, y = rows()
    with pytest.raises(error, match=words):
        gf.PBHS(estimators=experts, **FAST).fit(X, y)


def test_an_expert_without_noise_is_told_what_to_do():
    X, y = rows(12)
    gp = GaussianProcessRegressor(RBF(0.5, "fixed"), alpha=1e-16).fit(X, y)
    with pytest.warns(UserWarning, match="smaller than 0"):
        row = int(np.argmax(gp.predict(X, return_std=True)[1] == 0)) + 1
    with (
        pytest.warns(UserWarning, match="smaller than 0"),
        pytest.raises(ValueError, match=rf"expert `gp`, row {row}: std is 0.0: .*WhiteKernel"),
    ):
        gf.PBHS(estimators=[("gp", gp), west], **FAST).fit(X, y)


def test_what_an_expert_raises_names_it():
    X, y = rows()

    def broken(X):
        raise RuntimeError("no connection")

    with pytest.raises(RuntimeError, match="no connection") as caught:
        gf.PBHS(estimators=[west, broken], **FAST).fit(X, y)
    assert "This happened in expert `broken`." in caught.value.__notes__


def test_predictions_where_they_do_not_belong_are_refused():
    X, y = rows()
    tiny = FAST | {"chains": 1, "warmup": 50, "draws": 50}
    asked = gf.PBHS(estimators=[west, east], **tiny)
    with pytest.raises(ValueError, match="leave out mean= and std=, or estimators="):
        asked.fit(X, y, **tables(X))
    with pytest.raises(ValueError, match="asked by themselves"):
        asked.fit(X, y).predict(X, **tables(X))
    own = gf.PBHS(experts=2, **tiny).fit(X, y)
    with pytest.raises(ValueError, match="experts of its own"):
        own.weights(X, **tables(X))
    given = gf.PBHS(**tiny).fit(X, y, **tables(X))
    with pytest.raises(ValueError, match="experts `1`, `2` were made elsewhere"):
        given.evaluate(X, y)
    with pytest.raises(ValueError, match=r"mean: expected shape \(80, 2\)"):
        given.predict(X, **tables(X, (west, east, west)))
    with pytest.raises(ValueError, match="one expert has no weights"):
        gf.BHS(estimators=[west], **tiny).fit(X, y)


def test_bad_settings_of_own_experts_are_named():
    X, y = rows()
    for wrong, words in [
        ({"along": "depth"}, "along: there is no column `depth`: the columns are x0"),
        ({"along": 1}, "along: there is no input 1"),
        ({"partition": "inputs", "expert_inputs": [[0]]}, "1 lists of inputs for 3 experts"),
        ({"hold_out": 1.0}, "hold_out"),
        ({"partition": "halves"}, "partition"),
        ({"expert_kernel": "linear"}, "kernel"),
    ]:
        with pytest.raises(ValueError, match=words):
            gf.PBHS(**wrong, **FAST).fit(X, y)
    with pytest.raises(ValueError, match=r"hold_out: 1.5 must lie between 0 and 1"):
        gf.PBHS(estimators=[Recorder(), west], hold_out=1.5, **FAST).fit(X, y)


def test_a_failed_fit_leaves_nothing_of_an_earlier_one():
    X, y = rows()
    model = gf.PBHS(estimators=[west, east], **FAST).fit(X, y)
    with pytest.raises(ValueError, match="the list is empty"):
        model.set_params(estimators=[]).fit(X, y)
    assert not hasattr(model, "experts_")
    with pytest.raises(sklearn.exceptions.NotFittedError):
        model.predict(X)
