"""Arms without a prior: the limit of an infinitely wide one."""

from __future__ import annotations

import math
from typing import NamedTuple

from bayesregret.checks import Array
from bayesregret.contracts import divergence_limit, prior_pulls, prior_total, variance_proxy


class NoPriorModel(NamedTuple):
    """No prior; rewards are sub-Gaussian around their mean with this variance proxy."""

    reward_proxy: float


class NoPriorArmsModel(NamedTuple):
    """The same with a variance proxy for each arm."""

    reward_proxy: Array  # (arms,)


@prior_pulls.implement(NoPriorModel)
@prior_pulls.implement(NoPriorArmsModel)
def no_prior_pulls(model, arm):
    return 0.0


@prior_total.implement(NoPriorModel)
@prior_total.implement(NoPriorArmsModel)
def no_prior_total(model, arm):
    return 0.0


@variance_proxy.implement(NoPriorModel)
def no_prior_variance(model, arm, count):
    """Variance proxy of the sample mean; infinite before the first pull, so that every arm is tried."""
    return model.reward_proxy / count if count > 0 else math.inf


@variance_proxy.implement(NoPriorArmsModel)
def no_prior_arms_variance(model, arm, count):
    return model.reward_proxy[arm] / count if count > 0 else math.inf


@divergence_limit.implement(NoPriorModel)
def no_prior_divergence_limit(model, arm, mean, divergence):
    """KL is (q - mean)^2 / (2 s^2), as for normal rewards of variance s^2."""
    return mean + math.sqrt(2.0 * model.reward_proxy * divergence)


@divergence_limit.implement(NoPriorArmsModel)
def no_prior_arms_divergence_limit(model, arm, mean, divergence):
    return mean + math.sqrt(2.0 * model.reward_proxy[arm] * divergence)
