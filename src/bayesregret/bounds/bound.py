"""What a bound is: a number with its evidence, and how a formula of the paper becomes one."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from bayesregret import checks
from bayesregret.models import Bandit

Form = Literal["paper", "certified"]
Kind = Literal["upper", "lower", "quantity"]

# Beyond this many rounds neighbouring counts of pulls are the same floating-point number.
LARGEST_HORIZON = 2**53
# Points of a rule on each panel. Every number is computed with both: the finer is told, their difference is its error.
FINE, COARSE = 12, 9
# What rounding alone may do to a value, relative to the sum of its terms' sizes.
ROUNDING = 1e-14


class Setting(NamedTuple):
    """What a formula is asked for: n, delta and epsilon of the paper."""

    horizon: int
    delta: float
    epsilon: float | None  # None: 1/n in the paper's formulas, the best one in the certified ones

    @property
    def paper_epsilon(self) -> float:
        return 1.0 / self.horizon if self.epsilon is None else self.epsilon

    @property
    def L(self) -> float:  # noqa: N802
        """log(1/delta)."""
        return abs(math.log(self.delta))  # and not -0 at delta = 1

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
    """What a formula gives. The first term is the leading one; the value is the sum of all."""

    terms: Mapping[str, float]
    details: Mapping[str, float | str] = {}
    why_not: str | None = None  # the assumption that fails here
    note: str | None = None  # what a reader must know to use the number
    error: float | None = None  # the formula's own error estimate, where it is not the difference of two rules
    unseen_error: float = 0.0  # what the difference of two rules does not show


class DoesNotHold(ValueError):  # noqa: N818 - it is an answer
    """A certified form was asked for where it is not proved; `reason` says why not."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name} does not hold here: {reason}")
        self.reason = reason


@dataclass(frozen=True)
class Bound:
    """A number with its evidence.

    `terms` are named parts that add up to `value`; `error` estimates the numerical error; `applies` says whether the
    assumptions of the statement hold here and `why_not` which one fails. `kind` is "upper" or "lower" for bounds on
    the Bayes regret of `policy`, "quantity" for what only enters bounds.
    """

    name: str
    form: Form
    kind: Kind
    source: str
    policy: str
    value: float
    terms: Mapping[str, float]
    error: float
    applies: bool
    why_not: str | None
    note: str | None
    details: Mapping[str, float | str] = field(default_factory=dict)

    @property
    def leading(self) -> float:
        """The leading term, what the paper's figures draw."""
        return next(iter(self.terms.values()))

    @property
    def remainder(self) -> float:
        """The sum of all terms but the leading one."""
        return sum(list(self.terms.values())[1:])

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `bayesregret bounds --json` prints them."""
        return {
            "name": self.name,
            "form": self.form,
            "kind": self.kind,
            "source": self.source,
            "policy": self.policy,
            "value": self.value,
            "leading": self.leading,
            "remainder": self.remainder,
            "error": self.error,
            "applies": self.applies,
            "why_not": self.why_not,
            "note": self.note,
            "terms": dict(self.terms),
            "details": dict(self.details),
        }

    def __str__(self) -> str:
        state = "" if self.applies else f" (does not apply: {self.why_not})"
        return f"{self.name} [{self.form}, {self.source}] = {self.value:.10g}{state}"


Body = Callable[..., Parts]


class Formula:
    """A named result with one body for each kind of bandit it is stated for.

    A body takes the bandit, the setting and the order of the rules to integrate with, and returns `Parts`.
    """

    every: dict[str, Formula] = {}  # noqa: RUF012 - all formulas by name, in the order they are told

    def __init__(
        self,
        name: str,
        form: Form,
        doc: str,
        *,
        policy: str = "bayes-ucb",
        kind: Kind = "upper",
        listed: bool = True,  # in a table of all bounds
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
        """Register the body for a kind of bandit, with the statement it comes from."""

        def register(body: Body) -> Body:
            self.bodies[bandit.kind] = (source, body)
            return body

        return register

    def fits(self, bandit: Bandit) -> bool:
        return bandit.kind in self.bodies

    def __call__(
        self, bandit: Bandit, *, horizon: int, delta: float | None = None, epsilon: float | None = None, **options: Any
    ) -> Bound:
        if not isinstance(bandit, Bandit):
            raise checks.fail("bandit", "a bandit", bandit)
        if not self.fits(bandit):
            raise ValueError(f"{self.name} is stated for {' and '.join(self.bodies)} bandits, got {bandit.a_kind} one")
        bound = _evaluate(self, bandit, make_setting(horizon, delta, epsilon), tuple(sorted(options.items())))
        # What a caller does to its evidence must not reach the next one.
        return replace(bound, terms=dict(bound.terms), details=dict(bound.details))

    def __repr__(self) -> str:
        return f"<bound {self.name}>"


def make_setting(horizon: Any, delta: Any = None, epsilon: Any = None) -> Setting:
    """A checked setting; delta is 1/horizon if None."""
    horizon = checks.whole("horizon", horizon, 1, LARGEST_HORIZON)
    delta = 1.0 / horizon if delta is None else checks.probability("delta", delta)
    return Setting(horizon, delta, None if epsilon is None else checks.positive("epsilon", epsilon))


@functools.lru_cache(maxsize=512)
def _evaluate(formula: Formula, bandit: Bandit, setting: Setting, options: tuple[tuple[str, Any], ...]) -> Bound:
    source, body = formula.bodies[bandit.kind]
    parts = body(bandit, setting, FINE, **dict(options))
    if parts.why_not is not None and formula.form == "certified":
        raise DoesNotHold(formula.name, parts.why_not)
    value = math.fsum(parts.terms.values()) if all(map(math.isfinite, parts.terms.values())) else math.inf
    if parts.error is not None:
        error = parts.error
    elif math.isinf(value):
        error = 0.0
    else:
        coarse = math.fsum(body(bandit, setting, COARSE, **dict(options)).terms.values())
        rounding = ROUNDING * math.fsum(map(abs, parts.terms.values()))
        error = abs(value - coarse) + rounding + parts.unseen_error
    return Bound(
        name=formula.name,
        form=formula.form,
        kind=formula.kind,
        source=source,
        policy=formula.policy,
        value=value,
        terms={name: float(term) for name, term in parts.terms.items()},
        error=error,
        applies=parts.why_not is None,
        why_not=parts.why_not,
        note=parts.note,
        details={name: at if isinstance(at, str) else float(at) for name, at in parts.details.items()},
    )
