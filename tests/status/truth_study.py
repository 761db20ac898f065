"""Experiments whose true mean rewards are drawn in NumPy: is a status right about them, and about what then happens?

An agent decides; instances, rewards and the continuation come from NumPy, one decision at a time, and share no code
with the numbers of the status, which are computed or simulated by the package's kernels.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

import bayesregret as br
from bayesregret.status import Progress, Status, experiment_status
from bayesregret.status.misfit import misfit
from bayesregret.status.to_come import at_start, lower_bound, to_come, upper_bound

HORIZON = 100
LEVEL = 0.9  # of intervals: more experiments than at 95 percent are outside
Draw = Callable[[np.random.Generator], tuple[np.ndarray, Callable[[int], float]]]


class Setting(NamedTuple):
    """A bandit and a policy, and how NumPy draws the mean rewards, and rewards given them."""

    name: str
    bandit: br.Bandit
    policy: br.Policy
    draw: Draw


def _normal(rng, means, noises):
    return means, lambda arm: means[arm] + noises[arm] * rng.standard_normal()


def _gaussian(means, widths, noises):
    means, widths, noises = np.broadcast_arrays(np.array(means, float), widths, noises)
    return lambda rng: _normal(rng, means + widths * rng.standard_normal(len(means)), noises)


def _bernoulli(alpha, beta):
    def draw(rng):
        means = rng.beta(alpha, beta)
        return means, lambda arm: float(rng.random() < means[arm])

    return draw


def _poisson(shape, rate):
    def draw(rng):
        means = rng.gamma(shape) / np.array(rate)
        return means, lambda arm: float(rng.poisson(means[arm]))

    return draw


def _exponential(shape, rate):
    def draw(rng):
        means = np.array(rate) / rng.gamma(shape)
        return means, lambda arm: float(rng.exponential(means[arm]))

    return draw


def _normal_gamma(mean, pulls, shape, scale):
    def draw(rng):
        variances = scale / rng.gamma(shape, size=len(mean))
        means = np.array(mean) + np.sqrt(variances / pulls) * rng.standard_normal(len(mean))
        return _normal(rng, means, np.sqrt(variances))

    return draw


def _linear(features, mean, width, noise):
    features = np.array(features)

    def draw(rng):
        means = features @ (np.array(mean) + width * rng.standard_normal(len(mean)))
        return _normal(rng, means, np.full(len(means), noise))

    return draw


def _one_of(draws):
    return lambda rng: draws[rng.integers(len(draws))](rng)


FEATURES = [[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [0.7, -0.7]]
GAUSSIAN = br.GaussianBandit([0.5, 0, 0], 1, 1)
DIFFERENT = br.GaussianBandit([0.3, 0, 0], [0.5, 1, 2], [2, 1, 0.5])
BERNOULLI = br.BernoulliBandit([2, 2, 1], [6, 6, 5])
PARTS = [br.BernoulliBandit([2, 2], [18, 18]), br.BernoulliBandit([10, 10], [10, 10])]

SETTINGS = (
    Setting("gaussian, bayes-ucb", GAUSSIAN, br.BayesUCB(), _gaussian([0.5, 0, 0], 1, 1)),
    Setting("gaussian, thompson", GAUSSIAN, br.Thompson(), _gaussian([0.5, 0, 0], 1, 1)),
    Setting("gaussian, ucb1", GAUSSIAN, br.UCB1(), _gaussian([0.5, 0, 0], 1, 1)),
    Setting("arms that differ, greedy", DIFFERENT, br.Greedy(), _gaussian([0.3, 0, 0], [0.5, 1, 2], [2, 1, 0.5])),
    Setting("bernoulli, bayes-ucb", BERNOULLI, br.BayesUCB(), _bernoulli([2, 2, 1], [6, 6, 5])),
    Setting("bernoulli, kl-ucb", BERNOULLI, br.KLUCB(), _bernoulli([2, 2, 1], [6, 6, 5])),
    Setting("bernoulli, epsilon-greedy", BERNOULLI, br.EpsilonGreedy(), _bernoulli([2, 2, 1], [6, 6, 5])),
    Setting("poisson, thompson", br.PoissonBandit([4, 3], [2, 2]), br.Thompson(), _poisson([4, 3], [2, 2])),
    Setting("exponential, thompson", br.ExponentialBandit([4, 4], [3, 2]), br.Thompson(), _exponential([4, 4], [3, 2])),
    Setting(
        "normal-gamma, thompson",
        br.NormalGammaBandit([0.5, 0], 1, 3, 2),
        br.Thompson(),
        _normal_gamma([0.5, 0], 1, 3, 2),
    ),
    Setting(
        "linear, bayes-ucb",
        br.LinearBandit(FEATURES, [0, 0], prior_width=1, reward_noise=1),
        br.BayesUCB(),
        _linear(FEATURES, [0, 0], 1, 1),
    ),
    Setting(
        "mixture, thompson",
        br.MixtureBandit([0.5, 0.5], PARTS),
        br.Thompson(),
        _one_of([_bernoulli([2, 2], [18, 18]), _bernoulli([10, 10], [10, 10])]),
    ),
)


class Run(NamedTuple):
    """An experiment that was stopped: where it stands, and the truth."""

    progress: Progress
    means: np.ndarray
    reward: Callable[[int], float]


def played(setting: Setting, seed: int, rounds: int | None = None, horizon: int = HORIZON) -> Run:
    """Play to a random round, or to `rounds`."""
    rng = np.random.default_rng(seed)
    means, reward = setting.draw(rng)
    rounds = int(rng.integers(1, horizon - 10)) if rounds is None else rounds
    agent = setting.policy.start(setting.bandit, horizon=horizon, seed=seed)
    arms, rewards = [], []
    for _ in range(rounds):
        arms.append(agent.select())
        rewards.append(reward(arms[-1]))
        agent.update(arms[-1], rewards[-1])
    decisions = np.bincount(arms, minlength=len(means))
    return Run(Progress(setting.bandit, agent, horizon, decisions, arms, rewards), means, reward)


def continued(run: Run, rounds: int) -> float:
    """Regret of further rounds of a copy of the agent."""
    agent, regret = copy.copy(run.progress.agent), 0.0
    for _ in range(rounds):
        arm = agent.select()
        agent.update(arm, run.reward(arm))
        regret += float(run.means.max() - run.means[arm])
    return regret


class Truth(NamedTuple):
    """What a status said, minus what is true or what happened; and whether intervals contain the truth.

    Regrets are in units of what keeping the first leader for the whole horizon loses under the prior, so that no
    setting outweighs the others.
    """

    to_come: float
    stopping: float
    regret: float
    gain: float
    best: float  # probability of the leader to be the best, minus whether it is
    above_bound: float  # what happened, minus the certified bound
    above_least: float
    arms_covered: float  # fraction of the arms
    regret_covered: float
    gain_covered: float
    alarm: float


def truth(setting: Setting, seed: int, *, level: float = LEVEL, forgets: bool = False, bounds: bool = True) -> Truth:
    """Compare a status with the truth, with or without its bounds, which take longest.

    With `forgets`, the control, it knows no more of the rest than the prior.
    """
    run = played(setting, seed)
    at, means = run.progress, run.means
    status = experiment_status(at, exact=False, level=level, seed=seed)
    expected = to_come(at, seed).regret
    bound, least = (upper_bound(at), lower_bound(at)) if bounds else (None, None)
    if forgets:
        expected = br.simulate(at.bandit, at.agent.policy, horizon=at.left, runs=200, seed=seed)[
            at.agent.policy.name
        ].mean
    happened = continued(run, at.left)
    best, leader = float(means.max()), status.stopping.leader
    regret, gain = at.done * best - float(at.decisions @ means), float((at.decisions - at.equal_split) @ means)
    unit = at_start(at, seed).mean
    return Truth(
        (expected - happened) / unit,
        (status.stopping.loss - at.left * float(best - means[leader])) / unit,
        (status.so_far.regret.mean - regret) / unit,
        (status.so_far.gain.mean - gain) / unit,
        float(status.posterior.best_probability[leader]) - float(leader == int(np.argmax(means))),
        math.nan if bound is None else (happened - bound.value) / unit,
        math.nan if least is None else (happened - least.regret) / unit,
        float(np.mean((status.posterior.low <= means) & (means <= status.posterior.high))),
        float(status.so_far.regret.low <= regret <= status.so_far.regret.high),
        float(status.so_far.gain.low <= gain <= status.so_far.gain.high),
        float(raises_alarm(status)),
    )


def raises_alarm(status: Status) -> bool:
    assert status.misfit is not None
    return status.misfit.raises_alarm


# --- verdicts ---------------------------------------------------------------------------------------------------------


class Check(NamedTuple):
    """A mean over experiments, what it should be, and whether it is."""

    name: str
    mean: float
    stderr: float
    should_be: str
    holds: bool


DIFFERENCES = {
    "regret to come": "to_come",
    "loss of stopping": "stopping",
    "regret so far": "regret",
    "gain so far": "gain",
    "P(best) of the leader": "best",
}
COVERED = {"means of arms": "arms_covered", "regret so far": "regret_covered", "gain so far": "gain_covered"}


def checks_of(found: list[Truth], alarm: float, *, errors: float = 4.0) -> list[Check]:
    """Whether differences are 0, fractions as stated, and bounds not broken, within some standard errors."""

    def mean_of(field: str) -> tuple[float, float]:
        values = np.array([getattr(each, field) for each in found])
        values = values[~np.isnan(values)]
        if len(values) < 2:
            return 0.0, math.inf
        return float(values.mean()), max(1e-12, float(values.std(ddof=1) / np.sqrt(len(values))))

    made = []
    for name, field in DIFFERENCES.items():
        mean, stderr = mean_of(field)
        made.append(Check(f"{name}, minus the truth", mean, stderr, "0", abs(mean) <= errors * stderr))
    for name, field in COVERED.items():
        mean, stderr = mean_of(field)
        made.append(Check(f"interval of {name} covers", mean, stderr, f"{LEVEL}", abs(mean - LEVEL) <= errors * stderr))
    for name, field, sign in (("certified bound", "above_bound", 1.0), ("least regret", "above_least", -1.0)):
        mean, stderr = mean_of(field)
        should = "at most 0" if sign > 0.0 else "at least 0"
        made.append(Check(f"what happened, minus {name}", mean, stderr, should, sign * mean <= errors * stderr))
    mean, _ = mean_of("alarm")
    stderr = math.sqrt(alarm * (1.0 - alarm) / len(found))
    made.append(Check("false alarms", mean, stderr, f"at most {alarm}", mean <= alarm + errors * stderr))
    return made


# --- the test of the prior --------------------------------------------------------------------------------------------

# Priors in which five widths from the mean are possible mean rewards, and the sides on which they are.
FAR_OFF = {
    "gaussian, width 1, noise 1": (br.GaussianBandit([0.0] * 5, 1, 1), (-1, 1)),
    "gaussian, width 0.5, noise 1": (br.GaussianBandit([0.0] * 5, 0.5, 1), (-1, 1)),
    "gaussian, width 0.3, noise 1": (br.GaussianBandit([1.0] + [0.0] * 9, 0.3, 1), (-1, 1)),
    "bernoulli, 50 ± 8 percent": (br.BernoulliBandit([20] * 5, [20] * 5), (-1, 1)),
    "bernoulli, 30 ± 5 percent": (br.BernoulliBandit([30] * 5, [70] * 5), (-1, 1)),
    "bernoulli, 10 ± 4 percent": (br.BernoulliBandit([5] * 5, [45] * 5), (1,)),
}
WIDTHS, ROUNDS = 5.0, 200


def far_off(bandit: br.Bandit, policy: br.Policy, side: int, seed: int) -> Progress:
    """Play an experiment whose true means are all five prior widths from the prior means."""
    if isinstance(bandit, br.BernoulliBandit):
        pulls = bandit.alpha + bandit.beta
        prior = bandit.alpha / pulls
        means = prior + side * WIDTHS * np.sqrt(prior * (1.0 - prior) / (pulls + 1.0))
        setting = Setting("", bandit, policy, lambda rng: (means, lambda arm: float(rng.random() < means[arm])))
    else:
        means = bandit.prior_mean + side * WIDTHS * bandit.prior_widths
        setting = Setting("", bandit, policy, lambda rng: _normal(rng, means.copy(), bandit.reward_noises))
    return played(setting, seed, ROUNDS, ROUNDS).progress


def evidence_of(progress: Progress) -> float:
    """Logarithm of the highest evidence against the prior."""
    found = misfit(progress.bandit, progress.reward_arms, progress.rewards)
    assert found is not None
    return found.highest


def is_rejected_somewhen(progress: Progress, alarm: float) -> bool:
    """The control: a test that is valid after a number of rewards that is fixed in advance, made after each one."""
    bandit, arms, rewards = progress.bandit, progress.reward_arms.tolist(), progress.rewards.tolist()
    mean, variance = bandit.prior_mean.copy(), np.full(bandit.arms, bandit.prior_width**2)
    noise, residuals = bandit.reward_noise**2, []
    for arm, reward in zip(arms, rewards, strict=True):
        residuals.append((reward - mean[arm]) / math.sqrt(variance[arm] + noise))
        gain = variance[arm] / (variance[arm] + noise)
        mean[arm] += gain * (reward - mean[arm])
        variance[arm] *= 1.0 - gain
    sums = np.cumsum(residuals) / np.sqrt(np.arange(1, len(residuals) + 1))
    return bool((np.abs(sums) > ndtri(1.0 - 0.5 * alarm)).any())


# --- the advice -------------------------------------------------------------------------------------------------------


def following_advice(setting: Setting, seed: int, every: int, horizon: int = HORIZON) -> tuple[float, float]:
    """Regret of an experiment that goes on to its end, and of one that keeps the leader when the advice is to stop."""
    run, regrets, kept = played(setting, seed, 0, horizon), np.zeros(2), None
    agent, arms, rewards = run.progress.agent, [], []
    for round_ in range(horizon):
        if kept is None and round_ > 0 and round_ % every == 0:
            decisions = np.bincount(arms, minlength=len(run.means))
            status = experiment_status(Progress(setting.bandit, agent, horizon, decisions, arms, rewards), seed=seed)
            kept = status.stopping.leader if status.advice.action == "stop" else None
        arms.append(agent.select())
        rewards.append(run.reward(arms[-1]))
        agent.update(arms[-1], rewards[-1])
        gaps = run.means.max() - run.means
        regrets += gaps[arms[-1]], gaps[arms[-1] if kept is None else kept]
    return float(regrets[0]), float(regrets[1])
