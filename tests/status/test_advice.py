"""The advice: each of its sentences, and when it comes."""

import dataclasses

import pytest

from bayesregret.status.advice import advise
from bayesregret.status.misfit import Misfit
from bayesregret.status.to_come import Stopping, ToCome

FINE = Misfit(0.0, 0.5, 0.6, 0.05, "all is well", 9)
WRONG = Misfit(3.0, 9.2, 1e-4, 0.05, "all mean rewards are about 5 prior widths higher", 9)


def advice(loss, going_on=None, *, error=0.0, how="simulated", misfit=FINE, at_start=1000.0, is_over=False):
    rest = None if going_on is None else ToCome(going_on, error, how, 64, "")
    return advise("blue", "90 visitors", Stopping(0, loss, 0.0), at_start, rest, misfit, is_over)


@pytest.mark.parametrize(
    ("given", "action"),
    [
        ({"loss": 5.0, "going_on": 20.0}, "stop"),
        ({"loss": 5.0, "going_on": 3.0}, "go on"),
        ({"loss": 5.0, "going_on": 5.5, "error": 0.2}, "stop"),
        ({"loss": 5.0, "going_on": 5.5, "error": 0.3}, "go on"),  # within two standard errors
        ({"loss": 0.9, "going_on": 0.1}, "stop"),  # next to nothing beside 1000
        ({"loss": 0.9}, "stop"),
        ({"loss": 1.1}, "go on"),
        ({"loss": 0.0, "at_start": 0.0}, "stop"),  # a single arm
        ({"loss": 5.0, "going_on": 20.0, "misfit": None}, "stop"),
        ({"loss": 5.0, "going_on": 20.0, "misfit": WRONG}, "doubt the prior"),
        ({"loss": 0.0, "is_over": True}, "over"),
        ({"loss": 0.0, "is_over": True, "misfit": WRONG}, "doubt the prior"),
    ],
)
def test_actions(given, action):
    assert advice(**given).action == action


def test_sentences():
    found = advice(5.0, 20.0, error=0.5)
    assert found.sentence == "Stop and keep blue."
    assert found.why == "Over the 90 visitors left this loses 5 in expectation, and going on 20.00 ± 0.50."
    assert "more than going on: 3" in advice(5.0, 3.0, how="computed", error=1e-9).why
    assert "about as much as going on" in advice(5.0, 5.1, error=0.3).why
    assert "were 9,897 times as likely" in advice(5.0, misfit=WRONG).why
    assert "were 4.9e+08 times as likely" in advice(5.0, misfit=dataclasses.replace(WRONG, highest=20.0)).why
    assert "5 prior widths higher" in advice(5.0, misfit=WRONG).why
    surely = dataclasses.replace(WRONG, highest=1e4, p_value=0.0)
    assert "at most 1e-300" in advice(5.0, misfit=surely).why
    assert "at most 0.0001" in advice(5.0, misfit=WRONG).why
