"""Sun, horizon and day: closed forms on a sphere, a crater, and rays as a second opinion."""

import datetime as dt

import numpy as np
import pytest

from alight.analysis import illumination as il
from alight.analysis import sun
from alight.core import frames, orbits
from alight.core.constants import AU, DAY, OBLIQUITY
from alight.core.errors import InputError
from alight.scenario import bodies
from alight.shapes import Mesh, icosphere
from alight.shapes.rays import first_hit

RADIUS, PERIOD = 450.0, 27_000.0
UPRIGHT = (0.0, 0.0, 0.0, 1.0)


@pytest.fixture(scope="module")
def ball():
    return icosphere(4, RADIUS)


# -- the Sun -----------------------------------------------------------------------------------


@pytest.mark.parametrize("e", [0.0, 0.2, 0.9, 0.99])
def test_keplers_equation(e):
    mean = np.linspace(-10.0, 10.0, 1001)
    E = orbits.eccentric_anomalies(mean, e)
    left = np.remainder(E - e * np.sin(E) - mean + np.pi, 2 * np.pi) - np.pi
    np.testing.assert_allclose(left, 0.0, atol=1e-14)


def test_orbit_is_the_ellipse_of_its_elements():
    a, e, tilt, node, peri = 1.2 * AU, 0.3, 0.2, 1.0, 2.0
    place = sun.heliocentric_position(a, e, tilt, node, peri, np.linspace(0, 2 * np.pi, 100))
    nearest = sun.heliocentric_position(a, e, tilt, node, peri, 0.0)
    assert np.linalg.norm(nearest) == pytest.approx(a * (1 - e), rel=1e-13)
    ce, se = np.cos(OBLIQUITY), np.sin(OBLIQUITY)
    ecliptic = place @ np.array([[1, 0, 0], [0, ce, se], [0, -se, ce]]).T
    normal = np.array([np.sin(tilt) * np.sin(node), -np.sin(tilt) * np.cos(node), np.cos(tilt)])
    np.testing.assert_allclose(ecliptic @ normal, 0.0, atol=1e-10 * a)
    # Distances to the Sun and to the empty focus add up to 2 a.
    other = -2.0 * e * a * nearest / np.linalg.norm(nearest)
    sums = np.linalg.norm(place, axis=1) + np.linalg.norm(place - other, axis=1)
    np.testing.assert_allclose(sums, 2.0 * a, rtol=1e-12)


def test_the_earths_sun_at_equinox_and_solstice():
    """Osculating elements of the Earth-Moon barycentre at J2000 (Standish, JPL)."""
    e, peri, longitude = 0.01671123, np.radians(102.93768193), np.radians(100.46457166)
    elements = (1.00000261 * AU, e, 0.0, 0.0, peri, longitude - peri)

    def at(date):
        return sun.sun_direction(date, "2000-01-01T12:00:00", *elements)

    # 2018-03-20 16:15 and 2018-06-21 10:07 UTC; precession over 18 years is 0.25 degrees of
    # ecliptic longitude, which J2000 axes do not follow.
    assert np.degrees(np.arctan2(*at("2018-03-20T16:15:00")[[1, 0]])) == pytest.approx(0, abs=0.3)
    assert np.degrees(np.arcsin(at("2018-06-21T10:07:00")[2])) == pytest.approx(23.44, abs=0.01)


def test_dates():
    assert sun.seconds_since_j2000("2000-01-02T12:00:00") == DAY
    assert sun.seconds_since_j2000("2000-01-01T14:00:00+02:00") == 0.0
    assert sun.seconds_since_j2000(dt.datetime(2000, 1, 1, 12)) == 0.0
    with pytest.raises(InputError, match="is no date"):
        sun.seconds_since_j2000("yesterday")
    with pytest.raises(InputError, match=r"from 0 to 0\.99"):
        orbits.eccentric_anomalies(1.0, 1.0)


def test_a_pole_sees_the_sun_at_its_latitude_all_turn_long():
    ryugu = bodies.find("ryugu")
    toward = sun.toward_sun((-1.0e11, 0.4e11, 0.2e11))
    path = sun.sun_over_rotation(toward, sun.pole_attitude(ryugu.pole.direction), 24)
    latitude, longitude = frames.latitude_longitude(path)
    expected = sun.subsolar_latitude(toward, ryugu.pole.direction)
    np.testing.assert_allclose(latitude, expected, rtol=1e-12)
    # A body that turns eastwards sees the Sun go west.
    steps = np.remainder(np.diff(longitude) + np.pi, 2 * np.pi) - np.pi
    np.testing.assert_allclose(steps, -2 * np.pi / 24, rtol=1e-10)


