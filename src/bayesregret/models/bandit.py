"""What every Bayesian bandit has: arms, a prior to draw instances from, and a reward distribution."""

from __future__ import annotations

import functools
import inspect
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayesregret import checks
from bayesregret.checks import Array
from bayesregret.contracts import draw_means
from bayesregret.dispatch import compile_kernel
from bayesregret.models.no_prior import NoPriorModel
from bayesregret.rng import INSTANCE, open_stream, run_word, seed_key


@dataclass(frozen=True, eq=False)
class Instance:
    """One draw from the prior: what the policy does not know.

    `parameter` is the model parameter theta; for K-armed bandits it is the vector of mean rewards itself.
    """

    mean_rewards: Array
    parameter: Array

    @functools.cached_property
    def best_arm(self) -> int:
        """The arm with the highest mean reward, the lowest-numbered one on ties."""
        return int(np.argmax(self.mean_rewards))

    @functools.cached_property
    def gaps(self) -> Array:
        """How much each arm's mean reward falls short of the best one's."""
        return np.asarray(self.mean_rewards[self.best_arm] - self.mean_rewards)

    @property
    def min_gap(self) -> float:
        """The smallest gap among the other arms; infinite if there is no other arm."""
        return float(np.delete(self.gaps, self.best_arm).min(initial=np.inf))


class Bandit:
    """A prior over bandit instances together with a reward distribution.

    A subclass names itself (`kind`), keeps its constructor's arguments under their own names, and sets the attributes
    below. Two bandits are equal when these arguments are. See CONTRIBUTING.md for a whole model.
    """

    kind: ClassVar[str]
    arms: int
    model: Any  # the NamedTuple that the functions of `bayesregret.contracts` are implemented for
    # The sub-Gaussian variance proxy of a reward around its mean, the arms' largest; infinite where there is none.
    reward_proxy: float

    @property
    def a_kind(self) -> str:
        """For messages: a gaussian, an exponential."""
        return f"{'an' if self.kind[0] in 'aeiou' else 'a'} {self.kind}"

    def settings(self) -> dict[str, Any]:
        """The constructor's arguments by name, without those that are None."""
        given = {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}
        return {name: value for name, value in given.items() if value is not None}

    def check_reward(self, reward: Any) -> float:
        """A reward that this bandit can give, as a float; ValueError otherwise."""
        number = checks.real("reward", reward)
        if abs(number) > checks.LARGEST:
            raise checks.fail("reward", f"at most {checks.LARGEST:g} in size", reward)
        return number

    def accepts_rewards_of(self, other: Bandit) -> bool:
        """Whether a belief of this kind can learn from the other bandit's rewards."""
        return True

    def no_prior_model(self) -> Any:
        """The same rewards without a prior: what a policy that knows none believes."""
        if self.reward_proxy == math.inf:
            raise ValueError(f"policy must not need sub-Gaussian rewards: those of {self.kind} bandits are not")
        return NoPriorModel(self.reward_proxy)

    def world(self) -> Any:
        """The model for one thread to draw from; one with room of its own, if an instance is more than its means."""
        return self.model

    def best_exploration(self, horizon: int) -> int:
        """How many rounds of all arms in turn are best before the highest posterior mean is taken for good."""
        from bayesregret.exact.explore_commit.best_length import (
            best_exploration,  # needs SciPy, which takes long to load
        )

        return best_exploration(self, checks.whole("horizon", horizon, 1))

    def draw_means(self, runs: int, *, seed: int, first_run: int = 0) -> Array:
        """(runs, arms): the mean rewards of the instances that `simulate` meets with this seed."""
        means = np.empty((checks.whole("runs", runs, 0), self.arms))
        first_run = checks.whole("first_run", first_run, 0)
        key = seed_key(checks.whole("seed", seed, 0))
        with np.errstate(over="ignore"):
            compile_kernel(_draw_means_of_runs, type(self.model))(self.world(), key, first_run, means)
        return means

    def draw_instance(self, *, seed: int, run: int = 0) -> Instance:
        """The instance that `simulate` meets in one run."""
        means = self.draw_means(1, seed=seed, first_run=run)[0]
        return Instance(means, means)

    def to_dict(self) -> dict[str, Any]:
        """Plain data that a problem file can hold: `model` and the constructor's arguments."""
        return {"model": self.kind} | {
            name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in self.settings().items()
        }

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


def _brief(value: Any) -> str:
    """A setting as it is printed: long arrays by their ends."""
    if not isinstance(value, np.ndarray):
        return repr(value)
    shape = f" ({' x '.join(map(str, value.shape))})" if value.size > 12 else ""
    text = np.array2string(value, separator=", ", threshold=12, edgeitems=2, max_line_width=10**6)
    return " ".join(text.split()) + shape


def _draw_means_of_runs(model: Any, key: Any, first_run: int, means: NDArray[np.float64]) -> None:
    for row in range(means.shape[0]):
        start = run_word(key, first_run + row)
        draw_means(model, means[row], open_stream(key, start, INSTANCE))
