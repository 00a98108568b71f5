"""Constants against relations they must satisfy."""

import math

import pytest

from alight.core import constants as c


def test_year_of_the_earth_follows_from_the_sun_and_the_unit_of_distance():
    """Kepler: the Gaussian year 2 pi sqrt(AU^3 / GM_sun) is 365.2568983 days."""
    year = 2 * math.pi * math.sqrt(c.AU**3 / c.GM_SUN)
    assert year / c.DAY == pytest.approx(365.2568983, rel=1e-9)


def test_mass_of_the_sun():
    mass = c.GM_SUN / c.G
    assert mass == pytest.approx(1.98841e30, rel=1e-5)


def test_orbit_of_phobos():
    """GM_Mars from the orbit of Phobos (9376 km, 0.31891 d); J2 of Mars shifts it by 3e-4."""
    rate = 2 * math.pi / (0.31891 * c.DAY)
    assert rate**2 * 9.376e6**3 == pytest.approx(c.GM_MARS, rel=2e-3)


def test_light_time_of_the_unit_of_distance():
    seconds = c.AU / c.SPEED_OF_LIGHT
    assert seconds == pytest.approx(499.004784, rel=1e-8)


def test_luminosity_of_the_sun():
    """IAU 2015 B3: nominal luminosity 3.828e26 W."""
    assert 4 * math.pi * c.AU**2 * c.SOLAR_FLUX == pytest.approx(3.828e26, rel=5e-4)
