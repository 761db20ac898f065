"""Sweep of a threshold over prevailing charges, which computes exact regret by the theorem of docs/theory/exact.md.

A policy that pulls the arm with the highest index, each index a function of that arm's rewards alone, makes its pulls
in the order of falling prevailing charge: the lowest index that the arm has had so far. So a threshold (the "level" of
the theorem) that sweeps from the top down meets the pulls in the order in which they are made. At each threshold, every
kind of arm (arms with equal priors and equal beliefs) has two power series in z,

    distribution P(z) = E z^T           where T is the number of pulls with a charge above the threshold,
    loss         C(z) = E (c - m) z^T   where m is the posterior mean after them and c the mean of the best arm.

When the series of one arm change by dP and dC, its pulls in between are the coefficients of -dP / (1 - z) times the
distributions of all other arms, and the regret of these pulls is the same with -dC.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayesregret.checks import Array
from bayesregret.exact.power_series import Series, Transform


@dataclass(frozen=True)
class SweepResult:
    """Regret and pulls found by a sweep."""

    regret: Array  # (horizon,): regret of each round
    pulls: Array  # (arms,): expected pulls of each arm until the horizon
    rounds: Array  # (horizon,): expected pulls of all arms in each round; 1 up to numerical error


class ThresholdSweep:
    """Series of all kinds of arms at the current threshold, and the regret and pulls accumulated so far."""

    def __init__(self, transform: Transform, kinds: Sequence[Sequence[int]], mean_losses: Sequence[float]) -> None:
        """`kinds`: the arm numbers of each kind; `mean_losses`: the best arm's mean minus the kind's prior mean."""
        self.transform = transform
        self.kinds = [tuple(arms) for arms in kinds]
        self.copies = [len(arms) for arms in kinds]
        ones = np.ones(len(transform.points), np.complex128)
        self.distribution: list[Series] = [ones for _ in kinds]
        self.loss: list[Series] = [mean * ones for mean in mean_losses]
        self.regret: Series = np.zeros_like(ones)
        self.total: Series = np.zeros_like(ones)  # sum over arms of -dP times the distributions of the others
        self.pulls_of_one: list[Series] = [np.zeros_like(ones) for _ in kinds]  # the same for one arm of each kind
        # Pulls until the horizon that ties give to single arms, by arm number.
        self.tied_pulls: dict[int, float] = dict.fromkeys((arm for arms in kinds for arm in arms), 0.0)

    def jump(self, moves: dict[int, tuple[Series, Series]]) -> None:
        """Pass an atom: the arms of some kinds move to new series, in the order of their numbers."""
        after = dict(moves)
        moved = dict.fromkeys(moves, 0)
        order = sorted((arm, kind) for kind in moves for arm in self.kinds[kind])
        for arm, kind in order:
            others = np.ones_like(self.regret)
            for other in range(len(self.kinds)):
                done = moved.get(other, 0)
                left = self.copies[other] - done - (other == kind)
                others = others * self.distribution[other] ** left
                if done:
                    others = others * after[other][0] ** done
            distribution, loss = after[kind]
            step = others * (self.distribution[kind] - distribution)
            self.regret += others * (self.loss[kind] - loss)
            self.total += step
            self.tied_pulls[arm] += self._until_horizon(step)
            moved[kind] += 1
        for kind, (distribution, loss) in after.items():
            self.distribution[kind], self.loss[kind] = distribution, loss

    def glide(self, weights: Array, distributions: dict[int, tuple[Series, Series, Series]]) -> None:
        """Lower the threshold through a panel, given each kind's distribution at the points of a quadrature rule, and
        the rates at which distribution and loss fall there. Kinds not given stay unchanged.
        """
        for kind, (distribution, distribution_fall, loss_fall) in distributions.items():
            others = distribution ** (self.copies[kind] - 1) * weights[:, None]
            for other in range(len(self.kinds)):
                if other != kind:
                    at = distributions[other][0] if other in distributions else self.distribution[other]
                    others = others * at ** self.copies[other]
            step = np.sum(others * distribution_fall, axis=0)
            self.pulls_of_one[kind] += step
            self.total += self.copies[kind] * step
            self.regret += self.copies[kind] * np.sum(others * loss_fall, axis=0)

    def result(self) -> SweepResult:
        pulls = np.array([self.tied_pulls[arm] for arm in sorted(self.tied_pulls)])
        for arms, pulls_of_one in zip(self.kinds, self.pulls_of_one, strict=True):
            pulls[list(arms)] += self._until_horizon(pulls_of_one)
        running = self.transform.running_sums
        return SweepResult(running(self.regret), pulls, running(self.total))

    def _until_horizon(self, step: Series) -> float:
        return float(np.sum(self.transform.running_sums(step)))
