"""ArviZ models, stacked by PSIS-LOO; these run with ArviZ 0 and 1."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import gpfuse as gf

az = pytest.importorskip("arviz")
xr = pytest.importorskip("xarray")
from bayes import features, leave_one_out, model, posterior, truth  # noqa: E402
from halves import FAST  # noqa: E402

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore:.*Pareto k:UserWarning"
)
x, y = truth()
X = x[:, None]


def pair():
    return {kind: model(kind, x, y) for kind in ("flat", "line")}


@pytest.fixture(scope="module")
def stacked():
    return gf.stack(pair(), X, **FAST)


def test_it_learns_from_rows_left_out(stacked):
    """Fixed seeds. In-sample densities are above the closed form, by 0.03 at the worst row or more;
    with 600 draws PSIS is within 0.02 of it."""
    assert stacked.model_.experts == ["flat", "line"]
    for k, kind in enumerate(stacked.model_.experts):
        good = stacked.pareto_k_[:, k] <= 0.7
        assert good.mean() > 0.9
        exact = leave_one_out(kind, x, y)
        assert_allclose(stacked.loo_[good, k], exact[good], rtol=0.02, atol=0.02)
    again = gf.BHS(**FAST).fit(X, y, log_density=dict(zip(pair(), stacked.loo_.T, strict=True)))
    assert_array_equal(again.weights(X).mean, stacked.weights(X).mean)


def test_the_table_is_that_of_the_models(stacked):
    found = stacked.compare()
    assert set(found.index) >= {"fusion", "flat", "line", "equal weights"}
    assert list(found.columns) == ["elpd", "se", "elpd_diff", "dse", "weight"]
    for k, name in enumerate(("flat", "line")):
        assert_allclose(found.elpd[name], stacked.loo_[:, k].sum(), rtol=1e-6)
        assert_allclose(found.elpd["fusion"] - found.elpd[name], found.elpd_diff[name], rtol=1e-6)
        assert_allclose(found.weight[name], stacked.weights(X).mean[:, k].mean(), rtol=1e-9)
    assert found.elpd.is_monotonic_decreasing
    assert np.isnan(found.dse["fusion"])


def test_draws_are_blended_in_the_proportion_of_the_weights(stacked):
    """The flat model says 0 and the line 1: so each row has its weight of ones, to one draw."""
    new = np.linspace(-2, 2, 7)[:, None]
    said = {"line": np.ones((7, 200)), "flat": np.zeros((7, 200))}
    found = stacked.blend(new, said)
    assert found.shape == (7, 200)
    assert_allclose(found.mean(axis=1), stacked.weights(new).mean[:, 1], rtol=0, atol=1 / 200)
    chains = {
        k: xr.DataArray(v.T.reshape(2, 100, 7), dims=("chain", "draw", "row"))
        for k, v in said.items()
    }
    assert_array_equal(stacked.blend(new, chains), found)


def test_draws_keep_their_rows(stacked):
    """An array by chain, draw and row holds the same numbers."""
    beta = posterior("line", x, y)
    by_chain = beta @ features("line", x).T
    flat = by_chain.reshape(-1, len(x)).T
    array = xr.DataArray(by_chain, dims=("chain", "draw", "row"))
    both = stacked.blend(X, {"flat": flat, "line": flat}, random_state=1)
    assert_array_equal(stacked.blend(X, {"flat": array, "line": array}, random_state=1), both)
    assert_array_equal(both, flat)


def test_it_is_kept_in_a_file_and_a_tree(stacked, tmp_path):
    stacked.save(tmp_path / "m.nc")
    other = gf.load(tmp_path / "m.nc")
    assert_allclose(other.compare().to_numpy(), stacked.compare().to_numpy(), rtol=1e-9)
    tree = stacked.to_datatree()
    assert_array_equal(tree["observed_data"]["y"], y)


def test_rows_that_cannot_be_left_out_are_named():
    """One target far out decides the line by itself: Pareto k there is near 1 or more."""
    far, z = np.append(x, 9.0), np.append(y, -9.0)
    with pytest.warns(UserWarning, match=r"model `line`: Pareto k is above 0.7 at .*81"):
        found = gf.stack(
            {"line": model("line", far, z), "flat": model("flat", far, z)}, far[:, None], **FAST
        )
    assert found.pareto_k_[-1, 0] > 0.7


def changed(**groups):
    """The line, with groups changed, or left out where they are None."""
    tree = model("line", x, y).to_dict()
    found = {name.strip("/"): dataset for name, dataset in tree.items() if name != "/"}
    found |= groups
    return xr.DataTree.from_dict({k: v for k, v in found.items() if v is not None})


def two():
    logs = model("line", x, y)["log_likelihood"].to_dataset()
    return changed(log_likelihood=logs.assign(z=logs["y"]))


def test_the_variable_is_told():
    one = gf.stack({"a": two(), "b": model("flat", x, y)}, X, var_name="y", **FAST)
    other = gf.stack({"a": two(), "b": model("flat", x, y)}, X, y, var_name={"a": "z"}, **FAST)
    assert_array_equal(one.loo_, other.loo_)


def test_one_needs_neither_posterior_nor_observed_data():
    bare = changed(posterior=None, observed_data=None)
    found = gf.stack({"a": bare, "b": model("flat", x, y)}, X, **FAST)
    exact = leave_one_out("line", x, y)
    assert_allclose(found.loo_[:, 0], exact, rtol=0.05, atol=0.05)


def never():
    logs = model("line", x, y)["log_likelihood"].to_dataset()
    return changed(log_likelihood=logs.where(logs["row"] != 3))


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (lambda: changed(log_likelihood=None), "model `b` has no group log_likelihood"),
        (two, "model `b`: log_likelihood has 2 variables, `y`, `z`: say by var_name="),
        (lambda: model("line", x[1:], y[1:]), "model `b`: .* has 79 rows, X has 80"),
        (lambda: model("line", x, y + 1.0), "`a` and `b` observed different targets: in row 1"),
        (never, "model `b`, row 4: its leave-one-out log density is nan"),
    ],
)
def test_bad_models_are_named(other, words):
    with pytest.raises(ValueError, match=words):
        gf.stack({"a": model("flat", x, y), "b": other()}, X, **FAST)


def test_other_mistakes_are_named(stacked, monkeypatch):
    with pytest.raises(TypeError, match="models: give a dict"):
        gf.stack([model("line", x, y)], X)
    with pytest.raises(TypeError, match="model `a` is of type ndarray"):
        gf.stack({"a": y}, X)
    with pytest.raises(ValueError, match="has no `q`: it has `y`"):
        gf.stack(pair(), X, var_name="q")
    with pytest.raises(ValueError, match="y: no model has it"):
        gf.stack({"a": changed(observed_data=None)}, X)
    draws = np.zeros((80, 5))
    with pytest.raises(ValueError, match="give a dict of the experts `flat`, `line`, found `flat`"):
        stacked.blend(X, {"flat": draws})
    with pytest.raises(ValueError, match="`line` has 4 draws, expert `flat` has 5"):
        stacked.blend(X, {"flat": draws, "line": draws[:, :4]})
    with pytest.raises(ValueError, match=r"expert `line`: draws of shape \(79, 5\)"):
        stacked.blend(X, {"flat": draws, "line": draws[1:]})
    with pytest.raises(ValueError, match="expert `flat`, row 1: draw 1 is nan"):
        stacked.blend(X, {"flat": draws * np.nan, "line": draws})
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match=r"pip install gpfuse\[arviz\]"):
        gf.stack(pair(), X)


def test_weights_are_a_posterior_of_arviz(stacked):
    """What ArviZ says about the weights at two rows is what `weights` says."""
    new = np.array([[-1.0], [1.5]])
    tree = stacked.weights_datatree(new)
    weight = tree["posterior"]["weight"]
    assert weight.dims == ("chain", "draw", "row", "expert")
    assert list(weight.coords["expert"].values) == ["flat", "line"]
    assert_array_equal(tree["constant_data"]["x"], new)
    assert_allclose(weight.sum("expert"), 1.0, rtol=1e-12)
    assert weight.sizes["draw"] == tree["sample_stats"].sizes["draw"]
    old = az.__version__.startswith("0.")
    table = az.summary(az.from_datatree(tree) if old else tree, round_to="none")
    found = [float(table["mean"].loc[f"weight[{row}, line]"]) for row in (0, 1)]
    assert_allclose(found, stacked.weights(new).mean[:, 1], rtol=1e-9)
