"""Every bound on the regret against the regret that `simulate` finds."""

from __future__ import annotations

from bayesregret.audit.check import Check, Claim, Verdict, judge_average, make_check, unseen
from bayesregret.bounds.bound import Bound, DoesNotHold, Formula, Setting
from bayesregret.models import Bandit
from bayesregret.policies import UCB1, BayesUCB, Policy
from bayesregret.simulation.result import Estimate
from bayesregret.simulation.simulate import simulate


def upper_bounds(bandit: Bandit) -> list[Formula]:
    """Every formula that bounds the regret of a policy on this kind of bandit from above."""
    return [formula for formula in Formula.every.values() if formula.kind == "upper" and formula.fits(bandit)]


def regret_checks(bandit: Bandit, setting: Setting, *, delta: float | None, runs: int, seed: int) -> list[Check]:
    """A check for every bound, in the order in which they are told."""
    formulas = upper_bounds(bandit)
    regrets = _regrets(bandit, {formula.policy for formula in formulas}, setting, delta, runs, seed)
    return [_check(formula, bandit, setting, delta, regrets[formula.policy]) for formula in formulas]


def _regrets(
    bandit: Bandit, names: set[str], setting: Setting, delta: float | None, runs: int, seed: int
) -> dict[str, Estimate]:
    known: list[Policy] = [BayesUCB(delta), UCB1(delta)]
    policies = [policy for policy in known if policy.name in names]
    result = simulate(
        bandit, policies, horizon=setting.horizon, runs=runs, seed=seed, checkpoints=[setting.horizon], progress=False
    )
    return {name: found.estimate for name, found in result.policies.items()}


def _check(formula: Formula, bandit: Bandit, setting: Setting, delta: float | None, regret: Estimate) -> Check:
    source, _ = formula.bodies[bandit.kind]
    claim = Claim(formula.name, source, formula.form, f"Bayes regret of {formula.policy} <= {formula.name}")
    try:
        bound = formula(bandit, horizon=setting.horizon, delta=delta, epsilon=setting.epsilon)
    except DoesNotHold as answer:
        return unseen(claim, answer.reason)
    except ValueError as limit:  # a formula may be computed for a part of the problems only
        return unseen(claim, str(limit))
    verdict = judge_bound(regret, bound)
    return make_check(claim._replace(why_not=bound.why_not), regret.mean, bound.value, verdict, stderr=regret.stderr)


def judge_bound(regret: Estimate, bound: Bound) -> Verdict:
    if bound.value + bound.error < 0.0:  # no regret is negative: no simulation is needed to tell
        return "fails"
    if regret.mean <= bound.value and regret.stderr == 0.0:
        return "holds"
    verdict = judge_average(regret.mean, regret.stderr, bound.value + bound.error)
    return judge_average(regret.mean, regret.stderr, bound.value) if verdict == "holds" else verdict
