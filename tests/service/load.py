"""Clients that ask for decisions and give rewards over keep-alive connections, as fast as they are answered."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable
from typing import Any


class Connection:
    """A keep-alive connection that sends JSON and reads JSON."""

    def __init__(self, port: int, token: str | None = None) -> None:
        self.port = port
        self._more = "" if token is None else f"authorization: Bearer {token}\r\n"
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, path: str, data: Any) -> tuple[int, Any]:
        """Return the status and the data of the answer; OSError or EOFError if the connection breaks."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self._streams
        body = json.dumps(data).encode()
        head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n{self._more}"
        writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        head_of_answer = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head_of_answer.partition(b"content-length:")[2].split(None, 1)[0])
        return int(head_of_answer.split(None, 2)[1]), json.loads(await reader.readexactly(length))

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def play(
    connection: Connection,
    name: str,
    goes_on: Callable[[], bool],
    seconds: list[float],
    given: dict[str, float] | None = None,
    chance: random.Random | None = None,
) -> None:
    """Ask for a decision and give its reward, in turns; note how long each answer took, and what was acknowledged."""
    chance = random.Random(0) if chance is None else chance
    while goes_on():
        start = time.perf_counter()
        status, made = await connection.post(f"/experiments/{name}/decisions", {})
        seconds.append(time.perf_counter() - start)
        assert status == 200, made
        reward = float(chance.random() < 0.5)
        start = time.perf_counter()
        status, taken = await connection.post(
            f"/experiments/{name}/rewards", {"decision": made["decision"], "reward": reward}
        )
        seconds.append(time.perf_counter() - start)
        assert status == 200, taken
        if given is not None:
            given[made["decision"]] = reward


async def load(port: int, name: str, clients: int, duration: float) -> list[float]:
    """Let clients play for some seconds; return how long each answer took."""
    end, seconds = time.perf_counter() + duration, []
    connections = [Connection(port) for _ in range(clients)]
    try:
        await asyncio.gather(*(play(each, name, lambda: time.perf_counter() < end, seconds) for each in connections))
    finally:
        for each in connections:
            each.close()
    return seconds
