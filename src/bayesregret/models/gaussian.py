"""The K-armed Gaussian bandit, Section 3.1 of the paper."""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

from bayesregret import checks
from bayesregret.checks import Array
from bayesregret.contracts import (
    divergence_limit,
    draw_above,
    draw_means,
    draw_reward,
    known_mean,
    posterior_draw,
    posterior_quantile,
    posterior_variance,
    prior_pulls,
    prior_total,
    tail_bound,
    variance_proxy,
)
from bayesregret.models.bandit import Bandit
from bayesregret.rng import normal, sign, uniform
from bayesregret.special import ndtri

DENSITY_AT_0 = 1.0 / math.sqrt(2.0 * math.pi)  # of a standard normal variable
NOISE_KINDS = ("gaussian", "rademacher")


class GaussianModel(NamedTuple):
    prior_mean: Array
    prior_width: float
    reward_noise: float
    strength: float  # reward_noise^2 / prior_width^2: the pulls that the prior is worth


class RademacherModel(NamedTuple):
    """Gaussian beliefs about rewards whose noise is plus or minus `reward_noise`."""

    prior_mean: Array
    prior_width: float
    reward_noise: float
    strength: float


class GaussianBandit(Bandit):
    """Independent Gaussian priors, Gaussian rewards of known noise.

    With `noise_kind="rademacher"` the noise is plus or minus `reward_noise` with probability one half each, while
    beliefs stay Gaussian (the paper's appendix that compares BayesUCB and UCB1).

    >>> GaussianBandit(prior_mean=[1.0, 0.0], prior_width=1.0, reward_noise=2.0)
    GaussianBandit(prior_mean=[1., 0.], prior_width=1.0, reward_noise=2.0, noise_kind='gaussian')
    """

    kind: ClassVar[str] = "gaussian"

    def __init__(self, prior_mean: Any, prior_width: float, reward_noise: float, noise_kind: str = "gaussian") -> None:
        self.prior_mean = checks.vector("prior_mean", prior_mean)
        self.prior_width = checks.positive("prior_width", prior_width)
        self.reward_noise = checks.positive("reward_noise", reward_noise)
        self.noise_kind = checks.one_of("noise_kind", noise_kind, NOISE_KINDS)
        self.arms = len(self.prior_mean)
        self.reward_proxy = self.reward_noise**2
        make = GaussianModel if self.noise_kind == "gaussian" else RademacherModel
        strength = (self.reward_noise / self.prior_width) ** 2
        self.model = make(self.prior_mean, self.prior_width, self.reward_noise, strength)


@draw_means.implement(GaussianModel)
@draw_means.implement(RademacherModel)
def gaussian_means(model, means, stream):
    for arm in range(means.shape[0]):
        z, stream = normal(stream)
        means[arm] = model.prior_mean[arm] + model.prior_width * z
    return stream


@draw_reward.implement(GaussianModel)
def gaussian_reward(model, arm, mean, stream):
    z, stream = normal(stream)
    return mean + model.reward_noise * z, stream


@draw_reward.implement(RademacherModel)
def rademacher_reward(model, arm, mean, stream):
    side, stream = sign(stream)
    return mean + model.reward_noise * side, stream


@prior_pulls.implement(GaussianModel)
@prior_pulls.implement(RademacherModel)
def gaussian_prior_pulls(model, arm):
    return model.strength


@prior_total.implement(GaussianModel)
@prior_total.implement(RademacherModel)
def gaussian_prior_total(model, arm):
    return model.strength * model.prior_mean[arm]


@variance_proxy.implement(GaussianModel)
@variance_proxy.implement(RademacherModel)
def gaussian_variance(model, arm, count):
    """Posterior variance, (1/prior_width^2 + count/reward_noise^2)^-1."""
    return model.reward_noise * model.reward_noise / (model.strength + count)


@posterior_draw.implement(GaussianModel)
@posterior_draw.implement(RademacherModel)
def gaussian_draw(model, known, arm, stream):
    z, stream = normal(stream)
    return known_mean(model, known, arm) + math.sqrt(variance_proxy(model, arm, known.counts[arm])) * z, stream


@posterior_quantile.implement(GaussianModel)
@posterior_quantile.implement(RademacherModel)
def gaussian_quantile(model, known, arm, tail):
    """The normal quantile is kept: it is the same for every arm, and ten times the work of the rest."""
    if known.score[0] != tail:
        known.score[0], known.score[1] = tail, ndtri(tail)
    return known_mean(model, known, arm) - math.sqrt(variance_proxy(model, arm, known.counts[arm])) * known.score[1]


@posterior_variance.implement(GaussianModel)
@posterior_variance.implement(RademacherModel)
def gaussian_posterior_variance(model, known, arm):
    return variance_proxy(model, arm, known.counts[arm])


@tail_bound.implement(GaussianModel)
@tail_bound.implement(RademacherModel)
def gaussian_tail_bound(model, known, arm, value):
    """The density over the distance, both in deviations: the tail below the tangent of the density's logarithm."""
    z = (value - known_mean(model, known, arm)) / math.sqrt(variance_proxy(model, arm, known.counts[arm]))
    return min(1.0, DENSITY_AT_0 * math.exp(-0.5 * z * z) / z) if z > 0.0 else 1.0


@draw_above.implement(GaussianModel)
@draw_above.implement(RademacherModel)
def gaussian_draw_above(model, known, arm, value, bound, stream):
    """An exponential draw below the tangent is kept if it is below the density, too."""
    if bound >= 1.0:
        drawn, stream = posterior_draw(model, known, arm, stream)
        return (drawn if drawn > value else -math.inf), stream
    deviation = math.sqrt(variance_proxy(model, arm, known.counts[arm]))
    u, stream = uniform(stream)
    kept, stream = uniform(stream)
    beyond = -math.log1p(-u) * deviation / (value - known_mean(model, known, arm))
    return (value + deviation * beyond if kept < math.exp(-0.5 * beyond * beyond) else -math.inf), stream


@divergence_limit.implement(GaussianModel)
@divergence_limit.implement(RademacherModel)
def gaussian_divergence_limit(model, arm, mean, divergence):
    """(x - mean)^2 / (2 s^2) for normal rewards of deviation s."""
    return mean + model.reward_noise * math.sqrt(2.0 * divergence)
