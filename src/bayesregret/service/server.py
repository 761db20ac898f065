"""The server: it listens, says where, and stops gracefully."""

from __future__ import annotations

import socket
from collections.abc import Callable
from ipaddress import ip_address
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn

from bayesregret import checks
from bayesregret.service.app import create_app
from bayesregret.service.protocol import LimitedProtocol
from bayesregret.service.tokens import Tokens

if TYPE_CHECKING:
    from bayesregret.store import ExperimentStore

BACKLOG = 2048  # connections that wait to be accepted
KEEP_ALIVE = 75  # seconds that an idle connection stays open
PATIENCE = 30  # seconds, when it stops, for requests that are being answered
NO_TOKEN = "add one with bayesregret token add NAME --right decide"


class GracefulServer(uvicorn.Server):
    """A server for which SIGTERM and Ctrl-C are requests to stop, not errors."""

    started_line: Callable[[], None] | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop accepting, answer what is being answered, and stop; at once if asked again."""
        self.force_exit = self.should_exit
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started_line is not None:
            self.started_line()


def serve(
    store: ExperimentStore,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    require_tokens: bool = False,
    announce: Callable[[str, bool], None] | None = None,
) -> None:
    """Serve a store over HTTP until SIGTERM or Ctrl-C.

    Parameters
    ----------
    store : ExperimentStore
        The store to serve.
    host : str
        Address to listen on. One that other machines reach needs tokens.
    port : int
        Port to listen on; 0 for any that is free.
    require_tokens : bool
        Whether this machine, too, needs tokens.
    announce : callable, optional
        Called with the URL of the service, and whether it needs tokens, as soon as it answers.
    """
    with listen(host, checks.whole("port", port, 0, 65_535)) as listening:
        is_local = ip_address(listening.getsockname()[0]).is_loopback
        if (require_tokens or not is_local) and not Tokens(store.database).entries():
            what = "--require-tokens" if is_local else f"host {checks.shown(host)}, which others may reach,"
            raise ValueError(f"{what} needs a token, and the store has none: {NO_TOKEN}")
        _run(store, listening, require_tokens or not is_local, announce)


def _run(
    store: ExperimentStore,
    listening: socket.socket,
    needs_tokens: bool,
    announce: Callable[[str, bool], None] | None,
) -> None:
    config = uvicorn.Config(
        create_app(store, require_tokens=needs_tokens),
        http=LimitedProtocol,
        ws="none",
        lifespan="on",
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=PATIENCE,
    )
    server = GracefulServer(config)
    if announce is not None:
        server.started_line = lambda: announce(address(listening), needs_tokens)
    server.run([listening])


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; ValueError, in one line, if the address cannot be had."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        made = socket.socket(family, kind, protocol)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(place)
            made.listen(BACKLOG)
        except BaseException:
            made.close()
            raise
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ValueError(
            f"host and port must be free to listen on, got {checks.one_line(host)}:{port}: {reason}"
        ) from None
    return made


def address(listening: socket.socket) -> str:
    """Return the URL of a service that listens."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
