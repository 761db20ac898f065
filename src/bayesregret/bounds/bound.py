"""Bounds and formulas: a bound is a number with its evidence, a formula computes bounds for several kinds of bandit."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from bayesregret import checks
from bayesregret.bounds.result import Bound, Form, Kind
from bayesregret.models import Bandit, MixtureBandit
from bayesregret.models.bandit import BanditLike, as_bandit

ANY = "any"  # in place of a policy's name: the statement is about all policies
# Beyond this many rounds neighbouring numbers of pulls are the same floating-point number.
LARGEST_HORIZON = 2**53
# Points per panel of the two quadrature rules: the finer rule gives the value, their difference its error.
FINE, COARSE = 12, 9
# Rounding error of a value, relative to the sum of its terms' absolute values.
ROUNDING = 1e-14
# The term of a certified bound by which its value is on the safe side of what was computed.
NUMERICAL_ERROR = "numerical error"


class Setting(NamedTuple):
    """The arguments of a formula: n, delta and epsilon of the paper."""

    horizon: int
    delta: float
    epsilon: float | None  # None: 1/n in the paper's formulas, the best epsilon in the certified ones

    @property
    def paper_epsilon(self) -> float:
        """The epsilon of the paper's formulas."""
        return 1.0 / self.horizon if self.epsilon is None else self.epsilon

    @property
    def L(self) -> float:  # noqa: N802
        """log(1/delta)."""
        return abs(math.log(self.delta))  # abs avoids -0 at delta = 1

    @property
    def z(self) -> float:
        """sqrt(2 log(1/delta)): the width of a confidence interval in standard deviations."""
        return math.sqrt(2.0 * self.L)

    @property
    def density(self) -> float:
        """The normal density at z, delta / sqrt(2 pi)."""
        return self.delta / math.sqrt(2.0 * math.pi)

    @property
    def tail(self) -> float:
        """The normal tail beyond z."""
        return 0.5 * math.erfc(math.sqrt(self.L))

    @property
    def excess(self) -> float:
        """E(Z - z)^+ for a standard normal Z: density - z tail."""
        return max(0.0, self.density - self.z * self.tail)


class Parts(NamedTuple):
    """The result of a formula's body. The first term is the leading one; the value is the sum of all terms."""

    terms: Mapping[str, float]
    details: Mapping[str, float | str] = {}
    why_not: str | None = None  # the assumption that fails here
    note: str | None = None  # a caveat for readers of the number
    error: float | None = None  # the body's error estimate, if it is not the difference of two rules
    unseen_error: float = 0.0  # error that the difference of two rules does not show


class DoesNotHold(ValueError):  # noqa: N818 - it is an answer
    """A certified bound was requested where it is not proved.

    Parameters
    ----------
    name : str
        Name of the bound.
    reason : str
        The assumption that fails, in words.

    Attributes
    ----------
    reason : str
        The assumption that fails, in words.

    Examples
    --------
    >>> bandit = GaussianBandit([0, 0], prior_width=1, reward_noise=1, noise_kind="rademacher")
    >>> try:
    ...     bounds.certified_floor(bandit, horizon=100)
    ... except bounds.DoesNotHold as refusal:
    ...     print(refusal.reason)
    rewards must be Gaussian, and noise_kind is rademacher
    """

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name} does not hold here: {reason}")
        self.reason = reason


Body = Callable[..., Parts]


