"""Figure 2: the linear bandit for several prior widths and prior gaps (Section 6.2)."""

from __future__ import annotations

from collections.abc import Sequence

from bayesregret.problem import common_linear
from bayesregret.reproduction import claims, paper_settings
from bayesregret.reproduction.experiment import Experiment, Point, PointOutcome, bound_of, regret_of
from bayesregret.reproduction.point import ALL_BOUNDS, point_settings
from bayesregret.reproduction.table import Axis, Claim

ARMS, DIMENSION = 30, 10
ACCURACY = 0.003  # of Theorem 6: less than a line's thickness
TRENDS = (
    regret_of(0, "bayes-ucb", "BayesUCB"),
    bound_of("gap_dependent", "BayesUCB bound (Theorem 6)", "printed", "leading"),
    bound_of("sqrt", "square-root bound (4)", "printed", "leading"),
    bound_of("certified_index", "certified (index)", "certified"),
)
OURS = f"{paper_settings.OUR_NOISE} {paper_settings.OUR_RANGE}"
SETTING = (
    f"K = {ARMS}, d = {DIMENSION}: the canonical basis and {ARMS - DIMENSION} directions of the positive orthant, "
    "fixed by a seed. Bounds are leading terms, as in the paper; the certified one is whole."
)


def figure_2a(runs: int | None, seed: int) -> Experiment:
    points = tuple(_point(width, 1.0, f"width {width:g}", width, runs, seed) for width in paper_settings.WIDTHS)
    caption = f"Linear bandit as the prior width changes. {SETTING} {OURS}"
    return Experiment(
        "figure-2a",
        "Linear bandit, prior width",
        caption,
        Axis(paper_settings.WIDTH_LABEL, "log"),
        Axis(paper_settings.REGRET_LABEL, "log"),
        points,
        TRENDS,
        _claims_of_width,
    )


def figure_2b(runs: int | None, seed: int) -> Experiment:
    points = tuple(_point(1.0, gap, f"gap {gap:g}", gap, runs, seed) for gap in paper_settings.GAPS)
    caption = f"Linear bandit as the prior gap changes. {SETTING} {OURS}"
    return Experiment(
        "figure-2b",
        "Linear bandit, prior gap",
        caption,
        Axis(paper_settings.GAP_LABEL),
        Axis(paper_settings.REGRET_LABEL, "log"),
        points,
        TRENDS,
        _claims_of_gap,
    )


def _point(width: float, gap: float, name: str, x: float, runs: int | None, seed: int) -> Point:
    bandit = common_linear(arms=ARMS, dimension=DIMENSION, prior_gap=gap, prior_width=width, reward_noise=1.0)
    settings = point_settings(
        bandit,
        [paper_settings.BAYES_UCB],
        horizon=paper_settings.HORIZON,
        runs=runs or paper_settings.RUNS,
        seed=seed,
        bounds=ALL_BOUNDS,
        accuracy=ACCURACY,
    )
    return Point(x, name, settings)


def _claims_of_width(figure: str, outcomes: Sequence[PointOutcome]) -> list[Claim]:
    return [
        claims.regret_falls(
            figure, "The regret of BayesUCB falls as the prior width goes to 0.", outcomes, towards="first"
        ),
        _bound_falls(figure, "The bound of BayesUCB falls as the prior width goes to 0.", outcomes[0], outcomes[-1]),
        *_common_claims(figure, outcomes),
    ]


def _claims_of_gap(figure: str, outcomes: Sequence[PointOutcome]) -> list[Claim]:
    return [
        claims.regret_falls(figure, "The regret of BayesUCB falls as the prior gap grows.", outcomes, towards="last"),
        _bound_falls(figure, "The bound of BayesUCB falls as the prior gap grows.", outcomes[-1], outcomes[0]),
        claims.does_not_move(figure, "The square-root bound does not move with the gap.", outcomes, "sqrt"),
        *_common_claims(figure, outcomes),
    ]


def _bound_falls(figure: str, statement: str, easy: PointOutcome, hard: PointOutcome) -> Claim:
    low, high = easy.bound("gap_dependent", "leading"), hard.bound("gap_dependent", "leading")
    evidence = f"{low:.4g} at {easy.point.name}, {high:.4g} at {hard.point.name}"
    return Claim(figure, statement, "holds" if low < high else "fails", evidence)


def _common_claims(figure: str, outcomes: Sequence[PointOutcome]) -> list[Claim]:
    statement = "The logarithmic bound can be below the square-root bound (leading terms)."
    return [
        claims.below_somewhere(figure, statement, outcomes, "gap_dependent", "sqrt"),
        claims.printed_holds(figure, "Theorem 6", outcomes, "gap_dependent"),
        claims.certified_hold(figure, outcomes, ("bayes-ucb",)),
    ]
