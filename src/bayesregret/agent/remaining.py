"""The rest of an experiment: the posterior as a bandit, the policy that goes on with it, and the rounds left."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesregret.checks import Array
from bayesregret.models import Bandit
from bayesregret.policies import Policy


class Sums(NamedTuple):
    """Sums of all rewards, as `Bandit.after` takes them: (arms,) each."""

    counts: NDArray[np.int64]
    totals: Array
    squares: Array | None  # None if the agent has not kept them


class Remaining(NamedTuple):
    """What is left of an agent's work: the result of `Agent.remaining`.

    `horizon` is None if the agent has none, and 0 if it is over.
    """

    bandit: Bandit
    policy: Policy
    horizon: int | None
