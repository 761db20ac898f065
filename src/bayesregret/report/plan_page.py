"""The page of a plan: the answer first, then what it rests on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from bayesregret import __version__
from bayesregret.digits import PLUS_MINUS, counted
from bayesregret.planning.experiment import SPLIT_TEST
from bayesregret.planning.figure_tables import figure_tables, wrong_prior_tables
from bayesregret.planning.summary_text import answer, delta_line, inversion_line, limit_line, split_line, worth_line
from bayesregret.plotting.saving import write_whole
from bayesregret.report.reproduction_page import make_section, part, template

if TYPE_CHECKING:
    from bayesregret.planning import Plan

NO_BREAK = "\N{NO-BREAK SPACE}"
MOST_SETTINGS = 12  # numbers of a setting that are written out

ASSUMPTIONS = (
    "Mean rewards are drawn from the prior of the problem below. All averages are over such draws: a single experiment "
    "may lose much less or much more, as the columns 5%, 50% and 95% say.",
    "Rewards are independent given the means, and the means do not change while the experiment runs.",
    "Rewards are known at once, before the next round begins.",
    "Regret is the reward that always taking the best arm would have brought on average, minus what is brought.",
    "Simulated numbers come with one standard error, or end with the first digit that it leaves in doubt; intervals "
    "are for 95 percent. All other numbers are computed.",
    "Certified bounds are proved for every horizon and hold for regret averaged over the prior.",
)


def write_plan(path: str | os.PathLike[str], plan: Plan) -> Path:
    """One HTML file that needs nothing else. It appears whole or not at all."""
    wrong = {table.figure for table in wrong_prior_tables(plan)}
    sections = [make_section(table, table.figure) for table in figure_tables(plan)]
    page = template("plan.html").render(
        title=f"{counted(plan.bandit.arms, 'arm')}, {counted(plan.horizon, 'round')}: what to expect",
        answer=answer(plan),
        split=split_line(plan),
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
    # A number stays on one line with its error.
    return write_whole(Path(path), page.replace(f" {PLUS_MINUS} ", f"{NO_BREAK}{PLUS_MINUS}{NO_BREAK}").encode())


def _length(plan: Plan) -> dict[str, Any]:
    return {f"{SPLIT_TEST} explores": counted(plan[SPLIT_TEST].policy.explore, "round")}  # type: ignore[attr-defined]


def _problem(plan: Plan) -> dict[str, Any]:
    """The problem's fields, long lists by their beginning."""
    return {name: _brief(value) for name, value in plan.bandit.to_dict().items()}


def _brief(value: Any) -> Any:
    if isinstance(value, list) and value and isinstance(value[0], list):
        return f"{len(value)} rows of {len(value[0])} numbers"
    if isinstance(value, list) and len(value) > MOST_SETTINGS:
        return [*(f"{number:g}" for number in value[:MOST_SETTINGS]), f"… {len(value)} in all"]
    return [f"{number:g}" for number in value] if isinstance(value, list) else value
