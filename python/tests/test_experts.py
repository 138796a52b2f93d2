"""Experts of partitions: the same bits on every executor, errors that name the partition."""

from __future__ import annotations

import multiprocessing
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

import gpfuse as gf
from gpfuse import partitions as worker_side

PARTS = 3
NEW = np.linspace(-2, 2, 7)[:, None]


def rows(seed: int, n: int = 30, inputs: int = 1) -> tuple[Any, Any]:
    """Rows that any process can make again."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, size=(n, inputs))
    return x, np.sin(2 * x[:, 0]) + 0.1 * rng.normal(size=n)


def bits(experts: list[gf.PartitionExpert]) -> list[Any]:
    """All that experts say, to the last bit."""
    said = [expert.submit(NEW) for expert in experts]
    return [
        (e.hyper_, e.log_marginal_likelihood_, e.n_rows_, *(a.tobytes() for a in job.result()))
        for e, job in zip(experts, said, strict=True)
    ]


@pytest.fixture(scope="module")
def here() -> list[Any]:
    return bits(gf.fit_experts([rows(i) for i in range(PARTS)], random_state=3))


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.fixture(scope="module")
def loky() -> Iterator[Executor]:
    # Of joblib, which scikit-learn needs.
    pool = pytest.importorskip("joblib.externals.loky").ProcessPoolExecutor(2)
    yield pool
    pool.shutdown()


@pytest.fixture(scope="module")
def threads() -> Iterator[Executor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept from earlier in this process."""
    monkeypatch.setattr(worker_side, "_KEPT", worker_side._Kept(room=2**30))


