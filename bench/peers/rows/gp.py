"""The fit of an exact GP: its time and its log marginal likelihood.

All sides have a zero mean, an RBF kernel with one lengthscale per input, and noise. gpfuse runs
on all cores; the others on one core and on all, whichever is faster, since threads that wait for
each other on a busy machine can make all slower than one. scikit-learn gets as many restarts as
it takes to come to gpfuse's likelihood, and only the run that came there counts; GPyTorch has
L-BFGS, and Adam where that ends lower.
"""

import json
import os
import subprocess
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from .. import ours
from ..cells import Cell
from ..section import Section, digits, times
from ..size import QUICK, Size

SIZES = [(n, d) for n in (200, 500, 1500) for d in (1, 8)]
TARGET = 5
# Log marginal likelihoods closer than this are equal.
EQUAL = 1e-3
RESTARTS = (0, 1, 2, 5, 10)
# A folder of NAME.csv (the target last) and NAME.splits.csv (1 marks a test row).
UCI = "GPFUSE_UCI"
SETS = ["yacht", "pendulum", "autompg", "concreteslump", "energy", "housing", "machine", "servo"]
SETS += ["concrete", "autos", "stock", "fertility"]
SET_RESTARTS = 5


def synthetic(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """A smooth function with noise; with eight inputs, one that depends on each differently."""
    rng = np.random.default_rng(n + d)
    x = rng.uniform(-1, 1, (n, d))
    f = np.sin(6 * x[:, 0])
    if d == 1:
        f += 0.5 * np.cos(11 * x[:, 0])
    else:
        f += np.cos(3 * x @ (1 / np.arange(1, d + 1))) + x[:, 1] * x[:, 2] + 0.5 * x[:, 3] ** 2
    return standard(x), standard(f + 0.1 * rng.standard_normal(n))


def standard(values: np.ndarray) -> np.ndarray:
    return (values - values.mean(0)) / values.std(0)


def uci(folder: str, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The training rows of split 0, without columns that never vary."""
    path = Path(folder)
    rows = np.genfromtxt(path / f"{name}.csv", delimiter=",", skip_header=1)
    test = np.genfromtxt(path / f"{name}.splits.csv", delimiter=",", skip_header=1)[:, 0]
    train = rows[test == 0]
    train = standard(train[:, train.std(0) > 0])
    return train[:, :-1], train[:, -1]


def gpfuse(x: np.ndarray, y: np.ndarray) -> dict:
    ours.WORK.mkdir(parents=True, exist_ok=True)
    path = ours.WORK / "gp.csv"
    header = ",".join([*(f"x{i + 1}" for i in range(x.shape[1])), "y"])
    rows = np.column_stack([x, y])
    np.savetxt(path, rows, delimiter=",", header=header, comments="", fmt="%.17g")
    command = [str(ours.GP), str(path), "rbf", "ml", "zero"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found = json.loads(done.stdout)
    return {"seconds": found["seconds"], "value": found["log_marginal"]}


def scikit_learn(x: np.ndarray, y: np.ndarray, restarts: int, threads: int) -> dict:
    import threadpoolctl
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    kernel = ConstantKernel(1.0) * RBF(np.ones(x.shape[1])) + WhiteKernel(0.1)
    with warnings.catch_warnings(), threadpoolctl.threadpool_limits(threads):
        # Lengthscales at their bounds: inputs that do not matter.
        warnings.simplefilter("ignore")
        gp = GaussianProcessRegressor(
            kernel, alpha=0, n_restarts_optimizer=restarts, random_state=0
        )
        begun = time.perf_counter()
        gp.fit(x, y)
        seconds = time.perf_counter() - begun
    return {
        "seconds": seconds,
        "value": float(gp.log_marginal_likelihood_value_),
        "how": f"{restarts} restarts",
        "threads": threads,
    }


def gpytorch(x: np.ndarray, y: np.ndarray, how: str, threads: int) -> dict:
    import gpytorch as g
    import torch

    torch.set_num_threads(threads)
    x, y = torch.tensor(x), torch.tensor(y)

    class Exact(g.models.ExactGP):
        def __init__(self, likelihood):
            super().__init__(x, y, likelihood)
            self.mean_module = g.means.ZeroMean()
            rbf = g.kernels.RBFKernel(ard_num_dims=x.shape[1])
            self.covar_module = g.kernels.ScaleKernel(rbf)

        def forward(self, at):
            return g.distributions.MultivariateNormal(self.mean_module(at), self.covar_module(at))

    likelihood = g.likelihoods.GaussianLikelihood(
        noise_constraint=g.constraints.GreaterThan(1e-6)
    ).double()
    model = Exact(likelihood).double()
    likelihood.noise, model.covar_module.outputscale = 0.1, 1.0
    model.covar_module.base_kernel.lengthscale = 1.0
    model.train()
    likelihood.train()
    marginal = g.mlls.ExactMarginalLogLikelihood(likelihood, model)
    values = []

    def closure():
        optimiser.zero_grad()
        loss = -marginal(model(x), y)
        loss.backward()
        values.append(-loss.item() * len(y))
        return loss

    if how == "L-BFGS":
        optimiser = torch.optim.LBFGS(
            model.parameters(),
            max_iter=200,
            tolerance_grad=1e-7,
            tolerance_change=1e-11,
            line_search_fn="strong_wolfe",
        )
        steps = 1
    else:
        optimiser = torch.optim.Adam(model.parameters(), lr=0.1)
        steps = 200
    begun = time.perf_counter()
    with g.settings.max_cholesky_size(10_000):
        for _ in range(steps):
            optimiser.step(closure)
    seconds = time.perf_counter() - begun
    return {"seconds": seconds, "value": max(values), "how": how, "threads": threads}


def timed(n: int, d: int, repeats: int) -> dict:
    """All sides on one problem, the best of several times."""
    x, y = synthetic(n, d)
    # What is loaded at the first call is not timed.
    scikit_learn(x[:20], y[:20], 0, 1)
    gpytorch(x[:20], y[:20], "L-BFGS", 1)
    own = min((gpfuse(x, y) for _ in range(repeats)), key=seconds)
    for restarts in RESTARTS:
        learn = best(lambda t, r=restarts: scikit_learn(x, y, r, t), repeats)
        if learn["value"] >= own["value"] - EQUAL:
            break
    torch = best(lambda t: gpytorch(x, y, "L-BFGS", t), repeats)
    if torch["value"] < own["value"] - EQUAL:
        adam = best(lambda t: gpytorch(x, y, "Adam", t), repeats)
        torch = max(torch, adam, key=lambda found: found["value"])
    return {"gpfuse": own, "scikit-learn": learn, "GPyTorch": torch}


def seconds(found: dict) -> float:
    return found["seconds"]


def best(measure: Callable[[int], dict], repeats: int) -> dict:
    """The fastest of some runs on one core and as many on all."""
    threads = [1, os.cpu_count() or 1] * repeats
    return min((measure(t) for t in threads), key=seconds)


def on_set(folder: str, name: str) -> dict:
    x, y = uci(folder, name)
    found = {"gpfuse": gpfuse(x, y), "scikit-learn": scikit_learn(x, y, SET_RESTARTS, 1)}
    return found | {"rows": x.shape[0], "inputs": x.shape[1]}


def name(n: int, d: int) -> str:
    return f"gp: {n} rows, {d} inputs"


def cells(size: Size) -> list[Cell]:
    def cell(n, d):
        return Cell(name(n, d), "both", lambda: timed(n, d, 3 if n <= 500 else 1))

    small = size is QUICK
    found = [cell(n, d) for n, d in SIZES if n <= 500 or not small]
    folder = os.environ.get(UCI)
    if folder and not small:
        for each in SETS:
            found.append(Cell(f"gp: {each}", "both", lambda s=each: on_set(folder, s)))
    return found


def report(results: dict, _: Size) -> Section:
    section = Section(
        "gp",
        "The fit of an exact GP (RBF, one lengthscale per input, zero mean) by maximum marginal "
        "likelihood: seconds, and in brackets the log marginal likelihood. gpfuse on all cores, "
        "scikit-learn and GPyTorch on one or on all, whichever is faster; scikit-learn with as "
        "many restarts as bring it to gpfuse's likelihood, GPyTorch from the same start in 64 "
        "bits. The best of three up to 500 rows. The ratio is that to the faster of the two. On "
        "the UCI sets (training rows of split 0) scikit-learn has one core and "
        f"{SET_RESTARTS} restarts; what counts there is the likelihood."
        + ("" if os.environ.get(UCI) else f" They were left out: {UCI} names no folder."),
        ["data", "rows", "inputs", "gpfuse s", "scikit-learn s", "GPyTorch s", "ratio"],
    )

    def shown(found: dict) -> str:
        how = f", {found['how']}, threads {found['threads']}" if "how" in found else ""
        return f"{digits(found['seconds'])} ({found['value']:.3f}{how})"

    for n, d in SIZES:
        if found := results.get(name(n, d)):
            own, learn, torch = (found[side] for side in ("gpfuse", "scikit-learn", "GPyTorch"))
            ratio = min(learn["seconds"], torch["seconds"]) / own["seconds"]
            line = ["smooth", str(n), str(d), shown(own), shown(learn), shown(torch), times(ratio)]
            section.lines.append(line)
            section.at_least(f"{n} rows, {d} inputs", ratio, TARGET)
    for each in SETS:
        if found := results.get(f"gp: {each}"):
            own, learn = found["gpfuse"], found["scikit-learn"]
            ratio = times(learn["seconds"] / own["seconds"])
            size = [str(found["rows"]), str(found["inputs"])]
            section.lines.append([each, *size, shown(own), shown(learn), "", ratio])
            short = max(0.0, learn["value"] - own["value"])
            section.below(f"{each}: short of scikit-learn by", short, EQUAL, "nats")
    return section