# -- a sphere ----------------------------------------------------------------------------------


@pytest.mark.parametrize("declination", [0.0, 20.0, -50.0])
def test_day_on_a_sphere(ball, declination):
    """cos(half the day) = -tan(latitude) tan(declination); beyond +-1 no rise or no set."""
    latitude = np.radians([0.0, 35.0, -60.0, 85.0, -85.0])
    up = frames.direction(latitude, np.linspace(0.0, 4.0, 5))
    path = sun.sun_over_rotation(frames.direction(np.radians(declination), 1.0), UPRIGHT, 180)
    found = il.illumination(ball, RADIUS * up, path, PERIOD, normals=up)
    cosine = -np.tan(latitude) * np.tan(np.radians(declination))
    day = np.arccos(np.clip(cosine, -1.0, 1.0)) / np.pi
    # Bisection ends at 1/180/2^10 of a turn at each end; chords for arcs add (2 deg)^2/8.
    np.testing.assert_allclose(found.day_fraction, day, atol=2e-4)
    for got, span in ((found.longest_night, 1.0 - day), (found.longest_day, day)):
        expected = np.where(span == 1.0, np.inf, span * PERIOD)
        np.testing.assert_allclose(got, expected, atol=2e-4 * PERIOD)


def test_equator_at_equinox_and_polar_night(ball):
    places = RADIUS * frames.direction([0.0, -np.pi / 2 + 0.1], [0.7, 0.0])
    even = sun.sun_over_rotation((1.0, 0.0, 0.0), UPRIGHT)
    found = il.illumination(ball, places[:1], even, PERIOD)
    assert found.day_fraction[0] == pytest.approx(0.5, abs=1e-4)
    assert found.longest_night[0] == pytest.approx(0.5 * PERIOD, rel=1e-4)
    assert found.mean_cosine[0] == pytest.approx(1.0 / np.pi, rel=1e-3)
    north = sun.sun_over_rotation(frames.direction(0.3, 0.0), UPRIGHT)
    night = il.illumination(ball, places[1:], north, PERIOD)
    assert night.day_fraction[0] == 0.0
    assert np.isinf(night.longest_night[0])
    assert night.longest_day[0] == 0.0


def test_smooth_normals_of_a_sphere(ball):
    up = frames.direction(np.linspace(-1.4, 1.4, 50), np.linspace(-3, 3, 50))
    found = il.ground_normals(ball, RADIUS * up)
    # Facets are 4 degrees wide: flat normals would be off by up to 2.6 degrees.
    assert np.degrees(np.arccos((found * up).sum(axis=1).clip(-1, 1))).max() < 0.3


def test_eyes_stand_on_the_smooth_ground_from_either_side(ball):
    up = frames.direction(np.linspace(-1.4, 1.4, 50), np.linspace(-3, 3, 50))
    found = il.eyes(ball, (RADIUS + 2.0) * up, height=0.5)
    np.testing.assert_allclose(found, il.eyes(ball, (RADIUS - 5.0) * up, height=0.5), atol=0.1)
    # Facets reach 0.5 m below the sphere, and corners are on it.
    height = np.linalg.norm(found, axis=1) - RADIUS
    assert np.all((height > 0.0) & (height < 0.52))


def test_a_place_off_the_body_is_refused(ball):
    with pytest.raises(InputError, match="1 of 1 places see no facet"):
        il.eyes(icosphere(0, RADIUS), [[1e4, 4e3, 0.0]])


# -- horizons ----------------------------------------------------------------------------------


def test_horizon_dips_with_height(ball):
    eye = np.array([0.0, 0.0, 1.5 * RADIUS])
    found = il.horizon(ball, eye, eye)
    # The outermost vertices are on the sphere, edges between them within its chords.
    assert np.all(found.body <= -np.arccos(1 / 1.5) + 1e-9)
    np.testing.assert_allclose(found.body, -np.arccos(1 / 1.5), atol=np.radians(0.3))
    np.testing.assert_allclose(found.elevation, 0.0, atol=1e-12)


