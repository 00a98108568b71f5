"""Stops in the loop: a run ends with the first step after which one is met, and not before.

A stopped run is the free one cut off: the same lines, to the bit, up to its last. All models here
have the same three kinds of stops, so that they share one kernel, which campaigns use too.
"""

import dataclasses

import numpy as np
import pytest

from alight import contact, engine, flight, motions
from alight.core.outcomes import Ending, Outcome
from alight.engine.fleet import Fleet, kind_of, run_models
from alight.engine.stops import BelowHeight, HitCompanion, InRegion, SpinAbove

NEVER = 1e9
SPUN = Ending(64, "spun", "turned for too long")
#: What a run in free flight and contact is: nothing may fall between two of its lines.
SHORT = motions.Steps(longest=0.5)


def stops(height=-NEVER, pond=(NEVER, 0.0, 0.0), rate=NEVER, hold=1.0, spun=SPUN):
    """The three; none is ever met unless told otherwise."""
    return (
        BelowHeight(height),
        InRegion(contact.Ball(pond, 0.5)),
        SpinAbove(rate, hold=hold, when="flight", ending=spun),
    )


@pytest.fixture(scope="module")
def free(world):
    return world(steps=SHORT)


@pytest.fixture(scope="module")
def stopped(free):
    """``stopped(**numbers)``: the same lander with stops."""
    return lambda **numbers: dataclasses.replace(free, stops=stops(**numbers))


def follow(model, rate=(0.3, -0.2, 0.1)):
    """A lander that falls 0.8 m while it turns, and bounces along."""
    release = motions.Release((0.0, 0.0, 0.8), (0.02, 0.0, 0.0), rate=rate)
    return engine.simulate(model, release, device="cpu")


@pytest.fixture(scope="module")
def course(free):
    return follow(free)


def cut_off(found, course):
    """Whether a course is the first part of another, line by line; the index of its last line."""
    n = len(found.rows)
    assert n < len(course.rows)
    for name in ("t", "x", "v", "q", "w"):
        # The last line alone may differ: the contact is accounted for at the end of a run.
        assert np.array_equal(found.rows[name][: n - 1], course.rows[name][: n - 1]), name
    assert np.array_equal(found.rows["t"], course.rows["t"][:n])
    return n - 1


def test_no_stop_is_no_change(free, stopped, course):
    assert free.loop().judge is None
    assert dataclasses.replace(free, stops=()).loop() == free.loop()
    whole = follow(stopped())
    assert whole.outcome is course.outcome
    for name in whole.rows.dtype.names:
        assert np.array_equal(whole.rows[name], course.rows[name]), name
    for name in whole.events.dtype.names:
        assert np.array_equal(whole.events[name], course.events[name]), name


def test_a_flight_ends_below_a_height(stopped, course):
    found = follow(stopped(height=0.5))
    last = cut_off(found, course)
    assert found.outcome is Outcome.BELOW_HEIGHT
    height = course.position[:, 2]
    assert last == np.flatnonzero(height < 0.5)[0]
    assert not found.in_contact.any()
    assert len(found.events) == 0


def test_a_contact_in_a_region_ends_with_its_run(stopped, course):
    found = follow(stopped(pond=(0.3, 0.0, 0.0)))
    cut_off(found, course)
    assert found.outcome is Outcome.IN_REGION
    first = course.events[0]
    # With the first push: the step in which it falls is the last.
    assert found.time[-2] <= first["start"] <= found.time[-1] <= first["end"]
    assert len(found.events) == 1
    told = found.events[0]
    assert told["start"] == first["start"]
    assert told["energy_out"] != 0.0  # it has been accounted for
    assert found.time[-1] - told["start"] < 0.01


def test_flying_over_a_region_is_no_landing_in_it(stopped, course):
    """Its middle is 0.6 m up: the lander is in it on the way down, and never touches there."""
    over = follow(stopped(pond=(0.0, 0.0, 0.7)))
    assert over.outcome is course.outcome
    assert (np.linalg.norm(course.position - (0.0, 0.0, 0.7), axis=1) < 0.5).any()


def test_what_must_hold_begins_with_the_first_step(stopped, course):
    found = follow(stopped(rate=0.2, hold=3.0))
    last = cut_off(found, course)
    assert found.outcome == 64
    assert str(found.outcome) == "turned for too long"
    since = course.time[1]  # the first step after which it was asked
    assert found.time[-1] - since >= 3.0 > course.time[last - 1] - since


