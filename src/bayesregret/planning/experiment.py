"""Outcomes of policies on the bandit of a plan, simulated on the same instances and noise."""

from __future__ import annotations

import contextlib
import dataclasses
import functools

from bayesregret import bounds
from bayesregret.bounds.bound import Formula
from bayesregret.bounds.least import Least
from bayesregret.bounds.result import Bound
from bayesregret.checks import Array
from bayesregret.exact import exact_regret, explore_commit_regret
from bayesregret.exact.availability import why_simulated
from bayesregret.exact.explore_commit.best_length import prior_means
from bayesregret.models import Bandit
from bayesregret.planning.beliefs import believed_bandit, with_belief
from bayesregret.planning.least import quick_least
from bayesregret.planning.policy_outcome import PolicyOutcome
from bayesregret.planning.run_budget import (
    DELTA_BUDGET,
    SWEEP_BUDGET,
    gittins_table_seconds,
    has_slow_quantiles,
    runs_for_point,
    runs_for_policy,
)
from bayesregret.planning.tracked_simulation import TrackedRuns, track, tracked_simulation
from bayesregret.policies import KLUCB, MOSS, UCB1, BayesUCB, ExploreCommit, Gittins, Policy, Thompson
from bayesregret.progress import WorkProgress
from bayesregret.simulation.cost import run_cost
from bayesregret.simulation.engines.engine import Engine
from bayesregret.simulation.simulate import simulate

DEFAULT: tuple[Policy, ...] = (BayesUCB(), Thompson(), KLUCB(), MOSS(), UCB1())
WITHOUT_PRIOR: tuple[Policy, ...] = (UCB1(), KLUCB())
AB_TEST = "A/B test"
LONGEST_TABLE = 1.0  # seconds for a table of Gittins indices
# Sweeps have their own seeds: the winner of a sweep is judged on instances that the sweep did not use.
FIRST_SWEEP_SEED = 2**65
ROUNDING = 1e-12  # relative error of a closed form


