"""The front door: everything is checked once, here, before anything is simulated."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bayesregret import checks
from bayesregret.digits import with_error
from bayesregret.models import Bandit
from bayesregret.planning.ab_test import best_split
from bayesregret.planning.delta_tuning import DeltaAdvice, advise_delta
from bayesregret.planning.experiment import (
    DEFAULT,
    SPLIT_TEST,
    Scene,
    believer,
    check_bandit,
    check_fits_bandit,
    fits,
    rival_without_prior,
)
from bayesregret.planning.misspecification import limits
from bayesregret.planning.perturbed_priors import can_move, can_stretch
from bayesregret.planning.policy_outcome import Outcome
from bayesregret.planning.result import Plan
from bayesregret.planning.run_budget import DELTA_BUDGET, has_slow_quantiles, run_cost
from bayesregret.planning.targets import Inversion, arms_for, horizon_for, width_for
from bayesregret.planning.tracked_simulation import paired
from bayesregret.planning.value_of_prior import prior_worth
from bayesregret.policies import BayesUCB, ExploreCommit, Policy
from bayesregret.simulation.engine import available_threads
from bayesregret.simulation.progress import open_progress
from bayesregret.simulation.simulate import LARGEST_HORIZON, LARGEST_RUNS, named

LONGEST_QUANTILES = 2_000  # rounds over which sweeps of policies that need quantiles take a moment
MOST_DELTA = 0.99
SWEEP_POINTS, DELTA_POINTS = 30, 14  # about how many points the sweeps have, for the progress bar


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
    """What to expect of every way of running an experiment, before there are data.

    Parameters
    ----------
    policies
        By default BayesUCB, Thompson, KLUCB, MOSS and UCB1, those of them that run on this bandit. An A/B test of the
        best length always comes with them, and BayesUCB with its best delta where it is one of them.
    regret_per_round
        Ask for the horizon from which on regret per round stays under it.
    budget
        Ask for the number of arms and the width of the prior that this much regret allows.
    runs
        Of each policy and of each point of a sweep; by default what a few seconds allow.
    progress
        As in `simulate`.

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
    with open_progress(progress, rounds_in_all=0) as bar:
        scene = Scene(bandit, horizon, runs=runs, seed=seed, threads=threads, bar=bar)
        bar.extend(_work(scene, [*chosen.values(), BayesUCB(), ExploreCommit(0)]))
        return _plan(scene, chosen, regret_per_round, budget)


def _chosen(bandit: Bandit, policies: Any, horizon: int) -> dict[str, Policy]:
    """The policies by name; by default those that run on this bandit, otherwise each must."""
    if policies is None:
        return named([policy for policy in DEFAULT if fits(policy, bandit, horizon)])
    chosen = named(policies)
    for policy in chosen.values():
        check_fits_bandit(bandit, policy, horizon)
    return chosen


def _work(scene: Scene, policies: list[Policy]) -> int:
    """About what there is to do, for the progress bar."""

    def cost(policy: Policy) -> int:
        return run_cost(policy, scene.bandit, scene.horizon)

    rows = sum(scene.runs_each(policy) * cost(policy) for policy in policies)
    wrong_priors = SWEEP_POINTS * scene.runs_of_point(BayesUCB())
    deltas = DELTA_POINTS * scene.runs_of_point(BayesUCB(), DELTA_BUDGET)
    return rows + (wrong_priors + deltas) * cost(BayesUCB())


