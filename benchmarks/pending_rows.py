"""Rows about late rewards: regret and cost of BayesUCB with and without counting pending pulls."""

from __future__ import annotations

from collections.abc import Iterator

import bayesregret as br
import problems
from clock import side_by_side
from problems import Size
from row import Row, at_most, ns, number
from speed_rows import simulation

COUNTED, NOT_COUNTED = br.BayesUCB(), br.BayesUCB(count_pending=False)
BATCH, DELAY = 100, 1_000
ROUNDS_PER_DELAY = 10  # rounds of a run with delayed rewards


def pending(size: Size) -> Iterator[Row]:
    for bandit in (problems.gaussian(), problems.bernoulli(), problems.linear()):
        yield _regrets(bandit, f"batches of {BATCH}", size.horizon, size.runs, batch=BATCH)
        horizon = ROUNDS_PER_DELAY * DELAY
        yield _regrets(bandit, f"delays of {DELAY:,}", horizon, max(100, size.runs // 10), delay=DELAY)
    yield _cost(size)


def _regrets(bandit: br.Bandit, late: str, horizon: int, runs: int, **options: int) -> Row:
    """How many times less regret; that of immediate rewards is beside it."""
    policies = {"counted": COUNTED, "not counted": NOT_COUNTED}
    found = br.simulate(bandit, policies, horizon=horizon, runs=runs, seed=7, progress=False, **options)
    at_once = br.simulate(bandit, COUNTED, horizon=horizon, runs=runs, seed=7, progress=False)[COUNTED.name]
    counted, not_counted = found["counted"], found["not counted"]
    work = f"{bandit.kind} bayes-ucb, K={bandit.arms}, {late}, n={horizon:,}: regret with pending pulls counted"
    measured = (
        f"{_regret(counted)} against {_regret(not_counted)} without; immediate rewards {_regret(at_once)} "
        f"({runs:,} runs)"
    )
    return Row(work, measured, not_counted.mean / counted.mean, "times less")


def _regret(result: br.PolicyResult) -> str:
    return f"{number(result.mean)} ± {number(result.stderr)}"


def _cost(size: Size) -> Row:
    """Counting computes an index anew only for an arm that was pulled or rewarded."""
    counted, not_counted = side_by_side(
        size.slow_repetitions,
        *[simulation(problems.gaussian(), policy, size, batch=BATCH) for policy in (COUNTED, NOT_COUNTED)],
    )
    work = f"gaussian bayes-ucb, K=10, batches of {BATCH}: a round with pending pulls counted"
    return Row(work, ns(counted, not_counted), counted / not_counted, target=at_most(1.0))
