"""Export of a log as a table for other programs: CSV, JSON lines or Parquet, a row for each event."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from bayesregret import checks
from bayesregret.extras import require
from bayesregret.store.events import DECIDE, Event, decision_id
from bayesregret.writing import csv_text, write_atomically

# Columns, and their types in Parquet.
COLUMNS = {
    "number": "int64",
    "time": "timestamp",
    "event": "string",
    "decision": "string",
    "key": "string",
    "arm": "int64",
    "name": "string",
    "reward": "float64",
    "data": "string",
}
Record = tuple[Any, ...]


def records(uuid: str, names: Sequence[str], events: Iterable[Event]) -> list[Record]:
    """Return a row for each event; `time` is a datetime in UTC, and `decision` the id that `decide` returned."""
    return [_record(uuid, names, event) for event in events]


def _record(uuid: str, names: Sequence[str], event: Event) -> Record:
    decided = event.number if event.kind == DECIDE else event.decision
    decision = None if decided is None else decision_id(uuid, decided)
    name = None if event.arm is None else names[event.arm]
    when = datetime.fromtimestamp(event.time, UTC)
    return event.number, when, event.kind, decision, event.key, event.arm, name, event.reward, event.data


def exported(rows: list[Record], format: str) -> bytes:
    """Return a whole file with these rows, in the format "csv", "jsonl" or "parquet"."""
    return FORMATS[checks.one_of("format", format, FORMATS)](rows)


def export(rows: Callable[[], list[Record]], path: str | os.PathLike[str]) -> int:
    """Write a file in the format of its ending, whole or not at all; return the number of rows."""
    if not isinstance(path, str | os.PathLike):
        raise checks.fail("path", "the name of a .csv, .jsonl or .parquet file", path)
    format = PurePath(path).suffix.lower().removeprefix(".")
    if format not in FORMATS:
        raise checks.fail("path", "the name of a .csv, .jsonl or .parquet file", os.fspath(path))
    made = rows()
    write_atomically(path, exported(made, format))
    return len(made)


def _csv(rows: list[Record]) -> bytes:
    return csv_text([list(COLUMNS), *(map(_cell, row) for row in rows)]).encode()


def _json_lines(rows: list[Record]) -> bytes:
    lines = (json.dumps(dict(zip(COLUMNS, map(_cell, row), strict=True))) for row in rows)
    return "".join(f"{line}\n" for line in lines).encode()


def _cell(value: Any) -> Any:
    return value.isoformat(timespec="microseconds") if isinstance(value, datetime) else value


def _parquet(rows: list[Record]) -> bytes:
    require("parquet", "Parquet")
    import pyarrow
    import pyarrow.parquet

    types = {
        "int64": pyarrow.int64(),
        "float64": pyarrow.float64(),
        "string": pyarrow.string(),
        "timestamp": pyarrow.timestamp("us", "UTC"),
    }
    schema = pyarrow.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(COLUMNS)
    arrays = [pyarrow.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_arrays(arrays, schema=schema), buffer)
    return buffer.getvalue()


FORMATS: dict[str, Callable[[list[Record]], bytes]] = {"csv": _csv, "jsonl": _json_lines, "parquet": _parquet}
