"""Probability that a round of a Gaussian bandit pulls the best arm.

As for regret, a threshold sweeps from the top down, but now the arms' true means matter as well. For a value v let

    P(z) = E[z^T; mean <= v],        p(z) = dP(z)/dv.

The pulls of an arm that is best and has mean v are the coefficients of -dp / (1 - z) times the series P of all other
arms, integrated over v. At a fixed `ahead` = v - threshold everything is smooth in the threshold; in `ahead` it is
sharp at 0, where the points are dense.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from bayesregret.checks import Array
from bayesregret.exact.gaussian.chain import SQRT_2PI, graded_panels
from bayesregret.exact.gaussian.exit_points import ExitPoints, exit_points
from bayesregret.exact.gaussian.regret import GaussianKind, ThresholdPanels, edges_of, interpolation
from bayesregret.exact.power_series import Series, Transform
from bayesregret.models import GaussianBandit
from bayesregret.numerics.quadrature import even_edges, gauss_rule

# Order of all quadrature rules: about six digits.
ORDER = 8
# Order of the rule in `ahead`, on each panel.
AHEAD_ORDER = 6
# Exits after more pulls than this are represented by two points each.
EARLY = 8
LEAST = 1e-30
PANEL = 1.2
# Largest prior width, in units of the noise, and twice the largest confidence width, in posterior deviations.
WIDEST = 30.0
# Without a prior: largest noise, in prior widths.
NOISIEST = 8.0
# Largest distance of the best arm from the highest prior mean, in prior widths.
FAR = 7.0


class BestArmSeries(NamedTuple):
    """Series of one kind at some thresholds and one `ahead`: P, p, and the rate at which p falls with the threshold."""

    below: Series
    density: Series
    falls: Series


def gaussian_best_arm_probability(bandit: GaussianBandit, kinds: Sequence[GaussianKind], horizon: int) -> Array | None:
    """Probability that each round pulls the best arm, (horizon,).

    None where the prior is 30 times as wide as the noise or confidence bounds are 15 posterior deviations wide, which
    would take too many points, and for heteroscedastic arms: the points are chosen for one width and one noise.
    """
    if bandit.arms_differ:
        return None
    ratio = bandit.reward_noise / bandit.prior_width
    too_noisy = kinds[0].belief.prior_pulls == 0.0 and ratio > NOISIEST
    if ratio < 1.0 / WIDEST or too_noisy or _deviations(kinds) > WIDEST / 2.0:
        return None
    if bandit.arms == 1:
        return np.ones(horizon)
    transform = Transform(horizon, oversampling=2.0, digits=9.0)
    sweep = BestArmSweep(bandit, kinds, horizon, transform)
    total = sweep.before_any_pull()
    for ahead, weight in zip(*_ahead(bandit, sweep, horizon), strict=True):
        total = total + weight * sweep.at(ahead)
    return np.clip(transform.running_sums(total), 0.0, 1.0)


def _ahead(bandit: GaussianBandit, sweep: BestArmSweep, horizon: int) -> tuple[list[float], list[float]]:
    """Points and weights in `ahead`: dense near 0, on the sharpest posterior's scale, elsewhere on the prior's."""
    sharpest = bandit.reward_noise / math.sqrt(horizon + (bandit.reward_noise / bandit.prior_width) ** 2)
    highest, lowest = max(panels.top for panels in sweep.panels), -FAR * bandit.prior_width

    # An arm exits about z posterior deviations below the threshold: far from 0, the functions vary on that scale.
    growth = 1.0 + min(0.7, 2.6 / _deviations(sweep.kinds))

    def side(end: float) -> Array:
        return graded_panels(2.0 * sharpest, PANEL * bandit.prior_width, end, growth)

    deepest = min(panels.bottom for panels in sweep.panels)
    edges = np.concatenate([-side(highest - lowest)[:0:-1], side(FAR * bandit.prior_width - deepest)])
    points, weights = gauss_rule(edges, AHEAD_ORDER)
    return points.tolist(), weights.tolist()


def _deviations(kinds: Sequence[GaussianKind]) -> float:
    """Largest confidence width, in posterior standard deviations."""
    widest = 1.0
    for kind in kinds:
        arm = kind.belief
        pulls = arm.prior_pulls + np.arange(1.0, len(arm.widths))
        widest = max(widest, float(np.max(arm.widths[1:] * np.sqrt(pulls), initial=0.0)) / arm.noise)
    return widest


class GaussianExits(NamedTuple):
    """Exits as points with masses, and the standard deviation of the arm's mean around them.

    Those after few pulls have one entry of `early` per count of pulls; the others are together in the arrays.
    """

    early: list[tuple[Array, Array, float]]
    mass: Array  # (thresholds, pulls, 2)
    offset: Array
    deviation: Array  # (pulls, 1)


def _as_two_points(points: ExitPoints) -> GaussianExits:
    """Replace late exits by two points with the same mass, mean, variance and skewness: they are close together."""
    early = list(zip(points.mass[:EARLY], points.offset[:EARLY], points.deviation[1 : EARLY + 1], strict=False))
    pairs = zip(points.mass[EARLY:], points.offset[EARLY:], strict=True)
    late = [_two_points(mass, offset) for mass, offset in pairs] or [(np.zeros((len(points.thresholds), 2)),) * 2]
    deviation = points.deviation[EARLY + 1 :] if len(points.mass) > EARLY else np.ones(1)
    return GaussianExits(
        early,
        np.stack([mass for mass, _ in late], axis=1),
        np.stack([offset for _, offset in late], axis=1),
        deviation[:, None],
    )


def _two_points(mass: Array, offset: Array) -> tuple[Array, Array]:
    mass = np.maximum(mass, 0.0)
    total = np.maximum(mass.sum(axis=1), LEAST)[:, None]
    mean = (mass * offset).sum(axis=1)[:, None] / total
    off = offset - mean
    variance = (mass * off * off).sum(axis=1)[:, None] / total
    spread = np.sqrt(np.maximum(variance, LEAST))
    skew = (mass * off * off * off).sum(axis=1)[:, None] / total / spread**3
    root = np.sqrt(skew * skew + 4.0)
    places = np.concatenate([0.5 * (skew - root), 0.5 * (skew + root)], axis=1)
    fractions = np.concatenate([places[:, 1:], -places[:, :1]], axis=1) / root
    return np.where(total > LEAST, fractions * total, 0.0), mean + spread * places


def _at_distance(ahead: float, mass: Array, offset: Array, deviation: Array | float) -> Array:
    """P(mean below `ahead`), its density there and that density's derivative, summed over points on the last axis."""
    x = (ahead - offset) / deviation
    bell = mass * np.exp(-0.5 * x * x) / (SQRT_2PI * deviation)
    return np.stack([np.sum(mass * ndtr(x), axis=-1), np.sum(bell, axis=-1), np.sum(-bell * x / deviation, axis=-1)])


