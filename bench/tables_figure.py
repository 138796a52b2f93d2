"""A figure of `bench/tables`: how far the default method is below its best rival on each set.

    python bench/tables_figure.py RESULTS FIGURE

RESULTS is the CSV file of `bench/tables`, with the lines of `bench/peers_tables.py`; the name of
FIGURE says its format. The best rival of a set has the best mean NLPD over the splits that both
have, of single GPs with four kernels, scikit-learn's GP with two and NGBoost. Bars are two
standard errors over splits, paired.
"""

import csv
import sys
from collections import defaultdict

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

DEFAULT = "pbhs"
RIVALS = {
    "gp-rbf": "GP, RBF",
    "gp-matern12": "GP, Matérn 1/2",
    "gp-matern32": "GP, Matérn 3/2",
    "gp-matern52": "GP, Matérn 5/2",
    "sklearn-gp-rbf": "scikit-learn, RBF",
    "sklearn-gp-matern": "scikit-learn, Matérn",
    "ngboost": "NGBoost",
}


def read(path: str) -> dict[str, dict[str, dict[str, float]]]:
    """NLPD by set, method and split."""
    found: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    with open(path) as file:
        for line in csv.DictReader(file):
            if line["nlpd"]:
                found[line["set"]][line["method"]][line["split"]] = float(line["nlpd"])
    return found


def main() -> None:
    rows = []
    for name, methods in read(sys.argv[1]).items():
        own, gaps = methods[DEFAULT], {}
        for rival in RIVALS.keys() & methods.keys():
            shared = own.keys() & methods[rival].keys()
            gaps[rival] = np.array([own[split] - methods[rival][split] for split in shared])
        rival = max(gaps, key=lambda each: gaps[each].mean())
        gap = gaps[rival]
        # A single split has no error.
        error = 2 * gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else 0.0
        rows.append((gap.mean(), error, name, RIVALS[rival]))
    rows.sort(reverse=True)
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    for at, (mean, error, _, rival) in enumerate(rows):
        axis.errorbar(mean, at, xerr=error or None, fmt="o", color="#0b5394", capsize=3)
        axis.text(1.01, at, rival, transform=axis.get_yaxis_transform(), va="center", size=9)
    axis.axvline(0, color="black", linewidth=0.8)
    axis.set_yticks(range(len(rows)), [name for _, _, name, _ in rows])
    axis.set_xlabel("NLPD of gpfuse minus that of the best rival (right), nats per test row")
    axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(sys.argv[2], dpi=110)


if __name__ == "__main__":
    main()
