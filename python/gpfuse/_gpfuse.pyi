"""The engine; every array is C-contiguous float64."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Gp",
    "Learned",
    "Model",
    "Predictive",
    "__version__",
    "compare",
    "contestants",
    "fit",
    "rules",
    "settings",
    "simulate",
    "unused",
]

__version__: str

_Array = NDArray[np.float64]
_Progress = Callable[
    [tuple[int, int], list[tuple[int, int, int, bool, int, float, int]]],
    object,
]

@final
class Model:
    @staticmethod
    def load(path: str | PathLike[str]) -> Model: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Model: ...
    def groups(self) -> dict[str, dict[str, Any]]: ...
    @property
    def settings(self) -> str: ...
    @property
    def diagnostics(self) -> str: ...
    @property
    def converged(self) -> bool: ...
    @property
    def inputs(self) -> list[str]: ...
    @property
    def target(self) -> str: ...
    @property
    def experts(self) -> list[str]: ...
    @property
    def needs_predictions(self) -> bool: ...
    @property
    def rows(self) -> list[int]: ...
    @property
    def draws(self) -> tuple[int, int]: ...
    def outside(self, x: _Array) -> str | None: ...
    def predict(
        self,
        x: _Array,
        threads: int,
        mean: _Array | None = None,
        sd: _Array | None = None,
        rao_blackwell: bool = False,
    ) -> Predictive: ...
    def weigh(
        self,
        x: _Array,
        level: float,
        threads: int,
        mean: _Array | None = None,
        sd: _Array | None = None,
    ) -> list[_Array]: ...

def settings() -> tuple[str, str]: ...
def unused(given: str, inputs: Sequence[str]) -> list[str]: ...
def fit(
    x: _Array,
    y: _Array,
    settings: str,
    inputs: Sequence[str],
    target: str,
    mean: _Array | None = None,
    sd: _Array | None = None,
    names: Sequence[str] | None = None,
    assignment: tuple[Sequence[Sequence[int]], Sequence[int]] | None = None,
    progress: _Progress | None = None,
) -> tuple[Model, BaseException | None]: ...
@final
class Predictive:
    @staticmethod
    def normal(mean: _Array, sd: _Array, threads: int) -> Predictive: ...
    def __len__(self) -> int: ...
    def moments(self) -> tuple[_Array, _Array]: ...
    def quantiles(self, levels: Sequence[float]) -> _Array: ...
    def log_density(self, y: _Array) -> _Array: ...
    def cdf(self, y: _Array) -> _Array: ...
    def crps(self, y: _Array) -> _Array: ...
    def sample(self, count: int, seed: int) -> _Array: ...
    def evaluate(self, y: _Array) -> tuple[str, _Array]: ...

@final
class Learned:
    def __new__(
        cls,
        rule: str,
        mean: _Array,
        sd: _Array,
        y: _Array,
        prior: tuple[float, float] | None = None,
        log_evidence: Sequence[float] | None = None,
        seed: int = 0,
    ) -> Learned: ...
    @property
    def weights(self) -> _Array | None: ...
    def fuse(self, mean: _Array, sd: _Array, threads: int) -> Predictive: ...

def rules() -> list[str]: ...
def contestants() -> list[str]: ...
def compare(
    x: _Array,
    y: _Array,
    settings: str,
    inputs: Sequence[str],
    methods: Sequence[str],
    test: tuple[_Array, _Array] | None = None,
    progress: _Progress | None = None,
) -> str: ...
@final
class Gp:
    @staticmethod
    def fit(x: _Array, y: _Array, settings: str) -> Gp: ...
    @staticmethod
    def condition(kernel: str, hyper: str, x: _Array, y: _Array) -> Gp: ...
    def predict(self, x: _Array, noise: bool) -> tuple[_Array, _Array]: ...
    def leave_one_out(self) -> tuple[_Array, _Array]: ...
    @property
    def kernel(self) -> str: ...
    @property
    def hyper(self) -> str: ...
    @property
    def log_marginal(self) -> float: ...
    @property
    def x(self) -> _Array: ...
    @property
    def y(self) -> _Array: ...

def simulate(settings: str) -> dict[str, Any]: ...
