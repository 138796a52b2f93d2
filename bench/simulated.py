"""A table of any number of rows with a known density: `python bench/simulated.py ROWS FOLDER`.

Eight inputs, uniform on [0, 1]; a mean with two scales, and noise whose sd depends on an input.
Writes train.csv (ROWS rows) and test.csv (4,000 rows) to FOLDER and prints the mean negative log
density of the truth at the test rows.
"""

import sys
from pathlib import Path

import numpy as np
from scipy.stats import norm

TEST_ROWS = 4000


def truth(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation."""
    smooth = np.sin(3 * x[:, 0]) + x[:, 1] * x[:, 2] + np.cos(2 * x[:, 3] + x[:, 4])
    quick = 0.4 * np.sin(20 * x[:, 0]) + 0.3 * np.sin(12 * x[:, 1])
    return smooth + quick, 0.1 + 0.4 * x[:, 5] ** 2


def main(rows: int, folder: Path) -> None:
    rng = np.random.default_rng(0)
    header = ",".join([f"x{i}" for i in range(8)] + ["y"])
    for name, count in (("train", rows), ("test", TEST_ROWS)):
        x = rng.uniform(size=(count, 8))
        mean, sd = truth(x)
        y = mean + sd * rng.standard_normal(count)
        table = np.column_stack([x, y])
        path = folder / f"{name}.csv"
        np.savetxt(path, table, delimiter=",", fmt="%.6g", header=header, comments="")
    print(f"truth: {-norm.logpdf(y, mean, sd).mean():.4f}")


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
