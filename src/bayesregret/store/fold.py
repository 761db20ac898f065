"""The state of an experiment as a fold over its log: the same log always gives the same state, bit for bit."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from bayesregret.agent import Agent
from bayesregret.policy_data import policy_from_dict, policy_to_dict
from bayesregret.problem import problem_from_dict
from bayesregret.store.errors import StoreError
from bayesregret.store.events import ADD, DECIDE, EXPIRE, PAUSE, REWARD, STOP, Event, chained, digest
from bayesregret.store.segments import first_agent, next_agent, with_arm
from bayesregret.store.setup import Setup

Past = Callable[[], list[Event]]


class Fold:
    """The state after the events until `number`.

    `past` returns all events until then; it is called when the arms change.
    """

    def __init__(self, uuid: str, setup_text: str) -> None:
        self.setup = setup = Setup.from_text(setup_text)
        self.uuid = uuid
        self.number = 0
        self.checksum = digest(f"{uuid}{setup_text}")
        self.started = self.time = 0.0  # of the first event and of the last
        self.stopped = False
        self.bandit = setup.problem  # of all arms, paused or not
        self.names = list(setup.arms)
        self.paused = [False] * self.bandit.arms
        self.decisions = [0] * self.bandit.arms
        self.pending = [0] * self.bandit.arms
        self.lost = 0
        self.equal_split = [0.0] * self.bandit.arms  # of the segments before this one
        self.segment = self.segment_decisions = 0
        self.policy = setup.policy  # for all arms; later with settings fixed for the whole horizon
        self.active = list(range(self.bandit.arms))
        self.places = {arm: arm for arm in self.active}
        self.agent: Agent = first_agent(setup)

    @property
    def decided(self) -> int:
        """Number of decisions so far."""
        return sum(self.decisions)

    def select(self) -> int:
        """Return the arm of the next decision; `add` must follow with the decision's event."""
        return self.active[self.agent.select()]

    def event(self, kind: str, time: float, **fields: Any) -> Event:
        """Return the next event of the log."""
        blank = Event(self.number + 1, kind, None, None, None, None, time, None, "")._replace(**fields)
        return blank._replace(checksum=chained(self.checksum, blank[:-1]))

    def add(self, event: Event, past: Past) -> None:
        """Take an event of which `select` already knows, if it is a decision."""
        if event.kind == DECIDE:
            assert event.arm is not None
            self.decisions[event.arm] += 1
            self.pending[event.arm] += 1
            self.segment_decisions += 1
        elif event.kind in (REWARD, EXPIRE):
            self._settle(event)
        elif event.kind == STOP:
            self.stopped = True
        else:
            self._change(event, past)
        self.number, self.checksum, self.time = event.number, event.checksum, event.time
        self.started = self.started or event.time

    def replay(self, event: Event, past: Past) -> None:
        """Take an event from the log, and check it."""
        if event.number != self.number + 1:
            raise StoreError(f"event {self.number + 1} is missing")
        if event.checksum != chained(self.checksum, event[:-1]):
            raise StoreError(f"event {event.number} has changed since it was written")
        if event.kind == DECIDE and event.arm != (chosen := self.select()):
            raise StoreError(f"event {event.number} is a decision for arm {event.arm}, but the policy chose {chosen}")
        self.add(event, past)

    def _settle(self, event: Event) -> None:
        assert event.arm is not None
        self.pending[event.arm] -= 1
        self.lost += event.reward is None
        place = self.places.get(event.arm)
        if place is None:  # the arm is paused: its rewards count when the arms change
            return
        if event.reward is None:
            self.agent.forget(place)
        else:
            self.agent.update(place, event.reward)

    def _change(self, event: Event, past: Past) -> None:
        """Begin another segment; nothing has changed if this raises ValueError."""
        bandit, policy, names, paused = self.bandit, self.policy, list(self.names), list(self.paused)
        if self.segment == 0:
            policy = policy.fixed_for(bandit, self.setup.horizon)
        if event.kind == ADD:
            added = json.loads(event.data or "{}")
            bandit, policy = bandit.with_arm(**added["prior"]), with_arm(policy, added["prior"])
            names.append(added["name"])
            paused.append(False)
        else:
            assert event.arm is not None
            paused[event.arm] = event.kind == PAUSE
        active = [arm for arm, is_paused in enumerate(paused) if not is_paused]
        agent = next_agent(self.setup, policy, bandit, names, active, self.segment + 1, past())
        self._end_segment(len(names) - len(self.names))
        self.bandit, self.policy, self.names, self.paused = bandit, policy, names, paused
        self.active, self.agent = active, agent
        self.places = {arm: place for place, arm in enumerate(active)}

    def _end_segment(self, added: int) -> None:
        self.equal_split = self.split_equally() + [0.0] * added
        self.decisions += [0] * added
        self.pending += [0] * added
        self.segment, self.segment_decisions = self.segment + 1, 0

    def split_equally(self) -> list[float]:
        """Decisions of each arm if every decision had been split equally among the arms that were active then."""
        share = self.segment_decisions / len(self.active)
        return [before + share * (arm in self.places) for arm, before in enumerate(self.equal_split)]

    # --- as text -----------------------------------------------------------------------------------------------------

    KEPT = (
        *("number", "checksum", "started", "time", "stopped", "lost", "decisions", "pending", "equal_split"),
        *("segment", "segment_decisions", "names", "paused", "active"),
    )

    def to_text(self) -> str:
        """Return the whole state; two folds with the same text are equal, bit for bit."""
        kept = {name: getattr(self, name) for name in self.KEPT}
        kept |= {"bandit": self.bandit.to_dict(), "policy": policy_to_dict(self.policy), "agent": self.agent.to_json()}
        return json.dumps(kept)

    def restore(self, text: str) -> None:
        """Continue from the text of `to_text`."""
        kept = json.loads(text)
        for name in self.KEPT:
            setattr(self, name, kept[name])
        self.bandit, self.policy = problem_from_dict(kept["bandit"]), policy_from_dict(kept["policy"])
        self.agent = Agent.from_json(kept["agent"])
        self.places = {arm: place for place, arm in enumerate(self.active)}
