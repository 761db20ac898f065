"""The kernel that looks at a linear posterior in every round: the same bits everywhere, and edges."""

import os
import subprocess
import sys

import numpy as np
import pytest

import bayesregret as br
from problems import BANDITS

POLICIES = [br.Thompson(), br.LinUCB(), br.BayesUCB(), br.InformationDirected(draws=5)]


def run(runs, **options):
    asked = {"horizon": 40, "seed": 5, "delay": 2, "threads": 1} | options
    return br.simulate(BANDITS["linear"], POLICIES, runs=runs, **asked)


def bits():
    ran = run(3)
    return "".join(ran[policy.name].final_regret.tobytes().hex() for policy in POLICIES)


@pytest.mark.compiled
def test_plain_python_gives_the_same_bits(pytestconfig):
    tests = pytestconfig.rootpath / "tests"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(tests), os.environ.get("PYTHONPATH", "")])
    code = "from simulation.kernels.test_linear_every_round import bits; print(bits())"
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert ran.stderr == ""
    assert ran.stdout.strip() == bits()


def test_threads_and_runs_before_leave_no_trace():
    """Runs of one thread share their memory: each must begin with nothing known."""
    one, two = run(70, horizon=8), run(70, horizon=8, threads=2)
    for policy in POLICIES:
        assert np.array_equal(one[policy.name].final_regret, two[policy.name].final_regret)
        assert np.array_equal(run(3, horizon=8)[policy.name].final_regret, one[policy.name].final_regret[:3])


@pytest.mark.parametrize("policy", [br.Thompson(), br.LinUCB(regularisation=1e-12, bound=1e5), br.BayesUCB()], ids=repr)
def test_a_prior_a_hundred_million_times_as_wide_as_the_noise(policy):
    """After each of four unit vectors was tried, nothing is in doubt."""
    bandit = br.LinearBandit(np.eye(4), np.zeros(4), prior_width=1e4, reward_noise=1e-4)
    ran = br.simulate(bandit, policy, horizon=100, runs=20, seed=1, delay=1)[policy.name]
    assert ran.best_pulls.min() >= 90


def test_rewards_that_never_come():
    policy = br.BayesUCB(count_pending=False)
    ran = br.simulate(BANDITS["linear"], policy, horizon=30, runs=4, seed=1, delay=1000)["bayes-ucb"]
    assert sorted(ran.mean_pulls.tolist()) == [0.0, 0.0, 0.0, 0.0, 30.0]


def test_ties_go_to_the_lowest_number():
    bandit = br.LinearBandit([[1.0, 0.0]] * 3, [1.0, 0.0], prior_width=1.0, reward_noise=1.0)
    for policy in (br.Thompson(), br.LinUCB(), br.BayesUCB()):
        ran = br.simulate(bandit, policy, horizon=20, runs=2, seed=1, batch=3)[policy.name]
        assert ran.mean_pulls.tolist() == [20.0, 0.0, 0.0]


@pytest.mark.parametrize("policy", [br.Thompson(), br.InformationDirected(draws=5)], ids=repr)
def test_a_prior_without_doubt(policy):
    """No coordinate to draw, nothing to learn: the best arm from the first round on."""
    bandit = br.LinearBandit([[1, 0], [0, 1], [1, 1]], [1.0, 2.0], prior_cov=np.zeros((2, 2)), reward_noise=1.0)
    ran = br.simulate(bandit, policy, horizon=20, runs=2, seed=1)[policy.name]
    assert ran.mean_pulls.tolist() == [0.0, 0.0, 20.0]
