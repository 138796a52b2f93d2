"""What both sides are given: rows, a basis, a method, and the order of the parameters."""

import csv
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
PAPER = ROOT / "bench" / "paper"

# The paper's box: centre and half-width.
CENTRE, HALF_WIDTH = 0.0, 6.5


@dataclass(frozen=True)
class Basis:
    """`rff` with `size` frequencies, or `hilbert` with `size` functions."""

    kind: str
    size: int

    @property
    def features(self) -> int:
        return 2 * self.size if self.kind == "rff" else self.size

    @property
    def omega(self) -> np.ndarray:
        """The paper's base frequencies of split 0; beyond its fifty, more from a fixed seed."""
        own = _columns("frequencies.csv")["split0"]
        more = np.random.default_rng(1).standard_normal(max(0, self.size - len(own)))
        return np.concatenate([own, more])[: self.size]

    def __str__(self) -> str:
        return f"{self.kind} {self.size}"


@dataclass(frozen=True)
class Model:
    """A method with its experts on a basis."""

    method: str
    experts: int
    basis: Basis

    @property
    def banks(self) -> list[tuple[str, int]]:
        """Each bank's name and its number of GPs."""
        gates = {"mogpe": self.experts - 1, "pogpe": self.experts, "het": 0}[self.method]
        banks = [("mu", self.experts), ("log_sd", self.experts), ("gate", gates)]
        return [bank for bank in banks if bank[1]]

    @property
    def gps(self) -> int:
        return sum(count for _, count in self.banks)

    @property
    def parts(self) -> list[tuple[str, tuple[int, ...]]]:
        """Names and shapes in the order of gpfuse's flat vector."""
        parts = []
        for name, count in self.banks:
            parts += [(f"{name}_var", (count,)), (f"{name}_ell", (count,))]
            parts += [(f"{name}_theta", (count, self.basis.features))]
        return parts

    @property
    def dim(self) -> int:
        return sum(math.prod(shape) for _, shape in self.parts)

    def named(self, flat):
        """The flat vector (..., dim) by name. For arrays of NumPy and of JAX."""
        out, at = {}, 0
        for name, shape in self.parts:
            size = math.prod(shape)
            out[name] = flat[..., at : at + size].reshape(*flat.shape[:-1], *shape)
            at += size
        return out

    def flat(self, named) -> np.ndarray:
        """The inverse of `named`, for single points."""
        return np.concatenate([np.ravel(named[name]) for name, _ in self.parts])

    def points(self, count: int, seed: int) -> np.ndarray:
        """Points (count, dim) of the sampling space, spread about where posteriors lie."""
        rng = np.random.default_rng(seed)
        parts = []
        for name, shape in self.parts:
            centre, spread = {"var": (0, 0.5), "ell": (-1, 0.5)}.get(name.split("_")[-1], (0, 1))
            parts.append(centre + spread * rng.standard_normal((count, math.prod(shape))))
        return np.concatenate(parts, axis=1)

    def __str__(self) -> str:
        name = self.method if self.method == "het" else f"{self.method} K={self.experts}"
        return f"{name}, {self.basis}"


RFF30, RFF100, HILBERT60 = Basis("rff", 30), Basis("rff", 100), Basis("hilbert", 60)
EXPERTS = {"het": 1, "mogpe": 3, "pogpe": 3}


def models(bases: list[Basis], methods: list[str]) -> list[Model]:
    """Every method on every basis, with the paper's number of experts."""
    return [Model(method, EXPERTS[method], basis) for basis in bases for method in methods]


@cache
def _columns(name: str) -> dict[str, np.ndarray]:
    with open(PAPER / name, newline="") as file:
        rows = list(csv.reader(file))
    return {key: np.array(column, float) for key, *column in zip(*rows, strict=True)}


def paper(test: bool) -> tuple[np.ndarray, np.ndarray]:
    """The 800 training rows or the 200 test rows of the paper's split 0."""
    data = _columns("data.csv")
    chosen = data["test0"] == float(test)
    return data["x"][chosen], data["y"][chosen]


def grid(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows spread evenly over the paper's domain, on a simple curve."""
    x = np.linspace(-5, 5, n)
    return x, np.sin(x)


def rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    """The paper's training rows where n is their number, else a grid."""
    x, y = paper(test=False)
    return (x, y) if n == len(x) else grid(n)
