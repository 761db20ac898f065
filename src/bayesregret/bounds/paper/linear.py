"""The paper's bounds for linear bandits, as printed: Theorem 6, the gap-free bound, the note on information."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesregret import checks
from bayesregret.bounds.bound import ROUNDING, Parts, Setting
from bayesregret.bounds.catalog import failure_probability, gap_dependent, information, posterior_variances, sqrt
from bayesregret.bounds.gaps.linear import GapEstimate, expected_inverse_gap
from bayesregret.models import LinearBandit

# Below this exponent log(1 + e^x) equals e^x to the last digit, and e^x still has full precision.
SMALL_EXPONENT = -300.0

NO_PROBABILITY = (
    'R(n) is a number, so the printed "with probability at least 1 - delta_*" has no meaning; '
    "certified_min_gap is proved"
)


def largest_deviation(bandit: LinearBandit) -> float:
    """sigma_{0,max}: the root of the covariance's largest eigenvalue times the norm of the longest feature vector."""
    return math.sqrt(_largest_eigenvalue(bandit)) * longest_feature_norm(bandit)


def longest_feature_norm(bandit: LinearBandit) -> float:
    """L of Theorem 6."""
    return float(np.linalg.norm(bandit.features, axis=1).max())


def parameter_norm(bandit: LinearBandit, delta_star: float) -> float:
    """L_*: a bound that the parameter's norm exceeds with probability at most delta_*, by concentration."""
    deviation = math.sqrt(2.0 * _largest_eigenvalue(bandit) * -math.log(delta_star))
    return float(np.linalg.norm(bandit.prior_mean)) + math.sqrt(float(np.trace(bandit.covariance))) + deviation


def information_factors(bandit: LinearBandit, horizon: int) -> tuple[float, float]:
    """S^2 / log(1 + S^2/s^2) and d log(1 + S^2 n/(s^2 d)) / 2, S the largest prior standard deviation."""
    S, dimension = largest_deviation(bandit), bandit.features.shape[1]
    if S == 0.0:
        return bandit.reward_noise**2, 0.0
    exponent = 2.0 * (math.log(S) - math.log(bandit.reward_noise))
    if exponent < SMALL_EXPONENT:
        return bandit.reward_noise**2, 0.5 * horizon * math.exp(exponent)
    # In logarithms, because the ratio of a wide prior to small noise may overflow.
    total = dimension * float(np.logaddexp(0.0, exponent + math.log(horizon / dimension)))
    return S * S / float(np.logaddexp(0.0, exponent)), 0.5 * total


def sum_of_variances(bandit: LinearBandit, horizon: int) -> float:
    """V of Lemma 10."""
    ratio, informations = information_factors(bandit, horizon)
    return 2.0 * ratio * informations


@posterior_variances.of(LinearBandit, "Lemma 10")
def linear_posterior_variances(bandit: LinearBandit, setting: Setting, order: int) -> Parts:
    return Parts({"V": sum_of_variances(bandit, setting.horizon)})


@failure_probability.of(LinearBandit, "Lemma 9")
def linear_failure_probability(bandit: LinearBandit, setting: Setting, order: int) -> Parts:
    """2 K delta."""
    return Parts({"probability": 2.0 * bandit.arms * setting.delta})


@gap_dependent.of(LinearBandit, "Theorem 6")
def linear_gap_dependent(
    bandit: LinearBandit, setting: Setting, order: int, delta_star: Any = None, accuracy: Any = None
) -> Parts:
    """8 E[1/Delta_min^eps] V L + eps n + 4 L_max L_* K n delta."""
    V = sum_of_variances(bandit, setting.horizon)
    inverse_gap = expected_inverse_gap(bandit, setting.paper_epsilon, accuracy)
    factor = 8.0 * V * setting.L
    L_star, rest = _remainder(bandit, setting, delta_star)
    return Parts(
        {"leading": factor * inverse_gap.value} | rest,
        details={"expected_inverse_gap": inverse_gap.value, "V": V, "L_star": L_star},
        note=NO_PROBABILITY,
        error=_error(factor, inverse_gap, rest),
    )


@sqrt.of(LinearBandit, "eq. (4) and its appendix")
def linear_sqrt(bandit: LinearBandit, setting: Setting, order: int, delta_star: Any = None) -> Parts:
    """2 sqrt(2 n L V) + eps n + 4 L_max L_* K n delta."""
    V = sum_of_variances(bandit, setting.horizon)
    L_star, rest = _remainder(bandit, setting, delta_star)
    leading = 2.0 * math.sqrt(2.0 * setting.horizon * setting.L) * math.sqrt(V)
    return Parts({"leading": leading} | rest, details={"V": V, "L_star": L_star}, note=NO_PROBABILITY)


@information.of(LinearBandit, "Note on information-theory bounds")
def linear_information(
    bandit: LinearBandit, setting: Setting, order: int, delta_star: Any = None, accuracy: Any = None
) -> Parts:
    """Gamma^2 E[1/Delta_min^eps] sum_t I_t, equal to Theorem 6's leading term, and its remainder."""
    ratio, informations = information_factors(bandit, setting.horizon)
    gamma_squared = 16.0 * setting.L * ratio
    inverse_gap = expected_inverse_gap(bandit, setting.paper_epsilon, accuracy)
    factor = gamma_squared * informations
    L_star, rest = _remainder(bandit, setting, delta_star)
    return Parts(
        {"leading": factor * inverse_gap.value} | rest,
        details={
            "expected_inverse_gap": inverse_gap.value,
            "gamma_squared": gamma_squared,
            "information": informations,
            "L_star": L_star,
        },
        note=NO_PROBABILITY,
        error=_error(factor, inverse_gap, rest),
    )


def _remainder(bandit: LinearBandit, setting: Setting, delta_star: Any) -> tuple[float, dict[str, float]]:
    """L_*, and the terms common to Theorem 6 and the gap-free bound."""
    star = setting.delta if delta_star is None else checks.probability("delta_star", delta_star)
    L_star = parameter_norm(bandit, star)
    n = setting.horizon
    failures = 4.0 * longest_feature_norm(bandit) * L_star * (bandit.arms * n * setting.delta)
    return L_star, {"small gaps": setting.paper_epsilon * n, "failures": failures}


def _largest_eigenvalue(bandit: LinearBandit) -> float:
    return max(0.0, float(np.linalg.eigvalsh(bandit.covariance)[-1]))


def _error(factor: float, inverse_gap: GapEstimate, rest: dict[str, float]) -> float:
    return factor * inverse_gap.error + ROUNDING * (factor * inverse_gap.value + sum(rest.values()))
