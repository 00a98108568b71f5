"""Mistakes that people make in scenario files: each is answered with its key and what to write."""

import pytest

from alight.core.errors import AlightError
from alight.scenario import ScenarioError, from_dict, loads
from alight.scenario.building.foresight import checked, foresee


def said(make, *arguments):
    with pytest.raises(AlightError) as wrong:
        make(*arguments)
    return str(wrong.value)


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("height = 6 m", 'a number with its unit must be in quotes: height = "6 m"'),
        ("height = 6 m", 'line 2, "height = 6 m": '),
        ("velocity = [0 cm/s, 0 cm/s, -2 cm/s]", 'each of them: ["1 m", "2 m"]'),
        ("kind = ground", 'text must be in quotes: kind = "ground"'),
        ('kind = "ground', "a quote is missing"),
        ('kind = "ground"\nkind = "above"', "the key kind is given twice in its table; keep one"),
        ('kind = "ground"\n[release]', "the table [release] appears twice"),
    ],
)  # fmt: skip
def test_lines_that_are_no_toml(line, answer):
    assert answer in said(loads, f"[release]\n{line}\n")


def test_a_table_that_is_never_closed():
    assert "is not valid TOML" in said(loads, "keys = [1, 2")


@pytest.mark.parametrize(
    ("section", "key", "given", "answer"),
    [
        ("release", "height", "6,5 m", 'numbers have a point: did you mean "6.5 m"?'),
        ("release", "latitude", "120 deg", "at least -90 deg and at most 90 deg"),
        ("contact", "restitution", "60 %", "60 % is 0.6"),
    ],
)
def test_numbers_as_people_write_them(ryugu, changed, section, key, given, answer):
    text = said(from_dict, changed(ryugu, **{f"{section}__{key}": given}))
    assert f"{section}.{key}: " in text
    assert answer in text


def test_revolutions_are_a_unit(plane, changed):
    made = from_dict(changed(plane, release__rate=["1 rev/min", "0 rpm", "0 rpm"]))
    other = from_dict(changed(plane, release__rate=["1 rpm", "0 rpm", "0 rpm"]))
    assert made.number("release.rate") == pytest.approx(other.number("release.rate"), rel=1e-15)


def test_shares_in_per_cent(plane, changed):
    asked = {"kind": "outcome", "outcome": "escaped", "at_most": 5}
    assert "requirement.1.at_most: found 5" in said(from_dict, {**plane, "requirement": [asked]})
    assert "5 % is 0.05" in said(from_dict, {**plane, "requirement": [asked]})


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("lander.weight", 'Did you mean "lander.mass"?'),
        ("release.attitude.z", 'vary "release.attitude" as a whole'),
        ("release.velocity.vertical", 'Did you mean "release.velocity'),
    ],
)
def test_keys_that_cannot_vary(plane, key, answer):
    plane["dispersions"] = {key: {"kind": "normal", "sigma": 0.1}}
    assert answer in said(from_dict, plane)


def test_entries_of_lists_that_are_not_there(ryugu):
    pond = {"name": "pond", "latitude": "20 deg", "longitude": "40 deg", "radius": "20 m"}
    ryugu["ground"]["region"] = [{**pond, "friction": 0.8}]
    ryugu["dispersions"] = {"ground.region.pont.friction": {"kind": "uniform", "low": 0, "high": 1}}
    text = said(from_dict, ryugu)
    assert "Known there: pond." in text
    assert 'Did you mean "ground.region.pond.friction"?' in text


def test_values_that_a_release_does_not_have(ryugu, changed):
    orbit = {"kind": "orbit", "semi_major_axis": "1 km", "true_anomaly": "0 deg"}
    spread = {"release.velocity": {"kind": "normal", "sigma": "1 cm/s"}}
    text = said(from_dict, changed(ryugu, release=orbit, dispersions=spread))
    assert "Take a key of [release] that has one: release.semi_major_axis, " in text
    assert "release.velocity," not in text


