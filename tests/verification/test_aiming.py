"""Aiming: free flight with its state-transition matrix, shooting, families, the linear ellipse.

    r'' = g(r) - 2 W x r' - W x (W x r),        Phi_rv = d r(T) / d v(0)

Closed forms. In uniform gravity g a place at the distance d on level ground is reached with the
least speed sqrt(g d) after sqrt(2 d / g), and at a higher speed v at the elevations e and
90 deg - e with sin(2 e) = g d / v^2. On a ball of radius R and parameter mu at rest, across the
angle a, the least speed is that of Lambert's fundamental ellipse: v^2 = mu (2 / R - 1 / s) with
s = (2 R + c) / 4, c = 2 R sin(a / 2). Range error of a throw on level ground:
dd = d (2 dv/v + 2 cot(2 e) de), and across d da.
"""

import math
import pathlib
import sys

import numpy as np
import pytest

from alight import flight, gravity, scenario, surfaces
from alight.core import frames
from alight.mobility.aiming.aimer import Aimer
from alight.mobility.aiming.ellipse import WITHIN_1, WITHIN_2, first_impact_ellipse
from alight.mobility.aiming.families import Ground, at_speed, least, scan
from alight.mobility.aiming.free_flight import FreeFlight
from alight.mobility.aiming.lambert import lambert
from alight.mobility.aiming.proof import first_impacts
from alight.mobility.aiming.push_off import by_throw, throws_of

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "unit" / "mobility"))

from ball import GM, RADIUS, ball

_G = 1e-3
_PLANE = Ground(lambda x: surfaces.Plane().query(x, device="cpu"))


@pytest.fixture(scope="module")
def turning():
    """About a point mass, in axes that turn about an axis of no symmetry."""
    return FreeFlight(gravity.PointMass(GM), flight.UniformRotation(omega=(1e-4, -2e-4, 3e-4)))


@pytest.fixture(scope="module")
def level():
    """Over a plane."""
    return FreeFlight(gravity.Uniform((0.0, 0.0, -_G)), flight.UniformRotation(0.0))


# -- free flight ----------------------------------------------------------------------------------


def test_the_transition_matrix_is_the_derivative_of_the_end(turning):
    place, speed, time = np.array([[250.0, 30.0, -40.0]]), np.array([[0.05, 0.09, 0.06]]), [900.0]
    whole = turning.fly(place, speed, np.array(time), 96)
    h = 1e-5
    ends = [
        [turning.fly(place, speed + side * h * axis, np.array(time), 96).position[0]
         for side in (1.0, -1.0)] for axis in np.eye(3)
    ]  # fmt: skip
    slopes = np.stack([(plus - minus) / (2.0 * h) for plus, minus in ends], -1)
    # Differences err by h^2/6 of a third derivative, some T/v^2, relative (h/v)^2 = 1e-8.
    assert np.abs(whole.by_velocity[0] - slopes).max() < 1e-7 * np.abs(slopes).max()


def test_flight_about_a_point_mass_keeps_energy_and_angular_momentum(turning):
    place, speed = np.array([[250.0, 30.0, -40.0]]), np.array([[0.05, 0.09, 0.06]])
    time, omega = np.array([2500.0]), turning.rotation.omega
    end = turning.fly(place, speed, time, 200)
    turned = turning.rotation.evaluate(np.array([0.0, time[0]]), device="cpu")[2]

    def inertial(q, r, v):
        return frames.quat_rotate(q, r), frames.quat_rotate(q, v + np.cross(omega, r))

    first, last = inertial(turned[0], place, speed), inertial(turned[1], end.position, end.velocity)
    energy = [0.5 * np.sum(v * v) - GM / np.linalg.norm(r) for r, v in (first, last)]
    spin = [np.cross(r, v)[0] for r, v in (first, last)]
    assert energy[1] == pytest.approx(energy[0], rel=1e-9)
    assert np.allclose(spin[1], spin[0], rtol=1e-9, atol=1e-9 * np.linalg.norm(spin[0]))
    assert end.error[0] < 1e-6


