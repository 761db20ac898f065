"""Expected rewards and costs, and the comparison with a control."""

import math

import pytest

import bayesregret as br
from bayesregret.problem import common_bernoulli, common_gaussian

UNIFORM = common_bernoulli(arms=3)  # the best of three uniform means is 3/4 on average


def coins(**given):
    """Gaussian arms with plus-minus noise: no exact regrets, which take long in plain Python."""
    return common_gaussian(**given, noise_kind="rademacher")


def small(bandit=UNIFORM, horizon=8, **given):
    return br.plan(bandit, [br.BayesUCB(), br.UCB1()], horizon=horizon, runs=8, **given)


def test_the_policy_gives_the_best_arms_reward_minus_its_regret():
    found = small(unit="conversions")
    reward = found.reward
    assert abs(reward.best_arm.mean - 8 * 0.75) < 4 * reward.best_arm.stderr
    assert abs(reward.best_arm.mean - 8 * 0.9) > 4 * reward.best_arm.stderr  # the control
    assert reward.policy.mean == reward.best_arm.mean - found.best.regret.mean
    assert reward.lost == pytest.approx(found.best.regret.mean / reward.best_arm.mean)
    (line,) = (line for line in found.sentences() if "conversions, and " in line)
    assert line.endswith(" is lost while learning.")


def test_a_known_control():
    """With a control at 1/2, some of three uniform arms is better with probability 7/8."""
    found = small(control=0.5)
    kept = found.reward.control
    assert (kept.amount.mean, kept.amount.stderr, kept.arm) == (4.0, 0.0, None)
    assert kept.gain.mean == pytest.approx(found.reward.policy.mean - 4.0)
    assert abs(kept.better - 7 / 8) < 0.08
    (line,) = (line for line in found.sentences() if line.startswith("Keeping the control gives a reward of 4.000: "))
    assert line.endswith(f"better than the control with {100 * kept.better:.3g} percent probability.")
    worse = small(control=0.99).sentences()
    assert any(" less on average. " in line for line in worse)


def test_a_control_that_is_better_is_kept():
    assert (
        small(control=0.99).sentences()[0].startswith("Keep the control: on average it is better than this experiment.")
    )
    assert small(control=0.5).sentences()[0].startswith("Run ")
    cheap = small(minimise=True, control=0.01)
    assert cheap.sentences()[0].startswith("Keep the control: ")


def test_a_prior_with_levels_does_not_know_the_control():
    levels = br.MixtureBandit(
        [0.5, 0.5], [br.BernoulliBandit([2, 2], [38, 38]), br.BernoulliBandit([20, 20], [20, 20])]
    )
    said = "That is for new arms whose level varies as in past experiments, whatever the control is."
    lines = small(levels, control=0.06).sentences()
    (place,) = (number for number, line in enumerate(lines) if line.startswith("Keeping the control "))
    assert lines[place + 1].startswith(said)
    assert "--level 0.06)" in lines[place + 1]
    assert not any(line.startswith(said) for line in small(control=0.06).sentences() + small(levels).sentences())


def test_batches_longer_than_the_experiment():
    with pytest.raises(ValueError, match=r"^batch must be less than the horizon, or no reward arrives .*, got 8$"):
        small(batch=8)
    with pytest.raises(ValueError, match=r"^delay must be shorter, or no reward arrives before the last of 8 rounds"):
        small(batch=4, delay=4)
    assert small(batch=4, delay=3).batch == 4


def test_a_control_that_is_an_arm_has_its_own_prior():
    """Two arms of mean 0 and a control whose prior mean is 1: the best arm is the control unless another is better."""
    found = small(coins(arms=3), control_arm=0)
    kept = found.reward.control
    assert abs(kept.amount.mean - 8.0) < 4 * kept.amount.stderr
    instances = found.bandit.draw_means(400, seed=0)
    assert kept.better == pytest.approx((instances[:, 1:].max(axis=1) > instances[:, 0]).mean())
    assert any(line.startswith("Keeping arm 0, the control, gives ") for line in found.sentences())


