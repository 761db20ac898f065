"""The directive `command-help`: a section for each command, with its help as a terminal of 80 columns shows it."""

from __future__ import annotations

import os
from typing import Any

import typer
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from bayesregret.cli import PROGRAM, app

COLUMNS = 80


def commands() -> list[tuple[str, str]]:
    """(command, its help) for the program and all commands in the order of the help, groups before their members."""
    os.environ["COLUMNS"] = str(COLUMNS)
    return _helps(typer.main.get_command(app), None, PROGRAM)


def _helps(command: Any, parent: Any, name: str) -> list[tuple[str, str]]:
    context = command.make_context(name, [], parent=parent, resilient_parsing=True)
    found = [(context.command_path, command.get_help(context))]
    for member in command.list_commands(context) if hasattr(command, "commands") else ():
        found += _helps(command.commands[member], context, member)
    return found


class CommandHelp(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        made: list[nodes.Node] = []
        for name, text in commands():
            section = nodes.section(ids=[nodes.make_id(name)], names=[name])
            section += nodes.title(name, name)
            section += nodes.literal_block(text, text, language="text")
            made.append(section)
        return made


def setup(sphinx: Sphinx) -> dict[str, bool]:
    sphinx.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True}
