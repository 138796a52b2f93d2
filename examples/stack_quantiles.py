"""Quantile regressors of scikit-learn as experts: boosted trees and lines, five levels of each."""

from pathlib import Path

import pandas as pd
from scipy.stats import norm
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import QuantileRegressor
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gpfuse as gf

DATA = Path(__file__).parent / "data"
cars = pd.concat([pd.read_csv(DATA / f"autompg{end}.csv") for end in ("", "-test")])
X, new, y, target = train_test_split(
    cars.drop(columns="mpg"), cars["mpg"], test_size=150, random_state=0
)
LEVELS = [0.1, 0.3, 0.5, 0.7, 0.9]


def trees(level):
    shape = {"n_estimators": 60, "max_depth": 2, "min_samples_leaf": 10, "subsample": 0.7}
    return GradientBoostingRegressor(loss="quantile", alpha=level, random_state=0, **shape)


def lines(level):
    return make_pipeline(StandardScaler(), QuantileRegressor(quantile=level, alpha=0))


# One expert for all levels of a kind. gpfuse fits it, and again for each fold of rows left out.
experts = [
    (kind.__name__, gf.QuantileExpert([kind(level) for level in LEVELS], LEVELS))
    for kind in (trees, lines)
]
settings = {"chains": 2, "warmup": 300, "draws": 1000, "random_state": 0}
model = gf.PBHS(estimators=experts, **settings).fit(X, y)
print("NLPD on new cars, lower is better:")
for name, expert in model.experts_:
    mean, std = expert.predict(new, return_std=True)
    print(f"  {name:8}{-norm.logpdf(target, mean, std).mean():.3f}")
print(f"  {'PBHS':8}{model.evaluate(new, target).nlpd}")

# A product knows the mean and the std of each. A mixture can take the whole densities through the
# quantiles, of rows that trained nobody.
own, held = slice(0, 160), slice(160, None)
fitted = {name: expert.fit(X[own], y[own]) for name, expert in experts}


def said(rows, values):
    return {
        name: gf.saying.quantiles(values, expert.quantiles(rows), LEVELS, name=name)
        for name, expert in fitted.items()
    }


mixture = gf.BHS(**settings).fit(X[held], y[held], log_density=said(X[held], y[held]))
print("by their densities, fitted to 160 cars:")
for name, logs in said(new, target).items():
    print(f"  {name:8}{-logs.mean():.3f}")
print(f"  {'BHS':8}{mixture.evaluate(new, log_density=said(new, target)).nlpd}")
