"""Two scikit-learn models, fused: writes the tables that `gpfuse stack` and `predict` take."""

import sys

import pandas as pd
from sklearn.gaussian_process import GaussianProcessRegressor as Gp
from sklearn.gaussian_process.kernels import RBF, Matern, WhiteKernel
from sklearn.linear_model import BayesianRidge

data = pd.read_csv(sys.argv[1]).sample(frac=1, random_state=0)
train, stack, test = data[: len(data) // 2], data[len(data) // 2 : -20], data[-20:]
kernels = {"smooth": RBF(5.0), "rough": Matern(5.0, nu=0.5)}
models = {name: Gp(k + WhiteKernel(), normalize_y=True) for name, k in kernels.items()}
models["line"] = BayesianRidge()
for model in models.values():
    model.fit(train[["x1"]], train["y"])
for file, table in {"stack.csv": stack, "test.csv": test}.items():
    for name, model in models.items():
        mean, sd = model.predict(table[["x1"]], return_std=True)
        table = table.assign(**{f"mean_{name}": mean, f"sd_{name}": sd})
    table.to_csv(file, index=False)
