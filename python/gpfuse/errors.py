"""What goes wrong on the way: a fit that was stopped, chains that do not agree."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
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


def optional(module: str, extra: str) -> Any:
    """A module that an extra of the package brings."""
    package = module.partition(".")[0]
    try:
        import_module(package)
    except ImportError as missing:
        words = f"{package} is not installed: run `pip install gpfuse[{extra}]`"
        raise ImportError(words) from missing
    return import_module(module)


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
        warnings.warn(message, ConvergenceWarning, stacklevel=stacklevel + 1)


def warn_of_rows(messages: Iterable[str], stacklevel: int) -> None:
    """One warning for each thing to know about the rows, at the line that called the fit."""
    if not _silent.get():
        warn_unused(messages, stacklevel + 1)


def warn_unused(messages: Iterable[str], stacklevel: int) -> None:
    """One warning for each parameter without effect, at the line that called the fit."""
    for message in messages:
        warnings.warn(message, UserWarning, stacklevel=stacklevel + 1)
