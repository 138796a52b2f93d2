"""GPyTorch models, each trained on its own region, fused with weights that depend on the input."""

import gpytorch
import numpy as np
import torch

import gpfuse as gf

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)

# Rows of two regions for the experts, rows of both for the weights and for the test.
rng = np.random.default_rng(1)
X = rng.uniform(-4.0, 4.0, size=(300, 1))
y = np.sin(2.0 * X[:, 0]) * np.exp(0.3 * X[:, 0]) + rng.normal(0.0, 0.2, size=300)
own, stack, test = slice(0, 120), slice(120, 200), slice(200, 300)


class Exact(gpytorch.models.ExactGP):
    """A GP with a constant mean and a kernel."""

    def __init__(self, x, y, kernel):
        super().__init__(x, y, gpytorch.likelihoods.GaussianLikelihood())
        self.mean = gpytorch.means.ConstantMean()
        self.kernel = gpytorch.kernels.ScaleKernel(kernel)

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean(x), self.kernel(x))


def train(x, y, kernel, steps=120):
    """The model whose hyperparameters make the marginal likelihood large."""
    x, y = torch.tensor(x), torch.tensor(y)
    model = Exact(x, y, kernel).train()
    marginal = gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(steps):
        optimiser.zero_grad()
        loss = -marginal(model(x), y)
        loss.backward()
        optimiser.step()
    return model.eval()


def expert(model):
    """All that gpfuse wants of a model: X -> (mean, std), the noise included."""

    def ask(X):
        with torch.no_grad():
            found = model.likelihood(model(torch.tensor(X)))
        return found.mean.numpy(), found.stddev.numpy()

    return ask


west, east = X[own, 0] < 0.5, X[own, 0] > -0.5
experts = [
    ("west", expert(train(X[own][west], y[own][west], gpytorch.kernels.RBFKernel()))),
    ("east", expert(train(X[own][east], y[own][east], gpytorch.kernels.RBFKernel()))),
    ("rough", expert(train(X[own], y[own], gpytorch.kernels.MaternKernel(nu=0.5)))),
]

print("NLPD on rows that nobody has seen, lower is better:")
for pair in experts:
    alone = gf.Baseline("best-expert", estimators=[pair]).fit(X[stack], y[stack])
    print(f"  {pair[0]:12} {alone.evaluate(X[test], y[test]).nlpd}")
for rule in ("poe", "rbcm", "stacking"):
    fused = gf.Baseline(rule, estimators=experts).fit(X[stack], y[stack])
    print(f"  {rule:12} {fused.evaluate(X[test], y[test]).nlpd}")
settings = {"chains": 2, "draws": 1000, "target_accept": 0.9, "random_state": 0}
for kind in (gf.BHS, gf.PBHS):
    model = kind(estimators=experts, **settings).fit(X[stack], y[stack])
    print(f"  {kind.__name__:12} {model.evaluate(X[test], y[test]).nlpd}")
    weights = model.weights(np.array([[-3.0], [3.0]]))
    for where, row in zip(("x = -3", "x = +3"), weights.mean, strict=True):
        said = ", ".join(f"{n} {w:.2f}" for n, w in zip(weights.experts, row, strict=True))
        print(f"    weights at {where}: {said}")
