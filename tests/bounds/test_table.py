"""All bounds side by side: their order, the best one, what is refused, and the ratio to a simulated regret."""

import itertools
import json
import math

import numpy as np
import pytest

from bayesregret import UCB1, BayesUCB, BernoulliBandit, GaussianBandit, Thompson, bounds, simulate
from bayesregret.bounds.bound import Formula

GAUSSIAN = GaussianBandit([0.5, 0.0, 0.0], 1.0, 1.0)
RADEMACHER = GaussianBandit([0.5, 0.0, 0.0], 1.0, 1.0, "rademacher")
BERNOULLI = BernoulliBandit([0.7, 2.0], [1.0, 1.0])
BANDITS = pytest.mark.parametrize(
    "bandit", [GAUSSIAN, RADEMACHER, BERNOULLI], ids=["gaussian", "rademacher", "bernoulli"]
)
KINDS = ["upper", "lower", "quantity"]


@BANDITS
def test_order(bandit):
    found = bounds.table(bandit, horizon=20)
    keys = [(KINDS.index(bound.kind), not bound.applies, bound.value) for bound in found]
    assert keys == sorted(keys)
    assert len(found) == len(found.bounds) > 8
    assert any(not bound.applies for bound in found)


@BANDITS
def test_every_bound_is_there_or_refused(bandit):
    found = bounds.table(bandit, horizon=20, delta=0.1, epsilon=0.2)
    listed = {name for name, formula in Formula.every.items() if formula.listed and formula.covers(bandit)}
    assert {bound.name for bound in found} | set(found.refused) == listed
    assert not {bound.name for bound in found} & set(found.refused)
    for bound in found:
        assert bound == getattr(bounds, bound.name)(bandit, horizon=20, delta=0.1, epsilon=0.2)
    assert (found.horizon, found.delta, found.epsilon) == (20, 0.1, 0.2)


def test_rademacher_noise_is_refused_with_its_reason():
    found = bounds.table(RADEMACHER, horizon=20)
    reason = "rewards must be Gaussian, and noise_kind is rademacher"
    assert set(found.refused.values()) == {reason}
    assert "certified_index" in found.refused
    assert found.best.name == "certified_trivial"
    line = found.summary().splitlines()[-1]
    assert line.startswith(f"not proved here, since {reason}: ")
    assert ", certified_floor, " in line
    assert "refused" in found.to_dict()
    assert {"name": "certified_floor", "why_not": reason} in found.to_dict()["refused"]


@BANDITS
def test_the_best_is_marked_once(bandit):
    found = bounds.table(bandit, horizon=20)
    assert found.best.value == bounds.certified(bandit, horizon=20).value
    marked = [row for row in found.table() if row[-1].endswith(", best certified")]
    assert [row[0] for row in marked] == [found.best.name]
    assert str(found).count("best certified") == 1
    assert found.to_dict()["best"] == found.best.name


def test_a_bound_by_its_name():
    found = bounds.table(GAUSSIAN, horizon=20)
    assert found["gap_dependent"] == bounds.gap_dependent(GAUSSIAN, horizon=20)
    with pytest.raises(KeyError, match="no bound 'nothing' in this table; it has certified_"):
        found["nothing"]


def test_rows_tell_the_numbers():
    found = bounds.table(GAUSSIAN, horizon=20)
    heading, *rows = found.table()
    assert heading == ["bound", "form", "source", "policy", "value", "leading", "remainder", "error", "applies"]
    for row, bound in zip(rows, found, strict=True):
        assert row[:4] == [bound.name, bound.form, bound.source, bound.policy]
        numbers = [math.inf if text == "inf" else float(text) for text in row[4:7]]
        assert numbers == pytest.approx([bound.value, bound.leading, bound.remainder], rel=1e-3)
        assert row[8].startswith("yes" if bound.applies else "no (")


def test_a_caveat_of_a_finite_bound_is_shown():
    """Theorem 1 as printed may be negative: its note stands beside it; proved bounds have none."""
    found = bounds.table(GaussianBandit([1.0, 0.0, 0.0], 0.1, 1.0), horizon=20)
    marks = {row[0]: row[-1] for row in found.table()[1:]}
    assert found["gap_dependent"].value < 0.0
    number = found.remarks().index(found["gap_dependent"].note) + 1
    assert marks["gap_dependent"] == f"yes, but ({number})"
    assert marks["certified_index"] == "yes"


def test_a_misspelt_name_gets_a_suggestion():
    with pytest.raises(KeyError, match=r"did you mean certified_index"):
        bounds.table(GAUSSIAN, horizon=20)["certifed_index"]


