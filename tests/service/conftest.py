"""A store with an experiment, and clients of an application on it."""

from __future__ import annotations

import contextlib
import os
import signal
from functools import partial

import anyio.from_thread
import httpx
import pytest

import bayesregret as br
from bayesregret.service import Limits, Tokens, create_app
from service.kills import forked

BANDIT = br.BernoulliBandit([1, 1], [1, 1])


class Client:
    """Requests to an application that runs in a thread of its own."""

    def __init__(self, app, portal, url):
        self.app = app
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        self._portal, self._client = portal, httpx.AsyncClient(transport=transport, base_url=url)

    def request(self, method, path, **given):
        return self._portal.call(partial(self._client.request, method, path, **given))

    def get(self, path, **given):
        return self.request("GET", path, **given)

    def post(self, path, **given):
        return self.request("POST", path, **given)


@contextlib.contextmanager
def asking(app, url):
    """Run an application, and yield a client of it."""
    with (
        anyio.from_thread.start_blocking_portal() as portal,
        portal.wrap_async_context_manager(app.router.lifespan_context(app)),
    ):
        yield Client(app, portal, url)


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store(tmp_path, clock):
    with br.experiments(f"sqlite:///{tmp_path}/service.db", clock=clock) as opened:
        opened.start("checkout", BANDIT, "bayes-ucb", horizon=100, arms=["blue", "green"], unit="visitor")
        yield opened


@pytest.fixture
def client(store):
    """A client on this machine, where no token is needed."""
    limits = Limits(body=5_000, batch=20, arms=5)
    with asking(create_app(store, limits=limits), "http://127.0.0.1") as made:
        yield made


@pytest.fixture
def tokens(store):
    """A token for each right."""
    return {right: Tokens(store.database).add(f"for {right}", right) for right in ("read", "decide", "admin")}


@pytest.fixture
def guarded(store, tokens):
    """A client of a service that needs tokens."""
    with asking(create_app(store, require_tokens=True), "http://shop.example") as made:
        yield made


def error(response):
    """The one line of an answer that is no success."""
    assert response.headers["content-type"] == "application/json"
    assert list(response.json()) == ["error"]
    return response.status_code, response.json()["error"]


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """The port of a real server on a store with the experiment `checkout`."""
    url = f"sqlite:///{tmp_path_factory.mktemp('server')}/service.db"
    with br.experiments(url) as opened:
        opened.start("checkout", BANDIT, "bayes-ucb", horizon=10**6)
    child, port = forked(url)
    yield port
    os.kill(child, signal.SIGTERM)
    assert os.waitpid(child, 0)[1] == 0
