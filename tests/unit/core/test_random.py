"""Philox against the published vectors; uniform and normal numbers; independence of draws."""

import statistics

import numpy as np
import pytest
import warp as wp
from scipy import stats

from alight.core import random
from alight.core.devices import available, launch
from alight.core.errors import InputError
from alight.core.types import scalar

# Known answers published with Random123 (kat_vectors, philox4x32 with 10 rounds).
KNOWN = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000",
     "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff",
     "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0",
     "d16cfe09 94fdcceb 5001e420 24126ea1"),
]  # fmt: skip

RUNS = np.array([0, 1, 2, 1000, 2**32 - 1, 2**32, 2**63 + 5], np.uint64)


# Worked out once with plain Python integers from the rules in the module's text.
KEY = [1084812942, 4215364149]
UNIFORM = [0.3857569451340944, 0.594607219797624, 0.15460371103802062]
NORMAL = [-0.29039523287817265, 0.23941272932697602, -1.016886508683029]


def _words(text):
    return np.array([int(word, 16) for word in text.split()], np.uint32)


@wp.kernel
def _philox(
    offset: int,
    counter: wp.array(dtype=random.vec4u),
    key: wp.array(dtype=random.vec2u),
    words_out: wp.array(dtype=random.vec4u),
):
    i = wp.tid() + offset
    words_out[i] = random.philox4x32(counter[i], key[i])


@wp.kernel
def _uniform(
    offset: int,
    blocks: int,
    key: random.vec2u,
    runs: wp.array(dtype=wp.uint64),
    numbers_out: wp.array2d(dtype=scalar),
):
    i = wp.tid() + offset
    for b in range(blocks):
        pair = random.uniform_pair(key, runs[i], wp.uint64(b))
        numbers_out[i, 2 * b] = pair[0]
        numbers_out[i, 2 * b + 1] = pair[1]


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN)
def test_host_gives_the_published_words(counter, key, answer):
    found = random.philox4x32_host(_words(counter), _words(key))
    assert np.array_equal(found, _words(answer))


@pytest.mark.parametrize("device", available(), ids=str)
def test_kernel_gives_the_published_words(device):
    columns = [np.array([_words(row[i]) for row in KNOWN]) for i in range(3)]
    counter = wp.array(columns[0], dtype=random.vec4u, device=device.name)
    key = wp.array(columns[1], dtype=random.vec2u, device=device.name)
    words = wp.zeros(len(KNOWN), dtype=random.vec4u, device=device.name)
    launch(_philox, len(KNOWN), [counter, key], device, outputs=[words])
    assert np.array_equal(words.numpy(), columns[2])


@pytest.mark.parametrize("device", available(), ids=str)
def test_kernel_draws_the_bits_of_the_host(device):
    blocks, seed, name = 50, 2**64 - 1, "release.height"
    runs = wp.array(RUNS, dtype=wp.uint64, device=device.name)
    numbers = wp.zeros((len(RUNS), 2 * blocks), dtype=scalar, device=device.name)
    key = random.vec2u(*random.key_of(seed, name))
    launch(_uniform, len(RUNS), [blocks, key, runs], device, outputs=[numbers])
    assert np.array_equal(numbers.numpy(), random.uniform(seed, RUNS, name, 2 * blocks))


def test_addressing_is_frozen():
    """Stored campaigns rely on these: key, counter layout and bit order never change."""
    assert random.key_of(1, "release.height").tolist() == KEY
    assert random.uniform(1, 7, "release.height", 3)[0].tolist() == UNIFORM
    assert random.normal(1, 7, "release.height", 3)[0].tolist() == NORMAL


def test_a_run_draws_the_same_alone_in_any_order_and_from_any_start():
    whole = random.uniform(5, RUNS, "ground.friction", 9)
    shuffled = RUNS[::-1]
    assert np.array_equal(random.uniform(5, shuffled, "ground.friction", 9), whole[::-1])
    for row, run in enumerate(RUNS):
        assert np.array_equal(random.uniform(5, int(run), "ground.friction", 9)[0], whole[row])
    for start in range(9):
        part = random.uniform(5, RUNS, "ground.friction", 9 - start, start)
        assert np.array_equal(part, whole[:, start:])


def test_uniform_range_and_extremes():
    u = random.uniform(3, np.arange(2000), "range", 50)
    assert u.min() >= 0.0
    assert u.max() < 1.0
    largest = np.array([2**53 - 1], np.uint64).astype(float) * 2.0**-53
    assert largest[0] < 1.0


