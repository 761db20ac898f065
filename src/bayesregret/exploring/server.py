"""Serve the page on this machine."""

from __future__ import annotations

import logging
import webbrowser
from collections.abc import Mapping
from urllib.parse import urlencode

import panel as pn
from tornado.ioloop import IOLoop

from bayesregret.exploring.limits import LARGEST_MESSAGE
from bayesregret.exploring.page import LivePage
from bayesregret.exploring.settings import PageState, checked, decode
from bayesregret.models import Bandit

TITLE = "Bayes regret, live"
LOCAL = ("127.0.0.1", "localhost")


def make_server(
    first: PageState, given: Mapping[str, Bandit], *, address: str, port: int, origins: tuple[str, ...] = ()
) -> pn.io.server.Server:
    """Return a server that listens and is not started; port 0 takes a free one."""
    pn.config.session_history = 0
    logging.getLogger("bokeh").setLevel(logging.ERROR)
    logging.getLogger("tornado.access").setLevel(logging.CRITICAL)

    def visit() -> pn.Column:
        return _visit(first, given)

    server = pn.io.server.get_server(
        {"/": visit},
        port=port,
        address=address,
        title={"/": TITLE},
        # Filled in below: with port 0 the port is not known yet.
        websocket_origin=list(origins) or [f"{name}:{port}" for name in (*LOCAL, address)],
        show=False,
        start=False,
        admin=False,
        websocket_max_message_size=LARGEST_MESSAGE,
        unused_session_lifetime=5_000,
        check_unused_sessions=2_000,
        keep_alive=20_000,
    )
    if port == 0 and not origins:
        server._tornado.websocket_origins.update(f"{name}:{server.port}" for name in (*LOCAL, address))
    return server


def _visit(first: PageState, given: Mapping[str, Bandit]) -> pn.Column:
    """Make the page of one visitor from the address; a bad address gives a line and the usual page."""
    query = urlencode(
        [(name, value.decode("utf-8", "replace")) for name, values in pn.state.session_args.items() for value in values]
    )
    state, message = first, ""
    if query:
        try:
            state = decode(query, given)
        except ValueError as error:
            message = f"This address does not describe a page, so here is the usual one: {error}"
    page = LivePage(checked(state, given), given, message)
    pn.state.on_session_destroyed(lambda context: page.close())
    return page.layout()


def serve(
    first: PageState, given: Mapping[str, Bandit], *, address: str, port: int, origins: tuple[str, ...], browser: bool
) -> None:
    """Serve until interrupted."""
    server = make_server(first, given, address=address, port=port, origins=origins)
    link = f"http://{address if address not in ('0.0.0.0', '::') else LOCAL[0]}:{server.port}/"
    print(f"The live page is at {link} (Ctrl-C ends it)", flush=True)
    server.start()
    if browser:
        IOLoop.current().call_later(0.2, webbrowser.open, link)
    server.io_loop.start()
