"""The schema: every fault is told in one line that says where, what was found, what is allowed."""

import json
import tomllib

import numpy as np
import pytest

from alight.core.errors import AlightError, InputError
from alight.scenario import ScenarioError, from_dict, json_schema
from alight.scenario.document import keys
from alight.scenario.schema.landing import Scenario, euler_attitude

QUATERNION = (0.0, 0.0, 0.0, 1.0)


def faults(table):
    """Lines that the scenario is refused with."""
    with pytest.raises(ScenarioError) as caught:
        from_dict(table, "case.toml")
    assert isinstance(caught.value, InputError)
    lines = str(caught.value).splitlines()
    assert all(line.startswith("case.toml: ") for line in lines)
    assert len(caught.value.problems) == len(lines) - (len(lines) > 1)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("contact__friction", -0.1, "contact.friction: found -0.1; it must be at least 0"),
        ("contact__friction", "0.6", "without quotes"),
        ("contact__friction", True, "found true; it must be a number"),
        ("contact__friction", float("nan"), "found nan; it must be a finite number"),
        ("contact__friction", float("inf"), "found inf; it must be a finite number"),
        ("contact__friction", 10**400, "must be a finite number"),
        ("contact__restitution", 0.0, "use 1e-6 for ground that does not bounce"),
        ("contact__restitution", 1.2, "must be at least 0 and at most 1"),
        ("contact__restitution", None, "needs either restitution"),
        ("contact__stiffness", "4e4 N/m", "needs either restitution"),
        ("contact__static_friction", 0.1, "below friction = 0.6"),
        ("contact__resolution", 2.0, "at most 1"),
        ("contact__scheme", "cliped", 'Did you mean "clipped"?'),
        ("contact__fricton", 0.4, 'unknown key. Did you mean "friction"?'),
        ("contact__max_time", "1 s", "It belongs in [stop]."),
        ("contact", None, "the table [contact] is missing"),
        ("contact", 3, "it must be a table"),
        ("lander__mass", "0 kg", "must be above 0 kg"),
        ("lander__mass", None, 'lander.mass: is missing; it must be given, such as "1.1 kg"'),
        ("lander__side", None, "lander.side: is missing"),
        ("lander__side", 0.2, 'did you mean "0.2 m"?'),
        ("lander__shape", "cub", 'Did you mean "cube"?'),
        ("lander__shape", None, "has neither name nor shape"),
        ("lander__name", "mascot", "has both name and shape"),
        ("lander__diameter", "1 m", 'does not go with shape = "cube"'),
        ("lander__inertia", ["1 kg*m^2"], "it must be a list of 3"),
        ("release__position", ["0 m", "0 m"], "it must be a list of 3"),
        ("release__position", ["0 m", "0 m", 3], "entry 3: found the bare number 3"),
        ("release__position", None, "over a plane it must be given"),
        ("release__latitude", "20 deg", "does not go with position"),
        ("release__attitude", [0.0, 0.0, 0.0, 0.0], "all zeros"),
        ("release__attitude_axes", "local", "needs latitude and longitude"),
        ("gravity__law", "smoth", 'Did you mean "smooth"?'),
        ("gravity__law", "smooth", "needs a shape: give body.name or body.mesh"),
        ("gravity__acceleration", None, "gravity.acceleration: is missing"),
        ("gravity__vertices", 642, 'does not go with law = "uniform"'),
        ("ground__kind", "distance-field", "needs a shape"),
        ("ground__normal", [0.0, 0.0, 0.0], "no direction"),
        ("ground__noise", {"amplitude": "1 m"}, "ground.noise.wavelength: is missing"),
        ("body", {"gm": "0 m^3/s^2"}, "above 0 m^3/s^2"),
        ("body", {"mesh": "a.obj"}, "body.unit: is missing"),
        ("body", {"density": "1 kg/m^3"}, "needs a shape"),
        ("stop__max_time", "-1 s", "above 0 s"),
        ("stop__max_time", "inf s", "must be a finite time"),
        ("stop__max_steps", 1.5, "must be a whole number"),
        ("steps__tolerance", 0.0, "above 0"),
        ("steps__shortest", "1e9 s", "must be below steps.longest"),
        ("seed", -1, "at least 0"),
        ("seed", 2**64, "at most"),
        ("title", 3, "text in quotes"),
        ("bodi", {}, 'Did you mean "body"?'),
        ("campaign", {"runs": 0}, "at least 1"),
        ("campaign", {"sampling": "sobl"}, 'Did you mean "sobol"?'),
        ("record", {"trajectories": [0, -1]}, "entry 2: found -1"),
        ("environment", {"sun": {}}, "is not in the catalogue"),
        ("environment", {"companion": {}}, "environment.companion.gm: is missing"),
    ],
)
def test_what_is_wrong(plane, changed, key, value, said):
    lines = faults(changed(plane, **{key: value}))
    assert any(said in line for line in lines), lines


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("release__height", "-1 m", 'release.height: found "-1 m"; it must be at least 0 m'),
        ("release__latitude", "100 deg", "at most"),
        ("release__latitude", None, "lacks latitude"),
        ("ground__spacing", "600 m", "only 876 m across at its thinnest"),
        ("ground__band", "1 m", "at least 4 spacings"),
        ("body__name", "ryugo", 'Did you mean "Ryugu"?'),
        ("body__facets", 3, "at least 20"),
        ("body__gm", "30 m", "is no unit of gravitational parameter"),
        ("lander__name", "minerv", 'Did you mean "MINERVA"?'),
        ("lander__side", "1 m", "goes with shape, not with name"),
        ("body__rotation", {"kind": "uniform"}, "needs either period"),
        ("body__rotation", {"kind": "tumbling"}, "body.rotation.inertia: is missing"),
        ("body__rotation", {"period": "1 h", "rate": "1 rpm", "kind": "uniform"}, "one only"),
        ("body__rotation", {"kind": "none", "period": "1 h"}, 'does not go with kind = "none"'),
        ("body__density", "1190 kg/m^3", None),
        ("ground__noise__octaves", 99, "at most 24"),
        ("ground__noise__map", [[1.0, 2.0]], "at least 2 rows"),
    ],
)
def test_what_is_wrong_with_a_body(ryugu, changed, key, value, said):
    table = changed(ryugu, **{key: value})
    if said is None:
        assert from_dict(table).body.gm is None
    else:
        lines = faults(table)
        assert any(said in line for line in lines), lines


