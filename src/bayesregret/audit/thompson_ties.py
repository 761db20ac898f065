"""`thompson_identity`: the regret of Thompson sampling, estimated from instances whose two best arms are tied.

Proof of the identity: docs/theory/thompson.md.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesregret import checks
from bayesregret.audit.tied_instances import TiedInstances
from bayesregret.digits import brief, counted, with_error
from bayesregret.models import Bandit
from bayesregret.models.bandit import BanditLike, as_bandit
from bayesregret.policies import Thompson
from bayesregret.results import Result, draw_level
from bayesregret.rng import seed_key
from bayesregret.simulation.engines.engine import Engine
from bayesregret.simulation.engines.threads import ThreadsEngine
from bayesregret.simulation.estimates import Estimate
from bayesregret.simulation.kernels.run import BLOCK
from bayesregret.simulation.kernels.select import select
from bayesregret.simulation.kernels.tied_arms import TiedWorld, make_tied_state
from bayesregret.simulation.simulate import LARGEST_HORIZON, LARGEST_RUNS, simulate
from bayesregret.simulation.simulation import Simulation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RUNS = 10_000
BRANCH = 1  # of the seed: runs here are independent of those of `simulate`
NUMBERS_AT_ONCE = 1 << 23  # mean rewards in memory


@dataclass(frozen=True, eq=False, repr=False)
class ThompsonIdentity(Result):
    """The Bayes regret of Thompson sampling by its identity: the result of `thompson_identity`.

    `plot` draws a line at the regret.

    Attributes
    ----------
    bandit : Bandit
        The bandit.
    horizon : int
        Number of rounds.
    runs : int
        Number of runs of either kind.
    seed : int
        Seed of all random numbers.
    regret : float
        Bayes regret by the identity.
    stderr : float
        Its standard error.
    plain_regret : float
        Bayes regret in as many plain runs, which are independent of the others.
    plain_stderr : float
        Its standard error.

    Examples
    --------
    >>> found = thompson_identity(GaussianBandit([0, 0], prior_width=1, reward_noise=1), horizon=2, runs=64)
    >>> found.stderr < found.plain_stderr
    True
    """

    bandit: Bandit
    horizon: int
    runs: int
    seed: int
    regret: float
    stderr: float
    plain_regret: float
    plain_stderr: float

    @property
    def variance_factor(self) -> float:
        """The variance of plain simulation over that of the identity, for the same number of runs."""
        return (self.plain_stderr / self.stderr) ** 2 if self.stderr > 0.0 else math.inf

    def table(self) -> list[list[str]]:
        """Return headings and two rows, as `print` shows them."""
        rows = (("identity", self.regret, self.stderr), ("plain runs", self.plain_regret, self.plain_stderr))
        return [["estimate", "Bayes regret"], *([name, with_error(mean, error)] for name, mean, error in rows)]

    def summary(self) -> str:
        """Describe the problem, and compare the variances, in two lines."""
        size = f"{counted(self.horizon, 'round')}, {counted(self.bandit.arms, 'arm')}, {counted(self.runs, 'run')} each"
        factor = brief(self.variance_factor) if math.isfinite(self.variance_factor) else "infinite"
        return (
            f"thompson on {self.bandit.a_kind} bandit, {size}\n"
            f"variance of plain runs over that of the identity: {factor}"
        )

    def records(self) -> list[dict[str, Any]]:
        """Return all numbers as plain data, in one row."""
        return [{name: value for name, value in self.to_dict().items() if name != "problem"}]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "problem": self.bandit.to_dict(),
            "horizon": self.horizon,
            "runs": self.runs,
            "seed": self.seed,
            "regret": self.regret,
            "stderr": self.stderr,
            "plain_regret": self.plain_regret,
            "plain_stderr": self.plain_stderr,
            "variance_factor": self.variance_factor,
        }

    def _draw(self, axes: Axes) -> None:
        draw_level(axes, self.regret, "thompson, by its identity")

    def __repr__(self) -> str:
        return str(self)


def thompson_identity(
    bandit: BanditLike, *, horizon: int, runs: int = RUNS, seed: int = 0, threads: int | None = None
) -> ThompsonIdentity:
    """Estimate the Bayes regret of Thompson sampling from instances whose two best arms are tied.

    Regret comes from instances in which the best arms are close. By an exact identity it is an expectation over
    instances in which two arms are tied for the best place: the sum, over rounds and over both tied arms, of the arm's
    posterior variance. With few arms or few rounds that has far less variance than the regret of plain runs, with many
    arms over many rounds it has more: `variance_factor` is the ratio. The bits of the result depend on the arguments
    alone, never on `threads`.

    Parameters
    ----------
    bandit : Bandit, FittedPrior or Agent
        A Gaussian or Bernoulli bandit with at least two arms. Its prior is that of Thompson sampling, too.
    horizon : int
        Number of rounds of each run.
    runs : int, default 10,000
        Number of runs on tied instances, and of plain runs to compare with.
    seed : int, default 0
        Seed of all random numbers; plain runs are those of `simulate` with this seed.
    threads : int, optional
        Number of threads; by default all processors that this process may use.

    Returns
    -------
    ThompsonIdentity
        The regret with its standard error, and that of plain runs.

    Examples
    --------
    >>> found = thompson_identity(BernoulliBandit(alpha=[1, 1], beta=[1, 1]), horizon=2, runs=64, seed=1)
    >>> abs(found.regret - found.plain_regret) < 4 * found.plain_stderr
    True
    """
    bandit = as_bandit(bandit)
    horizon = checks.whole("horizon", horizon, 1, LARGEST_HORIZON)
    runs = checks.whole("runs", runs, 2, LARGEST_RUNS)
    seed = checks.whole("seed", seed, 0)
    engine = ThreadsEngine(threads)
    instances = TiedInstances(bandit)
    plain = simulate(
        bandit,
        Thompson(),
        horizon=horizon,
        runs=runs,
        seed=seed,
        checkpoints=[horizon],
        engine=engine,
        keep="summary",
        progress=False,
    )[Thompson.name]
    found = tied_estimate(bandit, instances, horizon=horizon, runs=runs, seed=seed, engine=engine)
    return ThompsonIdentity(bandit, horizon, runs, seed, found.mean, found.stderr, plain.mean, plain.stderr)


def tied_estimate(
    bandit: Bandit, instances: TiedInstances, *, horizon: int, runs: int, seed: int, engine: Engine
) -> Estimate:
    """Mean cost of runs of Thompson sampling on tied instances."""
    checkpoints = np.array([horizon])
    policy = Thompson()
    simulation = Simulation(bandit, policy, horizon=horizon, seed=seed, checkpoints=checkpoints, keep=False)
    simulation.key = seed_key(seed, BRANCH)
    chosen = select(policy, bandit, horizon)
    simulation.make_state = functools.partial(make_tied_state, bandit.arms, chosen.memory, chosen.scratch)
    at_once = instances.rows * BLOCK * max(1, NUMBERS_AT_ONCE // (instances.rows * BLOCK * bandit.arms))
    for first in range(0, runs, at_once):
        last = min(runs, first + at_once)
        world = _world(bandit, instances, simulation.key, first, last)
        simulation.make_world = lambda world=world: world  # type: ignore[misc]
        simulation.run_until(last, engine, lambda done: None)
    return simulation.tally.estimate()


def _world(bandit: Bandit, instances: TiedInstances, key: Any, first: int, last: int) -> TiedWorld:
    """The instances of the runs from `first` up to, not including, `last`."""
    drawn = [instances.draw(key, begin) for begin in range(first, last, instances.rows)]
    means, pairs = (np.concatenate([part[side] for part in drawn])[: last - first] for side in (0, 1))
    return TiedWorld(bandit.model, means, pairs, instances.weights, instances.pseudo_counts, first)
