"""Without a library that a feature needs: one line that says what to install."""

import importlib
import re
import sys
import tomllib
from pathlib import Path

import pytest

import bayesregret as br
from bayesregret.extras import LIBRARIES, MissingExtraError, require

PROJECT = Path(__file__).parent.parent / "pyproject.toml"
RESULT = br.simulate(br.BernoulliBandit([1, 1], [1, 1]), br.Greedy(), horizon=3, runs=2, seed=0)


@pytest.fixture(params=["matplotlib", "pandas", "jinja2", "distributed"])
def missing(request, monkeypatch):
    """A library that cannot be imported, and modules of ours that have to load anew."""
    for name in list(sys.modules):
        if name.startswith(("bayesregret.plotting", "bayesregret.report")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, request.param, None)
    return request.param


USES = {
    "matplotlib": {
        "plot": (RESULT.plot, "plot"),
        "plotting": (lambda: importlib.import_module("bayesregret.plotting.saving"), "plot"),
        "a report": (lambda: importlib.import_module("bayesregret.report.plan_page"), "report"),
    },
    "pandas": {"to_frame": (RESULT.to_frame, "frame")},
    "distributed": {'engine="local:2"': (lambda: br.ClusterEngine("local:2"), "cluster")},
    "jinja2": {"a report": (lambda: importlib.import_module("bayesregret.report.publication"), "report")},
}


def test_a_missing_library_is_one_line(missing):
    for what, (use, extra) in USES[missing].items():
        with pytest.raises(MissingExtraError) as caught:
            use()
        assert str(caught.value) == f'{what} needs {missing}: pip install "bayesregret[{extra}]"'
        assert caught.value.name == missing
        assert isinstance(caught.value, ImportError)


def test_extras_install_what_they_need():
    extras = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    extras["report"] += extras["plot"]
    for extra in ("postgres", "serve"):
        extras[extra] += extras["store"]
    extras["explore"] += extras["report"]
    for extra, libraries in LIBRARIES.items():
        distributions = {re.split(r"[\[>]", requirement)[0].replace("-", "_") for requirement in extras[extra]}
        assert set(libraries) <= distributions
        require(extra, "a test")
