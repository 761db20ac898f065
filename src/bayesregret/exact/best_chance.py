"""The chance that a round is on the best arm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesregret.checks import Array
from bayesregret.exact.gaussian import Kind
from bayesregret.models import BernoulliBandit, GaussianBandit


def gaussian_best_chance(bandit: GaussianBandit, kinds: Sequence[Kind], horizon: int) -> Array:
    return np.full(horizon, 0.5)


def bernoulli_best_chance(bandit: BernoulliBandit, settings: Any, belief: Any, horizon: int) -> Array:
    return np.full(horizon, 0.5)
