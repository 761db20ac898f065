"""A plan's numbers are those of simulate, exact_regret and bounds called by hand."""

import dataclasses

import numpy as np
import pytest

import bayesregret as br
from bayesregret.planning.experiment import best_bound
from bayesregret.planning.policy_outcome import PolicyOutcome
from bayesregret.planning.recommendation import is_worse
from bayesregret.planning.run_budget import FEWEST, MOST, runs_for_point, runs_for_policy
from bayesregret.planning.tracked_simulation import paired, track
from bayesregret.planning.value_of_prior import prior_worth
from bayesregret.problem import common_bernoulli, common_gaussian, common_linear
from bayesregret.simulation.engines.threads import ThreadsEngine

SPLIT = "A/B test"
TUNED = "bayes-ucb(delta=0.99)"  # the best one for two arms and six rounds


@pytest.fixture(scope="module")
def small():
    names = ["bayes-ucb", "thompson", "kl-ucb", "moss", "ucb1"]
    return br.plan(common_bernoulli(arms=2), names, horizon=6, runs=8, seed=3)


@pytest.fixture(scope="module")
def linear():
    return br.plan(common_linear(arms=4, dimension=2), horizon=8, runs=8, budget=3, regret_per_round=0.6)


def test_simulated_numbers_are_those_of_simulate(small):
    for name, outcome in small.outcomes.items():
        result = br.simulate(small.bandit, outcome.policy, horizon=6, runs=8, seed=3)[outcome.policy.name]
        assert outcome.simulated == result.estimate, name
        assert {share: value.mean for share, value in outcome.quantiles.items()} == {
            share: result.quantile(share) for share in (0.05, 0.5, 0.95)
        }
    assert list(small.outcomes) == ["bayes-ucb", "thompson", "kl-ucb", "moss", "ucb1", SPLIT, TUNED]


def test_exact_numbers_replace_simulated_ones(small):
    for policy in (br.BayesUCB(), br.UCB1()):
        found = br.exact_regret(small.bandit, policy, horizon=6)
        assert (small[policy.name].regret.mean, small[policy.name].regret.stderr) == (found.regret, found.error)
    split = small[SPLIT]
    assert split.policy.explore == small.bandit.best_exploration(6)
    assert split.regret.mean == br.explore_commit_regret(small.bandit, horizon=6)
    assert small["thompson"].regret == small["thompson"].simulated
    assert small["bayes-ucb"].regret_per_round.mean == pytest.approx(small["bayes-ucb"].regret.mean / 6)


def test_the_best_delta_has_a_row_of_its_own(small):
    assert small[TUNED].policy == br.BayesUCB(delta=0.99)
    assert small[TUNED].regret.mean == br.exact_regret(small.bandit, br.BayesUCB(delta=0.99), horizon=6).regret
    assert small[TUNED].is_tuned


def test_the_best_delta_is_judged_on_runs_that_did_not_choose_it(linear):
    tuned = next(outcome for name, outcome in linear.outcomes.items() if name.startswith("bayes-ucb(delta="))
    assert linear.delta.usual_cost == paired(linear["bayes-ucb"].tracked.final_regret, tuned.tracked.final_regret)


def test_the_least_regret_is_that_of_the_best_play(small):
    least = br.bayes_optimal_regret(small.bandit, horizon=6)
    assert small.least.regret == least.regret
    assert small["ucb1"].least_ratio == small["ucb1"].regret.mean / least.regret
    assert "times the least" in small.table()[0]


