"""Priors from past experiments, by maximum marginal likelihood. docs/priors.md has the formulas."""

from bayesregret.priors.check import Check, check_fit
from bayesregret.priors.comparison import Comparison
from bayesregret.priors.fit import fit_prior
from bayesregret.priors.fitted import FittedPrior

__all__ = ["Check", "Comparison", "FittedPrior", "check_fit", "fit_prior"]
