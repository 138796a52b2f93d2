"""BHS of experts that are known by their log densities of the target."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

import gpfuse as gf
from halves import FAST, rows, tables, west

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def logs(X, y):
    said = tables(X)
    return norm.logpdf(y[:, None], said["mean"], said["std"])


@pytest.fixture(scope="module")
def fitted():
    X, y = rows()
    found = pd.DataFrame(logs(X, y), columns=["west", "east"])
    return gf.BHS(**FAST).fit(X, y, log_density=found)


def test_the_weights_are_those_of_means_and_stds(fitted):
    """A mixture of normal experts knows no more of them than their log densities."""
    X, y = rows()
    known = gf.BHS(**FAST).fit(X, y, **tables(X))
    new, z = rows(50, 1)
    weights, expected = fitted.weights(new), known.weights(new, **tables(new))
    assert weights.experts == ["west", "east"]
    for name in ("mean", "low", "high"):
        assert_allclose(getattr(weights, name), getattr(expected, name), rtol=0, atol=1e-10)
    density = known.predict_dist(new, **tables(new))
    found = fitted.log_density(new, log_density=logs(new, z))
    assert_allclose(found, density.logpdf(z), rtol=0, atol=1e-10)
    scores = fitted.evaluate(new, log_density=logs(new, z))
    assert_allclose(float(scores.nlpd), float(density.evaluate(z).nlpd), rtol=0, atol=1e-10)
    assert_array_equal(scores.losses, -found)
    for line, other in zip(fitted.worth_["lines"], known.worth_["lines"], strict=True):
        assert_allclose(line["nlpd"], other["nlpd"], rtol=0, atol=1e-10)


def test_weights_have_no_moments_of_experts(fitted):
    weights = fitted.weights(rows(9)[0])
    assert weights.expert_mean is None
    assert list(weights.to_pandas().columns) == ["mean", "low", "high"]


def test_files_keep_what_was_said(fitted, tmp_path):
    new, z = rows(20, 1)
    fitted.save(tmp_path / "m.nc")
    for other in (pickle.loads(pickle.dumps(fitted)), gf.load(tmp_path / "m.nc")):
        # Variances lose their last bits in a file.
        assert_allclose(other.weights(new).mean, fitted.weights(new).mean, rtol=1e-12)
        found = other.log_density(new, log_density=logs(new, z))
        assert_allclose(found, fitted.log_density(new, log_density=logs(new, z)), rtol=1e-12)
        assert other.worth_ == fitted.worth_


def test_what_is_impossible_is_no_trouble():
    """Fixed seed. Each expert holds half of the rows impossible; the true weights are 0 and 1."""
    X, y = rows()
    never = np.where(X > 0, [[-np.inf, -1.0]], [[-1.0, -np.inf]])
    model = gf.BHS(**FAST).fit(X, y, log_density=never)
    found = model.weights([[-1.5], [1.5]]).mean
    assert found[0, 0] > 0.8
    assert found[1, 1] > 0.8
    assert np.isfinite(model.log_density(X, log_density=never)).all()
    assert np.isfinite([line["nlpd"] for line in model.worth_["lines"]]).all()


def spoiled(value, column=1):
    found = logs(*rows())
    found[2, column] = value
    return found


@pytest.mark.parametrize(
    ("model", "said", "words"),
    [
        (gf.BHS, {"log_density": spoiled(np.nan)}, "expert `2`, row 3: log density is nan"),
        (gf.BHS, {"log_density": spoiled(np.inf)}, "expert `2`, row 3: log density is inf"),
        (gf.BHS, {"log_density": spoiled(-np.inf, [0, 1])}, "row 3: every expert holds"),
        (gf.BHS, {"log_density": np.zeros((9, 2))}, r"log_density: .*\(80, 2\).*\(9, 2\)"),
        (gf.BHS, {"log_density": np.zeros(80)}, r"log_density: expected shape"),
        (gf.BHS, {"log_density": spoiled(0.0), "mean": np.zeros((80, 2))}, "leave out mean="),
        (gf.PBHS, {"log_density": spoiled(0.0)}, "use bhs"),
    ],
)
def test_bad_log_densities_are_named(model, said, words):
    with pytest.raises(ValueError, match=words):
        model(**FAST).fit(*rows(), **said)


def test_what_cannot_be_known_is_refused(fitted):
    X, y = rows(9)
    for ask in (fitted.predict, fitted.predict_dist, lambda X: fitted.score(X, y)):
        with pytest.raises(ValueError, match="no mean, std, quantile or sample"):
            ask(X)
    with pytest.raises(ValueError, match="`west`, `east` were made elsewhere"):
        fitted.evaluate(X, y)
    other = gf.BHS(estimators=[west, ("a", west)], **FAST).fit(*rows())
    with pytest.raises(ValueError, match="fitted with log_density="):
        other.log_density(X, log_density=logs(X, y))
