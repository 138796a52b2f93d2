"""Model files: the same ones that the command line writes and reads."""

from __future__ import annotations

import json
import os

import numpy as np

from . import _gpfuse
from .base import Sampled
from .classifiers import BHSClassifier, PBHSClassifier, labels
from .columns import Columns
from .joint import HetGP, MoGPE, PoGPE
from .rows import numbered
from .stacking import BHS, PBHS, FixedRule, OneGP

_METHODS: dict[str, type[Sampled]] = {
    kind._method: kind for kind in (BHS, PBHS, OneGP, MoGPE, PoGPE, HetGP)
}

_OF_CLASSES: dict[str, type[Sampled]] = {
    kind._method: kind for kind in (BHSClassifier, PBHSClassifier)
}


def load(path: str | os.PathLike[str]) -> Sampled:
    """The fitted estimator in a file that `save` or the command line wrote.

    Experts made elsewhere are known by name only: give their predictions as `mean=` and `std=`, or
    `proba=`. Labels of classes that are numbers come back as numbers.
    """
    model = _gpfuse.Model.load(path)
    settings = json.loads(model.settings)
    classes = model.classes
    known = _METHODS if classes is None else _OF_CLASSES
    kind = known.get(settings["method"], FixedRule)
    estimator = kind(**kind._parameters(settings, len(model.inputs)))
    estimator.model_ = model
    if classes is not None:
        estimator.classes_ = labels(classes)
    names = model.inputs
    if model.columns is not None:
        estimator.columns_ = Columns(model.columns)
        names = estimator.columns_.names
    estimator.n_features_in_ = len(names)
    if names != numbered(len(names)):
        estimator.feature_names_in_ = np.array(names, dtype=object)
    return estimator
