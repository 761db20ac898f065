"""Simulations. Every set-up runs the kernel once, so that no timing contains a compilation."""

import bayesregret as br
import problems

POLICIES = {"bayes-ucb": br.BayesUCB, "ucb1": br.UCB1}
BANDITS = {"gaussian": problems.gaussian, "bernoulli": problems.bernoulli, "linear": problems.linear}


def simulate(bandit, policy, **asked):
    return br.simulate(bandit, policy, seed=7, progress=False, **asked)


class Models:
    """The table's size: 10 million rounds."""

    params = (list(BANDITS), list(POLICIES))
    param_names = ("model", "policy")

    def setup(self, model, policy):
        self.bandit = BANDITS[model]()
        self.policy = POLICIES[policy]()
        simulate(self.bandit, self.policy, horizon=10, runs=10)

    def time_simulate(self, model, policy):
        simulate(self.bandit, self.policy, horizon=1_000, runs=10_000)

    def peakmem_simulate(self, model, policy):
        simulate(self.bandit, self.policy, horizon=1_000, runs=10_000)


class Threads:
    params = (1, 2)
    param_names = ("threads",)

    def setup(self, threads):
        self.bandit = problems.gaussian()
        simulate(self.bandit, br.BayesUCB(), horizon=10, runs=10)

    def time_simulate(self, threads):
        simulate(self.bandit, br.BayesUCB(), horizon=1_000, runs=10_000, threads=threads)


class ManyArms:
    """Ten rounds for each arm, the same number of rounds in all."""

    params = (10, 100, 1_000, 10_000)
    param_names = ("arms",)

    def setup(self, arms):
        self.bandit = problems.gaussian(arms)
        simulate(self.bandit, br.BayesUCB(), horizon=10, runs=10)

    def time_simulate(self, arms):
        simulate(self.bandit, br.BayesUCB(), horizon=10 * arms, runs=12_800_000 // (10 * arms))


class LongHorizon:
    """The same number of rounds in all, on one thread."""

    params = (10_000, 100_000, 1_000_000)
    param_names = ("horizon",)

    def setup(self, horizon):
        self.bandit = problems.gaussian()
        simulate(self.bandit, br.BayesUCB(), horizon=10, runs=10)

    def time_simulate(self, horizon):
        simulate(self.bandit, br.BayesUCB(), horizon=horizon, runs=16_000_000 // horizon, threads=1)


class ManyRuns:
    params = (10_000, 100_000, 1_000_000)
    param_names = ("runs",)

    def setup(self, runs):
        self.bandit = problems.gaussian()
        simulate(self.bandit, br.BayesUCB(), horizon=10, runs=10)

    def peakmem_simulate(self, runs):
        simulate(self.bandit, br.BayesUCB(), horizon=100, runs=runs)
