"""Points are kept in a study: nothing is done twice, and an interrupted run ends with the same bits."""

import pytest

from bayesregret.reproduction import runner as run
from bayesregret.reproduction.runner import run_experiments
from bayesregret.reproduction.sweep import sweep_experiments
from bayesregret.simulation import size
from bayesregret.study import Study

SWEEP = {
    "horizon": 30,
    "runs": 10,
    "bounds": ["certified"],
    "problem": {"common": "gaussian", "arms": 3},
    "vary": {"prior_width": [0.5, 1, 2, 4]},
}


def contents(finished):
    return [(done.table, done.claims) for done in finished]


def test_nothing_is_done_twice(tmp_path, monkeypatch):
    ran = []
    real = run.run_point
    monkeypatch.setattr(run, "run_point", lambda settings, *rest: ran.append(settings) or real(settings, *rest))
    calls = []
    for _ in range(2):
        with Study.open(tmp_path / "study.sqlite") as study:
            finished = run_experiments(
                sweep_experiments(SWEEP), study, listener=lambda figure, point, done, total: calls.append((done, total))
            )
    assert len(ran) == 4
    assert [done.run for done in finished] == [0]
    assert calls[:4] == [(0, 4), (1, 4), (2, 4), (3, 4)]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"vary": {"arms": [2, 3, 1000]}},
            r"sweep, arms 1000: threads must be at most 1, got 4: a thread needs about ",
        ),
        (
            {"vary": {"arms": [2, 4000]}},
            r"sweep, arms 4000: arms, delay or batch must be smaller: a thread needs about ",
        ),
        ({"runs": 10**6}, r"sweep, prior_width 0\.5: runs must be at most about 20,000 on .* memory, got 1000000$"),
        (
            {"runs": 10**11},
            r"sweep, prior_width 0\.5: runs must be a whole number, at least 1 and at most 10000000000,",
        ),
        ({"vary": {"horizon": [10, 10**13]}}, r"sweep, horizon 10000000000000: horizon must be a whole number"),
        ({"horizon": 10**12, "runs": 10**5}, r"sweep, prior_width 0\.5: runs must be at most 9007 with horizon"),
    ],
)
def test_all_points_are_checked_before_the_first_starts(tmp_path, monkeypatch, change, said):
    monkeypatch.setattr(size, "free_memory", lambda: 10**6)
    monkeypatch.setattr(run, "run_point", lambda *_: pytest.fail("it started"))
    experiments = sweep_experiments(SWEEP | {"bounds": []} | change)
    with Study.open(tmp_path / "study.sqlite") as study:
        with pytest.raises(ValueError, match=f"^{said}"):
            run_experiments(experiments, study, threads=4)
        assert len(study) == 0


def test_an_interrupted_run_goes_on(tmp_path):
    def stop_at_third(figure, point, done, total):
        if done == 2:
            raise KeyboardInterrupt

    with Study.open(tmp_path / "whole.sqlite") as study:
        whole = run_experiments(sweep_experiments(SWEEP), study)
    with Study.open(tmp_path / "parts.sqlite") as study, pytest.raises(KeyboardInterrupt):
        run_experiments(sweep_experiments(SWEEP), study, listener=stop_at_third)
    with Study.open(tmp_path / "parts.sqlite") as study:
        parts = run_experiments(sweep_experiments(SWEEP), study)
    assert [done.run for done in parts] == [2]
    assert contents(parts) == contents(whole)


def test_another_seed_is_another_point(tmp_path):
    with Study.open(tmp_path / "study.sqlite") as study:
        first = run_experiments(sweep_experiments(SWEEP), study)
        other = run_experiments(sweep_experiments(SWEEP | {"seed": 8}), study)
    assert [done.run for done in other] == [4]
    assert contents(first) != contents(other)
