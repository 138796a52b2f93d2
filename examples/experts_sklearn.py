"""Four scikit-learn regressors, fused with weights that depend on the input."""

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, Matern, WhiteKernel
from sklearn.linear_model import BayesianRidge

import gpfuse as gf

# A line on the left, a wave on the right: no single one of the experts suits both.
rng = np.random.default_rng(0)
X = rng.uniform(-4.0, 4.0, size=(300, 1))
left = X[:, 0] < 0.0
y = np.where(left, 0.5 * X[:, 0], np.sin(4.0 * X[:, 0]))
y += rng.normal(0.0, np.where(left, 0.05, 0.3))
own, stack, test = slice(0, 100), slice(100, 200), slice(200, 300)


def gp(kernel):
    """A GP with noise. Without a WhiteKernel its std would leave the noise out."""
    return GaussianProcessRegressor(kernel + WhiteKernel(0.1), n_restarts_optimizer=3)


experts = [
    ("smooth", gp(RBF(2.0, (0.5, 10.0)))),
    ("wavy", gp(RBF(0.4, (0.1, 1.0)))),
    ("rough", gp(Matern(1.0, (0.1, 10.0), nu=0.5))),
    ("line", BayesianRidge()),
]
np.random.seed(0)  # The restarts of scikit-learn.
for _, expert in experts:
    expert.fit(X[own], y[own])

# The weights are learned from rows that no expert has seen.
print("NLPD on rows that nobody has seen, lower is better:")
for pair in experts:
    alone = gf.Baseline("best-expert", estimators=[pair]).fit(X[stack], y[stack])
    print(f"  {pair[0]:12} {alone.evaluate(X[test], y[test]).nlpd}")
for rule in ("poe", "stacking"):
    fused = gf.Baseline(rule, estimators=experts).fit(X[stack], y[stack])
    print(f"  {rule:12} {fused.evaluate(X[test], y[test]).nlpd}")
settings = {"chains": 2, "warmup": 500, "draws": 500, "random_state": 0}
for kind in (gf.BHS, gf.PBHS):
    model = kind(estimators=experts, **settings).fit(X[stack], y[stack])
    print(f"  {kind.__name__:12} {model.evaluate(X[test], y[test]).nlpd}")

grid = np.array([[-3.0], [-1.0], [1.0], [3.0]])
weights = model.weights(grid)
print("PBHS weights, with 90 % intervals, of", ", ".join(weights.experts))
for x, mean, low, high in zip(grid[:, 0], weights.mean, weights.low, weights.high, strict=True):
    parts = (f"{m:.2f} [{a:.2f}, {b:.2f}]" for m, a, b in zip(mean, low, high, strict=True))
    print(f"  x = {x:4.1f}: ", "  ".join(parts))
