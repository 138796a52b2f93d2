"""Fuse Gaussian-process predictions into one calibrated density.

The weights of the experts depend on the input and are inferred by Monte Carlo::

    import gpfuse as gf
    model = gf.PoGPE(experts=3, random_state=0).fit(X, y)
    model.predict_dist(X_new).quantile([0.05, 0.95])

Estimators: `MoGPE`, `PoGPE` and `HetGP` learn experts and weights together, `BHS` and `PBHS` the
weights of experts that are given or trained first, `Baseline` is any classical fusion rule and
`GP` a single exact GP. All of them are scikit-learn regressors. `BHSClassifier` and
`PBHSClassifier` do the same for classifiers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._gpfuse import __version__

# Where each public name lives: loaded when first used, so that importing the package takes
# milliseconds and what needs xarray, matplotlib or Dask asks for it only then. A module
# has no home.
_HOME = {
    "BHS": "stacking",
    "PBHS": "stacking",
    "BHSClassifier": "classifiers",
    "PBHSClassifier": "classifiers",
    "stack": "arviz",
    "saying": "",
    "PointExpert": "wrapped",
    "QuantileExpert": "wrapped",
    "Baseline": "baseline",
    "RULES": "baseline",
    "MoGPE": "joint",
    "PoGPE": "joint",
    "HetGP": "joint",
    "GP": "gp",
    "Distribution": "distribution",
    "Score": "scores",
    "Scores": "scores",
    "ClassScores": "scores",
    "Weights": "weighing",
    "WeightEffects": "weighing",
    "evaluate": "pipelines",
    "predict_dist": "pipelines",
    "weights": "pipelines",
    "weight_effects": "pipelines",
    "scorers": "",
    "Interrupted": "errors",
    "ConvergenceWarning": "errors",
    "Simulated": "datasets",
    "simulate": "datasets",
    "load": "files",
    "fit_experts": "experts",
    "PartitionExpert": "experts",
    "fit_nearest": "nearest",
    "NearestExpert": "nearest",
    "cross_validate": "validation",
    "cross_validate_all": "validation",
    "CrossValidation": "folds",
    "CrossValidations": "cross_validations",
    "compare": "comparison",
    "Comparison": "comparison",
    "plot_weights": "plots",
    "plot_prediction": "plots",
    "plot_calibration": "plots",
}

# Names of 0.1.0 whose meaning was another than on the command line.
_RENAMED = {"sweep": "cross_validate_all", "Sweep": "CrossValidations"}

__all__ = ["__version__", *_HOME]

if TYPE_CHECKING:
    from . import saying as saying
    from . import scorers as scorers
    from .arviz import stack as stack
    from .baseline import RULES as RULES
    from .baseline import Baseline as Baseline
    from .classifiers import BHSClassifier as BHSClassifier
    from .classifiers import PBHSClassifier as PBHSClassifier
    from .comparison import Comparison as Comparison
    from .comparison import compare as compare
    from .cross_validations import CrossValidations as CrossValidations
    from .datasets import Simulated as Simulated
    from .datasets import simulate as simulate
    from .distribution import Distribution as Distribution
    from .errors import ConvergenceWarning as ConvergenceWarning
    from .errors import Interrupted as Interrupted
    from .experts import PartitionExpert as PartitionExpert
    from .experts import fit_experts as fit_experts
    from .files import load as load
    from .folds import CrossValidation as CrossValidation
    from .gp import GP as GP
    from .joint import HetGP as HetGP
    from .joint import MoGPE as MoGPE
    from .joint import PoGPE as PoGPE
    from .nearest import NearestExpert as NearestExpert
    from .nearest import fit_nearest as fit_nearest
    from .pipelines import evaluate as evaluate
    from .pipelines import predict_dist as predict_dist
    from .pipelines import weight_effects as weight_effects
    from .pipelines import weights as weights
    from .plots import plot_calibration as plot_calibration
    from .plots import plot_prediction as plot_prediction
    from .plots import plot_weights as plot_weights
    from .scores import ClassScores as ClassScores
    from .scores import Score as Score
    from .scores import Scores as Scores
    from .stacking import BHS as BHS
    from .stacking import PBHS as PBHS
    from .validation import cross_validate as cross_validate
    from .validation import cross_validate_all as cross_validate_all
    from .weighing import WeightEffects as WeightEffects
    from .weighing import Weights as Weights
    from .wrapped import PointExpert as PointExpert
    from .wrapped import QuantileExpert as QuantileExpert


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        import warnings

        words = f"gpfuse.{name} is called gpfuse.{_RENAMED[name]}: the old name will go"
        warnings.warn(words, FutureWarning, stacklevel=2)
        return __getattr__(_RENAMED[name])
    if name not in _HOME:
        raise AttributeError(f"module 'gpfuse' has no attribute '{name}'")
    if not _HOME[name]:
        return import_module(f"{__name__}.{name}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
