"""Kepler's ellipse on the host is that of the kernels; poles and dates as the IAU counts them."""

import datetime as dt

import mpmath as mp
import numpy as np
import pytest

from alight import flight
from alight.analysis import sun
from alight.core import frames, orbits
from alight.core.constants import AU, DAY, GM_SUN
from alight.core.errors import InputError


@pytest.mark.parametrize("e", [0.0, 0.2, 0.64, 0.99])
def test_keplers_equation_against_many_digits(e):
    mean = np.linspace(-3.1, 3.1, 9)
    with mp.workdps(40):
        exact = [
            float(mp.findroot(lambda E, M=M: E - mp.mpf(e) * mp.sin(E) - mp.mpf(M), M + e * M / 9))
            for M in mean.tolist()
        ]
    np.testing.assert_allclose(
        orbits.eccentric_anomalies(mean, e), exact, rtol=4e-15 / (1 - e), atol=1e-20
    )


def test_the_host_evaluates_what_kernels_do():
    """The Sun of an analysis and the Sun that pushes a lander are one, to the last bits."""
    elements = (1.19 * AU, 0.19, 0.1, 4.4, 3.7)
    apparent = flight.apparent_sun(*elements, mean_anomaly=0.5)
    times = np.linspace(0.0, 3.0 * apparent.period, 50)
    mean = 0.5 + np.sqrt(GM_SUN / elements[0] ** 3) * times
    seen = apparent.evaluate(times, device="cpu")
    # A mean anomaly of 20 rad is rounded to 2e-15 here; the kernel's clock keeps turns apart.
    np.testing.assert_allclose(seen, -sun.heliocentric_position(*elements, mean), atol=1e-14 * AU)


def test_one_pole():
    """By angles and by direction; straight up it has no node, and any will do."""
    ra, dec = np.radians([96.4, -66.4])
    pole = frames.direction(dec, ra)
    one, two = orbits.pole_attitude(ra, dec), sun.pole_attitude(3.0 * pole)
    np.testing.assert_allclose(one * np.sign(one[3]), two * np.sign(two[3]), atol=1e-15)
    upright = frames.quat_rotate(sun.pole_attitude((0.0, 0.0, 2.0)), [0.0, 0.0, 1.0])
    np.testing.assert_allclose(upright, [0.0, 0.0, 1.0], atol=1e-15)
    with pytest.raises(InputError, match="ra"):
        orbits.pole_attitude(np.nan, 0.0)
    with pytest.raises(InputError, match="zero"):
        sun.pole_attitude((0.0, 0.0, 0.0))


def test_mean_anomaly_at_a_date():
    year = 2.0 * np.pi * np.sqrt(AU**3 / GM_SUN)
    later = dt.datetime(2000, 1, 1, 12) + dt.timedelta(seconds=0.25 * year)
    found = orbits.mean_anomaly_at(later, "2000-01-01T12:00:00", AU, 1.0)
    assert found == pytest.approx(1.0 + 0.5 * np.pi, rel=1e-12)
    assert orbits.seconds_since_j2000("2000-01-03T12:00:00") == 2.0 * DAY


def test_shapes_and_mistakes():
    assert orbits.eccentric_anomalies(np.zeros((2, 0, 3)), 0.1).shape == (2, 0, 3)
    assert orbits.ellipse_places([1, 0, 0], [0, 1, 0], 0.0, np.zeros((2, 3))).shape == (2, 3, 3)
    with pytest.raises(InputError, match=r"0 to 0\.99"):
        orbits.eccentric_anomalies(0.0, 0.995)
    with pytest.raises(InputError, match="finite"):
        orbits.eccentric_anomalies(np.nan, 0.1)
