"""Experts of other kinds: what they say, as log densities or as mean and std."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import gaussian_kde, nbinom, norm, poisson
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, QuantileRegressor

import gpfuse as gf
from gpfuse import saying
from halves import FAST, rows, west

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
LEVELS = [0.1, 0.25, 0.5, 0.75, 0.9]


def test_counts_have_their_log_probabilities():
    y, rate, r = np.array([0.0, 1.0, 7.0, 30.0]), np.array([0.0, 0.5, 9.0, 4.0]), 2.5
    assert_allclose(saying.poisson(y, rate), poisson.logpmf(y, rate), rtol=1e-12)
    expected = nbinom.logpmf(y, r, r / (r + rate))
    assert_allclose(saying.negative_binomial(y, rate, r), expected, rtol=1e-12)
    assert_array_equal(saying.poisson([0.5, -1.0], 2.0), [-np.inf, -np.inf])


def test_draws_are_a_kernel_estimate():
    """Fixed seed. The same as SciPy's with this bandwidth."""
    rng = np.random.default_rng(0)
    samples, y = rng.normal(size=(3, 200)), np.array([0.0, 1.0, -9.0])
    found = saying.draws(y, samples)
    for i, row in enumerate(samples):
        iqr = np.subtract(*np.quantile(row, [0.75, 0.25])) / 1.34
        h = 0.9 * min(row.std(ddof=1), iqr) * 200**-0.2
        assert_allclose(found[i], gaussian_kde(row, h / row.std(ddof=1)).logpdf(y[i]), rtol=1e-9)
    mean, std = saying.moments(samples)
    assert_array_equal(mean, samples.mean(axis=1))
    assert_array_equal(std, samples.std(axis=1, ddof=1))


@pytest.mark.parametrize("last", [4.0, 1.001])
def test_quantiles_are_a_density_with_their_moments(last):
    """Its integral is 1, its moments are those of the numbers; every level is met."""
    q = np.array([[-2.0, -0.5, 0.1, 1.0, last]])
    grid = np.linspace(-60.0, 90.0, 1_500_001)
    density = np.exp(saying.quantiles(grid, np.repeat(q, len(grid), axis=0), LEVELS))
    step = grid[1] - grid[0]
    assert_allclose(density.sum() * step, 1.0, rtol=1e-4)
    mean, std = saying.quantile_moments(q, LEVELS)
    assert_allclose(mean[0], (grid * density).sum() * step, atol=1e-3)
    assert_allclose(std[0] ** 2, ((grid - mean) ** 2 * density).sum() * step, rtol=1e-3)
    for level, edge in zip(LEVELS, q[0], strict=True):
        assert_allclose(density[grid < edge].sum() * step, level, atol=1e-4)
    # Quantiles that nearly touch do not make the tail narrow.
    assert saying.quantiles([last + 2.0], q, LEVELS)[0] > -8.0


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: saying.poisson([1, 2], [1, -1], name="a"), "expert `a`, row 2: rate is -1.0"),
        (lambda: saying.poisson([1, np.nan], 1), "expert `poisson`, row 2: y is nan"),
        (lambda: saying.poisson([1, 2], [1]), r"rate has shape \(1,\): expected \(2,\)"),
        (lambda: saying.negative_binomial([1], 1, 0), "row 1: dispersion is 0.0: it must be pos"),
        (lambda: saying.draws([1.0, 2.0], np.ones((2, 9))), "row 1: the spread of the draws is 0"),
        (lambda: saying.draws([1.0], np.ones((2, 9))), r"y has shape \(1,\): expected \(2,\)"),
        (lambda: saying.moments([[1.0, np.nan]]), "expert `draws`, row 1: draws is nan"),
        (lambda: saying.quantiles([1.0], [[1.0, 1.0]], [0.1, 0.9]), "row 1: a quantile is 1.0"),
        (lambda: saying.quantile_moments([[1.0, 2.0]], [0.9, 0.1]), "levels are .* ascending"),
        (lambda: saying.quantile_moments([[1.0, 2.0]], [0.1]), "levels are .* for 2 quantiles"),
    ],
)
def test_bad_numbers_name_expert_and_row(ask, words):
    with pytest.raises(ValueError, match=words):
        ask()


class Boosted(LinearRegression):
    """As NGBoost has it: a distribution with a mean and an std."""

    def pred_dist(self, X):
        return norm(self.predict(X), 0.5)


def test_common_regressors_need_no_wrapper():
    X, y = rows()
    forest = RandomForestRegressor(20, min_samples_leaf=3, random_state=0)
    trees = FrozenEstimator(ExtraTreesRegressor(20, min_samples_leaf=3, random_state=0).fit(X, y))
    quantiles = gf.QuantileExpert([QuantileRegressor(quantile=p, alpha=0) for p in LEVELS], LEVELS)
    point = gf.PointExpert(LinearRegression())
    experts = [Boosted(), forest, trees, point, quantiles, west]
    model = gf.Baseline("linear-pool", estimators=experts).fit(X, y)
    names = ["boosted", "randomforestregressor", "extratreesregressor"]
    assert [name for name, _ in model.experts_] == [*names, "pointexpert", "quantileexpert", "west"]
    assert np.isfinite(model.predict_dist(X).logpdf(y)).all()


def test_a_forest_is_as_sure_as_its_leaves():
    """One tree without resampling: mean and std of the targets in the leaf."""
    X, y = rows()
    tree = RandomForestRegressor(1, bootstrap=False, max_leaf_nodes=4, random_state=0).fit(X, y)
    model = gf.Baseline("linear-pool", estimators=[tree, west]).fit(X, y)
    from gpfuse.asking import told

    mean, std = told("tree", tree, X, len(X))
    leaves = tree.apply(X)[:, 0]
    for leaf in np.unique(leaves):
        assert_allclose(mean[leaves == leaf], y[leaves == leaf].mean(), rtol=1e-6)
        assert_allclose(std[leaves == leaf], y[leaves == leaf].std(), rtol=1e-6)
    assert len(model.experts_) == 2
    with pytest.raises(ValueError, match="criterion: the leaves of 'absolute_error'"):
        other = RandomForestRegressor(1, criterion="absolute_error").fit(X, y)
        told("tree", other, X, len(X))


def test_a_point_predictor_errs_as_on_rows_left_out():
    """The std of a model that knows its rows by heart is not 0."""
    from sklearn.neighbors import KNeighborsRegressor

    X, y = rows()
    found = gf.PointExpert(KNeighborsRegressor(1)).fit(X, y)
    mean, std = found.predict(X, return_std=True)
    assert_array_equal(mean, y)
    assert std[0] > 0.1
    assert (std == std[0]).all()


def test_what_is_said_goes_into_the_pool():
    X, y = rows()
    counts = np.round(np.abs(3 * y))
    said = {"a": saying.poisson(counts, 1.0), "b": saying.negative_binomial(counts, 2.0, 1.0)}
    model = gf.BHS(**FAST).fit(X, counts, log_density=said)
    assert model.weights(X).experts == ["a", "b"]
    with pytest.raises(ValueError, match="log_density: the experts' columns have different shapes"):
        model.fit(X, counts, log_density=said | {"b": said["b"][1:]})
