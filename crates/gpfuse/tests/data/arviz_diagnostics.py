"""Write arviz_diagnostics.json: chains and what ArviZ 0.23.4 says about them.

Run with arviz==0.23.4 from any directory; the file is written next to this script.
NaN is stored as null. The draws double as energies for the BFMI, one value per chain.
"""

import json
import math
from pathlib import Path

import arviz as az
import numpy as np

ARVIZ_VERSION = "0.23.4"


def ar1(rng, chains, draws, rho):
    """Stationary AR(1) chains of unit variance."""
    x = np.empty((chains, draws))
    x[:, 0] = rng.normal(size=chains)
    for t in range(1, draws):
        x[:, t] = rho * x[:, t - 1] + math.sqrt(1 - rho**2) * rng.normal(size=chains)
    return x


def cases(rng):
    """All chains by name."""
    offsets = np.array([[0.0], [0.3], [-1.0], [2.0]])
    scales = np.array([[1.0], [1.0], [3.0], [0.5]])
    return {
        "iid normal": rng.normal(size=(4, 100)),
        "AR(1) 0.3": ar1(rng, 4, 100, 0.3),
        "AR(1) 0.95": ar1(rng, 4, 100, 0.95),
        "AR(1) 0.9 long": ar1(rng, 4, 1000, 0.9),
        "AR(1) -0.7 antithetic": ar1(rng, 4, 100, -0.7),
        "different means": rng.normal(size=(4, 100)) + offsets,
        "different scales": rng.normal(size=(4, 100)) * scales,
        "trend": rng.normal(size=(4, 100)) + np.linspace(-2.0, 2.0, 100),
        "far from zero": 1e6 + ar1(rng, 4, 100, 0.5),
        "Cauchy": rng.standard_cauchy(size=(4, 100)),
        "constant": np.full((4, 100), 1.25),
        "one chain constant": np.where(np.arange(4)[:, None] == 2, 0.5, rng.normal(size=(4, 100))),
        "short": rng.normal(size=(4, 10)),
        "short autocorrelated": ar1(rng, 4, 10, 0.9),
        "four draws": rng.normal(size=(4, 4)),
        "three draws": rng.normal(size=(4, 3)),
        "odd draws": ar1(rng, 4, 101, 0.5),
        "ties": np.round(2 * ar1(rng, 4, 100, 0.6)),
        "two values": (ar1(rng, 4, 100, 0.5) > 0).astype(float),
        "one chain": ar1(rng, 1, 200, 0.5),
        "two chains": ar1(rng, 2, 150, 0.5),
        "quantile on a draw": ar1(rng, 3, 67, 0.4),
    }


def number(x):
    """A JSON number, or None for NaN."""
    return None if math.isnan(x) else float(x)


def diagnose(x):
    """The chains and ArviZ's values."""
    with np.errstate(invalid="ignore"):
        return {
            "chains": x.tolist(),
            "rhat": number(az.rhat(x, method="rank")),
            "ess_bulk": number(az.ess(x, method="bulk")),
            "ess_tail": number(az.ess(x, method="tail")),
            "ess_mean": number(az.ess(x, method="mean")),
            "mcse_mean": number(az.mcse(x, method="mean")),
            "bfmi": [number(b) for b in az.bfmi(x)],
        }


def main():
    """Write the file."""
    if az.__version__ != ARVIZ_VERSION:
        raise SystemExit(f"needs arviz {ARVIZ_VERSION}, found {az.__version__}")
    rng = np.random.default_rng(20210627)
    # Six digits keep the file small; ArviZ sees the rounded draws.
    entries = {name: diagnose(np.round(x, 6)) for name, x in cases(rng).items()}
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in entries.items()]
    text = f'{{"arviz": "{ARVIZ_VERSION}", "cases": {{\n' + ",\n".join(lines) + "\n}}\n"
    Path(__file__).with_suffix(".json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
