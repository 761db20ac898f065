"""The theorem behind exact regret, as a computation: docs/theory/exact.md.

A policy that takes the arm with the highest index, each index a function of its own arm's rewards, takes pulls in the
order of falling prevailing charge, the lowest index that the arm has had so far. So a level that sweeps from the top
down meets them in the order in which they are made. While it passes, every kind of arm has two power series in z,

    law  P(z) = E z^T              where T pulls have a charge above the level,
    loss C(z) = E (c - m) z^T      where m is the posterior mean after them and c the mean of the best arm.

When the series of one arm move by dP and dC, its pulls on the way are the coefficients of -dP / (1 - z) times the laws
of all other arms, and the regret of these pulls those of -dC / (1 - z) times the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayesregret.checks import Array
from bayesregret.exact.power_series import Series, Transform


@dataclass(frozen=True)
class Found:
    """What a sweep found, round by round."""

    regret: Array  # (horizon,): regret of each round
    pulls: Array  # (arms,): pulls of each arm until the horizon
    rounds: Array  # (horizon,): pulls of all arms in each round; 1, but for numerical error


class Sweep:
    """Series of all kinds of arms while the level falls, and what was found on the way."""

    def __init__(self, transform: Transform, kinds: Sequence[Sequence[int]], mean_losses: Sequence[float]) -> None:
        """`kinds`: the numbers of the arms of each kind; `mean_losses`: the best arm's mean less the kind's."""
        self.transform = transform
        self.kinds = [tuple(arms) for arms in kinds]
        self.copies = [len(arms) for arms in kinds]
        ones = np.ones(len(transform.points), np.complex128)
        self.law: list[Series] = [ones for _ in kinds]
        self.loss: list[Series] = [mean * ones for mean in mean_losses]
        self.regret: Series = np.zeros_like(ones)
        self.total: Series = np.zeros_like(ones)  # -dP of all arms times the laws of the others
        self.share: list[Series] = [np.zeros_like(ones) for _ in kinds]  # the same for each kind, alike for its arms
        # What ties give to single arms of a kind, by their numbers: pulls until the horizon.
        self.single: dict[int, float] = dict.fromkeys((arm for arms in kinds for arm in arms), 0.0)

    def jump(self, moves: dict[int, tuple[Series, Series]]) -> None:
        """The level meets an atom: the arms of some kinds go to new series, in the order of their numbers."""
        after = dict(moves)
        moved = dict.fromkeys(moves, 0)
        order = sorted((arm, kind) for kind in moves for arm in self.kinds[kind])
        for arm, kind in order:
            others = np.ones_like(self.regret)
            for other in range(len(self.kinds)):
                gone = moved.get(other, 0)
                left = self.copies[other] - gone - (other == kind)
                others = others * self.law[other] ** left
                if gone:
                    others = others * after[other][0] ** gone
            law, loss = after[kind]
            step = others * (self.law[kind] - law)
            self.regret += others * (self.loss[kind] - loss)
            self.total += step
            self.single[arm] += self._until_horizon(step)
            moved[kind] += 1
        for kind, (law, loss) in after.items():
            self.law[kind], self.loss[kind] = law, loss

    def glide(self, weights: Array, laws: dict[int, tuple[Series, Series, Series]]) -> None:
        """The level falls through a panel: at the points of a rule, laws and how fast law and loss fall.

        Kinds that are not given stay as they are.
        """
        for kind, (law, law_falls, loss_falls) in laws.items():
            others = law ** (self.copies[kind] - 1) * weights[:, None]
            for other in range(len(self.kinds)):
                if other != kind:
                    at = laws[other][0] if other in laws else self.law[other]
                    others = others * at ** self.copies[other]
            step = np.sum(others * law_falls, axis=0)
            self.share[kind] += step
            self.total += self.copies[kind] * step
            self.regret += self.copies[kind] * np.sum(others * loss_falls, axis=0)

    def found(self) -> Found:
        pulls = np.array([self.single[arm] for arm in sorted(self.single)])
        for arms, share in zip(self.kinds, self.share, strict=True):
            pulls[list(arms)] += self._until_horizon(share)
        running = self.transform.running_sums
        return Found(running(self.regret), pulls, running(self.total))

    def _until_horizon(self, step: Series) -> float:
        return float(np.sum(self.transform.running_sums(step)))