def test_a_group_tells_of_every_entry_by_its_key(plane):
    keys = ["release.velocity.z", "contact.friction"]
    plane["dispersions"] = {"group": [{"keys": keys, "sigma": [0.05, "1 cm/s"]}]}
    text = said(from_dict, plane)
    assert "dispersions.group.1.sigma: entry 1 (release.velocity.z): found the bare number" in text
    assert "entry 2 (contact.friction): found" in text
    wrong = {"keys": keys, "sigma": ["1 cm/s", 0.05], "correlation": [[1, 1.0], [0.5, 1]]}
    plane["dispersions"] = {"group": [wrong]}
    assert "dispersions.group.1.correlation: is no correlation" in said(from_dict, plane)


def test_a_table_tells_of_every_column(plane, tmp_path):
    (tmp_path / "t.csv").write_text("friction, release.velocity.z\n0.5, 2\n")
    plane["dispersions"] = {"table": [{"file": "t.csv"}]}
    text = said(from_dict, plane, "t.toml", tmp_path)
    assert 'Did you mean "contact.friction"?' in text
    assert 'column "release.velocity.z" has no unit' in text


def test_mistakes_of_several_tables_are_reported_at_once(plane, changed):
    asked = {"kind": "below", "column": "bounce", "value": 3, "share": 0.5}
    spread = {"contact.friction": {"kind": "normal", "sigma": 0.5}}
    wrong = changed(plane, stop__max_time=3, requirement=[asked], dispersions=spread)
    with pytest.raises(ScenarioError) as found:
        from_dict(wrong)
    assert {one.key for one in found.value.problems} == {
        "stop.max_time", "requirement.1.column", 'dispersions."contact.friction"',
    }  # fmt: skip


# -- what a check knows before anything is built ---------------------------------------------------


def test_orbits_inside_the_body_are_told_by_their_size(ryugu, changed):
    orbit = {"kind": "orbit", "semi_major_axis": "300 m", "true_anomaly": "0 deg"}
    text = said(checked, from_dict(changed(ryugu, release=orbit, dispersions=None)))
    assert "release.semi_major_axis: the lander is released" in text
    assert "wider orbit" in text


def test_gravity_that_does_not_pull_down(plane, changed):
    up = ["0 m/s^2", "0 m/s^2", "1e-3 m/s^2"]
    (remark,) = foresee(from_dict(changed(plane, gravity__acceleration=up))).remarks
    assert remark.key == "gravity.acceleration"
    assert not foresee(from_dict(plane)).remarks


def test_a_distance_field_that_no_memory_holds(ryugu, changed):
    text = said(checked, from_dict(changed(ryugu, ground__spacing="1 cm", dispersions=None)))
    assert "ground.spacing: is 0.01 m: tables of about" in text
    assert "m or more" in text


def test_drops_that_start_in_the_membrane():
    drop = {
        "kind": "drop",
        "body": {"shape": "castalia", "length": "4.5 m", "mass": "100 kg", "facets": 320},
        "membrane": {"side": "7.5 m", "stiffness": "30 N/m^3"},
        "release": {"height": "1 m"},
        "stop": {"duration": "3 s"},
    }
    text = said(checked, from_dict(drop))
    assert "release.height: the body of run 0 starts through the membrane" in text
    drop["release"]["height"] = "5 m"
    assert not foresee(from_dict(drop)).problems


def test_a_plan_that_is_not_there_is_named_as_its_manoeuvre(plane):
    wheel = {"name": "y", "axis": [0, 1, 0], "inertia": "1e-3 kg*m^2"}
    plane["lander"]["wheel"] = [wheel | {"torque": "1 mN*m", "top_speed": "100 rpm"}]
    plane["manoeuvre"] = [{"command": "policy", "plan": "nowhere.npz"}]
    assert "manoeuvre.0.plan: cannot read" in said(from_dict, plane)
    plane["manoeuvre"][0]["name"] = "go"
    assert "manoeuvre.go.plan: cannot read" in said(from_dict, plane)
