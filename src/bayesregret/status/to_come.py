"""What the rest of an experiment may cost: under its policy, under any policy, and without any further decision."""

from __future__ import annotations

import contextlib
from typing import Any, Literal, NamedTuple

import numpy as np

from bayesregret import bounds
from bayesregret.bounds.least import Least, is_programmed
from bayesregret.bounds.result import Bound
from bayesregret.digits import counted
from bayesregret.models import Bandit
from bayesregret.planning.experiment import best_bound, exact_or_none
from bayesregret.planning.least import QUICK_OPTIMUM, quick_least, work_of_lower_bound
from bayesregret.planning.perturbed_priors import prior_moments
from bayesregret.policies import Policy
from bayesregret.simulation.cost import EVERY_ROUND_COST, run_cost
from bayesregret.simulation.estimates import Estimate, estimate
from bayesregret.simulation.kernels.run import BLOCK
from bayesregret.simulation.simulate import simulate
from bayesregret.status.continuation import can_continue, continued_regrets
from bayesregret.status.progress import Progress
from bayesregret.status.so_far import expected_excess, posterior_means

# Processor time of a simulation, in nanoseconds, and its largest number of runs. The clock has no say.
BUDGET, MOST_RUNS, FEWEST_RUNS = 1.0e9, 160 * BLOCK, BLOCK
CONTINUED_COST = 2.0 * EVERY_ROUND_COST  # of a round of ten arms from an agent's state
MOST_BUDGET = 4.0 * BUDGET  # of FEWEST_RUNS
MOST_KINDS = 12  # of arms with a bound that takes about a second
QUICK_WORK = 4_000  # of the lower bound

How = Literal["computed", "simulated"]


class ToCome(NamedTuple):
    """Expected regret of the rounds that are left under the policy."""

    regret: float
    error: float  # numerical error, or standard error if it is simulated
    how: How
    runs: int  # 0 where it is computed
    note: str  # what is approximated; may be empty


class Stopping(NamedTuple):
    """Expected loss of keeping the leader for all rounds that are left."""

    leader: int  # number of the arm, among all arms
    loss: float
    error: float


def stopping(progress: Progress, excess: Estimate) -> Stopping:
    """Return the arm with the highest posterior mean, and what it costs to keep it, `excess` in each round."""
    leader = int(progress.active[np.argmax(posterior_means(progress.rest))])
    return Stopping(leader, progress.left * excess.mean, progress.left * excess.stderr)


# --- under the policy -------------------------------------------------------------------------------------------------


def to_come(progress: Progress, seed: int) -> ToCome | str:
    """Return the expected regret of the rounds that are left, or why it is not known."""
    remaining = _remaining_policy(progress)
    if remaining is None:
        return _continued(progress, seed)
    computed = exact_or_none(progress.rest, remaining, progress.left)
    if computed is not None:
        return ToCome(*computed, "computed", 0, _about_pending(progress))
    runs = _affordable(run_cost(remaining, progress.rest, progress.left))
    if runs == 0:
        return _too_long(progress)
    options: dict[str, Any] = {
        "horizon": progress.left,
        "checkpoints": [progress.left],
        "keep": "summary",
        "progress": False,
    }
    drawn = simulate(progress.rest, {"rest": remaining}, runs=runs, seed=seed, **options)["rest"].estimate
    return ToCome(drawn.mean, drawn.stderr, "simulated", runs, _about_pending(progress))


def _remaining_policy(progress: Progress) -> Policy | None:
    """The policy that goes on with the posterior; None if its decisions depend on more."""
    with contextlib.suppress(ValueError):
        return progress.agent.remaining().policy
    return None


def _continued(progress: Progress, seed: int) -> ToCome | str:
    agent = progress.agent
    if not can_continue(agent):
        return f"the rest of {agent.policy.name} on {agent.problem.a_kind} bandit cannot be simulated from its state"
    runs = _affordable(int(CONTINUED_COST * max(1.0, agent.problem.arms / 10.0) * progress.left))
    if runs == 0:
        return _too_long(progress)
    drawn = estimate(continued_regrets(progress, runs, seed))
    return ToCome(drawn.mean, drawn.stderr, "simulated", runs, "")


def _affordable(each: int) -> int:
    """Number of runs within the budget; 0 if even a few take long."""
    if FEWEST_RUNS * each > MOST_BUDGET:
        return 0
    return min(MOST_RUNS, max(FEWEST_RUNS, BLOCK * int(BUDGET / each / BLOCK)))


def _too_long(progress: Progress) -> str:
    return f"a simulation of {counted(progress.left, 'round')} takes long"


def _about_pending(progress: Progress) -> str:
    pending = int(progress.pending.sum())
    return f"without {counted(pending, 'pending reward')}" if pending else ""


# --- under any policy -------------------------------------------------------------------------------------------------


def upper_bound(progress: Progress) -> Bound | None:
    """The smallest certified bound on that regret that is quick to compute, if any is proved."""
    rest, found = progress.rest, []
    with contextlib.suppress(ValueError):
        found.append(bounds.certified_trivial(rest, horizon=progress.left))
    policy = _remaining_policy(progress)
    if policy is not None and _kinds(rest) <= MOST_KINDS:
        own = best_bound(rest, policy, progress.left)
        found += [own] if own is not None else []
    return min(found, key=lambda bound: bound.value, default=None)


def lower_bound(progress: Progress) -> Least | None:
    """The least regret that any policy can have in the rounds that are left, or a bound on it, where that is quick."""
    rest, left = progress.rest, progress.left
    if not is_programmed(rest, left, QUICK_OPTIMUM) and work_of_lower_bound(rest, left) > QUICK_WORK:
        return None
    least = quick_least(rest, left)
    return least if least is not None and least.regret > 0.0 else None


def _kinds(bandit: Bandit) -> int:
    """Number of distinct priors among the arms."""
    if bandit.kind in ("linear", "mixture"):
        return bandit.arms
    return len(np.unique(np.column_stack(prior_moments(bandit)), axis=0))


def at_start(progress: Progress, seed: int) -> Estimate:
    """Expected loss of keeping the arm that leads before any reward, for the whole horizon."""
    excess = expected_excess(progress.bandit, seed)
    return Estimate(progress.horizon * excess.mean, progress.horizon * excess.stderr)
