"""Thompson sampling spares most draws, and yet takes each arm with the chance that it is the best one."""

import math

import numpy as np
import pytest
from scipy import stats

import bayesregret as br
from bayesregret.contracts import choose_arm, draw_above, keeps_lead, nothing_known, tail_bound, take_in
from bayesregret.policies import likely_beta
from bayesregret.policies.likely_beta import PER_ARM
from bayesregret.policies.likely_highest import FAILS_AT, FIRST_FAR, HEAD, LEVEL, SORT_AT, lease_until, sort_arms
from bayesregret.policies.likely_normal import normal_beyond
from bayesregret.policies.thompson import HighestDraw
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


def choose_often(policy, model, known, taken, stream):
    for round_ in range(1, taken.shape[0] + 1):
        taken[round_ - 1], stream = choose_arm(policy, model, known, round_, stream)


def known_of(data):
    known = nothing_known(len(data), HEAD + 3 * len(data), PER_ARM * len(data))
    for arm, (count, total) in enumerate(data):
        for _ in range(count):
            take_in(known, arm, total / count)
    return known


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
    known = known_of(data)
    with np.errstate(over="ignore"):
        choose_often(settings, bandit.model, known, np.empty(50, np.int64), stream_of(1))
    assert known.memory[FAILS_AT] > 0.0
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
    known = nothing_known(2, HEAD + 6, 2 * PER_ARM)
    known.counts[:], known.totals[:], known.received[0] = [pulls, 50], [successes, 0.0], pulls + 50
    sort_arms(settings._replace(lone_chance=0.0), bandit.model, known)
    lease, level = lease_until(settings, bandit.model, known, 10**9), known.memory[LEVEL]
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
    known, settings, stream = (
        known_of([(90, 80.0)] + [(60, 3.0)] * 3),
        br.Thompson().settings(bandit, None),
        stream_of(1),
    )
    with np.errstate(over="ignore"):
        _, stream = choose_arm(settings, bandit.model, known, 1, stream)
        bounds, sort_at = bounds_of_far_arms(known), known.memory[SORT_AT]
        for _ in range(10):
            take_in(known, 2, 1.0)
        choose_arm(settings, bandit.model, known, 2, stream)
    assert known.received[0] < sort_at == known.memory[SORT_AT]
    assert sorted(bounds) == [1, 2, 3]
    raised = {arm for arm, bound in bounds_of_far_arms(known).items() if bound > bounds[arm]}
    assert raised == {2}


def bounds_of_far_arms(known):
    arms, first = len(known.counts), int(known.memory[FIRST_FAR])
    far = known.memory[first : HEAD + arms].astype(int)
    return dict(zip(far.tolist(), known.memory[first + arms : HEAD + 2 * arms].tolist(), strict=True))


@pytest.mark.parametrize("case", ["a clear leader"])
def test_by_drawing_every_arm(case):
    """The same law by the draws that are spared; what a belief without bounds gets."""
    bandit, data = DATA[case]
    chances = chances_of_the_best(posteriors(bandit, data))
    counts = counts_of_choices(bandit, data, settings=HighestDraw())
    assert pvalue(counts, chances) > UNLIKELY


@pytest.mark.parametrize("case", DATA)
@pytest.mark.parametrize("deviations", [-1.0, 0.2, 1.0, 3.0])
def test_draws_above_a_level(case, deviations):
    """With the chance that the bound promises, and with the law of the tail (Kolmogorov-Smirnov)."""
    bandit, data = DATA[case]
    known = known_of(data)
    for arm, belief in enumerate(posteriors(bandit, data)):
        level = min(belief.mean() + deviations * belief.std(), 0.5 * (belief.mean() + belief.support()[1]))
        bound = tail_bound(bandit.model, known, arm, level)
        tail = belief.sf(level)
        assert tail * (1.0 - 1e-12) <= bound <= 1.0
        drawn = np.empty(ROUNDS // 4)
        stream = stream_of(arm, label=POLICY)
        with np.errstate(over="ignore"):
            draw_often(bandit.model, known, arm, level, bound, -math.inf, drawn, stream)
        above = drawn[drawn > -math.inf]
        expected = tail / bound
        error = math.sqrt(expected * (1.0 - expected) / len(drawn)) + 1e-9
        assert abs(len(above) / len(drawn) - expected) < 4.5 * error
        if len(above) > 50:
            assert above.min() > level
            assert stats.kstest(above, lambda x: 1.0 - belief.sf(x) / tail).pvalue > UNLIKELY  # noqa: B023
            assert stats.kstest(above, lambda x: 1.0 - (belief.sf(x) / tail) ** 1.5).pvalue < UNLIKELY  # noqa: B023


def draw_often(model, known, arm, level, bound, to_beat, drawn, stream):
    for i in range(drawn.shape[0]):
        drawn[i], stream = draw_above(model, known, arm, level, bound, to_beat, stream)


@pytest.mark.parametrize("case", ["two close ones", "rivals"])
def test_draws_that_cannot_win_may_be_left_out(case):
    """Above what is to be beaten, draws come as often as before."""
    bandit, data = DATA[case]
    known, belief = known_of(data), posteriors(bandit, data)[2]
    level, to_beat = belief.mean() + belief.std(), belief.mean() + 1.5 * belief.std()
    bound, drawn = tail_bound(bandit.model, known, 2, level), np.empty(ROUNDS)
    with np.errstate(over="ignore"):
        draw_often(bandit.model, known, 2, level, bound, to_beat, drawn, stream_of(5))
    above = drawn[drawn > -math.inf]
    assert above.min() > to_beat
    expected, control = belief.sf(to_beat) / bound, belief.sf(level) / bound
    error = math.sqrt(expected * (1.0 - expected) / ROUNDS)
    assert abs(len(above) / ROUNDS - expected) < 4.0 * error < abs(len(above) / ROUNDS - control)


def test_bounds_at_the_ends():
    known = known_of([(0, 0.0)] * 4)
    assert tail_bound(BERNOULLI.model, known, 0, 0.0) == 1.0
    assert tail_bound(BERNOULLI.model, known, 0, -1.0) == 1.0
    assert tail_bound(BERNOULLI.model, known, 0, 1.0) == 0.0
    assert tail_bound(GAUSSIAN.model, known, 0, 40.0) < 1e-300


@pytest.mark.parametrize(("alpha", "beta"), [(1e50, 1.0), (1e15, 1e-6), (1e-6, 1e-6), (1e8, 1e8), (1.0, 1e50)])
def test_extreme_pseudo_counts(alpha, beta):
    """A leader that is as good as certain has no level below it, and one without failures no lease."""
    agent = br.Thompson().start(br.BernoulliBandit([alpha, 1.0], [beta, 1.0]), horizon=60, seed=3)
    taken = []
    for _ in range(60):
        taken.append(agent.select())
        agent.update(taken[-1], float(taken[-1] == 0))
    assert taken[-1] == (1 if alpha < beta else 0)
