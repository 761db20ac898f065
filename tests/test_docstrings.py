"""The examples in docstrings are run."""

import doctest
import importlib
import pkgutil

import pytest

import bayesregret

MODULES = [name for _, name, _ in pkgutil.walk_packages(bayesregret.__path__, "bayesregret.") if "__main__" not in name]


# Their examples compute more than plain Python does in a moment.
LONG = {
    f"bayesregret{name}"
    for name in ("", ".audit", ".bounds.table", ".enclosure", ".exact.regret", ".exact.optimal_delta")
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.compiled] * (name in LONG)) for name in ("bayesregret", *MODULES)],
)
def test_examples(name):
    module = importlib.import_module(name)
    public = {name: getattr(bayesregret, name) for name in bayesregret.__all__}
    assert doctest.testmod(module, extraglobs=public).failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = [test for name in MODULES for test in finder.find(importlib.import_module(name)) if test.examples]
    assert len(found) >= 6
