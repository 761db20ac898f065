"""Read and write the log of one experiment."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from sqlalchemy import Connection, Select, and_, bindparam, delete, exists, insert, select

from bayesregret import __version__
from bayesregret.store.events import DECIDE, Event, digest
from bayesregret.store.fold import Fold
from bayesregret.store.tables import events, snapshots

CHUNK = 10_000  # events in memory at a time
SNAPSHOT_EVERY = 1_000  # events
MOST_VALUES = 500  # in one IN list

_columns = [events.c[name] for name in Event._fields]
_of_experiment = events.c.experiment == bindparam("experiment")
_after = (
    select(*_columns)
    .where(_of_experiment, events.c.number > bindparam("after"))
    .order_by(events.c.number)
    .limit(bindparam("most"))
)
_by_key = select(*_columns).where(_of_experiment, events.c.key.in_(bindparam("values", expanding=True)))
_by_number = select(*_columns).where(_of_experiment, events.c.number.in_(bindparam("values", expanding=True)))
_by_decision = select(*_columns).where(_of_experiment, events.c.decision.in_(bindparam("values", expanding=True)))
_insert = insert(events)

_settling = events.alias()
_is_unsettled = and_(
    _of_experiment,
    events.c.kind == DECIDE,
    events.c.number > bindparam("after"),
    ~exists().where(and_(_settling.c.experiment == events.c.experiment, _settling.c.decision == events.c.number)),
)
_unsettled = select(*_columns).where(_is_unsettled, events.c.time <= bindparam("until")).order_by(events.c.number)
_first_unsettled = select(events.c.number).where(_is_unsettled).order_by(events.c.number).limit(1)
_first_later = (
    select(*_columns)
    .where(
        _of_experiment,
        events.c.kind == DECIDE,
        events.c.number > bindparam("after"),
        events.c.time > bindparam("until"),
    )
    .order_by(events.c.number)
    .limit(1)
)
_rewards = (
    select(events.c.number, events.c.decision, events.c.arm, events.c.reward)
    .where(_of_experiment, events.c.number > bindparam("after"), events.c.reward.is_not(None))
    .order_by(events.c.number)
)


class Log:
    """The log of one experiment, in one transaction."""

    def __init__(self, connection: Connection, experiment: int) -> None:
        self._connection = connection
        self._experiment = experiment

    def after(self, number: int) -> Iterator[Event]:
        """Yield all events after this one, in order."""
        while True:
            found = self._select(_after, after=number, most=CHUNK)
            yield from found
            if len(found) < CHUNK:
                return
            number = found[-1].number

    def by_keys(self, keys: Collection[str]) -> list[Event]:
        """Return the decisions that have these keys."""
        return self._among(_by_key, keys)

    def decisions(self, numbers: Collection[int]) -> list[Event]:
        """Return the decisions of these numbers."""
        return [event for event in self._among(_by_number, numbers) if event.kind == DECIDE]

    def settling(self, decisions: Collection[int]) -> list[Event]:
        """Return the rewards and expiries of these decisions."""
        return self._among(_by_decision, decisions)

    def unsettled(self, after: int, until: float) -> list[Event]:
        """Return the decisions until this time whose reward is missing, from those after event `after`."""
        return self._select(_unsettled, after=after, until=until)

    def first_decision(self, after: int, until: float) -> Event | None:
        """Return the first decision after event `after` that is later than this time."""
        return next(iter(self._select(_first_later, after=after, until=until)), None)

    def first_unsettled(self, after: int) -> int | None:
        """Return the number of the first decision after event `after` whose reward may still arrive."""
        found = self._connection.execute(_first_unsettled, {"experiment": self._experiment, "after": after})
        return found.scalars().first()

    def rewards(self, after: int) -> list[Any]:
        """Return (number, decision, arm, reward) of all rewards after event `after`, those of 0 among them."""
        found = self._connection.execute(_rewards, {"experiment": self._experiment, "after": after})
        return list(found.all())

    def append(self, added: Collection[Event]) -> None:
        if added:
            self._connection.execute(_insert, [{"experiment": self._experiment} | event._asdict() for event in added])

    def catch_up(self, fold: Fold, until: int | None = None) -> None:
        """Bring a fold up to date with the log, or to what it was after event `until`."""
        for event in self.after(fold.number):
            if until is not None and event.number > until:
                return
            fold.replay(event, lambda number=event.number: self.before(number))  # type: ignore[misc]

    def before(self, number: int) -> list[Event]:
        """Return all events before this one."""
        found = []
        for event in self.after(0):
            if event.number >= number:
                break
            found.append(event)
        return found

    # --- snapshots ---------------------------------------------------------------------------------------------------

    def restore(self, fold: Fold) -> None:
        """Continue from the newest snapshot that is intact and belongs to the log; without one from the beginning.

        A snapshot of another version of the package counts as damaged: its state may have other parts.
        """
        mine = snapshots.c.experiment == self._experiment
        order = snapshots.c.number.desc()
        query = select(snapshots.c.number, snapshots.c.state, snapshots.c.checksum).where(mine).order_by(order)
        for number, state, checksum in self._connection.execute(query).all():
            (event,) = self._among(_by_number, [number]) or (None,)
            if event is not None and checksum == _seal(event.checksum, state):
                fold.restore(state)
                return

    def snapshot(self, fold: Fold) -> None:
        """Save the state of a fold that is up to date, in place of the snapshots before."""
        state = fold.to_text()
        mine = snapshots.c.experiment == self._experiment
        self._connection.execute(delete(snapshots).where(mine))
        row = {"number": fold.number, "state": state, "checksum": _seal(fold.checksum, state)}
        self._connection.execute(insert(snapshots), [{"experiment": self._experiment} | row])

    def _select(self, query: Select[Any], **values: Any) -> list[Event]:
        rows = self._connection.execute(query, {"experiment": self._experiment} | values)
        return [Event(*row) for row in rows.all()]

    def _among(self, query: Select[Any], values: Collection[Any]) -> list[Event]:
        listed, found = list(values), []
        for first in range(0, len(listed), MOST_VALUES):
            found += self._select(query, values=listed[first : first + MOST_VALUES])
        return found


def _seal(checksum: str, state: str) -> str:
    """Checksum of a snapshot after the event with the given checksum."""
    return digest(f"{__version__} {checksum}{state}")
