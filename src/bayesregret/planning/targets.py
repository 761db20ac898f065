"""Target searches: the horizon, the number of arms or the prior width that meets a target of regret."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from bayesregret import checks
from bayesregret.digits import counted
from bayesregret.models.bandit import BanditLike, as_bandit
from bayesregret.planning.perturbed_priors import can_stretch, stretch_range, stretched, with_arms
from bayesregret.planning.regret_query import LONGEST, checked_query
from bayesregret.planning.zero_crossing import SampledFunction, is_significantly_positive, search
from bayesregret.policy_data import PolicyOrName
from bayesregret.simulation.engines.choose import EngineLike, as_engine
from bayesregret.simulation.estimates import Estimate
from bayesregret.simulation.simulate import LARGEST_HORIZON

# The largest number of arms that is examined, where it is affordable.
MOST_ARMS = 2**12
# Regret per round may rise at first. It is taken to stay under a target once it is under it at this many doublings in
# a row, and falls by a tenth from each to the next.
IN_A_ROW, FALL = 4, 0.9
WIDTHS = 9  # points of the coarse sweep over widths
STEPS = 12  # of bisection, after the coarse sweep; whole numbers run out before
WIDTH_STEPS, BOUND_STEPS = 5, 6


@dataclass(frozen=True)
class Inversion:
    """Result of `horizon_for`, `arms_for` or `width_for`: the answer to a target search.

    The interval is for 95 percent confidence; an end of it that was not found is `reach`.

    Attributes
    ----------
    what : {"horizon", "arms", "width"}
        What was searched for.
    policy : str
        Name of the policy.
    target : float
        The regret, or the regret per round.
    answer : float
        The number of rounds, the number of arms, or the width as a multiple of the bandit's.
    low, high : float
        Confidence interval of the answer.
    reach : float
        The furthest point examined.
    guaranteed : float or None
        The answer that a certified bound guarantees; None if no bound does.

    Examples
    --------
    >>> found = arms_for(BernoulliBandit(alpha=[1, 1], beta=[1, 1]), 1, horizon=5, runs=8)
    >>> found.what, found.low <= found.answer <= found.high
    ('arms', True)
    """

    what: Literal["horizon", "arms", "width"]
    policy: str
    target: float
    answer: float
    low: float
    high: float
    reach: float
    guaranteed: float | None

    @property
    def at_least(self) -> bool:
        """Whether the target allows every number of arms, or every width, that was examined."""
        return self.what != "horizon" and self.answer >= self.reach

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, as `bayesregret plan --json` prints it."""
        return asdict(self) | {"at_least": self.at_least}


def horizon_for(
    bandit: BanditLike,
    regret_per_round: float,
    *,
    policy: PolicyOrName | None = None,
    delay: int = 0,
    batch: int = 1,
    runs: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    engine: EngineLike | None = None,
) -> Inversion:
    """Find the horizon from which on regret per round stays under a target, as far as it was examined.

    Parameters
    ----------
    bandit : Bandit, FittedPrior or Agent
        The reward model and the prior of the arms.
    regret_per_round : float
        The target.
    policy : Policy or str, optional
        By default BayesUCB, or Thompson where BayesUCB needs slow quantiles. A policy whose settings depend on the
        horizon gets those of each horizon.
    delay, batch : int, optional
        Rewards arrive `delay` rounds late, and at the ends of batches of `batch` rounds.
    runs : int, optional
        Number of runs at each horizon; by default as many as a few seconds allow.
    seed : int, optional
        Seed of all simulations.
    threads : int, optional
        Number of threads; by default all processors.
    engine : str, Engine or distributed.Client, optional
        Where to play the runs, as in `simulate`.

    Returns
    -------
    Inversion
        The horizon with its confidence interval, and the horizon that a certified bound guarantees.

    Examples
    --------
    >>> bandit = BernoulliBandit(alpha=[1, 1], beta=[1, 1])
    >>> found = horizon_for(bandit, 0.15, runs=8)
    >>> found.low <= found.answer <= found.high
    True
    """
    bandit = as_bandit(bandit)
    query = checked_query(bandit, policy, 1, runs, seed, as_engine(engine, threads), delay, batch)
    target = checks.positive("regret_per_round", regret_per_round)

    def under(horizon: float) -> Estimate:
        excess = query._replace(horizon=int(horizon)).excess(bandit, target * horizon)
        return Estimate(-excess.mean / horizon, excess.stderr / horizon)

    horizons = itertools.takewhile(
        lambda rounds: rounds == 1 or query._replace(horizon=rounds).is_affordable(bandit), _doublings(LONGEST)
    )
    sampled = search(under, horizons, STEPS, round, lambda sampled: _stays_under(sampled, target))
    if sampled.values[-1].mean <= 0.0:
        reached = checks.in_full(target - sampled.values[-1].mean)
        rounds = counted(int(sampled.points[-1]), "round")
        raise ValueError(
            f"regret_per_round must be at least {reached}, the value for {rounds}, got {checks.in_full(target)}"
        )
    answer, low, high, reach = (math.ceil(at) for at in (*_crossing(sampled, otherwise=1.0), sampled.points[-1]))
    longest = min(LARGEST_HORIZON, 64 * LONGEST)
    guaranteed = _first_that_holds(
        lambda rounds: query._replace(horizon=rounds).guarantees(bandit, target * rounds), answer, longest
    )
    return Inversion("horizon", query.policy.name, target, answer, low, high, reach, guaranteed)


