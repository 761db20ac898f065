"""What is too large or too much is refused before anything reads it."""

import asyncio
import contextlib
import socket

import pytest

from bayesregret.service.limits import LimitRequests, Limits
from bayesregret.service.protocol import LimitedProtocol
from service.conftest import error

DECISIONS = "/experiments/checkout/decisions"


def test_large_bodies(client):
    line = (413, "the body must have at most 5,000 bytes")
    assert error(client.post(DECISIONS, json={"key": "a" * 6_000})) == line

    async def parts():  # without a length
        for _ in range(6):
            yield b"a" * 1_000

    assert error(client.post(DECISIONS, content=parts(), headers={"content-type": "application/json"})) == line
    assert error(client.post(DECISIONS, content=b"{}", headers={"content-length": "x"}))[0] == 413
    assert client.post(DECISIONS, json={"key": "a" * 200}).status_code == 200


def test_without_tokens_other_names_of_this_machine_are_refused(client):
    for host in ("127.0.0.1:8000", "localhost", "LOCALHOST:1", "[::1]:8000", "[::1]"):
        assert client.get("/health", headers={"host": host}).status_code == 200
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "", "127.0.0.1:x"):
        assert error(client.get("/health", headers={"host": host}))[0] == 403


def test_with_tokens_any_name_will_do(guarded):
    assert guarded.get("/health", headers={"host": "any.example"}).status_code == 200


def test_too_many_requests_at_the_same_time():
    async def scenario():
        gone_on, sent = asyncio.Event(), []

        async def app(scope, receive, send):
            await gone_on.wait()

        async def send(message):
            sent.append(message)

        limited = LimitRequests(app, Limits(concurrent=2), only_local=False)
        scope = {"type": "http", "headers": []}
        running = [asyncio.create_task(limited(scope, None, send)) for _ in range(2)]
        await asyncio.sleep(0)
        await limited(scope, None, send)
        refused = list(sent)
        gone_on.set()
        await asyncio.gather(*running)
        await limited(scope, None, send)
        return refused, sent

    refused, sent = asyncio.run(scenario())
    assert refused[0]["status"] == 503
    assert refused[1]["body"] == b'{"error":"2 requests are being answered; try again"}'
    assert refused == sent  # the last one was not refused


# --- headers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "status", "line"),
    [
        ([b"GET /health HTTP/1.1\r\nx: " + b"a" * 20_000 + b"\r\n\r\n"], 431, "at most 16,384 bytes"),
        ([b"GET /health HTTP/1.1\r\nx: ", *[b"a" * 1_000] * 20], 431, "at most 16,384 bytes"),  # without an end
        ([b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n"], 431, "at most 16,384 bytes"),
        ([b"nonsense\r\n\r\n"], 400, "this is not HTTP"),
        ([b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"], 200, "ok"),
        (
            [b"POST /x HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 90000\r\n\r\n", *[b"a" * 9_000] * 10],
            404,
            "no such",
        ),
    ],
)
def test_headers(server, parts, status, line):
    with socket.create_connection(("127.0.0.1", server), timeout=20) as connection:
        with contextlib.suppress(OSError):  # the server may have closed it
            for part in parts:
                connection.sendall(part)
        answer = ""
        while line not in answer:
            more = connection.recv(100_000).decode()
            assert more, f"the connection was closed after {answer!r}"
            answer += more
    assert answer.startswith(f"HTTP/1.1 {status} ")
    assert LimitedProtocol.limit == Limits().headers