class Formula:
    """A named bound with one body per kind of bandit that it covers.

    Call a formula with a bandit and a horizon to get a `Bound`. Creating a formula registers it in `Formula.every`,
    so that `bounds.table` and `bounds.audit` include it.

    Parameters
    ----------
    name : str
        Public name.
    form : {"paper", "certified"}
        As printed in the paper, or proved. A certified formula raises `DoesNotHold` where an assumption fails.
    doc : str
        Description in one sentence.
    policy : str
        Name of the policy that the statement is about.
    kind : {"upper", "lower", "quantity"}
        Upper or lower bound on Bayes regret, or a quantity that enters such bounds.
    listed : bool
        Whether `bounds.table` includes the formula.

    Attributes
    ----------
    every : dict[str, Formula]
        All formulas by name, in the order of definition.

    Examples
    --------
    >>> bandit = GaussianBandit(prior_mean=[1, 0, 0], prior_width=1, reward_noise=1)
    >>> bounds.sqrt.__doc__
    'The earlier square-root bound, eq. (3), and its counterpart for linear bandits, eq. (4).'
    >>> bounds.certified_min_gap.covers(bandit)
    False
    >>> print(bounds.sqrt(bandit, horizon=100))
    sqrt bound on bayes-ucb [paper, eq. (3)] = 176.9732267 (does not apply: the paper prints the leading term alone, \
with no remainder)
    """

    every: dict[str, Formula] = {}  # noqa: RUF012 - shared by all formulas on purpose

    def __init__(
        self,
        name: str,
        form: Form,
        doc: str,
        *,
        policy: str = "bayes-ucb",
        kind: Kind = "upper",
        listed: bool = True,
    ) -> None:
        self.name = self.__name__ = name
        self.form = form
        self.kind = kind
        self.policy = policy
        self.listed = listed
        self.__doc__ = doc
        self.bodies: dict[str, tuple[str, Body]] = {}
        Formula.every[name] = self

    def of(self, bandit: type[Bandit], source: str) -> Callable[[Body], Body]:
        """Return a decorator that registers the body for one kind of bandit.

        Parameters
        ----------
        bandit : type[Bandit]
            The class of bandits that the body covers.
        source : str
            The statement that the body computes, e.g. "Theorem 1".

        Returns
        -------
        Callable
            A decorator of a function that takes the bandit, the setting and the order of the quadrature rules, and
            returns `Parts`.
        """

        def register(body: Body) -> Body:
            self.bodies[bandit.kind] = (source, body)
            return body

        return register

    def covers(self, bandit: Bandit | type[Bandit]) -> bool:
        """Return whether the formula has a body for this kind of bandit, and for the components of a mixture.

        Parameters
        ----------
        bandit : Bandit or type[Bandit]
            A bandit or its class.
        """
        parts = set() if isinstance(bandit, type) else {bandit.representative.kind}
        return {bandit.kind} | parts <= self.bodies.keys()

    def is_about(self, policy: str) -> bool:
        """Return whether the statement is about this policy, or about all.

        Parameters
        ----------
        policy : str
            Name of a policy.
        """
        return self.policy in (policy, ANY)

    def source(self, bandit: Bandit) -> str:
        """Return the statement that the formula comes from, for this kind of bandit.

        Parameters
        ----------
        bandit : Bandit
            A bandit that the formula covers.
        """
        return self.bodies[bandit.kind][0]

    def body(self, bandit: Bandit) -> Body:
        """Return the function that computes the terms, for this kind of bandit.

        Parameters
        ----------
        bandit : Bandit
            A bandit that the formula covers.
        """
        return self.bodies[bandit.kind][1]

    def __call__(
        self,
        bandit: BanditLike,
        *,
        horizon: int | None = None,
        delta: float | None = None,
        epsilon: float | None = None,
        **options: Any,
    ) -> Bound:
        """Compute the bound for a bandit.

        Parameters
        ----------
        bandit : Bandit, FittedPrior or Agent
            The problem; its prior is the one that the bound averages over.
        horizon : int
            Number of rounds n.
        delta : float or None
            Confidence parameter of the policy's intervals, 1/horizon if None.
        epsilon : float or None
            Gaps below epsilon count as epsilon. If None: 1/horizon in the paper's forms, the best epsilon in the
            certified ones.
        **options
            Arguments of a single formula, such as `gap` of `action_bound` or `constant` of `prior_dependent`.

        Returns
        -------
        Bound
            The number with its evidence.

        Raises
        ------
        DoesNotHold
            If the form is certified and not proved for these arguments.
        """
        if horizon is None:
            raise TypeError(f"horizon must be given: {self.name}(bandit, horizon=1000)")
        bandit = as_bandit(bandit)
        if not self.covers(bandit):
            kinds = " and ".join(kind for kind in self.bodies if kind != MixtureBandit.kind)
            mixed = f"a mixture of {bandit.representative.kind} bandits"
            got = mixed if isinstance(bandit, MixtureBandit) else f"{bandit.a_kind} one"
            raise ValueError(f"{self.name} is stated for {kinds} bandits, got {got}")
        bound = _evaluate(self, bandit, make_setting(horizon, delta, epsilon), tuple(sorted(options.items())))
        # The bound is cached: hand out copies of its mappings.
        return replace(bound, terms=dict(bound.terms), details=dict(bound.details))

    def __repr__(self) -> str:
        return f"<bound {self.name}>"


def make_setting(horizon: int, delta: float | None = None, epsilon: float | None = None) -> Setting:
    """Return a checked setting; delta is 1/horizon if None."""
    horizon = checks.whole("horizon", horizon, 1, LARGEST_HORIZON)
    delta = 1.0 / horizon if delta is None else checks.probability("delta", delta)
    return Setting(horizon, delta, None if epsilon is None else checks.positive("epsilon", epsilon))


@functools.lru_cache(maxsize=512)
def _evaluate(formula: Formula, bandit: Bandit, setting: Setting, options: tuple[tuple[str, Any], ...]) -> Bound:
    source, body = formula.bodies[bandit.kind]
    parts = body(bandit, setting, FINE, **dict(options))
    if parts.why_not is not None and formula.form == "certified":
        raise DoesNotHold(formula.name, parts.why_not)
    value = total(parts.terms)
    if parts.error is not None:
        error = parts.error
    elif math.isinf(value):
        error = 0.0
    else:
        coarse = math.fsum(body(bandit, setting, COARSE, **dict(options)).terms.values())
        rounding = ROUNDING * math.fsum(map(abs, parts.terms.values()))
        error = abs(value - coarse) + rounding + parts.unseen_error
    terms = {**parts.terms, **_safety_margin(formula, value, error)}
    return Bound(
        name=formula.name,
        form=formula.form,
        kind=formula.kind,
        source=source,
        policy=formula.policy,
        value=total(terms),
        terms={name: float(term) for name, term in terms.items()},
        error=error,
        applies=parts.why_not is None,
        why_not=parts.why_not,
        note=parts.note,
        details={name: detail if isinstance(detail, str) else float(detail) for name, detail in parts.details.items()},
    )


def total(terms: Mapping[str, float]) -> float:
    """Return the sum of all terms, infinite if one of them is."""
    return math.fsum(terms.values()) if all(map(math.isfinite, terms.values())) else math.inf


def _safety_margin(formula: Formula, value: float, error: float) -> dict[str, float]:
    """Return the term that makes a certified bound hold whatever the numerical error is; nothing for other numbers.

    No regret is negative, so a lower bound need not go below 0.
    """
    if formula.form != "certified" or formula.kind == "quantity" or error == 0.0 or math.isinf(value):
        return {}
    return {NUMERICAL_ERROR: error if formula.kind == "upper" else -min(error, max(0.0, value))}
