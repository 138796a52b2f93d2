"""Six logistic regressions of the wells, stacked: `python bench/wells.py DATA RESULTS [OPTION]...`.

DATA is wells.csv: a row for each of 3,020 households in Bangladesh, with `switch` (it changed to
another well), `arsenic` of its own well, `dist` (metres to the next safe well), `assoc` (member of
an association) and `educ` (years). The protocol is that of Yao, Pirš, Vehtari and Gelman (2022),
Bayesian hierarchical stacking: seven training sizes, forty random splits each, at most 1,500 test
rows. The experts have N(0, 3^2) priors and draws by HMC. They are stacked by their PSIS-LOO
densities of the training rows, and weights depend on the education band, `assoc`, distance and log
arsenic. The score of a method is the mean log density of the test rows.

Each finished run is a line of RESULTS, a CSV file; a run that was stopped goes on from there. All
sizes of a split come before the next split. Seconds are those of processors, of the weights alone.
What the experts say is kept in the folder --cache. The page goes to the file of the same name that
ends in .md.

Options: --splits 0-9 --sizes 100,1000 --methods gp,auto --cache target/wells
--summary (runs nothing)

The methods:

selection: the expert with the highest sum of leave-one-out densities.
stacking, pseudo-bma+: weights that are the same everywhere.
yao: linear hierarchical stacking as the authors have it, sampled by NumPyro.
linear-numpyro: the posterior of `linear`, sampled by NumPyro.
linear, gp, auto, constant: `gf.BHS(gate=...)` with two chains of 250 + 250 draws.
"""

import argparse
import csv
import itertools
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

# One processor: runs of several methods are to be compared.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from scipy.special import log_softmax, logsumexp
from wells_experts import Array, rows_of, said, wells

SIZES, SPLITS = (100, 200, 300, 500, 700, 1000, 1200), 40
# Of gpfuse: half of the default chains, and draws that are enough for a mean.
SETTINGS = {"chains": 2, "warmup": 250, "draws": 250}
SETTINGS |= {"threads": 1, "random_state": 0, "progress": False}
COLUMNS = ["size", "split", "method", "log_density", "seconds", "k_above_0.7", "said"]


# The methods: each gives the log densities of the test rows, and something worth a record.

Method = Callable[[dict[str, Array], pd.DataFrame, pd.DataFrame, Array], tuple[Array, str]]
"""From what the experts said, the inputs of training and test rows and the targets."""


def selection(densities: dict[str, Array], *_: object) -> tuple[Array, str]:
    best = int(densities["loo"].sum(axis=0).argmax())
    return densities["test"][:, best], str(best + 1)


def blended(weights: Array, test: Array) -> tuple[Array, str]:
    with np.errstate(divide="ignore"):
        found = logsumexp(np.log(weights) + test, axis=1)
    return found, " ".join(f"{w:.2f}" for w in np.atleast_2d(weights).mean(axis=0))


def stacking(densities: dict[str, Array], *_: object) -> tuple[Array, str]:
    """The best constant weights of a linear pool, by the EM algorithm: the problem is concave."""
    like = np.exp(densities["loo"])
    weights = np.full(like.shape[1], 1 / like.shape[1])
    for _ in range(20_000):
        share = like * weights
        new = (share / share.sum(axis=1, keepdims=True)).mean(axis=0)
        done = np.abs(new - weights).max() < 1e-7
        weights = new
        if done:
            break
    return blended(weights, densities["test"])


def pseudo_bma_plus(densities: dict[str, Array], *_: object) -> tuple[Array, str]:
    """Weights by exp of the elpd, averaged over a Bayesian bootstrap of the rows."""
    loo = densities["loo"]
    shares = np.random.default_rng(0).dirichlet(np.ones(len(loo)), size=1000) * len(loo)
    weights = np.exp(log_softmax(shares @ loo, axis=1)).mean(axis=0)
    return blended(weights, densities["test"])


def numbers(inputs: pd.DataFrame) -> pd.DataFrame:
    """Distance, log arsenic, `assoc`, and a column of zeros and ones for each band."""
    bands = pd.get_dummies(inputs["band"], prefix="educ", dtype=float)
    return inputs[["dist100", "log_arsenic", "assoc"]].join(bands)


