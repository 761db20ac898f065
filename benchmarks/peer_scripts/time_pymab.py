"""pymab: its Rust simulator, Gaussian BayesUCB with the engine's own width."""

import math
import time
from statistics import NormalDist

from online import ARMS, HORIZON, Problem, report, rounds_asked_for
from pymab import BanditEnvironment, Experiment, ExperimentConfig, GaussianReward
from pymab.policies import GaussianBayesianUCBPolicy

runs = max(1, rounds_asked_for() // HORIZON)
# The quantile whose distance from the mean is sqrt(2 log(1/delta)) standard deviations, delta = 1/horizon.
quantile = NormalDist().cdf(math.sqrt(2.0 * math.log(HORIZON)))
experiment = Experiment(
    environment=BanditEnvironment(means=Problem(0).means, reward_model=GaussianReward(std=1.0)),
    policies={"bayes-ucb": GaussianBayesianUCBPolicy(n_arms=ARMS, quantile=quantile)},
    config=ExperimentConfig(horizon=HORIZON, n_replicates=runs, seed=7, backend="rust"),
)
start = time.perf_counter_ns()
experiment.run()
elapsed = time.perf_counter_ns() - start
report("pymab", f"its simulator, Gaussian BayesUCB in Rust, one instance, {runs} runs", elapsed / (runs * HORIZON))
