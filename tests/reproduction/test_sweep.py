"""User-defined sweeps."""

import pytest

import bayesregret as br
from bayesregret.problem import common_gaussian
from bayesregret.reproduction import sweep
from bayesregret.reproduction.point import run_point
from bayesregret.reproduction.sweep import load_sweep, sweep_experiments

SWEEP = {
    "title": "Widths",
    "policies": ["bayes-ucb", {"name": "ucb1", "delta": 0.1}],
    "bounds": ["certified"],
    "horizon": 50,
    "runs": 20,
    "problem": {"common": "gaussian", "arms": 3},
    "vary": {"prior_width": [1, 0.1, 10], "reward_noise": [0.5, 1]},
}


def test_the_first_field_is_the_axis_and_others_give_figures():
    first, second = sweep_experiments(SWEEP)
    assert (first.figure, second.figure) == ("sweep-1", "sweep-2")
    assert [point.x for point in first.points] == [0.1, 1.0, 10.0]
    assert (first.x.label, first.x.scale) == ("prior_width", "log")
    assert second.points[0].settings["problem"]["reward_noise"] == 1.0
    assert [trend.name for trend in first.trends] == ["bayes-ucb", "ucb1", "certified"]
    assert first.points[0].settings["policies"][1] == {"name": "ucb1", "delta": 0.1}


def test_problem_files_fields_and_values_that_are_no_numbers():
    data = {
        "problem": {"model": "gaussian", "prior_width": 1, "reward_noise": 1},
        "vary": {"prior_mean": [[0, 0], [1, 0]]},
    }
    (experiment,) = sweep_experiments(data)
    assert [point.x for point in experiment.points] == [1.0, 2.0]
    assert [point.settings["problem"]["prior_mean"] for point in experiment.points] == [[0.0, 0.0], [1.0, 0.0]]


def test_delay_and_batch_may_vary():
    late = SWEEP | {"bounds": [], "batch": 5, "vary": {"delay": [0, 20], "batch": [1, 4]}}
    in_time, batched = sweep_experiments(late)
    asked = [(point.settings.get("delay"), point.settings.get("batch")) for point in in_time.points + batched.points]
    assert asked == [(None, None), (20, None), (None, 4), (20, 4)]
    regrets = [run_point(point.settings)["policies"][0]["regret"] for point in in_time.points]
    assert regrets[1] > regrets[0]


def test_the_horizon_may_vary():
    (experiment,) = sweep_experiments(SWEEP | {"vary": {"horizon": [100, 10]}})
    assert [(point.x, point.settings["horizon"]) for point in experiment.points] == [(10.0, 10), (100.0, 100)]


def test_regrets_over_the_optimal_one():
    data = {
        "policies": ["greedy", "thompson"],
        "horizon": 20,
        "runs": 50,
        "optimal": True,
        "problem": {"common": "bernoulli", "arms": 2},
        "vary": {"alpha": [1, 2]},
    }
    (experiment,) = sweep_experiments(data)
    assert (experiment.y.mark, experiment.y.mark_label) == (1.0, "optimal")
    settings = experiment.points[1].settings
    result = run_point(settings)
    policy, least = (
        result["policies"][1],
        br.bayes_optimal_regret(br.BernoulliBandit([2, 2], [1, 1]), horizon=20).regret,
    )
    value, error = experiment.trends[1].read(result)
    assert (value, error) == (policy["regret"] / least, policy["stderr"] / least)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vary": {}}, "vary must be a table"),
        ({"vary": {"prior_width": 3}}, "vary.prior_width must be a list of values"),
        ({"vary": {"prior_width": [0]}}, "prior_width must be a positive number"),
        ({"vary": {"prior_width": list(range(1, 1000)), "arms": list(range(1, 1000))}}, "at most 100,000 points"),
        ({"policies": []}, "policies must be a list of names, or of tables with a name and settings, got \\[\\]"),
        ({"policies": [1]}, "policies must be a list of names, or of tables with a name and settings, got \\[1\\]"),
        ({"policies": [[["name", "ucb1"]]]}, "policies must be a list of names"),
        ({"policies": ["ucb1", "nobody"]}, "policies, number 2: policy must be .*, got 'nobody'"),
        ({"policies": [{"delta": 0.1}]}, "policies, number 1: policy must have a name, one of bayes"),
        (
            {"policies": [{"name": "bayes-ucb", "weight": 3}]},
            "number 1: weight is not a field of the policy bayes-ucb, which may have delta, prior and count_pending",
        ),
        ({"policies": [{"name": "greedy", "weight": 3}]}, "weight is not a field of the policy greedy"),
        ({"policies": [{"name": "ucb1", "delta": 2}]}, "policies, number 1: delta must be a number strictly between"),
        ({"policies": [{"name": "bayes-ucb", "prior": 3}]}, "policies, number 1: a problem must be a table"),
        ({"runs": 1}, "runs must be a whole number, at least 2, got 1"),
        ({"bounds": ["nothing"]}, "bounds must be"),
        ({"bounds": 3}, "bounds must be a list"),
        ({"exact": 1}, "exact must be true or false"),
        ({"optimal": "yes"}, "optimal must be true or false"),
        ({"optimal": True}, "optimal does not go with bounds or exact"),
        ({"horizon": 0}, "horizon must be a whole number"),
        ({"problem": 3}, "problem must be a table"),
        (
            {"problem": {"common": "gaussian", "weight": 3}},
            "weight is not a field of the common gaussian problem; the fields are arms, prior_gap, prior_width, "
            "reward_noise",
        ),
        ({"vary": {"delay": [0, 3]}, "bounds": ["certified"]}, "delay and batch do not go with bounds or exact"),
        ({"delay": -1}, "delay must be a whole number, at least 0, got -1"),
        ({"vary": {"horizon": [10, 0]}}, "horizon must be a whole number, at least 1, got 0"),
        ({"extra": 1}, "extra is not a field of a sweep"),
    ],
)
def test_bad_sweeps_get_one_clear_line(changes, message):
    with pytest.raises(ValueError, match=message) as caught:
        sweep_experiments(SWEEP | changes)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("points", "fit"), [(20, 20), (21, 20), (24, 8)])
