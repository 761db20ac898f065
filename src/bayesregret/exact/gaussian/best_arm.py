"""The chance that a round of a Gaussian bandit is on the best arm.

As for regret, a level sweeps from the top down; but now the arms' means count, too. For arms whose mean is at most v,

    P(z) = E[z^T; mean <= v],        p(z) = dP(z)/dv,

and the pulls of an arm that is best, its mean being v, are the coefficients of -dp / (1 - z) times the series P of all
others, integrated over v. All is smooth in the level if v minus the level, `ahead`, is kept; in `ahead` it is sharp
at 0, where points are dense.
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
from bayesregret.exact.gaussian.regret import Kind, Panels, edges_of, interpolation
from bayesregret.exact.power_series import Series, Transform
from bayesregret.models import GaussianBandit
from bayesregret.numerics.quadrature import even_edges, gauss_rule

# All rules are of this order: about six digits.
ORDER = 8
# Points ahead of and behind the level: the order of their rule on each panel.
AHEAD_ORDER = 6
# Exits after so many pulls are kept as two points each.
EARLY = 8
LEAST = 1e-30
PANEL = 1.2
# Wider priors and confidence bounds than this, in noises and deviations, are left alone.
WIDEST = 30.0
# Without a prior, the same for noise in prior widths.
NOISIEST = 8.0
# Farther than this from the highest mean, in prior widths, the best arm never is.
FAR = 7.0


class Part(NamedTuple):
    """Series of one kind at some levels, all for the same distance ahead: P, p, and how fast p falls with the level."""

    below: Series
    density: Series
    falls: Series


def gaussian_best_chance(bandit: GaussianBandit, kinds: Sequence[Kind], horizon: int) -> Array | None:
    """(horizon,): the chance that each round is on the best arm; None where the prior is 30 times as wide as the
    noise, or confidence bounds are 15 deviations wide: both would take too many points. None, too, where arms have
    widths or noises of their own: the points here are laid for one of each."""
    if bandit.arms_differ:
        return None
    ratio = bandit.reward_noise / bandit.prior_width
    too_noisy = kinds[0].belief.prior_pulls == 0.0 and ratio > NOISIEST
    if ratio < 1.0 / WIDEST or too_noisy or _deviations(kinds) > WIDEST / 2.0:
        return None
    if bandit.arms == 1:
        return np.ones(horizon)
    transform = Transform(horizon, oversampling=2.0, digits=9.0)
    sweep = BestSweep(bandit, kinds, horizon, transform)
    total = sweep.before_any_pull()
    for ahead, weight in zip(*_ahead(bandit, sweep, horizon), strict=True):
        total = total + weight * sweep.at(ahead)
    return np.clip(transform.running_sums(total), 0.0, 1.0)


def _ahead(bandit: GaussianBandit, sweep: BestSweep, horizon: int) -> tuple[list[float], list[float]]:
    """Points and weights: dense near 0, on the scale of the sharpest posterior, and nowhere sparser than the prior."""
    sharpest = bandit.reward_noise / math.sqrt(horizon + (bandit.reward_noise / bandit.prior_width) ** 2)
    highest, lowest = max(panels.top for panels in sweep.panels), -FAR * bandit.prior_width

    # An arm exits z posterior deviations below the level: so far off, that is what things vary on.
    growth = 1.0 + min(0.7, 2.6 / _deviations(sweep.kinds))

    def side(end: float) -> Array:
        return graded_panels(2.0 * sharpest, PANEL * bandit.prior_width, end, growth)

    deepest = min(panels.bottom for panels in sweep.panels)
    edges = np.concatenate([-side(highest - lowest)[:0:-1], side(FAR * bandit.prior_width - deepest)])
    points, weights = gauss_rule(edges, AHEAD_ORDER)
    return points.tolist(), weights.tolist()


def _deviations(kinds: Sequence[Kind]) -> float:
    """How many posterior deviations wide confidence bounds are, at most."""
    widest = 1.0
    for kind in kinds:
        arm = kind.belief
        pulls = arm.prior_pulls + np.arange(1.0, len(arm.widths))
        widest = max(widest, float(np.max(arm.widths[1:] * np.sqrt(pulls), initial=0.0)) / arm.noise)
    return widest


class Exits(NamedTuple):
    """Exits as points with masses, with the deviations of the arm's mean around them: those of few pulls one count of
    pulls after the other, all others at once."""

    early: list[tuple[Array, Array, float]]
    mass: Array  # (levels, pulls, 2)
    offset: Array
    deviation: Array  # (pulls, 1)


def _two_points_each(points: ExitPoints) -> Exits:
    """Two points that have the mass, mean, variance and skewness of all, after enough pulls for these to be near."""
    early = list(zip(points.mass[:EARLY], points.offset[:EARLY], points.deviation[1 : EARLY + 1], strict=False))
    pairs = zip(points.mass[EARLY:], points.offset[EARLY:], strict=True)
    late = [_two_points(mass, offset) for mass, offset in pairs] or [(np.zeros((len(points.levels), 2)),) * 2]
    deviation = points.deviation[EARLY + 1 :] if len(points.mass) > EARLY else np.ones(1)
    return Exits(
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
    shares = np.concatenate([places[:, 1:], -places[:, :1]], axis=1) / root
    return np.where(total > LEAST, shares * total, 0.0), mean + spread * places


def _seen_from(ahead: float, mass: Array, offset: Array, deviation: Array | float) -> Array:
    """For points on the last axis: the chance that the arm's mean is below, its density there, and how that changes."""
    x = (ahead - offset) / deviation
    bell = mass * np.exp(-0.5 * x * x) / (SQRT_2PI * deviation)
    return np.stack([np.sum(mass * ndtr(x), axis=-1), np.sum(bell, axis=-1), np.sum(-bell * x / deviation, axis=-1)])


