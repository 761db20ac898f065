"""Streams of neighbouring seeds, runs and labels: their first draws must look like draws of one good generator."""

import numpy as np
import pytest
from scipy import stats

from bayesregret.rng import INSTANCE, REWARD, U, normal, open_stream, raw, run_word, seed_key
from draws import compiled, deviation, fill_raw, fill_sign, fill_uniform, sample

SIZE = 300_000


def first_of_runs(normals, bits, key, label):
    """The first normal draw and the first two raw outputs of one purpose, run after run."""
    for run in range(normals.shape[0]):
        stream = open_stream(key, run_word(key, run), label)
        normals[run], _ = normal(stream)
        bits[run, 0], stream = raw(stream)
        bits[run, 1], stream = raw(stream)


def first_of_labels(normals, bits, key, run):
    """The same of one run, label after label."""
    start = run_word(key, run)
    for arm in range(normals.shape[0]):
        stream = open_stream(key, start, REWARD + U(arm))
        normals[arm], _ = normal(stream)
        bits[arm, 0], stream = raw(stream)
        bits[arm, 1], stream = raw(stream)


def first_draws(loop, seed, third, size=SIZE):
    normals, bits = np.empty(size), np.empty((size, 2), np.uint64)
    compiled(loop)(normals, bits, seed_key(seed), third)
    return normals, bits


def assert_uncorrelated(x, y):
    assert deviation(x * y, 0.0, 1.0) < 4.0
    assert deviation(x * (y + 0.05 * x), 0.0, 1.0) > 10.0


NEIGHBOURS = {
    "next run": lambda: (
        first_draws(first_of_runs, 1, INSTANCE)[0][:-1],
        first_draws(first_of_runs, 1, INSTANCE)[0][1:],
    ),
    "next arm": lambda: (first_draws(first_of_labels, 1, 0)[0][:-1], first_draws(first_of_labels, 1, 0)[0][1:]),
    "next seed": lambda: (first_draws(first_of_runs, 1, INSTANCE)[0], first_draws(first_of_runs, 2, INSTANCE)[0]),
    "other purpose": lambda: (first_draws(first_of_runs, 1, INSTANCE)[0], first_draws(first_of_runs, 1, REWARD)[0]),
    "same arm, next run": lambda: (first_draws(first_of_labels, 1, 0)[0], first_draws(first_of_labels, 1, 1)[0]),
}


@pytest.mark.compiled
@pytest.mark.parametrize("pair", NEIGHBOURS)
def test_neighbouring_streams_are_uncorrelated(pair):
    x, y = NEIGHBOURS[pair]()
    assert_uncorrelated(x, y)
    assert_uncorrelated((x * x - 1.0) / np.sqrt(2.0), (y * y - 1.0) / np.sqrt(2.0))


@pytest.mark.compiled
@pytest.mark.parametrize("loop", [first_of_runs, first_of_labels])
def test_first_draws_over_streams_are_normal(loop):
    normals, _ = first_draws(loop, 3, INSTANCE if loop is first_of_runs else 0)
    assert stats.kstest(normals, "norm").pvalue > 1e-3
    assert stats.kstest(normals + 0.02, "norm").pvalue < 1e-6


def bit_counts(words):
    """(64,): how often each bit is set."""
    return np.unpackbits(words.view(np.uint8).reshape(-1, 8), axis=1).sum(axis=0)


@pytest.mark.compiled
@pytest.mark.parametrize("loop", [first_of_runs, first_of_labels])
def test_no_bit_of_the_first_outputs_leans(loop):
    """Every bit, and its change from one stream to the next, is 0 or 1 with equal probability, without warm-up."""
    _, bits = first_draws(loop, 4, INSTANCE if loop is first_of_runs else 0)
    for words in (
        bits[:, 0],
        bits[:, 1],
        bits[1:, 0] ^ bits[:-1, 0],
        bits[1:, 1] ^ bits[:-1, 1],
        bits[:, 0] ^ bits[:, 1],
    ):
        words = np.ascontiguousarray(words)
        lean = np.abs(bit_counts(words) - len(words) / 2) / np.sqrt(len(words) / 4)
        assert lean.max() < 4.5  # the largest of 64
        stuck = words | (words << U(1))
        assert (np.abs(bit_counts(stuck) - len(words) / 2) / np.sqrt(len(words) / 4)).max() > 10.0


@pytest.mark.compiled
def test_uniforms():
    u = sample(fill_uniform, 1_000_000, seed=5)
    assert stats.kstest(u, "uniform").pvalue > 1e-3
    assert stats.kstest(u**1.02, "uniform").pvalue < 1e-6
    assert deviation(u, 0.5, 12.0**-0.5) < 4.0
    assert deviation(u * 0.99, 0.5, 12.0**-0.5) > 10.0
    assert deviation((u[1:] - 0.5) * (u[:-1] - 0.5), 0.0, 1.0 / 12.0) < 4.0


@pytest.mark.compiled
def test_signs():
    s = sample(fill_sign, 1_000_000, seed=6)
    assert set(np.unique(s)) == {-1.0, 1.0}
    assert deviation(s, 0.0, 1.0) < 4.0
    assert deviation(s[1:] * s[:-1], 0.0, 1.0) < 4.0
    leaning = np.where(np.arange(len(s)) % 50 == 0, 1.0, s)
    assert deviation(leaning, 0.0, 1.0) > 10.0


@pytest.mark.compiled
def test_low_bits_of_one_stream():
    """The ziggurat takes its layer from the lowest eight bits."""
    bits = sample(fill_raw, 2_560_000, seed=7, dtype=np.uint64)
    layers = np.bincount((bits & U(255)).astype(np.int64), minlength=256)
    assert stats.chisquare(layers).pvalue > 1e-3
    layers[0] += 1500
    assert stats.chisquare(layers).pvalue < 1e-6
