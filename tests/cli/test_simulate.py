"""Output of `bayesregret simulate`."""

import pathlib
import re

import pytest

import bayesregret as br
from bayesregret import problem, spinner
from bayesregret.cli import show
from bayesregret.cli.options import number


def numbers_in(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"\d+(?:\.\d+)?", text)]


def test_json_is_what_python_gives(simulate):
    outcome = simulate("gaussian", "--seed", "7", "--json")
    result = br.simulate(problem.common_gaussian(), [br.BayesUCB(), br.UCB1()], horizon=50, runs=20, seed=7)
    assert outcome.status == 0
    assert outcome.err == ""
    assert outcome.data == result.to_dict()


def test_json_has_the_shape_that_is_promised(simulate):
    data = simulate("gaussian", "--arms", "3", "--policy", "ucb1", "--policy", "bayes-ucb", "--json").data
    assert data["problem"]["model"] == "gaussian"
    assert data["problem"]["prior_mean"] == [1.0, 0.0, 0.0]
    assert (data["horizon"], data["runs"], data["seed"]) == (50, 20, 0)
    assert list(data["policies"]) == ["ucb1", "bayes-ucb"]
    for policy in data["policies"].values():
        assert policy["delta"] == pytest.approx(1 / 50)
        assert isinstance(policy["regret"], float)
        assert isinstance(policy["stderr"], float)


def test_infinite_values_are_text(simulate):
    data = simulate("gaussian", "--runs", "1", "--json").data
    assert data["policies"]["ucb1"]["stderr"] == "inf"
    assert set(data["policies"]["ucb1"]["curve"]["stderr"]) == {"inf"}


def test_nothing_but_json_on_standard_output_with_a_progress_bar(simulate, monkeypatch):
    monkeypatch.setattr("bayesregret.progress.PATIENCE", 0.0)
    outcome = simulate("gaussian", "--json", "--progress")
    assert outcome.data["runs"] == 20
    assert outcome.err != ""
    assert simulate("gaussian", "--json", "--no-progress").err == ""


def test_the_table_has_the_same_numbers(simulate):
    outcome = simulate("gaussian", "--seed", "7")
    data = simulate("gaussian", "--seed", "7", "--json").data
    heading, first, second, blank, summary = outcome.out.splitlines()
    assert re.split(r" {2,}", heading.strip()) == [
        "policy",
        "Bayes regret",
        "minus bayes-ucb",
        "median",
        "5% to 95%",
        "best arm",
    ]
    assert blank == ""
    assert summary == "gaussian bandit, 20 runs of 50 rounds, 10 arms, seed 7; ± one standard error"
    assert outcome.err == ""
    difference = data["paired"]["ucb1 - bayes-ucb"]
    for line, name, paired in [
        (first, "bayes-ucb", []),
        (second, "ucb1", [difference["difference"], difference["stderr"]]),
    ]:
        policy = data["policies"][name]
        quantiles = [policy["quantiles"][share] for share in ("0.5", "0.05", "0.95")]
        shown = numbers_in(line.removeprefix(name))
        truth = [policy["regret"], policy["stderr"], *paired, *quantiles, 100 * policy["best_share"]]
        assert shown == pytest.approx(truth, rel=0.05)


def test_piped_output_is_plain(simulate):
    text = simulate("linear", "--checkpoints", "10,50").out
    assert "\x1b" not in text
    assert set(text) - {"±"} <= set(map(chr, range(128)))
    assert max(map(len, text.splitlines())) < 100


def test_one_policy_needs_no_difference(simulate):
    assert "minus" not in simulate("bernoulli", "--policy", "ucb1").out


def test_checkpoints_are_shown(simulate):
    text = simulate("gaussian", "--checkpoints", "1,10").out
    rounds = [line.split()[0] for line in text.splitlines() if re.match(r" *\d+ ", line)]
    assert rounds == ["1", "10", "50"]
    assert simulate("gaussian", "--checkpoints", "10,1", "--json").data["rounds"] == [1, 10, 50]


