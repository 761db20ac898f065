"""The studies of bounds in `benchmarks/` run, and find nothing outside, on a few of their problems."""

import importlib.util
import pathlib

import pytest

STUDIES = pathlib.Path(__file__).parents[1] / "benchmarks"

pytestmark = pytest.mark.compiled


def study(name):
    module = importlib.util.module_from_spec(
        spec := importlib.util.spec_from_file_location(name, STUDIES / f"{name}.py")
    )
    spec.loader.exec_module(module)
    return module


def test_bounds_for_thompson_sampling(capsys):
    study("thompson_validity").main(problems=4, runs=100, identities=1, identity_runs=400, seed=0)
    printed = capsys.readouterr().out
    assert printed.count(": 0 outside") == 2


def test_bounds_for_linear_bandits(capsys):
    study("linear_validity").main(problems=3, runs=100, seed=2)
    assert ": 0 outside" in capsys.readouterr().out


def test_lower_bounds_and_the_wrong_discount():
    lower_truth = study("lower_truth")
    horizon, ratio, wrong = lower_truth.against_optimum(0)
    assert horizon >= lower_truth.FROM
    assert lower_truth.LEAST_RATIO <= ratio <= 1.0 < wrong, "the control: a wrong discount"
    found = lower_truth.against_policies(0, runs=400, control=True)
    assert found.excess <= lower_truth.STANDARD_ERRORS
    assert found.wrong > lower_truth.STANDARD_ERRORS, "the same control"
