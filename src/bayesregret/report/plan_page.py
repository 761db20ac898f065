"""The page of a plan: the answer first, then the numbers and assumptions behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from bayesregret import __version__
from bayesregret.digits import PLUS_MINUS, counted
from bayesregret.planning.experiment import AB_TEST
from bayesregret.planning.figure_tables import round_tables, wrong_prior_tables
from bayesregret.planning.summary_text import (
    ab_test_line,
    answer,
    delta_line,
    horizon_lines,
    inversion_line,
    least_line,
    prior_lines,
    reward_lines,
    scenario_lines,
    settling_line,
    tuned_line,
    worth_line,
)
from bayesregret.report.downloads import plan_downloads
from bayesregret.report.glossary import glossary
from bayesregret.report.problem_facts import problem_facts
from bayesregret.report.reproduction_page import make_section, part, template

if TYPE_CHECKING:
    from bayesregret.planning import Plan

NO_BREAK = "\N{NO-BREAK SPACE}"


def plan_page(plan: Plan) -> str:
    """Return a plan as one self-contained HTML page."""
    contents = _contents(plan)
    page = template("plan.html")
    # Rendered twice: the glossary explains the words that the rest of the page has.
    words = glossary(plan, page.render(contents, glossary=[]))
    text = page.render(contents, glossary=words)
    # No line break between a number and its error.
    return text.replace(f" {PLUS_MINUS} ", f"{NO_BREAK}{PLUS_MINUS}{NO_BREAK}")


def _contents(plan: Plan) -> dict[str, Any]:
    """What the template shows, by name."""
    has_choice = plan.bandit.arms > 1
    return {
        "title": f"{counted(plan.bandit.arms, 'arm')}, {counted(plan.horizon, 'round')}: which policy to run",
        "answer": answer(plan),
        "tuned": tuned_line(plan) if has_choice else None,
        "split": ab_test_line(plan),
        "least": least_line(plan) if has_choice else None,
        "settling": None if plan.settling is None else settling_line(plan.settling, plan.best.name),
        "reward": reward_lines(plan) if has_choice else [],
        "rows": plan.table(),
        "figures": [make_section(table, table.figure) for table in round_tables(plan)],
        "changes": [*scenario_lines(plan), *horizon_lines(plan)],
        "is_stable": not _is_changed(plan),
        "best": plan.best.name,
        "minimise": plan.reward.minimise,
        "prior": [] if plan.worth is None else [worth_line(plan.worth), *prior_lines(plan)],
        "wrong": [make_section(table, table.figure) for table in wrong_prior_tables(plan)],
        "delta": None if plan.delta is None else delta_line(plan.delta),
        "inversions": [inversion_line(found, plan.bandit) for found in plan.inversions],
        "snippet": plan.snippet(),
        "downloads": plan_downloads(plan),
        "assumptions": assumptions(plan),
        "notes": plan.notes,
        "about": {"Problem": problem_facts(plan.bandit), "Simulation": _runs(plan), "Settings": _settings(plan)},
        "style": Markup(part("style.css") + part("plan.css")),
        "script": Markup(part("script.js")),
    }


def _is_changed(plan: Plan) -> bool:
    """Whether another policy is significantly better in a scenario or over another horizon."""
    scenarios = any(scenario.compared.changes_order for scenario in plan.scenarios)
    return scenarios or any(other.compared.changes_order for other in plan.other_horizons)


def assumptions(plan: Plan) -> list[str]:
    """What the numbers of a plan rest on, in sentences."""
    found = [
        "Mean rewards are drawn from the prior of the problem below. All averages are over such draws: a single "
        "experiment may lose much less or much more, as the columns 5%, 50% and 95% show.",
        "Rewards are independent given the mean rewards, which do not change while the experiment runs.",
        _arrival(plan.delay, plan.batch),
    ]
    if plan.reward.minimise:
        found.append(
            "Costs are minimised: in the problem below, rewards are minus the costs, or 1 minus costs of 0 and 1."
        )
    if plan.bandit.kind == "mixture":
        found.append("The policies believe in one matched prior, while mean rewards are drawn from the mixture.")
    found.append(
        "Simulated numbers have one standard error, or end with the first digit that it makes uncertain; intervals "
        "contain the true number with 95 percent probability. All other numbers are computed without simulation."
    )
    if any(outcome.bound is not None for outcome in plan.outcomes.values()):
        found.append("Certified bounds hold for regret averaged over the prior, not for every single experiment.")
    return found


def _arrival(delay: int, batch: int) -> str:
    """When rewards become known."""
    late = f"{counted(delay, 'round')} late" if delay else ""
    together = f"at the ends of batches of {counted(batch, 'round')}" if batch > 1 else ""
    if not late and not together:
        return "Each reward is observed immediately, before the next round begins."
    return f"Rewards arrive {', and only '.join(filter(None, [late, together]))}."


def _runs(plan: Plan) -> dict[str, str]:
    """Numbers of runs: one if it is the same for all policies."""
    runs = {outcome.name: counted(outcome.runs, "run") for outcome in plan.outcomes.values()}
    same = set(runs.values())
    return {"each policy": same.pop()} if len(same) == 1 else runs


def _settings(plan: Plan) -> dict[str, Any]:
    explore: int = plan[AB_TEST].policy.explore  # type: ignore[attr-defined]
    late = {"delay": plan.delay, "batch": plan.batch} if (plan.delay, plan.batch) != (0, 1) else {}
    return {
        "horizon": counted(plan.horizon, "round"),
        **late,
        "epsilon": plan.epsilon,
        f"{AB_TEST} explores": counted(explore, "round"),
        "seed": plan.seed,
        "bayesregret": __version__,
    }
