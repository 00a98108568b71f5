"""A path served by few full evaluations: which ones, and what is made of them."""

import numpy as np
import pytest

from alight.core.errors import InputError
from alight.gravity.law import Gravity
from alight.gravity.linearised import Linearised
from alight.gravity.simple import PointMass, Uniform

BALL = PointMass(1.0)


def anchors_by_the_book(points, reach):
    """One point after the other, as a propagator meets them."""
    chosen, last = [], None
    for i, x in enumerate(points):
        if last is None or np.linalg.norm(x - points[last]) > reach:
            last = i
        chosen.append(last)
    return np.array(chosen, dtype=int)


@pytest.mark.parametrize("reach", [1e-3, 0.05, 0.3, 2.0, 100.0])
@pytest.mark.parametrize("count", [0, 1, 2, 15, 16, 17, 40, 700])
def test_anchors(count, reach):
    path = np.cumsum(np.random.default_rng(count).normal(scale=0.1, size=(count, 3)), axis=0)
    found = Linearised(BALL, reach).anchors(path)
    assert np.array_equal(found, anchors_by_the_book(path, reach))


def test_a_point_at_the_reach_is_still_served():
    path = np.array([[1.0, 0, 0], [1.5, 0, 0], [1.5000001, 0, 0]])
    assert Linearised(BALL, 0.5).anchors(path).tolist() == [0, 0, 2]


def test_values_are_taylor_steps_from_the_anchor():
    path = np.array([[1.0, 0.2, 0.1], [1.1, 0.1, 0.0], [1.3, 0.3, 0.2], [2.0, 0.0, 0.0]])
    law = Linearised(BALL, 0.4)
    assert law.anchors(path).tolist() == [0, 0, 0, 3]
    u, g, h = law.evaluate(path)
    u0, g0, h0 = BALL.evaluate(path[[0, 3]])
    for i, k in enumerate([0, 0, 0, 1]):
        d = path[i] - path[[0, 3]][k]
        assert u[i] == pytest.approx(u0[k] + g0[k] @ d + 0.5 * d @ h0[k] @ d, rel=1e-15)
        assert g[i] == pytest.approx(g0[k] + h0[k] @ d, rel=1e-14, abs=1e-16)
        assert np.array_equal(h[i], h0[k])


def test_exact_where_the_field_is_linear():
    field = Uniform([0.0, 0.1, -1.0])
    path = np.random.default_rng(0).normal(size=(50, 3))
    for a, b in zip(Linearised(field, 1.0).evaluate(path), field.evaluate(path), strict=True):
        assert a == pytest.approx(b, rel=1e-12, abs=1e-14)


class Counted(Gravity):
    """Counts the points that are evaluated in full."""

    def __init__(self, field):
        self.field, self.count = field, 0

    def _evaluate(self, points, device, threads):
        self.count += len(points)
        return self.field._evaluate(points, device, threads)


def test_only_anchors_are_evaluated_in_full():
    counted = Counted(BALL)
    path = np.column_stack([np.linspace(1.0, 2.0, 1001), np.zeros(1001), np.zeros(1001)])
    law = Linearised(counted, 0.0995)
    law.evaluate(path)
    assert counted.count == len(np.unique(law.anchors(path))) == 11


def test_a_long_path_takes_time_in_proportion(monkeypatch):
    """Every point is an anchor: for each a block of 16 is looked at, and not the whole path."""
    path = np.column_stack([1.0 + np.arange(20_000.0), np.zeros(20_000), np.zeros(20_000)])
    looked, norm = [], np.linalg.norm
    monkeypatch.setattr(
        np.linalg, "norm", lambda x, axis: looked.append(len(x)) or norm(x, axis=axis)
    )
    assert np.array_equal(Linearised(BALL, 0.5).anchors(path), np.arange(20_000))
    assert sum(looked) <= 2 * 16 * len(path)


@pytest.mark.parametrize("reach", [0.0, -1.0, np.nan, np.inf, "far", None])
def test_reaches_that_cannot_be_used(reach):
    with pytest.raises(InputError, match="reach"):
        Linearised(BALL, reach)


def test_the_field_must_be_a_law():
    with pytest.raises(InputError, match="gravity law"):
        Linearised(3.0, 1.0)
