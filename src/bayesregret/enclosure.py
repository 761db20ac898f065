"""`optimal_regret`: the least Bayes regret that any policy can have, exactly or between two ends."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from bayesregret import checks
from bayesregret.bounds.least import NONE, PROGRAMME, least_regret
from bayesregret.digits import (
    PLUS_MINUS,
    counted,
    exact_digits,
    lower_bound_digits,
    upper_bound_digits,
    with_error,
)
from bayesregret.exact import exact_regret
from bayesregret.models import Bandit, BernoulliBandit, GaussianBandit, MixtureBandit
from bayesregret.models.bandit import BanditLike, as_bandit
from bayesregret.policies import BayesUCB, Gittins, Greedy, Policy, Thompson
from bayesregret.policy_data import Policies, named, with_settings
from bayesregret.results import Result, draw_level
from bayesregret.simulation.kernels.select import select
from bayesregret.simulation.simulate import DEFAULT_RUNS, LARGEST_HORIZON, LARGEST_RUNS, simulate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

How = Literal["dynamic programme", "computed", "simulated"]

# An exact regret takes less than a minute up to here.
QUICK_HORIZON = {"gaussian": 5_000, "bernoulli": 1_000}
# Of several simulated policies, the best in a first simulation with this fraction of the runs is simulated anew.
FIRST = 0.2
FEWEST_RUNS = 100


@dataclass(frozen=True, eq=False, repr=False)
class Enclosure(Result):
    """The least Bayes regret of any policy, between two ends: the result of `optimal_regret`.

    `plot` draws a line at each end, for a picture of the regret of policies.

    Attributes
    ----------
    bandit : Bandit
        The bandit.
    horizon : int
        Number of rounds.
    lower : float
        No policy has less Bayes regret: proved, with the numerical error taken off; 0 where no proof is at hand.
    upper : float
        Bayes regret of `policy`. Where it is computed, the numerical error is added; where it is simulated, it is the
        mean over runs, and the least regret may be above it by a few `stderr`.
    stderr : float
        Standard error of `upper`; 0 where it is computed.
    policy : str
        Name of the policy with the regret `upper`.
    how : {"dynamic programme", "computed", "simulated"}
        Where `upper` comes from. With a dynamic programme it is the least regret itself.
    lower_from : str
        Name of the bound in `bayesregret.bounds` that gives `lower`; "dynamic programme", or "none".

    Examples
    --------
    >>> least = optimal_regret(BernoulliBandit(alpha=[1, 1], beta=[1, 1]), horizon=2)
    >>> least.exact, round(least.lower, 9), round(least.upper, 9), least.policy
    (True, 0.25, 0.25, 'bayes-optimal')
    """

    words: ClassVar[Collection[str]] = ("which policy", "how")

    bandit: Bandit
    horizon: int
    lower: float
    upper: float
    stderr: float
    policy: str
    how: How
    lower_from: str

    @property
    def exact(self) -> bool:
        """Whether the ends are the least regret itself, up to rounding."""
        return self.how == PROGRAMME

    @property
    def ratio(self) -> float:
        """The upper end over the lower one; infinite if only the lower one is 0, and 1 if both are."""
        if self.lower > 0.0:
            return self.upper / self.lower
        return math.inf if self.upper > 0.0 else 1.0

    def _shown_upper(self) -> str:
        if self.how == "simulated":
            return with_error(self.upper, self.stderr)
        return exact_digits(self.upper, self.upper - self.lower) if self.exact else upper_bound_digits(self.upper)

    def table(self) -> list[list[str]]:
        """Return headings and one row, as `print` shows them."""
        ratio = "" if math.isinf(self.ratio) else f"{self.ratio:.4g}"
        lower = self._shown_upper() if self.exact else lower_bound_digits(self.lower, 4)
        return [
            ["no policy below", "a policy has", "ratio", "which policy", "how"],
            [lower, self._shown_upper(), ratio, self.policy, self.how],
        ]

    def summary(self) -> str:
        """Describe the computation in one line."""
        size = f"{self.bandit.kind} bandit, {counted(self.horizon, 'round')}, {counted(self.bandit.arms, 'arm')}"
        if self.exact:
            return f"{size}; the least regret itself"
        below = "no lower bound is known here" if self.lower_from == NONE else f"lower end: {self.lower_from}"
        error = f"; {PLUS_MINUS} one standard error" if self.how == "simulated" else ""
        return f"{size}; {below}{error}"

    def records(self) -> list[dict[str, Any]]:
        """Return both ends and where they come from as plain data; a ratio that is infinite is None."""
        names = ("horizon", "lower", "upper", "stderr", "policy", "how", "lower_from")
        ratio = None if math.isinf(self.ratio) else self.ratio
        return [{name: getattr(self, name) for name in names} | {"exact": self.exact, "ratio": ratio}]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"problem": self.bandit.to_dict()} | self.records()[0]

    def _draw(self, axes: Axes) -> None:
        if self.lower > 0.0 or self.exact:
            draw_level(axes, self.lower, "no policy has less")
        if not self.exact:
            draw_level(axes, self.upper, f"{self.policy}, {self.how}")

    def __repr__(self) -> str:
        if self.exact:
            return f"<least Bayes regret: {self._shown_upper()}>"
        lower = lower_bound_digits(self.lower, 4)
        return f"<least Bayes regret: between {lower} and {self._shown_upper()} of {self.policy}>"


class UpperEnd(NamedTuple):
    regret: float
    stderr: float
    policy: str
    how: How


def optimal_regret(
    bandit: BanditLike,
    *,
    horizon: int,
    policies: Policies | None = None,
    exact: bool | None = None,
    runs: int = DEFAULT_RUNS,
    seed: int = 0,
    threads: int | None = None,
    progress: bool | None = None,
) -> Enclosure:
    """Find the least Bayes regret that any policy can have, exactly or between two ends.

    Where the dynamic programme reaches, it is `bayes_optimal_regret`. Elsewhere the lower end is a certified bound for
    every policy, and the upper end the regret of the best policy known: the Gittins index with discount 1 - 1/horizon
    on independent Gaussian and Bernoulli arms, whose regret is computed, and on others the best of several simulated
    policies. Two simulations with different random numbers choose that policy and find its regret, so that the choice
    does not make it look better.

    Parameters
    ----------
    bandit : Bandit, FittedPrior or Agent
        Any bandit.
    horizon : int
        Number of rounds.
    policies : Policy or str, an iterable of them, or a mapping of names to them, optional
        Policies for the upper end, in place of the best known ones.
    exact : bool, optional
        Whether to compute the regret of policies, where that is possible, or to simulate it; by default it is computed
        up to 5,000 rounds of Gaussian and 1,000 rounds of Bernoulli bandits.
    runs : int, default 10,000
        Number of runs, where policies are simulated.
    seed : int, default 0
        Seed of their random numbers.
    threads : int, optional
        Number of threads of a simulation; by default all processors that this process may use.
    progress : bool, optional
        Whether to show a bar; by default in a terminal or a notebook.

    Returns
    -------
    Enclosure
        Both ends, the policy that attains the upper one, and where they come from.

    Examples
    --------
    >>> bandit = GaussianBandit(prior_mean=[1, 0, 0], prior_width=1, reward_noise=1)
    >>> least = optimal_regret(bandit, horizon=50)
    >>> least.policy, least.how, least.lower < least.upper
    ('gittins(discount=0.98)', 'computed', True)
    """
    bandit = as_bandit(bandit)
    horizon = checks.whole("horizon", horizon, 1, LARGEST_HORIZON)
    runs = checks.whole("runs", runs, FEWEST_RUNS, LARGEST_RUNS)
    seed = checks.whole("seed", seed, 0)
    least = least_regret(bandit, horizon) if policies is None else least_regret(bandit, horizon, programme={})
    if least.exact:
        low, high = max(0.0, least.regret - least.error), least.regret + least.error
        return Enclosure(bandit, horizon, low, high, 0.0, "bayes-optimal", PROGRAMME, PROGRAMME)
    candidates = dict(_best_known(bandit, horizon)) if policies is None else named(policies)
    if not candidates:
        raise ValueError(f"policies must be given for {bandit.a_kind} bandit, on which none of the usual ones runs")
    end = None if exact is False else _computed(bandit, candidates, horizon, exact)
    if end is None:
        end = _simulated(bandit, candidates, horizon, runs, seed, threads, progress)
    return Enclosure(bandit, horizon, least.regret, end.regret, end.stderr, end.policy, end.how, least.source)


def _best_known(bandit: Bandit, horizon: int) -> Iterator[tuple[str, Policy]]:
    """Policies that may have the least regret of all known ones, by name."""
    prior = None
    if isinstance(bandit, MixtureBandit):
        with contextlib.suppress(ValueError):  # not of every mixture
            prior = bandit.conjugate()
    # A single round has nothing to learn for.
    candidates: list[Policy] = [Greedy(prior) if horizon == 1 else Gittins(prior, discount=1.0 - 1.0 / horizon)]
    if not isinstance(bandit, GaussianBandit | BernoulliBandit):
        candidates += [Thompson(), BayesUCB()]
    for policy in candidates:
        try:
            select(policy, bandit, horizon)
        except ValueError:
            continue
        yield with_settings(policy), policy


def _computed(bandit: Bandit, candidates: Mapping[str, Policy], horizon: int, exact: bool | None) -> UpperEnd | None:
    """The least exact regret, with its error added; None if it takes long, or if one of them is not computed."""
    if exact is None and horizon > QUICK_HORIZON.get(bandit.representative.kind, 0):
        return None
    try:
        found = {name: exact_regret(bandit, policy, horizon=horizon) for name, policy in candidates.items()}
    except ValueError:
        if exact:
            raise
        return None
    best = min(found, key=lambda name: found[name].regret)
    return UpperEnd(found[best].regret + found[best].error, 0.0, best, "computed")


def _simulated(
    bandit: Bandit,
    candidates: Mapping[str, Policy],
    horizon: int,
    runs: int,
    seed: int,
    threads: int | None,
    progress: bool | None,
) -> UpperEnd:
    options: dict[str, Any] = {"horizon": horizon, "threads": threads, "progress": progress, "keep": "summary"}
    names = list(candidates)
    if len(names) > 1:
        first = simulate(bandit, candidates, runs=max(FEWEST_RUNS, int(FIRST * runs)), seed=seed + 1, **options)
        names = [min(names, key=lambda name: first[name].mean)]
    found = simulate(bandit, {names[0]: candidates[names[0]]}, runs=runs, seed=seed, **options)[names[0]]
    return UpperEnd(found.mean, found.stderr, names[0], "simulated")
