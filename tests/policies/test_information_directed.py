"""Information-directed sampling: probabilities, gaps, gains and mixtures against closed forms and a slow twin."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import entr
from scipy.stats import norm

import bayesregret as br
from bayesregret.contracts import add_reward, choose_arm, draw_reward, empty_stats
from bayesregret.policies.information_directed import fill_workspace
from bayesregret.policies.information_gain.next_reward import SMALLEST_RATIO, excess
from bayesregret.policies.information_gain.two_arm_mixture import best_mixture
from bayesregret.rng import POLICY, REWARD, U, open_stream, run_word, seed_key
from problems import BANDITS
from reference import directed as slow

pytestmark = pytest.mark.long


def look(bandit, counts=None, totals=None, gain="exact"):
    """Probabilities, gaps and gains after these pulls and sums of rewards of each arm."""
    policy = br.InformationDirected(gain=gain)
    stats = empty_stats(bandit.arms, 0, policy.scratch(bandit))
    if counts is not None:
        stats.counts[:], stats.totals[:] = counts, totals
    with np.errstate(all="ignore"):
        return fill_workspace(policy.settings(bandit, None), bandit.model, stats).best


def choices(bandit, gain="exact", **stats):
    best = look(bandit, gain=gain, **stats)
    return best_mixture(best.gaps, best.gains)


# --- Bernoulli: Beta posteriors of whole pseudo-counts are polynomials ------------------------------------------------


def times(p, q):
    made = [Fraction(0)] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            made[i + j] += a * b
    return made


def integral(p):
    """As a polynomial that is 0 at 0."""
    return [Fraction(0), *(a / (power + 1) for power, a in enumerate(p))]


def beta_density(alpha, beta):
    made = [Fraction(math.factorial(alpha + beta - 1), math.factorial(alpha - 1) * math.factorial(beta - 1))]
    for factor in [[0, 1]] * (alpha - 1) + [[1, -1]] * (beta - 1):
        made = times(made, factor)
    return made


def by_polynomials(priors):
    """In fractions: P(arm is best), E[best] - E[arm], and E[arm; other is best]."""
    densities = [beta_density(*prior) for prior in priors]
    arms = range(len(priors))

    def total(*factors):
        made = [Fraction(1)]
        for factor in factors:
            made = times(made, factor)
        return sum(integral(made))

    x = [Fraction(0), Fraction(1)]
    below = [integral(f) for f in densities]
    joint = [[Fraction(0)] * len(priors) for _ in arms]
    for arm in arms:
        for other in arms:
            rest = [below[third] for third in arms if third not in (arm, other)]
            own = [times(x, densities[arm])] if other == arm else [integral(times(x, densities[arm])), densities[other]]
            joint[arm][other] = total(*own, *rest)
    probabilities = [total(f, *(below[other] for other in arms if other != arm)) for arm, f in enumerate(densities)]
    best = sum(joint[arm][arm] for arm in arms)
    return probabilities, [best - Fraction(a, a + b) for a, b in priors], joint


PRIORS = [(1, 1), (2, 3), (4, 2)]


def test_bernoulli_in_fractions():
    bandit = br.BernoulliBandit(*np.transpose(PRIORS))
    probabilities, gaps, joint = by_polynomials(PRIORS)
    assert sum(probabilities) == 1
    found = look(bandit)
    assert np.allclose(found.probabilities, np.array(probabilities, float), rtol=1e-10)
    assert np.allclose(found.gaps, np.array(gaps, float), rtol=1e-9)
    mean = np.array([Fraction(a, a + b) for a, b in PRIORS], float)
    given = np.array(joint, float) / np.array(probabilities, float)
    variances = (given - mean[:, None]) ** 2 @ np.array(probabilities, float)
    assert np.allclose(look(bandit, gain="variance").gains, variances, rtol=1e-8)
    divergence = given * np.log(given / mean[:, None]) + (1 - given) * np.log((1 - given) / (1 - mean[:, None]))
    assert np.allclose(found.gains, divergence @ np.array(probabilities, float), rtol=1e-8)


BERNOULLI = [
    ([1, 1, 1], [1, 1, 1], [0, 0, 0], [0, 0, 0]),
    ([1, 0.4, 3, 1], [1, 0.7, 2, 1], [1, 2, 3, 30], [0, 2, 1, 20]),
    ([1, 1, 1], [1, 1, 1], [10_000, 300, 0], [6_050, 190, 0]),  # deviations of 0.005, 0.03 and 0.3
    ([1] * 12, [1] * 12, list(range(12)), [n // 2 for n in range(12)]),
]


@pytest.mark.parametrize(("alpha", "beta", "counts", "wins"), BERNOULLI)
def test_bernoulli_against_the_twin(alpha, beta, counts, wins):
    alpha, beta, counts, wins = (np.array(given, float) for given in (alpha, beta, counts, wins))
    bandit, stats = br.BernoulliBandit(alpha, beta), slow.beta_posteriors(alpha + wins, beta + counts - wins)
    found = look(bandit, counts, wins)
    assert np.allclose(found.probabilities, slow.probabilities(stats), rtol=1e-8, atol=1e-11)
    assert np.allclose(found.gaps, slow.gaps(stats), rtol=1e-8, atol=1e-11)
    assert np.allclose(found.gains, slow.bernoulli_gains(stats), rtol=1e-7, atol=1e-13)
    assert np.allclose(look(bandit, counts, wins, "variance").gains, slow.variance_gains(stats), rtol=1e-7, atol=1e-13)


@pytest.mark.parametrize("scale", [1.0, 0.01, 1e-6, 1e-40])
def test_pseudo_counts_far_below_one(scale):
    """Beta(a, 1) is a uniform to the power 1/a: probabilities are in the ratio of the a's. Mirrored, the other way."""
    shapes = scale * np.array([1.0, 2.0, 3.0])
    assert np.allclose(look(br.BernoulliBandit(shapes, np.ones(3))).probabilities, [1 / 6, 2 / 6, 3 / 6], rtol=1e-8)
    assert np.allclose(look(br.BernoulliBandit([1, 1], shapes[:2])).probabilities, [2 / 3, 1 / 3], rtol=1e-8)


