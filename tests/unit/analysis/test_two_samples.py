"""Two samples: published numbers, coverage of intervals, and how often chance raises an alarm."""

import itertools

import numpy as np
import pytest

from alight.analysis import two_samples
from alight.analysis.two_samples import (
    distance,
    holm,
    share_difference,
    value_difference,
)
from alight.core.errors import InputError

SEVERAL = 300
#: Three standard deviations of a share of 0.05 (or 0.95) among so many trials.
ROOM = 3.0 * np.sqrt(0.05 * 0.95 / SEVERAL)


@pytest.fixture
def few_draws(monkeypatch):
    """Fewer random draws, for speed: chances are known to 1 in 400."""
    monkeypatch.setattr(two_samples, "SWAPS", 399)
    monkeypatch.setattr(two_samples, "RESAMPLED", 400)


def hits(count, n):
    return np.arange(n) < count


# -- published numbers ---------------------------------------------------------------------------


def test_fishers_lady_tasting_tea():
    """3 of 4 against 1 of 4: 34/70 (Fisher 1935)."""
    found = share_difference(hits(3, 4), hits(1, 4))
    assert found.p == pytest.approx(34.0 / 70.0, rel=1e-12)
    assert found.difference.value == -0.5


def test_newcombes_example():
    """56 of 70 against 48 of 80: 0.0524 to 0.3339 (Newcombe 1998, table II, method 10)."""
    found = share_difference(hits(48, 80), hits(56, 70)).difference
    assert found.value == pytest.approx(0.2)
    assert (found.low, found.high) == (
        pytest.approx(0.0524, abs=5e-5), pytest.approx(0.3339, abs=5e-5),
    )  # fmt: skip


def test_mcnemars_exact_chance():
    """1 pair lost and 9 won: 2 (C(10, 0) + C(10, 1)) / 2^10."""
    first, second = np.zeros(30, bool), np.zeros(30, bool)
    first[:1], second[5:14], first[20:], second[20:] = True, True, True, True
    found = share_difference(first, second, paired=True)
    assert found.p == pytest.approx(22.0 / 1024.0, rel=1e-12)
    assert found.difference.value == pytest.approx(8.0 / 30.0)
    assert found.difference.low < 8.0 / 30.0 < found.difference.high


def test_holms_steps():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_distance_of_distributions():
    assert distance(np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0, 4.0])) == pytest.approx(1 / 3)
    assert distance(np.array([1.0, np.nan]), np.array([1.0])) == 0.0
    assert np.isnan(distance(np.array([np.nan]), np.array([1.0])))


@pytest.mark.parametrize("n", [7, 8])
def test_medians_are_resampled_by_their_law(n):
    """The same law as of samples that are really drawn; 99.9 % of distances are below the bound."""
    rng, values = np.random.default_rng(3), np.arange(n, dtype=float) ** 2
    drawn = np.median(values[rng.integers(0, n, (20_000, n))], axis=1)
    quick = np.concatenate([two_samples._resampled_medians(values, rng) for _ in range(10)])
    apart = [np.mean(drawn <= x) - np.mean(quick <= x) for x in np.unique(drawn)]
    assert np.abs(apart).max() < 1.95 * np.sqrt(1 / len(drawn) + 1 / len(quick))


def test_swaps_have_the_chance_of_all_of_them():
    """Ten pairs have 1024 swaps: with values that repeat, as counts do, each is looked at."""
    first = np.array([0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 0.0, 1.0, 3.0, 2.0])
    second = np.array([1.0, 2.0, 1.0, 2.0, 3.0, 1.0, 1.0, 2.0, 2.0, 3.0])
    found, reached = distance(first, second), 0
    for swap in itertools.product([False, True], repeat=10):
        a, b = np.where(swap, second, first), np.where(swap, first, second)
        reached += distance(a, b) >= found - 1e-12
    exact = reached / 1024
    assert 0.05 < exact < 0.95
    chance = value_difference(first, second, paired=True).p
    assert chance == pytest.approx(exact, abs=4.0 * np.sqrt(exact * (1 - exact) / 5000))


# -- equal samples, and samples without values ---------------------------------------------------


