"""The examples that fuse models of other libraries run, where the library is installed."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("library", ["sklearn", "gpytorch", "tinygp"])
def test_the_example_runs_and_prints_scores(library):
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    script = EXAMPLES / f"experts_{library}.py"
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    scores = re.findall(r"^  (\S+) +(-?\d\S*) \+- \S+ \((Monte Carlo|rows)\)", done.stdout, re.M)
    assert len(scores) >= 5
    # The product of weighed experts is no worse than the worst of what it is made from.
    by_name = {name: float(value) for name, value, _ in scores}
    assert by_name["PBHS"] < max(by_name.values())


def test_the_arviz_models_are_stacked():
    """All seeds are fixed. The fusion is better on new cars than each of its models."""
    pytest.importorskip("arviz")
    script = EXAMPLES / "stack_arviz.py"
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"^fusion .* 0\.00 +NaN", done.stdout, re.M), done.stdout
    scores = dict(re.findall(r"^  (\w+) +(-\d\.\d+)$", done.stdout, re.M))
    assert set(scores) == {"weight", "engine", "year", "fusion"}
    assert max(scores, key=lambda name: float(scores[name])) == "fusion"
