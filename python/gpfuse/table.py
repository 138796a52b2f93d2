"""Small tables of numbers with error bars, as aligned text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .scores import Score


def decimals(error: float | None) -> int:
    """How many decimals show two digits of an error."""
    if error is None or not math.isfinite(error) or error <= 0:
        return 3
    return min(max(1 - math.floor(math.log10(error)), 0), 6)


def with_error(score: Score | None) -> tuple[str, str]:
    """A score and its error over folds in as many digits as the error has; "-" for what is not."""
    if score is None or math.isnan(score.value):
        return "-", "-"
    places = decimals(score.se)
    error = "-" if score.se is None else f"{score.se:.{places}f}"
    return f"{score.value:.{places}f}", error


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns of the width of their longest cell: the first and the last to the left."""
    lines = [list(head), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]

    def line(cells: list[str]) -> str:
        first, *numbers, last = zip(cells, widths, strict=True)
        right = [cell.rjust(width) for cell, width in numbers]
        return "  ".join([first[0].ljust(first[1]), *right, last[0]]).rstrip()

    return "\n".join(map(line, lines))


def pandas() -> Any:
    """The library, or an error that says how to get it."""
    try:
        return import_module("pandas")
    except ImportError as error:
        raise ImportError("pandas is missing: pip install pandas") from error
