"""The Mesh itself: what it holds, what it derives, and that it does not change."""

import copy
import pickle

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from alight.core.errors import InputError, MeshError
from alight.shapes import Mesh, icosphere
from alight.shapes.mesh import corner_angles

SPHERE = icosphere(2, radius=3.0)


def bumpy(seed, subdivisions=2):
    """A star-shaped body: a sphere with random radii."""
    sphere = icosphere(subdivisions)
    radii = np.random.default_rng(seed).uniform(0.6, 1.4, size=sphere.n_vertices)
    return Mesh(sphere.vertices * radii[:, None], sphere.faces)


def rotation(seed):
    q, r = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    q *= np.sign(np.diag(r))
    return q * np.sign(np.linalg.det(q))


def test_arrays_have_their_types_and_are_copies():
    vertices, faces = SPHERE.vertices.astype(np.float32), SPHERE.faces.astype(np.int64)
    mesh = Mesh(np.asfortranarray(vertices), faces)
    assert mesh.vertices.dtype == np.float64
    assert mesh.faces.dtype == np.int32
    assert mesh.vertices.flags.c_contiguous
    vertices[0] = 99.0
    faces[0] = 0
    assert mesh.vertices[0].max() < 4.0
    assert mesh.health.ok


def test_nothing_about_a_mesh_can_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        SPHERE.vertices[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        SPHERE.faces[0, 0] = 1
    with pytest.raises(AttributeError, match="does not change"):
        SPHERE.vertices = np.zeros((4, 3))
    for name in ("edges", "edge_faces", "face_areas", "face_normals", "vertex_normals"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(SPHERE, name)[0] = 0
    for name in ("center_of_mass", "extent", "principal_rotation"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(SPHERE, name)[0] = 0


@pytest.mark.parametrize(
    ("vertices", "faces", "message"),
    [
        (np.zeros((4, 2)), np.zeros((4, 3), int), r"vertices have shape \(4, 2\).*\(n, 3\)"),
        ([["a", "b", "c"]], np.zeros((4, 3), int), "vertices must be numbers"),
        (np.zeros((8, 3)), np.zeros((6, 4), int), r"faces have shape \(6, 4\).*triangulate"),
        (np.zeros((8, 3)), np.zeros(6, int), r"faces have shape \(6,\)"),
        (np.zeros((8, 3)), [[0, 1, 2], [0, 1, 2, 3]], "same number of corners"),
        (np.zeros((8, 3)), np.zeros((6, 3)), "type float64; vertex indices must be integers"),
        (np.zeros((8, 3)), [[0, 1, 2**40]], "must fit in 32 bits"),
    ],
)
def test_arrays_of_another_kind_are_refused(vertices, faces, message):
    with pytest.raises(MeshError, match=message):
        Mesh(vertices, faces)


def test_unchecked_meshes_may_be_anything():
    mesh = Mesh(SPHERE.vertices, SPHERE.faces[3:], check=False)
    assert mesh.n_faces == SPHERE.n_faces - 3
    assert not mesh.health.ok
    with pytest.raises(MeshError, match="do not each join two facets"):
        _ = mesh.edge_faces


def test_edges_are_those_found_one_by_one():
    mesh = bumpy(1)
    sides = {}
    for number, face in enumerate(mesh.faces.tolist()):
        for a, b in zip(face, face[1:] + face[:1], strict=True):
            sides[a, b] = number
    undirected = sorted((a, b) for a, b in sides if a < b)
    assert mesh.edges.tolist() == [list(e) for e in undirected]
    assert mesh.edge_faces.tolist() == [[sides[a, b], sides[b, a]] for a, b in undirected]
    assert mesh.edges.dtype == mesh.edge_faces.dtype == np.int32


def test_normals_and_areas():
    mesh = bumpy(2)
    other = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)
    np.testing.assert_allclose(mesh.face_normals, other.face_normals, atol=1e-13)
    np.testing.assert_allclose(mesh.face_areas, other.area_faces, rtol=1e-12)
    # A closed surface has no net area vector.
    net = (mesh.face_areas[:, None] * mesh.face_normals).sum(axis=0)
    np.testing.assert_allclose(net, 0.0, atol=1e-14 * mesh.area)


def test_vertex_normals_do_not_depend_on_the_cut():
    # At a cube's corner the three faces meet at right angles: the normal is the diagonal, although
    # each face is cut in two triangles on one side only.
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    cube = trimesh.creation.box()
    order = np.lexsort(np.round(cube.vertices).T[::-1])
    rank = np.argsort(order)
    mesh = Mesh(corners, rank[cube.faces])
    np.testing.assert_allclose(mesh.vertex_normals, (2 * corners - 1) / np.sqrt(3), atol=1e-15)


def test_angles_of_a_facet_add_up_to_half_a_turn():
    mesh = bumpy(3)
    np.testing.assert_allclose(corner_angles(mesh.vertices, mesh.faces).sum(axis=1), np.pi)


def test_sizes():
    mesh = SPHERE.translated([0.0, 0.0, 4.0])
    assert mesh.bounding_radius == pytest.approx(np.linalg.norm(mesh.vertices, axis=1).max())
    assert mesh.bounding_radius > 6.5
    np.testing.assert_allclose(mesh.extent, SPHERE.extent)
    assert SPHERE.radius == pytest.approx(np.cbrt(0.966161) * 3.0, rel=1e-6)
    assert repr(SPHERE) == "Mesh(162 vertices, 320 faces, radius 2.96577 m)"


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10**6),
    st.tuples(*[st.floats(-100.0, 100.0)] * 3),
    st.floats(1e-3, 1e3),
)
def test_moving_a_body_keeps_what_it_should(seed, offset, factor):
    """Volume, area and principal moments under rotation, translation and scaling."""
    mesh = bumpy(seed, subdivisions=1)
    R = rotation(seed)
    moved = mesh.rotated(R).translated(offset).scaled(factor)
    # Coordinates of up to 100 with rounding eps, on a body of size 1.
    loss = 1e3 * np.finfo(float).eps * 100.0
    assert moved.volume == pytest.approx(mesh.volume * factor**3, rel=loss)
    assert moved.area == pytest.approx(mesh.area * factor**2, rel=loss)
    np.testing.assert_allclose(
        moved.center_of_mass,
        factor * (R @ mesh.center_of_mass + offset),
        rtol=0,
        atol=loss * factor,
    )
    expected = factor**5 * R @ mesh.inertia(1.0) @ R.T
    scale = np.abs(expected).max()
    np.testing.assert_allclose(moved.inertia(1.0), expected, rtol=0, atol=10 * loss * scale)
    np.testing.assert_array_equal(moved.edge_faces, mesh.edge_faces)


