"""Lobes: distances of ellipsoids, their smooth union, and closed meshes of it."""

import numpy as np
import pytest

from alight.core.errors import InputError
from alight.shapes import builtin
from alight.shapes.isosurface import Lattice, subdivide
from alight.shapes.lobes import Ellipsoid, Lobes
from alight.shapes.mesh import corner_angles

TILT = (0.1825741858, 0.3651483717, 0.5477225575, 0.7302967433)
LOBE = Ellipsoid((10.0, -20.0, 5.0), (300.0, 200.0, 120.0), TILT)


@pytest.fixture(scope="module")
def comet() -> Lobes:
    shape = builtin.find("67p").shape
    assert isinstance(shape, Lobes)
    return shape


def on_surface(lobe: Ellipsoid, count: int, seed: int = 0) -> np.ndarray:
    u = np.random.default_rng(seed).normal(size=(count, 3))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    return np.array(lobe.center) + (u * lobe.semi_axes) @ lobe.matrix.T


def directed_edges(faces: np.ndarray) -> np.ndarray:
    return np.concatenate([faces[:, [i, (i + 1) % 3]] for i in range(3)])


def assert_closed(faces: np.ndarray) -> None:
    """Every directed edge once, and its reverse once: closed, manifold along edges, oriented."""
    edges = directed_edges(faces)
    ahead = np.unique(edges, axis=0)
    assert len(ahead) == len(edges)
    np.testing.assert_array_equal(ahead, np.unique(edges[:, ::-1], axis=0))


# -- distances ---------------------------------------------------------------------------------


def test_distance_is_zero_with_unit_slope_on_the_surface():
    value, gradient = LOBE.distance(on_surface(LOBE, 100))
    np.testing.assert_allclose(value, 0, atol=1e-12 * 300)
    np.testing.assert_allclose(np.linalg.norm(gradient, axis=1), 1, rtol=1e-12)


def test_distance_of_a_sphere_is_exact_everywhere():
    sphere = Ellipsoid((1, 2, 3), (5, 5, 5))
    points = np.random.default_rng(1).normal(size=(50, 3)) * 10
    value, _ = sphere.distance(points)
    expected = np.linalg.norm(points - [1, 2, 3], axis=1) - 5
    np.testing.assert_allclose(value, expected, rtol=0, atol=1e-13)


def test_distance_at_the_very_centre_is_finite_and_inside():
    value, gradient = LOBE.distance(np.array([LOBE.center]))
    assert value[0] < 0
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("blend", [0.0, 15.0])
def test_gradient_agrees_with_finite_differences(blend):
    lobes = Lobes([LOBE, Ellipsoid((250, 60, 0), (150, 140, 130))], blend=blend)
    points = np.random.default_rng(2).normal(size=(200, 3)) * 250
    _, gradient = lobes.distance(points)
    h = 1e-3
    for axis in range(3):
        step = h * np.eye(3)[axis]
        slope = (lobes.distance(points + step)[0] - lobes.distance(points - step)[0]) / (2 * h)
        np.testing.assert_allclose(gradient[:, axis], slope, rtol=0, atol=1e-7)


def test_fill_lifts_the_joint_by_blend_log_two_and_dies_away():
    """Two spheres of radius 1 at x = +-0.8 meet where rho = 0.6; there both distances are equal."""
    blend = 0.05
    lobes = Lobes([Ellipsoid((s, 0, 0), (1, 1, 1)) for s in (-0.8, 0.8)], blend=blend)
    rho = np.sqrt((1 + blend * np.log(2)) ** 2 - 0.8**2)
    joint, far = [0, rho, 0], [1.8, 0, 0]
    np.testing.assert_allclose(lobes.distance(np.array([joint]))[0], 0, atol=1e-15)
    assert abs(lobes.distance(np.array([far]))[0][0]) < 1e-13


def test_order_of_lobes_does_not_matter(comet):
    points = np.random.default_rng(3).normal(size=(100, 3)) * 1500
    turned = Lobes(comet.ellipsoids[::-1], blend=comet.blend)
    np.testing.assert_allclose(turned.distance(points)[0], comet.distance(points)[0], atol=1e-9)


# -- marching ----------------------------------------------------------------------------------


def test_any_values_on_the_lattice_give_a_closed_surface():
    """Noise, with zeros among it: the worst function there is. Only the rim is kept outside."""
    rng = np.random.default_rng(4)
    lattice = Lattice(np.zeros(3), np.full(3, 6.0), 1.0, lambda p: (np.zeros(len(p)), p))
    points = lattice.points(np.arange(lattice.count))
    inner = (np.abs(points - points.mean(axis=0)) < 3.2).all(axis=1)
    lattice.values[:] = np.where(inner, rng.integers(-2, 3, size=lattice.count), 1.0)
    assert np.count_nonzero(lattice.values == 0) > 50
    vertices, faces = lattice.surface()
    assert len(faces) > 1000
    assert_closed(faces)
    # outward: the enclosed volume is positive, and about the share of inner points
    corners = vertices[faces]
    volume = np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    expected = 0.5 * np.count_nonzero(lattice.values < 0)
    assert volume == pytest.approx(expected, rel=0.25)


def test_tetrahedra_fill_space():
    """All of positive volume 1/12, and a plane cut by them is one flat sheet of the right area."""
    lattice = Lattice(np.zeros(3), np.full(3, 4.0), 1.0, lambda p: (p[:, 0] - 2.03, p))
    tetrahedra = lattice.points(lattice.cut_tetrahedra())
    sides = tetrahedra[:, 1:] - tetrahedra[:, :1]
    volumes = np.einsum("ij,ij->i", sides[:, 0], np.cross(sides[:, 1], sides[:, 2])) / 6
    np.testing.assert_allclose(volumes, 1 / 12, rtol=1e-12)


