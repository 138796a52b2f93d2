"""GPs on nearest rows of the table of simulated.py, made in partitions on a Dask cluster here.

`python bench/partitions.py ROWS PARTITIONS WORKERS [KERNELS]`: seconds, memory, and the mean
negative log density at 4,000 new rows.
"""

import resource
import sys
import time

import numpy as np
from dask import delayed
from dask.distributed import Client, LocalCluster
from scipy.stats import norm
from simulated import TEST_ROWS, truth

import gpfuse as gf

KERNELS = "rbf,matern12,matern32,matern52"


def rows(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(count, 8))
    mean, sd = truth(x)
    return x, mean + sd * rng.standard_normal(count)


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main(count: int, partitions: int, workers: int, kernels: str = KERNELS) -> None:
    parts = [delayed(rows)(1 + i, count // partitions) for i in range(partitions)]
    x, y = rows(0, TEST_ROWS)
    print(f"truth: {-norm.logpdf(y, *truth(x)).mean():.4f}")
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        start = time.perf_counter()

        def say(what: str) -> None:
            seconds, memory = time.perf_counter() - start, client.run(peak).values()
            each = ", ".join(map(str, memory))
            print(f"{seconds:.0f} s, {what}; peak MB: {peak()} here, {each} in the workers")

        experts = gf.fit_nearest(parts, executor=client, kernels=kernels.split(","), random_state=0)
        say("fitted")
        for expert in experts:
            nlpd = expert.evaluate(x, y).nlpd.value
            say(f"{expert.kernel_} with {expert.neighbours_} neighbours: NLPD {nlpd:.3f}")
        if len(experts) > 1:
            fused = gf.PBHS(estimators=experts, random_state=0).fit(*experts[0].sample())
            say("weights learned")
            say(f"fused: NLPD {fused.evaluate(x, y).nlpd.value:.3f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]), *sys.argv[4:])
