"""The classical rules: their laws, hand formulas, and the same ways to give experts."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import BayesianRidge
from sklearn.model_selection import cross_val_score

import gpfuse as gf


def rows(n=60, seed=0):
    """A sine with noise of 0.2."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, size=(n, 1))
    return X, np.sin(2.0 * X[:, 0]) + rng.normal(0.0, 0.2, size=n)


def good(X):
    """Right, and sure of it."""
    return np.sin(2.0 * X[:, 0]), np.full(len(X), 0.25)


def vague(X):
    """Wrong, and not sure."""
    return 0.5 * X[:, 0], 0.6 + 0.1 * X[:, 0] ** 2


def tables(X):
    """What both say, as two arrays."""
    (a, s), (b, t) = good(X), vague(X)
    return {"mean": np.stack([a, b], 1), "std": np.stack([s, t], 1)}


def gps(X, y):
    """Two GPs trained on the same rows."""
    first = gf.GP(kernel="matern12", random_state=0, threads=1).fit(X, y)
    scikit = GaussianProcessRegressor(RBF() + WhiteKernel(0.1), normalize_y=True).fit(X, y)
    return [("gf", first), ("scikit", scikit)]


# ---- laws


@pytest.mark.parametrize("rule", gf.RULES)
def test_every_rule_gives_a_density(rule):
    X, y = rows()
    trained = gps(*rows(seed=1))
    model = gf.Baseline(rule, estimators=trained, random_state=0).fit(X, y)
    dist = model.predict_dist(X)
    grid = np.linspace(-8.0, 8.0, 2001)
    mass = dist.pdf(np.tile(grid, (len(X), 1))).sum(axis=1) * (grid[1] - grid[0])
    assert_allclose(mass, 1.0, atol=1e-6)
    assert np.isfinite(float(model.evaluate(X, y).nlpd))
    mean, std = model.predict(X, return_std=True)
    assert_array_equal(mean, model.predict(X))
    assert (std > 0).all()
    if model.weights_ is not None:
        assert (model.weights_ >= 0).all()
        assert_allclose(model.weights_.sum(), 1.0, atol=1e-12)


@pytest.mark.parametrize("rule", [rule for rule in gf.RULES if rule != "bma"])
def test_experts_have_no_order(rule):
    X, y = rows()
    forth = gf.Baseline(rule, estimators=[good, vague], random_state=0).fit(X, y)
    back = gf.Baseline(rule, estimators=[vague, good], random_state=0).fit(X, y)
    assert_allclose(forth.predict_dist(X).logpdf(y), back.predict_dist(X).logpdf(y), atol=1e-6)


@pytest.mark.parametrize("rule", [rule for rule in gf.RULES if rule != "bma"])
def test_arrays_and_experts_that_return_them_are_the_same(rule):
    X, y = rows()
    given = gf.Baseline(rule, random_state=0).fit(X, y, **tables(X))
    asked = gf.Baseline(rule, estimators=[good, vague], random_state=0).fit(X, y)
    assert given.names_ == ["1", "2"]
    assert asked.names_ == ["good", "vague"]
    assert_array_equal(given.predict(X, **tables(X)), asked.predict(X))
    assert given.score(X, y, **tables(X)) == asked.score(X, y)
    copy = pickle.loads(pickle.dumps(asked))
    assert_array_equal(copy.predict_dist(X).logpdf(y), asked.predict_dist(X).logpdf(y))


# ---- hand formulas


def test_the_equal_linear_pool():
    X, y = rows()
    (a, s), (b, t) = good(X), vague(X)
    model = gf.Baseline("linear-pool", estimators=[good, vague]).fit(X, y)
    density = 0.5 * norm.pdf(y, a, s) + 0.5 * norm.pdf(y, b, t)
    assert_allclose(model.predict_dist(X).pdf(y), density, rtol=1e-10)
    assert_allclose(float(model.evaluate(X, y).nlpd), -np.log(density).mean(), rtol=1e-10)


@pytest.mark.parametrize(("rule", "power"), [("poe", 1.0), ("gpoe-uniform", 0.5)])
def test_products_add_precisions(rule, power):
    X, y = rows()
    (a, s), (b, t) = good(X), vague(X)
    model = gf.Baseline(rule, estimators=[good, vague]).fit(X, y)
    precision = power * (s**-2 + t**-2)
    mean, std = model.predict(X, return_std=True)
    assert_allclose(mean, power * (a * s**-2 + b * t**-2) / precision, rtol=1e-10)
    assert_allclose(std, precision**-0.5, rtol=1e-10)


def test_the_committee_machine_takes_the_prior_of_y_out():
    X, y = rows()
    (a, s), (b, t) = good(X), vague(X)
    model = gf.Baseline("bcm", estimators=[good, vague]).fit(X, y)
    precision = s**-2 + t**-2 - 1.0 / y.var()
    centre = (a * s**-2 + b * t**-2 - y.mean() / y.var()) / precision
    keeps = precision > 1.0 / y.var()
    assert keeps.any()
    mean, std = model.predict(X, return_std=True)
    assert_allclose(mean[keeps], centre[keeps], rtol=1e-9)
    assert_allclose(std[keeps], precision[keeps] ** -0.5, rtol=1e-9)


def test_stacking_has_the_weights_that_predict_best():
    """No other point of the simplex has a higher log score, to the solver's 1e-6."""
    X, y = rows()
    a, s = good(X)

    def off(X):
        return good(X)[0] + 0.1, np.full(len(X), 0.15)

    b, t = off(X)
    model = gf.Baseline("stacking", estimators=[good, off]).fit(X, y)
    w = np.linspace(0.0, 1.0, 1001)[:, None]
    scores = np.log(w * norm.pdf(y, a, s) + (1.0 - w) * norm.pdf(y, b, t)).mean(axis=1)
    best = w[np.argmax(scores), 0]
    assert 0.05 < best < 0.95
    assert_allclose(model.weights_, [best, 1.0 - best], atol=2e-3)
    assert -float(model.evaluate(X, y).nlpd) > scores.max() - 1e-6


