"""Thompson sampling spares most draws, and yet takes each arm with the chance that it is the best one."""

import math

import numpy as np
import pytest
from scipy import stats

import bayesregret as br
from bayesregret.contracts import add_reward, choose_arm, empty_stats, keeps_lead
from bayesregret.policies.thompson import HighestDraw
from bayesregret.policies.thompson_fast import beta as likely_beta
from bayesregret.policies.thompson_fast.beta_sampler import PREPARED
from bayesregret.policies.thompson_fast.near_and_far import (
    FAILS_AT,
    FIRST_FAR,
    HEAD,
    LEVEL,
    SORT_AT,
    below_exp,
    draw_above,
    lease_until,
    memory_for_likely,
    sort_arms,
    tail_bound,
)
from bayesregret.policies.thompson_fast.normal import normal_beyond
from bayesregret.rng import POLICY
from draws import compiled, stream_of

# In plain Python: that compiled code gives the same bits is a test of its own.
ROUNDS = 5_000
UNLIKELY = 1e-4  # as four standard errors are
GAUSSIAN = br.GaussianBandit([0.5, 0.0, 0.0, -0.5], 1.0, 1.5)
BERNOULLI = br.BernoulliBandit([1.0, 0.4, 3.0, 1.0], [1.0, 0.7, 2.0, 1.0])
# (count, total) of each arm: nothing, a little and a lot known; a clear leader and none.
DATA = {
    "nothing known": (GAUSSIAN, [(0, 0.0)] * 4),
    "a clear leader": (GAUSSIAN, [(50, 45.0), (5, 1.0), (9, 2.0), (0, 0.0)]),
    "one far ahead": (GAUSSIAN, [(90, 90.0), (20, 6.0), (30, 5.0), (12, 3.0)]),
    "two close ones": (GAUSSIAN, [(20, 11.0), (22, 12.5), (4, -3.0), (3, 2.0)]),
    "no rewards": (BERNOULLI, [(0, 0.0)] * 4),
    "a sure success": (BERNOULLI, [(60, 54.0), (7, 5.0), (9, 3.0), (0, 0.0)]),
    "nobody near": (BERNOULLI, [(80, 68.0), (20, 11.0), (30, 17.0), (12, 6.0)]),
    "rivals": (BERNOULLI, [(30, 20.0), (28, 19.0), (6, 2.0), (3, 3.0)]),
}


def posteriors(bandit, data):
    """SciPy's distribution of every arm's mean reward."""
    if isinstance(bandit, br.BernoulliBandit):
        prior = zip(bandit.alpha, bandit.beta, strict=True)
        return [stats.beta(a + wins, b + n - wins) for (a, b), (n, wins) in zip(prior, data, strict=True)]
    found = []
    for mean, (count, total) in zip(bandit.prior_mean, data, strict=True):
        variance = 1.0 / (bandit.prior_width**-2 + count / bandit.reward_noise**2)
        centre = variance * (mean / bandit.prior_width**2 + total / bandit.reward_noise**2)
        found.append(stats.norm(centre, math.sqrt(variance)))
    return found


def chances_of_the_best(beliefs):
    """P(arm is best) = E prod of the others' distribution functions, at even quantiles of the arm's own."""
    shares = (np.arange(20_000) + 0.5) / 20_000
    return np.array(
        [np.mean(np.prod([b.cdf(own.ppf(shares)) for b in beliefs if b is not own], axis=0)) for own in beliefs]
    )


def choose_often(policy, model, arm_stats, taken, stream):
    for round_ in range(1, taken.shape[0] + 1):
        taken[round_ - 1], stream = choose_arm(policy, model, arm_stats, round_, stream)


def known_of(data):
    arm_stats = empty_stats(len(data), memory_for_likely(len(data)), PREPARED * len(data))
    for arm, (count, total) in enumerate(data):
        for _ in range(count):
            add_reward(arm_stats, arm, total / count)
    return arm_stats


def looked_at(bandit, data):
    """The policy's settings, and what it knows after a first look."""
    settings, arm_stats = br.Thompson().settings(bandit, None), known_of(data)
    with np.errstate(over="ignore"):
        choose_arm(settings, bandit.model, arm_stats, 1, stream_of(1))
    return settings, arm_stats


