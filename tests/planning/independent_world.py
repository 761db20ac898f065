"""Experiments of a made-up world and policies in them, in NumPy: nothing of the package's models, policies or engine.

In this world the log-odds of an experiment's level are normal, and its conversion rates are Beta around the level. All
new experiments are run side by side. A policy is a function `choose(wins, pulls, round_)`, with arrays of shape
(experiments, arms) and rounds counted from 0, that returns the arm to pull in each experiment.
"""

import math
from typing import NamedTuple

import numpy as np

import bayesregret as br

FEWEST_PULLS, MOST_PULLS = 500, 4_000  # per arm of a past experiment
CHARGES, SHOWN = 160, 3  # of a table of Gittins indices: charges on the grid, and horizons after which means are shown
BISECTIONS = 30  # of an index of KL-UCB, whose error is then 1e-9


class Hyperprior(NamedTuple):
    """Distribution of experiments: mean and standard deviation of log-odds of levels, pseudo-count of arms."""

    location: float = -3.0
    level_spread: float = 1.2
    pseudo_count: float = 60.0

    @classmethod
    def drawn(cls, rng):
        """A hyperprior with typical levels of 3 to 12 percent and levels and arms that differ less or more."""
        log_count = rng.uniform(math.log(30.0), math.log(150.0))
        return cls(rng.uniform(-3.5, -2.0), rng.uniform(0.6, 1.4), math.exp(log_count))

    def history(self, rng, experiments=12):
        """Rows of past experiments with 3 to 6 arms each."""
        rows = []
        for experiment in range(experiments):
            rate = 1.0 / (1.0 + math.exp(-self.location - self.level_spread * rng.standard_normal()))
            for arm in range(3 + experiment % 4):
                theta = rng.beta(rate * self.pseudo_count, (1.0 - rate) * self.pseudo_count)
                pulls = int(rng.integers(FEWEST_PULLS, MOST_PULLS))
                successes = int(rng.binomial(pulls, theta))
                rows.append({"experiment": experiment, "arm": arm, "pulls": pulls, "successes": successes})
        return rows

    def means(self, rng, experiments, arms):
        """(experiments, arms): conversion rates of new experiments."""
        location = self.location + self.level_spread * rng.standard_normal(experiments)
        return beta_arms(rng, location, np.full(experiments, self.pseudo_count), arms)


def beta_arms(rng, location, pseudo_count, arms):
    """(experiments, arms): conversion rates around levels with these log-odds, (experiments,)."""
    level = 1.0 / (1.0 + np.exp(-location))
    alpha, beta = level * pseudo_count, (1.0 - level) * pseudo_count
    return rng.beta(np.repeat(alpha[:, None], arms, 1), np.repeat(beta[:, None], arms, 1))


def regrets(means, choose, rng, horizon):
    """(experiments,): final regrets of a policy."""
    experiments, arms = means.shape
    wins, pulls = np.zeros((experiments, arms)), np.zeros((experiments, arms))
    regret, rows = np.zeros(experiments), np.arange(experiments)
    gaps = means.max(axis=1, keepdims=True) - means
    for round_ in range(horizon):
        arm = choose(wins, pulls, round_)
        wins[rows, arm] += rng.random(experiments) < means[rows, arm]
        pulls[rows, arm] += 1.0
        regret += gaps[rows, arm]
    return regret


# --- policies: the formulas of docs/explanation/policies.md ----------------------------------------------------------


def chooser(policy, bandit, horizon, rng):
    """The policy of a plan for `bandit`, as a function that chooses arms."""
    prior = getattr(policy, "prior", None) or bandit
    if isinstance(policy, br.Thompson):
        return thompson(prior, rng)
    if isinstance(policy, br.BayesUCB):
        return bayes_ucb(prior, policy.delta or 1.0 / horizon)
    if isinstance(policy, br.ExploreCommit):
        return split_test(prior, policy.explore)
    if isinstance(policy, br.Gittins):
        return gittins(prior, policy.discount, horizon)
    if isinstance(policy, br.KLUCB):
        return kl_ucb
    return moss(horizon) if isinstance(policy, br.MOSS) else ucb1(policy.delta or 1.0 / horizon)


