"""Figure 9: a league of all policies on the 81 bandits of Figure 3."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bayesregret.digits import counted, with_error
from bayesregret.reproduction import paper_settings
from bayesregret.reproduction.claims import DECISIVE
from bayesregret.reproduction.experiment import Experiment, Point, PointOutcome, TrendOf
from bayesregret.reproduction.figures import figure_3
from bayesregret.reproduction.point import Result, point_settings
from bayesregret.reproduction.table import Axis, Claim

RUNS = 400
# The regrets of the others are divided by that of the first.
POLICIES = (
    (paper_settings.BAYES_UCB, "BayesUCB"),
    ({"name": "gittins"}, "Gittins index"),
    ({"name": "information-directed", "gain": "variance"}, "information-directed (variance)"),
    ({"name": "thompson"}, "Thompson sampling"),
    ({"name": "quantile-ucb"}, "Bayes-UCB (quantile)"),
    ({"name": "kl-ucb"}, "KL-UCB"),
    ({"name": "moss"}, "MOSS"),
    (paper_settings.UCB1, "UCB1"),
    ({"name": "explore-commit"}, "explore, then commit"),
    ({"name": "epsilon-greedy"}, "epsilon-greedy"),
    ({"name": "greedy"}, "greedy"),
)


def figure_9(runs: int | None, seed: int) -> Experiment:
    points = tuple(_point(point, runs or RUNS, seed) for point in figure_3.bandits("gaussian", runs, seed))
    return Experiment(
        "figure-9",
        "A league of policies",
        f"Beyond the paper: regret of each policy divided by that of BayesUCB, on the {len(points)} bandits of Figure "
        "3a and common instances and noise. Each line has the bandits in its own order, so that it only rises; below 1 "
        "a policy is better than BayesUCB.",
        Axis("bandits, each line in its own order"),
        Axis("regret / regret of BayesUCB", "log", mark=1.0, mark_label="BayesUCB"),
        points,
        tuple(_ratio_of(i, str(POLICIES[i][0]["name"]), POLICIES[i][1]) for i in range(1, len(POLICIES))),
        _claims,
        sort_by=lambda outcome: outcome.regret(0),
        name=lambda outcome: outcome.point.name,
        ranked=True,
    )


def _point(point: Point, runs: int, seed: int) -> Point:
    from bayesregret.problem import problem_from_dict

    bandit = problem_from_dict(point.settings["problem"])
    policies = [settings for settings, _ in POLICIES]
    return Point(
        point.x, point.name, point_settings(bandit, policies, horizon=paper_settings.HORIZON, runs=runs, seed=seed)
    )


def _ratio_of(policy: int, name: str, label: str) -> TrendOf:
    return TrendOf(name, label, "regret", lambda result: ratio(result, policy))


def ratio(result: Result, policy: int) -> tuple[float, float]:
    """Return regret over that of BayesUCB, with the standard error.

    The error combines that of the paired difference, in which most of the noise cancels, and that of BayesUCB's regret.
    """
    first, other = result["policies"][0], result["policies"][policy]
    if first["regret"] == 0.0:  # too few runs
        return (1.0 if other["regret"] == 0.0 else math.inf), 0.0
    more = other["more"] / first["regret"]
    return 1.0 + more, math.hypot(other["more_stderr"], more * first["stderr"]) / first["regret"]


def _claims(figure: str, outcomes: Sequence[PointOutcome]) -> list[Claim]:
    """Return the league: one claim per policy, the best policy first."""
    standings = sorted((_standing(outcomes, policy), policy) for policy in range(1, len(POLICIES)))
    return [_claim(figure, outcomes, policy) for _, policy in standings]


def _standing(outcomes: Sequence[PointOutcome], policy: int) -> tuple[float, float]:
    """Return the geometric mean of the ratios over all bandits, with its standard error."""
    ratios = [found for outcome in outcomes if 0.0 < (found := ratio(outcome.result, policy))[0] < math.inf]
    if not ratios:
        return math.inf, 0.0
    mean = math.exp(math.fsum(math.log(value) for value, _ in ratios) / len(ratios))
    spread = math.sqrt(math.fsum((error / value) ** 2 for value, error in ratios)) / len(ratios)
    return mean, mean * spread


def _claim(figure: str, outcomes: Sequence[PointOutcome], policy: int) -> Claim:
    mean, stderr = _standing(outcomes, policy)
    label = POLICIES[policy][1]
    ratios = [ratio(outcome.result, policy) for outcome in outcomes]
    better = sum(value + DECISIVE * error < 1.0 for value, error in ratios)
    worse = sum(value - DECISIVE * error > 1.0 for value, error in ratios)
    evidence = (
        f"{with_error(mean, stderr)} times the regret of BayesUCB (geometric mean); decisively better at {better} "
    )
    evidence += f"and worse at {worse} of {counted(len(outcomes), 'bandit')}"
    if unknown := sum(not 0.0 < value < math.inf for value, _ in ratios):
        evidence += f"; the mean leaves out {counted(unknown, 'bandit')} where too few runs had any regret"
    statement = (
        f"{label[0].upper()}{label[1:]} has less regret than BayesUCB with delta = 1/n, all bandits taken together."
    )
    holds = mean + DECISIVE * stderr < 1.0
    return Claim(figure, statement, "holds" if holds else "fails", evidence, (), "bayesregret")
