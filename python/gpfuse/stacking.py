"""Weights for experts that are given, or trained first: BHS and PBHS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .base import Sampled


@dataclass(eq=False, repr=False)
class BHS(Sampled):
    """To be written."""

    _method: ClassVar[str] = "bhs"


@dataclass(eq=False, repr=False)
class PBHS(Sampled):
    """To be written."""

    _method: ClassVar[str] = "pbhs"
