"""`bayesregret serve`; tests/service has the service itself."""

import socket

from bayesregret import service


def test_it_serves_the_store_and_says_where(bayesregret, monkeypatch):
    found = {}

    def serve(store, *, announce, **given):
        found.update(given, store=store.name)
        announce("http://127.0.0.1:9000", False)

    monkeypatch.setattr(service, "serve", serve)
    outcome = bayesregret("serve", "--store", "sqlite:///shop.db", "--port", "9000", "--require-tokens")
    said = "serving at http://127.0.0.1:9000 for this machine, without tokens; Ctrl-C stops it\n"
    assert outcome == (0, said, "")
    expected = {"host": "127.0.0.1", "port": 9000, "require_tokens": True, "store": "sqlite:///shop.db"}
    assert found == expected


def test_bad_input_is_one_line(bayesregret):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for words, line in {
            ("--port", "x"): "--port must be a whole number, at least 0 and at most 65535, got 'x'",
            ("--port", port): f"--host and --port must be free to listen on, got 127.0.0.1:{port}: Address",
            ("--host", "0.0.0.0", "--port", "0"): "--host '0.0.0.0', which others may reach, needs a token",
            ("--require-tokens", "--port", "0"): "--require-tokens needs a token, and the store has none: add one with",
            ("--store", "mysql://x/y"): "--store must begin with sqlite:/// or postgresql://, got 'mysql'",
        }.items():
            outcome = bayesregret("serve", *words)
            assert (outcome.status, outcome.out) == (2, "")
            assert outcome.err.startswith(f"bayesregret: {line}")
            assert outcome.err.count("\n") == 1
