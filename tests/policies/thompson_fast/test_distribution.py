"""Thompson sampling on Beta posteriors: few draws, and yet each arm has the probability that it is best."""

import math

import numpy as np
import pytest
from scipy import stats

import bayesregret as br
from bayesregret.contracts import add_reward, choose_arm, empty_stats
from bayesregret.contracts.fast import keeps_lead
from bayesregret.policies.thompson_fast import beta, near_and_far
from bayesregret.policies.thompson_fast.beta import draw_above, tail_bound
from bayesregret.policies.thompson_fast.near_and_far import (
    EVENT_AT,
    FIRST_FAR,
    HEAD,
    NEAR_AND_FAR,
    SORT_AT,
    THRESHOLD,
    below_exp,
    lease_until,
    memory_for_near_and_far,
    scratch_for_near_and_far,
    sort_arms,
)
from bayesregret.rng import POLICY
from draws import compiled, stream_of
from reference.best_arm import posteriors, probabilities_of_best, pvalue

pytestmark = pytest.mark.long

# In plain Python: another test shows that compiled code gives the same bits.
ROUNDS = 5_000
UNLIKELY = 1e-4  # about four standard errors
BANDIT = br.BernoulliBandit([1.0, 0.4, 3.0, 1.0], [1.0, 0.7, 2.0, 1.0])
# (count, total) of each arm: no data, some and many; a clear leader and none.
DATA = {
    "no rewards": [(0, 0.0)] * 4,
    "a sure success": [(60, 54.0), (7, 5.0), (9, 3.0), (0, 0.0)],
    "nobody near": [(80, 68.0), (20, 11.0), (30, 17.0), (12, 6.0)],
    "rivals": [(30, 20.0), (28, 19.0), (6, 2.0), (3, 3.0)],
}


def choose_often(policy, model, arm_stats, taken, stream):
    for round_ in range(1, taken.shape[0] + 1):
        taken[round_ - 1], stream = choose_arm(policy, model, arm_stats, round_, stream)


def stats_of(data):
    arm_stats = empty_stats(len(data), memory_for_near_and_far(len(data)), scratch_for_near_and_far(len(data)))
    for arm, (count, total) in enumerate(data):
        for _ in range(count):
            add_reward(arm_stats, arm, total / count)
    return arm_stats


def counts_of_choices(arm_stats, settings=NEAR_AND_FAR, rounds=ROUNDS, play=choose_often):
    """Number of times that each arm is chosen, given these data."""
    taken = np.empty(rounds, np.int64)
    with np.errstate(over="ignore"):
        play(settings, BANDIT.model, arm_stats, taken, stream_of(11, label=POLICY))
    return np.bincount(taken, minlength=BANDIT.arms)


@pytest.mark.parametrize("case", DATA)
def test_arms_are_chosen_with_the_probability_that_they_are_best(case):
    probabilities = probabilities_of_best(posteriors(BANDIT, DATA[case]))
    assert probabilities.sum() == pytest.approx(1.0, abs=1e-3)
    assert pvalue(counts_of_choices(stats_of(DATA[case])), probabilities) > UNLIKELY


@pytest.mark.parametrize("case", DATA)
def test_with_a_threshold_that_often_fails(case):
    """All but the leader are far, and the threshold is so high that they are mostly drawn after all."""
    probabilities = probabilities_of_best(posteriors(BANDIT, DATA[case]))
    settings = NEAR_AND_FAR._replace(reach=0.5, near_probability=1.0)
    assert pvalue(counts_of_choices(stats_of(DATA[case]), settings), probabilities) > UNLIKELY


# A leader with a lease, though its draw is often in its tail and the others often exceed the threshold.
LEASED = NEAR_AND_FAR._replace(reach=1.3, alone_probability=0.05, tail_probability=0.2)


def test_with_a_lease():
    data = DATA["nobody near"]
    probabilities = probabilities_of_best(posteriors(BANDIT, data))
    arm_stats, stream, leased = stats_of(data), stream_of(1), 0
    with np.errstate(over="ignore"):
        for round_ in range(1, 51):
            _, stream = choose_arm(LEASED, BANDIT.model, arm_stats, round_, stream)
            leased += arm_stats.memory[EVENT_AT] > 0.0
    assert leased > 25
    assert pvalue(counts_of_choices(stats_of(data), LEASED, rounds=4 * ROUNDS), probabilities) > UNLIKELY