def test_uniform_numbers_are_uniform():
    """Kolmogorov-Smirnov over 1e5 numbers, and 256 equal cells by chi-square: p > 1e-4.

    The draws are fixed, so a right generator passes always; a bias of 1 % fails.
    """
    u = random.uniform(11, np.arange(1000), "uniformity", 100).ravel()
    assert stats.kstest(u, "uniform").pvalue > 1e-4
    cells = np.bincount((u * 256).astype(int), minlength=256)
    assert stats.chisquare(cells).pvalue > 1e-4


def test_every_bit_is_fair():
    k = random.bits53(12, np.arange(2000), "bits", 20).ravel()
    ones = np.array([np.count_nonzero(k >> np.uint64(b) & np.uint64(1)) for b in range(53)])
    sigma = 0.5 * np.sqrt(k.size)
    assert np.all(np.abs(ones - k.size / 2) < 4.5 * sigma)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((1, "a"), (1, "b")),
        ((1, "a"), (2, "a")),
        ((1, "ab"), (1, "ba")),
        ((0, "\x01"), (1, "\x00")),
    ],
)
def test_names_and_seeds_are_independent(one, other):
    runs = np.arange(20_000)
    u = random.uniform(one[0], runs, one[1])[:, 0]
    v = random.uniform(other[0], runs, other[1])[:, 0]
    assert not np.any(u == v)
    assert abs(np.corrcoef(u, v)[0, 1]) < 4.5 / np.sqrt(runs.size)


def test_neighbouring_runs_and_draws_are_independent():
    u = random.uniform(9, np.arange(20_001), "x", 4)
    bound = 4.5 / np.sqrt(20_000)
    assert abs(np.corrcoef(u[:-1, 0], u[1:, 0])[0, 1]) < bound
    between = np.corrcoef(u.T) - np.eye(4)
    assert np.all(np.abs(between) < bound)


def test_no_number_is_drawn_twice():
    k = random.bits53(4, np.arange(5000), "x", 20)
    # Among n = 1e5 numbers of 53 bits a chance pair has probability n^2 / 2^54 = 6e-7.
    assert np.unique(k).size == k.size


def test_normal_is_the_inverse_distribution_function():
    """Against the standard library at exact probabilities below 1/2, where p has all its digits."""
    k = np.concatenate(
        [random.bits53(1, np.arange(500), "z", 20).ravel() >> np.uint64(s) for s in range(1, 52, 5)]
    )
    k = np.concatenate([k, np.arange(20, dtype=np.uint64)])
    p = (k.astype(float) + 0.5) * 2.0**-53
    assert p.max() < 0.5
    expected = np.array([statistics.NormalDist().inv_cdf(x) for x in p])
    assert np.allclose(random.normal_from_bits(k), expected, rtol=4e-15, atol=0)


def test_normal_is_odd_to_the_last_bit():
    k = random.bits53(1, np.arange(500), "z", 20)
    mirrored = np.uint64(2**53 - 1) - k
    assert np.array_equal(random.normal_from_bits(mirrored), -random.normal_from_bits(k))
    assert np.all(np.isfinite(random.normal_from_bits(np.array([0, 2**53 - 1], np.uint64))))


def test_normal_numbers_are_normal():
    z = random.normal(21, np.arange(1000), "normality", 100).ravel()
    assert stats.kstest(z, "norm").pvalue > 1e-4


def test_logarithm_is_right_to_two_units():
    x = np.concatenate([2.0 ** -np.linspace(0, 54, 20_001), [0.5, np.sqrt(0.5), 0.7072]])
    assert np.allclose(random._log(x), np.log(x), rtol=2 * np.finfo(float).eps, atol=0)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "7", None])
def test_bad_seed_is_refused(seed):
    with pytest.raises(InputError, match="seed"):
        random.key_of(seed, "x")


@pytest.mark.parametrize("runs", [-1, [0, -3], 1.5, "4", [[1, 2]]])
def test_bad_runs_are_refused(runs):
    with pytest.raises(InputError, match="run number"):
        random.uniform(1, runs, "x")


@pytest.mark.parametrize("name", ["", None, 3])
def test_bad_name_is_refused(name):
    with pytest.raises(InputError, match="name"):
        random.key_of(1, name)
