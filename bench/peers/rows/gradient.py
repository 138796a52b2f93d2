"""The time of one gradient: gpfuse on one core, JAX on as many as it likes."""

import time

from .. import ours
from ..cells import Cell
from ..problem import HILBERT60, RFF30, RFF100, Model, models, rows
from ..section import Section, digits, times
from ..size import Size

PAPER_ROWS, MANY_ROWS = 800, 10_000
TARGET = 20
RFF = models([RFF30, RFF100], ["mogpe", "pogpe"])
CASES = [(model, n) for n in (PAPER_ROWS, MANY_ROWS) for model in RFF] + [
    (model, PAPER_ROWS) for model in models([HILBERT60], ["mogpe", "pogpe", "het"])
]


def name(model: Model, n: int) -> str:
    return f"gradient: {model}, {n} rows"


def cells(size: Size) -> list[Cell]:
    def cell(model, n):
        return Cell(name(model, n), "both", lambda: measure(model, n, size))

    return [cell(model, n) for model, n in CASES]


def measure(model: Model, n: int, size: Size) -> dict:
    """The best of many evaluations on each side, in rounds that alternate."""
    import jax

    from .. import jax_model

    data, q = rows(n), model.points(1, seed=7)[0]
    gradient = jax.jit(jax.value_and_grad(jax_model.potential(model, *data)))
    theirs, point = float("inf"), jax_model.point(model, q)
    jax.block_until_ready(gradient(point))
    own = float("inf")
    job = {"problem": ours.problem(model, data), "point": ours.file("point", q)}
    for _ in range(size.rounds):
        own = min(own, ours.run("gradient", **job, seconds=size.seconds)["best"])
        end = time.perf_counter() + size.seconds
        while True:
            begun = time.perf_counter()
            jax.block_until_ready(gradient(point))
            now = time.perf_counter()
            theirs = min(theirs, now - begun)
            if now > end:
                break
    return {"gpfuse": own, "jax": theirs}


def report(results: dict, _: Size) -> Section:
    section = Section(
        "gradient",
        "The best time of one log density with its gradient: gpfuse on one core, JAX "
        "(`jit` of `value_and_grad` of NumPyro's potential) on all cores. The sides alternate. "
        "A feature is a row, a GP and a frequency.",
        ["model", "rows", "gpfuse ms", "JAX ms", "gpfuse ns/feature", "JAX ns/feature", "ratio"],
    )
    for model, n in CASES:
        if found := results.get(name(model, n)):
            own, theirs = found["gpfuse"], found["jax"]
            each = ["", ""]
            if model.basis.kind == "rff":
                features = n * model.gps * model.basis.size
                each = [digits(t * 1e9 / features) for t in (own, theirs)]
                section.at_least(f"{model}, {n} rows", theirs / own, TARGET)
            milliseconds = [digits(t * 1e3) for t in (own, theirs)]
            line = [str(model), str(n), *milliseconds, *each, times(theirs / own)]
            section.lines.append(line)
    return section
