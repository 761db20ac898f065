"""Exact regret of Gaussian bandits: a sweep over thresholds on panels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesregret.checks import Array
from bayesregret.contracts import prior_pulls, prior_total, variance_proxy
from bayesregret.contracts.fast import mean_plus_width, width_after
from bayesregret.exact.gaussian.chain import chebyshev_nodes
from bayesregret.exact.gaussian.exits import ArmBelief, exit_table
from bayesregret.exact.level_sweep import SweepResult, ThresholdSweep
from bayesregret.exact.power_series import Series, Transform
from bayesregret.models import GaussianBandit
from bayesregret.numerics.expected_maximum import gaussian_best_above, heteroscedastic_best
from bayesregret.numerics.quadrature import gauss_rule

# Panel edges closer than this, in prior widths, are merged.
SAME_EDGE = 1e-9


class GaussianKind(NamedTuple):
    """Arms with equal priors and equal beliefs of the policy."""

    arms: list[int]
    mean: float
    first_index: float  # before any pull, computed as in the engine, so that ties are the engine's
    belief: ArmBelief


class ThresholdPanels(NamedTuple):
    """Panels of one kind's thresholds below its first index, measured from the highest prior mean."""

    top: float
    bottom: float
    edges: Array  # depths below the top
    order: int

    @classmethod
    def below(cls, first_index: float, otherwise: float, edges: Array, order: int) -> ThresholdPanels:
        """Panels below `first_index`, or below `otherwise` if the first index is infinite."""
        top = first_index if math.isfinite(first_index) else otherwise
        return cls(top, top - float(edges[-1]), edges, order)


class ExitSeries(NamedTuple):
    """Exits of one kind as series, at the nodes of its panels."""

    panels: ThresholdPanels
    distribution: Series
    excess: Series


def gaussian_kinds(bandit: GaussianBandit, settings: Any, belief: Any, horizon: int) -> list[GaussianKind]:
    """Group arms with equal priors and beliefs, in the order of their first arms."""
    kinds: dict[tuple[float, ...], GaussianKind] = {}
    priors = zip(bandit.prior_mean.tolist(), bandit.prior_widths.tolist(), bandit.reward_noises.tolist(), strict=True)
    for arm, (mean, width, noise) in enumerate(priors):
        pseudo_count, total = float(prior_pulls(belief, arm)), float(prior_total(belief, arm))
        fields = (mean, width, noise, pseudo_count, total, float(variance_proxy(belief, arm, 1)))
        if fields in kinds:
            kinds[fields].arms.append(arm)
            continue
        first_index = float(mean_plus_width(settings, belief, arm, 0, 0.0))
        if math.isfinite(first_index) != (pseudo_count > 0.0):
            raise ValueError(
                "policy must have a prior, or try every arm once, for an exact regret: before the first pull its index "
                f"is {first_index:g} and its prior pseudo-count {pseudo_count:g}"
            )
        widths = np.array([width_after(settings, belief, arm, k) for k in range(horizon)])
        shift = total / pseudo_count - mean if pseudo_count > 0.0 else 0.0
        arm_belief = ArmBelief(horizon, width, noise, pseudo_count, shift, widths)
        kinds[fields] = GaussianKind([arm], mean, first_index, arm_belief)
    return list(kinds.values())


def gaussian_regret(
    bandit: GaussianBandit, kinds: Sequence[GaussianKind], horizon: int, order: int, digits: float = 11.5
) -> SweepResult:
    """Sweep over thresholds, with this order of all quadrature rules and series accurate to `digits` digits."""
    transform = Transform(horizon, oversampling=0.2 * digits + 0.2, digits=digits)
    above = _best_above(bandit, order)
    top_mean = float(bandit.prior_mean.max())
    behind = [top_mean - kind.mean for kind in kinds]
    sweep = ThresholdSweep(transform, [kind.arms for kind in kinds], [above + d for d in behind])
    # Thresholds are measured from the highest prior mean.
    all_exits = [_exit_series(kind, top_mean, transform, order) for kind in kinds]
    if kinds[0].belief.prior_pulls == 0.0:
        z = transform.points if horizon > 1 else np.zeros_like(transform.points)
        sweep.jump({i: (z, z * loss) for i, loss in enumerate(sweep.loss)})
    edges = edges_of(
        [exits.panels for exits in all_exits],
        [len(kind.arms) for kind in kinds],
        float(bandit.prior_widths.min()),
    )
    for high, low in itertools.pairwise(edges.tolist()):
        _pull_first(sweep, kinds, all_exits, high, above)
        _sweep_panel(sweep, all_exits, high, low, above, order)
    return sweep.result()


def _best_above(bandit: GaussianBandit, order: int) -> float:
    """E[best arm] minus the highest prior mean."""
    if not bandit.arms_differ:
        means, counts = np.unique(bandit.prior_mean, return_counts=True)
        return gaussian_best_above(means, counts.astype(np.float64), bandit.prior_width, order)
    behind = bandit.prior_mean - bandit.prior_mean.max()
    return heteroscedastic_best(behind, bandit.prior_widths, np.ones(bandit.arms), order)


