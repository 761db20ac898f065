"""Corollary 2 with its complete statement, Theorem 4, the second part of Theorem 5, and their prior integral."""

from __future__ import annotations

import math

import numpy as np

from bayesregret import checks
from bayesregret.bounds.assumptions import first_failure, gaussian_rewards, homoscedastic_only, unless
from bayesregret.bounds.bound import Parts, Setting
from bayesregret.bounds.catalog import (
    complexity,
    complexity_bound,
    lai_lower,
    prior_dependent,
    ucb1_prior_dependent,
)
from bayesregret.bounds.gaps.bernoulli import BernoulliGaps, bernoulli_gaps
from bayesregret.bounds.gaps.gaussian import gaussian_gaps
from bayesregret.models import BernoulliBandit, GaussianBandit

NO_LOGARITHM = "horizon must be at least 2, since log 1 = 0 and xi has no range"
INFINITE_AT_ZERO = "an arm with alpha < 1 has infinite prior density at 0, so the complexity is infinite"
LAI_NOTE = "asymptotic and up to a constant; mean_parameter_form is our derivation, with its constant"


def xi_range(setting: Setting) -> tuple[float, float]:
    """Range of xi: from 1/n to 1/sqrt(log n), the latter infinite at n = 1."""
    log_n = math.log(setting.horizon)
    return 1.0 / setting.horizon, 1.0 / math.sqrt(log_n) if log_n > 0.0 else math.inf


def _xi_details(setting: Setting) -> dict[str, float]:
    nearest, farthest = xi_range(setting)
    return {"xi_from": nearest, "xi_to": farthest}


# --- Gaussian ------------------------------------------------------------------------------------------------------


def gaussian_complexity(bandit: GaussianBandit, order: int, nearest: float, farthest: float) -> float:
    """Sum over arms of the integral of h_a(m - xi_a(m)) f_a(m) dm, xi_a between nearest and farthest."""
    s0 = bandit.prior_width
    return gaussian_gaps(bandit, order).complexity(nearest / s0, farthest / s0) / s0


