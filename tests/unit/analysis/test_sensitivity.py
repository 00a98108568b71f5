"""Rank correlations against SciPy, Sobol indices against functions whose indices are known."""

import numpy as np
import pytest
from scipy import stats

from alight.analysis import sensitivity as sv
from alight.core.errors import InputError


def _uniform(n, seed):
    draws = np.random.default_rng(seed).uniform(-np.pi, np.pi, size=(3, n))
    return dict(zip(("x1", "x2", "x3"), draws, strict=True))


def _ishigami(x, a=7.0, b=0.1):
    """Ishigami and Homma (1990)."""
    return np.sin(x["x1"]) + a * np.sin(x["x2"]) ** 2 + b * x["x3"] ** 4 * np.sin(x["x1"])


def _ishigami_indices(a=7.0, b=0.1):
    first = 0.5 * (1.0 + b * np.pi**4 / 5.0) ** 2
    total = first + a**2 / 8.0 + b**2 * np.pi**8 * (1.0 / 18.0 - 1.0 / 50.0)
    return np.array([first, a**2 / 8.0, 0.0]) / total


def test_ishigami_within_its_own_interval():
    x = _uniform(50_000, 1)
    found = sv.sobol_first_order(x, {"y": _ishigami(x)}, confidence=0.9999)
    exact = _ishigami_indices()
    # What bins of width h miss of a wave of number k: (k h)^2/12, h = 2 pi/50; here k is 1 and 2.
    missed = exact * np.array([1.0, 4.0, 0.0]) * (2.0 * np.pi / sv.MOST_BINS) ** 2 / 12.0
    assert np.all(found.low[:, 0] <= exact)
    assert np.all(exact <= found.high[:, 0] + missed)
    assert np.all(found.high - found.low < 0.05)
    assert found.strongest("y") == ["x2", "x1", "x3"]
    # x3 does nothing to the mean of y, though much to y.
    assert found.p[2, 0] > 1e-3 > found.p[1, 0]


@pytest.mark.parametrize("n", [400, 4000])
def test_intervals_cover_and_nothing_is_gained_from_scatter(n):
    trials, exact = 150, _ishigami_indices()
    inside, mean = np.zeros(3), np.zeros(3)
    for seed in range(trials):
        x = _uniform(n, seed)
        found = sv.sobol_first_order(x, {"y": _ishigami(x)})
        inside += (found.low[:, 0] <= exact) & (exact <= found.high[:, 0])
        mean += found.value[:, 0] / trials
    assert np.all(inside / trials > 0.88)  # 95 %, and four standard errors of 150 trials
    assert mean[2] == pytest.approx(0.0, abs=0.02)
    assert mean == pytest.approx(exact, abs=0.02)


def test_an_input_without_effect():
    """Its interval covers 0 as often as it says, no more; its p is small as rarely as it says."""
    rng, trials, n = np.random.default_rng(12), 600, 2000
    x, y = ({str(i): row for i, row in enumerate(rng.normal(size=(k, n)))} for k in (20, 30))
    found = sv.sobol_first_order(x, y)
    # 600 pairs, 95 %: five standard errors are 4.4 %.
    assert 0.9 < np.mean((found.low <= 0.0) & (found.high >= 0.0)) < 0.99
    assert 0.01 < np.mean(found.p < 0.05) < 0.09
    spread = np.sqrt(2.0 * (sv.MOST_BINS - 1)) / n
    assert found.value.std() == pytest.approx(spread, rel=5.0 / np.sqrt(2 * trials))
    assert found.value.mean() == pytest.approx(0.0, abs=5.0 * spread / np.sqrt(trials))

    wide = 2.0 * stats.norm.isf(0.025) * spread
    assert (found.high - found.low).mean() == pytest.approx(wide, rel=0.1)


@pytest.mark.parametrize("bins", [2, 5])
def test_index_and_p_are_those_of_the_analysis_of_variance(bins):
    """Between bins of equal count: SciPy's F, and Kelley's epsilon squared from it."""
    rng, n = np.random.default_rng(3), 100
    x = rng.normal(size=n)
    y = 0.5 * x + rng.normal(size=n)
    groups = np.split(y[np.argsort(x)], bins)
    F, p = stats.f_oneway(*groups)
    found = sv.sobol_first_order({"x": x}, {"y": y}, bins=bins)
    # With F = (SSB/(M - 1)) / (SSW/(n - M)): (SSB - (M - 1) s^2) / (SSB + SSW).
    exact = (bins - 1) * (F - 1.0) / ((bins - 1) * F + n - bins)
    assert found.value[0, 0] == pytest.approx(exact, rel=1e-12)
    assert found.p[0, 0] == pytest.approx(p, rel=1e-9)


def test_bins_need_more_than_two_runs_each():
    x = {"x": np.arange(11.0)}
    y = {"y": np.arange(11.0) ** 2}
    assert np.isfinite(sv.sobol_first_order(x, y, bins=5).value[0, 0])
    ten = sv.sobol_first_order({"x": x["x"][:10]}, {"y": y["y"][:10]}, bins=5)
    assert np.isnan(ten.value[0, 0])
    with pytest.raises(InputError, match="at least 2"):
        sv.sobol_first_order(x, y, bins=1)


