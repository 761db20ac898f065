"""The first-passage bound for Bernoulli bandits. Proof: docs/theory/exact.md.

As in first_passage_gaussian.py, regret <= sum over arms of E[(V - theta_a)^+ min(n, T_a(Y))], V and Y the highest mean
and the highest of the lowest indices of the other arms. T_a(y) falls as y rises, so on any grid of thresholds Y may be
replaced by the threshold below it: the sum is a bound for every grid, and the choice of the grid needs no proof.
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
from bayesregret.contracts.fast import mean_plus_width
from bayesregret.exact.bernoulli.exits import first_exits
from bayesregret.exact.bernoulli.posteriors import sums_below
from bayesregret.models import BernoulliBandit
from bayesregret.policies.bayes_ucb import UpperConfidence

# Limits that keep the computation to about a second.
LONGEST_HORIZON = 2_000
MOST_KINDS = 32
MOST_POINTS = 5_000
# An evenly spaced pilot grid shows where thresholds are needed.
PILOT_THRESHOLDS, THRESHOLDS = 64, 320
# Values v of V have log-odds 2 sinh(w), with steps of POINT_STEP over the root of the largest posterior pseudo-count.
# Log-odds grow fast at the ends, where posteriors are equally wide in log-odds.
POINT_STEP, WIDEST_STEP = 1.5, 0.1
PRIOR_SHARPENING = 4.0  # the distribution of the best of many arms is sharper than any arm's
LOG_ODDS = 32.0
TRUNCATED_MASS = 1e-14
# Relative error that the difference of two rules may miss by coincidence.
COINCIDENCE = 3e-10

Ints = NDArray[np.int64]


class MeanRule(NamedTuple):
    """Quadrature rule for integrals over the mean of an arm."""

    mean: Array
    rest: Array  # 1 - mean
    weight: Array


class BernoulliArmPassages(NamedTuple):
    """First passages of an arm of one kind, by value v of the mean and falling threshold of the index."""

    below: Array  # P(theta <= v)
    passed: Array  # P(theta <= v, T < horizon)
    passed_overall: Array  # P(T < horizon), by threshold
    pulls: Array  # E[min(horizon, T); theta <= v]


@certified_first_passage.of(BernoulliBandit, "first passages")
def first_passage_bernoulli(bandit: BernoulliBandit, setting: Setting, order: int) -> Parts:
    if bandit.arms == 1:
        return Parts({"leading": 0.0})
    counts = np.stack([bandit.alpha, bandit.beta], axis=1)
    _, first, copies = np.unique(counts, axis=0, return_index=True, return_counts=True)
    rule = _mean_rule(bandit, setting.horizon, FINE / order)
    why_not = first_failure(
        unless(setting.horizon <= LONGEST_HORIZON, f"first passages need a horizon of at most {LONGEST_HORIZON:,}"),
        unless(len(first) <= MOST_KINDS, f"first passages need at most {MOST_KINDS} different priors"),
        unless(rule is not None, "first passages need smaller prior pseudo-counts or priors closer to each other"),
    )
    if why_not is not None or rule is None:
        return Parts({"leading": math.inf}, why_not=why_not)
    thresholds = _thresholds(bandit, setting, first, copies)
    arms = [_arm(bandit, setting, arm, thresholds, rule) for arm in first.tolist()]
    cells = np.sum([_cells(arms, copies, kind, setting.horizon)[0] for kind in range(len(arms))], axis=0)
    parts = rule.weight * np.sum(cells, axis=1)
    value = max(0.0, math.fsum(parts))
    every_other = 2.0 * math.fsum(parts[::2])  # the rule with twice the step
    unseen = TRUNCATED_MASS * setting.horizon * bandit.arms**2 + COINCIDENCE * value
    return Parts({"leading": value}, error=abs(value - every_other) + unseen)


def _mean_rule(bandit: BernoulliBandit, horizon: int, coarsening: float) -> MeanRule | None:
    """Rule on the values that may separate two arms; None if it needs too many points."""
    with np.errstate(divide="ignore"):
        lowest = betaincinv(bandit.alpha, bandit.beta, TRUNCATED_MASS)
        rest = betaincinv(bandit.beta, bandit.alpha, TRUNCATED_MASS)
        low = float(np.min(np.log(lowest) - np.log1p(-lowest)))
        high = float(np.max(np.log1p(-rest) - np.log(rest)))
    first, last = (math.asinh(0.5 * min(LOG_ODDS, max(-LOG_ODDS, end))) for end in (low, high))
    sharpest = PRIOR_SHARPENING * float(np.max(bandit.alpha + bandit.beta)) + horizon
    steps = 1 + (last - first) / (coarsening * min(WIDEST_STEP, POINT_STEP / math.sqrt(sharpest)))
    if steps > MOST_POINTS:
        return None
    w, length = np.linspace(first, last, 1 + math.ceil(steps), retstep=True)
    mean, rest = expit(2.0 * np.sinh(w)), expit(-2.0 * np.sinh(w))
    return MeanRule(mean, rest, float(length) * 2.0 * np.cosh(w) * mean * rest)


def _thresholds(bandit: BernoulliBandit, setting: Setting, first: Ints, copies: Ints) -> Array:
    """Falling thresholds: all possible indices if they are few, otherwise a grid adapted to the pilot grid's losses."""
    horizon, arms = setting.horizon, first.tolist()
    if len(arms) * horizon * (horizon + 1) <= 2 * THRESHOLDS:
        return np.unique(
            [_index(bandit, setting, arm, k, s) for arm in arms for k in range(horizon) for s in range(k + 1)]
        )[::-1]
    ends = [_index(bandit, setting, arm, pulls, 0) for arm in arms for pulls in (0, horizon)]
    pilot = np.linspace(np.max(ends), np.min(ends), PILOT_THRESHOLDS)
    rule = _mean_rule(bandit, horizon, 2.0)
    assert rule is not None
    kinds = [_arm(bandit, setting, arm, pilot, rule) for arm in arms]
    lost = rule.weight @ np.sum([_cells(kinds, copies, kind, horizon)[1] for kind in range(len(arms))], axis=0)
    # A cell of length h loses about h^2, so thresholds are placed with density sqrt(lost).
    cumulative = np.cumsum(np.sqrt(np.maximum(lost[1:-1], 0.0)) + 1e-30)
    cumulative = np.concatenate([[0.0], cumulative / cumulative[-1]])
    return np.interp(np.linspace(0.0, 1.0, THRESHOLDS), cumulative, pilot)


