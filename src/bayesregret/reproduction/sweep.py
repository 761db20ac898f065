"""User-defined sweeps: any fields of a problem and any policies, with the same study and report."""

from __future__ import annotations

import inspect
import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bayesregret import checks
from bayesregret.bounds.bound import ANY
from bayesregret.memory import array_bytes, free_memory, shown_bytes
from bayesregret.models import Bandit
from bayesregret.policy_data import named, policy_from_dict
from bayesregret.problem import COMMON_PROBLEMS, LARGEST_FILE, problem_from_dict
from bayesregret.reading import naming, parse_toml, read_text
from bayesregret.reproduction import claims, paper_settings
from bayesregret.reproduction.exact_agreement import agreement
from bayesregret.reproduction.experiment import Experiment, Point, PointOutcome, TrendOf, bound_of, ratio_of, regret_of
from bayesregret.reproduction.point import ALL_BOUNDS, point_settings
from bayesregret.reproduction.precompute import FEWEST_POINTS
from bayesregret.reproduction.table import OVER_LOWER_BOUND, OVER_OPTIMAL, Axis, Claim

FIELDS = {
    *("problem", "vary", "policies", "bounds", "exact", "optimal"),
    *("horizon", "delay", "batch", "runs", "seed", "title"),
}
# Fields that may vary besides the problem's: default and smallest value.
TIMES = {"horizon": (paper_settings.HORIZON, 1), "delay": (0, 0), "batch": (1, 1)}
MOST_POINTS = 100_000
# Bytes for each number of a problem in the settings of all points: a list of Python's floats, and text to compare;
# worker processes have copies.
FOR_NUMBER = 40
FOR_NUMBER_IN_PROCESSES = 100
# A field that spans more than this is drawn on a log axis.
WIDE = 20.0


def load_sweep(path: str | os.PathLike[str]) -> list[Experiment]:
    """Return the experiments that a TOML file describes: one figure per combination of all varied fields but the first.

    The file has a table `problem` (a problem's fields, or `common = "gaussian"` and its options), a table `vary` with a
    list of values for each field that changes (horizon, delay and batch may be among them), and optionally `policies`,
    `bounds`, `exact`, `optimal`, `horizon`, `delay`, `batch`, `runs`, `seed`, `title`. With `optimal`, regrets are
    divided by the optimal regret, or by a certified lower bound on it.
    """
    with naming(path):
        return sweep_experiments(parse_toml(read_text(os.fsdecode(path), LARGEST_FILE)))


def sweep_experiments(data: Mapping[str, Any]) -> list[Experiment]:
    """Return the experiments that the content of a sweep file describes."""
    for field in data:
        if field not in FIELDS:
            raise ValueError(f"{field} is not a field of a sweep; the fields are {', '.join(sorted(FIELDS))}")
    vary = _vary(data)
    (first, values), *others = vary.items()
    if _count(vary) > MOST_POINTS:
        raise ValueError(f"vary must give at most {MOST_POINTS:,} points, got {_count(vary):,}")
    _check_memory(data, vary)
    made = []
    combinations = list(itertools.product(*(choices for _, choices in others)))
    for number, chosen in enumerate(combinations, start=1):
        fixed = dict(zip((field for field, _ in others), chosen, strict=True))
        figure = "sweep" if len(combinations) == 1 else f"sweep-{number}"
        made.append(_experiment(data, figure, first, values, fixed))
    return made


def _vary(data: Mapping[str, Any]) -> dict[str, list[Any]]:
    vary = data.get("vary")
    if not isinstance(vary, Mapping) or not vary:
        raise ValueError("vary must be a table with a list of values for each field that changes")
    for field, values in vary.items():
        if not isinstance(values, list) or not values:
            raise checks.fail(f"vary.{field}", "a list of values", values)
    return dict(vary)


def _count(vary: Mapping[str, Sequence[Any]]) -> int:
    total = 1
    for values in vary.values():
        total *= len(values)
    return total


def _check_memory(data: Mapping[str, Any], vary: Mapping[str, Sequence[Any]]) -> None:
    """Raise an error if the problems of all points do not fit into memory as plain data."""
    free = free_memory()
    points = _count(vary)
    each = FOR_NUMBER if points < FEWEST_POINTS else FOR_NUMBER_IN_PROCESSES
    need = 0
    for number, chosen in enumerate(itertools.product(*vary.values())):
        changed = {field: value for field, value in zip(vary, chosen, strict=True) if field not in TIMES}
        need += each * array_bytes(_bandit(data, changed).model) // 8
        if free is not None and need > free:
            raise ValueError(
                f"vary must give fewer points or smaller problems, got {points} points, of which {number} fit into "
                f"{shown_bytes(free)} of free memory"
            )


