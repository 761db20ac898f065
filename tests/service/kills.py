"""Kill servers under load at random moments; what they acknowledged over HTTP must be in the log, once.

Servers are forked from this process, which has loaded what they need: they start in a moment. So it must have no
threads and no open store.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import traceback
import warnings

import bayesregret as br
from bayesregret.service import serve
from killed_experiments import NAME, Acknowledged, check, reward_of, start
from service.load import Connection

# Of a connection to a server that was killed; ValueError and IndexError: half an answer.
BROKEN = (OSError, EOFError, ValueError, IndexError)
KEYS = 10_000  # of each client: some are asked for again
LONGEST = 1.0  # seconds that a server lives


def attack(url: str, kills: int, clients: int, draw: random.Random) -> Acknowledged:
    """Kill servers under load; AssertionError if anything that they acknowledged is lost, or counted twice."""
    got = Acknowledged(set(), set())
    start(url)
    for _ in range(kills):
        _one_kill(url, clients, got, draw)
    check(url, got)
    return got


def _one_kill(url: str, clients: int, got: Acknowledged, draw: random.Random) -> None:
    child, port = forked(url)
    try:
        asyncio.run(_play(port, clients, got, draw, child))
    finally:
        os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status), "a server failed before it was killed"


def forked(url: str) -> tuple[int, int]:
    """Return a new server's process and its port."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # about threads, of which none is ours
        child = os.fork()
    if child:
        os.close(writer)
        with os.fdopen(reader) as said:
            return child, int(said.read())
    try:
        os.close(reader)
        with br.experiments(url) as store, os.fdopen(writer, "w") as say:
            serve(store, port=0, announce=lambda at, _: (say.write(at.rpartition(":")[2]), say.close()))
        os._exit(0)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


async def _play(port: int, clients: int, got: Acknowledged, draw: random.Random, child: int) -> None:
    """Let clients play, and kill the server at a random moment."""
    async with asyncio.TaskGroup() as group:
        for number in range(clients):
            group.create_task(_client(port, number, got, random.Random(draw.random())))
        await asyncio.sleep(draw.uniform(0.02, LONGEST))
        os.kill(child, signal.SIGKILL)


async def _client(port: int, number: int, got: Acknowledged, draw: random.Random) -> None:
    """Decide and reward until the server is gone; some things twice, some in batches."""
    connection, path = Connection(port), f"/experiments/{NAME}"
    try:
        while True:
            keys = [f"{number}-{draw.randrange(KEYS)}" for _ in range(draw.choice([1, 1, 1, 5]))]
            made = await _decided(connection, path, keys)
            got.decisions.update((key, each["decision"], each["arm"]) for key, each in zip(keys, made, strict=True))
            pairs = [(each["decision"], reward_of(key)) for key, each in zip(keys, made, strict=True)]
            for _ in range(draw.choice([1, 1, 2])):
                await _rewarded(connection, path, pairs)
                got.rewards.update(pairs)
    except BROKEN:
        pass
    finally:
        connection.close()


async def _decided(connection: Connection, path: str, keys: list[str]) -> list[dict[str, object]]:
    if len(keys) > 1:
        return (await _post(connection, f"{path}/decisions/batch", {"keys": keys}))["decisions"]
    return [await _post(connection, f"{path}/decisions", {"key": keys[0]})]


async def _rewarded(connection: Connection, path: str, pairs: list[tuple[str, float]]) -> None:
    bodies = [{"decision": decision, "reward": reward} for decision, reward in pairs]
    if len(bodies) > 1:
        await _post(connection, f"{path}/rewards/batch", {"rewards": bodies})
    else:
        await _post(connection, f"{path}/rewards", bodies[0])


async def _post(connection: Connection, path: str, body: object) -> dict[str, object]:
    status, answer = await connection.post(path, body)
    assert status == 200, answer
    return answer
