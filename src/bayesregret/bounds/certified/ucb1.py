"""The certified bound for UCB1. Proof: docs/theory/certified-ucb1.md."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from bayesregret.bounds.assumptions import first_failure, gaussian_rewards, unless, with_heteroscedastic_form
from bayesregret.bounds.bound import Parts, Setting
from bayesregret.bounds.catalog import certified_ucb1
from bayesregret.bounds.certified.heteroscedastic import not_proved
from bayesregret.bounds.gaps.gaussian import gaussian_gaps
from bayesregret.bounds.gaps.gaussian_heteroscedastic import (
    HeteroscedasticArmKind,
    HeteroscedasticGaps,
    heteroscedastic_max_gap,
)
from bayesregret.checks import Array
from bayesregret.models import GaussianBandit
from bayesregret.numerics.expected_maximum import REACH, TOP
from bayesregret.numerics.quadrature import sum_rule

# More epochs than this never help: the bound for each epoch stays above the tail beyond z.
MOST_EPOCHS = 2_000
# Arms with gaps below this fraction of the resolution of n pulls count as pulled in every round.
UNRESOLVED = 1e-9
# Largest gap, in prior widths of an arm, for heteroscedastic arms.
MOST_WIDTHS = 300


def ucb1_heteroscedastic(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    why_not = first_failure(not_proved(bandit), _too_far(bandit, setting))
    if why_not is not None:
        return Parts({"leading": math.inf}, why_not=why_not)
    gaps = HeteroscedasticGaps(bandit, lambda pseudo_count: _farthest(setting, math.sqrt(pseudo_count)), order)
    leading = gaps.gap_sum + math.fsum(
        kind.copies * kind.width * _later_pulls(gaps, kind, setting) for kind in gaps.kinds
    )
    crossing = crossing_probability(setting)
    return Parts(
        {"leading": leading, "failures": setting.horizon * crossing * heteroscedastic_max_gap(bandit, order)},
        {"crossing_probability": crossing},
    )


def _farthest(setting: Setting, noise: float) -> float:
    """Gap beyond which an arm is not pulled a second time."""
    return (setting.z + REACH) * noise


def _too_far(bandit: GaussianBandit, setting: Setting) -> str | None:
    """Return a reason if the integral over gaps would need too many panels."""
    behind = float(np.ptp(bandit.prior_mean)) + TOP * float(bandit.prior_widths.max())
    farthest = max(
        min(_farthest(setting, noise), behind) / width
        for width, noise in zip(bandit.prior_widths.tolist(), bandit.reward_noises.tolist(), strict=True)
    )
    return unless(farthest <= MOST_WIDTHS, f"no arm's gap may exceed {MOST_WIDTHS} of its prior widths")


def _later_pulls(gaps: HeteroscedasticGaps, kind: HeteroscedasticArmKind, setting: Setting) -> float:
    """E of an arm's gap times its pulls after the first, in prior widths."""
    n, noise = setting.horizon, math.sqrt(kind.pseudo_count)
    k, times = sum_rule(1, n, gaps.order)

    def pulled(x: Array) -> Array:
        return np.asarray(x * (ndtr(setting.z - np.sqrt(k) * (x[:, None] / noise)) @ times))

    smallest = UNRESOLVED * min(1.0, noise / math.sqrt(n))
    unresolved = (n - 1) * float(gaps.partial_means(kind, np.array([smallest]))[0])
    return unresolved + gaps.expect(kind, pulled, smallest, math.inf, growth=1.5)


@certified_ucb1.of(GaussianBandit, "UCB1 form")
@with_heteroscedastic_form(ucb1_heteroscedastic)
def ucb1(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    """After k pulls an arm is pulled only if its sample mean errs by its gap less a width, or the best index fails."""
    gaps, n = gaussian_gaps(bandit, order), setting.horizon
    noise = math.sqrt(bandit.model.pseudo_count)  # in prior widths
    k, times = sum_rule(1, n, order)

    def pulled(x: Array) -> Array:
        misled = ndtr(setting.z - np.sqrt(k) * (x[:, None] / noise))
        return x * (1.0 + misled @ times)

    smallest = UNRESOLVED * min(1.0, noise / math.sqrt(n))
    leading = gaps.expect(pulled, low=smallest, growth=1.5) + n * gaps.expect(lambda x: x, high=smallest)
    crossing = crossing_probability(setting)
    return Parts(
        {"leading": gaps.width * leading, "failures": n * crossing * gaps.width * gaps.max_gap},
        {"crossing_probability": crossing},
        why_not=gaussian_rewards(bandit),
    )


def crossing_probability(setting: Setting) -> float:
    """Upper bound on the probability that a Gaussian random walk is above z sqrt(k) at some k <= n.

    The pulls are divided into m epochs, each eta = n^(1/m) times as long as the last; in each, Levy's and Doob's
    inequalities bound the probability.
    """
    n, z = setting.horizon, setting.z
    epochs = np.arange(1.0, MOST_EPOCHS + 1.0)
    # Just above n^(1/m), so that m epochs are enough.
    eta = np.exp(math.log(n) / epochs) * (1.0 + 1e-12)
    each = np.minimum(np.exp(-setting.L / eta), 2.0 * ndtr(-z / np.sqrt(eta)))
    return min(1.0, n * setting.tail, float((epochs * each).min()))
