"""GPs of tinygp (JAX) with different kernels, fused with weights that depend on the input."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import minimize
from tinygp import GaussianProcess, kernels, transforms

import gpfuse as gf

jax.config.update("jax_enable_x64", True)

# A tide on the left, a trend with steps on the right, which is measured worse.
rng = np.random.default_rng(2)
X = rng.uniform(-4.0, 4.0, size=(300, 1))
tide, steps = np.sin(5.0 * X[:, 0]), 0.7 * np.floor(X[:, 0])
left = X[:, 0] < 0.0
y = np.where(left, tide, steps) + rng.normal(0.0, np.where(left, 0.05, 0.4))
own, stack, test = slice(0, 120), slice(120, 200), slice(200, 300)


def build(kernel, theta, x):
    """A GP from the logs of its variance, lengthscale and noise, and its mean."""
    variance, ell, noise = jnp.exp(theta[:3])
    scaled = variance * transforms.Linear(1.0 / ell, kernel)
    return GaussianProcess(scaled, x, diag=noise, mean=theta[3])


def train(kernel, x, y):
    """The hyperparameters that make the marginal likelihood large."""
    loss = jax.jit(jax.value_and_grad(lambda theta: -build(kernel, theta, x).log_probability(y)))

    def at(theta):
        value, slope = loss(theta)
        return float(value), np.asarray(slope)

    return minimize(at, np.array([0.0, -1.0, -3.0, 0.0]), jac=True, method="L-BFGS-B").x


def expert(kernel, x, y):
    """All that gpfuse wants of a model: X -> (mean, std), the noise included."""
    theta = train(kernel, x, y)

    def ask(X):
        found = build(kernel, theta, x).condition(y, X).gp
        return found.loc, jnp.sqrt(found.variance + jnp.exp(theta[2]))

    return ask


def flat(ask):
    """The same for the rows of a matrix: tinygp takes a single input as a vector."""
    return lambda X: ask(X[:, 0])


x = X[own, 0]
experts = [
    ("smooth", flat(expert(kernels.ExpSquared(), x, y[own]))),
    ("tide", flat(expert(kernels.Cosine(scale=2.0 * np.pi / 5.0), x, y[own]))),
    ("rough", flat(expert(kernels.Exp(), x, y[own]))),
]

print("NLPD on rows that nobody has seen, lower is better:")
for pair in experts:
    alone = gf.Baseline("best-expert", estimators=[pair]).fit(X[stack], y[stack])
    print(f"  {pair[0]:12} {alone.evaluate(X[test], y[test]).nlpd}")
for rule in ("poe", "rbcm", "stacking"):
    fused = gf.Baseline(rule, estimators=experts).fit(X[stack], y[stack])
    print(f"  {rule:12} {fused.evaluate(X[test], y[test]).nlpd}")
model = gf.PBHS(estimators=experts, chains=2, draws=1000, target_accept=0.9, random_state=0)
model.fit(X[stack], y[stack])
print(f"  {'PBHS':12} {model.evaluate(X[test], y[test]).nlpd}")
weights = model.weights(np.array([[-3.0], [3.0]]))
for where, row in zip(("x = -3", "x = +3"), weights.mean, strict=True):
    said = ", ".join(f"{n} {w:.2f}" for n, w in zip(weights.experts, row, strict=True))
    print(f"    weights at {where}: {said}")
