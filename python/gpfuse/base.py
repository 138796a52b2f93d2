"""What all sampled models share: settings, checks of the data, fit, predictions, files."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from . import _gpfuse
from .columns import Columns
from .distribution import Distribution
from .engine import omega_of, seed_of, threads_of, to_json
from .errors import Interrupted, warn_convergence, warn_of_rows, warn_unused
from .progress import Bars, wanted
from .rows import allows_nan, input_names, new_rows, number_of, refuse_other_order, training_rows
from .scores import Scores
from .settings import FIT, described, given
from .weighing import WeightEffects, Weights

if TYPE_CHECKING:
    from xarray import DataTree

_Array = NDArray[np.float64]

_MORE = """random_state : int, RandomState, Generator or None
        An int is the seed of the command line: it gives the same draws.
    threads : int, optional
        All cores if not given. The result does not depend on it.
    n_jobs : int, optional
        Another name for `threads`, as scikit-learn has it: -1 is all cores, -2 all but one.
    progress : bool, optional
        Bars on a terminal and in notebooks if not given.

    Attributes
    ----------
    diagnostics_ : dict
        R-hat, effective sample sizes, divergences; warnings in words.
    converged_ : bool
        Whether the diagnostics pass.
    n_features_in_, feature_names_in_
        As in scikit-learn."""


@dataclass(eq=False, repr=False, kw_only=True)
class Sampled(BaseEstimator):  # type: ignore[misc]
    """A model whose posterior is sampled. Every parameter is also an option of `gpfuse fit`."""

    basis: str = "auto"
    frequencies: int | None = None
    scheme: str = "iid"
    omega: ArrayLike | None = None
    size: int | None = None
    functions: int | None = None
    box: float = 2.0
    kernel: str | None = None
    scaling: str = "standard"
    missing: str = "refuse"
    priors: dict[str, Any] | None = None
    sampler: str = "nuts"
    metric: str = "diagonal"
    chains: int = 4
    warmup: int | None = None
    draws: int | None = None
    max_depth: int = 10
    hmc_depth: int = 5
    target_accept: float | None = None
    start: str = "auto"
    candidates: int = 4
    start_steps: int = 100
    combine: str = "auto"
    random_state: Any = None
    threads: int | None = None
    n_jobs: int | None = None
    progress: bool | None = None

    _method: ClassVar[str]
    if TYPE_CHECKING:
        model_: _gpfuse.Model = field(init=False)
        columns_: Columns = field(init=False)
        n_features_in_: int = field(init=False)
        feature_names_in_: NDArray[np.object_] = field(init=False)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        names = {name for kind in cls.__mro__ for name in getattr(kind, "__annotations__", ())}
        words = f"{described(names)}\n    {_MORE}"
        cls.__doc__ = (cls.__doc__ or "").replace("{settings}", words)

    # ---- fit

    def _given(self) -> dict[str, Any]:
        """What the engine is told, by name; the rest is its own choice."""
        found = given(self) | {"method": self._method, "seed": seed_of(self.random_state)}
        if self.omega is not None:
            found["omega"] = omega_of(self.omega, len(input_names(self)))
        return found | {"threads": threads_of(self.threads, self.n_jobs)}

    @classmethod
    def _parameters(cls, settings: dict[str, Any], inputs: int) -> dict[str, Any]:
        """The constructor's parameters that give these settings of the engine."""
        own = {name: settings[name] for name in cls._get_param_names() if name in settings}
        if own["omega"] is not None:
            own["omega"] = np.reshape(own["omega"], (-1, inputs))
        if own["basis"] != "rff":
            own["frequencies"] = None
        return own | {"threads": None, "random_state": settings["seed"]}

    def _training(self, X: Any, y: Any) -> tuple[_Array, _Array]:
        """Checked rows; the names of the columns are noted on the way."""
        rows = training_rows(self, X, y)
        # From here on nothing of an earlier fit holds.
        self.__dict__.pop("model_", None)
        return rows

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        return allows_nan(super().__sklearn_tags__(), self.missing)

    def _new_rows(self, X: Any) -> _Array:
        """Checked rows of a fitted model."""
        check_is_fitted(self)
        refuse_other_order(
            X, self.columns_.names if hasattr(self, "columns_") else self.model_.inputs
        )
        return new_rows(self, X)

    def _infer(
        self,
        X: _Array,
        y: _Array,
        target: str,
        more: dict[str, Any] | None = None,
        **experts: Any,
    ) -> Self:
        """Sample the posterior with `more` settings; `experts` go to the engine as they are."""
        inputs, columns = input_names(self), getattr(self, "columns_", None)
        found = self._given()
        if experts:
            # How experts are made has no part in it.
            found = {name: found[name] for name in found if FIT[name]["section"] != "expert"}
        warn_unused(_gpfuse.unused(to_json(found), inputs), stacklevel=3)
        if not {"log_density", "proba"} & experts.keys():
            # Experts that know how probable the target is know what it is, too.
            warn_of_rows(_gpfuse.notes(X, y, inputs, target), stacklevel=3)
        settings = to_json(found | (more or {}))
        bars = Bars(type(self).__name__) if wanted(self.progress) else None
        try:
            made_of = None if columns is None else columns.told
            model, stopped = _gpfuse.fit(
                X, y, settings, inputs, target, columns=made_of, progress=bars, **experts
            )
        finally:
            if bars is not None:
                bars.close()
        self.model_ = model
        if stopped is not None:
            if not isinstance(stopped, KeyboardInterrupt):
                raise stopped
            (chains, draws), asked = model.draws, self.draws or "500 or more"
            words = (
                f"stopped: kept {chains} x {draws} of {self.chains} x {asked} draws. "
                "To go on with them: "
                "`except gf.Interrupted as stop: model = stop.estimator`"
            )
            raise Interrupted(words, self) from None
        warn_convergence(self.diagnostics_["warnings"], stacklevel=3)
        return self

    # ---- what is known after it

    @property
    def diagnostics_(self) -> dict[str, Any]:
        """How the chains went: R-hat, effective sample sizes, divergences, warnings in words."""
        check_is_fitted(self)
        found: dict[str, Any] = json.loads(self.model_.diagnostics)
        return found

    @property
    def converged_(self) -> bool:
        """Whether the diagnostics pass."""
        check_is_fitted(self)
        return self.model_.converged

    # ---- predictions

    def _experts_at(self, X: Any, mean: Any, std: Any) -> dict[str, _Array]:
        """What experts made elsewhere say at rows, for the engine; here there are none."""
        return {}

    def _weigh(self, X: Any, level: float, mean: Any = None, std: Any = None) -> Weights:
        rows = self._new_rows(X)
        if not 0 < level < 1:
            raise ValueError(f"level: {level} is out of range: use a number between 0 and 1")
        # Weights do not ask what experts say, who then have no mean to show.
        said = {} if self.model_.says_outcomes else self._experts_at(X, mean, std)
        threads = threads_of(self.threads, self.n_jobs)
        mean, low, high, *moments = self.model_.weigh(rows, float(level), threads, **said)
        expert_mean, expert_std = moments or (None, None)
        names = self.model_.experts
        return Weights(names, mean, low, high, expert_mean, expert_std, float(level))

    def weights(self, X: Any, level: float = 0.9) -> Weights:
        """How much each expert is trusted at each row, with central intervals of `level`."""
        return self._weigh(X, level)

    def weight_effects(
        self, X: Any, level: float = 0.9, *, inputs: Sequence[int | str] | None = None
    ) -> WeightEffects:
        """How the weights depend on `inputs` (all if not given), averaged over rows of `X`.

        At most 100 of the rows and 100 of the draws are looked at, evenly spread.
        """
        rows = self._new_rows(X)
        names = self.model_.inputs
        if not 0 < level < 1:
            raise ValueError(f"level: {level} is out of range: use a number between 0 and 1")
        wanted = [
            number_of(name, names) for name in (range(len(names)) if inputs is None else inputs)
        ]
        threads = threads_of(self.threads, self.n_jobs)
        found = self.model_.weight_effects(rows, wanted, float(level), threads)
        if found is None:
            raise ValueError(
                "the model has one expert, whose weight is 1: there is nothing to show"
            )
        told, curves = found
        told = json.loads(told)
        return WeightEffects(
            experts=self.model_.experts,
            inputs=[names[i] for i in told["inputs"]],
            moves=np.array(told["moves"]),
            places=[places for places, _ in curves],
            mean=[parts[0] for _, parts in curves],
            low=[parts[1] for _, parts in curves],
            high=[parts[2] for _, parts in curves],
            average=np.array(told["average"]),
            level=float(level),
            **{name: told[name] for name in ("spread", "agreed", "words")},
        )

    # ---- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, which `gf.load`, the command line and ArviZ open."""
        check_is_fitted(self)
        self.model_.save(path)

    def to_datatree(
        self, X: Any = None, *, samples: int = 0, random_state: Any = 0, **said: Any
    ) -> DataTree:
        """The fit as an xarray DataTree, for ArviZ; see `gpfuse.datatree.datatree`."""
        from .datatree import datatree

        check_is_fitted(self)
        return datatree(self, X, samples=samples, random_state=random_state, **said)

    def weights_datatree(self, X: Any) -> DataTree:
        """The weights at each row of `X` in every draw, as an xarray DataTree, for ArviZ.

        Its group `posterior` holds `weight`, with the dimensions chain, draw, row and expert.
        """
        from .datatree import weights_datatree

        return weights_datatree(self, X)