class PlannedExperiment:
    """A bandit and a horizon, with one seed for everything that is simulated."""

    def __init__(
        self,
        bandit: Bandit,
        horizon: int,
        *,
        runs: int | None,
        seed: int,
        engine: Engine,
        delay: int = 0,
        batch: int = 1,
        epsilon: float = 0.0,
    ) -> None:
        self.bandit = bandit
        self.epsilon = epsilon
        self.horizon = horizon
        self.delay, self.batch = delay, batch
        self.runs = runs
        self.seed = seed
        self.engine = engine
        self.bar = WorkProgress(0)  # replaced by one that is shown
        self.regrets = functools.cache(functools.partial(self._regrets, budget=SWEEP_BUDGET))
        self.regrets_of_deltas = functools.cache(functools.partial(self._regrets, budget=DELTA_BUDGET))

    @property
    def is_immediate(self) -> bool:
        """Whether every reward arrives before the next round; exact regrets and bounds are for that case."""
        return self.delay == 0 and self.batch == 1

    def runs_for_policy(self, policy: Policy) -> int:
        """Number of runs of a policy in the plan's table."""
        return self.runs or runs_for_policy(policy, self.bandit, self.horizon, is_late=not self.is_immediate)

    def runs_for_point(self, policy: Policy, budget: float = SWEEP_BUDGET) -> int:
        """Number of runs at each point of a sweep."""
        return self._runs_for_point(policy, self.bandit, self.horizon, budget)

    def _runs_for_point(self, policy: Policy, bandit: Bandit, horizon: int, budget: float) -> int:
        return self.runs or runs_for_point(policy, bandit, horizon, budget, is_late=not self.is_immediate)

    def cost(self, policy: Policy, bandit: Bandit | None = None, horizon: int | None = None) -> int:
        """Approximate cost of a run, here or on another bandit or over another horizon, in the unit of `run_cost`."""
        return run_cost(policy, bandit or self.bandit, horizon or self.horizon, is_late=not self.is_immediate)

    def _regrets(self, policy: Policy, budget: float) -> Array:
        """(runs,): final regrets, on the same instances and noise for every policy of a sweep."""
        return self.regrets_elsewhere(self.bandit, self.horizon, policy, budget)

    def regrets_elsewhere(self, bandit: Bandit, horizon: int, policy: Policy, budget: float = SWEEP_BUDGET) -> Array:
        """(runs,): final regrets on another bandit, or over another horizon."""
        each = self.cost(policy, bandit, horizon)
        runs = self._runs_for_point(policy, bandit, horizon, budget)
        before = self.bar.done
        self._extend_bar(runs * each)

        def report(done: int, _: int) -> None:
            self.bar.advance(before + done // horizon * each - self.bar.done)

        result = simulate(
            bandit,
            policy,
            horizon=horizon,
            runs=runs,
            seed=FIRST_SWEEP_SEED + self.seed,
            checkpoints=[horizon],
            engine=self.engine,
            progress=report,
            delay=min(self.delay, horizon),
            batch=min(self.batch, horizon),
        )
        return result[policy.name].final_regret

    def _extend_bar(self, work: int) -> None:
        """Make sure that this much more work fits on the bar, whose total is an estimate."""
        self.bar.extend(max(0, self.bar.done + work - self.bar.total))

    def outcome_over(self, horizon: int, name: str, policy: Policy) -> PolicyOutcome:
        """Simulated outcome over another horizon, on few runs."""
        runs = self._runs_for_point(policy, self.bandit, horizon, DELTA_BUDGET)
        tracked = self._tracked(policy, horizon, runs, FIRST_SWEEP_SEED + self.seed)
        return PolicyOutcome(name, policy, horizon, tracked, None, None, None, None)

    def _tracked(self, policy: Policy, horizon: int, runs: int, seed: int) -> TrackedRuns:
        each = self.cost(policy, horizon=horizon)
        self._extend_bar(runs * each)
        return track(
            self.bandit,
            policy,
            horizon=horizon,
            runs=runs,
            seed=seed,
            engine=self.engine,
            on_progress=lambda done: self.bar.advance(done * each),
            delay=self.delay,
            batch=self.batch,
            epsilon=self.epsilon,
        )

    def outcome(self, name: str, policy: Policy) -> PolicyOutcome:
        self.bar.describe(name)
        tracked = self._tracked(policy, self.horizon, self.runs_for_policy(policy), self.seed)
        exact, error = (exact_or_none(self.bandit, policy, self.horizon) if self.is_immediate else None) or (None, None)
        regret = float(tracked.final_regret.mean()) if exact is None else exact
        ratio = None if self.least is None or self.least.regret <= 0.0 else regret / self.least.regret
        bound = best_bound(self.bandit, policy, self.horizon) if self.is_immediate else None
        return PolicyOutcome(name, policy, self.horizon, tracked, exact, error, bound, ratio)

    @functools.cached_property
    def least(self) -> Least | None:
        """The least regret of any policy or a lower bound on it, where that is quick to compute."""
        least = quick_least(self.bandit, self.horizon)
        # With late rewards the least regret is larger.
        return least if least is None else dataclasses.replace(least, exact=least.exact and self.is_immediate)


def default_policies(bandit: Bandit, horizon: int) -> list[Policy]:
    """The policies that a plan compares: those that run on the bandit, with the belief that they have in a plan."""
    found = [with_belief(policy, bandit) for policy in (*DEFAULT, *_quick_gittins(bandit, horizon))]
    return [policy for policy in found if runs_on(policy, bandit, horizon)]


def _quick_gittins(bandit: Bandit, horizon: int) -> list[Policy]:
    """The Gittins index with discount 1 - 1/horizon, to two digits, if its tables take about a second at most."""
    if horizon == 1 or gittins_table_seconds(believed_bandit(bandit), horizon) > LONGEST_TABLE:
        return []
    return [Gittins(discount=round(1.0 - float(f"{1.0 / horizon:.2g}"), 15))]


def check_runs_on(bandit: Bandit, policy: Policy, horizon: int) -> None:
    """Raise a ValueError of one line if the policy cannot be simulated on the bandit."""
    tracked_simulation(bandit, policy, horizon=horizon, seed=0)


def runs_on(policy: Policy, bandit: Bandit, horizon: int) -> bool:
    """Whether a policy can be simulated on a bandit."""
    try:
        check_runs_on(bandit, policy, horizon)
    except ValueError:
        return False
    return True


def policy_without_prior(bandit: Bandit, horizon: int) -> Policy | None:
    """The policy without a prior to compare with: UCB1, or KL-UCB where rewards have no variance proxy."""
    return next((policy for policy in WITHOUT_PRIOR if runs_on(policy, bandit, horizon)), None)


def policy_with_prior(bandit: Bandit, horizon: int) -> Policy:
    """The policy that target searches are about by default: BayesUCB, or Thompson where that needs slow quantiles."""
    return Thompson() if has_slow_quantiles(bandit, horizon) else BayesUCB()


def exact_or_none(bandit: Bandit, policy: Policy, horizon: int) -> tuple[float, float] | None:
    """Exact Bayes regret and its numerical error, where they take about a second."""
    if getattr(policy, "prior", None) is not None:
        return None
    if isinstance(policy, ExploreCommit):
        if prior_means(bandit) is None:
            return None
        regret = explore_commit_regret(bandit, horizon=horizon, explore=policy.explore)
        return regret, ROUNDING * (regret + horizon)
    is_index = type(policy) in (BayesUCB, UCB1) or (isinstance(policy, Gittins) and policy.discount is not None)
    if not is_index or why_simulated(bandit, horizon, None) is not None:
        return None
    try:
        found = exact_regret(bandit, policy, horizon=horizon)
    except ValueError:  # a prior so extreme that digits are lost
        return None
    return found.regret, found.error


def best_bound(bandit: Bandit, policy: Policy, horizon: int) -> Bound | None:
    """The smallest certified bound on the regret of this policy that holds here, if any."""
    if getattr(policy, "prior", None) is not None:
        return None
    delta = getattr(policy, "delta", None)
    found = []
    for formula in Formula.every.values():
        is_for_policy = (formula.form, formula.kind, formula.policy) == ("certified", "upper", policy.name)
        if is_for_policy and formula is not bounds.certified and formula.covers(bandit):
            # Not proved here, or a prior so extreme that its integrals are not computed.
            with contextlib.suppress(ValueError):
                found.append(formula(bandit, horizon=horizon, delta=delta))
    return min(found, key=lambda bound: bound.value, default=None)
