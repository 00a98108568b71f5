"""Light in a report: what the page, its numbers and its table say, against closed forms."""

import json
import pathlib
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

from alight.analysis.sun import SunPath, sun_over_rotation
from alight.cli import report as cli
from alight.cli.report_sun import sun_of
from alight.core import frames
from alight.core.errors import InputError
from alight.shapes import icosphere
from alight.views import report
from alight.views.report.landing import light as report_light
from alight.views.report.landing.data import read
from alight.views.report.landing.findings import LandingFindings

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # tests are no package

from landing_case import RADIUS, SCENARIO, make_campaign

PERIOD = 27_477.4
UPRIGHT = (0.0, 0.0, 0.0, 1.0)
DATED = {"sun": {"date": "2018-10-03T02:00:00", "tide": False}}

app = typer.Typer()
app.command()(cli.command)


@pytest.fixture(scope="module")
def ball():
    return icosphere(4, RADIUS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_campaign(
        tmp_path_factory.mktemp("light") / "c",
        120,
        60,
        environment=DATED,
        ground={"spacing": "9 m"},
    )


def _sun(declination, **options):
    """The Sun over a latitude [deg] all turn long."""
    way = sun_over_rotation(frames.direction(np.radians(declination), 1.0), UPRIGHT, 120)
    return SunPath(way, PERIOD, **options)


def _light(folder, mesh, sun):
    from alight.campaign.reader import open_campaign

    return LandingFindings(read(open_campaign(folder), mesh, sun))


def _invoke(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


# -- numbers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("declination", [0.0, 15.0, -23.4])
def test_day_on_a_ball(folder, ball, declination):
    """cos(half the day) = -tan(latitude) tan(declination) at every place of rest."""
    found = _light(folder, ball, _sun(declination))
    light = found.light
    latitude, _ = frames.latitude_longitude(found.data.rest[light.rows])
    half = np.arccos(-np.tan(latitude) * np.tan(np.radians(declination)))
    # Facets of 4 degrees have smooth normals to 0.3 degrees, which is as far as sunrise moves.
    np.testing.assert_allclose(light.found.day_fraction, half / np.pi, atol=2 * 0.3 / 180.0)
    told = light.numbers()
    assert told["sun_latitude_deg"] == pytest.approx([declination, declination], abs=1e-9)
    fraction, night = told["day_fraction"]["median"]["value"], told["longest_night_s"]["median"]
    assert night["value"] == pytest.approx((1.0 - fraction) * PERIOD, rel=1e-12)
    assert told["light_s"]["p05"]["value"] == pytest.approx(
        told["day_fraction"]["p05"]["value"] * PERIOD, rel=1e-12
    )


def test_polar_night(folder, ball):
    """With the Sun over 85 degrees south there is no sunrise north of 5 degrees."""
    found = _light(folder, ball, _sun(-85.0))
    light = found.light
    latitude = np.degrees(frames.latitude_longitude(found.data.rest[light.rows])[0])
    clear = np.abs(latitude - 5.0) > 0.3  # as far as smooth normals are known
    dark = light.found.day_fraction == 0.0
    np.testing.assert_array_equal(dark[clear], (latitude > 5.0)[clear])
    assert light.dark.value > 0.9
    told = light.numbers()
    assert told["longest_night_s"]["median"]["value"] is None
    assert told["light_s"]["median"]["value"] == 0.0
    dark = f"{100 * light.dark.value:.0f} % of the landings at rest never see the Sun per "
    assert report_light.answer(light).startswith(dark)
    assert report_light.rows(light)[2][1] == "no sunrise"
    json.dumps(told, allow_nan=False)


def test_few_in_the_dark(folder, ball):
    """With the Sun over 53 degrees south it rises south of 37 degrees north."""
    light = _light(folder, ball, _sun(-53.0)).light
    assert 0.0 < light.dark.value < 0.05
    said = report_light.answer(light)
    assert f"; {100 * light.dark.value:.1f} % never do." in said


def test_a_sphere_is_its_own_shape(tmp_path):
    """No mesh of the body is needed where the ground is a sphere; its normals are exact."""
    place = make_campaign(tmp_path / "c", 40, 40, ground={"kind": "sphere"})
    light = _light(place, None, _sun(15.0)).light
    latitude, _ = frames.latitude_longitude(_light(place, None, None).data.rest[light.rows])
    half = np.arccos(-np.tan(latitude) * np.tan(np.radians(15.0)))
    # Bisection leaves 1/120/2^10 of a turn at each end; chords for arcs add (3 deg)^2/8.
    np.testing.assert_allclose(light.found.day_fraction, half / np.pi, atol=5e-4)


def test_drawn_places_are_the_same_in_any_shards(tmp_path, ball, monkeypatch):
    monkeypatch.setattr(report_light, "PLACES", 30)
    place = make_campaign(tmp_path / "c", 100, 50)
    found = _light(place, ball, _sun(10.0))
    light = found.light
    assert len(light.rows) == 30
    assert (np.diff(light.rows) > 0).all()
    assert light.rows[-1] > 60  # not the first ones
    assert light.settled == found.data.settled.sum() > 90
    half = make_campaign(tmp_path / "half", 100, 50, shards=1)
    again = _light(half, ball, _sun(10.0)).light
    # Of the runs that both have, those with the least lots are drawn from both.
    assert set(light.rows[light.rows < 50]) <= set(again.rows)
    (said,) = [s for s in report_light.notes(light, found.data) if "drawn at random" in s]
    assert said.startswith(f"30 of the {light.settled} landings")


# -- the page ----------------------------------------------------------------------------------


SUN = {"when": "on 2018-10-03 at 02:00 UTC", "source": "The Sun is made up."}


@pytest.fixture(scope="module")
def written(folder, ball, tmp_path_factory):
    return report.write(folder, tmp_path_factory.mktemp("page"), mesh=ball, sun=_sun(12.0, **SUN))


def test_the_page_has_light(written):
    page = written.page.read_text(encoding="utf-8")
    assert "Light where it rests" in page
    assert "The Sun is made up." in page
    assert "5120 facets" in page
    question, said = written.answers[-1]
    assert question == report_light.QUESTION
    told = written.numbers["light"]
    least, night = (
        told[n][p]["value"] for n, p in (("light_s", "p05"), ("longest_night_s", "p95"))
    )
    assert said.startswith(
        f"95 % of the landings at rest have the Sun in sight for at least {least / 3600:.2f} h per "
        f"7.63 h rotation and no night longer than {night / 3600:.2f} h."
    )
    assert said.endswith("On 2018-10-03 at 02:00 UTC the Sun stands over latitude 12.0° N.")
    assert written.page.parent / "figures/light.svg" in written.figures


def test_the_same_bytes_again(written, folder, ball, tmp_path):
    again = report.write(folder, tmp_path, mesh=ball, sun=_sun(12.0, **SUN))
    assert again.page.read_bytes() == written.page.read_bytes()
    assert again.light_table.read_bytes() == written.light_table.read_bytes()


def test_the_table_beside_the_page(written, folder):
    table = pq.read_table(written.light_table).to_pydict()
    runs = pq.read_table(folder / "runs").to_pydict()
    row = {run: k for k, run in enumerate(runs["run"])}
    assert table["run"] == [r for r, x in zip(runs["run"], runs["rest_x_m"], strict=True) if x]
    for name in ("day_fraction", "longest_night_s", "longest_day_s", "mean_cosine"):
        assert np.isfinite(table[name]).all()
    k = row[table["run"][7]]
    x, y, z = (runs[f"rest_{axis}_m"][k] for axis in "xyz")
    assert table["latitude_deg"][7] == pytest.approx(np.degrees(np.arctan2(z, np.hypot(x, y))))
    assert table["longitude_deg"][7] == pytest.approx(np.degrees(np.arctan2(y, x)))


def test_silent_without_a_sun(folder, ball, told):
    found = _light(folder, ball, None)
    assert found.light is None
    assert len(told(found, "answers")) == 4
    assert told(found, "numbers")["light"] is None


@pytest.mark.parametrize(
    ("changes", "mesh", "sun", "said"),
    [
        ({}, True, "Nobody knows.", "Nobody knows."),
        ({}, False, _sun(1.0), "No mesh of the body was at hand"),
        ({"ground": {"kind": "plane"}}, True, _sun(1.0), "The ground is a plane"),
        ({"escaped": 1.0}, True, _sun(1.0), "No landing came to rest"),
    ],
)
def test_why_it_is_not_known(told, tmp_path, ball, changes, mesh, sun, said):
    place = make_campaign(tmp_path / "c", 40, 40, **changes)
    found = _light(place, ball if mesh else None, sun)
    assert found.light.startswith(said)
    assert told(found, "answers")[-1][1].startswith(f"Not known. {said}")
    assert told(found, "numbers")["light"] is None


def test_the_page_says_why(folder, tmp_path):
    made = report.write(folder, tmp_path, sun="Nobody knows the Sun.")
    page = made.page.read_text(encoding="utf-8")
    assert page.count("Nobody knows the Sun.") == 2
    assert "Light where it rests" in page
    assert made.light_table is None


def test_a_place_far_off_the_body_is_told(folder):
    made = _light(folder, icosphere(2, 2.0), _sun(0.0)).light
    assert isinstance(made, str) or np.isfinite(made.found.day_fraction).all()


def test_a_tumbling_body_has_no_turn(folder, ball):
    found = _light(folder, ball, _sun(20.0, turns=False))
    assert "in 7.63 h of tumbling" in report_light.answer(found.light)
    assert any("tumbles" in line for line in report_light.notes(found.light, found.data))


def test_a_path_of_the_sun_is_checked():
    with pytest.raises(InputError, match="at least 4"):
        SunPath(np.eye(3), PERIOD)
    with pytest.raises(InputError, match="span"):
        SunPath(np.ones((5, 3)), 0.0)


# -- the command -------------------------------------------------------------------------------


def test_the_command_takes_the_scenarios_sun(folder, tmp_path):
    done = _invoke(folder, "--json", "--out", tmp_path)
    assert done.exit_code == 0, done.exception
    told = json.loads(done.stdout)
    assert told["light"]["when"] == "on 2018-10-03 at 02:00 UTC"
    assert told["light"]["span_s"] == pytest.approx(PERIOD, rel=1e-5)
    assert told["light_table"] == str(tmp_path / "illumination.parquet")
    assert told["light"]["sun_latitude_deg"][0] == pytest.approx(-5.3, abs=0.1)


def test_another_date(folder, monkeypatch):
    asked = []
    monkeypatch.setattr("alight.cli.report_sun.sun_of", lambda _, date: asked.append(date))
    monkeypatch.setattr("alight.views.report.write", lambda *_, **__: 1 / 0)
    assert isinstance(_invoke(folder, "--date", "2019-02-01").exception, ZeroDivisionError)
    assert asked == ["2019-02-01T00:00:00"]
    wrong = _invoke(folder, "--date", "someday").exception
    assert isinstance(wrong, InputError)
    assert str(wrong).startswith("--date")


def _sun_of(sun, date=None, **changes):
    return sun_of({**SCENARIO, **changes, "environment": {"sun": sun}}, date)


def test_what_the_command_says_of_the_sun():
    assert sun_of(SCENARIO) is None
    dated = _sun_of({"date": "2018-10-03T01:57:20"})
    assert "elements of 2011-12-12" in dated.source
    assert _sun_of({}).when == "at perihelion"
    assert _sun_of({"mean_anomaly": "90 deg"}).when == "at a mean anomaly of 90°"
    fixed = _sun_of({"direction": [0, 0, 1], "distance": "1 AU"})
    assert fixed.source == "The Sun is fixed in the direction that the scenario gives."
    assert _sun_of({"mean_anomaly": "90 deg"}, "2018-10-03").when.startswith("on 2018-10-03")
    assert sun_of(SCENARIO, "2018-10-03T06:00").when == "on 2018-10-03 at 06:00 UTC"
    assert not _sun_of({"date": "2012-12-13"}, body={"name": "toutatis"}).turns


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"name": "castalia"}, r"the pole of Castalia is not known: give .*\[body.rotation\] pole"),
        (
            {"name": "phobos"},
            r"the orbit of Phobos .* give its elements in \[environment.sun.orbit",
        ),
        ({"name": "ryugu", "rotation": {"kind": "none"}}, "the body does not rotate"),
        ({"mesh": "gone.obj", "unit": "m", "gm": "1 m^3/s^2"}, "cannot read"),
    ],
)
def test_what_is_not_known_is_a_sentence(body, said):
    import re

    found = _sun_of({"date": "2018-10-03"}, body=body)
    assert isinstance(found, str)
    assert re.search(said, found), found
    assert found.startswith("The position of the Sun is not known: ")
    assert found.endswith(".")


