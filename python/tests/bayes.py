"""Bayesian regressions whose posteriors are known, as ArviZ has models."""

from __future__ import annotations

import numpy as np
import xarray as xr

NOISE = 0.3


def features(kind, x):
    return {"flat": x[:, None] ** [0], "line": x[:, None] ** [0, 1]}[kind]


def truth(rows=80, seed=0):
    """Flat on the left, rising on the right."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(-2.0, 2.0, rows))
    return x, np.where(x < 0.0, 0.0, 2.0 * x) + NOISE * rng.normal(size=rows)


def posterior(kind, x, y, seed=0, chains=2, draws=300, prior=0.1):
    """Draws of the coefficients, (chains, draws, p), under a N(0, 1 / prior) prior of each."""
    basis = features(kind, x)
    covariance = np.linalg.inv(basis.T @ basis / NOISE**2 + prior * np.eye(basis.shape[1]))
    rng = np.random.default_rng(seed)
    mean = covariance @ basis.T @ y / NOISE**2
    return rng.multivariate_normal(mean, covariance, (chains, draws))


def model(kind, x, y, **more):
    """The DataTree that a sampler would leave."""
    beta = posterior(kind, x, y, **more)
    z = (y - beta @ features(kind, x).T) / NOISE
    logs = -0.5 * z**2 - np.log(NOISE * np.sqrt(2 * np.pi))
    return xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset({"beta": (("chain", "draw", "p"), beta)}),
            "log_likelihood": xr.Dataset({"y": (("chain", "draw", "row"), logs)}),
            "observed_data": xr.Dataset({"y": ("row", y)}),
        }
    )


def leave_one_out(kind, x, y, prior=0.1):
    """The log density of each target given the others, in closed form."""
    found = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        basis, own = features(kind, x[rest]), features(kind, x[i : i + 1])[0]
        covariance = np.linalg.inv(basis.T @ basis / NOISE**2 + prior * np.eye(len(own)))
        mean = own @ covariance @ basis.T @ y[rest] / NOISE**2
        variance = own @ covariance @ own + NOISE**2
        found.append(-0.5 * ((y[i] - mean) ** 2 / variance + np.log(2 * np.pi * variance)))
    return np.array(found)
