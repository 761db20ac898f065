"""Ratios of simulated regret to the least regret that any policy can have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesregret.results import Shown
from bayesregret.simulation.estimates import Estimate

if TYPE_CHECKING:
    from bayesregret.bounds.least import Least

HEADING = {True: "over optimal", False: "over optimal, at most"}


@dataclass(frozen=True, repr=False)
class OverOptimal(Shown, Mapping[str, Estimate]):
    """Ratios of regret to the least regret of any policy: a mapping from names of policies to estimates.

    The result of `SimulationResult.over_optimal`.

    Attributes
    ----------
    least : Least
        The least regret, `least.regret`, or a certified lower bound on it, with its source.
    ratios : Mapping[str, Estimate]
        Ratios by name of the policy; empty if no lower bound is known.

    Examples
    --------
    >>> result = simulate(GaussianBandit([0, 0], prior_width=1, reward_noise=1), "thompson", horizon=20, runs=500)
    >>> found = result.over_optimal()
    >>> found.exact, found.least.source, 1.0 < found["thompson"].mean < 3.0
    (False, 'certified_lower', True)
    """

    least: Least
    ratios: Mapping[str, Estimate]

    @property
    def exact(self) -> bool:
        """Whether these are the ratios to the least regret; otherwise they are upper limits of them."""
        return self.least.exact

    @property
    def heading(self) -> str:
        """Heading of the column of ratios."""
        return HEADING[self.exact]

    def cell(self, name: str) -> str:
        """Return the ratio of a policy as text; empty if no lower bound is known."""
        return str(self.ratios[name]) if name in self.ratios else ""

    def __getitem__(self, name: str) -> Estimate:
        return self.ratios[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.ratios)

    def __len__(self) -> int:
        return len(self.ratios)

    def table(self) -> list[list[str]]:
        """Return headings and one row per policy, as `print` shows them."""
        return [["policy", self.heading], *([name, self.cell(name)] for name in self)]

    def summary(self) -> str:
        """Return what is known of the least regret, in one line."""
        return self.least.sentence()

    def __repr__(self) -> str:
        return str(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, as `bayesregret simulate --optimal --json` prints them."""
        over = {name: {"ratio": ratio.mean, "stderr": ratio.stderr} for name, ratio in self.ratios.items()}
        return self.least.to_dict() | {"over": over}
