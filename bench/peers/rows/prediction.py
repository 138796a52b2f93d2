"""The predictive mean and sd at many rows from many draws, by NumPyro and by gpfuse."""

import os

import numpy as np

from .. import ours
from ..cells import Cell
from ..problem import RFF30, Model, grid, paper
from ..section import Claim, Section, digits, times
from ..size import Size

MODEL = Model("pogpe", 3, RFF30)
CHAINS = 4
QUANTILES = [0.05, 0.5, 0.95]
TOLERANCE, TARGET, MEMORY = 1e-8, 20, 300
NAME = f"prediction: {MODEL}"


def cells(size: Size) -> list[Cell]:
    return [Cell(NAME, "both", lambda: measure(size))]


def draws_of(size: Size) -> np.ndarray:
    """Posterior draws (draws, dim), by gpfuse: both sides predict from the same."""
    each, path = size.draws // CHAINS, ours.room("draws")
    short = {"chains": CHAINS, "warmup": max(10, each // 2), "draws": each, "max_depth": 4}
    ours.run(
        "sample",
        problem=ours.problem(MODEL, paper(test=False)),
        test=ours.table("test", paper(test=True)),
        settings=short | {"start": "prior"},
        lpd=ours.room("lpd"),
        draws=path,
    )
    return np.fromfile(path).reshape(size.draws, MODEL.dim)


def numpyro(draws: np.ndarray, x: np.ndarray) -> tuple[float, float, np.ndarray]:
    """Seconds, seconds of compilation, and mean and sd (rows, 2), by `Predictive`.

    It goes through the draws one after the other, each in vectorised code over the rows; all
    draws at once would need tens of gigabytes.
    """
    import jax
    from numpyro.infer import Predictive

    from .. import jax_model, meter

    named = MODEL.named(draws)
    sites = {n: v if n.endswith("_theta") else np.exp(v) for n, v in named.items()}
    given = jax_model.inputs(MODEL.basis, x)
    model = jax_model.numpyro_model(MODEL)
    with meter.measured() as seconds:
        predictive = Predictive(model, sites, return_sites=["mean", "sd"])
        found = predictive(jax.random.PRNGKey(0), given)
        mean, sd = np.asarray(found["mean"]), np.asarray(found["sd"])
        fused = np.stack([mean.mean(0), np.sqrt((sd**2).mean(0) + mean.var(0))], axis=1)
    return seconds.run, seconds.compile, fused


def measure(size: Size) -> dict:
    draws, (x, _) = draws_of(size), grid(size.rows)
    job = {
        "problem": ours.problem(MODEL, paper(test=False)),
        "draws": ours.file("draws", draws),
        "chains": CHAINS,
        "rows": ours.file("rows", x),
        "threads": os.cpu_count(),
    }
    best = {"gpfuse": np.inf, "quantiles": np.inf, "numpyro": np.inf}
    for _ in range(size.repeats):
        for kind, quantiles in (("gpfuse", []), ("quantiles", QUANTILES)):
            out = ours.room(f"predicted-{kind}")
            found = ours.run("predict", **job, quantiles=quantiles, out=out)
            best[kind] = min(best[kind], found["seconds"])
            # Not every system says it.
            best[f"{kind}_mib"] = (found["peak_kib"] or np.nan) / 1024
        seconds, best["compile"], theirs = numpyro(draws, x)
        best["numpyro"] = min(best["numpyro"], seconds)
    own = np.fromfile(ours.room("predicted-gpfuse")).reshape(len(x), 2)
    gap = np.abs(own - theirs) / np.maximum(1, np.abs(theirs))
    best["error"] = float(np.nan_to_num(gap, nan=np.inf).max())
    return best


def report(results: dict, size: Size) -> Section:
    section = Section(
        "prediction",
        f"Mean and sd of the predictive at {size.rows} rows from {size.draws} draws of {MODEL}: "
        "NumPyro's `Predictive` and gpfuse's `Predictor`, both on all cores. gpfuse also with "
        f"the exact quantiles {', '.join(map(str, QUANTILES))}, which NumPyro does not have. "
        "The difference is the worst of all means and sds.",
        ["what", "gpfuse s", "NumPyro s", "compile", "ratio", "gpfuse MiB", "difference"],
    )
    if found := results.get(NAME):
        rival, compiled = digits(found["numpyro"]), digits(found["compile"])
        for kind, what in (("gpfuse", "mean, sd"), ("quantiles", "mean, sd, 3 quantiles")):
            ratio = found["numpyro"] / found[kind]
            error = f"{found['error']:.1e}" if kind == "gpfuse" else ""
            memory = digits(found[f"{kind}_mib"])
            line = [what, digits(found[kind]), rival, compiled, times(ratio), memory, error]
            section.lines.append(line)
        met = found["error"] <= TOLERANCE
        bound = f"<= {TOLERANCE:.0e}"
        section.claims.append(Claim("difference", f"{found['error']:.1e}", bound, met))
        section.at_least("mean and sd", found["numpyro"] / found["gpfuse"], TARGET)
        peak = max(found["gpfuse_mib"], found["quantiles_mib"])
        section.below("memory of gpfuse", peak * 1.048576, MEMORY, "MB")
        if not met:
            section.mismatches.append(f"prediction: difference {found['error']:.1e}")
    return section