def test_subdivision_keeps_the_surface_closed():
    mesh = Lobes([LOBE], blend=0).to_mesh(1000)
    vertices, faces = subdivide(mesh.vertices, mesh.faces.astype(np.int64))
    assert len(faces) == 4 * mesh.n_faces
    assert_closed(faces)
    assert len(vertices) == 2 + len(faces) // 2


# -- meshes ------------------------------------------------------------------------------------


def test_vertices_of_an_ellipsoid_satisfy_its_equation():
    mesh = Lobes([LOBE], blend=0).to_mesh(3000)
    local = (mesh.vertices - LOBE.center) @ LOBE.matrix
    np.testing.assert_allclose(np.linalg.norm(local / LOBE.semi_axes, axis=1), 1, rtol=1e-13)


def test_volume_of_an_ellipsoid_is_approached():
    """Inscribed facets: the deficit falls as the number of facets, also across a subdivision."""
    exact = 4 / 3 * np.pi * np.prod(LOBE.semi_axes)
    counts = [2000, 8000, 32000, 128000]
    meshes = [Lobes([LOBE], blend=0).to_mesh(n) for n in counts]
    scaled = [(1 - m.volume / exact) * m.n_faces for m in meshes]
    assert scaled[0] < 0.01 * counts[0]
    np.testing.assert_allclose(scaled[1:], scaled[1], rtol=0.05)


@pytest.mark.parametrize("asked", [1000, 1500, 5120, 10000, 60000])
def test_comet_meshes_are_closed_even_and_near_the_asked_count(comet, asked):
    mesh = comet.to_mesh(asked)  # the constructor checks: closed, manifold, one piece, outward
    assert mesh.n_faces == pytest.approx(asked, rel=0.03)
    assert mesh.n_vertices - mesh.n_faces // 2 == 2  # as a sphere: no handle
    assert np.abs(comet.distance(mesh.vertices)[0]).max() < 1e-9
    assert np.degrees(corner_angles(mesh.vertices, mesh.faces).min()) > 25


def test_comet_of_few_facets_is_simplified_from_a_finer_one(comet):
    mesh = comet.to_mesh(200)
    assert abs(mesh.n_faces - 200) <= 2
    assert mesh.volume == pytest.approx(comet.to_mesh(10000).volume, rel=0.01)


def test_comet_volume(comet):
    """Against counting lattice points inside, and against the figures of the source model."""
    lower, upper = comet.bounds()
    step = 50.0
    axes = [np.arange(a + step / 2, b, step) for a, b in zip(lower, upper, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    counted = np.count_nonzero(comet.distance(grid)[0] < 0) * step**3
    volume = comet.to_mesh(40000).volume
    assert volume == pytest.approx(counted, rel=1e-3)
    assert volume == pytest.approx(18.751e9, rel=0.025)  # the mesh the lobes were fitted to
    bare = Lobes(comet.ellipsoids, blend=0.0).to_mesh(40000).volume
    assert bare == pytest.approx(18.95e9, rel=0.004)  # figure stated with the lobes
    assert 1.003 < volume / bare < 1.01


def test_comet_follows_the_real_one(comet, shapes_dir):
    """The stated fit: rms distance 5.26 % of the mean radius; the fill must not spoil it."""
    from scipy.spatial import cKDTree

    from alight.shapes.mesh import Mesh

    real = Mesh.read(shapes_dir / "67P_6000.obj", unit="km", recentre=True)
    ours = comet.to_mesh(100000)
    away, _ = cKDTree(ours.vertices).query(real.vertices[real.faces].mean(axis=1))
    rms = np.sqrt((real.face_areas @ away**2) / real.area) / real.radius
    assert rms == pytest.approx(0.0526, abs=0.001)


# -- errors ------------------------------------------------------------------------------------


def test_lobes_apart_are_refused():
    apart = [Ellipsoid((s, 0, 0), (1, 1, 1)) for s in (-2, 2)]
    with pytest.raises(InputError, match="2 separate surfaces"):
        Lobes(apart, blend=0.1).to_mesh()


def test_too_few_facets_for_a_sharp_edge_are_refused():
    blade = Lobes([Ellipsoid((0, 0, 0), (1000, 300, 40))], blend=0)
    with pytest.raises(InputError, match="Ask for more facets"):
        blade.to_mesh(1000)


@pytest.mark.parametrize("n_faces", [3, -5, 2.5, "many", True])
def test_number_of_facets_is_checked(comet, n_faces):
    with pytest.raises(InputError, match="n_faces is"):
        comet.to_mesh(n_faces)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (((0, 0, 0), (1, 0, 1)), "semi_axes are"),
        (((0, 0, 0), (1, 1)), "semi_axes is"),
        (((0, np.nan, 0), (1, 1, 1)), "center is"),
        (((0, 0, 0), (1, 1, 1), (0, 0, 0, 2)), "length 2"),
    ],
)
def test_lobe_that_is_none(arguments, complaint):
    with pytest.raises(InputError, match=complaint):
        Ellipsoid(*arguments)


@pytest.mark.parametrize("blend", [-1.0, np.nan, 61.0])
def test_blend_is_checked(blend):
    with pytest.raises(InputError, match="blend is"):
        Lobes([LOBE], blend=blend)
    with pytest.raises(InputError, match="no lobes"):
        Lobes([], blend=0.0)


def test_repr_says_what_it_is(comet):
    assert repr(comet).startswith("Lobes(3 ellipsoids, blend 60 m, box 50")