@pytest.mark.parametrize(
    ("key", "table", "said"),
    [
        ("release.velocity", {"kind": "norml"}, 'Did you mean "normal"?'),
        ("release.velocity", {"kind": "normal"}, "sigma: is missing"),
        ("release.velocity", {"kind": "normal", "sigma": 0.05}, 'did you mean "0.05 m/s"?'),
        ("release.velocity", {"kind": "normal", "sigma": "5 cm"}, "is no unit of speed"),
        ("release.velocity", {"kind": "normal", "sigma": "-5 cm/s"}, "at least 0 m/s"),
        ("release.velocity", {"kind": "normal", "sigma": ["5 cm/s"]}, "a list of 3"),
        ("release.velocity", {"kind": "normal", "sgma": "5 cm/s"}, 'Did you mean "sigma"?'),
        ("release.velocity", {"kind": "cone", "half_angle": "5 deg"}, "this one is zero"),
        ("release.velocity", {"kind": "cap", "half_angle": "5 deg"}, 'goes with "release.place"'),
        ("release.velocity", 3, "it must be a table"),
        ("release.velocty", {"kind": "normal"}, 'Did you mean "release.velocity"?'),
        ("release.position", {"kind": "ball", "radius": "1 m"}, "no value under release.position"),
        ("release.attitude", {"kind": "normal", "sigma": 0.1}, 'takes "orientation"'),
        ("release.height", {"kind": "normal", "sigma": "20 m"}, 'take "truncated"'),
        ("release.height", {"kind": "uniform", "low": "-1 m", "high": "2 m"}, "at least 0 m"),
        ("release.height", {"kind": "uniform", "low": "9 m", "high": "2 m"}, "is above high"),
        ("release.height", {"kind": "truncated", "sigma": "1 m"}, "needs low, high or both"),
        ("release.height", {"kind": "disc", "radius": "1 m"}, "needs a vector of three"),
        ("release.height", {"kind": "choice", "values": []}, "a list of values"),
        ("release.height", {"kind": "choice", "values": ["1 m"], "weights": [1, 2]}, "2 weights"),
        ("release.state", {"kind": "covariance", "matrix": [[1.0]]}, "rows"),
        ("release.state", {"kind": "covariance"}, "either matrix"),
        (
            "release.offset",
            {
                "kind": "covariance",
                "sigma": ["1 m"] * 3,
                "correlation": [[1, 2, 0], [0, 1, 0], [0, 0, 1]],
            },
            "at most 1",
        ),
        (
            "release.offset",
            {
                "kind": "covariance",
                "sigma": ["1 m"] * 3,
                "correlation": [[1, 0.9, 0.9], [0.9, 1, -0.9], [0.9, -0.9, 1]],
            },
            "is no correlation",
        ),
        ("contact.restitution", {"kind": "normal", "sigma": 0.2}, "beyond what contact.rest"),
        ("contact.scheme", {"kind": "choice", "values": ["smooth"]}, "not a number of the scen"),
        (
            "body.facets",
            {"kind": "uniform", "low": 100, "high": 200},
            'whole numbers take "choice"',
        ),
        ("campaign.runs", {"kind": "choice", "values": [1]}, "not a number of the scenario"),
    ],
)
def test_what_is_wrong_with_a_dispersion(ryugu, key, table, said):
    lines = faults({**ryugu, "dispersions": {key: table}})
    assert any(said in line for line in lines), lines