def test_the_error_estimate_falls_with_the_fifth_power_of_the_step(turning):
    start = np.array([[250.0, 0.0, 0.0]]), np.array([[0.05, 0.12, 0.0]]), np.array([4000.0])
    coarse, fine, exact = (turning.fly(*start, steps) for steps in (16, 32, 512))
    off = [np.linalg.norm(one.position - exact.position) for one in (coarse, fine)]
    assert 20.0 < off[0] / off[1] < 60.0  # 2^5, as far as the leading term tells


def test_lambert_finds_the_velocity_that_kepler_flies():
    rest = FreeFlight(gravity.PointMass(GM), flight.UniformRotation(0.0))
    start = np.tile([[250.0, 0.0, 0.0]], (3, 1))
    speed = np.array([[0.03, 0.1, 0.02], [0.05, -0.02, 0.12], [0.0, 0.19, 0.0]])
    time = np.array([900.0, 1500.0, 600.0])
    end = rest.fly(start, speed, time, 400).position
    found = lambert(np.full(3, GM), start, end, time)
    assert np.allclose(found, speed, rtol=1e-7, atol=1e-8)


def test_lambert_goes_the_long_way_too():
    start, end = np.array([[250.0, 0.0, 0.0]]), np.array([[0.0, 300.0, 0.0]])
    long = lambert(np.array([GM]), start, end, np.array([9000.0]), long_way=True)
    rest = FreeFlight(gravity.PointMass(GM), flight.UniformRotation(0.0))
    assert long[0, 1] < 0.0
    there = rest.fly(start, long, np.array([9000.0]), 800).position
    assert np.allclose(there, end, atol=1e-4)


# -- shooting on level ground ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def thrown(level):
    """The families from the origin to a place 25 m off, and that distance."""
    target = np.array([[20.0, 15.0, 0.0]])
    return scan(level, _PLANE, np.zeros((1, 3)), target, None), 25.0


def test_level_ground_has_one_family_with_the_least_speed_at_45_degrees(level, thrown):
    families, d = thrown
    (slow,) = least(level, families)
    assert slow.speed[0] == pytest.approx(math.sqrt(_G * d), rel=1e-6)
    assert slow.time[0] == pytest.approx(math.sqrt(2.0 * d / _G), rel=1e-3)  # flat at the bottom
    assert slow.velocity[0, 2] / slow.speed[0] == pytest.approx(math.sqrt(0.5), rel=1e-3)


@pytest.mark.parametrize("over", [1.05, 1.3, 1.8])
def test_the_shallow_and_the_steep_throw_are_the_pair_of_angles(level, thrown, over):
    families, d = thrown
    v = over * math.sqrt(_G * d)
    both = at_speed(level, families, np.array([v]))[0]
    angles = [math.asin(one.velocity[0, 2] / one.speed[0]) for one in both]
    low = 0.5 * math.asin(_G * d / v**2)
    assert angles == pytest.approx([low, 0.5 * math.pi - low], rel=1e-5)
    times = [2.0 * v * math.sin(angle) / _G for angle in (low, 0.5 * math.pi - low)]
    assert [one.time[0] for one in both] == pytest.approx(times, rel=1e-5)


def test_no_throw_is_found_below_the_least_speed(level, thrown):
    families, d = thrown
    assert at_speed(level, families, np.array([0.9 * math.sqrt(_G * d)]))[0] == (None, None)