def _index(bandit: BernoulliBandit, setting: Setting, arm: int, pulls: int, successes: int) -> float:
    """Index computed exactly as the engine does: comparisons with thresholds are decided by the last bit."""
    index = UpperConfidence(setting.L)
    return float(mean_plus_width(index, bandit.model, arm, pulls, float(successes)))  # type: ignore[no-untyped-call]


def _arm(
    bandit: BernoulliBandit, setting: Setting, arm: int, thresholds: Array, rule: MeanRule
) -> BernoulliArmPassages:
    horizon, counts = setting.horizon, (float(bandit.alpha[arm]), float(bandit.beta[arm]))
    exits = first_exits(bandit, UpperConfidence(setting.L), bandit.model, arm, horizon, thresholds)
    below, passed, left = sums_below(*counts, horizon, len(thresholds), exits, rule.mean, rule.rest)
    passed_overall = np.zeros(len(thresholds))
    np.add.at(passed_overall, exits.threshold, exits.mass)
    return BernoulliArmPassages(below, passed, passed_overall, horizon * below[:, None] - left)


def _cells(arms: list[BernoulliArmPassages], copies: Ints, kind: int, horizon: int) -> tuple[Array, Array]:
    """For all arms of a kind, by value and cell of Y, the highest first: the summand, and its excess over the summand
    at the threshold above."""
    others = copies - (np.arange(len(arms)) == kind)
    all_passed_below = math.prod(arm.passed**count for arm, count in zip(arms, others, strict=True))
    all_passed = math.prod(arm.passed_overall**count for arm, count in zip(arms, others, strict=True))
    all_below = math.prod(arm.below**count for arm, count in zip(arms, others, strict=True))
    # P(V > v, Y < y) from above all thresholds y to below all of them
    probability = np.column_stack([1.0 - all_below, all_passed - all_passed_below, np.zeros(len(all_below))])
    pulls = np.column_stack([arms[kind].pulls, horizon * arms[kind].below])
    cells = copies[kind] * (probability[:, :-1] - probability[:, 1:])
    return cells * pulls, cells * np.diff(pulls, axis=1, prepend=0.0)
