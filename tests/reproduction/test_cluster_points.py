"""Sweeps on a cluster: the results of one process, whichever points are small or large, and whatever dies."""

import os
import random
import signal

import pytest

import bayesregret as br
from bayesregret.reproduction import cluster_points, run_experiments
from bayesregret.reproduction.point import point_settings
from bayesregret.reproduction.sweep import sweep_experiments
from bayesregret.study import Study

SWEEP = {
    "horizon": 20,
    "runs": 70,
    "policies": ["bayes-ucb", "greedy"],
    "problem": {"common": "bernoulli", "arms": 3},
    "vary": {"alpha": [0.5, 1, 2, 4, 8, 16, 0.5], "horizon": [10, 20]},  # one of them twice
}


@pytest.fixture
def cluster():
    engine = br.ClusterEngine("local:2")
    engine.client.wait_for_workers(2, timeout=60)
    return engine


def contents(finished):
    return [(done.table, done.claims, done.run) for done in finished]


def run(folder, name, listener=None, sweep=SWEEP, **options):
    with Study.open(folder / f"{name}.sqlite") as study:
        found = run_experiments(sweep_experiments(sweep), study, listener=listener, **options)
        return contents(found), len(study)


@pytest.mark.parametrize("large", [0.0, 0.0029, 10.0], ids=["all large", "both", "all small"])
def test_results_and_order_are_those_of_one_process(cluster, tmp_path, monkeypatch, large):
    monkeypatch.setattr(cluster_points, "LARGE_SECONDS", cluster_points.EACH_POINT + large * 1e-2)
    calls = []
    there = run(tmp_path, "there", lambda figure, point, done, total: calls.append((done, total)), engine=cluster)
    assert there == run(tmp_path, "here", threads=1)
    assert calls == [(done, 14) for done in range(12)]
    again, _ = run(tmp_path, "there", engine=cluster)
    assert [run for _, _, run in again] == [0, 0]


def test_computations_run_on_workers(cluster, tmp_path, monkeypatch):
    sweep = {**SWEEP, "exact": True, "bounds": ["certified"], "policies": ["bayes-ucb"], "vary": {"alpha": [1, 2]}}
    here = run(tmp_path, "here", sweep=sweep, threads=1)
    for large in (0.0, 10.0):
        monkeypatch.setattr(cluster_points, "LARGE_SECONDS", large)
        assert run(tmp_path, str(large), sweep=sweep, engine=cluster) == here


def test_points_before_an_error_are_saved(cluster, tmp_path):
    """The exact regret of the last point cannot be computed."""
    settings = {"horizon": 10, "runs": 5, "seed": 1, "bounds": ()}
    policies = [{"name": "bayes-ucb"}]
    points = [point_settings(br.BernoulliBandit([1, 1], [1, 1]), policies, **settings | {"seed": n}) for n in range(3)]
    bandit = br.PoissonBandit(shape=[1, 1], rate=[1, 1])
    points.append(point_settings(bandit, policies, **settings, exact=True))
    outcome = cluster_points.run_points(points)
    assert [point["seed"] for point, _, _ in outcome.finished] == [0, 1, 2]
    with pytest.raises(ValueError, match=f"^{outcome.error}$"):
        list(cluster_points.finished_points(points[-1:], cluster))


@pytest.mark.compiled
def test_killed_workers_lose_nothing(cluster, tmp_path):
    random.seed(3)
    sweep = {**SWEEP, "horizon": 1_000, "vary": {"alpha": [n / 8 for n in range(1, 300)]}, "policies": ["thompson"]}
    here = run(tmp_path, "here", sweep=sweep)
    killed = []

    def kill_some(figure, point, done, total):
        pids = cluster.client.run(os.getpid, on_error="ignore").values() if done in (20, 120, 220) else ()
        if pids:
            os.kill(random.choice(sorted(pids)), signal.SIGKILL)
            killed.append(done)

    assert run(tmp_path, "there", kill_some, sweep=sweep, engine=cluster) == here
    assert killed == [20, 120, 220]


def test_an_interrupt_leaves_no_tasks(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_points, "LARGE_SECONDS", 0.0)

    def interrupt(figure, point, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, "parts", interrupt, engine=cluster)
    assert run(tmp_path, "parts", engine=cluster)[1] == run(tmp_path, "here", threads=1)[1]


OWN = """
from dataclasses import dataclass

import bayesregret as br


@dataclass(frozen=True)
class OwnGreedy(br.Greedy):
    name = "own-greedy"
"""


def test_own_policies_of_a_sweep_reach_workers(cluster, tmp_path, monkeypatch):
    (tmp_path / "own_greedy.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    import own_greedy  # noqa: F401

    try:
        sweep = {**SWEEP, "policies": ["own-greedy"]}
        assert run(tmp_path, "there", sweep=sweep, engine=cluster) == run(tmp_path, "here", sweep=sweep, threads=1)
    finally:
        br.Policy.classes.pop("own-greedy")
