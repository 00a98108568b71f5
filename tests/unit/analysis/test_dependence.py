"""What a loss depends on: found where it is, not found where it is not, counts that are true."""

import numpy as np
import pytest

from alight.analysis.dependence import FEW, dependences, roundest


def lost_above(rng, n, middle=8.0, width=1.0):
    """Speeds, and who is lost: the chance rises from 0 to 1 about a middle."""
    speed = np.abs(rng.normal(0.0, 8.0, n))
    return speed, rng.random(n) < 1.0 / (1.0 + np.exp(-(speed - middle) / width))


def test_the_input_that_matters_is_found_and_the_others_are_not():
    rng = np.random.default_rng(1)
    speed, hit = lost_above(rng, 200)
    found = dependences({"other": rng.normal(size=200), "speed": speed}, hit)
    assert [one.name for one in found] == ["speed", "other"]
    assert found[0].clear
    assert found[0].chance < 1e-10
    assert not found[1].clear
    assert not found[1].parts


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_counts_are_those_of_the_runs(sign):
    speed, hit = lost_above(np.random.default_rng(2), 200)
    x = sign * speed
    low, high = dependences({"x": x}, hit)[0].parts
    for part in (low, high):
        inside = (x > part.low) & (x < part.high)
        assert part.n == inside.sum() >= FEW
        assert part.count == hit[inside].sum()
    quiet, loud = (low, high) if sign > 0.0 else (high, low)
    assert quiet.count == 0
    assert loud.share.low > quiet.share.high


def test_the_fitted_curve_is_the_one_that_made_the_runs():
    rng = np.random.default_rng(3)
    speed, hit = lost_above(rng, 20_000, middle=8.0, width=2.0)
    curve = dependences({"x": speed}, hit)[0].curve
    at = np.array([2.0, 8.0, 14.0])
    want = 1.0 / (1.0 + np.exp(-(at - 8.0) / 2.0))
    # Standard errors of a share near so many runs.
    assert curve(at) == pytest.approx(want, abs=5.0 * np.sqrt(0.25 / 2000))


def test_a_loss_in_the_middle_is_told_in_three_parts():
    rng = np.random.default_rng(4)
    x = rng.normal(size=400)
    hit = rng.random(400) < np.where(np.abs(x) < 0.6, 0.8, 0.1)
    below, between, above = dependences({"x": x}, hit)[0].parts
    assert between.share.low > max(below.share.high, above.share.high)
    assert below.high == between.low
    assert between.high == above.low
    assert below.n + between.n + above.n == 400


def test_a_few_values_are_told_one_by_one():
    x = np.repeat([1.0, 2.0, 3.0], 30)
    hit = np.arange(90) >= 60
    low, high = dependences({"x": x}, hit)[0].parts
    assert (low.low, low.high, low.count, low.n) == (1.0, 1.0, 0, 30)
    assert (high.low, high.high, high.count, high.n) == (3.0, 3.0, 30, 30)


@pytest.mark.parametrize(("n", "hits"), [(40, 6), (150, 8), (150, 30), (150, 75), (600, 25)])
def test_tables_without_dependence_say_nothing_but_for_chance(n, hits):
    """At most 2 % of the tables bring an input up; the chi-square law is a little too narrow."""
    rng = np.random.default_rng(n + hits)
    tables, loud, said = 300, 0, 0
    for _ in range(tables):
        hit = np.zeros(n, dtype=bool)
        hit[rng.choice(n, hits, replace=False)] = True
        inputs = {f"normal {k}": rng.normal(size=n) for k in range(4)}
        inputs |= {"even": rng.random(n), "skew": np.exp(rng.normal(size=n))}
        inputs["few"] = rng.integers(0, 4, n).astype(float)
        found = dependences(inputs, hit)
        loud += any(one.clear for one in found)
        said += any(one.parts for one in found)
    # Binomial, with the level at 1.8 times what it should be: 3.5 standard deviations above.
    expected = tables * 1.8 * 0.02
    assert loud <= expected + 3.5 * np.sqrt(expected)
    assert said <= loud


def test_too_few_losses_say_nothing():
    x = np.linspace(0.0, 1.0, 100)
    for hits in (0, FEW - 1, 100 - FEW + 1, 100):
        assert dependences({"x": x}, np.arange(100) < hits) == []


def test_runs_without_the_input_and_inputs_that_do_not_vary_are_left_out():
    speed, hit = lost_above(np.random.default_rng(5), 100)
    gaps = np.where(np.arange(100) % 4 == 0, np.nan, speed)
    found = dependences({"gaps": gaps, "same": np.full(100, 3.0)}, hit)
    assert [one.name for one in found] == ["gaps"]
    assert sum(b.share.n for b in found[0].bins) == 75


@pytest.mark.parametrize(
    ("low", "high", "want"),
    [(7.93, 8.04, 8.0), (17.2, 19.9, 18.0), (-0.3, 0.2, 0.0), (0.1234, 0.1271, 0.125),
     (-8.1, -7.7, -8.0), (90.0, 120.0, 100.0)],
)  # fmt: skip
def test_thresholds_are_round(low, high, want):
    assert roundest(low, high) == want