def arms_for(
    bandit: BanditLike,
    budget: float,
    *,
    horizon: int,
    policy: PolicyOrName | None = None,
    delay: int = 0,
    batch: int = 1,
    runs: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    engine: EngineLike | None = None,
) -> Inversion:
    """Find how many arms a regret budget allows: the bandit's first arms, then more with the last one's prior.

    Parameters
    ----------
    bandit : Bandit, FittedPrior or Agent
        The reward model and the prior of the arms, which must be independent.
    budget : float
        The regret over the whole horizon.
    horizon : int
        Number of rounds.
    policy : Policy or str, optional
        By default BayesUCB, or Thompson where BayesUCB needs slow quantiles.
    delay, batch : int, optional
        Rewards arrive `delay` rounds late, and at the ends of batches of `batch` rounds.
    runs : int, optional
        Number of runs at each number of arms; by default as many as a few seconds allow.
    seed : int, optional
        Seed of all simulations.
    threads : int, optional
        Number of threads; by default all processors.
    engine : str, Engine or distributed.Client, optional
        Where to play the runs, as in `simulate`.

    Returns
    -------
    Inversion
        The number of arms with its confidence interval, and the number that a certified bound guarantees.

    Examples
    --------
    >>> bandit = BernoulliBandit(alpha=[1, 1], beta=[1, 1])
    >>> arms_for(bandit, 1, horizon=5, runs=8).answer >= 1
    True
    """
    bandit = as_bandit(bandit)
    query = checked_query(bandit, policy, horizon, runs, seed, as_engine(engine, threads), delay, batch)
    target = checks.positive("budget", budget)
    given = bandit.arms
    numbers = itertools.takewhile(
        lambda arms: arms <= given or query.is_affordable(with_arms(bandit, arms)),
        sorted({*_doublings(MOST_ARMS), given}),
    )
    sampled = search(
        lambda arms: query.excess(with_arms(bandit, int(arms)), target),
        numbers,
        STEPS,
        round,
        # Each arm adds regret only beyond the given arms, which may differ.
        lambda sampled: sampled.points[-1] >= max(given, 2) and is_significantly_positive(sampled.values[-1]),
    )
    answer, low, high, reach = (math.floor(at) for at in (*_allowed(sampled, least=1.0), sampled.points[-1]))
    guaranteed = _last_that_holds(lambda arms: query.guarantees(with_arms(bandit, arms), target), answer, given)
    return Inversion("arms", query.policy.name, target, answer, low, high, reach, guaranteed)


