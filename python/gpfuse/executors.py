"""Where jobs run: here and now, on any executor, or on a Dask cluster."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Executor, Future, wait
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any


class Here(Executor):
    """Runs each job when it is submitted, in this thread."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run the job; the future that comes back is done."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        # Ctrl-C is no result of a job: it goes up.
        except Exception as error:
            future.set_exception(error)
        return future


def executor_of(given: Any) -> Executor:
    """The executor that was given: None is `Here`, a Dask client is its executor."""
    if given is None:
        return Here()
    if isinstance(given, Executor):
        return given
    if _is_dask(given, "Client"):
        found: Executor = given.get_executor()
        return found
    # Executors of other libraries need not inherit from the standard one.
    if callable(getattr(given, "submit", None)):
        return given  # type: ignore[no-any-return]
    raise TypeError(
        f"executor: {given!r} has no method `submit`: give a concurrent.futures.Executor, or None "
        "to run here"
    )


def client_of(executor: Executor) -> Any:
    """The Dask client behind an executor, or None."""
    return executor._client if _is_dask(executor, "ClientExecutor") else None  # type: ignore[attr-defined]


def submit(executor: Executor, job: Callable[..., Any], *args: Any) -> Future[Any]:
    """Submit a job; one that a thread of the executor asks for runs in that thread."""
    if threading.current_thread() in getattr(executor, "_threads", ()):
        # Were the pool full of such jobs, all of them would wait for a free thread forever.
        return Here().submit(job, *args)
    if client_of(executor) is not None:
        # Dask would take two calls with equal arguments for one. Hashing them takes time, and they
        # may not be equal: a file can change.
        return executor.submit(job, *args, pure=False)
    return executor.submit(job, *args)


def place(executor: Executor, value: Any) -> Any:
    """What to hand to several jobs in place of `value`: on Dask it then travels once.

    It is the result of a task and not scattered, because Dask computes the result of a task again
    if the worker that holds it dies.
    """
    client = client_of(executor)
    return value if client is None else client.submit(_same, value, pure=False)


def _same(value: Any) -> Any:
    return value


_inside: ContextVar[bool] = ContextVar("inside", default=False)


@contextmanager
def as_job() -> Iterator[None]:
    """What runs inside is a job. If it waited for jobs of its own pool, all could wait forever."""
    before = _inside.set(True)
    try:
        yield
    finally:
        _inside.reset(before)


def in_job() -> bool:
    """Whether this thread runs a job."""
    return _inside.get()


@contextmanager
def cancelling(futures: Sequence[Future[Any]]) -> Iterator[None]:
    """If anything goes wrong inside, Ctrl-C included, cancel the jobs that have not begun."""
    try:
        yield
    except BaseException:
        for future in list(futures):
            future.cancel()
        raise


def first_failure(futures: Sequence[Future[Any]]) -> int | None:
    """Wait for all jobs, or for one that fails: which one."""
    done, _ = wait(futures, return_when=FIRST_EXCEPTION)
    failed = (i for i, job in enumerate(futures) if job in done and job.exception() is not None)
    return next(failed, None)


def _is_dask(value: Any, kind: str) -> bool:
    """Whether it is of this class of Dask's; without importing Dask, which takes a second."""
    module = sys.modules.get(
        "distributed.cfexecutor" if kind == "ClientExecutor" else "distributed"
    )
    return module is not None and isinstance(value, getattr(module, kind))
