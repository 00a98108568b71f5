"""Lift-off speeds: closed forms, the push of the ground there, the worst heading, the map."""

import numpy as np
import pytest

from alight.analysis import liftoff
from alight.analysis.surface import lift_off_speeds
from alight.core.errors import InputError
from alight.core.frames import direction
from alight.gravity import PointMass
from alight.shapes.icosphere import icosphere
from alight.shapes.radius_series import harmonics
from alight.shapes.radius_series.series import HarmonicSeries
from alight.surfaces import Facets, Parametric, Plane, Sphere

#: Ryugu as a sphere: GM [m^3/s^2], radius [m], turn [rad/s].
GM, R, RATE = 30.0, 448.0, 2.0 * np.pi / (7.63262 * 3600.0)
SPIN = np.array([0.0, 0.0, RATE])


def on_sphere(n, spin, radius=R):
    x = radius * np.asarray(n, dtype=float)
    return liftoff.lift_off(Sphere(radius=radius), x, -GM * x / radius**3, spin)


def lumpy(seed=3):
    ls = np.floor(np.sqrt(np.arange(81)))
    c = 60.0 * np.random.default_rng(seed).normal(size=81) / (1.0 + ls) ** 2
    c[0] = R
    return Parametric(HarmonicSeries(c))


def places(count=300, seed=4):
    n = np.random.default_rng(seed).normal(size=(count, 3))
    return n / np.linalg.norm(n, axis=1)[:, None]


@pytest.fixture(scope="module")
def hilly():
    """Lift-off on a lumpy body that turns fast about a tilted axis."""
    ground = lumpy()
    x = ground.at(places())
    g = -GM * x / np.linalg.norm(x, axis=1)[:, None] ** 3
    spin = np.array([1.0, 2.0, 6.0]) * 4e-5
    return ground, x, g, spin, liftoff.lift_off(ground, x, g, spin)


# -- closed forms ------------------------------------------------------------------------------


def test_a_sphere_at_rest():
    """sqrt(g R) everywhere, whatever the heading."""
    found = on_sphere(places(), np.zeros(3))
    for speed in (found.least, found.east, found.west, found.speed(1.234)):
        assert speed == pytest.approx(np.sqrt(GM / R), rel=1e-13)


def test_the_equator_of_a_turning_sphere():
    """sqrt(GM/R) -+ Omega R: 0.156 and 0.361 m/s on Ryugu."""
    found = on_sphere(np.eye(3)[:2], SPIN)
    circular = np.sqrt(GM / R)
    assert found.east == pytest.approx(circular - RATE * R, rel=1e-12)
    assert found.west == pytest.approx(circular + RATE * R, rel=1e-12)
    assert np.round([found.east[0], found.west[0]], 3).tolist() == [0.156, 0.361]
    assert found.least == pytest.approx(found.east, rel=1e-12)
    assert found.least_heading == pytest.approx(liftoff.EAST, abs=1e-6)


def test_other_latitudes_of_a_turning_sphere():
    """East and west as of the sphere in ``analysis.surface``; north w R = v^2, without Coriolis."""
    n = places()
    found = on_sphere(n, SPIN)
    x = R * n
    effective = -GM * x / R**3 - np.cross(SPIN, np.cross(SPIN, x))
    east, west = lift_off_speeds(x, n, effective, SPIN)
    assert found.east == pytest.approx(east, rel=1e-12)
    assert found.west == pytest.approx(west, rel=1e-12)
    assert found.speed(liftoff.NORTH) == pytest.approx(np.sqrt(R * found.weight), rel=1e-9)


