"""The certified bound by first passages for Bernoulli bandits. Proof: docs/theory/exact.md.

As in first_passage.py, regret <= sum over arms of E[(V - theta_a)^+ min(n, T_a(Y))], V and Y the highest mean and the
highest of the lowest indices of the other arms. T_a(y) falls as y rises, so on any grid of levels Y may be replaced by
the level below it: the sum is then a bound for every grid, and the grid need only be good, not proved so.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, expit

from bayesregret.bounds.assumptions import first_failure, unless
from bayesregret.bounds.bound import FINE, Parts, Setting
from bayesregret.bounds.catalog import certified_first_passage
from bayesregret.checks import Array
from bayesregret.contracts import mean_plus_width
from bayesregret.exact.bernoulli.exits import first_exits
from bayesregret.exact.bernoulli.posteriors import sums_below
from bayesregret.models import BernoulliBandit
from bayesregret.policies.bayes_ucb import UpperConfidence

# What is computed in a second or so.
LONGEST = 2_000
MOST_KINDS = 32
MOST_VALUES = 5_000
# A grid of levels at even distances shows where they are needed.
PILOT_LEVELS, LEVELS = 64, 320
# Values v of V: 2 sinh(w) in log-odds, w in steps of so many over the root of the sharpest posterior's pseudo-counts.
# Log-odds grow fast at the ends, where posteriors are as wide.
VALUE_STEP, WIDEST_STEP = 1.5, 0.1
PRIORS_TWICE_AS_FINE = 4.0  # the law of the best of many arms is sharper than any arm's
LOG_ODDS = 32.0
LEFT_OUT = 1e-14
# What two rules may agree in by luck.
BY_LUCK = 3e-10

Ints = NDArray[np.int64]


class Values(NamedTuple):
    """A rule for integrals over means of arms."""

    mean: Array
    rest: Array  # 1 - mean
    weight: Array


class Arm(NamedTuple):
    """An arm of one kind, by value and falling level."""

    below: Array  # P(theta <= v)
    passed: Array  # P(theta <= v, T < horizon)
    ever: Array  # P(T < horizon), by level
    pulls: Array  # E[min(horizon, T); theta <= v]


@certified_first_passage.of(BernoulliBandit, "first passages")
def first_passage_bernoulli(bandit: BernoulliBandit, setting: Setting, order: int) -> Parts:
    if bandit.arms == 1:
        return Parts({"leading": 0.0})
    counts = np.stack([bandit.alpha, bandit.beta], axis=1)
    _, first, copies = np.unique(counts, axis=0, return_index=True, return_counts=True)
    values = _values(bandit, setting.horizon, FINE / order)
    why_not = first_failure(
        unless(setting.horizon <= LONGEST, f"first passages need a horizon of at most {LONGEST:,}"),
        unless(len(first) <= MOST_KINDS, f"first passages need at most {MOST_KINDS} different priors"),
        unless(values is not None, "first passages need priors worth fewer pulls or nearer to each other"),
    )
    if why_not is not None or values is None:
        return Parts({"leading": math.inf}, why_not=why_not)
    levels = _levels(bandit, setting, first, copies)
    arms = [_arm(bandit, setting, arm, levels, values) for arm in first.tolist()]
    cells = np.sum([_cells(arms, copies, kind, setting.horizon)[0] for kind in range(len(arms))], axis=0)
    parts = values.weight * np.sum(cells, axis=1)
    value = max(0.0, math.fsum(parts))
    every_other = 2.0 * math.fsum(parts[::2])  # the rule with twice the step
    unseen = LEFT_OUT * setting.horizon * bandit.arms**2 + BY_LUCK * value
    return Parts({"leading": value}, error=abs(value - every_other) + unseen)


def _values(bandit: BernoulliBandit, horizon: int, coarser: float) -> Values | None:
    """Where some arm may be below and another above; None if that would be too many values."""
    with np.errstate(divide="ignore"):
        lowest = betaincinv(bandit.alpha, bandit.beta, LEFT_OUT)
        rest = betaincinv(bandit.beta, bandit.alpha, LEFT_OUT)
        low = float(np.min(np.log(lowest) - np.log1p(-lowest)))
        high = float(np.max(np.log1p(-rest) - np.log(rest)))
    first, last = (math.asinh(0.5 * min(LOG_ODDS, max(-LOG_ODDS, end))) for end in (low, high))
    sharpest = PRIORS_TWICE_AS_FINE * float(np.max(bandit.alpha + bandit.beta)) + horizon
    steps = 1 + (last - first) / (coarser * min(WIDEST_STEP, VALUE_STEP / math.sqrt(sharpest)))
    if steps > MOST_VALUES:
        return None
    w, length = np.linspace(first, last, 1 + math.ceil(steps), retstep=True)
    mean, rest = expit(2.0 * np.sinh(w)), expit(-2.0 * np.sinh(w))
    return Values(mean, rest, float(length) * 2.0 * np.cosh(w) * mean * rest)


def _levels(bandit: BernoulliBandit, setting: Setting, first: Ints, copies: Ints) -> Array:
    """Falling levels: all that there are, if few; else the more the more is lost between two of an even grid."""
    horizon, arms = setting.horizon, first.tolist()
    if len(arms) * horizon * (horizon + 1) <= 2 * LEVELS:
        return np.unique(
            [_index(bandit, setting, arm, k, s) for arm in arms for k in range(horizon) for s in range(k + 1)]
        )[::-1]
    ends = [_index(bandit, setting, arm, pulls, 0) for arm in arms for pulls in (0, horizon)]
    pilot = np.linspace(np.max(ends), np.min(ends), PILOT_LEVELS)
    values = _values(bandit, horizon, 2.0)
    assert values is not None
    kinds = [_arm(bandit, setting, arm, pilot, values) for arm in arms]
    lost = values.weight @ np.sum([_cells(kinds, copies, kind, horizon)[1] for kind in range(len(arms))], axis=0)
    # With h between levels a cell loses about h^2, so sqrt(lost) of it for each.
    share = np.cumsum(np.sqrt(np.maximum(lost[1:-1], 0.0)) + 1e-30)
    share = np.concatenate([[0.0], share / share[-1]])
    return np.interp(np.linspace(0.0, 1.0, LEVELS), share, pilot)


def _index(bandit: BernoulliBandit, setting: Setting, arm: int, pulls: int, successes: int) -> float:
    """As the engine computes it: arms fall below it to the last bit."""
    index = UpperConfidence(setting.L)
    return float(mean_plus_width(index, bandit.model, arm, pulls, float(successes)))  # type: ignore[no-untyped-call]


def _arm(bandit: BernoulliBandit, setting: Setting, arm: int, levels: Array, values: Values) -> Arm:
    horizon, counts = setting.horizon, (float(bandit.alpha[arm]), float(bandit.beta[arm]))
    exits = first_exits(bandit, UpperConfidence(setting.L), bandit.model, arm, horizon, levels)
    below, passed, left = sums_below(*counts, horizon, len(levels), exits, values.mean, values.rest)
    ever = np.zeros(len(levels))
    np.add.at(ever, exits.level, exits.mass)
    return Arm(below, passed, ever, horizon * below[:, None] - left)


def _cells(arms: list[Arm], copies: Ints, kind: int, horizon: int) -> tuple[Array, Array]:
    """For all arms of a kind, by value and cell of Y, the highest first: what is summed, and by how much more that may
    be than at the level above."""
    others = copies - (np.arange(len(arms)) == kind)
    lower = math.prod(arm.passed**many for arm, many in zip(arms, others, strict=True))
    every = math.prod(arm.ever**many for arm, many in zip(arms, others, strict=True))
    top = math.prod(arm.below**many for arm, many in zip(arms, others, strict=True))
    # P(V > v, Y < y) at all levels, from above all to below all
    chance = np.column_stack([1.0 - top, every - lower, np.zeros(len(top))])
    pulls = np.column_stack([arms[kind].pulls, horizon * arms[kind].below])
    cells = copies[kind] * (chance[:, :-1] - chance[:, 1:])
    return cells * pulls, cells * np.diff(pulls, axis=1, prepend=0.0)
