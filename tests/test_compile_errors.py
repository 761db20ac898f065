"""A mistake in a user's own formula is one line that names the function, not a page of compiler errors."""

import importlib.util
import sys

import pytest

import bayesregret as br

POLICY = """
import math
from dataclasses import dataclass
from typing import NamedTuple

import bayesregret as br
from bayesregret.contracts import choose_arm, confidence_width, draw_reward
from bayesregret.dispatch import jitable


class Settings(NamedTuple):
    factor: float


@dataclass(frozen=True)
class Mine(br.Policy):
    name = "mine"

    def settings(self, bandit, horizon):
        return Settings(2.0)


"""
WIDTH = """
@confidence_width.implement(Settings)
def my_width(policy, variance):
    return {result}
"""
CHOICE = """
@choose_arm.implement(Settings)
def my_choice(policy, model, stats, round_, stream):
    return {result}
"""
HELPER = """
def helper(x):
    return 2.0 * x
"""
BANDIT = br.GaussianBandit([1, 0, 0], 1, 1)


@pytest.fixture
def simulated(tmp_path):
    """Simulate a policy with this formula."""

    def run(formula):
        path = tmp_path / "my_policy.py"
        path.write_text(POLICY + formula)
        spec = importlib.util.spec_from_file_location("my_policy", path)
        sys.modules["my_policy"] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return br.simulate(BANDIT, module.Mine(), horizon=50, runs=10, seed=1)["mine"]

    yield run
    sys.modules.pop("my_policy", None)
    br.Policy.classes.pop("mine", None)


def one_line(info):
    text = str(info.value)
    assert "\n" not in text
    assert len(text) < 300
    return text


WRONG_RESULTS = {
    "no width": (
        WIDTH.format(result="None"),
        "my_width must return a number, the width, as confidence_width does, got None",
    ),
    "a text": (
        WIDTH.format(result="'wide'"),
        "my_width must return a number, the width, as confidence_width does, got 'wide'",
    ),
    "no stream": (CHOICE.format(result="0"), "my_choice must return (arm, stream), as choose_arm does, got 0"),
    "an arm too far": (CHOICE.format(result="(3, stream)"), "my_choice must choose an arm between 0 and 2, got 3"),
    "nan": (
        WIDTH.format(result="math.nan"),
        "my_width must return a number, the width, as confidence_width does, got nan",
    ),
    "half an arm": (CHOICE.format(result="(0.5, stream)"), "my_choice must choose an arm between 0 and 2, got 0.5"),
}


@pytest.mark.both
@pytest.mark.parametrize("case", WRONG_RESULTS)
def test_wrong_results(simulated, case):
    formula, message = WRONG_RESULTS[case]
    with pytest.raises((TypeError, ValueError)) as info:
        simulated(formula)
    assert one_line(info) == message


@pytest.mark.both
def test_a_policy_without_a_formula(simulated):
    with pytest.raises(TypeError) as info:
        simulated("")
    line = one_line(info)
    assert line.startswith("Settings must implement confidence_width, arm_index, rising_index or choose_arm")
    assert line.endswith("write, for example, @confidence_width.implement(Settings) above the formula")


SETTINGS = {"tuple": "(1.0,)", "float": "2.0", "SimpleNamespace": "types.SimpleNamespace(factor=2.0)"}


@pytest.mark.parametrize("kind", SETTINGS)
def test_settings_that_are_no_namedtuple(simulated, kind):
    other = POLICY[POLICY.index("@dataclass") :].replace("Settings(2.0)", SETTINGS[kind])
    with pytest.raises(TypeError) as info:
        simulated("import types\n" + other + WIDTH.format(result="1.0"))
    assert one_line(info) == f"Mine.settings must return a NamedTuple of yours, got {kind}"


@pytest.mark.compiled
def test_settings_that_hold_a_dictionary(simulated):
    other = POLICY[POLICY.index("@dataclass") :].replace("Settings(2.0)", "Settings({1: 2.0})")
    with pytest.raises(TypeError) as info:
        simulated(other + WIDTH.format(result="policy.factor[1]"))
    line = "settings and models must be NamedTuples of numbers, arrays or such NamedTuples to be compiled"
    assert one_line(info) == line


def test_arguments_with_other_names(simulated):
    """Numba compares names, and said so in a page."""
    with pytest.raises(TypeError) as info:
        simulated("\n@confidence_width.implement(Settings)\ndef my_width(policy, v):\n    return v\n")
    assert one_line(info) == "my_width must have the arguments of confidence_width: policy, variance"


@pytest.mark.compiled
def test_a_helper_that_is_not_jitable(simulated):
    with pytest.raises(TypeError) as info:
        simulated(HELPER + WIDTH.format(result="helper(math.sqrt(variance))"))
    line = one_line(info)
    assert line.startswith("helper, called in my_width (my_policy.py, line ")
    assert line.endswith("needs @jitable above its definition to be compiled")
    good = simulated("@jitable" + HELPER + WIDTH.format(result="helper(math.sqrt(variance))"))
    assert good.mean > 0.0


NOT_COMPILED = {
    "float({1: 2.0}[1])": "it may use numbers, tuples and loops, but no dict, list, set or new array",
    "math.comb(3, 2)": "Unknown attribute 'comb' of type Module",
}


@pytest.mark.compiled
@pytest.mark.parametrize("result", NOT_COMPILED)
def test_what_the_compiler_does_not_know(simulated, result):
    with pytest.raises(TypeError) as info:
        simulated(WIDTH.format(result=result))
    line = one_line(info)
    assert line.startswith("a formula in my_width (my_policy.py, line ")
    assert f"does not compile: {NOT_COMPILED[result]}" in line


DRAWS = {
    "random": ("import random", "random.random()"),
    "randrange": ("from random import randrange", "randrange(3)"),
    "np.random": ("import numpy as np", "np.random.uniform()"),
    "uniform": ("from numpy.random import uniform", "uniform()"),
    "generator": ("import numpy as np\ngenerator = np.random.default_rng()", "generator.uniform()"),
}


@pytest.mark.parametrize("name", DRAWS)
def test_draws_that_the_seed_does_not_decide(simulated, name):
    """They compiled, and gave other results each time."""
    imported, result = DRAWS[name]
    for formula in (WIDTH, "\n@jitable\ndef helper(x):\n    return {result}\n"):
        with pytest.raises(ValueError, match="must draw from its stream") as info:
            simulated(imported + formula.format(result=result))
        assert f"got {name}: the seed would not decide its draws" in one_line(info)


def test_other_names_and_modules_are_fine(simulated):
    """The control: `random` beside the formula, and NumPy inside."""
    both = "import random\nimport numpy as np\nrandom.random()\n"
    assert simulated(both + WIDTH.format(result="np.sqrt(variance)")).mean > 0.0


@pytest.mark.both
def test_an_error_in_a_formula_is_the_users_own(simulated):
    """But for a division by zero, which is inf in compiled code."""
    with pytest.raises(KeyError):
        simulated(WIDTH.format(result="{}[1]"))
