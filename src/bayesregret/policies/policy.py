"""What every policy has: a name, its settings for a horizon, and what it believes about a bandit."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from bayesregret import checks
from bayesregret.contracts import arm_index, confidence_width

if TYPE_CHECKING:
    from bayesregret.agent import Agent
    from bayesregret.models import Bandit


class Policy(ABC):
    """Subclass it as a frozen dataclass; see CONTRIBUTING.md for a whole policy in twenty lines."""

    name: ClassVar[str]
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

    def start(self, bandit: Bandit, *, horizon: int | None = None) -> Agent:
        """An agent that takes one decision at a time. A horizon is needed where delta is left to it."""
        from bayesregret.agent import start_agent

        return start_agent(self, bandit, horizon)


def is_mean_plus_width(settings: Any) -> bool:
    """Whether the index is a mean plus `confidence_width`; otherwise it must be an `arm_index`."""
    if type(settings) in confidence_width.bodies:
        return True
    if type(settings) in arm_index.bodies:
        return False
    raise TypeError(f"{type(settings).__name__} implements neither confidence_width nor arm_index")


def check_fits_linear(policy: Policy, settings: Any) -> None:
    """A linear belief gives an arm's mean and variance, not a count and a total: only a width can use it."""
    if not is_mean_plus_width(settings):
        raise ValueError(f"policy must have a confidence width to run on a linear bandit, got {policy.name}")


def log_inverse_delta(delta: float | None, horizon: int | None) -> float:
    """log(1/delta), with delta = 1/horizon where it is not given."""
    if delta is not None:
        return -math.log(checks.probability("delta", delta))
    if horizon is None:
        raise ValueError("delta must be given, a number strictly between 0 and 1, when there is no horizon")
    return math.log(horizon)
