"""Three classifiers of wines, fused: a product with weights learned from cross-fitted experts."""

import warnings

from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gpfuse as gf

data = load_wine()
y = data.target_names[data.target]
X_train, X_test, y_train, y_test = train_test_split(
    data.data, y, train_size=90, stratify=y, random_state=0
)
experts = [
    ("line", make_pipeline(StandardScaler(), LogisticRegression())),
    ("near", make_pipeline(StandardScaler(), KNeighborsClassifier(15))),
    ("forest", RandomForestClassifier(100)),
]
with warnings.catch_warnings():
    # Short chains, for an example that takes seconds.
    warnings.simplefilter("ignore", gf.ConvergenceWarning)
    model = gf.PBHSClassifier(experts, chains=2, warmup=200, draws=200, random_state=0)
    model.fit(X_train, y_train)
print(model.worth_["rows"], "rows left out in turn")
for line in model.worth_["lines"]:
    print(f"  {line['what']:14} {line['nlpd']:.3f}")

print("log loss of new rows")
for name, expert in model.experts_:
    print(f"  {name:8} {log_loss(y_test, expert.predict_proba(X_test)):.3f}")
scores = model.evaluate(X_test, y_test)
print(f"  {'fusion':8} {scores.nlpd.value:.3f}")
print(scores)
