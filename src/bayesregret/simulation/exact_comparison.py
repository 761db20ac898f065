"""Comparison of simulated with exact regret, in standard errors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesregret.digits import exact_digits, with_error
from bayesregret.results import Shown
from bayesregret.simulation.result import DECISIVE

if TYPE_CHECKING:
    from bayesregret.exact import ExactRegret
    from bayesregret.simulation.estimates import Estimate
    from bayesregret.simulation.result import SimulationResult


@dataclass(frozen=True)
class RegretDifference:
    """Simulated and exact regret of one policy."""

    simulated: Estimate
    exact: float
    error: float  # numerical error of the exact regret
    runs: int

    @property
    def z(self) -> float | None:
        """Simulated minus exact regret in standard errors; None where the simulation has no standard error."""
        if not 0.0 < self.simulated.stderr < math.inf:
            return None
        return (self.simulated.mean - self.exact) / math.hypot(self.simulated.stderr, self.error)

    @property
    def by_chance(self) -> bool:
        """Whether chance explains the difference: its p-value is at least that of `DECISIVE` standard deviations.

        The p-value is from Student's distribution, because the standard error of few runs is itself a poor estimate.
        """
        from scipy.special import ndtr, stdtr

        return self.z is None or bool(stdtr(self.runs - 1, -abs(self.z)) >= ndtr(-DECISIVE))


@dataclass(frozen=True, eq=False, repr=False)
class ExactComparison(Shown):
    """Result of `SimulationResult.against_exact`: a mapping from names of policies to differences."""

    deviations: Mapping[str, RegretDifference]

    def __getitem__(self, name: str) -> RegretDifference:
        return self.deviations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.deviations)

    def __len__(self) -> int:
        return len(self.deviations)

    def table(self) -> list[list[str]]:
        """Headings and one row per policy, as `print` and the command line show them."""
        rows = [["policy", "exact regret", "error", "simulated minus exact", "z"]]
        for name, found in self.deviations.items():
            difference = with_error(found.simulated.mean - found.exact, found.simulated.stderr, signed=True)
            z = "none" if found.z is None else f"{found.z:+.2f}"
            rows.append([name, exact_digits(found.exact, found.error), f"{found.error:.0e}", difference, z])
        return rows

    def summary(self) -> str:
        """The verdict, in one line."""
        far = {name: found for name, found in self.deviations.items() if not found.by_chance}
        distances = [abs(found.z) for found in self.deviations.values() if found.z is not None]
        parts = []
        if far:
            parts.append(f"simulated and exact regret differ by more than chance: {_far_policies(far)}")
            if any(found.simulated.mean < found.exact for found in far.values()):
                parts.append("rare large regrets that these runs missed can cause that: try more runs")
        elif distances:
            parts.append(f"simulated and exact regret agree, at most {max(distances):.1f} standard errors apart")
        without_z = [name for name, found in self.deviations.items() if found.z is None]
        if without_z and next(iter(self.deviations.values())).runs == 1:
            parts.append("a single run has no standard error to compare with")
        elif without_z:
            parts.append(f"nothing to compare for {' and '.join(without_z)}: the regret is the same in all runs")
        return "; ".join(parts)

    def __repr__(self) -> str:
        return str(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `bayesregret simulate --exact-check --json` prints them."""
        return {
            name: {"exact": found.exact, "error": found.error, "z": found.z} for name, found in self.deviations.items()
        }


def _far_policies(far: Mapping[str, RegretDifference]) -> str:
    return " and ".join(f"{name} is {found.z:+.1f} standard errors off" for name, found in far.items())


def compare(result: SimulationResult, exact: Mapping[str, ExactRegret]) -> ExactComparison:
    """Compare the simulated regret of each policy with the exact regret of the same name."""
    if exact.keys() != result.policies.keys():
        raise ValueError(f"exact must have {', '.join(result.policies)}, got {', '.join(exact) or 'nothing'}")
    differences = {}
    for name, simulated in result.policies.items():
        found = exact[name]
        if (found.bandit, found.horizon, found.delta) != (result.bandit, result.horizon, simulated.delta):
            raise ValueError(f"exact must be for the bandit, horizon and delta of the simulation, but {name} is not")
        differences[name] = RegretDifference(simulated.estimate, found.regret, found.error, result.runs)
    return ExactComparison(differences)
