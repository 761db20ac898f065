"""Bearer tokens: random texts that give a right. The store keeps only their hashes."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from typing import NamedTuple

from sqlalchemy import delete, insert, select

from bayesregret import checks
from bayesregret.store.database import Database
from bayesregret.store.tables import tokens

RIGHTS = ("read", "decide", "admin")  # each has those before it
PREFIX = "brt_"  # by which tools that look for secrets in files find them
BYTES = 32
LONGEST = 200  # characters of a token or a name


class TokenEntry(NamedTuple):
    """A token as the store knows it."""

    name: str
    right: str
    created: float
    hash: str


class Tokens:
    """The tokens of a store's database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, name: str, right: str) -> str:
        """Return a new token; nobody can read it later."""
        checks.one_of("right", right, RIGHTS)
        if not 0 < len(name) <= LONGEST or not name.isprintable():
            raise checks.fail("name", f"a printable text of 1 to {LONGEST} letters", name)
        token = PREFIX + secrets.token_urlsafe(BYTES)
        row = {"hash": hashed(token), "name": name, "right": right, "created": time.time()}
        with self._database.write() as connection:
            if connection.execute(select(tokens).where(tokens.c.name == name)).first() is not None:
                raise checks.fail("name", "that of no other token", name)
            connection.execute(insert(tokens), [row])
        return token

    def remove(self, name: str) -> None:
        """Remove a token; servers refuse it from the next second on."""
        with self._database.write() as connection:
            if connection.execute(delete(tokens).where(tokens.c.name == name)).rowcount == 0:
                raise checks.fail("name", "that of a token", name)

    def entries(self) -> list[TokenEntry]:
        """Return all tokens, the oldest first."""
        columns = [tokens.c[name] for name in TokenEntry._fields]
        with self._database.read() as connection:
            return [TokenEntry(*row) for row in connection.execute(select(*columns).order_by(tokens.c.created))]


def hashed(token: str) -> str:
    """Return the hash by which a token is known. A fast one is enough for 256 random bits."""
    return hashlib.sha256(token.encode()).hexdigest()


def right_of(token: str, entries: list[TokenEntry]) -> str | None:
    """Return the right that a token gives, None if there is no such token; in a time that says nothing about them."""
    given = hashed(token[: LONGEST + 1])
    found = [entry.right for entry in entries if hmac.compare_digest(entry.hash, given)]
    return found[0] if found else None


def includes(right: str, needed: str) -> bool:
    """Whether a right includes another one."""
    return RIGHTS.index(right) >= RIGHTS.index(needed)
