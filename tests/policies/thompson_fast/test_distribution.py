"""Thompson sampling on Beta and normal posteriors: few draws, and yet each arm has the probability that it is best."""

import math

import numpy as np
import pytest
from scipy import stats

import bayesregret as br
from bayesregret.contracts import add_reward, choose_arm, empty_stats
from bayesregret.contracts.fast import keeps_lead
from bayesregret.policies.thompson_fast import beta
from bayesregret.policies.thompson_fast.beta import NEAR_AND_FAR_BETA, NearAndFarBeta
from bayesregret.policies.thompson_fast.beta_sampler import PREPARED
from bayesregret.policies.thompson_fast.near_and_far import (
    EVENT_AT,
    FIRST_FAR,
    HEAD,
    SORT_AT,
    THRESHOLD,
    below_exp,
    draw_above,
    lease_until,
    memory_for_near_and_far,
    sort_arms,
    tail_bound,
)
from bayesregret.policies.thompson_fast.normal import normal_beyond
from bayesregret.rng import POLICY
from draws import compiled, stream_of
from reference.best_arm import posteriors, probabilities_of_best, pvalue

pytestmark = pytest.mark.long

# In plain Python: another test shows that compiled code gives the same bits.
ROUNDS = 5_000
UNLIKELY = 1e-4  # about four standard errors
BERNOULLI = br.BernoulliBandit([1.0, 0.4, 3.0, 1.0], [1.0, 0.7, 2.0, 1.0])
GAUSSIAN = br.GaussianBandit([0.5, 0.0, 0.0, -0.5], 1.0, 1.5)
HETEROSCEDASTIC = br.GaussianBandit([0.5, 0.0, 0.0, -0.5], [0.5, 1.0, 1.0, 2.0], [1.5, 0.7, 0.7, 6.0])
# (count, total) of each arm: no data, some and many; a clear leader and none.
DATA = {
    "no rewards": (BERNOULLI, [(0, 0.0)] * 4),
    "a sure success": (BERNOULLI, [(60, 54.0), (7, 5.0), (9, 3.0), (0, 0.0)]),
    "nobody near": (BERNOULLI, [(80, 68.0), (20, 11.0), (30, 17.0), (12, 6.0)]),
    "rivals": (BERNOULLI, [(30, 20.0), (28, 19.0), (6, 2.0), (3, 3.0)]),
    "no rewards, normal": (GAUSSIAN, [(0, 0.0)] * 4),
    "a clear leader": (GAUSSIAN, [(50, 45.0), (5, 1.0), (9, 2.0), (0, 0.0)]),
    "one far ahead": (GAUSSIAN, [(90, 90.0), (20, 6.0), (30, 5.0), (12, 3.0)]),
    "two close ones": (GAUSSIAN, [(20, 11.0), (22, 12.5), (4, -3.0), (3, 2.0)]),
    "heteroscedastic": (HETEROSCEDASTIC, [(20, 11.0), (22, 12.5), (4, -3.0), (3, 2.0)]),
}


def choose_often(policy, model, arm_stats, taken, stream):
    for round_ in range(1, taken.shape[0] + 1):
        taken[round_ - 1], stream = choose_arm(policy, model, arm_stats, round_, stream)


def stats_of(data):
    arm_stats = empty_stats(len(data), memory_for_near_and_far(len(data)), PREPARED * len(data))
    for arm, (count, total) in enumerate(data):
        for _ in range(count):
            add_reward(arm_stats, arm, total / count)
    return arm_stats


def settings_for(bandit, **changes):
    return br.Thompson().settings(bandit, None)._replace(**changes)


def after_a_choice(bandit, data):
    """Settings, and statistics with prepared draws."""
    settings, arm_stats = settings_for(bandit), stats_of(data)
    with np.errstate(over="ignore"):
        choose_arm(settings, bandit.model, arm_stats, 1, stream_of(1))
    return settings, arm_stats


def counts_of_choices(bandit, data, settings=None, rounds=ROUNDS, play=choose_often):
    """Number of times that each arm is chosen, given these data."""
    taken = np.empty(rounds, np.int64)
    with np.errstate(over="ignore"):
        play(settings or settings_for(bandit), bandit.model, stats_of(data), taken, stream_of(11, label=POLICY))
    return np.bincount(taken, minlength=bandit.arms)


