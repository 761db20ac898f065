"""Three bounds on the regret of Thompson sampling, for independent arms. Proofs: docs/theory/thompson.md.

A round's regret is the sum over arms of D = P(arm is best) E[mean reward - its posterior mean | arm is best]. After k
pulls D is at most `deviation` times a concave function J of the arm's probability q to be pulled; it is the arm's
density of ties with the best other arm times `per_tie`; and its square, over 2 `spread` (1 - q), is at most the
information that the round brings about the best arm. With multipliers for what information and ties add up to, D is at
most nu + q slope: nu is paid for every arm in every round, a slope once for each arm and number of pulls. Slopes may be
negative: the n pulls of a run are n different ones, so together they cost at most the sum of the n largest slopes.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtr

from bayesregret.checks import Array

# Multiples z of the deviation at which a tail's expected excess is tabulated.
LARGEST_Z, STEP_Z = 37.0, 0.01
LOWEST_Z = -40.0
# Up to this many pulls slopes are computed for each number, beyond it for blocks that grow by this fraction.
FINE_PULLS, FINE_GROWTH = 256, 0.005
# Blocks of the two rounds of a search, and the first step, in logarithms.
SEARCHES = ((8, 0.25, 0.7), (64, 0.05, 0.1))
FRACTIONS = np.linspace(0.0, 1.0, 65) ** 2  # of the range of e, in `slopes`: the least is often close to its start
# Starts of the search for the multipliers, relative to their units.
STARTS = [(mu, nu) for mu in (0.5, 0.1, 0.02, 0.004, 1e-4) for nu in (1e-1, 1e-2, 1e-3, 1e-5)]
STARTS_OF_REFINED = [(information, nu) for information in (1.0, 0.1) for nu in (1e-1, 1e-2, 1e-4)]
SEARCH = {"maxiter": 120, "xatol": 1e-3, "fatol": 0.0}
DECIMALS = 4  # of the logarithms that it finds
SMALLEST_LOG, LARGEST_LOG = -300.0, 300.0
# With more kinds of arms than this, those of similar complexity share their multipliers.
MOST_SEARCHES = 12


class Tail(NamedTuple):
    """Points on or above a convex function of z: the expected excess of a mean reward over z deviations."""

    excess: Array  # rising
    z: Array

    def reached(self, excess: Array) -> Array:
        """Return z with an expected excess of at most this: chords lie above a convex function."""
        return np.interp(excess, self.excess, self.z, left=math.inf)


def _z_grid() -> Array:
    return np.append(np.arange(LARGEST_Z, 0.0, -STEP_Z), np.arange(0.0, LOWEST_Z, -STEP_Z))


@functools.cache
def normal_tail() -> Tail:
    """E(Z - z)^+ for a standard normal Z."""
    z = _z_grid()
    return Tail(np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi) - z * ndtr(-z), z)


@functools.cache
def sub_gaussian_tail() -> Tail:
    """Upper bound on E(X - z)^+ for X with mean 0, variance at most 1 and E exp(tX) <= exp(t^2 / 2).

    By the variance alone (Scarf 1958), and by (x - z)^+ <= exp(t (x - z) - 1) / t with the best t > 0. For z < 0 it is
    -z + E(-X - (-z))^+, and -X is of the same kind.
    """
    z = _z_grid()
    away = np.abs(z)
    by_variance = 0.5 / (np.sqrt(1.0 + away * away) + away)
    t = 0.5 * (away + np.sqrt(away * away + 4.0))
    return Tail(np.minimum(by_variance, np.exp(0.5 * t * t - t * away - 1.0) / t) + np.maximum(-z, 0.0), z)


class AlikeArms(NamedTuple):
    """Arms of equal posterior widths and equal complexity, with functions of the number of pulls that never rise."""

    copies: int
    complexity: float  # of one arm: the density of its ties with the best other arm
    deviation: Callable[[Array], Array]
    per_tie: Callable[[Array], Array]
    spread: Callable[[Array], Array]
    tail: Tail


class FreeNumbers(NamedTuple):
    """The free numbers of a form; every choice gives a bound."""

    information: float  # lambda, of the information
    ties: float  # mu, of the ties
    round: float  # nu, paid in every round


class Blocks(NamedTuple):
    """Numbers of pulls 0 to n - 1 in blocks."""

    starts: Array
    sizes: Array


@functools.lru_cache(maxsize=64)
def blocks(horizon: int, exact: int, growth: float) -> Blocks:
    """Each number up to `exact`, then blocks that grow; slopes never rise, so the first one of a block bounds all."""
    starts = list(range(min(exact, horizon)))
    at = float(exact)
    while at < horizon:
        starts.append(int(at))
        at = max(at + 1.0, math.floor(at * (1.0 + growth)))
    edges = np.array([*starts, horizon], dtype=np.float64)
    return Blocks(edges[:-1], np.diff(edges))


def slopes(arms: AlikeArms, pulls: Array, by: FreeNumbers) -> Array:
    """For each number of pulls the least slope such that an arm's part of a round is at most nu + q slope.

    With A = 1 - mu / per_tie, W = spread / (2 lambda) and any e from 0 to A, A D - lambda D^2 / (2 spread (1 - q)) is
    at most e D + (A - e)^2 W (1 - q), and D is at most the deviation times excess(z) + z q, for any z.
    """
    deviation = arms.deviation(pulls)
    weight = np.maximum(0.0, 1.0 - by.ties / arms.per_tie(pulls))
    if by.information == 0.0:
        return _widths(arms.tail, by.round, weight * deviation, by.round)
    most = arms.spread(pulls) / (2.0 * by.information)
    least = np.maximum(0.0, weight - np.sqrt(by.round / most))
    e = least[:, None] + (weight - least)[:, None] * FRACTIONS
    given_up = (weight[:, None] - e) ** 2 * most[:, None]
    found = _widths(arms.tail, by.round - given_up, e * deviation[:, None], by.round) - given_up
    # Where e = 0 is allowed, the part is at most nu (1 - q).
    return np.where(least == 0.0, -by.round, np.min(np.where(e > 0.0, found, math.inf), axis=1, initial=math.inf))


def _widths(tail: Tail, allowed: Array | float, scale: Array, at_zero: float) -> Array:
    """`scale` z, at the z at which `scale` times the expected excess is at most what is allowed."""
    with np.errstate(divide="ignore", invalid="ignore"):
        z = tail.reached(np.where(scale > 0.0, np.maximum(allowed, 0.0) / scale, 0.0))
        return np.where(scale > 0.0, scale * z, -at_zero)


def largest_sum(values: Array, copies: Array, most: int) -> tuple[float, float]:
    """Sum of the `most` largest of some values, of each of which there are copies; and the smallest one among them."""
    order = np.argsort(-values, kind="stable")
    before = np.cumsum(copies[order]) - copies[order]
    taken = np.clip(most - before, 0.0, copies[order])
    return float(taken @ values[order]), float(values[order][taken > 0.0].min(initial=math.inf))


def total(
    kinds: list[AlikeArms], each: list[FreeNumbers], entropy: float, horizon: int, cut: Blocks
) -> tuple[float, float]:
    """The bound with these multipliers, one set for each kind, and xi, the least slope that is paid."""
    paid = np.concatenate([slopes(arms, cut.starts, by) for arms, by in zip(kinds, each, strict=True)])
    copies = np.concatenate([arms.copies * cut.sizes for arms in kinds])
    widths, xi = largest_sum(paid, copies, horizon)
    rounds = math.fsum(
        arms.copies * (by.round + by.ties * arms.complexity) for arms, by in zip(kinds, each, strict=True)
    )
    learned = each[0].information * entropy if each[0].information > 0.0 else 0.0
    return learned + horizon * rounds + widths, xi


def value_with(kinds: list[AlikeArms], each: list[FreeNumbers], entropy: float, horizon: int) -> tuple[float, float]:
    """The bound with these multipliers, on fine blocks, and xi."""
    return total(kinds, each, entropy, horizon, blocks(horizon, FINE_PULLS, FINE_GROWTH))


# --- the search for multipliers ------------------------------------------------------------------------------------


def search_refined(kinds: list[AlikeArms], entropy: float, horizon: int) -> list[FreeNumbers]:
    """The best lambda and nu, shared by all kinds, without ties."""
    few = [group[len(group) // 2]._replace(copies=sum(arms.copies for arms in group)) for group in _similar(kinds)]
    spread = math.fsum(arms.copies * _at_once(arms.spread) for arms in few)
    information = math.sqrt(horizon * spread / (2.0 * entropy)) if entropy > 0.0 else 1.0
    deviation = max(_at_once(arms.deviation) for arms in few)

    def made(x: Array) -> FreeNumbers:
        return FreeNumbers(information * float(x[0]), 0.0, deviation * float(x[1]))

    def value(x: Array, cut: Blocks) -> float:
        return total(few, [made(x)] * len(few), entropy, horizon, cut)[0]

    return [made(_search(value, STARTS_OF_REFINED, horizon))] * len(kinds)


def search_ties(kinds: list[AlikeArms], horizon: int) -> list[FreeNumbers]:
    """The best mu and nu for each kind alone, without information; similar kinds share them if there are many."""
    found: dict[int, FreeNumbers] = {}
    for group in _similar(kinds):
        middle = group[len(group) // 2]
        by = _search_alone(middle, horizon)
        found |= {id(arms): _rescaled(by, middle, arms) for arms in group}
    return [found[id(arms)] for arms in kinds]


def _similar(kinds: list[AlikeArms]) -> list[list[AlikeArms]]:
    """At most MOST_SEARCHES groups, of arms with about the same complexity and then prior deviation."""
    in_order = sorted(kinds, key=lambda arms: (arms.complexity, _at_once(arms.deviation)))
    size = math.ceil(len(kinds) / MOST_SEARCHES)
    return [in_order[first : first + size] for first in range(0, len(kinds), size)]


def _at_once(of_pulls: Callable[[Array], Array]) -> float:
    """The value before the first pull."""
    return float(of_pulls(np.zeros(1))[0])


def _rescaled(by: FreeNumbers, found_for: AlikeArms, arms: AlikeArms) -> FreeNumbers:
    """The same multipliers in units of another kind's first variance and deviation."""
    ties = _at_once(arms.per_tie) if by.round == 0.0 else by.ties * _at_once(arms.per_tie) / _at_once(found_for.per_tie)
    return FreeNumbers(0.0, ties, by.round * _at_once(arms.deviation) / _at_once(found_for.deviation))


