"""One transaction of one experiment: expire what is late, then do what was asked for, in order."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bayesregret import checks
from bayesregret.store.decision import Decision
from bayesregret.store.errors import ClosedError, ConflictError, UnknownError
from bayesregret.store.events import (
    ADD,
    DECIDE,
    EXPIRE,
    PAUSE,
    REWARD,
    STOP,
    Event,
    decision_id,
)
from bayesregret.store.fold import Fold
from bayesregret.store.log import Log


@dataclass(frozen=True)
class Decide:
    """Ask for a decision for each key; None is a decision without a key."""

    keys: tuple[str | None, ...]


@dataclass(frozen=True)
class Reward:
    """Give the rewards of some decisions, all or none."""

    pairs: tuple[tuple[int, float], ...]  # numbers of decisions, and their rewards


@dataclass(frozen=True)
class Change:
    """Pause, resume or add an arm, or stop."""

    kind: str
    arm: int | None = None
    data: str | None = None


@dataclass(frozen=True)
class Expire:
    """Ask for nothing but the expiry of what is late, which every transaction begins with."""


Request = Decide | Reward | Change | Expire


@dataclass
class Due:
    """When a decision may next be too late for its reward: not before `time`, and only one after event `after`."""

    time: float = 0.0
    after: int = 0


class Writer:
    """Does requests within one transaction. The fold must be up to date, and is thrown away if the commit fails."""

    def __init__(self, log: Log, fold: Fold, now: float, requests: Iterable[Request]) -> None:
        self._log, self._fold = log, fold
        self._now = max(float(now), fold.time)
        self._added: list[Event] = []
        self.counts: Counter[str] = Counter()  # of all events that were added, by kind
        keys = {key for request in requests if isinstance(request, Decide) for key in request.keys if key is not None}
        numbers = {number for request in requests if isinstance(request, Reward) for number, _ in request.pairs}
        self._by_key = {event.key: event for event in log.by_keys(keys)}
        self._decided = {event.number: event for event in log.decisions(numbers)}
        self._settled = {event.decision: event for event in log.settling(numbers)}

    def do(self, request: Request) -> Any:
        """Return the result of a request; ValueError, and no change, if it is refused."""
        match request:
            case Decide():
                return self._decide(request.keys)
            case Reward():
                return self._reward(request.pairs)
            case Change():
                return self._change(request)
            case Expire():
                return None

    def flush(self) -> bool:
        """Write all events to the log; return whether there were any."""
        self._log.append(self._added)
        wrote, self._added = bool(self._added), []
        return wrote

    def expire(self, due: Due) -> None:
        """Settle the decisions whose reward is too late."""
        window = self._fold.setup.reward_after
        if window is None or self._now < due.time:
            return
        until = self._now - window
        reward = 0.0 if self._fold.setup.missing == "zero" else None
        last = self._fold.number
        for late in self._log.unsettled(due.after, until):
            self._settled[late.number] = self._add(EXPIRE, decision=late.number, arm=late.arm, reward=reward)
        first = self._log.first_decision(due.after, until)
        due.after = last if first is None else first.number - 1
        due.time = (self._now if first is None else first.time) + window

    # --- decisions ---------------------------------------------------------------------------------------------------

    def _decide(self, keys: tuple[str | None, ...]) -> list[Decision]:
        new = len({key for key in keys if key is not None and key not in self._by_key}) + keys.count(None)
        self._check_open(new)
        return [self._decision(key) for key in keys]

    def _check_open(self, new: int) -> None:
        if new == 0:
            return
        if self._fold.stopped:
            raise ClosedError("the experiment was stopped")
        horizon, decided = self._fold.setup.horizon, self._fold.decided
        if decided >= horizon:
            raise ClosedError(f"the experiment's {horizon:,} rounds are over")
        if decided + new > horizon:
            raise ClosedError(f"the experiment has {horizon - decided:,} of its {horizon:,} rounds left, not {new:,}")

    def _decision(self, key: str | None) -> Decision:
        event = None if key is None else self._by_key.get(key)
        if event is None:
            event = self._add(DECIDE, key=key, arm=self._fold.select())
            self._decided[event.number] = event
            if key is not None:
                self._by_key[key] = event
        assert event.arm is not None
        fold = self._fold
        return Decision(decision_id(fold.uuid, event.number), event.arm, fold.names[event.arm], event.number)

    # --- rewards -----------------------------------------------------------------------------------------------------

    def _reward(self, pairs: tuple[tuple[int, float], ...]) -> None:
        new: dict[int, float] = {}
        for number, reward in pairs:
            if not self._is_settled(number, reward, new):
                new[number] = reward
        for number, reward in new.items():
            arm = self._decided[number].arm
            self._settled[number] = self._add(REWARD, decision=number, arm=arm, reward=reward)

    def _is_settled(self, number: int, reward: float, new: dict[int, float]) -> bool:
        """Whether the log has this reward already; ValueError if it says otherwise."""
        if number not in self._decided:
            raise UnknownError(f"decision must be one of this experiment, got {self._id(number)}")
        before = self._settled.get(number)
        if before is None and number not in new:
            return False
        had = before.reward if before is not None else new[number]
        if had == reward:
            return True
        if before is None or before.kind == REWARD:
            raise ConflictError(
                f"decision {self._id(number)} has the reward {checks.in_full(had or 0.0)} already, "
                f"got {checks.in_full(reward)}"
            )
        counts = "its reward is lost" if had is None else "it counts as 0"
        raise ConflictError(
            f"decision {self._id(number)} had no reward within {self._fold.setup.reward_after:g} s, so {counts}"
        )

    def _id(self, number: int) -> str:
        return decision_id(self._fold.uuid, number)

    # --- arms --------------------------------------------------------------------------------------------------------

    def _change(self, change: Change) -> None:
        if self._is_done(change):
            return
        if self._fold.stopped:
            raise ClosedError("the experiment was stopped")
        if change.kind == PAUSE and len(self._fold.active) == 1:
            raise ValueError(f"arm {self._fold.names[self._fold.active[0]]} is the only one that is not paused")
        self.flush()  # the new agent reads the log
        arm = len(self._fold.names) if change.kind == ADD else change.arm
        self._add(change.kind, arm=arm, data=change.data)

    def _is_done(self, change: Change) -> bool:
        """Whether what is asked for is so already."""
        fold = self._fold
        if change.kind == STOP:
            return fold.stopped
        if change.kind == ADD:
            return self._is_added(json.loads(change.data or "{}"))
        assert change.arm is not None
        if change.arm >= len(fold.names):
            raise checks.fail("arm", f"the number of an arm, at most {len(fold.names) - 1}", change.arm)
        return fold.paused[change.arm] == (change.kind == PAUSE)

    def _is_added(self, arm: dict[str, Any]) -> bool:
        self.flush()
        names = self._fold.names
        if arm["name"] not in names:
            return False
        number = names.index(arm["name"]) - self._fold.setup.problem.arms
        added = [
            json.loads(event.data or "{}") for event in self._log.before(self._fold.number + 1) if event.kind == ADD
        ]
        if number >= 0 and added[number : number + 1] == [arm]:
            return True
        raise ConflictError(f"arm {checks.shown(arm['name'])} is there already, with another prior")

    def _add(self, kind: str, **fields: Any) -> Event:
        event = self._fold.event(kind, self._now, **fields)
        self._fold.add(event, lambda: self._log.before(event.number))
        self._added.append(event)
        self.counts[kind] += 1
        return event
