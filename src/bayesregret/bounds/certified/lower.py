"""The lower bound for every policy, from one stopping problem per kind of arm. Proof: docs/theory/certified-lower.md.

With discount g = 1 - 1/n the least regret is n (E max_a theta_a - V), where V is the value of the best policy divided
by n, and V = high - (integral of the product of the arms' D_a from low to high). D_a(y) is the expected discount at the
time when arm a alone, against a charge y per pull, is given up. It rises with y, and its mean on a panel [y, y + h] is
1 + (S_a(y + h) - S_a(y)) / h, with S_a the largest expected surplus over the charge, divided by n. So on every panel
the product of the means is at most the mean of the product (Chebyshev's association inequality), and any panels give a
bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bayesregret.bounds.bound import Parts, Setting
from bayesregret.checks import Array
from bayesregret.exact.explore_commit.best_length import expected_best, expected_highest
from bayesregret.models import Bandit

FIRST_PANELS = 96
# ChargePanels shorter than this fraction of the range of charges are not halved: means of D would be lost in rounding.
SHORTEST = 1e-9
FLOAT = 1e-14  # or relative to the charges themselves
# Up to this horizon the error should be at most this fraction of the bound: panels are halved until the last halvings
# gained no more (two thirds of it are the error), if it takes no more than this many times the usual number of panels.
SHORT, ENOUGH, PATIENCE = 1_000, 1e-5, 8
# Rounding error of the value V and of the expected best mean, relative to the range of charges.
ROUNDING = 4e-15
# First rounds whose regret is bounded by itself, and the relative error of the expected means that this takes.
MOST_FLOORS, FLOOR_ERROR = 40, 1e-12


NO_REGRET = Parts({"leading": 0.0}, error=0.0)  # of a single arm


@dataclass(frozen=True, eq=False)
class StoppingCurve:
    """The stopping problem of one kind of arm."""

    copies: float  # arms of this kind
    index: float  # charge from which on the arm is not pulled at all
    low: float  # charge below which it is hardly ever given up
    surplus: Callable[[Array], Array]  # largest expected discounted surplus over charges, over n; never too small
    # How much larger the value of a bandit with such an arm can be, over n, because the recursion ends.
    neglected: float = 0.0
    # Other charges at which D jumps, nearly: panels that end there lose less.
    jumps: Array = field(default_factory=lambda: np.empty(0))


class ChargePanels:
    """ChargePanels of charges, with the surplus of each kind of arm at their edges."""

    def __init__(self, curves: Sequence[StoppingCurve]) -> None:
        self.low = max(curve.low for curve in curves)
        self.high = max(curve.index for curve in curves)
        self.curves = [curve for curve in curves if curve.index > self.low]
        jumps = np.concatenate([np.append(curve.jumps, curve.index) for curve in self.curves])
        inside = jumps[(jumps > self.low) & (jumps < self.high)]
        edges = np.unique(np.concatenate([np.linspace(self.low, self.high, FIRST_PANELS + 1), inside]))
        self.edges = edges[np.append(np.diff(edges) > FLOAT * max(abs(self.high), abs(self.low)), True)]
        self.surpluses = self._surpluses(self.edges)
        self.products = self._products(self.edges, self.surpluses)

    def _surpluses(self, charges: Array) -> Array:
        found = np.zeros((len(self.curves), len(charges)))
        for row, curve in zip(found, self.curves, strict=True):
            asked = charges < curve.index
            row[asked] = curve.surplus(charges[asked])
        return found

    def _products(self, edges: Array, surpluses: Array) -> Array:
        """Product over arms of the means of D on the panels, times the panels' lengths."""
        lengths = np.diff(edges)
        with np.errstate(divide="ignore"):
            logarithms = np.log(np.clip(1.0 + np.diff(surpluses) / lengths, 0.0, 1.0))
        copies = np.array([curve.copies for curve in self.curves])
        return np.asarray(lengths * np.exp(copies @ logarithms))

    @property
    def value(self) -> float:
        """Upper end of V."""
        return self.high - float(np.sum(self.products))

    def refine(self, best: float, accuracy: float, most: int, enough: float = math.inf) -> float:
        """Halve panels until the last halvings gained less than this fraction of the bound, or until there are `most`.

        If these gained more than the fraction `enough`, there may be `PATIENCE` times as many. Returns what the last
        halvings gained.
        """
        gains = self._halve(self._can_be_halved(), np.zeros(len(self.products)))  # by the last halving, for each half
        while (gained := np.sum(gains)) > accuracy * (best - self.value):
            room = (PATIENCE if gained > enough * (best - self.value) else 1) * most - len(gains)
            if room <= 0:
                break
            # Those that gained most, and three quarters of all that was gained.
            in_order = np.argsort(gains)[::-1]
            number = 1 + int(np.searchsorted(np.cumsum(gains[in_order]), 0.75 * gained))
            chosen = np.zeros(len(gains), dtype=bool)
            chosen[in_order[: min(number, room)]] = True
            chosen &= self._can_be_halved()
            if not chosen.any():
                break
            gains = self._halve(chosen, gains)
        return float(np.sum(gains))

    def _can_be_halved(self) -> NDArray[np.bool_]:
        shortest = SHORTEST * (self.high - self.low) + FLOAT * max(abs(self.high), abs(self.low))
        return np.asarray(np.diff(self.edges) > shortest)

    def _halve(self, chosen: NDArray[np.bool_], gains: Array) -> Array:
        """Halve the chosen panels; return the gains of all panels."""
        where = np.flatnonzero(chosen)
        middles = 0.5 * (self.edges[where] + self.edges[where + 1])
        edges = np.insert(self.edges, where + 1, middles)
        surpluses = np.insert(self.surpluses, where + 1, self._surpluses(middles), axis=1)
        products = self._products(edges, surpluses)
        halves = where + np.arange(len(where))  # the left halves among the new panels
        gained = products[halves] + products[halves + 1] - self.products[where]
        gains = np.insert(gains, where + 1, 0.0)
        gains[halves] = gains[halves + 1] = 0.5 * np.maximum(0.0, gained)
        self.edges, self.surpluses, self.products = edges, surpluses, products
        return gains


