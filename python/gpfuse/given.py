"""What experts say at some rows, as arrays: checked, with the experts' names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Array = NDArray[np.float64]

_SUM_WITHIN = 1e-4
"""How far from one probabilities may sum, as in the engine."""


@dataclass(frozen=True)
class Said:
    """Predictive means and standard deviations of K experts at n rows, each of shape (n, K)."""

    names: list[str]
    mean: _Array
    std: _Array

    def __post_init__(self) -> None:
        _refuse_twice(self.names)

    def checked(self, rows: Sequence[int] | None = None) -> Said:
        """The same, if every value can be fused; `rows` are the numbers of the rows, from 0."""

        def refuse(bad: NDArray[np.bool_], what: str, values: _Array, cure: str) -> None:
            if bad.any():
                at, k = np.argwhere(bad)[0]
                row = at if rows is None else rows[at]
                place = f"expert `{self.names[k]}`, row {row + 1}"
                raise ValueError(f"{place}: {what} is {float(values[at, k])}: {cure}")

        finite = "it must be a finite number: leave out the row or the expert"
        positive = "it must be positive"
        sure = (
            "it must be positive. An expert without noise is sure of itself at rows like its "
            "own: add a WhiteKernel to its kernel, or a noise floor to its std"
        )
        refuse(~np.isfinite(self.mean), "mean", self.mean, finite)
        refuse(~np.isfinite(self.std), "std", self.std, finite)
        refuse(self.std == 0, "std", self.std, sure)
        refuse(self.std < 0, "std", self.std, positive)
        return self

    def columns(self) -> list[_Array]:
        """Mean and std of each expert, of shape (2, n)."""
        return list(np.stack([self.mean.T, self.std.T], axis=1))

    def for_engine(self) -> dict[str, _Array]:
        """As the engine calls them."""
        return {"mean": self.mean, "sd": self.std}


@dataclass(frozen=True)
class Probabilities:
    """The probabilities of C classes under K experts at n rows, of shape (n, K, C)."""

    names: list[str]
    classes: NDArray[Any]
    proba: _Array

    def __post_init__(self) -> None:
        _refuse_twice(self.names)

    def checked(self, rows: Sequence[int] | None = None) -> Probabilities:
        """The same, if all are probabilities; `rows` are the numbers of the rows, from 0."""
        sums = self.proba.sum(axis=2)
        inside = (self.proba >= 0.0) & (self.proba <= 1.0 + _SUM_WITHIN)
        bad = ~inside.all(axis=2) | ~(np.abs(sums - 1.0) <= _SUM_WITHIN)
        if not bad.any():
            return self
        at, k = np.argwhere(bad)[0]
        place = f"expert `{self.names[k]}`, row {(at if rows is None else rows[at]) + 1}"
        if inside[at, k].all():
            raise ValueError(
                f"{place}: the probabilities of the classes sum to {sums[at, k]:.6g}: they must "
                "sum to 1"
            )
        c = np.flatnonzero(~inside[at, k])[0]
        raise ValueError(
            f"{place}: the probability of class `{self.classes[c]}` is "
            f"{float(self.proba[at, k, c])}: it must lie between 0 and 1"
        )

    def columns(self) -> list[_Array]:
        """Those of each expert, of shape (C, n)."""
        return list(self.proba.transpose(1, 2, 0))

    def for_engine(self) -> _Array:
        """All classes of an expert side by side, of shape (n, K C)."""
        return np.ascontiguousarray(self.proba.reshape(len(self.proba), -1))


@dataclass(frozen=True)
class LogDensities:
    """The log densities of the target under K experts at n rows, of shape (n, K)."""

    names: list[str]
    log_density: _Array

    def __post_init__(self) -> None:
        _refuse_twice(self.names)

    def checked(self) -> LogDensities:
        """The same, if every row can be fused."""
        if not (below := self.log_density < np.inf).all():
            row, k = np.argwhere(~below)[0]
            raise ValueError(
                f"expert `{self.names[k]}`, row {row + 1}: log density is "
                f"{float(self.log_density[row, k])}: it must be a number, or -inf where the expert "
                "holds the target impossible: leave out the row or the expert"
            )
        if (never := (self.log_density == -np.inf).all(axis=1)).any():
            raise ValueError(
                f"row {np.argmax(never) + 1}: every expert holds the target impossible (log "
                "density -inf): leave the row out"
            )
        return self


def _refuse_twice(names: list[str]) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two experts are called `{twice}`: rename one")


def numbered(experts: int) -> list[str]:
    """The names of experts that have none."""
    return [str(k + 1) for k in range(experts)]


def from_tables(mean: Any, std: Any, rows: int, known: list[str] | None = None) -> Said:
    """Predictions that were given as arrays or data frames of shape (rows, experts).

    `known` are the experts of a fitted model, which these must be.
    """
    if mean is None or std is None:
        missing = "mean" if mean is None else "std"
        raise ValueError(f"experts' predictions: `{missing}` is missing: give both mean= and std=")
    names, tables = _agreed({"mean": mean, "std": std}, rows, known)
    return Said(names, **tables).checked()


def from_log_density(log_density: Any, rows: int, known: list[str] | None = None) -> LogDensities:
    """The same of log densities."""
    names, tables = _agreed({"log_density": log_density}, rows, known)
    return LogDensities(names, **tables).checked()


def from_proba(
    proba: Any, rows: int, classes: NDArray[Any], known: list[str] | None = None
) -> Probabilities:
    """Probabilities that were given as an array (n, experts, classes), or a dict of (n, classes).

    `known` are the experts of a fitted model, which these must be.
    """
    if isinstance(proba, Mapping):
        names = list(proba)
        shape = (rows, len(classes))
        for name, table in proba.items():
            if np.shape(table) != shape:
                raise ValueError(
                    f"proba: expert `{name}` has shape {np.shape(table)}: expected {shape}, one "
                    "row for each row of X and one column for each class"
                )
        if not names:
            raise ValueError("proba: there is no expert: give at least one")
        if known is not None and sorted(names) == sorted(known):
            names = known
        found = np.stack([_in_order(proba[name], classes) for name in names], axis=1)
    else:
        found = np.array(proba, dtype=np.float64)
        if found.ndim != 3 or found.shape[0] != rows or found.shape[2] != len(classes):
            raise ValueError(
                f"proba: expected shape ({rows}, experts, {len(classes)}), for each row of X and "
                f"each expert the probability of each class, found {found.shape}"
            )
        names = known or numbered(found.shape[1])
    if known is not None and (names != known or found.shape[1] != len(known)):
        had = ", ".join(f"`{n}`" for n in names) if names != known else str(found.shape[1])
        expected = ", ".join(f"`{name}`" for name in known)
        raise ValueError(f"proba: expected the experts {expected}, found {had}")
    return Probabilities(names, classes, found).checked()


def _in_order(table: Any, classes: NDArray[Any]) -> _Array:
    """Columns in the order of the classes, where they are called like these."""
    columns = list(getattr(table, "columns", []))
    if columns and set(columns) == set(classes):
        table = table[list(classes)]
    return np.asarray(table, dtype=np.float64)


def drawn(draws: Any, known: list[str], rows: int) -> list[_Array]:
    """Draws of each of the `known` experts, of shape (rows, draws), in their order."""
    names = list(draws) if isinstance(draws, Mapping) else []
    if sorted(names) != sorted(known):
        expected, had = (", ".join(f"`{name}`" for name in all) for all in (known, names))
        raise ValueError(f"draws: give a dict of the experts {expected}, found {had or 'none'}")
    found: list[_Array] = []
    for name in known:
        values = draws[name]
        dims = getattr(values, "dims", ())
        if {"chain", "draw"} <= set(dims):
            rest = [dim for dim in dims if dim not in ("chain", "draw")]
            values = values.transpose(*rest, "chain", "draw")
            values = np.asarray(values).reshape(-1, values.shape[-2] * values.shape[-1])
        table = np.asarray(values, dtype=np.float64)
        if table.ndim != 2 or len(table) != rows or table.shape[1] == 0:
            raise ValueError(
                f"expert `{name}`: draws of shape {table.shape}: expected ({rows}, draws), as many "
                "rows as X"
            )
        if not np.isfinite(table).all():
            row, draw = np.argwhere(~np.isfinite(table))[0]
            value = table[row, draw]
            raise ValueError(f"expert `{name}`, row {row + 1}: draw {draw + 1} is {value}")
        if found and table.shape != found[0].shape:
            raise ValueError(
                f"expert `{name}` has {table.shape[1]} draws, expert `{known[0]}` has "
                f"{found[0].shape[1]}: give equally many of each"
            )
        found.append(table)
    return found


def _agreed(
    given: dict[str, Any], rows: int, known: list[str] | None
) -> tuple[list[str], dict[str, _Array]]:
    """The names of the experts, and all tables as numbers of one shape."""
    tables = {what: _matrix(what, table) for what, table in given.items()}
    experts = next(iter(tables.values())).shape[1] if known is None else len(known)
    # Names are compared first: they say more than a number.
    names = known if known is not None and known != numbered(experts) else None
    for what, table in given.items():
        found = _names(table)
        # Columns may be called like experts that have numbers for names; then they are meant.
        if found is not None and known is not None and sorted(found) == sorted(known):
            names = known
        if names is not None and found is not None and found != names:
            expected, had = (", ".join(f"`{name}`" for name in all) for all in (names, found))
            raise ValueError(f"{what}: the columns are {had}: expected the experts {expected}")
        names = found if names is None else names
    for what, values in tables.items():
        if values.shape != (rows, experts):
            raise ValueError(
                f"{what}: expected shape {(rows, experts)}, one row for each row of X and one "
                f"column for each expert, found {values.shape}"
            )
    return names or known or numbered(experts), tables


def _names(table: Any) -> list[str] | None:
    """The names of columns, where they are words."""
    columns = table if isinstance(table, Mapping) else getattr(table, "columns", None)
    names = [] if columns is None else list(columns)
    return names if names and all(isinstance(name, str) for name in names) else None


def _matrix(what: str, values: Any) -> _Array:
    if isinstance(values, Mapping):
        lengths = {name: np.shape(column) for name, column in values.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"{what}: the experts' columns have different shapes: {lengths}")
        values = np.array(list(values.values())).T
    try:
        # A copy: what is learned from it must not change with the caller's array.
        found = np.array(values, dtype=np.float64, order="C", copy=True)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what}: {error}: give numbers") from error
    if np.ndim(values) != 2 or found.shape[1] == 0:
        shape = np.shape(values)
        raise ValueError(f"{what}: expected shape (rows, experts), found {shape}")
    return found
