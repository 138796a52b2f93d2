"""What is made of the log densities of test rows: the NLPD with its error, and the ESS."""

import numpy as np

BATCHES = 5


def nlpd(lpd: np.ndarray) -> tuple[float, float]:
    """The mean test NLPD of (chains, draws, rows), and its Monte Carlo error.

    The error is a jackknife over batches of draws and over chains, the larger of the two:
    chains in different modes must widen it.
    """
    draws = lpd.shape[1]
    top = lpd.max(axis=(0, 1))
    density = np.exp(lpd - top)
    pieces = [np.array_split(chain, min(BATCHES, draws)) for chain in density]
    sums = np.array([[piece.sum(axis=0) for piece in chain] for chain in pieces])
    counts = np.array([[len(piece) for piece in chain] for chain in pieces])

    def score(total, count):
        return -np.mean(top + np.log(total) - np.log(count))

    value = score(sums.sum(axis=(0, 1)), counts.sum())
    errors = []
    for total, count in (
        (sums.reshape(-1, sums.shape[-1]), counts.ravel()),
        (sums.sum(axis=1), counts.sum(axis=1)),
    ):
        without = [
            score(total.sum(axis=0) - t, count.sum() - c) for t, c in zip(total, count, strict=True)
        ]
        parts = len(without)
        spread = np.sum((without - np.mean(without)) ** 2)
        errors.append(np.sqrt((parts - 1) / parts * spread))
    return float(value), float(max(errors))


def ess(lpd: np.ndarray) -> tuple[float, float]:
    """Median and minimum over the rows of ArviZ's bulk ESS of the log density."""
    import arviz as az

    found = az.ess(az.convert_to_dataset({"lpd": lpd}), method="bulk")["lpd"].values
    return float(np.nanmedian(found)), float(np.nanmin(found))


def scored(figures: dict, lpd: np.ndarray) -> dict:
    """Figures of a sampler with the scores of its draws."""
    value, error = nlpd(lpd)
    median, least = ess(lpd)
    scores = {"nlpd": value, "nlpd_error": error, "ess": median, "ess_min": least}
    return figures | scores
