"""Likelihood-ratio test of one level per experiment against one level for all."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.special import chdtrc

from bayesregret.digits import brief

NOTHING = 1e-4  # a likelihood ratio below this is rounding


@dataclass(frozen=True)
class LikelihoodRatio:
    """Twice the gain in log-likelihood from giving each experiment its level, and the gain's p-value.

    If all experiments have the same level, the ratio is 0 half of the time and chi-squared with one degree of freedom
    the other half; `p_value` is the probability of a ratio at least this large.
    """

    likelihood_ratio: float
    p_value: float

    @classmethod
    def of(cls, ungrouped: float, grouped: float) -> LikelihoodRatio:
        """Compare two log-likelihoods: with one level for all, and with one level per experiment."""
        ratio = max(0.0, 2.0 * (grouped - ungrouped))
        return cls(ratio, 0.5 * float(chdtrc(1.0, ratio)) if ratio > NOTHING else 1.0)

    def __str__(self) -> str:
        return f"likelihood ratio statistic {brief(self.likelihood_ratio)}, p = {self.p_value:.2g}"
