"""Tables of many rows: `python bench/large.py DATA RESULTS [OPTION]...`.

DATA is a folder with NAME.csv or NAME.csv.gz and NAME.splits.csv (see bench/README.md). Every
method is fitted to the training rows of each split and scored at its test rows, in units of the
standard deviation of the training targets: all of them, and those whose inputs are not among the
training rows. Finished runs are lines of RESULTS, a CSV file; a run that was stopped goes on from
there, and one that fails is a line with its error. The page goes to the file of the same name
that ends in .md.

Seconds are those of processors, of fit and prediction together, and memory is the most that was
held: each run is a process of its own. Options: --methods gpfuse,histgb --sets protein,kin40k
--splits 0,1 --summary (runs nothing)

The methods:

gpfuse: `target/release/gpfuse fit` (or that of $GPFUSE) with all defaults.
histgb: scikit-learn's HistGradientBoostingRegressor for 19 quantiles; no density, so no NLPD.
xgboost-distribution: a normal density, at most 2,000 rounds with learning rate 0.05, stopped by a
random tenth.
ngboost: as in `bench/peers_tables.py`.
gpboost: GPBoost's GP by Vecchia's approximation, 30 neighbours, Matern 5/2, lengthscale per input.
svgp: GPyTorch, 1,024 inducing points, Matern 5/2, 50 epochs of Adam (0.01) in batches of 1,024.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from scipy.stats import norm

Array = np.ndarray
SETS, SPLITS, SEED = "protein,kin40k,elevators,bike", "0,1,2", 0
LEVELS = (50, 80, 95)
SCORES = ["nlpd", "nlpd_no_twin", "crps", *(f"coverage{level}" for level in LEVELS)]
COLUMNS = ["method", "set", "split", "rows", "inputs", "twins", *SCORES]
COLUMNS += ["cpu_seconds", "seconds", "megabytes", "error"]
ROOT = Path(__file__).resolve().parent.parent


def read(folder: Path, name: str, split: int) -> tuple[Array, Array, Array, Array]:
    """Training and test rows in units of the training rows, without constant inputs."""
    path = next(p for end in ("", ".gz") if (p := folder / f"{name}.csv{end}").exists())
    rows = np.loadtxt(path, delimiter=",", skiprows=1)
    mask = np.loadtxt(folder / f"{name}.splits.csv", delimiter=",", skiprows=1)[:, split]
    train, test = rows[mask == 0], rows[mask == 1]
    keep = (train != train[0]).any(axis=0)
    mean, sd = train[:, keep].mean(axis=0), train[:, keep].std(axis=0)
    train, test = (train[:, keep] - mean) / sd, (test[:, keep] - mean) / sd
    return train[:, :-1], train[:, -1], test[:, :-1], test[:, -1]


# What a method says of each test row: log density, CRPS, and how much of it is below the target.
Said = dict[str, Array]


def normal(y: Array, mean: Array, sd: Array) -> Said:
    off = (y - mean) / sd
    cdf = norm.cdf(off)
    crps = sd * (off * (2 * cdf - 1) + 2 * norm.pdf(off) - 1 / np.sqrt(np.pi))
    return {"log_density": norm.logpdf(off) - np.log(sd), "crps": crps, "pit": cdf}


def gpfuse(x: Array, y: Array, new: Array, target: Array) -> Said:
    program = os.environ.get("GPFUSE", ROOT / "target/release/gpfuse")
    header = ",".join([*(f"x{i + 1}" for i in range(x.shape[1])), "y"])
    with tempfile.TemporaryDirectory() as folder:
        train, test, out = (Path(folder) / f"{name}.csv" for name in ("train", "test", "out"))
        for path, rows in ((train, np.c_[x, y]), (test, np.c_[new, target])):
            np.savetxt(path, rows, delimiter=",", header=header, comments="", fmt="%.17g")
        model = Path(folder) / "model.nc"
        subprocess.run([program, "fit", train, "--target", "y", "--out", model], check=True)
        ask = [program, "predict", model, test, "--density", "--out", out]
        subprocess.run(ask, check=True)
        names = out.open().readline().strip().split(",")
        found = np.loadtxt(out, delimiter=",", skiprows=1)
    return {name: found[:, names.index(name)] for name in ("log_density", "crps", "pit")}


def held_out(x: Array, y: Array) -> tuple[Array, Array, Array, Array]:
    """Nine tenths of the rows, and the others."""
    order = np.random.default_rng(SEED).permutation(len(y))
    few, most = np.split(order, [len(y) // 10])
    return x[most], y[most], x[few], y[few]


def xgboost_distribution(x: Array, y: Array, new: Array, target: Array) -> Said:
    from xgboost_distribution import XGBDistribution

    own, own_y, held, held_y = held_out(x, y)
    model = XGBDistribution(
        distribution="normal",
        n_estimators=2000,
        learning_rate=0.05,
        early_stopping_rounds=50,
        random_state=SEED,
    )
    model.fit(own, own_y, eval_set=[(held, held_y)], verbose=False)
    said = model.predict(new)
    return normal(target, said.loc, said.scale)


def ngboost(x: Array, y: Array, new: Array, target: Array) -> Said:
    from peers_tables import Problem
    from peers_tables import ngboost as peer

    nobody = np.zeros(len(target), dtype=bool)
    return normal(target, *peer(Problem(x, y, new, target, nobody)))


def histgb(x: Array, y: Array, new: Array, target: Array) -> Said:
    from sklearn.ensemble import HistGradientBoostingRegressor

    levels = np.arange(1, 20) / 20
    quantiles = np.column_stack(
        [
            HistGradientBoostingRegressor(loss="quantile", quantile=level, random_state=SEED)
            .fit(x, y)
            .predict(new)
            for level in levels
        ]
    )
    quantiles.sort(axis=1)
    off = target[:, None] - quantiles
    # Twice the mean pinball loss, and shares between quantiles by straight lines.
    crps = 2 * np.maximum(levels * off, (levels - 1) * off).mean(axis=1)
    pit = np.array(
        [np.interp(t, q, levels, 0.0, 1.0) for t, q in zip(target, quantiles, strict=True)]
    )
    return {"crps": crps, "pit": pit}


def gpboost(x: Array, y: Array, new: Array, target: Array) -> Said:
    import gpboost

    model = gpboost.GPModel(
        gp_coords=x,
        cov_function="matern_ard",
        cov_fct_shape=2.5,
        gp_approx="vecchia",
        num_neighbors=30,
        likelihood="gaussian",
        seed=SEED,
    )
    model.fit(y=y, X=np.ones((len(y), 1)))
    ones = np.ones((len(new), 1))
    said = model.predict(gp_coords_pred=new, X_pred=ones, predict_var=True, predict_response=True)
    return normal(target, said["mu"], np.sqrt(said["var"]))


def svgp(x: Array, y: Array, new: Array, target: Array) -> Said:
    import gpytorch
    import torch

    torch.manual_seed(SEED)
    rows, goal = torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)
    some = rows[torch.randperm(len(rows))[:1024]]

    class Model(gpytorch.models.ApproximateGP):
        def __init__(self) -> None:
            posterior = gpytorch.variational.CholeskyVariationalDistribution(len(some))
            super().__init__(gpytorch.variational.VariationalStrategy(self, some, posterior))
            self.mean_module = gpytorch.means.ConstantMean()
            kernel = gpytorch.kernels.MaternKernel(2.5, ard_num_dims=x.shape[1])
            self.covar_module = gpytorch.kernels.ScaleKernel(kernel)

        def forward(self, x: torch.Tensor) -> gpytorch.distributions.MultivariateNormal:
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(x), self.covar_module(x)
            )

    model, noise = Model(), gpytorch.likelihoods.GaussianLikelihood()
    parameters = [*model.parameters(), *noise.parameters()]
    adam = torch.optim.Adam(parameters, lr=0.01)
    bound = gpytorch.mlls.VariationalELBO(noise, model, num_data=len(rows))
    for _ in range(50):
        for batch in torch.randperm(len(rows)).split(1024):
            adam.zero_grad()
            (-bound(model(rows[batch]), goal[batch])).backward()
            adam.step()
    model.eval()
    noise.eval()
    with torch.no_grad():
        said = noise(model(torch.tensor(new, dtype=torch.float32)))
    return normal(target, said.mean.numpy(), said.stddev.numpy())


METHODS: dict[str, Callable[[Array, Array, Array, Array], Said]] = {
    "gpfuse": gpfuse,
    "histgb": histgb,
    "xgboost-distribution": xgboost_distribution,
    "ngboost": ngboost,
    "gpboost": gpboost,
    "svgp": svgp,
}


def one(data: Path, method: str, name: str, split: int) -> dict[str, float]:
    """One run: its scores."""
    x, y, new, target = read(data, name, split)
    # Adding zero makes both zeros the same bytes.
    known = {row.tobytes() for row in x + 0.0}
    alone = np.array([row.tobytes() not in known for row in new + 0.0])
    said = METHODS[method](x, y, new, target)
    if not all(np.isfinite(values).all() for values in said.values()):
        raise ValueError("a prediction is no distribution")
    found = {"rows": len(y), "inputs": x.shape[1], "twins": 1 - alone.mean()}
    if "log_density" in said:
        found |= {"nlpd": -said["log_density"].mean()}
        found |= {"nlpd_no_twin": -said["log_density"][alone].mean()}
    inside = {f"coverage{n}": (np.abs(said["pit"] - 0.5) <= n / 200).mean() for n in LEVELS}
    return {k: float(v) for k, v in (found | {"crps": said["crps"].mean()} | inside).items()}


def measured(command: list[str]) -> dict[str, str]:
    """The scores that a process prints, its seconds and its memory."""
    begun = time.perf_counter()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(command, stdout=out, stderr=err)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if child.returncode != 0:
            last = err.read().decode().strip().splitlines()[-1:] or ["it ended"]
            return {"error": last[0].replace(",", ";").replace('"', "'")}
        # The scores are the last line.
        scores = json.loads(out.read().decode().splitlines()[-1])
    cells = {k: f"{v:.5g}" for k, v in scores.items()}
    cells |= {"rows": str(int(scores["rows"])), "inputs": str(int(scores["inputs"]))}
    cpu = used.ru_utime + used.ru_stime
    cells |= {"cpu_seconds": f"{cpu:.0f}", "seconds": f"{time.perf_counter() - begun:.0f}"}
    return cells | {"megabytes": f"{used.ru_maxrss / 1024:.0f}"}


def lines(results: Path) -> list[dict[str, str]]:
    if not results.exists():
        return []
    with results.open() as file:
        return list(csv.DictReader(file))


def mean(values: Iterable[str], digits: int) -> str:
    known = [float(value) for value in values if value]
    return f"{np.mean(known):.{digits}f}" if known else ""


def page(found: list[dict[str, str]]) -> str:
    """A table for each set."""
    head = ["method", "splits", *SCORES, "CPU s", "MB"]
    out = [
        "# Tables of many rows",
        "",
        "Mean over splits, in units of the standard deviation of the training targets.",
        "`nlpd_no_twin` is of test rows whose inputs are not among the training rows. CPU seconds",
        "are those of fit and prediction. The target of bike is a sum of two of its inputs: it",
        "compares nothing. Written by `bench/large.py`.",
    ]
    for name in dict.fromkeys(line["set"] for line in found):
        own = [line for line in found if line["set"] == name and not line["error"]]
        if not own:
            continue
        out += ["", f"## {name} ({own[0]['rows']} x {own[0]['inputs']})", ""]
        out += ["| " + " | ".join(head) + " |", "| --- " * len(head) + "|"]
        for method in dict.fromkeys(line["method"] for line in own):
            runs = [line for line in own if line["method"] == method]
            cells = [method, ", ".join(line["split"] for line in runs)]
            cells += [mean((line[score] for line in runs), 3) for score in SCORES]
            cells += [mean((line[c] for line in runs), 0) for c in ("cpu_seconds", "megabytes")]
            out.append("| " + " | ".join(cells) + " |")
    return "\n".join(out) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Tables of many rows.")
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("results", type=Path, metavar="RESULTS")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--splits", default=SPLITS)
    parser.add_argument("--summary", action="store_true")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(one(args.data, args.methods, args.sets, int(args.splits))))
        return
    found = lines(args.results)
    done = {(line["method"], line["set"], line["split"]) for line in found}
    runs = [
        (method, name, split)
        for split in args.splits.split(",")
        for name in args.sets.split(",")
        for method in args.methods.split(",")
    ]
    for method, name, split in runs:
        if args.summary or (method, name, split) in done:
            continue
        command = [sys.executable, __file__, str(args.data), str(args.results), "--one"]
        command += ["--methods", method, "--sets", name, "--splits", split]
        line = {"method": method, "set": name, "split": split} | measured(command)
        with args.results.open("a") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            if file.tell() == 0:
                writer.writeheader()
            writer.writerow(line)
        found = lines(args.results)
    args.results.with_suffix(".md").write_text(page(found))


if __name__ == "__main__":
    main()
