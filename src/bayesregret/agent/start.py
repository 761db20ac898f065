"""The agent that plays a policy on a bandit."""

from __future__ import annotations

from collections.abc import Sequence

from bayesregret import checks
from bayesregret.agent.agent import Agent
from bayesregret.agent.arms import EveryRoundAgent, IndexAgent, PendingIndexAgent
from bayesregret.agent.linear import LinearEveryRoundAgent, LinearIndexAgent
from bayesregret.agent.names import checked_names
from bayesregret.models.bandit import BanditLike, as_bandit
from bayesregret.models.linear import LinearModel
from bayesregret.policies import Policy
from bayesregret.simulation.kernels.select import Kernel, select

LARGEST_SEED = 2**256  # more bits than anybody needs, few enough to be saved

KINDS: dict[Kernel, type[Agent]] = {
    Kernel.INDEX_LEADER: IndexAgent,
    Kernel.EVERY_ROUND: EveryRoundAgent,
    Kernel.GUARANTEED_LEADER: EveryRoundAgent,
    Kernel.LINEAR_INDEX: LinearIndexAgent,
    Kernel.LINEAR_EVERY_ROUND: LinearEveryRoundAgent,
}


def start_agent(
    policy: Policy, bandit: BanditLike, horizon: int | None, seed: int, arms: Sequence[str] | None = None
) -> Agent:
    """Start the kind of agent that makes the decisions of the policy's kernel."""
    bandit = as_bandit(bandit)
    if horizon is not None:
        horizon = checks.rounds("horizon", horizon, 1)
    seed = checks.whole_up_to("seed", seed, 0, LARGEST_SEED)
    names = None if arms is None else checked_names(arms, bandit.arms)
    chosen = select(policy, bandit, horizon)
    kind = KINDS[chosen.kernel]
    if chosen.counts_pending and not isinstance(chosen.belief, LinearModel):
        kind = PendingIndexAgent
    agent = kind(policy, bandit, horizon, seed, chosen)
    agent._names = names
    return agent
