"""Policies as plain data: a name and settings, as in studies, sweeps and saved agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayesregret import checks
from bayesregret.models import Bandit
from bayesregret.policies import Policy
from bayesregret.problem import check_fields, problem_from_dict


def policy_to_dict(policy: Policy) -> dict[str, Any]:
    given = {name: value for name, value in vars(policy).items() if value is not None}
    return {"name": policy.name} | {
        name: value.to_dict() if isinstance(value, Bandit) else value for name, value in given.items()
    }


def policy_from_dict(data: Mapping[str, Any]) -> Policy:
    """Return the policy that a mapping in the format of `policy_to_dict` describes."""
    arguments = dict(data)
    name = checks.one_of("policy", arguments.pop("name", None), Policy.classes)
    check_fields(f"the policy {name}", Policy.classes[name], arguments)
    if arguments.get("prior") is not None:
        arguments["prior"] = problem_from_dict(arguments["prior"])
    return Policy.classes[name](**arguments)
