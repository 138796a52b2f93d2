"""Writes gp_reference.json: log marginal likelihoods and predictions of scikit-learn.

Run it in an environment with scikit-learn; the version goes into the file.
"""

import json
from pathlib import Path

import numpy as np
import sklearn
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

KERNELS = {"rbf": None, "matern12": 0.5, "matern32": 1.5, "matern52": 2.5}
SIZES = [(1, 1), (9, 1), (30, 2), (70, 4)]


def case(name, rows, inputs, rng):
    """One kernel at fixed hyperparameters on random rows."""
    x = rng.uniform(-2, 2, (rows, inputs))
    y = np.sin(2 * x[:, 0]) + 0.2 * rng.standard_normal(rows)
    new = rng.uniform(-3, 3, (5, inputs))
    var, noise = 1.7, 0.03
    ell = rng.uniform(0.5, 2, inputs)
    nu = KERNELS[name]
    shape = RBF(ell) if nu is None else Matern(ell, nu=nu)
    kernel = ConstantKernel(var) * shape + WhiteKernel(noise)
    gp = GaussianProcessRegressor(kernel, alpha=0, optimizer=None).fit(x, y)
    mean, sd = gp.predict(new, return_std=True)
    return {
        "kernel": name,
        "inputs": inputs,
        "x": x.ravel().tolist(),
        "y": y.tolist(),
        "hyper": {"mean": 0.0, "var": var, "ell": ell.tolist(), "noise": noise},
        "log_marginal": gp.log_marginal_likelihood_value_,
        "new": new.ravel().tolist(),
        "mean": mean.tolist(),
        # With a WhiteKernel, scikit-learn's deviation is that of a new observation.
        "sd": sd.tolist(),
    }


def main():
    rng = np.random.default_rng(20)
    cases = [case(name, *size, rng) for name in KERNELS for size in SIZES]
    reference = {"scikit-learn": sklearn.__version__, "cases": cases}
    path = Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(reference) + "\n")


if __name__ == "__main__":
    main()