def width_for(
    bandit: BanditLike,
    budget: float,
    *,
    horizon: int,
    policy: PolicyOrName | None = None,
    delay: int = 0,
    batch: int = 1,
    runs: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    engine: EngineLike | None = None,
) -> Inversion:
    """Find how wide a prior a regret budget allows, as a multiple of the bandit's prior width.

    Parameters
    ----------
    bandit : Bandit, FittedPrior or Agent
        The reward model and the prior of the arms.
    budget : float
        The regret over the whole horizon.
    horizon : int
        Number of rounds.
    policy : Policy or str, optional
        By default BayesUCB, or Thompson where BayesUCB needs slow quantiles.
    delay, batch : int, optional
        Rewards arrive `delay` rounds late, and at the ends of batches of `batch` rounds.
    runs : int, optional
        Number of runs at each width; by default as many as a few seconds allow.
    seed : int, optional
        Seed of all simulations.
    threads : int, optional
        Number of threads; by default all processors.
    engine : str, Engine or distributed.Client, optional
        Where to play the runs, as in `simulate`.

    Returns
    -------
    Inversion
        The multiple with its confidence interval, and the multiple that a certified bound guarantees.

    Examples
    --------
    >>> bandit = GaussianBandit([0, 0], prior_width=1, reward_noise=1)
    >>> width_for(bandit, 1, horizon=5, runs=8).answer > 0
    True
    """
    bandit = as_bandit(bandit)
    query = checked_query(bandit, policy, horizon, runs, seed, as_engine(engine, threads), delay, batch)
    target = checks.positive("budget", budget)
    if not can_stretch(bandit):
        raise ValueError(f"bandit must have a prior that can be made wider, got {bandit.a_kind} one")
    factors = stretch_range(bandit)
    first, last = math.log2(factors.down), math.log2(factors.up)
    sampled = search(
        lambda power: query.excess(stretched(bandit, 2.0**power), target),
        [first + (last - first) * i / (WIDTHS - 1) for i in range(WIDTHS)],
        WIDTH_STEPS,
    )
    if sampled.values[0].mean > 0.0:
        least = checks.in_full(target + sampled.values[0].mean)
        narrow = f"the regret with a prior {factors.down:.3g} times as wide"
        raise ValueError(f"budget must be at least {least}, {narrow}, got {checks.in_full(target)}")
    answer, low, high, reach = (2.0**at for at in (*_allowed(sampled, least=first), sampled.points[-1]))
    guaranteed = _widest_that_holds(
        lambda factor: query.guarantees(stretched(bandit, factor), target), factors.down, answer
    )
    return Inversion("width", query.policy.name, target, answer, low, high, reach, guaranteed)


def _doublings(most: int) -> list[int]:
    return [2**power for power in range(most.bit_length())]


def _stays_under(sampled: SampledFunction, target: float) -> bool:
    """Whether regret per round stays under the target, given the target minus regret per round at doubling horizons."""
    last = sampled.values[-IN_A_ROW:]
    regrets = [target - value.mean for value in last]
    is_falling = all(later <= FALL * earlier for earlier, later in itertools.pairwise(regrets))
    return len(last) == IN_A_ROW and is_falling and all(map(is_significantly_positive, last))


def _allowed(sampled: SampledFunction, least: float) -> tuple[float, float, float]:
    """Last point up to which the excess is not positive, with its interval."""
    if sampled.values[-1].mean > 0.0:
        return _crossing(sampled, otherwise=least)
    return sampled.points[-1], sampled.earliest(), sampled.points[-1]


def _crossing(sampled: SampledFunction, otherwise: float) -> tuple[float, float, float]:
    """The crossing with its interval; `otherwise` if the function is positive everywhere."""
    found = sampled.crossing()
    return (otherwise, otherwise, otherwise) if found is None else tuple(found)  # type: ignore[return-value]


def _first_that_holds(holds: Callable[[int], bool], start: int, most: int) -> int | None:
    """A whole number, at least `start`, that holds and is within about a percent of the first one that does."""
    low = high = start
    while not holds(high):
        low, high = high, 2 * high
        if high > most:
            return None
    for _ in range(BOUND_STEPS):
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _last_that_holds(holds: Callable[[int], bool], most: int, given: int) -> int | None:
    """Last whole number, at most `most`, that holds, by bisection from `given` if that holds, otherwise from 1."""
    low, high = given if given <= most and holds(given) else 0, most + 1
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
