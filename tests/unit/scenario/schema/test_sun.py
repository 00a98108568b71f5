"""The Sun of a scenario: dates, orbits, what must be given, and where it then stands."""

import datetime as dt
import pathlib

import numpy as np
import pytest

from alight.core import orbits
from alight.core.constants import AU
from alight.core.errors import InputError
from alight.scenario import ScenarioError, bodies, ephemeris, from_dict, load, loads, prepare
from alight.scenario.document import keys
from alight.scenario.schema.landing import Scenario
from alight.scenario.schema.sun import Date

FOLDER = pathlib.Path(__file__).resolve().parents[4] / "scenarios"
ORBIT = {
    "semi_major_axis": "1.2 AU",
    "eccentricity": 0.2,
    "inclination": "5 deg",
    "node": "250 deg",
    "periapsis": "210 deg",
}


def _with(table, **sun):
    return from_dict({**table, "environment": {"sun": sun}})


def _wrong(table, **sun):
    with pytest.raises(ScenarioError) as caught:
        _with(table, **sun)
    return str(caught.value)


# -- dates -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("2018-10-03T01:57:20", "2018-10-03T01:57:20"),
        ("2018-10-03", "2018-10-03T00:00:00"),
        ("2018-10-03T03:57:20+02:00", "2018-10-03T01:57:20"),
        (dt.date(2018, 10, 3), "2018-10-03T00:00:00"),
        (dt.datetime(2018, 10, 3, 1, tzinfo=dt.UTC), "2018-10-03T01:00:00"),
    ],
)
def test_dates(given, kept):
    assert Date().read(given) == kept


@pytest.mark.parametrize(
    "bad", ["tomorrow", "2018-13-01", 2018, True, "", "9999-12-31T23:00-10:00"]
)
def test_no_dates(bad):
    with pytest.raises(InputError, match="2018-10-03T01:57:20"):
        Date().read(bad)


def test_a_date_of_tomls_own(ryugu):
    text = from_dict(ryugu).to_toml()
    dated = loads(text + "\n[environment.sun]\ndate = 2018-10-03T01:57:20Z\ntide = false\n")
    assert dated.environment.sun.date == "2018-10-03T01:57:20"


# -- the catalogue -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "date", "mean_anomaly"),
    [
        ("ryugu", "2020-05-31", 193.63765),
        ("itokawa", "2019-04-27", 288.88),
        ("bennu", "2019-04-27", 87.641),
        ("didymos", "2012-09-30", 82.933),
        ("geographos", "2016-01-13", 180.473),
        ("castalia", "2016-07-18", 135.31948),
        ("toutatis", "2016-01-13", 281.88),
        ("67p", "2015-10-10", 8.85993),
    ],
)
def test_elements_of_another_epoch(name, date, mean_anomaly):
    """Mean anomalies of JPL's solutions at other epochs: planets account for the difference."""
    orbit = bodies.find(name).orbit
    found = orbits.mean_anomaly_at(date, orbit.epoch, orbit.semi_major_axis, orbit.mean_anomaly)
    off = (np.degrees(found) - mean_anomaly + 180.0) % 360.0 - 180.0
    assert abs(off) < 1.5


@pytest.mark.parametrize(
    ("name", "date", "distance"),
    [
        ("67p", "2014-11-12T15:34:04", 2.99),  # Philae's landing
        ("67p", "2014-08-06", 3.60),  # Rosetta's arrival
        ("dimorphos", "2022-09-26T23:14:00", 1.046),  # DART, from the orbit of Didymos
    ],
)
def test_distance_from_the_sun_on_a_day_that_is_known(ryugu, name, date, distance):
    scenario = _with({**ryugu, "body": {"name": name}}, date=date, tide=False)
    place = ephemeris.sun_place(scenario, scenario.environment.sun)
    assert np.linalg.norm(place.evaluate(0.0)) / AU == pytest.approx(distance, abs=0.006)


def test_a_moon_takes_the_orbit_of_its_asteroid():
    assert bodies.find("dimorphos").solar_orbit is bodies.find("didymos").orbit
    assert bodies.find("phobos").solar_orbit is None


# -- what must be given ------------------------------------------------------------------------


def test_what_does_not_fit(ryugu):
    far = {"direction": [1, 0, 0], "distance": "1 AU"}
    assert "follows from date" in _wrong(ryugu, date="2018-10-03", mean_anomaly="3 deg")
    assert "does not go with direction" in _wrong(ryugu, date="2018-10-03", **far)
    assert "sun.date: is missing" in _wrong(ryugu, spice=["a.bsp"])
    assert "goes with spice only" in _wrong(ryugu, spice_frame="RYUGU_FIXED")
    assert "must be a list" in _wrong(ryugu, date="2018-10-03", spice="a.bsp")
    half = {**ORBIT, "epoch": "2018-01-01"}
    assert "orbit.mean_anomaly: is missing" in _wrong(ryugu, orbit=half)
    assert "eccentricity" in _wrong(ryugu, orbit={**ORBIT, "eccentricity": 1.2})


