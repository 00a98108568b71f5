"""Rigid landers: inertia, contact points, centre of mass, and what is refused."""

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from alight.core import devices
from alight.core.errors import InputError, MeshError
from alight.shapes import Mesh, icosphere
from alight.vehicles import RigidLander
from alight.vehicles.rigid import hull_meshes
from alight.vehicles.rigid import inertia as uniform

BOX = hull_meshes.box([0.4, 0.3, 0.2])


def _lander(**changes):
    moments = [0.03, 0.05, 0.06]
    values = {"name": "box", "mass": 3.0, "inertia": moments, "points": BOX.vertices, "hull": BOX}
    return RigidLander(**{**values, **changes})


# -- uniform solids ----------------------------------------------------------------------------


def test_moments_in_closed_form():
    assert np.allclose(RigidLander.cube(0.2, 1.0).inertia, np.eye(3) * 0.04 / 6, rtol=1e-15)
    ball = RigidLander.sphere(0.2, 2.0)
    assert np.allclose(ball.inertia, np.eye(3) * 0.4 * 2.0 * 0.01, rtol=1e-15)
    disc = RigidLander.cylinder(0.18, 0.07, 1.1)
    np.testing.assert_allclose(
        disc.inertia.diagonal(), [1.1 * (3 * 0.0081 + 0.0049) / 12] * 2 + [1.1 * 0.0081 / 2]
    )
    box = RigidLander.box([0.275, 0.290, 0.195], 9.6)
    np.testing.assert_allclose(
        box.inertia.diagonal(),
        0.8 * np.array([0.290**2 + 0.195**2, 0.275**2 + 0.195**2, 0.275**2 + 0.290**2]),
    )


def test_cylinder_and_prism_share_their_hull():
    disc, prism = RigidLander.cylinder(0.18, 0.07, 1.1), RigidLander.prism(16, 0.18, 0.07, 1.1)
    assert disc.hull == prism.hull
    assert disc.n_points == 32
    ratio = prism.inertia[2, 2] / disc.inertia[2, 2]
    assert ratio == pytest.approx((2 + np.cos(np.pi / 8)) / 3, rel=1e-14)


