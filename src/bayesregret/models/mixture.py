"""Mixtures of bandits: one of several priors is true, and rewards tell which.

A finite mixture of priors is closed under Bayes' rule: each component learns from all rewards, and its weight is
multiplied by the probability that it gave them. So arms that are independent in every component are not independent in
the mixture: a reward of one arm teaches something about all of them. Mixtures describe a level that all arms share,
uncertain parameters of a prior, or a few scenarios.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesregret import checks
from bayesregret.checks import Array
from bayesregret.contracts import Stats, add_reward, current_mean, draw_means, draw_reward, posterior_draw
from bayesregret.contracts.mixture import (
    MixtureModel,
    component,
    current_weight,
    draw_component,
    log_predictive,
    posterior_variance,
)
from bayesregret.contracts.statistics import learn
from bayesregret.elementary import exp, log
from bayesregret.models.bandit import Bandit
from bayesregret.models.gaussian import GaussianBandit
from bayesregret.models.no_prior import NoPriorArmsModel, NoPriorModel
from bayesregret.rng import uniform

MOST_COMPONENTS = 10_000
# Sums that differ from 1 by WRITTEN are those of weights that were written with a few digits, and are divided out;
# sums that differ by ROUNDING count as 1, so that weights that were divided out once are kept as they are.
WRITTEN, ROUNDING = 1e-5, 1e-12
SAVED_ROUNDING = 1e-9  # weights in a saved agent may differ by this from their logarithms


class MixtureBandit(Bandit):
    """Bandit whose prior is a mixture: an instance comes from one of several bandits, with given probabilities.

    Thompson sampling, BayesUCB, greedy policies and explore-then-commit can believe in a mixture of bandits with
    independent arms. BayesUCB then uses the mixture's posterior mean and variance, for which the paper's theorems do
    not hold. Every policy with a `prior` can instead believe in one bandit, such as `conjugate()`.

    Parameters
    ----------
    weights : array_like
        Probability of each component; positive, with sum 1.
    bandits : sequence of Bandit
        The components: bandits of one kind with the same number of arms.

    Examples
    --------
    >>> low, high = BernoulliBandit([2, 2], [38, 38]), BernoulliBandit([10, 10], [30, 30])
    >>> bandit = MixtureBandit([0.5, 0.5], [low, high])
    >>> bandit.conjugate()
    BernoulliBandit(alpha=[1.33649289, 1.33649289], beta=[7.57345972, 7.57345972])
    """

    kind: ClassVar[str] = "mixture"

    def __init__(self, weights: ArrayLike, bandits: Sequence[Bandit]) -> None:
        self.bandits = _checked_bandits(bandits)
        self.weights = _checked_weights(weights, len(self.bandits))
        self.arms = self.bandits[0].arms
        self.reward_proxy = max(bandit.reward_proxy for bandit in self.bandits)
        self.model = self.world()

    @property
    def representative(self) -> Bandit:
        return self.bandits[0]

    def world(self) -> MixtureModel:
        parts = _stacked(self.bandits)
        weights = self.weights.copy()  # not read-only: compiled code takes them in place of posterior weights
        log_weights = np.array([log(weight) for weight in weights.tolist()])
        return MixtureModel(weights, log_weights, parts, np.zeros(1, np.int64))

    def check_reward(self, reward: float) -> float:
        return self.representative.check_reward(reward)

    def check_sums(self, counts: NDArray[np.int64], totals: Array, squares: Array | None) -> None:
        self.representative.check_sums(counts, totals, squares)

    def accepts_rewards_of(self, other: Bandit) -> bool:
        return self.representative.accepts_rewards_of(other)

    def conjugate_posterior(self, counts: NDArray[np.int64], totals: Array, squares: Array | None) -> MixtureBandit:
        # A component whose weight has become 0 is left out.
        if squares is None and self._needs_squares():
            raise ValueError("squares must be given for this mixture, as its posterior depends on squared deviations")
        known = np.zeros(self.arms) if squares is None else squares
        with np.errstate(over="ignore"):  # absurd rewards, whose weights are not numbers, are refused below
            gains = np.array([bandit.log_evidence(counts, totals, known) for bandit in self.bandits])
        log_weights = np.log(self.weights) + np.maximum(gains, -sys.float_info.max)
        weights = np.exp(log_weights - log_weights.max())
        weights /= weights.sum()
        left = np.flatnonzero(weights > 0.0)
        return MixtureBandit(
            weights[left] / weights[left].sum(),
            [self.bandits[number].conjugate_posterior(counts, totals, squares) for number in left],
        )

    def _needs_squares(self) -> bool:
        """Whether squared deviations say which component is true: not if all have the same known noise."""
        if self.representative.kind == "normal-gamma":
            return True
        noises = [np.broadcast_to(getattr(bandit, "reward_noise", 0.0), self.arms) for bandit in self.bandits]
        return bool(np.ptp(noises, axis=0).any())

    def subset(self, arms: Sequence[int]) -> MixtureBandit:
        return MixtureBandit(self.weights, [bandit.subset(arms) for bandit in self.bandits])

    def with_arm(self, **fields: Any) -> MixtureBandit:
        """Return the mixture with one arm more; its prior is the same in every component.

        Parameters
        ----------
        **fields : float
            As for a component; or `bandits`, a list of such fields for each component.
        """
        many = len(self.bandits)
        each = fields["bandits"] if list(fields) == ["bandits"] else [fields] * many
        if not isinstance(each, list) or len(each) != many or not all(isinstance(one, dict) for one in each):
            raise checks.fail("bandits", f"a list with the fields of an arm for each of {many} bandits", each)
        pairs = zip(self.bandits, each, strict=True)
        return MixtureBandit(self.weights, [bandit.with_arm(**one) for bandit, one in pairs])

    def no_prior_model(self) -> Any:
        """Return the belief of a policy that uses no prior; it must hold in every component."""
        models = [bandit.no_prior_model() for bandit in self.bandits]
        proxies = [np.broadcast_to(model.reward_proxy, self.arms) for model in models]
        largest = np.max(proxies, axis=0)
        return NoPriorModel(self.reward_proxy) if np.ptp(largest) == 0.0 else NoPriorArmsModel(largest)

    def for_costs(self) -> MixtureBandit:
        return MixtureBandit(self.weights, [bandit.for_costs() for bandit in self.bandits])

    def conjugate(self) -> Bandit:
        """Return one bandit of the components' kind with the mixture's prior means and variances.

        For linear components, and for Gaussian ones with different prior means and one noise for all arms, this is a
        linear bandit that has the covariances between arms, too. Policies that believe in it run at full speed.
        """
        from bayesregret.models.moment_matching import matched_bandit

        return matched_bandit(self.weights, self.bandits)

    def to_dict(self) -> dict[str, Any]:
        return {
            "model": self.kind,
            "weights": self.weights.tolist(),
            "bandits": [bandit.to_dict() for bandit in self.bandits],
        }

    def __repr__(self) -> str:
        some = ", ".join(map(repr, self.bandits[:2])) + (", ..." if len(self.bandits) > 2 else "")
        weights = np.array2string(self.weights, separator=", ", threshold=6, edgeitems=2, max_line_width=10**6)
        return f"MixtureBandit(weights={weights}, bandits=[{some}])"


def _checked_bandits(bandits: Any) -> tuple[Bandit, ...]:
    may_be = "a list of bandits of one kind with the same number of arms"
    if not isinstance(bandits, Sequence) or isinstance(bandits, str) or len(bandits) == 0:
        raise checks.fail("bandits", may_be, bandits)
    if len(bandits) > MOST_COMPONENTS:
        raise ValueError(f"bandits must be at most {MOST_COMPONENTS}, got {len(bandits)}")
    for bandit in bandits:
        if not isinstance(bandit, Bandit) or isinstance(bandit, MixtureBandit):
            raise checks.fail("bandits", f"{may_be}, and none a mixture", bandit)
    first = bandits[0]
    for number, bandit in enumerate(bandits, 1):
        if (bandit.kind, bandit.arms) != (first.kind, first.arms):
            raise ValueError(
                "bandits must be of one kind with the same number of arms, but the first is "
                f"{first.a_kind} bandit with {first.arms} and number {number} {bandit.a_kind} bandit with {bandit.arms}"
            )
    return tuple(bandits)


def _checked_weights(weights: Any, components: int) -> Array:
    may_be = f"a list of positive numbers that sum to 1, one for each of the {components} bandits"
    made = checks.array("weights", weights, 1, may_be)
    if len(made) != components:
        raise ValueError(f"weights must be {may_be}, got {len(made)}")
    if made.min() <= 0.0:
        raise ValueError(f"weights must be {may_be}, but one is {checks.in_full(made.min())}")
    total = math.fsum(made)
    if abs(total - 1.0) > WRITTEN:
        raise ValueError(f"weights must be {may_be}, but their sum is {checks.in_full(total)}")
    if abs(total - 1.0) > ROUNDING:
        made = made / total
        made.flags.writeable = False
    return made


def _stacked(bandits: Sequence[Bandit]) -> Any:
    """One model whose arrays have a first axis for the components."""
    models = [bandit.world() for bandit in bandits]
    if len({type(model) for model in models}) > 1:  # gaussian arms that differ, in some components only
        models = [bandit.heteroscedastic_model() for bandit in bandits if isinstance(bandit, GaussianBandit)]
    made = type(models[0])
    if len({type(model) for model in models}) > 1 or not component.supports(made):
        if isinstance(bandits[0], GaussianBandit):
            raise ValueError("bandits must have gaussian noise to be mixed, not rademacher noise")
        raise ValueError(f"bandits must be of a kind that can be mixed, got {bandits[0].kind}")
    try:
        return made(*(np.stack(field) for field in zip(*models, strict=True)))
    except ValueError:
        raise ValueError("bandits must have prior covariances of the same rank to be mixed") from None


# --- the world -----------------------------------------------------------------------------------------------------


@draw_means.implement(MixtureModel)
def mixture_means(model, means, stream):
    u, stream = uniform(stream)
    number = 0
    while number < model.weights.shape[0] - 1 and u >= model.weights[number]:
        u -= model.weights[number]
        number += 1
    model.drawn[0] = number
    return draw_means(component(model.parts, number), means, stream)


@draw_reward.implement(MixtureModel)
def mixture_reward(model, arm, mean, stream):
    return draw_reward(component(model.parts, model.drawn[0]), arm, mean, stream)


# --- the belief ----------------------------------------------------------------------------------------------------


def mixture_memory(model: MixtureModel) -> int:
    """Length of `stats.memory` that the belief needs."""
    return 2 * len(model.weights)


def check_mixture_memory(model: MixtureModel, stats: Stats) -> None:
    """Raise ValueError if memory, read from a saved agent, cannot be what `learn_mixture` wrote."""
    components = len(model.weights)
    gains, weights = stats.memory[-2 * components : -components], stats.memory[-components:]
    if stats.received[0] == 0:
        if gains.any() or weights.any():
            raise ValueError("memory must be 0 for a mixture without rewards")
        return
    # The largest is 0, but beside the gains of absurd rewards the log weights of the prior are lost to rounding.
    if abs((model.log_weights + gains).max()) > SAVED_ROUNDING - model.log_weights.min():
        raise ValueError("memory must hold log weights of which the largest is about 0")
    expected = np.exp(model.log_weights + gains)
    if not np.allclose(weights, expected / expected.sum(), rtol=0.0, atol=SAVED_ROUNDING):
        raise ValueError("memory must hold the weights that follow from its log weights")


@learn.implement(MixtureModel)
def learn_mixture(model, stats, arm, reward):
    """A reward that is impossible in every component leaves the weights as they were."""
    components, end = model.weights.shape[0], stats.memory.shape[0]
    gains, weights = stats.memory[end - 2 * components : end - components], stats.memory[end - components :]
    highest = -math.inf
    for number in range(components):
        weights[number] = gains[number] + log_predictive(component(model.parts, number), stats, arm, reward)
        highest = max(highest, model.log_weights[number] + weights[number])
    total = 0.0
    for number in range(components):
        if highest > -math.inf:
            gains[number] = weights[number] - highest  # gains of likely components stay small and keep all digits
        weights[number] = exp(model.log_weights[number] + gains[number])
        total += weights[number]
    for number in range(components):
        weights[number] /= total
    add_reward(stats, arm, reward)


@current_mean.implement(MixtureModel)
def mixture_mean(model, stats, arm):
    mean = 0.0
    for number in range(model.weights.shape[0]):
        mean += current_weight(model, stats, number) * current_mean(component(model.parts, number), stats, arm)
    return mean


@posterior_variance.implement(MixtureModel)
def mixture_variance(model, stats, arm):
    """Mean of the components' variances plus variance of their means."""
    centre = current_mean(model, stats, arm)
    variance = 0.0
    for number in range(model.weights.shape[0]):
        weight = current_weight(model, stats, number)
        if weight > 0.0:
            part = component(model.parts, number)
            off = current_mean(part, stats, arm) - centre
            variance += weight * (posterior_variance(part, stats, arm) + off * off)
    return variance


@posterior_draw.implement(MixtureModel)
def mixture_draw(model, stats, arm, stream):
    """Draw of this arm alone; Thompson sampling draws one component for all arms."""
    number, stream = draw_component(model, stats, stream)
    return posterior_draw(component(model.parts, number), stats, arm, stream)
