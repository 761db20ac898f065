"""log, log1p, exp and expm1 in plain double arithmetic: the same bits on every machine, in plain Python and compiled.

Libraries of C round these functions differently, and a graphics card has its own. Here each is a fixed sequence of
additions, multiplications and divisions, which IEEE 754 rounds in one way only, and of moves of bits. All results are
within 1 ulp of the exact value (tests/test_elementary.py). As in NumPy, log(0) is -inf, exp(1000) is inf, and the
logarithm of a negative number is nan: nothing is raised.

The polynomials are minimax ones by Remez's algorithm, in 300 bits: tests/reference/minimax.py computes them again.
"""

from __future__ import annotations

import math

import numpy as np

from bayesregret.dispatch import jitable, rarely_called

# log 2 in two parts: multiples of the first by any exponent are exact.
LN2_HIGH, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
ONE_OVER_LN2 = 1.4426950408889634
TO_WHOLE = 1.5 * 2.0**52  # added and subtracted again it rounds to a whole number
EXPONENT_OF_ONE = 1023  # as written in the bits of a float
FRACTION_BITS = 52
BITS_OF_ROOT_HALF = 0x3FE6A09E667F3BCD
ALL_WHOLE = 2.0**52  # from here on floats are whole numbers
SMALLEST_NORMAL = 2.0**-1022
TO_NORMAL, NORMAL_STEPS = 2.0**54, 54  # a factor that makes a subnormal number normal, and its exponent
# Smaller arguments are their own log1p and expm1.
TINY = 2.0**-54
LOWEST, HIGHEST = -745.2, 709.8  # beyond them exp is 0 or infinite
MINUS_ONE_BELOW = -40.0  # where expm1 is -1 to the last bit
ONE_IS_LOST = 60  # from this exponent on, expm1 is exp to the last bit
# Arguments of log1p between them need no power of two: one more than a root of 1/2, and of 2.
LEAST_NEAR_ONE, MOST_NEAR_ONE = -0.29289321881345254, 0.41421356237309503

# (2 artanh(s) - 2 s) / s^3 as a polynomial in s^2, for |s| <= 3 - 2 sqrt(2): to 2^-58 of s.
L0, L1, L2 = 0.6666666666666734, 0.3999999999941432, 0.28571428742474875
L3, L4, L5, L6 = 0.2222219856348619, 0.18183564866615654, 0.15314035837081644, 0.1479610542028106
# (exp(r) - 1 - r) / r^2 as a polynomial in r, for |r| <= log(2) / 2: to 2^-64.
E0, E1, E2, E3 = 0.5, 0.16666666666666685, 0.04166666666666673, 0.008333333333316737
E4, E5, E6, E7 = 0.0013888888888858547, 0.00019841269897060505, 2.4801587373545474e-05, 2.7557234235393665e-06
E8, E9, E10 = 2.7557233518271144e-07, 2.5112240284270812e-08, 2.0926896455021145e-09


@rarely_called
def log(x: float) -> float:
    """Natural logarithm; -inf of 0, nan of negative numbers.

    >>> log(1.0), round(log(10.0), 12), log(0.0)
    (0.0, 2.302585092994, -inf)
    """
    if not SMALLEST_NORMAL <= x < math.inf:
        return log_at_end(x)
    exponent, near_one = split(x)
    return log_of_parts(exponent, near_one - 1.0, 0.0)


@rarely_called
def log1p(x: float) -> float:
    """log(1 + x), with all digits for small x; -inf of -1, nan below.

    >>> log1p(1e-20), round(log1p(1.0), 12)
    (1e-20, 0.69314718056)
    """
    if abs(x) < TINY:
        return x
    if LEAST_NEAR_ONE < x < MOST_NEAR_ONE:
        return log_of_parts(0, x, 0.0)
    if not -1.0 < x < math.inf:
        return log_at_end(1.0 + x)
    rounded = 1.0 + x
    added = rounded - 1.0
    lost = (1.0 - (rounded - added)) + (x - added)  # exactly, by rounding 1 + x
    exponent, near_one = split(rounded)
    return log_of_parts(exponent, near_one - 1.0, lost / rounded)


@rarely_called
def exp(x: float) -> float:
    """Exponential function; 0 or inf beyond the range of floats.

    >>> exp(0.0), round(exp(1.0), 12), exp(1000.0)
    (1.0, 2.718281828459, inf)
    """
    if not LOWEST <= x <= HIGHEST:
        return exp_at_end(x)
    exponent, r, more = reduce(x)
    rounded = 1.0 + r
    return scale(rounded + (((1.0 - rounded) + r) + more), exponent)


