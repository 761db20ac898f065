"""Policies on the command line: a name, `thompson`, or a name with settings, `bayes-ucb:delta=0.01`."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Annotated, Any

from bayesregret.cli.options import option
from bayesregret.models import Bandit
from bayesregret.policies import Policy
from bayesregret.policies.base import has_no_width
from bayesregret.policy_data import named, policy_from_text

DEFAULT_POLICIES = ("bayes-ucb", "ucb1")
# UCB1 requires sub-Gaussian rewards.
DEFAULT_WITHOUT_WIDTH = ("bayes-ucb", "thompson")


def complete_policy(incomplete: str) -> list[str]:
    return [name for name in Policy.classes if name.startswith(incomplete)]


Policies = Annotated[
    list[str] | None,
    option(
        help=f"{', '.join(Policy.classes)}; repeat for several, optionally with settings: epsilon-greedy:epsilon=0.05.",
        default=f"{' and '.join(DEFAULT_POLICIES)}, or {' and '.join(DEFAULT_WITHOUT_WIDTH)} where ucb1 cannot run",
        metavar="NAME",
        autocompletion=complete_policy,
    ),
]


def default_policies(bandit: Bandit) -> Sequence[str]:
    return DEFAULT_WITHOUT_WIDTH if has_no_width(bandit.model) else DEFAULT_POLICIES


def make_policies(given: Sequence[str], delta: Any) -> dict[str, Policy]:
    """Return policies by the names that results show; --delta applies to those whose settings have no delta."""
    for text in given:
        if given.count(text) > 1:
            raise ValueError(f"policy must be given once each, got {text} {given.count(text)} times")
    return named([_with_delta(policy_from_text(text), delta) for text in given])


def _with_delta(policy: Any, delta: Any) -> Policy:
    if delta is None or getattr(policy, "delta", None) is not None:
        return policy  # type: ignore[no-any-return]
    if not hasattr(policy, "delta"):
        raise ValueError(f"--delta does not go with {policy.name}, which has no delta")
    return dataclasses.replace(policy, delta=delta)  # type: ignore[no-any-return]
