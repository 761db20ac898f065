"""The paper's inequalities, one by one, against simulated runs and exact regrets."""

from __future__ import annotations

from bayesregret import checks
from bayesregret.audit.bound_checks import regret_checks, why_simulated
from bayesregret.audit.inequalities import TOO_WIDE, statements, too_wide
from bayesregret.audit.result import AuditResult
from bayesregret.audit.runs import BAYES_UCB, UCB1, trace
from bayesregret.audit.verdict import Check, unseen
from bayesregret.bounds.bound import Setting, make_setting
from bayesregret.models import Bandit, BernoulliBandit, GaussianBandit, LinearBandit

__all__ = ["AuditResult", "Check", "audit"]

RUNS = 1_000
LARGEST_HORIZON = 10**7
LARGEST_RUNS = 10**8


def audit(
    bandit: Bandit,
    *,
    horizon: int,
    runs: int = RUNS,
    seed: int = 0,
    delta: float | None = None,
    epsilon: float | None = None,
    exact: bool | None = None,
) -> AuditResult:
    """Check the inequalities of the paper, and those that are certified, on a bandit.

    The steps of the proofs are watched in runs of Algorithm 1 written in plain NumPy, apart from the engine. The bounds
    are held against the exact regret where `exact_regret` takes about a second, and otherwise against the one that
    `simulate` finds; `exact` says which of them it must be. A statement about averages fails when it is off by more
    than four standard errors, or numerical errors; one about every run fails as soon as one run breaks it.

    >>> narrow = GaussianBandit(prior_mean=[1, 0, 0], prior_width=0.1, reward_noise=1)
    >>> {check.form for check in audit(narrow, horizon=50, runs=50).failures}
    {'paper'}
    """
    if not isinstance(bandit, GaussianBandit | BernoulliBandit | LinearBandit):
        raise checks.fail("bandit", "a Gaussian, Bernoulli or linear bandit", bandit)
    horizon = checks.whole("horizon", horizon, 1, LARGEST_HORIZON)
    runs = checks.whole("runs", runs, 1, LARGEST_RUNS)
    seed = checks.whole("seed", seed, 0)
    setting = make_setting(horizon, delta, epsilon)
    why = why_simulated(bandit, horizon, exact)
    bounds = regret_checks(bandit, setting, delta=delta, runs=runs, seed=seed, exact=why is None)  # may refuse: first
    found = (*_watched(bandit, setting, runs, seed), *bounds)
    return AuditResult(bandit, horizon, runs, seed, setting.delta, setting.paper_epsilon, found, why)


def _watched(bandit: Bandit, setting: Setting, runs: int, seed: int) -> list[Check]:
    """The steps of the proofs; those about UCB1 are stated for Gaussian bandits."""
    found = []
    for policy in (BAYES_UCB, UCB1) if isinstance(bandit, GaussianBandit) else (BAYES_UCB,):
        gathering = statements(bandit, policy, setting)
        if too_wide(bandit):
            found += [unseen(evidence.claim, TOO_WIDE) for evidence in gathering]
            continue
        for traces in trace(bandit, policy, setting, runs=runs, seed=seed):
            for evidence in gathering:
                evidence.see(traces)
        found += [evidence.check() for evidence in gathering]
    return found
