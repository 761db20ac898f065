"""The formula `certified`: the smallest certified bound that holds."""

from __future__ import annotations

from collections.abc import Iterator

from bayesregret.bounds.bound import NUMERICAL_ERROR, DoesNotHold, Formula, Parts, Setting
from bayesregret.bounds.catalog import certified
from bayesregret.bounds.result import Bound
from bayesregret.models import (
    Bandit,
    BernoulliBandit,
    ExponentialBandit,
    GaussianBandit,
    LinearBandit,
    MixtureBandit,
    NormalGammaBandit,
    PoissonBandit,
)


@certified.of(GaussianBandit, "the smallest of all")
@certified.of(BernoulliBandit, "the smallest of all")
@certified.of(LinearBandit, "the smallest of all")
@certified.of(PoissonBandit, "the smallest of all")
@certified.of(ExponentialBandit, "the smallest of all")
@certified.of(NormalGammaBandit, "the smallest of all")
@certified.of(MixtureBandit, "the smallest of all")
def smallest(bandit: Bandit, setting: Setting, order: int) -> Parts:
    best = min(_holding(bandit, setting), key=lambda bound: bound.value)
    # The numerical error becomes a term of this bound like that of every other one.
    terms = {name: term for name, term in best.terms.items() if name != NUMERICAL_ERROR}
    return Parts(terms, {"name": best.name, **best.details}, note=f"from {best.name}", error=best.error)


def _holding(bandit: Bandit, setting: Setting) -> Iterator[Bound]:
    """Yield all certified bounds that hold; the trivial one always does."""
    delta = setting.delta if setting.delta < 1.0 else None  # 1 is the default at horizon 1, and rejected as an argument
    for formula in Formula.every.values():
        is_proved = (formula.form, formula.kind) == ("certified", "upper") and formula.is_about(certified.policy)
        if is_proved and formula is not certified and formula.covers(bandit):
            try:
                yield formula(bandit, horizon=setting.horizon, delta=delta, epsilon=setting.epsilon)
            except DoesNotHold:
                continue