def yao_columns(inputs: pd.DataFrame, seen: pd.DataFrame) -> Array:
    """Four bands, then `assoc` and both sides of the medians of distance and log arsenic."""
    bands = pd.get_dummies(inputs["band"], dtype=float).to_numpy()
    sides = []
    for name in ("dist100", "log_arsenic"):
        off = inputs[name].to_numpy() - seen[name].median()
        sides += [np.minimum(off, 0), np.maximum(off, 0)]
    return np.column_stack([bands, inputs["assoc"] - 0.5, *sides])


def yao_effects(sample: Callable, dist: Any, jnp: Any, experts: int, d: int) -> Any:
    """Of bands N(mu, sigma^2), mu ~ N(0, 1), sigma ~ N+(0, 0.5^2), and slopes N(0, 1)."""
    mu = sample("mu", dist.Normal(0, 1).expand([experts, 1]))
    sigma = sample("sigma", dist.HalfNormal(0.5).expand([experts, 1]))
    bands = sample("bands", dist.Normal(0, 1).expand([experts, 4]))
    slopes = sample("slopes", dist.Normal(0, 1).expand([experts, d - 4]))
    return jnp.concatenate([mu + sigma * bands, slopes], axis=1)


def linear_columns(inputs: pd.DataFrame, seen: pd.DataFrame) -> Array:
    """One, and the inputs of `gate="linear"`, standardised."""
    mean, sd = numbers(seen).mean(), numbers(seen).std(ddof=0).replace(0.0, 1.0)
    return np.column_stack([np.ones(len(inputs)), (numbers(inputs) - mean) / sd])


def linear_effects(sample: Callable, dist: Any, jnp: Any, experts: int, d: int) -> Any:
    """Of `gate="linear"`: intercepts N(0, 1), slopes N(0, var / (d - 1)), var ~ N+(0, 1)."""
    intercept = sample("intercept", dist.Normal(0, 1).expand([experts, 1]))
    var = sample("var", dist.HalfNormal(1).expand([experts, 1]))
    slopes = sample("slopes", dist.Normal(0, 1).expand([experts, d - 1]))
    return jnp.concatenate([intercept, jnp.sqrt(var / (d - 1)) * slopes], axis=1)


def by_numpyro(columns: Callable, effects: Callable) -> Method:
    """Gates that are linear in columns; the last expert has none."""
    held: list[Any] = []

    def run(
        densities: dict[str, Array], inputs: pd.DataFrame, new: pd.DataFrame, _: Array
    ) -> tuple[Array, str]:
        import jax

        if not held:
            # One for all runs, so that rows of one size are compiled once.
            held.append(sampler(effects))
        held[0].run(jax.random.PRNGKey(0), columns(inputs, inputs), densities["loo"])
        beta = np.asarray(held[0].get_samples()["beta"])
        gates = np.einsum("rd,skd->srk", columns(new, inputs), beta)
        gates = np.concatenate([gates, np.zeros((*gates.shape[:2], 1))], axis=2)
        # The mean of the density over the draws is that with the mean weights.
        return blended(np.exp(log_softmax(gates, axis=2)).mean(axis=0), densities["test"])

    return run


def sampler(effects: Callable) -> Any:
    import jax
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist

    jax.config.update("jax_enable_x64", True)

    def model(columns: Array, loo: Array) -> None:
        beta = effects(numpyro.sample, dist, jnp, loo.shape[1] - 1, columns.shape[1])
        gates = columns @ numpyro.deterministic("beta", beta).T
        gates = jnp.concatenate([gates, jnp.zeros((len(columns), 1))], axis=1)
        pooled = jax.nn.logsumexp(jax.nn.log_softmax(gates, axis=1) + loo, axis=1)
        numpyro.factor("stacking", pooled.sum())

    nuts = numpyro.infer.NUTS(model)
    return numpyro.infer.MCMC(nuts, num_warmup=500, num_samples=1000, progress_bar=False)


