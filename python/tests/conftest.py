"""What all tests share: small data, short chains, the program `gpfuse`."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# Before SciPy is loaded: scikit-learn leaves out one of its checks without it.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import pytest

import gpfuse as gf

ROOT = Path(__file__).resolve().parents[2]
SHORT: dict[str, Any] = {"chains": 2, "warmup": 60, "draws": 40, "max_depth": 5, "random_state": 3}


@pytest.fixture(scope="session")
def data() -> gf.Simulated:
    return gf.simulate(80, random_state=1)


@pytest.fixture(scope="session")
def pogpe(data: gf.Simulated) -> gf.PoGPE:
    """A PoGPE whose chains are too short for anything but its interface."""
    with pytest.warns(gf.ConvergenceWarning):
        return gf.PoGPE(experts=2, **SHORT).fit(data.X, data.y)


@pytest.fixture(scope="session")
def gpfuse() -> Callable[..., str]:
    """The program; `GPFUSE` names another than that of the last release build."""
    program = Path(os.environ.get("GPFUSE", ROOT / "target/release/gpfuse"))
    if not program.exists():
        pytest.skip(f"{program} is not built")

    def run(*args: object) -> str:
        command = [str(program), *map(str, args)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    return run


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C raises, whatever a library that was tested before has made of it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
