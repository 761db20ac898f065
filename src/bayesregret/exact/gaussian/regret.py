"""Exact regret of Gaussian bandits: levels on panels, between the indices that arms have before their first pull."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesregret.checks import Array
from bayesregret.contracts import confidence_width, mean_plus_width, prior_pulls, prior_total, variance_proxy
from bayesregret.exact.gaussian.chain import chebyshev_nodes
from bayesregret.exact.gaussian.exits import ArmBelief, exit_table
from bayesregret.exact.level_sweep import Found, Sweep
from bayesregret.exact.power_series import Series, Transform
from bayesregret.models import GaussianBandit
from bayesregret.numerics.expected_maximum import gaussian_best_above, own_widths_best
from bayesregret.numerics.quadrature import gauss_rule

# Edges of panels this near to each other, in prior widths, are one.
SAME_EDGE = 1e-9


class Kind(NamedTuple):
    """Arms of one prior that the policy believes the same of."""

    arms: list[int]
    mean: float
    first_index: float  # before any pull, as the engine computes it: arms tie by it
    belief: ArmBelief


class Panels(NamedTuple):
    """A kind's levels: panels below its first index, measured from the highest prior mean."""

    top: float
    bottom: float
    edges: Array  # as depths below the top
    order: int

    @classmethod
    def below(cls, first_index: float, otherwise: float, edges: Array, order: int) -> Panels:
        """`otherwise` is the top where there is no finite first index."""
        top = first_index if math.isfinite(first_index) else otherwise
        return cls(top, top - float(edges[-1]), edges, order)


class Levels(NamedTuple):
    """A kind's exits as series, at the nodes of its panels."""

    panels: Panels
    law: Series
    excess: Series


def gaussian_kinds(bandit: GaussianBandit, settings: Any, belief: Any, horizon: int) -> list[Kind]:
    """Arms in groups of which the same is known, in the order of their first arms."""
    kinds: dict[tuple[float, ...], Kind] = {}
    priors = zip(bandit.prior_mean.tolist(), bandit.prior_widths.tolist(), bandit.reward_noises.tolist(), strict=True)
    for arm, (mean, width, noise) in enumerate(priors):
        worth, total = float(prior_pulls(belief, arm)), float(prior_total(belief, arm))
        fields = (mean, width, noise, worth, total, float(variance_proxy(belief, arm, 1)))
        if fields in kinds:
            kinds[fields].arms.append(arm)
            continue
        first_index = float(mean_plus_width(settings, belief, arm, 0, 0.0))
        if math.isfinite(first_index) != (worth > 0.0):
            raise ValueError(
                "policy must have a prior, or try every arm once, for an exact regret: before the first pull its index "
                f"is {first_index:g} and its prior is worth {worth:g} pulls"
            )
        widths = np.array([confidence_width(settings, variance_proxy(belief, arm, k)) for k in range(horizon)])
        shift = total / worth - mean if worth > 0.0 else 0.0
        believed = ArmBelief(horizon, width, noise, worth, shift, widths)
        kinds[fields] = Kind([arm], mean, first_index, believed)
    return list(kinds.values())


def gaussian_regret(
    bandit: GaussianBandit, kinds: Sequence[Kind], horizon: int, order: int, digits: float = 11.5
) -> Found:
    """The sweep over levels, with this order of all rules, and series that are known to so many digits."""
    transform = Transform(horizon, oversampling=0.2 * digits + 0.2, digits=digits)
    above = _best_above(bandit, order)
    top_mean = float(bandit.prior_mean.max())
    behind = [top_mean - kind.mean for kind in kinds]
    sweep = Sweep(transform, [kind.arms for kind in kinds], [above + d for d in behind])
    # Levels are measured from the highest prior mean.
    levels = [_levels(kind, top_mean, transform, order) for kind in kinds]
    if kinds[0].belief.prior_pulls == 0.0:
        z = transform.points if horizon > 1 else np.zeros_like(transform.points)
        sweep.jump({i: (z, z * loss) for i, loss in enumerate(sweep.loss)})
    edges = edges_of(
        [level.panels for level in levels], [len(kind.arms) for kind in kinds], float(bandit.prior_widths.min())
    )
    for high, low in itertools.pairwise(edges.tolist()):
        _meet_tops(sweep, kinds, levels, high, above)
        _fall(sweep, levels, high, low, above, order)
    return sweep.found()


