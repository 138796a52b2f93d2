"""Draw the modes of het: `modes.py modes.csv data.csv modes.png`.

`modes.csv` was made by a program that is in the history, commit 1c80982 (the example `modes`);
`data.csv` is that of the frozen protocol.
Needs matplotlib.
"""

import csv
import sys
from collections import defaultdict

import matplotlib.pyplot as plt

# Colour-blind safe (Okabe and Ito), with a line style each for grey prints.
STYLES = [("#0072B2", "-"), ("#D55E00", "--"), ("#009E73", "-."), ("black", ":")]
NAMES = {"rff": "RFF, 30 frequencies", "hilbert": "Hilbert basis, 60 functions"}


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def main(modes, data, out):
    lines = defaultdict(list)
    for row in read(modes):
        key = (row["basis"], int(row["chain"]), row["weight"])
        lines[key].append((float(row["x"]), float(row["mean"])))
    points = [(float(r["x"]), float(r["y"])) for r in read(data) if float(r["test0"]) == 0]
    figure, axes = plt.subplots(2, 1, figsize=(9, 6.4), sharex=True, sharey=True)
    for panel, (basis, title) in zip(axes, NAMES.items(), strict=True):
        panel.plot(*zip(*points, strict=True), ".", color="0.75", markersize=3, zorder=1)
        for (name, chain, weight), line in lines.items():
            if name == basis:
                colour, style = STYLES[(chain - 1) % len(STYLES)]
                label = f"chain {chain}, weight {float(weight):.2f}"
                panel.plot(
                    *zip(*line, strict=True),
                    color=colour,
                    linestyle=style,
                    linewidth=1.3,
                    label=label,
                )
        panel.set_title(f"het on {title}", loc="left", fontsize=11)
        panel.set_ylabel("y")
        panel.legend(ncols=4, fontsize=8, loc="lower center", framealpha=0.9)
        low, high = panel.get_ylim()
        panel.set_ylim(low - 0.12 * (high - low), high)
    axes[-1].set_xlabel("x")
    figure.tight_layout()
    figure.savefig(out, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:])
