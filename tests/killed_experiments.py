"""Processes that decide and reward in one experiment, and are killed at random moments or disturb one another.

`kill_writers` kills, and `check` compares the log with what the processes acknowledged; `disturb` lets processes ask
and reward in an order of their own, each thing several times. Processes are forked: the parent must have no threads,
and no open store.
"""

from __future__ import annotations

import hashlib
import os
import random
import signal
import sys
import time
import traceback
from collections import Counter
from typing import NamedTuple

import bayesregret as br
from bayesregret.store import ConflictError, Event

NAME = "attacked"
ARMS = ["blue", "green", "red"]
LATE = 0.2  # fraction of rewards that wait for some decisions
AGAIN = 0.2  # fraction of requests that are made twice


def start(url: str, policy: str = "bayes-ucb", horizon: int = 10**7) -> None:
    with br.experiments(url) as store:
        bandit = br.BernoulliBandit(alpha=[1, 1, 1], beta=[1, 1, 1])
        store.start(NAME, bandit, policy, horizon=horizon, seed=7, arms=ARMS)


def reward_of(key: str) -> float:
    return float(hashlib.sha256(key.encode()).digest()[0] % 2)


# --- kills -----------------------------------------------------------------------------------------------------------


class Acknowledged(NamedTuple):
    """What processes said that they had got: (key, id, arm) and (id, reward)."""

    decisions: set[tuple[str, str, int]]
    rewards: set[tuple[str, float]]


def write_until_killed(url: str, first: str, report: int, draw: random.Random) -> None:
    """Decide and reward, and report each thing that was acknowledged."""
    store = br.experiments(url)
    experiment = store.experiment(NAME)
    waiting = []
    for number in range(10**9):
        key = f"{first}-{number}"
        for _ in range(1 + (draw.random() < AGAIN)):
            decision = experiment.decide(key)
            os.write(report, f"d {key} {decision.id} {decision.arm}\n".encode())
        waiting.append((decision.id, reward_of(key)))
        if draw.random() < LATE:
            continue
        draw.shuffle(waiting)
        for id, reward in waiting:
            for _ in range(1 + (draw.random() < AGAIN)):
                experiment.reward(id, reward)
                os.write(report, f"r {id} {reward}\n".encode())
        waiting.clear()


def kill_writers(
    url: str, rounds: int, processes: int, longest: float, draw: random.Random, got: Acknowledged, label: str = ""
) -> int:
    """Start processes and kill them, again and again; add to what they acknowledged, and return the number of kills."""
    kills = 0
    for round_ in range(rounds):
        children = [_fork(url, f"{label}{round_}-{place}", draw.getrandbits(64)) for place in range(processes)]
        for child, _ in children:
            time.sleep(draw.uniform(0.0, longest) / processes)
            os.kill(child, signal.SIGKILL)
            kills += 1
        for child, reports in children:
            with os.fdopen(reports) as lines:
                _collect(lines.read(), got)
            status = os.waitpid(child, 0)[1]
            if not os.WIFSIGNALED(status):
                raise SystemExit("a writer failed before it was killed")
    return kills


def _fork(url: str, first: str, seed: int) -> tuple[int, int]:
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        return child, reader
    try:
        write_until_killed(url, first, writer, random.Random(seed))
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def _collect(text: str, got: Acknowledged) -> None:
    for line in text.splitlines(keepends=True):
        if not line.endswith("\n"):  # cut off by the kill
            continue
        kind, *rest = line.split()
        if kind == "d":
            got.decisions.add((rest[0], rest[1], int(rest[2])))
        else:
            got.rewards.add((rest[0], float(rest[1])))


# --- what must be true -----------------------------------------------------------------------------------------------


def check(url: str, got: Acknowledged | None = None) -> int:
    """Raise AssertionError unless the log has all that was acknowledged, once; return the number of events."""
    with br.experiments(url) as store:
        experiment = store.experiment(NAME)
        state = experiment.state()  # of the newest snapshot and what came after it
        agent = experiment.replay()  # compares it with the fold of the whole log, bit for bit
        assert experiment.state() == state
        events = list(experiment.log())
        if got is not None:
            _check_acknowledged(events, got)
        assert agent.to_json() == fed(events, experiment).to_json()
    return len(events)


