"""Parameters are what the engine declares: names, defaults, help, and what they have effect on."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpfuse as gf
from conftest import SHORT
from gpfuse.engine import threads_of
from gpfuse.settings import FIT, OF_GP

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SAMPLED = [gf.BHS, gf.PBHS, gf.MoGPE, gf.PoGPE, gf.HetGP]
# What has another name in Python, or is what a class stands for.
OTHERWISE = {"method", "seed", "threads", "no_scale"}
# Python has None where the engine chooses, or where giving the number chooses the basis.
CHOSEN = {"frequencies", "omega", "size", "priors", "expert_kernel", "expert_inputs", "mean"}
# The engine's experts of these two are a portfolio where nobody says otherwise.
OF_THE_EXPERTS = {"experts", "partition", "hold_out"}
ONLY = {
    "experts": {gf.BHS, gf.PBHS, gf.MoGPE, gf.PoGPE},
    "plain": {gf.PBHS},
    "normalise": {gf.PBHS, gf.PoGPE},
    "density": {gf.PoGPE, gf.HetGP},
    "gate": {gf.BHS, gf.PBHS},
} | {name: {gf.BHS, gf.PBHS} for name, one in FIT.items() if one["section"] == "expert"}


@pytest.mark.parametrize("kind", [*SAMPLED, gf.GP])
def test_parameters_are_those_of_the_engine(kind: Any) -> None:
    """Each declared setting is a parameter with its default, and its help is in the docstring."""
    declared = OF_GP if kind is gf.GP else FIT
    parameters = inspect.signature(kind).parameters
    expected = {name for name in declared if kind in ONLY.get(name, {kind})} - OTHERWISE
    more = {"random_state", "threads", "n_jobs"}
    if kind is gf.GP:
        more |= {"missing"}
    else:
        more |= {"progress"} | ({"estimators", "cv"} if kind in (gf.BHS, gf.PBHS) else set())
    assert set(parameters) == expected | more
    words = " ".join((kind.__doc__ or "").split())
    for name in expected:
        chosen = name in CHOSEN or (name in OF_THE_EXPERTS and kind in (gf.BHS, gf.PBHS))
        default = None if chosen else declared[name]["default"]
        assert parameters[name].default == default, name
        assert type(parameters[name].default) is type(default), name
        assert declared[name]["help"] in words, name
    assert "{settings}" not in words and "{estimators}" not in words


def fitted(model: Any, inputs: int, **more: Any) -> list[str]:
    """The warnings of a fit that are not about convergence."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, inputs))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", gf.ConvergenceWarning)
        model.fit(X, X[:, 0] + 0.1 * rng.normal(size=30), **more)
    assert all(one.category is UserWarning for one in caught)
    return [str(one.message) for one in caught]


@pytest.mark.parametrize(
    ("kind", "changes", "inputs", "words"),
    [
        (gf.HetGP, {"size": 5}, 3, None),
        (gf.HetGP, {"size": 5}, 4, "setting `size`: is for the hilbert basis, not for eigen"),
        (gf.HetGP, {"size": 5, "basis": "rff"}, 1, "`size`: is for the hilbert basis, not for rff"),
        (gf.HetGP, {"size": 5, "frequencies": 5}, 1, "`size`: is for the hilbert basis"),
        (gf.HetGP, {"scheme": "quasi", "basis": "hilbert"}, 1, "`scheme`: is for the rff basis"),
        (gf.HetGP, {"box": 3.0, "frequencies": 5}, 1, "`box`: is for the hilbert basis"),
        (
            gf.BHS,
            {"along": 1, "experts": 2, "partition": "random"},
            2,
            "`along`: is for the partition contiguous",
        ),
        (gf.BHS, {"along": 1, "experts": 2}, 2, None),
        (gf.BHS, {"along": 1, "experts": 2, "partition": "contiguous"}, 2, None),
    ],
)
def test_a_parameter_without_effect_is_a_warning(
    kind: Any, changes: dict[str, Any], inputs: int, words: str | None
) -> None:
    found = fitted(kind(**SHORT, **changes), inputs)
    assert len(found) == (words is not None), found
    assert words is None or words in found[0]


def test_the_basis_is_the_one_that_size_asks_for(tmp_path: Path) -> None:
    model = gf.HetGP(size=4, **SHORT)
    assert fitted(model, 3) == []
    model.save(tmp_path / "m.nc")
    assert gf.load(tmp_path / "m.nc").get_params()["basis"] == "hilbert"


def test_a_wider_box_for_held_out_rows_is_no_parameter_of_the_user() -> None:
    """The estimators train on most rows: the box reaches them, whatever the basis."""
    experts = [gf.GP(random_state=0), gf.GP("matern32", random_state=0)]
    assert fitted(gf.PBHS(estimators=experts, basis="rff", **SHORT), 1) == []


def test_threads_answer_to_n_jobs() -> None:
    cores = threads_of(None)
    assert threads_of(None, -1) == cores and threads_of(None, 3) == 3 == threads_of(3)
    assert threads_of(None, -cores) == 1
    for bad in (0, -cores - 1, True, 1.5):
        with pytest.raises(ValueError, match=r"n_jobs: .* is no number of threads: use 1 or more"):
            threads_of(None, bad)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="threads, n_jobs: two names for one number"):
        gf.GP(threads=1, n_jobs=1).fit([[0.0], [1.0]], [0.0, 1.0])
    data = gf.simulate(40, random_state=0)
    one, all_cores = (
        gf.HetGP(**SHORT, **how).fit(data.X, data.y).predict(data.X)
        for how in ({"threads": 1}, {"n_jobs": -1})
    )
    assert np.array_equal(one, all_cores)


def test_advice_is_in_the_words_of_python() -> None:
    data = gf.simulate(60, random_state=0)
    one = gf.HetGP(**(SHORT | {"chains": 1})).fit(data.X, data.y)
    assert any("(chains=4)" in words for words in one.diagnostics_["warnings"])
    mode = gf.HetGP(**(SHORT | {"sampler": "map"})).fit(data.X, data.y)
    assert any('Use a sampler (sampler="nuts")' in w for w in mode.diagnostics_["warnings"])
    with pytest.warns(UserWarning, match=r'box \(box=4.0\) or on another basis \(basis="rff"\)'):
        one.predict([[99.0]])
    for words in (*one.diagnostics_["warnings"], *mode.diagnostics_["warnings"]):
        assert "--" not in words