def gated(gate: str) -> Method:
    def run(
        densities: dict[str, Array], inputs: pd.DataFrame, new: pd.DataFrame, y: Array
    ) -> tuple[Array, str]:
        import gpfuse as gf

        rows, new_rows = numbers(inputs), numbers(new)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gf.ConvergenceWarning)
            model = gf.BHS(gate=gate, **SETTINGS).fit(rows, y, log_density=densities["loo"])
        record = blended(model.weights(new_rows).mean, densities["test"])[1]
        return model.log_density(new_rows, log_density=densities["test"]), record

    return run


METHODS: dict[str, Method] = {
    "selection": selection,
    "stacking": stacking,
    "pseudo-bma+": pseudo_bma_plus,
    "yao": by_numpyro(yao_columns, yao_effects),
    "linear-numpyro": by_numpyro(linear_columns, linear_effects),
    **{gate: gated(gate) for gate in ("linear", "gp", "auto", "constant")},
}


def run(options: argparse.Namespace) -> None:
    done = set()
    if options.results.exists():
        with open(options.results, newline="") as file:
            done = {(row["size"], row["split"], row["method"]) for row in csv.DictReader(file)}
    else:
        options.results.write_text(",".join(COLUMNS) + "\n")
    table = wells(options.data)
    for split, size in itertools.product(options.splits, options.sizes):
        missing = [m for m in options.methods if (str(size), str(split), m) not in done]
        if not missing:
            continue
        densities = said(table, size, split, options.cache)
        train, test = (table.iloc[rows] for rows in rows_of(size, split, len(table)))
        y, bad = train["switch"].to_numpy(dtype=float), int((densities["k"] > 0.7).sum())
        for method in missing:
            begun = time.process_time()
            found, record = METHODS[method](densities, train, test, y)
            seconds = time.process_time() - begun
            if not np.isfinite(found).all():
                raise ValueError(
                    f"{method}: a log density of size {size}, split {split} is no number"
                )
            line = [size, split, method, f"{found.mean():.6f}", f"{seconds:.2f}", bad, record]
            with open(options.results, "a", newline="") as file:
                csv.writer(file, lineterminator="\n").writerow(line)


def summary(results: Path) -> None:
    """Means of each size, and how far methods are above constant stacking, paired by splits."""
    scores = pd.read_csv(results).pivot(
        index=["size", "split"], columns="method", values="log_density"
    )
    if "stacking" not in scores:
        return
    scores = scores[[method for method in METHODS if method in scores]].dropna(subset="stacking")
    others = [method for method in scores if method != "stacking"]
    lines = [
        "# Wells",
        "",
        "The mean log density of the test rows by constant stacking, and how far the other methods",
        "are above it, in thousandths of a nat a row, with the standard error over splits:",
        "positive is better. Splits share rows, so that errors are somewhat too small. Where a",
        "method has run on fewer splits, their number follows.",
        "",
        f"| rows | splits | constant stacking | {' | '.join(others)} |",
        "| --- | --- | --- |" + " --- |" * len(others),
    ]
    for size, part in scores.groupby("size"):
        cells = [str(size), str(len(part)), f"{part['stacking'].mean():.4f}"]
        for method in others:
            above = 1000 * (part[method] - part["stacking"]).dropna()
            few = "" if len(above) == len(part) else f", {len(above)}"
            error = above.std() / np.sqrt(len(above))
            cells.append(f"{above.mean():+.1f} ({error:.1f}{few})" if len(above) > 1 else "")
        lines.append(f"| {' | '.join(cells)} |")
    results.with_suffix(".md").write_text("\n".join(lines) + "\n")


def whole(text: str) -> list[int]:
    """`0-9` or `1,2`."""
    ends = text.split("-")
    return (
        list(range(int(ends[0]), int(ends[1]) + 1))
        if len(ends) == 2
        else [*map(int, text.split(","))]
    )


def main() -> None:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--splits", type=whole, default=list(range(SPLITS)))
    parser.add_argument("--sizes", type=whole, default=list(SIZES))
    parser.add_argument("--methods", type=lambda text: text.split(","), default=list(METHODS))
    parser.add_argument("--cache", type=Path, default=Path("target/wells"))
    parser.add_argument("--summary", action="store_true")
    options = parser.parse_args()
    if not options.summary:
        run(options)
    summary(options.results)


if __name__ == "__main__":
    main()
