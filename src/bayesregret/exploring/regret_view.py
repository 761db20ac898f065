"""The view "regret": curves of the chosen policies on the same instances and noise, with a band that narrows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from bayesregret.digits import counted
from bayesregret.exact.availability import why_simulated
from bayesregret.exploring.cached import SimulationKey, exact, simulated
from bayesregret.exploring.settings import PageState
from bayesregret.exploring.snapshot import NOTHING, WAITING, IsAbandoned, Line, Reading, Snapshot, never
from bayesregret.models import Bandit
from bayesregret.policies import Policy
from bayesregret.reproduction.table import Axis, Exact, Table, Trend
from bayesregret.simulation.cost import run_cost, shown_time
from bayesregret.simulation.policy_result import PolicyResult

HEADINGS = ("policy", "Bayes regret, simulated", "runs", "exact")
FEWEST_RUNS, FIRST_RUNS, GROWTH = 16, 256, 4
FIRST_COST = 8e6  # nanoseconds of one processor, by a rough estimate, for the first picture
LARGEST_COST = 2e9  # for the fewest runs of a policy
PRECISE = 0.01  # relative standard error from which on exact regrets come first


class Curves:
    """Results so far, by policy."""

    def __init__(self, state: PageState, bandit: Bandit, is_abandoned: IsAbandoned) -> None:
        self.state, self.bandit, self.is_abandoned = state, bandit, is_abandoned
        self.policies: Mapping[str, Policy] = state.play()
        self.simulated: dict[str, PolicyResult] = {}
        self.runs: dict[str, int] = {}
        self.exact: dict[str, Exact] = {}
        self.computed: dict[str, Reading] = {}
        self.refused: dict[str, str] = {}

    def costs(self) -> dict[str, int]:
        """Rough costs of a run in nanoseconds, of the policies that run here."""
        found = {}
        for name, policy in self.policies.items():
            try:
                found[name] = run_cost(policy, self.bandit, self.state.horizon)
                if FEWEST_RUNS * found[name] > LARGEST_COST:
                    seconds = FEWEST_RUNS * found.pop(name) / 1e9
                    self.refused[name] = (
                        f"{counted(FEWEST_RUNS, 'run')} take {shown_time(seconds)}: too long for a page"
                    )
            except ValueError as error:
                self.refused[name] = str(error)
        return found

    def simulate(self, name: str, runs: int) -> None:
        """Simulate a policy, from a cache or anew; one that cannot run is refused."""
        key = SimulationKey(self.bandit, self.policies[name], self.state.horizon, runs, self.state.seed)
        try:
            self.simulated[name] = simulated(key, self.is_abandoned)
            self.runs[name] = runs
        except ValueError as error:
            self.refused[name] = str(error)

    def compute(self, name: str) -> None:
        """Compute the exact regret of a policy where that is quick."""
        self.computed[name] = NOTHING
        if name in self.refused or why_simulated(self.bandit, self.state.horizon, None) is not None:
            return
        try:
            found = exact(self.bandit, self.policies[name], self.state.horizon)
        except ValueError:  # not an index policy
            return
        places = self.simulated[name].curve.rounds - 1
        self.exact[name] = Exact(tuple(found.curve[places].tolist()), tuple(found.curve_error[places].tolist()))
        self.computed[name] = Reading.computed(found.regret, found.error)

    def snapshot(self, *, done: bool) -> Snapshot:
        names = [name for name in self.policies if name in self.simulated]
        rounds = self.simulated[names[0]].curve.rounds.tolist() if names else []
        table = Table(
            "regret",
            "Bayes regret",
            f"Bayes regret up to each round of {self.bandit.a_kind} bandit with {counted(self.bandit.arms, 'arm')}; "
            "bands are one standard error, solid lines without marks are exact.",
            Axis("round", "log"),
            Axis("Bayes regret so far"),
            tuple(map(float, rounds)),
            tuple(map(self._trend, names)),
        )
        return Snapshot(table, HEADINGS, tuple(map(self._line, self.policies)), self._status(done), done)

    def _trend(self, name: str) -> Trend:
        curve = self.simulated[name].curve
        values, errors = tuple(curve.mean.tolist()), tuple(curve.stderr.tolist())
        return Trend(self.policies[name].name, name, "regret", values, errors, self.exact.get(name))

    def _line(self, name: str) -> Line:
        if name in self.refused:
            return Line(name, name, (NOTHING, NOTHING, NOTHING), self.refused[name])
        found = self.simulated.get(name)
        if found is None:
            return Line(name, name, (WAITING, WAITING, WAITING))
        runs = Reading(f"{self.runs[name]:,}", self.runs[name])
        readings = (Reading.simulated(found.mean, found.stderr), runs, self.computed.get(name, WAITING))
        return Line(name, name, readings)

    def _status(self, done: bool) -> str:
        if done:
            return "Done: \N{PLUS-MINUS SIGN} one standard error, the same instances and noise for all policies."
        return f"Simulating: {counted(max(self.runs.values(), default=0), 'run')} so far."


def regret_steps(state: PageState, bandit: Bandit, is_abandoned: IsAbandoned = never) -> Iterator[Snapshot]:
    """Yield pictures, each with more runs than the one before; each step takes a fraction of a second."""
    curves = Curves(state, bandit, is_abandoned)
    costs = curves.costs()
    runs = _first_runs(sum(costs.values()), state.runs)
    for name in costs:
        curves.simulate(name, runs)
    while True:
        if not curves.computed and (runs >= state.runs or _is_precise(curves)):
            for name in curves.policies:
                yield curves.snapshot(done=False)
                curves.compute(name)
        if runs >= state.runs or not curves.simulated:
            break
        yield curves.snapshot(done=False)
        runs = min(GROWTH * runs, state.runs)
        for name in curves.simulated:
            curves.simulate(name, runs)
            yield curves.snapshot(done=False)
    yield curves.snapshot(done=True)


def _first_runs(cost: float, most: int) -> int:
    """Runs of the first picture: a power of four, so that pictures of similar problems have as many."""
    runs = FIRST_RUNS
    while runs > FEWEST_RUNS and runs * cost > FIRST_COST:
        runs //= GROWTH
    return min(runs, most)


def _is_precise(curves: Curves) -> bool:
    """Whether all regrets are known to one percent."""
    found = curves.simulated.values()
    return all(math.isfinite(result.stderr) and result.stderr <= PRECISE * result.mean for result in found)
