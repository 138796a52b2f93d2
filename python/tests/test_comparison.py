"""`gf.compare` is `gpfuse compare`: the same contestants, experts and numbers."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gpfuse as gf

SHORT: dict[str, Any] = {"chains": 2, "warmup": 40, "draws": 30, "max_depth": 4, "experts": 2}
FLAGS = ["--chains", 2, "--warmup", 40, "--draws", 30, "--max-depth", 4, "--experts", 2]
DATA = gf.simulate(90, random_state=2)
TRAIN, TEST = np.arange(90) % 3 != 0, np.arange(90) % 3 == 0


def quiet(*args: Any, **settings: Any) -> gf.Comparison:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.ConvergenceWarning)
        return gf.compare(*args, **settings)


def numbers(methods: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All but the seconds; of words how many there are, since each front end has its own."""
    kept = [{k: v for k, v in each.items() if not k.endswith("seconds")} for each in methods]
    words = ("warnings", "notes")
    return [each | {k: each[k] and len(each[k]) for k in words} for each in kept]


@pytest.mark.parametrize("left_out", [False, True])
def test_it_is_the_comparison_of_the_program(
    left_out: bool, gpfuse: Callable[..., str], tmp_path: Path
) -> None:
    """Every contestant, every number, bit for bit, but for the seconds and the words of advice."""
    files = []
    for name, rows in [("train", TRAIN), ("test", TEST)]:
        files.append(tmp_path / f"{name}.csv")
        frame = pd.DataFrame({"x": DATA.X[rows, 0], "y": DATA.y[rows]})
        frame.to_csv(files[-1], index=False, float_format="%.17g")
    more = [] if left_out else [DATA.X[TEST], DATA.y[TEST]]
    found = quiet(DATA.X[TRAIN], DATA.y[TRAIN], *more, random_state=5, threads=1, **SHORT)
    command = ["compare", *files[: 1 if left_out else 2], "--target", "y", "--json"]
    told = json.loads(gpfuse(*command, "--seed", 5, *FLAGS))
    assert list(found.methods) == [each["method"] for each in told["methods"]]
    own = list(found.methods.values())
    assert numbers(own) == numbers(told["methods"])
    assert (found.scored, found.rows, found.experts) == (
        told["scored"],
        told["rows"],
        told["experts"],
    )
    assert set(found.methods) >= {"pogpe", "pbhs-plain", "gp", *gf.RULES}
    assert found.scored == ("leave-one-out" if left_out else "test")


def test_the_table() -> None:
    chosen = ["gp", "stacking", "het"]
    with pytest.warns(gf.ConvergenceWarning, match="^het: "):
        found = gf.compare(
            DATA.X[TRAIN],
            DATA.y[TRAIN],
            DATA.X[TEST],
            DATA.y[TEST],
            methods=chosen,
            **(SHORT | {"draws": 10}),
        )
    assert sorted(found.methods) == sorted(chosen)
    frame = found.to_pandas()
    assert list(frame.index) == list(found.methods) and frame.index[0] == found.best
    assert frame["nlpd"].is_monotonic_increasing and frame["difference"].iloc[0] == 0
    lines = str(found).splitlines()
    assert len(lines) == 4 and lines[1].startswith(found.best)
    assert sum("did not converge" in line for line in lines) == 1
    left = gf.compare(DATA.X[TRAIN], DATA.y[TRAIN], methods=["stacking"], experts=2)
    assert left.methods["stacking"]["crps"] is None


def test_one_that_fails_is_a_line() -> None:
    """Sixty rows are too few for as many experts, and enough for one GP."""
    rows = [DATA.X[TRAIN], DATA.y[TRAIN], DATA.X[TEST], DATA.y[TEST]]
    found = gf.compare(*rows, methods=["stacking", "gp"], experts=60)
    assert list(found.methods) == ["gp", "stacking"]
    assert "60" in found.methods["stacking"]["error"]
    line = str(found).splitlines()[2]
    assert line.startswith("stacking") and "failed: " in line
    assert found.to_pandas()["nlpd"].isna().tolist() == [False, True]


def test_a_bar_where_it_is_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    told: dict[str, Any] = {"methods": ["linear-pool"], "experts": 2}
    gf.compare(DATA.X, DATA.y, progress=True, **told)
    assert "methods" in capsys.readouterr().err
    gf.compare(DATA.X, DATA.y, **told)
    assert "methods" not in capsys.readouterr().err


def test_wrong_calls() -> None:
    X, y = DATA.X, DATA.y
    with pytest.raises(TypeError, match="no setting `chain`: use along, "):
        gf.compare(X, y, chain=2)
    with pytest.raises(TypeError, match="no setting `estimators`"):
        gf.compare(X, y, estimators=[gf.GP()])
    with pytest.raises(ValueError, match="give both X_test and y_test"):
        gf.compare(X, y, X)
    with pytest.raises(ValueError, match="unknown method `nuts`: use het, "):
        gf.compare(X, y, methods=["nuts"])
    with pytest.raises(ValueError, match="`het` stands twice"):
        gf.compare(X, y, methods=["het", "het"])
    with pytest.raises(ValueError, match="no method is named"):
        gf.compare(X, y, methods=[])
    with pytest.raises(ValueError, match="every method failed, stacking so: "):
        gf.compare(X, y, X, y, methods=["stacking"], experts=80)
    with pytest.raises(ValueError, match="80 experts and a hold-out of 18 of 90 rows"):
        gf.compare(X, y, methods=["stacking"], experts=80)
    with pytest.raises(ValueError, match="test rows: "):
        gf.compare(X, y, X, np.full(len(y), np.nan))


def test_the_old_names_still_work_and_say_what_they_are_called() -> None:
    with pytest.warns(FutureWarning, match=r"gpfuse\.sweep is called gpfuse\.cross_validate_all"):
        sweep = gf.sweep
    assert sweep is gf.cross_validate_all
    with pytest.warns(FutureWarning, match="CrossValidations"):
        assert gf.Sweep is gf.CrossValidations
