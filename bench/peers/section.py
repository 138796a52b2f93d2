"""A part of the report: a table, what it claims, and what went wrong."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Claim:
    """A figure against its target."""

    case: str
    figure: str
    target: str
    met: bool


@dataclass
class Section:
    """The table of one kind of measurement."""

    title: str
    note: str
    columns: list[str]
    lines: list[list[str]] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    # Where the two sides did not compute the same thing.
    mismatches: list[str] = field(default_factory=list)

    def at_least(self, case: str, ratio: float, target: float) -> None:
        """Claim that gpfuse is so many times as fast."""
        self.claims.append(Claim(case, times(ratio), f">= {target:g}x", ratio >= target))

    def below(self, case: str, value: float, target: float, unit: str) -> None:
        """Claim that a figure stays below a bound."""
        figure, bound = f"{digits(value)} {unit}", f"< {target:g} {unit}"
        self.claims.append(Claim(case, figure, bound, value < target))


def digits(value: float) -> str:
    """Three digits, without an exponent."""
    if value == 0 or abs(value) >= 100:
        return f"{value:.0f}"
    places = 2
    while abs(value) < 10 ** (1 - places) and places < 8:
        places += 1
    return f"{value:.{places if abs(value) < 10 else 1}f}"


def times(ratio: float) -> str:
    return f"{digits(ratio)}x"


def aligned(columns: list[str], lines: list[list[str]]) -> list[str]:
    """A Markdown table that is also read well as it stands."""
    widths = [max(map(len, column)) for column in zip(columns, *lines, strict=True)]
    rule = ["-" * max(3, width) for width in widths]
    widths = [len(r) for r in rule]

    def row(cells: list[str]) -> str:
        padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
        return f"| {' | '.join(padded)} |"

    return [row(columns), row(rule), *map(row, lines)]
