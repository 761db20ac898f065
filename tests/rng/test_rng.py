"""Streams and draws one by one: bits against NumPy's, addresses, tables, and the ends of the range."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy import special, stats

from bayesregret import rng, ziggurat
from bayesregret.rng import GOLDEN, INSTANCE, POLICY, REWARD, U
from draws import fill_beta, fill_normal, fill_raw, fill_sign, fill_uniform, sample, stream_of

pytestmark = pytest.mark.both

ADDRESSES = [
    (0, 0, INSTANCE),
    (0, 1, INSTANCE),
    (7, 12_345, REWARD + U(3)),
    (2**64 - 1, 2**40, POLICY),
    (2**200 + 17, 10**12, REWARD + U(2**32 - 1)),
]


def numpys(stream):
    """NumPy's SFC64, set to the state of our stream."""
    generator = np.random.SFC64()
    generator.state = {
        "bit_generator": "SFC64",
        "state": {"state": np.array(stream, np.uint64)},
        "has_uint32": 0,
        "uinteger": 0,
    }
    return generator


def take(draw, stream, size, *parameters):
    """Draws in plain Python."""
    values = []
    with np.errstate(over="ignore"):
        for _ in range(size):
            value, stream = draw(*parameters, stream)
            values.append(value)
    return values


@pytest.mark.parametrize(("seed", "run", "label"), ADDRESSES)
def test_raw_bits_are_numpys(seed, run, label):
    stream = stream_of(seed, run, label)
    ours = take(rng.raw, stream, 500)
    assert [int(bits) for bits in ours] == numpys(stream).random_raw(500).tolist()
    flipped = (stream[0] ^ U(1), *stream[1:])
    assert int(ours[0]) != int(numpys(flipped).random_raw())


@pytest.mark.compiled
def test_a_million_compiled_raw_bits_are_numpys():
    bits = sample(fill_raw, 1_000_000, seed=11, dtype=np.uint64)
    assert np.array_equal(bits, numpys(stream_of(11)).random_raw(1_000_000))


@pytest.mark.parametrize(("seed", "run", "label"), ADDRESSES)
def test_uniforms_are_numpys(seed, run, label):
    stream = stream_of(seed, run, label)
    assert take(rng.uniform, stream, 200) == np.random.Generator(numpys(stream)).random(200).tolist()


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("draw", "fill", "parameters"),
    [
        (rng.uniform, fill_uniform, ()),
        (rng.sign, fill_sign, ()),
        (rng.normal, fill_normal, ()),
        (rng.beta, fill_beta, (0.3, 0.02)),
        (rng.beta, fill_beta, (2.5, 40.0)),
    ],
)
def test_plain_and_compiled_draws_are_the_same_bits(draw, fill, parameters):
    size = 10_000  # enough to meet the tail of the normal
    plain = np.array(take(draw, stream_of(3), size, *parameters))
    assert plain.tobytes() == sample(fill, size, *parameters, seed=3).tobytes()


def test_splitmix_known_values():
    """The first outputs of SplitMix64 from the state 1234567, as published with its reference code."""
    published = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    with np.errstate(over="ignore"):
        ours = [int(rng.mix64(U(1234567) + U(step) * GOLDEN)) for step in range(1, 6)]
    assert ours == published


def test_mix64_fixes_only_zero_here():
    with np.errstate(over="ignore"):
        images = {int(rng.mix64(U(word))) for word in range(1000)}
    assert rng.mix64(U(0)) == 0
    assert len(images) == 1000


def test_every_address_has_its_own_stream():
    states = {
        tuple(map(int, stream_of(seed, run, label)))
        for seed in [0, 1, 2, 2**64, 2**128]
        for run in [*range(20), 2**32, 2**40]
        for label in [INSTANCE, POLICY, *(REWARD + U(arm) for arm in range(20))]
    }
    assert len(states) == 5 * 22 * 22
    assert all(counter == 1 for *_, counter in states)


def test_an_address_always_has_the_same_stream():
    assert stream_of(5, 6, REWARD) == stream_of(5, 6, REWARD)
    assert stream_of(5, 6, REWARD) != stream_of(6, 5, REWARD)


def test_seeds_of_any_size_give_three_words():
    for seed in [0, 1, 2**64, 2**500]:
        assert [word.dtype for word in rng.seed_key(seed)] == [np.uint64] * 3
    assert rng.seed_key(1) != rng.seed_key(1 + 2**64)


def test_uniforms_are_multiples_of_two_to_minus_53():
    values = np.array(take(rng.uniform, stream_of(1), 300))
    assert ((values >= 0.0) & (values < 1.0)).all()
    scaled = values * 2.0**53
    assert np.array_equal(scaled, np.rint(scaled))
    assert (scaled % 2 == 1).any()  # the last bit is used