def test_rank_correlations_of_opposite_inputs_are_mirrored():
    """Of a perfect one too, whose Fisher transform is infinite."""
    rng = np.random.default_rng(2)
    x = np.arange(50.0)
    for y in (x**3, x + 20.0 * rng.normal(size=50)):
        one, other = (sv.rank_correlation({"x": way}, {"y": y}) for way in (x, -x))
        assert other.value[0, 0] == pytest.approx(-one.value[0, 0], rel=1e-12)
        assert other.low[0, 0] == pytest.approx(-one.high[0, 0], rel=1e-12)
        assert other.high[0, 0] == pytest.approx(-one.low[0, 0], rel=1e-12)
        assert other.p[0, 0] == pytest.approx(one.p[0, 0], rel=1e-9)
        assert one.low[0, 0] < one.high[0, 0]


def test_linear_law():
    rng = np.random.default_rng(4)
    x = {"a": rng.normal(size=50_000), "b": rng.normal(size=50_000), "c": rng.normal(size=50_000)}
    y = 3.0 * x["a"] - 2.0 * x["b"]
    found = sv.sobol_first_order(x, {"y": y})
    # Equal counts of a normal law: the outer bins are wide, and 50 of them miss 0.7 %.
    assert found.value[:, 0] == pytest.approx([9 / 13, 4 / 13, 0.0], abs=0.013)


def test_the_order_of_runs_means_nothing():
    x = _uniform(3000, 5)
    mixed = np.random.default_rng(6).permutation(3000)
    one = sv.sobol_first_order(x, {"y": _ishigami(x)})
    other = sv.sobol_first_order({k: v[mixed] for k, v in x.items()}, {"y": _ishigami(x)[mixed]})
    np.testing.assert_allclose(one.value, other.value, rtol=0.0, atol=1e-12)


def test_spearman_is_scipys_with_ties_and_gaps():
    rng = np.random.default_rng(7)
    x = {"even": rng.normal(size=500), "tied": rng.integers(0, 5, 500).astype(float)}
    y = {
        "y": x["even"] ** 3 + rng.normal(size=500),
        "z": np.round(x["tied"] + rng.normal(size=500)),
    }
    y["y"][::7] = np.nan
    found = sv.rank_correlation(x, y)
    for i, a in enumerate(x.values()):
        for j, b in enumerate(y.values()):
            known = np.isfinite(b)
            r, p = stats.spearmanr(a[known], b[known])
            assert found.value[i, j] == pytest.approx(r, rel=1e-10, abs=1e-12)
            assert found.p[i, j] == pytest.approx(p, rel=1e-6)
            assert found.n[i, j] == known.sum()
            assert found.low[i, j] < r < found.high[i, j]


def test_spearmans_interval_covers():
    rho, n, trials = 0.6, 100, 400
    truth = 6.0 / np.pi * np.arcsin(rho / 2.0)  # of a bivariate normal law
    rng, covered = np.random.default_rng(8), 0
    for _ in range(trials):
        a, b = rng.normal(size=(2, n))
        found = sv.rank_correlation({"a": a}, {"b": rho * a + np.sqrt(1 - rho**2) * b})
        covered += found.low[0, 0] <= truth <= found.high[0, 0]
    assert 0.91 < covered / trials < 0.985


def test_what_cannot_be_told_is_nan():
    flat, ramp = np.ones(100), np.arange(100.0)
    for method in (sv.rank_correlation, sv.sobol_first_order):
        found = method({"flat": flat, "ramp": ramp}, {"flat": flat, "ramp": ramp})
        assert np.isnan(found.value[0]).all()
        assert np.isnan(found.value[1, 0])
        assert found.value[1, 1] > 0.9
        assert found.strongest("ramp") == ["ramp"]
        few = method({"x": ramp[:3]}, {"y": ramp[:3]})
        assert np.isnan(few.value).all()


def test_only_the_first_runs_are_used_where_asked():
    x = _uniform(5000, 9)
    y = {"y": _ishigami(x)}
    start = sv.sobol_first_order({k: v[:1000] for k, v in x.items()}, {"y": y["y"][:1000]})
    np.testing.assert_array_equal(sv.sobol_first_order(x, y, most=1000).value, start.value)
    assert sv.rank_correlation(x, y, most=None).n[0, 0] == 5000


def test_errors():
    with pytest.raises(InputError, match="one value per run"):
        sv.rank_correlation({"x": np.zeros(3)}, {"y": np.zeros(4)})
    with pytest.raises(InputError, match="at least one input"):
        sv.sobol_first_order({}, {"y": np.zeros(4)})
    with pytest.raises(InputError, match="at least 2"):
        sv.sobol_first_order({"x": np.arange(99.0)}, {"y": np.arange(99.0)}, bins=1)