def lower_bound(
    setting: Setting,
    curves: Sequence[StoppingCurve],
    best: tuple[float, float],
    accuracy: float,
    most_panels: int,
    unseen_error: float = 0.0,
    slack: float = 0.0,
) -> Parts:
    """Assemble the bound.

    Parameters
    ----------
    setting : Setting
        Its horizon counts.
    curves : sequence of StoppingCurve
        One for each kind of arm.
    best : tuple of float
        Expected mean of the best arm, and its error.
    accuracy, most_panels : float, int
        When to stop refining: see `ChargePanels.refine`. Short horizons have `PATIENCE`.
    unseen_error : float
        Further error of the value V, such as that of the surpluses.
    slack : float
        By how much V is too large because the surpluses are.
    """
    n = setting.horizon
    panels = ChargePanels(curves)
    left = panels.refine(best[0], accuracy, most_panels, max(accuracy, ENOUGH) if n <= SHORT else math.inf)
    neglected = math.fsum(curve.copies * curve.neglected for curve in curves)
    rounding = ROUNDING * (panels.high - panels.low + abs(panels.high))
    error = neglected + rounding + unseen_error + best[1]
    # Halving again gains a third of the last gain where D is smooth, and about as much at a jump.
    estimate = max(0.0, n * (best[0] - panels.value + 2.0 / 3.0 * left + slack))
    return Parts(
        {"leading": estimate},
        {"panels": float(len(panels.products)), "discount": 1.0 - 1.0 / n},
        error=min(estimate, n * (2.0 / 3.0 * left + slack + error)),
    )


def raise_to_floors(found: Parts, bandit: Bandit, setting: Setting) -> Parts:
    """Use that no round has less regret than the greedy choice after as many pulls of every arm: its floor.

    Regrets r_t with the discounted bound, none below its floor, have the smallest sum if the first ones are their
    floors and all others are equal. For long horizons that changes little.
    """
    n, bound = setting.horizon, found.terms["leading"]
    if n == 1:
        return found
    best = expected_best(bandit)
    discount, at_floors, discounted, equal, rounds = 1.0, 0.0, 0.0, bound / n, 0
    while rounds < min(n - 1, MOST_FLOORS):
        floor = best - expected_highest(bandit, np.full(bandit.arms, rounds))
        if floor <= equal:
            break
        rounds += 1
        at_floors += floor
        discounted += discount * floor
        discount *= 1.0 - 1.0 / n
        equal = max(0.0, (bound - discounted) / (n * discount))
    gain = max(0.0, at_floors + (n - rounds) * equal - bound)
    return found._replace(
        terms={"leading": bound, "floors": gain},
        details={**found.details, "floors": float(rounds)},
        error=(found.error or 0.0) + rounds * FLOOR_ERROR * abs(best),
    )