def _plan(scene: Scene, chosen: dict[str, Policy], regret_per_round: float | None, budget: float | None) -> Plan:
    bandit, horizon = scene.bandit, scene.horizon
    outcomes = {name: scene.outcome(name, policy) for name, policy in chosen.items()}
    outcomes[SPLIT_TEST] = scene.outcome(SPLIT_TEST, best_split(bandit, horizon, scene.regrets))
    notes: list[str] = []
    worth, wrong = None, []
    rival = rival_without_prior(bandit, horizon)
    if bandit.arms > 1 and rival is None:
        notes.append(f"No policy without a prior runs on {bandit.kind} rewards: what the prior is worth is not told.")
    elif bandit.arms > 1 and rival is not None:
        knows = believer(bandit, horizon)
        worth = prior_worth(*(_outcome_of(scene, outcomes, policy) for policy in (knows, rival)))
        scene.bar.describe("wrong priors")
        wrong = limits(bandit, knows, rival, scene.regrets)
        notes += _what_is_not_wrong(scene, knows, rival, bool(wrong))
    scene.bar.describe("delta")
    is_slow = has_slow_quantiles(bandit, horizon) and horizon > LONGEST_QUANTILES
    advice = None if is_slow else advise_delta(bandit, scene.regrets_of_deltas, horizon)
    if advice is not None and BayesUCB() in chosen.values():
        tuned = _tuned(scene, advice)
        outcomes[tuned.name] = tuned
        advice = _judged(advice, _outcome_of(scene, outcomes, BayesUCB()), tuned)
    if is_slow:
        notes.append(f"The best delta is not looked for: bayes-ucb on {bandit.kind} rewards takes too long.")
    scene.bar.describe("targets")
    turned, refused = _inversions(scene, regret_per_round, budget)
    return Plan(
        bandit,
        horizon,
        scene.seed,
        outcomes,
        worth,
        tuple(wrong),
        advice,
        scene.least,
        tuple(turned),
        (*notes, *refused),
    )


def _tuned(scene: Scene, advice: DeltaAdvice) -> Outcome:
    """BayesUCB with the best delta, to two digits."""
    delta = min(MOST_DELTA, float(f"{advice.best:.2g}"))
    name = f"{BayesUCB.name}, delta {delta:g}"
    return scene.outcome(name, BayesUCB(delta))


def _judged(advice: DeltaAdvice, usual: Outcome, tuned: Outcome) -> DeltaAdvice:
    """What the usual delta costs, on runs that had no part in finding the best one."""
    if advice.is_exact:
        return advice
    return dataclasses.replace(advice, usual_cost=paired(usual.seen.final_regret, tuned.seen.final_regret))


def _outcome_of(scene: Scene, outcomes: dict[str, Outcome], policy: Policy) -> Outcome:
    """Of a policy that is perhaps not among those compared."""
    known = (outcome for outcome in outcomes.values() if outcome.policy == policy)
    return next(known, None) or scene.outcome(policy.name, policy)


def _what_is_not_wrong(scene: Scene, knows: Policy, rival: Policy, is_looked_at: bool) -> list[str]:
    """Which wrong priors are not looked at, and why."""
    bandit = scene.bandit
    if not is_looked_at:
        more = paired(scene.regrets(knows), scene.regrets(rival))
        told = with_error(more.mean, more.stderr, signed=True)
        return [
            f"How wrong the prior may be is not told: even the true one is not better than {rival.name}, by {told}."
        ]
    fixed = [field for field, can in (("mean", can_move(bandit)), ("width", can_stretch(bandit))) if not can]
    return [
        f"A wrong prior {field} is not looked at: it is no single number for {bandit.kind} arms." for field in fixed
    ]


def _inversions(
    scene: Scene, regret_per_round: float | None, budget: float | None
) -> tuple[list[Inversion], list[str]]:
    """What was asked for; a question that has no answer is told in one line."""
    shared: dict[str, Any] = {"runs": scene.runs, "seed": scene.seed, "threads": scene.threads}
    asked: list[Callable[[], Inversion]] = []
    if regret_per_round is not None:
        asked.append(lambda: horizon_for(scene.bandit, regret_per_round, **shared))
    if budget is not None:
        asked.append(lambda: arms_for(scene.bandit, budget, horizon=scene.horizon, **shared))
        asked.append(lambda: width_for(scene.bandit, budget, horizon=scene.horizon, **shared))
    found, refused = [], []
    for question in asked:
        try:
            found.append(question())
        except ValueError as reason:
            refused.append(f"No answer: {reason}.")
    return found, refused
