"""The models in NumPyro: vectorised over GPs, non-centred, in 64 bits.

Written for speed as far as a careful user would go. Of the ways to write the random features
that were tried, two products with cosines and sines apart are the fastest for XLA on a CPU:
putting both into one array first takes one and a half to two and a half times as long.
"""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer.util import initialize_model

from .problem import CENTRE, HALF_WIDTH, Basis, Model

jax.config.update("jax_enable_x64", True)


def inputs(basis: Basis, x: np.ndarray) -> jax.Array:
    """What a model needs of the rows: x itself, or the Hilbert features, computed once."""
    if basis.kind == "rff":
        return jnp.asarray(x)
    return jnp.sin(_frequencies(basis) * (x[:, None] - CENTRE + HALF_WIDTH)) / HALF_WIDTH**0.5


def _frequencies(basis: Basis) -> jax.Array:
    return jnp.pi * jnp.arange(1, basis.size + 1) / (2 * HALF_WIDTH)


def _functions(basis: Basis, given, var, ell, theta):
    """The values (count, rows) of `count` GPs."""
    if basis.kind == "rff":
        m = basis.size
        frequency = jnp.asarray(basis.omega) / ell[:, None]
        phase = given[None, :, None] * frequency[:, None, :]
        coef = jnp.sqrt(var / m)[:, None] * theta
        cosines = jnp.einsum("knm,km->kn", jnp.cos(phase), coef[:, :m])
        return cosines + jnp.einsum("knm,km->kn", jnp.sin(phase), coef[:, m:])
    w = _frequencies(basis)
    # The root of the RBF kernel's spectral density.
    decay = jnp.exp(-0.25 * (ell[:, None] * w) ** 2)
    scale = jnp.sqrt(var * jnp.sqrt(2 * jnp.pi) * ell)[:, None] * decay
    return (scale * theta) @ given.T


def numpyro_model(model: Model):
    """The model as a function of `inputs` and y."""

    def bank(name, count, given):
        half = dist.HalfNormal(1.0).expand([count]).to_event(1)
        var, ell = numpyro.sample(f"{name}_var", half), numpyro.sample(f"{name}_ell", half)
        normal = dist.Normal(0.0, 1.0).expand([count, model.basis.features]).to_event(2)
        theta = numpyro.sample(f"{name}_theta", normal)
        return _functions(model.basis, given, var, ell, theta)

    def run(given, y=None):
        f = {name: bank(name, count, given) for name, count in model.banks}
        mu, log_sd = f["mu"], f["log_sd"]
        if model.method == "het":
            density = dist.Normal(mu[0], jnp.exp(log_sd[0]))
        elif model.method == "mogpe":
            logits = jnp.concatenate([f["gate"], jnp.zeros_like(mu[:1])])
            experts = dist.Normal(mu.T, jnp.exp(log_sd).T)
            density = dist.MixtureSameFamily(dist.Categorical(logits=logits.T), experts)
        else:
            log_tau = f["gate"] - jnp.log(model.experts) - 2 * log_sd
            log_total = jax.nn.logsumexp(log_tau, axis=0)
            fused = jnp.sum(jnp.exp(log_tau - log_total) * mu, axis=0)
            mean = numpyro.deterministic("mean", fused)
            sd = numpyro.deterministic("sd", jnp.exp(-0.5 * log_total))
            density = dist.Normal(mean, sd)
        numpyro.sample("y", density, obs=y)

    return run


def potential(model: Model, x: np.ndarray, y: np.ndarray):
    """Minus the log density of the named unconstrained parameters, as NUTS sees it."""
    args = (inputs(model.basis, x), jnp.asarray(y))
    key = jax.random.PRNGKey(0)
    return initialize_model(key, numpyro_model(model), model_args=args).potential_fn


def point(model: Model, flat: np.ndarray) -> dict[str, jax.Array]:
    """A flat vector as the potential takes it."""
    return {name: jnp.asarray(value) for name, value in model.named(flat).items()}
