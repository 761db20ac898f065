"""Which kernel plays a policy on a bandit: one decision, for the engine and for agents alike."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

from bayesregret.contracts import (
    choose_arm,
    choose_linear,
    confidence_width,
    prior_pulls,
    rising_index,
    variance_proxy,
)
from bayesregret.contracts.fast import index_multiplier, index_rise, take_lead
from bayesregret.contracts.mixture import MixtureModel, log_predictive
from bayesregret.models import Bandit
from bayesregret.models.linear import LinearModel
from bayesregret.models.mixture import mixture_memory
from bayesregret.policies import Policy
from bayesregret.policies.index_fast.scaled_widths import HighestScaled, scratch_for_scaled
from bayesregret.policies.index_fast.tangents import HighestByTangents, scratch_for_tangents
from bayesregret.policies.index_fast.upper_bounds import HighestRising, scratch_for_upper_bounds
from bayesregret.policies.linear_selection import HighestLinear, as_width
from bayesregret.policies.mixture_selection import HighestInMixture
from bayesregret.policies.pending import counts_pending, counts_pending_linear
from bayesregret.policies.selection import HighestIndex, MeanPlusWidth, as_index, is_mean_plus_width, moves_with_time


class Kernel(enum.Enum):
    """The ways to play a run."""

    INDEX_LEADER = enum.auto()  # only the pulled arm's index moves: stay on the leader
    GUARANTEED_LEADER = enum.auto()  # all indices move, but the policy guarantees its choice for several rounds
    EVERY_ROUND = enum.auto()  # the policy chooses in every round
    DELAYED = enum.auto()  # the same, with rewards that arrive late
    PENDING = enum.auto()  # rewards arrive late, and the policy's index counts pending pulls
    LINEAR_INDEX = enum.auto()
    LINEAR_EVERY_ROUND = enum.auto()  # with rewards on time or late
    LINEAR_PENDING = enum.auto()


class Selection(NamedTuple):
    """A kernel and its inputs."""

    kernel: Kernel
    own: Any  # the policy's own settings
    settings: Any  # these settings, wrapped so that they implement the function that the kernel calls
    belief: Any
    memory: int = 0  # length of `stats.memory`
    scratch: int = 0  # length of `stats.scratch`
    counts_pending: bool = False  # whether the policy counts pending pulls where rewards are late


def select(policy: Policy, bandit: Bandit, horizon: int | None, *, late: bool = False) -> Selection:
    """Choose the kernel that plays a policy on a bandit; ValueError, in one line, if the policy does not run on it.

    `late` is whether rewards are delayed or batched.
    """
    settings, belief = policy.settings(bandit, horizon), policy.belief(bandit)
    if not hasattr(settings, "_fields"):
        raise TypeError(
            f"{type(policy).__name__}.settings must return a NamedTuple of yours, got {type(settings).__name__}"
        )
    moves = moves_with_time(settings)
    if isinstance(belief, LinearModel):
        return _select_linear(policy, bandit, settings, belief, moves, late)
    has_width = not moves and is_mean_plus_width(settings)
    for function in (*([variance_proxy] if has_width and prior_pulls.supports(belief) else []), *policy.needs):
        if not function.supports(belief):
            raise ValueError(
                f"policy must be one that runs on {bandit.a_kind} bandit, got {policy.name}, which needs "
                f"{function.__name__} of its belief"
            )
    if isinstance(belief, MixtureModel):
        return _select_mixture(policy, bandit, settings, belief, late)
    counts = counts_pending(policy, settings)
    if late and counts:
        return Selection(Kernel.PENDING, settings, settings, belief, counts_pending=True)
    if not late and not moves:
        as_index_policy = MeanPlusWidth(settings) if has_width else settings
        return Selection(Kernel.INDEX_LEADER, settings, as_index_policy, belief, counts_pending=counts)
    chooser, memory, scratch = chooser_for(policy, bandit, settings)
    kernel = Kernel.GUARANTEED_LEADER if take_lead.supports(chooser) else Kernel.EVERY_ROUND
    return Selection(Kernel.DELAYED if late else kernel, settings, chooser, belief, memory, scratch, counts)


def _select_linear(
    policy: Policy, bandit: Bandit, settings: Any, belief: LinearModel, moves: bool, late: bool
) -> Selection:
    """A linear belief has means and covariances of arms, not counts and totals: the policy must use these."""
    chooses = choose_linear.supports(settings)
    if not chooses and not confidence_width.supports(settings):
        raise ValueError(
            f"policy must be one that runs on a linear bandit, got {policy.name}, which has neither a confidence width "
            "nor a choose_linear"
        )
    counts = counts_pending_linear(policy, settings)
    if not late and not moves:
        return Selection(Kernel.LINEAR_INDEX, settings, as_width(settings), belief, counts_pending=counts)
    chooser = settings if chooses else HighestLinear(as_width(settings))
    memory, scratch = policy.memory(bandit) if chooses else 0, policy.linear_scratch(*belief.whitened.shape)
    kernel = Kernel.LINEAR_PENDING if late and counts else Kernel.LINEAR_EVERY_ROUND
    return Selection(kernel, settings, chooser, belief, memory, scratch, counts)


def _select_mixture(policy: Policy, bandit: Bandit, settings: Any, belief: MixtureModel, late: bool) -> Selection:
    """Every reward moves the index of every arm, so the policy chooses in every round."""
    chooses = choose_arm.supports(settings)
    if not log_predictive.supports(belief.parts) or not (chooses or confidence_width.supports(settings)):
        raise ValueError(
            f"policy must be one that can believe in this mixture, got {policy.name}"
            + f"; {type(policy).__name__}(prior=bandit.conjugate()) believes in one bandit" * hasattr(policy, "prior")
        )
    chooser = settings if chooses else HighestInMixture(settings)
    memory = (policy.memory(bandit) if chooses else 0) + mixture_memory(belief)
    kernel = Kernel.DELAYED if late else Kernel.EVERY_ROUND
    return Selection(kernel, settings, chooser, belief, memory, policy.scratch(bandit) if chooses else 0)


def chooser_for(policy: Policy, bandit: Bandit, settings: Any) -> tuple[Any, int, int]:
    """Settings with a `choose_arm`, and the lengths of memory and scratch that it needs."""
    if choose_arm.supports(settings):
        return settings, policy.memory(bandit), policy.scratch(bandit)
    if index_multiplier.supports(settings):
        return HighestScaled(settings), 0, scratch_for_scaled(bandit.arms)
    if index_rise.supports(settings):
        return HighestByTangents(settings), 0, scratch_for_tangents(bandit.arms)
    if rising_index.supports(settings):
        return HighestRising(settings), 0, scratch_for_upper_bounds(bandit.arms)
    return HighestIndex(as_index(settings)), 0, 0
