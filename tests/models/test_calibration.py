"""Posteriors are calibrated: over instances and data, a mean's rank among draws from its posterior is uniform."""

import numpy as np
import pytest
from scipy import stats

from bayesregret.contracts import add_reward, draw_means, draw_reward, empty_stats, posterior_draw, posterior_quantile
from bayesregret.contracts.statistics import reset_stats
from bayesregret.numerics.special import make_special_functions_ready
from bayesregret.rng import INSTANCE, POLICY, REWARD, open_stream, run_word, seed_key
from draws import compiled
from models.conjugate import CONJUGATE

pytestmark = pytest.mark.compiled

RUNS, PULLS, DRAWS = 10_000, 6, 19
TAILS = np.array([0.5, 0.1, 0.01])


def fill_ranks(ranks, exceeded, tails, world, belief, arm_stats, means, key, pulls, draws):
    """Of arm 0, run by run; and how often its mean exceeds the posterior's quantiles."""
    for run in range(ranks.shape[0]):
        start = run_word(key, run)
        draw_means(world, means, open_stream(key, start, INSTANCE))
        reset_stats(arm_stats)
        stream = open_stream(key, start, REWARD)
        for _ in range(pulls):
            reward, stream = draw_reward(world, 0, means[0], stream)
            add_reward(arm_stats, 0, reward)
        stream = open_stream(key, start, POLICY)
        for _ in range(draws):
            value, stream = posterior_draw(belief, arm_stats, 0, stream)
            ranks[run] += value < means[0]
        for i in range(tails.shape[0]):
            exceeded[i] += means[0] > posterior_quantile(belief, arm_stats, 0, tails[i])


def calibration(bandit, belief, runs=RUNS, kernel=None):
    """The rank of each run, and how often each quantile was exceeded."""
    make_special_functions_ready()
    ranks, exceeded = np.zeros(runs, np.int64), np.zeros(len(TAILS), np.int64)
    arm_stats, means = empty_stats(bandit.arms), np.empty(bandit.arms)
    call = kernel or compiled(fill_ranks)
    call(ranks, exceeded, TAILS, bandit.world(), belief.model, arm_stats, means, seed_key(70), PULLS, DRAWS)
    return ranks, exceeded


def p_value(ranks):
    """The p-value of a chi-squared test that they are uniform."""
    return stats.chisquare(np.bincount(ranks, minlength=DRAWS + 1)).pvalue


def differently(bandit):
    """The same kind of prior with its scale, or rate, half as large again."""
    settings = bandit.settings()
    name = "scale" if "scale" in settings else "rate"
    return type(bandit)(**(settings | {name: 1.5 * settings[name]}))


@pytest.mark.parametrize("kind", CONJUGATE)
def test_ranks_are_uniform(kind):
    bandit = CONJUGATE[kind]
    ranks, exceeded = calibration(bandit, bandit)
    assert p_value(ranks) > 1e-3
    for tail, times in zip(TAILS, exceeded, strict=True):
        assert abs(times - RUNS * tail) < 4.0 * np.sqrt(RUNS * tail * (1.0 - tail))
    wrong, exceeded = calibration(bandit, differently(bandit))
    assert p_value(wrong) < 1e-6
    if kind != "normal-gamma":  # there another scale leaves the median where it is
        assert abs(exceeded[0] - RUNS / 2) > 10.0 * np.sqrt(RUNS) / 2


@pytest.mark.parametrize("kind", CONJUGATE)
def test_plain_python_has_the_same_bits(kind):
    bandit = CONJUGATE[kind]
    with np.errstate(all="ignore"):
        plain = calibration(bandit, bandit, runs=40, kernel=fill_ranks)
    for ours, theirs in zip(plain, calibration(bandit, bandit, runs=40), strict=True):
        assert np.array_equal(ours, theirs)