def _search_alone(arms: AlikeArms, horizon: int) -> FreeNumbers:
    """A kind alone has as many pulls as rounds: no slope below 0 is paid."""
    variance, deviation = _at_once(arms.per_tie), _at_once(arms.deviation)

    def made(x: Array) -> FreeNumbers:
        return FreeNumbers(0.0, variance * float(x[0]), deviation * float(x[1]))

    def value(x: Array, cut: Blocks) -> float:
        by = made(x)
        paid = np.maximum(0.0, slopes(arms, cut.starts, by))
        return horizon * (by.round + by.ties * arms.complexity) + float(paid @ cut.sizes)

    found = _search(value, STARTS, horizon)
    # With mu so high that no slope is left, ties alone bound the regret.
    cut = blocks(horizon, FINE_PULLS, FINE_GROWTH)
    return made(min(found, np.array([1.0, 0.0]), key=lambda x: value(x, cut)))


def _search(function: Callable[[Array, Blocks], float], starts: list[tuple[float, float]], horizon: int) -> Array:
    """Minimise a function of two positive numbers, from the best of some starts, on finer and finer blocks."""

    def of_logs(logs: Array, cut: Blocks) -> float:
        return function(np.exp(np.clip(logs, SMALLEST_LOG, LARGEST_LOG)), cut)

    rough = blocks(horizon, *SEARCHES[0][:2])
    best = min((np.log(np.array(each)) for each in starts), key=lambda logs: of_logs(logs, rough))
    for exact, growth, step in SEARCHES:
        simplex = best + step * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        cut = blocks(horizon, exact, growth)
        options = {**SEARCH, "initial_simplex": simplex}
        best = minimize(of_logs, best, args=(cut,), method="Nelder-Mead", options=options).x
    # Rounded, so that the rounding errors of the search do not reach the bound.
    return np.exp(np.round(np.clip(best, SMALLEST_LOG, LARGEST_LOG), DECIMALS))
