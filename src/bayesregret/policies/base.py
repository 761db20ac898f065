"""What every policy has: a name, its settings for a horizon, and what it believes about a bandit."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from bayesregret import checks
from bayesregret.contracts import (
    arm_index,
    choose_arm,
    choose_linear,
    confidence_width,
    index_level,
    index_rise,
    prior_pulls,
    prior_total,
    rising_index,
    variance_proxy,
)
from bayesregret.policies.index_fast.scaled_widths import HighestScaled, scratch_for_scaled
from bayesregret.policies.index_fast.tangents import HighestByTangents, scratch_for_tangents
from bayesregret.policies.linear_selection import HighestLinear
from bayesregret.policies.selection import HighestIndex, HighestRising, MeanPlusWidth, scratch_for_ceilings

if TYPE_CHECKING:
    from bayesregret.agent import Agent
    from bayesregret.models import Bandit

# Of the exponent c of Bayes-UCB and the factor c of KL-UCB, whose proofs need 5 and 3: beyond it numbers overflow.
LARGEST_C = 100.0


class Policy(ABC):
    """Subclass it as a frozen dataclass; see CONTRIBUTING.md for a whole policy in twenty lines."""

    name: ClassVar[str]
    needs: ClassVar[tuple[Any, ...]] = ()  # what a belief must have a body for, of contracts.py
    classes: ClassVar[dict[str, type[Policy]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" in cls.__dict__:
            Policy.classes[cls.name] = cls

    @abstractmethod
    def settings(self, bandit: Bandit, horizon: int | None) -> Any:
        """The NamedTuple that this policy's formula is implemented for; horizon is None when there is none."""

    def belief(self, bandit: Bandit) -> Any:
        """The model that the policy learns with: the bandit's own unless it says otherwise."""
        return bandit.model

    def memory(self, bandit: Bandit) -> int:
        """How many numbers a `choose_arm` keeps in `known.memory`."""
        return 0

    def scratch(self, bandit: Bandit) -> int:
        """How many numbers a `choose_arm` keeps in `known.scratch`."""
        return 0

    def linear_scratch(self, rank: int, columns: int) -> int:
        """How many numbers a `choose_linear` keeps in `known.scratch`: one for each row and column of `roots`."""
        return rank + columns

    def start(self, bandit: Bandit, *, horizon: int | None = None, seed: int = 0) -> Agent:
        """An agent that takes one decision at a time. A horizon is needed where delta is left to it; what a policy
        leaves to chance follows from the seed."""
        from bayesregret.agent.start import start_agent

        return start_agent(self, bandit, horizon, seed)


class BelievingPolicy(Policy):
    """A policy with a field `prior`: a bandit whose prior it believes in, the true one if None."""

    prior: Bandit | None

    def __post_init__(self) -> None:
        is_bandit = hasattr(self.prior, "accepts_rewards_of") and not isinstance(self.prior, type)
        if self.prior is not None and not is_bandit:
            raise checks.fail("prior", "a bandit", self.prior)

    def belief(self, bandit: Bandit) -> Any:
        if self.prior is None:
            return bandit.model
        if self.prior.arms != bandit.arms:
            raise ValueError(f"prior must have the bandit's {bandit.arms} arms, got {self.prior.arms}")
        if not self.prior.accepts_rewards_of(bandit):
            raise ValueError(
                f"prior must be one that can learn from {bandit.kind} rewards, got {self.prior.a_kind} one"
            )
        return self.prior.model


class Chooser(NamedTuple):
    """How a policy chooses in every round: settings with a `choose_arm` or, on a linear belief, a `choose_linear`, and
    the room that it needs."""

    settings: Any
    memory: int
    scratch: int


def make_chooser(policy: Policy, bandit: Bandit, settings: Any) -> Chooser:
    """For policies that do not choose by themselves, by their index."""
    if type(settings) in choose_arm.bodies:
        return Chooser(settings, policy.memory(bandit), policy.scratch(bandit))
    if type(settings) in index_level.bodies:
        return Chooser(HighestScaled(settings), 0, scratch_for_scaled(bandit.arms))
    if type(settings) in index_rise.bodies:
        return Chooser(HighestByTangents(settings), 0, scratch_for_tangents(bandit.arms))
    if type(settings) in rising_index.bodies:
        return Chooser(HighestRising(settings), 0, scratch_for_ceilings(bandit.arms))
    return Chooser(HighestIndex(as_index(settings)), 0, 0)


def make_linear_chooser(policy: Policy, bandit: Bandit, settings: Any, rank: int, columns: int) -> Chooser:
    """The same on a linear belief."""
    scratch = policy.linear_scratch(rank, columns)
    if type(settings) in choose_linear.bodies:
        return Chooser(settings, policy.memory(bandit), scratch)
    return Chooser(HighestLinear(settings), 0, scratch)


def moves_with_time(settings: Any) -> bool:
    """Whether arms that are not pulled may change places."""
    return any(type(settings) in function.bodies for function in (choose_arm, rising_index, choose_linear))


def check_fits(policy: Policy, bandit: Bandit, settings: Any, belief: Any) -> None:
    """One line that says why a policy does not run on a bandit."""
    independent = type(belief) in prior_pulls.bodies  # a linear belief has variances of its own
    needed = [variance_proxy] if independent and not moves_with_time(settings) and is_mean_plus_width(settings) else []
    for function in (*needed, *policy.needs):
        if type(belief) not in function.bodies:
            raise ValueError(
                f"policy must be one that runs on {bandit.a_kind} bandit, got {policy.name}, which needs "
                f"{function.__name__} of its belief"
            )


def as_index(settings: Any) -> Any:
    """With an `arm_index`, which a confidence width makes, too."""
    return MeanPlusWidth(settings) if is_mean_plus_width(settings) else settings


def is_mean_plus_width(settings: Any) -> bool:
    """Whether the index is a mean plus `confidence_width`; otherwise it must be an `arm_index`."""
    if type(settings) in confidence_width.bodies:
        return True
    if type(settings) in arm_index.bodies:
        return False
    raise TypeError(f"{type(settings).__name__} implements neither confidence_width nor arm_index")


def has_no_width(belief: Any) -> bool:
    """Whether arms are independent and their means have no variance proxy: then no width around them is valid."""
    return type(belief) in prior_total.bodies and type(belief) not in variance_proxy.bodies


def check_fits_linear(policy: Policy, settings: Any) -> None:
    """A linear belief gives arms' means and covariances, not counts and totals: a policy must be able to use them."""
    if type(settings) not in choose_linear.bodies and type(settings) not in confidence_width.bodies:
        raise ValueError(
            f"policy must be one that runs on a linear bandit, got {policy.name}, which has neither a confidence width "
            "nor a choose_linear"
        )


def log_inverse_delta(delta: float | None, horizon: int | None) -> float:
    """log(1/delta), with delta = 1/horizon where it is not given."""
    if delta is not None:
        return -math.log(checks.probability("delta", delta))
    if horizon is None:
        raise ValueError("delta must be given, a number strictly between 0 and 1, when there is no horizon")
    return math.log(horizon)