def test_signs_are_the_top_bit():
    stream = stream_of(2)
    tops = numpys(stream).random_raw(200) >> U(63)
    assert take(rng.sign, stream, 200) == np.where(tops == 1, 1.0, -1.0).tolist()


def test_the_layers_of_the_ziggurat_have_equal_area():
    inner, outer = ziggurat.ZIGGURAT[:, 1], ziggurat.ZIGGURAT[:, 0] * 2.0**52
    assert np.array_equal(outer[:-1], inner[1:])
    area = outer[:-1] * (ziggurat.DENSITY[:-2] - ziggurat.DENSITY[1:-1])
    assert np.allclose(area, ziggurat.LAYER_AREA, rtol=2e-9, atol=0.0)
    tail = math.sqrt(math.pi / 2.0) * special.erfc(ziggurat.TAIL_START / math.sqrt(2.0))
    base = ziggurat.TAIL_START * math.exp(-0.5 * ziggurat.TAIL_START**2) + tail
    assert base == pytest.approx(ziggurat.LAYER_AREA, rel=1e-9)
    assert not np.allclose(area * (1.0 + 1e-8), ziggurat.LAYER_AREA, rtol=2e-9, atol=0.0)


def test_the_edges_are_those_of_the_recurrence():
    """`decimal` rounds its functions correctly, on every machine."""

    def exp(x):
        return float(Decimal(x).exp())

    with localcontext(prec=30):
        edges = [ziggurat.LAYER_AREA / exp(-0.5 * ziggurat.TAIL_START**2), ziggurat.TAIL_START]
        while len(edges) < ziggurat.LAYERS:
            density = ziggurat.LAYER_AREA / edges[-1] + exp(-0.5 * edges[-1] ** 2)
            edges.append(math.sqrt(-2.0 * float(Decimal(density).ln())))
    assert (0.0, *reversed(edges)) == ziggurat.EDGES


def test_the_tail_lies_beyond_its_start_and_keeps_its_side():
    stream = stream_of(4)
    with np.errstate(over="ignore"):
        for side in (1.0, -1.0):
            for _ in range(50):
                value, stream = rng._normal_outside(U(ziggurat.LAYERS - 1), side, stream)
                assert value * side >= ziggurat.TAIL_START


def test_two_normals_at_once():
    """The draws of `normal`, and spare bits that are even whatever the draws are; those of the layer are not."""
    pairs, stream = [], stream_of(12)
    with np.errstate(over="ignore"):
        for _ in range(6_000):
            bits, middle = rng.raw(stream)
            first, _ = rng.normal(stream)
            second, _ = rng.normal(middle)
            x, y, spare, stream = rng.two_normals(stream)
            if tuple(stream) == tuple(rng.raw(middle)[1]):  # both are inside their layers
                assert (x, y) == (first, second)
            pairs.append((x, int(spare), int(bits) & (rng.SPARE - 1)))
    drawn, spare, layer = np.array(pairs).T
    for part in (np.abs(drawn) < 0.5, np.abs(drawn) >= 0.5):
        assert stats.chisquare(np.bincount(spare[part].astype(int), minlength=rng.SPARE)).pvalue > 1e-3
    wide = np.abs(drawn) > 2.0
    assert stats.kstest(drawn, "norm").pvalue > 1e-3
    assert stats.chisquare(np.bincount(layer[wide].astype(int), minlength=rng.SPARE)).pvalue < 1e-3


def test_a_point_above_the_density_is_drawn_again():
    """From layer 0 with a value at the layer's far edge, only a low height can be accepted."""
    edge = ziggurat.ZIGGURAT[0, 0] * 2.0**52
    stream = stream_of(8)
    values = set()
    with np.errstate(over="ignore"):
        for _ in range(60):
            value, stream = rng._normal_outside(U(0), edge, stream)
            values.add(float(value))
    assert len(values) > 50


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1e-50, 1e-50),
        (1e-50, 1e50),
        (1e50, 1e-50),
        (1e50, 1e50),
        (0.01, 0.01),
        (1e4, 0.01),
        (1e-300, 1.0),
        (1e16, 1e16),
    ],
)
def test_extreme_beta_draws_are_probabilities(a, b):
    values = np.array(take(rng.beta, stream_of(6), 100, a, b))
    assert ((values >= 0.0) & (values <= 1.0)).all()  # false for NaN
    if a < 0.1 and b < 0.1:  # nearly 0 or 1 with equal probability
        assert 20 < np.rint(values).sum() < 80
    elif min(a, b) > 1e3:  # nearly a constant
        assert np.allclose(values, a / (a + b), rtol=1e-6)


def test_a_gamma_draw_too_small_for_a_float_has_a_logarithm():
    logs = take(rng.log_gamma, stream_of(9), 200, 1e-4)
    assert np.isfinite(logs).all()
    assert min(logs) < math.log(5e-324)
