"""Tokens: wrong, missing, for another right."""

import base64
import re

import pytest

from bayesregret.service import Tokens
from bayesregret.service.gate import RIGHT
from bayesregret.store.tables import tokens as table
from service.conftest import error

BASE = "/experiments/checkout"
NEEDS = {
    "read": [
        "GET /experiments",
        f"GET {BASE}",
        "GET /metrics",
        "GET /",
        f"GET {BASE}/export",
        f"GET {BASE}/page",
    ],
    "decide": [f"POST {BASE}/{last}" for last in ("decisions", "decisions/batch", "rewards", "rewards/batch")],
    "admin": ["POST /experiments", *(f"POST {BASE}/{last}" for last in ("pause", "resume", "arms", "stop"))],
}
ORDER = ("read", "decide", "admin")
OPEN = {"/health", "/ready", "/docs", "/openapi.json"}
PLACES = [(right, *place.split()) for right, places in NEEDS.items() for place in places]


@pytest.mark.parametrize(("right", "method", "path"), PLACES)
def test_each_place_needs_its_right(guarded, tokens, right, method, path):
    """Before the body is read: it is no JSON."""
    for wrong in ({}, {"authorization": "Bearer x"}, {"authorization": tokens["admin"]}, {"authorization": "Basic !"}):
        answer = guarded.request(method, path, headers=wrong, content=b"{")
        assert error(answer)[0] == 401
        assert answer.headers["www-authenticate"] == 'Bearer realm="bayesregret"'
    for given in ORDER:
        headers = {"authorization": f"Bearer {tokens[given]}"}
        answer = guarded.request(method, path, params={"exact": "false"}, headers=headers, content=b"{")
        allowed = ORDER.index(given) >= ORDER.index(right)
        assert (answer.status_code not in (401, 403)) == allowed
        if not allowed:
            line = f"this needs a token with the right {right}, and this one has the right {given}"
            assert error(answer) == (403, line)


def test_every_route_is_among_these(guarded):
    schema = guarded.get("/openapi.json").json()
    described = {(method.upper(), path) for path, methods in schema["paths"].items() for method in methods}
    listed = {(method, path.replace("checkout", "{name}")) for _, method, path in PLACES}
    pages = {("GET", "/"), ("GET", "/experiments/{name}/page")}
    assert described == (listed - pages) | {("GET", "/health"), ("GET", "/ready")}
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            assert (RIGHT in operation) == (path not in OPEN), (method, path)
            assert ("security" in operation) == (path not in OPEN)


@pytest.mark.parametrize("path", sorted(OPEN))
def test_what_tells_nothing_is_open(guarded, path):
    assert guarded.get(path).status_code == 200


def test_a_browser_is_asked_for_a_password_which_is_the_token(guarded, tokens):
    page = "/experiments/checkout/page"
    answer = guarded.get(page, headers={"accept": "text/html"})
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Basic realm="bayesregret"')
    assert guarded.get(page, auth=("anybody", tokens["read"])).status_code == 200
    assert guarded.get(page, auth=("anybody", "x")).status_code == 401
    odd = base64.b64encode(b"\xff").decode()
    assert guarded.get(page, headers={"authorization": f"Basic {odd}"}).status_code == 401


def test_only_hashes_are_kept(store, tokens):
    with store.database.read() as connection:
        rows = connection.execute(table.select()).all()
    assert len(rows) == 3
    assert not [token for token in tokens.values() if token in str(rows)]
    assert len({len(token) for token in tokens.values()}) == 1
    assert len(set(tokens.values())) == 3


def test_a_removed_token_is_refused(guarded, store, tokens):
    headers = {"authorization": f"Bearer {tokens['read']}"}
    assert guarded.get("/experiments", headers=headers).status_code == 200
    Tokens(store.database).remove("for read")
    guarded.app.state.gate.refresh()  # as it does every second
    assert error(guarded.get("/experiments", headers=headers)) == (401, "the token is not valid")


@pytest.mark.parametrize(
    ("name", "right", "line"),
    [
        ("for read", "read", "name must be that of no other token, got 'for read'"),
        ("", "read", "name must be a printable text of 1 to 200 letters, got ''"),
        ("x", "write", 'right must be "read" or "decide" or "admin", got \'write\''),
    ],
)
def test_bad_tokens(store, tokens, name, right, line):
    with pytest.raises(ValueError, match=re.escape(line)):
        Tokens(store.database).add(name, right)
    with pytest.raises(ValueError, match="name must be that of a token, got 'nobody'"):
        Tokens(store.database).remove("nobody")
