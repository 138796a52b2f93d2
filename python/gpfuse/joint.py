"""Experts and weights learned together: MoGPE, PoGPE, and with one expert HetGP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from .base import Sampled, name_of_target


@dataclass(eq=False, repr=False)
class Joint(Sampled):
    """A model that learns its experts with their weights."""

    def fit(self, X: Any, y: Any) -> Self:
        """Sample the posterior of experts and weights given rows `X` (n, inputs) and `y` (n,)."""
        rows, target = self._training(X, y)
        return self._infer(rows, target, name_of_target(y))


@dataclass(eq=False, repr=False)
class MoGPE(Joint):
    """A mixture of GP experts: experts and weights learned together, linear pool.

    .. math:: p(y | x) = \\sum_k w_k(x) \\, N(y; \\mu_k(x), \\sigma_k(x)^2), \\quad
        w(x) = \\mathrm{softmax}(g_1(x), ..., g_K(x))

    Every mean, log standard deviation and gate is a GP. The density can have several modes: take
    it where the data do.

    Parameters
    ----------
    {settings}
    """

    experts: int | str = 3

    _method: ClassVar[str] = "mogpe"


@dataclass(eq=False, repr=False)
class PoGPE(Joint):
    """A product of GP experts: experts and weights learned together, log-linear pool.

    .. math:: p(y | x) \\propto \\prod_k N(y; \\mu_k(x), \\sigma_k(x)^2)^{w_k(x)}, \\quad
        w_k(x) = e^{g_k(x)}

    which is one normal density with precision :math:`\\sum_k w_k / \\sigma_k^2`. Every mean, log
    standard deviation and log weight is a GP.

    Parameters
    ----------
    {settings}
    """

    experts: int | str = 3
    normalise: bool = False
    density: str = "auto"

    _method: ClassVar[str] = "pogpe"


@dataclass(eq=False, repr=False)
class HetGP(Joint):
    """One GP with a GP for its noise: heteroscedastic regression.

    .. math:: p(y | x) = N(y; \\mu(x), \\sigma(x)^2)

    Parameters
    ----------
    {settings}
    """

    density: str = "auto"

    _method: ClassVar[str] = "het"
