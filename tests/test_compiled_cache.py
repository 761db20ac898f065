"""Compiled code is kept on disk: never an old formula, and never in the way of another script."""

import os
import subprocess
import sys

import pytest

import bayesregret as br

POLICY = """
import math
from dataclasses import dataclass
from typing import NamedTuple

import bayesregret as br
from bayesregret.contracts import confidence_width
from my_formula import scaled


class Deviations(NamedTuple):
    how_many: float


@confidence_width.implement(Deviations)
def width(policy, variance):
    return scaled(policy.how_many * math.sqrt(variance))


@dataclass(frozen=True)
class Mine(br.Policy):
    name = "mine"

    def settings(self, bandit, horizon):
        return Deviations(2.0)
"""
FORMULA = """
from bayesregret.dispatch import jitable


@jitable
def scaled(width):
    return FACTOR * width
"""
BANDIT = "br.GaussianBandit([1, 0, 0], 1, 1)"
OPTIONS = "horizon=200, runs=50, seed=1"


@pytest.mark.compiled
def test_an_edited_formula_is_compiled_anew_and_harms_nobody(tmp_path):
    def regret(policy, imports=""):
        code = f"import bayesregret as br\n{imports}\nprint(br.simulate({BANDIT}, {policy}, {OPTIONS})['{{}}'].mean)"
        name = "mine" if imports else "bayes-ucb"
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        command = [sys.executable, "-B", "-c", code.format(name)]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        return float(done.stdout)

    def like(deviations):
        policy = br.BayesUCB(delta=2.718281828459045 ** (-(deviations**2) / 2))
        bandit = br.GaussianBandit([1, 0, 0], 1, 1)
        return br.simulate(bandit, policy, horizon=200, runs=50, seed=1)["bayes-ucb"].mean

    module, formula = tmp_path / "my_policy.py", tmp_path / "my_formula.py"
    module.write_text(POLICY)
    for factor in (1.0, 0.25):
        formula.write_text(FORMULA.replace("FACTOR", str(factor)))
        assert regret("my_policy.Mine()", "import my_policy") == pytest.approx(like(2.0 * factor), rel=1e-9)
    assert like(2.0) != pytest.approx(like(0.5), rel=1e-3)
    module.unlink()  # its classes are named in files of the cache
    assert regret("br.BayesUCB(delta=0.1)") > 0.0
