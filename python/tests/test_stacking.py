"""BHS and PBHS: laws of the weights, names of experts, files."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import BayesianRidge

import gpfuse as gf
from halves import FAST, KINDS, Recorder, east, rows, tables, west

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


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


def test_linear_weights_rise_all_the_way():
    """Fixed seed. Their logits are lines in every draw, and so is the order of the mean weights."""
    X, y = rows()
    model = gf.BHS(estimators=[west, east], gate="linear", **FAST).fit(X, y)
    share = model.weights(np.linspace(-4.0, 4.0, 9)[:, None]).mean[:, 1]
    assert (np.diff(share) > 0).all()
    assert share[0] < 0.2
    assert share[-1] > 0.8


@pytest.mark.parametrize("kind", KINDS)
def test_experts_have_no_order(kind):
    """Fixed seed. Two runs of 400 draws each.

    Over 8 seeds the largest difference of means was 0.041, and of weights 0.020 in all cases but
    one with 0.121, where a chain was slow; with this seed they are 0.041 and 0.018. The margins,
    0.1 and 0.05, are more than twice that.
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


def test_columns_called_by_numbers_are_names_as_well():
    X, y = rows()
    said = {what: pd.DataFrame(v, columns=["1", "2"]) for what, v in tables(X).items()}
    swapped = {what: table[["2", "1"]] for what, table in said.items()}
    tiny = FAST | {"chains": 1, "warmup": 20, "draws": 20}
    for model in (gf.PBHS(**tiny), gf.Baseline("poe")):
        for given in (said, tables(X)):
            model.fit(X, y, **given)
            with pytest.raises(ValueError, match="mean: the columns are `2`, `1`: expected"):
                model.predict(X, **swapped)
            with pytest.raises(ValueError, match="std: the columns are `2`, `1`: expected"):
                model.predict(X, mean=said["mean"], std=swapped["std"])
            assert_array_equal(model.predict(X, **said), model.predict(X, **tables(X)))
    named = {what: table.set_axis(["a", "b"], axis=1) for what, table in said.items()}
    assert_array_equal(model.predict(X, **named), model.predict(X, **tables(X)))


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
        assert model.model_.outside(X) is None