def test_two_dispersions_of_one_thing(ryugu):
    one = {"kind": "uniform", "low": "0 deg", "high": "1 deg"}
    spread = {"release.latitude": one, "release.place": {"kind": "cap", "half_angle": "1 deg"}}
    (line,) = faults({**ryugu, "dispersions": spread})
    assert "already varied by release.place" in line


def test_all_faults_of_a_file_are_told_together(ryugu, changed):
    table = changed(
        ryugu,
        contact__friction=-1,
        ground__spacing=4,
        bodi={},
        dispersions={"release.velocity": {"kind": "norml"}},
    )
    assert len(faults(table)) == 4


def test_dispersions_are_in_si(ryugu):
    spread = {
        "release.velocity": {"kind": "normal", "sigma": ["1 cm/s", "2 cm/s", "0 m/s"]},
        "release.height": {"kind": "truncated", "sigma": "1 m", "low": "50 m", "mean": "55 m"},
        "release.place": {"kind": "cap", "half_angle": "2 deg"},
        "release.rate": {"kind": "ball", "radius": "1 deg/s"},
        "release.offset": {"kind": "disc", "radius": "250 cm"},
        "contact.friction": {"kind": "log-normal", "sigma": 0.2},
        "body.gm": {"kind": "choice", "values": ["29 m^3/s^2", "31 m^3/s^2"], "weights": [1, 3]},
    }
    found = from_dict({**ryugu, "dispersions": spread}).dispersions
    assert found["release.velocity"].sigma == (0.01, 0.02, 0.0)
    assert found["release.height"].mean == (55.0,)
    assert found["release.height"].low == (50.0,)
    assert found["release.height"].high is None
    assert found["release.place"].half_angle == pytest.approx(np.radians(2.0), rel=1e-15)
    assert found["release.place"].width == 2
    assert found["release.rate"].radius == pytest.approx(np.radians(1.0), rel=1e-15)
    assert (found["release.offset"].radius, found["release.offset"].axis) == (2.5, (0, 0, 1))
    assert found["contact.friction"].sigma == (0.2,)
    assert found["body.gm"].values == ((29.0,), (31.0,))
    assert found["body.gm"].weights == (0.25, 0.75)