def _exit_series(kind: GaussianKind, origin: float, transform: Transform, order: int) -> ExitSeries:
    table = exit_table(kind.belief, order)
    panels = ThresholdPanels.below(kind.first_index - origin, kind.mean - origin + table.top, table.edges, table.order)
    return ExitSeries(panels, transform.forward(table.distribution), transform.forward(table.excess))


def edges_of(panels: Sequence[ThresholdPanels], copies: Sequence[int], width: float) -> Array:
    """Edges of all panels from the top down to where at most one arm can still exit; close ones are merged."""
    bottoms = sorted(panel.bottom for panel, many in zip(panels, copies, strict=True) for _ in range(many))
    last = bottoms[-2] if len(bottoms) > 1 else bottoms[0]
    tops = {panel.top for panel in panels}
    every = np.unique(np.concatenate([panel.top - panel.edges for panel in panels]))[::-1]
    kept = [every[0]]
    for edge in every[1:][every[1:] > last].tolist():
        if edge in tops or kept[-1] - edge > SAME_EDGE * width:
            kept.append(edge)
    return np.array([*kept, last])


def _pull_first(
    sweep: ThresholdSweep, kinds: Sequence[GaussianKind], all_exits: Sequence[ExitSeries], threshold: float, best: float
) -> None:
    """Make the first pulls of arms whose first index is this threshold, in the order of their numbers."""
    here = [
        i for i, exits in enumerate(all_exits) if exits.panels.top == threshold and kinds[i].belief.prior_pulls > 0.0
    ]
    if not here:
        return
    for i, exits in enumerate(all_exits):
        if exits.panels.top > threshold:
            sweep.distribution[i] = _series_at(exits, np.array([threshold]), threshold, best)[0][0]
    moves = {}
    for i in here:
        distribution, loss, _, _ = _series_at(all_exits[i], np.array([threshold]), threshold, best)
        moves[i] = distribution[0], loss[0]
    sweep.jump(moves)


def _sweep_panel(
    sweep: ThresholdSweep, all_exits: Sequence[ExitSeries], high: float, low: float, best: float, order: int
) -> None:
    points, weights = gauss_rule(np.array([low, high]), order + 2)
    distributions = {}
    for i, exits in enumerate(all_exits):
        if exits.panels.top >= high:
            distribution, _, distribution_fall, loss_fall = _series_at(exits, points, 0.5 * (low + high), best)
            distributions[i] = distribution, distribution_fall, loss_fall
    sweep.glide(weights, distributions)


def _series_at(exits: ExitSeries, points: Array, inside: float, best: float) -> tuple[Series, Series, Series, Series]:
    """Distribution and loss at the thresholds `points`, on the panel that contains `inside`, and how fast they fall."""
    if inside < exits.panels.bottom:
        nothing = np.zeros((len(points), exits.distribution.shape[1]), np.complex128)
        return nothing, nothing, nothing, nothing
    values, slopes, rows = interpolation(exits.panels, points, inside)
    distribution, distribution_slope = (
        _real_times_complex(values, exits.distribution[rows]),
        _real_times_complex(slopes, exits.distribution[rows]),
    )
    excess, excess_slope = (
        _real_times_complex(values, exits.excess[rows]),
        _real_times_complex(slopes, exits.excess[rows]),
    )
    short = best - points[:, None]
    return (
        distribution,
        short * distribution - excess,
        -distribution_slope,
        -(distribution + short * distribution_slope - excess_slope),
    )


def _real_times_complex(matrix: Array, series: Series) -> Series:
    """Product of a real and a complex matrix, at half the cost of a complex product."""
    return np.asarray((matrix @ series.view(np.float64)).view(np.complex128))


def interpolation(panels: ThresholdPanels, points: Array, inside: float) -> tuple[Array, Array, slice]:
    """Interpolation on the panel that contains `inside`: matrices from values at its nodes to values at `points` and to
    slopes as the threshold falls, and the slice of these nodes.
    """
    edges, order = panels.edges, panels.order
    panel = int(np.clip(np.searchsorted(edges, panels.top - inside, side="right") - 1, 0, len(edges) - 2))
    length = edges[panel + 1] - edges[panel]
    at = 2.0 * (panels.top - points - edges[panel]) / length - 1.0
    nodes, weights = chebyshev_nodes(order)
    off = at[:, None] - nodes
    hit = off == 0.0
    ratios = weights / np.where(hit, 1.0, off)
    values = np.where(hit.any(axis=1)[:, None], hit, ratios / ratios.sum(axis=1)[:, None])
    slopes = weights / weights[:, None] / (nodes[:, None] - nodes + np.eye(order))
    np.fill_diagonal(slopes, 0.0)
    np.fill_diagonal(slopes, -slopes.sum(axis=1))
    return values, values @ slopes * (2.0 / length), slice(panel * order, (panel + 1) * order)
