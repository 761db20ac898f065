"""The policies of a plan on one bandit: their outcomes, and regrets of any other policy on the same instances."""

from __future__ import annotations

import contextlib
import functools
from typing import Any

from bayesregret import bounds, checks
from bayesregret.audit.bound_checks import why_simulated
from bayesregret.bounds.bound import Bound, Formula
from bayesregret.exact import exact_regret, explore_commit_regret
from bayesregret.exact.explore_commit.best_length import prior_means
from bayesregret.models import Bandit
from bayesregret.optimal import OptimalRegret, bayes_optimal_regret
from bayesregret.planning.policy_outcome import Outcome
from bayesregret.planning.run_budget import (
    DELTA_BUDGET,
    SWEEP_BUDGET,
    has_slow_quantiles,
    run_cost,
    runs_of,
    runs_of_point,
)
from bayesregret.planning.tracked_simulation import WatchedSimulation, watch
from bayesregret.policies import KLUCB, MOSS, UCB1, BayesUCB, ExploreCommit, Policy, Thompson
from bayesregret.policies.base import BelievingPolicy
from bayesregret.simulation.progress import Progress
from bayesregret.simulation.simulate import simulate

DEFAULT: tuple[Policy, ...] = (BayesUCB(), Thompson(), KLUCB(), MOSS(), UCB1())
WITHOUT_PRIOR: tuple[Policy, ...] = (UCB1(), KLUCB())
SPLIT_TEST = "A/B test"
# The least regret there is takes about a second up to so many rounds, by the number of arms.
QUICK_OPTIMUM = {1: 1_000_000, 2: 150, 3: 40}
# What a sweep finds best is judged on instances that the sweep has not seen.
FIRST_SWEEP_SEED = 2**65
ROUNDING = 1e-12  # of a closed form, relative


class Scene:
    """A bandit over a horizon, with one seed for everything that is simulated on it."""

    def __init__(
        self, bandit: Bandit, horizon: int, *, runs: int | None, seed: int, threads: int, bar: Progress
    ) -> None:
        self.bandit = bandit
        self.horizon = horizon
        self.runs = runs
        self.seed = seed
        self.threads = threads
        self.bar = bar
        self.regrets = functools.cache(functools.partial(self._regrets, budget=SWEEP_BUDGET))
        self.regrets_of_deltas = functools.cache(functools.partial(self._regrets, budget=DELTA_BUDGET))

    def runs_each(self, policy: Policy) -> int:
        """Runs of a policy that is compared."""
        return runs_of(policy, self.bandit, self.horizon) if self.runs is None else self.runs

    def runs_of_point(self, policy: Policy, budget: float = SWEEP_BUDGET) -> int:
        """Runs at each point of a sweep."""
        return runs_of_point(policy, self.bandit, self.horizon, budget) if self.runs is None else self.runs

    def _regrets(self, policy: Policy, budget: float) -> Any:
        """(runs,): final regrets, on the same instances and the same noise for every policy of a sweep."""
        runs, each = self.runs_of_point(policy, budget), run_cost(policy, self.bandit, self.horizon)
        before = self.bar.done
        self._make_room(runs * each)

        def tell(done: int, _: int) -> None:
            self.bar.advance(before + done // self.horizon * each - self.bar.done)

        result = simulate(
            self.bandit,
            policy,
            horizon=self.horizon,
            runs=runs,
            seed=FIRST_SWEEP_SEED + self.seed,
            checkpoints=[self.horizon],
            threads=self.threads,
            progress=tell,
        )
        return result[policy.name].final_regret

    def _make_room(self, work: int) -> None:
        """There may be more to do than was thought."""
        self.bar.extend(max(0, self.bar.done + work - self.bar.in_all))

    def outcome(self, name: str, policy: Policy) -> Outcome:
        self.bar.describe(name)
        runs, each = self.runs_each(policy), run_cost(policy, self.bandit, self.horizon)
        self._make_room(runs * each)
        seen = watch(
            self.bandit,
            policy,
            horizon=self.horizon,
            runs=runs,
            seed=self.seed,
            threads=self.threads,
            on_progress=lambda done: self.bar.advance(done * each),
        )
        exact, error = exact_of(self.bandit, policy, self.horizon) or (None, None)
        regret = float(seen.final_regret.mean()) if exact is None else exact
        least = self.least
        ratio = None if least is None or least.regret <= 0.0 else regret / least.regret
        bound = best_bound(self.bandit, policy, self.horizon)
        return Outcome(name, policy, self.horizon, seen, exact, error, bound, ratio)

    @functools.cached_property
    def least(self) -> OptimalRegret | None:
        """The least regret there is, where it is known and quick."""
        if self.bandit.kind != "bernoulli" or self.horizon > QUICK_OPTIMUM.get(self.bandit.arms, 0):
            return None
        return bayes_optimal_regret(self.bandit, self.horizon)


def check_bandit(bandit: Any) -> None:
    if not isinstance(bandit, Bandit):
        raise checks.fail("bandit", "a bandit such as GaussianBandit", bandit)


def check_fits_bandit(bandit: Any, policy: Any, horizon: int) -> None:
    """One line that says why a policy cannot be simulated on a bandit."""
    check_bandit(bandit)
    if not isinstance(policy, Policy):
        raise checks.fail("policy", "a policy such as BayesUCB()", policy)
    WatchedSimulation(bandit, policy, horizon=horizon, seed=0)


def fits(policy: Policy, bandit: Bandit, horizon: int) -> bool:
    """Whether a policy runs on a bandit."""
    try:
        check_fits_bandit(bandit, policy, horizon)
    except ValueError:
        return False
    return True


def rival_without_prior(bandit: Bandit, horizon: int) -> Policy | None:
    """The policy that is put in the place of one that knows the prior: UCB1, or KL-UCB where UCB1 has no width."""
    return next((policy for policy in WITHOUT_PRIOR if fits(policy, bandit, horizon)), None)


def believer(bandit: Bandit, horizon: int) -> BelievingPolicy:
    """The policy that shows what a prior does: BayesUCB, or Thompson where quantiles in place of widths take long."""
    return Thompson() if has_slow_quantiles(bandit, horizon) else BayesUCB()


def exact_of(bandit: Bandit, policy: Policy, horizon: int) -> tuple[float, float] | None:
    """Bayes regret without simulation and its numerical error, where that takes about a second."""
    if getattr(policy, "prior", None) is not None:
        return None
    if isinstance(policy, ExploreCommit):
        if prior_means(bandit) is None:
            return None
        regret = explore_commit_regret(bandit, horizon, policy.explore)
        return regret, ROUNDING * (regret + horizon)
    if type(policy) not in (BayesUCB, UCB1) or why_simulated(bandit, horizon, None) is not None:
        return None
    try:
        found = exact_regret(bandit, policy, horizon=horizon)
    except ValueError:  # a prior so extreme that digits are lost
        return None
    return found.regret, found.error


def best_bound(bandit: Bandit, policy: Policy, horizon: int) -> Bound | None:
    """The smallest certified bound on the regret of this policy that holds here, if there is one."""
    if getattr(policy, "prior", None) is not None:
        return None
    delta = getattr(policy, "delta", None)
    found = []
    for formula in Formula.every.values():
        is_own = (formula.form, formula.kind, formula.policy) == ("certified", "upper", policy.name)
        if is_own and formula is not bounds.certified and formula.fits(bandit):
            # Not proved here, or a prior so extreme that its integrals are not computed.
            with contextlib.suppress(ValueError):
                found.append(formula(bandit, horizon=horizon, delta=delta))
    return min(found, key=lambda bound: bound.value + bound.error, default=None)
