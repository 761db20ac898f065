"""All bounds of a problem, and the longest sum among them."""

import itertools

import bayesregret as br


class Bounds:
    params = (["gaussian", "bernoulli"],)
    param_names = ("model",)

    def setup(self, model):
        self.offsets = itertools.count(1)
        br.bounds.table(self.new_bandit(model), horizon=10)

    def new_bandit(self, model):
        """One that no cache knows."""
        first = 1.0 + 1e-9 * next(self.offsets)
        if model == "gaussian":
            return br.GaussianBandit(prior_mean=[first] + [0.0] * 9, prior_width=1.0, reward_noise=1.0)
        return br.BernoulliBandit(alpha=[first] * 10, beta=[1.0] * 10)

    def time_table(self, model):
        br.bounds.table(self.new_bandit(model), horizon=1_000)

    def time_index_of_a_million_rounds(self, model):
        br.bounds.certified_index(self.new_bandit(model), horizon=10**6)
