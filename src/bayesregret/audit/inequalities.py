"""Inequalities used in the proofs, as printed and as certified, for each kind of bandit."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bayesregret.audit.evidence import EveryRound, EveryRun, Evidence, OnAverage
from bayesregret.audit.runs import BAYES_UCB, ROUNDING, Traces
from bayesregret.audit.verdict import Inequality
from bayesregret.bounds.assumptions import HOMOSCEDASTIC_ONLY, first_failure
from bayesregret.bounds.bound import Setting
from bayesregret.bounds.certified.heteroscedastic import bad_rounds_heteroscedastic, most_uncertain, overshoot
from bayesregret.checks import Array
from bayesregret.models import Bandit, BernoulliBandit, GaussianBandit, LinearBandit

NOT_GAUSSIAN = "the noise is not Gaussian, so the posterior is not the true one"
# A posterior covariance matrix has no correct digits left if the prior is this many times as wide as the noise.
WIDEST = 1e4
TOO_WIDE = f"the prior is more than {WIDEST:g} times as wide as the noise, too wide for the audit's plain posterior"


class Intervals(NamedTuple):
    """Confidence intervals: after N pulls an arm's width is at most z sqrt(proxy / (offset + N))."""

    proxy: Array | float  # a number, or (arms,)
    offset: Array  # (arms,)

    def action_bound(self, setting: Setting, traces: Traces) -> Array:
        """Number of pulls after which no good round takes the arm, eq. (6); NaN for an arm tied with the best.

        The gap is reduced by its rounding error, which can only increase the number.
        """
        gaps = traces.gaps * (1.0 - ROUNDING) - 4.0 * traces.slack
        behind = np.where(gaps > 0.0, gaps, np.nan)
        return np.asarray((2.0 * setting.z * np.sqrt(self.proxy) / behind) ** 2 - self.offset)


def too_wide(bandit: Bandit) -> bool:
    """Return whether the prior is too wide for the plain posterior of `audit.reference_posteriors`."""
    if not isinstance(bandit, LinearBandit):
        return False
    return float(np.linalg.norm(bandit.features @ bandit.covariance_root, axis=1).max()) > WIDEST * bandit.reward_noise


def inequalities_of(bandit: Bandit, policy: str, setting: Setting) -> list[Evidence]:
    """Return all inequalities to check on the runs of a policy."""
    if policy != BAYES_UCB:
        return _ucb1(bandit, setting)
    if isinstance(bandit, GaussianBandit):
        return _gaussian(bandit, setting)
    return _linear(bandit, setting) if isinstance(bandit, LinearBandit) else _bernoulli(bandit, setting)


def _gaussian(bandit: GaussianBandit, setting: Setting) -> list[Evidence]:
    why_not = None if bandit.noise_kind == "gaussian" else NOT_GAUSSIAN
    noises = bandit.reward_noises
    intervals = Intervals(noises**2, (noises / bandit.prior_widths) ** 2)
    return [
        *_intervals_fail(bandit.arms, setting, "Section 3.1", "proof of Theorem 1", why_not),
        *_pulls(intervals, setting, "eq. (6)", _one_width(bandit)),
        _widest_gap("proof of Theorem 1, case 1"),
        *_gaussian_failures(bandit, setting, why_not),
        *_gaussian_sums(bandit, setting.horizon),
    ]


def _one_width(bandit: GaussianBandit) -> str | None:
    """Return why an inequality for a common width does not apply, if so; its number is then the widest prior's."""
    return HOMOSCEDASTIC_ONLY if bandit.arms_differ else None


def _gaussian_failures(bandit: GaussianBandit, setting: Setting, why_not: str | None) -> list[Evidence]:
    """Inequalities for the expected cost of rounds in which an interval fails."""
    arms, printed = bandit.arms, first_failure(why_not, _one_width(bandit))
    lemma_7 = 2.0 * float(bandit.prior_widths.max()) * arms * setting.delta
    error = Inequality(
        "failure_regret", "Lemma 7", "paper", "E[(theta_a - estimate) 1{not E_t}] <= 2 s0 K delta", printed
    )
    distance = error._replace(
        name="failure_distance", statement="E[|theta_a - estimate| 1{not E_t}] <= 2 s0 K delta, as the proof shows"
    )
    case_3 = error._replace(
        name="failed_rounds",
        source="proof of Theorem 1, case 3",
        statement="E[gap 1{not E_t}] <= 2 (z + 2K) s0 K delta",
    )
    return [
        OnAverage(error, lemma_7, "failed_error"),
        OnAverage(distance, lemma_7, "failed_distance"),
        OnAverage(case_3, lemma_7 * (setting.z + 2.0 * arms), "failed_regret"),
        *_certified_failures(bandit, setting, why_not),
    ]