def _best_above(bandit: GaussianBandit, order: int) -> float:
    """E[best arm] minus the highest prior mean."""
    if not bandit.arms_differ:
        means, counts = np.unique(bandit.prior_mean, return_counts=True)
        return gaussian_best_above(means, counts.astype(np.float64), bandit.prior_width, order)
    behind = bandit.prior_mean - bandit.prior_mean.max()
    return own_widths_best(behind, bandit.prior_widths, np.ones(bandit.arms), order)


def _levels(kind: Kind, origin: float, transform: Transform, order: int) -> Levels:
    table = exit_table(kind.belief, order)
    panels = Panels.below(kind.first_index - origin, kind.mean - origin + table.top, table.edges, table.order)
    return Levels(panels, transform.forward(table.law), transform.forward(table.excess))


def edges_of(panels: Sequence[Panels], copies: Sequence[int], width: float) -> Array:
    """All edges of panels from the top down to where two arms have no exit any more; near ones joined."""
    bottoms = sorted(panel.bottom for panel, many in zip(panels, copies, strict=True) for _ in range(many))
    last = bottoms[-2] if len(bottoms) > 1 else bottoms[0]
    tops = {panel.top for panel in panels}
    every = np.unique(np.concatenate([panel.top - panel.edges for panel in panels]))[::-1]
    kept = [every[0]]
    for edge in every[1:][every[1:] > last].tolist():
        if edge in tops or kept[-1] - edge > SAME_EDGE * width:
            kept.append(edge)
    return np.array([*kept, last])


def _meet_tops(sweep: Sweep, kinds: Sequence[Kind], levels: Sequence[Levels], at: float, best: float) -> None:
    """Arms whose index before the first pull is this level are pulled, in the order of their numbers."""
    here = [i for i, level in enumerate(levels) if level.panels.top == at and kinds[i].belief.prior_pulls > 0.0]
    if not here:
        return
    for i, level in enumerate(levels):
        if level.panels.top > at:
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
        if level.panels.top >= high:
            law, _, law_falls, loss_falls = _at(level, points, 0.5 * (low + high), best)
            laws[i] = law, law_falls, loss_falls
    sweep.glide(weights, laws)


def _at(level: Levels, points: Array, inside: float, best: float) -> tuple[Series, Series, Series, Series]:
    """Law and loss at levels, and how fast they fall as the level does; all on the panel that holds `inside`."""
    if inside < level.panels.bottom:
        nothing = np.zeros((len(points), level.law.shape[1]), np.complex128)
        return nothing, nothing, nothing, nothing
    values, slopes, rows = interpolation(level.panels, points, inside)
    law, law_slope = _times(values, level.law[rows]), _times(slopes, level.law[rows])
    excess, excess_slope = _times(values, level.excess[rows]), _times(slopes, level.excess[rows])
    short = best - points[:, None]
    return law, short * law - excess, -law_slope, -(law + short * law_slope - excess_slope)


def _times(matrix: Array, series: Series) -> Series:
    """A real matrix times a complex one: half the work of two complex ones."""
    return np.asarray((matrix @ series.view(np.float64)).view(np.complex128))


def interpolation(panels: Panels, points: Array, inside: float) -> tuple[Array, Array, slice]:
    """Matrices that take values at the nodes of the panel that holds `inside` to values at points, and to slopes as the
    level falls; and which nodes these are."""
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
