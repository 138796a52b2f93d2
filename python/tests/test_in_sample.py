"""Experts that were trained on the rows of the weights are noticed where new rows are scored."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.stats import norm

import gpfuse as gf
from halves import FAST, rows, tables

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
X, y = rows()
new, z = rows(200, 1)


def said(at):
    """Two that are right on one half, and one that says the target of the nearest row it saw."""
    known = tables(at)
    nearest = np.abs(at - X[:, 0]).argmin(axis=1)
    mean = np.column_stack([known["mean"], y[nearest]])
    return {"mean": mean, "std": np.column_stack([known["std"], np.full(len(at), 0.1)])}


def logs(at, target):
    given = said(at)
    return {"log_density": norm.logpdf(target[:, None], given["mean"], given["std"])}


@pytest.mark.parametrize("model", [gf.BHS, gf.PBHS])
def test_an_expert_that_saw_the_rows_is_named(model):
    """Fixed seed. The third is 3 nats a row better at its own rows; others stay as they were."""
    fitted = model(**FAST).fit(X, y, **said(X))
    with pytest.warns(UserWarning, match="expert `3`: the log densities that weights") as caught:
        fitted.evaluate(new, z, **said(new))
    assert len(caught) == 1


def test_so_is_one_that_is_known_by_log_densities():
    fitted = gf.BHS(**FAST).fit(X, y, **logs(X, y))
    with pytest.warns(UserWarning, match="expert `3`: .* trusted too much") as caught:
        fitted.evaluate(new, **logs(new, z))
    assert len(caught) == 1


def test_honest_experts_are_not_named():
    """Fixed seed. Of new rows alike, one expert in 30,000 falls by four errors."""
    fitted = gf.BHS(**FAST).fit(X, y, **tables(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        fitted.evaluate(new, z, **tables(new))
