"""Algorithm 1 in plain NumPy: the regret that the engine finds, and sums that add up."""

import numpy as np
import pytest

from bayesregret import UCB1, BayesUCB, GaussianBandit, LinearBandit, simulate
from bayesregret.audit import runs as module
from bayesregret.audit.runs import PER_ARM, PER_RUN, trace
from bayesregret.bounds.bound import make_setting
from bayesregret.simulation.estimates import estimate
from problems import BANDITS


def traced(bandit, policy="bayes-ucb", *, horizon=20, delta=None, runs=40, seed=3):
    return list(trace(bandit, policy, make_setting(horizon, delta), runs=runs, seed=seed))


@pytest.mark.compiled
@pytest.mark.parametrize("kind", BANDITS)
@pytest.mark.parametrize("policy", [BayesUCB(), UCB1()])
def test_regret_is_the_engines(kind, policy):
    bandit, runs = BANDITS[kind], 4000
    (block,) = traced(bandit, policy.name, horizon=100, runs=runs)
    engine = simulate(bandit, policy, horizon=100, runs=runs, seed=3)[policy.name]
    apart = estimate(block.regret - engine.final_regret)  # the same instances, another noise
    assert abs(apart.mean) < 4 * apart.stderr
    (bold,) = traced(bandit, policy.name, horizon=100, delta=1e-6, runs=runs)
    apart = estimate(bold.regret - engine.final_regret)
    assert apart.mean > 10 * apart.stderr, "the control"


@pytest.mark.parametrize("kind", BANDITS)
@pytest.mark.parametrize("policy", ["bayes-ucb", "ucb1"])
def test_sums_add_up(kind, policy):
    bandit = BANDITS[kind]
    (block,) = traced(bandit, policy, delta=0.6)
    assert block.rounds == (20 if policy == "bayes-ucb" else 20 - bandit.arms)
    np.testing.assert_array_equal(block.means, bandit.draw_means(40, seed=3))
    np.testing.assert_array_equal(block.pulls.sum(axis=1), 20)
    np.testing.assert_allclose((block.pulls * block.gaps).sum(axis=1), block.regret)
    bad_rounds = block.rounds - block.good_pulls.sum(axis=1)
    assert bad_rounds.sum() == block.failed_runs.sum() > 0
    assert (block.failures.max(axis=1) <= bad_rounds).all()
    assert (bad_rounds <= block.failures.sum(axis=1)).all()
    assert (np.abs(block.failed_error) <= block.failed_distance).all()
    assert (block.bad_regret <= block.failed_regret).all()
    assert (block.failed_regret <= block.regret + 1e-12).all()
    assert (block.taken_variance <= block.taken_deviation**2 * (1.0 + 1e-12)).all()
    assert 0.0 < block.widest_gap.max() <= 1.0


def test_ucb1_tries_every_arm_first():
    (block,) = traced(GaussianBandit([100.0, 0.0, 0.0], 1.0, 1.0), "ucb1", horizon=3)
    np.testing.assert_array_equal(block.pulls, 1.0)
    assert block.rounds == 0


def test_one_round_has_delta_one_and_no_width():
    (block,) = traced(BANDITS["gaussian"], horizon=1)
    np.testing.assert_array_equal(block.pulls[:, 0], 1.0)
    np.testing.assert_array_equal(block.failures, 1.0)


@pytest.mark.parametrize("kind", ["gaussian", "linear"])
def test_blocks_hold_all_runs_once(kind, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_SIZE", 100)
    blocks = traced(BANDITS[kind])
    assert [block.first_run for block in blocks] == list(np.cumsum([0] + [len(block.means) for block in blocks[:-1]]))
    np.testing.assert_array_equal(
        np.concatenate([block.means for block in blocks]), BANDITS[kind].draw_means(40, seed=3)
    )
    assert len(blocks) > 1


def test_the_same_seed_gives_the_same_traces():
    first, again, other = (traced(BANDITS["rademacher"], seed=seed)[0] for seed in (2**70, 2**70, 1))
    for name in PER_RUN + PER_ARM:
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    assert first.regret.tolist() != other.regret.tolist()


def test_what_is_known_exactly_never_fails():
    bandit = LinearBandit([[0.1, 0.2], [0.7, 0.0], [0.0, 0.3]], [3.3, 0.7], prior_cov=np.zeros((2, 2)), reward_noise=1)
    (block,) = traced(bandit, delta=0.01)
    assert block.failures.sum() == 0
    assert block.regret.sum() == 0
