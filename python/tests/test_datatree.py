"""The DataTree of a fit: its groups, and what ArviZ makes of it."""

import sys
import warnings

import numpy as np
import pytest

import gpfuse as gf
from gpfuse.datatree import datatree

xarray = pytest.importorskip("xarray")


def _rows(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(-3, 3, n))[:, None]
    return X, np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=n)


@pytest.fixture(scope="module")
def fitted() -> gf.PoGPE:
    X, y = _rows()
    short = {"chains": 2, "warmup": 60, "draws": 50, "size": 12, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.ConvergenceWarning)
        return gf.PoGPE(experts=2, combine="equal", progress=False, **short).fit(X, y)


def test_the_groups_are_those_of_the_schema(fitted: gf.PoGPE) -> None:
    X, y = _rows()
    tree = fitted.to_datatree()
    sampled = ["posterior", "sample_stats", "log_likelihood"]
    assert list(tree.children) == [*sampled, "observed_data", "constant_data"]
    assert tree["posterior"]["mu_ell"].dims == ("chain", "draw", "expert", "input")
    assert tree["posterior"]["mu_ell"].shape == (2, 50, 2, 1)
    assert list(tree["posterior"].coords["expert"].values) == ["1", "2"]
    assert tree["sample_stats"]["diverging"].dtype == bool
    assert tree["posterior"].attrs["inference_library"] == "gpfuse"
    assert np.array_equal(tree["observed_data"]["y"], y)
    assert np.array_equal(tree["constant_data"]["x"], X)


def test_the_log_likelihood_averages_to_the_predictive_density(fitted: gf.PoGPE) -> None:
    """The mean over draws of the likelihood of a training row is its predictive density."""
    X, y = _rows()
    pointwise = fitted.to_datatree()["log_likelihood"]["y"].values.reshape(-1, len(y))
    mean = np.log(np.mean(np.exp(pointwise), axis=0))
    assert np.allclose(mean, fitted.predict_dist(X).logpdf(y), atol=1e-9)


def test_the_tree_is_what_the_file_holds(fitted: gf.PoGPE, tmp_path) -> None:
    pytest.importorskip("h5netcdf")
    pytest.importorskip("h5py")
    fitted.save(tmp_path / "m.nc")
    tree = fitted.to_datatree()
    again = gf.load(tmp_path / "m.nc").to_datatree()
    with xarray.open_datatree(tmp_path / "m.nc", engine="h5netcdf") as stored:
        for name, group in tree.children.items():
            xarray.testing.assert_equal(group.to_dataset(), stored[name].to_dataset())
            xarray.testing.assert_equal(group.to_dataset(), again[name].to_dataset())


def test_predictive_samples_come_from_the_predictive_density(fitted: gf.PoGPE) -> None:
    """Their ranks under the density are uniform: a Kolmogorov-Smirnov distance.

    60 x 200 independent samples: a distance over 0.02 has probability 2 exp(-2 12000 0.02^2) =
    1.4e-4 over seeds, and the seed is fixed.
    """
    X, _ = _rows()
    for tree, name in [
        (fitted.to_datatree(samples=200, random_state=1), "posterior_predictive"),
        (fitted.to_datatree(X, samples=200, random_state=1), "predictions"),
    ]:
        drawn = tree[name]["y"]
        assert drawn.dims == ("chain", "draw", "row")
        assert drawn.shape == (1, 200, 60)
        assert "independent" in tree[name].attrs["samples"]
        ranks = np.sort(fitted.predict_dist(X).cdf(drawn.values[0].T).ravel())
        steps = np.arange(1, len(ranks) + 1) / len(ranks)
        assert np.max(np.abs(ranks - steps)) < 0.02


def test_new_rows_stand_beside_their_predictions(fitted: gf.PoGPE) -> None:
    X = np.array([[0.5], [-1.0], [2.0]])
    tree = fitted.to_datatree(X, samples=4)
    assert np.array_equal(tree["predictions_constant_data"]["x"], X)
    assert "posterior_predictive" not in tree.children
    same = datatree(fitted, X, samples=4)
    assert np.array_equal(tree["predictions"]["y"], same["predictions"]["y"])
    other = datatree(fitted, X, samples=4, random_state=1)
    assert not np.array_equal(tree["predictions"]["y"], other["predictions"]["y"])


