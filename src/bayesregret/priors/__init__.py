"""Priors from past experiments, by maximum marginal likelihood. docs/priors.md has the formulas."""

from bayesregret.priors.calibration import Check, check_fit
from bayesregret.priors.fit import fit_prior
from bayesregret.priors.fitted_prior import FittedPrior
from bayesregret.priors.likelihood_ratio import Comparison

__all__ = ["Check", "Comparison", "FittedPrior", "check_fit", "fit_prior"]
