"""Whether an installed wheel works: a fit, a prediction, its scores."""

import numpy as np

import gpfuse as gf

rng = np.random.default_rng(1)
x = rng.uniform(-2, 2, size=(60, 2))
y = np.sin(2 * x[:, 0]) + 0.1 * rng.standard_normal(60)
model = gf.HetGP(warmup=100, draws=100, random_state=1).fit(x, y)
mean = model.predict(x)
assert np.corrcoef(mean, y)[0, 1] > 0.9, "predictions follow the target"
print(f"gpfuse {gf.__version__}: NLPD {model.evaluate(x, y).nlpd.value:.2f}")
