"""The time that JAX spends on tracing and compiling, apart from the time that it computes.

JAX tells listeners how long each tracing, lowering and compilation took, at its end. Inner
functions are traced within outer ones, so the durations are not added: what counts is the
union of the intervals. Everything that a call needs is thus seen in one run of it, and the
time left over is what a second, compiled call would take.
"""

import time
from contextlib import contextmanager

import jax.monitoring

_spans: list[tuple[float, float]] = []


def _heard(event: str, seconds: float, **_: object) -> None:
    if event.startswith("/jax/core/compile/"):
        now = time.perf_counter()
        _spans.append((now - seconds, now))


jax.monitoring.register_event_duration_secs_listener(_heard)


class Times:
    """Seconds in all, and how many of them went into compilation."""

    total = 0.0
    compile = 0.0

    @property
    def run(self) -> float:
        return self.total - self.compile


@contextmanager
def measured():
    """Time the block. It must wait for its results, since JAX computes in the background."""
    times, begun = Times(), time.perf_counter()
    _spans.clear()
    yield times
    times.total = time.perf_counter() - begun
    end = begun
    for first, last in sorted(_spans):
        times.compile += max(0.0, last - max(first, end))
        end = max(end, last)
