"""Inputs of a kernel: settings with their tables, and the state of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bayesregret.policies.selection import MeanPlusWidth
from bayesregret.simulation.kernels.delayed import make_delayed_state
from bayesregret.simulation.kernels.every_round import make_every_round_state
from bayesregret.simulation.kernels.guaranteed_leader import make_guaranteed_leader_state
from bayesregret.simulation.kernels.index_leader import make_index_leader_state
from bayesregret.simulation.kernels.linear_every_round import make_linear_every_round_state
from bayesregret.simulation.kernels.linear_index import make_linear_index_state
from bayesregret.simulation.kernels.linear_pending import make_linear_pending_state
from bayesregret.simulation.kernels.pending import make_pending_state
from bayesregret.simulation.kernels.select import Kernel, Selection
from bayesregret.simulation.kernels.width_table import tabulate

STATES: dict[Kernel, Callable[[Selection, int, int], Any]] = {
    Kernel.INDEX_LEADER: lambda chosen, arms, late: make_index_leader_state(arms),
    Kernel.GUARANTEED_LEADER: lambda chosen, arms, late: make_guaranteed_leader_state(
        arms, chosen.memory, chosen.scratch
    ),
    Kernel.EVERY_ROUND: lambda chosen, arms, late: make_every_round_state(arms, chosen.memory, chosen.scratch),
    Kernel.DELAYED: lambda chosen, arms, late: make_delayed_state(arms, chosen.memory, chosen.scratch, late),
    Kernel.PENDING: lambda chosen, arms, late: make_pending_state(arms, late),
    Kernel.LINEAR_INDEX: lambda chosen, arms, late: make_linear_index_state(chosen.belief),
    Kernel.LINEAR_EVERY_ROUND: lambda chosen, arms, late: make_linear_every_round_state(
        chosen.belief, chosen.memory, chosen.scratch, late
    ),
    Kernel.LINEAR_PENDING: lambda chosen, arms, late: make_linear_pending_state(
        chosen.belief, chosen.memory, chosen.scratch, late
    ),
}


def make_state(chosen: Selection, arms: int, late: int) -> Any:
    """Make the state of a run, for one thread; `late` is the largest number of rewards that have not arrived."""
    return STATES[chosen.kernel](chosen, arms, late)


def with_tables(chosen: Selection, arms: int, horizon: int) -> Any:
    """Return the policy's settings, with widths in tables where the kernel can use them."""
    settings = chosen.settings
    if chosen.kernel is Kernel.INDEX_LEADER and isinstance(settings, MeanPlusWidth):
        return tabulate(settings.policy, chosen.belief, arms, horizon)
    if chosen.kernel in (Kernel.GUARANTEED_LEADER, Kernel.DELAYED) and hasattr(settings, "parts"):
        return settings._replace(parts=tabulate(settings.parts, chosen.belief, arms, horizon))
    return settings
