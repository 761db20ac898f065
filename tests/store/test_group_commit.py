"""Group commit: many threads, one transaction at a time, and a leader that goes away."""

import threading
import time

import pytest

from bayesregret.store.group_commit import GroupCommit, Ticket


def run_threads(work, many):
    threads = [threading.Thread(target=work, args=(number,)) for number in range(many)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_requests_that_wait_are_done_together_and_in_order():
    batches, results = [], {}

    def run(tickets):
        batches.append([ticket.request for ticket in tickets])
        time.sleep(0.01)
        for ticket in tickets:
            ticket.result = ticket.request + 100

    commits = GroupCommit(run)

    def work(number):
        for place in range(5):
            results[number, place] = commits.do(10 * number + place)

    run_threads(work, 8)
    assert results == {(number, place): 100 + 10 * number + place for number in range(8) for place in range(5)}
    assert sum(map(len, batches)) == 40
    assert len(batches) < 40  # the control: some were done together
    for number in range(8):
        mine = [request for batch in batches for request in batch if request // 10 == number]
        assert mine == sorted(mine)


def test_an_error_of_the_transaction_is_everybodys_and_the_next_one_succeeds():
    fails = [True]

    def run(tickets):
        time.sleep(0.01)
        if fails[0]:
            raise ValueError("no disk")
        for ticket in tickets:
            ticket.result = "done"

    commits, found = GroupCommit(run), []

    def work(number):
        with pytest.raises(ValueError, match="no disk"):
            commits.do(number)
        found.append(number)

    run_threads(work, 6)
    assert len(found) == 6
    fails[0] = False
    assert commits.do(1) == "done"


@pytest.mark.parametrize("was_to_lead", [False, True])
def test_an_interrupted_follower_takes_its_request_back(was_to_lead):
    commits = GroupCommit(lambda tickets: [setattr(ticket, "result", ticket.request) for ticket in tickets])
    first, ticket, other = Ticket("first"), Ticket("interrupted"), Ticket("other")
    commits._leader = ticket if was_to_lead else first
    commits._waiting = [ticket, other]
    commits._leave(ticket)
    assert commits._waiting == [other]
    assert commits._leader is (other if was_to_lead else first)
    assert other.wake.acquire(blocking=False) == was_to_lead


def test_an_interrupted_leader_hands_over():
    entered, release, first = threading.Event(), threading.Event(), []

    def run(tickets):
        if not first:
            first.append(1)
            entered.set()
            release.wait()
            raise KeyboardInterrupt
        for ticket in tickets:
            ticket.result = "done"

    commits, results = GroupCommit(run), []

    def lead(_):
        with pytest.raises(KeyboardInterrupt):
            commits.do("interrupted")

    leader = threading.Thread(target=lead, args=(0,))
    leader.start()
    entered.wait()
    followers = [threading.Thread(target=lambda: results.append(commits.do("x"))) for _ in range(3)]
    for thread in followers:
        thread.start()
    while len(commits._waiting) < 3:
        time.sleep(0.001)
    release.set()
    for thread in (leader, *followers):
        thread.join()
    assert results == ["done"] * 3
