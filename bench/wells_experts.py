"""The experts of `wells.py`: six logistic regressions, their draws and their densities.

Priors are N(0, 3^2); draws are by HMC, and training rows are left out by PSIS (`arviz.loo`).
"""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.interpolate import BSpline
from scipy.special import expit, log_expit, logsumexp

Array = np.ndarray
TEST = 1500
CHAINS, BURN, DRAWS = 20, 20, 100
PRIOR_SD = 3.0


def wells(path: Path) -> pd.DataFrame:
    table = pd.read_csv(path)
    table["dist100"] = table["dist"] / 100
    table["log_arsenic"] = np.log(table["arsenic"])
    names = ["none", "1-5", "6-11", "12+"]
    table["band"] = pd.cut(table["educ"], [-1, 0, 5, 11, 99], labels=names)
    return table


def rows_of(size: int, split: int, rows: int) -> tuple[Array, Array]:
    """Training rows and test rows; those of a size are among those of the next."""
    order = np.random.default_rng(split).permutation(rows)
    return order[:size], order[size:][:TEST]


def spline(values: Array, train: Array) -> Array:
    """A cubic B-spline with ten knots from the first to the ninth decile of the training rows."""
    knots = np.quantile(values[train], np.linspace(0.1, 0.9, 10))
    ends = np.repeat([[values.min()], [values.max()]], 4, axis=1)
    knots = np.concatenate([ends[0], knots, ends[1]])
    return BSpline.design_matrix(values, knots, 3).toarray()[:, 1:]


def designs(table: pd.DataFrame, train: Array) -> dict[str, Array]:
    """The columns of each expert, at all rows."""
    dist, arsenic, logs = (table[name].to_numpy() for name in ("dist100", "arsenic", "log_arsenic"))
    centred = arsenic - arsenic[train].mean()
    bands = pd.get_dummies(table["band"], drop_first=True, dtype=float).to_numpy()
    common = np.column_stack([np.ones(len(table)), table["assoc"]])
    banded = np.column_stack([common, bands])
    return {
        "arsenic": np.column_stack([banded, dist, arsenic]),
        "log": np.column_stack([banded, dist, logs]),
        "cubic": np.column_stack([banded, dist, centred, centred**2, centred**3]),
        "spline-arsenic": np.column_stack([banded, dist, spline(logs, train)]),
        "spline-dist": np.column_stack([banded, logs, spline(dist, train)]),
        "years": np.column_stack([common, table["educ"], dist, logs]),
    }


def posterior(columns: Array, y: Array, rng: np.random.Generator, steps: int = 4) -> Array:
    """Draws (chains, draws, coefficients) by HMC, where the curvature at the mode is one.

    There the posterior is nearly a standard normal one, and steps that cross a quarter of its
    circle give draws that are nearly independent. Where few are accepted, steps become shorter.
    """
    signs, mode = 2.0 * y - 1.0, np.zeros(columns.shape[1])
    for _ in range(50):
        share = expit(columns @ mode)
        slope = columns.T @ (y - share) - mode / PRIOR_SD**2
        curvature = (columns.T * (share * (1 - share))) @ columns + np.eye(len(mode)) / PRIOR_SD**2
        move = np.linalg.solve(curvature, slope)
        mode += move / max(1.0, np.abs(move).max())
        if np.abs(move).max() < 1e-10:
            break
    back = np.linalg.inv(np.linalg.cholesky(curvature))

    def density(z: Array) -> tuple[Array, Array]:
        beta = mode + z @ back
        margin = signs * (beta @ columns.T)
        value = log_expit(margin).sum(axis=1) - 0.5 * (beta**2).sum(axis=1) / PRIOR_SD**2
        return value, ((signs * expit(-margin)) @ columns - beta / PRIOR_SD**2) @ back.T

    z, found, accepted = rng.standard_normal((CHAINS, len(mode))), [], []
    value, slope = density(z)
    for _ in range(BURN + DRAWS):
        new, new_slope, pace = z, slope, rng.standard_normal(z.shape)
        energy, step = 0.5 * (pace**2).sum(axis=1) - value, rng.uniform(1.2, 2.0) / steps
        for _ in range(steps):
            pace = pace + 0.5 * step * new_slope
            new = new + step * pace
            new_value, new_slope = density(new)
            pace = pace + 0.5 * step * new_slope
        gain = energy - 0.5 * (pace**2).sum(axis=1) + new_value
        yes = np.log(rng.random(CHAINS)) < gain
        z, slope = np.where(yes[:, None], new, z), np.where(yes[:, None], new_slope, slope)
        value = np.where(yes, new_value, value)
        found.append(z)
        accepted.append(yes.mean())
    if np.mean(accepted) < 0.7:
        return posterior(columns, y, rng, 2 * steps)
    return mode + np.stack(found[BURN:], axis=1) @ back


def left_out(beta: Array, logs: Array) -> tuple[Array, Array]:
    """PSIS-LOO densities and Pareto k of each row, from log likelihoods (chains, draws, rows)."""
    import arviz

    with warnings.catch_warnings():
        # Rows with k above 0.7 are counted in the results.
        warnings.simplefilter("ignore")
        tree = arviz.from_dict(posterior={"beta": beta}, log_likelihood={"y": logs})
        told = arviz.loo(tree, pointwise=True)
    return told.loo_i.to_numpy(), told.pareto_k.to_numpy()


def said(table: pd.DataFrame, size: int, split: int, cache: Path) -> dict[str, Array]:
    """`loo` (training rows, experts), its `k`, and `test`, the log densities of the test rows."""
    path = cache / f"{size}-{split}.npz"
    if path.exists():
        return dict(np.load(path))
    train, test = rows_of(size, split, len(table))
    y, rng = table["switch"].to_numpy(dtype=float), np.random.default_rng([size, split])
    found: dict[str, list[Array]] = {"loo": [], "k": [], "test": []}
    for columns in designs(table, train).values():
        beta = posterior(columns[train], y[train], rng)
        logs, new = (
            log_expit((2 * y[rows] - 1) * (beta @ columns[rows].T)) for rows in (train, test)
        )
        loo, k = left_out(beta, logs)
        found["loo"].append(loo)
        found["k"].append(k)
        found["test"].append(logsumexp(new, axis=(0, 1)) - np.log(CHAINS * DRAWS))
    arrays = {name: np.stack(values, axis=1) for name, values in found.items()}
    cache.mkdir(parents=True, exist_ok=True)
    np.savez(path, **arrays)
    return arrays
