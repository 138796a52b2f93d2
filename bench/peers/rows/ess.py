"""Effective draws per second, of the log density at the test rows."""

from .. import ours, scores
from ..cells import Cell
from ..problem import RFF30, Model, models, paper
from ..section import Section, digits, times
from ..size import Size
from . import sampling

# By default against RFF, whose chains hardly mix; with the same basis and settings as `sampling`.
BY_DEFAULT = 100
DEFAULTS = models([RFF30], ["het", "mogpe", "pogpe"])


def name(model: Model) -> str:
    return f"ess: {model.method}, gpfuse by default"


def cells(size: Size) -> list[Cell]:
    own = [Cell(name(model), "gpfuse", lambda m=model: by_default(m, size)) for model in DEFAULTS]
    return [*sampling.cells(size), *own]


def by_default(model: Model, size: Size) -> dict:
    """A fit with the method named and all else left as it is; scaling and diagnostics too."""
    lpd, draws = ours.room("lpd"), size.default_draws
    figures = ours.run(
        "fit",
        method=model.method,
        experts=model.experts,
        train=ours.table("train", paper(test=False)),
        test=ours.table("test", paper(test=True)),
        sampler={"warmup": draws, "draws": draws},
        lpd=lpd,
    )
    return scores.scored(figures, sampling.log_densities(lpd, 4, draws))


def report(results: dict, size: Size) -> Section:
    section = Section(
        "ess",
        "Effective draws (ArviZ, bulk) of the log density at each test row: the median and the "
        "minimum over rows, and the median per second. The ratio is gpfuse's ESS per second to "
        "the sampler's, without its compilation and with it. `gpfuse by default` is what "
        "`gpfuse fit` does: a Hilbert basis, scaled data, pilot starts, depth 10; it stands "
        "beside NumPyro on RFF with the settings above.",
        ["model", "sampler", "ESS", "least", "ESS/s", "ratio", "with compile", "NLPD"],
    )

    def rate(found: dict, compiled: bool = False) -> float:
        return found["ess"] / (found["seconds"] + (found["compile"] if compiled else 0.0))

    def line(model: str, sampler: str, found: dict, us: dict | None) -> None:
        ratios = ["", ""]
        if us:
            ratios = [times(rate(us) / rate(found, compiled)) for compiled in (False, True)]
        figures = [digits(found[key]) for key in ("ess", "ess_min")]
        nlpd = f"{found['nlpd']:.3f} ± {found['nlpd_error']:.3f}"
        section.lines.append([model, sampler, *figures, digits(rate(found)), *ratios, nlpd])

    def against(case: str, us: dict, rival: dict | None, target: float) -> None:
        if rival:
            section.at_least(case, rate(us) / rate(rival), target)

    for model in sampling.MODELS:
        us = results.get(sampling.name(model, "gpfuse"))
        for sampler in sampling.samplers(model, size):
            found = results.get(sampling.name(model, sampler))
            if us and found:
                rival = None if sampler == "gpfuse" else us
                line(str(model), sampling.LABELS[sampler], found, rival)
        if us:
            rival = sampling.best_numpyro(results, model, rate)
            against(f"{model}", us, rival, sampling.TARGETS[model.basis.kind][False])
    for model in DEFAULTS:
        if us := results.get(name(model)):
            line(f"{model.method}, default basis", "gpfuse by default", us | {"compile": 0.0}, None)
            rival = sampling.best_numpyro(results, model, rate)
            if rival:
                line(str(model), "NumPyro, the better", rival, us)
            against(f"{model.method} by default, NumPyro on {model.basis}", us, rival, BY_DEFAULT)
    return section
