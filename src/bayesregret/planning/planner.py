"""`plan`: check the arguments, simulate the policies and collect the result."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bayesregret import checks
from bayesregret.digits import with_error
from bayesregret.models import Bandit
from bayesregret.planning.ab_test import best_ab_test
from bayesregret.planning.delta_tuning import DeltaAdvice, advise_delta
from bayesregret.planning.experiment import (
    AB_TEST,
    DEFAULT,
    PlannedExperiment,
    check_bandit,
    check_runs_on,
    policy_with_prior,
    policy_without_prior,
    runs_on,
)
from bayesregret.planning.misspecification import prior_limits
from bayesregret.planning.perturbed_priors import can_shift, can_stretch
from bayesregret.planning.policy_outcome import PolicyOutcome
from bayesregret.planning.result import Plan
from bayesregret.planning.run_budget import DELTA_BUDGET, has_slow_quantiles, run_cost
from bayesregret.planning.targets import Inversion, arms_for, horizon_for, width_for
from bayesregret.planning.tracked_simulation import paired
from bayesregret.planning.value_of_prior import prior_worth
from bayesregret.policies import BayesUCB, ExploreCommit, Policy
from bayesregret.progress import open_progress
from bayesregret.simulation.engine import available_threads
from bayesregret.simulation.simulate import LARGEST_HORIZON, LARGEST_RUNS, named

LONGEST_QUANTILES = 2_000  # rounds: longer sweeps of policies that need quantiles take too long
MOST_DELTA = 0.99
SWEEP_POINTS, DELTA_POINTS = 30, 14  # approximate numbers of points of the sweeps, for the progress bar


def plan(
    bandit: Bandit,
    horizon: int,
    policies: Policy | Iterable[Policy] | Mapping[str, Policy] | None = None,
    *,
    regret_per_round: float | None = None,
    budget: float | None = None,
    runs: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: bool | Callable[[int, int], None] | None = None,
) -> Plan:
    """Compute the expected outcome of each policy in an experiment that has not been run yet.

    Parameters
    ----------
    bandit : Bandit
        The reward model and the prior of the arms.
    horizon : int
        Number of rounds.
    policies : Policy, iterable of Policy or mapping of names to Policy, optional
        Policies to compare; by default those of BayesUCB, Thompson, KLUCB, MOSS and UCB1 that run on this bandit. An
        A/B test of the best length is always added, and BayesUCB with its best delta if BayesUCB is compared.
    regret_per_round : float, optional
        Target for which to find the horizon from which on regret per round stays below it.
    budget : float, optional
        Regret for which to find the number of arms and the width of the prior that it allows.
    runs : int, optional
        Number of runs of each policy and of each point of a sweep; by default as many as a few seconds allow.
    seed : int, optional
        Seed of all simulations.
    threads : int, optional
        Number of threads; by default all processors. Results do not depend on it.
    progress : bool or callable, optional
        As in `simulate`.

    Returns
    -------
    Plan
        The expected outcome of each policy, the value of the prior, how wrong it may be, and the best delta.

    Examples
    --------
    >>> found = plan(BernoulliBandit(alpha=[1, 1], beta=[1, 1]), 4, BayesUCB(), runs=8)
    >>> found.best.regret.mean <= found["A/B test"].regret.mean
    True
    """
    check_bandit(bandit)
    horizon = checks.whole("horizon", horizon, 1, LARGEST_HORIZON)
    runs = None if runs is None else checks.whole("runs", runs, 2, LARGEST_RUNS)
    seed = checks.whole("seed", seed, 0)
    threads = available_threads() if threads is None else checks.whole("threads", threads, 1, 4096)
    if regret_per_round is not None:
        checks.positive("regret_per_round", regret_per_round)
    if budget is not None:
        checks.positive("budget", budget)
    chosen = _chosen(bandit, policies, horizon)
    with open_progress(progress, total=0) as bar:
        experiment = PlannedExperiment(bandit, horizon, runs=runs, seed=seed, threads=threads, bar=bar)
        bar.extend(_work(experiment, [*chosen.values(), BayesUCB(), ExploreCommit(0)]))
        return _plan(experiment, chosen, regret_per_round, budget)


def _chosen(bandit: Bandit, policies: Any, horizon: int) -> dict[str, Policy]:
    """The policies by name: the default ones that run on this bandit, or the given ones, which all must."""
    if policies is None:
        return named([policy for policy in DEFAULT if runs_on(policy, bandit, horizon)])
    chosen = named(policies)
    for policy in chosen.values():
        check_runs_on(bandit, policy, horizon)
    return chosen


def _work(experiment: PlannedExperiment, policies: list[Policy]) -> int:
    """Approximate work, in the unit of `run_cost`, for the progress bar."""

    def cost(policy: Policy) -> int:
        return run_cost(policy, experiment.bandit, experiment.horizon)

    rows = sum(experiment.runs_for_policy(policy) * cost(policy) for policy in policies)
    wrong_priors = SWEEP_POINTS * experiment.runs_for_point(BayesUCB())
    deltas = DELTA_POINTS * experiment.runs_for_point(BayesUCB(), DELTA_BUDGET)
    return rows + (wrong_priors + deltas) * cost(BayesUCB())


def _plan(
    experiment: PlannedExperiment, chosen: dict[str, Policy], regret_per_round: float | None, budget: float | None
) -> Plan:
    bandit, horizon, bar = experiment.bandit, experiment.horizon, experiment.bar
    outcomes = {name: experiment.outcome(name, policy) for name, policy in chosen.items()}
    outcomes[AB_TEST] = experiment.outcome(AB_TEST, best_ab_test(bandit, horizon, experiment.regrets))
    notes: list[str] = []
    worth, limits = None, []
    rival = policy_without_prior(bandit, horizon)
    if bandit.arms > 1 and rival is None:
        notes.append(
            f"No policy without a prior runs on {bandit.kind} rewards: the value of the prior is not computed."
        )
    elif bandit.arms > 1 and rival is not None:
        believer = policy_with_prior(bandit, horizon)
        worth = prior_worth(*(_outcome_of(experiment, outcomes, policy) for policy in (believer, rival)))
        bar.describe("wrong priors")
        limits = prior_limits(bandit, believer, rival, experiment.regrets)
        notes += _unexamined_priors(experiment, believer, rival, bool(limits))
    bar.describe("delta")
    is_slow = has_slow_quantiles(bandit, horizon) and horizon > LONGEST_QUANTILES
    advice = None if is_slow else advise_delta(bandit, experiment.regrets_of_deltas, horizon)
    if advice is not None and BayesUCB() in chosen.values():
        tuned = _tuned(experiment, advice)
        outcomes[tuned.name] = tuned
        advice = _judged(advice, _outcome_of(experiment, outcomes, BayesUCB()), tuned)
    if is_slow:
        notes.append(f"The best delta is not computed: bayes-ucb on {bandit.kind} rewards takes too long.")
    bar.describe("targets")
    inversions, refused = _inversions(experiment, regret_per_round, budget)
    return Plan(
        bandit,
        horizon,
        experiment.seed,
        outcomes,
        worth,
        tuple(limits),
        advice,
        experiment.least,
        tuple(inversions),
        (*notes, *refused),
    )


def _tuned(experiment: PlannedExperiment, advice: DeltaAdvice) -> PolicyOutcome:
    """Outcome of BayesUCB with the best delta, rounded to two digits."""
    delta = min(MOST_DELTA, float(f"{advice.best:.2g}"))
    name = f"{BayesUCB.name}, delta {delta:g}"
    return experiment.outcome(name, BayesUCB(delta))


def _judged(advice: DeltaAdvice, usual: PolicyOutcome, tuned: PolicyOutcome) -> DeltaAdvice:
    """Replace the cost of the usual delta by one on runs that were not used to choose the best delta."""
    if advice.is_exact:
        return advice
    return dataclasses.replace(advice, usual_cost=paired(usual.tracked.final_regret, tuned.tracked.final_regret))


def _outcome_of(experiment: PlannedExperiment, outcomes: dict[str, PolicyOutcome], policy: Policy) -> PolicyOutcome:
    """Outcome of a policy that may not be among those compared."""
    known = (outcome for outcome in outcomes.values() if outcome.policy == policy)
    return next(known, None) or experiment.outcome(policy.name, policy)


def _unexamined_priors(experiment: PlannedExperiment, believer: Policy, rival: Policy, is_examined: bool) -> list[str]:
    """Notes on the wrong priors that were not examined, with the reason."""
    bandit = experiment.bandit
    if not is_examined:
        more = paired(experiment.regrets(believer), experiment.regrets(rival))
        difference = with_error(more.mean, more.stderr, signed=True)
        return [
            "How wrong the prior may be is not computed: even with the true prior, the regret of "
            f"{believer.name} minus that of {rival.name} is {difference}."
        ]
    fixed = [field for field, can in (("mean", can_shift(bandit)), ("width", can_stretch(bandit))) if not can]
    return [
        f"A wrong prior {field} is not examined: it is not a single number for {bandit.kind} arms." for field in fixed
    ]


def _inversions(
    experiment: PlannedExperiment, regret_per_round: float | None, budget: float | None
) -> tuple[list[Inversion], list[str]]:
    """Answers to the target searches that were requested, and one line for each that has no answer."""
    shared: dict[str, Any] = {"runs": experiment.runs, "seed": experiment.seed, "threads": experiment.threads}
    searches: list[Callable[[], Inversion]] = []
    if regret_per_round is not None:
        searches.append(lambda: horizon_for(experiment.bandit, regret_per_round, **shared))
    if budget is not None:
        searches.append(lambda: arms_for(experiment.bandit, budget, horizon=experiment.horizon, **shared))
        searches.append(lambda: width_for(experiment.bandit, budget, horizon=experiment.horizon, **shared))
    found, refused = [], []
    for target_search in searches:
        try:
            found.append(target_search())
        except ValueError as reason:
            refused.append(f"No answer: {reason}.")
    return found, refused
