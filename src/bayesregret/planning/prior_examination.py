"""The value of the prior to the recommended policy, and how wrong the prior may be."""

from __future__ import annotations

import dataclasses

from bayesregret.digits import with_error
from bayesregret.models import Bandit
from bayesregret.planning.beliefs import believed_bandit, explicit_prior, uses_prior
from bayesregret.planning.experiment import PlannedExperiment, policy_without_prior
from bayesregret.planning.misspecification import PriorLimit, prior_limits
from bayesregret.planning.perturbed_priors import can_shift, can_stretch
from bayesregret.planning.policy_outcome import PolicyOutcome
from bayesregret.planning.run_budget import has_quick_tables
from bayesregret.planning.scenarios import possibilities
from bayesregret.planning.tracked_simulation import paired
from bayesregret.planning.value_of_prior import PriorWorth, prior_worth


def examine_prior(
    experiment: PlannedExperiment, outcomes: dict[str, PolicyOutcome], best: PolicyOutcome
) -> tuple[PriorWorth | None, list[PriorLimit], list[str]]:
    """Value of the prior to the recommended policy, how wrong the prior may be, and notes."""
    bandit = experiment.bandit
    if bandit.arms == 1:
        return None, [], []
    rival = _without_prior(experiment, outcomes)
    if rival is None:
        kind = bandit.representative.kind
        return None, [], [f"No policy without a prior runs on {kind} rewards: the value of the prior is not computed."]
    uses = uses_prior(best.policy, bandit)
    if uses is None:
        unknown = f"It is not known whether {best.name} uses the prior: its method belief returns a model of its own."
        return None, [], [unknown]
    if not uses:
        return None, [], [f"{best.name} uses no prior: a wrong prior cannot mislead it."]
    worth = prior_worth(best, rival)
    examined, notes = _examined(experiment, outcomes, best)
    if examined is None:
        return worth, [], notes
    experiment.bar.describe("wrong priors")
    believed = explicit_prior(examined.policy) or bandit
    limits = prior_limits(believed, examined.policy, rival.policy, experiment.regrets)
    named_limits = [dataclasses.replace(limit, policy=examined.name, rival=rival.name) for limit in limits]
    notes += _unexamined_priors(experiment, believed, examined, rival, bool(limits))
    return worth, named_limits, notes


def _examined(
    experiment: PlannedExperiment, outcomes: dict[str, PolicyOutcome], best: PolicyOutcome
) -> tuple[PolicyOutcome | None, list[str]]:
    """The policy whose wrong priors are examined, and a note if it is not the recommended one."""
    bandit, horizon = experiment.bandit, experiment.horizon
    in_order = sorted(outcomes.values(), key=lambda outcome: outcome.regret.mean)
    quick = [
        found
        for found in (best, *in_order)
        if uses_prior(found.policy, bandit) and has_quick_tables(found.policy, believed_bandit(bandit), horizon)
    ]
    if quick and quick[0] is best:
        return best, []
    instead = f": those of {quick[0].name} are shown" if quick else ""
    note = f"Wrong priors of {best.name} are not examined, as each needs a table of indices of its own{instead}."
    return (quick[0] if quick else None), [note]


def _without_prior(experiment: PlannedExperiment, outcomes: dict[str, PolicyOutcome]) -> PolicyOutcome | None:
    """The best of the policies that use no prior; one that is not compared, if none of those is."""
    found = [outcome for outcome in outcomes.values() if uses_prior(outcome.policy, experiment.bandit) is False]
    if found:
        return min(found, key=lambda outcome: outcome.regret.mean)
    rival = policy_without_prior(experiment.bandit, experiment.horizon)
    return None if rival is None else experiment.outcome(rival.name, rival)


def _unexamined_priors(
    experiment: PlannedExperiment, believed: Bandit, best: PolicyOutcome, rival: PolicyOutcome, is_examined: bool
) -> list[str]:
    """Notes on the wrong priors that were not examined, with the reason."""
    if not is_examined:
        more = paired(experiment.regrets(best.policy), experiment.regrets(rival.policy))
        difference = with_error(more.mean, more.stderr, signed=True)
        return [
            "How wrong the prior may be is not computed: even with the prior of the problem, the regret of "
            f"{best.name} minus that of {rival.name} is {difference}."
        ]
    fixed = [field for field, can in (("mean", can_shift(believed)), ("width", can_stretch(believed))) if not can]
    return [
        f"A wrong prior {field} is not examined: it is not a single number for {_kind_of_arms(believed)}."
        for field in fixed
    ]


def _kind_of_arms(bandit: Bandit) -> str:
    is_level = bandit.kind == "linear" and any(end.field == "level" for end in possibilities(bandit))
    return "arms that share a level" if is_level else f"{bandit.kind} arms"
