"""The least discounted regret of Bernoulli arms between two numbers, from one plain recursion over all states.

For each charge both the surplus W and D, the expected discount when the arm is given up. On a panel D rises from D0 to
D1 with a known mean, so the mean of a product of copies lies between the product of means, and what D would give if it
took no value but D0 and D1.
"""

import itertools

import numpy as np
from scipy import special


def surplus_and_discount(alpha, beta, horizon, charges, depth):
    """(1 - g) W and D of one arm, without learning after `depth` pulls."""
    g = 1.0 - 1.0 / horizon
    wins = np.arange(depth + 1)
    surplus = np.maximum(0.0, (alpha + wins)[:, None] / (alpha + beta + depth) - charges)
    discount = np.where(surplus > 0.0, 0.0, 1.0)
    for k in range(depth - 1, -1, -1):
        mean = ((alpha + wins[: k + 1]) / (alpha + beta + k))[:, None]
        value = (1.0 - g) * (mean - charges) + g * (mean * surplus[1 : k + 2] + (1.0 - mean) * surplus[: k + 1])
        later = g * (mean * discount[1 : k + 2] + (1.0 - mean) * discount[: k + 1])
        surplus, discount = np.maximum(0.0, value), np.where(value > 0.0, later, 1.0)
    return surplus[0], discount[0]


def least_discounted_regret(arms, horizon, *, panels=800, rounds=8, depth=25):
    """Lower and upper end for equal or different arms, given as pairs of pseudo-counts."""
    charges = np.linspace(0.0, 1.0, panels + 1)
    kinds = sorted(set(arms))
    copies = np.array([arms.count(kind) for kind in kinds])
    for _ in range(rounds):
        solved = [surplus_and_discount(*kind, horizon, charges, depth * horizon) for kind in kinds]
        lengths = np.diff(charges)
        means = np.array([1.0 + np.diff(surplus) / lengths for surplus, _ in solved])
        low, high = (np.array([discount[part] for _, discount in solved]) for part in (np.s_[:-1], np.s_[1:]))
        least = np.prod(means ** copies[:, None], axis=0)
        most = _largest_mean(means, low, high, copies)
        gaps = lengths * (most - least)
        widest = np.argsort(gaps)[-panels // 4 :]
        ends = float(lengths @ least), float(lengths @ most)
        charges = np.sort(np.append(charges, 0.5 * (charges[widest] + charges[widest + 1])))
    x, weights = np.polynomial.legendre.leggauss(200)
    u = 0.5 * (1.0 + x)
    best = 1.0 - 0.5 * weights @ (
        np.prod([special.betainc(a, b, u * u * (3 - 2 * u)) for a, b in arms], axis=0) * 6 * u * (1 - u)
    )
    return tuple(horizon * (best - 1.0 + end) for end in ends)


def _largest_mean(means, low, high, copies):
    """Mean of the product if every factor takes its two extreme values, all of them high on the same charges."""
    rise = np.where(high > low, high - low, 1.0)
    parts = np.repeat(np.clip((means - low) / rise, 0.0, 1.0), copies, axis=0)
    low, high = np.repeat(low, copies, axis=0), np.repeat(high, copies, axis=0)
    edges = np.sort(np.vstack([np.zeros_like(parts[:1]), parts, np.ones_like(parts[:1])]), axis=0)
    total = np.zeros(means.shape[1])
    for start, end in itertools.pairwise(edges):
        total += (end - start) * np.prod(np.where(parts > 0.5 * (start + end), high, low), axis=0)
    return total