def test_a_tail_that_is_left_out_is_noticed(monkeypatch):
    """The control of leases."""
    data = DATA["nobody near"]
    probabilities = probabilities_of_best(posteriors(BANDIT, data))
    monkeypatch.setattr(near_and_far, "draw_below", lambda *args: (math.inf, args[-1]))
    assert pvalue(counts_of_choices(stats_of(data), LEASED, rounds=4 * ROUNDS), probabilities) < UNLIKELY


@pytest.mark.parametrize("seed", range(12))
def test_a_leader_with_a_lease_is_likely_above_the_threshold(seed, monkeypatch):
    """Whatever its next rewards are. A lease for a tail ten times as likely is noticed: the control."""
    rng = np.random.default_rng(seed)
    bandit = br.BernoulliBandit([rng.uniform(1.0, 3.0), 1.0], [rng.uniform(1.0, 3.0), 1.0])
    pulls = int(10 ** rng.uniform(1.5, 5.0))
    successes = round(rng.uniform(0.4, 0.99) * pulls)
    tail = NEAR_AND_FAR.tail_probability
    assert 0.2 * tail < largest_probability_below(NEAR_AND_FAR, bandit, pulls, successes) <= tail
    monkeypatch.setattr(beta, "RATE_KEPT", 0.5)
    wrong = NEAR_AND_FAR._replace(tail_probability=10.0 * tail)
    assert largest_probability_below(wrong, bandit, pulls, successes) > tail


def largest_probability_below(settings, bandit, pulls, successes):
    """Largest probability that the leader's draw is below the threshold while it has its lease, over many futures."""
    arm_stats = stats_of([(0, 0.0)] * 2)
    arm_stats.counts[:], arm_stats.totals[:], arm_stats.received[0] = [pulls, 50], [successes, 0.0], pulls + 50
    sort_arms(settings._replace(alone_probability=0.0), bandit.model, arm_stats)
    lease, threshold = lease_until(arm_stats, 10**9), arm_stats.memory[THRESHOLD]
    largest = 0.0
    for luck in successes / pulls * np.array([0.0, 0.8, 0.9, 0.98, 1.0]):
        for more in np.unique(np.geomspace(1, 2 * pulls, 60).astype(int)):
            wins, losses = successes + round(luck * more), pulls - successes + more - round(luck * more)
            if keeps_lead(settings, bandit.model, lease, 1, 0, wins + losses, wins):
                largest = max(largest, stats.beta(bandit.alpha[0] + wins, bandit.beta[0] + losses).cdf(threshold))
    return largest


@pytest.mark.slow
@pytest.mark.parametrize("case", DATA)
def test_the_same_to_three_digits(case):
    probabilities = probabilities_of_best(posteriors(BANDIT, DATA[case]))
    counts = counts_of_choices(stats_of(DATA[case]), rounds=1_000_000, play=compiled(choose_often))
    assert pvalue(counts, probabilities) > UNLIKELY


@pytest.mark.parametrize("case", ["rivals"])
def test_other_probabilities_are_noticed(case):
    """The control: beliefs with a few more rewards of an arm."""
    data = DATA[case]
    wrong = probabilities_of_best(posteriors(BANDIT, [data[0], (data[1][0] + 4, data[1][1] + 4.0), *data[2:]]))
    assert pvalue(counts_of_choices(stats_of(data)), wrong) < UNLIKELY


def test_a_far_arm_with_new_data_is_bounded_again():
    """Immediately, though arms are not sorted again before more rewards have arrived."""
    arm_stats, stream = stats_of([(90, 80.0)] + [(60, 3.0)] * 3), stream_of(1)
    with np.errstate(over="ignore"):
        _, stream = choose_arm(NEAR_AND_FAR, BANDIT.model, arm_stats, 1, stream)
        bounds, sort_at = bounds_of_far_arms(arm_stats), arm_stats.memory[SORT_AT]
        for _ in range(10):
            add_reward(arm_stats, 2, 1.0)
        choose_arm(NEAR_AND_FAR, BANDIT.model, arm_stats, 2, stream)
    assert arm_stats.received[0] < sort_at == arm_stats.memory[SORT_AT]
    assert sorted(bounds) == [1, 2, 3]
    raised = {arm for arm, bound in bounds_of_far_arms(arm_stats).items() if bound > bounds[arm]}
    assert raised == {2}


