"""Ground that varies, in scenarios: [[ground.region]], ground.map, dispersions of their values."""

import re
import tomllib

import numpy as np
import pytest

from alight.campaign.dispersions.sampling import sample
from alight.campaign.tables.inputs import units_of
from alight.core import frames
from alight.core.errors import InputError
from alight.engine import run_batch
from alight.scenario import json_schema, load, loads, prepare
from alight.scenario.errors import ScenarioError
from alight.scenario.reader import from_dict

#: A ball over a sphere, coming down on the equator.
SPHERE = """
title = "A ball on a sphere"
seed = 3

[body]
gm = "6.25 m^3/s^2"

[gravity]
law = "point-mass"

[ground]
kind = "sphere"
radius = "250 m"

[lander]
shape = "sphere"
diameter = "0.2 m"
mass = "1 kg"

[release]
latitude = "0 deg"
longitude = "0 deg"
height = "0.13 m"
velocity = ["0 m/s", "0 m/s", "-5 cm/s"]

[contact]
restitution = 0.6
friction = 0.4

[stop]
max_time = "10 s"
"""
POND = """
[[ground.region]]
name = "pond"
latitude = "0 deg"
longitude = "0 deg"
angle = "5 deg"
restitution = 0.3

[[ground.region]]
name = "north"
south = "60 deg"
north = "90 deg"
friction_factor = 0.5
rolling_resistance = "20 mm"
"""


@pytest.fixture
def sphere():
    return tomllib.loads(SPHERE + POND)


def first_e(prepared, values):
    """Restitution of the first contact of every run."""
    out = []
    for group in prepared.groups(values):
        hit = run_batch(group.model, group.release, device="cpu").touches
        hit = hit[np.unique(hit["run"], return_index=True)[1]]
        out.append((group.rows, -hit["normal_speed_out"] / hit["normal_speed_in"]))
    return out


def told(table, folder="."):
    with pytest.raises(ScenarioError) as caught:
        from_dict(table, "file.toml", folder)
    return str(caught.value)


# -- reading and writing --------------------------------------------------------------------------


def test_regions_are_read_in_order_and_written_back():
    one = loads(SPHERE + POND)
    assert [r.name for r in one.ground.region] == ["pond", "north"]
    text = one.to_toml()
    assert text.count("[[ground.region]]") == 2
    other = loads(text)
    assert other == one
    assert other.to_toml() == text
    assert one.number("ground.region.pond.restitution") == 0.3
    assert one.number("ground.region.north.rolling_resistance") == 0.02
    assert one.number("ground.region.pond.angle") == pytest.approx(np.radians(5.0))


def test_one_value_of_a_region_is_replaced():
    one = loads(SPHERE + POND)
    other = one.replaced({"ground.region.north.rolling_resistance": 0.05, "contact.friction": 0.2})
    assert other.number("ground.region.north.rolling_resistance") == 0.05
    assert other.ground.region[0] == one.ground.region[0]
    gone = one.replaced({"ground.region.north.friction_factor": None})
    assert gone.ground.region[1].friction_factor is None
    with pytest.raises(InputError, match=r'no region "nroth".*Did you mean "north"'):
        one.replaced({"ground.region.nroth.friction": 0.5})
    with pytest.raises(InputError, match=r'no key "ground.region.north.mu"'):
        one.replaced({"ground.region.north.mu": 0.5})


def test_the_json_schema_has_regions():
    made = json_schema()
    assert "rolling_resistance_factor" in made["$defs"]["RegionSection"]["properties"]
    pattern = next(iter(made["properties"]["dispersions"]["patternProperties"]))
    assert re.match(pattern, "ground.region.pond.friction")
    assert not re.match(pattern, "ground.region.pond.name")


