"""A slice of benchmarks/status_truth.py: the numbers of a status against the truth, with controls that must fail."""

import pytest

from bayesregret.status import to_come
from bayesregret.status.misfit import ALARM
from status.truth_study import SETTINGS, checks_of, following_advice, truth


@pytest.fixture(autouse=True)
def _few_runs(monkeypatch):
    monkeypatch.setattr(to_come, "MOST_RUNS", 128)
    monkeypatch.setattr(to_come, "QUICK_WORK", 0)
    monkeypatch.setattr(to_come, "MOST_KINDS", 0)


@pytest.mark.compiled
def test_numbers_are_true():
    found = [truth(SETTINGS[1], seed) for seed in range(48)]
    assert [check for check in checks_of(found, ALARM) if not check.holds] == []
    wrong = [truth(SETTINGS[1], seed, level=0.5, forgets=True) for seed in range(30)]
    failed = [check.name for check in checks_of(wrong, ALARM) if not check.holds]
    assert "interval of means of arms covers" in failed
    assert "regret to come, minus the truth" in failed


@pytest.mark.compiled
def test_the_advice_costs_nothing_on_average():
    regrets = [following_advice(SETTINGS[1], seed, every=40) for seed in range(20)]
    on, advised = map(sum, zip(*regrets, strict=True))
    assert advised < on
