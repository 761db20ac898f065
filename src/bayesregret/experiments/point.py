"""One point of an experiment: settings as plain data, and the numbers that they give.

Settings hold all that a result depends on, so that a finished point can be kept and found again (study.py).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from bayesregret.models import Bandit
from bayesregret.policies import Policy
from bayesregret.problem import problem_from_dict
from bayesregret.simulation.simulate import simulate

if TYPE_CHECKING:
    from bayesregret.bounds.bound import Formula

Settings = dict[str, Any]
Result = dict[str, Any]

EXACT_ENOUGH = 1e-4  # relative error of exact regrets: far below what a figure shows
UNASKED = {"exact": False, "optimal": False, "delay": 0, "batch": 1}
ALL_BOUNDS = "all"  # every bound that there is for the bandit


def point_settings(
    bandit: Bandit,
    policies: Sequence[Mapping[str, Any]],
    *,
    horizon: int,
    runs: int,
    seed: int,
    bounds: Sequence[str] | str = (),
    accuracy: float | None = None,
    exact: bool = False,
    optimal: bool = False,
    delay: int = 0,
    batch: int = 1,
) -> Settings:
    """Plain data for a point. A policy is {"name": ...} with its own settings; a prior is a problem as a dict.

    `accuracy` is the relative standard error that is enough for bounds which are averages over random instances;
    `exact` asks for the exact regret of every policy, too, and `optimal` for the least regret that there can be.
    `delay` and `batch` are those of `simulate`.
    """
    settings: Settings = {
        "problem": bandit.to_dict(),
        "policies": [dict(policy) for policy in policies],
        "horizon": horizon,
        "runs": runs,
        "seed": seed,
        "bounds": bounds if isinstance(bounds, str) else list(bounds),
        "accuracy": accuracy,
    }
    # Points that do not ask for it are found again under the key that they always had.
    asked = {"exact": exact, "optimal": optimal, "delay": delay, "batch": batch}
    return settings | {name: value for name, value in asked.items() if value != UNASKED[name]}


class Computed(NamedTuple):
    """What needs no simulation."""

    exact: list[dict[str, float]]  # of each policy
    bounds: dict[str, Any]
    optimal: dict[str, Any]


def compute_point(settings: Settings) -> Computed:
    """Bound and compute what the settings say; what cannot be computed is told before anything is simulated."""
    bandit = problem_from_dict(settings["problem"])
    policies = [_policy(policy) for policy in settings["policies"]]
    return Computed(_exact(bandit, policies, settings), _bounds(bandit, settings), _optimal(bandit, settings))


def run_point(settings: Settings, threads: int | None = None, computed: Computed | None = None) -> Result:
    """Simulate, bound and compute what the settings say."""
    exact, bounds, optimal = compute_point(settings) if computed is None else computed
    bandit = problem_from_dict(settings["problem"])
    policies = [_policy(policy) for policy in settings["policies"]]
    found = simulate(
        bandit,
        policies,
        horizon=settings["horizon"],
        runs=settings["runs"],
        seed=settings["seed"],
        checkpoints=[settings["horizon"]],
        threads=threads,
        delay=settings.get("delay", 0),
        batch=settings.get("batch", 1),
        progress=False,
    )
    names = list(found.policies)
    paired = [found.paired(name, names[0]) for name in names]
    return {
        "policies": [
            {
                "name": name,
                "regret": found[name].mean,
                "stderr": found[name].stderr,
                "more": difference.mean,  # than the first policy, run by run
                "more_stderr": difference.stderr,
            }
            | regret
            for name, difference, regret in zip(names, paired, exact, strict=True)
        ],
        "bounds": bounds,
    } | optimal


def _policy(settings: Mapping[str, Any]) -> Policy:
    given = dict(settings)
    prior = given.pop("prior", None)
    if prior is not None:
        given["prior"] = problem_from_dict(prior)
    return Policy.classes[given.pop("name")](**given)


def _exact(bandit: Bandit, policies: Sequence[Policy], settings: Settings) -> list[dict[str, float]]:
    """The exact regret of each policy with its numerical error, where the settings ask for it."""
    if not settings.get("exact", False):
        return [{} for _ in policies]
    from bayesregret.exact import exact_regret

    found = (exact_regret(bandit, policy, horizon=settings["horizon"], accuracy=EXACT_ENOUGH) for policy in policies)
    return [{"exact": exact.regret, "exact_error": exact.error} for exact in found]


def _optimal(bandit: Bandit, settings: Settings) -> dict[str, Any]:
    if not settings.get("optimal", False):
        return {}
    from bayesregret.optimal import bayes_optimal_regret

    least = bayes_optimal_regret(bandit, settings["horizon"])
    least.check_positive()
    return {"optimal": {"regret": least.regret, "error": least.error}}


def _bounds(bandit: Bandit, settings: Settings) -> dict[str, Any]:
    """Value, leading term and standing of each bound that is asked for; certified ones that refuse are left out."""
    asked = settings["bounds"]
    if not asked:
        return {}
    from bayesregret.bounds.bound import DoesNotHold, Formula

    told = {}
    for formula in Formula.every.values():
        wanted = formula.kind == "upper" and formula.listed if asked == ALL_BOUNDS else formula.name in asked
        if wanted and formula.fits(bandit):
            try:
                bound = formula(bandit, horizon=settings["horizon"], **_options(formula, bandit, settings))
            except DoesNotHold:
                continue
            told[formula.name] = {
                "form": bound.form,
                "policy": bound.policy,
                "value": _finite(bound.value),
                "leading": _finite(bound.leading),
                "error": bound.error,
                "applies": bound.applies,
            }
    return told


def _options(formula: Formula, bandit: Bandit, settings: Settings) -> dict[str, Any]:
    """The accuracy, where the formula can use it."""
    _, body = formula.bodies[bandit.kind]
    asked = settings["accuracy"]
    return {"accuracy": asked} if asked is not None and "accuracy" in inspect.signature(body).parameters else {}


def _finite(value: float) -> float | str:
    """JSON has no infinity."""
    return value if math.isfinite(value) else str(value)


def number(value: float | str) -> float:
    """What `_finite` wrote."""
    return float(value)