def _experiment(
    data: Mapping[str, Any], figure: str, first: str, values: Sequence[Any], fixed: Mapping[str, Any]
) -> Experiment:
    policies = _policies(data)
    bounds, exact, optimal = _bounds(data), _boolean(data, "exact"), _boolean(data, "optimal")
    if optimal and (bounds or exact):
        raise ValueError("optimal does not go with bounds or exact: it divides regrets by the optimal regret")
    points = []
    for i, value in enumerate(values):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        changed = dict(fixed) | {first: value}
        times = {
            name: checks.whole(name, changed.pop(name, data.get(name, default)), least)
            for name, (default, least) in TIMES.items()
        }
        if (times["delay"], times["batch"]) != (0, 1) and (bounds or exact):
            raise ValueError("delay and batch do not go with bounds or exact, which assume immediate rewards")
        settings = point_settings(
            _bandit(data, changed),
            policies,
            **times,
            runs=checks.whole("runs", data.get("runs", paper_settings.RUNS), 2),
            seed=checks.whole("seed", data.get("seed", paper_settings.SEED), 0),
            bounds=bounds,
            exact=exact,
            optimal=optimal,
        )
        points.append(Point(float(value) if number else float(i + 1), f"{first} {checks.shown(value)}", settings))
    over = OVER_OPTIMAL if all(_has_optimum(point) for point in points) else OVER_LOWER_BOUND
    where = ", ".join(f"{field} {checks.shown(value)}" for field, value in fixed.items())
    title = str(data.get("title", "Sweep"))
    return Experiment(
        figure,
        f"{title}: {where}" if where else title,
        f"{title} as {first} changes{f', {where}' if where else ''}.",
        Axis(first, _scale([point.x for point in points])),
        over if optimal else Axis(paper_settings.REGRET_LABEL, "log" if bounds else "linear"),
        tuple(sorted(points, key=lambda point: point.x)),
        _trends(policies, bounds, ratio_of if optimal else regret_of),
        _claims,
    )


def _has_optimum(point: Point) -> bool:
    """Whether ratios to the optimal regret itself are computed, and not to a lower bound."""
    from bayesregret.bounds.least import is_programmed

    settings = point.settings
    is_immediate = (settings.get("delay", 0), settings.get("batch", 1)) == (0, 1)
    return is_immediate and is_programmed(problem_from_dict(settings["problem"]), settings["horizon"])


def _bandit(data: Mapping[str, Any], changed: Mapping[str, Any]) -> Bandit:
    problem = data.get("problem")
    if not isinstance(problem, Mapping):
        raise ValueError("problem must be a table with a problem's fields")
    fields = dict(problem) | dict(changed)
    if "common" not in fields:
        return problem_from_dict(fields)
    common = checks.one_of("problem.common", fields.pop("common"), COMMON_PROBLEMS)
    parameters = inspect.signature(COMMON_PROBLEMS[common]).parameters
    for field in fields:
        if field not in parameters:
            raise ValueError(
                f"{field} is not a field of the common {common} problem; the fields are {', '.join(parameters)}"
            )
    return COMMON_PROBLEMS[common](**fields)


def _policies(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    given = data.get("policies", ["bayes-ucb", "ucb1"])
    may_be = "a list of names, or of tables with a name and settings"
    if not isinstance(given, list) or not given:
        raise checks.fail("policies", may_be, given)
    made = []
    for policy in given:
        if not isinstance(policy, str | Mapping):
            raise checks.fail("policies", may_be, given)
        made.append({"name": policy} if isinstance(policy, str) else dict(policy))
        try:
            policy_from_dict(made[-1])
        except ValueError as error:
            raise ValueError(f"policies, number {len(made)}: {error}") from None
    return made


def _bounds(data: Mapping[str, Any]) -> list[str]:
    from bayesregret.bounds.bound import Formula

    given = data.get("bounds", [])
    if given == ALL_BOUNDS:
        given = [formula.name for formula in Formula.every.values() if formula.kind == "upper"]
    if not isinstance(given, list):
        raise checks.fail("bounds", f'a list of names, or "{ALL_BOUNDS}"', given)
    return [
        checks.one_of("bounds", name, [f.name for f in Formula.every.values() if f.kind == "upper"]) for name in given
    ]


def _boolean(data: Mapping[str, Any], field: str) -> bool:
    given = data.get(field, False)
    if not isinstance(given, bool):
        raise checks.fail(field, "true or false", given)
    return given


def _trends(
    policies: Sequence[Mapping[str, Any]], bounds: Sequence[str], trend_of: Callable[[int, str, str], TrendOf]
) -> tuple[TrendOf, ...]:
    names = named([policy_from_dict(policy) for policy in policies])
    regrets = [trend_of(i, name, name) for i, name in enumerate(names)]
    drawn = [bound_of(name, name, "certified" if name.startswith("certified") else "printed") for name in bounds]
    return (*regrets, *drawn)


def _scale(values: Sequence[float]) -> Any:
    return "log" if min(values) > 0.0 and max(values) / min(values) > WIDE else "linear"


def _claims(figure: str, outcomes: Sequence[PointOutcome]) -> list[Claim]:
    """Claim that certified bounds of the sweep's policies hold, and that simulated regrets agree with exact ones."""
    policies = [policy["name"] for policy in outcomes[0].result["policies"]]
    compared = any(
        bound["form"] == "certified" and bound["policy"] in (*policies, ANY)
        for bound in outcomes[0].result["bounds"].values()
    )
    certified = [claims.certified_hold(figure, outcomes, policies)] if compared else []
    return certified + agreement(figure, outcomes)
