"""Classes of policies: their names, fields and priors."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

import bayesregret as br
from bayesregret.contracts import confidence_width


@pytest.fixture(autouse=True)
def _own_names(monkeypatch):
    monkeypatch.setattr(br.Policy, "classes", dict(br.Policy.classes))


class Deviations(NamedTuple):
    multiplier: float


@confidence_width.implement(Deviations)
def width_of_deviations(policy, variance):
    return policy.multiplier * variance**0.5


def test_names_of_the_package_are_taken():
    with pytest.raises(ValueError, match=r"^Mine.name must not be that of a policy of the package, got 'ucb1'$"):

        class Mine(br.Policy):
            name = "ucb1"

    assert br.Policy.classes["ucb1"] is br.UCB1


def test_a_class_of_ones_own_may_be_defined_again():
    """As in a notebook, where a cell runs twice."""
    made = []
    for _ in range(2):

        class Mine(br.Policy):
            name = "test-twice"

        made.append(Mine)
    assert br.Policy.classes["test-twice"] is made[1] is not made[0]


def test_fields_need_a_dataclass():
    class Mine(br.Policy):
        name: ClassVar[str] = "test-fields"
        multiplier: float = 2.0

        def settings(self, bandit, horizon):
            return Deviations(self.multiplier)

    for given in ((2.0,), ()):
        with pytest.raises(TypeError, match=r"^Mine has fields: write @dataclass\(frozen=True\) above class Mine$"):
            Mine(*given)
    assert dataclass(frozen=True)(Mine)(3.0).multiplier == 3.0


def test_settings_need_fields():
    class Mine(br.Policy):
        name = "test-no-fields"

        def settings(self, bandit, horizon):
            return Deviations(2.0)

    assert Mine().name == "test-no-fields"
    with pytest.raises(TypeError, match=r"^Mine takes no settings: annotate its fields, and write @dataclass"):
        Mine(2.0)


def test_a_constructor_of_ones_own():
    class Mine(br.Policy):
        name = "test-constructor"
        multiplier: float

        def __init__(self, multiplier):
            super().__init__()
            self.multiplier = multiplier

        def settings(self, bandit, horizon):
            return Deviations(self.multiplier)

    assert Mine(3.0).multiplier == 3.0


@dataclass(frozen=True)
class Believer(br.PosteriorPolicy):
    name = "test-believer"
    multiplier: float = 2.0
    prior: br.Bandit | None = None

    def settings(self, bandit, horizon):
        return Deviations(self.multiplier)


del br.Policy.classes["test-believer"]


def test_a_prior_of_ones_own():
    bandit, other = br.GaussianBandit([0.0, 1.0], 1.0, 1.0), br.GaussianBandit([3.0, 0.0], 1.0, 1.0)
    assert Believer().start(bandit).select() == 1
    agent = Believer(prior=other).start(bandit)
    assert agent.select() == 0
    agent.update(0, 1.0)
    assert np.array_equal(agent.remaining().policy.prior.prior_mean, [2.0, 0.0])
    with pytest.raises(ValueError, match="prior must be a bandit"):
        Believer(prior=1.0)


def test_an_agent_whose_policy_is_not_imported():
    br.Policy.classes["test-believer"] = Believer
    text = Believer().start(br.GaussianBandit([0.0, 1.0], 1.0, 1.0)).to_json()
    assert br.Agent.from_json(text).policy == Believer()
    del br.Policy.classes["test-believer"]
    with pytest.raises(ValueError, match=r"policy must be one of .*; a policy of your own must be imported first$"):
        br.Agent.from_json(text)


def test_a_name_is_no_setting():
    with pytest.raises(TypeError, match=r"^Annotated\.name must have no annotation, which would make it a setting"):

        class Annotated(br.Policy):
            name: str = "test-annotated"

    class Constant(br.Policy):
        name: ClassVar[str] = "test-constant"

    assert br.Policy.classes.pop("test-constant") is Constant
    assert "test-annotated" not in br.Policy.classes
