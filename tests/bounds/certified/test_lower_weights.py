"""Lower bounds from weights: against dynamic programmes, plain sums and the discounted form, and when they count."""

import numpy as np
import pytest

import bayesregret as br
from bayesregret.bounds.certified.lower_weights import (
    MOST_ARMS,
    MOST_ROUNDS,
    ROUNDING,
    ArmKind,
    weighted_bound,
    weights,
)
from bayesregret.numerics.expected_maximum import beta_best

SURE_AND_OPEN = br.BernoulliBandit([50, 1], [50, 1])


def bound_of(bandit, each):
    kinds = [ArmKind(alpha, beta, 1) for alpha, beta in zip(bandit.alpha.tolist(), bandit.beta.tolist(), strict=True)]
    return weighted_bound(kinds, each, beta_best(bandit.alpha, bandit.beta))


@pytest.mark.parametrize(("horizon", "ones", "end"), [(7, 7, 7), (7, 3, 14), (3, 1, 6), (20, 10, 40)])
def test_weights(horizon, ones, end):
    """What the theorem asks for."""
    each = weights(horizon, ones, end)
    assert each.sum() == pytest.approx(horizon, rel=1e-14)
    assert len(each) == end
    assert max(each) == each[ones - 1] == 1.0
    assert min(each) > 0.0
    assert np.all(np.diff(each) <= 0.0)
    assert np.all(each[1:-1] ** 2 >= each[:-2] * each[2:] * (1 - 1e-14))


@pytest.mark.compiled
def test_no_optimum_is_below():
    """On random problems, for all weights; weights whose sum is a fifth more than the horizon are found out."""
    random = np.random.default_rng(5)
    excess, wrong = [], []
    for number in range(14):
        arms = 2 + number % 2
        horizon = int(random.integers(2, 26 if arms == 2 else 12))
        bandit = br.BernoulliBandit(*np.exp(random.uniform(-1.5, 4.0, (2, arms))))
        optimum = br.bayes_optimal_regret(bandit, horizon=horizon)
        tried = [weights(horizon, ones, 2 * horizon) for ones in (horizon // 4, horizon // 2) if ones > 0]
        excess += [bound_of(bandit, each) - optimum.regret for each in (np.ones(horizon), *tried)]
        wrong.append(bound_of(bandit, np.ones(horizon + horizon // 5 + 1)) / optimum.regret)
    assert max(excess) <= ROUNDING
    assert max(wrong) > 1.1


@pytest.mark.compiled
@pytest.mark.parametrize("bandit", [br.BernoulliBandit([1, 1], [1, 1]), br.BernoulliBandit([0.5, 3, 1], [0.5, 1, 2])])
def test_geometric_weights_give_the_discounted_form(bandit):
    """There the bound is the least discounted regret itself, by another program."""
    horizon = 4
    found = bound_of(bandit, (1.0 - 1.0 / horizon) ** np.arange(15 * horizon))
    assert found == pytest.approx(br.bounds.certified_lower(bandit, horizon=horizon).leading, rel=1e-5)


@pytest.mark.both
def test_two_rounds_by_hand():
    """A sure arm and an open one. One round: 1/8. Two: pull the open arm, then the better of two."""
    sure, open_arm = (1e9, 1e9), (1.0, 1.0)
    bandit = br.BernoulliBandit(*np.transpose([sure, open_arm]))
    # E max = 5/8; the best policy has 1/2 + E max(1/2, posterior mean) = 1/2 + (2/3 + 1/2) / 2.
    assert bound_of(bandit, np.ones(1)) == pytest.approx(1 / 8, abs=1e-5)
    assert bound_of(bandit, np.ones(2)) == pytest.approx(2 * 5 / 8 - 1 / 2 - 7 / 12, abs=1e-5)


@pytest.mark.compiled
def test_gain():
    """Over two percent of the optimum, where the horizon matters more than what an arm's pulls cost the others."""
    found = br.bounds.certified_lower(SURE_AND_OPEN, horizon=20)
    optimum = br.bayes_optimal_regret(SURE_AND_OPEN, horizon=20).regret
    assert found.value - found.terms["weights"] < 0.96 * optimum
    assert 0.975 * optimum < found.value <= optimum
    assert found.details["weights of 1"] == 10.0


@pytest.mark.both
def test_where_they_are_not_tried():
    for bandit, horizon in (
        (SURE_AND_OPEN, MOST_ROUNDS + 1),
        (br.BernoulliBandit([9] * (MOST_ARMS + 1), [9] * (MOST_ARMS + 1)), 4),
    ):
        assert "weights" not in br.bounds.certified_lower(bandit, horizon=horizon).terms
    assert br.bounds.certified_lower(SURE_AND_OPEN, horizon=5).terms["weights"] > 0.0
