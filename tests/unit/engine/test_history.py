"""Histories of long runs: bounded at any time, thinned by number alone, contacts kept."""

import numpy as np
import pytest

from alight import engine
from alight.core.errors import InputError
from alight.engine import history
from alight.engine.history import FEWEST, History


def fed(most, phases, portion):
    """What is kept of lines 0, 1, 2, ... that come in portions; the bound holds after each."""
    made, numbers = History(most), np.arange(len(phases))
    for i in range(0, len(phases), portion):
        made.add(numbers[i : i + portion], phases[i : i + portion])
        assert sum(len(part) for part in made.parts) <= most
    return np.concatenate(made.parts), made.thinning(releases=0)


def bouncing(lines, contact, flight):
    """Phases of a lander that is in contact for so many lines, and flies for so many."""
    return (np.arange(lines) % (contact + flight) >= flight).astype(np.int32)


def edges(phases):
    change = np.flatnonzero(np.diff(phases)) + 1
    return np.union1d(change, change - 1)


def test_what_fits_is_kept_whole():
    phases = bouncing(900, 3, 30)
    kept, thinning = fed(1200, phases, 64)
    assert np.array_equal(kept, np.arange(900))
    assert (thinning.steps, thinning.every, thinning.contacts) == (900, 1, 1)


@pytest.mark.parametrize("contact", [1, 2, 7, 400])
@pytest.mark.parametrize("most", [400, 1000])
def test_first_last_and_every_contact_are_kept(most, contact):
    phases = bouncing(20_000, contact, 900)
    kept, thinning = fed(most, phases, 333)
    assert thinning.every > 1
    assert thinning.contacts == 1
    assert np.all(np.diff(kept) > 0)
    wanted = np.union1d(np.arange(0, 20_000, thinning.every), edges(phases))
    assert np.array_equal(kept, np.union1d(wanted, [19_999]))
    assert len(kept) > most // 4


@pytest.mark.parametrize("most", [FEWEST, 100, 1000])
def test_ceaseless_chatter_is_bounded_too(most):
    """A change of phase after each line: contacts are thinned as well, evenly."""
    kept, thinning = fed(most, bouncing(30_000, 1, 1), 500)
    assert thinning.contacts > 1
    assert {0, 29_999} <= set(kept.tolist())
    assert np.diff(kept).max() <= thinning.every
    assert "one contact in" in str(thinning)


@pytest.mark.parametrize("phases", [bouncing(9_000, 5, 60), bouncing(9_000, 1, 1)])
def test_portions_do_not_matter(phases):
    whole, thinning = fed(300, phases, 9_000)
    for portion in (1, 7, 4096):
        other, also = fed(300, phases, portion)
        assert np.array_equal(other, whole)
        assert also == thinning


def test_nothing_at_all():
    assert History(100).parts == []


# -- of runs --------------------------------------------------------------------------------------


def test_a_run_in_few_lines(world, tumbled):
    """The same run: its end, its contacts and all that is kept are those of the whole one."""
    model, release = world(max_time=120.0), tumbled(1)
    whole = engine.simulate(model, release)
    thin = engine.simulate(model, release, max_lines=100)
    assert whole.thinning.every == 1
    assert thin.thinning.every > 1
    assert len(thin.rows) <= 100 < len(whole.rows)
    assert thin.steps == whole.steps == len(whole.rows) - 1
    assert np.array_equal(thin.events, whole.events)
    place = np.searchsorted(whole.time, thin.time)
    for name in ("time", "position", "velocity", "attitude", "normal_force", "in_contact"):
        assert np.array_equal(getattr(thin, name), getattr(whole, name)[place]), name
    assert place[0] == 0
    assert place[-1] == len(whole.rows) - 1
    change = np.flatnonzero(np.diff(whole.in_contact)) + 1
    if thin.thinning.contacts == 1:
        assert set(change) | set(change - 1) <= set(place.tolist())
    assert f"{whole.steps} steps (kept: one in {thin.thinning.every}, and" in str(thin)
    assert "kept" not in str(whole)
    assert np.array_equal(thin.energy.total, whole.energy.total[place])


def test_sampling_between_lines_that_are_far_apart(world, tumbled):
    """Flight is sampled as well as before: a cubic is exact in uniform gravity."""
    model, release = world(max_time=120.0), tumbled(1)
    whole, thin = (engine.simulate(model, release, max_lines=n) for n in (10_000, 200))
    first = whole.events["start"][0]
    times = np.linspace(0.0, 0.99 * first, 50)
    (x, q), (x_thin, q_thin) = whole.sample(times), thin.sample(times)
    np.testing.assert_allclose(x_thin, x, rtol=0, atol=1e-9 * np.abs(x).max())
    np.testing.assert_allclose(np.abs((q * q_thin).sum(axis=1)), 1.0, rtol=1e-9)


def test_the_limit_is_checked(world, tumbled):
    for most in (FEWEST - 1, 0, 2.5):
        with pytest.raises(InputError, match="max_lines"):
            engine.simulate(world(), tumbled(1), max_lines=most)
    assert len(engine.simulate(world(), tumbled(1), max_lines=FEWEST).rows) <= FEWEST


def test_there_is_a_limit_where_none_is_asked_for(world, tumbled, monkeypatch):
    monkeypatch.setattr(history, "MAX_LINES", 64)
    assert len(engine.simulate(world(), tumbled(1)).rows) <= 64
