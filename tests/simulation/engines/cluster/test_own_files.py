"""A user's own files reach the workers; what no file has is one line."""

import sys
import types

import numpy as np
import pytest

import bayesregret as br
from bayesregret.simulation.engines.cluster import worker
from bayesregret.simulation.engines.cluster.own_files import install, own_files

HELPERS = """
FACTOR = {factor}
"""
POLICY = """
from dataclasses import dataclass
from typing import NamedTuple
import math

import own_helpers
import bayesregret as br
from bayesregret.contracts import confidence_width


class OwnWidth(NamedTuple):
    factor: float


@confidence_width.implement(OwnWidth)
def own_width(policy, variance):
    return policy.factor * math.sqrt(variance)


@dataclass(frozen=True)
class OwnPolicy(br.Policy):
    name = "own-policy"

    def settings(self, bandit, horizon):
        return OwnWidth(own_helpers.FACTOR)
"""
MODEL = """
import bayesregret as br


class OwnBandit(br.BernoulliBandit):
    kind = "own-bandit"
"""


@pytest.fixture(autouse=True)
def registry():
    yield
    br.Policy.classes.pop("own-policy", None)


@pytest.mark.both
def test_own_policies_run_on_the_cluster(cluster, own_module):
    own_module("own_helpers", HELPERS.format(factor=2.0))
    policy = own_module("own_policies", POLICY).OwnPolicy()
    bandit = br.GaussianBandit([1, 0], 1, 1)
    alone = br.simulate(bandit, policy, horizon=20, runs=200, threads=1)["own-policy"]
    there = br.simulate(bandit, policy, horizon=20, runs=200, engine=cluster)["own-policy"]
    assert np.array_equal(there.final_regret, alone.final_regret)
    # A changed file is another policy, on workers that have the old one loaded.
    own_module("own_helpers", HELPERS.format(factor=0.1))
    policy = own_module("own_policies", POLICY).OwnPolicy()
    changed = br.simulate(bandit, policy, horizon=20, runs=200, engine=cluster)["own-policy"]
    assert not np.array_equal(changed.final_regret, alone.final_regret)
    again = br.simulate(bandit, policy, horizon=20, runs=200, threads=1)["own-policy"]
    assert np.array_equal(changed.final_regret, again.final_regret)


def test_all_files_that_a_class_uses_go_along(own_module):
    own_module("own_helpers", HELPERS.format(factor=2.0))
    module = own_module("own_policies", POLICY)
    own = own_files([module.OwnPolicy, module.OwnWidth, br.BayesUCB])
    assert own.modules == ("own_policies", "own_helpers")
    assert dict(own.files) == {"own_policies.py": POLICY, "own_helpers.py": HELPERS.format(factor=2.0)}
    assert own_files([br.BayesUCB, br.GaussianBandit]).modules == ()


def test_files_are_installed_where_they_are_missing(own_module, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "path", list(sys.path))
    own = own_files([own_module("own_model", MODEL).OwnBandit])
    here = sys.modules["own_model"]
    install(own)
    assert sys.modules["own_model"] is here
    monkeypatch.delitem(sys.modules, "own_model")
    install(own)
    there = sys.modules["own_model"]
    assert there is not here
    assert there.__file__.startswith(str(tmp_path / "bayesregret-own-files-"))
    changed = own._replace(files=(("own_model.py", MODEL + "\n"),))
    with pytest.raises(
        ValueError, match=r"^own_model must not change while workers have it loaded, because it defines a"
    ):
        install(changed)
    assert sys.modules["own_model"] is there


def test_packages_keep_their_folders(monkeypatch, tmp_path):
    (tmp_path / "own_package").mkdir()
    for name, text in (("__init__", ""), ("inner", "from own_package import other\n"), ("other", "VALUE = 1\n")):
        (tmp_path / "own_package" / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    from own_package import inner  # ty: ignore

    thing = type("Thing", (), {"__module__": "own_package.inner"})
    paths = [path for path, _ in own_files([thing]).files]
    assert inner.other.VALUE == 1
    assert sorted(paths) == ["own_package/__init__.py", "own_package/inner.py", "own_package/other.py"]


@pytest.mark.parametrize("module", ["__main__", "nowhere"])
def test_classes_without_a_file_are_one_line(module, cluster, monkeypatch):
    monkeypatch.setitem(sys.modules, "nowhere", types.ModuleType("nowhere"))
    thing = type("Thing", (br.Greedy,), {"__module__": module})
    with pytest.raises(
        ValueError, match=r"^Thing must be defined in a file that workers can import, got one of a script or notebook"
    ):
        br.simulate(br.BernoulliBandit([1, 1], [1, 1]), thing(), horizon=3, runs=3, engine=cluster)


def test_modules_that_workers_lack_are_one_line(monkeypatch):
    parcel = worker.pack(types.SimpleNamespace())
    monkeypatch.setattr(worker.pickle, "loads", lambda content: absent() if content != parcel else LOADS(content))
    with pytest.raises(ValueError, match=r"^engine must be a cluster whose workers have the module absent, which a w"):
        worker.unpack(parcel)


LOADS = worker.pickle.loads


def absent():
    raise ModuleNotFoundError("No module named 'absent'", name="absent")
