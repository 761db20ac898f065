"""One decision and one update of an online agent."""

import bayesregret as br
import problems

BANDITS = {"gaussian": problems.gaussian, "bernoulli": problems.bernoulli, "linear": problems.linear}


class Decisions:
    params = (list(BANDITS),)
    param_names = ("model",)

    def setup(self, model):
        self.agent = br.BayesUCB(delta=1e-3).start(BANDITS[model]())

    def time_select_and_update(self, model):
        self.agent.update(self.agent.select(), 1.0)
