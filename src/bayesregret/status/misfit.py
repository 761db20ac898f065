"""A test of the prior that is valid at any time: do the rewards fit another prior better?

The evidence against the prior is the average, over a few other priors, of how many times as likely the rewards so far
are under them. While the prior is true it is a martingale with mean 1, whatever decides which arm is pulled, so it ever
exceeds 1/a with probability at most a (Ville's inequality). docs/explanation/status.md has the proof.
"""

from __future__ import annotations

import functools
import math
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bayesregret.checks import Array
from bayesregret.models import Bandit, LinearBandit, MixtureBandit
from bayesregret.status.alternatives import Alternative, alternatives

ALARM = 0.05  # largest probability of an alarm while the prior is true
# The test looks after each of the first rewards, then each time their number has grown by this fraction.
GROWTH, LINEAR_GROWTH, LARGEST_GROWTH = 0.02, 0.2, 0.25


@dataclass(frozen=True)
class Misfit:
    """Evidence against the prior: the result of `misfit`.

    Attributes
    ----------
    log_evidence : float
        Logarithm of the evidence now: how many times as likely the rewards are under other priors, on average.
    highest : float
        Logarithm of the highest evidence of all looks so far.
    p_value : float
        One over the highest evidence, at most 1: valid at any time, however often somebody looks.
    alarm : float
        Level of the alarm, the largest probability that it is ever raised while the prior is true.
    better : str
        The other prior that fitted best when the evidence was highest, in words.
    rewards : int
        Number of rewards that were tested.

    Examples
    --------
    >>> bandit = GaussianBandit([0, 0], prior_width=1, reward_noise=1)
    >>> found = misfit(bandit, [0, 1, 0, 1], [5.1, 4.2, 6.0, 5.5])
    >>> found.raises_alarm, found.better
    (True, 'all mean rewards are about 5 prior widths higher')
    """

    log_evidence: float
    highest: float
    p_value: float
    alarm: float
    better: str
    rewards: int

    @property
    def raises_alarm(self) -> bool:
        """Whether the prior looks wrong."""
        return self.p_value <= self.alarm

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self) | {"raises_alarm": self.raises_alarm}


class Looks(NamedTuple):
    """Statistics of the rewards at the times of the looks: one row for each look and each arm that was pulled before it
    and after the previous one, by arms."""

    many: int
    look: NDArray[np.int64]
    arms: NDArray[np.int64]
    counts: NDArray[np.int64]
    totals: Array
    squares: Array


def misfit(bandit: Bandit, arms: Any, rewards: Any, *, alarm: float = ALARM) -> Misfit | None:
    """Test the prior by a sequence of rewards; None for a kind of bandit without known alternatives.

    Parameters
    ----------
    bandit : Bandit
        The prior.
    arms, rewards : array_like
        Arm and size of each reward, in an order in which the next reward's arm says no more about it than its prior.
    alarm : float
        Largest probability of an alarm, at any time, while the prior is true.
    """
    others = alternatives(bandit) if _has_exact_evidence(bandit) else []
    if not others:
        return None
    arms, rewards = np.asarray(arms, np.int64), np.asarray(rewards, float)
    if len(rewards) == 0:
        return Misfit(0.0, 0.0, 1.0, alarm, others[0].words, 0)
    looks = look_at(arms, rewards, bandit.arms, growth_for(bandit))
    return _compared(bandit, others, looks, len(rewards), alarm)


def _has_exact_evidence(bandit: Any) -> bool:
    return all(getattr(part, "noise_kind", "gaussian") == "gaussian" for part in getattr(bandit, "bandits", (bandit,)))


def _compared(bandit: Bandit, others: list[Alternative], looks: Looks, rewards: int, alarm: float) -> Misfit:
    under_prior = evidence_path(bandit, looks)
    ratios = np.array([evidence_path(other.bandit, looks) - under_prior for other in others])
    weights = np.array([other.weight for other in others])
    path = logsumexp(ratios, axis=0, b=weights[:, None] / weights.sum())
    at = int(np.argmax(path))
    highest = max(0.0, float(path[at]))
    better = others[int(np.argmax(ratios[:, at] + np.log(weights)))].words
    return Misfit(float(path[-1]), highest, math.exp(-highest), alarm, better, rewards)


# --- statistics at the looks ------------------------------------------------------------------------------------------


def growth_for(bandit: Bandit) -> float:
    """Growth between two looks: fewer looks where each takes longer."""
    parts = len(bandit.bandits) if isinstance(bandit, MixtureBandit) else 1
    least = LINEAR_GROWTH if isinstance(bandit.representative, LinearBandit) else GROWTH
    return min(LARGEST_GROWTH, least * parts)


