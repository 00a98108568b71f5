"""Terrain: heights of a sphere, slopes against the plumb line, rocks, and where there is no ground.

Seen along z a ball of radius R has the height sqrt(R^2 - x^2 - y^2) - R about its pole; rays end
within ``NEAR`` cells of the ground, measured along them.
"""

import numpy as np
import pytest

from alight.analysis.terrain import NEAR, terrain
from alight.core.errors import InputError
from alight.shapes import Mesh, icosphere
from alight.shapes.rays import first_hit
from alight.surfaces import Facets, FractalNoise, Plane, Rocks, Rocky, Rough, Sphere

R = 100.0
FRAME = np.eye(3)


def to_the_middle(places):
    """Weight of a point mass at the origin, 1 m/s^2 everywhere."""
    return -places / np.linalg.norm(places, axis=1, keepdims=True)


def down(places):
    return np.broadcast_to([0.0, 0.0, -1.0], places.shape)


@pytest.fixture(scope="module")
def cap():
    return terrain(Sphere(radius=R), [0.0, 0.0, R], FRAME, 40.0, to_the_middle)


def test_heights_of_a_sphere(cap):
    x, y = np.meshgrid(cap.line, cap.line)
    out = np.sqrt(R**2 - x**2 - y**2)
    error = np.abs(cap.height - (out - R))
    assert error.max() <= NEAR * cap.cell * (1.0 + 1e-9)
    assert cap.cell == pytest.approx(80.0 / 200.0, rel=1e-12)


def test_the_plumb_line_of_a_sphere_is_its_normal(cap):
    # The weight is interpolated between points 10 m apart: its direction bends by 0.1 rad between
    # them, and a chord differs from the arc by less than the square of that over eight.
    assert np.nanmax(cap.slope) < 0.1**2 / 8.0 * 2.0


def test_slope_of_a_tilted_plane():
    tilt = np.radians(17.0)
    ground = Plane((0.0, 0.0, 0.0), (np.sin(tilt), 0.0, np.cos(tilt)))
    found = terrain(ground, np.zeros(3), FRAME, 5.0, down)
    np.testing.assert_allclose(found.slope, tilt, rtol=1e-12)
    x, _ = np.meshgrid(found.line, found.line)
    np.testing.assert_allclose(found.height, -np.tan(tilt) * x, atol=NEAR * found.cell)
    assert not found.rocks.any()


def test_facets_are_met_where_rays_meet_the_mesh():
    mesh = icosphere(2, R)
    found = terrain(Facets(mesh), [0.0, 0.0, R], FRAME, 30.0, to_the_middle, points=41)
    x, y = np.meshgrid(found.line, found.line)
    above = np.stack([x, y, np.full_like(x, 2.0 * R)], axis=2).reshape(-1, 3)
    fall = first_hit(mesh, above, np.tile([0.0, 0.0, -1.0], (len(above), 1)))
    off = found.height.ravel() - (2.0 * R - fall - R)
    assert np.abs(off).max() <= NEAR * found.cell * (1.0 + 1e-9)


def test_hills_are_part_of_the_ground():
    ground = Rough(Plane(), FractalNoise(amplitude=0.5, wavelength=4.0, octaves=3, seed=3))
    found = terrain(ground, np.zeros(3), FRAME, 10.0, down, points=81)
    x, y = np.meshgrid(found.line, found.line)
    places = np.stack([x, y, found.height], axis=2)
    assert np.abs(ground.query(places)[0]).max() <= ground.bounds.slope * NEAR * found.cell
    assert np.ptp(found.height) > 0.2


@pytest.mark.validate  # a kernel of its own
def test_rocks_are_told_from_the_ground():
    """One rock as large as the whole map stands out of a facet that is flat beneath it."""
    mesh = icosphere(2, R)
    rocks = Rocks(smallest=2.0, largest=8.0, slope=2.5, density=5e-3, reference=2.0, seed=4)
    bare = Facets(mesh)
    ground = Rocky(bare, mesh, rocks)
    found = terrain(ground, [0.0, 0.0, R], FRAME, 30.0, to_the_middle, bare=bare, points=101)
    without = terrain(bare, [0.0, 0.0, R], FRAME, 30.0, to_the_middle, points=101)
    stand_out = found.height - without.height > 0.05
    assert 0.02 < found.rocks.mean() < 0.9
    # The same rocks by heights, but for points at their very feet.
    assert np.mean(found.rocks != stand_out) < 0.02
    assert not without.rocks.any()


def test_beyond_the_limb_there_is_no_ground():
    found = terrain(Sphere(radius=R), [0.0, 0.0, R], FRAME, 120.0, to_the_middle, points=61)
    x, y = np.meshgrid(found.line, found.line)
    out = np.hypot(x, y)
    assert found.ground[out < 0.98 * R].all()
    assert not found.ground[out > 1.02 * R].any()


def ring(large, small):
    """A torus about y, whose inner side at the bottom faces that at the top."""
    turn, tube = (np.arange(n) * (2.0 * np.pi / n) for n in (96, 48))
    p, t = np.meshgrid(turn, tube, indexing="ij")
    out = large + small * np.cos(t)
    points = np.stack([out * np.cos(p), small * np.sin(t), out * np.sin(p)], axis=2).reshape(-1, 3)
    index = np.arange(len(points)).reshape(p.shape)
    a, b = index, np.roll(index, -1, axis=0)
    c, d = np.roll(b, -1, axis=1), np.roll(index, -1, axis=1)
    corners = [(a, c, b), (a, d, c)]
    return Mesh(points, np.concatenate([np.stack(k, axis=2).reshape(-1, 3) for k in corners]))


def test_what_hangs_far_above_is_not_in_the_way():
    mesh = ring(30.0, 10.0)
    found = terrain(Facets(mesh), [0.0, 0.0, -20.0], FRAME, 4.0, down, points=21)
    assert found.ground.all()
    assert abs(found.height[10, 10]) < 0.1
    assert np.abs(found.height).max() < 2.0  # the other side is 40 m higher


def test_a_place_within_the_ground_is_seen_from_outside():
    found = terrain(Sphere(radius=R), [0.0, 0.0, R - 10.0], FRAME, 2.0, to_the_middle, points=11)
    middle = found.height[5, 5]
    assert middle == pytest.approx(10.0, abs=NEAR * found.cell)


def test_no_ground_at_all_is_said():
    with pytest.raises(InputError, match="no ground within 20 m"):
        terrain(Sphere(radius=R), [0.0, 0.0, 5.0 * R], FRAME, 10.0, to_the_middle)


def test_places_over_the_square(cap):
    places = np.array([[10.0, -20.0, 98.0], [0.0, 0.0, -R], [41.0, 0.0, 92.0]])
    assert cap.inside(places).tolist() == [True, False, False]
    under = cap.under(cap.height, places[:1])
    assert under == pytest.approx(np.sqrt(R**2 - 500.0) - R, abs=cap.cell)
