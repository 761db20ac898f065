"""Golden simulations: every policy on every model that it runs on, with late rewards and linear bandits.

Run as `python tests/golden/simulations.py` (minutes: it compiles every kernel) to write `simulations.json` beside this
file. Each entry holds the pulls of every arm, the mean regret, and a digest of the bits of all regrets and of the
regret curve. Rewrite an entry only when a change is meant to change its bits, and say so in the commit.
"""

from __future__ import annotations

import hashlib
import json
import pathlib
from typing import Any

import bayesregret as br

FILE = pathlib.Path(__file__).with_suffix(".json")
HORIZON, RUNS, SEED = 60, 80, 2024  # two blocks of runs, the second one not full

FEATURES = [[1.0, 0.0], [0.6, 0.8], [-0.5, 0.3], [0.0, 1.0], [0.9, 0.2]]
BANDITS: dict[str, br.Bandit] = {
    "gaussian": br.GaussianBandit([0.5, 0.0, -0.5], 1.0, 1.5),
    "gaussian, rademacher noise": br.GaussianBandit([0.5, 0.0, -0.5], 1.0, 1.5, noise_kind="rademacher"),
    "gaussian, heteroscedastic": br.GaussianBandit([0.5, 0.0, -0.5], [0.5, 1.0, 2.0], [1.5, 0.7, 4.0]),
    "bernoulli": br.BernoulliBandit([1.0, 0.4, 3.0], [1.0, 0.7, 2.0]),
    "poisson": br.PoissonBandit([1.5, 2.0, 3.0], [1.0, 1.0, 2.0]),
    "exponential": br.ExponentialBandit([3.0, 3.0, 4.0], [2.0, 3.0, 4.0]),
    "normal-gamma": br.NormalGammaBandit([0.5, 0.0, -0.5], [1.0, 1.0, 2.0], [3.0, 3.0, 2.0], [2.0, 3.0, 2.0]),
    "linear": br.LinearBandit(FEATURES, [0.3, -0.1], prior_cov=[[1.0, 0.4], [0.4, 0.8]], reward_noise=1.2),
}
POLICIES: dict[str, br.Policy] = {
    "bayes-optimal": br.BayesOptimal(),
    "bayes-ucb": br.BayesUCB(),
    "epsilon-greedy": br.EpsilonGreedy(),
    "explore-commit": br.ExploreCommit(9),
    "gittins": br.Gittins(),
    "gittins, with a discount": br.Gittins(discount=0.5),
    "greedy": br.Greedy(),
    "information-directed": br.InformationDirected(),
    "kl-ucb": br.KLUCB(),
    "lin-ucb": br.LinUCB(),
    "moss": br.MOSS(),
    "quantile-ucb": br.QuantileUCB(),
    "thompson": br.Thompson(),
    "ucb1": br.UCB1(),
    "bayes-ucb, pending pulls not counted": br.BayesUCB(count_pending=False),
    "lin-ucb, pending pulls not counted": br.LinUCB(count_pending=False),
}
# Simulated with late rewards alone: otherwise nothing is pending.
LATE_ALONE = {name for name in POLICIES if name.endswith("not counted")}
# Small enough for plain Python, where these policies take long.
SMALL = {"horizon": 12, "runs": 6}
SMALL_POLICIES = {"bayes-optimal", "gittins", "information-directed"}
# Where a policy runs on all models by one formula, these are enough.
ONE_FORMULA = {"epsilon-greedy", "explore-commit", "greedy", "moss", "ucb1"}
SHOWN_FOR_ALL = {"gaussian", "bernoulli", "linear"}
LATE = {"delay": 7, "batch": 5}
LATE_PAIRS = [
    ("gaussian", "bayes-ucb"),
    ("gaussian", "bayes-ucb, pending pulls not counted"),
    ("gaussian", "ucb1"),
    ("gaussian", "quantile-ucb"),
    ("gaussian", "thompson"),
    ("gaussian", "gittins, with a discount"),
    ("bernoulli", "gittins, with a discount"),
    ("bernoulli", "kl-ucb"),
    ("bernoulli", "thompson"),
    ("bernoulli", "explore-commit"),
    ("bernoulli", "moss"),
    ("poisson", "bayes-ucb"),
    ("poisson", "thompson"),
    ("linear", "bayes-ucb"),
    ("linear", "bayes-ucb, pending pulls not counted"),
    ("linear", "thompson"),
    ("linear", "lin-ucb"),
    ("linear", "lin-ucb, pending pulls not counted"),
]


def cases() -> dict[str, tuple[str, str, dict[str, int]]]:
    """Model, policy and options of each simulation, by name."""
    at_once = [policy for policy in POLICIES if policy not in LATE_ALONE]
    pairs = [(model, policy) for policy in at_once for model in BANDITS if _is_wanted(model, policy)]
    found: dict[str, tuple[str, str, dict[str, int]]] = {f"{p} on {m}": (m, p, {}) for m, p in pairs if _fits(m, p)}
    return found | {f"{p} on {m}, late": (m, p, LATE) for m, p in LATE_PAIRS}


def _is_wanted(model: str, policy: str) -> bool:
    return policy not in ONE_FORMULA or model in SHOWN_FOR_ALL


def _fits(model: str, policy: str) -> bool:
    try:
        POLICIES[policy].start(BANDITS[model], horizon=HORIZON)
    except ValueError:
        return False
    return True


def simulated(model: str, policy: str, options: dict[str, int], engine: Any = None) -> dict[str, Any]:
    """One entry of the file; by default one thread plays the runs."""
    size = SMALL if policy in SMALL_POLICIES else {"horizon": HORIZON, "runs": RUNS}
    where = {"threads": 1} if engine is None else {"engine": engine}
    asked = {"seed": SEED, "progress": False} | where | size | options
    result = br.simulate(BANDITS[model], {policy: POLICIES[policy]}, **asked)[policy]
    bits = hashlib.sha256()
    for array in (result.final_regret, result.best_pulls, result.curve.mean, result.curve.stderr):
        bits.update(array.tobytes())
    pulls = (result.mean_pulls * size["runs"]).round().astype(int).tolist()
    return {"pulls": pulls, "regret": result.mean, "bits": bits.hexdigest()[:32]}


def main() -> None:
    lines = [f"{json.dumps(name)}: {json.dumps({'case': case} | simulated(*case))}" for name, case in cases().items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(lines)} simulations in {FILE}")


if __name__ == "__main__":
    main()
