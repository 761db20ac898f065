"""Numerical building blocks: quadrature, special functions, tail bounds and expected maxima."""