def test_sphere_is_one_point_with_a_radius():
    ball = RigidLander.sphere(0.5, 2.0)
    np.testing.assert_array_equal(ball.points, [[0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(ball.radii, [0.25])
    assert ball.bounding_radius == 0.25
    studded = RigidLander.sphere(0.5, 2.0, points=32)
    assert studded.n_points == 32
    np.testing.assert_array_equal(studded.radii, 0.0)
    np.testing.assert_allclose(np.linalg.norm(studded.points, axis=1), 0.25, rtol=1e-13)
    spiked = RigidLander.sphere(0.5, 2.0, extra=[[0.0, 0.0, 0.4]])
    np.testing.assert_array_equal(spiked.radii, [0.25, 0.0])
    assert spiked.bounding_radius == 0.4


def test_mesh_with_mass_or_density():
    mesh = icosphere(1, 0.3).translated([5.0, -2.0, 1.0])
    by_mass = RigidLander.from_mesh(mesh, 2.0)
    by_density = RigidLander.from_mesh(mesh, density=2.0 / mesh.volume)
    assert by_density.mass == pytest.approx(2.0, rel=1e-15)
    np.testing.assert_allclose(by_mass.inertia, mesh.inertia(2.0 / mesh.volume), rtol=1e-13)
    np.testing.assert_allclose(by_mass.center_of_mass, [5.0, -2.0, 1.0], rtol=1e-14)
    assert np.abs(by_mass.hull.center_of_mass).max() < 1e-14
    assert by_mass.n_points == 32
    assert by_mass.bounding_radius == pytest.approx(0.3, rel=1e-13)
    assert RigidLander.from_mesh(mesh, 2.0, points=7).n_points == 7


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_random_hulls_match_their_integrals(seed):
    """Random convex hulls: inertia against a sum over points spread through the solid."""
    rng = np.random.default_rng(seed)
    base = icosphere(1)
    stretch = rng.uniform(0.3, 1.5, 3)
    turn = Rotation.random(random_state=seed).as_matrix()
    vertices = (base.vertices * stretch * rng.uniform(0.9, 1.0, (base.n_vertices, 1))) @ turn.T
    mesh = Mesh(vertices + rng.normal(size=3), base.faces)
    lander = RigidLander.from_mesh(mesh, 4.0)
    # tetrahedra from the centre of mass, each by its exact 4-point rule of degree 2
    corner = mesh.vertices[mesh.faces] - lander.center_of_mass
    volume = np.einsum("fi,fi->f", corner[:, 0], np.cross(corner[:, 1], corner[:, 2])) / 6
    a, b = (5 - np.sqrt(5)) / 20, (5 + 3 * np.sqrt(5)) / 20
    total = np.zeros((3, 3))
    for k in range(4):
        weights = np.full(4, a)
        weights[k] = b
        x = np.einsum("c,fci->fi", weights[:3], corner)
        square = np.einsum("fi,fi->f", x, x)
        total += np.einsum("f,f->", volume, square) / 4 * np.eye(3)
        total -= np.einsum("f,fi,fj->ij", volume, x, x) / 4
    expected = total * 4.0 / volume.sum()
    size = np.abs(expected).max()
    np.testing.assert_allclose(lander.inertia, expected, rtol=1e-12, atol=1e-12 * size)


def test_turning_the_hull_turns_the_inertia():
    turn = Rotation.from_euler("xyz", [0.3, -1.1, 2.0]).as_matrix()
    plain = RigidLander.from_mesh(BOX, 3.0, points=20)
    turned = RigidLander.from_mesh(BOX.rotated(turn), 3.0, points=20)
    size = plain.inertia.max()
    np.testing.assert_allclose(
        turned.inertia, turn @ plain.inertia @ turn.T, rtol=1e-12, atol=1e-14 * size
    )
    np.testing.assert_allclose(turned.principal[0], plain.principal[0], rtol=1e-12)
    assert turned.bounding_radius == pytest.approx(plain.bounding_radius, rel=1e-14)


# -- centre of mass ----------------------------------------------------------------------------


def test_offset_moves_points_and_hull():
    offset = np.array([0.02, -0.01, 0.03])
    plain, shifted = (
        RigidLander.box([0.4, 0.3, 0.2], 3.0, center_of_mass=c, extra=[[0.0, 0.0, 0.5]])
        for c in (None, offset)
    )
    np.testing.assert_allclose(shifted.points, plain.points - offset, atol=1e-16)
    np.testing.assert_allclose(shifted.hull.vertices, plain.hull.vertices - offset, atol=1e-16)
    np.testing.assert_array_equal(shifted.center_of_mass, offset)
    reach = np.linalg.norm(shifted.points, axis=1).max()
    assert shifted.bounding_radius == pytest.approx(reach, rel=1e-15)


def test_offset_is_mass_moved_about_inside():
    """A box whose density grows evenly along x, as 1 + s x, has its centre at d = s a^2 / 12.

    About it the moment is m (b^2 + c^2) / 12 along x and m (a^2 + c^2) / 12 - m d^2 across.
    """
    a, b, c, d = 0.4, 0.3, 0.2, 0.03
    lander = RigidLander.box([a, b, c], 3.0, center_of_mass=[d, 0.0, 0.0])
    x = (np.arange(20000) + 0.5) / 20000 * a - a / 2
    density = (1.0 + 12.0 * d / a**2 * x) / len(x)
    assert density.min() > 0.0
    assert density @ x == pytest.approx(d, rel=1e-7)
    along = 3.0 * (b**2 + c**2) / 12
    second = 3.0 * density @ (x - d) ** 2
    expected = [along, second + 3.0 * c**2 / 12, second + 3.0 * b**2 / 12]
    np.testing.assert_allclose(lander.inertia.diagonal(), expected, rtol=1e-6)


def test_parallel_axis_of_given_inertia():
    """A given inertia is about the centre of mass and is taken as it stands."""
    given_ = np.diag([0.03, 0.05, 0.06])
    lander = RigidLander.box([0.4, 0.3, 0.2], 3.0, center_of_mass=[0.1, 0.0, 0.0], inertia=given_)
    np.testing.assert_array_equal(lander.inertia, given_)
    d = np.array([0.1, -0.2, 0.3])
    masses = uniform.parallel_axis(2.0, d)
    np.testing.assert_allclose(masses @ d, 0.0, atol=1e-16)  # a point on the axis has no moment
    assert np.trace(masses) == pytest.approx(2 * 2.0 * d @ d, rel=1e-14)


def test_offset_too_far_asks_for_the_inertia():
    with pytest.raises(InputError, match="Give inertia="):
        RigidLander.box([0.4, 0.3, 0.2], 3.0, center_of_mass=[0.0, 0.0, 0.09])
    RigidLander.box([0.4, 0.3, 0.2], 3.0, center_of_mass=[0.0, 0.0, 0.05])


# -- what follows ------------------------------------------------------------------------------


def test_principal_moments_and_axes():
    turn = Rotation.from_euler("zyx", [0.4, 0.2, -0.7]).as_matrix()
    moments = np.array([0.03, 0.05, 0.06])
    lander = _lander(inertia=turn @ np.diag(moments) @ turn.T)
    found, axes = lander.principal
    np.testing.assert_allclose(found, moments, rtol=1e-13)
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-14)
    assert np.linalg.det(axes) == pytest.approx(1.0)
    np.testing.assert_allclose(np.abs(np.einsum("ai,ia->a", axes, turn)), 1.0, rtol=1e-12)
    np.testing.assert_allclose(lander.inverse_inertia @ lander.inertia, np.eye(3), atol=1e-13)
    np.testing.assert_array_equal(lander.inverse_inertia, lander.inverse_inertia.T)


def test_three_moments_and_one_radius_will_do():
    lander = _lander(inertia=[0.03, 0.05, 0.06], radii=0.01)
    np.testing.assert_array_equal(lander.inertia, np.diag([0.03, 0.05, 0.06]))
    np.testing.assert_array_equal(lander.radii, np.full(8, 0.01))
    assert lander.bounding_radius == pytest.approx(np.linalg.norm([0.2, 0.15, 0.1]) + 0.01)


def test_lander_does_not_change():
    points = np.array(BOX.vertices)
    lander = _lander(points=points)
    points[0] = 9.0
    assert lander.points.max() < 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        lander.mass = 2.0
    for array in (lander.points, lander.inertia, lander.radii, lander.principal[0]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_lander_can_be_sent_to_another_process():
    lander = RigidLander.cylinder(0.18, 0.07, 1.1)
    assert lander.bounding_radius > 0.0
    copy = pickle.loads(pickle.dumps(lander))
    np.testing.assert_array_equal(copy.points, lander.points)
    assert (copy.name, copy.mass, copy.hull) == (lander.name, lander.mass, lander.hull)


def test_rod_meets_the_triangle_inequality_to_rounding():
    """A slender rod: I1 + I2 = I3 within rounding; a ninth digit off is still rounding."""
    _lander(inertia=[1e-7, 1.0, 1.0 + 1e-7 + 1e-10])
    with pytest.raises(InputError, match="exceeds the sum"):
        _lander(inertia=[1e-7, 1.0, 1.0 + 1e-7 + 1e-8])


def test_text():
    text = str(RigidLander.cylinder(0.18, 0.07, 1.1, name="rover"))
    assert text.startswith("rover: 1.1 kg, 0.18 x 0.18 x 0.07 m")
    assert text.endswith("32 contact points")
    assert str(RigidLander.sphere(1.0, 1.0)).endswith("1 contact point")


# -- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize("mass", [0.0, -1.0, np.nan, np.inf, "heavy", None, True])
def test_mass_must_be_positive(mass):
    with pytest.raises(InputError, match=r"mass of box \[kg\] is .*positive, finite"):
        _lander(mass=mass)
    with pytest.raises(InputError, match="mass"):
        RigidLander.box([1.0, 1.0, 1.0], mass)


@pytest.mark.parametrize(
    ("inertia", "complaint"),
    [
        (np.diag([1.0, 2.0, 3.5]), "largest exceeds the sum of the other two"),
        ([[1.0, 0.2, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], "not symmetric.*0.2"),
        (np.diag([1.0, 1.0, 0.0]), "all three must be positive"),
        (np.diag([1.0, -1.0, 1.0]), "all three must be positive"),
        (np.zeros((3, 3)), "all three must be positive"),
        (np.diag([1.0, np.nan, 1.0]), "finite"),
        (np.eye(2), "tensor"),
        ("solid", "tensor"),
    ],
)
def test_inertia_must_be_that_of_a_body(inertia, complaint):
    with pytest.raises(InputError, match=complaint):
        _lander(inertia=inertia)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"points": np.empty((0, 3))}, "there are none"),
        ({"points": [[0.0, 0.0]]}, r"shape \(1, 2\) must be rows"),
        ({"points": [[0.0, np.nan, 0.0]]}, "1 of 1 are not finite"),
        ({"points": "corners"}, "must be rows"),
        ({"radii": [0.1, 0.2]}, "one number or 8 numbers"),
        ({"radii": -0.1}, "not negative"),
        ({"radii": np.nan}, "not negative"),
        ({"center_of_mass": [0.0, np.inf, 0.0]}, "three finite numbers"),
    ],
)
def test_points_and_radii_that_cannot_be(changes, complaint):
    with pytest.raises(InputError, match=complaint):
        _lander(**changes)


