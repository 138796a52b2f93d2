"""What goes wrong on the way: a fit that was stopped, chains that do not agree."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from sklearn.exceptions import ConvergenceWarning

__all__ = ["ConvergenceWarning", "Interrupted"]


class Interrupted(KeyboardInterrupt):
    """Ctrl-C stopped a fit after its warm-up; `estimator` is fitted with the draws so far.

    A script stops as at any KeyboardInterrupt. To go on with what there is::

        try:
            model = gf.PoGPE().fit(X, y)
        except gf.Interrupted as stop:
            model = stop.estimator

    In a notebook, `sys.last_value.estimator` is the same.
    """

    def __init__(self, message: str, estimator: Any) -> None:
        super().__init__(message)
        self.estimator = estimator

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (*self.args, self.estimator)


def spoken(words: str) -> str:
    """Advice of the command line in the words of Python: `--max-depth 12` is `max_depth=12`."""
    value = r"[0-9][0-9.]*[0-9]|[0-9]|(?:hilbert|rff|exact|nuts|stack|auto|plain|inputs|none)\b"
    flag = re.compile(rf"--([a-z]+(?:-[a-z]+)*)(?: ({value}))?( (?=--))?")

    def parameter(found: re.Match[str]) -> str:
        name, value = found[1].replace("-", "_"), found[2]
        if value is not None and not value[0].isdigit():
            value = f'"{value}"'
        return (name if value is None else f"{name}={value}") + (", " if found[3] else "")

    return flag.sub(parameter, words)


@contextmanager
def in_python() -> Iterator[None]:
    """Errors of the engine that speak of options of the command line are put in Python's words."""
    try:
        yield
    except ValueError as error:
        words = spoken(str(error))
        if words == str(error):
            raise
        raise ValueError(words) from None


# Filters of the warnings module belong to all threads; this belongs to one.
_silent: ContextVar[bool] = ContextVar("silent", default=False)


@contextmanager
def without_warnings() -> Iterator[None]:
    """No warnings about convergence in this thread, for jobs that report it otherwise."""
    before = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(before)


def warn_convergence(messages: Iterable[str], stacklevel: int) -> None:
    """One warning per message, at the line that called the fit."""
    for message in () if _silent.get() else messages:
        warnings.warn(spoken(message), ConvergenceWarning, stacklevel=stacklevel + 1)