def test_bma_weighs_by_marginal_likelihoods_in_the_units_of_y():
    """The same GP on a scaled target has the same evidence, whoever scales it."""
    X, y = rows(30)
    kernel = RBF(0.7, "fixed") + WhiteKernel(0.1, "fixed")
    scale, shift = y.std(), y.mean()
    normal = GaussianProcessRegressor(kernel, normalize_y=True).fit(X, 5.0 * y)
    wide = scale**2 * 25.0 * kernel
    wide.k1.constant_value_bounds = "fixed"
    same = GaussianProcessRegressor(wide, alpha=1e-10 * 25.0 * scale**2)
    same.fit(X, 5.0 * (y - shift))
    model = gf.Baseline("bma", estimators=[normal, same]).fit(X, 5.0 * y)
    assert_allclose(model.weights_, [0.5, 0.5], atol=1e-6)


def test_bma_refuses_experts_of_different_rows():
    X, y = rows(30)
    one, other = (gf.GP(random_state=0, starts=1).fit(X[:n], y[:n]) for n in (30, 20))
    scikit = GaussianProcessRegressor(RBF() + WhiteKernel(0.1)).fit(X[:20], y[:20])
    for second in (other, scikit, FrozenEstimator(other)):
        with pytest.raises(ValueError, match=r"different numbers of rows \(`a` 30, `b` 20\)"):
            gf.Baseline("bma", estimators=[("a", one), ("b", second)]).fit(X, y)
    parts = gf.fit_experts([(X[:15], y[:15]), (X[15:], y[15:])], starts=1)
    with pytest.raises(ValueError, match="expert `partitionexpert-1` was trained on a partition"):
        gf.Baseline("bma", estimators=parts).fit(X, y)


# ---- experts of our own, scikit-learn, names


def test_experts_of_our_own_are_better_than_none():
    """Fixed seed. The prior of y alone scores about 1.1; the margin is 0.5."""
    X, y = rows(120)
    new, outcomes = rows(60, seed=1)
    model = gf.Baseline("rbcm", experts=2, random_state=0, threads=1).fit(X, y)
    assert [name for name, _ in model.experts_] == ["1", "2"]
    sizes = [len(expert.gp_.y) for _, expert in model.experts_]
    assert sizes == [48, 48]
    seen = np.concatenate([expert.gp_.x[:, 0] for _, expert in model.experts_])
    assert len(set(seen)) == 96
    assert float(model.evaluate(new, outcomes).nlpd) < 0.6
    assert_array_equal(clone(model).fit(X, y).predict(new), model.predict(new))


def test_unfitted_experts_are_fitted_within_cross_validation():
    X, y = rows(90)
    gp = GaussianProcessRegressor(RBF() + WhiteKernel(0.1))
    model = gf.Baseline(estimators=[gp, BayesianRidge()], random_state=0)
    assert (cross_val_score(model, X, y, cv=3) > 0.7).all()


def test_what_was_learned_does_not_change_with_the_arrays_of_the_caller():
    X, y = rows()
    said = tables(X)
    model = gf.Baseline("stacking").fit(X, y, **said)
    dist = model.predict_dist(X, **said)
    expected = model.predict_dist(X, **tables(X)).logpdf(y)
    said["mean"][:, 0] += 5.0
    assert_array_equal(dist.logpdf(y), expected)
    # A copy learns again from what the fit was given.
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.predict_dist(X, **tables(X)).logpdf(y), expected)


def test_columns_of_frames_are_names():
    X, y = rows()
    said = {what: pd.DataFrame(v, columns=["a", "b"]) for what, v in tables(X).items()}
    model = gf.Baseline("poe").fit(X, y, **said)
    assert model.names_ == ["a", "b"]
    other = {what: table[["b", "a"]] for what, table in said.items()}
    with pytest.raises(ValueError, match="mean: the columns are `b`, `a`"):
        model.predict(X, **other)


# ---- errors


def test_what_is_wrong_is_named():
    X, y = rows()
    for model, said, words in [
        (gf.Baseline("pool"), {}, "rule: there is no `pool`: use one of linear-pool"),
        (gf.Baseline("bma"), tables(X), "`bma` needs the experts' log marginal likelihoods"),
        (gf.Baseline("bma"), {}, "`bma` compares experts that were trained on the same rows"),
        (gf.Baseline("bma", estimators=[good, vague]), {}, "expert `good`: a function has no"),
        (gf.Baseline(experts=0), {}, "experts: 0 is out of range"),
        (gf.Baseline(experts=40), {}, "experts: 40 experts for 48 rows"),
        (gf.Baseline(hold_out=0.0), {}, "hold_out: 0.0 must lie between 0 and 1"),
        (gf.Baseline(estimators=[good]), tables(X), "leave out mean= and std=, or estimators="),
        (gf.Baseline(), {"mean": tables(X)["mean"]}, "`std` is missing"),
    ]:
        with pytest.raises(ValueError, match=words):
            model.fit(X, y, **said)
    given = gf.Baseline().fit(X, y, **tables(X))
    with pytest.raises(ValueError, match="experts `1`, `2` were made elsewhere"):
        given.predict(X)
    with pytest.raises(ValueError, match=r"mean: expected shape \(60, 2\).*found \(3, 2\)"):
        given.predict(X, **tables(X[:3]))
