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

# One processor: runs of several methods are to be compared.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from scipy.interpolate import BSpline
from scipy.special import expit, log_expit, log_softmax, logsumexp

Array = np.ndarray
SIZES, SPLITS, TEST = (100, 200, 300, 500, 700, 1000, 1200), 40, 1500
CHAINS, BURN, DRAWS = 20, 20, 100
PRIOR_SD = 3.0
# Of gpfuse: half of the default chains, and draws that are enough for a mean.
SETTINGS = {"chains": 2, "warmup": 250, "draws": 250}
SETTINGS |= {"threads": 1, "random_state": 0, "progress": False}
COLUMNS = ["size", "split", "method", "log_density", "seconds", "k_above_0.7", "said"]


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


# The experts.


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


def yao_columns(inputs: pd.DataFrame, seen: pd.DataFrame) -> Array:
    """Four bands, then `assoc` and both sides of the medians of distance and log arsenic."""
    bands = pd.get_dummies(inputs["band"], dtype=float).to_numpy()
    sides = []
    for name in ("dist100", "log_arsenic"):
        off = inputs[name].to_numpy() - seen[name].median()
        sides += [np.minimum(off, 0), np.maximum(off, 0)]
    return np.column_stack([bands, inputs["assoc"] - 0.5, *sides])


def yao(
    densities: dict[str, Array], inputs: pd.DataFrame, new: pd.DataFrame, _: Array
) -> tuple[Array, str]:
    """Effects of bands N(mu, sigma^2), mu ~ N(0, 1), sigma ~ N+(0, 0.5^2), and slopes N(0, 1).

    The last expert has none.
    """
    sampler, columns = _sampler(), yao_columns(inputs, inputs)
    import jax

    sampler.run(jax.random.PRNGKey(0), columns, densities["loo"])
    beta = np.asarray(sampler.get_samples()["beta"])
    scores = np.einsum("rd,skd->srk", yao_columns(new, inputs), beta)
    scores = np.concatenate([scores, np.zeros((*scores.shape[:2], 1))], axis=2)
    # The mean of the density over the draws is that with the mean weights.
    return blended(np.exp(log_softmax(scores, axis=2)).mean(axis=0), densities["test"])


_SAMPLER: list[object] = []


def _sampler() -> object:
    """One for all runs, so that rows of one size are compiled once."""
    if not _SAMPLER:
        import jax
        import jax.numpy as jnp
        import numpyro
        import numpyro.distributions as dist

        jax.config.update("jax_enable_x64", True)

        def model(columns: Array, loo: Array) -> None:
            experts, d = loo.shape[1] - 1, columns.shape[1]
            mu = numpyro.sample("mu", dist.Normal(0, 1).expand([experts, 1]))
            sigma = numpyro.sample("sigma", dist.HalfNormal(0.5).expand([experts, 1]))
            tau = numpyro.sample("tau", dist.Normal(0, 1).expand([experts, 4]))
            slopes = numpyro.sample("slopes", dist.Normal(0, 1).expand([experts, d - 4]))
            beta = numpyro.deterministic("beta", jnp.concatenate([mu + sigma * tau, slopes], 1))
            scores = jnp.concatenate([columns @ beta.T, jnp.zeros((len(columns), 1))], axis=1)
            pooled = jax.nn.logsumexp(jax.nn.log_softmax(scores, axis=1) + loo, axis=1)
            numpyro.factor("stacking", pooled.sum())

        nuts = numpyro.infer.NUTS(model)
        mcmc = numpyro.infer.MCMC(nuts, num_warmup=500, num_samples=1000, progress_bar=False)
        _SAMPLER.append(mcmc)
    return _SAMPLER[0]


def numbers(inputs: pd.DataFrame) -> pd.DataFrame:
    """Distance, log arsenic, `assoc`, and a column of zeros and ones for each band."""
    bands = pd.get_dummies(inputs["band"], prefix="educ", dtype=float)
    return inputs[["dist100", "log_arsenic", "assoc"]].join(bands)


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
    "yao": yao,
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
