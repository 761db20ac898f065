"""Tables of first exits: distributions of the pulls after which a Gaussian arm's index falls below a threshold."""

from __future__ import annotations

import functools
import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from bayesregret.checks import Array, in_full
from bayesregret.exact.gaussian.chain import (
    SAFE,
    SQRT_2PI,
    Chain,
    exit_moments,
    graded_panels,
    on_panels,
    overshoot_rule,
)

# Length of panels of thresholds, in standard deviations of the quantity that decides an exit there.
THRESHOLD_PANEL = 1.2
# Barriers beyond this count as a mistaken prior: they would need too many panels.
HIGHEST_BARRIER = 400.0


@dataclass(frozen=True, eq=False)
class ArmBelief:
    """A Gaussian arm and the policy's belief about it; thresholds are measured from the arm's prior mean."""

    horizon: int
    width: float  # standard deviation of the arm's prior
    noise: float  # standard deviation of its rewards
    prior_pulls: float  # pseudo-count of the policy's prior
    prior_shift: float  # mean of the policy's prior minus that of the arm's
    widths: Array  # confidence widths after 0, 1, ... pulls: index minus the policy's posterior mean

    @property
    def pseudo_count(self) -> float:
        """Pseudo-count of the arm's true prior, in pulls."""
        return (self.noise / self.width) ** 2

    @property
    def top(self) -> float:
        """Index before the first pull."""
        return float(self.prior_shift + self.widths[0])

    @property
    def deviation(self) -> float:
        """Standard deviation of one reward under the arm's prior."""
        return math.hypot(self.width, self.noise)

    def in_noises(self) -> ArmBelief:
        """Return the arm with the noise as the unit of rewards: arms with the same pseudo-count then share a table."""
        return ArmBelief(
            self.horizon,
            self.width / self.noise,
            1.0,
            self.prior_pulls,
            self.prior_shift / self.noise,
            self.widths / self.noise,
        )

    def barriers(self, threshold: float) -> Array:
        """Values of x = (posterior mean - threshold) / posterior deviation at which the index equals the threshold."""
        pulls = np.arange(len(self.widths), dtype=np.float64)
        believed = self.prior_pulls + pulls
        with np.errstate(invalid="ignore"):
            sums = (self.prior_pulls - self.pseudo_count) * threshold - self.prior_pulls * self.prior_shift
            return np.asarray((sums - self.widths * believed) / (self.noise * np.sqrt(self.pseudo_count + pulls)))

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
    """First exits below the thresholds top - depth, for depths on panels; deeper ones have no exit before the horizon.

    Rows are the nodes of depths, column j is an exit after j pulls: `distribution` is its probability, and `excess` the
    expectation of (posterior mean - threshold) on that event.
    """

    top: float
    edges: Array
    order: int
    distribution: Array
    excess: Array


def exit_table(arm: ArmBelief, order: int) -> ExitTable:
    """Table of the first exits of an arm."""
    unit = arm.noise
    made = _table_in_noises(arm.in_noises(), order)
    return ExitTable(unit * made.top, unit * made.edges, made.order, made.distribution, unit * made.excess)


@functools.lru_cache(maxsize=64)
def _table_in_noises(arm: ArmBelief, order: int) -> ExitTable:
    """Table in units of the noise, by the fastest computation for the policy's belief."""
    if arm.prior_pulls == 0.0:
        return _without_prior(arm, order)
    return _one_barrier(arm, order) if has_true_pseudo_count(arm) else _barrier_by_threshold(arm, order)


def has_true_pseudo_count(arm: ArmBelief) -> bool:
    """Whether the policy's prior has the true pseudo-count: then all thresholds have the same barrier."""
    return abs(arm.prior_pulls - arm.pseudo_count) <= 1e-13 * arm.pseudo_count


def start_order(order: int) -> int:
    """Order of the panels of thresholds: points are cheap here, so two more than on panels of heights."""
    return order + 2