@pytest.mark.parametrize("case", DATA)
def test_arms_are_chosen_with_the_probability_that_they_are_best(case):
    bandit, data = DATA[case]
    probabilities = probabilities_of_best(posteriors(bandit, data))
    assert probabilities.sum() == pytest.approx(1.0, abs=1e-3)
    assert pvalue(counts_of_choices(bandit, data), probabilities) > UNLIKELY


@pytest.mark.parametrize("case", DATA)
def test_with_a_threshold_that_often_fails(case):
    """All but the leader are far, and the threshold is so high that they are mostly drawn after all."""
    bandit, data = DATA[case]
    probabilities = probabilities_of_best(posteriors(bandit, data))
    settings = settings_for(bandit, reach=0.5, near_probability=1.0)
    assert pvalue(counts_of_choices(bandit, data, settings), probabilities) > UNLIKELY


# A leader with a lease, though its draw is often in its tail and the others often exceed the threshold.
LEASED = {
    "nobody near": {"reach": 1.3, "alone_probability": 0.05, "tail_probability": 0.2},
    "one far ahead": {"reach": 1.5, "alone_probability": 0.05, "tail": 1.0, "tail_probability": stats.norm.sf(1.0)},
}


@pytest.mark.parametrize("case", LEASED)
def test_with_a_lease(case):
    bandit, data = DATA[case]
    probabilities = probabilities_of_best(posteriors(bandit, data))
    settings, arm_stats, stream, leased = settings_for(bandit, **LEASED[case]), stats_of(data), stream_of(1), 0
    with np.errstate(over="ignore"):
        for round_ in range(1, 51):
            _, stream = choose_arm(settings, bandit.model, arm_stats, round_, stream)
            leased += arm_stats.memory[EVENT_AT] > 0.0
    assert leased > 25
    assert pvalue(counts_of_choices(bandit, data, settings, rounds=4 * ROUNDS), probabilities) > UNLIKELY


def test_a_tail_that_is_left_out_is_noticed(monkeypatch):
    """The control of leases on Beta posteriors."""
    bandit, data = DATA["nobody near"]
    probabilities = probabilities_of_best(posteriors(bandit, data))
    monkeypatch.setattr(beta, "draw_below", lambda *args: (math.inf, args[-1]))
    settings = settings_for(bandit, **LEASED["nobody near"])
    assert pvalue(counts_of_choices(bandit, data, settings, rounds=4 * ROUNDS), probabilities) < UNLIKELY


def test_a_normal_tail_that_is_left_out_is_noticed():
    """The control of leases on normal posteriors."""
    bandit, data = DATA["one far ahead"]
    probabilities = probabilities_of_best(posteriors(bandit, data))
    settings = settings_for(bandit, **LEASED["one far ahead"])._replace(tail_probability=1e-9)
    assert pvalue(counts_of_choices(bandit, data, settings, rounds=4 * ROUNDS), probabilities) < UNLIKELY


def test_normal_draws_beyond_a_value():
    beyond, stream = np.empty(ROUNDS), stream_of(5)
    with np.errstate(over="ignore"):
        for i in range(ROUNDS):
            beyond[i], stream = normal_beyond(1.3, stream)
    assert stats.kstest(beyond, lambda x: 1.0 - stats.norm.sf(x) / stats.norm.sf(1.3)).pvalue > UNLIKELY
    assert stats.kstest(beyond, lambda x: 1.0 - stats.norm.sf(x) / stats.norm.sf(1.25)).pvalue < UNLIKELY


@pytest.mark.parametrize("seed", range(12))
def test_a_leader_with_a_lease_is_likely_above_the_threshold(seed, monkeypatch):
    """Whatever its next rewards are. A lease for a tail ten times as likely is noticed: the control."""
    rng = np.random.default_rng(seed)
    bandit = br.BernoulliBandit([rng.uniform(1.0, 3.0), 1.0], [rng.uniform(1.0, 3.0), 1.0])
    pulls = int(10 ** rng.uniform(1.5, 5.0))
    successes = round(rng.uniform(0.4, 0.99) * pulls)
    tail = NEAR_AND_FAR_BETA.tail_probability
    assert 0.2 * tail < largest_probability_below(NEAR_AND_FAR_BETA, bandit, pulls, successes) <= tail
    monkeypatch.setattr(beta, "RATE_KEPT", 0.5)
    wrong = NEAR_AND_FAR_BETA._replace(tail_probability=10.0 * tail)
    assert largest_probability_below(wrong, bandit, pulls, successes) > tail


