"""Segments of an experiment: the rounds between two changes of its arms, each with an agent of its own.

The first segment has the agent that `policy.start` makes. Another has one on the bandit of the active arms, which takes
over what happened before: decisions for its arms count as rounds and as pending, and their rewards come in the order of
the log. What the policy derived from the whole horizon at the start, such as delta, stays.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bayesregret.agent import Agent
from bayesregret.agent.remaining import Sums
from bayesregret.models import Bandit, LinearBandit, MixtureBandit
from bayesregret.policies import Policy
from bayesregret.store.events import DECIDE, EXPIRE, REWARD, Event
from bayesregret.store.setup import Setup

HISTORY = (DECIDE, REWARD, EXPIRE)
# Seeds of later segments are beyond those of users: none repeats the random draws of another segment.
SEEDS_APART = 2**64


def first_agent(setup: Setup) -> Agent:
    return setup.policy.start(setup.problem, horizon=setup.horizon, seed=setup.seed, arms=setup.arms)


def with_arm(policy: Policy, fields: dict[str, Any]) -> Policy:
    """Return the policy for one arm more: its own prior, if it has one, gets the arm, too."""
    prior = getattr(policy, "prior", None)
    return policy if prior is None else dataclasses.replace(policy, prior=prior.with_arm(**fields))  # type: ignore[type-var]


def next_agent(
    setup: Setup,
    policy: Policy,
    bandit: Bandit,
    names: Sequence[str],
    active: list[int],
    segment: int,
    past: list[Event],
) -> Agent:
    """Start the agent of a segment, with the arms `active` of `bandit` and what happened to them.

    `bandit` and `names` are of all arms, and `policy` believes in all of them. `past` holds all events of the log.
    """
    elsewhere = _sums([event for event in past if event.arm not in active], bandit.arms)
    prior = getattr(policy, "prior", None)
    if prior is not None:
        policy = dataclasses.replace(policy, prior=_part(prior, active, elsewhere))  # type: ignore[type-var]
    others = sum(event.kind == DECIDE and event.arm not in active for event in past)
    agent = policy.start(
        _part(bandit, active, elsewhere),
        horizon=max(1, setup.horizon - others),
        seed=setup.seed + SEEDS_APART * segment,
        arms=[names[arm] for arm in active],
    )
    _feed(agent, active, past)
    return agent


def _part(bandit: Bandit, active: list[int], elsewhere: Sums) -> Bandit:
    """The bandit of the active arms. Where arms have something in common, it has learned from the others' rewards."""
    if isinstance(bandit, LinearBandit | MixtureBandit) and elsewhere.counts.any():
        bandit = bandit.after(*elsewhere)
    return bandit.subset(active)


def _sums(events: Iterable[Event], arms: int) -> Sums:
    """Sums of the rewards in these events."""
    rewards: list[list[float]] = [[] for _ in range(arms)]
    for event in events:
        if event.reward is not None and event.arm is not None:
            rewards[event.arm].append(event.reward)
    counts = np.array(list(map(len, rewards)))
    totals = np.array(list(map(sum, rewards)), float)
    squares = np.array([len(each) * float(np.var(each)) if each else 0.0 for each in rewards])
    return Sums(counts, totals, squares)


def _feed(agent: Agent, active: list[int], past: Iterable[Event]) -> None:
    places = {arm: place for place, arm in enumerate(active)}
    for event in past:
        place = places.get(event.arm)  # type: ignore[arg-type]
        if place is None or event.kind not in HISTORY:
            continue
        if event.kind == DECIDE:
            agent.expect(place)
        elif event.reward is None:
            agent.forget(place)
        else:
            agent.update(place, event.reward)
