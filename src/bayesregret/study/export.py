"""Export of studies as tables for other programs: CSV, Parquet and JSON.

A row per point, in the order in which they were finished. Columns: key, version, seconds, finished, then every field of
settings and result, nested ones with a dot: settings.problem.model, result.regret.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterable
from pathlib import PurePath
from typing import Any

from bayesregret import checks
from bayesregret.extras import require
from bayesregret.study.files import StudyError, StudyWriteError
from bayesregret.study.points import StudyEntry
from bayesregret.study.store import Study
from bayesregret.writing import WriteError, csv_text, obstacle, write_atomically

ABOUT = ("key", "version", "seconds", "finished")
INFINITIES = {"inf": float("inf"), "-inf": float("-inf")}
LARGEST_INT64 = 2**63 - 1

Record = dict[str, Any]


def export(study: str | os.PathLike[str], target: str | os.PathLike[str], format: str | None = None) -> int:
    """Write all points of a study to a file; return the number of points.

    The format is "csv", "parquet" or "json"; None derives it from the target's suffix. An existing file is replaced
    once the new one is complete, and stays unchanged if anything goes wrong; a link or a device is never written.
    """
    write = FORMATS[_format(target, format)]
    found = obstacle(target)
    if found is not None:
        raise StudyError(f"{_name(target)}: cannot be written: {found}")
    with Study.open(study, write=False) as opened:
        if os.path.exists(target) and os.path.samefile(study, target):
            raise StudyError(f"{opened.name}: is the study itself and cannot be the target")
        records = [flat(entry) for entry in opened.entries()]
    try:
        write_atomically(target, write(records))
    except WriteError as error:
        raise StudyWriteError(str(error)) from error
    return len(records)


def flat(entry: StudyEntry) -> Record:
    """Return a point as one row of a table.

    >>> flat(StudyEntry("ab", {"seed": 7}, {"ucb1": {"regret": 1.5}}, "1.0", 0.1, "2026"))["result.ucb1.regret"]
    1.5
    """
    record: Record = {name: getattr(entry, name) for name in ABOUT}
    for name, value in (*_flat("settings", entry.settings), *_flat("result", entry.result)):
        if name in record:
            raise StudyError(f"the point {entry.key[:10]} has two fields for the column {checks.shown(name)}")
        record[name] = value
    return record


def _flat(name: str, value: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for inner, entry in value.items():
            yield from _flat(f"{name}.{inner}", entry)
    else:
        yield name, value


def _format(target: Any, format: str | None) -> str:
    if format is not None:
        return checks.one_of("format", format, FORMATS)
    suffix = PurePath(target).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        names = ", ".join(f".{name}" for name in FORMATS)
        raise StudyError(f"{_name(target)}: the suffix must be one of {names}, or the format must be given")
    return suffix


def _name(path: Any) -> str:
    return checks.one_line(os.fsdecode(path))


# --- CSV and JSON --------------------------------------------------------------------------------------------------


def _csv(records: list[Record]) -> bytes:
    """Return CSV: numbers and text as they are, everything else as JSON; missing fields and null are empty."""
    names = _columns(records)
    return _utf8(csv_text([names, *([_cell(record.get(name)) for name in names] for record in records)]))


def _cell(value: Any) -> Any:
    """Return what the cell shows; minus infinity is a number, and no text that a spreadsheet might run."""
    return json.dumps(value) if isinstance(value, bool | list | dict) else INFINITIES.get(value, value)


def _json(records: list[Record]) -> bytes:
    lines = ",\n".join(json.dumps(record, allow_nan=False) for record in records)
    return f"[\n{lines}\n]\n".encode("ascii")


def _columns(records: list[Record]) -> list[str]:
    if not records:
        return list(ABOUT)
    names = {name: None for record in records for name in record}
    # Columns of settings come before those of results.
    return sorted(names, key=lambda name: (name.startswith("result."), name.startswith("settings.")))


def _utf8(text: str) -> bytes:
    """Encode text, and escape lone surrogates, which UTF-8 cannot encode."""
    return text.encode("utf-8", "backslashreplace")


# --- Parquet -------------------------------------------------------------------------------------------------------


def _parquet(records: list[Record]) -> bytes:
    require("parquet", "Parquet")
    import pyarrow
    import pyarrow.parquet

    types = {
        "truth": pyarrow.bool_(),
        "whole": pyarrow.int64(),
        "real": pyarrow.float64(),
        "reals": pyarrow.list_(pyarrow.float64()),
        "text": pyarrow.string(),
    }
    arrays = {}
    for name in _columns(records):
        kind, values = _column([record.get(name) for record in records])
        arrays[_encodable(name)] = pyarrow.array(values, types[kind])
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(arrays), buffer)
    return buffer.getvalue()


def _column(values: list[Any]) -> tuple[str, list[Any]]:
    """Return the narrowest type that holds all values exactly, and the converted values; JSON text if mixed."""
    given = [value for value in values if value is not None]
    for kind, fits, convert in KINDS:
        if all(map(fits, given)):
            return kind, [None if value is None else convert(value) for value in values]
    return "text", [None if value is None else json.dumps(value) for value in values]


def _is_int64(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -LARGEST_INT64 <= value <= LARGEST_INT64


def _is_real(value: Any) -> bool:
    """Return whether the value is a float, an integer that a float holds exactly, or the text for an infinity."""
    if isinstance(value, str):
        return value in INFINITIES
    return isinstance(value, float) or (_is_int64(value) and int(float(value)) == value)


def _are_reals(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_real, value))


def _real(value: Any) -> float:
    return INFINITIES[value] if isinstance(value, str) else float(value)


def _reals(values: list[Any]) -> list[float]:
    return list(map(_real, values))


def _encodable(text: str) -> str:
    return _utf8(text).decode()


KINDS: tuple[tuple[str, Callable[[Any], bool], Callable[[Any], Any]], ...] = (
    ("truth", lambda value: isinstance(value, bool), bool),
    ("whole", _is_int64, int),
    ("real", _is_real, _real),
    ("reals", _are_reals, _reals),
    ("text", lambda value: isinstance(value, str), _encodable),
)

FORMATS: dict[str, Callable[[list[Record]], bytes]] = {"csv": _csv, "parquet": _parquet, "json": _json}
