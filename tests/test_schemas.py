"""The JSON Schemas describe what bayesregret writes and reads: every field, and no other."""

import copy
import inspect
import json
import pathlib
import tomllib

import jsonschema
import pytest
import referencing

import bayesregret as br
from bayesregret.cli import run
from bayesregret.problem import bandit_classes, problem_from_dict
from bayesregret.reproduction.sweep import FIELDS, sweep_experiments
from book.agent_schema import agent_schema
from pages import BLOCK

FOLDER = pathlib.Path(br.__file__).parent / "schemas"
SCHEMAS = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.json")}
REGISTRY = referencing.Registry().with_resources(
    (name, referencing.Resource.from_contents(schema)) for name, schema in SCHEMAS.items()
)
REFERENCE = pathlib.Path(__file__).parents[1] / "docs" / "reference"
DATA = REFERENCE.parent / "data"
FIT = ["prior", "fit", str(DATA / "conversions.csv"), "--model", "bernoulli"]
FIT += ["--columns", "experiment=Test,arm=Variant,pulls=visitors,successes=conversions"]

OUTPUTS = [
    ("simulate", "simulate gaussian --arms 3 --horizon 20 --runs 20 --exact-check"),
    ("simulate", "simulate bernoulli --arms 2 --horizon 20 --runs 20 --policy thompson --policy greedy --optimal"),
    ("simulate", "simulate bernoulli --arms 2 --horizon 20 --runs 20 --keep summary --batch 5"),
    ("simulate", "simulate gaussian --arms 2 --horizon 5 --runs 20 --optimal"),
    ("simulate", "simulate linear --arms 4 --dimension 2 --horizon 20 --runs 20 --precision 0.9"),
    ("simulate", "simulate poisson --arms 2 --horizon 10 --runs 1 --policy thompson"),
    ("exact", "exact gaussian --arms 2 --horizon 5 --best-arm --policy bayes-ucb"),
    ("exact", "exact bernoulli --arms 2 --horizon 5"),
    ("optimal", "optimal gaussian --arms 2 --horizon 5"),
    ("optimal", "optimal bernoulli --arms 2 --horizon 5"),
    ("optimal", "optimal gaussian --arms 2 --horizon 5 --noise-kind rademacher --runs 100"),
    ("bounds", "bounds gaussian --arms 3 --horizon 20 --against --runs 20"),
    ("bounds", "bounds linear --arms 3 --dimension 2 --horizon 20"),
    ("bounds", "bounds exponential --arms 2 --horizon 10"),
    ("bounds", "bounds gaussian --arms 2 --horizon 10 --noise-kind rademacher"),
    ("audit", "audit bernoulli --arms 2 --horizon 10 --runs 10"),
    ("plan", "plan gaussian --arms 2 --horizon 8 --runs 20 --control 0.5 --regret-per-round 0.2 --budget 9"),
    ("plan", "plan bernoulli --arms 2 --horizon 10 --runs 20 --policy thompson --policy ucb1"),
    ("plan", f"plan {DATA / 'shop.toml'} --horizon 10 --runs 10 --policy thompson --policy kl-ucb"),
]


def complaints(name, data):
    validator = jsonschema.Draft202012Validator(SCHEMAS[f"{name}.json"], registry=REGISTRY)
    return [f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(data)]


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_schemas_are_schemas(name):
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])