def counts_of_choices(bandit, data, settings=None, rounds=ROUNDS, play=choose_often):
    """How often each arm is taken when its data stay as they are."""
    taken = np.empty(rounds, np.int64)
    settings = br.Thompson().settings(bandit, None) if settings is None else settings
    with np.errstate(over="ignore"):
        play(settings, bandit.model, known_of(data), taken, stream_of(11, label=POLICY))
    return np.bincount(taken, minlength=bandit.arms)


def pvalue(counts, chances):
    """Of a chi-square test; arms that would be taken less than five times are counted as one with the next rarest."""
    expected = counts.sum() * chances / chances.sum()
    order = np.argsort(expected)
    first = np.searchsorted(np.cumsum(expected[order]), 5.0)
    starts = [0, *range(first + 1, len(order))]
    return stats.chisquare(np.add.reduceat(counts[order], starts), np.add.reduceat(expected[order], starts)).pvalue


@pytest.mark.parametrize("case", DATA)
def test_arms_are_taken_with_the_chance_that_they_are_best(case):
    bandit, data = DATA[case]
    chances = chances_of_the_best(posteriors(bandit, data))
    assert chances.sum() == pytest.approx(1.0, abs=1e-3)
    counts = counts_of_choices(bandit, data)
    assert pvalue(counts, chances) > UNLIKELY


@pytest.mark.parametrize("case", DATA)
def test_with_a_level_that_often_fails(case):
    """All but the leader are far, and the level is so high that they are mostly drawn after all."""
    bandit, data = DATA[case]
    chances = chances_of_the_best(posteriors(bandit, data))
    settings = br.Thompson().settings(bandit, None)._replace(reach=0.5, near_chance=1.0)
    counts = counts_of_choices(bandit, data, settings=settings)
    assert pvalue(counts, chances) > UNLIKELY


# A lone leader with a lease, though its draw is often in its tail and the others often exceed the level.
LEASED = {
    "one far ahead": {"reach": 1.5, "lone_chance": 0.05, "tail": 1.0, "tail_chance": stats.norm.sf(1.0)},
    "nobody near": {"reach": 1.3, "lone_chance": 0.05, "tail_chance": 0.2},
}


@pytest.mark.parametrize("case", LEASED)
def test_with_a_lease(case):
    bandit, data = DATA[case]
    chances = chances_of_the_best(posteriors(bandit, data))
    settings = br.Thompson().settings(bandit, None)._replace(**LEASED[case])
    arm_stats, stream, leased = known_of(data), stream_of(1), 0
    with np.errstate(over="ignore"):
        for round_ in range(1, 51):
            _, stream = choose_arm(settings, bandit.model, arm_stats, round_, stream)
            leased += arm_stats.memory[FAILS_AT] > 0.0
    assert leased > 25
    counts = counts_of_choices(bandit, data, settings=settings, rounds=4 * ROUNDS)
    assert pvalue(counts, chances) > UNLIKELY


def test_a_tail_that_is_left_out_is_noticed():
    """The control of leases."""
    bandit, data = DATA["one far ahead"]
    chances = chances_of_the_best(posteriors(bandit, data))
    settings = br.Thompson().settings(bandit, None)._replace(**LEASED["one far ahead"])
    wrong = counts_of_choices(bandit, data, settings=settings._replace(tail_chance=1e-9), rounds=4 * ROUNDS)
    assert pvalue(wrong, chances) < UNLIKELY


@pytest.mark.parametrize("seed", range(12))
def test_a_leader_with_a_lease_is_likely_above_the_level(seed, monkeypatch):
    """Whatever its next rewards are. One for chances ten times as large is noticed: the control."""
    rng = np.random.default_rng(seed)
    bandit = br.BernoulliBandit([rng.uniform(1.0, 3.0), 1.0], [rng.uniform(1.0, 3.0), 1.0])
    pulls = int(10 ** rng.uniform(1.5, 5.0))
    successes = round(rng.uniform(0.4, 0.99) * pulls)
    settings = br.Thompson().settings(bandit, None)
    tail = settings.tail_chance
    assert 0.2 * tail < largest_chance_below(settings, bandit, pulls, successes) <= tail
    monkeypatch.setattr(likely_beta, "RATE_KEPT", 0.5)
    assert largest_chance_below(settings._replace(tail_chance=10.0 * tail), bandit, pulls, successes) > tail


