"""Tables of a store. The log, `events`, is append-only: nothing here updates or deletes its rows."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

FORMAT = 1

metadata = MetaData()

# One row, with the format of the tables.
store = Table("bayesregret_store", metadata, Column("format", Integer, nullable=False))

experiments = Table(
    "bayesregret_experiments",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("uuid", Text, nullable=False),
    Column("created", Double, nullable=False),
    Column("setup", Text, nullable=False),
)

events = Table(
    "bayesregret_events",
    metadata,
    Column("experiment", Integer, ForeignKey(experiments.c.id), primary_key=True, autoincrement=False),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("decision", BigInteger),  # of a reward or an expiry: the number of the decision that it settles
    Column("key", Text),
    Column("arm", Integer),
    Column("reward", Double),
    Column("time", Double, nullable=False),
    Column("data", Text),
    Column("checksum", Text, nullable=False),
    # The database itself refuses a second decision for a key and a second reward for a decision.
    UniqueConstraint("experiment", "key"),
    UniqueConstraint("experiment", "decision"),
)

snapshots = Table(
    "bayesregret_snapshots",
    metadata,
    Column("experiment", Integer, ForeignKey(experiments.c.id), primary_key=True, autoincrement=False),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("state", Text, nullable=False),
    Column("checksum", Text, nullable=False),
)

# For a service: bearer tokens, of which only the hashes are kept.
tokens = Table(
    "bayesregret_tokens",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("right", Text, nullable=False),
    Column("created", Double, nullable=False),
)
