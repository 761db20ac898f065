"""The public function `simulate`: it checks every argument once, before a kernel runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesregret import checks
from bayesregret.elementary import exp, log
from bayesregret.models.bandit import BanditLike, as_bandit
from bayesregret.policies import Policy
from bayesregret.policy_data import Policies, named
from bayesregret.progress import WorkProgress, open_progress
from bayesregret.simulation.cost import expected_time
from bayesregret.simulation.engines.choose import EngineLike, as_engine
from bayesregret.simulation.engines.engine import Engine
from bayesregret.simulation.estimates import standard_error
from bayesregret.simulation.kernels.run import BLOCK
from bayesregret.simulation.policy_result import Curve, PolicyResult
from bayesregret.simulation.result import SimulationResult
from bayesregret.simulation.simulation import Simulation
from bayesregret.simulation.size import check_rounds, most_runs

DEFAULT_CHECKPOINTS = 100
DEFAULT_RUNS = 10_000
LARGEST_HORIZON = 10**12
LARGEST_RUNS = 10**10
KEEP = ("runs", "summary")
# Simulations up to here fit into memory wherever Python does and take seconds: nothing is estimated.
SMALL_RUNS, SMALL, SMALL_ROUNDS = 10**4, 10**3, 10**8
MOST_LATE = 10**8  # rewards that have not arrived, 16 bytes each


def simulate(
    bandit: BanditLike,
    policies: Policies,
    *,
    horizon: int,
    runs: int = DEFAULT_RUNS,
    seed: int = 0,
    checkpoints: ArrayLike | None = None,
    threads: int | None = None,
    engine: EngineLike | None = None,
    precision: float | None = None,
    max_runs: int | None = None,
    delay: int = 0,
    batch: int = 1,
    keep: str = "runs",
    progress: bool | Callable[[int, int], None] | None = None,
) -> SimulationResult:
    """Simulate the Bayes regret of policies on a bandit.

    Every policy sees the same instances and the same noise: the k-th pull of an arm gives the same reward, whichever
    policy makes it. The bits of the result depend on the arguments alone, never on `threads` or `engine`.

    Parameters
    ----------
    bandit : Bandit, FittedPrior or Agent
        Prior and reward distribution: of a bandit, of a new experiment like those of a fitted prior, or as an agent has
        learned them.
    policies : Policy or str, an iterable of them, or a mapping of names to them
        The policies to simulate, or their names such as "thompson" or "bayes-ucb:delta=0.1"; a mapping gives them other
        names in the result.
    horizon : int
        Number of rounds of each run.
    runs : int, default 10,000
        Number of runs, each on its own instance.
    seed : int, default 0
        Seed of all random numbers.
    checkpoints : array_like of int, optional
        Rounds at which to keep the regret curve; by default about 100, evenly spaced on a log scale.
    threads : int, optional
        Number of threads; by default all processors that this process may use.
    engine : str, Engine or distributed.Client, optional
        Where to play the runs: "threads", the default, "gpu", a Dask client, or the address of a Dask cluster such as
        "tcp://host:8786", or "local:4" for four processes on this machine.
    precision : float, optional
        Add runs until every policy's standard error is at most this fraction of its mean regret.
    max_runs : int, optional
        Largest number of runs with `precision`; by default 100 times `runs`.
    delay : int
        Number of rounds that rewards arrive late.
    batch : int
        Rewards arrive only at ends of batches of this many rounds.
    keep : str
        "runs" keeps the regret of each run; "summary" only means, standard errors and curves, with the same bits, so
        that memory does not grow with runs. Paired differences need "runs"; quantiles from a summary are right to 0.1
        percent.
    progress : bool or callable, optional
        Whether to show a bar, by default in a terminal or a notebook; or a function of the rounds done and their total.

    Returns
    -------
    SimulationResult
        A mapping from the names of policies to their results.

    Examples
    --------
    >>> bandit = GaussianBandit(prior_mean=[1, 0], prior_width=1, reward_noise=1)
    >>> result = simulate(bandit, BayesUCB(), horizon=100, runs=1000, seed=7)
    >>> result["bayes-ucb"].mean < 15
    True
    """
    bandit = as_bandit(bandit)
    by_name = named(policies)
    horizon = checks.whole("horizon", horizon, 1, LARGEST_HORIZON)
    runs = checks.whole("runs", runs, 1, LARGEST_RUNS)
    seed = checks.whole("seed", seed, 0)
    rounds = checkpoint_rounds(checkpoints, horizon)
    place = as_engine(engine, threads)
    precision = None if precision is None else checks.probability("precision", precision)
    delay, batch = checked_late(delay, batch, horizon)
    if keep not in KEEP:
        raise checks.fail("keep", '"runs" or "summary"', keep)
    most = runs if max_runs is None else checks.whole("max_runs", max_runs, runs, LARGEST_RUNS)
    shared: dict[str, Any] = {"horizon": horizon, "seed": seed, "checkpoints": rounds, "delay": delay, "batch": batch}
    make = partial(Simulation, bandit, keep=keep == "runs", **shared)
    fit, expected = None, None
    is_small = most * len(by_name) <= SMALL_RUNS and max(bandit.arms, delay + batch, len(rounds)) <= SMALL
    if not is_small or place.threads > SMALL or precision is not None or horizon * most > SMALL_ROUNDS:
        check_rounds(horizon, most)
        size = {"checkpoints": len(rounds), "threads": place.threads, "late": min(delay + batch, horizon)}
        fit = most_runs(bandit, by_name.values(), runs=most, keep=keep, **size)
        expected = expected_time(bandit, by_name.values(), horizon=horizon, runs=runs, engine=place)
    cap = most if max_runs is not None else min(100 * runs, fit or LARGEST_RUNS, checks.MOST_ROUNDS // horizon)
    with open_progress(progress, total=len(by_name) * runs * horizon, expected=expected) as bar:
        simulations = dict(zip(by_name, map(make, by_name.values()), strict=True))
        _run_all(simulations, runs, place, bar)
        if precision is not None:
            _run_to_precision(simulations, precision, cap, place, bar)
    results = {name: _result(name, policy, simulations[name], rounds) for name, policy in by_name.items()}
    reached = precision is None or all(r.stderr <= precision * r.mean for r in results.values())
    done = next(iter(simulations.values())).tally.runs
    return SimulationResult(bandit, horizon, done, seed, rounds, results, precision, reached, delay, batch)


def checked_late(delay: int, batch: int, horizon: int) -> tuple[int, int]:
    """Check delay and batch, which need memory for every reward that has not arrived."""
    delay, batch = checks.whole("delay", delay, 0, LARGEST_HORIZON), checks.whole("batch", batch, 1, LARGEST_HORIZON)
    if min(delay + batch, horizon) > MOST_LATE:
        raise ValueError(f"delay and batch must be at most {MOST_LATE} rounds together, got {delay} and {batch}")
    return delay, batch


def checkpoint_rounds(given: Any, horizon: int) -> NDArray[np.int64]:
    """Increasing rounds within 1..horizon, the horizon among them."""
    if given is None:
        exponents = np.linspace(0.0, log(horizon), min(DEFAULT_CHECKPOINTS, horizon))
        rounds = np.rint(list(map(exp, exponents.tolist()))).astype(np.int64)
    else:
        may_be = f"whole numbers between 1 and the horizon, {horizon}"
        try:
            rounds = np.atleast_1d(np.asarray(given))
        except ValueError:
            raise checks.fail("checkpoints", may_be, given) from None
        if rounds.ndim != 1 or rounds.size == 0 or rounds.dtype.kind not in "iu":
            raise checks.fail("checkpoints", may_be, given)
        if rounds.min() < 1 or rounds.max() > horizon:
            raise checks.fail("checkpoints", may_be, given)
    return np.unique(np.append(np.clip(rounds, 1, horizon).astype(np.int64), horizon))


def _run_all(simulations: dict[str, Simulation], runs: int, engine: Engine, bar: WorkProgress) -> None:
    for name, simulation in simulations.items():
        bar.describe(name)
        simulation.run_until(runs, engine, lambda done, s=simulation: bar.advance(done * s.horizon))  # type: ignore[misc]


def _run_to_precision(
    simulations: dict[str, Simulation], precision: float, cap: int, engine: Engine, bar: WorkProgress
) -> None:
    """Add runs until every policy reaches the precision, or until there are `cap` runs."""
    while True:
        first = next(iter(simulations.values()))
        wanted = min(cap, _runs_for(precision, simulations))
        if wanted <= first.tally.runs:
            return
        bar.extend(len(simulations) * (wanted - first.tally.runs) * first.horizon)
        _run_all(simulations, wanted, engine, bar)


def _runs_for(precision: float, simulations: dict[str, Simulation]) -> int:
    """Estimate the number of runs that bring every policy to the precision, in whole blocks.

    At most four times as many at once, because the estimate is itself uncertain.
    """
    wanted = 0
    for simulation in simulations.values():
        tally = simulation.tally
        so_far = tally.estimate()
        if so_far.stderr <= precision * so_far.mean:
            continue
        ratio = so_far.stderr / (precision * so_far.mean) if so_far.mean > 0.0 else math.inf
        more = tally.runs * min(4.0, max(1.1, 1.05 * ratio * ratio))
        wanted = max(wanted, BLOCK * math.ceil(more / BLOCK))
    return wanted


def _result(name: str, policy: Policy, simulation: Simulation, rounds: NDArray[np.int64]) -> PolicyResult:
    tally = simulation.tally
    curve = Curve(rounds, tally.curve_mean, standard_error(tally.curve_squares, tally.runs))
    return PolicyResult(
        name=name,
        policy=policy,
        delta=simulation.delta,
        estimate=tally.estimate(),
        best_share=tally.best / tally.runs / simulation.horizon,
        mean_pulls=tally.pulls / tally.runs,
        curve=curve,
        horizon=simulation.horizon,
        kept=tally.kept(),
        regret_counts=tally.regret_counts,
    )