def test_spice_that_is_not_installed_or_has_no_kernels(monkeypatch, tmp_path):
    sun = {"date": "2018-10-03", "spice": [str(tmp_path / "gone.bsp")]}
    monkeypatch.setitem(sys.modules, "spiceypy", None)
    assert 'pip install "alight[spice]"' in _sun_of(sun)
    monkeypatch.undo()
    pytest.importorskip("spiceypy", reason="needs the package spiceypy")
    assert "there is no SPICE kernel" in _sun_of(sun)


# -- requirements ------------------------------------------------------------------------------

NIGHT = {"kind": "below", "column": "longest_night", "value": "3.9 h", "share": 0.5}


def _asking(place, *entries, **changes):
    return make_campaign(place, 120, 60, requirement=list(entries), **changes)


def test_a_requirement_on_nights_is_judged_alike_by_campaign_and_report(tmp_path):
    from alight.campaign.reader import open_campaign
    from alight.cli.campaign import _row, _verdicts

    # A date of its own goes before that of the scenario, and the nights are others then.
    later = {**NIGHT, "name": "later", "date": "2019-03-01"}
    place = _asking(tmp_path / "c", NIGHT, later, environment=DATED, escaped=0.1)
    rows = [_row(one) for one in _verdicts(open_campaign(place))]
    done = _invoke(place, "--json", "--out", tmp_path, "--date", "2019-07-01")
    assert done.exit_code == 0, done.exception
    told = json.loads(done.stdout)
    assert told["requirements"] == rows
    runs = pq.read_table(place / "runs").to_pydict()
    resting = sum(x is not None and np.isfinite(x) for x in runs["rest_x_m"])
    assert resting < 120
    assert all(row["runs"] == 120 and row["met"] <= resting for row in rows)
    assert rows[0]["met"] != rows[1]["met"]
    # The page's own light of the scenario's date, run by run.
    assert _invoke(place, "--json", "--out", tmp_path).exit_code == 0
    nights = np.array(pq.read_table(tmp_path / "illumination.parquet")["longest_night_s"])
    assert (nights < 3.9 * 3600.0).sum() == rows[0]["met"]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "longest night below 3.9 h in at least 50 % of the runs" in page


def test_a_campaign_without_a_sun_says_what_to_add(tmp_path):
    from alight.campaign.reader import open_campaign
    from alight.cli.campaign import _row, _verdicts

    place = _asking(tmp_path / "c", NIGHT)
    (verdict,) = _verdicts(open_campaign(place))
    assert str(verdict).startswith("not judged: longest_night_s below 3.9 h")
    assert 'date = "2018-10-03"' in verdict.why
    row = _row(verdict)
    assert (row["verdict"], row["share"], row["runs"]) == ("not judged", None, 0)
    done = _invoke(place, "--json", "--out", tmp_path)
    assert json.loads(done.stdout)["requirements"] == [row]
    assert "It could not be judged." in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_requirements_on_light_from_python(folder, tmp_path, ball):
    place = _asking(tmp_path / "c", NIGHT, {**NIGHT, "name": "n", "date": "2019-03-01"})
    found = _light(place, ball, _sun(15.0)).judged
    met = (_light(place, ball, _sun(15.0)).light.found.longest_night < 3.9 * 3600.0).sum()
    assert [one.verdict.word for one in found][1] == "not judged"  # the Sun given has no date
    assert (found[0].verdict.met, found[0].verdict.runs) == (met, 120)