def look_times(rewards: int, growth: float) -> NDArray[np.int64]:
    """Numbers of rewards after which the test looks; fixed in advance, but that the last one is always one of them."""
    times, time = [], 0
    while time < rewards:
        time = min(rewards, time + max(1, int(growth * time)))
        times.append(time)
    return np.array(times, np.int64)


def look_at(arms: NDArray[np.int64], rewards: Array, every: int, growth: float) -> Looks:
    """Return the statistics at the looks."""
    times = look_times(len(rewards), growth)
    order = np.argsort(arms.astype(np.int16) if every < 2**15 else arms, kind="stable")
    arm, look = arms[order], np.searchsorted(times, order + 1)
    counts, totals, squares = _running_sums(arm, rewards[order])
    is_last = np.append((arm[1:] != arm[:-1]) | (look[1:] != look[:-1]), True)
    return Looks(len(times), look[is_last], arm[is_last], counts[is_last], totals[is_last], squares[is_last])


def _running_sums(arms: NDArray[np.int64], rewards: Array) -> tuple[NDArray[np.int64], Array, Array]:
    """Counts, totals and squares of each arm up to each of its rewards, which are in the order of arms."""
    starts = np.flatnonzero(np.append(True, arms[1:] != arms[:-1]))
    sizes = np.diff(np.append(starts, len(arms)))
    counts = np.arange(len(arms)) - np.repeat(starts, sizes) + 1

    def running(values: Array) -> Array:
        summed = np.cumsum(values)
        return summed - np.repeat(summed[starts] - values[starts], sizes)

    centre = np.repeat(np.add.reduceat(rewards, starts) / sizes, sizes)  # squares of what is far from 0 would cancel
    off = rewards - centre
    moved = running(off)
    return counts, running(rewards), np.maximum(0.0, running(off * off) - moved * moved / counts)


# --- the evidence of a prior ------------------------------------------------------------------------------------------


@functools.singledispatch
def evidence_path(bandit: Any, looks: Looks) -> Array:
    """(looks,): logarithm of the prior density of the rewards up to each look, but for terms that the kind shares."""
    return np.asarray(_paths([bandit], looks)[0])


@evidence_path.register
def _(bandit: MixtureBandit, looks: Looks) -> Array:
    is_linear = isinstance(bandit.representative, LinearBandit)
    parts = list(bandit.bandits)
    paths = np.array([evidence_path(part, looks) for part in parts]) if is_linear else _paths(parts, looks)
    return np.asarray(logsumexp(paths, axis=0, b=bandit.weights[:, None]))


def _paths(bandits: list[Bandit], looks: Looks) -> Array:
    """(bandits, looks): the same for bandits of one kind with independent arms: at a look the evidence changes by that
    of the arms that were pulled."""
    numbers = np.repeat(np.arange(len(bandits)), len(looks.arms))
    arms = np.tile(looks.arms, len(bandits)) + numbers * bandits[0].arms
    counts = np.tile(looks.counts, len(bandits))
    totals, squares = np.tile(looks.totals, len(bandits)), np.tile(looks.squares, len(bandits))
    found = _one_arm_each(bandits, arms).arm_log_evidence(counts, totals, squares)
    is_first = np.append(True, arms[1:] != arms[:-1])
    changes = found - np.where(is_first, 0.0, np.append(0.0, found[:-1]))
    places = np.tile(looks.look, len(bandits)) + numbers * looks.many
    by_look = np.bincount(places, changes, minlength=len(bandits) * looks.many)
    return np.asarray(by_look.reshape(len(bandits), looks.many).cumsum(axis=1))


def _one_arm_each(bandits: list[Bandit], arms: NDArray[np.int64]) -> Bandit:
    """Return a bandit with the priors of these arms, of which one may appear many times; those of the second bandit
    have their numbers after those of the first."""
    given = [bandit.settings() for bandit in bandits]
    every = bandits[0].arms

    def of_arms(name: str, first: Any) -> Any:
        if isinstance(first, str):
            return first
        return np.concatenate([np.broadcast_to(each[name], every) for each in given])[arms]

    return type(bandits[0])(**{name: of_arms(name, value) for name, value in given[0].items()})


@evidence_path.register
def _(bandit: LinearBandit, looks: Looks) -> Array:
    sums = [_at_every_look(looks, bandit.arms, values) for values in (looks.counts, looks.totals, looks.squares)]
    return np.array([bandit.log_evidence(*each) for each in zip(*sums, strict=True)])


def _at_every_look(looks: Looks, arms: int, values: Any) -> Any:
    """(looks, arms): a statistic of each arm at each look."""
    last = np.zeros((looks.many, arms), np.int64)  # number of the arm's last row, from 1
    last[looks.look, looks.arms] = np.arange(1, len(values) + 1)
    return np.append(np.zeros(1, values.dtype), values)[np.maximum.accumulate(last, axis=0)]
