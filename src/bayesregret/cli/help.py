"""Plain-text help: no wider than the terminal, words whole, options and commands in named sections."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from typer.core import TyperCommand, TyperGroup

from bayesregret.cli.spelling import spellings_of

F = TypeVar("F", bound=Callable[..., Any])
Row = tuple[str, str]

NARROWEST, WIDEST = 50, 100  # columns of the text
WIDEST_NAME = 27  # columns; the text of a longer name begins on the next line
INDENT = "  "
VERBATIM = "\b\n"  # begins a paragraph whose lines are kept
OPTIONS = "Options"
NO_BREAK = "\N{NO-BREAK SPACE}"


def columns(meanings: Mapping[str, str]) -> Callable[[F], F]:
    """Define the columns of the tables that a command prints, for its help."""

    def define(command: F) -> F:
        command.columns = dict(meanings)  # type: ignore[attr-defined]
        return command

    return define


class SectionedCommand(TyperCommand):
    """Command whose help has its columns and groups options by `rich_help_panel`, which Typer does only with Rich."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        arguments = [str(p.metavar) for p in self.get_params(ctx) if p.param_type_name == "argument"]
        return [*arguments, "[OPTIONS]"]

    def invoke(self, ctx: Any) -> Any:
        with spellings_of(self.typed_parameters(ctx)):
            return super().invoke(ctx)

    def typed_parameters(self, ctx: Any) -> list[Any]:
        """Return the parameters that messages name as the user types them."""
        return list(self.get_params(ctx))

    def get_help(self, ctx: Any) -> str:
        return _page(self, ctx, {"Columns": list(getattr(self.callback, "columns", {}).items())}, self.option_rows(ctx))

    def option_rows(self, ctx: Any) -> dict[str, list[Row]]:
        """Return options with their explanations, by section."""
        sections: dict[str, list[Row]] = {}
        for parameter in self.get_params(ctx):
            record = self.option_row(ctx, parameter)
            if record is not None and parameter.param_type_name == "option":
                section = getattr(parameter, "rich_help_panel", None) or OPTIONS
                sections.setdefault(section, []).append(record)
        if len(sections[OPTIONS]) == 1:  # --help alone
            sections[OPTIONS] = sections.pop(OPTIONS)
        return sections

    def option_row(self, ctx: Any, parameter: Any) -> Row | None:
        """Return an option with its explanation, None if it is hidden."""
        record: Row | None = parameter.get_help_record(ctx)
        return record


class SectionedGroup(TyperGroup):
    """Group that lists its commands in the order of `workflow`, which has their names by section."""

    workflow: Mapping[str, Sequence[str]] = {}

    def list_commands(self, ctx: Any) -> list[str]:
        return [name for names in self.workflow.values() for name in names] or super().list_commands(ctx)

    def get_help(self, ctx: Any) -> str:
        sections = self.workflow or {"Commands": self.list_commands(ctx)}
        commands = {title: [self._command_row(ctx, name) for name in names] for title, names in sections.items()}
        records = [parameter.get_help_record(ctx) for parameter in self.get_params(ctx)]
        return _page(self, ctx, commands, {OPTIONS: [record for record in records if record is not None]})

    def _command_row(self, ctx: Any, name: str) -> Row:
        command: Any = self.get_command(ctx, name)
        return name, command.help.partition("\n\n")[0]


def _page(command: Any, ctx: Any, *parts: Mapping[str, Sequence[Row]]) -> str:
    """Return usage, description and sections; within one part the explanations are aligned."""
    width = max(NARROWEST, min(shutil.get_terminal_size().columns, WIDEST))
    usage = " ".join([ctx.command_path, *command.collect_usage_pieces(ctx)])
    paragraphs = [_filled(f"Usage: {usage}", width, "", " " * 7)]
    paragraphs += [_paragraph(text, width) for text in (command.help or "").split("\n\n")]
    for sections in parts:
        names = [name for rows in sections.values() for name, _ in rows if len(name) <= WIDEST_NAME]
        column = max(map(len, names), default=0)
        for title, rows in sections.items():
            if rows:
                paragraphs.append("\n".join([f"{title}:", *(_row(name, text, column, width) for name, text in rows)]))
    return "\n\n".join(paragraphs)


def _paragraph(text: str, width: int) -> str:
    if text.startswith(VERBATIM):
        return textwrap.indent(text.removeprefix(VERBATIM), INDENT)
    return _filled(text, width, INDENT, INDENT)


def _row(name: str, text: str, column: int, width: int) -> str:
    first = f"{INDENT}{name.ljust(column)}{INDENT}"
    rest = " " * (len(INDENT) * 2 + column)
    if len(name) > column:
        return f"{INDENT}{name}\n{_filled(text, width, rest, rest)}"
    return _filled(text, width, first, rest)


def _filled(text: str, width: int, first: str, rest: str) -> str:
    """Wrap between words; a short default stays in one line."""
    kept = re.sub(r"\[default: [^]]{1,20}\]", lambda found: found[0].replace(" ", NO_BREAK), " ".join(text.split()))
    settings: Any = {"break_long_words": False, "break_on_hyphens": False}
    filled = textwrap.fill(kept, width, initial_indent=first, subsequent_indent=rest, **settings)
    return filled.replace(NO_BREAK, " ")
