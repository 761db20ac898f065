"""Policies as plain data, as text and by name: in studies, sweeps, saved agents, and wherever a user names them."""

from __future__ import annotations

import collections
import dataclasses
import inspect
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from bayesregret import checks
from bayesregret.models import Bandit
from bayesregret.policies import Policy
from bayesregret.problem import check_fields, problem_from_dict

PolicyOrName: TypeAlias = Policy | str
Policies: TypeAlias = PolicyOrName | Iterable[PolicyOrName] | Mapping[str, PolicyOrName]

A_POLICY = "a policy such as BayesUCB(), or its name"
SOME_POLICIES = "a policy or a list of policies such as BayesUCB(), or their names"
TRUE_OR_FALSE = {"true": True, "false": False}


# --- plain data ------------------------------------------------------------------------------------------------------


def policy_to_dict(policy: Policy) -> dict[str, Any]:
    given = {name: value for name, value in vars(policy).items() if value is not None}
    return {"name": policy.name} | {
        name: value.to_dict() if isinstance(value, Bandit) else value for name, value in given.items()
    }


def policy_from_dict(data: Mapping[str, Any]) -> Policy:
    """Return the policy that a mapping in the format of `policy_to_dict` describes."""
    arguments = dict(data)
    if "name" not in arguments:
        raise ValueError(f"policy must have a name, one of {', '.join(Policy.classes)}")
    name = arguments.pop("name")
    try:
        name = checks.one_of("policy", name, Policy.classes)
    except ValueError as error:
        raise ValueError(f"{error}; a policy of your own must be imported first") from None
    check_fields(f"the policy {name}", Policy.classes[name], arguments)
    if arguments.get("prior") is not None:
        arguments["prior"] = problem_from_dict(arguments["prior"])
    return Policy.classes[name](**arguments)


# --- text ------------------------------------------------------------------------------------------------------------


def as_policy(given: PolicyOrName) -> Policy:
    """Return a policy as it is, and the policy that a text such as "thompson" or "bayes-ucb:delta=0.1" names."""
    if isinstance(given, str):
        return _policy_in_python(given)
    if isinstance(given, type) and issubclass(given, Policy):
        raise ValueError(f"policy must be {A_POLICY}, got a class: write {given.__name__}()")
    if not isinstance(given, Policy):  # a caller without a type checker may give anything
        raise checks.fail("policy", A_POLICY, given)
    if not isinstance(getattr(given, "name", None), str):
        raise ValueError(f"policies must each have a name, but {type(given).__name__} has none")
    return given


def _policy_in_python(text: str) -> Policy:
    """As `policy_from_text`, where a text may also name a class of the user's."""
    if text.partition(":")[0] in Policy.classes:
        return policy_from_text(text)
    try:
        return policy_from_text(text)
    except ValueError as error:
        hint = "" if "did you mean" in str(error) else "; a policy of your own must be imported first"
        raise ValueError(f"{error}{hint}") from None


def policy_from_text(text: str) -> Policy:
    """Return the policy of a name, or of a name with settings: `epsilon-greedy:epsilon=0.05`."""
    name, _, rest = text.partition(":")
    policy = Policy.classes[checks.one_of("policy", name, Policy.classes)]
    return policy(**_settings(policy, rest.split(",") if rest else []))


def _settings(policy: type[Policy], parts: Sequence[str]) -> dict[str, Any]:
    # A prior is a whole problem, which no text names.
    fields = [name for name in inspect.signature(policy).parameters if name != "prior"]
    settings: dict[str, Any] = {}
    for part in parts:
        field, equals, value = part.partition("=")
        has = f"it has {', '.join(fields) or 'none'}"
        if not equals:
            raise ValueError(f"policy {policy.name} must have settings as field=value; {has}, got {part!r}")
        if field not in fields:
            raise ValueError(f"policy {policy.name} has no setting {checks.shown(field)}; {has}")
        settings[field] = TRUE_OR_FALSE[value] if value in TRUE_OR_FALSE else checks.parsed_number(value)
    return settings


# --- names in results ------------------------------------------------------------------------------------------------


def named(policies: Policies) -> dict[str, Policy]:
    """Return policies by the names that results show; a mapping gives the names itself.

    Policies of one kind are told apart by their settings, `bayes-ucb(delta=0.1)`, and equal ones by numbers.
    """
    if isinstance(policies, Policy | str | type):
        only = as_policy(policies)
        return {only.name: only}
    if isinstance(policies, Mapping):
        for name in policies:
            if not isinstance(name, str):
                raise checks.fail("names of policies", "text", name)
        made = {name: as_policy(policy) for name, policy in policies.items()}
    elif isinstance(policies, Iterable):
        made = _by_name(list(map(as_policy, policies)))
    else:
        raise checks.fail("policies", SOME_POLICIES, policies)
    if not made:
        raise checks.fail("policies", SOME_POLICIES, policies)
    return made


def named_with_deltas(policies: Policies) -> dict[str, Policy]:
    """As `named`, but a delta that is given shows: a plan also has the one that it chooses."""
    return {
        with_settings(policy) if name == policy.name and getattr(policy, "delta", None) is not None else name: policy
        for name, policy in named(policies).items()
    }


def _by_name(policies: Sequence[Policy]) -> dict[str, Policy]:
    kinds = collections.Counter(map(operator.attrgetter("name"), policies))
    found: dict[str, Policy] = {}
    for policy in policies:
        name = first = policy.name if kinds[policy.name] == 1 else with_settings(policy)
        number = 1
        while name in found:
            number += 1
            name = f"{first}-{number}"
        found[name] = policy
    return found


def with_settings(policy: Policy) -> str:
    """Return the policy's name with the settings that are not the default: `bayes-ucb(delta=0.1)`."""
    given: Any = policy  # the class of a user need not be a dataclass
    fields = dataclasses.fields(given) if dataclasses.is_dataclass(given) else ()
    values = [(field, getattr(given, field.name)) for field in fields]
    changed = [f"{field.name}={_brief(value)}" for field, value in values if value != field.default]
    return f"{policy.name}({', '.join(changed)})" if changed else policy.name


def _brief(value: Any) -> str:
    if isinstance(value, Bandit):
        return value.kind
    return f"{value:g}" if isinstance(value, float) else str(value)
