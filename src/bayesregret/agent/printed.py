"""Agents as text for people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayesregret.agent.names import shortened
from bayesregret.digits import counted, text_table
from bayesregret.models import Bandit

PRINTED_ARMS = 20


def table(names: Sequence[str], pulls: NDArray[np.int64], pending: NDArray[np.int64]) -> str:
    """Pulls and pending pulls of the first arms."""
    shown = range(min(len(names), PRINTED_ARMS))
    rows = [[shortened(names[arm]), f"{pulls[arm]:,}", f"{pending[arm]:,}"] for arm in shown]
    rest = [f"and {counted(len(names) - len(shown), 'more arm')}"] if len(names) > len(shown) else []
    return "\n".join([text_table([["arm", "pulls", "pending"], *rows]), *rest])


def summary(policy: str, problem: Bandit, horizon: int | None, rewards: int, pending: int) -> str:
    """Policy, bandit and how far the agent is, in one line."""
    rounds = [f"horizon {horizon:,}"] if horizon is not None else []
    waiting = [f"{pending:,} pending"] if pending else []
    parts = [counted(problem.arms, "arm"), *rounds, f"after {counted(rewards, 'reward')}", *waiting]
    return f"{policy} on {problem.a_kind} bandit, " + ", ".join(parts)
