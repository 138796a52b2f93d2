"""How much each expert is trusted, and what each says, at some rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .table import aligned, pandas

_Array = NDArray[np.float64]

# What fits on a screen: rows at the beginning and at the end, and experts side by side.
_ENDS = 5
_EXPERTS = 8


@dataclass(frozen=True, repr=False)
class Weights:
    """The experts of a model at n rows; arrays have shape (n, experts).

    In a joint model the experts are exchangeable: a label means the same expert within a draw, but
    not always in another draw or chain.
    """

    experts: list[str]
    """Their names."""
    mean: _Array
    """The posterior means of the weights."""
    low: _Array
    """The lower ends of the weights' central posterior intervals."""
    high: _Array
    """Their upper ends."""
    expert_mean: _Array | None
    """What each expert predicts, in the units of the target; None of experts known by log
    densities."""
    expert_std: _Array | None
    """With which standard deviation; None of such experts."""
    level: float
    """The part of the draws that the intervals hold."""

    def to_pandas(self) -> Any:
        """A data frame with a row for each row and expert."""
        rows = len(self.mean)
        index = pandas().MultiIndex.from_product(
            [range(rows), self.experts], names=["row", "expert"]
        )
        names = ("mean", "low", "high", "expert_mean", "expert_std")
        columns = {name: getattr(self, name) for name in names}
        known = {name: values.ravel() for name, values in columns.items() if values is not None}
        return pandas().DataFrame(known, index=index)

    def __repr__(self) -> str:
        shown, cut = self.experts[:_EXPERTS], len(self.experts) - _EXPERTS
        numbers: Sequence[int] = range(len(self.mean))
        if len(numbers) > 2 * _ENDS:
            numbers = [*numbers[:_ENDS], *numbers[-_ENDS:]]
        rows = [[str(i), *(f"{w:.3f}" for w in self.mean[i, :_EXPERTS]), ""] for i in numbers]
        if len(numbers) < len(self.mean):
            rows.insert(_ENDS, ["...", *("..." for _ in shown), ""])
        more = f", {cut} more experts" if cut > 0 else ""
        head = f"mean weights at {len(self.mean)} rows{more}"
        return f"{head}\n{aligned(['row', *shown, ''], rows)}"


@dataclass(frozen=True, repr=False)
class WeightEffects:
    """How the shares of the experts in the weight depend on each input; the strongest comes first.

    Shares are the weights themselves where these sum to one. The curve of an input is its partial
    dependence: the average share where the input takes a value in all rows, and the others stay as
    they are.
    """

    experts: list[str]
    """The names of the experts."""
    inputs: list[str]
    """The names of the inputs, first the one that moves the weights most."""
    moves: _Array
    """How far each moves a share, alone and together with others: a standard deviation, as far as
    the posterior draws agree on it."""
    places: list[_Array]
    """Places along each input."""
    mean: list[_Array]
    """For each input, the posterior means of the average shares there, (places, experts)."""
    low: list[_Array]
    """The lower ends of their central intervals."""
    high: list[_Array]
    """Their upper ends."""
    average: _Array
    """The average shares over the rows as they are: mean, low and high, (experts, 3)."""
    spread: float
    """How far a share moves from row to row: a standard deviation."""
    agreed: float
    """The share of the variance from row to row that the draws agree on; draws of the prior alone
    agree on nothing."""
    words: str
    """What it comes to."""
    level: float
    """The part of the draws that the intervals hold."""

    def to_pandas(self) -> Any:
        """A data frame with a row for each input."""
        index = pandas().Index(self.inputs, name="input")
        return pandas().DataFrame({"moves": self.moves}, index=index)

    def __repr__(self) -> str:
        rows = [[n, f"{m:.3f}", ""] for n, m in zip(self.inputs, self.moves, strict=True)]
        return f"{aligned(['input', 'moves a share by', ''], rows)}\n{self.words}"
