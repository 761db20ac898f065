"""The lower bound for every policy on Bernoulli arms. Proof: docs/theory/certified-lower.md."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesregret.bounds.bound import Parts, Setting
from bayesregret.bounds.catalog import certified_lower
from bayesregret.bounds.certified.lower import NO_REGRET, StoppingCurve, lower_bound, raise_to_floors
from bayesregret.bounds.certified.lower_weights import raise_to_weights
from bayesregret.checks import Array
from bayesregret.models import BernoulliBandit
from bayesregret.numerics.expected_maximum import beta_best
from bayesregret.optimal.bernoulli_jumps import bernoulli_jumps
from bayesregret.optimal.discounted_bernoulli import SURE, bernoulli_discounted_index, bernoulli_margins, pulls_shown

ACCURACY = 1e-6
# A recursion takes time in proportion to horizon^1.5: panels are as many as these steps in all allow.
STEPS, FEWEST_PANELS, MOST_PANELS = 1.5e8, 400, 20_000
# Fraction of the bound that is lost because the mean is shown at last, over the discount then (measured).
SHOWN = 2.5e-3
BEST_ERROR = 1e-14  # of E[best arm], by comparison with a finer rule
# Above the band of successes the recursion gives no arm up. From there the posterior mean falls to the charge with at
# most this probability: where it does, the mean reward is below the charge with a probability of at least 1/4.
NEVER_GIVEN_UP = 4.0 * math.exp(-SURE)


@certified_lower.of(BernoulliBandit, "discounted form")
def bernoulli_lower(bandit: BernoulliBandit, setting: Setting, order: int, accuracy: Any = None) -> Parts:
    if bandit.arms == 1:
        return NO_REGRET
    kinds, copies = np.unique(np.c_[bandit.alpha, bandit.beta], axis=0, return_counts=True)
    curves = [
        _curve(alpha, beta, count, setting.horizon)
        for (alpha, beta), count in zip(kinds.tolist(), copies.tolist(), strict=True)
    ]
    steps = (1 + 0.5 * (len(curves) - 1)) * setting.horizon**1.5
    most = min(MOST_PANELS, max(FEWEST_PANELS, int(STEPS / steps)))
    best = (beta_best(bandit.alpha, bandit.beta), BEST_ERROR)
    found = lower_bound(setting, curves, best, accuracy or ACCURACY, most)
    bound = found.terms["leading"]
    slack = SHOWN * (1.0 - 1.0 / setting.horizon) ** pulls_shown(setting.horizon) * bound
    found = found._replace(terms={"leading": bound + slack}, error=(found.error or 0.0) + slack)
    return raise_to_weights(raise_to_floors(found, bandit, setting), bandit, setting.horizon, best)


def _curve(alpha: float, beta: float, copies: int, horizon: int) -> StoppingCurve:
    def surplus(charges: Array) -> Array:
        found = np.full_like(charges, alpha / (alpha + beta))  # without a charge
        inside = charges > 0.0
        found[inside] = np.maximum(0.0, bernoulli_margins(alpha, beta, horizon, charges[inside]))
        return found

    index = bernoulli_discounted_index(alpha, beta, horizon)
    jumps = bernoulli_jumps(alpha, beta, horizon, index)
    return StoppingCurve(float(copies), index, 0.0, surplus, neglected=NEVER_GIVEN_UP, jumps=jumps)
