"""Exact numbers against simulated ones, on random problems. tests/exact/validate.py does the same at length."""

import itertools

import pytest

import bayesregret as br
from exact.validate import WORST, Problem, compare, random_problems

pytestmark = pytest.mark.compiled

RUNS = 50_000
G, B = br.GaussianBandit, br.BernoulliBandit


def random_ones(kind, seed, count, longest):
    problems = itertools.islice(random_problems(kind, seed, longest), count)
    return [pytest.param(problem, id=f"{kind}-{i}") for i, problem in enumerate(problems)]


MANY_ARMS = [
    Problem("fifty equal", G([0.0] * 50, 1.0, 1.0), br.BayesUCB(), 60),
    Problem("fifty Bernoulli, ucb1", B([1.0] * 50, [2.0] * 50), br.UCB1(), 60),
]
EDGES = [
    Problem("bold", G([0.2, 0.0, 0.1], 1.0, 1.0), br.BayesUCB(delta=1e-300), 20),
    Problem("wide", G([0.2, 0.0], 1.0, 0.03), br.BayesUCB(), 20),
    Problem("a sixteenth", G([1.0, 0.0], 1.0, 0.25), br.BayesUCB(), 20),
    Problem("too sure", G([0.5, 0.0], 1.0, 0.5), br.BayesUCB(prior=G([0.0, 1.0], 0.3, 0.5)), 12),
    Problem("rare Bernoulli", B([0.05] * 4, [1.0] * 4), br.UCB1(), 40),
]


@pytest.mark.parametrize(
    "problem",
    [
        *random_ones("gaussian", 11, 4, 25),
        *random_ones("bernoulli", 12, 5, 40),
        *(pytest.param(problem, id=problem.what) for problem in MANY_ARMS + EDGES),
    ],
)
@pytest.mark.slow
@pytest.mark.compiled
def test_within_standard_errors(problem):
    got = compare(problem, RUNS, seed=5, few_arms=3)
    assert got.worst < WORST
    assert got.error < 1e-6 * max(got.exact, 1e-2)


@pytest.mark.parametrize("kind", ["gaussian", "bernoulli"])
def test_another_problem_is_noticed(kind):
    """The control: what is simulated with another delta, and with another prior, is many standard errors off."""
    bandit = G([0.5, 0.0, 0.0], 1.0, 1.0) if kind == "gaussian" else B([2.0, 1.0, 1.0], [1.0, 1.0, 1.0])
    near = G([0.5, 0.1, 0.1], 1.0, 1.0) if kind == "gaussian" else B([2.0, 1.0, 1.0], [1.0, 1.5, 1.5])
    found = br.exact_regret(bandit, br.BayesUCB(), horizon=40)
    right = br.simulate(bandit, br.BayesUCB(), horizon=40, runs=4 * RUNS, seed=6)["bayes-ucb"]
    other = br.simulate(bandit, br.BayesUCB(delta=1e-4), horizon=40, runs=4 * RUNS, seed=6)["bayes-ucb"]
    moved = br.simulate(near, br.BayesUCB(), horizon=40, runs=4 * RUNS, seed=6)["bayes-ucb"]
    assert abs(found.regret - right.mean) < WORST * right.stderr
    assert abs(found.regret - other.mean) > 2 * WORST * other.stderr
    assert abs(found.regret - moved.mean) > 2 * WORST * moved.stderr