class BestSweep:
    """What a sweep adds up for one distance ahead."""

    def __init__(self, bandit: GaussianBandit, kinds: Sequence[Kind], horizon: int, transform: Transform) -> None:
        self.width, self.transform = bandit.prior_width, transform
        self.copies = [len(kind.arms) for kind in kinds]
        self.kinds = kinds
        origin = float(bandit.prior_mean.max())
        self.means = [kind.mean - origin for kind in kinds]
        tables = [exit_points(kind.belief, ORDER) for kind in kinds]
        self.exits = [_two_points_each(points) for points in tables]
        self.panels = [
            Panels.below(kind.first_index - origin, mean + points.top, points.edges, points.order)
            for kind, mean, points in zip(kinds, self.means, tables, strict=True)
        ]
        self.has_prior = kinds[0].belief.prior_pulls > 0.0
        self.edges = edges_of(self.panels, self.copies, self.width)

    def before_any_pull(self) -> Series:
        """Policies without a prior pull every arm once, in order: the chances that these are best."""
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
        """The integral over levels, for means that are so far ahead of the level."""
        rows = [self._rows(exits, ahead) for exits in self.exits]
        total = np.zeros(len(self.transform.points), np.complex128)
        for high, low in itertools.pairwise(self.edges.tolist()):
            here = [i for i, panels in enumerate(self.panels) if panels.top == high and self.has_prior]
            if here:
                total += self._jump(here, high, ahead, rows)
            total += self._fall(high, low, ahead, rows)
        return total

    def _rows(self, exits: Exits, ahead: float) -> tuple[Series, Series, Series]:
        """P, p and dp/dahead at the nodes of the panels, as series."""
        made = np.zeros((3, len(exits.mass), self.transform.terms))
        for j, (mass, offset, deviation) in enumerate(exits.early, start=1):
            made[:, :, j] = _seen_from(ahead, mass, offset, deviation)
        if self.transform.terms > EARLY + 1:
            made[:, :, EARLY + 1 :] = _seen_from(ahead, exits.mass, exits.offset, exits.deviation)
        below, density, slope = self.transform.forward(made)
        return below, density, slope

    def _prior(self, kind: int, v: Array) -> Part:
        """Of arms of which nothing but the prior is known."""
        x = ((v - self.means[kind]) / self.width)[:, None]
        ones = np.ones((1, len(self.transform.points)), np.complex128)
        bell = np.exp(-0.5 * x * x) / (SQRT_2PI * self.width)
        return Part(ndtr(x) * ones, bell * ones, 0.0 * ones)

    def _part(self, kind: int, levels: Array, inside: float, ahead: float, rows: Sequence[tuple[Series, ...]]) -> Part:
        panels = self.panels[kind]
        if inside > panels.top:
            prior = self._prior(kind, levels + ahead)
            return prior if self.has_prior else prior._replace(below=prior.below * self.transform.points)
        if inside < panels.bottom:
            nothing = np.zeros((len(levels), len(self.transform.points)), np.complex128)
            return Part(nothing, nothing, nothing)
        values, slopes, nodes = interpolation(panels, levels, inside)
        below, density, in_ahead = (series[nodes] for series in rows[kind])
        return Part(values @ below, values @ density, -(slopes @ density + values @ in_ahead))

    def _fall(self, high: float, low: float, ahead: float, rows: Sequence[tuple[Series, ...]]) -> Series:
        levels, weights = gauss_rule(np.array([low, high]), ORDER + 2)
        middle = 0.5 * (low + high)
        parts = [self._part(kind, levels, middle, ahead, rows) for kind in range(len(self.kinds))]
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

    def _jump(self, here: Sequence[int], level: float, ahead: float, rows: Sequence[tuple[Series, ...]]) -> Series:
        """Arms whose index before the first pull is the level go on, by their numbers."""
        at = np.array([level])
        laws = [self._part(kind, at, level, ahead, rows).below[0] for kind in range(len(self.kinds))]
        before = {kind: self._prior(kind, at + ahead) for kind in here}
        after = {kind: self._part(kind, at, level, ahead, rows) for kind in here}
        for kind in here:
            laws[kind] = before[kind].below[0]
        total = np.zeros(len(self.transform.points), np.complex128)
        gone = [0] * len(self.kinds)
        for _, kind in sorted((arm, i) for i in here for arm in self.kinds[i].arms):
            product = before[kind].density[0] - after[kind].density[0]
            for other in range(len(self.kinds)):
                product = product * laws[other] ** (self.copies[other] - gone[other] - (other == kind))
                if gone[other]:
                    product = product * after[other].below[0] ** gone[other]
            total += product
            gone[kind] += 1
        return total