@pytest.mark.parametrize("bandit", [coins(arms=2), br.BernoulliBandit([1, 1], [1, 3])], ids=lambda b: b.kind)
def test_costs_are_rewards_the_other_way_round(bandit):
    costs = small(bandit, minimise=True, control_arm=1)
    mirrored = small(bandit.for_costs(), control_arm=1)
    assert costs.bandit == mirrored.bandit == bandit.for_costs()
    assert {name: outcome.regret for name, outcome in costs.outcomes.items()} == {
        name: outcome.regret for name, outcome in mirrored.outcomes.items()
    }
    most = 8.0 if bandit.kind == "bernoulli" else 0.0
    for field in ("best_arm", "policy"):
        assert getattr(costs.reward, field).mean == pytest.approx(most - getattr(mirrored.reward, field).mean)
    assert costs.reward.control.gain == mirrored.reward.control.gain  # what is saved
    lowest = 8 * bandit.draw_means(2_000, seed=9).min(axis=1).mean()
    error = 1.1 * costs.reward.best_arm.stderr
    assert abs(costs.reward.best_arm.mean - lowest) < 4 * error, "the lowest cost, simulated apart"
    assert abs(mirrored.reward.best_arm.mean - lowest) > 4 * error, "the control"


def test_words_of_costs():
    text = "\n".join(small(coins(arms=2), minimise=True).sentences())
    assert "Always pulling the best arm has a cost of " in text
    text = str(small(minimise=True, unit="errors", control=0.5))
    assert "Always pulling the best arm costs " in text
    assert " errors, and " in text
    assert " percent more while learning." in text
    assert " saves " in text


def test_a_mean_cost_believed_too_low_is_a_mean_reward_believed_too_high():
    """The first arm costs 1 more than the other, so that beliefs which are off have different limits."""
    bandit = coins(arms=2)
    costs = br.plan(bandit, [br.BayesUCB(), br.UCB1()], horizon=12, runs=24, minimise=True)
    mirrored = br.plan(bandit.for_costs(), [br.BayesUCB(), br.UCB1()], horizon=12, runs=24)
    ways = {limit.direction: limit.differences for limit in costs.limits}
    others = {limit.direction: limit.differences for limit in mirrored.limits}
    assert ways["too low"] == others["too high"] != others["too low"]
    assert ways["too narrow"] == others["too narrow"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"unit": "<b>"},
            "unit must be a word of at most 40 printable characters, .* without quotes, braces or markup",
        ),
        ({"unit": "a\nb"}, "unit must be a word"),
        ({"unit": " "}, "unit must be a word"),
        ({"unit": 3}, "unit must be a word"),
        ({"unit": "x" * 41}, "unit must be a word"),
        ({"control": 1.2}, "control must be a number between 0 and 1, got 1.2"),
        ({"control": math.nan}, "control must be a number between 0 and 1, got nan"),
        ({"control": "high"}, "control must be"),
        ({"control_arm": 3}, "control_arm must be a whole number, at least 0 and at most 2, got 3"),
        ({"control_arm": 0, "control": 0.1}, "control and control_arm must not both be given"),
        ({"minimise": 1}, "minimise must be True or False, got 1"),
        ({"epsilon": -1}, "epsilon must be a number, at least 0, got -1"),
        (
            {"bandit": br.PoissonBandit([1, 1], [1, 1]), "minimise": True},
            "costs must be bernoulli, gaussian, linear or",
        ),
        ({"bandit": br.PoissonBandit([1, 1], [1, 1]), "control": -1}, "control must be a number, at least 0, got -1"),
        ({"delay": -1}, "delay must be"),
        ({"batch": 0}, "batch must be"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message) as complaint:
        small(**arguments)
    assert "\n" not in str(complaint.value)