class BestArmSweep:
    """Sweep over thresholds for one value of `ahead`."""

    def __init__(
        self, bandit: GaussianBandit, kinds: Sequence[GaussianKind], horizon: int, transform: Transform
    ) -> None:
        self.width, self.transform = bandit.prior_width, transform
        self.copies = [len(kind.arms) for kind in kinds]
        self.kinds = kinds
        origin = float(bandit.prior_mean.max())
        self.means = [kind.mean - origin for kind in kinds]
        tables = [exit_points(kind.belief, ORDER) for kind in kinds]
        self.exits = [_as_two_points(points) for points in tables]
        self.panels = [
            ThresholdPanels.below(kind.first_index - origin, mean + points.top, points.edges, points.order)
            for kind, mean, points in zip(kinds, self.means, tables, strict=True)
        ]
        self.has_prior = kinds[0].belief.prior_pulls > 0.0
        self.edges = edges_of(self.panels, self.copies, self.width)

    def before_any_pull(self) -> Series:
        """Series of the first pulls of policies without a prior, which pull every arm once in order: P(arm is best)."""
        total = np.zeros(len(self.transform.points), np.complex128)
        if self.has_prior:
            return total
        v, weights = gauss_rule(even_edges(-FAR * self.width, FAR * self.width, 0.25 * self.width), 12)
        below = [self._prior(kind, v).below.real[:, 0] for kind in range(len(self.kinds))]
        product = np.prod([p**many for p, many in zip(below, self.copies, strict=True)], axis=0)
        for kind, of_kind in enumerate(self.kinds):
            others = product / np.maximum(below[kind], 1e-300)
            best = float(np.sum(weights * others * self._prior(kind, v).density.real[:, 0]))
            for arm in of_kind.arms:
                total = total + best * self.transform.points**arm * (1.0 - self.transform.points)
        return total

    def at(self, ahead: float) -> Series:
        """Integral over thresholds, for means at threshold + ahead."""
        rows = [self._rows(exits, ahead) for exits in self.exits]
        total = np.zeros(len(self.transform.points), np.complex128)
        for high, low in itertools.pairwise(self.edges.tolist()):
            here = [i for i, panels in enumerate(self.panels) if panels.top == high and self.has_prior]
            if here:
                total += self._jump(here, high, ahead, rows)
            total += self._sweep_panel(high, low, ahead, rows)
        return total

    def _rows(self, exits: GaussianExits, ahead: float) -> tuple[Series, Series, Series]:
        """Series P, p and dp/dahead at the nodes of the panels."""
        made = np.zeros((3, len(exits.mass), self.transform.terms))
        for j, (mass, offset, deviation) in enumerate(exits.early, start=1):
            made[:, :, j] = _at_distance(ahead, mass, offset, deviation)
        if self.transform.terms > EARLY + 1:
            made[:, :, EARLY + 1 :] = _at_distance(ahead, exits.mass, exits.offset, exits.deviation)
        below, density, slope = self.transform.forward(made)
        return below, density, slope

    def _prior(self, kind: int, v: Array) -> BestArmSeries:
        """Series of arms before their first pull."""
        x = ((v - self.means[kind]) / self.width)[:, None]
        ones = np.ones((1, len(self.transform.points)), np.complex128)
        bell = np.exp(-0.5 * x * x) / (SQRT_2PI * self.width)
        return BestArmSeries(ndtr(x) * ones, bell * ones, 0.0 * ones)

    def _part(
        self, kind: int, thresholds: Array, inside: float, ahead: float, rows: Sequence[tuple[Series, ...]]
    ) -> BestArmSeries:
        panels = self.panels[kind]
        if inside > panels.top:
            prior = self._prior(kind, thresholds + ahead)
            return prior if self.has_prior else prior._replace(below=prior.below * self.transform.points)
        if inside < panels.bottom:
            nothing = np.zeros((len(thresholds), len(self.transform.points)), np.complex128)
            return BestArmSeries(nothing, nothing, nothing)
        values, slopes, nodes = interpolation(panels, thresholds, inside)
        below, density, in_ahead = (series[nodes] for series in rows[kind])
        return BestArmSeries(values @ below, values @ density, -(slopes @ density + values @ in_ahead))

    def _sweep_panel(self, high: float, low: float, ahead: float, rows: Sequence[tuple[Series, ...]]) -> Series:
        thresholds, weights = gauss_rule(np.array([low, high]), ORDER + 2)
        middle = 0.5 * (low + high)
        parts = [self._part(kind, thresholds, middle, ahead, rows) for kind in range(len(self.kinds))]
        total = np.zeros(len(self.transform.points), np.complex128)
        for kind, part in enumerate(parts):
            if self.panels[kind].bottom <= middle <= self.panels[kind].top:
                others = self._others(kind, [p.below for p in parts])
                total += self.copies[kind] * np.sum(weights[:, None] * others * part.falls, axis=0)
        return total

    def _others(self, kind: int, below: Sequence[Series]) -> Series:
        product = below[kind] ** (self.copies[kind] - 1)
        for other, series in enumerate(below):
            if other != kind:
                product = product * series ** self.copies[other]
        return product

    def _jump(self, here: Sequence[int], threshold: float, ahead: float, rows: Sequence[tuple[Series, ...]]) -> Series:
        """Make the first pulls of arms whose first index is this threshold, in the order of their numbers."""
        at = np.array([threshold])
        distributions = [self._part(kind, at, threshold, ahead, rows).below[0] for kind in range(len(self.kinds))]
        before = {kind: self._prior(kind, at + ahead) for kind in here}
        after = {kind: self._part(kind, at, threshold, ahead, rows) for kind in here}
        for kind in here:
            distributions[kind] = before[kind].below[0]
        total = np.zeros(len(self.transform.points), np.complex128)
        done = [0] * len(self.kinds)
        for _, kind in sorted((arm, i) for i in here for arm in self.kinds[i].arms):
            product = before[kind].density[0] - after[kind].density[0]
            for other in range(len(self.kinds)):
                product = product * distributions[other] ** (self.copies[other] - done[other] - (other == kind))
                if done[other]:
                    product = product * after[other].below[0] ** done[other]
            total += product
            done[kind] += 1
        return total
