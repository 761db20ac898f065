"""What would be best if the level or the width of arms were at the ends of its 90 percent interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from bayesregret.checks import Array
from bayesregret.models import Bandit, LinearBandit, MixtureBandit
from bayesregret.planning.beliefs import believing, explicit_prior, uses_prior
from bayesregret.planning.elsewhere import Scenario, compare
from bayesregret.planning.perturbed_priors import prior_moments
from bayesregret.policies import Policy

ENDS = {"low": 0.05, "high": 0.95}
SAME = 1e-9  # relative difference of levels or widths that count as one

# Simulates a policy on a bandit and returns its final regrets, (runs,).
SimulateOn = Callable[[Bandit, Policy], Array]


class Possibility(NamedTuple):
    """A bandit that the mixture allows."""

    field: str  # "level" or "width"
    end: str  # "low" or "high"
    value: float  # mean reward, or standard deviation of arms
    bandit: Bandit


def scenarios(
    bandit: Bandit, policies: Mapping[str, Policy], recommended: str, simulate_on: SimulateOn
) -> list[Scenario]:
    """Simulate the policies at the ends of levels and widths; empty where these are known."""
    found = []
    for place in possibilities(bandit):
        regrets = {
            # A policy without an explicit prior would learn the scenario's: it believes what it believes in the plan.
            name: simulate_on(place.bandit, _as_planned(policy, bandit))
            for name, policy in policies.items()
        }
        found.append(Scenario(place.field, place.end, place.value, compare(regrets, recommended)))
    return found


def _as_planned(policy: Policy, bandit: Bandit) -> Policy:
    return believing(policy, explicit_prior(policy) or bandit) if uses_prior(policy, bandit) else policy


def possibilities(bandit: Bandit) -> list[Possibility]:
    """Bandits at the ends of the 90 percent intervals of level and width, where these vary."""
    if isinstance(bandit, LinearBandit):
        return _ends_of_shared_level(bandit)
    if not isinstance(bandit, MixtureBandit):
        return []
    levels, widths = np.array([_level_and_width(part) for part in bandit.bandits]).T
    middle = _near(widths, _quantile(widths, bandit.weights, 0.5))
    found = []
    if isinstance(bandit.representative, LinearBandit):
        found += possibilities(bandit.bandits[int(np.flatnonzero(middle)[0])])
    elif _vary(levels):
        # Levels at the usual width, if they vary there; otherwise each component has its own level and width.
        among = middle if _vary(levels[middle]) else np.ones_like(middle)
        for end, probability in ENDS.items():
            at = _quantile(levels[among], bandit.weights[among], probability)
            found.append(Possibility("level", end, at, _restricted(bandit, among & _near(levels, at))))
    if _vary(widths):
        for end, probability in ENDS.items():
            at = _quantile(widths, bandit.weights, probability)
            part = _restricted(bandit, _near(widths, at))
            found.append(Possibility("width", end, float(np.mean(prior_widths(part))), part))
    return found


def _ends_of_shared_level(bandit: LinearBandit) -> list[Possibility]:
    """Gaussian arms around a level that is known to be low or high."""
    variances = _shared_level(bandit)
    if variances is None:
        return []
    spread, width = np.sqrt(variances)
    found = []
    for end, probability in ENDS.items():
        means = bandit.prior_mean + NormalDist().inv_cdf(probability) * spread
        at_end = LinearBandit(bandit.features, means, prior_width=float(width), reward_noise=bandit.reward_noise)
        found.append(Possibility("level", end, float(means.mean()), at_end))
    return found


def _shared_level(bandit: LinearBandit) -> tuple[float, float] | None:
    """Variances of the level that all arms share and of arms around it; None for any other linear bandit."""
    covariance, arms = bandit.covariance, bandit.arms
    level = float(covariance[0, -1])
    width = float(covariance[0, 0]) - level
    expected = np.full((arms, arms), level) + width * np.eye(arms) if bandit.features.shape == (arms, arms) else None
    if arms == 1 or level <= 0.0 or width <= 0.0 or expected is None:
        return None
    is_shared = np.array_equal(bandit.features, np.eye(arms)) and np.allclose(covariance, expected, rtol=SAME, atol=0.0)
    return (level, width) if is_shared else None


def _level_and_width(bandit: Any) -> tuple[float, float]:
    """Mean reward of a component's arms, and a width of arms that does not depend on the level."""
    if isinstance(bandit, LinearBandit):
        return 0.0, float(np.mean(prior_widths(bandit)))
    means, widths = prior_moments(bandit)
    if bandit.kind == "bernoulli":
        return float(means.mean()), float(np.mean((bandit.alpha + bandit.beta) ** -0.5))
    if bandit.kind == "poisson":
        return float(means.mean()), float(np.mean(bandit.shape**-0.5))
    return float(means.mean()), float(widths.mean())


def prior_widths(bandit: Any) -> Array:
    """(arms,): standard deviation of arms around their level, averaged over the components of a mixture."""
    if isinstance(bandit, MixtureBandit):
        return np.asarray(bandit.weights @ np.array([prior_widths(part) for part in bandit.bandits]))
    if isinstance(bandit, LinearBandit):
        variances = _shared_level(bandit)
        return np.sqrt(np.diagonal(bandit.covariance) - (0.0 if variances is None else variances[0]))
    return prior_moments(bandit)[1]


def _quantile(values: Array, weights: Array, probability: float) -> float:
    order = np.argsort(values, kind="stable")
    place = np.searchsorted(np.cumsum(weights[order]), probability * weights.sum())
    return float(values[order][min(int(place), len(values) - 1)])


def _vary(values: Array) -> bool:
    return bool(np.ptp(values) > SAME * np.abs(values).max())


def _near(values: Array, at: float) -> Any:
    return np.abs(values - at) <= SAME * max(abs(at), float(np.abs(values).max()))


def _restricted(bandit: MixtureBandit, which: Any) -> Bandit:
    """The mixture of the chosen components alone."""
    chosen = np.flatnonzero(which).tolist()
    if len(chosen) == 1:
        return bandit.bandits[chosen[0]]
    weights = bandit.weights[chosen]
    return MixtureBandit(weights / weights.sum(), [bandit.bandits[number] for number in chosen])
