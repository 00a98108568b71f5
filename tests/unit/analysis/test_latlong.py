"""The surface on a grid of directions: exact on a cube, against rays on real shapes."""

import numpy as np
import pytest

from alight.analysis.latlong import facets_to_vertices, lat_long_grid, outermost_radius
from alight.analysis.raster import foremost
from alight.scenario import bodies
from alight.shapes import Mesh, icosphere
from alight.shapes.rays import first_hit


def _cube():
    corners = [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    faces = [f for a, b, c, d in quads for f in ([a, b, c], [a, c, d])]
    return Mesh(np.array(corners, dtype=float), faces)


def _directions(grid):
    lat, lon = np.meshgrid(grid.latitude, grid.longitude, indexing="ij")
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=-1)


def test_cube_is_met_where_it_is():
    """Twelve facets, each a large part of the sky, with directions through edges and corners."""
    grid = lat_long_grid(_cube(), 37, 72)
    expected = 1.0 / np.abs(_directions(grid)).max(axis=-1)
    assert grid.radius == pytest.approx(expected, rel=1e-12)


def test_facet_close_to_the_centre_fills_half_the_sky():
    """The centre just beneath the top: its two facets reach from the zenith to the horizon."""
    grid = lat_long_grid(_cube().translated([0.0, 0.0, -0.999]), 37, 72)
    d = _directions(grid)
    up = np.where(d[..., 2] > 0.0, 0.001, 1.999) / np.maximum(np.abs(d[..., 2]), 1e-300)
    expected = np.minimum(1.0 / np.abs(d[..., :2]).max(axis=-1), up)
    assert grid.radius == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["67P", "Itokawa"])
def test_outermost_surface_of_bodies_against_rays_from_outside(name):
    mesh = bodies.find(name).mesh(1280)
    grid = lat_long_grid(mesh, 31, 60)
    toward = _directions(grid).reshape(-1, 3)
    far = 2.0 * mesh.bounding_radius
    expected = far - first_hit(mesh, far * toward, -toward)
    assert grid.radius.ravel() == pytest.approx(expected, rel=1e-9)


def test_vertex_values_are_interpolated_over_the_facet_met():
    """Sampling the coordinates must give back the point that the direction meets."""
    mesh = bodies.find("67P").mesh(1280)
    grid = lat_long_grid(mesh, 31, 60)
    points = grid.sample(mesh.vertices)
    expected = grid.radius[..., None] * _directions(grid)
    assert points == pytest.approx(expected, abs=1e-9 * mesh.radius)
    assert grid.weights.min() > -1e-8


def test_directions_that_miss_are_marked():
    """Seen from outside, the far side of a sphere is met and the rest of the sky is empty."""
    mesh = icosphere(3).translated([3.0, 0.0, 0.0])
    grid = lat_long_grid(mesh, 91, 180)
    away = _directions(grid)[..., 0]
    hit = grid.facet >= 0
    assert not hit[away < np.sqrt(1.0 - 1.0 / 9.0) - 1e-12].any()
    assert hit[away > 0.96].all()
    assert np.isnan(grid.radius[~hit]).all()
    assert np.isnan(grid.sample(np.ones(mesh.n_vertices))[~hit]).all()
    chord = 3.0 * away[hit] + np.sqrt(np.maximum(0.0, 1.0 - 9.0 * (1.0 - away[hit] ** 2)))
    middle = away[hit] > 0.99
    assert grid.radius[hit][middle] == pytest.approx(chord[middle], rel=5e-3)  # facets cut chords


def test_one_direction_alone():
    mesh = bodies.find("67P").mesh(1280)
    grid = lat_long_grid(mesh, 19, 36)
    assert outermost_radius(mesh, [0.0, 0.0, 1.0]) == pytest.approx(grid.radius[-1, 0], rel=1e-12)
    assert outermost_radius(mesh, [0.0, 1.0, 0.0]) == pytest.approx(grid.radius[9, 9], rel=1e-12)
    aside = icosphere(1).translated([3.0, 0.0, 0.0])
    assert np.isnan(outermost_radius(aside, [-1.0, 0.0, 0.0]))


def test_facet_values_at_vertices_are_means_by_area():
    mesh = _cube()
    assert facets_to_vertices(mesh, np.full(12, 7.0)) == pytest.approx(7.0, rel=1e-14)
    values = np.where(mesh.face_normals[:, 2] > 0.5, 1.0, 0.0)  # 1 on the top alone
    found = facets_to_vertices(mesh, values)
    for vertex in np.flatnonzero(mesh.vertices[:, 2] > 0):
        around = (mesh.faces == vertex).any(axis=1)
        assert found[vertex] == pytest.approx(values[around].mean(), rel=1e-14)
    assert (found[mesh.vertices[:, 2] < 0] == 0.0).all()


def test_foremost_keeps_the_greatest_depth_and_wraps_columns(monkeypatch):
    monkeypatch.setattr("alight.analysis.raster.BLOCK", 3)  # several blocks
    low = np.array([[-1, 0], [0, 0], [2, 1], [5, 1]])
    high = np.array([[0, 1], [1, 0], [2, 1], [4, 1]])  # the last box is empty
    depth = np.array([1.0, 2.0, 3.0, 9.0])
    best, owner = foremost(low, high, (2, 4), lambda facet, column, row: depth[facet])
    assert owner.tolist() == [[1, 1, -1, 0], [0, -1, 2, 0]]
    assert best[0].tolist() == [2.0, 2.0, -np.inf, 1.0]