def test_the_pole_of_an_ellipsoid():
    """Along a: sqrt(g a^2/c), along b: sqrt(g b^2/c), the shorter of them the worst."""
    a, b, c = axes = np.array([1.3, 1.1, 0.9])
    n, weights = harmonics.sphere_quadrature(88)
    radius = 1.0 / np.sqrt(((n / axes) ** 2).sum(axis=1))
    ground = Parametric(HarmonicSeries(harmonics.basis(22, n).T @ (weights * radius)))
    g = 1e-4
    found = liftoff.lift_off(ground, [[0.0, 0.0, c]], [[0.0, 0.0, -g]], np.zeros(3))
    # on the axis the east of longitude 0 is y
    assert found.east == pytest.approx(np.sqrt(g * b**2 / c), rel=1e-6)
    assert found.speed(liftoff.NORTH) == pytest.approx(np.sqrt(g * a**2 / c), rel=1e-6)
    assert found.least == pytest.approx(np.sqrt(g * b**2 / c), rel=1e-6)


def test_flat_ground_that_turns():
    """Nothing but Coriolis lifts: v = w/(2 Omega) eastward, never westward."""
    ground = Plane((5.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    g, x = 1e-4, [[5.0, 0.0, 0.0]]
    found = liftoff.lift_off(ground, x, [[-g, 0.0, 0.0]], SPIN)
    assert found.weight == pytest.approx(g - 5.0 * RATE**2, rel=1e-13)
    assert found.east == pytest.approx(found.weight / (2.0 * RATE), rel=1e-12)
    assert np.isinf(found.west).all()
    still = liftoff.lift_off(ground, x, [[-g, 0.0, 0.0]], np.zeros(3))
    assert np.isinf(still.least).all()


# -- what must hold of any ground --------------------------------------------------------------


def test_the_push_of_the_ground_is_zero_there(hilly):
    """N = -n.(g - W x (W x r) - 2 W x v) - kappa v^2 by vectors; above it negative at first."""
    ground, x, g, spin, found = hilly
    bends = ground.bends(x)
    axes = liftoff.level_axes(x, bends.normal)
    pushed = g - np.cross(spin, np.cross(spin, x))

    def push(heading, speed):
        t = np.sin(heading) * axes[..., 0] + np.cos(heading) * axes[..., 1]
        v = speed[:, None] * t
        kept = pushed - 2.0 * np.cross(spin, v)
        return -np.einsum("ni,ni->n", bends.normal, kept) - bends.curvature(t) * speed**2

    leaves, holds = 0, 0
    for heading in np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False):
        v = found.speed(heading)
        off = np.isfinite(v)
        leaves, holds = leaves + int(off.sum()), holds + int((~off).sum())
        scale = found.weight + 2.0 * np.linalg.norm(spin) * np.where(off, v, 0.0)
        at = push(heading, np.where(off, v, 0.0))
        assert np.abs(at[off] / scale[off]).max() < 1e-12
        for part in (0.1, 0.5, 0.9, 0.99):
            assert (push(heading, part * np.where(off, v, 0.0))[off] > 0.0).all()
        assert (push(heading, np.where(off, v, 0.0) * (1.0 + 1e-6))[off] < 0.0).all()
        for speed in np.geomspace(1e-3, 1e3, 25):
            assert (push(heading, np.full(len(v), speed))[~off] > 0.0).all()
    assert leaves > 500
    assert holds > 100


def test_no_heading_leaves_sooner_than_the_worst(hilly):
    *_, found = hilly
    every = np.array([found.speed(h) for h in np.linspace(0.0, 2.0 * np.pi, 3600)])
    finite = np.isfinite(found.least)
    assert np.array_equal(finite, np.isfinite(every).any(axis=0))
    assert (found.least[finite] <= every.min(axis=0)[finite] * (1.0 + 1e-14)).all()
    # a step of a tenth of a degree misses the minimum by (angle)^2 at most
    assert found.least[finite] == pytest.approx(every.min(axis=0)[finite], rel=1e-5)


def test_where_nothing_rests():
    """Turning faster than sqrt(GM/R^3) the equator throws everything off at once."""
    found = on_sphere(np.eye(3), [0.0, 0.0, 1.1 * np.sqrt(GM / R**3)])
    assert (found.weight[:2] < 0.0).all()
    assert np.array_equal(found.least[:2], [0.0, 0.0])
    assert np.array_equal(found.west[:2], [0.0, 0.0])
    assert found.least[2] == pytest.approx(np.sqrt(GM / R), rel=1e-12)


def test_a_hollow_holds():
    """Inside a sphere, its normal turned inward, curvature is negative: nothing leaves."""
    found = liftoff.LiftOff(
        weight=np.array([1e-4]), coriolis=np.zeros((1, 2)), shape=-np.eye(2)[None] / R
    )
    assert np.isinf(found.least).all()
    # unless Coriolis outdoes the curvature: c^2 > kappa w
    c = 1.01 * np.sqrt(1e-4 / R)
    found = liftoff.LiftOff(found.weight, np.array([[-c, 0.0]]), found.shape)
    root = c - np.sqrt(c**2 - 1e-4 / R)
    assert found.east == pytest.approx(root * R, rel=1e-12)
    assert np.isinf(found.west).all()


# -- the map -----------------------------------------------------------------------------------


def test_map_of_a_sphere():
    ground = Parametric(HarmonicSeries([R]))
    found = liftoff.lift_off_map(ground, PointMass(GM), SPIN, rows=19, columns=36)
    assert found.share.sum() == pytest.approx(1.0, rel=1e-12)
    cap = 0.5 * (1.0 - np.cos(np.radians(5.0)))
    assert found.share[0].sum() == pytest.approx(cap, rel=1e-12)
    assert found.east[9] == pytest.approx(np.sqrt(GM / R) - RATE * R, rel=1e-10)
    assert found.least[0] == pytest.approx(np.sqrt(GM / R), rel=1e-10)
    assert found.never(found.west) == 0.0
    # between 30 S and 30 N lies half of a sphere; there it leaves soonest
    half = found.quantile(found.least, 0.5)
    assert found.least[6, 0] == pytest.approx(half, rel=0.03)
    assert found.quantile(found.least, 1.0) == found.least.max()


def test_map_of_a_body_whose_radii_begin_elsewhere():
    """The same ground, the same map: places are sought from the origin."""
    series = HarmonicSeries([R, 0.0, 0.0, 0.0])
    off = Parametric(series, center=(0.0, 60.0, -40.0))
    latitude, longitude = np.radians([[-80.0, 0.0, 45.0], [10.0, 200.0, 300.0]])
    n = direction(latitude, longitude)
    x = liftoff.ground_towards(off, n)
    assert np.linalg.norm(x - off.center, axis=1) == pytest.approx(R, rel=1e-12)
    assert x / np.linalg.norm(x, axis=1)[:, None] == pytest.approx(n, abs=1e-14)
    found = liftoff.lift_off_map(off, PointMass(GM, off.center), np.zeros(3), rows=7, columns=12)
    assert found.least == pytest.approx(np.sqrt(GM / R), rel=1e-10)
    # equal shares of a sphere: the mean place, weighed with them, is its centre
    grid = direction(*np.meshgrid(found.latitude, found.longitude, indexing="ij"))
    fine = liftoff.lift_off_map(off, PointMass(GM, off.center), np.zeros(3), rows=91, columns=180)
    grid = direction(*np.meshgrid(fine.latitude, fine.longitude, indexing="ij"))
    ground = liftoff.ground_towards(off, grid.reshape(-1, 3))
    assert fine.share.ravel() @ ground == pytest.approx(off.center, abs=1e-3 * R)


def test_a_centre_outside_has_no_map():
    away = Parametric(HarmonicSeries([R]), center=(2.0 * R, 0.0, 0.0))
    with pytest.raises(InputError, match="no map of latitude and longitude"):
        liftoff.ground_towards(away, places())


def test_what_is_refused():
    ball = Sphere(radius=R)
    with pytest.raises(InputError, match=r"points have shape \(3,\) and attraction \(3,\)"):
        liftoff.lift_off(ball, [R, 0, 0], [1, 0, 0], SPIN)
    with pytest.raises(InputError, match="spin"):
        liftoff.lift_off(ball, [[R, 0, 0]], [[1, 0, 0]], 1.0)
    with pytest.raises(InputError, match="no second derivatives"):
        liftoff.lift_off(Facets(icosphere(1)), [[1, 0, 0]], [[1, 0, 0]], SPIN)