def test_a_hold_is_broken_by_contact(stopped, course):
    """It flies for longer than that in all, but in no single arc."""
    touches = course.events
    arcs = np.diff([0.0, *touches["start"]]) - [0.0, *(touches["end"] - touches["start"])[:-1]]
    hold = arcs.max() + 1.0
    assert hold < arcs.sum()
    assert follow(stopped(rate=0.0, hold=hold)).outcome is course.outcome
    second = np.sort(arcs)[-2] + 1.0
    if second < arcs.max() - 1.0:
        assert follow(stopped(rate=0.0, hold=second)).outcome == SPUN


@pytest.mark.validate
def test_a_companion_is_where_its_orbit_says(free):
    """Over a target that turns, so that its attitude matters."""
    turning = flight.UniformRotation(2e-3, axis=(0.1, 0.2, 1.0))
    orbit = flight.Orbit(3.0, eccentricity=0.2, period=150.0)
    model = dataclasses.replace(free, rotation=turning)
    course = follow(model)
    away = np.linalg.norm(course.position - orbit.evaluate(course.time, turning, "cpu"), axis=1)
    near = 0.5 * (away[0] + away.min())
    found = follow(dataclasses.replace(model, stops=(HitCompanion(near, orbit),)))
    assert found.outcome is Outcome.HIT_COMPANION
    assert cut_off(found, course) == np.flatnonzero(away[1:] < near)[0] + 1


def test_the_first_that_is_met_ends_the_run(stopped):
    assert follow(stopped(height=0.5, rate=0.2)).outcome == SPUN
    landed = follow(stopped(pond=(0.3, 0.0, 0.0)))
    # Both in the step of the first push: then in the order of the stops.
    height = landed.position[-2:, 2].mean()
    both = follow(stopped(height=height, pond=(0.3, 0.0, 0.0)))
    assert both.outcome is Outcome.BELOW_HEIGHT
    assert both.time[-1] == landed.time[-1]


NUMBERS = {"height": 0.15, "pond": (0.1, 0.0, 0.0), "rate": 0.3, "hold": 4.0}


@pytest.mark.parametrize("slots", [1, 3])
def test_slots_and_neighbours_change_nothing(stopped, tumbled, slots):
    """What a stop remembers belongs to a run, not to its slot."""
    model, release = stopped(**NUMBERS), tumbled(12)
    whole = engine.run_batch(model, release, device="cpu")
    assert len(whole.count()) > 2
    cut = engine.Batch(model, release, device="cpu", slots=slots, threads=1).run()
    alone = [engine.run_batch(model, release[i], device="cpu") for i in range(len(release))]
    for name in ("t", "x", "v", "q", "w", "outcome", "touches", "energy"):
        assert whole.final[name].tobytes() == cut.final[name].tobytes(), name
        assert whole.final[name].tobytes() == b"".join(a.final[name].tobytes() for a in alone), name


def test_models_with_other_numbers_share_a_batch(stopped, free, tumbled):
    other = Ending(65, "turned", "turned fast")
    models = [stopped(**NUMBERS), stopped(height=0.3, hold=2.0, rate=0.1, spun=other)]
    assert kind_of(models[0]) == kind_of(models[1]) != kind_of(free)
    releases = [tumbled(12), tumbled(5, seed=1)]
    ((numbers, whole, each),) = run_models(models, releases, device="cpu")
    assert numbers == [0, 1]
    assert {64, 65} <= set(map(int, whole.count()))
    for model, release, part in zip(models, releases, each, strict=True):
        alone = engine.run_batch(model, release, device="cpu")
        for name in ("t", "x", "w", "outcome", "touches"):
            assert alone.final[name].tobytes() == part.final[name].tobytes(), name
        assert part.endings == model.endings
    fleet = Fleet(models, [np.arange(12), np.arange(12, 17)])
    assert {int(e): e.name for e in fleet.endings.values()} == {64: "spun", 65: "turned"}


def test_another_kind_of_stop_is_another_kernel(free, stopped):
    three = stopped()
    assert three.loop() == stopped(height=1.0, hold=9.0).loop()
    for changed in (
        three.stops[:2],
        three.stops[::-1],
        (*three.stops[:2], SpinAbove(1.0, when="flight", ending=SPUN)),
        (BelowHeight(1.0, when="contact"), *three.stops[1:]),
    ):
        other = dataclasses.replace(free, stops=changed).loop()
        assert other != three.loop()
        assert hash(other) != hash(three.loop())


def test_endings_are_counted_by_name(stopped, tumbled, capsys):
    model = stopped(**NUMBERS)
    assert model.endings == {64: SPUN}
    result = engine.run_batch(model, tumbled(12), device="cpu", show="text")
    found = {end.name: n for end, n in result.count().items()}
    assert sum(found.values()) == 12
    told = capsys.readouterr()
    assert f"spun {found['spun']}" in told.err + told.out or f"spun={found['spun']}" in (
        told.err + told.out
    )
    assert "failed" not in told.err + told.out