def _certified_failures(bandit: GaussianBandit, setting: Setting, why_not: str | None) -> list[Evidence]:
    if bandit.arms_differ:
        bad = bad_rounds_heteroscedastic(bandit, setting) / setting.horizon
        formula = "sum of s0 (phi - zQ) + max s0 [phi + zQ + (K-1) Q (z + phi - zQ)]"
        short = _overshoot(overshoot(bandit, setting), "sum of s0 (phi - zQ)", why_not)
    else:
        arms, width = bandit.arms, bandit.prior_width
        bad = width * ((arms + 1) * setting.density + (arms - 1) * setting.tail * setting.excess)
        formula = "s0 [(K+1) phi + (K-1) Q (phi - zQ)]"
        short = _overshoot(arms * width * setting.excess, "K s0 (phi - zQ)", why_not)
    return [_bad_rounds(bad, formula, why_not), short]


def _gaussian_sums(bandit: GaussianBandit, horizon: int) -> list[Evidence]:
    """Inequalities for sums over the taken arms' posteriors in every run, with the arms as a linear bandit's basis."""
    width, noise = float(bandit.prior_widths.max()), float(bandit.reward_noises.max())
    lemma_10 = variance_sum(width, bandit.arms, noise, horizon)
    printed = Inequality(
        "posterior_variances", "Lemma 10", "paper", "sum of the taken arms' variances <= V, d = K, S = s0"
    )
    proved = printed._replace(form="certified", statement="sum of the taken arms' variances <= min(V, n s0^2)")
    deviations = Inequality(
        "posterior_deviations",
        "gap-free bound",
        "certified",
        "sum of the taken arms' standard deviations <= that of arms taken in turn",
    )
    highest = min(lemma_10, horizon * width**2)
    largest = deviation_sum(bandit.arms, width, noise, horizon)
    if bandit.arms_differ:
        every = most_uncertain(bandit, horizon)
        highest, largest = math.fsum(every**2), math.fsum(every)
        proved = proved._replace(statement="sum of the taken arms' variances <= that of the n largest")
        deviations = deviations._replace(statement="sum of the taken arms' deviations <= that of the n largest")
    return [
        _in_every_run(printed._replace(why_not=_one_width(bandit)), lemma_10, "taken_variance"),
        _in_every_run(proved, highest, "taken_variance"),
        _in_every_run(deviations, largest, "taken_deviation"),
    ]


def _bernoulli(bandit: Bandit, setting: Setting) -> list[Evidence]:
    assert isinstance(bandit, BernoulliBandit)
    arms = bandit.arms
    return [
        *_intervals_fail(arms, setting, "Section 3.2", "proof of Theorem 5", None),
        *_pulls(Intervals(0.25, bandit.alpha + bandit.beta + 1.0), setting, "proof of Theorem 5", None),
        _widest_gap("proof of Theorem 5, case 1"),
        OnAverage(
            Inequality("failed_rounds", "proof of Theorem 5, case 3", "paper", "E[gap 1{not E_t}] <= 2 K delta"),
            2.0 * arms * setting.delta,
            "failed_regret",
        ),
        _bad_rounds((arms + 1) * setting.delta, "(K+1) delta", None),
    ]


def _linear(bandit: LinearBandit, setting: Setting) -> list[Evidence]:
    whitened = bandit.features @ bandit.covariance_root
    variances = (whitened**2).sum(axis=1)
    noise = bandit.reward_noise
    never = np.full(bandit.arms, np.inf)  # an arm that is known exactly and behind is never taken in a good round
    intervals = Intervals(noise**2, np.divide(noise**2, variances, out=never, where=variances > 0.0))
    return [
        *_intervals_fail(bandit.arms, setting, "proof of Lemma 9", "Lemma 9", None),
        _pulls_certified(intervals, setting, "eq. (6) with |a|_0 for s0"),
        _widest_gap("proof of Theorem 6, case 1"),
        *_linear_sums(bandit, whitened, setting.horizon),
        _overshoot(float(np.sqrt(variances).sum()) * setting.excess, "sum of |a|_0 (phi - zQ)", None),
    ]


def _linear_sums(bandit: LinearBandit, whitened: Array, horizon: int) -> list[Evidence]:
    """Lemma 10 with the largest eigenvalue times the longest features, and with the largest prior width itself."""
    longest = float(np.linalg.norm(bandit.features, axis=1).max())
    printed_width = math.sqrt(max(0.0, float(np.linalg.eigvalsh(bandit.covariance)[-1]))) * longest
    widest = float(np.linalg.norm(whitened, axis=1).max(initial=0.0))
    rank = int(np.linalg.matrix_rank(whitened)) if widest > 0.0 else 0
    lemma_10 = variance_sum(printed_width, bandit.features.shape[1], bandit.reward_noise, horizon)
    proved_sum = min(variance_sum(widest, rank, bandit.reward_noise, horizon), horizon * widest**2)
    printed = Inequality("posterior_variances", "Lemma 10", "paper", "sum of the taken arms' variances <= V")
    proved = printed._replace(form="certified", statement="sum of the taken arms' variances <= V', at most n S'^2")
    return [
        _in_every_run(printed, lemma_10, "taken_variance"),
        _in_every_run(proved, proved_sum, "taken_variance"),
    ]


