"""Surface quantities against closed forms on spheres and on the Maclaurin spheroid."""

import numpy as np
import pytest

from alight.analysis import surface as sf
from alight.core.constants import G
from alight.gravity.polyhedron.field import Polyhedron
from alight.gravity.simple import PointMass
from alight.scenario import bodies
from alight.shapes import Mesh, icosphere

GM, R, RATE = 30.0, 448.0, 2.0 * np.pi / (7.63262 * 3600.0)
SPIN = np.array([0.0, 0.0, RATE])


def _sphere_points(latitude):
    """Points of a sphere, their normals, and point-mass potential and attraction."""
    n = np.stack([np.cos(latitude), np.zeros_like(latitude), np.sin(latitude)], axis=1)
    return R * n, n, np.full(len(n), GM / R), -GM / R**2 * n


def test_spinning_sphere_weight_and_slope():
    lat = np.linspace(-1.5, 1.5, 31)
    points, normals, _, attraction = _sphere_points(lat)
    effective = sf.effective_acceleration(points, attraction, SPIN)
    inward = GM / R**2 - RATE**2 * R * np.cos(lat) ** 2
    level = RATE**2 * R * np.sin(lat) * np.cos(lat)
    assert -np.einsum("ij,ij->i", effective, normals) == pytest.approx(inward, rel=1e-13)
    assert sf.slope(effective, normals) == pytest.approx(np.arctan2(abs(level), inward), rel=1e-12)


def test_effective_acceleration_is_minus_the_gradient_of_the_effective_potential():
    law = PointMass(GM)
    spin = np.array([1e-4, -2e-4, 3e-4])
    x = np.array([300.0, -200.0, 410.0])
    step = 0.5  # truncation (step/r)^2/6 ~ 1e-7 of g, rounding eps V/step ~ 1e-13
    shifted = x + step * np.concatenate([np.eye(3), -np.eye(3)])
    potential, _, _ = law.evaluate(shifted)
    v = sf.effective_potential(shifted, potential, spin)
    _, attraction, _ = law.evaluate(x)
    expected = -(v[:3] - v[3:]) / (2.0 * step)
    found = sf.effective_acceleration(x, attraction, spin)
    assert found == pytest.approx(expected, rel=5e-6)


def test_lift_off_on_the_equator_of_a_sphere():
    points, normals, _, attraction = _sphere_points(np.array([0.0]))
    effective = sf.effective_acceleration(points, attraction, SPIN)
    east, west = sf.lift_off_speeds(points, normals, effective, SPIN)
    assert east[0] == pytest.approx(np.sqrt(GM / R) - RATE * R, rel=1e-13)
    assert west[0] == pytest.approx(np.sqrt(GM / R) + RATE * R, rel=1e-13)


