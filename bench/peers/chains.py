"""The peers' chains, in a process of their own: `python -m peers.chains JSON`.

A process of its own, since the number of JAX's devices is fixed when it starts: NumPyro's
`parallel` wants one device per chain, whatever the number of cores, and the other samplers
none beyond the first. The process prints its figures as JSON and writes the log densities of
the test rows (chains, draws, rows) to a file.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np

from .problem import Basis, Model, paper


def main() -> None:
    job = json.loads(sys.argv[1])
    if job["sampler"] == "numpyro-parallel":
        flag = f"--xla_force_host_platform_device_count={job['settings']['chains']}"
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {flag}"
    model = Model(job["method"], job["experts"], Basis(job["basis"], job["size"]))
    run = nutpie if job["sampler"] == "nutpie" else numpyro
    figures, lpd = run(model, job["sampler"].removeprefix("numpyro-"), **job["settings"])
    np.ascontiguousarray(lpd, float).tofile(Path(job["lpd"]))
    print(json.dumps(figures))


def numpyro(model, method, *, chains, warmup, draws, max_depth, target_accept, seed):
    """NumPyro's NUTS, from starts drawn from the prior."""
    import jax
    from numpyro.infer import MCMC, NUTS, init_to_sample

    from . import jax_model, meter

    x, y = paper(test=False)
    given = jax_model.inputs(model.basis, x)
    kernel = NUTS(
        jax_model.numpyro_model(model),
        init_strategy=init_to_sample,
        max_tree_depth=max_depth,
        target_accept_prob=target_accept,
    )
    mcmc = MCMC(
        kernel,
        num_warmup=warmup,
        num_samples=draws,
        num_chains=chains,
        chain_method=method,
        progress_bar=False,
    )
    # Keep the warm-up too, to count its leapfrogs. The public way, `warmup` before `run`,
    # would compile a second program.
    mcmc._set_collection_params(lower=0)
    with meter.measured() as times:
        mcmc.run(jax.random.PRNGKey(seed), given, y, extra_fields=("num_steps",))
        found = jax.block_until_ready(mcmc.get_samples(group_by_chain=True))
    extra = mcmc.get_extra_fields(group_by_chain=True)
    steps, kept = np.asarray(extra["num_steps"]), slice(warmup, None)
    figures = {
        "seconds": times.run,
        "compile": times.compile,
        "gradients": int(steps.sum()),
        "kept_leapfrogs": int(steps[:, kept].sum()),
        "divergences": int(np.asarray(extra["diverging"])[:, kept].sum()),
        "saturated": float((steps[:, kept] == 2**max_depth - 1).mean()),
    }
    return figures, _log_densities(model, {name: value[:, kept] for name, value in found.items()})


def nutpie(model, _, *, chains, warmup, draws, max_depth, target_accept, seed):
    """nutpie's NUTS on the jitted potential of the NumPyro model, chains in threads."""
    import jax
    import jax.numpy as jnp
    import nutpie as nu

    from . import jax_model, meter

    x, y = paper(test=False)
    potential = jax_model.potential(model, x, y)

    def log_density(flat):
        return -potential(model.named(flat))

    value_and_grad = jax.jit(jax.value_and_grad(log_density))

    def evaluate(flat):
        value, grad = value_and_grad(flat)
        return float(value), np.asarray(grad)

    def start(seed):
        rng = np.random.default_rng(seed)
        return np.concatenate([_prior(rng, name, shape) for name, shape in model.parts])

    with meter.measured() as times:
        value_and_grad = value_and_grad.lower(jnp.zeros(model.dim)).compile()
        compiled = nu.compiled_pyfunc.from_pyfunc(
            ndim=model.dim,
            make_logp_fn=lambda: evaluate,
            make_expand_fn=lambda *_: lambda flat: {"flat": flat},
            expanded_dtypes=[np.dtype(float)],
            expanded_shapes=[(model.dim,)],
            expanded_names=["flat"],
            make_initial_point_fn=start,
        )
        found = nu.sample(
            compiled,
            draws=draws,
            tune=warmup,
            chains=chains,
            seed=seed,
            maxdepth=max_depth,
            target_accept=target_accept,
            progress_bar=False,
        )
    named = model.named(found.posterior["flat"].values)
    stats = found.sample_stats
    figures = {
        "seconds": times.run,
        "compile": times.compile,
        "gradients": int(stats["n_steps"].sum() + found.warmup_sample_stats["n_steps"].sum()),
        "kept_leapfrogs": int(stats["n_steps"].sum()),
        "divergences": int(stats["diverging"].sum()),
        "saturated": float(stats["maxdepth_reached"].mean()),
    }
    positive = {n: v if n.endswith("_theta") else np.exp(v) for n, v in named.items()}
    return figures, _log_densities(model, positive)


def _prior(rng, name: str, shape: tuple[int, ...]) -> np.ndarray:
    normal = rng.standard_normal(shape).ravel()
    return normal if name.endswith("_theta") else np.log(np.abs(normal))


def _log_densities(model: Model, draws: dict) -> np.ndarray:
    """The log density of each test row under each draw, (chains, draws, rows)."""
    from numpyro.infer import log_likelihood

    from . import jax_model

    x, y = paper(test=True)
    given = jax_model.inputs(model.basis, x)
    sites = {name: np.asarray(draws[name]) for name, _ in model.parts}
    return log_likelihood(jax_model.numpyro_model(model), sites, given, y, batch_ndims=2)["y"]


if __name__ == "__main__":
    main()
