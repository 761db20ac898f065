"""Every bound on the regret against the exact regret, or against the one that `simulate` finds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesregret.audit.verdict import Check, Claim, Evidence, Verdict, judge_average, make_check, unseen
from bayesregret.bounds.bound import Bound, DoesNotHold, Formula, Setting
from bayesregret.exact import exact_regret
from bayesregret.models import Bandit, BernoulliBandit, GaussianBandit
from bayesregret.policies import UCB1, BayesUCB, Policy
from bayesregret.simulation.simulate import simulate

# Exact regrets take about a second up to so many rounds, and so many rounds times different priors squared.
QUICK_HORIZON = {"gaussian": 1_000, "bernoulli": 300}
QUICK = 10_000


class Regret(NamedTuple):
    """A policy's regret, and how sure it is."""

    value: float
    stderr: float = 0.0
    error: float = 0.0  # numerical
    evidence: Evidence = "simulated"


def upper_bounds(bandit: Bandit) -> list[Formula]:
    """Every formula that bounds the regret of a policy on this kind of bandit from above."""
    return [formula for formula in Formula.every.values() if formula.kind == "upper" and formula.fits(bandit)]


def why_simulated(bandit: Bandit, horizon: int, exact: bool | None) -> str | None:
    """Why the regret is simulated; None where it is computed. `exact` is whether it shall be, None if that is quick."""
    if exact is False:
        return "that was asked for"
    if exact:
        return None  # `exact_regret` will say why it cannot
    if not isinstance(bandit, GaussianBandit | BernoulliBandit):
        return f"{bandit.a_kind} bandit has no exact one"
    if isinstance(bandit, GaussianBandit) and bandit.noise_kind != "gaussian":
        return f"{bandit.kind} bandits with {bandit.noise_kind} noise have no exact one"
    if horizon > QUICK_HORIZON[bandit.kind] or horizon * different_priors(bandit) ** 2 > QUICK:
        return "the exact one takes a while here (exact=True, or --exact, computes it)"
    return None


def different_priors(bandit: GaussianBandit | BernoulliBandit) -> int:
    """How many different priors the arms have; arms of the same prior cost no more than one of them."""
    if isinstance(bandit, GaussianBandit):
        priors = np.c_[bandit.prior_mean, bandit.prior_widths, bandit.reward_noises]
    else:
        priors = np.c_[bandit.alpha, bandit.beta]
    return len(np.unique(priors, axis=0))


def regret_checks(
    bandit: Bandit, setting: Setting, *, delta: float | None, runs: int, seed: int, exact: bool
) -> list[Check]:
    """A check for every bound, in the order in which they are told."""
    formulas = upper_bounds(bandit)
    named = {formula.policy for formula in formulas}
    known: list[Policy] = [BayesUCB(delta), UCB1(delta)]
    policies = [policy for policy in known if policy.name in named]
    if exact:
        regrets = {policy.name: _exact(bandit, policy, setting.horizon) for policy in policies}
    else:
        regrets = _simulated(bandit, policies, setting.horizon, runs, seed)
    return [_check(formula, bandit, setting, delta, regrets[formula.policy]) for formula in formulas]


def _exact(bandit: Bandit, policy: Policy, horizon: int) -> Regret:
    found = exact_regret(bandit, policy, horizon=horizon)
    # No regret is negative: where it is nothing, rounding is all that is found.
    return Regret(max(0.0, found.regret), error=found.error, evidence="exact")


def _simulated(bandit: Bandit, policies: list[Policy], horizon: int, runs: int, seed: int) -> dict[str, Regret]:
    result = simulate(bandit, policies, horizon=horizon, runs=runs, seed=seed, checkpoints=[horizon], progress=False)
    return {name: Regret(found.mean, found.stderr) for name, found in result.policies.items()}


def _check(formula: Formula, bandit: Bandit, setting: Setting, delta: float | None, regret: Regret) -> Check:
    source, _ = formula.bodies[bandit.kind]
    claim = Claim(formula.name, source, formula.form, f"Bayes regret of {formula.policy} <= {formula.name}")
    try:
        bound = formula(bandit, horizon=setting.horizon, delta=delta, epsilon=setting.epsilon)
    except DoesNotHold as answer:
        return unseen(claim, answer.reason, regret.evidence)
    except ValueError as limit:  # a formula may be computed for a part of the problems only
        return unseen(claim, str(limit), regret.evidence)
    return make_check(
        claim._replace(why_not=bound.why_not),
        regret.value,
        bound.value,
        judge_bound(regret, bound),
        stderr=regret.stderr,
        error=regret.error,
        evidence=regret.evidence,
    )


def judge_bound(regret: Regret, bound: Bound) -> Verdict:
    if bound.value + bound.error < 0.0:  # no regret is negative: nothing is needed to tell
        return "fails"
    unsure = regret.stderr + regret.error
    if regret.value <= bound.value and unsure == 0.0:
        return "holds"
    if judge_average(regret.value, unsure, bound.value + bound.error) == "fails":
        return "fails"
    return "holds" if judge_average(regret.value, unsure, bound.value - bound.error) == "holds" else "not decided"
