"""Decide whether an exact regret can be computed, and quickly."""

from __future__ import annotations

import numpy as np

from bayesregret.models import Bandit, BernoulliBandit, GaussianBandit, MixtureBandit

# An exact regret takes about a second up to this horizon, if horizon * (number of distinct priors)^2 <= QUICK_WORK.
QUICK_HORIZON = {"gaussian": 1_000, "bernoulli": 300}
QUICK_WORK = 10_000


def why_simulated(bandit: Bandit, horizon: int, exact: bool | None) -> str | None:
    """Return why the regret is simulated; None if it is computed exactly.

    `exact` is the caller's choice; None computes the exact regret where that is quick. On a mixture it can be computed
    only for policies that believe in one prior, or in none.
    """
    if exact is False:
        return "a simulation was requested"
    if exact:
        return None  # `exact_regret` raises an error that says why it cannot
    if isinstance(bandit, MixtureBandit):  # the components take their times one after the other
        rounds = horizon * len(bandit.bandits)
        return next((why for part in bandit.bandits if (why := why_simulated(part, rounds, exact)) is not None), None)
    if not isinstance(bandit, GaussianBandit | BernoulliBandit):
        return f"the exact regret of {bandit.a_kind} bandit cannot be computed"
    if isinstance(bandit, GaussianBandit) and bandit.noise_kind != "gaussian":
        return f"the exact regret with {bandit.noise_kind} noise cannot be computed"
    if horizon > QUICK_HORIZON[bandit.kind] or horizon * distinct_priors(bandit) ** 2 > QUICK_WORK:
        return "the exact regret takes more than a second or so here (exact=True computes it)"
    return None


def distinct_priors(bandit: GaussianBandit | BernoulliBandit) -> int:
    """Number of distinct priors among the arms; arms with the same prior cost no more than one of them."""
    if isinstance(bandit, GaussianBandit):
        priors = np.c_[bandit.prior_mean, bandit.prior_widths, bandit.reward_noises]
    else:
        priors = np.c_[bandit.alpha, bandit.beta]
    return len(np.unique(priors, axis=0))
