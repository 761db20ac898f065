"""Gaussian arms that each have a prior width and a reward noise of their own.

The same formulas as for arms that share them, which keep a kernel without these look-ups.
"""

from __future__ import annotations

from typing import NamedTuple

from bayesregret.checks import Array
from bayesregret.contracts import (
    draw_means,
    draw_reward,
    prior_pulls,
    prior_total,
    reward_deviation,
    variance_proxy,
)
from bayesregret.rng import normal, sign


class HeteroscedasticModel(NamedTuple):
    """(arms,) each."""

    prior_mean: Array
    prior_width: Array
    reward_noise: Array
    strength: Array  # reward_noise^2 / prior_width^2: the pulls that the arm's prior is worth


class HeteroscedasticRademacherModel(NamedTuple):
    """Gaussian beliefs about rewards whose noise is plus or minus the arm's `reward_noise`."""

    prior_mean: Array
    prior_width: Array
    reward_noise: Array
    strength: Array


@draw_means.implement(HeteroscedasticModel)
@draw_means.implement(HeteroscedasticRademacherModel)
def gaussian_arms_means(model, means, stream):
    for arm in range(means.shape[0]):
        z, stream = normal(stream)
        means[arm] = model.prior_mean[arm] + model.prior_width[arm] * z
    return stream


@draw_reward.implement(HeteroscedasticModel)
def gaussian_arms_reward(model, arm, mean, stream):
    z, stream = normal(stream)
    return mean + model.reward_noise[arm] * z, stream


@draw_reward.implement(HeteroscedasticRademacherModel)
def rademacher_arms_reward(model, arm, mean, stream):
    side, stream = sign(stream)
    return mean + model.reward_noise[arm] * side, stream


@prior_pulls.implement(HeteroscedasticModel)
@prior_pulls.implement(HeteroscedasticRademacherModel)
def gaussian_arms_prior_pulls(model, arm):
    return model.strength[arm]


@prior_total.implement(HeteroscedasticModel)
@prior_total.implement(HeteroscedasticRademacherModel)
def gaussian_arms_prior_total(model, arm):
    return model.strength[arm] * model.prior_mean[arm]


@variance_proxy.implement(HeteroscedasticModel)
@variance_proxy.implement(HeteroscedasticRademacherModel)
def gaussian_arms_variance(model, arm, count):
    """Posterior variance, (1/prior_width^2 + count/reward_noise^2)^-1; before the first pull noise is nothing to it."""
    return model.prior_width[arm] * model.prior_width[arm] / (1.0 + count / model.strength[arm])


@reward_deviation.implement(HeteroscedasticModel)
@reward_deviation.implement(HeteroscedasticRademacherModel)
def gaussian_arms_reward_deviation(model, arm):
    return model.reward_noise[arm]
