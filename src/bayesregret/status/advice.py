"""Advice for a running experiment: go on, stop and keep an arm, or doubt the prior."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from bayesregret.digits import upper_bound_digits, with_error, with_thousands
from bayesregret.status.misfit import Misfit
from bayesregret.status.to_come import Stopping, ToCome

# Keeping the leader is advised if it loses less than this fraction of what keeping the first one would have lost.
NEGLIGIBLE = 1e-3
LEAST = 1e-300  # p-value that is written
MANY = 1e6  # times: more are written with an exponent
CERTAINTY = 2.0  # standard errors by which keeping the leader must lose less than going on, where that is simulated

Action = Literal["go on", "stop", "doubt the prior", "over"]


class Advice(NamedTuple):
    """What to do, in one sentence, and why."""

    action: Action
    sentence: str
    why: str


def advise(
    leader: str,
    rest: str,
    stopping: Stopping,
    at_start: float,
    to_come: ToCome | None,
    misfit: Misfit | None,
    is_over: bool,
) -> Advice:
    """Return the advice; `rest` names the rounds that are left, such as "900 visitors"."""
    if misfit is not None and misfit.raises_alarm:
        return _doubt(misfit)
    keep = f"keep {leader}"
    if is_over:
        return Advice("over", f"The experiment is over: {keep}.", "It has the highest posterior mean.")
    loss = _shown(stopping.loss, stopping.error)
    if stopping.loss + CERTAINTY * stopping.error <= NEGLIGIBLE * at_start:
        why = f"Over the {rest} left this loses {loss} in expectation, next to nothing."
        return Advice("stop", f"Stop and {keep}.", why)
    if to_come is None:
        return Advice(
            "go on", "Go on.", f"To {keep} from now on would lose {loss} in expectation over the {rest} left."
        )
    going_on = _shown(to_come.regret, to_come.error if to_come.how == "simulated" else 0.0)
    spread = CERTAINTY * math.hypot(stopping.error, to_come.error)
    if stopping.loss + spread <= to_come.regret:
        why = f"Over the {rest} left this loses {loss} in expectation, and going on {going_on}."
        return Advice("stop", f"Stop and {keep}.", why)
    compared = "more than" if stopping.loss > to_come.regret + spread else "about as much as"
    why = (
        f"To {keep} from now on would lose {loss} in expectation over the {rest} left, {compared} going on: {going_on}."
    )
    return Advice("go on", "Go on.", why)


def _doubt(misfit: Misfit) -> Advice:
    highest = math.exp(min(misfit.highest, 700.0))
    times = f"{highest:,.0f}" if highest < MANY else f"{highest:.1e}"
    most = upper_bound_digits(max(misfit.p_value, LEAST), 2)
    why = (
        f"The rewards were {times} times as likely under other priors, best where {misfit.better}; if the prior "
        f"were right, this would ever happen with probability at most {most}."
    )
    return Advice("doubt the prior", "The prior looks wrong: do not trust the other numbers.", why)


def _shown(value: float, error: float) -> str:
    if error > 0.0:
        return with_thousands(with_error(value, error))
    return with_thousands(f"{value:.3g}" if value < 1000.0 else f"{value:.0f}")