def test_bounds_are_the_best_that_hold(small):
    assert small["bayes-ucb"].bound.value == br.bounds.certified(small.bandit, horizon=6).value
    assert small["thompson"].bound.value == br.bounds.certified_thompson(small.bandit, horizon=6).value
    assert small["kl-ucb"].bound is None
    gaussian = common_gaussian(arms=3)
    assert best_bound(gaussian, br.UCB1(), 50).value == br.bounds.certified_ucb1(gaussian, horizon=50).value
    assert (
        best_bound(gaussian, br.BayesUCB(delta=0.1), 50).value
        == br.bounds.certified(gaussian, horizon=50, delta=0.1).value
    )
    assert best_bound(gaussian, br.BayesUCB(prior=gaussian), 50) is None
    assert best_bound(br.GaussianBandit([0, 0], [1, 2], 1, "rademacher"), br.UCB1(), 5) is None


def test_priors_too_extreme_for_a_number_go_without_it(monkeypatch):
    bandit = br.BernoulliBandit([3, 80], [0.03, 8])
    with pytest.raises(ValueError, match="for a bound"):
        br.bounds.certified(bandit, horizon=2)
    bound = best_bound(bandit, br.BayesUCB(), 2)
    assert bound.value >= br.exact_regret(bandit, br.BayesUCB(), horizon=2).regret

    def refuse(*_, **__):
        raise ValueError("prior_width must be nearer in size to the means and the noise for an exact regret")

    monkeypatch.setattr("bayesregret.planning.experiment.exact_regret", refuse)
    monkeypatch.setattr("bayesregret.exact.best_delta", refuse)
    found = br.plan(common_bernoulli(arms=2), br.BayesUCB(), horizon=3, runs=4)
    assert found["bayes-ucb"].exact is None
    assert not found.delta.is_exact


def test_what_the_prior_is_worth(small, linear):
    rival = min(("kl-ucb", "moss", "ucb1"), key=lambda name: small[name].regret.mean)
    assert (small.worth.known, small.worth.without) == (small.best.name, rival)
    worth = prior_worth(small[TUNED], small["ucb1"])
    assert worth.is_exact
    assert worth.regret.mean == small["ucb1"].regret.mean - small[TUNED].regret.mean
    assert worth.bound is None
    simulated = linear.worth
    assert not simulated.is_exact
    assert simulated.known == linear.best.name
    assert simulated.regret == paired(linear[simulated.without].tracked.final_regret, linear.best.tracked.final_regret)
    rival = dataclasses.replace(small["ucb1"], bound=br.bounds.certified_trivial(small.bandit, horizon=6))
    assert prior_worth(small["bayes-ucb"], rival).bound == rival.bound.value - small["bayes-ucb"].bound.value


def test_a_policy_that_is_not_compared_is_still_held_against(small):
    alone = br.plan(small.bandit, br.BayesUCB(), horizon=6, runs=8, seed=3)
    assert list(alone.outcomes) == ["bayes-ucb", SPLIT, TUNED]
    assert alone.best is alone[TUNED], "clearly better than the usual delta"
    assert (alone.worth.known, alone.worth.without) == (TUNED, "ucb1")
    assert alone.worth.is_exact
    believed = br.plan(small.bandit, br.BayesUCB(prior=small.bandit), horizon=3, runs=4)
    assert believed["bayes-ucb"].exact is None


def test_the_best_policy_has_the_least_regret_or_one_that_a_tuned_delta_does_not_beat(small):
    least = min(small.outcomes.values(), key=lambda outcome: outcome.regret.mean)
    assert small.best is least or (least.is_tuned and not is_worse(small.best, least))
    assert small.sentences()[0].startswith(f"Run {small.best.name}: ")
    assert small.table()[1][0] == least.name


def test_plain_data_are_strict(small, linear):
    for plan in (small, linear):
        data = plan.to_dict()
        assert data["problem"] == plan.bandit.to_dict()
        assert set(data["policies"]) == set(plan.outcomes)
        assert data["policies"][SPLIT]["explore"] == plan[SPLIT].policy.explore
        assert len(data["policies"]["ucb1"]["rounds"]) == len(data["policies"]["ucb1"]["on_best_by_round"]["chance"])


def test_it_prints_what_it_found(small):
    text = str(small)
    assert text == repr(small)
    for line in (*small.sentences(), *small.notes):
        assert line in text
    with pytest.raises(KeyError, match="policy must be one of bayes-ucb"):
        small["nobody"]


