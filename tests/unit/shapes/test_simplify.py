"""Simplification: the count that was asked for, a solid again, and close to the body."""

import numpy as np
import pytest

from alight.core.errors import InputError, MeshError
from alight.shapes import Mesh, icosphere
from alight.shapes.simplify import simplify


@pytest.mark.parametrize("name", ["67P_24000.npz", "Itokawa_12288.obj", "Ryugu_12288.obj"])
def test_real_bodies_keep_their_volume_and_nearly_all_else(shapes_dir, name):
    mesh = Mesh.read(shapes_dir / name, unit="km")
    for count in (5000, 1280, 200):
        simple = mesh.simplified(count)
        assert simple.n_faces == count
        assert simple.health.ok
        # Each collapse keeps the volume; thousands of them leave no more than rounding.
        assert simple.volume == pytest.approx(mesh.volume, rel=1e-12)
        # Facets of size h lie (h/R)^2 ~ 1/n off a sphere: 8/n for the icosahedron in its sphere.
        shift = np.linalg.norm(simple.center_of_mass - mesh.center_of_mass)
        assert shift < 8.0 / count * mesh.radius
        moments = np.linalg.eigvalsh(simple.inertia(1.0)) / np.linalg.eigvalsh(mesh.inertia(1.0))
        np.testing.assert_allclose(moments, 1.0, atol=8.0 / count)
        np.testing.assert_allclose(simple.extent, mesh.extent, rtol=8.0 / count + 0.01)


def test_the_surface_moves_as_little_as_its_facets_allow():
    # Vertices of n facets around the unit sphere that share its volume lie about 4/n outside it,
    # and facet centres about 4/n inside.
    simple = icosphere(4).simplified(500)
    out = np.linalg.norm(simple.vertices, axis=1) - 1.0
    inside = np.linalg.norm(simple.vertices[simple.faces].mean(axis=1), axis=1) - 1.0
    assert abs(out).max() < 4 * 4.0 / 500
    assert abs(inside).max() < 4 * 4.0 / 500


@pytest.mark.parametrize("count", [600, 400, 200, 50, 12])
def test_a_cube_stays_a_cube(count):
    # A grid on flat sides: any vertex may go, but the corners and edges must stay where they are.
    # What is lost beyond rounding is the pull of the edge's middle, a millionth of the planes'.
    simple = _gridded_cube(np.linspace(-1.0, 1.0, 9)).simplified(count)
    assert simple.n_faces == count
    assert simple.volume == pytest.approx(8.0, rel=1e-13)
    np.testing.assert_allclose(simple.extent, 2.0, rtol=1e-5)
    np.testing.assert_allclose(np.abs(simple.vertices).max(axis=1), 1.0, rtol=1e-5)


@pytest.mark.parametrize("count", [4, 8, 20])
def test_even_a_tetrahedron_is_in_reach(count):
    simple = icosphere(3).simplified(count)
    assert simple.n_faces == count
    assert simple.volume == pytest.approx(icosphere(3).volume, rel=1e-13)


def test_a_handle_stays():
    # The torus has Euler characteristic 0: a collapse across the hole would close it.
    simple = _torus(48, 16).simplified(100)
    assert simple.n_vertices - len(simple.edges) + simple.n_faces == 0
    assert simple.health.ok


def test_a_body_far_from_the_origin_simplifies_alike():
    near = icosphere(3)
    far = near.translated([2.0**20, 0.0, 0.0]).simplified(300)
    # Coordinates near 1e6 are rounded to 1e-10; equal costs may then fall in another order.
    assert far.volume == pytest.approx(near.volume, rel=1e-9)
    assert np.abs(np.linalg.norm(far.vertices - [2.0**20, 0, 0], axis=1) - 1).max() < 0.03


def test_an_odd_count_gives_one_fewer():
    assert icosphere(2).simplified(101).n_faces == 100


def test_scale_does_not_matter():
    small, large = icosphere(3, radius=1e-2), icosphere(3, radius=2.0**20 * 1e-2)
    np.testing.assert_array_equal(small.simplified(300).faces, large.simplified(300).faces)


def test_the_same_count_gives_the_same_mesh():
    mesh = icosphere(1)
    assert mesh.simplified(80) == mesh
    assert mesh.simplified(79) == mesh


@pytest.mark.parametrize("count", [3, 0, -5, 81])
def test_impossible_counts_are_refused(count):
    with pytest.raises(
        InputError, match=rf"to {count} facets: .* at least 4, and this mesh has 80"
    ):
        icosphere(1).simplified(count)


@pytest.mark.parametrize("count", [20.0, "20", True])
def test_counts_must_be_whole_numbers(count):
    with pytest.raises(InputError, match="must be a whole number"):
        icosphere(1).simplified(count)


def test_a_count_out_of_reach_says_what_is_in_reach(monkeypatch):
    # No facet may turn at all, as on a body of spikes: the collapse has to stop at once.
    monkeypatch.setattr("alight.shapes.simplify._TURN", 1.0)
    sphere = icosphere(2)
    with pytest.raises(MeshError, match=r"cannot simplify this mesh to 8 facets: below 320 every"):
        simplify(sphere.vertices, sphere.faces, 8)


def test_an_open_mesh_is_not_simplified():
    sphere = icosphere(2)
    with pytest.raises(MeshError, match="the mesh to simplify does not bound a solid: 3 open"):
        Mesh(sphere.vertices, sphere.faces[1:], check=False).simplified(100)


def _torus(n, m):
    """A torus of radii 1 and 0.4, n by m cells."""
    u, v = (a.ravel() for a in np.mgrid[0:n, 0:m])
    a, b = 2 * np.pi * u / n, 2 * np.pi * v / m
    across = 1.0 + 0.4 * np.cos(b)
    points = np.column_stack([across * np.cos(a), across * np.sin(a), 0.4 * np.sin(b)])

    def at(i, j):
        return (i % n) * m + j % m

    one = np.column_stack([at(u, v), at(u + 1, v), at(u + 1, v + 1)])
    two = np.column_stack([at(u, v), at(u + 1, v + 1), at(u, v + 1)])
    return Mesh(points, np.concatenate([one, two]))


def _gridded_cube(side):
    """A cube of half-side 1 whose faces are grids of triangles."""
    n = len(side)
    u, v = (a.ravel() for a in np.meshgrid(side, side, indexing="ij"))
    one = np.ones_like(u)
    points = np.concatenate(
        [np.roll(np.column_stack([s * one, u, v]), k, axis=1) for k in range(3) for s in (1, -1)]
    )
    corner = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    cell = [[corner, corner + n, corner + n + 1], [corner, corner + n + 1, corner + 1]]
    grid = np.concatenate([np.column_stack(c) for c in cell])
    faces = np.concatenate([grid + k * n * n for k in range(6)])
    return Mesh(points, faces, repair=True)