def largest_chance_below(settings, bandit, pulls, successes):
    """That the leader's draw is below the level, while it has its lease, over many runs of luck."""
    arm_stats = empty_stats(2, memory_for_likely(2), 2 * PREPARED)
    arm_stats.counts[:], arm_stats.totals[:], arm_stats.received[0] = [pulls, 50], [successes, 0.0], pulls + 50
    sort_arms(settings._replace(lone_chance=0.0), bandit.model, arm_stats)
    lease, level = lease_until(settings, bandit.model, arm_stats, 10**9), arm_stats.memory[LEVEL]
    largest = 0.0
    for luck in successes / pulls * np.array([0.0, 0.8, 0.9, 0.98, 1.0]):
        for more in np.unique(np.geomspace(1, 2 * pulls, 60).astype(int)):
            wins, losses = successes + round(luck * more), pulls - successes + more - round(luck * more)
            if keeps_lead(settings, bandit.model, lease, 1, 0, wins + losses, wins):
                largest = max(largest, stats.beta(bandit.alpha[0] + wins, bandit.beta[0] + losses).cdf(level))
    return largest


def test_draws_beyond():
    beyond, stream = np.empty(ROUNDS), stream_of(5)
    with np.errstate(over="ignore"):
        for i in range(ROUNDS):
            beyond[i], stream = normal_beyond(1.3, stream)
    assert stats.kstest(beyond, lambda x: 1.0 - stats.norm.sf(x) / stats.norm.sf(1.3)).pvalue > UNLIKELY
    assert stats.kstest(beyond, lambda x: 1.0 - stats.norm.sf(x) / stats.norm.sf(1.25)).pvalue < UNLIKELY


@pytest.mark.slow
@pytest.mark.parametrize("case", DATA)
def test_arms_are_taken_with_that_chance_to_three_digits(case):
    bandit, data = DATA[case]
    chances = chances_of_the_best(posteriors(bandit, data))
    counts = counts_of_choices(bandit, data, rounds=1_000_000, play=compiled(choose_often))
    assert pvalue(counts, chances) > UNLIKELY


@pytest.mark.parametrize("case", ["two close ones", "rivals"])
def test_other_chances_are_noticed(case):
    """The control: of beliefs with a few more rewards of an arm."""
    bandit, data = DATA[case]
    counts = counts_of_choices(bandit, data)
    wrong = chances_of_the_best(posteriors(bandit, [data[0], (data[1][0] + 4, data[1][1] + 4.0), *data[2:]]))
    assert pvalue(counts, wrong) < UNLIKELY


@pytest.mark.parametrize("bandit", [GAUSSIAN, BERNOULLI], ids=lambda bandit: bandit.kind)
def test_a_far_arm_with_new_data_is_looked_at(bandit):
    """Its bound follows at once, though arms are not sorted anew before more rewards have come."""
    arm_stats, settings, stream = (
        known_of([(90, 80.0)] + [(60, 3.0)] * 3),
        br.Thompson().settings(bandit, None),
        stream_of(1),
    )
    with np.errstate(over="ignore"):
        _, stream = choose_arm(settings, bandit.model, arm_stats, 1, stream)
        bounds, sort_at = bounds_of_far_arms(arm_stats), arm_stats.memory[SORT_AT]
        for _ in range(10):
            add_reward(arm_stats, 2, 1.0)
        choose_arm(settings, bandit.model, arm_stats, 2, stream)
    assert arm_stats.received[0] < sort_at == arm_stats.memory[SORT_AT]
    assert sorted(bounds) == [1, 2, 3]
    raised = {arm for arm, bound in bounds_of_far_arms(arm_stats).items() if bound > bounds[arm]}
    assert raised == {2}


def bounds_of_far_arms(arm_stats):
    arms, first = len(arm_stats.counts), int(arm_stats.memory[FIRST_FAR])
    far = arm_stats.memory[first : HEAD + arms].astype(int)
    return dict(zip(far.tolist(), arm_stats.memory[first + arms : HEAD + 2 * arms].tolist(), strict=True))


@pytest.mark.parametrize("case", ["a clear leader"])
def test_by_drawing_every_arm(case):
    """The same law by the draws that are spared; what a belief without bounds gets."""
    bandit, data = DATA[case]
    chances = chances_of_the_best(posteriors(bandit, data))
    counts = counts_of_choices(bandit, data, settings=HighestDraw())
    assert pvalue(counts, chances) > UNLIKELY


