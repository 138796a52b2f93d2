"""Models that were fitted elsewhere and stand in ArviZ's containers, stacked by leave-one-out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import optional
from .stacking import BHS

_Array = NDArray[np.float64]

# Beyond it the smoothed weights of leave-one-out are not to be trusted (Vehtari and others, 2024).
_GOOD = 0.7
# How many rows a warning names.
_NAMED = 5


def stack(
    models: Mapping[str, Any], X: Any, y: Any = None, *, var_name: Any = None, **settings: Any
) -> BHS:
    """Stack models by what each says about rows that it is left without (PSIS-LOO).

    Parameters
    ----------
    models : dict
        For each name an ArviZ InferenceData or an xarray DataTree with the group
        `log_likelihood`: of PyMC, Stan, NumPyro, Bambi, gpfuse. All models are of the same rows in
        the same order, and give densities of the same target on the same scale.
    X : shape (n, inputs)
        What the weights depend on, at these rows.
    y : shape (n,), optional
        The target. If not given, `observed_data` of the models has it.
    var_name : str or dict, optional
        Which variable of `log_likelihood` it is, where a model has several; a dict says it for each
        model.
    **settings
        Settings of `BHS`.

    Returns
    -------
    BHS
        Fitted with the log densities of leave-one-out, which are its `loo_`, of shape (n, models);
        `pareto_k_`, of the same shape, says how far to trust them: not above 0.7.
    """
    if not isinstance(models, Mapping) or not models:
        kind = type(models).__name__
        raise TypeError(f"models: give a dict of names and ArviZ models, found {kind}")
    found = {}
    for name, model in models.items():
        chosen = var_name.get(name) if isinstance(var_name, Mapping) else var_name
        found[name] = _Left(name, _tree(name, model), chosen)
    rows = len(np.asarray(X))
    for name, one in found.items():
        if len(one.loo) != rows:
            raise ValueError(
                f"model `{name}`: its log_likelihood `{one.variable}` has {len(one.loo)} rows, X "
                f"has {rows}: give the rows that it was fitted to"
            )
    observed = _target(found)
    if y is None and observed is None:
        raise ValueError("y: no model has it in its group observed_data: give y=")
    model = BHS(**settings)
    model.fit(
        X, observed if y is None else y, log_density={name: one.loo for name, one in found.items()}
    )
    model.loo_ = np.stack([one.loo for one in found.values()], axis=1)
    model.pareto_k_ = np.stack([one.k for one in found.values()], axis=1)
    for name, one in found.items():
        one.warn(name)
    return model


class _Left:
    """What one model says about each row without it."""

    def __init__(self, name: str, tree: Any, variable: str | None) -> None:
        self.variable = _variable(name, tree, variable)
        # Draws of one chain are taken as independent where there is no posterior to tell.
        known = {} if "posterior" in _groups(tree) else {"reff": 1.0}
        with warnings.catch_warnings():
            # Ours names the model and the rows.
            warnings.simplefilter("ignore")
            told = optional("arviz", "arviz").loo(
                tree, pointwise=True, var_name=self.variable, **known
            )
        # ArviZ 1 calls it so, and knows no scale but the log; ArviZ 0 may be set to another.
        values = told.elpd_i if hasattr(told, "elpd_i") else told.loo_i
        scale = {"log": 1.0, "negative_log": -1.0, "deviance": -0.5}[getattr(told, "scale", "log")]
        self.loo: _Array = scale * np.asarray(values, dtype=np.float64).reshape(-1)
        self.k: _Array = np.asarray(told.pareto_k, dtype=np.float64).reshape(-1)
        if not np.isfinite(self.loo).all():
            row = int(np.argmax(~np.isfinite(self.loo)))
            raise ValueError(
                f"model `{name}`, row {row + 1}: its leave-one-out log density is {self.loo[row]}: "
                "its log_likelihood must be a number in every draw"
            )
        data = tree["observed_data"] if "observed_data" in _groups(tree) else {}
        self.observed = np.asarray(data[self.variable]) if self.variable in data else None

    def warn(self, name: str) -> None:
        """Say where it is not to be trusted."""
        (bad,) = np.nonzero(~(self.k <= _GOOD))
        if len(bad):
            more = ", ..." if len(bad) > _NAMED else ""
            which = ", ".join(str(row + 1) for row in bad[:_NAMED]) + more
            warnings.warn(
                f"model `{name}`: Pareto k is above {_GOOD} at {len(bad)} of {len(self.k)} rows "
                f"({which}): what leave-one-out says there is not to be trusted. Fit the model "
                "without these rows, give their log densities to BHS().fit(log_density=), or leave "
                "the rows out",
                stacklevel=3,
            )


def _tree(name: str, model: Any) -> Any:
    """The model as this version of ArviZ takes it."""
    if not hasattr(model, "groups"):
        raise TypeError(
            f"model `{name}` is of type {type(model).__name__}: give an ArviZ InferenceData or an "
            "xarray DataTree; arviz.from_netcdf reads one from a file"
        )
    arviz = optional("arviz", "arviz")
    # ArviZ 0 computes with InferenceData, whose groups are a method.
    old = arviz.__version__.startswith("0.") and not callable(model.groups)
    return arviz.from_datatree(model) if old else model


def _groups(tree: Any) -> list[str]:
    found = tree.groups() if callable(tree.groups) else tree.groups
    return [group.strip("/") for group in found]


def _variable(name: str, tree: Any, chosen: str | None) -> str:
    """The one variable of the log likelihood that is meant."""
    if "log_likelihood" not in _groups(tree):
        raise ValueError(
            f"model `{name}` has no group log_likelihood: compute it first, in PyMC by "
            "pm.compute_log_likelihood(model), in Stan as generated quantities"
        )
    there = [str(each) for each in tree["log_likelihood"].data_vars]
    listed = ", ".join(f"`{each}`" for each in there)
    if chosen is not None and chosen not in there:
        raise ValueError(f"model `{name}`: log_likelihood has no `{chosen}`: it has {listed}")
    if chosen is None and len(there) != 1:
        raise ValueError(
            f"model `{name}`: log_likelihood has {len(there)} variables, {listed}: say by "
            "var_name= which of them is stacked"
        )
    return there[0] if chosen is None else chosen


def _target(found: dict[str, _Left]) -> _Array | None:
    """What was observed, where models tell, on which they must agree."""
    seen = {name: one.observed for name, one in found.items() if one.observed is not None}
    if not seen:
        return None
    first, target = next(iter(seen.items()))
    flat = target.reshape(-1)
    for name, values in seen.items():
        other = values.reshape(-1)
        if len(other) != len(flat):
            raise ValueError(
                f"models `{first}` and `{name}` observed {len(flat)} and {len(other)} targets: "
                "give models of the same rows"
            )
        if (other != flat).any():
            row = int(np.argmax(other != flat))
            raise ValueError(
                f"models `{first}` and `{name}` observed different targets: in row {row + 1} "
                f"{flat[row]} and {other[row]}: give models of the same rows in the same order"
            )
    return flat.astype(np.float64)
