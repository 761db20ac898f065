"""Rows about other packages: their simulators against `simulate`, their online loops against an agent."""

from __future__ import annotations

from collections.abc import Iterator

import bayesregret as br
import peers
import problems
from clock import Cost, side_by_side
from peer_scripts.online import Problem, ns_per_decision
from problems import Size
from row import Row, Target, at_least, number, own_limit
from speed_rows import BAYES_UCB, simulation

MICROSECOND = 1_000.0


def simulators(size: Size) -> Iterator[Row]:
    """On fewer runs than here: a run costs a peer the same however many there are."""
    rounds = size.peer_runs * size.horizon
    for peer, work, bandit, target in (
        ("pymab", "Gaussian BayesUCB, K=10, against", problems.gaussian(), at_least(500.0)),
        ("smpybandits", "Bernoulli BayesUCB, K=10, against", problems.bernoulli(), None),
    ):
        yield _against(peer, rounds, work, simulation(bandit, BAYES_UCB, size), size, target)


def agent(size: Size) -> Iterator[Row]:
    """Each peer meets the agent of the model that it has itself."""
    gaussian, bernoulli = _agent(problems.gaussian(), size), _agent(problems.bernoulli(), size)
    cost, bernoulli_cost = side_by_side(size.repetitions, gaussian, bernoulli)
    work = "online Gaussian BayesUCB agent, K=10: select and update"
    measured = f"{1e9 / cost:,.0f} decisions a second; Bernoulli {1e9 / bernoulli_cost:,.0f}"
    target = own_limit(100.0, "microseconds")
    yield Row(work, measured, cost / MICROSECOND, "microseconds", target)
    for peer, ours in (("bayesianbandits", gaussian), ("river", bernoulli), ("mabwiser", gaussian)):
        yield _against(peer, size.peer_decisions, "online agent, K=10, against", ours, size)


def _agent(bandit: br.Bandit, size: Size) -> Cost:
    binary = isinstance(bandit, br.BernoulliBandit)

    def cost() -> float:
        agent = br.BayesUCB(delta=1.0 / size.horizon).start(bandit)
        return ns_per_decision(agent.select, agent.update, Problem(size.decisions, binary))

    return cost


def _against(peer: str, rounds: int, work: str, ours: Cost, size: Size, target: Target | None = None) -> Row:
    """How many times faster than a peer; a peer that fails gives a row that says so."""
    said: list[peers.Measurement] = []

    def theirs() -> float:
        said.append(peers.measure(peer, rounds))
        return said[-1].ns_per_round

    ours()  # a peer need not warm up here: each of its turns is a process of its own
    try:
        here, there = side_by_side(size.peer_repetitions, ours, theirs, warm_up=False)
    except peers.PeerFailedError as error:
        return Row(f"{work} {peer}", f"not measured: {error}", target=target)
    measured = f"{number(here)} against {number(there)} ns a round ({said[-1].did})"
    return Row(f"{work} {said[-1].package}", measured, there / here, "times faster", target)
