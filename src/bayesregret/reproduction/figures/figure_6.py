"""Figure 6: the value of a prior, and the cost of a wrong one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayesregret.digits import with_error
from bayesregret.models import GaussianBandit
from bayesregret.problem import common_gaussian
from bayesregret.reproduction import claims, paper_settings
from bayesregret.reproduction.experiment import Experiment, Point, PointOutcome, regret_of
from bayesregret.reproduction.point import point_settings
from bayesregret.reproduction.table import Axis, Claim

FACTORS = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)
SHIFTS = (-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0)
TRENDS = (
    regret_of(0, "bayes-ucb", "BayesUCB, true prior"),
    regret_of(1, "bayes-ucb-wrong", "BayesUCB, this prior"),
    regret_of(2, "ucb1", "UCB1, no prior"),
)


def figure_6a(runs: int | None, seed: int) -> Experiment:
    points = tuple(_point(believed_width(f), f"width {f:g} times", f, runs, seed) for f in FACTORS)
    return Experiment(
        "figure-6a",
        "A prior of the wrong width",
        "Beyond the paper: the Gaussian bandit of Figure 1; BayesUCB believes in a prior of the wrong width.",
        Axis("believed width, times the true one", "log"),
        Axis(paper_settings.REGRET_LABEL),
        points,
        TRENDS,
        _claims,
    )


def figure_6b(runs: int | None, seed: int) -> Experiment:
    points = tuple(_point(believed_shift(shift), f"shift {shift:g}", shift, runs, seed) for shift in SHIFTS)
    return Experiment(
        "figure-6b",
        "A prior of the wrong mean",
        "Beyond the paper: BayesUCB believes that the first arm's prior mean is off by a shift, in true widths.",
        Axis("believed mean of the first arm minus the true one"),
        Axis(paper_settings.REGRET_LABEL),
        points,
        TRENDS,
        _claims,
    )


def believed_width(factor: float) -> GaussianBandit:
    return common_gaussian(prior_width=factor)


def believed_shift(shift: float) -> GaussianBandit:
    return common_gaussian(prior_gap=1.0 + shift)


def _point(believed: GaussianBandit, name: str, x: float, runs: int | None, seed: int) -> Point:
    wrong = {"name": "bayes-ucb", "prior": believed.to_dict()}
    settings = point_settings(
        common_gaussian(),
        [paper_settings.BAYES_UCB, wrong, paper_settings.UCB1],
        horizon=paper_settings.HORIZON,
        runs=runs or paper_settings.RUNS,
        seed=seed,
    )
    return Point(x, name, settings)


def _claims(figure: str, outcomes: Sequence[PointOutcome]) -> list[Claim]:
    """Claim that the true prior is the best belief, which is no theorem for BayesUCB."""
    wrong = [outcome.result["policies"][1] for outcome in outcomes]
    better = [i for i, policy in enumerate(wrong) if policy["more"] + claims.DECISIVE * policy["more_stderr"] < 0.0]
    worst = max(range(len(outcomes)), key=lambda i: float(wrong[i]["more"]))
    return [
        Claim(
            figure,
            "No wrong prior does better than the true one.",
            "fails" if better else "holds",
            f"worst {_cost(wrong[worst])} at {outcomes[worst].point.name}",
            tuple(f"{outcomes[i].point.name}: {_cost(wrong[i])}" for i in better),
            "bayesregret",
        )
    ]


def _cost(policy: dict[str, Any]) -> str:
    return with_error(policy["more"], policy["more_stderr"], signed=True)
