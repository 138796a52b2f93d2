"""Fusions of classifiers beside each expert and scikit-learn's StackingClassifier, on real sets.

    python bench/classes.py UCI_FOLDER OUT.csv [--splits 5] [--sets wine digits]

UCI_FOLDER has `concrete.csv`, whose target is cut into three classes of the same size. The other
sets come with scikit-learn. Training rows are half of a set and at most 400, drawn anew for each
split with its share of each class; all others are test rows. Every fusion has the same four experts
and learns from the same five folds.
"""

import argparse
import csv
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
)
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gpfuse as gf

MOST_ROWS = 400
FUSIONS = {"bhs": gf.BHSClassifier, "pbhs": gf.PBHSClassifier}
LEAST = 1e-15
HEAD = [
    "set",
    "split",
    "train",
    "test",
    "method",
    "nlpd",
    "nlpd_se",
    "accuracy",
    "by_input",
    "seconds",
]


def concrete(folder):
    table = np.loadtxt(folder / "concrete.csv", delimiter=",", skiprows=1)
    y = table[:, -1]
    return table[:, :-1], np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))


def experts(inputs):
    """Four classifiers. The GP has a lengthscale for rows that are sqrt(2 inputs) apart."""
    gp = GaussianProcessClassifier(4.0 * RBF(np.sqrt(inputs)), optimizer=None)
    models = {
        "logistic": LogisticRegression(max_iter=2000),
        "gp": gp,
        "forest": RandomForestClassifier(200, random_state=0),
        "boosting": HistGradientBoostingClassifier(random_state=0),
    }
    return [(name, make_pipeline(StandardScaler(), model)) for name, model in models.items()]


def one(X, y, train, test, split):
    """By method: losses at the test rows, accuracy, whether weights depend on X, seconds."""
    folds = StratifiedKFold(5, shuffle=True, random_state=split)
    models, classes = experts(X.shape[1]), np.unique(y)
    code = np.searchsorted(classes, y[test])
    found = {}

    def note(name, proba, start, by_input=""):
        p = np.maximum(proba[np.arange(len(test)), code], LEAST)
        right = (proba.argmax(axis=1) == code).mean()
        found[name] = (-np.log(p), right, by_input, time.perf_counter() - start)

    before, at_test = {}, {}
    for name, model in models:
        start = time.perf_counter()
        at_test[name] = clone(model).fit(X[train], y[train]).predict_proba(X[test])
        note(name, at_test[name], start)
        before[name] = cross_val_predict(
            model, X[train], y[train], cv=folds, method="predict_proba"
        )
    start = time.perf_counter()
    note("equal", np.mean(list(at_test.values()), axis=0), start)
    for name, kind in FUSIONS.items():
        start = time.perf_counter()
        model = kind(random_state=split).fit(X[train], y[train], proba=before)
        fitted = next(line for line in model.worth_["lines"] if line["above_se"] is None)
        by_input = fitted["what"] == "by-input"
        note(name, model.predict_proba(X[test], proba=at_test), start, by_input)
    start = time.perf_counter()
    stack = StackingClassifier(models, cv=folds).fit(X[train], y[train])
    note("StackingClassifier", stack.predict_proba(X[test]), start)
    return found


def summary(name, losses):
    """Mean log loss of each method, and how far it is above each fusion, with its error.

    The error is that over splits or, if larger, that over rows: of the differences of each row,
    averaged over the splits in which it is a test row.
    """
    print(name)
    mean = {method: np.mean([np.nanmean(each) for each in all]) for method, all in losses.items()}
    for method in sorted(mean, key=mean.get):
        words = []
        for fusion in FUSIONS:
            d = np.array(losses[method]) - np.array(losses[fusion])
            splits, rows = np.nanmean(d, axis=1), np.nanmean(d, axis=0)
            rows = rows[np.isfinite(rows)]
            se = max(v.std(ddof=1) / np.sqrt(len(v)) for v in (splits, rows)) if len(d) > 1 else 0.0
            words.append(f"above {fusion} {splits.mean():+.4f} +- {se:.4f}")
        print(f"  {method:18} {mean[method]:.4f}  {'  '.join(words)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("uci", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--sets", nargs="*")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    sets = {
        "breast-cancer": lambda: load_breast_cancer(return_X_y=True),
        "wine": lambda: load_wine(return_X_y=True),
        "digits": lambda: load_digits(return_X_y=True),
        "concrete-3": lambda: concrete(args.uci),
    }
    with args.out.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(HEAD)
        for name in args.sets or sets:
            X, y = sets[name]()
            size = min(MOST_ROWS, len(y) // 2)
            cut = StratifiedShuffleSplit(args.splits, train_size=size, random_state=0)
            losses = {}
            for split, (train, test) in enumerate(cut.split(X, y)):
                for method, (loss, right, by_input, took) in one(X, y, train, test, split).items():
                    all_rows = np.full(len(y), np.nan)
                    all_rows[test] = loss
                    losses.setdefault(method, []).append(all_rows)
                    se = loss.std(ddof=1) / np.sqrt(len(loss))
                    scores = [f"{loss.mean():.5f}", f"{se:.5f}", f"{right:.5f}"]
                    out.writerow(
                        [name, split, size, len(test), method, *scores, by_input, f"{took:.1f}"]
                    )
                    file.flush()
            summary(name, losses)


if __name__ == "__main__":
    main()
