"""Chains with the same settings and prior starts on the same data, by every sampler."""

import json
import subprocess
import sys
import time

import numpy as np

from .. import ours, scores
from ..cells import Cell
from ..problem import HILBERT60, RFF30, ROOT, Model, models, paper
from ..section import Claim, Section, digits, times
from ..size import Size

MODELS = models([HILBERT60, RFF30], ["het", "mogpe", "pogpe"])
PARALLEL, VECTORIZED, NUTPIE = "numpyro-parallel", "numpyro-vectorized", "nutpie"
PEERS = [PARALLEL, VECTORIZED, NUTPIE]
# NLPDs agree that are no more standard errors apart: four chains give a rough error.
ERRORS = 3
# By basis: times as fast as NumPyro without its compilation and, where asked for, with it.
TARGETS = {"rff": {False: 30}, "hilbert": {False: 2.5, True: 4.5}}
LABELS = {
    "gpfuse": "gpfuse",
    PARALLEL: "NumPyro, parallel",
    VECTORIZED: "NumPyro, vectorized",
    NUTPIE: "nutpie on JAX",
}


def samplers(model: Model, size: Size) -> list[str]:
    """Who samples a model. A quick run shows the other peers on one model only."""
    one = model.method == "pogpe" and model.basis.kind == "hilbert"
    return ["gpfuse", *(PEERS if size.every_peer or one else [PARALLEL])]


def name(model: Model, sampler: str) -> str:
    return f"sampling: {model}, {sampler}"


def cells(size: Size) -> list[Cell]:
    def cell(model, sampler):
        if sampler == "gpfuse":
            return Cell(name(model, sampler), "gpfuse", lambda: own(model, size))
        return Cell(name(model, sampler), "peers", lambda: theirs(model, sampler, size))

    return [cell(model, s) for model in MODELS for s in samplers(model, size)]


def log_densities(path: str, chains: int, draws: int) -> np.ndarray:
    return np.fromfile(path).reshape(chains, draws, -1)


def own(model: Model, size: Size) -> dict:
    settings = size.chain(model.basis.kind) | {"start": "prior"}
    lpd = ours.room("lpd")
    figures = ours.run(
        "sample",
        problem=ours.problem(model, paper(test=False)),
        test=ours.table("test", paper(test=True)),
        settings=settings,
        lpd=lpd,
        draws=None,
    )
    found = log_densities(lpd, settings["chains"], settings["draws"])
    return scores.scored(figures | {"compile": 0.0}, found)


def theirs(model: Model, sampler: str, size: Size) -> dict:
    settings, lpd = size.chain(model.basis.kind), ours.room("lpd-peer")
    job = {
        "sampler": sampler,
        "method": model.method,
        "experts": model.experts,
        "basis": model.basis.kind,
        "size": model.basis.size,
        "settings": settings,
        "lpd": lpd,
    }
    command = [sys.executable, "-m", "peers.chains", json.dumps(job)]
    begun = time.perf_counter()
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT / "bench"
    )
    figures = json.loads(done.stdout.splitlines()[-1]) | {"wall": time.perf_counter() - begun}
    return scores.scored(figures, log_densities(lpd, settings["chains"], settings["draws"]))


def best_numpyro(results: dict, model: Model, figure) -> dict | None:
    """NumPyro with the chain method that does better by `figure`."""
    found = [results.get(name(model, sampler)) for sampler in (PARALLEL, VECTORIZED)]
    return max((f for f in found if f), key=figure, default=None)


def faster(section: Section, model: Model, results: dict, compiled: bool, target: float) -> None:
    """Claim that gpfuse takes so many times less than the better NumPyro."""

    def seconds(found: dict) -> float:
        return found["seconds"] + (found["compile"] if compiled else 0.0)

    us = results[name(model, "gpfuse")]
    if rival := best_numpyro(results, model, lambda found: -seconds(found)):
        case = f"{model}, {'with' if compiled else 'without'} compilation"
        section.at_least(case, seconds(rival) / seconds(us), target)


def report(results: dict, size: Size) -> Section:
    chain = size.chain("hilbert")
    section = Section(
        "sampling",
        f"{chain['chains']} chains of NUTS with the same settings: depth {chain['max_depth']}, "
        f"target acceptance {chain['target_accept']}, starts drawn from the prior; "
        f"{size.hilbert_draws} + {size.hilbert_draws} draws on Hilbert bases, "
        f"{size.rff_draws} + {size.rff_draws} on RFF. Seconds are without compilation, which "
        "stands apart; `process` is the whole process, with its imports and the test densities. "
        "The ratio is of the seconds, to gpfuse. Gradients are of warm-up and draws, leapfrogs "
        "are per draw kept. The NLPD is of the test rows, "
        "with its Monte Carlo error, and `apart` is its distance from gpfuse's in standard "
        "errors of the difference.",
        [
            *["model", "sampler", "seconds", "compile", "process", "ratio"],
            *["gradients", "gradients/s", "leapfrogs", "diverging", "NLPD", "apart"],
        ],
    )
    for model in MODELS:
        us, gaps = results.get(name(model, "gpfuse")), []
        settings = size.chain(model.basis.kind)
        draws = settings["chains"] * settings["draws"]
        for sampler in samplers(model, size):
            found = results.get(name(model, sampler))
            if not found or not us:
                continue
            same = sampler == "gpfuse"
            error = np.hypot(found["nlpd_error"], us["nlpd_error"])
            gap = abs(found["nlpd"] - us["nlpd"]) / error
            if not same:
                gaps.append(gap)
            section.lines.append(
                [
                    str(model),
                    LABELS[sampler],
                    digits(found["seconds"]),
                    "" if same else digits(found["compile"]),
                    digits(found["wall"]),
                    "" if same else times(found["seconds"] / us["seconds"]),
                    str(found["gradients"]),
                    digits(found["gradients"] / found["seconds"]),
                    digits(found["kept_leapfrogs"] / draws),
                    str(found["divergences"]),
                    f"{found['nlpd']:.3f} ± {found['nlpd_error']:.3f}",
                    "" if same else f"{gap:.1f}",
                ]
            )
        if us and model.method != "het":
            for compiled, target in TARGETS[model.basis.kind].items():
                faster(section, model, results, compiled, target)
        if gaps:
            figure, met = f"{max(gaps):.1f} errors apart", max(gaps) <= ERRORS
            section.claims.append(Claim(f"NLPD, {model}", figure, f"<= {ERRORS}", met))
    return section
