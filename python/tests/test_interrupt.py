"""Ctrl-C stops a fit within a second and keeps its draws; other threads never wait for one."""

from __future__ import annotations

import signal
import threading
import time

import numpy as np
import pytest

import gpfuse as gf

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.usefixtures("ctrl_c"),
]


class Later:
    """Sends the signal of Ctrl-C after some seconds, and counts how often a thread could run."""

    def __init__(self, seconds: float) -> None:
        self.turns, self.sent = 0, 0.0
        self._seconds = seconds
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        end = time.monotonic() + self._seconds
        while time.monotonic() < end:
            time.sleep(0.01)
            self.turns += 1
        self.sent = time.monotonic()
        signal.raise_signal(signal.SIGINT)

    def __enter__(self) -> Later:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()


def test_a_stopped_fit_keeps_its_draws() -> None:
    """Of three tries the fastest counts: other work on the machine can only slow one down."""
    rows = gf.simulate(500, random_state=1)
    waited = []
    for _ in range(3):
        model = gf.HetGP(chains=2, warmup=50, draws=1_000_000, start="prior", random_state=0)
        with Later(2.0) as later, pytest.raises(gf.Interrupted, match=r"kept [12] x") as stop:
            model.fit(rows.X, rows.y)
        waited.append(time.monotonic() - later.sent)
        assert later.turns > 60, "other threads had to wait"
        assert isinstance(stop.value, KeyboardInterrupt)
        assert stop.value.estimator is model
        chains, draws = model.model_.draws
        assert chains in (1, 2) and 0 < draws < 1_000_000
        assert np.isfinite(model.predict(rows.X[:3])).all()
        if waited[-1] < 1.0:
            break
    assert min(waited) < 1.0


def test_a_fit_without_draws_is_no_fit(data: gf.Simulated) -> None:
    """Stopped in its warm-up there is nothing to keep, and nothing is pretended."""
    model = gf.MoGPE(experts=3, warmup=1_000_000, draws=10, random_state=0)
    with Later(1.0) as later, pytest.raises(KeyboardInterrupt) as stop:
        model.fit(data.X, data.y)
    assert time.monotonic() - later.sent < 1.0
    assert not isinstance(stop.value, gf.Interrupted)
    assert not hasattr(model, "model_")


def test_what_cannot_stop_is_left_behind() -> None:
    """An exact GP of many rows takes long between two looks: the prompt comes back all the same."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 3))
    with Later(0.5) as later, pytest.raises(KeyboardInterrupt):
        gf.GP(random_state=0, threads=1).fit(X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=2500))
    assert time.monotonic() - later.sent < 1.0


def test_progress_that_fails_stops_the_fit(
    data: gf.Simulated, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no screen")

    monkeypatch.setattr("gpfuse.progress.Bars.__call__", broken)
    with pytest.raises(RuntimeError, match="no screen"):
        gf.HetGP(progress=True, draws=1_000_000).fit(data.X, data.y)
