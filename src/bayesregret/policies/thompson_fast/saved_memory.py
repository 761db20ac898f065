"""Check the memory of Thompson sampling with near and far arms, as a saved agent holds it.

Wrong numbers there would make a choice that never ends, or of an arm that does not exist. Almost all of them follow
from the order of the arms and from the leader's data when they were sorted, so they are computed again and compared.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayesregret.checks import Array, in_full
from bayesregret.contracts import Stats
from bayesregret.policies.thompson_fast.beta import NearAndFarBeta
from bayesregret.policies.thompson_fast.near_and_far import (
    ANY_ABOVE,
    BOUNDS,
    EVENT_AT,
    FEWEST_REWARDS,
    FIRST_FAR,
    FRACTION_OF_REWARDS,
    HEAD,
    HIGHEST_RATE,
    LEASE,
    LEAST_RATE,
    MISSES,
    MOST_MISSES,
    PLACES,
    SORT_AT,
    STAMPS,
    THRESHOLD,
    far_bound,
    prepare_draws,
    set_lease,
    threshold_of,
)
from bayesregret.policies.thompson_fast.normal import NearAndFarNormal

Settings = NearAndFarBeta | NearAndFarNormal
NO_LEASE = np.eye(HEAD - LEASE)[0]
# A geometric draw of probability at least `tail_probability` waits for fewer rounds, whatever its 53 random bits.
LONGEST_WAIT = 3_000
# Another machine's logarithms may differ in the last bit, and so may the numbers computed with them.
RELATIVE, ABSOLUTE = 1e-6, 1e-9


def check_near_and_far(policy: Settings, model: Any, stats: Stats, rounds: int) -> None:
    """Raise ValueError if the memory cannot come from these statistics."""
    memory, arms = stats.memory, len(stats.counts)
    if not memory.any():  # no arm has been chosen yet
        return
    order = memory[HEAD : HEAD + arms]
    if not np.array_equal(np.sort(order), np.arange(arms)):
        raise ValueError("memory must hold each arm once")
    if not np.array_equal(memory[HEAD + int(PLACES) * arms :][order.astype(int)], np.arange(HEAD, HEAD + arms)):
        raise ValueError("memory must hold the place of each arm")
    _check_clocks(memory, arms, int(stats.received[0]), rounds)
    _check_lease(policy, model, stats, int(order[0]))
    _check_bounds(policy, model, stats, order.astype(int))


def _check_clocks(memory: Array, arms: int, received: int, rounds: int) -> None:
    limits = {
        FIRST_FAR: (HEAD + 1, HEAD + arms),
        MISSES: (0, MOST_MISSES),
        SORT_AT: (0, received + max(FEWEST_REWARDS, received // FRACTION_OF_REWARDS)),
        EVENT_AT: (0, rounds + LONGEST_WAIT),
    }
    for place, (least, most) in limits.items():
        if memory[place] != np.floor(memory[place]) or not least <= memory[place] <= most:
            raise ValueError(
                f"memory[{place}] must be a whole number from {least} to {in_full(most)}, got {in_full(memory[place])}"
            )


def _check_lease(policy: Settings, model: Any, stats: Stats, leader: int) -> None:
    """Compute the threshold and the lease from the leader's data when arms were sorted."""
    memory, arms = stats.memory, len(stats.counts)
    total, count = memory[HEAD + int(BOUNDS) * arms], memory[HEAD + int(STAMPS) * arms]
    later, more = stats.counts[leader] - count, stats.totals[leader] - total
    if not _can_be_sums(policy, count, total) or not _can_be_sums(policy, later, more):
        raise ValueError("memory must hold the leader's data when arms were sorted, which were part of its data now")
    counts, totals = stats.counts.copy(), stats.totals.copy()
    counts[leader], totals[leader] = count, total
    then = stats._replace(counts=counts, totals=totals)
    threshold, lease = threshold_of(policy, model, then, leader), NO_LEASE.copy()
    set_lease(policy, model, then, leader, threshold, lease)
    kept = memory[LEASE:HEAD]
    if not same(memory[THRESHOLD], threshold):
        raise ValueError(f"memory must hold the threshold {in_full(threshold)}, got {in_full(memory[THRESHOLD])}")
    if not (same(kept, lease) or np.array_equal(kept, NO_LEASE)):
        raise ValueError("memory must hold the leader's lease")


def _can_be_sums(policy: Settings, count: float, total: float) -> bool:
    """Whether this many rewards can have this sum."""
    if count != np.floor(count) or count < 0:
        return False
    if isinstance(policy, NearAndFarBeta):
        return bool(total == np.floor(total) and 0 <= total <= count)
    return bool(count > 0 or total == 0)


def _check_bounds(policy: Settings, model: Any, stats: Stats, order: Any) -> None:
    """Compute the bounds of far arms again; those of arms with new data are replaced before their next use."""
    memory, arms = stats.memory, len(stats.counts)
    kept = memory[HEAD + arms : HEAD + int(PLACES) * arms].reshape(3, arms)
    bounds, rates, stamps = kept[:, 1:]
    if (kept[1:] < 0.0).any() or (bounds < 0.0).any() or (rates > HIGHEST_RATE).any():
        raise ValueError("memory must hold bounds, rates and counts that are not negative")
    for arm in range(arms):
        prepare_draws(policy, model, stats, np.uint64(arm))
    far = np.arange(1, arms) >= memory[FIRST_FAR] - HEAD
    fresh = far & (stamps == stats.counts[order[1:]])
    for place in np.flatnonzero(fresh):
        computed = far_bound(policy, model, stats, int(order[place + 1]), memory[THRESHOLD])
        if not same((bounds[place], rates[place]), computed):
            raise ValueError(f"memory must hold the bound of arm {order[place + 1]}")
    if (fresh == far).all():
        together = bounds[far].sum(), rates[far].min(initial=HIGHEST_RATE)
        if not same(memory[[ANY_ABOVE, LEAST_RATE]], together):
            raise ValueError("memory must hold the sum of all bounds and the lowest rate")
    elif not memory[ANY_ABOVE] >= 0.0 or not 0.0 <= memory[LEAST_RATE] <= HIGHEST_RATE:
        raise ValueError("memory must hold a sum of bounds and a lowest rate")


def same(kept: ArrayLike, computed: ArrayLike) -> bool:
    return np.allclose(kept, computed, rtol=RELATIVE, atol=ABSOLUTE)
