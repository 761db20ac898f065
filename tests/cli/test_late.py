"""`bayesregret simulate --delay --batch`."""

import pytest

import bayesregret as br
from bayesregret import problem
from cli.test_errors import complaint


def test_late_rewards_are_what_python_gives(simulate):
    outcome = simulate("bernoulli", "--policy", "ucb1", "--delay", "5", "--batch", "10", "--json")
    late = br.simulate(problem.common_bernoulli(), br.UCB1(), horizon=50, runs=20, seed=0, delay=5, batch=10)
    in_time = br.simulate(problem.common_bernoulli(), br.UCB1(), horizon=50, runs=20, seed=0)
    assert outcome.data == late.to_dict()
    assert outcome.data["policies"] != in_time.to_dict()["policies"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("gaussian --delay -1", "delay must be a whole number, at least 0 and at most 1000000000000, got -1"),
        ("gaussian --delay x", "delay must be a whole number, at least 0 and at most 1000000000000, got 'x'"),
        ("gaussian --batch 0", "batch must be a whole number, at least 1 and at most 1000000000000, got 0"),
        ("gaussian --batch 1.5", "batch must be a whole number, at least 1 and at most 1000000000000, got 1.5"),
        (
            "gaussian --batch 2 --exact-check",
            "--exact-check does not go with --delay or --batch: exact regret is of rewards in time",
        ),
    ],
)
def test_bad_input(simulate, arguments, said):
    assert complaint(simulate(*arguments.split())) == said
