"""Golden log densities on eigenfunctions, by automatic differentiation of the models' formulas.

    python3 -m venv target/golden
    target/golden/bin/pip install -r bench/golden/requirements.txt
    target/golden/bin/python bench/golden/eigen.py crates/gpfuse/tests/golden

Writes three files per method. Nothing here comes from the library: the formulas are those of its
documentation, in 64 bits, and JAX has the derivatives.
"""

import json
import math
import sys
import zlib
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

LEARNED = ("mogpe", "pogpe", "het")
# Inputs, kernel, rows, functions of the shared mean, of all others, experts.
CASES = [(3, "rbf", 7, 6, 3, 2), (5, "matern32", 70, 13, 8, 3), (8, None, 33, 20, 5, 4)]


def covariance(kernel: str, r: np.ndarray) -> np.ndarray:
    """The covariance at scaled distances."""
    if kernel == "rbf":
        return np.exp(-0.5 * r**2)
    if kernel == "matern12":
        return np.exp(-r)
    if kernel == "matern32":
        return (1 + math.sqrt(3) * r) * np.exp(-math.sqrt(3) * r)
    return (1 + math.sqrt(5) * r + 5 * r**2 / 3) * np.exp(-math.sqrt(5) * r)


def distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Between all rows of two tables."""
    return np.sqrt(((a[:, None, :] - b[None, :, :]) ** 2).sum(-1))


def basis(rng: np.random.Generator, d: int, kernel: str, functions: int, level: float) -> dict:
    """The leading eigenfunctions of a random pilot, centred and orthogonal under random weights."""
    count = 2 * functions + 3
    var = math.exp(0.4 * rng.normal())
    ell = math.sqrt(0.5 * d) * np.exp(0.3 * rng.normal(size=d))
    z = 1.5 * rng.normal(size=(count, d)) / ell
    k = var * covariance(kernel, distance(z, z))
    values, vectors = np.linalg.eigh(k)
    kept = np.argsort(-values)[:functions]
    projection = (vectors[:, kept] / np.sqrt(values[kept])).T
    psi = k @ projection.T
    weight = np.exp(0.5 * rng.normal(size=count))
    mean = weight @ psi / weight.sum()
    centred = np.sqrt(weight)[:, None] * (psi - mean)
    _, turn = np.linalg.eigh(centred.T @ centred)
    turn = turn[:, ::-1]
    return {
        "kernel": kernel,
        "var": var,
        "ell": ell.tolist(),
        "landmarks": z.tolist(),
        "projection": (turn.T @ projection).tolist(),
        "centre": (turn.T @ mean).tolist(),
        "level": level,
    }


def functions(on: dict, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The constant and the centred functions at rows, and the variance that they leave out."""
    z, projection = np.array(on["landmarks"]), np.array(on["projection"])
    k = on["var"] * covariance(on["kernel"], distance(x / np.array(on["ell"]), z))
    psi = k @ projection.T
    left = np.maximum(on["var"] - (psi**2).sum(1), 0.0)
    return np.column_stack([np.ones(len(x)), psi - np.array(on["centre"])]), left


def helmert(experts: int) -> np.ndarray:
    """Orthonormal columns that sum to zero: the first i + 1 experts against the next one."""
    h = np.zeros((experts, experts - 1))
    for i in range(experts - 1):
        h[: i + 1, i] = 1.0
        h[i + 1, i] = -(i + 1.0)
    return h / np.linalg.norm(h, axis=0)


def log_normal(v, mean, log_sd):
    return -0.5 * ((v - mean) / jnp.exp(log_sd)) ** 2 - log_sd - 0.5 * math.log(2 * math.pi)


def log_half_normal(q):
    """Of the logarithm of a HalfNormal(1) number: with the Jacobian."""
    return 0.5 * math.log(2 / math.pi) - 0.5 * jnp.exp(2 * q) + q


def log_prior(params: dict):
    total = 0.0
    for name, value in params.items():
        if name.endswith("_theta"):
            total = total + log_normal(value, 0.0, 0.0).sum()
        else:
            total = total + log_half_normal(value).sum()
    return total


