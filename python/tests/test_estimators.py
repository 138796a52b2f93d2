"""The estimators beyond scikit-learn's checks: settings, frames, predictions, errors."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gpfuse as gf
from conftest import SHORT
from gpfuse.base import Sampled

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SAMPLED = [gf.BHS, gf.PBHS, gf.MoGPE, gf.PoGPE, gf.HetGP]


def test_the_distribution_agrees_with_itself(pogpe: gf.PoGPE, data: gf.Simulated) -> None:
    p = pogpe.predict_dist(data.X)
    mean, std = pogpe.predict(data.X, return_std=True)
    assert np.array_equal(p.mean, mean) and np.array_equal(p.std, std)
    levels = np.array([0.05, 0.5, 0.95])
    quantiles = p.quantile(levels)
    assert quantiles.shape == (80, 3) and (np.diff(quantiles) > 0).all()
    np.testing.assert_allclose(p.cdf(quantiles), np.tile(levels, (80, 1)), atol=1e-12)
    np.testing.assert_allclose(p.quantile(0.5), quantiles[:, 1], rtol=1e-12)
    np.testing.assert_allclose(np.column_stack(p.interval(0.9)), quantiles[:, ::2], rtol=1e-12)
    grid = np.linspace(-12, 12, 4001)
    mass = np.trapezoid(p.pdf(np.tile(grid, (80, 1))), grid, axis=1)
    np.testing.assert_allclose(mass, 1.0, atol=1e-6)
    scores = p.evaluate(data.y)
    np.testing.assert_allclose(scores.nlpd.value, -p.logpdf(data.y).mean(), rtol=1e-12)
    np.testing.assert_allclose(scores.crps.value, p.crps(data.y).mean(), rtol=1e-10)
    assert scores.nlpd.mcse > 0 and scores.nlpd.se > 0 and "+-" in str(scores)
    assert float(scores.nlpd) == scores.nlpd.value


def test_weights_and_scores_are_tables_and_fit_a_screen(
    pogpe: gf.PoGPE, data: gf.Simulated
) -> None:
    pytest.importorskip("pandas")
    X = np.linspace(-2, 2, 300)[:, None]
    found = pogpe.weights(X)
    table = found.to_pandas()
    assert len(table) == 300 * len(found.experts) and table.index.names == ["row", "expert"]
    assert np.array_equal(table["low"].to_numpy(), found.low.ravel())
    assert table.loc[(7, found.experts[1]), "expert_mean"] == found.expert_mean[7, 1]
    lines = repr(found).splitlines()
    assert len(lines) < 15 and lines[0] == "mean weights at 300 rows"
    assert lines[-1].split() == ["299", *(f"{w:.3f}" for w in found.mean[-1])]
    few = repr(pogpe.weights(X[:3])).splitlines()
    assert [line.split()[0] for line in few[1:]] == ["row", "0", "1", "2"]
    many = gf.Weights([f"m{k}" for k in range(30)], *[np.full((2, 30), 0.1)] * 5, level=0.9)
    assert "22 more experts" in repr(many) and max(map(len, repr(many).splitlines())) < 80
    scores = pogpe.evaluate(data.X, data.y)
    table = scores.to_pandas()
    assert table.loc["nlpd", "value"] == scores.nlpd.value
    assert list(table.columns) == ["value", "mcse", "se"] and "coverage_95" in table.index


def test_samples_are_from_the_distribution(pogpe: gf.PoGPE, data: gf.Simulated) -> None:
    """Their means lie within 5 standard errors: false failure 80 x 6e-7 = 5e-5, seed fixed."""
    p = pogpe.predict_dist(data.X)
    samples = p.sample(2000, random_state=0)
    assert np.array_equal(samples, p.sample(2000, random_state=0))
    z = (samples.mean(axis=1) - p.mean) / (p.std / np.sqrt(2000))
    assert abs(z).max() < 5


def test_frames_keep_their_names(data: gf.Simulated) -> None:
    table = pd.DataFrame({"speed": data.X[:, 0], "load": np.cos(data.X[:, 0])})
    y = pd.Series(data.y, name="force")
    model = gf.HetGP(**SHORT).fit(table, y)
    assert model.model_.inputs == ["speed", "load"] and model.model_.target == "force"
    again = gf.HetGP(**SHORT).fit(pl.from_pandas(table), pl.Series("force", data.y))
    assert again.model_.inputs == ["speed", "load"] and again.model_.target == "force"
    assert np.array_equal(model.predict(table), again.predict(pl.from_pandas(table)))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[["load", "speed"]])
    assert np.array_equal(gf.HetGP(**SHORT).fit(table.to_numpy(), y).predict(table.to_numpy()),
                          model.predict(table))  # fmt: skip


def test_float32_lists_and_strides_are_taken(data: gf.Simulated) -> None:
    model = gf.HetGP(**SHORT).fit(data.X.tolist(), data.y.tolist())
    wide = np.asfortranarray(np.column_stack([data.X, data.X]))
    assert np.array_equal(model.predict(wide[:, ::2]), model.predict(data.X))
    single = data.X.astype(np.float32)
    assert np.array_equal(model.predict(single), model.predict(single.astype(float)))


def test_threads_and_randomness(data: gf.Simulated) -> None:
    one = gf.PoGPE(experts=2, threads=1, **SHORT).fit(data.X, data.y).predict(data.X)
    two = gf.PoGPE(experts=2, threads=2, **SHORT).fit(data.X, data.y).predict(data.X)
    assert np.array_equal(one, two)
    free = gf.PoGPE(experts=2, **(SHORT | {"random_state": None}))
    assert not np.array_equal(free.fit(data.X, data.y).predict(data.X), one)
    for state in (np.random.RandomState(0), np.random.default_rng(0)):
        assert np.isfinite(
            free.set_params(random_state=state).fit(data.X, data.y).predict(data.X)
        ).all()


def test_pipelines_and_searches(data: gf.Simulated) -> None:
    pipeline = make_pipeline(StandardScaler(), gf.HetGP(**SHORT))
    folds = KFold(2, shuffle=True, random_state=0)
    search = GridSearchCV(pipeline, {"hetgp__size": [1, 20]}, cv=folds)
    search.fit(data.X, data.y)
    assert search.best_params_ == {"hetgp__size": 20}
    assert search.predict(data.X).shape == (80,)
    copy = clone(gf.MoGPE(experts=5, omega=np.ones((3, 1))))
    assert copy.experts == 5 and repr(copy).startswith("MoGPE(experts=5")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"X": [[0.0], [np.nan], [1.0]]}, "values are missing or NaN: 1 in `x0`"),
        ({"X": [[0.0], [1.0], [-np.inf]]}, "row 3, column `x0` is -inf"),
        ({"y": [1.0, np.nan, 2.0]}, "NaN"),
        ({"y": [1.0, 1.0, 1.0]}, "the target is 1 in every row"),
        ({"y": [1.0, 2.0]}, "inconsistent numbers of samples"),
        ({"X": np.zeros((0, 1)), "y": []}, "0 sample"),
        ({"X": [0.0, 1.0, 2.0]}, "1D array"),
        ({"X": [["a"], ["b"], ["c"]]}, "could not convert string"),
        ({"chains": 0}, "setting `chains`: 0 is out of range: use 1 to 10000"),
        ({"chains": "four"}, "setting `chains`: `four` is no whole number"),
        ({"kernel": "periodic"}, "setting `kernel`: `periodic` is unknown: use one of `rbf`"),
        ({"priors": {"mu": {"length": 1}}}, "unknown field `length`"),
        ({"experts": 9}, "9 experts for 3 rows"),
        ({"random_state": -1}, "random_state: -1 is negative"),
        ({"random_state": 2**64}, r"random_state: 18446744073709551616 is too large"),
        ({"omega": np.ones((2, 5)), "X": np.eye(3)[:, :2]}, r"\(frequencies, 2\).*\(2, 5\)"),
        ({"omega": np.ones(4), "X": np.eye(3)[:, :2]}, r"omega: expected .* found \(4,\)"),
        ({"omega": [[1.0, 2.0]]}, r"\(frequencies, 1\), one column .* found \(1, 2\)"),
        ({"box": np.nan}, "^box: nan is no finite number"),
        ({"target_accept": np.float32("inf")}, "^target_accept: inf is no finite number"),
        ({"priors": {"mu": {"ell": np.nan}}}, r"^priors.mu.ell: nan is no finite number"),
        ({"threads": 0}, "threads: 0 is no number of threads: use 1 or more"),
        ({"threads": True}, "threads: True is no number"),
        ({"threads": 2.0}, "threads: 2.0 is no number"),
    ],
)
def test_bad_input_is_a_value_error(change: dict[str, Any], words: str) -> None:
    X = change.pop("X", [[0.0], [1.0], [2.0]])
    y = change.pop("y", [0.0, 1.0, 0.5])
    with pytest.raises(ValueError, match=words):
        gf.PoGPE(**({"experts": 2} | SHORT | change)).fit(X, y)


def test_flat_frequencies_are_those_of_one_input(data: gf.Simulated) -> None:
    flat, rows = (
        gf.HetGP(omega=omega, **SHORT).fit(data.X, data.y).predict(data.X)
        for omega in ([0.5, 1.0, 2.0], [[0.5], [1.0], [2.0]])
    )
    assert np.array_equal(flat, rows)


def test_outcomes_may_be_a_column(pogpe: gf.PoGPE, data: gf.Simulated) -> None:
    p = pogpe.predict_dist(data.X)
    column = p.evaluate(pd.DataFrame({"y": data.y}))
    assert np.array_equal(column.losses, p.evaluate(data.y).losses)
    assert np.array_equal(p.evaluate(data.y.astype(object)).losses, column.losses)
    for wrong in (np.zeros((80, 2)), ["a"] * 80, [None] * 79 + ["a"], [{}] * 80):
        with pytest.raises(ValueError, match=r"^y: .*: give one number per row"):
            p.evaluate(wrong)


def test_what_does_not_pickle_says_what_does(pogpe: gf.PoGPE, data: gf.Simulated) -> None:
    stop = pickle.loads(pickle.dumps(gf.Interrupted("stopped", pogpe)))
    assert isinstance(stop, gf.Interrupted) and str(stop) == "stopped"
    expected = pogpe.predict(data.X)
    np.testing.assert_allclose(stop.estimator.predict(data.X), expected, atol=1e-12)
    with pytest.raises(TypeError, match="pickle the estimator, or take arrays"):
        pickle.dumps(pogpe.predict_dist(data.X))


def test_simulations_take_any_random_state() -> None:
    same = gf.simulate(5, random_state=np.int64(3)).y
    assert np.array_equal(same, gf.simulate(5, random_state=3).y)
    states = [np.random.RandomState(0), np.random.default_rng(0), None]
    assert len({gf.simulate(np.int64(5), random_state=s).y.tobytes() for s in states}) == 3
    with pytest.raises(ValueError, match="random_state: -1 is negative"):
        gf.simulate(5, random_state=-1)
    with pytest.raises(ValueError, match="low: nan is no finite number"):
        gf.simulate(5, low=np.nan)


def test_bad_use_is_refused(pogpe: gf.PoGPE, data: gf.Simulated) -> None:
    with pytest.raises(NotFittedError):
        gf.PoGPE().predict(data.X)
    with pytest.raises(ValueError, match="2 features"):
        pogpe.predict(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="values are missing or NaN: 1 in `x0`"):
        pogpe.predict([[np.nan]])
    with pytest.raises(ValueError, match=r"quantile 1\.5 is out of range"):
        pogpe.predict_dist(data.X).quantile([0.5, 1.5])
    for level in (0.0, 1.0, 90, np.nan):
        with pytest.raises(ValueError, match=rf"^level: {level} is out of range"):
            pogpe.predict_dist(data.X).interval(level)
    with pytest.raises(ValueError, match="expected 80 rows, found 3"):
        pogpe.predict_dist(data.X).logpdf([1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match="settings"):
        gf.HetGP(size=object(), **SHORT).fit(data.X, data.y)
    with pytest.warns(UserWarning, match="1 of 2 rows .first: row 2. lie near the wall"):
        pogpe.predict([[0.0], [99.0]])


def test_a_failed_fit_leaves_nothing_behind(data: gf.Simulated) -> None:
    for model, bad in ((gf.GP(), {"kernel": "zz"}), (gf.HetGP(**SHORT), {"chains": 0})):
        model.fit(data.X, data.y)
        with pytest.raises(ValueError, match=next(iter(bad))):
            clone(model).set_params(**bad).fit(np.column_stack([data.X, data.X]), data.y)
        with pytest.raises(ValueError, match=next(iter(bad))):
            model.set_params(**bad).fit(np.column_stack([data.X, data.X]), data.y)
        with pytest.raises(NotFittedError):
            model.predict(data.X)


def test_outcomes_that_are_no_numbers_are_refused(pogpe: gf.PoGPE, data: gf.Simulated) -> None:
    for bad in (np.nan, np.inf):
        y = data.y.copy()
        y[6] = bad
        with pytest.raises(ValueError, match=r"row 7: the outcome is (NaN|inf)"):
            pogpe.evaluate(data.X, y)


def test_columns_that_hold_no_numbers_are_named(data: gf.Simulated) -> None:
    table = pd.DataFrame({"x": data.X[:, 0], "when": pd.date_range("2026-01-01", periods=80)})
    for model in (gf.HetGP(**SHORT), gf.GP(), gf.Baseline()):
        with pytest.raises(ValueError, match="column `when` holds times"):
            model.fit(table, data.y)
        with pytest.raises(ValueError, match="column `kind` holds a list"):
            model.fit(table[["x"]].assign(kind=[[1]] * 80), data.y)
        with pytest.raises(ValueError, match="y holds times"):
            model.fit(table[["x"]], table["when"])


def test_the_rules_own_experts_do_not_miss_names(data: gf.Simulated) -> None:
    table = pd.DataFrame(data.X, columns=["x"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gf.Baseline(random_state=0).fit(table, data.y).predict(table)


def test_importing_is_light() -> None:
    """scikit-learn and SciPy are loaded when they are needed, not before."""
    code = "import sys, gpfuse; print('sklearn' in sys.modules, 'scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "False"]


def test_every_public_name_is_there() -> None:
    for name in gf.__all__:
        assert getattr(gf, name) is not None
    assert set(gf.__all__) <= set(dir(gf))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        gf.nothing  # noqa: B018
    assert all(issubclass(kind, Sampled) for kind in SAMPLED)


def test_a_gp_on_many_rows_predicts_from_the_nearest() -> None:
    rng = np.random.default_rng(4)
    X = rng.uniform(0, 6, (3100, 2))
    y = 50 + 20 * np.sin(2 * X[:, 0]) * X[:, 1] + rng.normal(0, 2, len(X))
    gp = gf.GP(random_state=0).fit(X, y)
    assert gp.neighbours_ in (128, 256, 512)
    assert not hasattr(gp, "log_marginal_likelihood_")
    new = rng.uniform(0.5, 5.5, (50, 2))
    mean, std = gp.predict(new, return_std=True, noise=False)
    # The seed is fixed. For a right GP the number is 1, with an error of 0.1 to 0.2 over seeds.
    z = (50 + 20 * np.sin(2 * new[:, 0]) * new[:, 1] - mean) / std
    assert np.sqrt((z**2).mean()) < 2
    noisy = gp.predict(new, return_std=True)[1]
    np.testing.assert_allclose(noisy**2 - std**2, gp.hyper_["noise"], rtol=1e-9)
    assert abs(gp.hyper_["noise"] ** 0.5 / 2 - 1) < 0.1
    left_out, _ = gp.leave_one_out()
    assert left_out.shape == y.shape and (left_out != y).all()
    copy = pickle.loads(pickle.dumps(gp))
    assert np.array_equal(copy.predict(new), gp.predict(new))
    exact = gf.GP(random_state=0).fit(X[:40], y[:40])
    assert exact.neighbours_ is None and np.isfinite(exact.log_marginal_likelihood_)