@pytest.mark.both
@pytest.mark.parametrize(("name", "command"), OUTPUTS)
def test_output_of_commands(name, command, capsys):
    assert run([*command.split(), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert complaints(name, printed) == []
    printed["surprise"] = 1
    assert complaints(name, printed)  # the control


@pytest.mark.both
def test_output_of_prior_fit(tmp_path, capsys):
    for more in ([], ["--arms", "2", "--output", str(tmp_path / "shop.toml")]):
        assert run([*FIT, *more, "--json"]) == 0
        printed = json.loads(capsys.readouterr().out)
        assert complaints("prior-fit", printed) == []
        assert ("problem" in printed) == bool(more)
        del printed["warnings"]
        assert complaints("prior-fit", printed)  # the control


ARMS = {"prior_mean": [0, 1], "prior_width": 1, "reward_noise": [1, 2]}
PROBLEMS = [
    {"model": "gaussian", **ARMS, "noise_kind": "gaussian"},
    {"model": "bernoulli", "alpha": [1, 2], "beta": [1, 3.5]},
    {"model": "linear", "features": [[1, 0], [0, 1]], "prior_mean": [0, 0], "prior_width": 1, "reward_noise": 1},
    {"model": "linear", "features": [[1], [2]], "prior_mean": [0], "prior_cov": [[1]], "reward_noise": 1},
    {"model": "poisson", "shape": [1, 2], "rate": [1, 2]},
    {"model": "exponential", "shape": [3, 2], "rate": [1, 2]},
    {"model": "normal-gamma", "prior_mean": [0, 1], "prior_pulls": 1, "shape": [2, 3], "scale": 1},
    {"model": "mixture", "weights": [0.25, 0.75], "bandits": [{"model": "poisson", "shape": [1], "rate": [1]}] * 2},
]
BAD = [
    {"model": "gaussian", "prior_mean": [0, 1], "prior_width": 0, "reward_noise": 1},
    {"model": "gaussian", **ARMS, "noise_kind": "cauchy"},
    {"model": "bernoulli", "alpha": [1, 2]},
    {"model": "bernoulli", "alpha": [1, -2], "beta": [1, 1]},
    {"model": "bernoulli", "alpha": [1], "beta": [1], "gamma": [1]},
    {"model": "linear", "features": [[1]], "prior_mean": [0], "prior_width": 1, "prior_cov": [[1]], "reward_noise": 1},
    {"model": "linear", "features": [[1]], "prior_mean": [0], "reward_noise": 1},
    {"model": "exponential", "shape": [1], "rate": [1]},
    {"model": "normal-gamma", "prior_mean": [0], "prior_pulls": 1, "shape": 0.5, "scale": 1},
    {"model": "mixture", "weights": [1.0], "bandits": [{"model": "mixture", "weights": [], "bandits": []}]},
    {"model": "cauchy"},
    {},
]


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem["model"])
def test_problems(problem):
    assert complaints("problem", problem) == []
    assert complaints("problem", problem_from_dict(problem).to_dict()) == []


@pytest.mark.parametrize("problem", BAD)
def test_bad_problems_are_refused_by_the_schema_and_by_the_package(problem):
    assert complaints("problem", problem)
    with pytest.raises(ValueError, match=r"\w"):
        problem_from_dict(problem)


def test_the_schema_has_every_model_and_field():
    described = {name: set(each["properties"]) - {"model"} for name, each in SCHEMAS["problem.json"]["$defs"].items()}
    ours = {kind: made for kind, made in bandit_classes().items() if made.__module__.startswith("bayesregret.")}
    assert described == {kind: set(inspect.signature(made).parameters) for kind, made in ours.items()}


def test_sweeps():
    page = (REFERENCE / "sweep-files.md").read_text(encoding="utf-8")
    (sweep,) = [tomllib.loads(text) for _, _, language, text in BLOCK.findall(page) if language == "toml"]
    assert complaints("sweep", sweep) == []
    assert sweep_experiments(sweep)
    assert set(SCHEMAS["sweep.json"]["properties"]) == FIELDS
    for field, value in (("runs", 1), ("policies", []), ("vary", {"horizon": 3}), ("exact", "yes"), ("rounds", 5)):
        wrong = copy.deepcopy(sweep) | {field: value}
        assert complaints("sweep", wrong), field
        with pytest.raises(ValueError, match=field):
            sweep_experiments(wrong)


LINEAR = br.LinearBandit([[1, 0], [0, 1]], [0, 0], prior_width=1, reward_noise=1)
BERNOULLI = br.BernoulliBandit(alpha=[1, 1], beta=[1, 1])
AGENTS = [
    (br.BayesUCB(), BERNOULLI),
    (br.Thompson(), BERNOULLI),
    (br.QuantileUCB(), br.PoissonBandit(shape=[1, 2], rate=[1, 1])),
    (br.BayesUCB(), LINEAR),
    (br.Thompson(prior=LINEAR), LINEAR),
    (br.LinUCB(), LINEAR),
]


@pytest.mark.both
@pytest.mark.parametrize(("policy", "bandit"), AGENTS, ids=lambda given: given.name if hasattr(given, "name") else "")
def test_saved_agents(policy, bandit):
    agent = policy.start(bandit, horizon=10)
    for reward in (0, 1, 1):
        agent.update(agent.select(), reward)
    agent.select()
    state = json.loads(agent.to_json())
    assert complaints("agent", state) == []
    state["state"]["counts" if "counts" in state["state"] else "rounds"] = "many"
    assert complaints("agent", state)  # the control


def test_the_schema_of_agents_is_that_of_the_classes_that_read_them():
    assert SCHEMAS["agent.json"] == json.loads(json.dumps(agent_schema())), "run python docs/book/agent_schema.py"
