"""A figure of weights on the wells: `python bench/wells_figure.py DATA FIGURE [LOO]`.

Six experts, fitted to all 3,020 rows as in `wells.py`, are stacked by their PSIS-LOO densities, and
weights depend on the inputs (`gf.BHS(gate="gp")`). A panel for each band of education, and for
arsenic and for distance, has the mean weights of the experts along it, at the median of the other
and without `assoc`, with an 80 % interval for the expert with the largest one. LOO is a file that
keeps the densities.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from wells import numbers
from wells_experts import designs, left_out, posterior, wells

import gpfuse as gf

# Colour-blind safe (Okabe and Ito), with a line style each for grey prints.
STYLES = [
    ("#000000", "-"),
    ("#0072B2", "--"),
    ("#009E73", "-."),
    ("#D55E00", ":"),
    ("#CC79A7", (0, (6, 1, 1, 1, 1, 1))),
    ("#E69F00", (0, (1, 3))),
]
NAMES = [
    "arsenic",
    "log arsenic",
    "arsenic, cubic",
    "log arsenic, spline",
    "distance, spline",
    "years of education",
]
AXES = {"arsenic": "arsenic (100 µg/l)", "dist": "distance (m)"}
LEVEL = 0.8


def densities(table: pd.DataFrame) -> np.ndarray:
    """PSIS-LOO densities of the experts at all rows."""
    y, rng, found = table["switch"].to_numpy(dtype=float), np.random.default_rng(0), []
    for columns in designs(table, np.arange(len(table))).values():
        beta = posterior(columns, y, rng)
        margin = (2 * y - 1) * (beta @ columns.T)
        found.append(left_out(beta, -np.logaddexp(0, -margin))[0])
    return np.stack(found, axis=1)


def along(table: pd.DataFrame, what: str, band: str) -> tuple[np.ndarray, pd.DataFrame]:
    """Ninety-eight in a hundred of the values of one input, with the others held."""
    grid = np.linspace(*table[what].quantile([0.01, 0.99]), 60)
    rows = pd.DataFrame(
        {"arsenic": table["arsenic"].median(), "dist": table["dist"].median()}, range(60)
    )
    rows[what], rows["assoc"] = grid, 0
    rows["dist100"], rows["log_arsenic"] = rows["dist"] / 100, np.log(rows["arsenic"])
    bands = table["band"].cat.categories
    return grid, rows.assign(band=pd.Categorical([band] * 60, categories=bands))


def main() -> None:
    table, keep = wells(Path(sys.argv[1])), Path(sys.argv[3]) if len(sys.argv) > 3 else None
    loo = np.load(keep)["loo"] if keep and keep.exists() else densities(table)
    if keep:
        np.savez(keep, loo=loo)
    settings = {"chains": 2, "warmup": 300, "draws": 500, "threads": 1, "random_state": 0}
    model = gf.BHS(gate="gp", **settings).fit(
        numbers(table), table["switch"].to_numpy(dtype=float), log_density=loo
    )
    print(model.compare().round(2))
    bands = list(table["band"].cat.categories)
    figure, panels = plt.subplots(
        2, len(bands), figsize=(10, 5.6), sharey=True, sharex="row", layout="constrained"
    )
    for line, (what, words) in zip(panels, AXES.items(), strict=True):
        for panel, band in zip(line, bands, strict=True):
            grid, rows = along(table, what, band)
            weights = model.weights(numbers(rows), level=LEVEL)
            for k, (colour, style) in enumerate(STYLES):
                panel.plot(grid, weights.mean[:, k], color=colour, linestyle=style, label=NAMES[k])
            most = int(weights.mean.mean(axis=0).argmax())
            low, high = weights.low[:, most], weights.high[:, most]
            panel.fill_between(grid, low, high, color=STYLES[most][0], alpha=0.15, linewidth=0)
            panel.set_ylim(0, 0.7)
            panel.set_xlabel(words)
        line[0].set_ylabel("weight")
    for panel, band in zip(panels[0], bands, strict=True):
        years = (
            "no education"
            if band == "none"
            else f"{band.replace('+', ' or more')} years of education"
        )
        panel.set_title(years, fontsize=10)
    figure.legend(
        *panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=6, fontsize=9
    )
    figure.savefig(sys.argv[2], dpi=110)


if __name__ == "__main__":
    main()