def test_problems_that_do_not_fit_into_memory(monkeypatch, points, fit):
    """20 points of 500 arms have 10,000 numbers, of 40 bytes each."""
    monkeypatch.setattr(sweep, "free_memory", lambda: 400_000)
    large = SWEEP | {"problem": {"common": "gaussian", "arms": 500}, "vary": {"prior_width": [1.0] * points}}
    if fit == points:
        assert len(sweep_experiments(large)[0].points) == points
        return
    said = f"vary must give fewer points or smaller problems, got {points} points, of which {fit} fit into 400.0 kB of"
    monkeypatch.setattr(sweep, "_experiment", lambda *_: pytest.fail("it started"))
    with pytest.raises(ValueError, match=said):
        sweep_experiments(large)


def test_files(tmp_path):
    path = tmp_path / "sweep.toml"
    path.write_text('policies = ["ucb1"]\n[problem]\ncommon = "bernoulli"\n[vary]\narms = [2, 3]\n')
    (experiment,) = load_sweep(path)
    assert [point.x for point in experiment.points] == [2.0, 3.0]
    path.write_text("vary = [")
    with pytest.raises(ValueError, match=r"sweep\.toml: is not TOML"):
        load_sweep(path)
    with pytest.raises(ValueError, match="cannot be read"):
        load_sweep(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("policies = " + "[" * 5000 + "]" * 5000, "is nested too deeply"),
        ("a" + ".a" * 100_000 + " = 1", "is nested too deeply"),
        ("runs = 1" + "0" * 5000, "has a whole number with too many digits"),
        (b"title = '\xff'", "must be UTF-8 text, but byte 10 is not"),
    ],
    ids=["brackets", "keys", "digits", "bytes"],
)
def test_files_that_are_not_read_are_one_line(tmp_path, content, message):
    path = tmp_path / "sweep.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=rf"sweep\.toml: {message}$"):
        load_sweep(path)


def test_without_a_dynamic_programme_ratios_are_upper_limits():
    data = {
        "problem": {"common": "gaussian", "arms": 2},
        "vary": {"horizon": [2, 4]},
        "policies": ["greedy"],
        "runs": 20,
        "optimal": True,
    }
    (experiment,) = sweep_experiments(data)
    assert experiment.y.label == "regret / least regret, at most"
    result = run_point(experiment.points[1].settings)
    bound = br.bounds.certified_lower(common_gaussian(arms=2), horizon=4).value
    assert (result["optimal"]["regret"], result["optimal"]["exact"]) == (bound, False)
    unknown = data | {"problem": {"common": "gaussian", "arms": 2, "noise_kind": "rademacher"}}
    with pytest.raises(ValueError, match="optimal must be false here: no lower bound"):
        run_point(sweep_experiments(unknown)[0].points[0].settings)