def test_lift_off_takes_the_last_weight_away():
    """Moving at the lift-off speed, the acceleration is just that of the sphere's curvature."""
    rng = np.random.default_rng(1)
    points = 500.0 * rng.normal(size=(50, 3))
    normals = rng.normal(size=(50, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    effective = -1e-4 * normals + 3e-5 * rng.normal(size=(50, 3))
    spin = np.array([1e-4, 2e-4, -1e-4])
    pressed = np.einsum("ij,ij->i", effective, normals) < 0.0
    assert pressed.sum() > 40
    level = np.cross(spin, normals)
    level /= np.linalg.norm(level, axis=1, keepdims=True)
    speeds = sf.lift_off_speeds(points, normals, effective, spin)
    for v, side in zip(speeds, (level, -level), strict=True):
        moving = effective - 2.0 * np.cross(spin, v[:, None] * side)
        normal_part = np.einsum("ij,ij->i", moving, normals)
        curved = -(v**2) / np.linalg.norm(points, axis=1)
        assert normal_part[pressed] == pytest.approx(curved[pressed], rel=1e-10)
        assert (v[~pressed] == 0.0).all()


def test_lift_off_without_spin_is_the_same_both_ways():
    points, normals, _, attraction = _sphere_points(np.array([0.3, 1.0]))
    east, west = sf.lift_off_speeds(points, normals, attraction, np.zeros(3))
    assert east == pytest.approx(np.sqrt(GM / R), rel=1e-13)
    assert west == pytest.approx(east, rel=1e-13)


@pytest.mark.parametrize("depth", [0.7, 1.4])
def test_escape_speed_reaches_the_inertial_speed_needed(depth):
    """Launch and ground speed together make sqrt(2 max(U, GM/r))."""
    rng = np.random.default_rng(2)
    points = 500.0 * rng.normal(size=(40, 3))
    normals = rng.normal(size=(40, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    distance = np.linalg.norm(points, axis=1)
    potential = depth * GM / distance
    spin = np.array([2e-5, -1e-5, 6e-5])
    v = sf.escape_speed(points, normals, potential, GM, spin)
    inertial = v[:, None] * normals + np.cross(spin, points)
    needed = 2.0 * np.maximum(potential, GM / distance)
    assert np.einsum("ij,ij->i", inertial, inertial) == pytest.approx(needed, rel=1e-12)


def test_escape_from_ground_faster_than_escape_needs_nothing():
    points, normals, potential, _ = _sphere_points(np.array([0.0, 1.5707]))
    fast = 2.0 * np.sqrt(2.0 * GM / R) / R
    v = sf.escape_speed(points, normals, potential, GM, [0.0, 0.0, fast])
    assert v[0] == 0.0
    assert v[1] == pytest.approx(np.sqrt(2.0 * GM / R), rel=1e-6)


def test_synchronous_radius():
    radius = sf.synchronous_radius(GM, SPIN)
    assert RATE**2 * radius**3 == pytest.approx(GM, rel=1e-14)
    assert sf.synchronous_radius(GM, np.zeros(3)) == np.inf


def test_spread_weighs_by_area():
    found = sf.spread(np.array([3.0, 1.0, 2.0]), np.array([1.0, 8.0, 1.0]))
    assert (found.least, found.most) == (1.0, 3.0)
    assert found.mean == pytest.approx(1.3, rel=1e-15)
    # Shares end at 0.8, 0.9, 1; facets stand at 0.4, 0.85, 0.95.
    assert found.p05 == 1.0
    assert found.p95 == pytest.approx(3.0, rel=1e-12)
    even = sf.spread(np.arange(1000.0), np.ones(1000))
    assert (even.p05, even.p95) == pytest.approx((49.5, 949.5), rel=1e-12)


def _maclaurin(subdivisions):
    """A spheroid of eccentricity 0.6 spinning at the rate that makes its surface level."""
    e = 0.6
    sphere = icosphere(subdivisions)
    mesh = Mesh(sphere.vertices * 400.0 * np.array([1.0, 1.0, np.sqrt(1.0 - e**2)]), sphere.faces)
    density = 2000.0
    ratio = 2.0 * np.sqrt(1 - e**2) / e**3 * (3 - 2 * e**2) * np.arcsin(e) - 6 * (1 - e**2) / e**2
    spin = np.array([0.0, 0.0, np.sqrt(np.pi * G * density * ratio)])
    field = Polyhedron(mesh, density=density)
    return sf.examine(mesh, field, field.gm, spin)


def test_maclaurin_spheroid_is_level_everywhere():
    """Chandrasekhar, Ellipsoidal Figures of Equilibrium (1969): no slope, one potential."""
    coarse, fine = _maclaurin(3), _maclaurin(4)
    areas = fine.mesh.face_areas
    assert np.degrees(np.average(fine.slope, weights=areas)) < 0.2
    mean_slopes = [np.average(s.slope, weights=s.mesh.face_areas) for s in (coarse, fine)]
    assert mean_slopes[0] / mean_slopes[1] > 1.9  # first order in the facet size, at least
    v = fine.effective_potential
    assert np.ptp(v) / abs(v.mean()) < 2e-3
    assert np.ptp(fine.height) < 2e-3 * 400.0
    assert fine.steep_fraction == 0.0
    # Without the spin it is not level: the check can fail.
    still = sf.FacetFields(
        fine.mesh, fine.gm, np.zeros(3), fine.points, fine.potential, fine.attraction
    )
    assert np.degrees(still.slope.max()) > 3.0


def test_turning_body_and_spin_together_changes_nothing():
    body = bodies.find("itokawa")
    mesh = body.mesh(320)
    angle = 0.7
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[1, 0, 0], [0, c, -s], [0, s, c]]) @ np.array(
        [[c, -s, 0], [s, c, 0], [0, 0, 1]]
    )
    turned = mesh.rotated(turn)
    one = sf.examine(mesh, Polyhedron(mesh, gm=body.gm), body.gm, body.spin_vector)
    other = sf.examine(turned, Polyhedron(turned, gm=body.gm), body.gm, turn @ body.spin_vector)
    for name in ("effective_gravity", "slope", "escape_speed", "height"):
        assert getattr(other, name) == pytest.approx(getattr(one, name), rel=1e-8), name


def test_area_where_a_fast_sphere_throws_things_off():
    """Net gravity is outward where cos^2(latitude) > GM / (Omega^2 R^3) = k: sqrt(1 - k) of it."""
    mesh = icosphere(4, R)
    k = 0.8
    spin = [0.0, 0.0, np.sqrt(GM / (k * R**3))]
    found = sf.examine(mesh, PointMass(GM), GM, spin)
    # Facets of 2 degrees along two circles: a hundredth of the sphere at most.
    assert found.outward_fraction == pytest.approx(np.sqrt(1.0 - k), abs=0.01)
    east, west = found.lift_off
    assert ((east == 0.0) == (found.weight <= 0.0)).all()
    assert ((west == 0.0) == (found.weight <= 0.0)).all()


def test_progress_counts_every_facet(monkeypatch):
    monkeypatch.setattr(sf, "CHUNK", 100)
    mesh = icosphere(2, R)
    done = []
    found = sf.examine(mesh, PointMass(GM), GM, SPIN, "cpu", done.append)
    assert done == [100, 100, 100, 20]
    whole, _, _ = PointMass(GM).evaluate(found.points)
    assert (found.potential == whole).all()


def test_eros_has_the_published_escape_speeds(shapes_dir):
    """3.1 to 17.2 m/s over the surface (Yeomans et al. 2000), of a model of finer facets.

    The least is that of the sharpest end: it falls to 3.20 with 12 288 facets.
    """
    body = bodies.find("eros")
    mesh = Mesh.read(shapes_dir / "Eros_7790.obj", unit="km", recentre=True)
    found = sf.examine(mesh, Polyhedron(mesh, gm=body.gm), body.gm, body.spin_vector).ranges()
    assert found["escape_speed"].least == pytest.approx(3.1, rel=0.12)
    assert found["escape_speed"].most == pytest.approx(17.2, rel=0.02)


def test_smooth_neck_of_itokawa_is_its_most_level_ground(shapes_dir):
    """The Muses Sea, a smooth lowland south of the neck, against the boulder-strewn rest."""
    mesh = Mesh.read(shapes_dir / "Itokawa_3072.obj", unit="km", recentre=True)
    spin = bodies.find("itokawa").spin_vector
    found = sf.examine(mesh, Polyhedron(mesh, gm=2.343), 2.343, spin)
    x, y, z = found.points.T
    longitude = np.degrees(np.arctan2(y, x)) % 360.0
    latitude = np.degrees(np.arctan2(z, np.hypot(x, y)))
    sea = (longitude > 35) & (longitude < 65) & (latitude > -55) & (latitude < -25)
    slopes = np.degrees(found.slope)
    areas = mesh.face_areas
    assert np.average(slopes[sea], weights=areas[sea]) < 6.0
    assert np.average(slopes[~sea], weights=areas[~sea]) > 11.0
    assert found.height[sea].max() < 0.0
