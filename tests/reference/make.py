"""Make the reference posterior of a method: python make.py METHOD FOLDER."""

import argparse
import gzip
import json
import platform
import sys
import time
from pathlib import Path

import arviz as az
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from model import banks, fused, model
from numpyro.infer import MCMC, NUTS
from numpyro.infer.util import log_density
from problems import PROBLEMS

numpyro.enable_x64()

CHAINS, KEPT = 10, 1000

# Target acceptance and iterations between kept draws. posteriordb thins by 10.
SETTINGS = {
    "bhs": (0.95, 10),
    "pbhs": (0.99, 10),
    "mogpe": (0.999, 10),
    "pogpe": (0.99, 10),
    "het": (0.99, 10),
}


def names(problem):
    """The flat vector of gpfuse, by name: log var, log ell and theta, bank by bank."""
    out = []
    for bank, count, _ in banks(problem["method"]):
        out += [f"log {bank}_var {k + 1}" for k in range(count)]
        out += [f"log {bank}_ell {k + 1}" for k in range(count)]
        size = problem["basis"]["size"]
        out += [f"{bank}_theta {k + 1} {j + 1}" for k in range(count) for j in range(size)]
    return out


def flat(problem, values):
    """The flat vector of constrained values."""
    parts = []
    for bank, _, _ in banks(problem["method"]):
        parts += [jnp.log(values[f"{bank}_var"]), jnp.log(values[f"{bank}_ell"])]
        parts += [values[f"{bank}_theta"].ravel()]
    return jnp.concatenate(parts)


def constrained(problem, q):
    """Back from the flat vector."""
    values, at, size = {}, 0, problem["basis"]["size"]
    for bank, count, _ in banks(problem["method"]):
        values[f"{bank}_var"] = jnp.exp(q[at : at + count])
        values[f"{bank}_ell"] = jnp.exp(q[at + count : at + 2 * count])
        at += 2 * count
        values[f"{bank}_theta"] = q[at : at + count * size].reshape(count, size)
        at += count * size
    return values


def log_joint(problem, q):
    """NumPyro's density of the flat vector: that of the values, and the Jacobian of exp."""
    values = constrained(problem, q)
    logp, _ = log_density(model, (problem,), {}, values)
    return logp + sum(jnp.log(v).sum() for name, v in values.items() if not name.endswith("theta"))


def derived_names(problem):
    places = problem["places"]["x"]
    out = ["log likelihood", "log joint"]
    out += [f"fused mean at {x}" for x in places] + [f"log density at {x}" for x in places]
    if problem["method"] != "het":
        out += [f"largest log weight at {x}" for x in places]
    return out


def derived(problem, q):
    """What relabelling the experts does not change."""
    method, basis, places = problem["method"], problem["basis"], problem["places"]
    values = constrained(problem, q)
    x, y = jnp.array(problem["x"]), jnp.array(problem["y"])
    own, _, _ = fused(method, values, x, y, basis, problem.get("given"))
    x, y = jnp.array(places["x"]), jnp.array(places["y"])
    density, mean, weight = fused(method, values, x, y, basis, places.get("given"))
    parts = [jnp.array([own.sum(), log_joint(problem, q)]), mean, density]
    return jnp.concatenate(parts + ([] if method == "het" else [weight]))


def points(problem, count=8):
    """Log density, gradient and derived quantities at points of prior width, in full precision."""
    rng = np.random.default_rng(1)
    value = jax.value_and_grad(lambda q: log_joint(problem, q))
    out = []
    for _ in range(count):
        q = jnp.array(rng.normal(size=len(names(problem))))
        logp, grad = value(q)
        out.append(
            {
                "q": q.tolist(),
                "log_joint": float(logp),
                "gradient": grad.tolist(),
                "derived": derived(problem, q).tolist(),
            }
        )
    return out


def lag_one(x):
    """Mean over chains of the autocorrelation at lag 1, (chains, draws)."""
    x = x - x.mean(axis=1, keepdims=True)
    return float(np.mean((x[:, 1:] * x[:, :-1]).sum(axis=1) / (x * x).sum(axis=1)))


def kept(whole):
    """The columns that are stored: of more than 20 parameters not all coefficients."""
    names = whole["parameters"]
    if len(names) > 20:
        names = [name for name in names if "theta" not in name or name.endswith(" 1")]
    return names + whole["derived"]


def write(path, columns, draws, which):
    """Chain and draws, rounded to 1 in 300 of a column's standard deviation or finer."""
    digits = [max(0, int(np.ceil(2.5 - np.log10(draws[:, :, i].std())))) for i in which]
    with gzip.GzipFile(path, "wb", mtime=0) as file:
        file.write((",".join(["chain"] + [columns[i] for i in which]) + "\n").encode())
        for chain, rows in enumerate(draws):
            for row in rows:
                cells = [f"{row[i]:.{d}f}" for i, d in zip(which, digits, strict=True)]
                file.write((",".join([str(chain + 1), *cells]) + "\n").encode())


