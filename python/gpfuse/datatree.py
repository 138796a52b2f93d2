"""A fit as an xarray DataTree with the groups that ArviZ knows."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .columns import Encoded
from .engine import seed_of, threads_of
from .errors import optional

if TYPE_CHECKING:
    from xarray import Dataset, DataTree

    from .base import Sampled

# What only gpfuse reads: scaler, basis, settings.
_INTERNAL = "gpfuse"

_HOW = (
    "independent samples of the predictive density, which is averaged over the posterior: "
    "a draw here does not belong to a draw of the posterior"
)


def datatree(
    estimator: Sampled,
    X: Any = None,
    *,
    samples: int = 0,
    random_state: Any = 0,
    mean: Any = None,
    std: Any = None,
) -> DataTree:
    """The fit as a DataTree: posterior, sample_stats, log_likelihood and the data.

    ArviZ 1 takes it as it is; for ArviZ 0.23 `az.from_datatree(tree)` is the one line.
    With experts that are given, the log likelihood and the data are those of the rows that the
    weights were learned from.

    With `samples`, predictive samples stand beside them, as `predictions` at the rows `X`, or as
    `posterior_predictive` at the training rows if `X` is not given. They are independent samples of
    the predictive density, the average over all draws (and weights of chains), so they are not tied
    to single draws and have one chain: dimensions chain (1), draw (`samples`) and row. What pairs
    them with draws of the posterior, such as ArviZ's LOO-PIT, does not apply to them.

    Parameters
    ----------
    estimator : a fitted estimator
    X : rows of shape (n, inputs), optional
        Where to predict.
    samples : int
        Predictive samples for each row; 0 for none.
    random_state : int, RandomState, Generator or None
        For the predictive samples.
    mean, std : arrays of shape (n, experts), optional
        What experts made elsewhere say at these rows, for models fitted with `mean=` and `std=`.
    """
    xarray = optional("xarray", "arviz")
    if samples < 0:
        raise ValueError(f"samples: {samples} is negative: use 0 or more")
    if samples and not hasattr(estimator, "predict_dist"):
        raise ValueError("samples: a classifier has no density to sample: leave it out")
    if X is not None and samples == 0:
        raise ValueError("samples: 0, but there are rows to predict at: say how many per row")
    groups = _groups(estimator)
    if samples:
        said = {name: v for name, v in (("mean", mean), ("std", std)) if v is not None}
        groups |= _predictive(estimator, groups, X, samples, random_state, said)
    tree: DataTree = xarray.DataTree.from_dict(groups)
    return tree


def weights_datatree(estimator: Sampled, X: Any) -> DataTree:
    """The weights at the rows `X` in every draw: posterior, sample_stats and the rows.

    `posterior` holds `weight` with the dimensions chain, draw, row and expert. All chains are
    there; where they count differently in predictions, `sample_stats` has their `chain_weight`.
    """
    xarray = optional("xarray", "arviz")
    rows = estimator._new_rows(X)
    model, whole = estimator.model_, _groups(estimator)
    threads = threads_of(estimator.threads, estimator.n_jobs)
    shape = (len(rows), *model.draws, len(model.experts))
    weight = model.weight_draws(rows, threads).reshape(shape)
    dims = ("chain", "draw", "row", "expert")
    coords = {name: whole["posterior"].coords[name] for name in ("chain", "draw")}
    own = coords | {"row": np.arange(len(rows)), "expert": np.asarray(model.experts)}
    drawn = {"weight": (dims, np.moveaxis(weight, 0, 2))}
    groups = {
        "posterior": xarray.Dataset(drawn, own, whole["posterior"].attrs),
        "constant_data": _constant(estimator, rows),
    }
    if "sample_stats" in whole:
        groups["sample_stats"] = whole["sample_stats"]
    tree: DataTree = xarray.DataTree.from_dict(groups)
    return tree


def _groups(estimator: Sampled) -> dict[str, Dataset]:
    """The groups of the model file that are for others, too."""
    found = estimator.model_.groups().items()
    return {name: _dataset(group) for name, group in found if name != _INTERNAL}


def _constant(estimator: Sampled, rows: NDArray[np.float64]) -> Dataset:
    """The group of the inputs at some rows."""
    import xarray

    inputs = {"row": np.arange(len(rows)), "input": np.asarray(estimator.model_.inputs)}
    return xarray.Dataset({"x": (("row", "input"), rows)}, inputs)


def _dataset(group: dict[str, Any]) -> Dataset:
    """A group of the model file; a variable named like its only dimension is a coordinate."""
    import xarray

    found = {name: (dims, np.asarray(v)) for name, (dims, v) in group["vars"].items()}
    own = [name for name, (dims, _) in found.items() if dims == [name]]
    return xarray.Dataset(
        {name: v for name, v in found.items() if name not in own},
        coords={name: found[name] for name in own},
        attrs=group["attrs"],
    )


def _predictive(
    estimator: Sampled,
    groups: dict[str, Dataset],
    X: Any,
    samples: int,
    random_state: Any,
    said: dict[str, Any],
) -> dict[str, Dataset]:
    """The groups of predictive samples at rows `X`, or at the training rows."""
    if X is None and estimator.model_.needs_predictions and not said and not _asks(estimator):
        raise ValueError(
            "posterior_predictive: the experts' predictions at the training rows are not kept: "
            "give them as mean= and std="
        )
    import xarray

    (target,) = groups["observed_data"].data_vars
    attrs = groups["posterior"].attrs | {"samples": _HOW}
    rows = _as_fitted(estimator, groups["constant_data"]["x"].values) if X is None else X
    with warnings.catch_warnings():
        if X is None:
            # Without pandas they have no names; their columns are in the order of the fit.
            warnings.filterwarnings("ignore", "X does not have valid feature names")
        drawn = estimator.predict_dist(rows, **said).sample(samples, seed_of(random_state))
    coords = {"chain": [0], "draw": np.arange(samples), "row": np.arange(len(drawn))}
    values: NDArray[np.float64] = drawn.T[None]
    sampled = xarray.Dataset({target: (("chain", "draw", "row"), values)}, coords, attrs)
    if X is None:
        return {"posterior_predictive": sampled}
    constant = _constant(estimator, estimator._new_rows(X))
    return {"predictions": sampled, "predictions_constant_data": constant}


def _as_fitted(estimator: Sampled, rows: NDArray[np.float64]) -> Any:
    """Training rows, which are kept without their table, with the names that experts may use."""
    if hasattr(estimator, "columns_"):
        return Encoded(rows)
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return rows
    try:
        return import_module("pandas").DataFrame(rows, columns=names)
    except ImportError:
        return rows


def _asks(estimator: Sampled) -> bool:
    """Whether the estimator asks its experts itself."""
    return getattr(estimator, "experts_", None) is not None
