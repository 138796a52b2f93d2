"""A real Dask cluster on this machine: rows stay on it, and killing a worker does no harm."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import gpfuse as gf
from gpfuse._gpfuse import twins

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

from distributed.cfexecutor import ClientExecutor  # noqa: E402

CHUNK, CHUNKS = 300, 24
NEW = np.random.default_rng(9).uniform(-2, 2, size=(5, 2))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    # On a busy machine work is stolen with the rows it needs, and rows that should be lost are not.
    with (
        dask.config.set({"distributed.scheduler.work-stealing": False}),
        distributed.LocalCluster(
            n_workers=3, processes=True, threads_per_worker=1, dashboard_address=None
        ) as made,
    ):
        yield made


@pytest.fixture(scope="module")
def client(cluster: Any) -> Iterator[Any]:
    with distributed.Client(cluster) as made:
        yield made


def rows(seed: int, n: int = 40) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, size=(n, 2))
    return x, np.sin(x).sum(axis=1) + 0.1 * rng.normal(size=n)


def arrays() -> tuple[Any, Any]:
    """Rows that a worker can make again from the seed in their graph."""
    from dask import array

    rng = array.random.default_rng(4)
    x = rng.uniform(-2, 2, size=(CHUNK * CHUNKS, 2), chunks=(CHUNK, 2))
    noise = rng.normal(size=CHUNK * CHUNKS, chunks=CHUNK)
    return x, array.sin(2 * x).sum(axis=1) + 0.1 * noise


def bits(experts: list[gf.PartitionExpert]) -> list[Any]:
    said = [expert.submit(NEW) for expert in experts]
    return [
        (e.hyper_, e.log_marginal_likelihood_, *(a.tobytes() for a in job.result()))
        for e, job in zip(experts, said, strict=True)
    ]


# ---- the same on a cluster


def test_the_cluster_does_not_matter(client: Any) -> None:
    here = bits(gf.fit_experts([rows(i) for i in range(4)], random_state=3))
    for given in (
        [rows(i) for i in range(4)],
        [dask.delayed(rows)(i) for i in range(4)],
        [client.submit(rows, i) for i in range(4)],
        client.scatter([rows(i) for i in range(4)]),
        [lambda i=i: rows(i) for i in range(4)],
    ):
        experts = gf.fit_experts(given, executor=client.get_executor(), random_state=3)
        assert bits(experts) == here
    # Futures know their cluster.
    futures = [client.submit(rows, i) for i in range(4)]
    there = gf.fit_experts(futures, random_state=3)
    assert bits(there) == here
    with pytest.raises(TypeError, match=r"partition 0: its rows are on a Dask cluster.*gather"):
        pickle.dumps(there[0])
    copies = pickle.loads(pickle.dumps([expert.gather() for expert in there]))
    assert bits(copies) == here


def test_the_folds_on_the_cluster_are_those_here(client: Any) -> None:
    x, y = rows(0)
    estimators = {"gp": gf.GP(), "het": gf.HetGP(chains=2, warmup=40, draws=40, basis="rff")}
    here, there = (
        gf.cross_validate_all(estimators, x, y, cv=2, executor=executor)
        for executor in (None, client)
    )
    for name in estimators:
        pairs = zip(here.results[name].folds, there.results[name].folds, strict=True)
        for a, b in pairs:
            np.testing.assert_array_equal(a.scores.losses, b.scores.losses)


def test_estimators_are_fitted_on_a_cluster(client: Any) -> None:
    x, y = rows(1, n=60)
    short = {"chains": 1, "warmup": 30, "draws": 30, "random_state": 0}
    fusion = gf.PBHS(estimators=[gf.GP(), gf.GP("matern12")], **short)
    with pytest.warns(gf.ConvergenceWarning):
        for cv in (None, 3):
            there = fusion.set_params(cv=cv).fit(x, y, executor=client).predict(NEW)
            np.testing.assert_allclose(there, fusion.fit(x, y).predict(NEW), rtol=0, atol=1e-10)


def test_errors_name_the_partition(client: Any) -> None:
    parts = [dask.delayed(rows)(0), dask.delayed(rows)(1, n=-1), dask.delayed(rows)(2)]
    with pytest.raises(ValueError, match="partition 1: negative dimensions"):
        gf.fit_experts(parts, executor=client)


# ---- rows stay where they are


class Guarded:
    """An array that refuses to be made in the driver."""

    def __init__(self, values: Any, driver: int) -> None:
        if os.getpid() == driver:
            raise RuntimeError("rows came to the driver")
        self.values, self.driver = values, driver

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.values, dtype=dtype)

    def __len__(self) -> int:
        return len(self.values)

    def __reduce__(self) -> Any:
        return Guarded, (self.values, self.driver)


def guarded(seed: int, driver: int) -> tuple[Guarded, Guarded]:
    x, y = rows(seed)
    return Guarded(x, driver), Guarded(y, driver)


def test_rows_never_come_to_the_driver(client: Any) -> None:
    parts = [dask.delayed(guarded)(i, os.getpid()) for i in range(4)]
    experts = gf.fit_experts(parts, executor=client, random_state=3)
    assert bits(experts) == bits(gf.fit_experts([rows(i) for i in range(4)], random_state=3))
    # The guard guards.
    with pytest.raises(RuntimeError, match="rows came to the driver"):
        client.compute(parts[0]).result()


# ---- a worker dies


class Recorded(ClientExecutor):  # type: ignore[misc]
    """An executor that remembers its jobs."""

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        self.jobs: list[Future[Any]] = []

    def submit(self, *args: Any, **options: Any) -> Future[Any]:
        self.jobs.append(super().submit(*args, **options))
        return self.jobs[-1]


@dataclass
class Killing:
    """What was so at the moment of the kill."""

    victim: str = ""
    training: list[str] = field(default_factory=list)
    held: int = 0
    finished: int = 0


def kill_one(cluster: Any, client: Any, executor: Recorded, seen: Killing) -> None:
    """Kill a worker that trains experts, after a few of all jobs are done."""
    pids = {nanny.worker_address: nanny.pid for nanny in cluster.workers.values()}
    end = time.monotonic() + 30
    while time.monotonic() < end:
        seen.finished = sum(job.done() for job in executor.jobs)
        if seen.finished >= 3:
            for address, keys in client.processing().items():
                seen.training = [key for key in keys if str(key).startswith("train")]
                if seen.training and address in pids:
                    seen.victim, seen.held = address, len(client.has_what()[address])
                    seen.finished = sum(job.done() for job in executor.jobs)
                    os.kill(pids[address], signal.SIGKILL)
                    return
        time.sleep(0.005)


@pytest.fixture(scope="module")
def survived(cluster: Any, client: Any) -> tuple[list[gf.PartitionExpert], list[Any], Killing]:
    """Experts of a run in which a worker was killed, the bits of one without, the killing."""
    x, y = arrays()
    expected = bits(gf.fit_experts((x, y), executor=client, random_state=1))
    x, y = client.persist(x), client.persist(y)
    distributed.wait([x, y])
    executor, seen = Recorded(client), Killing()
    killer = threading.Thread(target=kill_one, args=(cluster, client, executor, seen))
    killer.start()
    experts = gf.fit_experts((x, y), executor=executor, random_state=1)
    killer.join()
    return experts, expected, seen


def test_a_killed_worker_changes_nothing(client: Any, survived: Any) -> None:
    """No margin: the worker is killed while it has experts to train, which is asserted."""
    experts, expected, seen = survived
    assert seen.training, "no worker was training: nothing was killed"
    assert seen.held > 0, "the worker held no rows"
    assert 3 <= seen.finished < CHUNKS
    # Dask starts a new worker in its place, with another address.
    assert seen.victim not in client.scheduler_info()["workers"]
    assert len(experts) == CHUNKS
    assert bits(experts) == expected


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights_on_the_driver(survived: Any) -> None:
    """Experts on the cluster, weights here: with the seed fixed, as from experts in memory."""
    if "estimators" not in gf.PBHS().get_params():
        pytest.skip("PBHS does not take estimators")
    experts = survived[0][:3]
    x, y = rows(100, n=60)
    small: dict[str, Any] = {"chains": 2, "warmup": 50, "draws": 50, "random_state": 2}
    there = gf.PBHS(estimators=experts, **small).fit(x, y)
    here = gf.PBHS(estimators=[expert.gather() for expert in experts], **small).fit(x, y)
    np.testing.assert_array_equal(there.weights(NEW).mean, here.weights(NEW).mean)
    assert np.isfinite(there.predict(NEW)).all()


def test_rows_that_were_only_scattered_are_lost(cluster: Any, client: Any) -> None:
    """Nothing can make them again; the error says so. Other partitions are whole."""
    address, nanny = next((n.worker_address, n) for n in cluster.workers.values())
    lost = client.scatter(rows(0), workers=[address])
    made = client.submit(rows, 1, workers=[address], allow_other_workers=True, pure=False)
    experts = gf.fit_experts([lost, made], random_state=3)
    os.kill(nanny.pid, signal.SIGKILL)
    while address in client.scheduler_info()["workers"]:
        time.sleep(0.02)
    assert bits(experts[1:]) == bits(gf.fit_experts([rows(1)], random_state=3))
    with pytest.raises(RuntimeError, match=r"partition 0: .*not scattered ones"):
        experts[0].predict(NEW)


# ---- a GP on the nearest rows of all partitions

UNEVEN = (700, 1500, 3, 900, 897)


def many() -> tuple[Any, Any]:
    """Rows of which some are copies of rows in other partitions."""
    rng = np.random.default_rng(5)
    x = rng.uniform(-2, 2, size=(sum(UNEVEN), 3))
    y = np.sin(2 * x).sum(axis=1) + 0.1 * rng.normal(size=len(x))
    x[3200:3300], y[3200:3300] = x[:100], y[:100]
    return x, y


class Deadly(Recorded):
    """One that kills a worker which holds rows, as soon as it was given so many jobs."""

    def __init__(self, client: Any, cluster: Any, after: int) -> None:
        super().__init__(client)
        self.cluster, self.after, self.unfinished, self.held = cluster, after, 0, 0

    def submit(self, *args: Any, **options: Any) -> Future[Any]:
        job = super().submit(*args, **options)
        if len(self.jobs) == self.after:
            held = self._client.has_what()
            nannies = self.cluster.workers.values()
            victim = max(nannies, key=lambda nanny: len(held.get(nanny.worker_address, ())))
            self.held = len(held[victim.worker_address])
            os.kill(victim.pid, signal.SIGKILL)
            self.unfinished = sum(not job.done() for job in self.jobs)
        return job


@pytest.fixture(scope="module")
def nearest(cluster: Any, client: Any) -> tuple[gf.NearestExpert, Deadly]:
    """One that was fitted while a worker was killed."""
    from dask import array

    x, y = many()
    given = array.from_array(x, chunks=(UNEVEN, 3)), array.from_array(y, chunks=UNEVEN)
    given = tuple(map(client.persist, given))
    distributed.wait(given)
    # By then the partitions were looked at, and look for the neighbours of the first rows.
    executor = Deadly(client, cluster, after=28)
    (expert,) = gf.fit_nearest(given, executor=executor, kernels="matern32", random_state=1)
    return expert, executor


def test_nearest_rows_in_partitions_are_those_of_one_table(nearest: Any) -> None:
    """Bit for bit, though a worker was killed that held rows while jobs were waited for."""
    expert, executor = nearest
    assert executor.held > 0 and executor.unfinished > 0
    assert len(executor.jobs) > 2 * executor.after
    x, y = many()
    gp = gf.GP("matern32", random_state=1).fit(x, y)
    assert (expert.hyper_, expert.neighbours_) == (gp.hyper_, gp.neighbours_)
    new = np.random.default_rng(6).uniform(-3, 3, size=(1100, 3))
    for noise in (True, False):
        there, here = (e.predict(new, True, noise=noise) for e in (expert, gp))
        np.testing.assert_array_equal(there, here)
    # Rows left out, their copies with them.
    row_of = {row.tobytes(): i for i, row in enumerate(x)}
    mean, std, _ = gp._left_out(twins(x, y))
    for own, targets in (expert.sample(300), (x[:20], y[:20])):
        of_one = [row_of[row.tobytes()] for row in own]
        there = expert.left_out(own, targets)
        np.testing.assert_array_equal(there, (mean[of_one], std[of_one]))
    np.testing.assert_array_equal(expert.left_out(new, new[:, 0]), expert.predict(new, True))


def test_weights_are_learned_from_what_nearest_rows_say_without_a_row(nearest: Any) -> None:
    expert, _ = nearest
    x, y = expert.sample(200)
    flat = lambda X: (np.zeros(len(X)), np.full(len(X), 0.3))  # noqa: E731
    mean, std = (np.column_stack(pair) for pair in zip(expert.left_out(x, y), flat(x), strict=True))
    asked = gf.Baseline(estimators=[expert, flat]).fit(x, y)
    np.testing.assert_array_equal(
        asked.weights_, gf.Baseline().fit(x, y, mean=mean, std=std).weights_
    )
    new = np.random.default_rng(6).uniform(-2, 2, size=(7, 3))
    pool = asked.weights_ @ [expert.predict(new), np.zeros(7)]
    np.testing.assert_allclose(asked.predict(new), pool, rtol=0, atol=1e-12)


def test_an_expert_on_nearest_rows_refuses_what_it_cannot_do(nearest: Any) -> None:
    with pytest.raises(ValueError, match="row 2, input 3 is inf: drop the row"):
        nearest[0].predict([[0.0, 0.0, 0.0], [0.0, 0.0, np.inf]])
    with pytest.raises(ValueError, match=r"y: found shape \(2,\): expected \(1,\)"):
        nearest[0].left_out([[0.0, 0.0, 0.0]], [1.0, 2.0])
    with pytest.raises(ValueError, match="rows: 4001 of 4000 rows"):
        nearest[0].sample(4001)
    with pytest.raises(TypeError, match="rows of this expert are on a Dask cluster"):
        pickle.dumps(nearest[0])


def test_nearest_rows_refuse_partitions_that_make_no_table() -> None:
    x, y = rows(0)
    hole = x.copy()
    hole[5, 1] = np.nan
    for other, words in [
        ((x[:, :1], y), "partition 1: has 1 inputs where partition 0 has 2"),
        ((hole, y), "partition 1: .*row 6, input 2 is NaN: drop the row"),
        ((x, np.append(y[1:], np.inf)), "partition 1: .*row 40: the target is inf: drop the row"),
    ]:
        with pytest.raises(ValueError, match=words):
            gf.fit_nearest([(x, y), other])
    with pytest.raises(ValueError, match=r"setting `kernel`: .*cubic"):
        gf.fit_nearest([(x, y)], kernels=["cubic"])