# -- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"restitution": 1.2}, "ground.region.pond.restitution: found 1.2.*at most 1"),
        ({"restitution": "0.2"}, "ground.region.pond.restitution: .*without quotes"),
        ({"frictoin": 0.2}, 'ground.region.pond.frictoin: unknown key. Did you mean "friction"'),
        ({"friction": float("nan")}, "ground.region.pond.friction: found nan"),
        ({"name": "a pond"}, "ground.region.a pond.name: .*letters, digits"),
        ({"name": "north"}, "ground.region.north: is the name of two regions"),
        ({"name": None}, "ground.region.1.name: is missing"),
        ({"latitude": None}, "ground.region.pond: has longitude, angle; it must have"),
        ({"radius": "3 m"}, "ground.region.pond: has latitude, longitude, angle, radius; it must"),
        ({"latitude": "95 deg"}, "ground.region.pond.latitude: found"),
        ({"angle": "5 m"}, "ground.region.pond.angle"),
        ({"restitution": None}, "ground.region.pond: changes nothing"),
        ({"restitution_factor": 0.5}, "pond.restitution_factor: does not go with restitution"),
        ({"rolling_resistance": 0.1}, "pond.rolling_resistance: found the bare number 0.1"),
    ],
)
def test_bad_regions_are_named(sphere, change, message):
    region = sphere["ground"]["region"][0]
    for key, value in change.items():
        if value is None:
            del region[key]
        else:
            region[key] = value
    assert re.search(f"file.toml: .*{message}", told(sphere))


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ({"south": "20 deg", "north": "10 deg"}, "south must be below its north"),
        ({"south": "1 deg", "north": "10 deg", "west": "1 deg"}, "has south, north, west; it must"),
        ({"corners": [["0 deg", "0 deg"], ["1 deg", "0 deg"]]}, "at least 3 rows"),
        ({"corners": [["0 deg"], ["1 deg", "0 deg"]]}, "ground.region.it.corners"),
    ],
)
def test_bad_shapes_are_named(sphere, shape, message):
    sphere["ground"]["region"] = [{"name": "it", "friction": 0.5, **shape}]
    said = told(sphere)
    assert "ground.region.it" in said
    assert re.search(message, said)


def test_regions_are_a_list(sphere):
    sphere["ground"]["region"] = {"pond": {"friction": 0.5}}
    assert re.search(r"ground.region: found .*list of tables: \[\[ground.region\]\]", told(sphere))
    sphere["ground"]["region"] = [3]
    assert "ground.region.1: found 3" in told(sphere)


def test_a_plane_takes_balls_alone(plane):
    region = {"name": "it", "friction": 0.1, "south": "0 deg", "north": "9 deg"}
    plane["ground"]["region"] = [region]
    plane["ground"]["map"] = "x.csv"
    said = told(plane)
    assert re.search("region.it.south: needs a body about the origin, .*center and radius", said)
    assert "ground.map: needs a body about the origin" in said
    ball = {"name": "it", "friction": 0.1, "center": ["0 m", "0 m", "0 m"], "radius": "1 m"}
    plane["ground"] = {"kind": "plane", "region": [ball]}
    law = prepare(from_dict(plane), "cpu").nominal().model.contact.ground
    assert law.within([[0.9, 0.0, 0.0], [1.1, 0.0, 0.0]])[:, 0].tolist() == [True, False]


def test_out_of_range_with_the_contacts_value_is_told(sphere):
    region = sphere["ground"]["region"][0]
    del region["restitution"]
    region["restitution_factor"] = 2.0
    made = prepare(from_dict(sphere, "file.toml"), "cpu")
    with pytest.raises(ScenarioError, match=r'file.toml: contact: .*1.2 in the region "pond"'):
        made.nominal()


# -- built ----------------------------------------------------------------------------------------


@pytest.mark.validate
@pytest.mark.parametrize("law", ["compliant", "impulse"])
def test_regions_reach_the_model(law):
    made = prepare(loads(SPHERE.replace("[contact]", f'[contact]\nlaw = "{law}"') + POND), "cpu")
    ((_, e),) = first_e(made, {})
    assert e == pytest.approx([0.3], abs=1e-3)
    beside = {"release.longitude": np.radians([0.0, 4.9, 5.1, -6.0])}
    ((_, e),) = first_e(made, beside)
    assert e == pytest.approx([0.3, 0.3, 0.6, 0.6], abs=1e-3)


def test_a_radius_in_metres_is_measured_from_the_ground():
    """8 m about the place on the ground at that latitude and longitude: a chord of the sphere."""
    text = SPHERE + POND.replace('angle = "5 deg"', 'radius = "8 m"')
    law = prepare(loads(text), "cpu").nominal().model.contact.ground
    edge = 2.0 * np.arcsin(8.0 / 500.0)
    up = frames.direction([edge - 1e-6, edge + 1e-6], [0.0, 0.0])
    assert law.within(250.0 * up)[:, 0].tolist() == [True, False]


