"""Stages of one arm's discounted stopping problem, with blocks of pulls whose rewards are revealed in advance.

With discount g = 1 - 1/n and a charge y per pull, W(y) is the most that E sum_{k < tau} g^k (m_k - y) can be, m_k being
the posterior mean after k pulls. Revealing more only raises W. At stage j the arm has been pulled `pulled` times,
`revealed` >= pulled rewards are known, and the next decision to stop comes `length` pulls later:

    C_j = S (m - y) + g^length E max(0, C_{j+1}),    S = 1 + g + ... + g^(length - 1).

The block's last pull is made with pulled + length - 1 rewards known, so as many are revealed, and no more. After the
last stage the mean reward itself is revealed. Values here are multiplied by 1 - g, so that slopes are at most 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

HORIZONS = 10.0  # pulls after which the mean reward is revealed, in horizons: of weight exp(-10)
START = 0.25  # in horizons: blocks are as short as if the pseudo-count were at most this


class Stage(NamedTuple):
    """One block of pulls."""

    revealed: int  # rewards that are known
    length: int  # pulls before the next decision
    gain: float  # 1 - g^length: the weight of m - y
    discount: float  # g^length


def make_stages(horizon: int, pseudo_count: float, growth: float) -> list[Stage]:
    """Single pulls at first, later blocks that are `growth` times the pseudo-count; the first stage reveals nothing."""
    stages: list[Stage] = []
    pulled, last = 0, math.ceil(HORIZONS * horizon)
    log_discount = math.log1p(-1.0 / horizon) if horizon > 1 else -math.inf
    base = min(pseudo_count, START * horizon)
    while pulled < last:
        length = max(1, int(growth * (base + pulled))) if stages else 1
        stages.append(
            Stage(pulled + length - 1, length, -math.expm1(length * log_discount), math.exp(length * log_discount))
        )
        pulled += length
        if horizon == 1:
            break
    return stages
