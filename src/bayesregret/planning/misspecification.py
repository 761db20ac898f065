"""How wrong a prior may be before the policy that knows none is better."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from bayesregret.models import Bandit
from bayesregret.planning.perturbed_priors import can_move, can_stretch, moved, room_to_move, room_to_stretch, stretched
from bayesregret.planning.tracked_simulation import paired
from bayesregret.planning.zero_crossing import SURE, Crossing, Sweep, search
from bayesregret.policies import Policy
from bayesregret.policies.base import BelievingPolicy
from bayesregret.simulation.result import Estimate

SHARES = (0.0, 0.125, 0.25, 0.5, 0.75, 1.0)  # of the reach: a coarse sweep, finer where priors are nearly right
STEPS = 3  # closer to a crossing, after it
NO_ROOM = 0.01  # of the way that there is in the opposite direction

Regrets = Callable[[Policy], Any]


@dataclass(frozen=True)
class Limit:
    """How far a prior may be off in one direction before the policy that knows none is better.

    Means are off by an amount in units of reward, widths by a factor, told as one above 1 either way. `differences` are
    the regret of the policy that believes in a prior so far off minus that of the one that knows none.
    """

    field: Literal["mean", "width"]
    direction: Literal["too low", "too high", "too narrow", "too wide"]
    reach: float  # the furthest that was looked at
    off: Crossing | None  # None: not within reach
    points: tuple[float, ...]
    differences: tuple[Estimate, ...]

    @property
    def is_sure(self) -> bool:
        """Whether the policy that believes is surely not worse, wherever it was looked at."""
        return all(value.mean + SURE * value.stderr <= 0.0 for value in self.differences)

    def to_dict(self) -> dict[str, Any]:
        return {
            "field": self.field,
            "direction": self.direction,
            "reach": self.reach,
            "off": None if self.off is None else self.off._asdict(),
            "points": list(self.points),
            "differences": [{"mean": value.mean, "stderr": value.stderr} for value in self.differences],
        }


class Direction(NamedTuple):
    """A way for a prior to be wrong: by `distance`, 0 for the true one, which is told as `shown` says."""

    field: Any
    name: Any
    furthest: float
    believed: Callable[[float], Bandit]
    shown: Callable[[float], float]


def limits(bandit: Bandit, believer: BelievingPolicy, rival: Policy, regrets: Regrets) -> list[Limit]:
    """How far the bandit's prior may be off in every direction; none where even the true prior is not better.

    `regrets` simulates a policy on the bandit, always on the same instances and the same noise: (runs,).
    """
    without = regrets(rival)
    true = paired(regrets(believer), without)
    if true.mean >= 0.0:
        return []

    def difference(direction: Direction, distance: float) -> Estimate:
        if distance == 0.0:
            return true
        wrong = dataclasses.replace(believer, prior=direction.believed(distance))  # type: ignore[type-var]
        return paired(regrets(wrong), without)

    found = []
    for direction in directions(bandit):
        points = [direction.furthest * share for share in SHARES]
        found.append(_limit(direction, search(lambda at, to=direction: difference(to, at), points, STEPS)))  # type: ignore[misc]
    return found


def directions(bandit: Bandit) -> list[Direction]:
    """All arms' means moved down or up, all arms' widths made narrower or wider, as far as the kind of prior goes.

    There is none where it ends at once: nothing can be wider than a Beta prior with its weight at 0 and 1.
    """
    found = []
    if can_move(bandit):
        room = room_to_move(bandit)
        found.append(Direction("mean", "too low", room.down, lambda by: moved(bandit, -by), float))
        found.append(Direction("mean", "too high", room.up, lambda by: moved(bandit, by), float))
    if can_stretch(bandit):
        room = room_to_stretch(bandit)
        narrow, wide = -math.log(room.down), math.log(room.up)
        found.append(Direction("width", "too narrow", narrow, lambda by: stretched(bandit, math.exp(-by)), math.exp))
        found.append(Direction("width", "too wide", wide, lambda by: stretched(bandit, math.exp(by)), math.exp))
    most = {way.field: max(other.furthest for other in found if other.field == way.field) for way in found}
    return [way for way in found if way.furthest > NO_ROOM * most[way.field]]


def _limit(direction: Direction, sweep: Sweep) -> Limit:
    crossing = sweep.crossing()
    return Limit(
        direction.field,
        direction.name,
        direction.shown(direction.furthest),
        None if crossing is None else Crossing(*map(direction.shown, crossing)),
        tuple(map(direction.shown, sweep.points)),
        sweep.values,
    )
