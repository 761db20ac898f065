"""Verdicts: each kind of evidence on traces made by hand."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from bayesregret.audit.evidence import EveryRound, EveryRun, OnAverage, tail_bound
from bayesregret.audit.runs import Traces
from bayesregret.audit.verdict import Inequality, judge_average, ratio

INEQUALITY = Inequality("a", "Lemma 0", "paper", "x <= y")


def traces(runs=4, arms=2, *, first_run=0, rounds=10, **sums):
    made = Traces(first_run, np.zeros((runs, arms)), np.zeros((runs, arms)), np.zeros((runs, 1)), rounds, rounds)
    for name, value in sums.items():
        setattr(made, name, np.asarray(value))
    return made


def test_ratios():
    assert ratio(1.0, 2.0) == 0.5
    assert ratio(-1.0, 2.0) == 0.0
    assert ratio(0.0, 0.0) == 0.0
    assert ratio(1.0, 0.0) == math.inf
    assert ratio(0.0, -1.0) == math.inf


def test_averages_decide_at_four_standard_errors():
    assert judge_average(1.0, 0.1, 1.5) == "holds"
    assert judge_average(1.0, 0.1, 1.3) == "not decided"
    assert judge_average(1.0, 0.1, 0.7) == "not decided"
    assert judge_average(1.0, 0.1, 0.5) == "fails"
    assert judge_average(1.0, math.inf, 0.5) == "not decided"


def every_run(allowed, *blocks):
    evidence = EveryRun(INEQUALITY, lambda block: (block.pulls, np.asarray(allowed)))
    for block in blocks:
        evidence.add(block)
    return evidence.check()


def test_every_run_reports_the_worst_one():
    pulls = np.array([[1.0, 2.0], [3.0, 8.0]])
    check = every_run([[4.0, 10.0], [4.0, 10.0]], traces(2, first_run=7, pulls=pulls))
    assert (check.verdict, check.ratio, check.where) == ("holds", 0.8, "run 8, arm 1")
    assert (check.observed, check.allowed, check.stderr) == (8.0, 10.0, 0.0)
    check = every_run(2.5, traces(2, pulls=pulls), traces(2, first_run=2, pulls=pulls[::-1]))
    assert (check.verdict, check.ratio, check.where) == ("fails", 3.2, "run 1, arm 1")


def test_zero_is_above_a_negative_bound():
    check = every_run([[-1.0, -5.0]], traces(1, pulls=[[0.0, 0.0]]))
    assert (check.verdict, check.ratio, check.allowed, check.where) == ("fails", math.inf, -5.0, "run 0, arm 1")


def test_every_run_leaves_out_what_is_not_stated():
    check = every_run([[math.nan, 2.0]], traces(1, pulls=[[9.0, 1.0]]))
    assert (check.verdict, check.ratio) == ("holds", 0.5)
    check = every_run([[math.nan, math.nan]], traces(1, pulls=[[9.0, 1.0]]))
    assert (check.verdict, check.why) == ("not applicable", "no arm is ever behind the best one")


def on_average(allowed, *blocks, name="failures", **options):
    evidence = OnAverage(INEQUALITY, allowed, name, **options)
    for block in blocks:
        evidence.add(block)
    return evidence.check()


def test_averages_of_blocks_are_those_of_all_runs():
    values = np.random.default_rng(0).random((50, 3))
    blocks = [traces(30, 3, failures=values[:30]), traces(20, 3, failures=values[30:])]
    check = on_average(1.0, *blocks)
    arm = int(values.mean(axis=0).argmax())
    assert check.where == f"arm {arm}"
    assert check.observed == pytest.approx(values[:, arm].mean() / 10)
    assert check.stderr == pytest.approx(values[:, arm].std(ddof=1) / math.sqrt(50) / 10)
    assert check.verdict == "holds"
    assert on_average(0.01, *blocks).verdict == "fails"


def test_an_average_over_runs_alone_has_no_place():
    check = on_average(1.0, traces(regret=[10.0, 20.0, 30.0, 20.0]), name="regret")
    assert (check.observed, check.where) == (2.0, None)


def test_the_probability_of_an_event_never_seen_is_not_zero():
    nothing = traces(failures=np.zeros((4, 2)))
    assert on_average(0.5, nothing, is_probability=True).verdict == "not decided"
    assert on_average(0.5, nothing).verdict == "holds"
    always = traces(failures=np.full((4, 2), 10.0))
    assert on_average(1.0, always, is_probability=True).verdict == "holds"


def test_no_round_no_verdict():
    check = on_average(1.0, traces(rounds=0, failures=np.ones((4, 2))))
    assert check.verdict == "not applicable"
    evidence = EveryRound(INEQUALITY, 0.1)
    evidence.add(traces(rounds=0))
    assert evidence.check().verdict == "not applicable"


@pytest.mark.parametrize(
    ("failed", "allowed", "verdict"),
    [(0, 0.1, "holds"), (0, 0.01, "not decided"), (5, 0.3, "holds"), (60, 0.02, "fails"), (60, 1.0, "holds")],
)
def test_rounds(failed, allowed, verdict):
    evidence = EveryRound(INEQUALITY, allowed)
    for counts in (np.full(10, failed), np.arange(10) * failed // 9):
        evidence.add(traces(100, failed_runs=counts))
    check = evidence.check()
    assert check.verdict == verdict
    assert check.observed == failed / 100


def test_the_worst_of_many_rounds_may_be_chance():
    evidence = EveryRound(INEQUALITY, 0.1)
    evidence.add(traces(100, failed_runs=np.full(10, 28)))
    assert judge_average(0.28, math.sqrt(0.28 * 0.72 / 100), 0.1) == "fails"
    assert evidence.check().verdict == "not decided"


def test_the_tail_bound_bounds_the_tail():
    for chance in (0.001, 0.1, 0.6):
        for hits in range(0, 101, 5):
            assert tail_bound(hits / 100, chance, 100) >= binom.sf(hits - 1, 100, chance) * (1 - 1e-12)
    assert tail_bound(0.3, 0.1, 100) < 1e-6
