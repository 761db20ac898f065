"""The certified bound for UCB1. Proof: docs/theory."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from bayesregret.bounds.assumptions import gaussian_rewards
from bayesregret.bounds.bound import Parts, Setting
from bayesregret.bounds.formulas import certified_ucb1
from bayesregret.bounds.gaussian_gaps import gaussian_gaps
from bayesregret.checks import Array
from bayesregret.models import GaussianBandit
from bayesregret.quadrature import sum_rule

# More epochs than this never help: the bound for each stays above the tail beyond z.
MOST_EPOCHS = 2_000
# Gaps this small against the resolution of n pulls are pulled in every round.
UNRESOLVED = 1e-9


@certified_ucb1.of(GaussianBandit, "UCB1 form")
def ucb1(bandit: GaussianBandit, setting: Setting, order: int) -> Parts:
    """An arm is taken after k pulls only if its mean is off by its gap less a width; or the best arm's index fails."""
    gaps, n = gaussian_gaps(bandit, order), setting.horizon
    noise = math.sqrt(bandit.model.strength)  # in prior widths
    k, times = sum_rule(1, n, order)

    def pulled(x: Array) -> Array:
        misled = ndtr(setting.z - np.sqrt(k) * (x[:, None] / noise))
        return x * (1.0 + misled @ times)

    smallest = UNRESOLVED * min(1.0, noise / math.sqrt(n))
    leading = gaps.expect(pulled, low=smallest, growth=1.5) + n * gaps.expect(lambda x: x, high=smallest)
    failing = crossing_probability(setting)
    return Parts(
        {"leading": gaps.width * leading, "failures": n * failing * gaps.width * gaps.max_gap},
        {"crossing_probability": failing},
        why_not=gaussian_rewards(bandit),
    )


def crossing_probability(setting: Setting) -> float:
    """At most this likely a Gaussian random walk is above z sqrt(k) at some k <= n.

    The pulls are divided into m epochs, each eta = n^(1/m) times as long as the last; in each, Levy's and Doob's
    inequalities bound the chance.
    """
    n, z = setting.horizon, setting.z
    epochs = np.arange(1.0, MOST_EPOCHS + 1.0)
    # Just above n^(1/m), so that m epochs are enough.
    eta = np.exp(math.log(n) / epochs) * (1.0 + 1e-12)
    each = np.minimum(np.exp(-setting.L / eta), 2.0 * ndtr(-z / np.sqrt(eta)))
    return min(1.0, n * setting.tail, float((epochs * each).min()))
