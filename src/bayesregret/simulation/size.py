"""What a simulation needs, checked before it starts: memory, and a number of rounds that can be counted."""

from __future__ import annotations

from collections.abc import Collection

from bayesregret.checks import MOST_ROUNDS
from bayesregret.memory import array_bytes, free_memory, rounded_down, shown_bytes
from bayesregret.models import Bandit
from bayesregret.policies import Policy
from bayesregret.simulation.kernels.run import BLOCK

# Bytes that a thread needs for each arm, and for each byte of the bandit: the most that any kernel takes.
FOR_ARM = 200
FOR_MODEL = 8
FOR_LATE = 16  # for each reward that has not arrived
FOR_RUN = 16  # for each run of a policy: its regret and its pulls of the best arm


def check_rounds(horizon: int, runs: int) -> None:
    """Raise an error if there are too many rounds to count; a thread would need a year for them."""
    if horizon * runs > MOST_ROUNDS:
        raise ValueError(
            f"runs must be at most {MOST_ROUNDS // horizon} with horizon {horizon}, because a simulation has at most "
            f"2**53 rounds, got {runs}"
        )


def most_runs(
    bandit: Bandit,
    policies: Collection[Policy],
    *,
    checkpoints: int,
    threads: int,
    late: int,
    runs: int,
    keep: str | None,
) -> int | None:
    """Return the number of runs whose results fit into free memory, None if any number does.

    ValueError if the given number does not fit, or not even one run does. `keep` is that of `simulate`, None where the
    caller has no choice.
    """
    free = free_memory()
    if free is None:
        return None
    # One thread more for the compiler's run, and one for tables.
    for_thread = max(_thread_bytes(bandit, policy, checkpoints, late) for policy in policies)
    left = free - (threads + 2) * for_thread
    if left < 0:
        fit = free // for_thread - 2
        what = f"threads must be at most {fit}, got {threads}" if fit > 0 else "arms, delay or batch must be smaller"
        raise ValueError(
            f"{what}: a thread needs about {shown_bytes(for_thread)} for {bandit.arms:,} arms, and "
            f"{shown_bytes(free)} of memory is free"
        )
    if keep == "summary":
        return None
    # What reads the results of all runs needs a copy or two.
    fit = left // (FOR_RUN * (len(policies) + 1))
    if runs > fit:
        hint = "" if keep is None else '; keep="summary" needs no memory per run'
        raise ValueError(
            f"runs must be at most about {rounded_down(fit):,} on this machine with {shown_bytes(free)} of free "
            f"memory, got {runs}{hint}"
        )
    return fit


def _thread_bytes(bandit: Bandit, policy: Policy, checkpoints: int, late: int) -> int:
    """Return the bytes of a thread: the state of its run, and the records of the tasks that wait."""
    state = FOR_ARM * bandit.arms + FOR_MODEL * array_bytes(bandit.model) + FOR_LATE * late
    own = 8 * (policy.memory(bandit) + policy.scratch(bandit))
    return state + own + 3 * 8 * (BLOCK + 2) * checkpoints
