"""Policies on the command line: a name, `thompson`, or a name with settings, `bayes-ucb:delta=0.01`."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Annotated, Any

from bayesregret import checks
from bayesregret.cli.options import number, option
from bayesregret.models import Bandit
from bayesregret.policies import Policy
from bayesregret.policies.base import has_no_width

DEFAULT_POLICIES = ("bayes-ucb", "ucb1")
# UCB1 requires sub-Gaussian rewards.
DEFAULT_WITHOUT_WIDTH = ("bayes-ucb", "thompson")
TRUE_OR_FALSE = {"true": True, "false": False}


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
    """Return policies by the text that names them; --delta applies to those whose settings have no delta."""
    made = {}
    for text in given:
        if given.count(text) > 1:
            raise ValueError(f"policy must be given once each, got {text} {given.count(text)} times")
        made[text] = _make_policy(text, delta)
    return made


def _make_policy(text: str, delta: Any) -> Policy:
    name, _, rest = text.partition(":")
    checks.one_of("policy", name, Policy.classes)
    policy = Policy.classes[name]
    settings = _settings(policy, rest.split(",")) if rest else {}
    if delta is not None and "delta" not in settings:
        if "delta" not in _fields(policy):
            raise ValueError(f"--delta does not go with {name}, which has no delta")
        settings["delta"] = delta
    return policy(**settings)


def _settings(policy: type[Policy], parts: Sequence[str]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for part in parts:
        field, equals, value = part.partition("=")
        if not equals or field not in _fields(policy):
            fields = ", ".join(_fields(policy)) or "none"
            raise ValueError(f"policy {policy.name} must have settings as field=value, fields: {fields}, got {part!r}")
        settings[field] = TRUE_OR_FALSE[value] if value in TRUE_OR_FALSE else number(value)
    return settings


def _fields(policy: type[Policy]) -> list[str]:
    """Return the settings of a policy except `prior`, which is a whole problem."""
    return [name for name in inspect.signature(policy).parameters if name != "prior"]
