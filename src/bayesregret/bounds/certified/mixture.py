"""Bounds for mixtures: weighted means of the components' bounds.

An instance of a mixture comes from one of its components, so the regret of a policy is the weighted mean of its regrets
there. A bound on a component's regret counts only if it holds whatever the policy believes: those for all policies do,
and so do bounds for UCB1, which uses no prior. Those for BayesUCB hold if the policy believes in the component's own
prior, and in a mixture of several no policy does so for all of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesregret.bounds.assumptions import first_failure
from bayesregret.bounds.bound import Formula, Parts, Setting
from bayesregret.bounds.catalog import (
    UCB1,
    certified_lower,
    certified_trivial,
    certified_ucb1,
    ucb1_gap_dependent,
    ucb1_prior_dependent,
)
from bayesregret.models import Bandit, MixtureBandit

NOISES_DIFFER = "ucb1 allows for the largest reward noise of all components, and here they differ"


def weigh(formula: Formula) -> None:
    """Register the weighted mean of the components' bounds."""

    @formula.of(MixtureBandit, "weighted mean of components")
    def weighted_mean(bandit: MixtureBandit, setting: Setting, order: int, **options: Any) -> Parts:
        if formula.policy == UCB1 and not _has_one_noise(bandit):
            return Parts({"leading": math.inf}, why_not=NOISES_DIFFER)
        parts = [formula.body(part)(part, setting, order, **options) for part in bandit.bandits]
        weights = bandit.weights.tolist()
        errors = [part.error for part in parts if part.error is not None]
        return Parts(
            _weighted_terms(weights, [part.terms for part in parts]),
            why_not=first_failure(*(part.why_not for part in parts)),
            note=first_failure(*(part.note for part in parts)),
            error=_weighted(weights, errors) if len(errors) == len(parts) else None,
            unseen_error=_weighted(weights, [part.unseen_error for part in parts]),
        )


def _weighted_terms(weights: list[float], terms: list[Mapping[str, float]]) -> dict[str, float]:
    """Weighted means of terms by name; a term that a component does not have is 0 there."""
    names = dict.fromkeys(name for each in terms for name in each)
    return {name: _weighted(weights, [each.get(name, 0.0) for each in terms]) for name in names}


def _weighted(weights: list[float], values: list[float]) -> float:
    return math.fsum(weight * value for weight, value in zip(weights, values, strict=True))


def _has_one_noise(bandit: MixtureBandit) -> bool:
    """Whether UCB1 has the same confidence widths on the mixture as on each component."""

    def proxies(each: Bandit) -> list[float]:
        return np.broadcast_to(each.no_prior_model().reward_proxy, each.arms).tolist()

    return all(proxies(part) == proxies(bandit) for part in bandit.bandits)


for _formula in (certified_lower, certified_trivial, certified_ucb1, ucb1_gap_dependent, ucb1_prior_dependent):
    weigh(_formula)