# --- Gaussian ---------------------------------------------------------------------------------------------------------


def posterior(bandit, counts, totals):
    pulls = bandit.model.pseudo_count + counts
    return (bandit.model.pseudo_count * bandit.prior_mean + totals) / pulls, bandit.reward_noise / np.sqrt(pulls)


GAUSSIAN = [
    (br.GaussianBandit([0, 0, 0], 1.0, 1.0), [0, 0, 0], [0, 0, 0]),
    (br.GaussianBandit([0.5, 0, 0, -0.5], 1.0, 1.5), [3, 0, 5, 1], [1.0, 0.0, 4.0, -2.0]),
    (br.GaussianBandit([0.5, 0], 0.3, 2.0), [0, 0], [0, 0]),
    (br.GaussianBandit([1e6, 1e6], 1.0, 0.6), [0, 1], [0, 1e6 + 0.5]),
    (BANDITS["gaussian arms"], [0, 0, 0, 0], [0, 0, 0, 0]),
    (BANDITS["gaussian arms"], [3, 0, 5, 1], [1.0, 0.0, 4.0, -2.0]),
    (br.GaussianBandit([0, 0], [0.1, 3.0], [0.05, 1.0]), [0, 0], [0, 0]),
    (br.GaussianBandit([0, 0.2, 0.1], 1.0, [20.0, 0.3, 1.0]), [4, 1, 0], [3.0, 0.3, 0.0]),
]


@pytest.mark.parametrize(("bandit", "counts", "totals"), GAUSSIAN)
def test_gaussian_against_the_twin(bandit, counts, totals):
    mean, deviation = posterior(bandit, np.array(counts), np.array(totals))
    stats = slow.normal_posteriors(mean, deviation)
    found = look(bandit, counts, totals)
    assert np.allclose(found.probabilities, slow.probabilities(stats), rtol=1e-8)
    assert np.allclose(found.gaps, slow.gaps(stats), rtol=1e-8, atol=1e-15 * abs(mean).max() * 10)
    assert np.allclose(found.gains, slow.normal_gains(mean, deviation, bandit.reward_noise), rtol=3e-7)
    explained = slow.variance_gains(stats)
    assert np.allclose(
        look(bandit, counts, totals, "variance").gains, explained, rtol=1e-7, atol=1e-9 * (mean[0] > 1e3)
    )


