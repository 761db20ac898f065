"""Points that are computed by other processes are the same points."""

import subprocess
import sys

import pytest

from bayesregret import GaussianBandit
from bayesregret.reproduction import precompute
from bayesregret.reproduction.point import compute_point, point_settings

POLICIES = [{"name": "bayes-ucb"}]


def some_points():
    return [
        point_settings(
            GaussianBandit([gap, 0.0], width, 1.0), POLICIES, horizon=4, runs=1, seed=0, bounds=("sqrt",), exact=True
        )
        for gap in (0.0, 1.0)
        for width in (0.5, 1.0)
    ]


@pytest.mark.parametrize(("fewest", "threads"), [(5, None), (2, 1)], ids=["few points", "one thread"])
def test_no_process_is_started_for(monkeypatch, fewest, threads):
    monkeypatch.setattr(precompute, "FEWEST_POINTS", fewest)
    monkeypatch.setattr(precompute, "ProcessPoolExecutor", None)
    points = some_points()
    with precompute.computed_ahead(points, threads) as computed:
        assert computed(points[0]) is None


def test_points_that_share_work_are_one_group():
    points = some_points()
    groups = precompute.groups_alike(points)
    assert [len(group) for group in groups] == [2, 2]
    assert {group[0]["problem"]["prior_width"] for group in groups} == {0.5, 1.0}


@pytest.mark.compiled
def test_other_processes_find_the_same(monkeypatch):
    monkeypatch.setattr(precompute, "FEWEST_POINTS", 2)
    points = some_points()
    unknown = {**points[0], "horizon": 5, "policies": [{"name": "nobody"}]}
    with precompute.computed_ahead([*points, unknown], 2) as computed:
        assert [computed(settings) for settings in reversed(points[1:])] == [
            compute_point(settings) for settings in reversed(points[1:])
        ]
        assert computed(unknown) is None
        assert computed({**points[0], "seed": 1}) is None


LEAVES_AT_ONCE = """
import os
from bayesregret.reproduction import precompute

if __name__ == "__main__":
    precompute.FEWEST_POINTS = 1
    points = [{"problem": {}, "horizon": 1}]
    with precompute.computed_ahead(points, 2):
        os._exit(0)
"""


@pytest.mark.compiled
def test_a_process_that_ends_at_once_is_followed_in_silence(tmp_path):
    script = tmp_path / "leaves.py"
    script.write_text(LEAVES_AT_ONCE)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