def test_named_columns_give_names_and_no_warning() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = _rows(30)
    table = pandas.DataFrame(X, columns=["depth"])
    model = gf.HetGP(chains=1, warmup=30, draws=10, size=8, random_state=0, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.ConvergenceWarning)
        model.fit(table, pandas.Series(y, name="density"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree = model.to_datatree(samples=3)
    assert list(tree["posterior"].coords["input"].values) == ["depth"]
    assert tree["posterior_predictive"]["density"].shape == (1, 3, 30)


def test_experts_made_elsewhere_are_asked_or_given() -> None:
    """Samples at the rows of the weights are the same from functions and from their arrays."""
    X, y = _rows(40)

    def sine(X):
        return np.sin(2 * X[:, 0]), np.full(len(X), 0.3)

    def flat(X):
        return np.zeros(len(X)), np.ones(len(X))

    said = {"mean": np.c_[sine(X)[0], flat(X)[0]], "std": np.c_[sine(X)[1], flat(X)[1]]}
    short = {"chains": 2, "warmup": 40, "draws": 20, "size": 8, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.ConvergenceWarning)
        asked = gf.BHS(estimators=[sine, flat], progress=False, **short).fit(X, y)
        given = gf.BHS(progress=False, **short).fit(X, y, **said)
    assert list(asked.to_datatree()["posterior"].coords["expert"].values) == ["sine", "flat"]
    drawn = asked.to_datatree(samples=5)["posterior_predictive"]["y"]
    same = given.to_datatree(samples=5, **said)["posterior_predictive"]["y"]
    assert np.array_equal(drawn, same)
    new = {name: values[:3] for name, values in said.items()}
    assert given.to_datatree(X[:3], samples=5, **new)["predictions"]["y"].shape == (1, 5, 3)
    with pytest.raises(ValueError, match="give them as mean= and std="):
        given.to_datatree(samples=5)


def test_experts_that_use_names_are_asked_with_names() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = _rows(40)
    table = pandas.DataFrame(X, columns=["depth"])

    def sine(X):
        return np.sin(2 * X["depth"]), np.full(len(X), 0.3)

    def flat(X):
        return np.zeros(len(X)), np.ones(len(X))

    short = {"chains": 1, "warmup": 20, "draws": 20, "size": 8, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.ConvergenceWarning)
        model = gf.BHS(estimators=[sine, flat], progress=False, **short).fit(table, y)
    drawn = model.to_datatree(samples=3)["posterior_predictive"]["y"]
    same = model.to_datatree(table, samples=3)["predictions"]["y"]
    assert np.array_equal(drawn, same)


def test_what_is_wrong_is_named(fitted: gf.PoGPE, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="samples: -1 is negative"):
        fitted.to_datatree(samples=-1)
    with pytest.raises(ValueError, match="say how many"):
        fitted.to_datatree(np.zeros((1, 1)))
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(ImportError, match=r"pip install gpfuse\[arviz\]"):
        fitted.to_datatree()


def test_arviz_takes_it(fitted: gf.PoGPE) -> None:
    """Summary, PSIS-LOO and traces with the ArviZ that is installed, 0.23 or 1."""
    pytest.importorskip("matplotlib").use("Agg")
    az = pytest.importorskip("arviz")
    old = az.__version__.startswith("0.")
    X, y = _rows()
    tree = fitted.to_datatree(samples=20)
    data = az.from_datatree(tree) if old else tree
    names = ["mu_ell", "gate_var"]
    table = az.summary(data, var_names=names, round_to="none")
    means = tree["posterior"]["gate_var"].mean(("chain", "draw")).values
    found = [float(table["mean"].loc[f"gate_var[{k}]"]) for k in (1, 2)]
    assert len(table) == 4
    assert np.allclose(found, means)
    with warnings.catch_warnings():
        # So few draws have large Pareto k, and ArviZ says so.
        warnings.simplefilter("ignore")
        loo = az.loo(data, pointwise=True)
    elpd = float(loo.elpd_loo if old else loo.elpd)
    seen = fitted.predict_dist(X).logpdf(y).sum()
    assert seen - 60 < elpd < seen, "a row left out is predicted worse than one seen, not by much"
    assert len(loo.loo_i if old else loo.elpd_i) == len(y)
    options = {} if old else {"backend": "matplotlib"}
    assert az.plot_trace(data, var_names=names, **options) is not None