def test_remarks_are_numbered_and_shown_once():
    found = bounds.table(BERNOULLI, horizon=20)
    remarks = found.remarks()
    assert len(remarks) == len(set(remarks)) >= 2
    text = str(found)
    for number, remark in enumerate(remarks, start=1):
        assert text.count(f"({number}) {remark}") == 1
        assert f"({number})" in "".join(row[-1] for row in found.table())
    assert any("alpha < 1" in remark for remark in remarks), "infinite values have a reason"
    infinite = [row for row in found.table() if row[4] == "inf"]
    assert infinite
    assert all("(" in row[-1] for row in infinite)
    assert text == repr(found)


@pytest.mark.compiled  # 2,000 rounds of first passages
def test_summary():
    found = bounds.table(GAUSSIAN, horizon=2_000, delta=0.01).summary().splitlines()[0]
    assert found == "gaussian bandit, 3 arms, 2,000 rounds, delta 0.01, epsilon 0.0005"
    assert (
        bounds.table(GaussianBandit([0.0], 1.0, 1.0), horizon=1)
        .summary()
        .startswith("gaussian bandit, 1 arm, 1 round, ")
    )


@pytest.fixture(scope="module")
def compared():
    simulation = simulate(GAUSSIAN, [BayesUCB(), UCB1(), Thompson()], horizon=20, runs=40, seed=3)
    return simulation, bounds.table(GAUSSIAN, horizon=20, against=simulation)


def test_ratio_to_a_simulation(compared):
    simulation, found = compared
    for bound in found:
        ratio = found.ratio(bound)
        if bound.kind != "upper":
            assert ratio is None
        else:
            policies = ["bayes-ucb", "ucb1", "thompson"] if bound.policy == "any" else [bound.policy]
            assert ratio == bound.value / max(simulation[policy].mean for policy in policies)
    assert {bound.policy for bound in found if bound.kind == "upper"} == {"bayes-ucb", "ucb1", "thompson", "any"}
    assert found.table()[0][8] == "times regret"
    assert "simulated regret over 40 runs: bayes-ucb " in found.summary()
    data = found.to_dict()
    assert (data["simulation"]["runs"], data["simulation"]["seed"]) == (40, 3)
    assert data["simulation"]["policies"]["ucb1"] == {
        "regret": simulation["ucb1"].mean,
        "stderr": simulation["ucb1"].stderr,
    }
    assert [entry["times_regret"] for entry in data["bounds"]] == [found.ratio(bound) for bound in found]


def test_nothing_to_compare_with():
    alone = bounds.table(GAUSSIAN, horizon=20)
    assert all(alone.ratio(bound) is None for bound in alone)
    assert "simulation" not in alone.to_dict()
    assert "times_regret" not in alone.to_dict()["bounds"][0]
    one = simulate(GAUSSIAN, BayesUCB(), horizon=20, runs=5, seed=3)
    found = bounds.table(GAUSSIAN, horizon=20, against=one)
    assert found.ratio(found["certified_ucb1"]) is None
    certain = GaussianBandit([0.0], 1.0, 1.0)
    none = bounds.table(certain, horizon=5, against=simulate(certain, BayesUCB(), horizon=5, runs=5, seed=3))
    assert none.ratio(none["certified_index"]) == math.inf, "no regret"


def test_a_simulation_of_something_else_is_refused(compared):
    simulation, _ = compared
    for bandit, setting in itertools.product([GAUSSIAN, RADEMACHER], [{"horizon": 50}, {"horizon": 51}]):
        if (bandit, setting["horizon"]) != (GAUSSIAN, 50):
            with pytest.raises(ValueError, match="against must be a simulation of the same bandit"):
                bounds.table(bandit, **setting, against=simulation)
    with pytest.raises(ValueError, match="against must be a simulation of the same"):
        bounds.table(GAUSSIAN, horizon=20, delta=0.3, against=simulation)


def test_plain_data_are_plain():
    data = bounds.table(GAUSSIAN, horizon=np.int64(50), delta=np.float64(0.02)).to_dict()
    assert json.loads(json.dumps(data)) == data
    assert list(data)[:4] == ["problem", "horizon", "delta", "epsilon"]
    assert data["problem"] == GAUSSIAN.to_dict()


def test_a_model_of_ones_own_has_no_bounds():
    class Coins(BernoulliBandit):
        kind = "coins"

    message = r"^bandit must be of a kind that some bound covers, got 'coins'$"
    with pytest.raises(ValueError, match=message):
        bounds.table(Coins([1.0], [1.0]), horizon=5)
