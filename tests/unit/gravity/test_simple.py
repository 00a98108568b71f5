"""Uniform gravity and the point mass are their closed forms."""

import numpy as np
import pytest

from alight.core.errors import InputError
from alight.gravity.simple import PointMass, Uniform

POINTS = np.array([[1.0, 2.0, -2.0], [3.0, 0.0, 4.0], [1e9, 0.0, 0.0], [1e-3, 0.0, 0.0]])


def test_uniform():
    field = Uniform([0.1, 0.0, -2.0], origin=[1.0, 2.0, 3.0])
    u, g, h = field.evaluate(POINTS)
    assert np.array_equal(g, np.tile([0.1, 0.0, -2.0], (4, 1)))
    assert u == pytest.approx((POINTS - [1.0, 2.0, 3.0]) @ [0.1, 0.0, -2.0], rel=1e-14)
    assert not h.any()
    assert field.evaluate([1.0, 2.0, 3.0])[0] == 0.0


def test_potential_falls_upward():
    """U > 0 is a force function: it falls in the direction gravity pushes away from."""
    field = Uniform([0.0, 0.0, -1.0])
    u = field.evaluate([[0, 0, 1.0], [0, 0, 2.0]])[0]
    assert u[1] < u[0]


def test_point_mass():
    center = np.array([0.5, -1.0, 2.0])
    u, g, h = PointMass(4.9, center).evaluate(POINTS)
    r = POINTS - center
    d = np.linalg.norm(r, axis=1)
    assert u == pytest.approx(4.9 / d, rel=1e-15)
    assert g == pytest.approx(-4.9 * r / d[:, None] ** 3, rel=1e-14)
    n = r / d[:, None]
    exact = 4.9 * (3 * np.einsum("pi,pj->pij", n, n) - np.eye(3)) / d[:, None, None] ** 3
    assert np.abs(h - exact).max(axis=(1, 2)) == pytest.approx(
        0.0, abs=1e-14 * np.abs(exact).max(axis=(1, 2)).max()
    )
    assert h[2] == pytest.approx(exact[2], rel=1e-13, abs=1e-14 * np.abs(exact[2]).max())


def test_the_point_mass_itself_is_refused():
    field = PointMass(1.0, [1.0, 1.0, 1.0])
    with pytest.raises(InputError, match="point 2 is the point mass itself"):
        field.evaluate([[0, 0, 0], [1, 1, 2], [1, 1, 1]])


@pytest.mark.parametrize("gm", [0.0, -1.0, np.inf, "4.9", None])
def test_masses_that_cannot_be_used(gm):
    with pytest.raises(InputError, match="gm"):
        PointMass(gm)


@pytest.mark.parametrize("vector", [[1, 2], "up", [1, 2, np.nan], None, [[1, 2, 3]], 3.0])
def test_vectors_that_cannot_be_used(vector):
    with pytest.raises(InputError, match=r"acceleration .*three finite numbers"):
        Uniform(vector)
    with pytest.raises(InputError, match=r"origin .*three finite numbers"):
        Uniform([0, 0, -1], origin=vector)
    with pytest.raises(InputError, match=r"center .*three finite numbers"):
        PointMass(1.0, center=vector)
