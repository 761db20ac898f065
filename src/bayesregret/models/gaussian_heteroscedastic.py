"""Heteroscedastic Gaussian arms: each has its prior width and its reward noise.

The formulas are those of gaussian.py, whose kernels are faster because they look up no widths or noises.
"""

from __future__ import annotations

from typing import NamedTuple

from bayesregret.checks import Array
from bayesregret.contracts import draw_means, draw_reward, prior_pulls, prior_total, variance_proxy
from bayesregret.contracts.fast import reward_deviation
from bayesregret.contracts.mixture import component
from bayesregret.rng import normal, sign


class HeteroscedasticModel(NamedTuple):
    """(arms,) each."""

    prior_mean: Array
    prior_width: Array
    reward_noise: Array
    pseudo_count: Array  # prior pseudo-count, reward_noise^2 / prior_width^2


class HeteroscedasticRademacherModel(NamedTuple):
    """Gaussian beliefs about rewards whose noise is plus or minus the arm's `reward_noise`."""

    prior_mean: Array
    prior_width: Array
    reward_noise: Array
    pseudo_count: Array


@draw_means.implement(HeteroscedasticModel)
@draw_means.implement(HeteroscedasticRademacherModel)
def heteroscedastic_means(model, means, stream):
    for arm in range(means.shape[0]):
        z, stream = normal(stream)
        means[arm] = model.prior_mean[arm] + model.prior_width[arm] * z
    return stream


@draw_reward.implement(HeteroscedasticModel)
def heteroscedastic_reward(model, arm, mean, stream):
    z, stream = normal(stream)
    return mean + model.reward_noise[arm] * z, stream


@draw_reward.implement(HeteroscedasticRademacherModel)
def heteroscedastic_rademacher_reward(model, arm, mean, stream):
    side, stream = sign(stream)
    return mean + model.reward_noise[arm] * side, stream


@prior_pulls.implement(HeteroscedasticModel)
@prior_pulls.implement(HeteroscedasticRademacherModel)
def heteroscedastic_prior_pulls(model, arm):
    return model.pseudo_count[arm]


@prior_total.implement(HeteroscedasticModel)
@prior_total.implement(HeteroscedasticRademacherModel)
def heteroscedastic_prior_total(model, arm):
    return model.pseudo_count[arm] * model.prior_mean[arm]


@variance_proxy.implement(HeteroscedasticModel)
@variance_proxy.implement(HeteroscedasticRademacherModel)
def heteroscedastic_variance(model, arm, count):
    """Posterior variance, (1/prior_width^2 + count/reward_noise^2)^-1; exactly prior_width^2 before the first pull."""
    return model.prior_width[arm] * model.prior_width[arm] / (1.0 + count / model.pseudo_count[arm])


@reward_deviation.implement(HeteroscedasticModel)
@reward_deviation.implement(HeteroscedasticRademacherModel)
def heteroscedastic_reward_deviation(model, arm):
    return model.reward_noise[arm]


@component.implement(HeteroscedasticModel)
def heteroscedastic_component(stacked, number):
    return HeteroscedasticModel(
        stacked.prior_mean[number],
        stacked.prior_width[number],
        stacked.reward_noise[number],
        stacked.pseudo_count[number],
    )
