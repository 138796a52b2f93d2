"""Pictures of weights and predictions along one input, and of calibration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .errors import optional
from .pipelines import innermost, predict_dist, weight_effects, weights

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_Array = NDArray[np.float64]

# Okabe and Ito's colours, told apart with any colour vision; yellow is left out, as it is too
# pale for a line on white. Line styles tell experts apart without colour.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_STYLES = ("-", "--", "-.", ":", (0, (8, 2)), (0, (4, 1, 1, 1, 1, 1)), (0, (1, 3)))

# More names than this do not fit above the axes in one line.
_NAMES_IN_LINE = 5


def plot_weights(
    estimator: Any,
    X: Any,
    *,
    along: int | str | None = None,
    feature: int | str | None = None,
    ax: Axes | None = None,
    level: float = 0.9,
    **said: Any,
) -> Axes:
    """Draw how much each expert is trusted along one input.

    A line is the posterior mean of an expert's share in the weight, a band its central posterior
    interval, averaged over the other inputs of the rows (`weight_effects`). Rows as they are
    (`feature`) have the weights themselves, whose sum is free where predictions are multiplied. In
    a joint model experts can change their labels between chains: averages are then of one chain.

    Parameters
    ----------
    estimator : a fitted estimator with weights, or a pipeline that ends in one
    X : rows of shape (n, inputs)
    along : int or str, optional
        The input along which to draw: its number from 0, or its name. Without it, with several
        inputs, the one that moves the weights most.
    feature : int or str, optional
        An input along which to draw the rows as they are instead, in the order of the input: for
        rows that differ in one input only.
    ax : matplotlib Axes, optional
        Where to draw; new axes if not given.
    level : float
        What the bands hold.
    **said
        `mean=` and `std=` of experts made elsewhere, at the rows of `X`: where rows are drawn as
        they are.

    Returns
    -------
    matplotlib Axes
    """
    if along is not None and feature is not None:
        raise ValueError("along, feature: give one of the two")
    if feature is None:
        only = None if along is None else [along]
        found = weight_effects(estimator, X, level, inputs=only)
        name, places, experts = found.inputs[0], found.places[0], found.experts
        what = "share of the weight"
        low, mean, high = found.low[0], found.mean[0], found.high[0]
    else:
        rows = weights(estimator, X, level, **said)
        places, name, order = _along(estimator, X, feature)
        low, mean, high = (part[order] for part in (rows.low, rows.mean, rows.high))
        what, experts = "weight", rows.experts
    ax = _axes(ax)
    for k, expert in enumerate(experts):
        colour = _COLOURS[k % len(_COLOURS)]
        # Colours and styles fall out of step after a round, so that no pair comes twice.
        style = _STYLES[(k + k // len(_COLOURS)) % len(_STYLES)]
        ax.fill_between(places, low[:, k], high[:, k], color=colour, alpha=0.12, lw=0)
        for end in (low, high):
            # Without colour, the ends say whose band it is.
            ax.plot(places, end[:, k], color=colour, ls=style, lw=0.7, alpha=0.6)
        ax.plot(places, mean[:, k], color=colour, ls=style, lw=1.8, label=_title(expert))
    ax.set_xlabel(name)
    ax.set_ylabel(f"{what}: mean, {100 * level:g} % interval")
    _, top = ax.get_ylim()
    ax.set_ylim(0.0, 1.0 if np.all(high <= 1.0) else top)
    _legend(ax)
    return ax


def plot_prediction(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    feature: int | str = 0,
    ax: Axes | None = None,
    levels: Sequence[float] = (0.5, 0.9),
    **said: Any,
) -> Axes:
    """Draw the predictive density along one input: mean, median and central intervals.

    Rows are sorted by the input; the other inputs are as given. Where mean and median part, the
    density is skewed or has several modes.

    Parameters
    ----------
    estimator : a fitted estimator, or a pipeline that ends in one
    X : rows of shape (n, inputs)
    y : array of shape (n,), optional
        Outcomes at these rows, drawn as points.
    feature : int or str
        The input along which to draw: its number from 0, or its name.
    ax : matplotlib Axes, optional
        Where to draw; new axes if not given.
    levels : sequence of float
        What the intervals hold.
    **said
        `mean=` and `std=` of experts made elsewhere, at the rows of `X`.

    Returns
    -------
    matplotlib Axes
    """
    for level in levels:
        if not 0 < level < 1:
            raise ValueError(f"levels: {level} is out of range: use numbers between 0 and 1")
    ax = _axes(ax)
    along, name, order = _along(estimator, X, feature)
    found = predict_dist(estimator, X, **said)
    widest_first = sorted(levels, reverse=True)
    for level, shade in zip(widest_first, np.linspace(0.2, 0.5, len(levels)), strict=True):
        low, high = (end[order] for end in found.interval(level))
        label = f"{100 * level:g} % interval"
        # Opaque, so that the legend has the very shades of the picture.
        ax.fill_between(along, low, high, color=_pale(shade), lw=0, label=label)
    ax.plot(along, found.quantile(0.5)[order], color=_COLOURS[0], lw=1.8, label="median")
    ax.plot(along, found.mean[order], color="black", ls="--", lw=1.0, label="mean")
    if y is not None:
        outcomes = np.asarray(y, dtype=float).ravel()
        if len(outcomes) != len(found):
            raise ValueError(
                f"y: {len(outcomes)} outcomes for {len(found)} rows of X: give one each"
            )
        dots: dict[str, Any] = {"s": 10, "color": "0.25", "alpha": 0.6, "lw": 0, "zorder": 3}
        ax.scatter(along, outcomes[order], label="outcomes", **dots)
    ax.set_xlabel(name)
    ax.set_ylabel(getattr(getattr(innermost(estimator), "model_", None), "target", "y"))
    _legend(ax)
    return ax


def plot_calibration(
    estimator: Any, X: Any, y: Any, *, bins: int = 10, ax: Axes | None = None, **said: Any
) -> Axes:
    """Draw how often classes came against how probable a classifier held them.

    Probabilities are put into `bins` of equal width: of two classes those of the second, of more
    those of every class. A point is the mean probability of a bin and the share of its rows that
    were of the class, with its 90 % interval (Wilson). Points on the diagonal are calibrated.

    Parameters
    ----------
    estimator : a fitted classifier with `predict_proba`, or a pipeline that ends in one
    X : rows of shape (n, inputs)
    y : labels of shape (n,)
    bins : int
    ax : matplotlib Axes, optional
        Where to draw; new axes if not given.
    **said
        `proba=` of experts made elsewhere, at the rows of `X`.

    Returns
    -------
    matplotlib Axes
    """
    if bins < 1:
        raise ValueError(f"bins: {bins} is out of range: use 1 or more")
    proba = np.asarray(estimator.predict_proba(X, **said))
    labels = np.asarray(y).reshape(-1)
    if len(labels) != len(proba):
        raise ValueError(f"y: {len(labels)} labels for {len(proba)} rows of X: give one each")
    came = labels[:, None] == np.asarray(estimator.classes_)
    if proba.shape[1] == 2:
        proba, came = proba[:, 1:], came[:, 1:]
    place = np.minimum((proba * bins).astype(int), bins - 1).ravel()
    count = np.bincount(place, minlength=bins)
    full = count > 0
    said_p, share = (
        np.bincount(place, weights=v.ravel().astype(float), minlength=bins)[full] / count[full]
        for v in (proba, came)
    )
    z2 = 1.6449**2 / count[full]
    centre = (share + 0.5 * z2) / (1.0 + z2)
    half = np.sqrt(z2 * (share * (1.0 - share) + 0.25 * z2)) / (1.0 + z2)
    ends = np.abs([centre - half, centre + half] - share)
    ax = _axes(ax)
    ax.plot([0.0, 1.0], [0.0, 1.0], color="0.6", lw=1.0, ls="--", label="calibrated")
    bars: dict[str, Any] = {"fmt": "o", "ms": 5, "lw": 1.2, "color": _COLOURS[0]}
    ax.errorbar(said_p, share, yerr=ends, label="share, 90 % interval", **bars)
    ax.set_xlabel("probability")
    ax.set_ylabel("share of rows")
    _legend(ax)
    return ax


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    pyplot = optional("matplotlib.pyplot", "plot")
    found: Axes = pyplot.subplots(figsize=(7, 4), layout="constrained")[1]
    return found


def _along(estimator: Any, X: Any, feature: int | str) -> tuple[_Array, str, NDArray[np.intp]]:
    """One input in rising order, its name, and the order of the rows."""
    rows = np.asarray(X)
    if rows.ndim != 2:
        raise ValueError(f"X: expected 2 dimensions, found {rows.ndim}: use X.reshape(-1, 1)")
    given = getattr(estimator, "feature_names_in_", None)
    names = [f"x{i}" for i in range(rows.shape[1])] if given is None else [str(n) for n in given]
    if isinstance(feature, str):
        if feature not in names:
            raise ValueError(f"feature: no input is called {feature!r}: use one of {names}")
        feature = names.index(feature)
    if not 0 <= feature < len(names):
        raise ValueError(f"feature: {feature} is out of range: use 0 to {len(names) - 1}")
    along = rows[:, feature].astype(float)
    order = np.argsort(along, kind="stable")
    return along[order], names[feature], order


def _pale(shade: float) -> tuple[float, ...]:
    """The first colour on white, from 0 (white) to 1."""
    colour = _COLOURS[0]
    return tuple(1.0 - shade * (1.0 - int(colour[i : i + 2], 16) / 255.0) for i in (1, 3, 5))


def _title(expert: str) -> str:
    """Experts that are numbered only are called experts; a leading `_` would hide a name."""
    return f"expert {expert}" if expert.isdigit() else expert.lstrip("_") or expert


def _legend(ax: Axes) -> None:
    """Above the axes, where it covers no data; handles long enough to show their style."""
    ax.margins(x=0.01)
    count = min(len(ax.get_legend_handles_labels()[1]), _NAMES_IN_LINE)
    place: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0)}
    ax.legend(ncols=count, frameon=False, handlelength=3.0, fontsize="small", **place)