def _ucb1(bandit: Bandit, setting: Setting) -> list[Evidence]:
    assert isinstance(bandit, GaussianBandit)
    arms, why_not = bandit.arms, _one_width(bandit)
    fails = 2.0 * arms * setting.delta * float(bandit.reward_noises.max())
    intervals = Intervals(bandit.reward_noises**2, np.zeros(arms))
    source = "proof of Theorem 4"
    pulls = Inequality(
        "ucb1_pulls", "eq. (6), s0 = infinity", "paper", "N_a <= 8 s^2 L / gap^2 after the first K rounds"
    )
    error = Inequality("ucb1_failure_regret", "Lemma 8", "paper", "E[(theta_a - estimate) 1{not E_t}] <= 2 s K delta")
    regret = Inequality("ucb1_failed_rounds", f"{source}, case 3", "paper", "E[gap 1{not E_t}] <= 2 (z + 2K) s K delta")
    return [
        *_intervals_fail(arms, setting, source, source, None, prefix="ucb1_"),
        EveryRun(
            pulls._replace(why_not=why_not),
            lambda traces: (traces.good_pulls, intervals.action_bound(setting, traces)),
        ),
        OnAverage(error._replace(why_not=why_not), fails, "failed_error"),
        OnAverage(regret._replace(why_not=why_not), fails * (setting.z + 2.0 * arms), "failed_regret"),
    ]


# --- inequalities that several bandits share ------------------------------------------------------------------------


def _intervals_fail(
    arms: int, setting: Setting, source: str, union: str, why_not: str | None, prefix: str = ""
) -> list[Evidence]:
    delta = setting.delta
    return [
        OnAverage(
            Inequality(
                f"{prefix}interval_failure", source, "paper", "P(|theta_a - estimate| > C_a) <= 2 delta", why_not
            ),
            2.0 * delta,
            "failures",
            is_probability=True,
        ),
        EveryRound(
            Inequality(f"{prefix}round_failure", union, "paper", "P(not E_t) <= 2 K delta in every round", why_not),
            2.0 * arms * delta,
        ),
    ]


def _pulls(intervals: Intervals, setting: Setting, source: str, why_not: str | None) -> list[Evidence]:
    return [
        EveryRun(
            Inequality("pulls", source, "paper", "N_a, the pulls of arm a in good rounds, <= B_a", why_not),
            lambda traces: (traces.good_pulls, intervals.action_bound(setting, traces)),
        ),
        _pulls_certified(intervals, setting, source),
    ]


def _pulls_certified(intervals: Intervals, setting: Setting, source: str) -> Evidence:
    def sides(traces: Traces) -> tuple[Array, Array]:
        bound = intervals.action_bound(setting, traces)
        return traces.good_pulls, np.minimum(setting.horizon, np.maximum(0.0, np.floor(bound) + 1.0))

    return EveryRun(Inequality("pulls", source, "certified", "N_a <= max(0, floor(B_a) + 1)"), sides)


def _widest_gap(source: str) -> Evidence:
    inequality = Inequality("good_rounds", source, "paper", "gap of the taken arm / (2 C_a) <= 1 in good rounds")
    return EveryRun(inequality, lambda traces: (traces.widest_gap, np.ones_like(traces.widest_gap)))


def _bad_rounds(allowed: float, formula: str, why_not: str | None) -> Evidence:
    inequality = Inequality(
        "bad_rounds", "bad rounds", "certified", f"E[gap; theta_* > U_* or theta_A < U_A - 2C] <= {formula}", why_not
    )
    return OnAverage(inequality, allowed, "bad_regret")


def _overshoot(allowed: float, formula: str, why_not: str | None) -> Evidence:
    inequality = Inequality("overshoot", "bad rounds", "certified", f"E[(theta_* - U_*)^+] <= {formula}", why_not)
    return OnAverage(inequality, allowed, "overshoot")


def _in_every_run(inequality: Inequality, allowed: float, observed: str) -> Evidence:
    """Inequality with the same right side for all runs."""
    return EveryRun(inequality, lambda traces: (getattr(traces, observed), np.full(len(traces.means), allowed)))


# --- right sides --------------------------------------------------------------------------------------------------


def variance_sum(widest: float, dimension: int, noise: float, horizon: int) -> float:
    """Lemma 10: S^2 d / log(1 + S^2/s^2) * log(1 + S^2 n / (s^2 d))."""
    ratio = (widest / noise) ** 2
    if ratio == 0.0 or dimension == 0:
        return 0.0
    return widest**2 * dimension * math.log1p(ratio * horizon / dimension) / math.log1p(ratio)


def deviation_sum(arms: int, width: float, noise: float, horizon: int) -> float:
    """Sum of the posterior standard deviations of Gaussian arms taken in turn."""
    pulls = np.arange(horizon) // arms
    return math.fsum(noise / np.sqrt((noise / width) ** 2 + pulls))
