"""Work of a page: only the latest request, off the event loop."""

import asyncio
import threading
import time

import pytest

from bayesregret.exploring.cached import SimulationKey, simulated
from bayesregret.exploring.jobs import Latest
from bayesregret.exploring.snapshot import Abandoned
from bayesregret.policies import Greedy
from bayesregret.problem import common_bernoulli


async def until(condition, seconds=10.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        await asyncio.sleep(0.005)
    assert condition()


def test_steps_arrive_in_order_and_are_made_in_other_threads():
    threads, found = [], []

    def count(is_abandoned):
        for i in range(3):
            threads.append(threading.current_thread())
            yield i

    async def main():
        Latest().start(count, found.append, pytest.fail)
        await until(lambda: len(found) == 3)

    asyncio.run(main())
    assert found == [0, 1, 2]
    assert threading.main_thread() not in threads


def test_a_new_request_drops_the_old_one():
    found, ended = [], []

    def endless(is_abandoned):
        while True:
            time.sleep(0.01)
            if is_abandoned():
                ended.append(True)
                raise Abandoned
            yield "old"

    async def main():
        latest = Latest()
        for _ in range(5):
            latest.start(endless, found.append, pytest.fail)
            await asyncio.sleep(0.03)
        latest.start(lambda is_abandoned: iter(["new"]), found.append, pytest.fail)
        await until(lambda: "new" in found)
        await until(lambda: latest.abandoned == 5)
        await asyncio.sleep(0.05)

    asyncio.run(main())
    assert found[-1] == "new"  # nothing old comes after it


def test_bad_input_is_a_message_and_the_page_goes_on():
    messages, found = [], []

    def bad(is_abandoned):
        raise ValueError("horizon must be small")
        yield

    async def main():
        latest = Latest()
        latest.start(bad, found.append, messages.append)
        await until(lambda: messages)
        latest.start(lambda is_abandoned: iter([1]), found.append, messages.append)
        await until(lambda: found)
        latest.stop()

    asyncio.run(main())
    assert (messages, found) == (["horizon must be small"], [1])


def test_an_abandoned_simulation_ends_early():
    key = SimulationKey(common_bernoulli(arms=2), Greedy(), 50, 4_000, 3)
    with pytest.raises(Abandoned):
        simulated(key, lambda: True)