def bank(params: dict, name: str, phi: np.ndarray):
    """The GPs of a bank at all rows, without their means, (rows, count)."""
    theta, var = params[f"{name}_theta"], params[f"{name}_var"]
    scale = jnp.exp(0.5 * var)
    coef = jnp.concatenate([theta[:, :1], scale * theta[:, 1:]], axis=1)
    return phi @ coef.T


def log_likelihood(case: dict, params: dict, phi: dict):
    """Of each row."""
    method, experts, y = case["method"], case["K"], np.array(case["y"])
    softmax = method not in ("pbhs", "pogpe")
    coarse, level = phi["others"][0], case["others"]["level"]
    if method in LEARNED:
        fine, left = phi["common"]
        mu = case["common"]["level"] + bank(params, "common", fine)
        if experts > 1:
            contrast = bank(params, "contrast", coarse)
            mu = mu + math.exp(level) * contrast @ helmert(experts).T
        own = jnp.exp(2 * (level + bank(params, "logsd", coarse)))
        shared = jnp.exp(params["common_var"][0, 0]) * left[:, None]
        log_sd = 0.5 * jnp.log(own + shared + (0.1 * math.exp(level)) ** 2)
    else:
        mu, log_sd = np.array(case["expert_mean"]).T, np.log(np.array(case["expert_sd"])).T
    rows = len(y)
    if softmax:
        last = jnp.zeros((rows, 1))
        gate = bank(params, "w", coarse) if experts > 1 else jnp.zeros((rows, 0))
        log_w = jax.nn.log_softmax(jnp.concatenate([gate, last], axis=1), axis=1)
        return jax.nn.logsumexp(log_w + log_normal(y[:, None], mu, log_sd), axis=1)
    log_w = bank(params, "w", coarse) - math.log(experts)
    tau = jnp.exp(log_w - 2 * log_sd)
    total = tau.sum(1)
    return log_normal(y, (tau * mu).sum(1) / total, -0.5 * jnp.log(total))


def make(method: str, number: int) -> dict:
    """One case with its answers."""
    rng = np.random.default_rng([zlib.crc32(method.encode()), number])
    d, kernel, rows, fine, coarse, experts = CASES[number]
    kernel = kernel or ("matern12" if method in ("bhs", "mogpe") else "matern52")
    experts = 1 if method == "het" else experts
    case = {"method": method, "basis": "eigen", "N": rows, "d": d, "K": experts}
    if method in LEARNED:
        case["common"] = basis(rng, d, kernel, fine, 0.3)
    case["others"] = basis(rng, d, kernel, coarse, -0.6)
    x = rng.normal(size=(rows, d))
    case["X"], case["y"] = x.tolist(), (2 * rng.normal(size=rows)).tolist()
    if method not in LEARNED:
        case["expert_mean"] = (1.5 * rng.normal(size=(experts, rows))).tolist()
        case["expert_sd"] = np.exp(0.7 * rng.normal(size=(experts, rows))).tolist()
    gates = experts if method in ("pbhs", "pogpe") else experts - 1
    banks = {"w": (gates, coarse)}
    if method in LEARNED:
        banks = {
            "common": (1, fine),
            "contrast": (experts - 1, coarse),
            "logsd": (experts, coarse),
            **banks,
        }
    params = {}
    for name, (count, width) in banks.items():
        if count > 0:
            params[f"{name}_var"] = 0.5 * rng.normal(size=(count, 1))
            params[f"{name}_theta"] = rng.normal(size=(count, width + 1))
    phi = {name: functions(case[name], x) for name in ("common", "others") if name in case}
    each = log_likelihood(case, params, phi)
    value, grad = jax.value_and_grad(lambda p: log_prior(p) + log_likelihood(case, p, phi).sum())(
        params
    )
    case["params"] = {name: v.tolist() for name, v in params.items()}
    case |= {"logp": float(value), "loglik": float(each.sum()), "prior": float(log_prior(params))}
    case["lpd"] = each.tolist()
    case["grad"] = {name: np.asarray(v).tolist() for name, v in grad.items()}
    return case


def main() -> None:
    folder = Path(sys.argv[1])
    for method in ("bhs", "pbhs", *LEARNED):
        for number in range(len(CASES)):
            text = json.dumps(make(method, number))
            (folder / f"{method}-eigen-{number}.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