def test_tilted_ground_hides_what_is_uphill(ball):
    eye = np.array([RADIUS * 1.01, 0.0, 0.0])
    tilt = 0.2  # ground that rises to the east: its normal leans west
    normal = np.array([np.cos(tilt), -np.sin(tilt), 0.0])
    found = il.horizon(ball, eye, eye, normal, azimuths=4)
    assert found.elevation[[0, 1, 2]] == pytest.approx([0.0, tilt, 0.0], abs=1e-12)
    assert found.elevation[3] == max(found.body[3], -tilt)


@pytest.fixture(scope="module")
def crater():
    """A ball with a flat-floored hole, 20 degrees about the x axis, 60 m deep."""
    ball = icosphere(4, RADIUS)
    inside = ball.vertices[:, 0] > RADIUS * np.cos(np.radians(20.0))
    return Mesh(
        np.where(inside[:, None], ball.vertices * (1 - 60.0 / RADIUS), ball.vertices), ball.faces
    )


def test_crater_wall_makes_the_horizon(crater):
    floor = np.array([[RADIUS - 60.0, 0.0, 0.0]])
    up = np.array([[1.0, 0.0, 0.0]])
    eye = il.eyes(crater, floor)[0]
    found = il.horizon(crater, eye, up[0], azimuths=36)
    # The rim is the first ring of vertices beyond 20 degrees; edges are 4.7 degrees at most.
    nearest, farthest = (
        np.arctan2(RADIUS * np.cos(a) - eye[0], RADIUS * np.sin(a))
        for a in np.radians((20.0, 24.7))
    )
    assert np.all(found.body <= nearest)
    assert np.all(found.body >= farthest - np.radians(0.5))
    assert np.degrees(found.body.mean()) > 5.0


def test_horizon_is_where_rays_begin_to_get_through(crater):
    up = frames.direction(0.05, 0.12)
    eye = il.eyes(crater, (RADIUS - 60.0) * up)[0]
    found = il.horizon(crater, eye, up, azimuths=48)
    R_TL = frames.local_frame(up)
    for shift, blocked in ((1e-4, False), (-1e-4, True)):
        el, az = found.body + shift, found.azimuth
        local = np.stack([np.cos(el) * np.sin(az), np.cos(el) * np.cos(az), np.sin(el)], axis=1)
        hit = np.isfinite(first_hit(crater, np.tile(eye, (48, 1)), local @ R_TL.T))
        assert np.all(hit == blocked)


def test_crater_shortens_the_day(crater):
    """At equinox the Sun passes overhead; day lasts from one wall's horizon to the other's."""
    floor, up = np.array([[RADIUS - 60.0, 0.0, 0.0]]), np.array([[1.0, 0.0, 0.0]])
    path = sun.sun_over_rotation((1.0, 0.0, 0.0), UPRIGHT)
    found = il.illumination(crater, floor, path, PERIOD, normals=up)
    skyline = il.horizon(crater, il.eyes(crater, floor)[0], up[0], azimuths=4).body
    expected = 0.5 - (skyline[1] + skyline[3]) / (2 * np.pi)
    assert expected < 0.48
    assert found.day_fraction[0] == pytest.approx(expected, abs=2e-5)
    assert found.longest_night[0] == pytest.approx((1 - expected) * PERIOD, rel=1e-4)


def test_beneath_a_roof_the_zenith_is_hidden(ball):
    inside = il.horizon(ball, (100.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    np.testing.assert_array_equal(inside.body, np.pi / 2)


def test_two_days_in_a_turn_are_told_apart():
    """Three places at once: light at first, dark at first, and no change at all."""
    lit = np.zeros((4, 100), bool)
    lit[[0, 3], 0] = True
    who = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    times = np.array([10.0, 30.0, 50.0, 90.0, 10.0, 30.0, 50.0, 95.0])
    day, night, longest = il._spans(lit, who, times)
    np.testing.assert_array_equal(day, [40.0, 65.0, 0.0, 100.0])
    np.testing.assert_array_equal(night, [40.0, 20.0, np.inf, 0.0])
    np.testing.assert_array_equal(longest, [20.0, 45.0, 0.0, np.inf])
