"""`bayesregret experiment`: from start to export."""

import json
import pathlib

import pytest

import bayesregret as br

START = ["experiment", "start", "checkout", "bernoulli", "--arms", "2", "--policy", "bayes-ucb", "--horizon", "100"]


@pytest.fixture
def experiment(bayesregret):
    """`bayesregret experiment`, with an experiment."""
    assert bayesregret(*START, "--arm-names", "blue,green", "--unit", "visitor").status == 0
    return lambda *arguments: bayesregret("experiment", *arguments)


def decided(experiment, *arguments):
    return experiment("decide", "checkout", *arguments, "--json").data["decisions"]


def test_start(bayesregret):
    outcome = bayesregret(*START, "--arm-names", 'blue,"a, b"', "--seed", "3", "--unit", "visitor")
    assert outcome == (0, "checkout has begun: bayes-ucb, blue, a, b, 100 visitors, seed 3\n", "")
    with br.experiments("sqlite:///experiments.db") as store:
        made = store.experiment("checkout")
        assert (made.arms, made.seed, made.horizon, made.unit) == (("blue", "a, b"), 3, 100, "visitor")
        assert made.problem == br.BernoulliBandit([1, 1], [1, 1])


def test_start_in_another_store_from_a_file(bayesregret):
    pathlib.Path("p.json").write_text(
        '{"model": "gaussian", "prior_mean": [0, 1], "prior_width": 1, "reward_noise": 1}'
    )
    words = ["start", "x", "p.json", "--policy", "thompson", "--horizon", "9", "--store", "sqlite:///other.db"]
    outcome = bayesregret("experiment", *words, "--reward-after", "60", "--missing", "lost", "--json")
    assert outcome.data["policy"] == "thompson"
    assert outcome.data["arms"] == ["arm-0", "arm-1"]
    with br.experiments("sqlite:///other.db") as store:
        assert store.experiment("x").reward_after == 60.0


def test_decide_and_reward(experiment):
    first, second = decided(experiment, "--key", "user-1", "--key", "user-2")
    assert (first["name"], second["name"]) == ("blue", "green")
    assert decided(experiment, "--key", "user-1") == [first]
    outcome = experiment("decide", "checkout")
    assert outcome.out.splitlines()[0].split() == ["decision", "arm", "name"]
    assert outcome.out.endswith("1 decision of checkout\n")
    for _ in range(2):
        taken = experiment("reward", "checkout", first["decision"], "1")
        assert taken == (0, f"{first['decision']} has the reward 1\n", "")
    refused = experiment("reward", "checkout", first["decision"], "0")
    assert (refused.status, refused.out) == (2, "")
    assert "has the reward 1 already, got 0" in refused.err


def test_rewards_may_be_negative(bayesregret):
    bayesregret("experiment", "start", "x", "gaussian", "--policy", "thompson", "--horizon", "9")
    (made,) = bayesregret("experiment", "decide", "x", "--json").data["decisions"]
    assert bayesregret("experiment", "reward", "x", made["decision"], "-0.5", "--json").data["reward"] == -0.5


def test_list_and_stop(experiment):
    decided(experiment)
    lines = experiment("list").out.splitlines()
    assert lines[0].split() == ["experiment", "policy", "arms", "decisions", "horizon", "state"]
    assert lines[1].split() == ["checkout", "bayes-ucb", "2", "1", "100", "running"]
    assert experiment("stop", "checkout") == (0, "checkout is stopped\n", "")
    (shown,) = experiment("list", "--json").data["experiments"]
    assert (shown["state"], shown["decisions"]) == ("stopped", 1)
    assert experiment("decide", "checkout").err == "bayesregret: the experiment was stopped\n"


def test_arms(experiment):
    assert experiment("pause", "checkout", "blue").out == "blue is paused\n"
    assert {made["name"] for made in decided(experiment, "--key", "a", "--key", "b")} == {"green"}
    assert experiment("resume", "checkout", "0").out == "0 goes on\n"
    assert experiment("add", "checkout", "red", "--prior", "alpha=1, beta=30").out == "checkout has the arm red\n"
    assert experiment("list", "--json").data["experiments"][0]["arms"] == ["blue", "green", "red"]


def test_status_fits_a_terminal(experiment, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for made in decided(experiment, *(word for key in "abcdefghijkl" for word in ("--key", key))):
        experiment("reward", "checkout", made["decision"], str(made["arm"]))
    outcome = experiment("status", "checkout", "--no-exact")
    assert outcome.out.startswith("checkout: bayes-ucb, 12 of 100 visitors\n\narm ")
    assert max(map(len, outcome.out.splitlines())) <= 80
    assert "regret to come" in outcome.out
    data = experiment("status", "checkout", "--no-exact", "--level", "0.8", "--json").data
    assert (data["decisions"], data["level"]) == (12, 0.8)


def test_export_and_replay(experiment):
    (made,) = decided(experiment)
    experiment("reward", "checkout", made["decision"], "1")
    assert experiment("export", "checkout", "log.jsonl").out == "the log of checkout is written to log.jsonl\n"
    rows = [json.loads(line) for line in pathlib.Path("log.jsonl").read_text().splitlines()]
    assert [row["event"] for row in rows] == ["decide", "reward"]
    outcome = experiment("replay", "checkout")
    assert outcome.out.startswith("checkout is sound: a replay of its log gives the same state, ")
    assert experiment("replay", "checkout", "--json").data == {"experiment": "checkout", "rewards": 1}


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["decide", "chekout"], "there is no experiment 'chekout'; did you mean checkout?"),
        (["decide", "checkout", "--key", ""], "--key must be a printable text of 1 to 200 letters, got ''"),
        (["reward", "checkout", "1-0", "1"], "DECISION must be the id of one of checkout, got '1-0'"),
        (["status", "checkout", "--level", "2"], "--level must be a number strictly between 0 and 1, got 2"),
        (["list", "--store", "runs.db"], "--store must be the URL of a database"),
        (["list", "--store", "sqlite:////nowhere/runs.db"], "sqlite:////nowhere/runs.db: the folder it should be in"),
        (["pause", "checkout", "red"], "ARM must be the number of an arm or one of blue, green, got 'red'"),
        (["add", "checkout", "red", "--prior", "alpha"], "--prior must be FIELD=N pairs with commas between them"),
        (["add", "checkout", "red", "--prior", "alpha=x,beta=1"], "alpha must be a finite number, got 'x'"),
        (["export", "checkout", "log.txt"], "TARGET must be the name of a .csv, .jsonl or .parquet file"),
        (["export", "checkout", "nowhere/log.csv"], "TARGET must be a file that can be written, got nowhere/log.csv"),
        (START[1:], "NAME must be new in this store, got 'checkout'"),
        ([*START[1:2], "a/b", *START[3:]], "NAME must be 1 to 100 letters, digits, dots, hyphens or underscores"),
        (["start", "x", "bernoulli", "--policy", "thomson", "--horizon", "9"], "--policy must be one of "),
        (["start", "x", "bernoulli", "--policy", "thompson"], "Missing option '--horizon': Rounds"),
        (["start", "x", "nowhere.toml", "--policy", "thompson", "--horizon", "9"], "PROBLEM must be a TOML or JSON"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(experiment, words, line):
    outcome = experiment(*words)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.startswith(f"bayesregret: {line}")
    assert outcome.err.count("\n") == 1
