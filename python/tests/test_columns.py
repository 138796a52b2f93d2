"""Data frames with words, categories and missing values, in every estimator."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

import gpfuse as gf

SHORT: dict[str, Any] = {
    "chains": 2,
    "warmup": 30,
    "draws": 20,
    "max_depth": 4,
    "random_state": 0,
    "threads": 1,
}
HET = {**SHORT, "size": 5}
ROWS = 40


def table() -> pd.DataFrame:
    number = np.arange(ROWS)
    return pd.DataFrame(
        {
            "x": number / 7.0,
            "color": pd.Categorical(np.array(["red", "blue", "green"])[number % 3]),
            "size": np.array(["S", "L"])[number % 2],
            "new": number % 5 == 0,
        }
    )


def target() -> Any:
    return np.sin(np.arange(ROWS) / 7.0) + np.arange(ROWS) % 3


@pytest.fixture(scope="module")
def fitted() -> gf.HetGP:
    model = gf.HetGP(**HET)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(table(), target())


def test_pandas_and_polars_have_the_same_inputs(fitted: gf.HetGP, tmp_path: Path) -> None:
    assert list(fitted.feature_names_in_) == ["x", "color", "size", "new"]
    inputs = ["x", "color=blue", "color=green", "color=red", "size=S", "new"]
    assert fitted.columns_.inputs == inputs == fitted.model_.inputs
    found = fitted.predict(table())
    polars = pl.DataFrame(table().assign(color=table()["color"].astype(str)).to_dict("list"))
    np.testing.assert_array_equal(fitted.predict(polars), found)
    typed = polars.with_columns(pl.col("color").cast(pl.Categorical))
    np.testing.assert_array_equal(fitted.predict(typed), found)
    fitted.save(tmp_path / "m.nc")
    for again in (gf.load(tmp_path / "m.nc"), pickle.loads(pickle.dumps(fitted))):
        assert list(again.feature_names_in_) == list(fitted.feature_names_in_)
        np.testing.assert_allclose(again.predict(table()), found, rtol=1e-9, atol=1e-12)
    tree = fitted.to_datatree(samples=5)
    assert tree["posterior_predictive"]["y"].shape == (1, 5, ROWS)


def test_a_level_that_is_new_is_a_warning(fitted: gf.HetGP) -> None:
    new = table().assign(color="mauve")
    with pytest.warns(UserWarning, match=r"`color`: 40 rows have a level .* `mauve` \(row 1\)"):
        assert np.isfinite(fitted.predict(new)).all()
    with pytest.raises(ValueError, match="row 1, column `x`: `wide` is not a number"):
        fitted.predict(table().assign(x="wide"))
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(table()[["color", "x", "size", "new"]])
    lacking = table()
    lacking.loc[3, "size"] = None
    with pytest.raises(ValueError, match="1 in `size`, the first in row 4: fill them in, or fit"):
        fitted.predict(lacking)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "model",
    [
        gf.GP(starts=2, threads=1),
        gf.Baseline(experts=2, threads=1, random_state=0),
        gf.BHS(experts=2, **SHORT),
        gf.PBHS(
            estimators=[
                gf.GP(starts=2, threads=1),
                gf.PointExpert(HistGradientBoostingRegressor(categorical_features="from_dtype")),
            ],
            **SHORT,
        ),
    ],
    ids=["gp", "baseline", "bhs", "pbhs over estimators"],
)
def test_every_estimator_takes_words(model: Any) -> None:
    data = table()
    data["size"] = data["size"].astype("category")
    found = model.fit(data, target()).predict(data)
    assert np.isfinite(found).all()
    # The colour is most of the target.
    assert np.corrcoef(found, target())[0, 1] > 0.5


def test_names_of_rows_and_faults_are_refused() -> None:
    model = gf.GP(starts=2)
    names = table().assign(id=[f"p{i}" for i in range(ROWS)])
    with pytest.raises(ValueError, match="`id` holds 40 different words in 40 rows, as `p0`"):
        model.fit(names, target())
    odd = table().assign(x=[*np.arange(ROWS - 1), "abc"])
    with pytest.raises(ValueError, match="row 40, column `x`: `abc` is not a number"):
        model.fit(odd, target())
    # Codes are a category where their type says so.
    coded = table().assign(size=pd.Categorical(np.arange(ROWS) % 4))
    assert model.fit(coded, target()).columns_.inputs[4:8] == [f"size={i}" for i in range(4)]


@pytest.mark.filterwarnings("ignore")
def test_what_is_missing_is_refused_dropped_or_filled() -> None:
    data = table()
    data.loc[2, "x"] = np.nan
    data.loc[3, "size"] = None
    counts = "values are missing or NaN: 1 in `x`, 1 in `size`, the first in row 3: fill them in, "
    with pytest.raises(ValueError, match=counts):
        gf.HetGP(**HET).fit(data, target())
    with pytest.raises(ValueError, match=r"missing=\"drop\""):
        gf.GP().fit(data[["x"]].to_numpy(), target())
    with pytest.raises(ValueError, match="setting `missing`: `half` is unknown"):
        gf.GP(missing="half").fit(data, target())
    kept = gf.HetGP(missing="drop", **HET).fit(data, target())
    assert len(kept.model_.rows) == ROWS - 2
    with pytest.raises(ValueError, match="or fit a model that lets means"):
        kept.predict(data)
    filled = gf.HetGP(missing="indicator", **HET).fit(data, target())
    assert filled.columns_.inputs[:2] == ["x", "x=missing"]
    assert np.isfinite(filled.predict(data)).all()
    rows = data[["x"]].to_numpy()
    model = gf.GP(missing="mean", starts=2, threads=1).fit(rows, target())
    mean = np.full((1, 1), np.nanmean(rows))
    np.testing.assert_allclose(model.predict([[np.nan]]), model.predict(mean))
    said = {"mean": np.zeros((ROWS, 2)), "std": np.ones((ROWS, 2))}
    with pytest.raises(ValueError, match="drop would leave out rows of X and not of what experts"):
        gf.PBHS(missing="drop", **SHORT).fit(data, target(), **said)
    assert gf.PBHS(missing="mean").__sklearn_tags__().input_tags.allow_nan
    assert not gf.PBHS().__sklearn_tags__().input_tags.allow_nan