def test_equal_pairs_have_no_difference():
    values = np.random.default_rng(1).normal(size=50)
    found = value_difference(values, values.copy(), paired=True)
    assert found.p == 1.0
    assert (found.difference.value, found.difference.low, found.difference.high) == (0.0, 0.0, 0.0)


def test_runs_without_a_value():
    some, none = np.array([1.0, np.nan, 2.0, 3.0]), np.full(4, np.nan)
    assert value_difference(some, none) is None
    assert value_difference(some, none, paired=True) is None
    assert value_difference(some, some + 1.0, paired=True).test == "swapped pairs"
    # Few have it in both: pairs would speak of those alone.
    half = np.where(np.arange(40) < 20, np.nan, 1.0 * np.arange(40))
    assert value_difference(np.arange(40.0), half, paired=True).test == "Kolmogorov-Smirnov"


def test_bad_samples():
    with pytest.raises(InputError, match="as many of each"):
        value_difference(np.zeros(3), np.zeros(4), paired=True)
    with pytest.raises(InputError, match="without runs"):
        share_difference(np.zeros(0, bool), np.zeros(4, bool))


# -- by simulation -------------------------------------------------------------------------------


def samples(rng, paired, n=60, shift=0.0, like=0.8):
    """Two samples of one law but for a shift; in pairs they have most in common."""
    first, own = rng.gamma(2.0, size=n), rng.gamma(2.0, size=n)
    if paired:
        swap = rng.random(n) < like
        own = np.where(swap, first, own)
    return first, own + shift


@pytest.mark.parametrize("paired", [False, True])
def test_false_alarms_are_as_rare_as_stated(paired, few_draws):
    """Of campaigns that do not differ, 5 % at most have any difference found in them."""
    rng = np.random.default_rng(7)
    alarms = 0
    for _ in range(SEVERAL):
        chances = []
        for _ in range(3):
            a, b = samples(rng, paired)
            chances.append(value_difference(a, b, paired).p)
            chances.append(share_difference(a < 1.0, b < 1.0, paired).p)
            chances.append(value_difference(np.floor(4 * a), np.floor(4 * b), paired).p)
        alarms += min(holm(chances)) < two_samples.LEVEL
    assert alarms / SEVERAL <= 0.05 + ROOM


@pytest.mark.parametrize("paired", [False, True])
def test_chances_are_not_needlessly_large(paired, few_draws):
    """A chance below one half comes up in about half of the trials: the tests are not blunt."""
    rng = np.random.default_rng(8)
    found = [value_difference(*samples(rng, paired, like=0.3), paired).p for _ in range(SEVERAL)]
    below = np.mean(np.array(found) < 0.5)
    assert 0.3 < below < 0.5 + 3.0 * np.sqrt(0.25 / SEVERAL)


@pytest.mark.parametrize("paired", [False, True])
def test_intervals_cover(paired, few_draws):
    rng = np.random.default_rng(9)
    shares = medians = 0
    for _ in range(SEVERAL):
        a, b = samples(rng, paired, shift=0.3, like=0.5)
        found = value_difference(a, b, paired).difference
        medians += found.low <= 0.3 <= found.high
        one, other = a < 1.0, b - 0.3 < 1.0
        found = share_difference(one, other, paired).difference
        shares += found.low <= 0.0 <= found.high
    assert shares / SEVERAL >= 0.95 - ROOM
    assert medians / SEVERAL >= 0.95 - ROOM


def test_pairs_find_what_independent_samples_cannot():
    rng = np.random.default_rng(10)
    first = rng.gamma(2.0, size=200)
    second = first + 0.05 + 0.01 * rng.normal(size=200)
    assert value_difference(first, second, paired=True).p < 0.01
    assert value_difference(first, second).p > 0.5
    assert value_difference(first, 2.0 * second).p < 1e-4


def test_many_pairs_have_narrow_intervals():
    """The width goes with the root of the number, also where some pairs alone are drawn from."""
    rng = np.random.default_rng(11)
    widths = {}
    for n in (two_samples.MOST_PAIRS, 16 * two_samples.MOST_PAIRS):
        first = rng.normal(size=n)
        found = value_difference(first, first + rng.normal(size=n), paired=True).difference
        assert found.low < found.value < found.high
        widths[n] = found.high - found.low
    few, many = widths.values()
    assert many == pytest.approx(few / 4.0, rel=0.15)
