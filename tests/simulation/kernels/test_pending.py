"""Late rewards with pending pulls counted: the decisions of a slow twin, and of every other kernel without any."""

import os
import subprocess
import sys

import numpy as np
import pytest

import bayesregret as br
from bayesregret.simulation import simulation as runs_of
from bayesregret.simulation.kernels import select
from reference import pending

WORLDS = {
    "gaussian": br.GaussianBandit([0.5, 0.0, 0.01, -0.5], 1.0, 1.5),
    "heteroscedastic": br.GaussianBandit([0.5, 0.0, 0.01, -0.5], [0.5, 1.0, 2.0, 1.3], [1.5, 0.7, 4.0, 1.1]),
    "bernoulli": br.BernoulliBandit([1.137, 0.413, 3.071, 1.0], [1.071, 0.717, 2.019, 1.0]),
    "poisson": br.PoissonBandit([1.5, 2.03, 3.07], [1.0, 1.1, 2.0]),
    "exponential": br.ExponentialBandit([3.0, 3.1, 4.0], [2.0, 3.0, 4.0]),
    "normal-gamma": br.NormalGammaBandit([0.5, 0.0, -0.5], [1.0, 1.1, 2.0], [3.0, 3.1, 2.0], [2.0, 3.0, 2.0]),
}
BELIEVED = br.GaussianBandit([0.0, 0.1, 0.2, 0.3], 0.6, 1.5)
CASES = [
    *((world, br.BayesUCB()) for world in WORLDS),
    ("gaussian", br.BayesUCB(delta=0.2, prior=BELIEVED)),
    ("gaussian", br.UCB1()),
    ("heteroscedastic", br.UCB1(delta=0.1)),
    ("bernoulli", br.UCB1()),
    ("gaussian", br.MOSS()),
    ("bernoulli", br.MOSS()),
]
LATE = [(3, 4), (0, 10), (5, 1), (1000, 1)]
HORIZON, SEEDS = 60, range(4)
LINEAR = br.LinearBandit([[1, 0], [0.6, 0.8], [-0.5, 0.3], [0, 1]], [0.3, -0.1], prior_width=1.0, reward_noise=1.2)

cases = pytest.mark.parametrize(("world", "policy"), CASES, ids=str)
late = pytest.mark.parametrize(("delay", "batch"), LATE)


@pytest.fixture(autouse=True)
def plain_python(request, monkeypatch):
    """Without waiting for the compiler: that its code gives the same bits is a test of its own."""
    if "compiled" not in request.keywords:
        monkeypatch.setattr(runs_of, "compile_kernel", lambda body, *classes: body)


def run(bandit, policy, **arguments):
    horizon = arguments.get("horizon", HORIZON)
    asked = {"horizon": horizon, "runs": 1, "seed": 3, "threads": 1, "checkpoints": range(1, horizon + 1)} | arguments
    return br.simulate(bandit, policy, **asked)[policy.name]


def agreements(bandit, policy, delay, batch):
    """For each seed whose decisions do not hang on rounding, whether engine and twin take the same arms."""
    found = []
    for seed in SEEDS:
        slow = pending.play(bandit, policy, horizon=HORIZON, seed=seed, delay=delay, batch=batch)
        if not slow.is_close:
            fast = run(bandit, policy, seed=seed, delay=delay, batch=batch)
            regret = np.cumsum(bandit.draw_instance(seed=seed).gaps[slow.arms])
            same_pulls = fast.mean_pulls.tolist() == np.bincount(slow.arms, minlength=bandit.arms).tolist()
            found.append(same_pulls and np.allclose(fast.curve.mean, regret, rtol=1e-10, atol=1e-10))
    return found


@cases
@late
def test_the_engine_and_its_twin(world, policy, delay, batch):
    agree = agreements(WORLDS[world], policy, delay, batch)
    assert all(agree)
    assert len(agree) >= 2


@pytest.mark.parametrize("policy", [br.BayesUCB(count_pending=False), br.UCB1(count_pending=False)], ids=repr)
def test_pulls_that_are_not_counted_are_noticed(policy):
    """The control."""
    assert not any(agreements(WORLDS["gaussian"], policy, 3, 4))


def select_as_if_late(policy, bandit, horizon, *, late):
    return select.select(policy, bandit, horizon, late=True)