def test_hull_must_be_closed():
    torn = Mesh(BOX.vertices, BOX.faces[1:], check=False)
    with pytest.raises(MeshError, match="the hull of box does not bound a solid: 3 open edges"):
        _lander(hull=torn)
    with pytest.raises(MeshError, match="does not bound a solid"):
        RigidLander.from_mesh(torn, 1.0)


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: RigidLander.from_mesh(BOX), "mass .* or its density"),
        (lambda: RigidLander.from_mesh(BOX, 1.0, density=1.0), "mass .* or its density"),
        (lambda: RigidLander.from_mesh(BOX, density=-1.0), "density of a lander"),
        (lambda: RigidLander.from_mesh(BOX, 0.0), "mass of a lander"),
        (lambda: RigidLander.from_mesh(BOX, 1.0, points=0), "number of contact points is 0"),
        (lambda: RigidLander.box([1, 1, 1], 1.0, points=2.5), "number of contact points is 2.5"),
        (lambda: RigidLander.box([1, 1, 1], 1.0, extra=[[0, 0, np.nan]]), "extra points"),
        (lambda: RigidLander.box([1, 1, 1], 1.0, pionts=8), 'Did you mean "points"'),
        (lambda: RigidLander.cube(-1.0, 1.0), "side of a cube"),
        (lambda: RigidLander.cylinder(0.1, 0.1, 1.0, sides=2), "sides of a prism is 2"),
    ],
)
def test_makers_refuse_slips(call, complaint):
    with pytest.raises(InputError, match=complaint):
        call()


def test_kernel_data_holds_the_figures():
    lander = RigidLander.sphere(0.5, 2.0, center_of_mass=[0.0, 0.0, 0.05])
    body = lander.kernel_data(devices.resolve("cpu"))
    assert body.mass == 2.0
    assert body.bounding_radius == lander.bounding_radius == 0.3
    np.testing.assert_array_equal(np.array(body.inertia).reshape(3, 3), lander.inertia)
    np.testing.assert_array_equal(body.points.numpy(), lander.points)
    np.testing.assert_array_equal(body.radii.numpy(), lander.radii)
