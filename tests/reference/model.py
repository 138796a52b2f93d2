"""The five models in NumPyro, written from the formulas of docs/models.md.

One input, the Hilbert basis, the RBF kernel. The sites are named as the banks of docs/models.md;
NumPyro samples log var, log ell and theta, as HalfNormal sites have the exponential transform.
"""

import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from jax.scipy.special import logsumexp
from jax.scipy.stats import norm

EXPERTS = {"bhs": 2, "pbhs": 2, "mogpe": 2, "pogpe": 2, "het": 1}
LINEAR = {"bhs", "mogpe", "het"}


def features(x, basis):
    """phi_j(x) = L^-1/2 sin(w_j (x - centre + L)), and the w_j = pi j / (2 L)."""
    centre, half_width = basis["centre"], basis["half_width"]
    w = jnp.pi * jnp.arange(1, basis["size"] + 1) / (2 * half_width)
    return jnp.sin(w * (x[:, None] - centre + half_width)) / jnp.sqrt(half_width), w


def banks(method):
    """Name, number of GPs and constant mean of each bank."""
    k = EXPERTS[method]
    learned = [("mu", k, 0.0), ("log_sd", k, 0.0)] if method in ("mogpe", "pogpe", "het") else []
    gate = [("gate", k - 1, 0.0)] if method in LINEAR else [("gate", k, -jnp.log(k))]
    return learned + [bank for bank in gate if bank[1] > 0]


def bank_at(values, name, mean, x, basis):
    """The functions of a bank at x, (count, rows)."""
    phi, w = features(x, basis)
    var, ell = values[f"{name}_var"][:, None], values[f"{name}_ell"][:, None]
    # sqrt(S(w)), factor by factor: the root of a product that underflows has no gradient.
    scale = jnp.sqrt(var * ell) * (2 * jnp.pi) ** 0.25 * jnp.exp(-0.25 * (ell * w) ** 2)
    return mean + (scale * values[f"{name}_theta"]) @ phi.T


def experts_at(method, values, x, basis, given):
    """mu, log_sd and log_w at x, each (experts, rows)."""
    at = {name: bank_at(values, name, mean, x, basis) for name, _, mean in banks(method)}
    if given is not None:
        at["mu"], at["log_sd"] = jnp.array(given["mean"]), jnp.log(jnp.array(given["sd"]))
    if method in LINEAR:
        last = jnp.zeros((1, x.shape[0]))
        logits = jnp.concatenate([at["gate"], last]) if "gate" in at else last
        log_w = logits - logsumexp(logits, axis=0)
    else:
        log_w = at["gate"]
    return at["mu"], at["log_sd"], log_w


def fused(method, values, x, y, basis, given):
    """Log density of y, mean, and the largest log weight at x."""
    mu, log_sd, log_w = experts_at(method, values, x, basis, given)
    if method in LINEAR:
        log_density = logsumexp(log_w + norm.logpdf(y, mu, jnp.exp(log_sd)), axis=0)
        mean = jnp.sum(jnp.exp(log_w) * mu, axis=0)
    else:
        precision = jnp.exp(log_w - 2 * log_sd)
        total = precision.sum(axis=0)
        mean = (precision * mu).sum(axis=0) / total
        log_density = norm.logpdf(y, mean, total**-0.5)
    return log_density, mean, log_w.max(axis=0)


def model(problem):
    method, basis = problem["method"], problem["basis"]
    values = {}
    for name, count, _ in banks(method):
        values |= {
            f"{name}_var": numpyro.sample(f"{name}_var", dist.HalfNormal(1).expand([count])),
            f"{name}_ell": numpyro.sample(f"{name}_ell", dist.HalfNormal(1).expand([count])),
            f"{name}_theta": numpyro.sample(
                f"{name}_theta", dist.Normal(0, 1).expand([count, basis["size"]])
            ),
        }
    x, y = jnp.array(problem["x"]), jnp.array(problem["y"])
    log_density, _, _ = fused(method, values, x, y, basis, problem.get("given"))
    numpyro.factor("log_likelihood", log_density.sum())
