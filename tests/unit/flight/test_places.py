"""Orbits solve Kepler's equation and point where their elements say; axes of the sky."""

import mpmath as mp
import numpy as np
import pytest

from alight.core import frames
from alight.core.constants import AU, GM_SUN
from alight.core.errors import InputError
from alight.flight import (
    Fixed,
    FixedInTarget,
    Orbit,
    UniformRotation,
    apparent_sun,
    ecliptic_to_equatorial,
    pole_attitude,
)


@pytest.mark.parametrize("e", [0.0, 0.2, 0.6, 0.9, 0.99])
def test_kepler(e, device):
    """Read E off the position; M = E - e sin E must come back at every time."""
    orbit = Orbit(2.0, e, mean_anomaly=0.3, period=5.0)
    near = np.logspace(-9, -1, 200) - 0.3 / (2 * np.pi)
    share = np.concatenate([np.linspace(-0.5, 1.5, 5001), near, -near])
    x, y, z = orbit.evaluate(5.0 * share, device=device).T
    E = np.arctan2(y / (2.0 * np.sqrt(1 - e**2)), x / 2.0 + e)
    miss = E - e * np.sin(E) - (0.3 + 2 * np.pi * share)
    miss -= 2 * np.pi * np.round(miss / (2 * np.pi))
    assert np.abs(miss).max() < 1e-14
    assert np.hypot(x, y) == pytest.approx(2.0 * (1 - e * np.cos(E)), abs=1e-14)
    assert not z.any()


def test_orbit_obeys_newton(device):
    """Second difference of the position: -gm r/r^3, to h^2/12 times the fourth derivative."""
    orbit = Orbit(7e6, 0.3, 0.4, 1.1, 2.2, 0.5, gm=4e14)
    step = orbit.period / 4000
    times = np.linspace(0, orbit.period, 50)
    before, now, after = (orbit.evaluate(times + s, device=device) for s in (-step, 0, step))
    force = -4e14 * now / np.linalg.norm(now, axis=1)[:, None] ** 3
    measured = (before - 2 * now + after) / step**2
    scale = np.linalg.norm(force, axis=1).max()
    assert np.abs(measured - force).max() < 20 * (orbit.mean_motion * step) ** 2 * scale
    assert orbit.nearest() == pytest.approx(7e6 * 0.7)


def test_elements_point_where_they_say():
    # Periapsis of an orbit inclined by 90 degrees, 90 degrees past a node on the y axis: over +z.
    quarter = np.pi / 2
    orbit = Orbit(10.0, 0.5, quarter, quarter, quarter, 0.0, period=1.0)
    assert orbit.evaluate(0.0) == pytest.approx([0.0, 0.0, 5.0], abs=1e-14)
    # At the node (true anomaly -90 degrees) it moves up: slightly later z > 0.
    flat = Orbit(10.0, 0.0, 0.3, quarter, 0.0, 0.0, period=1.0)
    assert flat.evaluate(0.0) == pytest.approx([0.0, 10.0, 0.0], abs=1e-14)
    assert flat.evaluate(0.01)[2] > 0.1


def test_opposite_is_minus():
    orbit = Orbit(10.0, 0.4, 0.3, 0.2, 0.1, 1.0, period=7.0)
    times = np.linspace(0.0, 20.0, 50)
    assert orbit.opposite().evaluate(times) == pytest.approx(-orbit.evaluate(times), abs=1e-13)


def test_late_times_lose_no_digits(device):
    t = 1e8 + 0.125
    place = Orbit(1.0, 0.0, period=3333.3).evaluate(t, device=device)
    with mp.workdps(40):
        angle = 2 * mp.pi * mp.mpf(t) / mp.mpf(3333.3)
        expected = [float(mp.cos(angle)), float(mp.sin(angle)), 0.0]
    assert place == pytest.approx(expected, abs=3e-15)


def test_places_turn_with_the_target(device):
    rotation = UniformRotation(0.1, (0, 0, 1))
    t = np.array([0.0, 5.0])
    seen = Fixed((3.0, 0.0, 1.0)).evaluate(t, rotation, device)
    assert seen[1] == pytest.approx([3 * np.cos(0.5), -3 * np.sin(0.5), 1.0], abs=1e-14)
    assert FixedInTarget((3.0, 0.0, 1.0)).evaluate(t, rotation, device)[1].tolist() == [3, 0, 1]


def test_apparent_sun():
    """The pole of the Sun's apparent orbit is the ecliptic's, tilted; distance and year are right.

    In the ecliptic the node of the Earth-like target is free: its Sun crosses the equator upwards
    (spring) where the target's own longitude is 180 degrees.
    """
    sun = apparent_sun(AU, 0.0, 0.0, 0.0, 0.0, mean_anomaly=np.pi)
    assert sun.evaluate(0.0) == pytest.approx([AU, 0.0, 0.0], abs=1e-4)
    quarter = sun.evaluate(sun.period / 4) / AU
    tilt = np.radians(23.43929)
    assert quarter == pytest.approx([0.0, np.cos(tilt), np.sin(tilt)], abs=1e-7)
    assert sun.period == pytest.approx(2 * np.pi * np.sqrt(AU**3 / GM_SUN))
    assert ecliptic_to_equatorial([0.0, 1.0, 0.0]) == pytest.approx(quarter, abs=1e-12)


def test_pole_attitude():
    ra, dec = np.radians([96.43112, -66.38741])
    R = frames.quat_to_matrix(pole_attitude(ra, dec))
    assert R[:, 2] == pytest.approx(frames.direction(dec, ra), abs=1e-15)
    assert R[:, 0] == pytest.approx([-np.sin(ra), np.cos(ra), 0.0], abs=1e-15)
    assert np.linalg.det(R) == pytest.approx(1.0)
    turned = frames.quat_to_matrix(pole_attitude(ra, dec, w0=0.3))
    assert R.T @ turned[:, 0] == pytest.approx([np.cos(0.3), np.sin(0.3), 0.0], abs=1e-15)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Orbit(0.0, period=1.0), "semi_major"),
        (lambda: Orbit(1.0, 0.995, period=1.0), "0.99"),
        (lambda: Orbit(1.0, -0.1, period=1.0), "eccentricity"),
        (lambda: Orbit(1.0), "either period"),
        (lambda: Orbit(1.0, period=1.0, gm=1.0), "either period"),
        (lambda: Orbit(1.0, gm=-1.0), "gm"),
        (lambda: Orbit(1.0, inclination=np.nan, gm=1.0), "inclination"),
        (lambda: Fixed((0, 0, 0)), "own centre"),
        (lambda: FixedInTarget((0, 0)), "three finite"),
        (lambda: pole_attitude(np.inf, 0.0), "ra"),
        (lambda: Fixed((1, 0, 0)).evaluate(0.0, rotation=7.0), "rotation"),
    ],
)
def test_bad_input(make, words):
    with pytest.raises(InputError, match=words):
        make()