def test_delta_threads_and_precision_arrive(simulate):
    options = ["--delta", "0.1", "--threads", "1", "--precision", "0.5", "--max-runs", "400"]
    data = simulate("gaussian", *options, "--json").data
    assert data["policies"]["ucb1"]["delta"] == pytest.approx(0.1)
    assert data["precision"] == 0.5
    assert "precision 0.5 reached" in simulate("gaussian", *options).out
    assert "precision 1e-06 not reached" in simulate("gaussian", "--precision", "1e-6", "--max-runs", "100").out


def test_options_make_the_common_problems(simulate):
    gaussian = ["--arms", "2", "--prior-gap", "-1", "--prior-width", "2", "--reward-noise", "3"]
    data = simulate("gaussian", *gaussian, "--noise-kind", "rademacher", "--json").data
    assert data["problem"] == br.GaussianBandit([-1, 0], 2, 3, "rademacher").to_dict()
    data = simulate("bernoulli", "--arms", "2", "--alpha", "0.5", "--beta", "3", "--json").data
    assert data["problem"] == br.BernoulliBandit([0.5, 0.5], [3, 3]).to_dict()
    data = simulate("linear", "--arms", "4", "--dimension", "3", "--features-seed", "9", "--json").data
    assert data["problem"] == problem.common_linear(arms=4, dimension=3, features_seed=9).to_dict()


def test_a_file_gives_the_problem(simulate):
    bandit = br.BernoulliBandit([1, 2], [3, 4])
    for name in ("problem.toml", "problem.json"):
        problem.save_problem(bandit, name)
        assert simulate(name, "--json").data["problem"] == bandit.to_dict()


def test_a_file_of_a_models_name_is_given_as_a_path(simulate):
    bandit = br.BernoulliBandit([1, 2], [3, 4])
    problem.save_problem(bandit, "gaussian.toml")
    pathlib.Path("gaussian.toml").rename("gaussian")
    assert simulate("./gaussian", "--json").data["problem"] == bandit.to_dict()
    assert simulate("gaussian", "--json").data["problem"]["model"] == "gaussian"


@pytest.mark.parametrize(
    ("text", "value"),
    [("12", 12), ("1e6", 10**6), ("10_000", 10_000), ("-3", -3), ("0.5", 0.5), ("x", "x"), ("", ""), (0.5, 0.5)],
)
def test_numbers_as_people_type_them(text, value):
    made = number(text)
    assert made == value
    assert type(made) is type(value)


