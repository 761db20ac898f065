"""`bayesregret serve`: experiments over HTTP."""

from __future__ import annotations

import sys
from typing import Annotated

from bayesregret.cli.complaints import bad_input
from bayesregret.cli.options import number_option, option
from bayesregret.cli.store import STORE, StoreUrl, opened_store
from bayesregret.extras import require

HOST, PORT = "127.0.0.1", 8000


def serve(
    store: StoreUrl = STORE,
    host: Annotated[str, option(help="Address to listen on.", default=HOST, metavar="ADDRESS")] = HOST,
    port: Annotated[int, number_option("Port to listen on; 0 for any that is free.", PORT)] = PORT,
    require_tokens: Annotated[bool, option("--require-tokens", help="Ask for tokens on this machine, too.")] = False,
) -> None:
    """Serve experiments over HTTP, with a live page for each.

    Programs POST to /experiments/NAME/decisions and /experiments/NAME/rewards; a browser shows
    /experiments/NAME/page, and /docs has all requests. What was answered is on the disk. SIGTERM or Ctrl-C stops the
    server after it has answered what waits.

    Several services may serve one store, on PostgreSQL from several machines: --store postgresql://user@host/database.

    Only this machine reaches the default address. Any other needs tokens, which bayesregret token adds.

    \b
    Examples:
      bayesregret serve --store sqlite:///shop.db
      bayesregret serve --store sqlite:///shop.db --host 0.0.0.0 --port 9000
    """
    with bad_input():
        require("serve", "bayesregret serve")
    from bayesregret.service import serve as run

    with opened_store(store) as opened:
        run(opened, host=host, port=port, require_tokens=require_tokens, announce=_announce)


def _announce(url: str, needs_tokens: bool) -> None:
    """Print where the service is: a program that starts it may wait for this line."""
    who = "with tokens" if needs_tokens else "for this machine, without tokens"
    sys.stdout.write(f"serving at {url} {who}; Ctrl-C stops it\n")
    sys.stdout.flush()
