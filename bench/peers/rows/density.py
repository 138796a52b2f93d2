"""Do both sides compute the same log density and gradient? All else rests on it."""

import numpy as np

from .. import ours
from ..cells import Cell
from ..problem import HILBERT60, RFF30, RFF100, Model, models, paper
from ..section import Claim, Section
from ..size import Size

POINTS = 8
TOLERANCE = 1e-9
MODELS = models([RFF30, RFF100, HILBERT60], ["het", "mogpe", "pogpe"])


def cells(_: Size) -> list[Cell]:
    return [Cell(f"density: {model}", "both", lambda m=model: measure(m)) for model in MODELS]


def measure(model: Model) -> dict:
    """The worst error over random points: relative, absolute where the value is below 1."""
    import jax

    from .. import jax_model

    rows, points, out = paper(test=False), model.points(POINTS, seed=7), ours.room("density")
    ours.run(
        "density",
        problem=ours.problem(model, rows),
        points=ours.file("points", points),
        out=out,
    )
    found = np.fromfile(out).reshape(POINTS, 1 + model.dim)
    potential = jax.jit(jax.value_and_grad(jax_model.potential(model, *rows)))
    errors = np.zeros(2)
    for q, own in zip(points, found, strict=True):
        value, grad = potential(jax_model.point(model, q))
        theirs = -np.concatenate([[value], model.flat(grad)])
        # A NaN on either side must count as wrong.
        gap = np.nan_to_num(np.abs(own - theirs) / np.maximum(1, np.abs(theirs)), nan=np.inf)
        errors = np.maximum(errors, [gap[0], gap[1:].max()])
    return {"value": errors[0], "gradient": errors[1]}


def report(results: dict, _: Size) -> Section:
    section = Section(
        "density",
        f"The log density and its gradient at {POINTS} random points, gpfuse against JAX: the "
        f"worst relative error (absolute below 1). All terms and constants included.",
        ["model", "value", "gradient", "verdict"],
    )
    worst = 0.0
    for model in MODELS:
        if found := results.get(f"density: {model}"):
            error = max(found["value"], found["gradient"])
            worst, met = max(worst, error), error <= TOLERANCE
            line = [str(model), f"{found['value']:.1e}", f"{found['gradient']:.1e}"]
            section.lines.append([*line, "ok" if met else "MISMATCH"])
            if not met:
                section.mismatches.append(f"density of {model}: relative error {error:.1e}")
    if section.lines:
        met = worst <= TOLERANCE
        section.claims.append(Claim("worst error", f"{worst:.1e}", f"<= {TOLERANCE:.0e}", met))
    return section
