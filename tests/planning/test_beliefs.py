"""Policies of one's own in plans: whether they use the prior, and how wrong it may be."""

import sys
import types
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import bayesregret as br
from bayesregret.contracts import confidence_width
from bayesregret.planning.beliefs import believing, uses_prior
from bayesregret.planning.running import snippet

BANDIT = br.GaussianBandit([0.5, 0.0], 1.0, 1.0)
WRONG = br.GaussianBandit([-1.0, 2.0], 0.5, 1.0)


class Deviations(NamedTuple):
    multiplier: float


@confidence_width.implement(Deviations)
def width_of_deviations(policy, variance):
    return policy.multiplier * variance**0.5


@dataclass(frozen=True)
class Optimist(br.Policy):
    name = "test-optimist"
    multiplier: float = 2.0

    def settings(self, bandit, horizon):
        return Deviations(self.multiplier)


@dataclass(frozen=True)
class Believer(br.PosteriorPolicy):
    name = "test-believer"
    prior: br.Bandit | None = None

    def settings(self, bandit, horizon):
        return Deviations(2.0)


@dataclass(frozen=True)
class WithoutPrior(Optimist):
    name = "test-without-prior"

    def belief(self, bandit):
        return bandit.no_prior_model()


@dataclass(frozen=True)
class WithBelief(Optimist):
    name = "test-with-belief"

    def belief(self, bandit):
        return br.GaussianBandit([0.0] * bandit.arms, 1.0, 1.0).model


for made in (Optimist, Believer, WithoutPrior, WithBelief):
    del br.Policy.classes[made.name]


def simulated(policy):
    return br.simulate(BANDIT, {"it": policy}, horizon=30, runs=8, seed=4)["it"].final_regret


def test_who_uses_the_prior():
    answers = {Optimist(): True, Believer(): True, WithoutPrior(): False, WithBelief(): None}
    package = {br.Thompson(): True, br.BayesUCB(prior=WRONG): True, br.UCB1(): False, br.KLUCB(): False}
    for policy, answer in (answers | package).items():
        assert uses_prior(policy, BANDIT) is answer, policy


def test_a_policy_without_a_field_for_its_prior_can_be_misled():
    """The same decisions as with the field."""
    misled = believing(Optimist(), WRONG)
    assert np.array_equal(simulated(misled), simulated(Believer(prior=WRONG)))
    assert not np.array_equal(simulated(misled), simulated(Optimist()))
    assert (misled.name, misled.multiplier) == ("test-optimist", 2.0)
    assert misled != Optimist()
    assert hash(misled) is not None


def test_a_plan_with_a_policy_of_ones_own():
    plan = br.plan(BANDIT, [Optimist(), br.UCB1()], horizon=20, runs=64)
    assert plan.best.name == "test-optimist"
    assert not any("uses no prior" in note for note in plan.notes)
    assert (plan.worth.known, plan.worth.without) == ("test-optimist", "ucb1")
    same = br.plan(BANDIT, [Believer(), br.UCB1()], horizon=20, runs=64)
    assert plan.worth.regret == same.worth.regret
    assert [limit.off for limit in plan.limits] == [limit.off for limit in same.limits]
    assert plan.limits or any("How wrong the prior may be is not computed" in note for note in plan.notes)


def test_a_policy_that_uses_the_prior_is_no_rival_without_one():
    plan = br.plan(BANDIT, Optimist(), horizon=20, runs=16)
    assert plan.worth.without == "ucb1"


@pytest.mark.parametrize(
    ("policy", "note"),
    [
        (WithoutPrior(), "test-without-prior uses no prior: a wrong prior cannot mislead it."),
        (WithBelief(), "It is not known whether test-with-belief uses the prior: its method belief returns a model of"),
    ],
)
def test_what_is_said_of_other_beliefs(policy, note):
    plan = br.plan(BANDIT, policy, horizon=60, runs=40)
    assert plan.best.policy == policy
    assert plan.worth is None
    assert any(line.startswith(note) for line in plan.notes)


def code_of(policy, **names):
    return snippet(policy, br.GaussianBandit([0, 0], 1, 1), 6, minimise=False, **names)


def test_code_imports_classes_of_ones_own(monkeypatch):
    module = types.ModuleType("my_optimist")
    module.Optimist = Optimist
    monkeypatch.setitem(sys.modules, "my_optimist", module)
    monkeypatch.setattr(Optimist, "__module__", "my_optimist")
    code = code_of(Optimist(1.5))
    assert "from my_optimist import Optimist\n" in code
    names = {"reward": 1.0}
    exec(code, names)
    assert names["agent"].policy == Optimist(1.5)
    assert "from my_optimist import Optimist  # from_json needs it" in code_of(Optimist(), agent="agent.json")
    monkeypatch.setattr(Optimist, "__module__", "__main__")
    code = code_of(Optimist())
    assert "# define Optimist here: your own class\n" in code
    assert "agent = Optimist().start(" in code
    assert "br.Optimist" not in code
    assert "define" not in code_of(br.UCB1())  # the control
