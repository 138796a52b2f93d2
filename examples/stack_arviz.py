"""Three Bayesian regressions in ArviZ's containers, stacked with weights that depend on the input.

NumPyro sampled them (`sample_numpyro.py`); what PyMC and Stan leave in ArviZ goes in likewise.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import norm, t

import gpfuse as gf

DATA = Path(__file__).parent / "data"
days = pd.read_csv(DATA / "airquality.csv")
days["log_ozone"] = np.log(days["Ozone"]).astype("float32")
days = days.sample(frac=1, random_state=0)
train, test = days[:75], days[75:]

# The inputs of each, and the degrees of freedom of its noise, where that is not normal.
MODELS = {
    "heat": (["Temp"], None),
    "wind": (["Wind"], 4),
    "sun": (["Solar.R", "Wind"], None),
}


def basis(table, columns):
    scaled = (table[columns] - train[columns].mean()) / train[columns].std()
    return np.column_stack([np.ones(len(table)), scaled, scaled**2])


def predicted(table, name, tree):
    """Posterior-predictive draws, and the log density of what came, at the rows of a table."""
    columns, tails = MODELS[name]
    draws = tree["posterior"].to_dataset().stack(sample=("chain", "draw"))
    mean = basis(table, columns) @ draws["beta"].transpose(..., "sample").to_numpy()
    noise = t(tails, mean, draws["sd"]) if tails else norm(mean, draws["sd"])
    logs = noise.logpdf(table["log_ozone"].to_numpy()[:, None])
    return noise.rvs(random_state=0), np.logaddexp.reduce(logs, axis=1) - np.log(logs.shape[1])


def main():
    trees = {name: xr.open_datatree(DATA / f"ozone-{name}.nc") for name in MODELS}
    inputs = ["Temp", "Wind"]
    model = gf.stack(trees, train[inputs], chains=2, warmup=300, draws=1000, random_state=0)
    print(model.compare().round(2))

    said = {name: predicted(test, name, tree) for name, tree in trees.items()}
    logs = {name: log_density for name, (_, log_density) in said.items()}
    print("mean log density of new days")
    for name, found in logs.items():
        print(f"  {name:8}{found.mean():.3f}")
    print(f"  {'fusion':8}{model.log_density(test[inputs], log_density=logs).mean():.3f}")
    blended = model.blend(test[inputs], {name: draws for name, (draws, _) in said.items()})
    low, high = np.quantile(blended, [0.05, 0.95], axis=1)
    inside = (test["log_ozone"] > low) & (test["log_ozone"] < high)
    print(f"inside 90 % intervals: {inside.mean():.2f}")


if __name__ == "__main__":
    main()
