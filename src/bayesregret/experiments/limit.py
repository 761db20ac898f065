"""Figure 8: how near policies come to the least regret that any policy can have."""

from __future__ import annotations

from collections.abc import Sequence

from bayesregret.experiments.claims import DECISIVE
from bayesregret.experiments.experiment import Experiment, Outcome, Point, ratio_of
from bayesregret.experiments.point import point_settings
from bayesregret.experiments.table import OVER_OPTIMAL, Axis, Claim
from bayesregret.problem import common_bernoulli

HORIZONS = (5, 10, 20, 35, 50, 75, 100, 150, 200)
RUNS = 100_000
# In the order of the legend. Names as on the command line, with settings of their own.
POLICIES = (
    ({"name": "gittins"}, "Gittins index"),
    ({"name": "information-directed"}, "information-directed"),
    ({"name": "thompson"}, "Thompson sampling"),
    ({"name": "quantile-ucb"}, "Bayes-UCB (quantile)"),
    ({"name": "kl-ucb"}, "KL-UCB"),
    ({"name": "bayes-ucb"}, "BayesUCB"),
    ({"name": "moss"}, "MOSS"),
    ({"name": "ucb1"}, "UCB1"),
    ({"name": "explore-commit"}, "explore, then commit"),
    ({"name": "greedy"}, "greedy"),
)


def figure_8(runs: int | None, seed: int) -> Experiment:
    points = tuple(_point(horizon, runs or RUNS, seed) for horizon in HORIZONS)
    return Experiment(
        "figure-8",
        "Policies against the best there can be",
        "Beyond the paper: two Bernoulli arms with uniform priors. Regret of each policy, divided by that of the "
        "Bayes-optimal one, which is computed by dynamic programming, as the horizon grows. No policy can be below 1.",
        Axis("horizon n", "log"),
        OVER_OPTIMAL,
        points,
        tuple(ratio_of(i, str(settings["name"]), label) for i, (settings, label) in enumerate(POLICIES)),
        _claims,
    )


def _point(horizon: int, runs: int, seed: int) -> Point:
    policies = [settings for settings, _ in POLICIES]
    bandit = common_bernoulli(arms=2)
    settings = point_settings(bandit, policies, horizon=horizon, runs=runs, seed=seed, optimal=True)
    return Point(float(horizon), f"n = {horizon}", settings)


def _claims(figure: str, outcomes: Sequence[Outcome]) -> list[Claim]:
    return [_none_is_better(figure, outcomes), _gittins_is_near(figure, outcomes)]


def _none_is_better(figure: str, outcomes: Sequence[Outcome]) -> Claim:
    """Below the optimum by less than noise explains."""
    below = [
        f"{outcome.point.name}: {POLICIES[i][1]} {outcome.regret(i):.4f}, optimal {_least(outcome):.4f}"
        for outcome in outcomes
        for i in range(len(POLICIES))
        if outcome.regret(i) + DECISIVE * outcome.stderr(i) < _least(outcome)
    ]
    nearest = min((outcome.regret(i) / _least(outcome), i, outcome.point.name) for outcome in outcomes for i in _all())
    evidence = f"{len(POLICIES)} policies at {len(outcomes)} horizons; the nearest is {POLICIES[nearest[1]][1]}, "
    evidence += f"{nearest[0]:.4f} times the least regret at {nearest[2]}"
    statement = "No policy has less regret than the Bayes-optimal one."
    return Claim(figure, statement, "fails" if below else "holds", evidence, tuple(below), "bayesregret")


def _gittins_is_near(figure: str, outcomes: Sequence[Outcome]) -> Claim:
    """With a finite horizon the index is not optimal, but nearly."""
    ratios = [outcome.regret(0) / _least(outcome) for outcome in outcomes]
    evidence = f"{min(ratios):.3f} to {max(ratios):.3f} times the least regret"
    best = all(min(_all(), key=outcome.regret) == 0 for outcome in outcomes[1:])
    statement = "Of the policies that look at one arm at a time, the finite-horizon Gittins index is the best."
    return Claim(figure, statement, "holds" if best else "fails", evidence, (), "bayesregret")


def _all() -> range:
    return range(len(POLICIES))


def _least(outcome: Outcome) -> float:
    return float(outcome.result["optimal"]["regret"])
