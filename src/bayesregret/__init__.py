"""Bayes regret of bandit policies: simulate it, bound it, compute it.

>>> import bayesregret as br
>>> bandit = br.GaussianBandit(prior_mean=[1, 0, 0], prior_width=1, reward_noise=1)
>>> result = br.simulate(bandit, [br.BayesUCB(), br.UCB1()], horizon=100, runs=1000, seed=7)
>>> result.paired("ucb1", "bayes-ucb").mean > 0
True
>>> br.bounds.certified(bandit, horizon=100).value > result["bayes-ucb"].mean
True
"""

from __future__ import annotations

from bayesregret.interrupts import end_on_interrupts, runs_as_command

if runs_as_command():  # before all else, because the rest takes a moment to load
    end_on_interrupts()

import importlib
from typing import TYPE_CHECKING, Any

from bayesregret.agent import Agent, Posterior
from bayesregret.models import (
    Bandit,
    BernoulliBandit,
    ExponentialBandit,
    GaussianBandit,
    Instance,
    LinearBandit,
    MixtureBandit,
    NormalGammaBandit,
    PoissonBandit,
)
from bayesregret.policies import (
    KLUCB,
    MOSS,
    UCB1,
    BayesOptimal,
    BayesUCB,
    BelievingPolicy,
    EpsilonGreedy,
    ExploreCommit,
    Gittins,
    Greedy,
    InformationDirected,
    LinUCB,
    Policy,
    PosteriorPolicy,
    QuantileUCB,
    Thompson,
)
from bayesregret.problem import load_problem
from bayesregret.simulation.estimates import Estimate
from bayesregret.simulation.policy_result import Curve, PolicyResult
from bayesregret.simulation.result import SimulationResult
from bayesregret.simulation.simulate import simulate

if TYPE_CHECKING:
    from bayesregret import bounds
    from bayesregret.audit.thompson_ties import ThompsonIdentity, thompson_identity
    from bayesregret.enclosure import Enclosure, optimal_regret
    from bayesregret.exact import ExactRegret, best_delta, exact_regret, explore_commit_regret
    from bayesregret.exploring.notebook import explore
    from bayesregret.optimal import OptimalRegret, bayes_optimal_regret, gittins_index
    from bayesregret.planning import Inversion, Plan, arms_for, horizon_for, plan, width_for
    from bayesregret.priors import FittedPrior, fit_prior
    from bayesregret.simulation.engines.cluster.engine import ClusterEngine
    from bayesregret.simulation.engines.gpu.engine import GpuEngine
    from bayesregret.simulation.engines.threads import ThreadsEngine
    from bayesregret.store import Decision, Experiment, ExperimentStore, experiments

__version__ = "0.1.0"

__all__ = [
    "KLUCB",
    "MOSS",
    "UCB1",
    "Agent",
    "Bandit",
    "BayesOptimal",
    "BayesUCB",
    "BelievingPolicy",
    "BernoulliBandit",
    "ClusterEngine",
    "Curve",
    "Decision",
    "Enclosure",
    "EpsilonGreedy",
    "Estimate",
    "ExactRegret",
    "Experiment",
    "ExperimentStore",
    "ExploreCommit",
    "ExponentialBandit",
    "FittedPrior",
    "GaussianBandit",
    "Gittins",
    "GpuEngine",
    "Greedy",
    "InformationDirected",
    "Instance",
    "Inversion",
    "LinUCB",
    "LinearBandit",
    "MixtureBandit",
    "NormalGammaBandit",
    "OptimalRegret",
    "Plan",
    "PoissonBandit",
    "Policy",
    "PolicyResult",
    "Posterior",
    "PosteriorPolicy",
    "QuantileUCB",
    "SimulationResult",
    "Thompson",
    "ThompsonIdentity",
    "ThreadsEngine",
    "arms_for",
    "bayes_optimal_regret",
    "best_delta",
    "bounds",
    "exact_regret",
    "experiments",
    "explore",
    "explore_commit_regret",
    "fit_prior",
    "gittins_index",
    "horizon_for",
    "load_problem",
    "optimal_regret",
    "plan",
    "simulate",
    "thompson_identity",
    "width_for",
]

_MODULES = ("bounds", "report", "reproduction")
# Most of these modules need SciPy, which takes longer to load than all the rest: they are imported on first use.
_LAZY = {
    "bayesregret.audit.thompson_ties": ("ThompsonIdentity", "thompson_identity"),
    "bayesregret.enclosure": ("Enclosure", "optimal_regret"),
    "bayesregret.exact": ("ExactRegret", "best_delta", "exact_regret", "explore_commit_regret"),
    "bayesregret.exploring.notebook": ("explore",),
    "bayesregret.optimal": ("OptimalRegret", "bayes_optimal_regret", "gittins_index"),
    "bayesregret.planning": ("Inversion", "Plan", "arms_for", "horizon_for", "plan", "width_for"),
    "bayesregret.priors": ("FittedPrior", "fit_prior"),
    "bayesregret.simulation.engines.cluster.engine": ("ClusterEngine",),
    "bayesregret.simulation.engines.gpu.engine": ("GpuEngine",),
    "bayesregret.simulation.engines.threads": ("ThreadsEngine",),
    "bayesregret.store": ("Decision", "Experiment", "ExperimentStore", "experiments"),
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"bayesregret.{name}")
    for module, names in _LAZY.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    from bayesregret.checks import suggestion

    hint = "" if name.startswith("_") else suggestion(name, __all__)
    raise AttributeError(f"module 'bayesregret' has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    """The public names, for tab completion."""
    return __all__
