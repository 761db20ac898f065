"""Errors are one line, with nothing of the file system or the database in it."""

import pytest

from bayesregret.service.errors import LONGEST, UNREADABLE, error_body
from bayesregret.store.errors import StoreError, StoreWriteError
from service.conftest import error

DECISIONS = "/experiments/checkout/decisions"


@pytest.mark.parametrize(
    ("content", "kind", "status", "line"),
    [
        (b"{", "application/json", 400, "the body must be JSON, but expecting property name enclosed in double quotes"),
        (b"{}", "text/plain", 415, "the body must be JSON, sent with the header content-type: application/json"),
        (b"", "application/json", 422, "the body is missing"),
        (b"", "text/plain", 415, "the body must be JSON, sent with the header content-type: application/json"),
        (b'{"key": "\xff"}', "application/json", 400, UNREADABLE),
        (b'{"key": ' + b"9" * 4_900 + b"}", "application/json", 400, UNREADABLE),
        (b'{"a":' * 2_000, "application/json", 413, "the body must have at most 5,000 bytes"),
    ],
)
def test_bodies_that_are_not_json(client, content, kind, status, line):
    assert error(client.post(DECISIONS, content=content, headers={"content-type": kind})) == (status, line)


def test_wrong_places_and_methods(client):
    assert error(client.get("/nope")) == (404, "there is no such page")
    assert error(client.request("DELETE", "/experiments")) == (405, "DELETE is not possible here")


@pytest.mark.parametrize("failure", [StoreError("sqlite:////secret/service.db: damaged"), StoreWriteError("disk full")])
def test_a_database_that_fails_is_not_described(client, store, monkeypatch, failure, caplog):
    def fail(*_):
        raise failure

    assert client.get("/ready").json() == {"status": "ready"}
    monkeypatch.setattr(store, "names", fail)
    monkeypatch.setattr(store.experiment("checkout"), "apply", fail)
    line = "the store cannot be used now; nothing was changed, try again"
    assert error(client.get("/experiments")) == (503, line)
    assert error(client.post(DECISIONS, json={})) == (503, line)
    assert error(client.get("/ready")) == (503, "the store does not answer")
    assert client.get("/health").json() == {"status": "ok"}
    assert str(failure) in caplog.text  # for who runs the service


def test_a_mistake_of_ours_is_one_line_for_everybody_who_waits(client, store, monkeypatch):
    def fail(*_):
        raise KeyError("secret")

    monkeypatch.setattr(store.experiment("checkout"), "apply", fail)
    for _ in range(2):
        status, line = error(client.post(DECISIONS, json={}))
        assert (status, line) == (500, "this is a mistake of the server, which has written about it to its log")
    monkeypatch.undo()
    assert client.post(DECISIONS, json={}).status_code == 200


def test_long_lines_are_cut_and_breaks_taken_out():
    body = error_body("a\nb " * 1000)
    assert body.startswith(b'{"error":"a b a b')
    assert len(body) == LONGEST + len('{"error":""}')