class SampledRegressor(RegressorMixin, Sampled):  # type: ignore[misc]
    """One whose target is a number, with a predictive density."""

    def _dist(
        self, X: Any, mean: Any = None, std: Any = None, rao_blackwell: bool = False
    ) -> Distribution:
        rows = self._new_rows(X)
        said = self._experts_at(X, mean, std)
        threads = threads_of(self.threads, self.n_jobs)
        found = self.model_.predict(rows, threads, rao_blackwell=rao_blackwell, **said)
        if outside := self.model_.outside(rows):
            warnings.warn(outside, stacklevel=3)
        return Distribution(found)

    def predict_dist(self, X: Any, *, rao_blackwell: bool = False) -> Distribution:
        """The predictive distribution at each row of `X`.

        With `rao_blackwell` the coefficients of the experts' means are integrated out of each draw
        (`PoGPE` and `HetGP`): the same distribution with less Monte Carlo noise.
        """
        return self._dist(X, rao_blackwell=rao_blackwell)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predictive means, and with `return_std` standard deviations, noise included."""
        found = self._dist(X)
        return (found.mean, found.std) if return_std else found.mean

    def evaluate(self, X: Any, y: ArrayLike) -> Scores:
        """All scores of the predictions at `X` against `y`: `.nlpd`, `.crps`, `.coverage`, ..."""
        return self._dist(X).evaluate(y)


def name_of_target(y: Any) -> str:
    """The name of a column, where it has one."""
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else "y"
