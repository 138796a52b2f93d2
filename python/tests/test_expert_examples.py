"""The examples that fuse models of other libraries and of R run, where the library is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
FROM_R = EXAMPLES / "data/airquality.csv"


def printed(script, *arguments):
    """What a script prints."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / script), *arguments],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("library", ["sklearn", "gpytorch", "tinygp"])
def test_the_example_runs_and_prints_scores(library):
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    said = printed(f"experts_{library}.py")
    scores = re.findall(r"^  (\S+) +(-?\d\S*) \+- \S+ \((Monte Carlo|rows)\)", said, re.M)
    assert len(scores) >= 5
    # The product of weighed experts is no worse than the worst of what it is made from.
    by_name = {name: float(value) for name, value, _ in scores}
    assert by_name["PBHS"] < max(by_name.values())


def test_the_classifiers_are_stacked():
    """All seeds are fixed. The fusion has a lower log loss at new rows than each of its experts."""
    told = printed("stack_classifiers.py").split("log loss of new rows")[1]
    scores = dict(re.findall(r"^  (\w+) +(\d\.\d+)$", told, re.M))
    assert set(scores) == {"line", "near", "forest", "fusion"}
    assert min(scores, key=lambda name: float(scores[name])) == "fusion"


def test_the_arviz_models_are_stacked():
    """All seeds are fixed. The fusion is better than each expert on rows left out, and on new days
    better than what experts say on average."""
    pytest.importorskip("arviz")
    said = printed("stack_arviz.py")
    assert re.search(r"\nfusion .* 0\.00 +NaN(.*\n)+heat(.*\n)+sun(.*\n)+wind", said), said
    scores = {k: float(v) for k, v in re.findall(r"^  (\w+) +(-\d\.\d+)$", said, re.M)}
    fusion = scores.pop("fusion")
    assert set(scores) == {"heat", "wind", "sun"}
    assert fusion > np.mean(list(scores.values()))


def test_quantile_regressors_are_fused():
    """All seeds are fixed. On new cars the product and the mixture are better than both experts."""
    said = printed("stack_quantiles.py")
    scores = [float(value) for value in re.findall(r"^  \w+ +(\d\.\d+)", said, re.M)]
    assert len(scores) == 6
    assert scores[2] < min(scores[:2])
    assert scores[5] < min(scores[3:5])


def test_densities_from_r_are_stacked(gpfuse, tmp_path):
    """It is what `stack_r.R` wrote. All seeds are fixed: no expert is as good as the fusion."""
    model, weights = tmp_path / "m.nc", tmp_path / "weights.csv"
    said = gpfuse("stack", FROM_R, "--target", "Ozone", "--out", model, "--seed", 0)
    assert "bhs with 3 experts on 110 rows, 3 inputs" in said
    lines = dict(re.findall(r"^(expert \S+|.* weights|weights .*?)(?: \*)?  +(\S+)", said, re.M))
    best = min(lines, key=lambda name: float(lines[name]))
    assert {"expert heat", "expert wind", "expert sun.wind"} < set(lines)
    assert best in ("constant weights", "weights by input")
    gpfuse("predict", model, FROM_R, "--experts", "--out", weights)
    assert "weight_sun.wind" in weights.read_text().split("\n")[0]


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_r_writes_the_table(tmp_path):
    """The same seed and draws; R and loo of other versions round otherwise."""
    out = tmp_path / "airquality.csv"
    script = EXAMPLES / "stack_r.R"
    done = subprocess.run(["Rscript", script, out], capture_output=True, text=True)
    if "there is no package called" in done.stderr:
        pytest.skip("the R package loo is not installed")
    assert done.returncode == 0, done.stderr
    found, kept = (np.genfromtxt(p, delimiter=",", names=True) for p in (out, FROM_R))
    assert found.dtype.names == kept.dtype.names
    np.testing.assert_allclose(found.tolist(), kept.tolist(), rtol=0.05, atol=0.1)