@pytest.mark.parametrize(
    ("bandit", "policy"),
    [
        *((WORLDS[world], policy) for world, policy in CASES),
        (LINEAR, br.BayesUCB()),
        (LINEAR, br.LinUCB()),
        (LINEAR, br.UCB1()),
    ],
    ids=str,
)
def test_without_pending_pulls_decisions_are_those_of_the_other_kernels(bandit, policy, monkeypatch):
    at_once = run(bandit, policy, runs=5)
    monkeypatch.setattr(runs_of, "select", select_as_if_late)
    assert select_as_if_late(policy, bandit, HORIZON, late=False).kernel.name in ("PENDING", "LINEAR_PENDING")
    queued = run(bandit, policy, runs=5)
    assert queued.mean_pulls.tolist() == at_once.mean_pulls.tolist()
    assert queued.best_pulls.tolist() == at_once.best_pulls.tolist()
    assert np.allclose(queued.curve.mean, at_once.curve.mean, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("bandit", [WORLDS["gaussian"], LINEAR], ids=["gaussian", "linear"])
def test_a_policy_without_a_width_has_nothing_to_count(bandit, monkeypatch):
    counted = run(bandit, br.Greedy(), runs=5, delay=3, batch=4)
    for name in ("counts_pending", "counts_pending_linear"):
        monkeypatch.setattr(select, name, lambda policy, settings: False)
    uncounted = run(bandit, br.Greedy(), runs=5, delay=3, batch=4)
    assert np.array_equal(counted.final_regret, uncounted.final_regret)


ALIKE = {
    "gaussian": br.GaussianBandit([0.3] * 5, 1.0, 1.0),
    "bernoulli": br.BernoulliBandit([1.0] * 5, [2.0] * 5),
    "poisson": br.PoissonBandit([2.0] * 5, [1.0] * 5),
    "linear": br.LinearBandit(np.eye(5), [0.3] * 5, prior_width=1.0, reward_noise=1.0),
}


SPREAD = [
    *((world, br.BayesUCB()) for world in ALIKE),
    *((world, policy) for world in ("gaussian", "bernoulli", "linear") for policy in (br.UCB1(), br.MOSS())),
    ("linear", br.LinUCB()),
]


@pytest.mark.parametrize(("world", "policy"), SPREAD, ids=str)
def test_the_first_batch_is_spread_over_arms_that_are_alike(world, policy):
    assert run(ALIKE[world], policy, horizon=15, batch=15).mean_pulls.tolist() == [3.0] * 5


@pytest.mark.parametrize("world", ALIKE)
def test_without_counting_the_first_batch_is_one_arm(world):
    """The control."""
    pulls = run(ALIKE[world], br.BayesUCB(count_pending=False), horizon=15, batch=15).mean_pulls
    assert pulls.tolist() == [15.0, 0.0, 0.0, 0.0, 0.0]


def late_pulls_of_shifted(shift):
    """Pulls of UCB1 while arms have no reward yet: those of all rounds until shortly after the first rewards."""
    bandit = br.GaussianBandit([shift + mean for mean in (0.5, 0.0, 0.2, -0.5)], 1.0, 1.5)
    return [run(bandit, br.UCB1(), seed=seed, horizon=14, delay=10).mean_pulls.tolist() for seed in range(6)]


def test_ucb1_does_not_depend_on_where_rewards_lie(monkeypatch):
    """It has no prior: an arm without rewards has the mean of all rewards."""
    assert late_pulls_of_shifted(0.0) == late_pulls_of_shifted(-64.0) == late_pulls_of_shifted(64.0)
    monkeypatch.setattr("bayesregret.policies.pending.mean_of_all", lambda stats: 0.0)
    assert late_pulls_of_shifted(-64.0) != late_pulls_of_shifted(64.0)  # the control


@pytest.mark.parametrize(
    ("bandit", "policy"),
    [(WORLDS["gaussian"], br.BayesUCB()), (WORLDS["poisson"], br.BayesUCB()), (LINEAR, br.BayesUCB())],
    ids=["gaussian", "poisson", "linear"],
)
def test_threads_and_runs_before_leave_no_trace(bandit, policy):
    asked = {"horizon": 9, "runs": 70, "delay": 2, "batch": 3}
    one, two = run(bandit, policy, **asked), run(bandit, policy, threads=2, **asked)
    assert np.array_equal(one.final_regret, two.final_regret)
    assert np.array_equal(run(bandit, policy, **asked | {"runs": 3}).final_regret, one.final_regret[:3])


def test_regret_with_and_without():
    """A batch of a fifth of all rounds: counting pending pulls saves most of the regret, 8 standard errors at least."""
    bandit = br.GaussianBandit([1.0] + [0.0] * 5, 1.0, 1.0)
    policies = {"with": br.BayesUCB(), "without": br.BayesUCB(count_pending=False)}
    ran = br.simulate(bandit, policies, horizon=100, runs=60, seed=4, batch=20, threads=1)
    saved = ran.paired("without", "with")
    assert saved.mean > 8.0 * saved.stderr
    assert ran["with"].mean < 0.7 * ran["without"].mean


COMPILED = [("gaussian", br.UCB1()), ("poisson", br.BayesUCB())]


def bits():
    found = [run(WORLDS[world], policy, runs=20, delay=2, batch=3).final_regret for world, policy in COMPILED]
    return "".join(array.tobytes().hex() for array in found)


@pytest.mark.compiled
def test_plain_python_gives_the_same_bits(pytestconfig):
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    tests = str(pytestconfig.rootpath / "tests")
    environment["PYTHONPATH"] = os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")])
    code = "from simulation.kernels.test_pending import bits; print(bits())"
    plain = [sys.executable, "-W", "error", "-c", code]
    ran = subprocess.run(plain, env=environment, capture_output=True, text=True, check=False)
    assert ran.stderr == ""
    assert ran.stdout.strip() == bits()