def test_an_expert_is_the_gp_of_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bit for bit, from the GP that training left behind and from one that is conditioned anew."""
    experts = gf.fit_experts(
        [rows(i) for i in range(PARTS)], kernel="matern32", objective="map", random_state=5
    )
    for i, expert in enumerate(experts):
        gp = gf.GP(kernel="matern32", objective="map", random_state=5).fit(*rows(i))
        assert expert.hyper_ == gp.hyper_
        assert expert.log_marginal_likelihood_ == gp.log_marginal_likelihood_
        assert expert.kernel_ == "matern32"
        for _ in range(2):
            for noise in (True, False):
                said = expert.predict(NEW, return_std=True, noise=noise)
                expected = gp.predict(NEW, return_std=True, noise=noise)
                np.testing.assert_array_equal(said, expected)
            monkeypatch.setattr(worker_side, "_KEPT", worker_side._Kept(room=0))


def in_memory(seed: int) -> Any:
    return rows(seed)


def function(seed: int) -> Any:
    return partial(rows, seed)


def delayed(seed: int) -> Any:
    return pytest.importorskip("dask").delayed(rows)(seed)


def arrays(seed: int) -> Any:
    array = pytest.importorskip("dask.array")
    return tuple(array.from_array(part) for part in rows(seed))


@pytest.mark.parametrize("given", [in_memory, function, delayed, arrays])
@pytest.mark.parametrize("where", ["here", "threads", "processes", "loky"])
def test_the_executor_does_not_matter(
    given: Callable[[int], Any], where: str, here: list[Any], request: pytest.FixtureRequest
) -> None:
    executor = None if where == "here" else request.getfixturevalue(where)
    experts = gf.fit_experts(
        [given(i) for i in range(PARTS)], executor=executor, random_state=3, threads=2
    )
    assert bits(experts) == here


def test_futures_that_an_executor_resolves(threads: Executor, here: list[Any]) -> None:
    futures = [threads.submit(rows, i) for i in range(PARTS)]
    assert bits(gf.fit_experts(futures, executor=threads, random_state=3)) == here


def test_dask_arrays_without_a_cluster_are_split_by_chunks() -> None:
    array = pytest.importorskip("dask.array")
    x, y = rows(0, n=60, inputs=2)
    dx, dy = array.from_array(x, chunks=(25, 2)), array.from_array(y, chunks=25)
    experts = gf.fit_experts((dx, dy), random_state=1)
    expected = gf.fit_experts([(x[i : i + 25], y[i : i + 25]) for i in (0, 25, 50)], random_state=1)
    assert [e.n_rows_ for e in experts] == [25, 25, 10]
    assert [e.hyper_ for e in experts] == [e.hyper_ for e in expected]
    with pytest.raises(ValueError, match=r"columns of X are in 2 chunks.*rechunk"):
        gf.fit_experts((dx.rechunk((25, 1)), dy))
    with pytest.raises(ValueError, match=r"y 30, 30: use y.rechunk"):
        gf.fit_experts((dx, dy.rechunk(30)))
    with pytest.raises(ValueError, match="y has 2 dimensions"):
        gf.fit_experts((dx, dx))


def test_another_seed_is_another_fit() -> None:
    """Else the identities above would show less; with so few steps the start decides."""
    few = rows(0, n=12, inputs=6)
    first, second = (
        gf.fit_experts([few], starts=5, steps=2, random_state=seed)[0] for seed in (0, 1)
    )
    assert first.hyper_ != second.hyper_


def test_copies_work_without_the_executor(here: list[Any]) -> None:
    with ThreadPoolExecutor(1) as pool:
        experts = gf.fit_experts([rows(i) for i in range(PARTS)], executor=pool, random_state=3)
    # A thread pool cannot be pickled, so it is not part of the copy.
    assert bits(pickle.loads(pickle.dumps(experts))) == here
    assert bits([expert.gather() for expert in pickle.loads(pickle.dumps(experts))]) == here


@pytest.mark.parametrize("frame", [np.asarray, pd.DataFrame])
def test_rows_in_memory_are_copied(frame: Any, here: list[Any]) -> None:
    given = [(frame(x), y) for x, y in (rows(i) for i in range(PARTS))]
    experts = gf.fit_experts(given, random_state=3)
    for x, y in given:
        x *= 2.0
        y += 1.0
    new = worker_side._Kept(room=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker_side, "_KEPT", new)
        assert bits(experts) == here


def test_a_job_may_ask_experts_of_its_own_pool(here: list[Any]) -> None:
    """The only thread of the pool runs the job, so nobody else could answer."""
    found: list[Any] = []

    def run() -> None:
        with ThreadPoolExecutor(1) as pool:
            sources = [rows(i) for i in range(PARTS)]
            experts = gf.fit_experts(sources, executor=pool, random_state=3)
            found.append(pool.submit(bits, experts).result())
            found.append(bits(pool.submit(lambda: [e.gather() for e in experts]).result()))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()
    assert found == [here, here]


def test_experts_outlive_their_pool(here: list[Any]) -> None:
    with ThreadPoolExecutor(1) as pool:
        experts = gf.fit_experts([rows(i) for i in range(PARTS)], executor=pool, random_state=3)
    assert bits(experts) == here


def test_scikit_learn_takes_them_for_fitted() -> None:
    (expert,) = gf.fit_experts([rows(0)])
    check_is_fitted(expert)
    assert clone(expert) is expert
    assert clone([("name", expert)], safe=False)[0][1] is expert
    assert expert.fit(*rows(1)).predict(NEW).tobytes() == expert.predict(NEW).tobytes()
    assert repr(expert).startswith("<PartitionExpert 0: rbf, 30 rows, ell=[")
    assert expert.evaluate(*rows(9)).nlpd.value < 0


@pytest.mark.usefixtures("forgetful")
def test_rows_are_read_once_while_a_gp_is_kept() -> None:
    read = []

    def source(seed: int) -> Any:
        read.append(seed)
        return rows(seed)

    experts = gf.fit_experts([partial(source, i) for i in range(PARTS)])
    for _ in range(3):
        bits(experts)
    assert read == [0, 1, 2]
    # 30 rows are a matrix of 7200 bytes: there is room for two.
    worker_side._KEPT = worker_side._Kept(room=15_000)
    for _ in range(3):
        bits(experts)
        assert len(worker_side._KEPT) == 2
    assert len(read) > 6


BAD = [
    ((rows(0)[0], rows(1, n=31)[1]), ValueError, "X has 30 rows and y 31"),
    ((rows(0)[0], np.r_[rows(0)[1][:-1], np.nan]), ValueError, "NaN"),
    ((rows(0)[0], rows(0)[1].astype(object) + 1j), (ValueError, TypeError), ""),
    (rows(0)[0], TypeError, r"expected a pair \(X, y\), found ndarray"),
    ((rows(0)[0][:, 0], rows(0)[1]), ValueError, "Expected 2D array"),
    (partial(rows, "seed"), TypeError, ""),
    (partial(int, "rows"), ValueError, "invalid literal"),
]


@pytest.mark.parametrize(("bad", "kind", "words"), BAD)
@pytest.mark.parametrize("where", ["here", "processes"])
def test_errors_name_the_partition(
    bad: Any, kind: Any, words: str, where: str, request: pytest.FixtureRequest
) -> None:
    executor = None if where == "here" else request.getfixturevalue(where)
    with pytest.raises(kind, match=f"(?is)^partition 1: .*{words}"):
        gf.fit_experts([rows(0), bad, rows(2)], executor=executor)


def test_all_partitions_have_the_same_inputs() -> None:
    with pytest.raises(ValueError, match="partition 1: has 2 inputs where partition 0 has 1"):
        gf.fit_experts([rows(0), rows(1, inputs=2)])
    first, second = ((pd.DataFrame(rows(0)[0], columns=[name]), rows(0)[1]) for name in "ab")
    with pytest.raises(ValueError, match="partition 1: its inputs are b and those of partition 0"):
        gf.fit_experts([first, second])
    (expert,) = gf.fit_experts([first])
    assert list(expert.feature_names_in_) == ["a"]
    with pytest.raises(ValueError, match="feature names"):
        expert.predict(second[0])


def test_wrong_calls() -> None:
    with pytest.raises(ValueError, match="partitions: there are none"):
        gf.fit_experts([])
    with pytest.raises(TypeError, match="executor: 2 has no method `submit`"):
        gf.fit_experts([rows(0)], executor=2)
    (expert,) = gf.fit_experts([rows(0)])
    with pytest.raises(ValueError, match="2 features"):
        expert.predict(rows(0, inputs=2)[0])


def test_a_failure_cancels_what_has_not_begun() -> None:
    """A thread sees the failure while the second job sleeps: it has half a second for that."""
    begun: list[int] = []
    free = threading.Event()

    def source(i: int) -> Any:
        begun.append(i)
        free.wait(10)
        if i == 0:
            raise ValueError("no rows")
        time.sleep(0.5)
        return rows(i)

    with ThreadPoolExecutor(1) as pool:
        threading.Timer(0.2, free.set).start()
        with pytest.raises(ValueError, match="partition 0: no rows"):
            gf.fit_experts([partial(source, i) for i in range(6)], executor=pool)
    assert begun in ([0], [0, 1])
