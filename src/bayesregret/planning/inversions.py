"""The questions turned round: the horizon, the number of arms or the width that a target of regret allows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

from bayesregret import checks
from bayesregret.digits import brief
from bayesregret.models import Bandit
from bayesregret.planning.compared import best_bound, check_fits_bandit
from bayesregret.planning.crossing import Sweep, search
from bayesregret.planning.effort import runs_of_point
from bayesregret.planning.variants import can_stretch, room_to_stretch, stretched, with_arms
from bayesregret.policies import BayesUCB, Policy
from bayesregret.simulation.result import Estimate
from bayesregret.simulation.simulate import LARGEST_HORIZON, simulate

LONGEST = 2**22  # rounds that are looked at
MOST_ARMS = 2**12
WIDTHS = 9  # points of the coarse sweep over widths
STEPS = 12  # closer to the answer, after the coarse sweep: between whole numbers there is soon none left
WIDTH_STEPS, BOUND_STEPS = 5, 6


@dataclass(frozen=True)
class Inversion:
    """The answer with a 95 percent confidence interval, and the answer that a certified bound guarantees.

    A width is told as a factor of the bandit's own. `guaranteed` is None where no certified bound answers.
    """

    what: Literal["horizon", "arms", "width"]
    target: float
    answer: float
    low: float
    high: float
    guaranteed: float | None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


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
        return bound is not None and bound.value <= budget


def horizon_for(
    bandit: Bandit,
    regret_per_round: float,
    *,
    policy: Policy | None = None,
    runs: int | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Inversion:
    """The horizon at which regret per round falls under a target.

    The policy is BayesUCB if None. A policy whose settings depend on the horizon has those of each horizon.

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

    sweep = search(under, [2**power for power in range(LONGEST.bit_length())], STEPS, round)
    if sweep.values[-1].mean <= 0.0:
        reached = target - sweep.values[-1].mean
        raise ValueError(
            f"regret_per_round must be at least {brief(reached)}, what {LONGEST:,} rounds come to, got {target:g}"
        )
    answer, low, high = (math.ceil(at) for at in _crossing(sweep, otherwise=1.0))
    longest = min(LARGEST_HORIZON, 16 * LONGEST)
    guaranteed = _first_that_holds(
        lambda rounds: asked._replace(horizon=rounds).guarantees(bandit, target * rounds), answer, longest
    )
    return Inversion("horizon", target, answer, low, high, guaranteed)


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
    sweep = search(
        lambda arms: asked.excess(with_arms(bandit, int(arms)), target),
        [2**power for power in range(MOST_ARMS.bit_length())],
        STEPS,
        round,
    )
    if sweep.values[-1].mean <= 0.0:
        regret = brief(target + sweep.values[-1].mean)
        raise ValueError(f"budget must be below {regret}, the regret with {MOST_ARMS:,} arms, got {target:g}")
    answer, low, high = (math.floor(at) for at in _crossing(sweep, otherwise=1.0))
    guaranteed = _last_that_holds(lambda arms: asked.guarantees(with_arms(bandit, arms), target), answer)
    return Inversion("arms", target, answer, low, high, guaranteed)


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
    first, last = math.log(room.down), math.log(room.up)
    sweep = search(
        lambda power: asked.excess(stretched(bandit, math.exp(power)), target),
        [first + (last - first) * i / (WIDTHS - 1) for i in range(WIDTHS)],
        WIDTH_STEPS,
    )
    if sweep.values[0].mean > 0.0:
        regret = brief(target + sweep.values[0].mean)
        raise ValueError(
            f"budget must be at least {regret}, the regret with a prior {room.down:.3g} times as wide, got {target:g}"
        )
    if sweep.values[-1].mean <= 0.0:
        regret = brief(target + max(value.mean for value in sweep.values))
        raise ValueError(
            f"budget must be below {regret}, the highest regret up to {room.up:.3g} times the width, got {target:g}"
        )
    answer, low, high = map(math.exp, _crossing(sweep, otherwise=first))
    guaranteed = _widest_that_holds(
        lambda factor: asked.guarantees(stretched(bandit, factor), target), room.down, answer
    )
    return Inversion("width", target, answer, low, high, guaranteed)


def _asked(bandit: Any, policy: Any, horizon: Any, runs: Any, seed: Any, threads: Any) -> Asked:
    policy = BayesUCB() if policy is None else policy
    horizon = checks.whole("horizon", horizon, 1, LARGEST_HORIZON)
    check_fits_bandit(bandit, policy, horizon)
    runs = None if runs is None else checks.whole("runs", runs, 2)
    return Asked(policy, horizon, runs, checks.whole("seed", seed, 0), threads)


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


def _last_that_holds(holds: Callable[[int], bool], most: int) -> int | None:
    """The last whole number, `most` at most, for which it holds, as it does up to there."""
    low, high = 0, most + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low or None


def _widest_that_holds(holds: Callable[[float], bool], narrowest: float, widest: float) -> float | None:
    if not holds(narrowest):
        return None
    low, high = narrowest, widest
    for _ in range(BOUND_STEPS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
