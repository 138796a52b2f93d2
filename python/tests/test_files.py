"""One file and one seed, whichever door is used."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gpfuse as gf
from conftest import SHORT

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

FLAGS = [f"--{name.replace('_', '-')}={value}" for name, value in SHORT.items()]
FLAGS = [flag.replace("--random-state", "--seed") for flag in FLAGS]
METHODS = {
    "mogpe": gf.MoGPE(experts=2, **SHORT),
    "pogpe": gf.PoGPE(experts=2, normalise=True, **SHORT),
    "het": gf.HetGP(density="collapsed", **SHORT),
    "bhs": gf.BHS(experts=2, **SHORT),
    "pbhs": gf.PBHS(experts=2, partition="contiguous", frequencies=10, **SHORT),
}
MORE = {
    "pogpe": ["--normalise"],
    "het": ["--density=collapsed"],
    "pbhs": ["--partition=contiguous", "--frequencies=10"],
}


def arrays(estimator: Any) -> dict[tuple[str, str], Any]:
    """All that the file of a model holds, settings in words included."""
    groups = estimator.model_.groups()
    return {
        (group, name): values
        for group, own in groups.items()
        for name, (_, values) in own["vars"].items()
    }


@pytest.mark.parametrize("method", METHODS)
def test_python_and_the_program_draw_the_same(
    method: str, data: gf.Simulated, tmp_path: Path, gpfuse: Callable[..., str]
) -> None:
    """Every number of the file is the same to the bit: a seed is a seed."""
    table = pd.DataFrame({"x": data.X[:, 0], "y": data.y})
    csv, file = tmp_path / "d.csv", tmp_path / "m.nc"
    table.to_csv(csv, index=False, float_format="%.17g")
    few = [] if method == "het" else ["--experts=2"]
    gpfuse("fit", csv, "--target=y", "--method", method, *few, *FLAGS, *MORE.get(method, []),
           "--out", file)  # fmt: skip
    ours = METHODS[method].fit(table[["x"]], table["y"])
    ours.save(tmp_path / "ours.nc")
    found, expected = arrays(gf.load(tmp_path / "ours.nc")), arrays(gf.load(file))
    assert found.keys() == expected.keys()
    for key, values in expected.items():
        assert np.array_equal(found[key], values), key


@pytest.mark.parametrize("method", ["mogpe", "pbhs"])
def test_a_model_comes_back_from_its_file_and_from_pickle(
    method: str, data: gf.Simulated, tmp_path: Path
) -> None:
    """Parameters are stored on their natural scale, which may cost the last bits."""
    model = METHODS[method].fit(pd.DataFrame(data.X, columns=["speed"]), data.y)
    model.save(tmp_path / "m.nc")
    new = pd.DataFrame({"speed": [-4.0, 0.1, 3.0]})
    for again in (gf.load(tmp_path / "m.nc"), pickle.loads(pickle.dumps(model))):
        assert type(again) is type(model)
        assert list(again.feature_names_in_) == ["speed"]
        assert again.get_params()["experts"] == 2 and again.get_params()["draws"] == 40
        for one, two in zip(model.predict(new, True), again.predict(new, True), strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-12)
        assert again.diagnostics_ == model.diagnostics_
        again.save(tmp_path / "again.nc")
        assert (tmp_path / "again.nc").stat().st_size > 1000


@pytest.mark.parametrize("method", ["gp", "stacking", "rbcm"])
def test_what_is_not_sampled_comes_from_its_file(
    method: str, tmp_path: Path, gpfuse: Callable[..., str]
) -> None:
    """One exact GP, a rule with constant weights and one without, on several inputs."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "c"])
    table["y"] = table["a"] + np.sin(table["b"]) + 0.1 * rng.normal(size=40)
    csv, file = tmp_path / "d.csv", tmp_path / "m.nc"
    table.to_csv(csv, index=False, float_format="%.17g")
    gpfuse("fit", csv, "--target=y", "--method", method, "--out", file)
    gpfuse("predict", file, csv, "--out", tmp_path / "p.csv")
    model, X = gf.load(file), table[["a", "b", "c"]]
    said = pd.read_csv(tmp_path / "p.csv")
    np.testing.assert_allclose(model.predict(X), said["mean"], rtol=1e-9, atol=1e-9)
    assert np.isfinite(model.evaluate(X, table["y"]).nlpd.value)
    assert model.weights(X).mean.sum(axis=1) == pytest.approx(1.0)
    if method != "gp":
        assert model.rule == method
        np.testing.assert_allclose(model.fit(X, table["y"]).predict(X), said["mean"], atol=1e-9)


def test_columns_in_another_order_are_refused_after_a_file(tmp_path: Path) -> None:
    """Also where their names are those of columns without names."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(30, 2)), columns=["x0", "x1"])
    gf.HetGP(**SHORT).fit(table, table["x0"]).save(tmp_path / "m.nc")
    with pytest.raises(ValueError, match="found x1, x0, expected x0, x1"):
        gf.load(tmp_path / "m.nc").predict(table[["x1", "x0"]])


def test_bad_files_say_what_is_wrong(tmp_path: Path, pogpe: gf.PoGPE) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.nc.*no such model file"):
        gf.load(tmp_path / "none.nc")
    (tmp_path / "text.nc").write_text("no model")
    with pytest.raises(ValueError, match=r"text\.nc.*not a gpfuse model file"):
        gf.load(tmp_path / "text.nc")
    pogpe.save(tmp_path / "m.nc")
    whole = (tmp_path / "m.nc").read_bytes()
    (tmp_path / "half.nc").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"half\.nc.*cut off"):
        gf.load(tmp_path / "half.nc")
    with pytest.raises((ValueError, OSError), match="folder"):
        pogpe.save(tmp_path / "folder" / "m.nc")
