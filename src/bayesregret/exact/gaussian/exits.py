"""Tables of first exits: for levels on panels, the law of the pulls at which a Gaussian arm's index falls below."""

from __future__ import annotations

import functools
import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from bayesregret.checks import Array
from bayesregret.exact.gaussian.chain import (
    SAFE,
    SQRT_2PI,
    Chain,
    exits,
    graded_panels,
    on_panels,
    overshoot_rule,
)

# Panels of levels, in deviations of whatever decides there.
LEVEL_PANEL = 1.2
# Heights of the barrier beyond which a policy's prior is taken to be a mistake: panels would be too many.
HIGHEST_BARRIER = 400.0


@dataclass(frozen=True, eq=False)
class ArmBelief:
    """A Gaussian arm and what the policy believes of it, with levels measured from the arm's prior mean."""

    horizon: int
    width: float  # of the arm's prior
    noise: float  # of its rewards
    prior_pulls: float  # what the policy's prior is worth
    prior_shift: float  # the mean of the policy's prior minus the arm's
    widths: Array  # what the policy adds to its posterior mean after 0, 1, ... pulls

    @property
    def strength(self) -> float:
        """The pulls that the arm's own prior is worth."""
        return (self.noise / self.width) ** 2

    @property
    def top(self) -> float:
        """The index before the first pull."""
        return float(self.prior_shift + self.widths[0])

    @property
    def deviation(self) -> float:
        """Of one reward, under the arm's prior."""
        return math.hypot(self.width, self.noise)

    def in_noises(self) -> ArmBelief:
        """The same with the noise as the unit of rewards: arms of the same strength are then alike."""
        return ArmBelief(
            self.horizon,
            self.width / self.noise,
            1.0,
            self.prior_pulls,
            self.prior_shift / self.noise,
            self.widths / self.noise,
        )

    def barriers(self, level: float) -> Array:
        """Where the index is at the level, for x = (posterior mean - level) / posterior deviation."""
        pulls = np.arange(len(self.widths), dtype=np.float64)
        believed = self.prior_pulls + pulls
        with np.errstate(invalid="ignore"):
            sums = (self.prior_pulls - self.strength) * level - self.prior_pulls * self.prior_shift
            return np.asarray((sums - self.widths * believed) / (self.noise * np.sqrt(self.strength + pulls)))

    def __hash__(self) -> int:
        return hash((*self._numbers(), self.widths.tobytes()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ArmBelief):
            return NotImplemented
        return self._numbers() == other._numbers() and np.array_equal(self.widths, other.widths)

    def _numbers(self) -> tuple[float, ...]:
        return (self.horizon, self.width, self.noise, self.prior_pulls, self.prior_shift)


@dataclass(frozen=True, eq=False)
class ExitTable:
    """First exits below levels top - depth, for depths on panels; beyond the last there are none before the horizon.

    Row by row for the depths' nodes, column j for an exit after j pulls: `law` its chance, `excess` the mean of
    (posterior mean - level) there.
    """

    top: float
    edges: Array
    order: int
    law: Array
    excess: Array


def exit_table(arm: ArmBelief, order: int) -> ExitTable:
    """The table of an arm."""
    unit = arm.noise
    made = _table_in_noises(arm.in_noises(), order)
    return ExitTable(unit * made.top, unit * made.edges, made.order, made.law, unit * made.excess)


@functools.lru_cache(maxsize=64)
def _table_in_noises(arm: ArmBelief, order: int) -> ExitTable:
    """By the quickest way that there is for what the policy believes."""
    if arm.prior_pulls == 0.0:
        return _without_prior(arm, order)
    return _one_barrier(arm, order) if is_as_strong(arm) else _barrier_by_level(arm, order)


def is_as_strong(arm: ArmBelief) -> bool:
    """Whether the policy's prior is worth as many pulls as the true one: then all levels have the same barrier."""
    return abs(arm.prior_pulls - arm.strength) <= 1e-13 * arm.strength


def start_order(order: int) -> int:
    """Levels are cheap: two points more than heights have."""
    return order + 2


def _one_barrier(arm: ArmBelief, order: int) -> ExitTable:
    """A prior as strong as the true one: all levels have the same barrier, and one chain serves them all."""
    levels, edges = levels_with_prior(arm, order)
    law, excess = _run(chain_at(arm, 0.0, order), -levels / arm.width, arm)
    return ExitTable(arm.top, edges, start_order(order), law, excess)


def _barrier_by_level(arm: ArmBelief, order: int) -> ExitTable:
    """Any other prior: a chain for every level."""
    levels, edges = levels_with_prior(arm, order)

    def one(level: float) -> tuple[Array, Array]:
        return _run(chain_at(arm, level, order), np.array([-level / arm.width]), arm)

    with ThreadPoolExecutor() as pool:
        rows = list(pool.map(one, levels.tolist()))
    law, excess = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    return ExitTable(arm.top, edges, start_order(order), law, excess)


def chain_at(arm: ArmBelief, level: float, order: int) -> Chain:
    """The chain of an arm with a prior, for one level; for all if the policy's prior is as strong as the true one."""
    barriers = arm.barriers(level)
    _check_barriers(barriers)
    return Chain(arm.strength, barriers, order)


def levels_with_prior(arm: ArmBelief, order: int) -> tuple[Array, Array]:
    """Levels on panels from the top down, and the panels' edges as depths: short ones at the top, where the first
    pull alone may decide."""
    first = LEVEL_PANEL * arm.deviation / (arm.prior_pulls + 1.0)
    edges = graded_panels(min(first, arm.width), LEVEL_PANEL * arm.width, _deepest(arm))
    return arm.top - on_panels(edges, start_order(order)), edges


def _run(chain: Chain, x: Array, arm: ArmBelief) -> tuple[Array, Array]:
    """Exits of a chain from each start, in units of rewards."""
    law, excess = np.zeros((len(x), arm.horizon)), np.zeros((len(x), arm.horizon))
    for pulls in range(1, arm.horizon):
        chance, mean = chain.start(x) if pulls == 1 else chain.advance(pulls - 1)
        law[:, pulls] = chance
        excess[:, pulls] = mean * (arm.noise / math.sqrt(arm.strength + pulls))
    return law, excess


def _deepest(arm: ArmBelief) -> float:
    """A depth below which no index ever falls: all barriers are too far from where the posterior mean may be."""
    depth = max(arm.top, 0.0) + SAFE * arm.width
    pulls = np.arange(1, len(arm.widths) + 1, dtype=np.float64)[: len(arm.widths) - 1]
    while len(pulls):
        level = arm.top - depth
        barrier = float(np.max(arm.barriers(level)[1:] * arm.noise / np.sqrt(arm.strength + pulls)))
        if -level - barrier >= SAFE * arm.width:
            break
        depth += 0.5 * arm.width + 0.05 * depth
    return depth


def _check_barriers(barriers: Array) -> None:
    highest = float(np.abs(barriers[1:]).max(initial=0.0))
    if highest > HIGHEST_BARRIER:
        raise ValueError(
            f"prior must be nearer to the truth for an exact computation: it puts confidence bounds {highest:.0f} "
            f"posterior deviations off, more than {HIGHEST_BARRIER:.0f}"
        )


def _without_prior(arm: ArmBelief, order: int) -> ExitTable:
    """No prior: the index shifts with the rewards, so one chain serves all levels if its first reward may be anything.

    It starts from every first reward alike. The density of j rewards under the arm's prior is then that of the chain
    times the density of their mean, a normal one with the prior's variance plus noise^2 / j.
    """
    levels, top, edges = levels_without_prior(arm, order)
    law, excess = np.zeros((len(levels), arm.horizon)), np.zeros((len(levels), arm.horizon))
    table = ExitTable(top, edges, start_order(order), law, excess)
    if arm.horizon == 1:
        return table
    share = arm.width / arm.deviation
    chance, mean = exits((-levels + arm.widths[1]) / arm.deviation, arm.deviation, 0.0)
    law[:, 1] = chance
    # `mean` is that of reward + width - level where the arm exits.
    excess[:, 1] = share * share * (mean - (arm.widths[1] - levels) * chance) - levels * chance
    chain = chain_without_prior(arm, order)
    for pulls in range(1, arm.horizon - 1):
        mass, offset = exits_without_prior(arm, chain, pulls, levels, *overshoot_rule(chain.drift(pulls), order))
        law[:, pulls + 1] = mass.sum(axis=1)
        excess[:, pulls + 1] = (mass * offset).sum(axis=1)
        chain.advance(pulls)
    return table


def chain_without_prior(arm: ArmBelief, order: int) -> Chain:
    """After the first reward, which may be anything alike."""
    barriers = np.zeros(arm.horizon)
    barriers[1:] = -arm.widths[1:] * np.sqrt(np.arange(1.0, arm.horizon)) / arm.noise
    chain = Chain(0.0, barriers, order)
    chain.means = _panel_weights(chain)[None, :]
    return chain


def exits_without_prior(
    arm: ArmBelief, chain: Chain, pulls: int, levels: Array, points: Array, weights: Array
) -> tuple[Array, Array]:
    """Exits at pulls + 1, so many noises of a step below the barrier: for every level their masses, which hold the
    density of the mean of the rewards, and the posterior mean minus the level."""
    noise = math.sqrt(1.0 / pulls)
    count = pulls + 1.0
    spread = math.hypot(arm.width, arm.noise / math.sqrt(count))
    mean = levels[:, None] + (chain.barriers[pulls + 1] - noise * points) * (arm.noise / math.sqrt(count))
    density = np.exp(-0.5 * (mean / spread) ** 2) * (arm.noise / (SQRT_2PI * spread))
    mass = density * (weights * noise * chain.exit_density(pulls, -noise * points)[0])
    return mass, (arm.width / spread) ** 2 * mean - levels[:, None]


def levels_without_prior(arm: ArmBelief, order: int, longest: float = math.inf) -> tuple[Array, float, Array]:
    """Levels on panels, the highest, and edges as depths. Far from the prior mean few pulls decide, whose mean is the
    more uncertain."""
    z = float(np.max(arm.widths[1:] * np.sqrt(np.arange(1, len(arm.widths))), initial=0.0)) / arm.noise
    top = z * arm.noise + SAFE * arm.deviation
    sharpest = math.hypot(arm.width, arm.noise / math.sqrt(arm.horizon))
    edges = [0.0]
    while edges[-1] < top + SAFE * arm.deviation:
        far = (top - edges[-1]) / max(z, 4.0)
        edges.append(edges[-1] + min(longest, LEVEL_PANEL * math.hypot(sharpest, far)))
    return top - on_panels(np.array(edges), start_order(order)), top, np.array(edges)


def _panel_weights(chain: Chain) -> Array:
    """Integrals of the nodal functions: Fejer's rule on every panel."""
    order = len(chain.panels.reference)
    angles = np.arccos(-chain.panels.reference)
    j = np.arange(1, order // 2 + 1)[:, None]
    one = 2.0 / order * (1.0 - 2.0 * np.sum(np.cos(2.0 * j * angles) / (4.0 * j * j - 1.0), axis=0))
    return np.asarray((0.5 * np.diff(chain.panels.edges)[:, None] * one).ravel())
