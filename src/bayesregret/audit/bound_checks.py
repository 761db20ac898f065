"""Comparison of every upper bound, and of certified lower ones, with the exact regret, or with a simulated one.

The regret of Thompson sampling is compared with its identity, too.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from bayesregret.audit.thompson_ties import tied_estimate
from bayesregret.audit.tied_instances import TiedInstances
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
from bayesregret.models import Bandit, BernoulliBandit, GaussianBandit
from bayesregret.policies import UCB1, BayesUCB, Policy, Thompson
from bayesregret.simulation.engines.threads import ThreadsEngine
from bayesregret.simulation.estimates import Estimate
from bayesregret.simulation.result import DECISIVE
from bayesregret.simulation.simulate import simulate


class Regret(NamedTuple):
    """A policy's regret with its errors."""

    value: float
    stderr: float = 0.0
    error: float = 0.0  # numerical
    evidence: EvidenceKind = "simulated"


def audited_bounds(bandit: Bandit) -> list[Formula]:
    """Return every formula for an upper bound, and every certified one for a lower bound, on this kind of bandit."""
    return [formula for formula in Formula.every.values() if _is_audited(formula) and formula.covers(bandit)]


def _is_audited(formula: Formula) -> bool:
    return formula.kind == "upper" or (formula.kind == "lower" and formula.form == "certified")


def regret_checks(
    bandit: Bandit, setting: Setting, *, delta: float | None, runs: int, seed: int, exact: bool
) -> list[Check]:
    """Return a check of every bound, in the order of the catalog, and of the identity of Thompson sampling."""
    formulas = audited_bounds(bandit)
    regrets = _regrets(bandit, {formula.policy for formula in formulas}, setting, delta, runs, seed, exact)
    found = [_check(formula, bandit, setting, delta, _compared(formula, regrets)) for formula in formulas]
    if isinstance(bandit, GaussianBandit | BernoulliBandit):
        found.append(_identity_check(bandit, setting.horizon, runs, seed, regrets[Thompson.name]))
    return found


def _regrets(
    bandit: Bandit, named: set[str], setting: Setting, delta: float | None, runs: int, seed: int, exact: bool
) -> dict[str, Regret]:
    """The regret of every policy that some bound is about, exact where it can be: that of Thompson sampling cannot."""
    policies: list[Policy] = [policy for policy in (BayesUCB(delta), UCB1(delta)) if policy.name in named]
    found = {policy.name: _exact(bandit, policy, setting.horizon) for policy in policies} if exact else {}
    drawn: list[Policy] = [] if exact else policies
    if Thompson.name in named:
        drawn = [*drawn, Thompson()]
    return found | (_simulated(bandit, drawn, setting.horizon, runs, seed) if drawn else {})


def _compared(formula: Formula, regrets: dict[str, Regret]) -> Regret:
    """The regret of the formula's policy; for a statement about every policy, the one that it is hardest to hold for.

    Exact regrets come first there.
    """
    if formula.policy != ANY:
        return regrets[formula.policy]
    exact = [regret for regret in regrets.values() if regret.evidence == "exact"]
    return (max if formula.kind == "upper" else min)(exact or list(regrets.values()))


def _exact(bandit: Bandit, policy: Policy, horizon: int) -> Regret:
    found = exact_regret(bandit, policy, horizon=horizon)
    # A regret of 0 may come out negative by rounding.
    return Regret(max(0.0, found.regret), error=found.error, evidence="exact")


def _simulated(bandit: Bandit, policies: list[Policy], horizon: int, runs: int, seed: int) -> dict[str, Regret]:
    result = simulate(bandit, policies, horizon=horizon, runs=runs, seed=seed, checkpoints=[horizon], progress=False)
    return {name: Regret(found.mean, found.stderr) for name, found in result.policies.items()}


def _check(formula: Formula, bandit: Bandit, setting: Setting, delta: float | None, regret: Regret) -> Check:
    policy = "any policy" if formula.policy == ANY else formula.policy
    sides = [f"Bayes regret of {policy}", formula.name]
    statement = " <= ".join(sides if formula.kind == "upper" else reversed(sides))
    inequality = Inequality(formula.name, formula.source(bandit), formula.form, statement)
    try:
        bound = formula(bandit, horizon=setting.horizon, delta=delta, epsilon=setting.epsilon)
    except DoesNotHold as answer:
        return not_applicable(inequality, answer.reason, regret.evidence)
    except ValueError as limit:  # some formulas can be computed for some problems only
        return not_applicable(inequality, str(limit), regret.evidence)
    inequality = inequality._replace(why_not=bound.why_not)
    if formula.kind == "upper":
        return _made(inequality, regret.value, bound.value, judge_bound(regret, bound), regret)
    return _made(inequality, bound.value, regret.value, judge_lower_bound(regret, bound), regret)


def _identity_check(bandit: Bandit, horizon: int, runs: int, seed: int, regret: Regret) -> Check:
    """An equality holds if both sides are within four standard errors."""
    name = "thompson_identity"
    inequality = Inequality(name, "identity", "certified", f"Bayes regret of thompson = {name}")
    try:
        instances = TiedInstances(bandit)
    except ValueError as limit:
        return not_applicable(inequality, str(limit), regret.evidence)
    found = tied_estimate(bandit, instances, horizon=horizon, runs=runs, seed=seed, engine=ThreadsEngine())
    verdict = judge_equal(regret, found)
    return _made(inequality, regret.value, found.mean, verdict, regret)


def judge_equal(regret: Regret, found: Estimate) -> Verdict:
    """Verdict on the equality of two simulated means.

    Where hardly a run has any regret, its mean and standard error say little.
    """
    error = math.hypot(regret.stderr, found.stderr)
    if regret.value <= DECISIVE * regret.stderr or math.isinf(error):
        return "not decided"
    return "fails" if abs(regret.value - found.mean) > DECISIVE * error else "holds"


def _made(inequality: Inequality, observed: float, allowed: float, verdict: Verdict, regret: Regret) -> Check:
    """A check with the errors of the regret, on whichever side it is."""
    return make_check(
        inequality, observed, allowed, verdict, stderr=regret.stderr, error=regret.error, evidence=regret.evidence
    )


def judge_bound(regret: Regret, bound: Bound) -> Verdict:
    """Verdict on a bound, allowing for the errors of both numbers; a certified value contains its own already."""
    error = _error_outside(bound)
    if bound.value + error < 0.0:  # no regret is negative
        return "fails"
    uncertainty = regret.stderr + regret.error
    if regret.value <= bound.value and uncertainty == 0.0:
        return "holds"
    if judge_average(regret.value, uncertainty, bound.value + error) == "fails":
        return "fails"
    return "holds" if judge_average(regret.value, uncertainty, bound.value - error) == "holds" else "not decided"


def judge_lower_bound(regret: Regret, bound: Bound) -> Verdict:
    """The same for a lower bound.

    Simulated runs that all have the same regret, such as 0, say nothing about rarer ones.
    """
    error = _error_outside(bound)
    uncertainty = regret.stderr + regret.error
    if judge_average(bound.value - error, uncertainty, regret.value) == "fails":
        return "not decided" if regret.evidence == "simulated" and regret.stderr == 0.0 else "fails"
    return "holds" if judge_average(bound.value + error, uncertainty, regret.value) == "holds" else "not decided"


def _error_outside(bound: Bound) -> float:
    """The error that the value does not contain."""
    return 0.0 if bound.form == "certified" else bound.error