def bounds_of_far_arms(arm_stats):
    arms, first = len(arm_stats.counts), int(arm_stats.memory[FIRST_FAR])
    far = arm_stats.memory[first : HEAD + arms].astype(int)
    return dict(zip(far.tolist(), arm_stats.memory[first + arms : HEAD + 2 * arms].tolist(), strict=True))


@pytest.mark.parametrize("case", DATA)
@pytest.mark.parametrize("deviations", [-1.0, 0.2, 1.0, 3.0])
def test_bounds_of_densities_above_a_value(case, deviations):
    """An exponential density times the bound is above the posterior's; with a rate a tenth larger it is not."""
    arm_stats = stats_of(DATA[case])
    too_steep, widths = False, np.linspace(0.0, 6.0, 200)
    for arm, belief in enumerate(posteriors(BANDIT, DATA[case])):
        value = value_above_mean(belief, deviations)
        bound, rate = tail_bound(BANDIT.model, arm_stats, arm, value)
        if deviations < 0.0:
            assert (bound, rate) == (1.0, 0.0)
        if rate > 0.0:
            density = belief.pdf(value + widths / rate)
            assert (bound * rate * np.exp(-widths) >= density * (1.0 - 1e-12)).all()
            too_steep |= (bound * rate * np.exp(-1.1 * widths) < density).any()
    assert too_steep or deviations < 0.5


def value_above_mean(belief, deviations):
    return min(belief.mean() + deviations * belief.std(), 0.5 * (belief.mean() + belief.support()[1]))


@pytest.mark.parametrize("case", DATA)
@pytest.mark.parametrize(
    ("deviations", "above", "slack"), [(-1.0, 0.0, 1.0), (0.2, 0.0, 1.0), (1.0, 0.4, 1.3), (3.0, 0.0, 1.1)]
)
def test_draws_above_a_value(case, deviations, above, slack):
    """They succeed with the probability that the bound, or a larger one, implies, and have the distribution of the tail
    (Kolmogorov-Smirnov)."""
    arm_stats = stats_of(DATA[case])
    for arm, belief in enumerate(posteriors(BANDIT, DATA[case])):
        start = value_above_mean(belief, deviations)
        value = start + above * (value_above_mean(belief, deviations + 1.0) - start)
        bound, rate = tail_bound(BANDIT.model, arm_stats, arm, start)
        bound = min(1.0, slack * bound * math.exp(-rate * (value - start)))
        drawn, stream, tail = np.empty(ROUNDS // 4), stream_of(arm, label=POLICY), belief.sf(value)
        with np.errstate(over="ignore"):
            for i in range(len(drawn)):
                drawn[i], stream = draw_above(BANDIT.model, arm_stats, arm, value, bound, rate, stream)
        kept = drawn[drawn > -math.inf]
        expected = tail / bound
        error = math.sqrt(expected * (1.0 - expected) / len(drawn)) + 1e-9
        assert abs(len(kept) / len(drawn) - expected) < 4.5 * error
        if len(kept) > 50:
            assert kept.min() > value
            assert stats.kstest(kept, lambda x: 1.0 - belief.sf(x) / tail).pvalue > UNLIKELY  # noqa: B023
            assert stats.kstest(kept, lambda x: 1.0 - (belief.sf(x) / tail) ** 1.5).pvalue < UNLIKELY  # noqa: B023


def test_the_cubic_is_below_the_exponential_function():
    x = np.linspace(0.0, 5.0, 500)
    assert (below_exp(x) <= np.exp(x) * (1.0 + 1e-15)).all()
    assert not (1.01 * below_exp(x) <= np.exp(x)).all()


def test_bounds_at_the_ends():
    for value in (-1.0, 0.0, 1.0):
        assert tail_bound(BANDIT.model, stats_of(DATA["no rewards"]), 0, value) == (1.0, 0.0)


@pytest.mark.parametrize(("alpha", "beta"), [(1e50, 1.0), (1e15, 1e-6), (1e-6, 1e-6), (1e8, 1e8), (1.0, 1e50)])
def test_extreme_pseudo_counts(alpha, beta):
    """A nearly certain leader has no threshold below it, and one without failures no lease."""
    agent = br.Thompson().start(br.BernoulliBandit([alpha, 1.0], [beta, 1.0]), horizon=60, seed=3)
    taken = []
    for _ in range(60):
        taken.append(agent.select())
        agent.update(taken[-1], float(taken[-1] == 0))
    assert taken[-1] == (1 if alpha < beta else 0)