def test_a_covariance_of_place_and_velocity(ryugu):
    sigma = ["1 m", "2 m", "3 m", "1 cm/s", "2 cm/s", "3 cm/s"]
    correlation = np.eye(6)
    correlation[0, 3] = correlation[3, 0] = 0.5
    one = {"kind": "covariance", "sigma": sigma, "correlation": correlation.tolist()}
    found = from_dict({**ryugu, "dispersions": {"release.state": one}})
    matrix = np.array(found.dispersions["release.state"].matrix)
    assert matrix[0, 3] == pytest.approx(0.5 * 1.0 * 0.01, rel=1e-15)
    assert np.sqrt(np.diag(matrix)) == pytest.approx([1, 2, 3, 0.01, 0.02, 0.03], rel=1e-15)
    given = {"kind": "covariance", "matrix": matrix.tolist()}
    again = from_dict({**ryugu, "dispersions": {"release.state": given}})
    assert again.dispersions["release.state"].matrix == found.dispersions["release.state"].matrix


def test_keys_of_dispersions_may_stand_without_quotes(ryugu):
    text = '[dispersions]\nrelease.velocity = { kind = "normal", sigma = "5 cm/s" }'
    table = {**ryugu, **tomllib.loads(text)}
    assert list(from_dict(table).dispersions) == ["release.velocity"]


def test_numbers_by_key(ryugu, changed):
    scenario = from_dict(changed(ryugu, release__euler=["90 deg", "0 deg", "0 deg"]))
    assert scenario.number("contact.restitution") == 0.6
    assert scenario.number("body.gm") == 30.0
    assert scenario.number("body.rotation.period") == pytest.approx(7.63262 * 3600, rel=1e-15)
    assert scenario.number("release.place") == pytest.approx(np.radians([20.0, 40.0]))
    assert scenario.number("release.state").tolist() == [0.0] * 6
    turned = np.sqrt(0.5)
    assert scenario.number("release.attitude") == pytest.approx([turned, 0, 0, turned])
    with pytest.raises(InputError, match="has no value"):
        scenario.number("release.position")
    with pytest.raises(InputError, match=r'Did you mean "contact\.friction"'):
        scenario.number("contact.fricton")


def test_euler_angles_turn_about_x_then_y_then_z():
    from scipy.spatial.transform import Rotation

    angles = np.random.default_rng(3).uniform(-3.0, 3.0, (50, 3))
    expected = Rotation.from_euler("xyz", angles).as_quat()
    found = euler_attitude(angles)
    agree = np.abs(np.sum(expected * found, axis=1))
    assert agree == pytest.approx(1.0, abs=1e-14)


def test_a_scenario_is_frozen(plane):
    scenario = from_dict(plane)
    with pytest.raises(Exception, match="frozen"):
        scenario.contact.friction = 0.3
    with pytest.raises(Exception, match="frozen"):
        scenario.seed = 3


def test_the_json_schema_knows_every_key():
    made = json_schema()
    json.dumps(made)
    assert set(made["properties"]) == {*Scenario.model_fields, "kind"}
    contact = made["$defs"]["ContactSection"]["properties"]
    assert contact["scheme"]["enum"] == ["clipped", "smooth"]
    assert contact["friction"]["minimum"] == 0
    assert contact["depth"]["type"] == "string"
    assert made["$defs"]["ContactSection"]["additionalProperties"] is False
    varied = set(made["properties"]["dispersions"]["properties"])
    assert varied == {*Scenario.dispersible(), "group", "table"}


def test_every_key_is_documented():
    from tools import scenario_keys_page

    page = scenario_keys_page.PAGE.read_text(encoding="utf-8")
    assert page == scenario_keys_page.text(), "run python -m tools.scenario_keys_page"
    for key in keys(Scenario):
        if not key.startswith("made_by"):  # written by Alight, and never read
            assert f"| `{key.rpartition('.')[2]}` |" in page, key


def test_errors_are_alights_own(plane):
    with pytest.raises(AlightError):
        from_dict({**plane, "contact": []})
