"""The kinds of measurement, each with its cells and its part of the report."""

from . import density, ess, gp, gradient, growth, prediction, sampling, startup

ROWS = {
    "density": density,
    "gradient": gradient,
    "sampling": sampling,
    "ess": ess,
    "prediction": prediction,
    "growth": growth,
    "startup": startup,
    "gp": gp,
}
