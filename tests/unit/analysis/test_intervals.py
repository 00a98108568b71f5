"""Intervals against tables, exact binomial sums, and how often they cover the truth."""

import numpy as np
import pytest
from scipy import stats

from alight.analysis import intervals as iv
from alight.core.errors import InputError


def test_wilson_at_nothing_and_everything():
    z2 = stats.norm.isf(0.025) ** 2
    none, every = iv.wilson(0, 1000), iv.wilson(1000, 1000)
    assert (none.value, none.low) == (0.0, 0.0)
    assert none.high == pytest.approx(z2 / (1000 + z2), rel=1e-12)
    assert (every.low, every.high) == (pytest.approx(1000 / (1000 + z2), rel=1e-12), 1.0)
    assert (iv.wilson(0, 0).low, iv.wilson(0, 0).high) == (0.0, 1.0)


@pytest.mark.parametrize("count", [1, 7, 30, 59])
def test_wilson_ends_are_where_the_score_test_just_rejects(count):
    n, z = 60, stats.norm.isf(0.005)
    found = iv.wilson(count, n, confidence=0.99)
    for end in (found.low, found.high):
        assert abs(count / n - end) / np.sqrt(end * (1 - end) / n) == pytest.approx(z, rel=1e-9)


@pytest.mark.parametrize(("n", "p"), [(30, 0.5), (100, 0.05), (1000, 0.95), (400, 0.99)])
def test_ranks_cover_and_no_narrower_ones_would(n, p):
    low, high = iv.order_ranks(n, p)
    below = stats.binom(n, p).cdf
    assert below(low - 1) <= 0.025 < below(low)
    assert 1 - below(high - 1) <= 0.025 < 1 - below(high - 2)


def test_the_median_of_six_lies_between_the_first_and_the_last():
    """All six on one side of it: 2 (1/2)^6 = 3.1 %. Of five it is 6.3 %, so five bound nothing."""
    six = iv.sorted_quantile(np.array([1.0, 2.0, 4.0, 6.0, 7.0, 9.0]), 0.5)
    assert (six.value, six.low, six.high, six.n) == (5.0, 1.0, 9.0, 6)
    five = iv.sorted_quantile(np.array([1.0, 2.0, 4.0, 6.0, 7.0]), 0.5)
    assert (five.value, five.n) == (4.0, 5)
    assert np.isnan([five.low, five.high]).all()
    assert iv.order_ranks(6, 0.5) == (1, 6)
    assert iv.order_ranks(5, 0.5) == (0, 6)
    # 2/64 = 0.03125 is just too much for 0.96875 and a hair more than enough for less.
    assert iv.order_ranks(6, 0.5, 0.9687) == (1, 6)
    assert iv.order_ranks(6, 0.5, 0.9688) == (0, 7)


def test_a_spread_has_the_median_and_both_ends_of_nine_tenths():
    assert list(iv.spread(np.arange(3.0)).quantiles) == [0.05, 0.5, 0.95]


def test_quantile_interval_covers_the_true_one():
    rng, p, n, trials = np.random.default_rng(3), 0.9, 200, 1000
    truth = stats.lognorm(1.5).ppf(p)
    draws = np.sort(rng.lognormal(sigma=1.5, size=(trials, n)), axis=1)
    found = [iv.sorted_quantile(row, p) for row in draws]
    covered = np.mean([e.low <= truth <= e.high for e in found])
    # 95 % at least, and little more since ranks are whole; three standard errors are 0.02.
    assert 0.93 < covered < 0.99
    assert found[0].value == pytest.approx(np.quantile(draws[0], p), rel=1e-14)


def test_too_few_runs_have_no_end():
    few = iv.spread(np.array([1.0, 2.0, np.nan, 4.0]), [0.5, 0.95])
    assert (few.n, few.least, few.most) == (3, 1.0, 4.0)
    assert few.quantiles[0.5].value == 2.0
    assert np.isnan(few.quantiles[0.95].high)
    nothing = iv.spread(np.array([np.nan]))
    assert nothing.n == 0
    assert np.isnan(nothing.mean.value)


def test_mean_has_students_interval():
    values = np.array([1.0, 2.0, 4.0, 9.0])
    found = iv.mean_of(values)
    low, high = stats.t.interval(0.95, 3, loc=values.mean(), scale=stats.sem(values))
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-12)


@pytest.mark.parametrize("wrong", [0.0, 1.0, 95, "a", -0.1])
def test_shares_are_between_0_and_1(wrong):
    with pytest.raises(InputError, match="between 0 and 1"):
        iv.wilson(1, 2, wrong)
