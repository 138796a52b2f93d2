"""What Python costs: `python bench/python_overhead.py path/to/gpfuse [WHEEL]`.

The same fit through the program and the package, one after the other, five times; the best of
each. Processor seconds are compared too, which other work on the machine disturbs less.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import gpfuse as gf

ROUNDS = 5
SETTINGS = {"experts": 3, "chains": 4, "warmup": 500, "draws": 500, "max_depth": 6}


def processor(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def program(path: str, table: Path, out: Path) -> tuple[float, float]:
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in SETTINGS.items()]
    before = processor(resource.RUSAGE_CHILDREN)
    command = [path, "fit", str(table), "--target", "y", "--method", "pogpe", *flags, "--seed", "0"]
    done = subprocess.run([*command, "--json", "--out", str(out)], check=True, capture_output=True)
    return json.loads(done.stdout)["seconds"], processor(resource.RUSAGE_CHILDREN) - before


def package(X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    before, begun = processor(resource.RUSAGE_SELF), time.perf_counter()
    gf.PoGPE(**SETTINGS, random_state=0).fit(X, y)
    return time.perf_counter() - begun, processor(resource.RUSAGE_SELF) - before


def importing() -> float:
    code = "import time; t = time.perf_counter(); import gpfuse; print(time.perf_counter() - t)"
    command = [sys.executable, "-c", code]
    return min(float(subprocess.check_output(command)) for _ in range(ROUNDS))


def main() -> None:
    warnings.simplefilter("ignore")
    data = gf.simulate(400, random_state=0)
    with tempfile.TemporaryDirectory() as name:
        table = Path(name) / "d.csv"
        rows = np.column_stack([data.X, data.y])
        np.savetxt(table, rows, delimiter=",", header="x0,y", comments="", fmt="%.17g")
        runs = [
            (program(sys.argv[1], table, Path(name) / "m.nc"), package(data.X, data.y))
            for _ in range(ROUNDS)
        ]
    for at, unit in enumerate(["seconds", "processor seconds"]):
        ours, theirs = (min(run[who][at] for run in runs) for who in (1, 0))
        # The program also reads its table and writes its file, which only counts below.
        print(f"{unit}: Python {ours:.2f}, program {theirs:.2f}, ratio {ours / theirs:.3f}")
    print(f"import gpfuse: {importing():.3f} s")
    if len(sys.argv) > 2:
        print(f"wheel: {os.path.getsize(sys.argv[2]) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