def _one_barrier(arm: ArmBelief, order: int) -> ExitTable:
    """Table for a prior with the true pseudo-count: one barrier and one chain for all thresholds."""
    thresholds, edges = thresholds_with_prior(arm, order)
    distribution, excess = _run_chain(chain_at(arm, 0.0, order), -thresholds / arm.width, arm)
    return ExitTable(arm.top, edges, start_order(order), distribution, excess)


def _barrier_by_threshold(arm: ArmBelief, order: int) -> ExitTable:
    """Table for any other prior: one chain per threshold."""
    thresholds, edges = thresholds_with_prior(arm, order)

    def one(threshold: float) -> tuple[Array, Array]:
        return _run_chain(chain_at(arm, threshold, order), np.array([-threshold / arm.width]), arm)

    with ThreadPoolExecutor() as pool:
        rows = list(pool.map(one, thresholds.tolist()))
    distribution, excess = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    return ExitTable(arm.top, edges, start_order(order), distribution, excess)


def chain_at(arm: ArmBelief, threshold: float, order: int) -> Chain:
    """Chain of an arm with a prior, for one threshold; for all of them if the policy has the true pseudo-count."""
    barriers = arm.barriers(threshold)
    _check_barriers(barriers)
    return Chain(arm.pseudo_count, barriers, order)


def thresholds_with_prior(arm: ArmBelief, order: int) -> tuple[Array, Array]:
    """Thresholds on panels from the top down, and the panels' edges as depths.

    Panels are short at the top, where the first pull alone may decide.
    """
    first = THRESHOLD_PANEL * arm.deviation / (arm.prior_pulls + 1.0)
    edges = graded_panels(min(first, arm.width), THRESHOLD_PANEL * arm.width, _deepest(arm))
    return arm.top - on_panels(edges, start_order(order)), edges


def _run_chain(chain: Chain, x: Array, arm: ArmBelief) -> tuple[Array, Array]:
    """Distribution and excess of the exits of a chain from each start, in units of rewards."""
    distribution, excess = np.zeros((len(x), arm.horizon)), np.zeros((len(x), arm.horizon))
    for pulls in range(1, arm.horizon):
        probability, mean = chain.start(x) if pulls == 1 else chain.advance(pulls - 1)
        distribution[:, pulls] = probability
        excess[:, pulls] = mean * (arm.noise / math.sqrt(arm.pseudo_count + pulls))
    return distribution, excess


def _deepest(arm: ArmBelief) -> float:
    """Depth below which no index falls: the posterior mean cannot reach any of the barriers."""
    depth = max(arm.top, 0.0) + SAFE * arm.width
    pulls = np.arange(1, len(arm.widths) + 1, dtype=np.float64)[: len(arm.widths) - 1]
    while len(pulls):
        threshold = arm.top - depth
        barrier = float(np.max(arm.barriers(threshold)[1:] * arm.noise / np.sqrt(arm.pseudo_count + pulls)))
        if -threshold - barrier >= SAFE * arm.width:
            break
        depth += 0.5 * arm.width + 0.05 * depth
    return depth


def _check_barriers(barriers: Array) -> None:
    highest = float(np.abs(barriers[1:]).max(initial=0.0))
    if highest > HIGHEST_BARRIER:
        raise ValueError(
            f"prior must be closer to the true one for an exact computation: its confidence bounds are off by "
            f"{in_full(highest)} posterior deviations, more than {in_full(HIGHEST_BARRIER)}"
        )


