"""The prior that a plan's policies believe in.

Policies that believe in a mixture choose in every round among all its components. In a plan they believe in one bandit
with the mixture's means and variances instead: nearly as good, at full speed, while instances still come from the
mixture.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from bayesregret.models import Bandit, MixtureBandit
from bayesregret.policies import Policy
from bayesregret.policies.base import BelievingPolicy


def believed_bandit(bandit: Bandit) -> Bandit:
    """The bandit whose prior policies believe in: the bandit itself, or one that matches a mixture."""
    if not isinstance(bandit, MixtureBandit):
        return bandit
    try:
        return bandit.conjugate()
    except ValueError:  # no variances to match: believe in the mixture
        return bandit


def with_belief(policy: Policy, bandit: Bandit) -> Policy:
    """The policy with an explicit belief, where the bandit is a mixture and the policy has none."""
    if not isinstance(bandit, MixtureBandit) or not uses_prior(policy) or getattr(policy, "prior", None) is not None:
        return policy
    return believing(policy, believed_bandit(bandit))


def without_belief(policy: Policy, bandit: Bandit) -> Policy:
    """The policy without the belief that `with_belief` gave it, for other bandits."""
    if isinstance(bandit, MixtureBandit) and getattr(policy, "prior", None) == believed_bandit(bandit):
        return believing(policy, None)
    return policy


def believing(policy: Policy, bandit: Bandit | None) -> Policy:
    """The policy with this belief; None is the prior of whatever bandit it plays."""
    given: Any = policy
    made: Policy = dataclasses.replace(given, prior=bandit)
    return made


def uses_prior(policy: Policy) -> bool:
    return isinstance(policy, BelievingPolicy)
