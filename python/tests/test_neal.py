"""Two regressions of Neal's data, each without a term of the truth, and weights by its input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

import gpfuse as gf

DATA = Path(__file__).parents[2] / "tests/data/neal.csv"


def left_out(basis, y):
    """Log densities of least squares without each row, in closed form."""
    hat = basis @ np.linalg.pinv(basis)
    error, lever = y - hat @ y, 1.0 - np.diag(hat)
    var = (error @ error - error**2 / lever) / (len(y) - basis.shape[1] - 1)
    return norm.logpdf(error / lever, scale=np.sqrt(var / lever))


def best_constant(logs):
    """The highest sum of log densities that constant weights reach at these very rows."""
    shares = np.linspace(0.0, 1.0, 1001)[:, None, None]
    return logsumexp(logs, b=np.concatenate([shares, 1 - shares], axis=2), axis=2).sum(axis=1).max()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights_by_the_input_are_worth_more_than_the_best_constant_ones():
    """Over ten seeds of the chains the gain on these 200 rows is 5.1 nats, with an sd of 0.73, and
    -1.1 (0.1) where the gate is constant. 1.5 nats are asked for, five sds below the mean, so that
    draws of another processor fail in fewer than one of a million."""
    x, y = np.loadtxt(DATA, delimiter=",", skiprows=1).T
    one = np.ones_like(x)
    bump, wave = 1.0 / (1.0 + x**2), np.sin(2.7 * x)
    logs = np.stack([left_out(np.stack([one, x, term], 1), y) for term in (bump, wave)], axis=1)
    settings = {"chains": 2, "warmup": 200, "draws": 200, "random_state": 0, "progress": False}
    model = gf.BHS(gate="gp", **settings).fit(x[:, None], y, log_density=logs)
    assert model.compare().elpd["fusion"] > best_constant(logs) + 1.5
