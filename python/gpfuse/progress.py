"""Progress bars while chains run: in a terminal and in notebooks, nowhere else."""

from __future__ import annotations

import sys
from typing import Any

_Chain = tuple[int, int, int, bool, int, float, int]


def wanted(asked: bool | None) -> bool:
    """Whether to show bars: as asked, else where somebody can see them."""
    if asked is not None:
        return bool(asked)
    return sys.stderr.isatty() or _in_notebook()


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


def bar(total: int, title: str) -> Any:
    """One bar that counts what is done."""
    from tqdm.auto import tqdm

    return tqdm(total=total, desc=title, leave=False, dynamic_ncols=True)


class Bars:
    """One bar for the starting points, then one for each chain."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._starts: Any = None
        self._chains: dict[int, Any] = {}

    def _bar(self, name: str, total: int, position: int) -> Any:
        from tqdm.auto import tqdm

        return tqdm(
            total=total,
            desc=f"{self._title} {name}",
            position=position,
            leave=False,
            dynamic_ncols=True,
        )

    def __call__(self, starts: tuple[int, int], chains: list[_Chain]) -> None:
        done, total = starts
        if total and not chains:
            if self._starts is None:
                self._starts = self._bar("starting points", total, 0)
            self._starts.update(done - self._starts.n)
        if chains and self._starts is not None:
            self._starts.close()
            self._starts = None
        for chain, done, total, warming_up, divergences, step_size, steps in sorted(chains):
            if chain not in self._chains:
                self._chains[chain] = self._bar(f"chain {chain + 1}", total, chain)
            bar = self._chains[chain]
            # More when the chain goes on.
            bar.total = total
            phase = "warm-up" if warming_up else "drawing"
            words = f"{phase}, {divergences} divergences, step {step_size:.3f}, {steps} leapfrogs"
            bar.set_postfix_str(words, refresh=False)
            bar.update(done - bar.n)

    def close(self) -> None:
        """Take the bars off the screen."""
        # From the last line to the first: the cursor is then where it was before.
        chains = [bar for _, bar in sorted(self._chains.items(), reverse=True)]
        for bar in [*chains, self._starts]:
            if bar is not None:
                bar.close()
