"""A problem as a short list of names and values."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesregret.models import Bandit, BernoulliBandit, ExponentialBandit, MixtureBandit, PoissonBandit
from bayesregret.planning.beliefs import believed_bandit
from bayesregret.planning.perturbed_priors import prior_moments

MOST_NUMBERS = 12  # of a list that are written out


def problem_facts(bandit: Bandit) -> dict[str, Any]:
    """Return the fields of a problem, long lists cut, and the components of a mixture as ranges."""
    if isinstance(bandit, MixtureBandit):
        return _mixture_facts(bandit)
    facts = {"model": bandit.kind, "arms": bandit.arms}
    facts |= {name: _shown(value, bandit.arms) for name, value in bandit.to_dict().items() if name != "model"}
    return facts | _moments(bandit)


def _moments(bandit: Bandit) -> dict[str, str]:
    """Prior mean and width of arms, where the fields themselves are other numbers."""
    if not isinstance(bandit, BernoulliBandit | PoissonBandit | ExponentialBandit):
        return {}
    means, widths = prior_moments(bandit)
    return {"prior mean": _range(means), "prior width": _range(widths)}


def _mixture_facts(bandit: MixtureBandit) -> dict[str, Any]:
    parts = [part.to_dict() for part in bandit.bandits]
    facts = {
        "model": f"mixture of {len(parts)} {bandit.representative.kind} bandits",
        "arms": bandit.arms,
        "weights": _range(bandit.weights),
    }
    for name, value in parts[0].items():
        if name != "model":
            facts[f"{name} of components"] = value if isinstance(value, str) else _range([part[name] for part in parts])
    matched = believed_bandit(bandit)
    if matched is not bandit:
        facts["matched prior"] = {name: value for name, value in problem_facts(matched).items() if name != "arms"}
    return facts


def _range(values: Any) -> str:
    """The smallest and the largest of all numbers in nested lists."""
    numbers = np.asarray(values, dtype=float)
    low, high = f"{numbers.min():.3g}", f"{numbers.max():.3g}"
    return low if low == high else f"{low} to {high}"


def _shown(value: Any, arms: int) -> Any:
    """Text of a field; one number for a list that has the same number for every arm."""
    if not isinstance(value, list) or not value:
        return value
    if isinstance(value[0], list):
        return f"{len(value)} rows of {len(value[0])} numbers"
    if len(value) == arms > 1 and len(set(value)) == 1:
        return f"{value[0]:g} for every arm"
    numbers = [f"{number:g}" for number in value[:MOST_NUMBERS]]
    return numbers if len(value) <= MOST_NUMBERS else [*numbers, f"… ({len(value)} numbers)"]
