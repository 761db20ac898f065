"""Rows about accelerators: each against a plain compiled loop of the same policy, K = 10."""

from __future__ import annotations

from collections.abc import Iterator

import bayesregret as br
import problems
from clock import side_by_side
from plain_loops import PlainLoop
from problems import Size
from row import Row, at_least, ns
from speed_rows import simulation

POISSON = br.PoissonBandit([2.0] * 10, [1.0] * 10)
# One row for each accelerator: what makes the policy fast on this bandit.
ACCELERATORS = {
    "stay on the leader, width tables": (problems.gaussian(), br.BayesUCB()),
    "stay on the leader": (problems.bernoulli(), br.MOSS()),
    "near and far arms, Beta": (problems.bernoulli(), br.Thompson()),
    "near and far arms, normal": (problems.gaussian(), br.Thompson()),
    "scaled widths, quantile-ucb": (problems.gaussian(), br.QuantileUCB()),
    "scaled widths, kl-ucb": (problems.gaussian(), br.KLUCB()),
    "tangents, quantile-ucb": (problems.bernoulli(), br.QuantileUCB()),
    "tangents, kl-ucb": (problems.bernoulli(), br.KLUCB()),
    "upper bounds, quantile-ucb": (POISSON, br.QuantileUCB()),
    "upper bounds, kl-ucb": (POISSON, br.KLUCB()),
    # Faster by less than three times, and kept: a plain loop adds up rewards in another order, so that the last digits
    # of the paper's linear figures would change.
    "lazy posterior and three tests": (problems.linear(), br.BayesUCB()),
}


def accelerators(size: Size) -> Iterator[Row]:
    runs = max(100, size.runs // 10)
    for name, (bandit, policy) in ACCELERATORS.items():
        fast, plain = side_by_side(
            size.slow_repetitions,
            simulation(bandit, policy, size, runs=runs),
            simulation(bandit, PlainLoop(policy), size, runs=runs),
        )
        work = f"{name}: {bandit.kind} {policy.name}, K={bandit.arms}, against a plain compiled loop"
        yield Row(work, ns(fast, plain), plain / fast, "times faster", at_least(3.0))
