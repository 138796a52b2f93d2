"""Three Bayesian regressions in ArviZ's containers, stacked with weights that depend on the input.

Their posteriors are known in closed form, so that the example needs no sampler; DataTrees of PyMC,
Stan (through ArviZ) and NumPyro go in as they are.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

import gpfuse as gf

DATA = Path(__file__).parent / "data"
train, test = (pd.read_csv(DATA / f"autompg{end}.csv") for end in ("", "-test"))
rng = np.random.default_rng(0)

MODELS = {
    "weight": ["weight"],
    "engine": ["cylinders", "displacement", "horsepower"],
    "year": ["year", "origin", "acceleration"],
}


def features(table, columns):
    scaled = table[columns] / train[columns].std()
    return np.column_stack([np.ones(len(table)), scaled, scaled**2])


def normal_log_density(y, mean, sd):
    return -0.5 * ((y - mean) / sd) ** 2 - np.log(sd * np.sqrt(2 * np.pi))


def sampled(columns, chains=4, draws=250):
    """The tree and the draws of y ~ N(F beta, sd^2), beta ~ N(0, 100 sd^2), log sd flat."""
    basis, y = features(train, columns), train["mpg"].to_numpy()
    precision = basis.T @ basis + 0.01 * np.eye(basis.shape[1])
    mean = np.linalg.solve(precision, basis.T @ y)
    shape, rest = len(y) / 2, y @ y - mean @ precision @ mean
    sd = np.sqrt(0.5 * rest / rng.gamma(shape, size=(chains, draws)))
    z = rng.standard_normal((chains, draws, len(mean)))
    beta = mean + sd[..., None] * (z @ np.linalg.inv(np.linalg.cholesky(precision)))
    logs = normal_log_density(y, beta @ basis.T, sd[..., None])
    tree = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(
                {"beta": (("chain", "draw", "k"), beta), "sd": (("chain", "draw"), sd)}
            ),
            "log_likelihood": xr.Dataset({"mpg": (("chain", "draw", "car"), logs)}),
            "observed_data": xr.Dataset({"mpg": ("car", y)}),
        }
    )
    return tree, beta.reshape(-1, len(mean)), sd.reshape(-1)


def predicted(table, columns, beta, sd):
    """Posterior-predictive draws, and the log density of what came, at the rows of a table."""
    mean = features(table, columns) @ beta.T
    logs = normal_log_density(table["mpg"].to_numpy()[:, None], mean, sd)
    return rng.normal(mean, sd), np.logaddexp.reduce(logs, axis=1) - np.log(len(sd))


fitted = {name: sampled(columns) for name, columns in MODELS.items()}
inputs = ["weight", "year"]
trees = {name: tree for name, (tree, _, _) in fitted.items()}
model = gf.stack(trees, train[inputs], chains=2, warmup=300, draws=1000, random_state=0)
print(model.compare().round(2))

said = {name: predicted(test, MODELS[name], beta, sd) for name, (_, beta, sd) in fitted.items()}
logs = {name: log_density for name, (_, log_density) in said.items()}
print("mean log density of new cars")
for name, found in logs.items():
    print(f"  {name:8}{found.mean():.3f}")
print(f"  {'fusion':8}{model.log_density(test[inputs], log_density=logs).mean():.3f}")
blended = model.blend(test[inputs], {name: draws for name, (draws, _) in said.items()})
low, high = np.quantile(blended, [0.05, 0.95], axis=1)
print(f"inside 90 % intervals: {np.mean((test['mpg'] > low) & (test['mpg'] < high)):.2f}")
