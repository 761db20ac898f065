"""Audit of the paper's inequalities, one by one, on simulated runs and exact regrets."""

from __future__ import annotations

from bayesregret import checks
from bayesregret.audit.bound_checks import regret_checks
from bayesregret.audit.inequalities import TOO_WIDE, inequalities_of, too_wide
from bayesregret.audit.result import AuditResult
from bayesregret.audit.runs import BAYES_UCB, UCB1, trace
from bayesregret.audit.verdict import Check, not_applicable
from bayesregret.bounds.bound import Setting, make_setting
from bayesregret.exact.availability import why_simulated
from bayesregret.models import Bandit, BernoulliBandit, GaussianBandit, LinearBandit
from bayesregret.models.bandit import BanditLike, as_bandit

__all__ = ["AuditResult", "Check", "audit"]

RUNS = 1_000
LARGEST_HORIZON = 10**7
LARGEST_RUNS = 10**8


def audit(
    bandit: BanditLike,
    *,
    horizon: int,
    runs: int = RUNS,
    seed: int = 0,
    delta: float | None = None,
    epsilon: float | None = None,
    exact: bool | None = None,
) -> AuditResult:
    """Check the paper's inequalities, and the certified ones, on a bandit.

    The steps of the proofs are checked on runs of Algorithm 1, written in plain NumPy and independent of the simulation
    engine. Upper bounds and certified lower ones are compared with the exact regret where `exact_regret` takes about a
    second, and otherwise, as for Thompson sampling always, with the regret that `simulate` estimates. The identity of
    Thompson sampling is estimated and compared with that regret. An inequality between averages fails if it is violated
    by more than four standard errors, or numerical errors; one about every run fails as soon as one run violates it; an
    equality holds within four standard errors.

    Parameters
    ----------
    bandit : GaussianBandit, BernoulliBandit or LinearBandit
        The problem.
    horizon : int
        Number of rounds in a run.
    runs : int, default 1000
        Number of runs.
    seed : int, default 0
        The same seed gives the same result.
    delta : float, optional
        Failure probability of the confidence intervals, 1/horizon by default.
    epsilon : float, optional
        Gaps below epsilon count as epsilon. By default, 1/horizon in the paper's bounds and the best epsilon in the
        certified ones.
    exact : bool, optional
        Whether to compare bounds with the exact regret; by default, where that takes about a second.

    Returns
    -------
    AuditResult
        Every inequality with its worst ratio and a verdict.

    Examples
    --------
    >>> narrow = GaussianBandit(prior_mean=[1, 0, 0], prior_width=0.1, reward_noise=1)
    >>> {check.form for check in audit(narrow, horizon=50, runs=50).failures}
    {'paper'}
    """
    bandit = as_bandit(bandit)
    if not isinstance(bandit, GaussianBandit | BernoulliBandit | LinearBandit):
        raise checks.fail("bandit", "a Gaussian, Bernoulli or linear bandit", bandit)
    horizon = checks.whole("horizon", horizon, 1, LARGEST_HORIZON)
    runs = checks.whole("runs", runs, 1, LARGEST_RUNS)
    seed = checks.whole("seed", seed, 0)
    setting = make_setting(horizon, delta, epsilon)
    why = why_simulated(bandit, horizon, exact)
    # Bounds come first, because the exact regret may be impossible to compute.
    bounds = regret_checks(bandit, setting, delta=delta, runs=runs, seed=seed, exact=why is None)
    found = (*_proof_step_checks(bandit, setting, runs, seed), *bounds)
    return AuditResult(bandit, horizon, runs, seed, setting.delta, setting.paper_epsilon, found, why)


def _proof_step_checks(bandit: Bandit, setting: Setting, runs: int, seed: int) -> list[Check]:
    """Check the steps of the proofs; those about UCB1 are stated for Gaussian bandits only."""
    found = []
    for policy in (BAYES_UCB, UCB1) if isinstance(bandit, GaussianBandit) else (BAYES_UCB,):
        gathering = inequalities_of(bandit, policy, setting)
        if too_wide(bandit):
            found += [not_applicable(evidence.inequality, TOO_WIDE) for evidence in gathering]
            continue
        for traces in trace(bandit, policy, setting, runs=runs, seed=seed):
            for evidence in gathering:
                evidence.add(traces)
        found += [evidence.check() for evidence in gathering]
    return found
