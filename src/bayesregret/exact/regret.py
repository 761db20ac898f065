"""The front door: everything is checked once, here, before anything is computed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from bayesregret import checks
from bayesregret.checks import Array
from bayesregret.contracts import prior_pulls
from bayesregret.exact.bernoulli.best_arm import bernoulli_best_chance
from bayesregret.exact.bernoulli.regret import bernoulli_kinds, bernoulli_regret
from bayesregret.exact.gaussian.best_arm import gaussian_best_chance
from bayesregret.exact.gaussian.regret import gaussian_kinds, gaussian_regret
from bayesregret.exact.level_sweep import Found
from bayesregret.exact.result import ExactRegret
from bayesregret.models import Bandit, BernoulliBandit, GaussianBandit
from bayesregret.policies import Policy
from bayesregret.policies.base import is_mean_plus_width, moves_with_time

# Orders of all rules and digits of series, for as many digits as there are and for this accuracy. The result of the
# finer order is told, the difference of both is its error.
ALL_DIGITS = (12, 10, 11.5)
FEW_DIGITS = (9, 7, 8.0)
FEW_ENOUGH_FOR = 1e-4
LARGEST_HORIZON = 20_000
# Expected pulls of all arms add up to the rounds, to this share of them at least, or nothing is told.
WORST_BALANCE = 1e-6


def exact_regret(
    bandit: Bandit, policy: Policy, *, horizon: int, delta: float | None = None, accuracy: float | None = None
) -> ExactRegret:
    """Bayes regret of an index policy, computed to about nine digits with no simulation.

    For Gaussian and Bernoulli bandits, and policies that take the arm with the highest index, each index a function of
    its own arm's rewards alone: BayesUCB, with any prior, UCB1, and your own. `delta` is the policy's own if None.
    An `accuracy` of 1e-4 or more, relative, is enough for a picture and takes a third of the time for Gaussian bandits.

    >>> from bayesregret.models import GaussianBandit
    >>> from bayesregret.policies import BayesUCB
    >>> found = exact_regret(GaussianBandit([1, 0], prior_width=1, reward_noise=1), BayesUCB(), horizon=100)
    >>> round(found.regret, 6), found.error < 1e-7
    (5.160155, True)
    """
    if not isinstance(bandit, Bandit):
        raise checks.fail("bandit", "a bandit such as GaussianBandit", bandit)
    if not isinstance(policy, Policy):
        raise checks.fail("policy", "a policy such as BayesUCB()", policy)
    compute = _computation(bandit)
    horizon = checks.whole("horizon", horizon, 1, LARGEST_HORIZON)
    accuracy = 0.0 if accuracy is None else checks.positive("accuracy", accuracy)
    policy = _with_delta(policy, delta)
    settings, belief = policy.settings(bandit, horizon), policy.belief(bandit)
    check_own_arm(belief)
    _check_index(policy, bandit, settings)
    found, error, find_best_chance = compute(bandit, settings, belief, horizon, accuracy)
    if bandit.arms == 1:  # what is found is rounding
        found, error = Found(np.zeros(horizon), np.array([float(horizon)]), np.ones(horizon)), np.zeros(horizon)
    curve = np.maximum(0.0, np.cumsum(found.regret))  # less is rounding
    balance = np.maximum.accumulate(np.abs(np.cumsum(found.rounds - 1.0)))
    if not balance[-1] <= WORST_BALANCE * horizon:
        raise ValueError(
            "prior_width must be nearer in size to the means and the noise for an exact regret: expected pulls do not "
            "add up to the rounds here"
        )
    rounding = np.spacing(1.0) * 10.0 * np.cumsum(np.abs(found.regret))
    return ExactRegret(
        bandit,
        policy.name,
        horizon,
        (policy.delta or 1.0 / horizon) if hasattr(policy, "delta") else None,
        curve,
        np.maximum.accumulate(error) + balance * _largest_loss(bandit) + rounding,
        found.pulls,
        float(balance[-1]),
        find_best_chance,
    )


def check_own_arm(belief: Any) -> None:
    if type(belief) not in prior_pulls.bodies:
        raise ValueError(
            "prior must be one of independent arms for an exact regret: the arms' indices must depend on their own "
            "rewards alone"
        )


def _check_index(policy: Policy, bandit: Bandit, settings: Any) -> None:
    if moves_with_time(settings):
        raise ValueError(
            "policy must have an index that only an arm's own rewards change for an exact regret, got "
            f"{policy.name} on {bandit.a_kind} bandit"
        )
    if isinstance(bandit, GaussianBandit) and not is_mean_plus_width(settings):
        raise ValueError(
            f"policy must have a confidence width for an exact regret on a gaussian bandit, got {policy.name}"
        )


def _largest_loss(bandit: Bandit) -> float:
    """About how much a pull more or less changes regret by, at most."""
    if isinstance(bandit, GaussianBandit):
        return float(np.ptp(bandit.prior_mean)) + 3.0 * float(bandit.prior_widths.max())
    return 1.0


Computed = tuple[Found, Array, Callable[[], Array | None]]


def _computation(bandit: Bandit) -> Callable[[Any, Any, Any, int, float], Computed]:
    """How regret is computed for this bandit; one line that says why not where it cannot be."""
    if isinstance(bandit, BernoulliBandit):
        return _bernoulli
    if isinstance(bandit, GaussianBandit):
        if bandit.noise_kind != "gaussian":
            raise ValueError(
                f"noise_kind must be gaussian for an exact regret, got {bandit.noise_kind}: the posterior that the "
                "policy believes in is not the rewards' own"
            )
        return _gaussian
    raise ValueError(
        f"bandit must be gaussian or bernoulli for an exact regret, got {bandit.a_kind} one: the arms' indices must "
        "depend on their own rewards alone, and here an arm's reward tells about the others, too"
        if bandit.kind == "linear"
        else f"bandit must be gaussian or bernoulli for an exact regret, got {bandit.a_kind} one"
    )


def _with_delta(policy: Policy, delta: float | None) -> Policy:
    if delta is None:
        return policy
    if not hasattr(policy, "delta"):
        raise ValueError(f"delta does not go with {policy.name}, which has no delta")
    if policy.delta is not None and policy.delta != delta:
        raise ValueError(f"delta must be given once, got {policy.delta:g} for the policy and {delta:g}")
    return dataclasses.replace(policy, delta=delta)  # type: ignore[type-var]


def _gaussian(bandit: GaussianBandit, settings: Any, belief: Any, horizon: int, accuracy: float) -> Computed:
    fine_order, coarse_order, digits = ALL_DIGITS if accuracy < FEW_ENOUGH_FOR else FEW_DIGITS
    with one_blas_thread():
        kinds = gaussian_kinds(bandit, settings, belief, horizon)
        fine = gaussian_regret(bandit, kinds, horizon, fine_order, digits)
        coarse = gaussian_regret(bandit, kinds, horizon, coarse_order, digits)

    def best_chance() -> Array | None:
        with one_blas_thread():
            return gaussian_best_chance(bandit, kinds, horizon)

    return fine, np.abs(np.cumsum(fine.regret - coarse.regret)), best_chance


def one_blas_thread() -> Any:
    """The matrices are small: more threads would mostly wait for each other, on a busy machine ten times as long."""
    return threadpool_limits(limits=1, user_api="blas")


def _bernoulli(bandit: BernoulliBandit, settings: Any, belief: Any, horizon: int, accuracy: float) -> Computed:
    kinds = bernoulli_kinds(bandit, settings, belief, horizon)
    found, error = bernoulli_regret(bandit, settings, belief, horizon, kinds)
    arm_kind, first, _ = kinds
    return found, error, lambda: bernoulli_best_chance(bandit, settings, belief, horizon, arm_kind, first)