@pytest.mark.parametrize("case", DATA)
@pytest.mark.parametrize("deviations", [-1.0, 0.2, 1.0, 3.0])
def test_bounds_of_densities_above_a_level(case, deviations):
    """An exponential density times the bound is above the posterior's; with a rate a tenth larger it is not."""
    bandit, data = DATA[case]
    settings, arm_stats = looked_at(bandit, data)
    too_steep, widths = False, np.linspace(0.0, 6.0, 200)
    for arm, belief in enumerate(posteriors(bandit, data)):
        level = level_of(belief, deviations)
        bound, rate = tail_bound(settings, bandit.model, arm_stats, arm, level)
        if deviations < 0.0:
            assert (bound, rate) == (1.0, 0.0)
        if rate > 0.0:
            density = belief.pdf(level + widths / rate)
            assert (bound * rate * np.exp(-widths) >= density * (1.0 - 1e-12)).all()
            too_steep |= (bound * rate * np.exp(-1.1 * widths) < density).any()
            if bandit is GAUSSIAN:
                assert bound < 1.3 * belief.sf(level)
    assert too_steep or deviations < 0.5


def level_of(belief, deviations):
    return min(belief.mean() + deviations * belief.std(), 0.5 * (belief.mean() + belief.support()[1]))


@pytest.mark.parametrize("case", DATA)
@pytest.mark.parametrize(
    ("deviations", "above", "slack"), [(-1.0, 0.0, 1.0), (0.2, 0.0, 1.0), (1.0, 0.4, 1.3), (3.0, 0.0, 1.1)]
)
def test_draws_above_a_value(case, deviations, above, slack):
    """At a level or above it, with the chance that its bound or a higher one promises, and with the law of the tail
    (Kolmogorov-Smirnov)."""
    bandit, data = DATA[case]
    settings, arm_stats = looked_at(bandit, data)
    for arm, belief in enumerate(posteriors(bandit, data)):
        level = level_of(belief, deviations)
        value = level + above * (level_of(belief, deviations + 1.0) - level)
        bound, rate = tail_bound(settings, bandit.model, arm_stats, arm, level)
        bound = min(1.0, slack * bound * math.exp(-rate * (value - level)))
        drawn, stream, tail = np.empty(ROUNDS // 4), stream_of(arm, label=POLICY), belief.sf(value)
        with np.errstate(over="ignore"):
            draw_often(settings, bandit.model, arm_stats, arm, value, bound, rate, drawn, stream)
        kept = drawn[drawn > -math.inf]
        expected = tail / bound
        error = math.sqrt(expected * (1.0 - expected) / len(drawn)) + 1e-9
        assert abs(len(kept) / len(drawn) - expected) < 4.5 * error
        if len(kept) > 50:
            assert kept.min() > value
            assert stats.kstest(kept, lambda x: 1.0 - belief.sf(x) / tail).pvalue > UNLIKELY  # noqa: B023
            assert stats.kstest(kept, lambda x: 1.0 - (belief.sf(x) / tail) ** 1.5).pvalue < UNLIKELY  # noqa: B023


def draw_often(settings, model, arm_stats, arm, value, bound, rate, drawn, stream):
    for i in range(drawn.shape[0]):
        drawn[i], stream = draw_above(settings, model, arm_stats, arm, value, bound, rate, stream)


def test_the_cubic_is_below_the_exponential_function():
    x = np.linspace(0.0, 5.0, 500)
    assert (below_exp(x) <= np.exp(x) * (1.0 + 1e-15)).all()
    assert not (1.01 * below_exp(x) <= np.exp(x)).all()


def test_bounds_at_the_ends():
    settings, arm_stats = looked_at(*DATA["no rewards"])
    for value in (-1.0, 0.0, 1.0):
        assert tail_bound(settings, BERNOULLI.model, arm_stats, 0, value) == (1.0, 0.0)
    settings, arm_stats = looked_at(*DATA["nothing known"])
    assert tail_bound(settings, GAUSSIAN.model, arm_stats, 0, 40.0)[0] < 1e-300


@pytest.mark.parametrize(("alpha", "beta"), [(1e50, 1.0), (1e15, 1e-6), (1e-6, 1e-6), (1e8, 1e8), (1.0, 1e50)])
def test_extreme_pseudo_counts(alpha, beta):
    """A leader that is as good as certain has no level below it, and one without failures no lease."""
    agent = br.Thompson().start(br.BernoulliBandit([alpha, 1.0], [beta, 1.0]), horizon=60, seed=3)
    taken = []
    for _ in range(60):
        taken.append(agent.select())
        agent.update(taken[-1], float(taken[-1] == 0))
    assert taken[-1] == (1 if alpha < beta else 0)
