"""Write arviz_loo.json: log likelihoods and what ArviZ 0.23.4 says about leaving a row out.

Run with arviz==0.23.4 from any directory; the file is written next to this script. A k-hat that
is infinite or not a number is stored as null. Each case is scored twice: with one relative
efficiency for all rows, as `az.loo` has it, and row by row with the row's own.
"""

import json
import math
import warnings
from pathlib import Path

import arviz as az
import numpy as np

ARVIZ_VERSION = "0.23.4"
SHARED = 0.6


def ar1(rng, chains, draws, rows, rho):
    """Stationary AR(1) chains of unit variance, one for each row."""
    x = np.empty((chains, draws, rows))
    x[:, 0] = rng.normal(size=(chains, rows))
    for t in range(1, draws):
        x[:, t] = rho * x[:, t - 1] + math.sqrt(1 - rho**2) * rng.normal(size=(chains, rows))
    return x


def gaussian(rng, mu):
    """The log likelihood of some outcomes under normal densities around draws of a mean."""
    return -0.5 * (rng.normal(size=mu.shape[-1]) - 0.3 * mu) ** 2 - 0.9


def cases(rng):
    """All log likelihoods by name, as (chain, draw, row)."""
    tail = rng.exponential(size=(4, 100, 4))
    mixed = gaussian(rng, ar1(rng, 2, 60, 4, 0.3))
    mixed[..., 1] = -1.25
    mixed[..., 2] = np.round(mixed[..., 2])
    mixed[..., 3] = -1.25 + 1e-6 * np.arange(120).reshape(2, 60)
    return {
        "well behaved": gaussian(rng, ar1(rng, 4, 100, 4, 0.2)),
        "autocorrelated": gaussian(rng, ar1(rng, 4, 100, 3, 0.95)),
        "antithetic": gaussian(rng, ar1(rng, 4, 100, 3, -0.6)),
        "heavy tails": -np.array([0.5, 0.8, 1.2, 3.0]) * tail,
        "bounded tails": np.log(0.5 + rng.uniform(size=(2, 100, 2))),
        "constant, rounded and nearly constant rows": mixed,
        "underflow": -900.0 * rng.uniform(size=(2, 80, 2)) ** 4,
        "far from zero": -5000.0 + ar1(rng, 2, 80, 2, 0.1),
        "one chain": gaussian(rng, ar1(rng, 1, 150, 2, 0.5)),
        "one row": gaussian(rng, ar1(rng, 2, 60, 1, 0.5)),
        "tail of five": gaussian(rng, ar1(rng, 1, 25, 3, 0.0)),
        "tail of four": gaussian(rng, ar1(rng, 2, 10, 3, 0.0)),
        "six draws": gaussian(rng, ar1(rng, 2, 3, 3, 0.0)),
    }


def number(x):
    """A JSON number, or None where it is not finite."""
    return float(x) if math.isfinite(x) else None


def score(x, reff):
    """What ArviZ says with one relative efficiency."""
    data = az.from_dict(posterior={"q": x[..., 0]}, log_likelihood={"y": x})
    found = az.loo(data, pointwise=True, reff=reff)
    return {
        "elpd": float(found.elpd_loo),
        "se": float(found.se),
        "p_loo": float(found.p_loo),
        "good_k": float(found.good_k),
        "pointwise": [float(v) for v in found.loo_i.values],
        "khat": [number(k) for k in found.pareto_k.values],
    }


def efficiency(x):
    """The relative efficiency of one row; 1 where there are too few draws."""
    relative = float(az.ess(np.exp(x - x.max()), method="mean")) / x.size
    return 1.0 if math.isnan(relative) else relative


def case(x):
    """The log likelihoods, row-major (draw, row), and both scores."""
    rows = x.shape[-1]
    own = [efficiency(x[..., i]) for i in range(rows)]
    each = [score(x[..., i : i + 1], own[i]) for i in range(rows)]
    return {
        "chains": x.shape[0],
        "rows": rows,
        "log_lik": x.reshape(-1, rows).ravel().tolist(),
        "shared": score(x, SHARED),
        "efficiency": own,
        "elpd": sum(e["elpd"] for e in each),
        "p_loo": sum(e["p_loo"] for e in each),
        "pointwise": [e["pointwise"][0] for e in each],
        "khat": [e["khat"][0] for e in each],
    }


def main():
    """Write the file."""
    if az.__version__ != ARVIZ_VERSION:
        raise SystemExit(f"needs arviz {ARVIZ_VERSION}, found {az.__version__}")
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(20240725)
    # Few digits keep the file small; ArviZ sees the rounded numbers.
    rounded = {name: np.round(x, 6 if "nearly" in name else 4) for name, x in cases(rng).items()}
    entries = {name: case(x) for name, x in rounded.items()}
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in entries.items()]
    head = f'{{"arviz": "{ARVIZ_VERSION}", "shared_efficiency": {SHARED}, "cases": {{\n'
    text = head + ",\n".join(lines) + "\n}}\n"
    Path(__file__).with_suffix(".json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
