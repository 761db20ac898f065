"""Experiments over HTTP: start, list, status, arms, export."""

import json

import pytest

import bayesregret as br
from service.conftest import BANDIT, error

LARGE = br.BernoulliBandit([1] * 6, [1] * 6).to_dict()
SETUP = {"name": "banner", "problem": BANDIT.to_dict(), "policy": "thompson", "horizon": 50}


def test_start_and_list(client, store):
    given = {"arms": ["a", "b"], "unit": "click", "seed": 3, "reward_after": 60.0, "missing": "lost"}
    answer = client.post("/experiments", json=SETUP | given)
    assert (answer.status_code, answer.json()) == (201, {"experiment": "banner"})
    assert client.get("/experiments").json() == {"experiments": ["checkout", "banner"]}
    made = store.experiment("banner")
    assert (made.policy, made.horizon, made.seed, made.arms) == (br.Thompson(), 50, 3, ("a", "b"))
    assert (made.unit, made.reward_after) == ("click", 60.0)


def test_policies_with_settings(client, store):
    for name, policy in {"text": "bayes-ucb:delta=0.1", "table": {"name": "bayes-ucb", "delta": 0.1}}.items():
        assert client.post("/experiments", json=SETUP | {"name": name, "policy": policy}).status_code == 201
        assert store.experiment(name).policy == br.BayesUCB(delta=0.1)


def test_on_a_mixture_a_policy_believes_in_the_prior_that_matches(client, store):
    mixture = br.MixtureBandit([0.5, 0.5], [BANDIT, br.BernoulliBandit([5, 5], [1, 1])])
    assert client.post("/experiments", json=SETUP | {"problem": mixture.to_dict()}).status_code == 201
    assert store.experiment("banner").policy == br.Thompson(prior=mixture.conjugate())


@pytest.mark.parametrize(
    ("change", "status", "line"),
    [
        ({"name": "checkout"}, 409, "name must be new in this store, got 'checkout'"),
        ({"name": "a/b"}, 422, "name must be 1 to 100 letters, digits, dots, hyphens or underscores, got 'a/b'"),
        ({"horizon": 0}, 422, "horizon must be a whole number, at least 1, got 0"),
        ({"horizon": "9"}, 422, "horizon must be a valid integer, got '9'"),
        ({"policy": "thomson"}, 422, "policy must be one of "),
        ({"problem": {}}, 422, "model is missing; it may be "),
        ({"problem": LARGE}, 413, "problem must have at most 5 arms, got 6"),
        ({"arms": ["a"]}, 422, "arms must be a list of different texts, one for each arm, got 1 for 2 arms"),
    ],
)  # fmt: skip
def test_bad_settings(client, store, change, status, line):
    found = error(client.post("/experiments", json=SETUP | change))
    assert found[0] == status
    assert found[1].startswith(line)
    assert store.names() == ["checkout"]


def test_arms_are_paused_resumed_and_added(client, store):
    experiment = store.experiment("checkout")
    assert client.post("/experiments/checkout/pause", json={"arm": "blue"}).json() == {"arm": "blue", "paused": True}
    assert experiment.paused == ("blue",)
    assert error(client.post("/experiments/checkout/pause", json={"arm": 1}))[0] == 422  # the only one left
    assert client.post("/experiments/checkout/resume", json={"arm": 0}).status_code == 200
    assert experiment.paused == ()
    added = client.post("/experiments/checkout/arms", json={"name": "red", "prior": {"alpha": 1, "beta": 30}})
    assert (added.status_code, added.json()) == (201, {"arm": "red"})
    assert experiment.arms == ("blue", "green", "red")
    line = "arm must be the number of an arm or one of blue, green, red, got 'yellow'"
    assert error(client.post("/experiments/checkout/pause", json={"arm": "yellow"})) == (422, line)


def test_status_is_that_of_the_experiment(client, store):
    experiment = store.experiment("checkout")
    for decision in experiment.decide_many(10):
        experiment.reward(decision.id, decision.arm)
    answer = client.get("/experiments/checkout?exact=false")
    assert answer.json() == json.loads(json.dumps(experiment.status(exact=False).to_dict()))
    assert answer.json()["advice"]["action"] in ("go on", "stop")
    assert error(client.get("/experiments/checkout?exact=perhaps"))[0] == 422


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_export_is_that_of_the_store(client, store, format):
    experiment = store.experiment("checkout")
    decision = experiment.decide("user-1")
    experiment.reward(decision.id, 1)
    answer = client.get(f"/experiments/checkout/export?format={format}")
    assert answer.content == experiment.exported(format)
    assert answer.headers["content-disposition"] == f'attachment; filename="checkout.{format}"'
    assert decision.id.encode() in answer.content
