"""The engine's declarations of its settings: which there are, and what they do."""

from __future__ import annotations

import json
import textwrap
from dataclasses import MISSING, fields
from typing import Any

from . import _gpfuse

FIT, OF_GP = (
    {setting["name"]: setting for setting in json.loads(declared)}
    for declared in _gpfuse.settings()
)
"""What the engine declares about the settings of a fit, and about those of one GP, by name."""

# What Python has in other ways: as a class, as `random_state`, as a number of threads.
_OTHERWISE = {"method", "seed", "threads", "no_scale"}

_KINDS = {
    "whole": "int",
    "count": 'int or "auto"',
    "number": "float",
    "flag": "bool",
    "input": "int or str",
    "input-lists": "list of lists of int or str",
    "frequencies": "array of shape (frequencies, inputs)",
    "priors": "dict",
    "mean": "float",
}


def given(estimator: Any) -> dict[str, Any]:
    """The settings of a fit that differ from the defaults, by name."""
    defaults = {f.name: f.default for f in fields(estimator) if f.default is not MISSING}
    found = {}
    for name in FIT.keys() & defaults.keys() - _OTHERWISE:
        value = getattr(estimator, name)
        plain = isinstance(value, str | bool | int | float)
        if value is not None and not (plain and value == defaults[name]):
            found[name] = value
    if not found.get("expert_inputs", True):
        del found["expert_inputs"]
    return found


def described(names: Any, declared: dict[str, Any] = FIT) -> str:
    """What these settings do, for a docstring."""
    return "\n    ".join(
        _entry(setting) for name, setting in declared.items() if name in set(names) - _OTHERWISE
    )


def _entry(setting: dict[str, Any]) -> str:
    form = setting["form"]
    if isinstance(form, dict):
        *most, last = (f'"{word}"' for word in form["choice"])
        kind = f"{', '.join(most)} or {last}"
    else:
        kind = _KINDS[form]
    words = setting["help"]
    if setting["unless_given"]:
        words = f"{words} If not given: {setting['unless_given']}."
    indent = " " * 8
    lines = textwrap.wrap(
        words, 96, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )
    return "\n".join([f"{setting['name']} : {kind}", *lines])
