"""Peers on the tables of `bench/tables`: `python bench/peers_tables.py DATA RESULTS [OPTION]...`.

Needs `pip install ngboost scikit-learn`. DATA is a folder with NAME.csv and NAME.splits.csv (see
bench/README.md). Each peer is fitted to the training rows of each split and scored at its test
rows, in units of the standard deviation of the training targets. Finished runs are lines of
RESULTS, a CSV file with the columns of `tables.csv`; a run that was stopped goes on from there,
and a run that fails is a line with its error. The seconds are those of fit, prediction and
scores. Options: --methods ngboost,sklearn-gp  --sets yacht,servo  --splits 0,1

All peers get standardised inputs and targets. The methods, with the names of their lines:

ngboost: natural gradient boosting of a normal density with its default trees, learning rate 0.03
    and at most 2000 rounds. A random tenth of the training rows is held out: boosting stops after
    50 rounds without a better density there, and the best round predicts.
sklearn-gp: an exact GP of scikit-learn with a lengthscale for each input and a noise variance,
    with the kernel RBF (sklearn-gp-rbf) and Matern 3/2 (sklearn-gp-matern). All start values and
    bounds are the defaults. The optimiser starts once more from a random point, but only once in
    all where there are more than 1,000 training rows.
"""

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from ngboost import NGBRegressor
from ngboost.distns import Normal
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Kernel, Matern, WhiteKernel
from sklearn.model_selection import train_test_split

HEADER = (
    "method,set,split,seed,rows,inputs,nlpd,nlpd_se,crps,rmse,coverage50,coverage80,coverage95,"
    "rhat_max,rhat_median,ess_min,divergences,steps,warnings,coarse,functions,test_rows,twins,"
    "nlpd_no_twin,seconds,error"
)
COLUMNS = HEADER.split(",")
# The first columns say which run it was.
RUN = 4
SETS = (
    "yacht,servo,autompg,concreteslump,machine,autos,housing,forest,stock,pendulum,"
    "energy,concrete,airfoil,solar,wine"
)
SEED = 0
LEVELS = {"coverage50": 0.5, "coverage80": 0.8, "coverage95": 0.95}
# With more training rows than these, a GP is optimised from one start only.
RESTART_ROWS = 1000

Array = np.ndarray
Line = dict[str, str]


@dataclass(frozen=True)
class Problem:
    """Training and test rows, standardised by the training rows."""

    x: Array
    y: Array
    test_x: Array
    test_y: Array
    # Which test rows have the inputs of a training row.
    twins: Array


# The means and standard deviations at the test rows.
Fit = Callable[[Problem], tuple[Array, Array]]


def table(path: Path) -> Array:
    """The rows of a CSV file below its header."""
    return np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)


@dataclass(frozen=True)
class Set:
    """A data set and its splits."""

    rows: Array
    masks: Array

    @classmethod
    def read(cls, folder: Path, name: str) -> "Set":
        rows, masks = table(folder / f"{name}.csv"), table(folder / f"{name}.splits.csv")
        if len(rows) == 0 or len(rows) != len(masks):
            raise ValueError(
                f"{name}: the splits are of {len(masks)} rows, the table has {len(rows)}"
            )
        return cls(rows, masks)

    def split(self, split: int) -> Problem:
        """Inputs that are constant in the training rows say nothing and are left out."""
        if not 0 <= split < self.masks.shape[1]:
            raise ValueError(f"split {split}: there are {self.masks.shape[1]}")
        train, test = (self.rows[self.masks[:, split] == which] for which in (0, 1))
        x, test_x = train[:, :-1], test[:, :-1]
        varies = (x != x[0]).any(axis=0)
        x, test_x = x[:, varies], test_x[:, varies]
        # Adding zero makes both zeros the same bytes.
        known = {row.tobytes() for row in x + 0.0}
        twins = np.array([row.tobytes() in known for row in test_x + 0.0], dtype=bool)
        y, test_y = train[:, -1], test[:, -1]
        return Problem(
            x=(x - x.mean(axis=0)) / x.std(axis=0),
            y=(y - y.mean()) / y.std(),
            test_x=(test_x - x.mean(axis=0)) / x.std(axis=0),
            test_y=(test_y - y.mean()) / y.std(),
            twins=twins,
        )


def ngboost(problem: Problem) -> tuple[Array, Array]:
    """Boosting, stopped by a tenth of the training rows."""
    x, held_x, y, held_y = train_test_split(problem.x, problem.y, test_size=0.1, random_state=SEED)
    # The default trees break ties by this generator.
    np.random.seed(SEED)
    model = NGBRegressor(
        Dist=Normal, n_estimators=2000, learning_rate=0.03, verbose=False, random_state=SEED
    )
    model.fit(x, y, X_val=held_x, Y_val=held_y, early_stopping_rounds=50)
    # `best_val_loss_itr` counts from zero, `max_iter` is a number of rounds.
    density = model.pred_dist(problem.test_x, max_iter=model.best_val_loss_itr + 1)
    return density.params["loc"], density.params["scale"]


