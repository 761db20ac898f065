"""The questions turned round: the horizon, the number of arms or the width that a target of regret allows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

from bayesregret import checks
from bayesregret.digits import brief, counted
from bayesregret.models import Bandit
from bayesregret.planning.experiment import believer, best_bound, check_bandit, check_fits_bandit
from bayesregret.planning.perturbed_priors import can_stretch, room_to_stretch, stretched, with_arms
from bayesregret.planning.run_budget import is_affordable, runs_of_point
from bayesregret.planning.zero_crossing import Sweep, search, surely_above
from bayesregret.policies import Policy
from bayesregret.simulation.result import Estimate
from bayesregret.simulation.simulate import LARGEST_HORIZON, simulate

# The most rounds and arms that are looked at, where they can be afforded.
LONGEST = 2**20
MOST_ARMS = 2**12
# Regret per round may rise at first. It is lastingly under a target where it is so at so many doublings in a row, and
# falls by a tenth from each to the next.
IN_A_ROW, FALL = 4, 0.9
WIDTHS = 9  # points of the coarse sweep over widths
STEPS = 12  # closer to the answer, after the coarse sweep: between whole numbers there is soon none left
WIDTH_STEPS, BOUND_STEPS = 5, 6


@dataclass(frozen=True)
class Inversion:
    """The answer with a 95 percent confidence interval, and the answer that a certified bound guarantees.

    A width is told as a factor of the bandit's own. `guaranteed` is None where no certified bound answers. An end of
    the interval that is not within reach is the reach itself.
    """

    what: Literal["horizon", "arms", "width"]
    policy: str
    target: float
    answer: float
    low: float
    high: float
    reach: float  # the furthest that was looked at
    guaranteed: float | None

    @property
    def at_least(self) -> bool:
        """Whether the target allows all arms, or every width, that were looked at."""
        return self.what != "horizon" and self.answer >= self.reach

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"at_least": self.at_least}


class Asked(NamedTuple):
    """How regrets are simulated, and over how many rounds."""

    policy: Policy
    horizon: int
    runs: int | None
    seed: int
    threads: int | None

    def excess(self, bandit: Bandit, budget: float) -> Estimate:
        """By how much the regret is above a budget."""
        runs = runs_of_point(self.policy, bandit, self.horizon) if self.runs is None else self.runs
        shared: dict[str, Any] = {"checkpoints": [self.horizon], "threads": self.threads, "progress": False}
        result = simulate(bandit, self.policy, horizon=self.horizon, runs=runs, seed=self.seed, **shared)
        regret = result[self.policy.name].estimate
        return Estimate(regret.mean - budget, regret.stderr)

    def guarantees(self, bandit: Bandit, budget: float) -> bool:
        """Whether a certified bound is within it."""
        bound = best_bound(bandit, self.policy, self.horizon)
        return bound is not None and bound.value + bound.error <= budget

    def is_affordable(self, bandit: Bandit) -> bool:
        return is_affordable(self.policy, bandit, self.horizon)


def horizon_for(
    bandit: Bandit,
    regret_per_round: float,
    *,
    policy: Policy | None = None,
    runs: int | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Inversion:
    """The horizon from which on regret per round stays under a target, as far as was looked.

    The policy is BayesUCB if None, or Thompson where BayesUCB needs quantiles, which take long. A policy whose settings
    depend on the horizon has those of each horizon.

    >>> bandit = BernoulliBandit(alpha=[1, 1], beta=[1, 1])
    >>> found = horizon_for(bandit, 0.15, runs=8)
    >>> found.low <= found.answer <= found.high
    True
    """
    asked = _asked(bandit, policy, 1, runs, seed, threads)
    target = checks.positive("regret_per_round", regret_per_round)

    def under(horizon: float) -> Estimate:
        excess = asked._replace(horizon=int(horizon)).excess(bandit, target * horizon)
        return Estimate(-excess.mean / horizon, excess.stderr / horizon)

    horizons = itertools.takewhile(
        lambda rounds: rounds == 1 or asked._replace(horizon=rounds).is_affordable(bandit), _doublings(LONGEST)
    )
    sweep = search(under, horizons, STEPS, round, lambda sweep: _stays_under(sweep, target))
    if sweep.values[-1].mean <= 0.0:
        reached = brief(target - sweep.values[-1].mean)
        rounds = counted(int(sweep.points[-1]), "round")
        raise ValueError(f"regret_per_round must be at least {reached}, the one of {rounds}, got {target:g}")
    answer, low, high, reach = (math.ceil(at) for at in (*_crossing(sweep, otherwise=1.0), sweep.points[-1]))
    longest = min(LARGEST_HORIZON, 64 * LONGEST)
    guaranteed = _first_that_holds(
        lambda rounds: asked._replace(horizon=rounds).guarantees(bandit, target * rounds), answer, longest
    )
    return Inversion("horizon", asked.policy.name, target, answer, low, high, reach, guaranteed)


def arms_for(
    bandit: Bandit,
    budget: float,
    *,
    horizon: int,
    policy: Policy | None = None,
    runs: int | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Inversion:
    """How many arms a regret budget allows: the bandit's first ones, and beyond the last more of its kind.

    >>> bandit = BernoulliBandit(alpha=[1, 1], beta=[1, 1])
    >>> arms_for(bandit, 1, horizon=5, runs=8).answer >= 1
    True
    """
    asked = _asked(bandit, policy, horizon, runs, seed, threads)
    target = checks.positive("budget", budget)
    own = bandit.arms
    numbers = itertools.takewhile(
        lambda arms: arms <= own or asked.is_affordable(with_arms(bandit, arms)),
        sorted({*_doublings(MOST_ARMS), own}),
    )
    sweep = search(
        lambda arms: asked.excess(with_arms(bandit, int(arms)), target),
        numbers,
        STEPS,
        round,
        # Only beyond the bandit's own arms, which may differ, does every further one add to the regret.
        lambda sweep: sweep.points[-1] >= max(own, 2) and surely_above(sweep.values[-1]),
    )
    answer, low, high, reach = (math.floor(at) for at in (*_allowed(sweep, least=1.0), sweep.points[-1]))
    guaranteed = _last_that_holds(lambda arms: asked.guarantees(with_arms(bandit, arms), target), answer, own)
    return Inversion("arms", asked.policy.name, target, answer, low, high, reach, guaranteed)


def width_for(
    bandit: Bandit,
    budget: float,
    *,
    horizon: int,
    policy: Policy | None = None,
    runs: int | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Inversion:
    """How many times as wide as the bandit's own prior a regret budget allows one to be.

    >>> bandit = GaussianBandit([0, 0], prior_width=1, reward_noise=1)
    >>> width_for(bandit, 1, horizon=5, runs=8).answer > 0
    True
    """
    asked = _asked(bandit, policy, horizon, runs, seed, threads)
    target = checks.positive("budget", budget)
    if not can_stretch(bandit):
        raise ValueError(f"bandit must have a prior that can be made wider, got {bandit.a_kind} one")
    room = room_to_stretch(bandit)
    first, last = math.log2(room.down), math.log2(room.up)
    sweep = search(
        lambda power: asked.excess(stretched(bandit, 2.0**power), target),
        [first + (last - first) * i / (WIDTHS - 1) for i in range(WIDTHS)],
        WIDTH_STEPS,
    )
    if sweep.values[0].mean > 0.0:
        regret = brief(target + sweep.values[0].mean)
        raise ValueError(
            f"budget must be at least {regret}, the regret with a prior {room.down:.3g} times as wide, got {target:g}"
        )
    answer, low, high, reach = (2.0**at for at in (*_allowed(sweep, least=first), sweep.points[-1]))
    guaranteed = _widest_that_holds(
        lambda factor: asked.guarantees(stretched(bandit, factor), target), room.down, answer
    )
    return Inversion("width", asked.policy.name, target, answer, low, high, reach, guaranteed)


def _asked(bandit: Any, policy: Any, horizon: Any, runs: Any, seed: Any, threads: Any) -> Asked:
    horizon = checks.whole("horizon", horizon, 1, LARGEST_HORIZON)
    check_bandit(bandit)
    policy = believer(bandit, horizon) if policy is None else policy
    check_fits_bandit(bandit, policy, horizon)
    runs = None if runs is None else checks.whole("runs", runs, 2)
    return Asked(policy, horizon, runs, checks.whole("seed", seed, 0), threads)


def _doublings(most: int) -> list[int]:
    return [2**power for power in range(most.bit_length())]


def _stays_under(sweep: Sweep, target: float) -> bool:
    """Whether regret per round is under the target lastingly, given by how much it is under it."""
    last = sweep.values[-IN_A_ROW:]
    regrets = [target - value.mean for value in last]
    is_falling = all(later <= FALL * earlier for earlier, later in itertools.pairwise(regrets))
    return len(last) == IN_A_ROW and is_falling and all(map(surely_above, last))


def _allowed(sweep: Sweep, least: float) -> tuple[float, float, float]:
    """The last point up to which it is not above zero, with its interval."""
    if sweep.values[-1].mean > 0.0:
        return _crossing(sweep, otherwise=least)
    return sweep.points[-1], sweep.earliest(), sweep.points[-1]


def _crossing(sweep: Sweep, otherwise: float) -> tuple[float, float, float]:
    """Where it crosses with its interval; `otherwise` if it is above zero everywhere."""
    found = sweep.crossing()
    return (otherwise, otherwise, otherwise) if found is None else tuple(found)  # type: ignore[return-value]


def _first_that_holds(holds: Callable[[int], bool], start: int, most: int) -> int | None:
    """About the first whole number from `start` on for which it holds: one for which it does, a percent above or so."""
    low = high = start
    while not holds(high):
        low, high = high, 2 * high
        if high > most:
            return None
    for _ in range(BOUND_STEPS):
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _last_that_holds(holds: Callable[[int], bool], most: int, own: int) -> int | None:
    """The last whole number, `most` at most, for which it holds, as it does up to there from `own` on, or from 1."""
    low, high = own if own <= most and holds(own) else 0, most + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low or None


def _widest_that_holds(holds: Callable[[float], bool], narrowest: float, widest: float) -> float | None:
    if holds(widest):
        return widest
    if not holds(narrowest):
        return None
    low, high = narrowest, widest
    for _ in range(BOUND_STEPS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
