"""How wrong a prior may be before a policy without a prior is better."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from bayesregret.models import Bandit
from bayesregret.planning.beliefs import believing
from bayesregret.planning.perturbed_priors import (
    can_shift,
    can_stretch,
    shift_range,
    shifted,
    stretch_range,
    stretched,
)
from bayesregret.planning.tracked_simulation import SimulateRegrets, paired
from bayesregret.planning.zero_crossing import Z_95, Crossing, SampledFunction, search
from bayesregret.policies import Policy
from bayesregret.simulation.estimates import Estimate

FRACTIONS = (0.0, 0.125, 0.25, 0.5, 0.75, 1.0)  # of the furthest distance: a coarse sweep, finer near the true prior
STEPS = 3  # of bisection, after the coarse sweep
NEGLIGIBLE = 0.01  # a direction is left out if it goes less than this fraction as far as the opposite one


@dataclass(frozen=True)
class PriorLimit:
    """How far a prior may be off in one direction before a policy without a prior is better.

    Means are off by an amount in units of reward, widths by a factor, which is above 1 in both directions.
    `differences` are the regret of the policy with the wrong prior minus that of the policy without one.
    """

    field: Literal["mean", "width"]
    direction: Literal["too low", "too high", "too narrow", "too wide"]
    reach: float  # the furthest point examined
    off: Crossing | None  # None: not within reach
    points: tuple[float, ...]
    differences: tuple[Estimate, ...]
    policy: str = ""  # name of the policy with the wrong prior
    rival: str = ""  # name of the policy without one

    @property
    def is_sure(self) -> bool:
        """Whether the policy with the prior is significantly better at every point examined."""
        return all(value.mean + Z_95 * value.stderr <= 0.0 for value in self.differences)

    def to_dict(self) -> dict[str, Any]:
        return {
            "policy": self.policy,
            "without": self.rival,
            "field": self.field,
            "direction": self.direction,
            "reach": self.reach,
            "off": None if self.off is None else self.off._asdict(),
            "points": list(self.points),
            "differences": [{"mean": value.mean, "stderr": value.stderr} for value in self.differences],
        }


class Direction(NamedTuple):
    """A way for a prior to be wrong, by a distance that is 0 for the true prior."""

    field: Any
    name: Any
    furthest: float
    believed: Callable[[float], Bandit]  # the bandit with the wrong prior, by distance
    reported: Callable[[float], float]  # the distance as it is reported: an amount or a factor


def prior_limits(believed: Bandit, believer: Policy, rival: Policy, regrets: SimulateRegrets) -> list[PriorLimit]:
    """How far the believed prior may be off in every direction; empty if it is not better than none as it is."""
    without = regrets(rival)
    true = paired(regrets(believer), without)
    if true.mean >= 0.0:
        return []

    def difference(direction: Direction, distance: float) -> Estimate:
        if distance == 0.0:
            return true
        return paired(regrets(believing(believer, direction.believed(distance))), without)

    found = []
    for direction in directions(believed):
        points = [direction.furthest * fraction for fraction in FRACTIONS]
        found.append(_limit(direction, search(lambda at, to=direction: difference(to, at), points, STEPS)))  # type: ignore[misc]
    return found


def directions(bandit: Bandit) -> list[Direction]:
    """All arms' means shifted down or up, all arms' widths made narrower or wider, as far as the kind of prior allows.

    A direction that ends almost at once is left out: nothing is wider than a Beta prior with all its mass at 0 and 1.
    """
    found = []
    if can_shift(bandit):
        furthest = shift_range(bandit)
        found.append(Direction("mean", "too low", furthest.down, lambda by: shifted(bandit, -by), float))
        found.append(Direction("mean", "too high", furthest.up, lambda by: shifted(bandit, by), float))
    if can_stretch(bandit):
        factors = stretch_range(bandit)
        narrow, wide = -math.log(factors.down), math.log(factors.up)
        found.append(Direction("width", "too narrow", narrow, lambda by: stretched(bandit, math.exp(-by)), math.exp))
        found.append(Direction("width", "too wide", wide, lambda by: stretched(bandit, math.exp(by)), math.exp))
    most = {way.field: max(other.furthest for other in found if other.field == way.field) for way in found}
    return [way for way in found if way.furthest > NEGLIGIBLE * most[way.field]]


def _limit(direction: Direction, differences: SampledFunction) -> PriorLimit:
    crossing = differences.crossing()
    return PriorLimit(
        direction.field,
        direction.name,
        direction.reported(direction.furthest),
        None if crossing is None else Crossing(*map(direction.reported, crossing)),
        tuple(map(direction.reported, differences.points)),
        differences.values,
    )
