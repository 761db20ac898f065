"""Which kind of agent a policy makes on a bandit."""

from __future__ import annotations

from bayesregret import checks
from bayesregret.agent.agent import Agent
from bayesregret.agent.arms import ArmsAgent, RoundsAgent
from bayesregret.agent.linear import LinearAgent, LinearRoundsAgent
from bayesregret.models import Bandit
from bayesregret.models.linear import LinearModel
from bayesregret.policies.base import Policy, moves_with_time


def start_agent(policy: Policy, bandit: Bandit, horizon: int | None, seed: int) -> Agent:
    """The kind of agent that fits what the policy believes."""
    if not isinstance(bandit, Bandit):
        raise checks.fail("bandit", "a bandit such as GaussianBandit", bandit)
    if horizon is not None:
        checks.whole("horizon", horizon, 1)
    checks.whole("seed", seed, 0)
    kind: type[Agent] = ArmsAgent
    moves, is_linear = moves_with_time(policy.settings(bandit, horizon)), isinstance(policy.belief(bandit), LinearModel)
    if moves:
        kind = LinearRoundsAgent if is_linear else RoundsAgent
    elif is_linear:
        kind = LinearAgent
    return kind(policy, bandit, horizon, seed)
