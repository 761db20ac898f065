"""Exact regret of Bernoulli bandits."""

from __future__ import annotations

from typing import Any

from bayesregret.checks import Array
from bayesregret.exact.sweep import Found
from bayesregret.models import BernoulliBandit


def bernoulli_regret(bandit: BernoulliBandit, settings: Any, belief: Any, horizon: int) -> tuple[Found, Array]:
    raise ValueError("bandit must be gaussian, for now")
