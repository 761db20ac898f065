"""Numbers for Prometheus."""

import re

from prometheus_client.parser import text_string_to_metric_families


def numbers(client):
    """All numbers, by name and labels."""
    families = text_string_to_metric_families(client.get("/metrics").text)
    return {
        (sample.name.removeprefix("bayesregret_"), *sorted(sample.labels.values())): sample.value
        for family in families
        for sample in family.samples
    }


def test_everything_is_counted(client, store):
    path = "/experiments/checkout"
    made = [client.post(f"{path}/decisions", json={"key": key}).json() for key in "aab"]
    client.post(f"{path}/decisions/batch", json={"keys": ["b", "c"]})
    for reward in (1, 1, 0):
        client.post(f"{path}/rewards", json={"decision": made[0]["decision"], "reward": reward})
    found = numbers(client)
    assert found["decisions_total",] == 5
    assert found["rewards_total",] == 2
    assert found["duplicates_total", "decide"] == 2
    assert found["duplicates_total", "reward"] == 1
    assert found["conflicts_total",] == 1
    assert found["open_experiments",] == 1
    assert found["requests_total", "/experiments/{name}/rewards", "409"] == 1
    assert found["request_seconds_count", "/experiments/{name}/decisions"] == 3
    assert found["commit_requests_count",] == 6
    store.experiment("checkout").stop()
    assert numbers(client)["open_experiments",] == 0


def test_paths_that_do_not_exist_are_one_label(client):
    for number in range(5):
        client.get(f"/nope/{number}")
    text = client.get("/metrics").text
    assert 'bayesregret_requests_total{route="other",status="404"} 5.0' in text
    assert not re.search("nope", text)
