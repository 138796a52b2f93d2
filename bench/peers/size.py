"""How much of everything a run does: in full, or quickly."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """The numbers of a run."""

    name: str
    # gradient and growth: rounds that alternate between the sides, seconds of each.
    rounds: int
    seconds: float
    # sampling: warm-up and draws per chain of each basis, and those of gpfuse's defaults.
    hilbert_draws: int
    rff_draws: int
    default_draws: int
    # sampling: whether every peer samples every model, or each at least one.
    every_peer: bool
    # prediction.
    draws: int
    rows: int
    repeats: int

    def chain(self, kind: str) -> dict:
        """The sampler's settings that all sides share."""
        draws = self.rff_draws if kind == "rff" else self.hilbert_draws
        short = {"chains": 4, "warmup": draws, "draws": draws}
        return short | {"max_depth": 5, "target_accept": 0.8, "seed": 0}


FULL = Size(
    name="full",
    rounds=8,
    seconds=0.5,
    hilbert_draws=500,
    rff_draws=500,
    default_draws=500,
    every_peer=True,
    draws=2000,
    rows=10_000,
    repeats=3,
)
QUICK = Size(
    name="quick",
    rounds=3,
    seconds=0.15,
    hilbert_draws=50,
    rff_draws=20,
    default_draws=50,
    every_peer=False,
    draws=400,
    rows=2000,
    repeats=1,
)
