"""Gittins indices of Bernoulli arms: all stopping rules in fractions, published tables, and what is refused."""

import pytest

import bayesregret as br
from bayesregret.optimal.gittins_bernoulli import bernoulli_table
from optimal.fractions_by_hand import index_by_all_rules, index_by_charges

B = br.BernoulliBandit
STATES = [(1, 1), (1, 3), (0.5, 0.25), (7, 2)]
# Gittins (1989), Tables 7 to 12; Gittins, Glazebrook and Weber (2011), Tables 8.4 to 8.9: four digits.
PUBLISHED = [
    (0.9, 1, 1, 0.7029),
    (0.9, 2, 2, 0.6346),
    (0.9, 3, 3, 0.6010),
    (0.9, 10, 2, 0.8695),
    (0.9, 10, 7, 0.6300),
    (0.95, 1, 1, 0.7614),
    (0.99, 1, 1, 0.8699),
]


@pytest.mark.parametrize("state", STATES)
def test_no_stopping_rule_earns_more(state):
    for rounds in (1, 2, 3, 4):
        assert index_by_charges(*state, rounds) == index_by_all_rules(*state, rounds)


@pytest.mark.parametrize("rounds", [1, 2, 3, 6])
@pytest.mark.parametrize("state", STATES)
def test_index_in_fractions(state, rounds):
    alpha, beta = state
    found = br.gittins_index(B([alpha], [beta]), rounds=rounds)
    assert found == pytest.approx(float(index_by_charges(alpha, beta, rounds)), abs=1e-14)


def test_data_and_prior_are_one():
    bandit = B([9, 1], [9, 0.5])
    found = br.gittins_index(bandit, 1, pulls=3, total=2, rounds=5)
    assert found == pytest.approx(float(index_by_charges(3, 1.5, 5)), abs=1e-14)


def test_the_table_is_the_same():
    horizon = 7
    table, starts = bernoulli_table(0.5, 2.0, horizon)
    for pulls in range(horizon):
        for wins in range(pulls + 1):
            for left in range(1, horizon - pulls + 1):
                found = table[starts[pulls] + wins * (horizon - pulls) + left - 1]
                expected = br.gittins_index(B([0.5 + wins], [2.0 + pulls - wins]), rounds=left)
                assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.compiled
@pytest.mark.parametrize(("discount", "alpha", "beta", "printed"), PUBLISHED)
def test_published_indices(discount, alpha, beta, printed):
    assert br.gittins_index(B([alpha], [beta]), discount=discount) == pytest.approx(printed, abs=0.51e-4)


def test_a_small_discount_looks_one_round_ahead():
    """To first order in the discount d: p + d P(win) (p after a win - p)."""
    found = br.gittins_index(B([1], [1]), discount=1e-4)
    assert found == pytest.approx(0.5 + 1e-4 * 0.5 * (2 / 3 - 0.5), abs=1e-8)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, r"^rounds or discount must be given, and not both$"),
        ({"rounds": 5, "discount": 0.9}, r"^rounds or discount must be given, and not both$"),
        ({"rounds": 0}, r"^rounds must be a whole number, at least 1 and at most 10000, got 0$"),
        ({"discount": 1.0}, r"^discount must be a number strictly between 0 and 1, got 1.0$"),
        ({"discount": 0.99999}, r"^discount must be at most 0.9999 for a bernoulli bandit, got 0.99999$"),
        ({"rounds": 5, "arm": 2}, r"^arm must be a whole number, at least 0 and at most 1, got 2$"),
        ({"rounds": 5, "pulls": -1}, r"^pulls must be a whole number, at least 0, got -1$"),
        ({"rounds": 5, "pulls": 2, "total": 3}, r"^total must be a whole number, at least 0 and at most 2, got 3$"),
        ({"rounds": 5, "pulls": 2, "total": 0.5}, r"^total must be a whole number, at least 0 and at most 2, got 0.5$"),
    ],
)
def test_what_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        br.gittins_index(B([1, 1], [1, 1]), **settings)


def test_bandits_without_indices():
    linear = br.LinearBandit([[1.0, 0.0], [0.0, 1.0]], [0, 0], prior_width=1, reward_noise=1)
    with pytest.raises(ValueError, match=r"^bandit must be gaussian or bernoulli for gittins, got a linear one$"):
        br.gittins_index(linear, rounds=3)
    with pytest.raises(ValueError, match=r"^bandit must be a bandit such as GaussianBandit, got 3$"):
        br.gittins_index(3, rounds=3)
