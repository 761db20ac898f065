"""Simulated regret against the exact one: how many standard errors apart they are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesregret.digits import exact_digits, text_table, with_error
from bayesregret.simulation.result import DECISIVE

if TYPE_CHECKING:
    from bayesregret.exact import ExactRegret
    from bayesregret.simulation.result import Estimate, SimulationResult


@dataclass(frozen=True)
class Deviation:
    """One policy's simulated regret and its exact one."""

    simulated: Estimate
    exact: float
    error: float  # of the exact regret, numerical
    runs: int

    @property
    def z(self) -> float | None:
        """Simulated minus exact in standard errors; None where the simulation has no standard error."""
        if not 0.0 < self.simulated.stderr < math.inf:
            return None
        return (self.simulated.mean - self.exact) / math.hypot(self.simulated.stderr, self.error)

    @property
    def by_chance(self) -> bool:
        """Whether it is no further off than chance explains: as likely as a normal variable beyond `DECISIVE`.

        A standard error is itself an estimate, and a poor one from few runs, hence Student's distribution.
        """
        from scipy.special import ndtr, stdtr

        return self.z is None or bool(stdtr(self.runs - 1, -abs(self.z)) >= ndtr(-DECISIVE))


@dataclass(frozen=True, eq=False, repr=False)
class AgainstExact:
    """What `SimulationResult.against_exact` returns: a mapping from the names of policies to their deviations."""

    deviations: Mapping[str, Deviation]

    def __getitem__(self, name: str) -> Deviation:
        return self.deviations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.deviations)

    def __len__(self) -> int:
        return len(self.deviations)

    def table(self) -> list[list[str]]:
        """Headings and a row for each policy, as `print` and the command line show them."""
        rows = [["policy", "exact regret", "error", "simulated minus exact", "z"]]
        for name, found in self.deviations.items():
            apart = with_error(found.simulated.mean - found.exact, found.simulated.stderr, signed=True)
            z = "none" if found.z is None else f"{found.z:+.2f}"
            rows.append([name, exact_digits(found.exact, found.error), f"{found.error:.0e}", apart, z])
        return rows

    def summary(self) -> str:
        """The verdict, in one line."""
        far = {name: found for name, found in self.deviations.items() if not found.by_chance}
        apart = [abs(found.z) for found in self.deviations.values() if found.z is not None]
        told = []
        if far:
            told.append(f"simulated and exact regret differ by more than chance: {_off(far)}")
            if any(found.simulated.mean < found.exact for found in far.values()):
                told.append("large regrets too rare for so few runs can do that, and more runs will tell")
        elif apart:
            told.append(f"simulated and exact regret agree, at most {max(apart):.1f} standard errors apart")
        without = [name for name, found in self.deviations.items() if found.z is None]
        if without and next(iter(self.deviations.values())).runs == 1:
            told.append("a single run has no standard error to compare with")
        elif without:
            told.append(f"nothing to compare for {' and '.join(without)}: the regret is the same in all runs")
        return "; ".join(told)

    def __str__(self) -> str:
        return f"{text_table(self.table())}\n{self.summary()}"

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `bayesregret simulate --exact-check --json` prints it; z is None where there is none."""
        return {
            name: {"exact": found.exact, "error": found.error, "z": found.z} for name, found in self.deviations.items()
        }


def _off(far: Mapping[str, Deviation]) -> str:
    return " and ".join(f"{name} is {found.z:+.1f} standard errors off" for name, found in far.items())


def compare(result: SimulationResult, exact: Mapping[str, ExactRegret]) -> AgainstExact:
    """Each policy's simulated regret against its exact one, given by the same name."""
    if exact.keys() != result.policies.keys():
        raise ValueError(f"exact must have {', '.join(result.policies)}, got {', '.join(exact) or 'nothing'}")
    deviations = {}
    for name, simulated in result.policies.items():
        found = exact[name]
        if (found.bandit, found.horizon, found.delta) != (result.bandit, result.horizon, simulated.delta):
            raise ValueError(f"exact must be for the bandit, horizon and delta of the simulation, but {name} is not")
        deviations[name] = Deviation(simulated.estimate, found.regret, found.error, result.runs)
    return AgainstExact(deviations)
