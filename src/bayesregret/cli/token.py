"""`bayesregret token`: add, list and remove the tokens of a service."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from bayesregret.cli import options
from bayesregret.cli.complaints import bad_input
from bayesregret.cli.help import SectionedCommand, SectionedGroup, columns
from bayesregret.cli.options import option
from bayesregret.cli.show import show_json, show_tables
from bayesregret.cli.store import STORE, StoreUrl, opened_store
from bayesregret.digits import counted
from bayesregret.extras import require

if TYPE_CHECKING:
    from bayesregret.service import Tokens

app = typer.Typer(cls=SectionedGroup, rich_markup_mode=None, invoke_without_command=True)

Name = Annotated[str, typer.Argument(metavar="NAME", show_default=False)]

LIST_COLUMNS = {
    "name": "Its name.",
    "right": "What it gives: read, decide or admin.",
    "created": "When it was added.",
}


@app.callback()
def token(context: typer.Context) -> None:
    """Tokens of a service: add, list or remove them.

    A token gives a right: read (status, page, export, metrics), decide (decisions and rewards, and all that read
    gives), or admin (start, stop and change experiments, and all that decide gives). The store keeps hashes only.

    \b
    Examples:
      bayesregret token add shop --right decide
      bayesregret token list
      bayesregret token remove shop

    For more about a command: bayesregret token add --help.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(cls=SectionedCommand)
def add(
    name: Name,
    right: Annotated[str, option(help="What it gives: read, decide or admin.", metavar="WORD")],
    store: StoreUrl = STORE,
    json: options.Json = False,
) -> None:
    """Add a token, and print it: nobody can read it later.

    \b
    Examples:
      bayesregret token add shop --right decide
      bayesregret token add board --right read --store sqlite:///shop.db --json
    """
    with _tokens(store) as tokens:
        made = tokens.add(name, right)
    if json:
        show_json({"name": name, "right": right, "token": made})
    else:
        show_tables([], f"{made}\nKeep it: the store has only its hash. Send it as authorization: Bearer TOKEN.")


@app.command("list", cls=SectionedCommand)
@columns(LIST_COLUMNS)
def list_tokens(store: StoreUrl = STORE, json: options.Json = False, wide: options.Wide = False) -> None:
    """List the tokens of a store, without the tokens themselves.

    \b
    Examples:
      bayesregret token list
      bayesregret token list --store sqlite:///shop.db --json
    """
    with _tokens(store) as tokens:
        entries = tokens.entries()
    if json:
        made = [{"name": entry.name, "right": entry.right, "created": entry.created} for entry in entries]
        show_json({"tokens": made})
        return
    rows = [[entry.name, entry.right, time.strftime("%Y-%m-%d", time.gmtime(entry.created))] for entry in entries]
    show_tables([[list(LIST_COLUMNS), *rows]], counted(len(rows), "token"), text=["right", "created"], wide=wide)


@app.command(cls=SectionedCommand)
def remove(name: Name, store: StoreUrl = STORE, json: options.Json = False) -> None:
    """Remove a token: running services refuse it within seconds.

    \b
    Examples:
      bayesregret token remove shop
      bayesregret token remove board --store sqlite:///shop.db --json
    """
    with _tokens(store) as tokens:
        tokens.remove(name)
    if json:
        show_json({"name": name, "removed": True})
    else:
        show_tables([], f"the token {name} is removed")


@contextmanager
def _tokens(store: str) -> Iterator[Tokens]:
    with bad_input():
        require("serve", "bayesregret token")
    with opened_store(store) as opened:
        from bayesregret.service.tokens import Tokens

        yield Tokens(opened.database)
