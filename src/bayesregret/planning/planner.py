"""`plan`: check the arguments, simulate the policies and collect the result."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

from bayesregret import bounds, checks
from bayesregret.digits import counted, upper_bound_digits
from bayesregret.models import Bandit, MixtureBandit
from bayesregret.models.bandit import BanditLike, as_bandit
from bayesregret.old_spellings import horizon_by_name
from bayesregret.planning.ab_test import best_ab_test
from bayesregret.planning.beliefs import with_belief, without_belief
from bayesregret.planning.costs import limit_in_costs, scenario_in_costs
from bayesregret.planning.delta_tuning import DeltaAdvice, advise_delta
from bayesregret.planning.elsewhere import OtherHorizon, Scenario
from bayesregret.planning.experiment import (
    AB_TEST,
    PlannedExperiment,
    check_runs_on,
    default_policies,
)
from bayesregret.planning.least import why_no_ratios
from bayesregret.planning.other_horizons import other_horizons
from bayesregret.planning.policy_outcome import PolicyOutcome
from bayesregret.planning.prior_examination import examine_prior
from bayesregret.planning.recommendation import recommended
from bayesregret.planning.result import Plan
from bayesregret.planning.reward import Control, checked_control, checked_unit, default_epsilon, expected_reward
from bayesregret.planning.run_budget import DELTA_BUDGET, FEWEST, has_slow_quantiles
from bayesregret.planning.scenarios import scenarios
from bayesregret.planning.settling import settling
from bayesregret.planning.targets import Inversion, arms_for, horizon_for, width_for
from bayesregret.planning.tracked_simulation import paired
from bayesregret.policies import BayesUCB, ExploreCommit, Policy
from bayesregret.policy_data import Policies, named, named_with_deltas, with_settings
from bayesregret.progress import open_progress
from bayesregret.simulation.cost import checked_time
from bayesregret.simulation.engines.choose import EngineLike, as_engine
from bayesregret.simulation.simulate import DEFAULT_CHECKPOINTS, LARGEST_HORIZON, LARGEST_RUNS, checked_late
from bayesregret.simulation.size import check_rounds, most_runs

LONGEST_QUANTILES = 2_000  # rounds: longer sweeps of policies that need quantiles take too long
MOST_DELTA = 0.99
# Approximate numbers of points of the sweeps, for the progress bar.
SWEEP_POINTS, DELTA_POINTS, HORIZON_POINTS, SCENARIO_POINTS = 30, 14, 2, 6


class Request(NamedTuple):
    """The questions of a plan, besides the experiment itself."""

    regret_per_round: float | None
    budget: float | None
    unit: str
    minimise: bool
    control: Control | None


@horizon_by_name
def plan(
    bandit: BanditLike,
    policies: Policies | None = None,
    *,
    horizon: int,
    regret_per_round: float | None = None,
    budget: float | None = None,
    delay: int = 0,
    batch: int = 1,
    epsilon: float | None = None,
    unit: str | None = None,
    minimise: bool = False,
    control: float | None = None,
    control_arm: int | None = None,
    runs: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    engine: EngineLike | None = None,
    progress: bool | Callable[[int, int], None] | None = None,
) -> Plan:
    """Compute the expected outcome of each policy in an experiment that has not been run yet.

    Parameters
    ----------
    bandit : Bandit, FittedPrior or Agent
        The reward model and the prior of the arms. If it is a mixture, policies believe in its `conjugate()`, unless
        they have another prior, while instances come from the mixture.
    policies : Policy or str, an iterable of them, or a mapping of names to them, optional
        Policies to compare, or their names such as "thompson"; by default those of BayesUCB, Thompson, KLUCB, MOSS and
        UCB1 that run on this bandit, and Gittins with a discount where its tables take about a second. An A/B test of
        the best length is always added, and BayesUCB with its best delta if BayesUCB is compared.
    horizon : int
        Number of rounds.
    regret_per_round : float, optional
        Target for which to find the horizon from which on regret per round stays below it.
    budget : float, optional
        Regret for which to find the number of arms and the width of the prior that it allows.
    delay, batch : int, optional
        Rewards arrive `delay` rounds late, and at the ends of batches of `batch` rounds, as in `simulate`; some reward
        must arrive before the last round.
    epsilon : float, optional
        The table shows from which round on a policy is, with 95 percent probability, on an arm whose mean reward is
        within epsilon of the best; by default a tenth of what the best arm is worth over a random one.
    unit : str, optional
        What rewards or costs count, such as "conversions".
    minimise : bool, optional
        Whether the bandit's rewards are costs. The plan is then for `bandit.for_costs()`.
    control : float, optional
        Known mean reward or cost of what is done today: the plan compares the recommended policy with keeping it.
    control_arm : int, optional
        The same if what is done today is one of the arms, counted from 0, with the prior that it has in the problem.
    runs : int, optional
        Number of runs of each policy and of each point of a sweep; by default as many as a few seconds of
        each policy allow.
    seed : int, optional
        Seed of all simulations.
    threads : int, optional
        Number of threads; by default all processors. Results do not depend on it.
    engine : str, Engine or distributed.Client, optional
        Where to play the runs, as in `simulate`.
    progress : bool or callable, optional
        As in `simulate`.

    Returns
    -------
    Plan
        The expected outcome of each policy; how much any policy could still save; the value of the prior to the
        recommended policy and how wrong it may be; what would change the recommendation; the best delta of BayesUCB;
        and how to run it.

    Examples
    --------
    >>> found = plan(BernoulliBandit(alpha=[1, 1], beta=[1, 1]), "bayes-ucb", horizon=4, runs=8)
    >>> found.best.regret.mean <= found["A/B test"].regret.mean
    True
    """
    bandit = as_bandit(bandit)
    horizon = checks.whole("horizon", horizon, 1, LARGEST_HORIZON)
    runs = None if runs is None else checks.whole("runs", runs, 2, LARGEST_RUNS)
    seed = checks.whole("seed", seed, 0)
    place = as_engine(engine, threads)
    if regret_per_round is not None:
        checks.positive("regret_per_round", regret_per_round)
    if budget is not None:
        checks.positive("budget", budget)
    delay, batch = _checked_late(delay, batch, horizon)
    if not isinstance(minimise, bool):
        raise checks.fail("minimise", "True or False", minimise)
    kept = checked_control(bandit, control, control_arm)
    request = Request(regret_per_round, budget, checked_unit(unit, minimise), minimise, kept)
    bandit = bandit.for_costs() if minimise else bandit
    epsilon = default_epsilon(bandit, runs, seed) if epsilon is None else checks.at_least("epsilon", epsilon, 0.0)
    chosen = _chosen(bandit, policies, horizon)
    if runs is not None and chosen:
        check_rounds(horizon, runs)
        size = {"checkpoints": DEFAULT_CHECKPOINTS, "threads": place.threads, "late": min(delay + batch, horizon)}
        most_runs(bandit, chosen.values(), runs=runs, keep=None, **size)
    experiment = PlannedExperiment(
        bandit, horizon, runs=runs, seed=seed, engine=place, delay=delay, batch=batch, epsilon=epsilon
    )
    work = _work(experiment, list(chosen.values()))
    with open_progress(progress, total=work, expected=_expected_time(experiment, work)) as experiment.bar:
        return _plan(experiment, chosen, request)


def _checked_late(delay: int, batch: int, horizon: int) -> tuple[int, int]:
    """Return delay and batch, which must let a reward arrive before the last round: there is nothing to plan else."""
    delay, batch = checked_late(delay, batch, horizon)
    no_reward = f"or no reward arrives before the last of {counted(horizon, 'round')}"
    if batch >= horizon and batch > 1:
        raise checks.fail("batch", f"less than the horizon, {no_reward}", batch)
    if delay > 0 and batch * ((horizon - 1) // batch) <= delay:
        raise checks.fail("delay", f"shorter, {no_reward}", delay)
    return delay, batch


def _chosen(bandit: Bandit, policies: Any, horizon: int) -> dict[str, Policy]:
    """The policies by name: the default ones that run on this bandit, or the given ones, which all must."""
    if policies is None:
        return named(default_policies(bandit, horizon))
    chosen = {name: with_belief(policy, bandit) for name, policy in named_with_deltas(policies).items()}
    for policy in chosen.values():
        check_runs_on(bandit, policy, horizon)
    return chosen


def _work(experiment: PlannedExperiment, policies: list[Policy]) -> int:
    """Approximate work, in the unit of `run_cost`, for the progress bar."""
    bandit, cost = experiment.bandit, experiment.cost
    tuned = with_belief(BayesUCB(), bandit)
    rows = [*policies, tuned, with_belief(ExploreCommit(0), bandit)]
    slowest = max(policies, key=cost, default=tuned)
    work = sum(experiment.runs_for_policy(policy) * cost(policy) for policy in rows)
    work += SWEEP_POINTS * experiment.runs_for_point(slowest) * cost(slowest)
    elsewhere = SCENARIO_POINTS if isinstance(bandit, MixtureBandit) else HORIZON_POINTS
    work += elsewhere * sum(experiment.runs_for_point(policy) * cost(policy) for policy in rows)
    return work + DELTA_POINTS * experiment.runs_for_point(tuned, DELTA_BUDGET) * cost(tuned)


def _expected_time(experiment: PlannedExperiment, work: int) -> str | None:
    """Approximate time of the plan, None if it is short; ValueError if it takes too long."""
    runs = experiment.runs or FEWEST
    return checked_time(
        "plan",
        work / 1e9 / runs,
        horizon=experiment.horizon,
        runs=runs,
        engine=experiment.engine,
        may_have_fewer_runs=experiment.runs is not None,
    )


def _plan(experiment: PlannedExperiment, chosen: dict[str, Policy], request: Request) -> Plan:
    outcomes, advice, notes = _outcomes(experiment, chosen)
    best = recommended(outcomes.values())
    worth, limits, more = examine_prior(experiment, outcomes, best)
    possible, others = _elsewhere(experiment, outcomes, best)
    settled = settling(experiment, best)
    inversions, refused = _inversions(experiment, best, request)
    bandit, minimise = experiment.bandit, request.minimise
    shown: dict[str, Any] = {"unit": request.unit, "minimise": minimise, "control": request.control}
    return Plan(
        bandit=bandit,
        horizon=experiment.horizon,
        seed=experiment.seed,
        delay=experiment.delay,
        batch=experiment.batch,
        epsilon=experiment.epsilon,
        outcomes=outcomes,
        reward=expected_reward(bandit, experiment.horizon, best, **shown, seed=experiment.seed),
        settling=settled,
        worth=worth,
        limits=tuple(limit_in_costs(limit) if minimise else limit for limit in limits),
        scenarios=tuple(scenario_in_costs(scenario, bandit) if minimise else scenario for scenario in possible),
        other_horizons=tuple(others),
        delta=advice,
        least=experiment.least,
        inversions=tuple(inversions),
        notes=(
            *(*notes, *more, *refused),
            *why_no_ratios(bandit, experiment.horizon, experiment.least, is_late=not experiment.is_immediate),
            *_bound_for_all(experiment, outcomes),
        ),
    )


def _elsewhere(
    experiment: PlannedExperiment, outcomes: dict[str, PolicyOutcome], best: PolicyOutcome
) -> tuple[list[Scenario], list[OtherHorizon]]:
    """What would be best if the level or width were at an end of its interval, and over other horizons."""
    bandit, horizon, bar = experiment.bandit, experiment.horizon, experiment.bar
    if bandit.arms == 1:
        return [], []
    policies = {name: outcome.policy for name, outcome in outcomes.items()}
    bar.describe("scenarios")
    possible = scenarios(
        bandit, policies, best.name, lambda world, policy: experiment.regrets_elsewhere(world, horizon, policy)
    )
    bar.describe("other horizons")
    others = other_horizons(
        horizon, policies, best.name, lambda rounds, policy: experiment.regrets_elsewhere(bandit, rounds, policy)
    )
    return possible, others


def _bound_for_all(experiment: PlannedExperiment, outcomes: dict[str, PolicyOutcome]) -> list[str]:
    """The certified bound that holds for every policy, where no policy has one of its own."""
    bandit = experiment.bandit
    if bandit.arms == 1 or any(outcome.bound is not None for outcome in outcomes.values()):
        return []
    if not bounds.certified_trivial.covers(bandit):
        return []
    try:
        bound = bounds.certified_trivial(bandit, horizon=experiment.horizon)
    except ValueError:  # a prior so extreme that its integrals are not computed
        return []
    return [f"Certified for every policy: a regret of at most {upper_bound_digits(bound.value)}."]


def _outcomes(
    experiment: PlannedExperiment, chosen: dict[str, Policy]
) -> tuple[dict[str, PolicyOutcome], DeltaAdvice | None, list[str]]:
    """Outcomes of the policies, of the best A/B test and of BayesUCB with its best delta; its advice, and notes."""
    bandit, horizon = experiment.bandit, experiment.horizon
    outcomes = {name: experiment.outcome(name, policy) for name, policy in chosen.items()}
    ab_test = best_ab_test(bandit, horizon, experiment.regrets, is_immediate=experiment.is_immediate)
    outcomes[AB_TEST] = experiment.outcome(AB_TEST, ab_test)
    usual = next((found for found in outcomes.values() if _is_usual(found.policy)), None)
    if usual is None:
        return outcomes, None, []
    if has_slow_quantiles(bandit, horizon) and horizon > LONGEST_QUANTILES:
        kind = bandit.representative.kind
        return outcomes, None, [f"The best delta is not computed: bayes-ucb on {kind} rewards takes too long."]
    experiment.bar.describe("delta")
    policy: Any = usual.policy
    advice = advise_delta(bandit, policy, experiment.regrets_of_deltas, horizon, is_immediate=experiment.is_immediate)
    if advice is not None:
        tuned = _tuned(experiment, policy, advice)
        outcomes[tuned.name] = tuned
        advice = _judged(advice, usual, tuned)
    return outcomes, advice, []


def _is_usual(policy: Policy) -> bool:
    """Whether this is BayesUCB with the delta of the paper."""
    return isinstance(policy, BayesUCB) and policy.delta is None


def _tuned(experiment: PlannedExperiment, usual: BayesUCB, advice: DeltaAdvice) -> PolicyOutcome:
    """Outcome of BayesUCB with the best delta, rounded to two digits."""
    delta = min(MOST_DELTA, float(f"{advice.best:.2g}"))
    outcome = experiment.outcome(with_settings(BayesUCB(delta)), dataclasses.replace(usual, delta=delta))
    return dataclasses.replace(outcome, is_tuned=True)


def _judged(advice: DeltaAdvice, usual: PolicyOutcome, tuned: PolicyOutcome) -> DeltaAdvice:
    """Replace the cost of the usual delta by one on runs that were not used to choose the best delta."""
    if advice.is_exact:
        return advice
    return dataclasses.replace(advice, usual_cost=paired(usual.tracked.final_regret, tuned.tracked.final_regret))


def _inversions(
    experiment: PlannedExperiment, best: PolicyOutcome, request: Request
) -> tuple[list[Inversion], list[str]]:
    """Answers to the target searches that were requested, and one line for each that has no answer.

    They are about the recommended policy, unless its settings are for this horizon only.
    """
    bandit, horizon, budget = experiment.bandit, experiment.horizon, request.budget
    regret_per_round = request.regret_per_round
    has_setting = any(getattr(best.policy, name, None) is not None for name in ("delta", "discount"))
    is_for_one_horizon = isinstance(best.policy, ExploreCommit) or has_setting
    shared: dict[str, Any] = {
        "policy": None if is_for_one_horizon else without_belief(best.policy, bandit),
        "delay": experiment.delay,
        "batch": experiment.batch,
        "runs": experiment.runs,
        "seed": experiment.seed,
        "engine": experiment.engine,
    }
    experiment.bar.describe("targets")
    searches: list[Callable[[], Inversion]] = []
    if regret_per_round is not None:
        searches.append(lambda: horizon_for(bandit, regret_per_round, **shared))
    if budget is not None:
        searches.append(lambda: arms_for(bandit, budget, horizon=horizon, **shared))
        searches.append(lambda: width_for(bandit, budget, horizon=horizon, **shared))
    found, refused = [], []
    for target_search in searches:
        try:
            found.append(target_search())
        except ValueError as reason:
            refused.append(f"No answer: {reason}.")
    return found, refused
