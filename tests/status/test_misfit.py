"""The test of the prior: evidence against slow products of predictive densities, and its validity."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

import bayesregret as br
from bayesregret.status.alternatives import alternatives
from bayesregret.status.misfit import evidence_path, look_at, look_times, misfit
from status.cases import BANDITS, some_rewards
from status.truth_study import FAR_OFF, SETTINGS, evidence_of, far_off, is_rejected_somewhen, played


def predictive(bandit, arm, before):
    """SciPy's distribution of the arm's next reward after some, for one kind of independent arms each."""
    n, total = len(before), sum(before)
    if bandit.kind == "bernoulli":
        return stats.bernoulli((bandit.alpha[arm] + total) / (bandit.alpha[arm] + bandit.beta[arm] + n))
    if bandit.kind == "poisson":
        shape, rate = bandit.shape[arm] + total, bandit.rate[arm] + n
        return stats.nbinom(shape, rate / (rate + 1.0))
    if bandit.kind == "exponential":
        return stats.lomax(bandit.shape[arm] + n, scale=bandit.rate[arm] + total)
    if bandit.kind == "gaussian":
        noise, width = bandit.reward_noises[arm], bandit.prior_widths[arm]
        precision = 1.0 / width**2 + n / noise**2
        mean = (bandit.prior_mean[arm] / width**2 + total / noise**2) / precision
        return stats.norm(mean, math.sqrt(1.0 / precision + noise**2))
    pulls, shape = bandit.prior_pulls[arm] + n, bandit.shape[arm] + 0.5 * n
    mean = (bandit.prior_pulls[arm] * bandit.prior_mean[arm] + total) / pulls
    off = sum((x - total / n) ** 2 for x in before) if n else 0.0
    shrink = bandit.prior_pulls[arm] * n / pulls * (total / n - bandit.prior_mean[arm]) ** 2 if n else 0.0
    scale = bandit.scale[arm] + 0.5 * (off + shrink)
    return stats.t(2.0 * shape, mean, math.sqrt(scale * (1.0 + 1.0 / pulls) / shape))


def slow_path(bandit, arms, rewards):
    """Sums of the logarithms of predictive densities, reward by reward."""
    if bandit.kind == "mixture":
        parts = [
            np.log(w) + slow_path(part, arms, rewards) for w, part in zip(bandit.weights, bandit.bandits, strict=True)
        ]
        return np.logaddexp.reduce(parts)
    if bandit.kind == "linear":
        rows = bandit.features[arms]
        mean, cov = (
            rows @ bandit.prior_mean,
            rows @ bandit.covariance @ rows.T + bandit.reward_noise**2 * np.eye(len(arms)),
        )
        return np.array(
            [stats.multivariate_normal(mean[:n], cov[:n, :n]).logpdf(rewards[:n]) for n in range(1, len(arms) + 1)]
        )
    before, path = {arm: [] for arm in range(bandit.arms)}, []
    for arm, reward in zip(arms, rewards, strict=True):
        found = predictive(bandit, arm, before[arm])
        path.append(found.logpmf(reward) if hasattr(found.dist, "pmf") else found.logpdf(reward))
        before[arm].append(reward)
    return np.cumsum(path)


@pytest.mark.parametrize("name", BANDITS)
def test_evidence_is_the_product_of_predictive_densities(name):
    bandit = BANDITS[name]
    arms, rewards = some_rewards(bandit, 40)
    looks = look_at(arms, rewards, bandit.arms, 0.1)
    at = look_times(40, 0.1) - 1
    assert len(at) < 40
    others = alternatives(bandit)
    assert len(others) >= 6
    for other in others:
        fast = evidence_path(other.bandit, looks) - evidence_path(bandit, looks)
        slow = slow_path(other.bandit, arms, rewards) - slow_path(bandit, arms, rewards)
        np.testing.assert_allclose(fast, slow[at], rtol=1e-7, atol=1e-7, err_msg=other.words)


def test_evidence_is_a_martingale_with_mean_1():
    """Over all sequences of rewards, with arms that depend on earlier ones; the control has no weights."""
    bandit = BANDITS["bernoulli"]
    mean, unweighted = 0.0, 0.0
    for rewards in itertools.product([0, 1], repeat=6):
        arms = [0, *(int(sum(rewards[:n]) * 2 > n) for n in range(1, 6))]
        probability = math.exp(slow_path(bandit, np.array(arms), np.array(rewards))[-1])
        mean += probability * math.exp(misfit(bandit, arms, rewards).log_evidence)
        looks = look_at(np.array(arms), np.array(rewards, float), 2, 0.02)
        ratios = [evidence_path(other.bandit, looks)[-1] for other in alternatives(bandit)]
        unweighted += probability * math.exp(max(ratios) - evidence_path(bandit, looks)[-1])
    assert mean == pytest.approx(1.0, rel=1e-9)
    assert unweighted > 1.1


def test_looks():
    times = look_times(100_000, 0.02)
    assert times[:50].tolist() == list(range(1, 51))
    assert times[-1] == 100_000
    assert len(times) < 500
    assert look_times(0, 0.02).tolist() == []


def test_numbers_of_a_misfit():
    bandit = BANDITS["gaussian"]
    nothing = misfit(bandit, [], [])
    assert (nothing.p_value, nothing.rewards, nothing.raises_alarm) == (1.0, 0, False)
    found = misfit(bandit, [0, 1] * 20, [5.0] * 40)
    assert found.raises_alarm
    assert found.p_value == math.exp(-found.highest)
    assert found.highest >= found.log_evidence
    assert "higher" in found.better
    assert "lower" in misfit(bandit, [0, 1] * 20, [-5.0] * 40).better
    # An alarm stays, whatever comes later.
    later = misfit(bandit, [0, 1] * 520, [5.0] * 40 + [0.0] * 1000)
    assert later.highest >= found.highest - 1e-9


def test_words_name_the_direction():
    bandit = br.GaussianBandit([0] * 4, 1, 0.5)
    arms = np.arange(80) % 4
    noise = 0.5 * np.random.default_rng(0).standard_normal(80)
    assert "2 prior widths lower" in misfit(bandit, arms, noise - 2.5).better
    assert "6 times as far" in misfit(bandit, arms, noise + np.array([6, -6, 5, -5])[arms]).better
    assert "2 times as close" in misfit(bandit, arms, noise).better
    assert "noise" in misfit(bandit, arms, 3 * noise).better


def test_no_test_without_known_densities():
    rademacher = br.GaussianBandit([0, 0], 1, 1, noise_kind="rademacher")
    assert misfit(rademacher, [0, 1], [1, -1]) is None


def test_alternatives_beside_the_ends_of_possible_means():
    extreme = br.BernoulliBandit([1e-3, 1e3], [1e3, 1e-3])
    assert all((other.bandit.alpha > 0.0).all() for other in alternatives(extreme))
    # Two and five widths below 1 of 100 are both beyond the end: they are one alternative.
    words = [other.words for other in alternatives(br.BernoulliBandit([50.0], [50.0]))]
    low = [other.words for other in alternatives(br.BernoulliBandit([1.0], [99.0]))]
    assert set(words) - set(low) == {"all mean rewards are about 5 prior widths lower"}
    flat = br.LinearBandit([[1.0], [-1.0]], [0], prior_width=1, reward_noise=1)  # an average arm without uncertainty
    assert not any("all mean rewards" in other.words for other in alternatives(flat))


def test_few_false_alarms_and_a_control_with_many():
    """A slice of benchmarks/status_truth.py."""
    runs = [played(SETTINGS[0], seed, 150, 150).progress for seed in range(60)]
    assert sum(evidence_of(run) >= math.log(20) for run in runs) <= 60 * 0.05 + 4 * math.sqrt(60 * 0.05)
    assert sum(is_rejected_somewhen(run, 0.05) for run in runs) > 60 * 0.05 + 4 * math.sqrt(60 * 0.05)


def test_priors_that_are_far_off_are_found():
    bandit, sides = FAR_OFF["gaussian, width 1, noise 1"]
    found = [evidence_of(far_off(bandit, br.Thompson(), side, seed)) for side in sides for seed in range(5)]
    assert min(found) > math.log(100)
