"""The numbers of the views are those of the library's calls; they get better step by step."""

import math

import numpy as np
import pytest

import bayesregret as br
from bayesregret.exploring.bounds_view import sweep_steps
from bayesregret.exploring.densities import prior_densities
from bayesregret.exploring.one_run import play
from bayesregret.exploring.regret_view import regret_steps
from bayesregret.exploring.run_frames import RunFrame, run_steps
from bayesregret.exploring.settings import PageState
from bayesregret.exploring.snapshot import never
from bayesregret.problem import COMMON_PROBLEMS
from bayesregret.reproduction.paper_settings import GAPS

pytestmark = pytest.mark.compiled
SMALL = PageState(values=(("arms", 3),), horizon=20, runs=400, seed=4)


def make(state):
    return state.bandit({})


def test_curves_are_simulations_with_more_and_more_runs():
    found = list(regret_steps(SMALL, make(SMALL)))
    assert [snapshot.done for snapshot in found] == [False] * (len(found) - 1) + [True]
    seen = [snapshot.lines[0].readings[1].value for snapshot in found]
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (256, 400)
    for snapshot in (found[0], found[-1]):
        for line in snapshot.lines:
            runs = int(line.readings[1].value)
            result = br.simulate(make(SMALL), line.name, horizon=20, runs=runs, seed=4, progress=False)[line.name]
            assert (line.readings[0].value, line.readings[0].error) == (result.mean, result.stderr)
            trend = next(trend for trend in snapshot.table.trends if trend.label == line.name)
            assert list(trend.values) == result.curve.mean.tolist()
    exact = br.exact_regret(make(SMALL), "ucb1", horizon=20, accuracy=1e-4)
    assert found[-1].lines[2].readings[2].value == exact.regret
    assert found[-1].table.trends[2].exact.values[-1] == exact.regret


def test_policies_that_cannot_run_say_why():
    state = PageState(problem="poisson", values=(("arms", 2),), horizon=10, runs=20, policies=("ucb1", "greedy"))
    last = list(regret_steps(state, make(state)))[-1]
    assert last.lines[0].note.startswith("policy must not need sub-Gaussian rewards")
    assert math.isfinite(last.lines[1].readings[0].value)
    assert [trend.label for trend in last.table.trends] == ["greedy"]
    only = state.changed(policies=("ucb1",))
    assert list(regret_steps(only, make(only)))[-1].table.trends == ()


def test_a_policy_that_takes_too_long_is_refused():
    state = PageState(
        values=(("arms", 1_000),), horizon=100_000, policies=("information-directed:gain=variance",), runs=20
    )
    last = list(regret_steps(state, make(state)))[-1]
    assert last.done
    assert "too long for a page" in last.lines[0].note


def test_a_sweep_has_regret_between_its_bounds():
    state = SMALL.changed(sweep="prior_gap", view="bounds", policies=("bayes-ucb", "thompson"), horizon=30)
    found = list(sweep_steps(state, make(state), make))
    last = found[-1]
    assert last.done
    assert last.at == 1.0
    assert last.table.points == GAPS
    trends = {trend.name: trend.values for trend in last.table.trends}
    for i, gap in enumerate(GAPS):
        bandit = br.GaussianBandit([gap, 0, 0], 1, 1)
        regret = br.exact_regret(bandit, "bayes-ucb", horizon=30, accuracy=1e-4).regret
        assert trends["bayes-ucb"][i] == regret
        assert trends["certified"][i] == br.bounds.certified(bandit, horizon=30).value
        assert trends["gap_dependent"][i] == br.bounds.gap_dependent(bandit, horizon=30).leading
        assert trends["certified_lower"][i] <= regret <= trends["certified"][i] <= trends["certified_trivial"][i]
    here = {line.name: line.readings[0].value for line in last.lines}
    assert here == {name: values[GAPS.index(1.0)] for name, values in trends.items()}
    assert all(math.isnan(value) for value in found[0].table.trends[-1].values)  # the slowest bound comes last


@pytest.mark.parametrize("problem", COMMON_PROBLEMS)
def test_a_single_run_is_the_first_of_a_simulation(problem):
    bandit = COMMON_PROBLEMS[problem]()
    for name in ("bayes-ucb", "thompson"):
        policy = PageState(policies=(name,)).play()[name]
        run = play(bandit, name, policy, 12, 5, never)
        result = br.simulate(bandit, name, horizon=12, runs=1, seed=5, progress=False)[name]
        assert run.regret[-1] == pytest.approx(result.mean, rel=1e-12)
        assert run.pulls(12).tolist() == result.mean_pulls.tolist()
        other = play(bandit, name, policy, 12, 6, never)
        assert not np.array_equal(run.rewards, other.rewards)


def test_posteriors_of_a_run_are_those_of_an_agent():
    state = SMALL.changed(view="run", round=7)
    (frame,) = run_steps(state, make(state))
    agent = br.BayesUCB().start(make(state), horizon=20, seed=4)
    for arm, reward in zip(frame.run.taken[:7], frame.run.rewards[:7], strict=True):
        assert agent.select() == arm
        agent.update(int(arm), float(reward))
    expected = agent.posterior(level=0.9)
    assert np.array_equal(frame.posterior.mean, expected.mean)
    assert np.array_equal(frame.posterior.high, expected.high)
    shown = {line.name: line.readings for line in frame.snapshot().lines}
    assert [shown[f"arm {arm}"][2].value for arm in range(3)] == expected.mean.tolist()
    first = RunFrame(frame.run, 0, frame.run.posterior(0))
    assert first.snapshot().status.startswith("Before the first of 20 rounds")


def test_many_arms_have_no_posteriors_and_long_runs_end():
    state = PageState(values=(("arms", 60),), horizon=3_000, view="run", policies=("greedy",))
    (frame,) = run_steps(state, make(state))
    assert frame.posterior is None
    assert len(frame.run.taken) == 2_000
    assert len(frame.snapshot().lines) == 20


@pytest.mark.parametrize("problem", COMMON_PROBLEMS)
def test_densities_have_the_priors_mass_and_mean(problem):
    bandit = COMMON_PROBLEMS[problem]()
    means = bandit.draw_means(4_000, seed=1)
    for density in prior_densities(bandit):
        arm = 0 if density.label.startswith("all") else int(density.label.split()[1])
        mass = np.trapezoid(density.y, density.x)
        assert mass == pytest.approx(1.0, abs=0.03)
        mean = np.trapezoid(density.x * density.y, density.x) / mass
        error = means[:, arm].std() / math.sqrt(4_000)
        assert abs(mean - means[:, arm].mean()) < 5 * error + 0.03 * means[:, arm].std()
        assert abs(mean + 1.0 - means[:, arm].mean()) > 5 * error


def test_densities_of_a_mixture_are_those_of_the_prior_that_matches_it():
    parts = [br.BernoulliBandit([1, 2], [3, 3]), br.BernoulliBandit([2, 2], [1, 1])]
    mixture = br.MixtureBandit([0.5, 0.5], parts)
    expected = prior_densities(mixture.conjugate())
    assert [density.label for density in prior_densities(mixture)] == [density.label for density in expected]
    assert [density.label for density in prior_densities(br.GaussianBandit([1, 0, 1, 1], 1, 1))] == ["3 arms", "arm 1"]
