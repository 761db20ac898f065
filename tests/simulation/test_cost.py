"""The time of a simulation is estimated before it starts: long ones say so, and endless ones are refused."""

import pytest

import bayesregret as br
from bayesregret.simulation.cost import expected_time, run_cost, shown_time
from bayesregret.simulation.engines.threads import ThreadsEngine
from bayesregret.simulation.simulate import simulate

BANDIT = br.GaussianBandit([1.0, 0.0], 1.0, 1.0)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "1 second"),
        (80, "80 seconds"),
        (100, "2 minutes"),
        (10_000, "3 hours"),
        (86_400, "24 hours"),
        (30 * 86_400, "30 days"),
        (1e12, "31,710 years"),
    ],
)
def test_times_have_one_unit(seconds, text):
    assert shown_time(seconds) == text


def test_only_long_simulations_have_a_time():
    assert expected_time(BANDIT, [br.UCB1()], horizon=1000, runs=10**5, engine=ThreadsEngine(2)) is None
    assert expected_time(BANDIT, [br.UCB1()], horizon=10**12, runs=2, engine=ThreadsEngine(2)) == "about 3 hours"
    assert (
        expected_time(BANDIT, [br.UCB1(), br.Thompson()], horizon=10**12, runs=2, engine=ThreadsEngine(2))
        == "about 2 days"
    )


def test_threads_share_blocks_of_runs():
    """A single block runs on one thread, whatever the number of threads."""
    asked = ((64, 1), (64, 8), (640, 10), (640, 5))
    times = [
        expected_time(BANDIT, [br.UCB1()], horizon=10**10, runs=runs, engine=ThreadsEngine(threads))
        for runs, threads in asked
    ]
    assert times == ["about 53 minutes"] * 3 + ["about 2 hours"]


@pytest.mark.parametrize(
    ("horizon", "runs", "said"),
    [
        (
            10**12,
            2000,
            r"runs must be at most about 1,000, got 2000: a simulation may take 30 days, and this one",
        ),
        (10**12, 1, r"horizon must be at most about 510,000,000,000, got 1000000000000: a simulation may take 30 days"),
    ],
)
def test_too_long_is_one_line_before_anything_starts(monkeypatch, horizon, runs, said):
    monkeypatch.setattr("bayesregret.simulation.simulate.Simulation", lambda *_, **__: pytest.fail("it started"))
    policy = br.UCB1() if runs > 1 else br.InformationDirected()
    with pytest.raises(ValueError, match=f"^{said}"):
        simulate(BANDIT, policy, horizon=horizon, runs=runs, seed=0, threads=2)


def test_more_arms_cost_more_where_all_are_examined():
    many = br.GaussianBandit([1.0] + [0.0] * 999, 1.0, 1.0)
    assert run_cost(br.Thompson(), many, 1000) > 50 * run_cost(br.Thompson(), BANDIT, 1000)
    assert run_cost(br.UCB1(), many, 10**6) < 2 * run_cost(br.UCB1(), BANDIT, 10**6)


def test_late_rewards_cost_as_much_for_policies_that_otherwise_stay_on_the_leader():
    """Measured: 26 ns a round of BayesUCB and UCB1 with batches of 200 rewards, and 3 to 6 without."""
    for policy in (br.BayesUCB(), br.UCB1()):
        assert run_cost(policy, BANDIT, 10**5, is_late=True) > 4 * run_cost(policy, BANDIT, 10**5)
    assert run_cost(br.Thompson(), BANDIT, 10**5, is_late=True) == run_cost(br.Thompson(), BANDIT, 10**5)
