"""Figure 1: the Gaussian bandit for several prior widths and prior gaps (Section 6.1)."""

from __future__ import annotations

from collections.abc import Sequence

from bayesregret.problem import common_gaussian
from bayesregret.reproduction import claims, paper_settings
from bayesregret.reproduction.exact_agreement import agreement
from bayesregret.reproduction.experiment import Decide, Experiment, Point, PointOutcome, bound_of, regret_of
from bayesregret.reproduction.table import Axis, Claim

TRENDS = (
    regret_of(0, "bayes-ucb", "BayesUCB"),
    regret_of(1, "ucb1", "UCB1"),
    bound_of("gap_dependent", "BayesUCB bound (Theorem 1)", "printed", "leading"),
    bound_of("ucb1_gap_dependent", "UCB1 bound (infinite width)", "printed", "leading"),
    bound_of("sqrt", "square-root bound (3)", "printed", "leading"),
    bound_of("certified_index", "certified (index form)", "certified"),
)
OURS = f"{paper_settings.OUR_NOISE} {paper_settings.OUR_RANGE}"
EXPLANATION = (
    "Marks are simulated regret with one standard error, solid lines the exact regret, computed without simulation. "
    "Bounds are leading terms, as in the paper; the certified one is whole."
)


def figure_1a(runs: int | None, seed: int) -> Experiment:
    points = tuple(_point(width, 1.0, f"width {width:g}", width, runs, seed) for width in paper_settings.WIDTHS)
    caption = f"Gaussian bandit, K = 10, as the prior width changes. {EXPLANATION} {OURS}"
    x = Axis(paper_settings.WIDTH_LABEL, "log")
    return _experiment("figure-1a", "Gaussian bandit, prior width", caption, x, points, _claims_of_width)


def figure_1b(runs: int | None, seed: int) -> Experiment:
    points = tuple(_point(1.0, gap, f"gap {gap:g}", gap, runs, seed) for gap in paper_settings.GAPS)
    caption = f"Gaussian bandit, K = 10, as the prior gap changes. {EXPLANATION} {OURS}"
    x = Axis(paper_settings.GAP_LABEL)
    return _experiment("figure-1b", "Gaussian bandit, prior gap", caption, x, points, _claims_of_gap)


def _point(width: float, gap: float, name: str, x: float, runs: int | None, seed: int) -> Point:
    bandit = common_gaussian(arms=10, prior_gap=gap, prior_width=width, reward_noise=1.0)
    return paper_settings.compared(bandit, x, name, runs=runs or paper_settings.RUNS, seed=seed, exact=True)


def _experiment(
    figure: str, title: str, caption: str, x: Axis, points: tuple[Point, ...], decide: Decide
) -> Experiment:
    return Experiment(figure, title, caption, x, Axis(paper_settings.REGRET_LABEL, "log"), points, TRENDS, decide)


def _claims_of_width(figure: str, outcomes: Sequence[PointOutcome]) -> list[Claim]:
    falls = claims.regret_falls(
        figure, "The regret of BayesUCB falls as the prior width goes to 0.", outcomes, towards="first"
    )
    return [falls, *_common_claims(figure, outcomes)]


def _claims_of_gap(figure: str, outcomes: Sequence[PointOutcome]) -> list[Claim]:
    falls = claims.regret_falls(
        figure, "The regret of BayesUCB falls as the prior gap grows.", outcomes, towards="last"
    )
    still = claims.does_not_move(figure, "The square-root bound does not move with the gap.", outcomes, "sqrt")
    return [falls, still, *_common_claims(figure, outcomes)]


def _common_claims(figure: str, outcomes: Sequence[PointOutcome]) -> list[Claim]:
    return [
        claims.first_policy_is_better(figure, outcomes),
        claims.below(
            figure,
            "The BayesUCB bound is below the UCB1 bound (leading terms).",
            outcomes,
            "gap_dependent",
            "ucb1_gap_dependent",
        ),
        claims.below(
            figure,
            "The logarithmic BayesUCB bound is below the square-root bound (leading terms).",
            outcomes,
            "gap_dependent",
            "sqrt",
        ),
        claims.below(
            figure,
            "The logarithmic UCB1 bound is below the square-root bound (leading terms).",
            outcomes,
            "ucb1_gap_dependent",
            "sqrt",
        ),
        claims.printed_holds(figure, "Theorem 1", outcomes, "gap_dependent"),
        claims.certified_hold(figure, outcomes),
        *agreement(figure, outcomes),
    ]