def sample(problem, accept, thin, seed):
    kernel = NUTS(model, target_accept_prob=accept, max_tree_depth=12)
    half = KEPT * thin
    mcmc = MCMC(
        kernel, num_warmup=half, num_samples=half, num_chains=CHAINS,
        chain_method="vectorized", progress_bar=False,
    )  # fmt: skip
    fields = ("energy", "diverging", "num_steps", "accept_prob")
    mcmc.run(jax.random.PRNGKey(seed), problem, extra_fields=fields)
    values = mcmc.get_samples(group_by_chain=True)
    extra = {k: np.asarray(v) for k, v in mcmc.get_extra_fields(group_by_chain=True).items()}
    thinned = {k: v[:, thin - 1 :: thin] for k, v in values.items() if k != "log_likelihood"}
    q = jax.jit(jax.vmap(jax.vmap(lambda v: flat(problem, v))))(thinned)
    return np.asarray(q), extra


def main():
    parse = argparse.ArgumentParser()
    parse.add_argument("method", choices=PROBLEMS)
    parse.add_argument("folder", type=Path)
    parse.add_argument("--seed", type=int, default=1)
    parse.add_argument("--thin", type=int)
    parse.add_argument("--accept", type=float)
    parse.add_argument("--points-only", action="store_true")
    args = parse.parse_args()
    problem = PROBLEMS[args.method]
    accept, thin = SETTINGS[args.method]
    accept, thin = args.accept or accept, args.thin or thin
    folder = args.folder / args.method
    folder.mkdir(parents=True, exist_ok=True)
    whole = problem | {
        "parameters": names(problem),
        "derived": derived_names(problem),
        "points": points(problem),
    }
    (folder / "problem.json").write_text(json.dumps(whole, indent=1) + "\n")
    if args.points_only:
        return

    raw = args.folder / f"{args.method}.npz"
    if not raw.exists():
        begun = time.time()
        q, extra = sample(problem, accept, thin, args.seed)
        np.savez(raw, q=q, seconds=time.time() - begun, **extra)
    extra = dict(np.load(raw))
    q, seconds = extra.pop("q"), float(extra.pop("seconds"))
    more = np.asarray(jax.jit(jax.vmap(jax.vmap(lambda q: derived(problem, q))))(q))
    draws = np.concatenate([q, more], axis=2)
    columns = whole["parameters"] + whole["derived"]
    each = {
        name: {
            "rhat": float(az.rhat(draws[:, :, i])),
            "lag_one": lag_one(draws[:, :, i]),
            "ess_bulk": float(az.ess(draws[:, :, i])),
            "ess_tail": float(az.ess(draws[:, :, i], method="tail")),
        }
        for i, name in enumerate(columns)
    }
    energy = az.bfmi(extra["energy"])
    out = {
        "chains": CHAINS,
        "iterations": 2 * KEPT * thin,
        "warmup": KEPT * thin,
        "thin": thin,
        "draws": CHAINS * KEPT,
        "target_accept": accept,
        "seed": args.seed,
        "rhat_max": max(e["rhat"] for e in each.values()),
        "lag_one_max": max((e["lag_one"] for e in each.values()), key=abs),
        "ess_bulk_min": min(e["ess_bulk"] for e in each.values()),
        "ess_tail_min": min(e["ess_tail"] for e in each.values()),
        "e_fmi": [float(e) for e in energy],
        "divergences": int(extra["diverging"].sum()),
        "steps_mean": float(extra["num_steps"].mean()),
        "accept_mean": float(extra["accept_prob"].mean()),
        "seconds": round(seconds, 1),
        "versions": {
            "python": platform.python_version(),
            "jax": jax.__version__,
            "numpyro": numpyro.__version__,
            "arviz": az.__version__,
            "numpy": np.__version__,
        },
        "quantities": each,
    }
    met = (
        out["rhat_max"] < 1.01
        and abs(out["lag_one_max"]) < 0.05
        and min(out["e_fmi"]) > 0.2
        and out["divergences"] == 0
    )
    out["met"] = met
    (folder / "diagnostics.json").write_text(json.dumps(out, indent=1) + "\n")
    write(folder / "draws.csv.gz", columns, draws, [columns.index(name) for name in kept(whole)])
    summary = {k: v for k, v in out.items() if k not in ("quantities", "versions")}
    print(args.method, json.dumps(summary))
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
