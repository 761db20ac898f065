"""Output of `bayesregret plan`."""

import shlex

import pytest

import bayesregret as br
from bayesregret.problem import common_bernoulli, common_gaussian, save_problem

SMALL = ["bernoulli", "--arms", "2", "--horizon", "4", "--runs", "4"]
POLICIES = ["--policy", "bayes-ucb", "--policy", "ucb1"]


@pytest.fixture
def run_plan(bayesregret):
    return lambda *arguments: bayesregret("plan", *SMALL, *POLICIES, *arguments)


def by_hand(**asked):
    return br.plan(common_bernoulli(arms=2), [br.BayesUCB(), br.UCB1()], horizon=4, runs=4, **asked)


def test_json_is_what_python_gives(run_plan):
    outcome = run_plan("--json", "--seed", "4", "--budget", "0.2", "--regret-per-round", "0.3")
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.data == by_hand(seed=4, budget=0.2, regret_per_round=0.3).to_dict()
    assert [answer["what"] for answer in outcome.data["inversions"]][:2] == ["horizon", "arms"]


def test_people_get_a_table_and_sentences(run_plan):
    outcome = run_plan()
    found = by_hand()
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.startswith("policy ")
    for line in found.summary().splitlines():
        assert line in outcome.out
    assert "\x1b" not in outcome.out


def test_a_page_is_written(run_plan, tmp_path):
    outcome = run_plan("--output", "plan.html")
    assert "\nplan.html written\n\nTo run it:\n" in outcome.out
    line = next(line for line in outcome.out.splitlines() if line.startswith("Run "))
    assert line in (tmp_path / "plan.html").read_text(encoding="utf-8")


def test_a_problem_file_and_default_policies(bayesregret):
    save_problem(common_gaussian(arms=2), "problem.toml")
    data = bayesregret("plan", "problem.toml", "--horizon", "4", "--runs", "4", "--json").data
    assert list(data["policies"])[:7] == ["bayes-ucb", "thompson", "kl-ucb", "moss", "ucb1", "gittins", "A/B test"]


def test_every_option_is_that_of_python(bayesregret):
    options = "--delay 1 --batch 2 --epsilon 0.1 --unit errors --minimise --control-arm 1 --json"
    outcome = bayesregret("plan", *SMALL, *POLICIES, *options.split())
    given = {"delay": 1, "batch": 2, "epsilon": 0.1, "unit": "errors", "minimise": True, "control_arm": 1}
    assert outcome.data == by_hand(**given).to_dict()
    assert (outcome.data["delay"], outcome.data["batch"], outcome.data["reward"]["unit"]) == (1, 2, "errors")
    assert outcome.data["policies"]["bayes-ucb"]["bound"] is None, "bounds are for immediate rewards"
    assert by_hand().to_dict()["policies"]["bayes-ucb"]["bound"] is not None


def test_an_agent_is_written(run_plan, tmp_path):
    outcome = run_plan("--agent", "agent.json")
    assert "\nagent.json written\n\nTo run it:\n" in outcome.out
    assert 'br.Agent.from_json(Path("agent.json").read_text())' in outcome.out
    agent = br.Agent.from_json((tmp_path / "agent.json").read_text(encoding="utf-8"))
    assert agent.policy == by_hand().best.policy
    assert agent.horizon == 4
    assert agent.arms == ("0", "1")


def test_the_arms_of_an_agent_have_names(run_plan, tmp_path):
    assert run_plan("--agent", "agent.json", "--arm-names", 'blue, "red, dark"').status == 0
    agent = br.Agent.from_json((tmp_path / "agent.json").read_text(encoding="utf-8"))
    assert agent.arms == ("blue", "red, dark")
    assert by_hand().agent(arms=["a", "b"], seed=3).arms == ("a", "b")
    assert by_hand().agent(seed=3).seed == 3


def test_the_code_reads_the_users_file(bayesregret):
    save_problem(common_bernoulli(arms=2), "my problem.toml")
    outcome = bayesregret("plan", "my problem.toml", "--horizon", "4", "--runs", "4", "--minimise")
    assert 'bandit = br.load_problem("my problem.toml").for_costs()' in outcome.out


