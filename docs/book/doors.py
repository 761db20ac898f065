"""Small pictures for the four doors of the book's first page; what they show is computed."""

from __future__ import annotations

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import beta

import bayesregret as br

INK, BLUE, RED, GREEN, ORANGE, GREY = "#222222", "#0072B2", "#D55E00", "#009E73", "#C98A00", "#777777"
SEED = 7


def _canvas() -> tuple[Figure, Axes]:
    figure, axes = plt.subplots(figsize=(4.6, 1.9))
    axes.set(xticks=[], yticks=[])
    axes.grid(False)
    return figure, axes


def tutorials() -> Figure:
    """The regret of two policies, growing."""
    figure, axes = _canvas()
    bandit = br.BernoulliBandit(alpha=[1, 1, 1], beta=[1, 1, 1])
    policies = [br.UCB1(), br.Thompson()]
    rounds = np.arange(1, 501, 5)
    result = br.simulate(bandit, policies, horizon=500, runs=4000, seed=SEED, checkpoints=rounds, progress=False)
    for name, colour in (("ucb1", ORANGE), ("thompson", BLUE)):
        curve = result[name].curve
        axes.plot(curve.rounds, curve.mean, color=colour, lw=2.2)
    axes.fill_between(
        result.rounds, result["thompson"].curve.mean, result["ucb1"].curve.mean, color=GREY, alpha=0.18, lw=0
    )
    axes.set_ylim(0, None)
    return figure


def how_to() -> Figure:
    """What an agent believes about three arms after 200 rounds."""
    figure, axes = _canvas()
    agent = br.Thompson().start(br.BernoulliBandit(alpha=[1, 1, 1], beta=[1, 1, 1]), seed=SEED)
    rates, rng, wins = (0.3, 0.42, 0.55), np.random.default_rng(SEED), [0, 0, 0]
    for _ in range(200):
        arm = agent.select()
        reward = int(rng.random() < rates[arm])
        agent.update(arm, reward)
        wins[arm] += reward
    at = np.linspace(0.0, 0.9, 300)
    for won, pulls, colour in zip(wins, agent.pulls, (GREY, ORANGE, GREEN), strict=True):
        density = beta.pdf(at, 1 + won, 1 + pulls - won)
        axes.plot(at, density, color=colour, lw=2.2)
        axes.fill_between(at, density, color=colour, alpha=0.18, lw=0)
    axes.set_ylim(0, None)
    return figure


def reference() -> Figure:
    """Names, as in an index."""
    figure, axes = _canvas()
    axes.axis("off")
    names = (
        ("simulate", "bandit, policies, horizon"),
        ("exact_regret", "bandit, policy, horizon"),
        ("bounds.certified", "bandit, horizon"),
        ("fit_prior", "history, model"),
        ("plan", "bandit, horizon"),
    )
    for row, (name, arguments) in enumerate(names):
        height = 0.9 - 0.2 * row
        axes.text(0.03, height, name, family="DejaVu Sans Mono", fontsize=10, color=BLUE, va="center")
        axes.text(0.43, height, f"({arguments})", family="DejaVu Sans Mono", fontsize=10, color=GREY, va="center")
    return figure


def explanation() -> Figure:
    """How much the certified bounds on one problem exceed its exact regret."""
    figure, axes = _canvas()
    bandit = br.GaussianBandit(prior_mean=[1.0] + [0.0] * 9, prior_width=1.0, reward_noise=1.0)
    exact = br.exact_regret(bandit, br.BayesUCB(), horizon=1000).regret
    names = ("certified_first_passage", "certified_index", "certified_floor", "certified_gap_free", "gap_dependent")
    values = [getattr(br.bounds, name)(bandit, horizon=1000).value for name in names]
    colours = [GREEN] * 4 + [RED]
    axes.barh(range(len(names)), values, color=colours, alpha=0.75, height=0.6)
    axes.axvline(exact, color=INK, lw=1.6)
    axes.set(xscale="log", xlim=(40, 2000))
    axes.xaxis.set_minor_locator(plt.NullLocator())
    axes.set(xticks=[])
    axes.invert_yaxis()
    return figure


DOORS: dict[str, Callable[[], Figure]] = {
    "door-tutorials": tutorials,
    "door-how-to": how_to,
    "door-reference": reference,
    "door-explanation": explanation,
}