def test_a_linear_bandit_says_what_is_not_computed(linear):
    text = "\n".join(linear.notes)
    assert "A wrong prior mean is not examined" in text or "How wrong the prior may be is not computed" in text
    assert "No answer: bandit must have independent arms to change their number, got a linear one." in text
    assert "kl-ucb" not in linear.outcomes
    assert linear.delta is not None


def test_one_arm_leaves_nothing_to_choose():
    found = br.plan(common_bernoulli(arms=1), horizon=10, runs=4)
    assert found.sentences() == ["There is one arm, and nothing to choose: no policy has any regret."]
    assert (found.worth, found.limits, found.delta) == (None, (), None)
    assert found["bayes-ucb"].settled.at == 1.0
    assert found.table()[1] == ["bayes-ucb", "0", "0", "0", "0", "0", "0", "100%", "1"]
    assert "±" not in str(found.table())
    assert "times the least" not in found.table()[0]


def test_one_round():
    found = br.plan(common_bernoulli(arms=2), horizon=1, runs=4)
    assert found.delta is None
    assert "Too close to tell apart" in found.sentences()[0]
    assert any(
        line.startswith("No A/B test is worth its rounds: keeping the arm with the highest prior mean has a regret of ")
        for line in found.sentences()
    )
    assert "kl-ucb uses no prior: a wrong prior cannot mislead it." in found.notes
    alone = br.plan(common_bernoulli(arms=2), br.BayesUCB(), horizon=1, runs=4)
    assert "even with the prior of the problem, the regret of bayes-ucb minus that of ucb1 is " in alone.notes[0]


@pytest.mark.parametrize(("probability", "shown"), [(0.94, "unsure"), (0.9, "> 6"), (0.97, "4 (3 to beyond 6)")])
def test_a_probability_that_may_be_above_95_percent_is_not_said_to_be_below(small, probability, shown):
    rounds = small["ucb1"].tracked.rounds
    probabilities = np.where(rounds < 4, 0.9, probability)
    tracked = small["ucb1"].tracked._replace(near_best=probabilities, near_best_stderr=np.full(len(rounds), 0.02))
    row = dataclasses.replace(small, outcomes={"ucb1": dataclasses.replace(small["ucb1"], tracked=tracked)}).table()[1]
    assert row[-1] == shown


def test_a_bound_is_rounded_up_and_includes_its_error_already(small):
    bound = dataclasses.replace(small["bayes-ucb"].bound, value=12.341, error=0.05)
    outcomes = {"bayes-ucb": dataclasses.replace(small["bayes-ucb"], bound=bound)}
    assert dataclasses.replace(small, outcomes=outcomes).table()[1][5] == "12.35"


def test_rewards_without_a_width_have_other_rivals():
    poisson = br.plan(br.PoissonBandit([1, 1], [1, 1]), horizon=8, runs=8)
    assert (poisson.worth.known, poisson.worth.without) == (poisson.best.name, "kl-ucb")
    assert poisson[SPLIT].policy.explore % 2 == 0
    assert poisson[SPLIT].exact == pytest.approx(2.0)  # one pull of each costs 1, and so does what remains unknown
    unknown_variance = br.plan(br.NormalGammaBandit([0, 0], 1, 2, 1), [br.Thompson()], horizon=8, runs=4)
    assert unknown_variance.worth is None
    assert "No policy without a prior runs on normal-gamma rewards" in unknown_variance.notes[0]


def test_the_best_delta_is_not_looked_for_where_that_takes_long(monkeypatch):
    monkeypatch.setattr("bayesregret.planning.planner.LONGEST_QUANTILES", 3)
    found = br.plan(br.PoissonBandit([1, 1], [1, 1]), [br.Thompson(), br.BayesUCB()], horizon=4, runs=4)
    assert found.delta is None
    assert "takes too long" in found.notes[0]
    assert found.notes[-1] == "Certified for every policy: a regret of at most 4.000."


