"""Exact regret of Gaussian bandits: levels on panels, between the indices that arms have before their first pull."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesregret.checks import Array
from bayesregret.contracts import confidence_width, mean_plus_width, prior_pulls, prior_total, variance_proxy
from bayesregret.exact.gaussian_chain import chebyshev_nodes
from bayesregret.exact.gaussian_exits import ArmBelief, ExitTable, exit_table
from bayesregret.exact.prior_best import gaussian_best_above
from bayesregret.exact.sweep import Found, Sweep
from bayesregret.exact.transform import Series, Transform
from bayesregret.models import GaussianBandit
from bayesregret.quadrature import gauss_rule

# Edges of panels this near to each other, in prior widths, are one.
SAME_EDGE = 1e-9


class Kind(NamedTuple):
    """Arms of one prior that the policy believes the same of."""

    arms: list[int]
    mean: float
    first_index: float  # before any pull, as the engine computes it: arms tie by it
    belief: ArmBelief


class Levels(NamedTuple):
    """A kind's exits as series, on panels of absolute levels."""

    top: float  # where the kind's panels begin
    bottom: float
    table: ExitTable
    law: Series
    excess: Series


def gaussian_kinds(bandit: GaussianBandit, settings: Any, belief: Any, horizon: int) -> list[Kind]:
    """Arms in groups of which the same is known, in the order of their first arms."""
    kinds: dict[tuple[float, float, float], Kind] = {}
    for arm, mean in enumerate(bandit.prior_mean.tolist()):
        worth, total = float(prior_pulls(belief, arm)), float(prior_total(belief, arm))
        if (mean, worth, total) in kinds:
            kinds[mean, worth, total].arms.append(arm)
            continue
        widths = np.array([confidence_width(settings, variance_proxy(belief, arm, k)) for k in range(horizon)])
        shift = total / worth - mean if worth > 0.0 else 0.0
        believed = ArmBelief(horizon, bandit.prior_width, bandit.reward_noise, worth, shift, widths)
        kinds[mean, worth, total] = Kind([arm], mean, mean_plus_width(settings, belief, arm, 0, 0.0), believed)
    return list(kinds.values())


def gaussian_regret(bandit: GaussianBandit, kinds: Sequence[Kind], horizon: int, order: int) -> Found:
    """The sweep over levels, with this order of all rules."""
    transform = Transform(horizon)
    means, counts = np.unique(bandit.prior_mean, return_counts=True)
    above = gaussian_best_above(means, counts.astype(np.float64), bandit.prior_width, order)
    top_mean = float(bandit.prior_mean.max())
    behind = [top_mean - kind.mean for kind in kinds]
    sweep = Sweep(transform, [kind.arms for kind in kinds], [above + d for d in behind])
    # Levels are measured from the highest prior mean.
    levels = [_levels(kind, top_mean, transform, order) for kind in kinds]
    if kinds[0].belief.prior_pulls == 0.0:
        z = transform.points if horizon > 1 else np.zeros_like(transform.points)
        sweep.jump({i: (z, z * loss) for i, loss in enumerate(sweep.loss)})
    edges = _edges(levels, [len(kind.arms) for kind in kinds], bandit.prior_width)
    for high, low in itertools.pairwise(edges.tolist()):
        _meet_tops(sweep, kinds, levels, high, above)
        _fall(sweep, levels, high, low, above, order)
    return sweep.found()


def _levels(kind: Kind, origin: float, transform: Transform, order: int) -> Levels:
    table = exit_table(kind.belief, order)
    top = kind.first_index - origin if math.isfinite(kind.first_index) else kind.mean - origin + table.top
    return Levels(top, top - table.edges[-1], table, transform.forward(table.law), transform.forward(table.excess))


def _edges(levels: Sequence[Levels], copies: Sequence[int], width: float) -> Array:
    """All edges of panels from the top down to where two arms have no exit any more; near ones joined."""
    bottoms = sorted((level.bottom for level, many in zip(levels, copies, strict=True) for _ in range(many)))
    last = bottoms[-2] if len(bottoms) > 1 else bottoms[0]
    tops = {level.top for level in levels}
    every = np.unique(np.concatenate([level.top - level.table.edges for level in levels]))[::-1]
    kept = [every[0]]
    for edge in every[1:][every[1:] > last].tolist():
        if edge in tops or kept[-1] - edge > SAME_EDGE * width:
            kept.append(edge)
    return np.array([*kept, last])


def _meet_tops(sweep: Sweep, kinds: Sequence[Kind], levels: Sequence[Levels], at: float, best: float) -> None:
    """Arms whose index before the first pull is this level are pulled, in the order of their numbers."""
    here = [i for i, level in enumerate(levels) if level.top == at and kinds[i].belief.prior_pulls > 0.0]
    if not here:
        return
    for i, level in enumerate(levels):
        if level.top > at:
            sweep.law[i] = _at(level, np.array([at]), at, best)[0][0]
    moves = {}
    for i in here:
        law, loss, _, _ = _at(levels[i], np.array([at]), at, best)
        moves[i] = law[0], loss[0]
    sweep.jump(moves)


def _fall(sweep: Sweep, levels: Sequence[Levels], high: float, low: float, best: float, order: int) -> None:
    points, weights = gauss_rule(np.array([low, high]), order + 2)
    laws = {}
    for i, level in enumerate(levels):
        if level.top >= high:
            law, _, law_falls, loss_falls = _at(level, points, 0.5 * (low + high), best)
            laws[i] = law, law_falls, loss_falls
    sweep.glide(weights, laws)


def _at(level: Levels, points: Array, inside: float, best: float) -> tuple[Series, Series, Series, Series]:
    """Law and loss at levels, and how fast they fall as the level does; all on the panel that holds `inside`."""
    edges, order = level.table.edges, level.table.order
    panel = int(np.clip(np.searchsorted(edges, level.top - inside, side="right") - 1, 0, len(edges) - 2))
    if level.top - inside > edges[-1]:
        nothing = np.zeros((len(points), level.law.shape[1]), np.complex128)
        return nothing, nothing, nothing, nothing
    length = edges[panel + 1] - edges[panel]
    values, slopes = _interpolation(2.0 * (level.top - points - edges[panel]) / length - 1.0, order)
    slopes = slopes * (2.0 / length)  # as the depth grows, that is, as the level falls
    rows = slice(panel * order, (panel + 1) * order)
    law, law_slope = values @ level.law[rows], slopes @ level.law[rows]
    excess, excess_slope = values @ level.excess[rows], slopes @ level.excess[rows]
    short = best - points[:, None]
    return law, short * law - excess, -law_slope, -(law + short * law_slope - excess_slope)


def _interpolation(at: Array, order: int) -> tuple[Array, Array]:
    """Matrices that take values at Chebyshev's points to values and slopes at others."""
    nodes, weights = chebyshev_nodes(order)
    off = at[:, None] - nodes
    hit = off == 0.0
    ratios = weights / np.where(hit, 1.0, off)
    values = np.where(hit.any(axis=1)[:, None], hit, ratios / ratios.sum(axis=1)[:, None])
    between = nodes[:, None] - nodes + np.eye(order)
    slopes = weights / weights[:, None] / between
    np.fill_diagonal(slopes, 0.0)
    np.fill_diagonal(slopes, -slopes.sum(axis=1))
    return values, values @ slopes
