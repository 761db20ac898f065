"""Study of calibration: the regret that a plan promises for its recommendation, and the regret that follows.

In each of many worlds, a prior is fitted to 12 past experiments, and a plan for a new one is made with it. Then the
recommended policy is run in many new experiments of the same world, without the package.
"""

import math
from typing import NamedTuple

import numpy as np

import bayesregret as br
from planning.independent_world import Hyperprior, chooser, regrets

ARMS = 3  # of the new experiment
FIXED, DRAWN = "fixed", "drawn"  # one hyperprior for all worlds, or one for each
CLOSE, HALF, MOST_WORLDS = 0.1, 0.5, 0.95  # what is claimed


class Setting(NamedTuple):
    """Everything that the worlds of a study share."""

    horizon: int
    experiments: int  # new ones
    runs: int  # of each simulation of a plan
    seed: int
    hyperprior: str = FIXED
    policies: tuple[str, ...] | None = None  # those that plans compare; by default the usual ones
    with_levels: bool = True  # whether the plan's prior has levels that vary, and sampling errors


class Outcome(NamedTuple):
    """Of one world."""

    policy: str  # name of the class
    promised: float
    realised: float  # mean over the new experiments


def one_world(setting, number):
    """Fit, plan and run in one world."""
    rng = np.random.default_rng([setting.seed, number])
    hyperprior = Hyperprior.drawn(rng) if setting.hyperprior == DRAWN else Hyperprior()
    fitted = br.fit_prior(hyperprior.history(rng), model="bernoulli")
    new = fitted.bandit(ARMS) if setting.with_levels else fitted.bandit(ARMS, level=fitted.level, uncertainty=False)
    given = {"horizon": setting.horizon, "runs": setting.runs, "seed": number}
    plan = br.plan(new, setting.policies, threads=1, progress=False, **given)
    policy = plan.best.policy
    means = hyperprior.means(rng, setting.experiments, ARMS)
    realised = regrets(means, chooser(policy, new, setting.horizon, rng), rng, setting.horizon)
    return Outcome(type(policy).__name__, plan.best.regret.mean, float(realised.mean()))


class Summary:
    """The claims: promises are within 10 percent on average, and at least half of what happens in 95 of 100 worlds."""

    def __init__(self, outcomes):
        self.worlds = len(outcomes)
        self.promised = np.array([outcome.promised for outcome in outcomes])
        self.realised = np.array([outcome.realised for outcome in outcomes])

    @property
    def ratio(self):
        """Mean promised regret divided by mean realised regret."""
        return float(self.promised.mean() / self.realised.mean())

    @property
    def ratio_error(self):
        """Standard error of `ratio` over worlds, by the delta method."""
        residuals = self.promised - self.ratio * self.realised
        return float(residuals.std() / (self.realised.mean() * math.sqrt(self.worlds)))

    @property
    def log_ratios(self):
        return np.log(self.promised / self.realised)

    @property
    def at_least_half(self):
        """Fraction of worlds in which the promise is at least half of what happens."""
        return float((self.promised >= HALF * self.realised).mean())

    @property
    def is_close(self):
        return abs(self.ratio - 1.0) <= CLOSE

    @property
    def is_rarely_far(self):
        return self.at_least_half >= MOST_WORLDS