def sklearn_gp(kernel: Callable[[Array], Kernel]) -> Fit:
    """An exact GP with the kernel that has the given lengthscales."""

    def fit(problem: Problem) -> tuple[Array, Array]:
        rows, inputs = problem.x.shape
        model = GaussianProcessRegressor(
            ConstantKernel() * kernel(np.ones(inputs)) + WhiteKernel(),
            normalize_y=True,
            n_restarts_optimizer=0 if rows > RESTART_ROWS else 1,
            random_state=SEED,
        )
        mean, sd = model.fit(problem.x, problem.y).predict(problem.test_x, return_std=True)
        return mean, sd

    return fit


# The lines that a method gives.
METHODS: dict[str, dict[str, Fit]] = {
    "ngboost": {"ngboost": ngboost},
    "sklearn-gp": {
        "sklearn-gp-rbf": sklearn_gp(RBF),
        "sklearn-gp-matern": sklearn_gp(lambda scales: Matern(scales, nu=1.5)),
    },
}


def scores(problem: Problem, mean: Array, sd: Array) -> Line:
    """The cells of normal densities at the test rows."""
    if not (np.isfinite(mean).all() and np.isfinite(sd).all() and (sd > 0).all()):
        raise ValueError("a prediction is no normal density")
    y, n, alone = problem.test_y, len(problem.test_y), ~problem.twins
    off = (y - mean) / sd
    losses = -norm.logpdf(off) + np.log(sd)
    cdf = norm.cdf(off)
    crps = sd * (off * (2 * cdf - 1) + 2 * norm.pdf(off) - 1 / np.sqrt(np.pi))
    numbers = {
        "nlpd": losses.mean(),
        "crps": crps.mean(),
        "rmse": np.sqrt(np.mean((y - mean) ** 2)),
        "twins": problem.twins.mean(),
    }
    for column, level in LEVELS.items():
        numbers[column] = np.mean(np.abs(cdf - 0.5) <= 0.5 * level)
    if n > 1:
        numbers["nlpd_se"] = losses.std(ddof=1) / np.sqrt(n)
    if alone.any():
        numbers["nlpd_no_twin"] = losses[alone].mean()
    return {"test_rows": str(n)} | {column: f"{v:.5f}" for column, v in numbers.items()}


def run(problem: Problem, fit: Fit) -> Line:
    """Fit and score; the cells say what came of it."""
    rows, inputs = problem.x.shape
    cells = {"rows": str(rows), "inputs": str(inputs)}
    begun = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = scores(problem, *fit(problem))
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        return cells | {"error": " ".join(text.translate(str.maketrans(',"', ";;")).split())}
    return cells | found | {"seconds": f"{time.perf_counter() - begun:.3f}"}


def finished(results: Path) -> set[tuple[str, ...]]:
    """The runs that the results hold; lines that were not written to their end do not count."""
    lines = results.read_text().splitlines() if results.exists() else []
    if lines and lines[0] != HEADER:
        raise ValueError(f"{results}: its columns are others: choose a new file")
    cells = [line.split(",") for line in lines[1:]]
    return {tuple(line[:RUN]) for line in cells if len(line) == len(COLUMNS)}


def run_all(
    data: Path, results: Path, methods: list[str], names: list[str], splits: list[int]
) -> None:
    """Run what the results do not hold: all of a split before the next."""
    done = finished(results)
    sets = {name: Set.read(data, name) for name in names}
    fits = {line: fit for method in methods for line, fit in METHODS[method].items()}
    old = results.read_bytes() if results.exists() else b""
    with results.open("a") as file:
        if not old:
            file.write(HEADER + "\n")
        elif not old.endswith(b"\n"):
            file.write("\n")
        for split in splits:
            for name, rows in sets.items():
                problem = rows.split(split)
                for method, fit in fits.items():
                    key = (method, name, str(split), str(SEED))
                    if key in done:
                        continue
                    cells = dict(zip(COLUMNS, key, strict=False)) | run(problem, fit)
                    text = ",".join(cells.get(column, "") for column in COLUMNS) + "\n"
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
                    sys.stderr.write(text)


def main() -> None:
    parser = argparse.ArgumentParser(description="Peers on the tables of bench/tables.")
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("results", type=Path, metavar="RESULTS")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--splits", default="0,1,2,3,4,5,6,7,8,9")
    args = parser.parse_args()
    methods = args.methods.split(",")
    if unknown := [method for method in methods if method not in METHODS]:
        parser.error(f"no such method: {', '.join(unknown)}")
    splits = [int(split) for split in args.splits.split(",")]
    run_all(args.data, args.results, methods, args.sets.split(","), splits)


if __name__ == "__main__":
    main()