def test_recentred():
    mesh = bumpy(5).translated([3.0, -7.0, 11.0])
    np.testing.assert_allclose(mesh.recentred().center_of_mass, 0.0, atol=1e-14)
    assert mesh.recentred().volume == pytest.approx(mesh.volume, rel=1e-13)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SPHERE.scaled(0.0), "positive finite factor, not 0.0"),
        (lambda: SPHERE.scaled(-1.0), "positive finite factor"),
        (lambda: SPHERE.scaled(float("inf")), "positive finite factor"),
        (lambda: SPHERE.rotated(np.diag([1.0, 1.0, -1.0])), r"determinant \+1"),
        (lambda: SPHERE.rotated(2.0 * np.eye(3)), "proper rotation"),
        (lambda: SPHERE.rotated(np.eye(2)), "proper rotation"),
        (lambda: SPHERE.translated([1.0, 2.0]), "three finite numbers"),
        (lambda: SPHERE.translated([1.0, 2.0, np.nan]), "three finite numbers"),
        (lambda: SPHERE.contains([1.0, 2.0]), "rows of x, y, z"),
    ],
)
def test_impossible_moves_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_contains_tells_inside_from_outside_on_a_dented_body():
    # A star-shaped body: a point is inside where it is nearer than the surface along its ray.
    mesh = bumpy(8)
    rng = np.random.default_rng(9)
    barycentric = rng.dirichlet([1.0, 1.0, 1.0], size=mesh.n_faces)
    surface = np.einsum("fk,fkj->fj", barycentric, mesh.vertices[mesh.faces])
    for shrink in (0.0, 0.5, 0.999, 1.0 - 1e-9):
        assert mesh.contains(surface * shrink).all()
    for stretch in (1.0 + 1e-9, 1.001, 2.0):
        assert not mesh.contains(surface * stretch).any()
    assert mesh.contains([0.0, 0.0, 0.0]).shape == ()
    assert mesh.contains(np.zeros((2, 5, 3))).shape == (2, 5)


def test_contains_on_a_real_body_fills_its_volume(shapes_dir):
    mesh = Mesh.read(shapes_dir / "67P_1500.obj", unit="km")
    rng = np.random.default_rng(1)
    low = mesh.vertices.min(axis=0)
    inside = mesh.contains(low + mesh.extent * rng.random((4000, 3)))
    share = mesh.volume / mesh.extent.prod()
    spread = np.sqrt(share * (1 - share) / 4000)
    assert inside.mean() == pytest.approx(share, abs=4 * spread)


def test_equal_meshes_hash_alike_and_others_do_not():
    again = Mesh(SPHERE.vertices, SPHERE.faces)
    assert again == SPHERE
    assert hash(again) == hash(SPHERE)
    assert again.content_hash == SPHERE.content_hash
    assert len(SPHERE.content_hash) == 64
    nudged = np.array(SPHERE.vertices)
    nudged[0, 0] = np.nextafter(nudged[0, 0], np.inf)
    others = [
        Mesh(nudged, SPHERE.faces),
        Mesh(SPHERE.vertices, np.roll(SPHERE.faces, 1, axis=1)),
        SPHERE.translated([0.0, 0.0, 1.0]),
    ]
    for other in others:
        assert other != SPHERE
        assert other.content_hash != SPHERE.content_hash
    assert SPHERE != "a sphere"


def test_the_sign_of_zero_does_not_change_the_hash():
    vertices = np.array(SPHERE.vertices)
    zeros = vertices == 0.0
    assert zeros.any()
    vertices[zeros] = -0.0
    assert Mesh(vertices, SPHERE.faces).content_hash == SPHERE.content_hash


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_copies_are_equal_and_as_unchangeable(duplicate):
    mesh = duplicate(SPHERE)
    assert mesh == SPHERE
    assert not mesh.vertices.flags.writeable
    assert not mesh.faces.flags.writeable


def test_indices_far_below_zero_do_not_wrap_round():
    ball = icosphere(1)
    with pytest.raises(MeshError, match="do not exist"):
        Mesh(ball.vertices, ball.faces.astype(np.int64) - 2**32)


def test_complex_vertices_are_refused():
    ball = icosphere(1)
    with pytest.raises(MeshError, match="complex"):
        Mesh(ball.vertices * (1 + 1j), ball.faces)


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.inertia(-1.0),
        lambda m: m.inertia("dense"),
        lambda m: m.contains([[1, 2, 3], [1]]),
        lambda m: m.scaled("big"),
        lambda m: m.rotated("x"),
        lambda m: m.translated("up"),
    ],
)
def test_arguments_that_are_no_numbers(call):
    with pytest.raises(InputError):
        call(icosphere(1))
