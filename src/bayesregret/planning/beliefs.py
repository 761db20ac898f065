"""The prior that a plan's policies believe in.

Policies that believe in a mixture choose in every round among all its components. In a plan they believe in one bandit
with the mixture's means and variances instead: nearly as good, at full speed, while instances still come from the
mixture.
"""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

from bayesregret.models import Bandit, MixtureBandit
from bayesregret.models.no_prior import NoPriorModel
from bayesregret.policies import Policy
from bayesregret.policies.base import BelievingPolicy
from bayesregret.sources import is_outside


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
    takes_one = isinstance(bandit, MixtureBandit) and isinstance(policy, BelievingPolicy)
    if not takes_one or explicit_prior(policy) is not None:
        return policy
    return believing(policy, believed_bandit(bandit))


def without_belief(policy: Policy, bandit: Bandit) -> Policy:
    """The policy without the belief that `with_belief` gave it, for other bandits."""
    if isinstance(bandit, MixtureBandit) and explicit_prior(policy) == believed_bandit(bandit):
        return believing(policy, None)
    return policy


def believing(policy: Policy, bandit: Bandit | None) -> Policy:
    """The policy with this belief; None is the prior of whatever bandit it plays."""
    if isinstance(policy, BelievingPolicy):
        given: Any = policy
        made: Policy = dataclasses.replace(given, prior=bandit)
        return made
    return policy if bandit is None else _misled(policy, bandit)


def _misled(policy: Policy, bandit: Bandit) -> Policy:
    """A policy without a field `prior`, whatever it plays with the settings and the belief that it has on `bandit`."""
    kind: Any = type(policy)
    methods = {
        "__slots__": (),
        "settings": lambda self, played, horizon: kind.settings(self, bandit, horizon),
        "belief": lambda self, played: kind.belief(self, bandit),
    }
    made = copy.copy(policy)
    object.__setattr__(made, "__class__", type(kind.__name__, (kind,), methods))
    return made


def explicit_prior(policy: Policy) -> Bandit | None:
    """The prior that a policy was given, if any."""
    prior: Bandit | None = getattr(policy, "prior", None)
    return prior


def uses_prior(policy: Policy, bandit: Bandit) -> bool | None:
    """Whether a policy learns with the bandit's prior, or with one that it was given; None if that is not known."""
    if isinstance(policy, BelievingPolicy):
        return True
    if not is_outside((type(policy),)):
        return False
    belief = policy.belief(bandit)
    if belief is bandit.model:
        return True
    return False if isinstance(belief, NoPriorModel) else None