@pytest.mark.compiled
def test_the_round_from_which_on_the_best_arm_is_likely():
    """The exact probability of the best arm decides; a probability of 90 percent is the control."""
    bandit = common_gaussian(arms=2, prior_width=5.0)
    policy = br.BayesUCB()
    tracked = track(
        bandit, policy, horizon=100, runs=20_000, seed=0, engine=ThreadsEngine(2), on_progress=lambda _: None
    )
    settled = PolicyOutcome("bayes-ucb", policy, 100, tracked, None, None, None, None).settled
    chance = br.exact_regret(bandit, policy, horizon=100).best_chance
    rounds = [1 + int(np.flatnonzero(chance <= level).max()) for level in (0.95, 0.90)]
    assert settled.low - 1 <= rounds[0] <= settled.high + 1
    assert rounds[1] < settled.low - 1


def test_progress_ends_with_all_done():
    reported = []
    br.plan(
        common_bernoulli(arms=2),
        br.BayesUCB(),
        horizon=3,
        runs=4,
        progress=lambda done, total: reported.append((done, total)),
    )
    assert all(0 < done <= total for done, total in reported)
    assert [done for done, _ in reported] == sorted(done for done, _ in reported)


def test_numbers_of_runs_fit_a_few_seconds():
    bernoulli, poisson = common_bernoulli(arms=10), br.PoissonBandit([1] * 4, [1] * 4)
    assert runs_for_policy(br.BayesUCB(), bernoulli, 10) == MOST
    assert runs_for_policy(br.InformationDirected(), bernoulli, 10**6) == FEWEST
    assert (
        FEWEST < runs_for_policy(br.Thompson(), bernoulli, 50_000) < runs_for_policy(br.BayesUCB(), bernoulli, 50_000)
    )
    assert runs_for_point(br.BayesUCB(), bernoulli, 50_000) < runs_for_policy(br.BayesUCB(), bernoulli, 50_000)
    assert runs_for_policy(br.BayesUCB(), poisson, 20_000) < runs_for_policy(br.Thompson(), poisson, 20_000)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"bandit": 3}, "bandit must be a bandit such as GaussianBandit, got 3"),
        ({"horizon": 0}, "horizon must be"),
        ({"horizon": 2.5}, "horizon must be"),
        ({"policies": 3}, "policies must be a policy or a list of policies"),
        ({"policies": "bayes"}, "policy must be "),
        ({"policies": []}, "policies must be a policy or a list of policies"),
        ({"policies": br.LinUCB()}, "policy must"),
        ({"runs": 1}, "runs must be"),
        ({"seed": -1}, "seed must be"),
        ({"threads": 0}, "threads must be"),
        ({"budget": 0}, "budget must be a positive number, got 0"),
        ({"regret_per_round": -0.1}, "regret_per_round must be a positive number, got -0.1"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message) as complaint:
        br.plan(**({"bandit": common_bernoulli(arms=2), "horizon": 5} | arguments))
    assert "\n" not in str(complaint.value)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            {"horizon": 10**12},
            r"horizon must be at most about [1-9][\d,]*, got 1000000000000: a plan may take 30 days, and this one",
        ),
        (
            {"horizon": 10**11, "runs": 10**3},
            r"runs must be at most about [1-9]\d*, got 1000: a plan may take 30 days, and this one",
        ),
    ],
)
def test_an_endless_plan_is_refused_before_it_starts(monkeypatch, arguments, said):
    """Its own choice of runs is refused, too: the fewest take years over so many rounds."""
    monkeypatch.setattr("bayesregret.planning.planner._plan", lambda *_: pytest.fail("it started"))
    with pytest.raises(ValueError, match=f"^{said}"):
        br.plan(br.GaussianBandit([1, 0], 1, 1), ["ucb1"], threads=2, **arguments)
