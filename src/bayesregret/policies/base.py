"""The base classes of policies: a name, settings for a horizon, and a belief about a bandit."""

from __future__ import annotations

import dataclasses
import inspect
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from bayesregret import checks
from bayesregret.contracts import prior_total, variance_proxy
from bayesregret.elementary import log
from bayesregret.sources import is_outside

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bayesregret.agent import Agent
    from bayesregret.contracts import Stats
    from bayesregret.models import Bandit
    from bayesregret.models.bandit import BanditLike

# Largest exponent c of QuantileUCB and factor c of KL-UCB, whose proofs need 5 and 3: beyond it numbers overflow.
LARGEST_C = 100.0


class Policy(ABC):
    """A bandit policy: data plus one formula.

    Subclass it as a frozen dataclass, and implement one of the functions in `bayesregret.contracts` for the class of
    its settings; the how-to guide "Write a policy" has whole policies in twenty lines.

    Attributes
    ----------
    name : str
        Name in results, in saved agents, and as a text in place of the policy. Policies of the package have their
        names, which no other class may take, and they alone are known on the command line.
    needs : tuple
        Contract functions that a belief must implement for this policy.
    more_than_posterior : str
        Why a fresh start on the posterior would decide otherwise, for policies without `continued`.
    classes : dict
        All policies by their names: those of the package, and your own once they are imported.

    Examples
    --------
    >>> sorted(Policy.classes)[:3]
    ['bayes-optimal', 'bayes-ucb', 'epsilon-greedy']
    """

    name: ClassVar[str]
    needs: ClassVar[tuple[Any, ...]] = ()
    more_than_posterior: ClassVar[str] = "it may need the counts of pulls or of rounds"
    classes: ClassVar[dict[str, type[Policy]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "ClassVar" not in str(_hints(cls).get("name", "ClassVar")):
            raise TypeError(
                f"{cls.__name__}.name must have no annotation, which would make it a setting: write name = ..."
            )
        if "name" in cls.__dict__:
            taken = Policy.classes.get(cls.name)
            if taken is not None and is_outside((cls,)) and not is_outside((taken,)):
                raise ValueError(f"{cls.__name__}.name must not be that of a policy of the package, got {cls.name!r}")
            Policy.classes[cls.name] = cls

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Refuse a class without the constructor that `@dataclass` makes."""
        kind = type(self)
        if kind.__init__ is not Policy.__init__:
            return
        fields = [name for each in kind.__mro__ for name, hint in _hints(each).items() if "ClassVar" not in str(hint)]
        if fields:
            raise TypeError(f"{kind.__name__} has fields: write @dataclass(frozen=True) above class {kind.__name__}")
        if args or kwargs:
            raise TypeError(
                f"{kind.__name__} takes no settings: annotate its fields, and write @dataclass(frozen=True) above "
                f"class {kind.__name__}"
            )

    @abstractmethod
    def settings(self, bandit: Bandit, horizon: int | None) -> Any:
        """Return the NamedTuple that this policy's formula is implemented for.

        Parameters
        ----------
        bandit : Bandit
            The bandit to play.
        horizon : int or None
            Number of rounds, None if unknown.
        """

    def belief(self, bandit: Bandit) -> Any:
        """Return the model that the policy learns with, by default the bandit's own.

        Parameters
        ----------
        bandit : Bandit
            The bandit to play.
        """
        return bandit.model

    def memory(self, bandit: Bandit) -> int:
        """Return the length of `stats.memory` that the policy's `choose_arm` needs.

        Parameters
        ----------
        bandit : Bandit
            The bandit to play.
        """
        return 0

    def scratch(self, bandit: Bandit) -> int:
        """Return the length of `stats.scratch` that the policy's `choose_arm` needs.

        Parameters
        ----------
        bandit : Bandit
            The bandit to play.
        """
        return 0

    def linear_scratch(self, rank: int, columns: int) -> int:
        """Return the length of `stats.scratch` that the policy's `choose_linear` needs.

        Parameters
        ----------
        rank, columns : int
            Shape of `posterior.roots`; by default there is one number for each row and each column.
        """
        return rank + columns

    def check_memory(self, settings: tuple[Any, ...], belief: tuple[Any, ...], stats: Stats, rounds: int) -> None:  # noqa: B027 (no need)
        """Raise ValueError if `stats.memory`, read from a saved agent, cannot be this policy's.

        By default any finite numbers pass. A policy that takes numbers from its memory for arms, or for places in a
        table, must check them here.

        Parameters
        ----------
        settings : NamedTuple
            What `settings` returned.
        belief : NamedTuple
            What `belief` returned.
        stats : Stats
            The statistics, already checked, and the memory.
        rounds : int
            Number of decisions so far.
        """

    def fixed_for(self, bandit: Bandit, horizon: int | None) -> Policy:
        """Return the policy with settings in place of what it derives from the whole horizon, if anything.

        Parameters
        ----------
        bandit : Bandit
            The bandit to play.
        horizon : int or None
            Number of rounds, None if unknown.
        """
        return self

    def continued(self, posterior: Callable[[Bandit], Bandit], horizon: int | None) -> Policy:
        """Return the policy that makes this one's further decisions when it starts anew on the posterior.

        By default ValueError: decisions may depend on more than the posterior.

        Parameters
        ----------
        posterior : callable
            Returns the posterior of a prior.
        horizon : int or None
            Number of rounds that this policy was started for.
        """
        raise ValueError(
            f"policy must be one whose decisions depend on the posterior alone to start anew, got {self.name}: "
            f"{self.more_than_posterior}; to go on elsewhere, save the agent with to_json"
        )

    def start(
        self, bandit: BanditLike, *, horizon: int | None = None, seed: int = 0, arms: Sequence[str] | None = None
    ) -> Agent:
        """Start an agent that makes one decision at a time.

        Parameters
        ----------
        bandit : Bandit, FittedPrior or Agent
            The prior and the reward distribution.
        horizon : int, optional
            Number of rounds; needed by policies whose delta or tables depend on it.
        seed : int
            Seed of the policy's own random choices.
        arms : sequence of str, optional
            Names of the arms, by which the agent may be given rewards.
        """
        from bayesregret.agent.start import start_agent

        return start_agent(self, bandit, horizon, seed, arms)


def _hints(kind: type) -> dict[str, Any]:
    return inspect.get_annotations(kind) if issubclass(kind, Policy) else {}


def keep(policy: Policy, **checked: Any) -> None:
    """Store settings of a frozen policy again, as the plain Python values that their checks returned."""
    for name, value in checked.items():
        object.__setattr__(policy, name, value)


def optional_probability(field: str, value: Any) -> float | None:
    """Return a number strictly between 0 and 1, or None."""
    return None if value is None else checks.probability(field, value)


class BelievingPolicy(Policy):
    """A policy with a field `prior`: a bandit whose prior it believes in, by default the true one.

    Subclass it as a frozen dataclass with the field `prior: Bandit | None = None`.

    Attributes
    ----------
    prior : Bandit or None
        The bandit whose prior the policy believes in; None is the prior of whatever bandit it plays.

    Examples
    --------
    >>> issubclass(Thompson, BelievingPolicy), issubclass(UCB1, BelievingPolicy)
    (True, False)
    """

    prior: Bandit | None

    def __post_init__(self) -> None:
        is_bandit = hasattr(self.prior, "accepts_rewards_of") and not isinstance(self.prior, type)
        if self.prior is not None and not is_bandit:
            raise checks.fail("prior", "a bandit", self.prior)

    def belief(self, bandit: Bandit) -> Any:
        if self.prior is None:
            return bandit.model
        if self.prior.arms != bandit.arms:
            raise ValueError(f"prior must have the bandit's {bandit.arms} arms, got {self.prior.arms}")
        if not self.prior.accepts_rewards_of(bandit.representative):
            raise ValueError(
                f"prior must be one that can learn from {bandit.kind} rewards, got {self.prior.a_kind} one"
            )
        return self.prior.model


class PosteriorPolicy(BelievingPolicy):
    """A policy with a field `prior` whose decisions depend on its posterior alone, and on the rounds left.

    It has `continued`, so `agent.remaining()` can go on with it.

    Examples
    --------
    >>> bandit = BernoulliBandit(alpha=[1, 1], beta=[1, 1])
    >>> agent = Thompson(prior=BernoulliBandit(alpha=[2, 1], beta=[1, 2])).start(bandit)
    >>> agent.update(0, 1)
    >>> agent.remaining().policy.prior
    BernoulliBandit(alpha=[3., 1.], beta=[1., 2.])
    """

    def continued(self, posterior: Callable[[Bandit], Bandit], horizon: int | None) -> PosteriorPolicy:
        if self.prior is None:
            return self
        return dataclasses.replace(self, prior=posterior(self.prior))  # type: ignore[type-var]  # subclasses are dataclasses


def fixed_delta(delta: float | None, horizon: int | None) -> float | None:
    """Return delta, or one over the horizon where it is not given; None where that is no probability."""
    return 1.0 / horizon if delta is None and horizon is not None and horizon > 1 else delta


def has_no_width(belief: Any) -> bool:
    """Whether arms are independent without a variance proxy: then no confidence width is valid."""
    return prior_total.supports(belief) and not variance_proxy.supports(belief)


def log_inverse_delta(delta: float | None, horizon: int | None) -> float:
    """Return log(1/delta), with delta = 1/horizon where it is not given."""
    if delta is not None:
        return -log(checks.probability("delta", delta))
    if horizon is None:
        raise ValueError("delta must be given, a number strictly between 0 and 1, when there is no horizon")
    return log(horizon)