@rarely_called
def expm1(x: float) -> float:
    """exp(x) - 1, with all digits for small x.

    >>> expm1(1e-20), round(expm1(1.0), 12)
    (1e-20, 1.718281828459)
    """
    if abs(x) < TINY:
        return x
    if not MINUS_ONE_BELOW <= x <= HIGHEST:
        return exp_at_end(x) - 1.0
    exponent, r, more = reduce(x)
    if exponent >= ONE_IS_LOST:
        return exp(x)
    power = power_of_two(exponent)
    # 2^k (1 + r + more) - 1: what the first two sums lose is added to the small rest.
    below, step = power - 1.0, power * r
    rounded = below + step
    lost = ((power - below) - 1.0) + ((below - rounded) + step)
    return rounded + (lost + power * more)


@jitable
def log_of_parts(exponent, f, rest):
    """exponent log 2 + log(1 + f) + rest, for 1 + f between the roots of 1/2 and 2, and a small rest.

    With s = f / (2 + f), log(1 + f) is 2 artanh(s) = f - f^2 / 2 + s (f^2 / 2 + p), p being a polynomial in s^2.
    """
    s = f / (2.0 + f)
    square = s * s
    fourth = square * square
    # In pairs: products that do not wait for each other.
    first = (L0 + square * L1) + fourth * (L2 + square * L3)
    last = (L4 + square * L5) + fourth * L6
    half = 0.5 * f * f
    p = square * (first + (fourth * fourth) * last)
    return exponent * LN2_HIGH - ((half - (s * (half + p) + (exponent * LN2_LOW + rest))) - f)


@jitable
def reduce(x):
    """k, r and a small rest, such that exp(x) = 2^k (1 + r + rest) and |r| <= log(2) / 2."""
    exponent = (x * ONE_OVER_LN2 + TO_WHOLE) - TO_WHOLE
    high, low = x - exponent * LN2_HIGH, exponent * LN2_LOW
    r = high - low
    square = r * r
    fourth = square * square
    first = (E1 + r * E2) + square * (E3 + r * E4)
    middle = (E5 + r * E6) + square * (E7 + r * E8)
    polynomial = (first + (fourth * fourth) * (E9 + r * E10)) + fourth * middle
    return int(exponent), r, (((high - r) - low) + E0 * square) + (square * r) * polynomial


@jitable
def split(x):
    """k and m with x = 2^k m exactly, m between the roots of 1/2 and 2; x is positive, finite and not subnormal."""
    bits = np.float64(x).view(np.int64)
    exponent = (bits - BITS_OF_ROOT_HALF) >> FRACTION_BITS
    near_one = float(np.int64(bits - (exponent << FRACTION_BITS)).view(np.float64))
    return int(exponent), near_one


@jitable
def scale(x, exponent):
    """x 2^exponent, rounded once; in two steps where the power alone may be too large or too small for a float."""
    if -EXPONENT_OF_ONE < exponent <= EXPONENT_OF_ONE:
        return x * power_of_two(exponent)
    half = exponent >> 1
    return x * power_of_two(half) * power_of_two(exponent - half)


@jitable
def power_of_two(exponent):
    """2^exponent, for an integer from -1022 to 1023."""
    return float(np.int64((exponent + EXPONENT_OF_ONE) << FRACTION_BITS).view(np.float64))


@rarely_called
def log_at_end(x):
    """Logarithm of subnormal numbers, of 0 and inf, and of what has none."""
    if x == 0.0:
        return -math.inf
    if 0.0 < x < SMALLEST_NORMAL:
        exponent, near_one = split(x * TO_NORMAL)
        return log_of_parts(exponent - NORMAL_STEPS, near_one - 1.0, 0.0)
    return x if x == math.inf else math.nan


@rarely_called
def exp_at_end(x):
    """Exponential of numbers beyond the range of floats, and of nan."""
    if x > 0.0:
        return math.inf
    return 0.0 if x < 0.0 else math.nan


@jitable
def floor(x):
    """The largest whole number that is not above x, as a float.

    >>> floor(2.5), floor(-2.5), floor(1e300)
    (2.0, -3.0, 1e+300)
    """
    if not abs(x) < ALL_WHOLE:
        return x
    towards_zero = float(np.int64(x))
    return towards_zero - 1.0 if towards_zero > x else towards_zero
