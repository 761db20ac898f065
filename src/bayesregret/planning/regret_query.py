"""The question that a target search asks of each bandit and horizon: how far is regret from the target?"""

from __future__ import annotations

from typing import Any, NamedTuple

from bayesregret import checks
from bayesregret.models import Bandit
from bayesregret.planning.beliefs import with_belief
from bayesregret.planning.experiment import best_bound, check_runs_on, policy_with_prior
from bayesregret.planning.run_budget import is_affordable, runs_for_point
from bayesregret.policies import Policy
from bayesregret.policy_data import as_policy
from bayesregret.simulation.engines.engine import Engine
from bayesregret.simulation.estimates import Estimate
from bayesregret.simulation.simulate import LARGEST_HORIZON, checked_late, simulate

# The largest horizon that is examined, where it is affordable, and the largest delay and batch.
LONGEST = 2**20


class RegretQuery(NamedTuple):
    """The policy whose regret is simulated and bounded, with the settings of the simulation.

    If the bandits are mixtures, the policy believes in the `conjugate()` of each.
    """

    policy: Policy
    horizon: int
    runs: int | None
    seed: int
    engine: Engine
    delay: int = 0
    batch: int = 1

    def excess(self, bandit: Bandit, budget: float) -> Estimate:
        """Regret minus the budget."""
        policy = with_belief(self.policy, bandit)
        runs = self.runs or runs_for_point(policy, bandit, self.horizon, is_late=self.is_late)
        shared: dict[str, Any] = {"checkpoints": [self.horizon], "engine": self.engine, "progress": False}
        shared |= {"delay": min(self.delay, self.horizon), "batch": min(self.batch, self.horizon)}
        result = simulate(bandit, policy, horizon=self.horizon, runs=runs, seed=self.seed, **shared)
        regret = result[policy.name].estimate
        return Estimate(regret.mean - budget, regret.stderr)

    @property
    def is_late(self) -> bool:
        """Whether rewards arrive later than at once."""
        return self.delay > 0 or self.batch > 1

    def guarantees(self, bandit: Bandit, budget: float) -> bool:
        """Whether a certified bound is within the budget."""
        if self.is_late:  # bounds are for rewards that arrive at once
            return False
        bound = best_bound(bandit, with_belief(self.policy, bandit), self.horizon)
        return bound is not None and bound.value <= budget

    def is_affordable(self, bandit: Bandit) -> bool:
        return is_affordable(with_belief(self.policy, bandit), bandit, self.horizon, is_late=self.is_late)


def checked_query(
    bandit: Bandit, policy: Any, horizon: Any, runs: Any, seed: Any, engine: Engine, delay: Any, batch: Any
) -> RegretQuery:
    """Check the settings of a target search."""
    horizon = checks.whole("horizon", horizon, 1, LARGEST_HORIZON)
    policy = policy_with_prior(bandit, horizon) if policy is None else as_policy(policy)
    check_runs_on(bandit, with_belief(policy, bandit), horizon)
    runs = None if runs is None else checks.whole("runs", runs, 2)
    late = checked_late(delay, batch, LONGEST)
    return RegretQuery(policy, horizon, runs, checks.whole("seed", seed, 0), engine, *late)
