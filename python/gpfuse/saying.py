"""What experts of other kinds say of the targets, as log densities or as mean and std.

A linear pool (`BHS`) takes the log densities, a product (`PBHS`) the means and stds::

    said = {"a": gf.saying.poisson(y, rate), "b": gf.saying.draws(y, samples)}
    gf.BHS().fit(X, y, log_density=said)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp, xlogy

_Array = NDArray[np.float64]


def poisson(y: Any, rate: Any, *, name: str = "poisson") -> _Array:
    """Log probabilities of counts: ``y log(rate) - rate - log y!``."""
    y, (rate,) = _columns(name, y, rate=rate)
    _refuse(name, "rate", rate, rate < 0, "it must not be negative")
    return _counts(y, xlogy(y, rate) - rate - gammaln(y + 1.0))


def negative_binomial(
    y: Any, mean: Any, dispersion: Any, *, name: str = "negative_binomial"
) -> _Array:
    """Log probabilities of counts with variance ``mean + mean^2 / dispersion``.

    With ``r = dispersion`` the probability is ``Gamma(y + r) / (Gamma(r) y!) (r / (r + mean))^r
    (mean / (r + mean))^y``, as `NegativeBinomial2` of NumPyro and `neg_binomial_2` of Stan.
    """
    y, (mean, r) = _columns(name, y, mean=mean, dispersion=dispersion)
    _refuse(name, "mean", mean, mean < 0, "it must not be negative")
    _refuse(name, "dispersion", r, r <= 0, "it must be positive")
    found = gammaln(y + r) - gammaln(r) - gammaln(y + 1.0)
    return _counts(y, found - r * np.log1p(mean / r) + xlogy(y, mean / (r + mean)))


def draws(y: Any, samples: Any, *, name: str = "draws") -> _Array:
    """Log densities of a kernel estimate from predictive draws, of shape (n, S).

    ``p(y) = sum_s N(y; d_s, h^2) / S``, with Silverman's ``h = 0.9 min(std, IQR / 1.34) S^(-1/5)``
    at each row. Its tails are thin: a target far beyond all draws has a very low density. Where
    the model has a density (a log likelihood for each draw) its average is better.
    """
    samples = _table(name, "draws", samples)
    y, _ = _columns(name, y, rows=len(samples))
    std = samples.std(axis=1, ddof=1)
    low, high = np.quantile(samples, [0.25, 0.75], axis=1)
    # Half of the draws may be the same number.
    spread = np.where(high > low, np.minimum(std, (high - low) / 1.34), std)
    h = 0.9 * spread * samples.shape[1] ** -0.2
    _refuse(name, "the spread of the draws", h, h <= 0, "draws of one value have no density")
    z = (y[:, None] - samples) / h[:, None]
    found = logsumexp(-0.5 * z**2, axis=1) - np.log(samples.shape[1] * h * np.sqrt(2 * np.pi))
    return np.asarray(found)


def moments(samples: Any, *, name: str = "draws") -> tuple[_Array, _Array]:
    """Mean and std of predictive draws, of shape (n, S)."""
    samples = _table(name, "draws", samples)
    return samples.mean(axis=1), samples.std(axis=1, ddof=1)


def quantiles(y: Any, values: Any, levels: Any, *, name: str = "quantiles") -> _Array:
    """Log densities from a table of quantiles, of shape (n, levels).

    Between two quantiles the density is constant, ``(p_j+1 - p_j) / (q_j+1 - q_j)``. Beyond the
    first and the last it falls off exponentially with the probability that is left,
    ``p_1 / s exp(-(q_1 - y) / s)``, with ``s`` such that it goes on where it was, or, where that is
    more, as if the density were even between the first and the last: two quantiles that nearly
    touch say little about what is beyond them.
    """
    levels, q = _quantiles(name, values, levels)
    y, _ = _columns(name, y, rows=len(q))
    inside = np.diff(levels) / np.diff(q, axis=1)
    at = np.clip((y[:, None] >= q).sum(axis=1) - 1, 0, len(levels) - 2)
    found = np.log(inside[np.arange(len(y)), at])
    below, above = _tails(q, levels)
    for out, left, scale, rest in (
        (y < q[:, 0], q[:, 0] - y, below, levels[0]),
        (y > q[:, -1], y - q[:, -1], above, 1.0 - levels[-1]),
    ):
        found[out] = (np.log(rest / scale) - left / scale)[out]
    return np.asarray(found)


def quantile_moments(values: Any, levels: Any, *, name: str = "quantiles") -> tuple[_Array, _Array]:
    """Mean and std of the density that `quantiles` makes of a table."""
    levels, q = _quantiles(name, values, levels, ties=True)
    share, width = np.diff(levels), np.diff(q, axis=1)
    low, high = levels[0], 1.0 - levels[-1]
    # An exponential tail of scale s has the mean s and the second moment 2 s^2 about its edge.
    below, above = _tails(q, levels)
    centre = 0.5 * (q[:, 1:] + q[:, :-1])
    mean = centre @ share + low * (q[:, 0] - below) + high * (q[:, -1] + above)
    from_mean = centre - mean[:, None]
    variance = (from_mean**2 + width**2 / 12.0) @ share
    variance += low * ((q[:, 0] - below - mean) ** 2 + below**2)
    variance += high * ((q[:, -1] + above - mean) ** 2 + above**2)
    return mean, np.sqrt(variance)


def _tails(q: _Array, levels: _Array) -> tuple[_Array, _Array]:
    """The scales of the tails below the first quantile and above the last."""
    share, width = np.diff(levels), np.diff(q, axis=1)
    even = (q[:, -1] - q[:, 0]) / (levels[-1] - levels[0])
    first, last = width[:, 0] / share[0], width[:, -1] / share[-1]
    return levels[0] * np.maximum(first, even), (1.0 - levels[-1]) * np.maximum(last, even)


def _counts(y: _Array, found: Any) -> _Array:
    """No other number than a count is possible."""
    return np.where((y >= 0) & (y == np.floor(y)), found, -np.inf)


def _columns(
    name: str, y: Any, *, rows: int | None = None, **given: Any
) -> tuple[_Array, list[_Array]]:
    """The target and the parameters as columns of one length, all finite."""
    y = np.asarray(y, dtype=np.float64)
    if y.ndim != 1 or (rows is not None and len(y) != rows):
        raise ValueError(f"expert `{name}`: y has shape {y.shape}: expected ({rows or 'n'},)")
    _refuse(name, "y", y, ~np.isfinite(y), "it must be a finite number")
    found = []
    for what, values in given.items():
        column = np.asarray(values, dtype=np.float64)
        if column.shape not in ((), y.shape):
            words = f"{what} has shape {column.shape}: expected {y.shape}"
            raise ValueError(f"expert `{name}`: {words}")
        column = np.broadcast_to(column, y.shape)
        _refuse(name, what, column, ~np.isfinite(column), "it must be a finite number")
        found.append(column)
    return y, found


def _table(name: str, what: str, values: Any) -> _Array:
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 2:
        raise ValueError(f"expert `{name}`: {what} of shape {table.shape}: expected (n, 2 or more)")
    _refuse(name, what, table, ~np.isfinite(table), "all must be finite numbers")
    return table


def _quantiles(name: str, values: Any, levels: Any, ties: bool = False) -> tuple[_Array, _Array]:
    q, levels = _table(name, "quantiles", values), np.asarray(levels, dtype=np.float64)
    right = levels.shape == (q.shape[1],) and levels[0] > 0 and levels[-1] < 1
    if not (right and (np.diff(levels) > 0).all()):
        raise ValueError(
            f"expert `{name}`: levels are {levels.tolist()} for {q.shape[1]} quantiles: give one "
            "for each, ascending, between 0 and 1"
        )
    step = np.diff(q, axis=1)
    crossed = step < 0 if ties else step <= 0
    _refuse(name, "a quantile", q[:, 1:], crossed, "it is not above that of the level before")
    return levels, q


def _refuse(name: str, what: str, values: _Array, bad: NDArray[np.bool_], cure: str) -> None:
    if bad.any():
        at = tuple(np.argwhere(bad)[0])
        raise ValueError(f"expert `{name}`, row {at[0] + 1}: {what} is {values[at]}: {cure}")
