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


def test_the_summary_says_that_rewards_came_late(simulate):
    shown = simulate("bernoulli", "--policy", "ucb1", "--delay", "5", "--batch", "10").out
    assert "10 arms, rewards 5 rounds late, in batches of 10, seed 0;" in shown
    assert "late" not in simulate("bernoulli", "--policy", "ucb1").out


def test_pending_pulls_need_not_count(simulate):
    names = "ucb1", "ucb1:count_pending=false", "ucb1:count_pending=true"
    asked = ("bernoulli", *(word for name in names for word in ("--policy", name)), "--batch", "10", "--json")
    shown = "ucb1", "ucb1(count_pending=False)", "ucb1-2"
    by_default, not_counted, counted = (simulate(*asked).data["policies"][name]["regret"] for name in shown)
    python = br.simulate(
        problem.common_bernoulli(), br.UCB1(count_pending=False), horizon=50, runs=20, seed=0, batch=10
    )["ucb1"]
    assert not_counted == python.mean
    assert counted == by_default < not_counted


def test_late_rewards_have_no_exact_regret_to_compare_with():
    late = br.simulate(problem.common_bernoulli(), br.UCB1(), horizon=5, runs=5, seed=0, delay=1)
    with pytest.raises(ValueError, match="delay must be 0 and batch 1 to compare with exact regret"):
        late.against_exact()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("gaussian --delay -1", "--delay must be a whole number, at least 0 and at most 1000000000000, got -1"),
        ("gaussian --delay x", "--delay must be a whole number, at least 0 and at most 1000000000000, got 'x'"),
        ("gaussian --batch 0", "--batch must be a whole number, at least 1 and at most 1000000000000, got 0"),
        ("gaussian --batch 1.5", "--batch must be a whole number, at least 1 and at most 1000000000000, got 1.5"),
        (
            "gaussian --batch 2 --exact-check",
            "--exact-check does not go with --delay or --batch: it assumes immediate rewards",
        ),
        ("gaussian --policy ucb1:count_pending=no", "count_pending must be True or False, got 'no'"),
    ],
)
def test_bad_input(simulate, arguments, said):
    assert complaint(simulate(*arguments.split())) == said
