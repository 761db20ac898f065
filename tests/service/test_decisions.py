"""Decisions and rewards over HTTP."""

import pytest

from service.conftest import error

DECISIONS, REWARDS = "/experiments/checkout/decisions", "/experiments/checkout/rewards"


def decided(client, **body):
    answer = client.post(DECISIONS, json=body)
    assert answer.status_code == 200
    return answer.json()


def test_a_decision_is_that_of_the_store_and_the_same_for_the_same_key(client, store):
    first, second = decided(client, key="user-17"), decided(client)
    assert (first["arm"], first["name"]) == (0, "blue")
    assert (second["arm"], second["name"]) == (1, "green")
    assert decided(client, key="user-17") == first
    kept = store.experiment("checkout").decide("user-17")
    assert (kept.id, kept.arm, kept.name) == (first["decision"], 0, "blue")


def test_rewards_are_taken_once_and_another_one_is_refused(client, store):
    decision = decided(client)["decision"]
    for _ in range(3):
        answer = client.post(REWARDS, json={"decision": decision, "reward": 1})
        assert (answer.status_code, answer.json()) == (200, {"taken": 1})
    assert store.experiment("checkout").agent().pulls.tolist() == [1, 0]
    status, line = error(client.post(REWARDS, json={"decision": decision, "reward": 0}))
    assert status == 409
    assert line == f"decision {decision} has the reward 1 already, got 0"
    half = {"decision": decision, "reward": 0.5}
    assert error(client.post(REWARDS, json=half)) == (422, "reward must be 0 or 1, got 0.5")


def test_batches_are_done_whole_or_not_at_all(client, store):
    made = client.post(f"{DECISIONS}/batch", json={"keys": ["a", "b", "a"]}).json()["decisions"]
    assert made[0] == made[2] != made[1]
    rewards = [{"decision": each["decision"], "reward": 1} for each in made]
    assert client.post(f"{REWARDS}/batch", json={"rewards": rewards}).json() == {"taken": 3}
    before = store.experiment("checkout").state()
    more = [{"decision": decided(client)["decision"], "reward": 1}, {"decision": made[0]["decision"], "reward": 0}]
    after = store.experiment("checkout").state()
    assert after != before
    assert error(client.post(f"{REWARDS}/batch", json={"rewards": more}))[0] == 409
    assert store.experiment("checkout").state() == after


def test_long_batches_are_refused(client):
    status, line = error(client.post(f"{DECISIONS}/batch", json={"keys": [str(number) for number in range(21)]}))
    assert (status, line) == (413, "keys must have at most 20 entries, got 21")


LETTERS = "letters, digits, dots, hyphens or underscores"
REFUSED = [
    (DECISIONS, {"key": 5}, 422, "key must be a valid string, got 5"),
    (DECISIONS, {"key": ""}, 422, "key must be a printable text of 1 to 200 letters, got ''"),
    (DECISIONS, {"key": "a\0b"}, 422, r"key must be a printable text of 1 to 200 letters, got 'a\x00b'"),
    (DECISIONS, {"keys": "x"}, 422, "keys is not a field of this request"),
    (DECISIONS, [], 422, "the body must be a valid dictionary or object to extract fields from, got []"),
    (REWARDS, {"reward": 1}, 422, "decision is missing"),
    (REWARDS, {"decision": "1-00000000", "reward": "1"}, 422, "reward must be a valid number, got '1'"),
    (REWARDS, {"decision": "1-0", "reward": 1}, 404, "decision must be the id of one of checkout, got '1-0'"),
    ("/experiments/chekout/decisions", {}, 404, "there is no experiment 'chekout'; did you mean checkout?"),
    ("/experiments/a b/decisions", {}, 422, f"name must be 1 to 100 {LETTERS}, got 'a b'"),
]


@pytest.mark.parametrize(("path", "body", "status", "line"), REFUSED)
def test_bad_input_is_one_line_and_changes_nothing(client, store, path, body, status, line):
    before = store.experiment("checkout").state()
    assert error(client.post(path, json=body)) == (status, line)
    assert store.experiment("checkout").state() == before


def test_after_the_last_round_and_after_a_stop_nothing_is_decided(client):
    assert client.post(f"{DECISIONS}/batch", json={"keys": list("abcdefghij")}).status_code == 200
    assert client.post("/experiments/checkout/stop", json={}).json() == {"stopped": True}
    assert error(client.post(DECISIONS, json={})) == (409, "the experiment was stopped")
    assert client.post(DECISIONS, json={"key": "a"}).status_code == 200  # it has one
    decision = client.post(DECISIONS, json={"key": "a"}).json()["decision"]
    assert client.post(REWARDS, json={"decision": decision, "reward": 1}).status_code == 200


def test_rewards_that_are_late_are_given_up_without_any_request(store, clock, client):
    import time

    store.start("late", store.experiment("checkout").problem, "bayes-ucb", horizon=10, reward_after=60)
    assert client.post("/experiments/late/decisions", json={}).status_code == 200
    clock.now += 61
    deadline = time.monotonic() + 20
    while not store.experiment("late").agent().pulls.any() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert store.experiment("late").agent().pulls.tolist() == [1, 0]
