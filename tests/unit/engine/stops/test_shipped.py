"""Stops as laws: each evaluated alone on scenes, and what is no stop refused."""

import numpy as np
import pytest

from alight import contact, flight
from alight.core import frames
from alight.core.errors import InputError
from alight.core.outcomes import Ending, Outcome
from alight.engine.stops import (
    BelowHeight,
    HitCompanion,
    InRegion,
    OutOfRegion,
    SpinAbove,
    StopLaw,
    scenes,
)
from alight.engine.stops.law import checked_stops

RNG = np.random.default_rng(3)
POINTS = RNG.normal(size=(400, 3)) * 100.0
FIELD = [(0.1, 0.2), (0.1, 0.9), (0.8, 0.7)]  # corners [rad]


def test_heights():
    height = np.array([-1.0, 4.999, 5.0, 7.0, np.nan])
    assert BelowHeight(5.0).evaluate(scenes(height=height)).tolist() == [1, 1, 0, 0, 0]
    assert BelowHeight(-2.0).evaluate(scenes(height=height)).tolist() == [0] * 5


def test_rates():
    w = np.array([[0.3, 0.0, 0.4], [0.3, 0.0, 0.39], [0.0, -0.6, 0.0]])
    assert SpinAbove(0.4999).evaluate(scenes(w=w)).tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("shape", "inside"),
    [
        (
            contact.Ball((30.0, 0.0, 0.0), 60.0),
            lambda x, p: np.hypot.reduce(x - [30, 0, 0], 1) < 60,
        ),
        (contact.Cap(0.3, 0.4, 0.7), lambda x, p: p @ frames.direction(0.3, 0.4) > np.cos(0.7)),
        (contact.Box(-0.5, 0.4, 1.0, 3.0), None),
        (contact.Polygon(FIELD), None),
    ],
)
def test_regions_are_those_of_the_ground(shape, inside):
    """The very test of [[ground.region]], and outside is all the rest."""
    region = contact.Region("pond", shape, friction=0.1)
    law = contact.Regions([region])
    wanted = law.within(POINTS, device="cpu")[:, 0]
    if inside is not None:
        p = POINTS / np.linalg.norm(POINTS, axis=1)[:, None]
        assert (inside(POINTS, p) == wanted).all()
    seen = scenes(x=POINTS)
    assert (InRegion(shape).evaluate(seen) == wanted).all()
    assert (OutOfRegion(shape).evaluate(seen) == ~wanted).all()
    assert 5 < wanted.sum() < 395


def test_a_companion_on_its_orbit_over_a_turning_target():
    """In target axes it is where its law of places says, at each time and attitude."""
    orbit = flight.Orbit(150.0, eccentricity=0.2, period=5e3)
    rotation = flight.UniformRotation(1e-3, axis=(0.1, 0.2, 1.0))
    t = RNG.uniform(0.0, 1e4, len(POINTS))
    place = orbit.evaluate(t, rotation, device="cpu")
    _, _, turn = rotation.evaluate(t, device="cpu")
    away = np.linalg.norm(POINTS - place, axis=1)
    found = HitCompanion(170.0, orbit).evaluate(scenes(x=POINTS, t=t, turn=turn))
    assert (found == (away < 170.0)).all()
    assert 5 < found.sum() < 395
    assert (HitCompanion(170.0, orbit).evaluate(scenes(x=POINTS, t=t)) != found).any()


def test_scenes_are_filled_up_and_checked():
    made = scenes(x=POINTS[:3], t=2.0, touching=1)
    assert (made["t"] == 2.0).all()
    assert (made["q"] == (0, 0, 0, 1)).all()
    assert made["touching"].tolist() == [1, 1, 1]
    assert np.isnan(made["height"]).all()
    assert len(scenes(t=1.0)) == 1
    with pytest.raises(InputError, match=r"unknown field of a scene \"heigth\".*height"):
        scenes(heigth=1.0)
    with pytest.raises(InputError, match=r"\[2, 3\] rows"):
        scenes(x=POINTS[:3], t=[0.0, 1.0])


class Own(BelowHeight):
    """One of one's own."""

    ending = Ending(70, "low", "came low")


def test_what_is_no_stop_is_refused():
    assert checked_stops([Own(1.0), SpinAbove(1.0)])[0].ending == 70
    cases = [
        (["low"], "each must be a law"),
        ([StopLaw()], "has no Data"),
        ([SpinAbove(1.0, ending=64)], "must be an Ending"),
        ([SpinAbove(1.0, ending=Outcome.SANK)], "no failure"),
        ([SpinAbove(1.0, ending=Ending(15, "a", "b"))], "codes below 64"),
        ([SpinAbove(1.0, when="landed")], "when of the stop SpinAbove"),
        ([Own(1.0), SpinAbove(1.0, ending=Ending(70, "fast", "spun"))], "the same code, 70"),
    ]
    for stops, said in cases:
        with pytest.raises(InputError, match=said):
            checked_stops(stops)
    for make, said in [
        (lambda: BelowHeight(np.inf), "height"),
        (lambda: SpinAbove(-1.0), "rate"),
        (lambda: SpinAbove(1.0, hold=-1.0), "hold"),
        (lambda: InRegion("pond"), "must be a contact.Cap"),
        (lambda: HitCompanion(1.0, (0, 0, 1)), "must be a place"),
    ]:
        with pytest.raises(InputError, match=said):
            make()
