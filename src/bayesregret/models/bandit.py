"""Base class of Bayesian bandits: arms, a prior over instances, and a reward distribution."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesregret import checks
from bayesregret.checks import Array
from bayesregret.contracts import draw_means
from bayesregret.dispatch import compile_kernel
from bayesregret.models import changed_arms
from bayesregret.models.no_prior import NoPriorModel
from bayesregret.rng import INSTANCE, open_stream, run_word, seed_key

# Rounding may carry a sum this far beyond what its terms allow.
SUM_SLACK = 1.0 + 1e-6


@dataclass(frozen=True, eq=False)
class Instance:
    """One draw from the prior, hidden from the policy.

    Attributes
    ----------
    mean_rewards : ndarray
        Mean reward of each arm.
    parameter : ndarray
        Parameter theta of the model; for K-armed bandits of known noise it is `mean_rewards`.

    Examples
    --------
    >>> instance = BernoulliBandit(alpha=[1, 1], beta=[1, 3]).draw_instance(seed=1)
    >>> instance.best_arm, instance.gaps.round(3).tolist()
    (0, [0.0, 0.317])
    """

    mean_rewards: Array
    parameter: Array

    @functools.cached_property
    def best_arm(self) -> int:
        """Arm with the highest mean reward, the lowest-numbered one on ties."""
        return int(np.argmax(self.mean_rewards))

    @functools.cached_property
    def gaps(self) -> Array:
        """(arms,): highest mean reward minus that of each arm."""
        return np.asarray(self.mean_rewards[self.best_arm] - self.mean_rewards)

    @property
    def min_gap(self) -> float:
        """Smallest gap of the other arms; infinite if there is only one arm."""
        return float(np.delete(self.gaps, self.best_arm).min(initial=np.inf))


class Bandit:
    """A prior over bandit instances and a reward distribution.

    A subclass stores each argument of its constructor under the argument's name, and sets the attributes below. Two
    bandits of one class are equal if these arguments are. The how-to guide "Write a model" has a complete one.

    Attributes
    ----------
    kind : str
        Name in problem files and messages.
    arm_fields : tuple of str
        Arguments with an entry for each arm, or one number for all, which `subset` and `with_arm` change.
    arms : int
        Number of arms.
    model : NamedTuple
        The model that the functions of `bayesregret.contracts` are implemented for.
    reward_proxy : float
        Sub-Gaussian variance proxy of a reward around its mean, the largest of all arms; infinite if there is none.

    Examples
    --------
    >>> bandit = GaussianBandit(prior_mean=[0, 0], prior_width=1, reward_noise=2)
    >>> bandit.kind, bandit.arms, bandit.reward_proxy
    ('gaussian', 2, 4.0)
    """

    kind: ClassVar[str]
    arm_fields: ClassVar[tuple[str, ...]] = ()
    arms: int
    model: Any
    reward_proxy: float

    @property
    def a_kind(self) -> str:
        """The kind with its article, such as "an exponential"."""
        return f"{'an' if self.kind[0] in 'aeiou' else 'a'} {self.kind}"

    @property
    def representative(self) -> Bandit:
        """This bandit or, for a mixture, its first component, one with a single prior and the same kind of rewards."""
        return self

    def settings(self) -> dict[str, Any]:
        """Return the constructor's arguments by name, without those that are None."""
        given = {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}
        return {name: value for name, value in given.items() if value is not None}

    def check_reward(self, reward: float) -> float:
        """Return a reward as a float; ValueError if this bandit cannot give it.

        Parameters
        ----------
        reward : float
            The reward to check.
        """
        number = checks.real("reward", reward)
        if abs(number) > checks.LARGEST:
            raise checks.fail("reward", f"at most {checks.LARGEST:g} in size", reward)
        return number

    def check_sums(self, counts: NDArray[np.int64], totals: Array, squares: Array | None) -> None:
        """Raise ValueError if rewards of this bandit cannot add up to these statistics.

        A model whose posterior needs more than finite sums, such as successes among the pulls, checks it here.

        Parameters
        ----------
        counts : ndarray
            Number of rewards of each arm.
        totals : ndarray
            Their sums.
        squares : ndarray or None
            Sums of their squared deviations from the arm's mean, if known.
        """
        most = counts * checks.LARGEST * SUM_SLACK
        if (np.abs(totals) > most).any():
            raise ValueError(f"totals must be sums of as many rewards as counts, none beyond {checks.LARGEST:g}")
        if squares is not None and ((squares < 0.0) | (squares > checks.LARGEST * most * (counts > 1))).any():
            raise ValueError("squares must be sums of squared deviations of as many rewards as counts")

    def after(self, counts: ArrayLike, totals: ArrayLike, squares: ArrayLike | None = None) -> Bandit:
        """Return the posterior after some rewards: the bandit of the rounds that are left.

        Its arms have the rewards of this bandit, and its prior is this bandit's posterior. ValueError, in one line, if
        this bandit cannot give these rewards, or if the posterior is no bandit that is known.

        Parameters
        ----------
        counts : array_like
            Number of rewards of each arm.
        totals : array_like
            Their sums.
        squares : array_like, optional
            Sums of their squared deviations from the arm's sample mean; needed where the variance of rewards is
            uncertain.

        Examples
        --------
        >>> BernoulliBandit(alpha=[1, 1], beta=[1, 3]).after(counts=[4, 0], totals=[3, 0])
        BernoulliBandit(alpha=[4., 1.], beta=[2., 3.])
        """
        pulls = checks.counts_per_arm("counts", counts, self.arms)
        sums = checks.number_per_arm("totals", totals, self.arms)
        deviations = None if squares is None else checks.number_per_arm("squares", squares, self.arms)
        if deviations is None and pulls.max() <= 1:
            deviations = np.zeros(self.arms)  # a single reward is its own mean
        self.check_sums(pulls, sums, deviations)
        return self.conjugate_posterior(pulls, sums, deviations) if pulls.any() else self

    def conjugate_posterior(self, counts: NDArray[np.int64], totals: Array, squares: Array | None) -> Bandit:
        """Return the posterior as a bandit; a model whose posterior has the form of its prior implements it.

        `after` checks the arguments.

        Parameters
        ----------
        counts : ndarray
            Number of rewards of each arm, not all 0.
        totals : ndarray
            Their sums.
        squares : ndarray or None
            Sums of their squared deviations from the arm's sample mean, if known.
        """
        raise ValueError(
            f"bandit must be of a kind whose posterior is a bandit, got {self.a_kind} one, which has no "
            "conjugate_posterior"
        )

    def subset(self, arms: Sequence[int]) -> Bandit:
        """Return the bandit of some of the arms, in the given order, with their priors.

        Parameters
        ----------
        arms : sequence of int
            Numbers of the arms, without repetition.

        Examples
        --------
        >>> BernoulliBandit(alpha=[1, 2, 3], beta=[1, 1, 1]).subset([0, 2])
        BernoulliBandit(alpha=[1., 3.], beta=[1., 1.])
        """
        return changed_arms.subset(self, arms)

    def with_arm(self, **fields: Any) -> Bandit:
        """Return the bandit with one arm more.

        Parameters
        ----------
        **fields : float
            The new arm's entries in the constructor's `arm_fields`; numbers for all arms may be left out.

        Examples
        --------
        >>> BernoulliBandit(alpha=[1, 1], beta=[1, 1]).with_arm(alpha=1, beta=30)
        BernoulliBandit(alpha=[1., 1., 1.], beta=[ 1., 1., 30.])
        """
        return changed_arms.with_arm(self, fields)

    def log_evidence(self, counts: NDArray[np.int64], totals: Array, squares: Array) -> float:
        """Return the logarithm of the prior density of some rewards, for posterior weights of mixtures.

        Terms that are the same for all bandits of this kind are left out.

        Parameters
        ----------
        counts : ndarray
            Number of rewards of each arm.
        totals : ndarray
            Their sums.
        squares : ndarray
            Sums of their squared deviations from the arm's sample mean.
        """
        return math.fsum(self.arm_log_evidence(counts, totals, squares).tolist())

    def arm_log_evidence(self, counts: NDArray[np.int64], totals: Array, squares: Array) -> Array:
        """Return the terms of `log_evidence`, one for each arm, where arms are independent.

        A model with independent arms implements this function, others implement `log_evidence`.

        Parameters
        ----------
        counts : ndarray
            Number of rewards of each arm.
        totals : ndarray
            Their sums.
        squares : ndarray
            Sums of their squared deviations from the arm's sample mean.
        """
        raise ValueError(f"bandits must be of a kind that can be mixed, got {self.kind}")

    def accepts_rewards_of(self, other: Bandit) -> bool:
        """Whether a belief of this kind can learn from the other bandit's rewards.

        Parameters
        ----------
        other : Bandit
            The bandit that gives the rewards.
        """
        return True

    def no_prior_model(self) -> Any:
        """Return the belief of a policy that uses no prior."""
        if self.reward_proxy == math.inf:
            raise ValueError(f"policy must not need sub-Gaussian rewards: those of {self.kind} bandits are not")
        return NoPriorModel(self.reward_proxy)

    def for_costs(self) -> Bandit:
        """Return the bandit of rewards to maximise, if the rewards of this one are costs to minimise.

        A reward is minus the cost, or 1 - cost for Bernoulli costs. Regret is the same.
        """
        raise ValueError(
            f"costs must be bernoulli, gaussian, linear or normal-gamma to be minimised, got {self.kind} ones"
        )

    def world(self) -> Any:
        """Return a model for one thread to draw from, with its own arrays if an instance is more than its means."""
        return self.model

    def best_exploration(self, horizon: int) -> int:
        """Return the number of rounds of uniform exploration, before a commitment, that minimises Bayes regret.

        Parameters
        ----------
        horizon : int
            Number of rounds.
        """
        # Imported here because it needs SciPy, which is slow to load.
        from bayesregret.exact.explore_commit.best_length import best_exploration_length

        return best_exploration_length(self, checks.whole("horizon", horizon, 1))

    def draw_means(self, runs: int, *, seed: int, first_run: int = 0) -> Array:
        """Return the mean rewards of the instances that `simulate` draws with this seed.

        Parameters
        ----------
        runs : int
            Number of instances.
        seed : int
            Seed of the simulation.
        first_run : int
            Number of the first run, from 0.

        Returns
        -------
        ndarray
            Of shape (runs, arms).
        """
        means = np.empty((checks.whole("runs", runs, 0), self.arms))
        first_run = checks.whole("first_run", first_run, 0)
        key = seed_key(checks.whole("seed", seed, 0))
        with np.errstate(over="ignore"):
            compile_kernel(_draw_means_of_runs, type(self.model))(self.world(), key, first_run, means)
        return means

    def draw_instance(self, *, seed: int, run: int = 0) -> Instance:
        """Return the instance of one run of `simulate`.

        Parameters
        ----------
        seed : int
            Seed of the simulation.
        run : int
            Number of the run, from 0.
        """
        means = self.draw_means(1, seed=seed, first_run=run)[0]
        return Instance(means, means)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for a problem file: `model` and the constructor's arguments."""
        return {"model": self.kind} | {
            name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in self.settings().items()
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return functools.partial(type(self), **self.settings()), ()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = self.settings(), other.settings()
        return mine.keys() == theirs.keys() and all(np.array_equal(mine[name], theirs[name]) for name in mine)

    def __hash__(self) -> int:
        parts = (value.tobytes() if isinstance(value, np.ndarray) else value for value in self.settings().values())
        return hash((type(self), *parts))

    def __repr__(self) -> str:
        parts = (f"{name}={_brief(value)}" for name, value in self.settings().items())
        return f"{type(self).__name__}({', '.join(parts)})"


class MakesBandit(Protocol):
    """An object that stands for a bandit: a fitted prior, or an agent with what it has learned."""

    def bandit(self) -> Bandit:
        """Return the bandit."""
        ...


BanditLike: TypeAlias = Bandit | MakesBandit


def as_bandit(given: BanditLike) -> Bandit:
    """Return a bandit as it is, and the bandit of a fitted prior or an agent."""
    if isinstance(given, Bandit):
        return given
    make = getattr(given, "bandit", None)
    if not callable(make) or isinstance(given, type):
        is_file = isinstance(given, str) and given.endswith((".toml", ".json"))
        hint = f"; load_problem({given!r}) reads one" if is_file else ""
        raise ValueError(f"{checks.fail('bandit', 'a bandit such as GaussianBandit', given)}{hint}")
    return make()  # type: ignore[no-any-return]


def check_sums_of_positive(counts: NDArray[np.int64], totals: Array, squares: Array | None) -> None:
    """`Bandit.check_sums` for rewards of which none is negative: one of them may be the whole total."""
    if (totals < 0.0).any():
        raise ValueError("totals must not be negative")
    if squares is not None and (squares > SUM_SLACK * totals * totals).any():
        raise ValueError("squares must be at most those of a single reward that is the whole total")


def _brief(value: Any) -> str:
    """Text of a setting; long arrays are abbreviated."""
    if not isinstance(value, np.ndarray):
        return repr(value)
    shape = f" ({' x '.join(map(str, value.shape))})" if value.size > 12 else ""
    text = np.array2string(value, separator=", ", threshold=12, edgeitems=2, max_line_width=10**6)
    return " ".join(text.split()) + shape


def _draw_means_of_runs(model: Any, key: Any, first_run: int, means: NDArray[np.float64]) -> None:
    for row in range(means.shape[0]):
        start = run_word(key, first_run + row)
        draw_means(model, means[row], open_stream(key, start, INSTANCE))
