"""The Sun by SPICE equals that by orbit and pole, from kernels that the test writes itself."""

import sys

import numpy as np
import pytest

from alight.analysis import spice, sun
from alight.cli.report_sun import sun_of
from alight.core.constants import AU, GM_SUN
from alight.core.errors import FileError, InputError, MissingExtraError

ROCK, DATE, PERIOD = 2999999, "2018-09-21T04:06:00", 27_477.0
ELEMENTS = (1.19 * AU, 0.19, 0.1, 4.4, 3.7)
POLE = np.radians([96.4, -66.4])

# The leap seconds of 2017, and a body with a pole and a frame of its own.
LEAP = r"""KPL/LSK
\begindata
DELTET/DELTA_T_A = 32.184
DELTET/K = 1.657D-3
DELTET/EB = 1.671D-2
DELTET/M = ( 6.239996D0 1.99096871D-7 )
DELTET/DELTA_AT = ( 37, @2017-JAN-1 )
\begintext
"""
BODY = rf"""KPL/FK
\begindata
NAIF_BODY_NAME += ( 'ROCK' )
NAIF_BODY_CODE += ( {ROCK} )
FRAME_ROCK_FIXED = 1499999
FRAME_1499999_NAME = 'ROCK_FIXED'
FRAME_1499999_CLASS = 2
FRAME_1499999_CLASS_ID = {ROCK}
FRAME_1499999_CENTER = {ROCK}
BODY{ROCK}_POLE_RA = ( {np.degrees(POLE[0])} 0 0 )
BODY{ROCK}_POLE_DEC = ( {np.degrees(POLE[1])} 0 0 )
BODY{ROCK}_PM = ( 0 {360.0 * 86400.0 / PERIOD:.15f} 0 )
\begintext
"""


def _mean_anomaly(t):
    return 0.5 + np.sqrt(GM_SUN / ELEMENTS[0] ** 3) * t


@pytest.fixture
def kernels(tmp_path):
    """An orbit about the Sun (SPK type 5), leap seconds, pole and frame."""
    api = pytest.importorskip("spiceypy", reason="needs the package spiceypy")
    middle = sun.seconds_since_j2000(DATE)
    times = middle + np.linspace(-1e5, 1e5, 9)
    states = []
    for t in times:
        low, at, high = (
            sun.heliocentric_position(*ELEMENTS, _mean_anomaly(t + h)) for h in (-100.0, 0.0, 100.0)
        )
        states.append(np.concatenate([at, (high - low) / 200.0]) / 1000.0)
    handle = api.spkopn(str(tmp_path / "orbit.bsp"), "orbit", 0)
    span = times[0], times[-1]
    api.spkw05(handle, ROCK, 10, "J2000", *span, "orbit", GM_SUN * 1e-9, 9, np.array(states), times)
    api.spkcls(handle)
    (tmp_path / "leap.tls").write_text(LEAP)
    (tmp_path / "body.tf").write_text(BODY)
    return [tmp_path / name for name in ("orbit.bsp", "leap.tls", "body.tf")]


def test_the_same_sun(kernels):
    found = spice.sun_direction(kernels, "ROCK", DATE)
    place = sun.heliocentric_position(*ELEMENTS, _mean_anomaly(sun.seconds_since_j2000(DATE)))
    # UTC for TDB is 69 s, in which a body at 1 AU goes 1.5e-5 rad.
    np.testing.assert_allclose(found, sun.toward_sun(place), atol=2.5e-5)


def test_the_same_turn(kernels):
    pole = np.array([*(np.cos(POLE[1]) * f(POLE[0]) for f in (np.cos, np.sin)), np.sin(POLE[1])])
    found = spice.sun_over_rotation(kernels, "ROCK", "ROCK_FIXED", DATE, PERIOD, 36)
    toward = spice.sun_direction(kernels, "ROCK", DATE)
    expected = sun.sun_over_rotation(toward, sun.pole_attitude(pole), 36)
    # The meridian is at W = 0 at J2000 and the body has turned since; the Sun's latitude and the
    # way it goes are the same. The body moves 0.006 rad along its orbit in the turn.
    np.testing.assert_allclose(found[:, 2], expected[:, 2], atol=0.007)
    longitude, other = (np.unwrap(np.arctan2(x[:, 1], x[:, 0])) for x in (found, expected))
    np.testing.assert_allclose(longitude - longitude[0], other - other[0], atol=0.02)


def test_errors_say_what_is_missing(kernels):
    with pytest.raises(InputError, match="NOBODY"):
        spice.sun_direction(kernels, "NOBODY", DATE)
    with pytest.raises(InputError, match="Kernels given: none"):
        spice.sun_direction([], "ROCK", DATE)
    with pytest.raises(FileError, match="no SPICE kernel"):
        spice.sun_direction(["absent.bsp"], "ROCK", DATE)


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "spiceypy", None)
    with pytest.raises(MissingExtraError, match=r"alight\[spice\]"):
        spice.sun_direction([], "ROCK", DATE)


def test_a_report_takes_kernels(kernels):
    """In the body's axes of SPICE, or with its direction alone and the scenario's pole."""
    given = {"date": DATE, "spice": [str(k) for k in kernels], "spice_target": "ROCK"}
    table = {
        "body": {
            "gm": "30 m^3/s^2",
            "rotation": {"period": f"{PERIOD} s", "pole": ["96.4 deg", "-66.4 deg"]},
        },
        "gravity": {"law": "point-mass"},
        "ground": {"kind": "sphere", "radius": "450 m"},
        "lander": {"name": "mascot"},
        "release": {"latitude": "0 deg", "longitude": "0 deg", "height": "5 m"},
        "contact": {"restitution": 0.5, "friction": 0.5},
    }
    axes = {**given, "spice_frame": "ROCK_FIXED"}
    one, two = (sun_of({**table, "environment": {"sun": s}}) for s in (axes, given))
    assert "in the axes ROCK_FIXED" in one.source
    assert "the pole from the scenario" in two.source
    assert one.span == two.span == PERIOD
    # The body moves 0.006 rad along its orbit in the turn, which the direction alone leaves out.
    np.testing.assert_allclose(one.directions[:, 2], two.directions[:, 2], atol=0.007)
    wrong = sun_of({**table, "environment": {"sun": {**axes, "spice_frame": "NOWHERE"}}})
    assert "NOWHERE" in wrong
