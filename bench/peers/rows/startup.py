"""What one waits for before anything happens."""

from .. import ours
from ..cells import Cell
from ..problem import paper
from ..section import Section, digits
from ..size import Size

VERSION, FIT = "startup: version", "startup: fit"
ROWS = 50
REPEATS = 20


def cells(size: Size) -> list[Cell]:
    return [
        Cell(VERSION, "gpfuse", version),
        Cell(FIT, "gpfuse", lambda: fit(2 * size.repeats)),
    ]


def version() -> dict:
    return {"seconds": min(ours.life(ours.PROGRAM, "--version") for _ in range(REPEATS))}


def fit(repeats: int) -> dict:
    """Every sixteenth of the paper's training rows, all settings left as they are."""
    x, y = (column[:: len(column) // ROWS][:ROWS] for column in paper(test=False))
    table = ours.WORK / "fifty.csv"
    table.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{a},{b}" for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    table.write_text("\n".join(["x,y", *lines, ""]))
    command = [ours.PROGRAM, "fit", table, "--target", "y", "--out", table.with_suffix(".nc")]
    return {"seconds": min(ours.life(*command) for _ in range(repeats))}


def report(results: dict, _: Size) -> Section:
    section = Section(
        "startup",
        f"The life of a process of the program: `gpfuse --version`, and `gpfuse fit` on {ROWS} "
        "rows with default settings. The best of several.",
        ["command", "ms"],
    )
    for cell, command, target in ((VERSION, "--version", 10), (FIT, "fit, 50 rows", 1000)):
        if found := results.get(cell):
            milliseconds = found["seconds"] * 1e3
            section.lines.append([f"gpfuse {command}", digits(milliseconds)])
            section.below(f"gpfuse {command}", milliseconds, target, "ms")
    return section
