"""A policy whose choice is no arm, or whose index is nan, ends with one line that names its function."""

import math
from typing import NamedTuple

import pytest

import bayesregret as br
from bayesregret.contracts import arm_index, choose_arm, choose_linear, confidence_width, rising_index

GAUSSIAN = br.GaussianBandit([1.0, 0.0, 0.0], 1.0, 1.0)
LINEAR = br.LinearBandit([[1, 0], [0.6, 0.8], [0, 1]], [0, 0], prior_width=1, reward_noise=1)
MIXTURE = br.MixtureBandit([0.5, 0.5], [GAUSSIAN, br.GaussianBandit([0.0] * 3, 2.0, 1.0)])
LATE = {"delay": 2, "batch": 3}


class Chosen(NamedTuple):
    round: int  # the first round with a wrong choice
    arm: int


class ByIndex(NamedTuple):
    count: int  # from this number of pulls on, the index is nan


class ByWidth(NamedTuple):
    variance: float  # below it, the width is nan


class ByTime(NamedTuple):
    round: int  # from this round on, the index is nan


@choose_arm.implement(Chosen)
def late_choice(policy, model, stats, round_, stream):
    return (policy.arm if round_ >= policy.round else round_ % 2), stream


@choose_linear.implement(Chosen)
def late_linear_choice(policy, posterior, stats, round_, stream):
    return (policy.arm if round_ >= policy.round else round_ % 2), stream


@arm_index.implement(ByIndex)
def late_index(policy, model, arm, count, total):
    return math.nan if count >= policy.count else 1.0 / (1.0 + count)


@confidence_width.implement(ByWidth)
def late_width(policy, variance):
    return math.nan if variance < policy.variance else variance


@rising_index.implement(ByTime)
def late_rise(policy, model, stats, arm, round_):
    return math.nan if round_ >= policy.round else math.log(round_) / (1.0 + stats.counts[arm])


class Own(br.Policy):
    name = "test-wrong-choice"

    def __init__(self, settings):
        self.given = settings

    def settings(self, bandit, horizon):
        return self.given


del br.Policy.classes["test-wrong-choice"]

ARM_3 = "late_choice must choose an arm between 0 and 2, got 3"
NAN_INDEX = "late_index must return a number, the index, as arm_index does, got nan"
NAN_WIDTH = "late_width must return a number, the width, as confidence_width does, got nan"
NAN_RISE = "late_rise must return a number, the index, as rising_index does, got nan"
# By kernel: the bandit, settings, when rewards arrive, the message, and settings that are never wrong.
COMPILED = {
    "every round": (GAUSSIAN, Chosen(20, 3), {}, ARM_3, Chosen(51, 3)),
    "index leader": (GAUSSIAN, ByIndex(12), {}, NAN_INDEX, ByIndex(51)),
    "linear index": (LINEAR, ByWidth(0.1), {}, NAN_WIDTH, ByWidth(0.0)),
}
KERNELS = COMPILED | {
    "a negative arm": (
        GAUSSIAN,
        Chosen(20, -1),
        {},
        "late_choice must choose an arm between 0 and 2, got -1",
        Chosen(51, -1),
    ),
    "mixture, every round": (MIXTURE, Chosen(20, 3), {}, ARM_3, Chosen(51, 3)),
    "mixture": (MIXTURE, ByWidth(0.1), {}, NAN_WIDTH, ByWidth(0.0)),
    "delayed": (GAUSSIAN, Chosen(20, 3), LATE, ARM_3, Chosen(51, 3)),
    "delayed index": (GAUSSIAN, ByIndex(12), LATE, NAN_INDEX, ByIndex(51)),
    "pending": (GAUSSIAN, ByWidth(0.1), LATE, NAN_WIDTH, ByWidth(0.0)),
    "rising": (GAUSSIAN, ByTime(20), {}, NAN_RISE, ByTime(1_000)),
    "linear": (
        LINEAR,
        Chosen(20, 3),
        {},
        "late_linear_choice must choose an arm between 0 and 2, got 3",
        Chosen(51, 3),
    ),
    "linear, pending": (LINEAR, ByWidth(0.1), LATE, NAN_WIDTH, ByWidth(0.0)),
}


def simulate(bandit, settings, late):
    return br.simulate(bandit, Own(settings), horizon=50, runs=3, threads=1, **late)


def refused(case):
    bandit, settings, late, message, good = KERNELS[case]
    with pytest.raises(ValueError) as info:  # noqa: PT011 (the whole message is compared)
        simulate(bandit, settings, late)
    assert str(info.value) == message
    assert simulate(bandit, good, late)["test-wrong-choice"].mean >= 0.0  # the control


@pytest.mark.parametrize("case", KERNELS)
def test_one_line(case):
    refused(case)


@pytest.mark.compiled
@pytest.mark.parametrize("case", COMPILED)
def test_one_line_compiled(case):
    """Before, the first of these ended Python: `munmap_chunk(): invalid pointer`."""
    refused(case)


def ask(agent):
    """The agent's choice, or the message of its refusal."""
    try:
        return agent.select(), None
    except ValueError as error:
        return None, str(error)


@pytest.mark.parametrize("case", [case for case, (_, _, late, _, _) in KERNELS.items() if not late])
def test_agents_stay_as_they_were(case):
    bandit, settings, _, message, _ = KERNELS[case]
    agent = Own(settings).start(bandit)
    for _ in range(60):
        before = agent._saved_state()
        arm, refusal = ask(agent)
        if refusal is not None:
            break
        agent.update(arm, 0.5)
    assert refusal == message
    assert agent._saved_state() == before
    agent.update(1, 0.5)  # it goes on to learn


def test_an_agent_keeps_its_memory_and_stream():
    """The formula may have written and drawn before it chose no arm."""

    class Forgetful(NamedTuple):
        unused: int

    @choose_arm.implement(Forgetful)
    def forgetful(policy, model, stats, round_, stream):
        stats.memory[0] += 1.0
        return 7, (stream[1], stream[0], stream[2], stream[3])

    class WithMemory(Own):
        def memory(self, bandit):
            return 1

    agent = WithMemory(Forgetful(0)).start(GAUSSIAN)
    before = agent._saved_state()
    for _ in range(2):
        with pytest.raises(ValueError, match="forgetful must choose an arm between 0 and 2, got 7"):
            agent.select()
    assert agent._saved_state() == before
    assert before.memory == [0.0]


def test_a_model_that_gives_nan_is_named():
    class NanModel(NamedTuple):
        unused: float

    from bayesregret.contracts import prior_pulls, prior_total, variance_proxy

    prior_pulls.implement(NanModel)(lambda model, arm: 1.0)
    prior_total.implement(NanModel)(lambda model, arm: 0.0)
    variance_proxy.implement(NanModel)(lambda model, arm, count: math.nan)

    class NanBandit(br.GaussianBandit):
        pass

    bandit = NanBandit([0.0, 0.0], 1.0, 1.0)
    bandit.model = NanModel(0.0)
    agent = br.BayesUCB(delta=0.1).start(bandit)
    with pytest.raises(ValueError, match=r"^NanModel must give upper_confidence_width numbers, but an index is nan$"):
        agent.select()
