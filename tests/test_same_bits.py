"""No formula that a simulation runs calls a function that another machine may round differently."""

import dis
import itertools
import math

import numpy as np
import pytest

import bayesregret as br
from bayesregret import dispatch
from bayesregret.numerics import special
from test_sources import import_everything

# Exact, or correctly rounded by IEEE 754.
SAME_EVERYWHERE = {"sqrt", "floor", "ceil", "copysign", "isnan", "isinf", "inf", "nan", "pi"}
OF_NUMPY = {"float64", "int64", "uint64", "floor", "inf"}
# Formulas of exact regrets and of tables of indices, which no kernel of a simulation contains.
ELSEWHERE = ("bayesregret.exact.", "bayesregret.optimal.")
# docs/explanation/engine.md says for which policies these remain.
WITH_SCIPY = {
    "bernoulli_quantile": "betainccinv",
    "poisson_quantile": "gammainccinv",
    "low_gamma_quantile": "gammaincinv",
    "normal_gamma_quantile": "stdtrit",
    "beta_chance_below": "betaincc",
}


@pytest.fixture(scope="module")
def formulas():
    import_everything()
    bodies = [body for contract in dispatch.all_contracts() for body in contract.bodies.values()]
    found = {*bodies, *(function for function, _ in dispatch._formulas)}
    ours = [function for function in found if function.__module__.startswith("bayesregret.")]
    return [function for function in ours if not function.__module__.startswith(ELSEWHERE)]


def platform_calls(function):
    """What this formula asks of `math` and NumPy and may be rounded in more than one way; and powers."""
    steps = list(dis.get_instructions(function))
    found = {step.argrepr for step in steps if step.opname == "BINARY_OP" and step.argrepr.startswith("**")}
    for step, following in itertools.pairwise(steps):
        if step.opname == "LOAD_GLOBAL":
            owner = function.__globals__.get(step.argval)
            allowed = SAME_EVERYWHERE if owner is math else OF_NUMPY if owner is np else None
            if allowed is not None and following.argval not in allowed:
                found.add(following.argval)
            if getattr(owner, "__module__", None) == "math" and step.argval not in SAME_EVERYWHERE:
                found.add(step.argval)
    return found


def test_no_formula_calls_the_platform(formulas):
    assert len(formulas) > 200
    assert {f.__name__: platform_calls(f) for f in formulas if platform_calls(f)} == {}


def test_such_calls_are_noticed():
    assert platform_calls(lambda x: math.log(x)) == {"log"}
    assert platform_calls(lambda x: np.exp(x) ** x) == {"exp", "**"}


def test_what_still_calls_scipy(formulas):
    names = {f.__name__: [name for name in f.__code__.co_names if hasattr(special, name)] for f in formulas}
    assert {name: found for name, found in names.items() if found} == {k: [v] for k, v in WITH_SCIPY.items()}


def test_settings_of_policies_come_from_the_same_functions(monkeypatch):
    """Wrong functions of the platform change nothing."""

    def settings():
        gaussian, bernoulli = br.GaussianBandit([0.5, 0.0], 1.0, 1.5), br.BernoulliBandit([1.0, 0.4], [1.0, 0.7])
        poisson = br.PoissonBandit([1.5, 2.0], [1.0, 1.0])
        return [
            policy.settings(bandit, 100)
            for bandit in (gaussian, bernoulli, poisson)
            for policy in (br.BayesUCB(), br.UCB1(), br.QuantileUCB(c=2.0), br.KLUCB(c=3.0), br.Thompson(), br.Greedy())
            if bandit is not poisson or policy.name != "ucb1"
        ]

    before = repr(settings())
    for name in ("log", "log1p", "exp", "expm1", "erfc", "lgamma", "pow"):
        monkeypatch.setattr(math, name, lambda *args: 1e9)
    assert repr(settings()) == before
