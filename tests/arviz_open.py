"""Open a model file with ArviZ, as a user would: `arviz_open.py path/to/gpfuse`."""

import subprocess
import sys
import tempfile
from pathlib import Path

import arviz as az
import numpy as np

CHAINS, DRAWS, EXPERTS = 2, 60, 3


def gpfuse(*args: object) -> str:
    command = [str(Path(sys.argv[1]).resolve()), *map(str, args)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def fitted(folder: Path, method: str, *options: object) -> az.InferenceData:
    data, model = folder / "d.csv", folder / f"{method}.nc"
    gpfuse("simulate", "--n", 80, "--seed", 1, "--out", data)
    short = ["--chains", CHAINS, "--warmup", 60, "--draws", DRAWS, "--max-depth", 4]
    gpfuse(
        *["fit", data, "--target", "y", "--method", method, "--experts", EXPERTS],
        *[*short, *options, "--out", model],
    )
    return az.from_netcdf(model)


def check(idata: az.InferenceData, features: int) -> None:
    groups = {"posterior", "sample_stats", "log_likelihood", "observed_data", "constant_data"}
    assert groups <= set(idata.groups()), idata.groups()
    posterior = idata.posterior
    assert posterior.sizes["chain"] == CHAINS and posterior.sizes["draw"] == DRAWS
    assert posterior["mu_theta"].dims == ("chain", "draw", "expert", "feature")
    assert posterior.sizes["feature"] == features
    assert posterior["mu_ell"].dims == ("chain", "draw", "expert", "input")
    assert list(posterior["input"].values) == ["x"]
    assert (posterior["mu_ell"] > 0).all() and (posterior["gate_var"] > 0).all()
    assert idata.sample_stats["diverging"].dtype == bool
    for name in ("lp", "energy", "acceptance_rate", "step_size", "tree_depth", "n_steps"):
        assert np.isfinite(idata.sample_stats[name]).all(), name
    assert idata.log_likelihood["y"].sizes["row"] == 80
    summary = az.summary(idata, var_names=["mu_var", "mu_ell"])
    assert len(summary) == 2 * EXPERTS
    assert np.isfinite(az.loo(idata).elpd_loo)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        check(fitted(Path(name), "pogpe", "--frequencies", 10), features=20)
        check(fitted(Path(name), "mogpe", "--size", 12), features=12)
        weighted = fitted(Path(name), "mogpe", "--size", 12, "--combine", "stack")
        check(weighted, features=12)
        weight = weighted.sample_stats["chain_weight"]
        assert weight.dims == ("chain",) and np.isclose(weight.sum(), 1), weight
    print("ArviZ", az.__version__, "opened the model files: 3 passed, 0 failed")


if __name__ == "__main__":
    main()