def thompson(prior, rng):
    return lambda wins, pulls, round_: rng.beta(prior.alpha + wins, prior.beta + pulls - wins).argmax(axis=1)


def bayes_ucb(prior, delta):
    """The variance proxy of a Beta posterior is 1 / (4 (pseudo-count + 1))."""
    pseudo, factor = prior.alpha + prior.beta, 0.5 * math.log(1.0 / delta)

    def choose(wins, pulls, round_):
        mean = (prior.alpha + wins) / (pseudo + pulls)
        return (mean + np.sqrt(factor / (pseudo + pulls + 1.0))).argmax(axis=1)

    return choose


def split_test(prior, explore):
    winner = None

    def choose(wins, pulls, round_):
        nonlocal winner
        if round_ < explore:
            return np.full(len(wins), round_ % wins.shape[1])
        if round_ == explore:
            winner = ((prior.alpha + wins) / (prior.alpha + prior.beta + pulls)).argmax(axis=1)
        return winner

    return choose


def gittins(prior, discount, horizon):
    """The charge at which an arm's margin is 0, on a grid of charges; all arms have the same prior."""
    alpha, beta = prior.alpha[0], prior.beta[0]
    charges = np.sin(np.linspace(0.0, 0.5 * math.pi, CHARGES)) ** 2
    wins = np.arange(horizon + 2)[:, None]
    table = np.empty((horizon, len(wins) - 1))
    value = np.maximum((alpha + wins) / (alpha + beta + SHOWN * horizon) - charges, 0.0) / (1.0 - discount)
    for pulls in range(SHOWN * horizon - 1, -1, -1):
        mean = np.minimum((alpha + wins[:-1]) / (alpha + beta + pulls), 1.0)
        margin = mean - charges + discount * (mean * value[1:] + (1.0 - mean) * value[:-1])
        value[:-1] = np.maximum(margin, 0.0)
        if pulls < horizon:
            last = np.clip((margin > 0.0).sum(axis=1) - 1, 0, CHARGES - 2)
            rows = np.arange(len(last))
            above, below = margin[rows, last], margin[rows, last + 1]
            table[pulls] = charges[last] + (charges[last + 1] - charges[last]) * above / (above - below)
    return lambda wins, pulls, round_: table[pulls.astype(int), wins.astype(int)].argmax(axis=1)


def ucb1(delta):
    return _each_arm_once(lambda mean, pulls, round_: mean + np.sqrt(0.5 * math.log(1.0 / delta) / pulls))


def moss(horizon):
    def index(mean, pulls, round_):
        log_ratio = np.log(horizon / (mean.shape[1] * pulls))
        return mean + np.sqrt(np.maximum(log_ratio, 0.0) / pulls)

    return _each_arm_once(index)


def _kl_index(mean, pulls, round_):
    """Largest q with pulls kl(mean, q) <= log t, by bisection."""
    most, low, high = math.log(round_ + 1.0) / pulls, mean, np.ones_like(mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = np.nan_to_num(mean * np.log(mean)) + np.nan_to_num((1.0 - mean) * np.log(1.0 - mean))
        for _ in range(BISECTIONS):
            q = 0.5 * (low + high)
            # Where both are 1, the divergence is nan, and q may rise.
            is_above = entropy - mean * np.log(q) - (1.0 - mean) * np.log(1.0 - q) > most
            low, high = np.where(is_above, low, q), np.where(is_above, q, high)
    return low


def _each_arm_once(index):
    """The arm with the highest index; arms without pulls come first."""

    def choose(wins, pulls, round_):
        at_least_1 = np.maximum(pulls, 1.0)
        return np.where(pulls > 0.0, index(wins / at_least_1, at_least_1, round_), np.inf).argmax(axis=1)

    return choose


kl_ucb = _each_arm_once(_kl_index)
