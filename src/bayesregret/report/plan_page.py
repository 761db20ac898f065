"""The page of a plan: the answer first, then the numbers and assumptions behind it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from bayesregret import __version__
from bayesregret.digits import PLUS_MINUS, counted
from bayesregret.planning.experiment import AB_TEST
from bayesregret.planning.figure_tables import figure_tables, wrong_prior_tables
from bayesregret.planning.summary_text import ab_test_line, answer, delta_line, inversion_line, limit_line, worth_line
from bayesregret.plotting.saving import write_atomically
from bayesregret.report.reproduction_page import make_section, part, template

if TYPE_CHECKING:
    from bayesregret.planning import Plan

NO_BREAK = "\N{NO-BREAK SPACE}"
MOST_NUMBERS = 12  # of a list in the problem that are written out

ASSUMPTIONS = (
    "Mean rewards are drawn from the prior of the problem below. All averages are over such draws: a single experiment "
    "may lose much less or much more, as the columns 5%, 50% and 95% show.",
    "Rewards are independent given the means, and the means do not change while the experiment runs.",
    "Each reward is observed immediately, before the next round begins.",
    "Regret is the expected reward of always taking the best arm, minus that of the arms taken.",
    "Simulated numbers have one standard error, or end with the first digit that it makes uncertain; intervals have 95 "
    "percent coverage. All other numbers are computed without simulation.",
    "Certified bounds are proved for every horizon and hold for regret averaged over the prior.",
)


def write_plan(path: str | os.PathLike[str], plan: Plan) -> Path:
    """Write a plan as one self-contained HTML file, all of it or nothing."""
    wrong = {table.figure for table in wrong_prior_tables(plan)}
    sections = [make_section(table, table.figure) for table in figure_tables(plan)]
    page = template("plan.html").render(
        title=f"{counted(plan.bandit.arms, 'arm')}, {counted(plan.horizon, 'round')}: what to expect",
        answer=answer(plan),
        split=ab_test_line(plan),
        rows=plan.table(),
        figures=[section for section in sections if section.name not in wrong],
        prior=[] if plan.worth is None else [worth_line(plan.worth), *map(limit_line, plan.limits)],
        wrong=[section for section in sections if section.name in wrong],
        delta=None if plan.delta is None else delta_line(plan.delta),
        inversions=[inversion_line(found, plan.bandit) for found in plan.inversions],
        notes=plan.notes,
        assumptions=ASSUMPTIONS,
        problem=_problem(plan),
        runs={outcome.name: counted(outcome.runs, "run") for outcome in plan.outcomes.values()},
        settings={"seed": plan.seed, **_length(plan), "bayesregret": __version__},
        style=Markup(part("style.css") + part("plan.css")),
        script=Markup(part("script.js")),
    )
    # No line break between a number and its error.
    return write_atomically(Path(path), page.replace(f" {PLUS_MINUS} ", f"{NO_BREAK}{PLUS_MINUS}{NO_BREAK}").encode())


def _length(plan: Plan) -> dict[str, Any]:
    return {f"{AB_TEST} explores": counted(plan[AB_TEST].policy.explore, "round")}  # type: ignore[attr-defined]


def _problem(plan: Plan) -> dict[str, Any]:
    """Return the problem's fields, long lists cut."""
    return {name: _shortened(value) for name, value in plan.bandit.to_dict().items()}


def _shortened(value: Any) -> Any:
    if isinstance(value, list) and value and isinstance(value[0], list):
        return f"{len(value)} rows of {len(value[0])} numbers"
    if isinstance(value, list) and len(value) > MOST_NUMBERS:
        return [*(f"{number:g}" for number in value[:MOST_NUMBERS]), f"… ({len(value)} numbers)"]
    return [f"{number:g}" for number in value] if isinstance(value, list) else value
