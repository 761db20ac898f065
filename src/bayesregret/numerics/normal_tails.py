"""Tails of the normal distribution and their inverse, with the same bits on every machine."""

from __future__ import annotations

import math

import numpy as np

from bayesregret.checks import Array
from bayesregret.dispatch import jitable, rarely_called
from bayesregret.elementary import exp, log

# exp(x^2) erfc(x) (1 + 2 x) as a polynomial in (x - CENTRE) / (x + CENTRE), for x from 0 to 28: to 2^-56
# (tests/reference/minimax.py computes the coefficients again).
CENTRE = 2.0
LARGEST = 28.0  # beyond it erfc is 0
# fmt: off
SCALED_ERFC = (
    1.2769783815525286, -0.092763826585746, -0.16603039761529131, 0.16405128003344088, -0.05422000099189835,
    -0.00803401508239039, 0.008722653871776068, 0.0012713389655053182, -0.0014568138885219988, -0.000454340827167223,
    0.00020636669091838396, 0.0001510391383302304, -1.506874532319294e-06, -3.6422998142503876e-05,
    -1.3504135061225116e-05, 3.7086783768025303e-06, 5.252435068501103e-06, 1.5114204755775148e-06,
    -7.43731368138374e-07, -8.519180762696876e-07, -2.1012821689944346e-07, 1.6234921003799143e-07,
    1.279198072611672e-07, 6.5402492465795455e-09, -2.1559823231827725e-08, -6.16868025834644e-09,
)
# fmt: on
SPLITTER = 2.0**27 + 1.0  # Veltkamp's: halves a number's digits, so that the square of a half is exact

# Algorithm AS 241 of Wichura (1988), PPND16: ratios of polynomials, numerators first. In the middle of the
# distribution they have the argument MIDDLE^2 - (tail - 1/2)^2, elsewhere sqrt(-log(tail)) less the start.
MIDDLE, SQUARE_OF_MIDDLE = 0.425, 0.180625
NEAR_START, FAR_START = 1.6, 5.0
# fmt: off
IN_MIDDLE = (
    3.3871328727963665, 133.14166789178438, 1971.5909503065513, 13731.69376550946, 45921.95393154987,
    67265.7709270087, 33430.57558358813, 2509.0809287301227,
)
UNDER_MIDDLE = (
    1.0, 42.31333070160091, 687.1870074920579, 5394.196021424751, 21213.794301586597, 39307.89580009271,
    28729.085735721943, 5226.495278852855,
)
NEAR = (
    1.4234371107496835, 4.630337846156546, 5.769497221460691, 3.6478483247632045, 1.2704582524523684,
    0.2417807251774506, 0.022723844989269184, 0.0007745450142783414,
)
UNDER_NEAR = (
    1.0, 2.053191626637759, 1.6763848301838038, 0.6897673349851, 0.14810397642748008, 0.015198666563616457,
    0.0005475938084995345, 1.0507500716444169e-09,
)
FAR = (
    6.657904643501103, 5.463784911164114, 1.7848265399172913, 0.29656057182850487, 0.026532189526576124,
    0.0012426609473880784, 2.7115555687434876e-05, 2.0103343992922881e-07,
)
UNDER_FAR = (
    1.0, 0.5998322065558879, 0.1369298809227358, 0.014875361290850615, 0.0007868691311456133, 1.8463183175100548e-05,
    1.421511758316446e-07, 2.0442631033899397e-15,
)
# fmt: on


@jitable
def polynomial(coefficients, x):
    """Value at x; the coefficient of the lowest power comes first."""
    value = 0.0
    for place in range(len(coefficients) - 1, -1, -1):
        value = value * x + coefficients[place]
    return value


@rarely_called
def erfc(x: float) -> float:
    """Complementary error function: twice the probability that a normal variable exceeds sqrt(2) x.

    >>> round(erfc(0.0), 12), round(erfc(1.0), 12)
    (1.0, 0.15729920705)
    """
    size = abs(x)
    if not size < LARGEST:
        return 1.0 - math.copysign(1.0, x) if size >= LARGEST else math.nan
    # The square of x rounded to half its digits is exact, so the exponential has all digits.
    scaled = SPLITTER * size
    high = scaled - (scaled - size)
    decay = exp(-high * high) * exp(-(size - high) * (size + high))
    tail = decay * polynomial(SCALED_ERFC, (size - CENTRE) / (size + CENTRE)) / (1.0 + 2.0 * size)
    return tail if x >= 0.0 else 2.0 - tail


@rarely_called
def ndtri(probability: float) -> float:
    """Number that a standard normal variable is below with this probability; nan outside [0, 1].

    >>> ndtri(0.5), round(ndtri(0.975), 12)
    (0.0, 1.95996398454)
    """
    off = probability - 0.5
    if abs(off) <= MIDDLE:
        x = SQUARE_OF_MIDDLE - off * off
        return off * polynomial(IN_MIDDLE, x) / polynomial(UNDER_MIDDLE, x)
    tail = min(probability, 1.0 - probability)
    if not tail > 0.0:
        return math.copysign(math.inf, off) if tail == 0.0 else math.nan
    x = math.sqrt(-log(tail))
    if x <= FAR_START:
        away = polynomial(NEAR, x - NEAR_START) / polynomial(UNDER_NEAR, x - NEAR_START)
    else:
        away = polynomial(FAR, x - FAR_START) / polynomial(UNDER_FAR, x - FAR_START)
    return math.copysign(away, off)


def ndtri_of_each(probabilities: Array) -> Array:
    """`ndtri` of each entry."""
    return np.array([ndtri(probability) for probability in probabilities.tolist()])
