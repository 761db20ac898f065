"""`exact_regret`: checks of its arguments, and the choice of the computation."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from bayesregret import checks
from bayesregret.checks import Array
from bayesregret.contracts import prior_pulls
from bayesregret.contracts.mixture import MixtureModel
from bayesregret.exact.bernoulli.best_arm import bernoulli_best_arm_probability
from bayesregret.exact.bernoulli.regret import bernoulli_kinds, bernoulli_regret
from bayesregret.exact.gaussian.best_arm import gaussian_best_arm_probability
from bayesregret.exact.gaussian.regret import gaussian_kinds, gaussian_regret
from bayesregret.exact.level_sweep import SweepResult
from bayesregret.exact.mixture import weighted_regret
from bayesregret.exact.result import ExactRegret
from bayesregret.models import Bandit, BernoulliBandit, GaussianBandit, MixtureBandit
from bayesregret.models.bandit import BanditLike, as_bandit
from bayesregret.policies import Gittins, Policy
from bayesregret.policies.selection import is_mean_plus_width, moves_with_time
from bayesregret.policy_data import PolicyOrName, as_policy

# Fine and coarse order of all quadrature rules, and digits of series: for full accuracy, and for FEW_ENOUGH_FOR. The
# result is that of the fine order; its difference from the coarse one is the error estimate.
ALL_DIGITS = (12, 10, 11.5)
FEW_DIGITS = (9, 7, 8.0)
FEW_ENOUGH_FOR = 1e-4
LARGEST_HORIZON = 20_000
# Largest allowed difference between the arms' total expected pulls and the rounds, as a fraction of the rounds.
WORST_BALANCE = 1e-6


def exact_regret(
    bandit: BanditLike, policy: PolicyOrName, *, horizon: int, delta: float | None = None, accuracy: float | None = None
) -> ExactRegret:
    """Compute the Bayes regret of an index policy to about nine digits, without simulation.

    The policy must pull the arm with the highest index, and each index must depend on that arm's rewards alone:
    BayesUCB with any prior, UCB1, Gittins with a discount, and policies of your own. docs/theory/exact.md has the
    theorem.

    Parameters
    ----------
    bandit : Bandit, FittedPrior or Agent
        A Gaussian bandit with Gaussian noise, a Bernoulli bandit, or a mixture of such bandits. The policy must believe
        in one prior, or in none: its regret on a mixture is the weighted mean of its regrets on the components.
    policy : Policy or str
        The index policy, or its name such as "bayes-ucb:delta=0.1".
    horizon : int
        Number of rounds, at most 20,000.
    delta : float, optional
        Failure probability of the policy, where the policy leaves it open; by default 1 / horizon.
    accuracy : float, optional
        Relative accuracy that is enough. 1e-4 or more takes a third of the time on Gaussian bandits.

    Returns
    -------
    ExactRegret
        Regret after every round with an estimate of its numerical error, and the expected pulls of each arm.

    Examples
    --------
    >>> exact = exact_regret(GaussianBandit([1, 0], prior_width=1, reward_noise=1), BayesUCB(), horizon=100)
    >>> round(exact.regret, 6), exact.error < 1e-7
    (5.160155, True)
    """
    bandit, policy = as_bandit(bandit), as_policy(policy)
    components = bandit.bandits if isinstance(bandit, MixtureBandit) else (bandit,)
    for component in components:
        _computation(component)
    horizon = checks.whole("horizon", horizon, 1, LARGEST_HORIZON)
    accuracy = 0.0 if accuracy is None else checks.positive("accuracy", accuracy)
    policy = _with_delta(policy, delta)
    # Of the whole mixture: UCB1 allows for the largest noise of all components.
    settings, belief = policy.settings(bandit, horizon), policy.belief(bandit)
    check_independent_arms(belief)
    _check_index(policy, bandit.representative, settings, horizon)
    found = [_regret(component, policy, settings, belief, horizon, accuracy) for component in components]
    return weighted_regret(bandit, found) if isinstance(bandit, MixtureBandit) else found[0]


def _regret(bandit: Bandit, policy: Policy, settings: Any, belief: Any, horizon: int, accuracy: float) -> ExactRegret:
    found, error, find_best_chance = _computation(bandit)(bandit, settings, belief, horizon, accuracy)
    if bandit.arms == 1:  # the regret is 0, and all that was computed is rounding
        found, error = SweepResult(np.zeros(horizon), np.array([float(horizon)]), np.ones(horizon)), np.zeros(horizon)
    curve = np.maximum(0.0, np.cumsum(found.regret))  # negative values are rounding
    balance = np.maximum.accumulate(np.abs(np.cumsum(found.rounds - 1.0)))
    if not balance[-1] <= WORST_BALANCE * horizon:
        raise ValueError(
            "prior_width must be closer in size to the means and the noise for an exact regret: the computed pulls do "
            "not add up to the rounds"
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


def check_independent_arms(belief: Any) -> None:
    if isinstance(belief, MixtureModel):
        raise ValueError(
            "prior must be a single bandit for an exact regret, as in BayesUCB(prior=bandit.conjugate()), or none, as "
            "of ucb1: the regret of a policy that believes in a mixture is simulated"
        )
    if not prior_pulls.supports(belief):
        raise ValueError(
            "prior must have independent arms for an exact regret: each arm's index must depend on its own rewards "
            "alone"
        )


def _check_index(policy: Policy, bandit: Bandit, settings: Any, horizon: int) -> None:
    if moves_with_time(settings):
        other = ""
        if isinstance(policy, Gittins) and horizon > 1:
            other = f"; with a discount it does: {policy.name}:discount={1.0 - 1.0 / horizon:.6g}"
        raise ValueError(
            "policy must have an index that changes only with the arm's own rewards for an exact regret, got "
            f"{policy.name} on {bandit.a_kind} bandit{other}"
        )
    if isinstance(bandit, GaussianBandit) and not is_mean_plus_width(settings):
        raise ValueError(
            f"policy must have a confidence width for an exact regret on a gaussian bandit, got {policy.name}"
        )


def _largest_loss(bandit: Bandit) -> float:
    """Approximate upper bound on the change of regret by one pull more or less."""
    if isinstance(bandit, GaussianBandit):
        return float(np.ptp(bandit.prior_mean)) + 3.0 * float(bandit.prior_widths.max())
    return 1.0


Computed = tuple[SweepResult, Array, Callable[[], Array | None]]


def _computation(bandit: Bandit) -> Callable[[Any, Any, Any, int, float], Computed]:
    """Return the function that computes the regret of this bandit, or raise an error that says why there is none."""
    if isinstance(bandit, BernoulliBandit):
        return _bernoulli
    if isinstance(bandit, GaussianBandit):
        if bandit.noise_kind != "gaussian":
            raise ValueError(
                f"noise_kind must be gaussian for an exact regret, got {bandit.noise_kind}: the policy's posterior is "
                "not the true one"
            )
        return _gaussian
    raise ValueError(
        f"bandit must be gaussian or bernoulli for an exact regret, got {bandit.a_kind} one: each arm's index must "
        "depend on its own rewards alone, and here a reward is also informative about other arms"
        if bandit.kind == "linear"
        else f"bandit must be gaussian or bernoulli for an exact regret, got {bandit.a_kind} one"
    )


def _with_delta(policy: Policy, delta: float | None) -> Policy:
    if delta is None:
        return policy
    if not hasattr(policy, "delta"):
        raise ValueError(f"delta does not go with {policy.name}, which has no delta")
    if policy.delta is not None and policy.delta != delta:
        raise ValueError(
            f"delta must be given once, got {checks.in_full(policy.delta)} for the policy and {checks.in_full(delta)}"
        )
    return dataclasses.replace(policy, delta=delta)  # type: ignore[type-var]


def _gaussian(bandit: GaussianBandit, settings: Any, belief: Any, horizon: int, accuracy: float) -> Computed:
    fine_order, coarse_order, digits = ALL_DIGITS if accuracy < FEW_ENOUGH_FOR else FEW_DIGITS
    with one_blas_thread():
        kinds = gaussian_kinds(bandit, settings, belief, horizon)
        fine = gaussian_regret(bandit, kinds, horizon, fine_order, digits)
        coarse = gaussian_regret(bandit, kinds, horizon, coarse_order, digits)

    def best_arm_probability() -> Array | None:
        with one_blas_thread():
            return gaussian_best_arm_probability(bandit, kinds, horizon)

    return fine, np.abs(np.cumsum(fine.regret - coarse.regret)), best_arm_probability


def one_blas_thread() -> Any:
    """Limit BLAS to one thread: the matrices are small, and on a busy machine more threads take ten times as long."""
    return threadpool_limits(limits=1, user_api="blas")


def _bernoulli(bandit: BernoulliBandit, settings: Any, belief: Any, horizon: int, accuracy: float) -> Computed:
    kinds = bernoulli_kinds(bandit, settings, belief, horizon)
    found, error = bernoulli_regret(bandit, settings, belief, horizon, kinds)
    arm_kind, first, _ = kinds
    return found, error, lambda: bernoulli_best_arm_probability(bandit, settings, belief, horizon, arm_kind, first)
