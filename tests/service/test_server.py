"""A real server: it stops gracefully, and what it acknowledged survives its death. Small slices of the attacks."""

import asyncio
import random
import socket

import pytest

import bayesregret as br
from bayesregret.service import server as module
from killed_experiments import check
from service import fuzz, kills
from service.conftest import BANDIT
from service.load import load
from service.servers import Server

NOT_FREE = "host and port must be free to listen on, got"


def test_clients_are_answered_until_the_server_stops_gracefully(tmp_path):
    url = f"sqlite:///{tmp_path}/load.db"
    with br.experiments(url) as store:
        store.start("load", BANDIT, "bayes-ucb", horizon=10**6)
    server = Server(url)
    assert "for this machine, without tokens" in server.line
    seconds = asyncio.run(load(server.port, "load", clients=8, duration=0.5))
    idle = socket.create_connection(("127.0.0.1", server.port))  # does not hold the server up
    assert server.stop() == (0, "")
    idle.close()
    with br.experiments(url) as store:
        experiment = store.experiment("load")
        experiment.replay()
        assert len(list(experiment.log())) == len(seconds) > 16


def test_what_was_acknowledged_survives_kills(tmp_path):
    url = f"sqlite:///{tmp_path}/kills.db"
    got = kills.attack(url, 3, 8, random.Random(1))
    assert len(got.decisions) > 10
    decision, reward = next(iter(got.rewards))
    got.rewards.add((decision, 1.0 - reward))
    with pytest.raises(AssertionError):  # the control
        check(url, got)


def test_fuzzed_requests_are_refused_in_one_line_or_done(tmp_path):
    found = fuzz.attack(str(tmp_path), 300, seed=3)
    assert set(found) >= {200, 400, 401, 403, 404, 422}


def test_a_refused_request_that_changes_something_is_noticed():
    """The control."""
    with pytest.raises(AssertionError, match="changed something"):
        fuzz.check("request", 422, b'{"error": "no"}', (1, 1, 1), (2, 1, 1))
    with pytest.raises(AssertionError):
        fuzz.check("request", 500, b'{"error": "no"}', (), ())
    with pytest.raises(AssertionError):
        fuzz.check("request", 422, b'{"error": "sqlite:///x"}', (), ())


def test_an_address_that_cannot_be_had_is_one_line(store):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ValueError, match=rf"^{NOT_FREE} 127\.0\.0\.1:{port}: .* in use$"):
            module.serve(store, port=port)
    with pytest.raises(ValueError, match=rf"^{NOT_FREE} 1\.2\.3\.4\.5:0: "):
        module.serve(store, host="1.2.3.4.5", port=0)


def test_other_machines_need_a_token(store):
    with pytest.raises(ValueError, match=r"^host '0\.0\.0\.0', which others may reach, needs a token, and the store"):
        module.serve(store, host="0.0.0.0", port=0)
    with pytest.raises(ValueError, match=r"^--require-tokens needs a token, and the store has none"):
        module.serve(store, port=0, require_tokens=True)


def test_addresses():
    with module.listen("127.0.0.1", 0) as listening:
        assert module.address(listening) == f"http://127.0.0.1:{listening.getsockname()[1]}"
    if socket.has_ipv6:
        with module.listen("::1", 0) as listening:
            assert module.address(listening).startswith("http://[::1]:")
