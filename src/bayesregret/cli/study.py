"""`bayesregret study`: list, show, export and merge studies."""

from __future__ import annotations

import json as json_text
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesregret.cli import options
from bayesregret.cli.complaints import bad_input
from bayesregret.cli.help import SectionedCommand, SectionedGroup, columns
from bayesregret.cli.options import option
from bayesregret.cli.show import show_json, show_tables
from bayesregret.digits import brief, counted

if TYPE_CHECKING:
    from bayesregret.study import StudyEntry

KEY_SHOWN = 10  # characters
BRIEF_SETTINGS = 100
FIRST_OF_LIST = 4  # entries
FIRST_OF_BRIEF_LIST = 2

app = typer.Typer(cls=SectionedGroup, rich_markup_mode=None, invoke_without_command=True)

File = Annotated[str, typer.Argument(metavar="FILE", show_default=False)]


@app.callback()
def study(context: typer.Context) -> None:
    """Finished points in a file: list, show, export or merge them.

    A study stores every computed point with its settings, result, package version and time.

    \b
    Examples:
      bayesregret study list study.sqlite
      bayesregret study export study.sqlite points.csv
      bayesregret study merge all.sqlite here.sqlite there.sqlite

    For more about a command: bayesregret study list --help.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


LIST_COLUMNS = {
    "key": "First characters of the key of the point.",
    "what": "Its settings, shortened: first those in which points differ.",
    "version": "Version of bayesregret that computed it.",
    "seconds": "Time that it took.",
    "finished": "When it was finished.",
}
SHOW_COLUMNS = {
    "setting": "Name of a setting of the point.",
    "result": "Name of a number of its result.",
    "value": "Its value.",
}


@app.command("list", cls=SectionedCommand)
@columns(LIST_COLUMNS)
def list_points(file: File, json: options.Json = False, wide: options.Wide = False) -> None:
    """List all points of a study in the order in which they finished.

    The first characters of a key are enough for bayesregret study show.

    \b
    Examples:
      bayesregret study list study.sqlite
      bayesregret study list study.sqlite --json
    """
    from bayesregret.study import Study  # loads SQLite

    with bad_input(), Study.open(file, write=False) as opened:
        entries = list(opened.entries())
    if json:
        show_json({"study": file, "points": [_head(entry) for entry in entries]})
        return
    rows = [["key", "what", "version", "seconds", "finished"]]
    differing = _differing([entry.settings for entry in entries])
    for entry in entries:
        seconds, finished = brief(entry.seconds), _short_time(entry.finished)
        what = _writable(_in_brief(entry.settings, differing))
        rows.append([entry.key[:KEY_SHOWN], what, entry.version, seconds, finished])
    taken = sum(entry.seconds for entry in entries)
    summary = f"{counted(len(entries), 'point')} in {file}, {brief(taken)} s of computing"
    show_tables([rows], _writable(summary), text=["what", "version", "finished"], wide=wide)


@app.command(cls=SectionedCommand)
@columns(SHOW_COLUMNS)
def show(
    file: File,
    key: Annotated[str, typer.Argument(metavar="KEY", show_default=False)],
    json: options.Json = False,
    wide: options.Wide = False,
) -> None:
    """Show the settings and the result of one point.

    KEY is the key of the point or its first characters, as bayesregret study list shows them.

    \b
    Examples:
      bayesregret study show study.sqlite 3f2a
      bayesregret study show study.sqlite 3f2a --json
    """
    from bayesregret.study import Study

    with bad_input(), Study.open(file, write=False) as opened:
        entry = opened.find(key)
    if json:
        show_json({**_head(entry), "result": entry.result})
        return
    tables = [_value_rows("setting", entry.settings), _value_rows("result", entry.result)]
    summary = (
        f"{entry.key}, computed by bayesregret {entry.version} "
        f"in {brief(entry.seconds)} s, finished {_short_time(entry.finished)}"
    )
    show_tables(tables, summary, text=["value"], wide=wide)


@app.command(cls=SectionedCommand)
def export(
    file: File,
    target: Annotated[str, typer.Argument(metavar="TARGET", show_default=False)],
    format: Annotated[
        str | None, option(help="csv, parquet or json.", default="the suffix of TARGET", metavar="NAME")
    ] = None,
    json: options.Json = False,
) -> None:
    """Write all points as a table: CSV, Parquet or JSON.

    One row per point. Columns: key, version, seconds and finished, then the fields of settings and result, such as
    settings.horizon or result.ucb1.regret. An existing TARGET is replaced when the new file is complete.

    \b
    Examples:
      bayesregret study export study.sqlite points.csv
      bayesregret study export study.sqlite points.parquet
      bayesregret study export study.sqlite points.txt --format json
    """
    from bayesregret.study import export as write_table

    with bad_input():
        points = write_table(file, target, format)
    if json:
        show_json({"study": file, "target": target, "points": points})
    else:
        show_tables([], _writable(f"{counted(points, 'point')} written to {target}"))


@app.command(cls=SectionedCommand)
def merge(
    target: Annotated[str, typer.Argument(metavar="TARGET", show_default=False)],
    others: Annotated[list[str], typer.Argument(metavar="OTHER...", show_default=False)],
    json: options.Json = False,
) -> None:
    """Copy missing points from other studies into TARGET.

    TARGET is created if it does not exist; the others do not change. Either all missing points are copied or, if two
    studies have different results for the same point, none.

    \b
    Examples:
      bayesregret study merge here.sqlite there.sqlite
      bayesregret study merge all.sqlite here.sqlite there.sqlite --json
    """
    from bayesregret.study import Study

    with bad_input():
        for other in others:  # a mistyped name should not leave an empty TARGET
            Study.open(other, write=False).close()
        with Study.open(target) as opened:
            copied, points = opened.merge(*others), len(opened)
    if json:
        show_json({"study": target, "copied": copied, "points": points})
    else:
        show_tables([], _writable(f"{counted(copied, 'point')} copied; {target} has {counted(points, 'point')} now"))


# --- formatting ----------------------------------------------------------------------------------------------------


def _head(entry: StudyEntry) -> dict[str, Any]:
    """Return the fields of a point except its result."""
    return {
        "key": entry.key,
        "settings": entry.settings,
        "version": entry.version,
        "seconds": entry.seconds,
        "finished": entry.finished,
    }


def _short_time(finished: str) -> str:
    """2026-03-01 12:00:00 UTC."""
    return f"{finished[:10]} {finished[11:19]} UTC"


def _differing(points: list[dict[str, Any]]) -> set[str]:
    """Names of the settings that are not the same in all points."""
    texts: dict[str, list[str]] = {}
    for settings in points:
        for name, value in _fields(settings):
            texts.setdefault(name, []).append(json_text.dumps(value))
    return {name for name, found in texts.items() if len(found) < len(points) or len(set(found)) > 1}


def _in_brief(settings: dict[str, Any], differing: set[str]) -> str:
    """prior_mean=[1, 0, ...] prior_width=0.5 model=gaussian ..."""
    fields = sorted(_fields(settings), key=lambda field: field[0] not in differing)
    # Most fields belong to the problem, and are clear without the prefix.
    texts = [f"{name.removeprefix('problem.')}={_brief_value(value, name in differing)}" for name, value in fields]
    ends = [len(" ".join(texts[: count + 1])) for count in range(len(texts))]
    fit = max(1, sum(end <= BRIEF_SETTINGS for end in ends))
    text = " ".join(texts if fit == len(texts) else [*texts[:fit], "..."])
    return text if len(text) <= BRIEF_SETTINGS + 4 else f"{text[:BRIEF_SETTINGS]}..."


def _brief_value(value: Any, differs: bool) -> str:
    if isinstance(value, list):
        if not differs or not value:
            return f"[{counted(len(value), 'value')}]"
        is_matrix = isinstance(value[0], list)
        first = [_brief_value(entry, differs) for entry in value[: 1 if is_matrix else FIRST_OF_BRIEF_LIST]]
        return f"[{', '.join(first if len(value) == len(first) else [*first, '...'])}]"
    if isinstance(value, dict) and "name" in value:  # a policy
        return str(value["name"])
    return f"{value:g}" if isinstance(value, float) else _value(value)


def _value_rows(heading: str, table: dict[str, Any]) -> list[list[str]]:
    return [
        [heading, "value"],
        *([_writable(name), _writable(_value(value))] for name, value in _fields(_numbered(table))),
    ]


def _numbered(value: Any) -> Any:
    """Replace lists of tables by tables with the names 1, 2 and so on, so that each field gets a row."""
    if isinstance(value, dict):
        return {name: _numbered(entry) for name, entry in value.items()}
    if isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value):
        return {str(number): _numbered(entry) for number, entry in enumerate(value, start=1)}
    return value


def _fields(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict) and value:
            yield from _fields(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _value(value: Any) -> str:
    if isinstance(value, list) and len(value) > FIRST_OF_LIST:
        first = ", ".join(_value(entry) for entry in value[:FIRST_OF_LIST])
        return f"[{first}, ...] ({len(value):,} values)"
    return value if isinstance(value, str) else json_text.dumps(value)


def _writable(text: str) -> str:
    """Return one line in characters that standard output can encode."""
    one_line = text if text.isprintable() else ascii(text)[1:-1]
    encoding = sys.stdout.encoding or "utf-8"
    return one_line.encode(encoding, "backslashreplace").decode(encoding)
