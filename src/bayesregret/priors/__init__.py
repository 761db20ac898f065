"""Priors fitted to past experiments by maximum marginal likelihood. docs/explanation/priors.md has the formulas."""

from bayesregret.priors.calibration import CalibrationCheck, check_fit
from bayesregret.priors.fit import fit_prior
from bayesregret.priors.fitted_prior import FittedPrior
from bayesregret.priors.likelihood_ratio import LikelihoodRatio

__all__ = ["CalibrationCheck", "FittedPrior", "LikelihoodRatio", "check_fit", "fit_prior"]
