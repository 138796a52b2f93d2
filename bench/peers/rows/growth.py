"""How gpfuse's cost grows: with rows, experts and frequencies, and with threads."""

from .. import ours
from ..cells import Cell
from ..problem import HILBERT60, Basis, Model, grid, paper
from ..section import Section, digits, times
from ..size import Size

ROWS, EXPERTS, FREQUENCIES = 10_000, 3, 30
# What grows: the values along each axis, the others as above.
AXES = {
    "rows": [10_000, 100_000, 1_000_000],
    "experts": [2, 4, 8],
    "frequencies": [25, 50, 100, 200],
}
THREADS = "growth: threads"


def name(axis: str) -> str:
    return f"growth: {axis}"


def cells(size: Size) -> list[Cell]:
    axes = [Cell(name(axis), "gpfuse", lambda a=axis: grow(a, size)) for axis in AXES]
    return [*axes, Cell(THREADS, "gpfuse", lambda: threads(size))]


def grow(axis: str, size: Size) -> dict:
    """The best time of a gradient at each value, in rounds over all values."""
    best = {}
    for _ in range(size.rounds):
        for value in AXES[axis]:
            at = {"rows": ROWS, "experts": EXPERTS, "frequencies": FREQUENCIES, axis: value}
            model = Model("pogpe", at["experts"], Basis("rff", at["frequencies"]))
            found = ours.run(
                "gradient",
                problem=ours.problem(model, grid(at["rows"])),
                point=ours.file("point", model.points(1, seed=7)),
                seconds=size.seconds,
            )
            best[value] = min(best.get(value, found["best"]), found["best"])
    return {str(value): seconds for value, seconds in best.items()}


def threads(size: Size) -> dict:
    """The same four chains on one thread and on two: the same work, to the last bit."""
    draws = max(10, size.hilbert_draws // 5)
    best = {}
    for _ in range(min(3, size.rounds)):
        for count in (1, 2):
            found = ours.run(
                "sample",
                problem=ours.problem(Model("pogpe", 3, HILBERT60), paper(test=False)),
                test=ours.table("test", paper(test=True)),
                settings=size.chain("hilbert")
                | {"start": "prior", "warmup": draws, "draws": draws, "threads": count},
                lpd=ours.room("lpd"),
                draws=None,
            )
            best[count] = min(best.get(count, found["seconds"]), found["seconds"])
    return {str(count): seconds for count, seconds in best.items()}


def report(results: dict, _: Size) -> Section:
    section = Section(
        "growth",
        f"gpfuse's time per gradient on one core, PoGPE on RFF; what does not grow is {ROWS} "
        f"rows, {EXPERTS} experts, {FREQUENCIES} frequencies. `to linear` is the time beside "
        "that of the first value grown in proportion: 1 is linear. For threads it is the "
        "speed-up, of four chains of PoGPE on a Hilbert basis of 60.",
        ["what grows", "value", "ms", "to linear"],
    )
    for axis, values in AXES.items():
        if found := results.get(name(axis)):
            first = found[str(values[0])] / values[0]
            for value in values:
                seconds = found[str(value)]
                line = [axis, str(value), digits(seconds * 1e3), digits(seconds / value / first)]
                section.lines.append(line)
    if found := results.get(THREADS):
        for count, seconds in found.items():
            speedup = times(found["1"] / seconds)
            section.lines.append(["threads", count, digits(seconds * 1e3), speedup])
    return section