@pytest.mark.parametrize("elevation", [20.0, 45.0, 70.0])
def test_the_ellipse_on_level_ground_is_that_of_the_range_formula(level, elevation):
    v, e, a = 0.2, math.radians(elevation), math.radians(30.0)
    local = np.array([[math.cos(e) * math.sin(a), math.cos(e) * math.cos(a), math.sin(e)]]) * v
    axes, time = np.eye(3)[None], np.array([2.0 * v * math.sin(e) / _G])
    end = level.fly(np.zeros((1, 3)), local, time)
    slope = end.by_velocity[0] @ by_throw(throws_of(local, axes), axes)[0]
    sigma = np.array([0.004, 0.01, 0.02])
    up = np.array([0.0, 0.0, 1.0])
    found = first_impact_ellipse(end.position[0], up, end.velocity[0], slope, sigma)
    d = v**2 * math.sin(2.0 * e) / _G
    along = math.hypot(2.0 * d * sigma[0] / v, 2.0 * d * sigma[2] / math.tan(2.0 * e))
    assert np.sqrt(np.diag(found.covariance)) == pytest.approx([along, d * sigma[1]], rel=1e-9)
    assert found.covariance[0, 1] == pytest.approx(0.0, abs=1e-9 * along * d)


# -- on a ball, flown by the engine ---------------------------------------------------------------


@pytest.fixture(scope="module")
def at_rest():
    return Aimer(scenario.loads(ball()))


def test_the_least_speed_on_a_ball_is_that_of_lamberts_fundamental_ellipse(at_rest):
    angle = math.radians(50.0)
    found = at_rest.aim((0.0, 0.3), (0.0, 0.3 + angle))
    chord = 2.0 * RADIUS * math.sin(0.5 * angle)
    v = math.sqrt(GM * (2.0 / RADIUS - 4.0 / (2.0 * RADIUS + chord)))
    slow = next(hop for hop in found.hops if hop.name == "minimum speed")
    assert slow.speed == pytest.approx(v, rel=1e-6)
    assert slow.azimuth == pytest.approx(math.radians(90.0), abs=1e-6)
    assert slow.elevation == pytest.approx(0.25 * (math.pi - angle), rel=1e-3)
    assert slow.arrival_speed == pytest.approx(slow.speed, rel=1e-6)
    assert all(hop.miss < 1e-3 for hop in found.hops)


@pytest.mark.validate  # a kernel of its own
def test_the_engine_hits_what_was_aimed_at_on_a_ball_that_turns():
    aimer = Aimer(scenario.loads(ball(hours=5.0)))
    rng = np.random.default_rng(4)
    count = 12
    start = np.stack([np.arcsin(rng.uniform(-1, 1, count)), rng.uniform(-3, 3, count)], -1)
    target = np.stack([np.arcsin(rng.uniform(-1, 1, count)), rng.uniform(-3, 3, count)], -1)
    found = aimer.aim_many(start, target)
    hit = [one.hops[0] for one in found if one.hops]
    # On a ball nothing is in between; only the speed can be too high.
    assert all("cm/s" in one.reason for one in found if not one.hops)
    assert len(hit) >= 8
    assert max(hop.miss for hop in hit) < 1e-3
    # The shot itself is right to the engine's own tolerance (1e-9 a step): most need no correction.
    assert np.median([hop.corrections for hop in hit]) == 0


def test_the_ellipse_holds_as_many_first_impacts_as_a_normal_law(at_rest):
    found = at_rest.aim((0.4, 0.0), (0.6, 0.3))
    hop = next(hop for hop in found.hops if hop.name == "steep")
    sigma = np.array([0.004 * hop.speed, math.radians(0.4), math.radians(0.4)])
    count = 3000
    throws = np.array(hop.throw) + np.random.default_rng(8).normal(size=(count, 3)) * sigma
    place = np.tile(found.place, (count, 1))
    impacts, _ = first_impacts(at_rest.stand, place, throws, np.full(count, hop.time))
    off = hop.ellipse(sigma).deviations(impacts)
    for deviations, share in ((1.0, WITHIN_1), (2.0, WITHIN_2)):
        spread = math.sqrt(share * (1.0 - share) / count)
        assert (off <= deviations).mean() == pytest.approx(share, abs=4.0 * spread)
