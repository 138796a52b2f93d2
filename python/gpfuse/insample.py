"""A warning of experts that spoke of rows that had trained them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .given import LogDensities

# How far densities fall from the rows of the weights to new ones before it is said: in errors of
# the difference, and in nats a row. Of rows alike, one in 30,000 experts falls by four errors.
_ERRORS, _NATS = 4.0, 0.1


def warn_in_sample(worth: dict[str, Any] | None, here: LogDensities) -> None:
    """Warn of experts whose log densities at new rows are far below those before."""
    before = {line["what"]: line for line in worth["lines"]} if worth else {}
    for name, column in zip(here.names, here.log_density.T, strict=True):
        line = before.get(f"expert {name}")
        if line is None or line["se"] is None or len(column) < 2 or not np.isfinite(column).all():
            continue
        gap = -line["nlpd"] - column.mean()
        error = np.hypot(line["se"], column.std(ddof=1) / np.sqrt(len(column)))
        if gap > max(_ERRORS * error, _NATS):
            warnings.warn(
                f"expert `{name}`: the log densities that weights were learned from are {gap:.2f} "
                f"nats a row (error {error:.2f}) above those of these rows: either these rows are "
                "unlike those, or the expert had been trained on them, and is trusted too much: "
                "give log densities, or means and stds, of rows left out",
                stacklevel=3,
            )