def test_each_arm_has_its_own_noise():
    """Exchanged with its prior it takes its gain along; one noise for both is noticed: the control."""
    noises = np.array([0.3, 4.0])
    gains = look(br.GaussianBandit([0.2, 0.0], 1.0, noises)).gains
    exchanged = look(br.GaussianBandit([0.0, 0.2], 1.0, noises[::-1])).gains
    assert np.allclose(exchanged[::-1], gains, rtol=1e-9)
    assert not np.allclose(look(br.GaussianBandit([0.2, 0.0], 1.0, 0.3)).gains, gains, rtol=0.5)


@pytest.mark.parametrize("wider", [1e3, 1e9, 1e40])
def test_widths_far_apart(wider):
    """The wide arm is above or below all that the other can be: its reward reveals everything, the other's nothing."""
    found = look(br.GaussianBandit([0, 0], [1.0, wider], [1.0, 0.25 * wider]))
    assert np.allclose(found.probabilities, 0.5, rtol=1e-8)
    assert np.allclose(found.gaps, wider / math.sqrt(2.0 * math.pi), rtol=1e-5)
    assert 0.74 * math.log(2.0) < found.gains[1] < math.log(2.0)
    assert found.gains[0] < 1e-6


@pytest.mark.parametrize("wide", [1e5, 1e8, 1e30])
@pytest.mark.parametrize("place", [-6.9, -0.3, 0.0])
def test_sharp_arms_somewhere_below_a_wide_one(wide, place):
    """Panels as short as the sharp arms need are shorter than the spacing of floats there; the leader's are not."""
    bandit = br.GaussianBandit([0, 0, 0], wide, 1.0 / wide)
    pulls = np.array([4, 4, 0])
    found = look(bandit, pulls, pulls * place * wide)
    assert np.allclose(found.probabilities, [0.5 * norm.cdf(place)] * 2 + [norm.sf(place)], rtol=1e-8, atol=1e-10)
    missed = norm.pdf(place) + place * norm.cdf(place)  # what the wide arm falls short of a place, in its widths
    assert np.allclose(found.gaps / wide, [missed - place] * 2 + [missed], rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(
    "bandit",
    [
        br.GaussianBandit([0, 0, 1], 1e8, 1e-8),
        br.GaussianBandit([0, 0, 1], 1e50, 1e-50),
        br.GaussianBandit([0, 0, 1], [1e-8, 1, 1e8], 1.0),
        br.GaussianBandit([1e20, 1e20, 0], [1, 2, 1e20], 1.0),
    ],
    ids=["little noise", "least noise", "own widths", "far from 0"],
)
def test_widths_of_any_size_come_to_an_end(bandit):
    """Round by round, always the first arm of the mixture; without compilation, which takes longer."""
    rng = np.random.default_rng(3)
    means, counts, totals = rng.normal(bandit.prior_mean, bandit.prior_widths), np.zeros(3, int), np.zeros(3)
    for _ in range(6):
        found = look(bandit, counts, totals)
        assert found.probabilities.sum() == pytest.approx(1.0, abs=1e-8)
        assert found.gaps.min() >= 0.0
        assert found.gains.min() >= 0.0
        arm = best_mixture(found.gaps, found.gains)[0]
        counts[arm] += 1
        totals[arm] += rng.normal(means[arm], bandit.reward_noises[arm])


def test_sharp_and_wide_gaussian_arms():
    """10,000 pulls, 300 and none."""
    bandit = br.GaussianBandit([0, 0, 0], 1.0, 1.0)
    counts, totals = np.array([10_000, 300, 0]), np.array([5_000.0, 140.0, 0.0])
    stats = slow.normal_posteriors(*posterior(bandit, counts, totals))
    found = look(bandit, counts, totals, "variance")
    assert np.allclose(found.probabilities, slow.probabilities(stats), rtol=1e-8)
    assert np.allclose(found.gaps, slow.gaps(stats), rtol=1e-8)
    assert np.allclose(found.gains, slow.variance_gains(stats), rtol=1e-8)


@pytest.mark.parametrize("width", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("ahead", [0.0, 1.5, 3.0])
def test_a_new_arm_beside_known_ones(width, ahead):
    """Its next reward reveals almost everything or nothing: the gain is that of a yes or no through noise."""
    bandit, pulls = br.GaussianBandit([0, 0], width, 1.0), 10**8
    found = look(bandit, [0, pulls], [0.0, pulls * ahead * width]).gains[0]
    spread = math.sqrt(1.0 + width**2)  # of a reward
    y = np.linspace(-9, 9, 10_001)
    after = norm.sf(ahead * spread - width * y)
    unsure = np.sum(norm.pdf(y) * (entr(after) + entr(1.0 - after))) * (y[1] - y[0])
    expected = entr(norm.sf(ahead)) + entr(norm.cdf(ahead)) - unsure
    assert found == pytest.approx(expected, rel=1e-6)


def test_two_normal_arms_in_closed_form():
    """E[(difference)^+] is the gap of the better one."""
    bandit = br.GaussianBandit([0.4, 0.0], 0.7, 1.0)
    spread = 0.7 * math.sqrt(2.0)
    z = 0.4 / spread
    density, above = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi), 0.5 * math.erfc(z / math.sqrt(2.0))
    found = look(bandit)
    assert found.probabilities[1] == pytest.approx(above, rel=1e-9)
    assert found.gaps.tolist() == pytest.approx([spread * density - 0.4 * above, spread * density + 0.4 * (1 - above)])


def test_a_reward_almost_without_noise():
    """It tells what the arm's mean itself would, of two equal arms log 2 - 1/2, less at most a tenth; beside a known
    arm log 2, less at most about a quarter."""
    all_of_it = math.log(2.0) - 0.5
    found = look(br.GaussianBandit([0, 0], 1.0, 1e-3)).gains
    assert np.all(found < all_of_it)
    assert np.all(found > 0.9 * all_of_it)
    beside_a_known_arm = look(br.GaussianBandit([0, 0], 1.0, 1e-3), [0, 10], [0, 0]).gains[0]
    assert 0.74 * math.log(2.0) < beside_a_known_arm < math.log(2.0)


def test_a_reward_almost_all_noise():
    """The gain is half the explained variance over that of the noise, on both sides of SMALLEST_RATIO."""
    for noise in (0.9 / SMALLEST_RATIO, 1.1 / SMALLEST_RATIO):
        bandit = br.GaussianBandit([0, 0.3], 1.0, noise)
        explained = look(bandit, gain="variance").gains
        assert np.allclose(look(bandit).gains, 0.5 * explained / noise**2, rtol=1e-6)


def test_excess():
    assert excess(-1.0) == excess(-1.5) == 1.0
    for x in (-0.5, -9e-4, 1e-5, 2e-3, 4.0):
        exact = sum((-x) ** k / (k * (k - 1)) for k in range(2, 60)) if abs(x) < 1 else 5 * math.log(5) - 4
        assert excess(x) == pytest.approx(exact, rel=1e-9)


# --- decisions --------------------------------------------------------------------------------------------------------


def test_the_mixture_against_the_twin():
    rng = np.random.default_rng(5)
    mixed = 0
    for _ in range(60):
        gaps, gains = rng.exponential(size=4), rng.exponential(size=4) ** 2
        first, second, weight = best_mixture(gaps, gains)
        found = weight * np.eye(4)[first] + (1 - weight) * np.eye(4)[second]
        expected = slow.mixture(gaps, gains)
        assert slow.ratio(gaps, gains, found) <= slow.ratio(gaps, gains, expected) * (1 + 1e-9)
        assert np.allclose(found, expected, atol=1e-4)
        mixed += weight < 1.0
    assert 10 < mixed < 60  # arms alone and pairs were among them


def test_equal_arms_go_by_number():
    for bandit in (br.BernoulliBandit([1] * 5, [1] * 5), br.GaussianBandit([0] * 5, 1, 1)):
        assert choices(bandit)[0] == 0
        assert choices(bandit)[2] == 1.0
    stats = {"counts": [3, 0, 3, 0], "totals": [1, 0, 1, 0]}
    first, second, _ = choices(br.BernoulliBandit([1] * 4, [1] * 4), **stats)
    assert {first, second} <= {0, 1}


def test_an_arm_that_is_known_to_be_best():
    for bandit in (br.GaussianBandit([0, 1000, 3], 1, 1), br.GaussianBandit([0, 1e50, 3], 1e-3, 1)):
        assert choices(bandit) == (1, 1, 1.0)
        assert choices(bandit, "variance") == (1, 1, 1.0)
    assert choices(br.BernoulliBandit([1, 1e5], [1e5, 1])) == (1, 1, 1.0)
    assert choices(br.BernoulliBandit([1], [1])) == (0, 0, 1.0)
    assert choices(br.GaussianBandit([0], 1, 1)) == (0, 0, 1.0)


def test_arms_that_tell_nothing():
    """Then the smallest gap is taken."""
    assert best_mixture(np.array([2.0, 1.0, 1.0]), np.zeros(3)) == (1, 1, 1.0)
    assert best_mixture(np.array([0.5, 0.0]), np.ones(2)) == (1, 1, 1.0)


def play(bandit, policy, horizon, seed):
    """Pulls of each arm in run 0, by the contracts alone."""
    settings, stats = policy.settings(bandit, horizon), empty_stats(bandit.arms, 0, policy.scratch(bandit))
    key, means = seed_key(seed), bandit.draw_means(1, seed=seed)[0]
    with np.errstate(all="ignore"):
        start = run_word(key, 0)
        streams = [open_stream(key, start, REWARD + U(arm)) for arm in range(bandit.arms)]
        stream = open_stream(key, start, POLICY)
        for round_ in range(1, horizon + 1):
            arm, stream = choose_arm(settings, policy.belief(bandit), stats, round_, stream)
            reward, streams[arm] = draw_reward(bandit.model, arm, means[arm], streams[arm])
            add_reward(stats, arm, reward)
    return stats.counts.tolist()


@pytest.mark.parametrize("gain", [pytest.param("exact", marks=pytest.mark.slow), "variance"])
@pytest.mark.parametrize("name", ["bernoulli", "gaussian", pytest.param("gaussian arms", marks=pytest.mark.slow)])
def test_the_engine_decides_like_plain_python(name, gain):
    bandit, policy = BANDITS[name], br.InformationDirected(gain)
    ran = br.simulate(bandit, policy, horizon=3, runs=1, seed=1, threads=1)["information-directed"]
    assert ran.mean_pulls.tolist() == play(bandit, policy, 3, seed=1)


def test_gaussian_beliefs_about_other_rewards():
    """Noise of plus or minus the same, and rewards 0 or 1."""
    assert np.array_equal(look(BANDITS["rademacher"]).gains, look(BANDITS["gaussian"]).gains)
    policy = br.InformationDirected("variance", prior=br.GaussianBandit([0.5, 0.5], 0.3, 0.5))
    assert sum(play(br.BernoulliBandit([1, 1], [1, 1]), policy, 5, seed=1)) == 5


def test_an_agent_goes_on_where_it_was():
    bandit = br.BernoulliBandit([1, 1, 1], [1, 1, 1])
    agent = br.InformationDirected().start(bandit, seed=4)
    for reward in (1, 0, 0, 1):
        agent.update(agent.select(), reward)
    again = br.Agent.from_json(agent.to_json())
    for reward in (0, 0, 1):
        arm = agent.select()
        assert again.select() == arm
        agent.update(arm, reward)
        again.update(arm, reward)


def test_what_it_refuses():
    with pytest.raises(ValueError, match=r'^gain must be "exact" or "variance", got \'mutual\'$'):
        br.InformationDirected(gain="mutual")
    with pytest.raises(ValueError, match=r"^policy must be one that runs on a poisson bandit, got information"):
        br.simulate(br.PoissonBandit([1, 1], [1, 1]), br.InformationDirected(), horizon=5, runs=1, seed=1)
    with pytest.raises(ValueError, match=r"^draws must be a whole number, at least 2, got 1$"):
        br.InformationDirected(draws=1)
    with pytest.raises(
        ValueError, match=r"^alpha and beta must be at most 1e\+07 for information-directed, got 1e\+08$"
    ):
        br.simulate(br.BernoulliBandit([1, 1], [1, 1e8]), br.InformationDirected(), horizon=5, runs=1, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bandit", "gain", "horizon", "runs"),
    [
        (br.BernoulliBandit([1] * 10, [1] * 10), "exact", 200, 60),
        (br.GaussianBandit([1] + [0] * 9, 1, 1), "variance", 100, 200),
    ],
)
def test_less_regret_than_thompson(bandit, gain, horizon, runs):
    """On the same instances and rewards; UCB1 is the control."""
    policies = [br.InformationDirected(gain), br.Thompson(), br.UCB1()]
    result = br.simulate(bandit, policies, horizon=horizon, runs=runs, seed=2, threads=1)
    saved, control = (result.paired("thompson", name) for name in ("information-directed", "ucb1"))
    assert saved.mean > 4.0 * saved.stderr
    assert not control.mean > 4.0 * control.stderr