def _without_prior(arm: ArmBelief, order: int) -> ExitTable:
    """Table for a policy without a prior: the index shifts with the rewards, so one chain serves all thresholds.

    The chain starts from a uniform (improper) distribution of the first reward. The density of j rewards under the
    arm's prior is then the chain's times the density of their mean, normal with variance width^2 + noise^2 / j.
    """
    thresholds, top, edges = thresholds_without_prior(arm, order)
    distribution, excess = np.zeros((len(thresholds), arm.horizon)), np.zeros((len(thresholds), arm.horizon))
    table = ExitTable(top, edges, start_order(order), distribution, excess)
    if arm.horizon == 1:
        return table
    ratio = arm.width / arm.deviation
    probability, mean = exit_moments((-thresholds + arm.widths[1]) / arm.deviation, arm.deviation, 0.0)
    distribution[:, 1] = probability
    # `mean` is E[reward + width - threshold; exit].
    excess[:, 1] = ratio * ratio * (mean - (arm.widths[1] - thresholds) * probability) - thresholds * probability
    chain = chain_without_prior(arm, order)
    for pulls in range(1, arm.horizon - 1):
        mass, offset = exits_without_prior(arm, chain, pulls, thresholds, *overshoot_rule(chain.drift(pulls), order))
        distribution[:, pulls + 1] = mass.sum(axis=1)
        excess[:, pulls + 1] = (mass * offset).sum(axis=1)
        chain.advance(pulls)
    return table


def chain_without_prior(arm: ArmBelief, order: int) -> Chain:
    """Chain after a first reward with a uniform (improper) distribution."""
    barriers = np.zeros(arm.horizon)
    barriers[1:] = -arm.widths[1:] * np.sqrt(np.arange(1.0, arm.horizon)) / arm.noise
    chain = Chain(0.0, barriers, order)
    chain.means = _panel_weights(chain)[None, :]
    return chain


def exits_without_prior(
    arm: ArmBelief, chain: Chain, pulls: int, thresholds: Array, points: Array, weights: Array
) -> tuple[Array, Array]:
    """Exits at pulls + 1, at `points` noises of a step below the barrier.

    Returns for every threshold their masses, which include the density of the mean of the rewards, and the posterior
    mean minus the threshold.
    """
    noise = math.sqrt(1.0 / pulls)
    count = pulls + 1.0
    spread = math.hypot(arm.width, arm.noise / math.sqrt(count))
    mean = thresholds[:, None] + (chain.barriers[pulls + 1] - noise * points) * (arm.noise / math.sqrt(count))
    density = np.exp(-0.5 * (mean / spread) ** 2) * (arm.noise / (SQRT_2PI * spread))
    mass = density * (weights * noise * chain.exit_density(pulls, -noise * points)[0])
    return mass, (arm.width / spread) ** 2 * mean - thresholds[:, None]


def thresholds_without_prior(arm: ArmBelief, order: int, longest: float = math.inf) -> tuple[Array, float, Array]:
    """Thresholds on panels, the highest threshold, and the panels' edges as depths.

    Panels are longer far from the prior mean: few pulls decide there, and their mean is less certain.
    """
    z = float(np.max(arm.widths[1:] * np.sqrt(np.arange(1, len(arm.widths))), initial=0.0)) / arm.noise
    top = z * arm.noise + SAFE * arm.deviation
    sharpest = math.hypot(arm.width, arm.noise / math.sqrt(arm.horizon))
    edges = [0.0]
    while edges[-1] < top + SAFE * arm.deviation:
        far = (top - edges[-1]) / max(z, 4.0)
        edges.append(edges[-1] + min(longest, THRESHOLD_PANEL * math.hypot(sharpest, far)))
    return top - on_panels(np.array(edges), start_order(order)), top, np.array(edges)


def _panel_weights(chain: Chain) -> Array:
    """Integrals of the nodal functions: Fejer's rule on every panel."""
    order = len(chain.panels.reference)
    angles = np.arccos(-chain.panels.reference)
    j = np.arange(1, order // 2 + 1)[:, None]
    one = 2.0 / order * (1.0 - 2.0 * np.sum(np.cos(2.0 * j * angles) / (4.0 * j * j - 1.0), axis=0))
    return np.asarray((0.5 * np.diff(chain.panels.edges)[:, None] * one).ravel())
