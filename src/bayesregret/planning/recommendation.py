"""Which policy a plan recommends: the one with the least regret, but no tuned delta that is not clearly better."""

from __future__ import annotations

from collections.abc import Iterable

from bayesregret.planning.policy_outcome import PolicyOutcome
from bayesregret.planning.tracked_simulation import paired
from bayesregret.planning.zero_crossing import Z_95
from bayesregret.policies import ExploreCommit


def recommended(outcomes: Iterable[PolicyOutcome]) -> PolicyOutcome:
    """Return the outcome with the least regret.

    If that is BayesUCB with the delta that the plan chose, return the best of the other policies that are not
    significantly worse: a tuned delta is right for one prior and one horizon, and the least of several simulated
    regrets tends to be too low. The A/B test is tuned, too.
    """
    in_order = sorted(outcomes, key=lambda outcome: outcome.regret.mean)
    least = in_order[0]
    if not least.is_tuned:
        return least
    others = (found for found in in_order[1:] if not isinstance(found.policy, ExploreCommit))
    return next((found for found in others if not is_worse(found, least)), least)


def is_worse(outcome: PolicyOutcome, best: PolicyOutcome) -> bool:
    """Whether regret is significantly larger, on the runs that both have in common, or by exact regrets."""
    if outcome.exact is not None and best.exact is not None:
        return outcome.regret.mean - best.regret.mean > outcome.regret.stderr + best.regret.stderr
    more = paired(outcome.tracked.final_regret, best.tracked.final_regret)
    return more.mean > Z_95 * more.stderr
