"""One calling convention: policies by name, a fitted prior in place of a bandit, and spellings of earlier versions."""

import pytest

import bayesregret as br

BANDIT = br.BernoulliBandit([1, 1], [1, 1])
PAST = {"experiment": [1, 1, 2, 2, 3, 3, 3], "arm": list("abababc"), "pulls": [500] * 7}
PAST["successes"] = [10, 22, 31, 52, 15, 9, 12]


@pytest.fixture(scope="module")
def fitted():
    return br.fit_prior(PAST, model="bernoulli", grouped=False)


def test_a_fitted_prior_has_the_arms_of_the_largest_experiment(fitted):
    assert fitted.most_arms == 3
    assert fitted.bandit() == fitted.bandit(3)


def test_a_fitted_prior_stands_for_its_bandit(fitted):
    bandit = fitted.bandit()
    assert (
        br.simulate(fitted, "ucb1", horizon=5, runs=4).to_dict()
        == br.simulate(bandit, br.UCB1(), horizon=5, runs=4).to_dict()
    )
    assert br.exact_regret(fitted, "ucb1", horizon=5).regret == br.exact_regret(bandit, br.UCB1(), horizon=5).regret
    assert br.bounds.certified_trivial(fitted, horizon=5) == br.bounds.certified_trivial(bandit, horizon=5)
    assert br.bounds.table(fitted, horizon=5).bandit == bandit
    assert br.explore_commit_regret(fitted, horizon=4) == br.explore_commit_regret(bandit, horizon=4)
    assert br.plan(fitted, "ucb1", horizon=4, runs=4).bandit == bandit
    assert br.Thompson().start(fitted).select() in range(3)


@pytest.mark.parametrize("wrong", [None, "gaussian", br.GaussianBandit, br.UCB1(), 3])
def test_anything_else_is_one_line(wrong):
    for call in (br.bounds.certified, br.bounds.table, br.bounds.audit, br.bayes_optimal_regret):
        with pytest.raises(ValueError, match=r"^bandit must be a bandit such as GaussianBandit, got .+$"):
            call(wrong, horizon=5)


def test_hints_for_what_is_nearly_right():
    with pytest.raises(ValueError, match=r"got 'shop\.toml'; load_problem\('shop\.toml'\) reads one$"):
        br.plan("shop.toml", horizon=4)
    with pytest.raises(TypeError, match=r"^an agent is made by policy\.start\(bandit\), or read by Agent\.from_json"):
        br.Agent(br.UCB1(), BANDIT)
    with pytest.raises(AttributeError, match=r"no attribute 'ThompsonSampling'; did you mean Thompson"):
        br.ThompsonSampling  # noqa: B018
    assert not hasattr(br, "__wrapped__")


def test_seeds_and_runs_have_defaults():
    result = br.simulate(BANDIT, "ucb1", horizon=2)
    assert (result.seed, result.runs) == (0, 10_000)
    assert "10,000 runs" in result.summary()
    assert "seed 0" in result.summary()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (lambda: br.bayes_optimal_regret(BANDIT, 4).regret, lambda: br.bayes_optimal_regret(BANDIT, horizon=4).regret),
        (
            lambda: br.explore_commit_regret(BANDIT, 9, 4),
            lambda: br.explore_commit_regret(BANDIT, horizon=9, explore=4),
        ),
        (
            lambda: br.plan(BANDIT, 4, [br.UCB1()], runs=4).to_dict(),
            lambda: br.plan(BANDIT, "ucb1", horizon=4, runs=4).to_dict(),
        ),
    ],
    ids=["optimal", "explore-commit", "plan"],
)
def test_the_horizon_in_second_place_warns(old, new):
    with pytest.warns(FutureWarning, match=r"^\w+ takes the horizon by name: \w+\(bandit, horizon=\d\)$"):
        found = old()
    assert found == new()
