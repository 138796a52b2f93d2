"""scikit-learn's own checks of every estimator, none skipped and none expected to fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.linear_model import BayesianRidge
from sklearn.utils.estimator_checks import parametrize_with_checks

import gpfuse as gf

# Short chains: the checks are of the interface, and fit a hundred times. Lengthscales are long
# beforehand because some checks have ten inputs, of which nine say nothing.
SHORT: dict[str, Any] = {
    "chains": 1,
    "warmup": 60,
    "draws": 20,
    "max_depth": 5,
    "candidates": 1,
    "start_steps": 20,
    "priors": {"mu": {"ell": 5.0}},
    "random_state": 0,
    "threads": 1,
}
ESTIMATORS = [
    gf.MoGPE(experts=2, **SHORT),
    gf.PoGPE(experts=2, **SHORT),
    gf.HetGP(**SHORT),
    gf.BHS(experts=2, **SHORT),
    gf.PBHS(experts=2, **SHORT),
    gf.Baseline(experts=2, random_state=0, threads=1),
    gf.Baseline(estimators=[gf.GP(starts=2, threads=1), BayesianRidge()], random_state=0),
    gf.GP(starts=2, random_state=0, threads=1),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:.*near the wall of the Hilbert basis.*")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
