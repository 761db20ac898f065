"""Numerical building blocks: integrals, special functions, tails and expected maxima."""
