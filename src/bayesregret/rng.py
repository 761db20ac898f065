"""Random streams, one for each seed, run and purpose, and draws from them.

The generator is SFC64 (Chris Doty-Humphrey, PractRand), the fastest in NumPy: from the same state it gives the same raw
bits as NumPy's. A stream is a state, a tuple of four 64-bit words; each draw takes a stream and returns the value and
the next stream. The start of a stream depends only on the seed, the number of the run and the purpose, so threads,
chunks and machines cannot change the random numbers of a run, and a new purpose never shifts the draws for another.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesregret.dispatch import jitable, rarely_called
from bayesregret.elementary import exp, floor, log, log1p
from bayesregret.ziggurat import DENSITY, LAYERS, TAIL_START, ZIGGURAT

Stream = tuple[Any, Any, Any, Any]
Key = tuple[Any, Any, Any]

U = np.uint64
GOLDEN = U(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio: the step of SplitMix64
ONE = U(1)

# Purposes. The low half of a label can hold an arm's number.
INSTANCE = U(0)
POLICY = U(1 << 32)
REWARD = U(2 << 32)


def seed_key(seed: int, *branch: int) -> Key:
    """Hash a seed of any size to three words, by NumPy's SeedSequence; another branch is independent of the first."""
    first, second, third = np.random.SeedSequence(seed, spawn_key=branch).generate_state(3, np.uint64)
    return first, second, third


@jitable
def mix64(word):
    """Finaliser of SplitMix64 (Steele, Lea and Flood 2014), a bijection of 64-bit words."""
    word = (word ^ (word >> U(30))) * U(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> U(27))) * U(0x94D049BB133111EB)
    return word ^ (word >> U(31))


@jitable
def run_word(key, run):
    """Word from which all streams of one run are derived."""
    return mix64(key[0] + U(run) * GOLDEN)


@jitable
def open_stream(key, run_start, label):
    """Stream of one purpose in one run; different runs or labels start in different states.

    The three words are hashes, so that SFC64 needs no warm-up, as it would after raw seeds.
    """
    second = mix64(run_start + key[1] + label * GOLDEN)
    return (run_start, second, mix64(second + key[2]), ONE)


@jitable
def read_stream(streams, row):
    """Read a stream from a table of streams."""
    return (streams[row, 0], streams[row, 1], streams[row, 2], streams[row, 3])


@jitable
def write_stream(streams, row, stream):
    streams[row, 0], streams[row, 1], streams[row, 2], streams[row, 3] = stream


@jitable
def raw(stream):
    """Draw 64 random bits: one step of SFC64."""
    a, b, c, counter = stream
    bits = a + b + counter
    return bits, (b ^ (b >> U(11)), c + (c << U(3)), ((c << U(24)) | (c >> U(40))) + bits, counter + ONE)


@jitable
def uniform(stream):
    """Draw a multiple of 2^-53 in [0, 1)."""
    bits, stream = raw(stream)
    return (bits >> U(11)) * TWO_TO_MINUS_53, stream


TWO_TO_MINUS_53 = 2.0**-53


@jitable
def sign(stream):
    """Draw plus or minus one, from the top bit."""
    bits, stream = raw(stream)
    return (1.0 if bits >> U(63) else -1.0), stream


SPARE = 64  # values of the spare bits of two normal draws, three each


@jitable
def ziggurat(layer):
    """Step and edge of a layer. A GPU looks them up in faster memory."""
    return ZIGGURAT[layer, 0], ZIGGURAT[layer, 1]


@jitable
def normal(stream):
    """Draw a standard normal variable, by the ziggurat method: disjoint bits for the layer and the position in it."""
    bits, stream = raw(stream)
    layer = bits & U(LAYERS - 1)
    step, edge = ziggurat(layer)
    value = (np.int64(bits) >> 11) * step
    if abs(value) < edge:
        return value, stream
    return _normal_outside(layer, value, stream)


@jitable
def two_normals(stream):
    """Draw two standard normal variables, and an integer below SPARE from the bits that they do not use."""
    first, stream = raw(stream)
    second, stream = raw(stream)
    spare = (first >> U(5)) & U(SPARE - 8) | (second >> U(8)) & U(7)
    one, other = first & U(LAYERS - 1), second & U(LAYERS - 1)
    (step, edge), (other_step, other_edge) = ziggurat(one), ziggurat(other)
    x, y = (np.int64(first) >> 11) * step, (np.int64(second) >> 11) * other_step
    if (abs(x) < edge) & (abs(y) < other_edge):
        return x, y, spare, stream
    x, y, stream = _normals_outside(one, x, other, y, stream)
    return x, y, spare, stream


@rarely_called
def _normals_outside(one, x, other, y, stream):
    if abs(x) >= ziggurat(one)[1]:
        x, stream = _normal_outside(one, x, stream)
    if abs(y) >= ziggurat(other)[1]:
        y, stream = _normal_outside(other, y, stream)
    return x, y, stream


@rarely_called
def _normal_outside(layer, value, stream):
    """Finish a draw outside the part of its layer that is surely accepted: one in eighty.

    The tail (Marsaglia 1964) is not a separate function, because LLVM would then inline both into the inner loops,
    which slows them by a third.
    """
    while True:
        if layer == U(LAYERS - 1):
            first, stream = uniform(stream)
            second, stream = uniform(stream)
            beyond = -log1p(-first) / TAIL_START
            if -2.0 * log1p(-second) > beyond * beyond:
                return math.copysign(TAIL_START + beyond, value), stream
        else:
            height, stream = uniform(stream)
            density = DENSITY[layer + ONE] + height * (DENSITY[layer] - DENSITY[layer + ONE])
            if density < exp(-0.5 * value * value):
                return value, stream
            bits, stream = raw(stream)
            layer = bits & U(LAYERS - 1)
            step, edge = ziggurat(layer)
            value = (np.int64(bits) >> 11) * step
            if abs(value) < edge:
                return value, stream


