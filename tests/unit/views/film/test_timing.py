"""Which times a film shows."""

import numpy as np
import pytest
from tests.unit.views.film.conftest import track

from alight.views.film.timing import timing


def test_even_times_without_slow_motion(playback):
    found = timing(playback(), 41, 8.0, 0.0, 0.0, 40.0)
    assert found.time == pytest.approx(np.linspace(0.0, 40.0, 41))
    assert found.rate == pytest.approx(5.0)


def test_times_rise_from_the_first_to_the_last(playback):
    found = timing(playback(), 500, 10.0, 0.6, 0.0, 40.0)
    assert found.time[[0, -1]] == pytest.approx([0.0, 40.0])
    assert (np.diff(found.time) > 0.0).all()


def test_rate_is_the_slope_of_the_times_and_least_at_the_contact(playback):
    found = timing(playback(), 20_001, 10.0, 0.5, 0.0, 40.0)
    slope = np.gradient(found.time, 10.0 / 20_000)
    # Second-order differences of frames that are 1/2000 of the film apart.
    assert slope[5:-5] == pytest.approx(found.rate[5:-5], rel=5e-3)
    assert found.time[np.argmin(found.rate)] == pytest.approx(10.0, abs=0.05)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.8])
def test_share_of_the_film_that_is_spent_around_a_contact(playback, share):
    """Within 3 half-widths of a lone contact: tanh(3) of the share, and its part of the rest."""
    count, end = 40_001, 40.0
    found = timing(playback(), count, 10.0, share, 0.0, end)
    half = 0.04 * end  # the bound: 12 sizes at 0.5 m/s would take longer
    near = (np.abs(found.time - 10.0) < 3.0 * half).mean()
    expected = share * np.tanh(3.0) + (1.0 - share) * 6.0 * half / end
    assert near == pytest.approx(expected, rel=2e-3)


def test_no_contact_no_slow_motion(playback):
    still = track()
    bare = type(still)(**{**still.__dict__, "contacts": still.contacts.none()})
    found = timing(playback(tracks=[bare]), 11, 1.0, 0.9, 0.0, 40.0)
    assert found.time == pytest.approx(np.linspace(0.0, 40.0, 11))
