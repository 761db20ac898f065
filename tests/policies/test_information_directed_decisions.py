"""Information-directed sampling decides like its slow twin, round by round, on the same draws."""

import numpy as np
import pytest

import bayesregret as br
from bayesregret.contracts import add_reward, choose_arm, empty_stats
from bayesregret.rng import POLICY, open_stream, run_word, seed_key, uniform
from reference import directed as slow

pytestmark = pytest.mark.long

SEED, ROUNDS = 9, 12


def gaps_and_gains(bandit, gain, counts, totals):
    if isinstance(bandit, br.BernoulliBandit):
        stats = slow.beta_posteriors(bandit.alpha + totals, bandit.beta + counts - totals)
        return slow.gaps(stats), (slow.variance_gains if gain == "variance" else slow.bernoulli_gains)(stats)
    pulls = bandit.model.pseudo_count + counts
    mean = (bandit.model.pseudo_count * bandit.prior_mean + totals) / pulls
    deviation = bandit.reward_noise / np.sqrt(pulls)
    stats = slow.normal_posteriors(mean, deviation)
    exact = gain == "exact"
    return slow.gaps(stats), slow.normal_gains(mean, deviation, bandit.reward_noise) if exact else slow.variance_gains(
        stats
    )


@pytest.mark.parametrize(
    ("bandit", "gain"),
    [
        (br.BernoulliBandit([1, 2, 1], [1, 1, 2]), "exact"),
        (br.BernoulliBandit([1, 2, 1], [1, 1, 2]), "variance"),
        (br.GaussianBandit([0.3, 0.0, -0.4], 1.0, 1.2), "exact"),
        (br.GaussianBandit([0.3, 0.0, -0.4], 1.0, 1.2), "variance"),
    ],
)
def test_every_round(bandit, gain):
    policy = br.InformationDirected(gain)
    settings, stats = policy.settings(bandit, None), empty_stats(bandit.arms, 0, policy.scratch(bandit))
    rng, means = np.random.default_rng(3), bandit.draw_instance(seed=SEED).mean_rewards
    key = seed_key(SEED)
    with np.errstate(all="ignore"):
        stream = open_stream(key, run_word(key, 0), POLICY)
        mixed = 0
        for round_ in range(1, ROUNDS + 1):
            weights = slow.mixture(*gaps_and_gains(bandit, gain, stats.counts, stats.totals))
            u, _ = uniform(stream)
            arm, stream = choose_arm(settings, bandit.model, stats, round_, stream)
            limit = weights[np.flatnonzero(weights > 1e-9)[0]]  # the lowest-numbered of the two has the lowest draws
            assert abs(u - limit) > 1e-4
            assert arm == np.flatnonzero(weights > 1e-9)[0 if u < limit else -1]
            mixed += limit < 1.0 - 1e-9
            is_bernoulli = isinstance(bandit, br.BernoulliBandit)
            reward = (
                float(rng.random() < means[arm]) if is_bernoulli else means[arm] + bandit.reward_noise * rng.normal()
            )
            add_reward(stats, arm, reward)
    assert mixed > 0