def test_a_terminal_gets_lines(simulate, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    text = simulate("gaussian").out
    assert "───" in text
    assert "…" not in text


def test_plus_minus_where_it_cannot_be_written(monkeypatch):
    class Ascii:
        encoding = "ascii"

    monkeypatch.setattr("sys.stdout", Ascii())
    assert show._writable("1.00 ± 0.10") == "1.00 +- 0.10"


# --- against the exact regret ---------------------------------------------------------------------------------------

CHECKED = ["--arms", "2", "--horizon", "5", "--exact-check"]


def test_the_exact_regret_in_json(simulate):
    data = simulate("bernoulli", *CHECKED, "--seed", "7", "--delta", "0.1", "--json").data
    bandit = problem.common_bernoulli(arms=2)
    policies = [br.BayesUCB(delta=0.1), br.UCB1(delta=0.1)]
    result = br.simulate(bandit, policies, horizon=5, runs=20, seed=7)
    check = data.pop("exact_check")
    assert data == result.to_dict()
    assert list(check) == ["bayes-ucb", "ucb1"]
    for policy in policies:
        exact, simulated = br.exact_regret(bandit, policy, horizon=5), result[policy.name]
        assert check[policy.name] == {
            "exact": exact.regret,
            "error": exact.error,
            "z": pytest.approx((simulated.mean - exact.regret) / simulated.stderr),
        }
    assert "exact_check" not in simulate("bernoulli", "--json").data


def test_the_exact_regret_in_a_table_with_a_verdict(simulate):
    text = simulate("gaussian", *CHECKED, "--runs", "200", "--checkpoints", "2").out
    tables = text.split("\n\n")
    assert [table.split(maxsplit=1)[0] for table in tables[:3]] == ["policy", "round", "policy"]
    heading, *rows = (re.split(r" {2,}", line.strip()) for line in tables[2].splitlines())
    assert heading == ["policy", "exact regret", "error", "simulated minus exact", "z"]
    assert [row[0] for row in rows] == ["bayes-ucb", "ucb1"]
    assert all(abs(float(row[-1])) < 4 for row in rows)
    assert text.splitlines()[-2].startswith("gaussian bandit, 200 runs of 5 rounds")
    assert text.splitlines()[-1].startswith("simulated and exact regret agree, at most ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--runs", "1"], "a single run has no standard error to compare with"),
        (["--arms", "1"], "nothing to compare for bayes-ucb and ucb1: the regret is the same in all runs"),
    ],
)
def test_where_there_is_no_z(simulate, arguments, said):
    check = simulate("bernoulli", *CHECKED, *arguments, "--json").data["exact_check"]
    assert [each["z"] for each in check.values()] == [None, None]
    assert all(isinstance(each["exact"], float) and isinstance(each["error"], float) for each in check.values())
    text = simulate("bernoulli", *CHECKED, *arguments).out
    assert text.splitlines()[-1] == said
    assert "nan" not in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("linear", "PROBLEM must be gaussian or bernoulli for an exact regret, got a linear one"),
        ("gaussian --noise-kind rademacher", "--noise-kind must be gaussian for an exact regret, got rademacher"),
        ("gaussian --horizon 1e6", "--horizon must be a whole number, at least 1 and at most "),
    ],
)
def test_a_problem_without_exact_regret_is_refused_before_the_simulation(simulate, monkeypatch, arguments, said):
    def refuse(*_, **__):
        raise AssertionError("simulated")

    monkeypatch.setattr("bayesregret.cli.simulate.run_simulation", refuse)
    outcome = simulate(*arguments.split(), "--exact-check")
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.startswith(f"bayesregret: {said}")
    assert outcome.err.count("\n") == 1
    with pytest.raises(AssertionError, match="simulated"):
        simulate(*arguments.split())


def test_standard_output_is_json_alone_while_the_exact_regret_is_computed(simulate, monkeypatch):
    monkeypatch.setattr(spinner, "PATIENCE", 0.0)
    outcome = simulate("bernoulli", *CHECKED, "--json", "--progress")
    assert "exact regret of ucb1" in outcome.err
    assert outcome.data["exact_check"]
    assert simulate("bernoulli", *CHECKED, "--json", "--no-progress").err == ""


def test_where_ucb1_does_not_run_thompson_sampling_does(simulate):
    assert list(simulate("poisson", "--arms", "2", "--json").data["policies"]) == ["bayes-ucb", "thompson"]
    assert list(simulate("linear", "--json").data["policies"]) == ["bayes-ucb", "ucb1"]


def test_policies_of_one_kind_are_named_by_their_settings(simulate):
    data = simulate("gaussian", "--policy", "bayes-ucb", "--policy", "bayes-ucb:delta=0.1", "--json").data
    assert list(data["policies"]) == ["bayes-ucb", "bayes-ucb(delta=0.1)"]
    assert data["policies"]["bayes-ucb(delta=0.1)"]["delta"] == 0.1


def test_regret_over_the_least_there_can_be(simulate):
    arguments = ["bernoulli", "--arms", "2", "--policy", "greedy", "--policy", "ucb1", "--optimal"]
    told = simulate(*arguments, "--json").data
    least = br.bayes_optimal_regret(br.BernoulliBandit([1, 1], [1, 1]), horizon=50)
    assert told["optimal"]["regret"] == least.regret
    assert told["optimal"]["over"]["ucb1"]["ratio"] == told["policies"]["ucb1"]["regret"] / least.regret
    shown = simulate(*arguments).out
    assert "over optimal" in shown
    assert f"no policy has less regret than {least.regret:.6f}" in shown