def test_only_what_pushes_must_stand_somewhere(ryugu, plane):
    phobos = {**ryugu, "body": {"name": "phobos"}}
    assert "not in the catalogue" in _wrong(phobos, date="2018-10-03")
    assert "mean_anomaly and epoch" in _wrong(phobos, date="2018-10-03", orbit=ORBIT)
    castalia = {**ryugu, "body": {"name": "castalia"}}
    assert "pole of Castalia" in _wrong(castalia, date="2018-10-03")
    for table in (phobos, castalia, plane):
        assert _with(table, date="2018-10-03", tide=False).environment.sun.date
    told = {}
    for name, table in (("orbit", phobos), ("pole", castalia)):
        scenario = _with(table, date="2018-10-03", tide=False)
        with pytest.raises(InputError) as caught:
            ephemeris.sun_path(scenario, ephemeris.sun_place(scenario, scenario.environment.sun))
        told[name] = str(caught.value)
    assert "[environment.sun.orbit]" in told["orbit"]
    assert "[body.rotation] pole" in told["pole"]


def test_kernels_are_named_from_the_scenarios_folder(ryugu, tmp_path):
    sun = {"date": "2018-10-03", "tide": False, "spice": ["k/orbit.bsp"]}
    found = from_dict({**ryugu, "environment": {"sun": sun}}, folder=tmp_path).environment.sun
    assert found.spice == ((tmp_path / "k/orbit.bsp").resolve().as_posix(),)
    assert found.spice_target == "RYUGU"


# -- where it stands ---------------------------------------------------------------------------


def test_a_date_is_a_mean_anomaly(ryugu):
    dated = _with(ryugu, date="2018-10-03T01:57:20")
    sun = dated.environment.sun
    assert sun.mean_anomaly is None
    placed = _with(ryugu, mean_anomaly=f"{sun.anomaly!r} rad")
    one, two = (ephemeris.sun_place(s, s.environment.sun).evaluate(1e4) for s in (dated, placed))
    np.testing.assert_array_equal(one, two)


def test_a_sun_for_the_report_pushes_nothing(ryugu, plane):
    bare = prepare(from_dict(ryugu), "cpu").nominal().model
    lit = prepare(_with(ryugu, date="2018-10-03", tide=False), "cpu").nominal().model
    assert lit.externals == bare.externals == ()
    unknown = _with(plane, date="2018-10-03", tide=False)  # nobody knows where it stands
    assert prepare(unknown, "cpu").nominal().model.externals == ()
    assert len(prepare(_with(ryugu, date="2018-10-03"), "cpu").nominal().model.externals) == 1


def test_resolved_and_read_back(ryugu, tmp_path):
    sun = {"date": "2018-10-03", "tide": False, "spice": [str(tmp_path / "a.bsp")], "orbit": ORBIT}
    for given in (sun, {"date": "2018-10-03"}, {}):
        scenario = _with(ryugu, **given)
        again = loads(scenario.to_toml())
        assert again == scenario
        assert again.to_toml() == scenario.to_toml()


def test_the_sun_keeps_its_latitude_over_an_even_turn(ryugu):
    """Subsolar latitude: 90 degrees less the angle between Sun and pole; the Sun goes west."""
    scenario = _with(ryugu, date="2018-10-03T01:57:20", tide=False)
    place = ephemeris.sun_place(scenario, scenario.environment.sun)
    toward = place.evaluate(0.0) / np.linalg.norm(place.evaluate(0.0))
    path = ephemeris.sun_path(scenario, place)
    expected = toward @ bodies.find("ryugu").pole.direction
    # The body goes 0.004 rad along its orbit in the turn.
    np.testing.assert_allclose(path[:, 2], expected, atol=0.005)
    longitude = np.unwrap(np.arctan2(path[:, 1], path[:, 0]))
    assert longitude[-1] - longitude[0] == pytest.approx(-2 * np.pi * 179 / 180, abs=0.01)
    assert ephemeris.turn(scenario) == (scenario.body.entry.rotation_period, True)


def test_a_tumbling_body_is_followed_for_many_turns(ryugu):
    scenario = _with({**ryugu, "body": {"name": "toutatis"}}, date="2012-12-13", tide=False)
    span, even = ephemeris.turn(scenario)
    assert not even
    rate = np.linalg.norm(bodies.find("toutatis").spin_vector)
    assert span == pytest.approx(ephemeris.TURNS * 2 * np.pi / rate, rel=1e-12)
    path = ephemeris.sun_path(scenario, ephemeris.sun_place(scenario, scenario.environment.sun))
    assert np.degrees(np.ptp(np.arcsin(path[:, 2]))) > 60.0


def test_no_turn_no_day(ryugu):
    still = {**ryugu, "body": {"name": "ryugu", "rotation": {"kind": "none"}}}
    with pytest.raises(InputError, match="does not rotate"):
        ephemeris.turn(_with(still, date="2018-10-03", tide=False))


@pytest.mark.parametrize(
    ("name", "date"),
    [
        ("mascot_ryugu", "2018-10-03T01:57:20"),
        ("ryugu_minerva", "2018-09-21T04:06:00"),
        ("minerva_hop_ryugu", "2018-09-22T00:00:00"),
        ("philae_67p", "2014-11-12T15:32:24"),
    ],
)
def test_shipped_landings_have_their_dates(name, date):
    sun = load(FOLDER / f"{name}.toml").environment.sun
    assert sun.date == date
    assert sun.anomaly is not None
    assert not sun.tide


def test_keys_are_made_once():
    assert keys(Scenario) is keys(Scenario)
    assert Scenario.kind_of("environment.sun.date") is keys(Scenario)["environment.sun.date"]