def test_a_history_is_sent_to_prior_fit(bayesregret, tmp_path):
    (tmp_path / "history.csv").write_text("experiment,arm,pulls,successes\n1,A,10,2\n")
    outcome = bayesregret("plan", "history.csv")
    assert outcome.status == 2
    assert "bayesregret prior fit" in outcome.err
    assert outcome.err.count("\n") == 1


def test_unreachable_targets_are_one_line_and_no_error(run_plan):
    outcome = run_plan("--budget", "1e-9")
    assert outcome.status == 0
    assert "No answer: budget must be at least " in outcome.out


def test_a_budget_that_is_more_than_enough_is_an_answer(run_plan, monkeypatch):
    monkeypatch.setattr("bayesregret.planning.targets.MOST_ARMS", 8)
    outcome = run_plan("--budget", "1000")
    assert "a regret of 1,000 allows at least 8 arms" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("bernoulli --horizon 0", "--horizon must be"),
        ("bernoulli --horizon many", "--horizon must be"),
        ("bernoulli --policy nobody", "--policy must be"),
        ("bernoulli --policy lin-ucb", "policy must"),
        ("bernoulli --budget -3", "--budget must be a positive number, got -3"),
        ("bernoulli --regret-per-round 0", "--regret-per-round must be a positive number, got 0"),
        ("bernoulli --runs 1", "--runs must be"),
        ("bernoulli --output plan.pdf", "--output must be the name of an .html file, got plan.pdf"),
        (
            "bernoulli --output nowhere/plan.html",
            "--output must be a file that can be written, got nowhere/plan.html: its folder does not exist",
        ),
        ("bernoulli --arm-names a,b", "--arm-names requires --agent"),
        (
            "bernoulli --arms 3 --agent agent.json --arm-names a,b",
            "--arm-names must be a list of different texts, one for each arm, got 2 for 3 arms",
        ),
        ("bernoulli --agent agent.txt", "--agent must be the name of a .json file, got agent.txt"),
        (
            "bernoulli --agent nowhere/agent.json",
            "--agent must be a file that can be written, got nowhere/agent.json: its folder does not exist",
        ),
        ("bernoulli --unit <b>", "--unit must be a word of at most 40 printable characters"),
        ("bernoulli --control 1.5", "control must be a number between 0 and 1, got 1.5"),
        ("bernoulli --control 0.1 --control-arm 1", "--control and --control-arm must not both be given"),
        ("bernoulli --control-arm 99", "--control-arm must be a whole number, at least 0 and at most 9, got 99"),
        (
            "poisson --minimise",
            "costs must be bernoulli, gaussian, linear or normal-gamma to be minimised, got poisson",
        ),
        ("bernoulli --delay -1", "--delay must be"),
        ("bernoulli --batch 0", "--batch must be"),
        ("bernoulli --runs 1e10 --horizon 1e7", "--runs must be at most 900719925 with --horizon 10000000"),
        ("nothing.toml", "PROBLEM must be a TOML or JSON file"),
        ("gaussian --alpha 1", "--alpha does not go with gaussian"),
    ],
)
def test_bad_input_is_one_line(bayesregret, arguments, message):
    outcome = bayesregret("plan", *shlex.split(arguments))
    assert outcome.status == 2
    assert outcome.out == ""
    assert message in outcome.err
    assert outcome.err.count("\n") == 1


def test_help_names_every_option(bayesregret):
    text = " ".join(bayesregret("plan", "--help").out.split())
    assert "Expected regret of each way to run an experiment." in text
    for name in ("--policy", "--horizon", "--budget", "--regret-per-round", "--runs", "--output", "--json"):
        assert f"{name} " in text


def test_libraries_for_the_page_are_asked_for_first(run_plan, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    outcome = run_plan("--output", "plan.html")
    assert outcome.status == 2
    assert '--output needs matplotlib and jinja2: pip install "bayesregret[report]"' in outcome.err
