"""Have experiments levels of their own?"""

from __future__ import annotations

from dataclasses import dataclass

from scipy.special import chdtrc

from bayesregret.digits import brief

NOTHING = 1e-4  # a likelihood ratio that is rounding


@dataclass(frozen=True)
class Comparison:
    """Levels of their own for experiments, against one level for all: twice the difference of log-likelihoods.

    Under one level it is 0 half of the time, and chi-squared with one degree of freedom the other half; `p_value` is
    its chance to be so large.
    """

    likelihood_ratio: float
    p_value: float

    @classmethod
    def of(cls, one_level: float, own_levels: float) -> Comparison:
        """From the two log-likelihoods."""
        ratio = max(0.0, 2.0 * (own_levels - one_level))
        return cls(ratio, 0.5 * float(chdtrc(1.0, ratio)) if ratio > NOTHING else 1.0)

    def __str__(self) -> str:
        return f"likelihood ratio {brief(self.likelihood_ratio)}, p = {self.p_value:.2g}"
