"""Events of a log, the checksums that chain them, and the ids of decisions."""

from __future__ import annotations

import hashlib
import re
from typing import Any, NamedTuple

from bayesregret import checks

DECIDE, REWARD, EXPIRE = "decide", "reward", "expire"
PAUSE, RESUME, ADD, STOP = "pause", "resume", "add", "stop"

LONGEST_KEY = 200
ID = re.compile(r"([1-9]\d{0,15})-([0-9a-f]{8})")
AN_ID = "the id of a decision, as decide returned it"


class Event(NamedTuple):
    """One event of an experiment's log.

    Attributes
    ----------
    number : int
        Place in the log, from 1, without gaps.
    kind : str
        decide, reward, expire, pause, resume, add or stop.
    decision : int or None
        Of a reward or an expiry: the number of the decision that it settles.
    key : str or None
        Of a decision: the caller's key, if there was one.
    arm : int or None
        Number of the arm, over all arms that the experiment has ever had.
    reward : float or None
        Of a reward, or 0 of an expiry that counts as 0; None if the reward is lost.
    time : float
        Seconds since 1970 (UTC); never less than that of the event before.
    data : str or None
        Of an added arm: its name and prior, as JSON.
    checksum : str
        Of this event and, through the checksum before it, of all events until here.
    """

    number: int
    kind: str
    decision: int | None
    key: str | None
    arm: int | None
    reward: float | None
    time: float
    data: str | None
    checksum: str


def digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def chained(before: str, fields: tuple[Any, ...]) -> str:
    """Return the checksum of an event, whose other fields are `fields`, after one with the checksum `before`."""
    return digest(f"{before}{fields!r}")


def decision_id(uuid: str, number: int) -> str:
    """Return the id of a decision: its number, and a check by which ids with errors and of others are refused."""
    return f"{number}-{digest(f'{uuid} {number}')[:8]}"


def decision_number(uuid: str, given: Any) -> int | None:
    """Return the number of the decision with this id; None if it is the id of another experiment, or has an error."""
    if not isinstance(given, str):
        raise checks.fail("decision", AN_ID, given)
    found = ID.fullmatch(given)
    number = int(found[1]) if found else 0
    return number if given == decision_id(uuid, number) else None


def checked_key(key: Any) -> str:
    """Return a key that every database can store."""
    if not isinstance(key, str) or not 0 < len(key) <= LONGEST_KEY or not key.isprintable():
        raise checks.fail("key", f"a printable text of 1 to {LONGEST_KEY} letters", key)
    return str(key)