@complexity.of(GaussianBandit, "Corollary 2")
@homoscedastic_only
def complexity_gaussian(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    details = {"at_zero": gaussian_complexity(bandit, order, 0.0, 0.0)}
    if setting.horizon < 2:
        return Parts({"complexity": math.inf}, details, why_not=NO_LOGARITHM)
    value = gaussian_complexity(bandit, order, *xi_range(setting))
    return Parts({"complexity": value}, details | _xi_details(setting))


@complexity_bound.of(GaussianBandit, "Lemma 3")
@homoscedastic_only
def lemma_3(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    means, counts = np.unique(bandit.prior_mean / (2.0 * bandit.prior_width), return_counts=True)
    pairs = math.fsum(
        int(counts[i]) * float((counts - (np.arange(len(means)) == i)) @ np.exp(-((means - means[i]) ** 2)))
        for i in range(len(means))
    )
    return Parts(
        {"bound": pairs / (2.0 * math.sqrt(math.pi) * bandit.prior_width)},
        {"complexity_at_zero": gaussian_complexity(bandit, order, 0.0, 0.0)},
        note="equal to the complexity at xi = 0 for two arms" if bandit.arms == 2 else None,
    )


@prior_dependent.of(GaussianBandit, "Corollary 2 and Theorem 11")
@homoscedastic_only
def corollary_2(bandit: GaussianBandit, setting: Setting, order: int, *, constant: str = "main") -> Parts:
    checks.one_of("constant", constant, ("main", "appendix"))
    n, K, s0, L, z = setting.horizon, bandit.arms, bandit.prior_width, setting.L, setting.z
    if n < 2:
        return Parts({"leading": math.inf}, why_not=NO_LOGARITHM)
    log_n = math.log(n)
    log_log = math.log(log_n)
    printed_threshold = 1.0 / (8.0 * L * n**2 * log_log) if L > 0.0 and log_log > 0.0 else math.inf
    if n >= 3 and s0**2 < printed_threshold:
        return _narrow_regime(bandit, setting)
    failures = {
        "main": 2.0 * (z + 2.0 * K) * s0 * K * n * setting.delta,
        "appendix": (2.0 * z + 1.0) * s0 * K * n * setting.delta,
    }
    integral = gaussian_complexity(bandit, order, *xi_range(setting))
    noise = bandit.reward_noise**2
    per_complexity = 8.0 * noise * L * log_n - bandit.model.pseudo_count / (2.0 * log_n)
    return Parts(
        {
            "leading": per_complexity * integral,
            "large gaps": 8.0 * noise * K * L * math.sqrt(log_n),
            "failures": failures[constant],
            "small gaps": 1.0,
        },
        {"complexity": integral, "regime": "wide prior", **{f"{name}_constant": c for name, c in failures.items()}},
        why_not=first_failure(gaussian_rewards(bandit), _wide_enough(bandit, setting)),
        note="the constants of the appendix and the main text differ; the proof gives the main text's",
    )


def _wide_enough(bandit: GaussianBandit, setting: Setting) -> str | None:
    """Conditions that the proof of the first regime needs, beyond the printed ones."""
    n = setting.horizon
    needed = 8.0 * setting.L * math.log(n)
    least = checks.in_full(1.0 / needed if needed else math.inf)
    return first_failure(
        unless(n >= 3, "horizon must be at least 3, where log log n > 0"),
        unless(n * setting.delta >= 1.0, "delta must be at least 1/horizon"),
        unless(
            bandit.prior_width**2 * needed >= 1.0,
            f"the proof needs prior_width^2 >= 1/(8 log(1/delta) log n) = {least}",
        ),
    )


def _narrow_regime(bandit: GaussianBandit, setting: Setting) -> Parts:
    """Second claim of the complete statement, for a very narrow prior."""
    log_log = math.log(math.log(setting.horizon))
    spread = (2.0 * setting.z + 1.0) / math.sqrt(8.0 * setting.L * log_log)
    return Parts(
        {"leading": 1.0, "failures": spread * bandit.arms * setting.delta},
        {"regime": "narrow prior"},
        why_not=first_failure(
            gaussian_rewards(bandit),
            unless(setting.horizon >= 16, "horizon must be at least 16: otherwise a gap can exceed 1/n in the proof"),
        ),
    )


@ucb1_prior_dependent.of(GaussianBandit, "Theorem 4")
@homoscedastic_only
def theorem_4(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    n, K, s, L = setting.horizon, bandit.arms, bandit.reward_noise, setting.L
    if n < 2:
        return Parts({"leading": math.inf}, why_not=NO_LOGARITHM)
    log_n = math.log(n)
    integral = gaussian_complexity(bandit, order, *xi_range(setting))
    return Parts(
        {
            "leading": 8.0 * s**2 * L * log_n * integral,
            "large gaps": 8.0 * s**2 * K * L * math.sqrt(log_n),
            "failures": 2.0 * (setting.z + 2.0 * K) * s * K * n * setting.delta,
            "first pulls": bandit.prior_width * gaussian_gaps(bandit, order).gap_sum,
            "small gaps": 1.0,
        },
        {"complexity": integral},
        why_not=first_failure(
            gaussian_rewards(bandit),
            "the printed proof treats the random number of pulls as fixed; certified_ucb1 is proved",
        ),
    )


@lai_lower.of(GaussianBandit, "eq. (2)")
@homoscedastic_only
def lai_gaussian(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    squared = math.log(setting.horizon) ** 2
    at_zero = gaussian_complexity(bandit, order, 0.0, 0.0)
    return Parts(
        {"leading": squared * at_zero},
        {"complexity_at_zero": at_zero, "mean_parameter_form": 0.5 * squared * bandit.reward_noise**2 * at_zero},
        why_not="Lai's theorem is asymptotic, and the paper says that it does not cover Gaussian rewards",
        note=LAI_NOTE,
    )


# --- Bernoulli -----------------------------------------------------------------------------------------------------


def bernoulli_complexity(gaps: BernoulliGaps, setting: Setting) -> float:
    return math.fsum(kind.copies * gaps.overlap(kind, *xi_range(setting)) for kind in gaps.kinds)


@complexity.of(BernoulliBandit, "Theorem 5, second part")
def complexity_bernoulli(bandit: BernoulliBandit, setting: Setting, order: int) -> Parts:
    gaps = bernoulli_gaps(bandit, order)
    details = {"at_zero": gaps.complexity_at_zero}
    if setting.horizon < 2:
        return Parts({"complexity": math.inf}, details, why_not=NO_LOGARITHM)
    value = bernoulli_complexity(gaps, setting)
    return Parts(
        {"complexity": value}, details | _xi_details(setting), note=INFINITE_AT_ZERO if math.isinf(value) else None
    )


@prior_dependent.of(BernoulliBandit, "Theorem 5, second part")
def theorem_5_second(bandit: BernoulliBandit, setting: Setting, order: int) -> Parts:
    n, K, L = setting.horizon, bandit.arms, setting.L
    if n < 2:
        return Parts({"leading": math.inf}, why_not=NO_LOGARITHM)
    log_n = math.log(n)
    smallest_count = float(np.min(bandit.alpha + bandit.beta)) + 1.0
    integral = bernoulli_complexity(bernoulli_gaps(bandit, order), setting)
    most = 2.0 * L * min(log_n, n**2 * math.log(log_n))
    return Parts(
        {
            "leading": (2.0 * L * log_n - smallest_count / (2.0 * log_n)) * integral,
            "large gaps": 2.0 * K * L * math.sqrt(log_n),
            "failures": 2.0 * K * n * setting.delta,
            "small gaps": 1.0,
        },
        {"complexity": integral, "lambda": smallest_count},
        why_not=first_failure(
            unless(n >= 3, "horizon must be at least 3, where log log n > 0"),
            unless(n * setting.delta >= 1.0, "delta must be at least 1/horizon"),
            unless(
                smallest_count <= most,
                f"the proof needs min(alpha + beta) + 1 = {checks.in_full(smallest_count)} to be at most "
                f"{checks.in_full(most)}, which is 2 log(1/delta) min(log n, n^2 log log n)",
            ),
        ),
        note=INFINITE_AT_ZERO if math.isinf(integral) else None,
    )


@lai_lower.of(BernoulliBandit, "eq. (2)")
def lai_bernoulli(bandit: BernoulliBandit, setting: Setting, order: int) -> Parts:
    gaps = bernoulli_gaps(bandit, order)
    squared = math.log(setting.horizon) ** 2
    at_zero = gaps.complexity_at_zero
    value = squared * at_zero if squared > 0.0 else 0.0
    return Parts(
        {"leading": value},
        {
            "complexity_at_zero": at_zero,
            "mean_parameter_form": 0.5 * squared * gaps.variance_complexity,
        },
        why_not="Lai's theorem is asymptotic: it covers no finite horizon",
        note="two arms are near 0 or 1 together with such high probability that the integral is infinite"
        if math.isinf(value)
        else LAI_NOTE,
    )
