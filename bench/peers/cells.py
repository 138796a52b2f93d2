"""The cells of a run, each finished once: a file of JSON lines that a stopped run goes on from.

A stored result stands as long as what made it is the same: the binaries of gpfuse for its
own cells, the versions of the peers for theirs. Changes of the benchmark itself are not seen:
use `--fresh` after them.
"""

import contextlib
import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from . import ours

PEERS = ["numpyro", "jax", "jaxlib", "nutpie", "arviz", "numpy"]
PEERS += ["scikit-learn", "torch", "gpytorch"]
BINARIES = [ours.EXAMPLE, ours.PROGRAM, ours.GP]


@dataclass(frozen=True)
class Cell:
    """One measurement: its name, whose it is (`gpfuse`, `peers` or `both`), and how."""

    name: str
    whose: str
    measure: Callable[[], dict]


def versions() -> dict[str, str]:
    return {name: metadata.version(name) for name in PEERS}


class Store:
    """The results so far."""

    def __init__(self, path: Path, fresh: bool) -> None:
        self.path, self.lines = path, {}
        digests = [hashlib.sha256(p.read_bytes()).hexdigest() for p in BINARIES]
        gpfuse, peers = "-".join(d[:12] for d in digests), str(versions())
        self.stamps = {"gpfuse": gpfuse, "peers": peers, "both": f"{gpfuse} {peers}"}
        path.parent.mkdir(parents=True, exist_ok=True)
        # A fresh run appends like any other: the last line of a cell counts, and cells that it
        # does not measure keep theirs.
        if path.exists() and not fresh:
            for text in path.read_text().splitlines():
                # The last line of a run that was killed may be cut short.
                with contextlib.suppress(json.JSONDecodeError):
                    line = json.loads(text)
                    self.lines[line["name"]] = line

    def get(self, cell: Cell) -> dict | None:
        """The stored line of a cell, if it still stands."""
        line = self.lines.get(cell.name)
        return line if line and line["stamp"] == self.stamps[cell.whose] else None

    def run(self, cell: Cell) -> dict:
        """Measure a cell and append its line."""
        begun = time.perf_counter()
        result = cell.measure()
        line = {
            "name": cell.name,
            "stamp": self.stamps[cell.whose],
            "when": time.strftime("%Y-%m-%d %H:%M"),
            "took": time.perf_counter() - begun,
            "result": result,
        }
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")
        self.lines[cell.name] = line
        return line