def _check_acknowledged(events: list[Event], got: Acknowledged) -> None:
    decided = {event.key: event for event in events if event.kind == "decide"}
    rewarded = Counter(event.decision for event in events if event.kind == "reward")
    rewards = {event.decision: event.reward for event in events if event.kind == "reward"}
    for key, id, arm in got.decisions:
        assert (decided[key].arm, str(decided[key].number)) == (arm, id.partition("-")[0]), key
    for id, reward in got.rewards:
        number = int(id.partition("-")[0])
        assert (rewards[number], rewarded[number]) == (reward, 1), id
    assert max(rewarded.values(), default=1) == 1
    assert [event.number for event in events] == list(range(1, len(events) + 1))


def fed(events: list[Event], experiment: br.Experiment) -> br.Agent:
    """An agent without any store, that makes the decisions and takes the rewards of the log."""
    agent = experiment.policy.start(experiment.problem, horizon=experiment.horizon, seed=experiment.seed, arms=ARMS)
    for event in events:
        if event.kind == "decide":
            assert agent.select() == event.arm
        else:
            agent.update(event.arm, event.reward)
    return agent


# --- disturbance -----------------------------------------------------------------------------------------------------


def disturb(url: str, processes: int, keys: int, most: int = 40) -> int:
    """Let processes each ask for half of the keys in random order; return the number of refused other rewards."""
    children = [_fork_disturber(url, keys, most, seed) for seed in range(processes)]
    refused = 0
    for child, reports in children:
        with os.fdopen(reports) as lines:
            text = lines.read()
        status = os.waitpid(child, 0)[1]
        if status or not text:
            raise SystemExit("a process failed")
        refused += int(text)
    return refused


def _fork_disturber(url: str, keys: int, most: int, seed: int) -> tuple[int, int]:
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        return child, reader
    status = 1
    try:
        os.write(writer, str(_disturb(url, keys, most, seed)).encode())
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def _disturb(url: str, keys: int, most: int, seed: int) -> int:
    draw = random.Random(seed)
    # Together all processes ask for every key; two or more ask for most of them.
    todo = [f"k{key}" for key in range(keys) if key % 4 == seed % 4 or draw.random() < 0.5]
    draw.shuffle(todo)
    refused = 0
    waiting: list[tuple[str, str]] = []
    with br.experiments(url) as store:
        experiment = store.experiment(NAME)
        while todo or waiting:
            asked = [todo.pop() for _ in range(min(len(todo), draw.randint(1, most)))]
            asked += draw.choices(asked, k=len(asked) // 5)
            draw.shuffle(waiting)
            settled = [waiting.pop() for _ in range(draw.randint(0, min(len(waiting), most)) if todo else len(waiting))]
            rewards = [("reward", id, reward_of(key)) for key, id in settled]
            rewards += draw.choices(rewards, k=len(rewards) // 5)
            wrong = [("reward", id, 1.0 - reward) for _, id, reward in rewards[: len(rewards) // 10]]
            results = experiment.apply([*rewards, *(("decide", key) for key in asked), *wrong])
            assert results[: len(rewards)] == [None] * len(rewards), results
            decided = results[len(rewards) : len(rewards) + len(asked)]
            waiting += {(key, decision.id) for key, decision in zip(asked, decided, strict=True)}
            errors = results[len(results) - len(wrong) :]
            assert all(isinstance(error, ConflictError) for error in errors), errors
            refused += len(errors)
    return refused


def main(what: str, url: str, processes: str, many: str) -> None:
    """`kills URL PROCESSES ROUNDS` or `disturb URL PROCESSES KEYS`: for tests, in a process that has no threads."""
    start(url)
    if what == "disturb":
        refused = disturb(url, int(processes), int(many))
        print(check(url), refused)
        return
    got = Acknowledged(set(), set())
    kills = kill_writers(url, int(many), int(processes), 0.4, random.Random(7), got)
    kills += kill_writers(url, 1, int(processes), 4.0, random.Random(8), got, "last-")
    print(check(url, got), kills, len(got.decisions), len(got.rewards))


if __name__ == "__main__":
    main(*sys.argv[1:])
