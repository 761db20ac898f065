"""The front door: checkpoints, pairing, precision, progress, names."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesregret import UCB1, BayesUCB, GaussianBandit, simulate
from problems import BANDITS

GAUSSIAN = BANDITS["gaussian"]


BOTH = (BayesUCB(), UCB1())


def run(policies=BOTH, **arguments):
    settings = {"horizon": 40, "runs": 128, "seed": 5, "threads": 1} | arguments
    return simulate(GAUSSIAN, policies, **settings)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=10))
def test_checkpoints_are_sorted_and_the_horizon_is_among_them(rounds):
    result = run(BayesUCB(), checkpoints=rounds, runs=3)
    full = run(BayesUCB(), checkpoints=range(1, 41), runs=3)["bayes-ucb"].curve
    expected = sorted({*rounds, 40})
    assert result.rounds.tolist() == expected
    curve = result["bayes-ucb"].curve
    assert curve.mean.tolist() == [full.mean[t - 1] for t in expected]
    assert curve.stderr.tolist() == [full.stderr[t - 1] for t in expected]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (7, [7, 40]),
        ([40], [40]),
        (np.array([3, 1, 3], np.uint8), [1, 3, 40]),
        (range(10, 41, 10), [10, 20, 30, 40]),
        ((5, 6), [5, 6, 40]),
    ],
)
def test_checkpoints_of_any_shape(given, expected):
    assert run(checkpoints=given).rounds.tolist() == expected


@pytest.mark.parametrize("horizon", [1, 2, 50, 1000, 10**6])
def test_default_checkpoints(horizon):
    bandit = GaussianBandit([0.0, 100.0], 0.01, 1.0)  # settled at once, and cheap
    rounds = simulate(bandit, UCB1(), horizon=min(horizon, 1000), runs=1, seed=0).rounds
    assert rounds[0] == 1
    assert rounds[-1] == min(horizon, 1000)
    assert (np.diff(rounds) > 0).all()
    assert len(rounds) <= 101
    if horizon >= 1000:
        assert len(rounds) > 70


def test_the_horizon_is_always_the_last_checkpoint_and_the_mean():
    for policy in run(checkpoints=[2]).policies.values():
        assert policy.curve.mean[-1] == pytest.approx(policy.mean, rel=1e-13)
        assert policy.curve.stderr[-1] == pytest.approx(policy.stderr, rel=1e-11)


def test_estimates_are_those_of_the_final_regret():
    result = run()["ucb1"]
    regret = result.final_regret
    assert result.mean == pytest.approx(regret.mean(), rel=1e-14)
    assert result.stderr == pytest.approx(regret.std(ddof=1) / math.sqrt(128), rel=1e-12)
    for share in (0.0, 0.05, 0.5, 0.95, 1.0):
        assert result.quantile(share) == np.quantile(regret, share)
    assert result.quantile(0.05) < result.quantile(0.95)
    assert result.best_share == pytest.approx(result.best_pulls.sum() / (128 * 40), rel=1e-14)


def test_pairing_takes_out_the_noise_that_both_meet():
    result = run(runs=1000)
    first, second = result["ucb1"], result["bayes-ucb"]
    paired = result.paired("ucb1", "bayes-ucb")
    unpaired = math.hypot(first.stderr, second.stderr)
    assert paired.mean == pytest.approx(first.mean - second.mean, rel=1e-12)
    assert paired.stderr == pytest.approx(np.std(first.final_regret - second.final_regret, ddof=1) / math.sqrt(1000))
    assert paired.stderr < 0.7 * unpaired
    shifted = np.roll(second.final_regret, 1)  # the control: other instances, other noise
    assert np.std(first.final_regret - shifted, ddof=1) / math.sqrt(1000) > 0.9 * unpaired
    assert result.paired("bayes-ucb", "ucb1").mean == -paired.mean
    assert result.paired("ucb1", "ucb1").stderr == 0.0


def test_a_single_run_has_no_standard_error():
    result = run(runs=1)["ucb1"]
    assert result.stderr == math.inf
    assert np.isposinf(result.curve.stderr).all()


def test_precision_adds_runs_until_every_policy_has_it():
    result = run(precision=0.03)
    assert result.precision_reached
    assert 128 < result.runs < 12_800
    assert result.runs % 64 == 0
    before = run()
    assert any(policy.stderr > 0.03 * policy.mean for policy in before.policies.values())
    assert all(policy.stderr <= 0.03 * policy.mean for policy in result.policies.values())
    assert f"{result.runs:,} runs" in str(result)
    assert "precision 0.03 reached" in str(result)
    plain = run(runs=result.runs)
    for name in plain:
        assert len(result[name].final_regret) == result.runs
        assert np.array_equal(result[name].final_regret, plain[name].final_regret)
        assert np.array_equal(result[name].mean_pulls, plain[name].mean_pulls)
        assert np.array_equal(result[name].curve.mean, plain[name].curve.mean)


def test_precision_that_is_there_already_adds_nothing():
    result = run(precision=0.5)
    assert result.runs == 128
    assert result.precision_reached


def test_precision_stops_at_the_cap_and_says_so():
    result = run(precision=1e-4, max_runs=300)
    assert result.runs == 300
    assert not result.precision_reached
    assert "precision 0.0001 not reached" in str(result)
    assert result.to_dict()["precision_reached"] is False


def test_the_cap_is_a_hundredfold_by_default():
    assert run(BayesUCB(), runs=2, precision=1e-6, horizon=2).runs == 200


def test_precision_from_a_single_run():
    assert run(BayesUCB(), runs=1, max_runs=2000, precision=0.2).precision_reached


def test_precision_where_there_is_no_regret():
    """One arm: mean and standard error are both 0, and 0 is within any share of 0."""
    result = simulate(GaussianBandit([0.0], 1, 1), BayesUCB(), horizon=5, runs=10, seed=0, precision=0.1)
    assert result.runs == 10
    assert result.precision_reached


def test_precision_does_not_depend_on_threads():
    one, two = run(precision=0.03), run(precision=0.03, threads=2)
    assert one.runs == two.runs
    assert np.array_equal(one["ucb1"].curve.stderr, two["ucb1"].curve.stderr)


@pytest.mark.parametrize("precision", [None, 0.03])
def test_progress_counts_to_the_total(precision):
    calls = []
    result = run(precision=precision, progress=lambda done, in_all: calls.append((done, in_all)))
    done = [call[0] for call in calls]
    assert all(later > earlier for earlier, later in itertools.pairwise(done))
    assert calls[-1] == (2 * 40 * result.runs, 2 * 40 * result.runs)
    assert all(now <= in_all for now, in_all in calls)
    assert len(calls) > 2


def test_policies_of_one_kind_are_named_by_their_settings():
    result = run([BayesUCB(), UCB1(), BayesUCB(delta=0.1), "bayes-ucb:delta=0.2", UCB1()])
    assert list(result) == ["bayes-ucb", "ucb1", "bayes-ucb(delta=0.1)", "bayes-ucb(delta=0.2)", "ucb1-2"]
    assert len(result) == 5
    assert result["bayes-ucb(delta=0.2)"].delta == pytest.approx(0.2)


def test_policies_may_have_names_of_their_own():
    result = run({"wide": BayesUCB(delta=0.01), "narrow": BayesUCB(delta=0.2)})
    assert list(result) == ["wide", "narrow"]
    assert result["narrow"].delta == 0.2
    with pytest.raises(ValueError, match="names of policies must be text, got 1"):
        run({1: UCB1()})
    with pytest.raises(ValueError, match="policy must be a policy such as BayesUCB"):
        run({"none": None})


def test_one_policy_or_any_iterable_of_them():
    alone = run(BayesUCB())
    assert list(alone) == ["bayes-ucb"]
    assert list(run(policy for policy in [UCB1()])) == ["ucb1"]


def test_the_best_arm_needs_no_search_when_it_is_known():
    sure = GaussianBandit([10.0, 0.0], 1e-3, 1.0)
    assert simulate(sure, BayesUCB(), horizon=100, runs=10, seed=1)["bayes-ucb"].mean == 0.0
    assert simulate(sure, UCB1(), horizon=100, runs=10, seed=1)["ucb1"].mean > 9.0  # it tries each arm once


@pytest.mark.parametrize("world", BANDITS)
def test_ucb1_with_fewer_rounds_than_arms_just_ends(world):
    bandit = BANDITS[world]
    result = simulate(bandit, UCB1(), horizon=3, runs=10, seed=1)["ucb1"]
    assert result.mean_pulls.tolist() == [1.0] * 3 + [0.0] * (bandit.arms - 3)