def largest_probability_below(settings, bandit, pulls, successes):
    """Largest probability that the leader's draw is below the threshold while it has its lease, over many futures."""
    arm_stats = stats_of([(0, 0.0)] * 2)
    arm_stats.counts[:], arm_stats.totals[:], arm_stats.received[0] = [pulls, 50], [successes, 0.0], pulls + 50
    sort_arms(settings._replace(alone_probability=0.0), bandit.model, arm_stats)
    lease, threshold = lease_until(settings, arm_stats, 10**9), arm_stats.memory[THRESHOLD]
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
    bandit, data = DATA[case]
    probabilities = probabilities_of_best(posteriors(bandit, data))
    counts = counts_of_choices(bandit, data, rounds=1_000_000, play=compiled(choose_often))
    assert pvalue(counts, probabilities) > UNLIKELY


@pytest.mark.parametrize("case", ["rivals", "two close ones"])
def test_other_probabilities_are_noticed(case):
    """The control: beliefs with a few more rewards of an arm."""
    bandit, data = DATA[case]
    wrong = probabilities_of_best(posteriors(bandit, [data[0], (data[1][0] + 4, data[1][1] + 4.0), *data[2:]]))
    assert pvalue(counts_of_choices(bandit, data), wrong) < UNLIKELY


@pytest.mark.parametrize("bandit", [BERNOULLI, GAUSSIAN], ids=lambda bandit: bandit.kind)
def test_a_far_arm_with_new_data_is_bounded_again(bandit):
    """Immediately, though arms are not sorted again before more rewards have arrived."""
    arm_stats, settings, stream = stats_of([(90, 80.0)] + [(60, 3.0)] * 3), settings_for(bandit), stream_of(1)
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


@pytest.mark.parametrize("case", DATA)
@pytest.mark.parametrize("deviations", [-1.0, 0.2, 1.0, 3.0])
def test_bounds_of_densities_above_a_value(case, deviations):
    """An exponential density times the bound is above the posterior's; with a rate a tenth larger it is not."""
    bandit, data = DATA[case]
    settings, arm_stats = after_a_choice(bandit, data)
    too_steep, widths = False, np.linspace(0.0, 6.0, 200)
    for arm, belief in enumerate(posteriors(bandit, data)):
        value = value_above_mean(belief, deviations)
        bound, rate = tail_bound(settings, bandit.model, arm_stats, arm, value)
        if deviations < 0.0:
            assert (bound, rate) == (1.0, 0.0)
        if rate > 0.0:
            density = belief.pdf(value + widths / rate)
            assert (bound * rate * np.exp(-widths) >= density * (1.0 - 1e-12)).all()
            too_steep |= (bound * rate * np.exp(-1.1 * widths) < density).any()
            assert isinstance(settings, NearAndFarBeta) or bound < 1.3 * belief.sf(value)
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
    bandit, data = DATA[case]
    settings, arm_stats = after_a_choice(bandit, data)
    for arm, belief in enumerate(posteriors(bandit, data)):
        start = value_above_mean(belief, deviations)
        value = start + above * (value_above_mean(belief, deviations + 1.0) - start)
        bound, rate = tail_bound(settings, bandit.model, arm_stats, arm, start)
        bound = min(1.0, slack * bound * math.exp(-rate * (value - start)))
        drawn, stream, tail = np.empty(ROUNDS // 4), stream_of(arm, label=POLICY), belief.sf(value)
        with np.errstate(over="ignore"):
            for i in range(len(drawn)):
                drawn[i], stream = draw_above(settings, bandit.model, arm_stats, arm, value, bound, rate, stream)
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
        assert tail_bound(NEAR_AND_FAR_BETA, BERNOULLI.model, stats_of([(0, 0.0)] * 4), 0, value) == (1.0, 0.0)
    settings, arm_stats = after_a_choice(*DATA["no rewards, normal"])
    assert tail_bound(settings, GAUSSIAN.model, arm_stats, 0, 40.0)[0] < 1e-300


@pytest.mark.parametrize(("alpha", "beta"), [(1e50, 1.0), (1e15, 1e-6), (1e-6, 1e-6), (1e8, 1e8), (1.0, 1e50)])
def test_extreme_pseudo_counts(alpha, beta):
    """A nearly certain leader has no threshold below it, and one without failures no lease."""
    agent = br.Thompson().start(br.BernoulliBandit([alpha, 1.0], [beta, 1.0]), horizon=60, seed=3)
    taken = []
    for _ in range(60):
        taken.append(agent.select())
        agent.update(taken[-1], float(taken[-1] == 0))
    assert taken[-1] == (1 if alpha < beta else 0)