@rarely_called
def gamma(shape, stream):
    """Draw a Gamma(shape, 1) variable, for a shape of at least 1 (Marsaglia and Tsang 2000)."""
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        z, stream = normal(stream)
        root = 1.0 + c * z
        if root > 0.0:
            cube = root * root * root
            u, stream = uniform(stream)
            # The first test, without a logarithm, accepts nearly all. Both use 1 - u, which is never 0.
            if u > 0.0331 * z * z * z * z:
                return d * cube, stream
            if log1p(-u) < 0.5 * z * z + d - d * cube + d * log(cube):
                return d * cube, stream


@rarely_called
def log_gamma(shape, stream):
    """Draw the log of a Gamma(shape, 1) variable, for any positive shape: at 0.01 the variable often underflows."""
    if shape >= 1.0:
        value, stream = gamma(shape, stream)
        return log(value), stream
    value, stream = gamma(shape + 1.0, stream)
    u, stream = uniform(stream)
    return log(value) + log1p(-u) / shape, stream


@jitable
def gamma_of_any_shape(shape, stream):
    """Draw a Gamma(shape, 1) variable, for any positive shape; 0 if it underflows."""
    # One call of `gamma` for both cases: exp and its like are arithmetic, and LLVM would compute them in advance.
    value, stream = gamma(shape + 1.0 if shape < 1.0 else shape, stream)
    if shape < 1.0:
        return lower_shape(shape, value, stream)
    return value, stream


@rarely_called
def lower_shape(shape, value, stream):
    """Turn a Gamma(shape + 1) variable into a Gamma(shape) one."""
    u, stream = uniform(stream)
    return exp(log(value) + log1p(-u) / shape), stream


@rarely_called
def beta(a, b, stream):
    """Draw a Beta(a, b) variable, for any positive pseudo-counts."""
    if a >= 1.0 and b >= 1.0:
        x, stream = gamma(a, stream)
        y, stream = gamma(b, stream)
        return x / (x + y), stream
    log_x, stream = log_gamma(a, stream)
    log_y, stream = log_gamma(b, stream)
    # x / (x + y) without forming x or y, either of which may underflow.
    if log_x > log_y:
        return 1.0 / (1.0 + exp(log_y - log_x)), stream
    odds = exp(log_x - log_y)
    return odds / (1.0 + odds), stream


@jitable
def exponential(stream):
    """Draw an exponential variable with mean 1."""
    u, stream = uniform(stream)
    return -log1p(-u), stream


# Poisson draws use rejection from this mean on: its constants are proved only there, and below, waiting is as fast.
FEW_ARRIVALS = 10.0
# From this count on, four terms of Stirling's series give a factorial to all but the last one or two digits.
STIRLING_FROM = 16
LOG_FACTORIAL = np.array([log(math.factorial(count)) for count in range(STIRLING_FROM)])


@rarely_called
def poisson(mean, stream):
    """Draw a Poisson variable, for any mean >= 0, as a float: beyond 2^53 not all integers are floats."""
    if mean >= FEW_ARRIVALS:
        return _poisson_by_rejection(mean, stream)
    # Arrivals until time `mean`, the waiting times being exponential: -log of a product of uniforms.
    end = exp(-mean)
    u, stream = uniform(stream)
    left, count = 1.0 - u, 0.0
    while left > end:
        u, stream = uniform(stream)
        left *= 1.0 - u
        count += 1.0
    return count, stream


@rarely_called
def _poisson_by_rejection(mean, stream):
    """Transformed rejection with a squeeze: algorithm PTRS of Hormann (1993), with its constants."""
    b = 0.931 + 2.53 * math.sqrt(mean)
    a = -0.059 + 0.02483 * b
    squeeze = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u, stream = uniform(stream)
        v, stream = uniform(stream)
        u, v = u - 0.5, 1.0 - v
        edge = 0.5 - abs(u)
        if edge < 0.013 and v >= edge:  # always where the edge is 0
            continue
        count = floor((2.0 * a / edge + b) * u + mean + 0.43)
        if edge >= 0.07 and v <= squeeze:
            return count, stream
        if count >= 0.0:
            height = v * (1.1239 + 1.1328 / (b - 3.4)) / (a / (edge * edge) + b)
            if log(height) <= _log_poisson(count, mean):
                return count, stream


@rarely_called
def _log_poisson(count, mean):
    """Log probability of a count, from its distance to the mean, which avoids differences of huge numbers."""
    if count < STIRLING_FROM:
        return count * log(mean) - mean - LOG_FACTORIAL[int(count)]
    square = count * count
    stirling = (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * square)) / square) / square) / count
    return -_poisson_distance(count, mean) - stirling - 0.5 * log(2.0 * math.pi * count)


@jitable
def _poisson_distance(count, mean):
    """count log(count / mean) + mean - count; for close numbers by the series of the logarithm in `apart`."""
    off = count - mean
    apart = off / (count + mean)
    if abs(apart) > 0.1:
        return count * log(count / mean) - off
    distance, term, odd = off * apart, 2.0 * count * apart, 1.0
    while True:
        term *= apart * apart
        odd += 2.0
        more = distance + term / odd
        if more == distance:
            return distance
        distance = more