@pytest.mark.validate
def test_values_of_regions_are_dispersed_within_one_model():
    text = SPHERE + POND + '[dispersions]\n"ground.region.pond.restitution" = '
    text += '{ kind = "uniform", low = 0.2, high = 0.9 }\n'
    text += '"contact.restitution" = { kind = "uniform", low = 0.5, high = 0.9 }\n'
    scenario = loads(text)
    values = sample(scenario, np.arange(4))
    drawn = values["ground.region.pond.restitution"]
    assert ((drawn > 0.2) & (drawn < 0.9)).all()
    ((rows, e),) = first_e(prepare(scenario, "cpu"), values)
    assert rows.tolist() == [0, 1, 2, 3]
    assert e == pytest.approx(drawn, abs=1e-3)
    assert units_of("ground.region.north.rolling_resistance") == ("m",)
    assert loads(scenario.to_toml()) == scenario


def test_places_of_regions_are_dispersed_too():
    """Each place makes a model of its own."""
    made = prepare(loads(SPHERE + POND), "cpu")
    found = first_e(made, {"ground.region.pond.longitude": np.radians([0.0, 9.0])})
    assert [rows.tolist() for rows, _ in found] == [[0], [1]]
    assert np.concatenate([e for _, e in found]) == pytest.approx([0.3, 0.6], abs=1e-3)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("ground.region.pod.friction", "no value under ground.region.pod.friction"),
        ("ground.region.pond.friction", "no value under ground.region.pond.friction"),
        ("ground.region.pond.mu", "is not a number of the scenario"),
        ("ground.region.pond.name", "is not a number of the scenario"),
        ("ground.map", "is not a number of the scenario"),
    ],
)
def test_dispersions_of_what_is_not_there_are_named(sphere, key, message):
    sphere["dispersions"] = {key: {"kind": "uniform", "low": 0.1, "high": 0.2}}
    assert re.search(f'dispersions."{key}": .*{message}', told(sphere))


# -- maps -----------------------------------------------------------------------------------------


def write_map(file, restitution=1.0, **more):
    """A map in steps of 30 degrees whose eastern half has a factor of its own."""
    lines = ["latitude_deg,longitude_deg,restitution"]
    for lat in range(-60, 61, 30):
        for lon in range(-180, 180, 30):
            lines.append(f"{lat},{lon},{restitution if 0 < lon < 180 else 1.0}")
    file.write_text("\n".join(lines))


@pytest.mark.validate
def test_a_map_is_read_beside_the_scenario(tmp_path):
    write_map(tmp_path / "factors.csv", 0.5)
    text = SPHERE.replace("[lander]", 'map = "factors.csv"\n\n[lander]')
    (tmp_path / "s.toml").write_text(text)
    scenario = load(tmp_path / "s.toml")
    assert len(scenario.ground.sha256) == 64
    made = prepare(scenario, "cpu")
    longitude = {"release.longitude": np.radians([-90.0, 0.0, 15.0, 90.0])}
    ((_, e),) = first_e(made, longitude)
    assert e == pytest.approx([0.6, 0.6, 0.45, 0.3], abs=1e-3)
    assert loads(scenario.to_toml()) == scenario
    write_map(tmp_path / "factors.csv", 0.6)
    with pytest.raises(ScenarioError, match=r"ground.sha256: .* has changed since"):
        loads(scenario.to_toml())


def test_bad_maps_are_named_with_file_and_key(tmp_path, sphere):
    sphere["ground"]["map"] = "factrs.csv"
    write_map(tmp_path / "factors.csv", "nan")
    said = told(sphere, tmp_path)
    assert re.search('ground.map: cannot read "factrs.csv": .*Did you mean "factors.csv"', said)
    sphere["ground"]["map"] = "factors.csv"
    with pytest.raises(
        ScenarioError, match=r'file.toml: ground.map: .*factors.csv": line 9: restitution is "nan"'
    ):
        prepare(from_dict(sphere, "file.toml", tmp_path), "cpu")
    write_map(tmp_path / "factors.csv", 1.8)
    made = prepare(from_dict(sphere, "file.toml", tmp_path), "cpu")
    with pytest.raises(ScenarioError, match=r"1.08 outside all regions: 0.6 times 1.8"):
        made.nominal()
    sphere["ground"]["sha256"] = "0"
    assert "has changed since" in told(sphere, tmp_path)
    del sphere["ground"]["map"]
    assert "ground.sha256: goes with map only" in told(sphere, tmp_path)
