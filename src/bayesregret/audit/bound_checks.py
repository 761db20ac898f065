"""Comparison of every upper bound with the exact regret, or with a simulated one."""

from __future__ import annotations

from typing import NamedTuple

from bayesregret.audit.verdict import (
    Check,
    EvidenceKind,
    Inequality,
    Verdict,
    judge_average,
    make_check,
    not_applicable,
)
from bayesregret.bounds.bound import ANY, DoesNotHold, Formula, Setting
from bayesregret.bounds.result import Bound
from bayesregret.exact import exact_regret
from bayesregret.models import Bandit
from bayesregret.policies import UCB1, BayesUCB, Policy
from bayesregret.simulation.simulate import simulate


class Regret(NamedTuple):
    """A policy's regret with its errors."""

    value: float
    stderr: float = 0.0
    error: float = 0.0  # numerical
    evidence: EvidenceKind = "simulated"


def upper_bounds(bandit: Bandit) -> list[Formula]:
    """Return every formula for an upper bound on the regret of a policy on this kind of bandit."""
    return [formula for formula in Formula.every.values() if formula.kind == "upper" and formula.covers(bandit)]


def regret_checks(
    bandit: Bandit, setting: Setting, *, delta: float | None, runs: int, seed: int, exact: bool
) -> list[Check]:
    """Return a check of every upper bound, in the order of the catalog."""
    formulas = upper_bounds(bandit)
    named = {formula.policy for formula in formulas}
    candidates: list[Policy] = [BayesUCB(delta), UCB1(delta)]
    policies = [policy for policy in candidates if policy.name in named]
    if exact:
        regrets = {policy.name: _exact(bandit, policy, setting.horizon) for policy in policies}
    else:
        regrets = _simulated(bandit, policies, setting.horizon, runs, seed)
    largest = max(regrets.values())
    return [_check(formula, bandit, setting, delta, regrets.get(formula.policy, largest)) for formula in formulas]


def _exact(bandit: Bandit, policy: Policy, horizon: int) -> Regret:
    found = exact_regret(bandit, policy, horizon=horizon)
    # A regret of 0 may come out negative by rounding.
    return Regret(max(0.0, found.regret), error=found.error, evidence="exact")


def _simulated(bandit: Bandit, policies: list[Policy], horizon: int, runs: int, seed: int) -> dict[str, Regret]:
    result = simulate(bandit, policies, horizon=horizon, runs=runs, seed=seed, checkpoints=[horizon], progress=False)
    return {name: Regret(found.mean, found.stderr) for name, found in result.policies.items()}


def _check(formula: Formula, bandit: Bandit, setting: Setting, delta: float | None, regret: Regret) -> Check:
    source = formula.source(bandit)
    policy = "any policy" if formula.policy == ANY else formula.policy
    inequality = Inequality(formula.name, source, formula.form, f"Bayes regret of {policy} <= {formula.name}")
    try:
        bound = formula(bandit, horizon=setting.horizon, delta=delta, epsilon=setting.epsilon)
    except DoesNotHold as answer:
        return not_applicable(inequality, answer.reason, regret.evidence)
    except ValueError as limit:  # some formulas can be computed for some problems only
        return not_applicable(inequality, str(limit), regret.evidence)
    return make_check(
        inequality._replace(why_not=bound.why_not),
        regret.value,
        bound.value,
        judge_bound(regret, bound),
        stderr=regret.stderr,
        error=regret.error,
        evidence=regret.evidence,
    )


def judge_bound(regret: Regret, bound: Bound) -> Verdict:
    """Verdict on a bound, allowing for the errors of both numbers; a certified value contains its own already."""
    error = 0.0 if bound.form == "certified" else bound.error
    if bound.value + error < 0.0:  # no regret is negative
        return "fails"
    uncertainty = regret.stderr + regret.error
    if regret.value <= bound.value and uncertainty == 0.0:
        return "holds"
    if judge_average(regret.value, uncertainty, bound.value + error) == "fails":
        return "fails"
    return "holds" if judge_average(regret.value, uncertainty, bound.value - error) == "holds" else "not decided"
