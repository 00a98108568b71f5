"""Articulated landers in scenario files: read, told what is wrong, built, written out again."""

import pathlib
import re
import sys

import numpy as np
import pytest

from alight.contact.hertz import Hertz
from alight.core.errors import FileError, InputError
from alight.engine import run_batch, simulate
from alight.gravity import Uniform
from alight.motions import TreeModel, TreeRelease, TreeStop
from alight.scenario import ScenarioError, from_dict, json_schema, loads, prepare
from alight.scenario import simulate as simulate_scenario
from alight.surfaces import Plane, Rough
from alight.surfaces.patch import Patch
from alight.vehicles import (
    Belly,
    Crushable,
    Joint,
    Pad,
    Schedule,
    Slosh,
    Thruster,
    Tree,
    TreeBody,
    dcap_lander,
)

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))  # tests are no package

from tree_case import PLACES, TEXT, part, table

URDF = """<robot name="hopper">
  <link name="bus"><inertial><mass value="20"/>
    <inertia ixx="2" iyy="2" izz="2"/></inertial></link>
  <link name="foot"><inertial><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
  <joint name="knee" type="prismatic"><parent link="bus"/><child link="foot"/>
    <axis xyz="0 0 1"/><limit lower="0" upper="0.2"/></joint>
</robot>
"""


def by_hand():
    """The same lander, ground and release, from Python."""
    bodies = [
        TreeBody("bus", 40.0, (12, 12, 15)),
        TreeBody("liquid", 3.0, (0, 0.01, 0.01), (0, 0, -0.2)),
    ]
    joints = [
        Joint("bus", "free"),
        Joint(
            *("liquid", "revolute", "bus", (0, 0, 0.2)), axis=(0, 1, 0), stiffness=3.0, damping=0.3
        ),
    ]
    pads, crushables = [], []
    for k, (x, y) in enumerate(PLACES, 1):
        name = f"leg-{k}"
        bodies.append(TreeBody(name, 2.0, (0.02, 0.02, 0), (0, 0, -0.2)))
        joints.append(Joint(name, "prismatic", "bus", (x, y, -0.2), axis=(0, 0, 2)))
        pads.append(Pad(name, (0, 0, -0.4)))
        crushables.append(Crushable(name, 8.0, 0.15))
    hold = Thruster(
        3.0, (0, 0, -1), (0, 0, 0.5), Schedule((0.1, 20.0), (1, 0), "touch"), body="bus"
    )
    tree = Tree("lander", bodies, joints)
    model = TreeModel(
        *(tree, [*pads, *crushables, hold, Slosh("liquid", (0, 0, -1), "bus")]),
        *(Uniform((0, 0, -0.02)), Plane(), Hertz(2e4, 100.0, 0.3)),
        stop=TreeStop(max_time=60.0, settle_time=1.0),
    )
    half = np.radians(1.5)
    turn = (np.sin(half), 0, 0, np.cos(half))
    start = np.zeros(tree.n_q - 7)
    start[0] = np.radians(2.0)
    place, velocity = (0, 0, 0.72), (0.05, 0, -0.2)
    return model, TreeRelease.of(tree, place, velocity, turn, joints=start)


@pytest.fixture(scope="module")
def found():
    """The landing of the file."""
    return simulate_scenario(loads(TEXT))


def test_the_file_says_what_python_says(found):
    expected = simulate(*by_hand())
    assert np.array_equal(found.lines, expected.lines)
    assert found.outcome is expected.outcome
    assert found.peaks.stroke.max() > 0.01
    assert found.peaks.slosh[0, 0] >= 0.999 * np.radians(2.0)


def test_written_out_it_lands_the_same(found):
    scenario = loads(TEXT)
    again = loads(scenario.to_toml())
    assert again == scenario
    assert np.array_equal(simulate_scenario(again).lines, found.lines)


def test_defaults_are_those_of_articulated_landers():
    scenario = from_dict({**table(), "stop": {}})
    assert scenario.number("stop.max_time") == 1e3
    assert scenario.number("stop.tip_angle") == pytest.approx(np.pi / 3.0)
    assert scenario.steps.integrator == "pece"
    assert scenario.number("steps.tolerance") == 1e-7
    model = prepare(from_dict({**table(), "steps": {"integrator": "rk4", "step": "2 ms"}}))
    steps = model.nominal().model.steps
    assert (steps.integrator, steps.step) == ("rk4", 2e-3)


def test_the_lander_of_paper_002_by_name():
    given = table()
    given["lander"] = {"name": "DCAP", "crush_force": "300 N"}
    scenario = from_dict(given)
    assert loads(scenario.to_toml()) == scenario
    assert scenario.number("lander.leg_mass") == 5.0
    model, expected = prepare(scenario).nominal().model, dcap_lander(crush_force=300.0)
    assert str(model.tree) == str(expected.tree)
    assert {c.force for c in model.fitted.crushables} == {300.0}
    assert np.array_equal(model.up, (0.0, 1.0, 0.0))


def test_motors_after_rest_have_a_top_speed():
    """In the units of the joint: it turns, or it slides."""
    given = table()
    later = {"after": "rest", "times": ["5 s"], "levels": [1], "repeats": 3}
    given["lander"]["motor"] = [
        {"body": "liquid", "torque": "2 N*m", "top_speed": "60 rpm", **later},
        {"body": "leg-1", "torque": "-3 N", "top_speed": "2 cm/s"},
    ]
    turns, slides = prepare(from_dict(given)).nominal().model.fitted.actuators[1:]
    assert (turns.top_speed, slides.top_speed) == (pytest.approx(2.0 * np.pi), 0.02)
    assert (turns.slowing, slides.slowing) == (pytest.approx(1.0 / np.pi), pytest.approx(150.0))
    assert (turns.schedule.after, turns.schedule.repeats) == ("rest", 3)
    given["lander"]["motor"][1]["top_speed"] = "2 rad/s"
    assert any("must be a speed" in line for line in faults(given))


def test_a_finite_plane():
    given = table()
    given["ground"] = {"kind": "patch", "length": "4 m", "width": "3 m"}
    scenario = from_dict(given)
    assert loads(scenario.to_toml()) == scenario
    ground = prepare(scenario).nominal().model.surface
    assert ground.query([[0.0, 0.0, 0.5], [3.0, 0.0, 0.0]])[0] == pytest.approx([0.5, 1.0])
    given["ground"] = {"kind": "patch", "length": "4 m", "noise": {"amplitude": "1 m"}}
    given["ground"]["noise"]["wavelength"] = "9 m"
    assert [line.partition(":")[0] for line in faults(given)] == ["ground.width"]
    given["ground"]["width"] = "3 m"
    rough = prepare(from_dict(given)).nominal().model.surface
    assert isinstance(rough, Rough)
    assert isinstance(rough.base, Patch)


# -- what is wrong ---------------------------------------------------------------------------------


def faults(given):
    with pytest.raises(ScenarioError) as caught:
        from_dict(given, "case.toml")
    return [str(problem) for problem in caught.value.problems]


def changed(where, who, values):
    """The case with other values in one of its parts; None takes a value away."""
    given = table()
    entry = part(given, where, who)
    for key, value in values.items():
        entry[key] = value
        if value is None:
            del entry[key]
    return given


@pytest.mark.parametrize(
    ("kind", "name", "values", "said"),
    [
        ("joint", "leg-1", {"parent": "leg-1"}, "lander.joint: the joints of the lander run in a"),
        ("joint", "leg-1", {"parent": "bos"}, 'Did you mean "bus"?'),
        ("joint", "leg-1", {"axis": [0, 0, 0]}, "lander.joint.leg-1.axis: found [0, 0, 0]"),
        ("joint", "leg-1", {"axis": None}, "lander.joint.leg-1: joint"),
        ("joint", "leg-1", {"kind": "prismatik"}, 'Did you mean "prismatic"?'),
        ("joint", "leg-1", {"stiffness": "3 N*m/rad"}, "it must be a stiffness, such as"),
        ("joint", "leg-1", {"stiffness": "3 kg"}, '"10 N*m/rad" or "4e4 N/m"'),
        ("joint", "leg-1", {"stiffness": 3.0}, "lander.joint.leg-1.stiffness: found 3.0"),
        ("joint", "leg-1", {"upper": "1 m"}, "stops without stiffness"),
        ("joint", "leg-1", {"turn": [0, 0, 0, 1], "euler": ["0 deg"] * 3}, "both turn and euler"),
        ("joint", "leg-1", {"kind": "fixed", "start": "1 deg", "axis": None}, "start does not go"),
        ("joint", "bus", {"kind": "fixed"}, 'found "fixed"; the first body must be "free"'),
        ("joint", "bus", {"knd": "free"}, 'lander.joint.bus.knd: unknown key. Did you mean "kind"'),
        ("body", "leg-1", {"mass": None, "inertia": None}, "lander.body: nothing resists"),
        ("body", "leg-1", {"mass": "-1 kg"}, "lander.body.leg-1.mass: found"),
        ("body", "leg-1", {"mass": "1e308 kg", "center": ["1e308 m"] * 3}, "lander"),
        ("body", "leg-1", {"name": "leg.1"}, "letters, digits, - and _ alone"),
        ("body", "leg-1", {"inertia": ["1 kg*m^2", "1 kg*m^2", "9 kg*m^2"]}, "exceeds the sum"),
        ("pad", "leg-1", {"body": "leg1"}, "lander.pad.leg1.body: unknown body"),
        ("pad", "leg-1", {"radius": "-1 cm"}, "at least 0 m"),
        ("crushable", "leg-1", {"limit": "-15 cm"}, 'lander.crushable.leg-1.limit: found "-15 cm"'),
        ("crushable", "leg-1", {"body": "bus"}, 'is on the free joint of body "bus"'),
        ("crushable", "leg-1", {"crushed": "16 cm"}, "more than its limit"),
        ("crushable", "leg-1", {"force": None}, "lander.crushable.leg-1.force: is missing"),
        ("thruster", "bus", {"times": ["0 s"]}, "1 times and 2 levels"),
        ("thruster", "bus", {"after": "touchdown"}, 'Did you mean "touch"?'),
        ("slosh", "liquid", {"direction": [0, 0, 0]}, "has no direction"),
    ],
)
def test_what_is_wrong_with_a_part(kind, name, values, said):
    lines = faults(changed(kind, name, values))
    assert any(said in line for line in lines), lines


@pytest.mark.parametrize(
    ("section", "values", "said"),
    [
        ("lander", {"pad": []}, "has no [[lander.pad]]"),
        ("lander", {"pad": 3}, "it must be a list of tables"),
        ("lander", {"mass": "3 kg"}, "give it in each [[lander.body]]"),
        ("lander", {"leg_mass": "3 kg"}, 'goes with name = "dcap"'),
        ("lander", {"urdf": "a.urdf"}, "does not go with urdf"),
        ("lander", {"ignore_limits": True}, "goes with urdf only"),
        ("lander", {"side": "1 m"}, 'does not go with shape = "tree"'),
        ("lander", {"shape": "cube"}, 'lander.body: goes with shape = "tree"'),
        ("lander", {"body": [], "joint": []}, "needs [[lander.body]] and [[lander.joint]]"),
        ("contact", {"law": "compliant"}, 'needs law = "hertz"'),
        ("contact", {"law": None}, 'an articulated lander needs law = "hertz"'),
        ("contact", {"stiffness": None}, 'is missing; it must be given, such as "4e4 N/m"'),
        ("contact", {"stiffness": "1e5 N/m"}, 'it must be such as "1e5 N/m^1.5"'),
        ("contact", {"restitution": 0.5}, 'does not go with law = "hertz"'),
        ("contact", {"depth": "1 mm"}, 'does not go with law = "hertz"'),
        ("contact", {"slip_speed": "1 mm/s"}, 'does not go with law = "hertz"'),
        ("contact", {"tangential_stiffness": "0 N/m"}, "contact.tangential_stiffness: found"),
        ("contact", {"tangential_damping": "3 m"}, "contact.tangential_damping: found"),
        ("stop", {"tip_angle": "200 deg"}, "stop.tip_angle: found"),
        ("steps", {"integrator": "rk45"}, 'steps.integrator: found "rk45"'),
        (
            "ground",
            {"region": [{"name": "ice", "south": "0 deg", "north": "9 deg", "restitution": 0.5}]},
            "ground.region.ice.restitution: found 0.5, which springs of Hertz do not have",
        ),
        (
            "ground",
            {"region": [{"name": "a", "south": "0 deg", "north": "9 deg", "static_friction": 1}]},
            "ground.region.a.static_friction: found 1, which springs of Hertz do not have",
        ),
        ("lander", {"belly": [{"body": "bus"}]}, "lander.belly.bus: has neither points nor box"),
        (
            "lander",
            {"belly": [{"body": "bus", "box": ["1 m", "1 m", "1 m"], "radius": "1 m"}]},
            "lander.belly.bus: has a radius, which does not go with box",
        ),
        ("lander", {"belly": [{"body": "bas", "points": []}]}, 'Did you mean "bus"'),
        ("lander", {"bus_touches": True}, 'goes with name = "dcap"'),
        ("lander", {"collision": True}, "goes with urdf only"),
        ("release", {"position": None}, "over a plane it must be given"),
    ],
)
def test_what_does_not_fit_together(section, values, said):
    given = table()
    place = given.setdefault(section, {})
    for key, value in values.items():
        place[key] = value
        if value is None:
            del place[key]
    if section == "ground":
        given["ground"] = {"kind": "sphere", "radius": "1 km", **values}
        given["release"] = {"latitude": "0 deg", "longitude": "0 deg", "height": "1 m"}
    lines = faults(given)
    assert any(said in line for line in lines), lines


def test_rigid_landers_do_not_tip_over(plane):
    lines = faults({**plane, "stop": {"tip_angle": "30 deg"}, "steps": {"integrator": "pece"}})
    assert [line.partition(":")[0] for line in lines] == ["stop.tip_angle", "steps.integrator"]
    lines = faults({**plane, "contact": {"law": "hertz", "stiffness": "1e5 N/m^1.5"}})
    assert "is for articulated landers" in lines[0]
    lines = faults({**plane, "contact": {"stiffness": "1e5 N/m^1.5"}})
    assert 'with law = "compliant" it must be such as "4e4 N/m"' in lines[0]


# -- ground that varies, and bellies ---------------------------------------------------------------


def test_regions_under_pads():
    given = table()
    ice = {"name": "ice", "center": ["9 m", "0 m", "0 m"], "radius": "5 m", "friction": 0.02}
    given["ground"]["region"] = [ice]
    given["dispersions"] = {"ground.region.ice.friction": {"kind": "uniform", "low": 0, "high": 1}}
    scenario = from_dict(given)
    assert loads(scenario.to_toml()) == scenario
    (together,) = prepare(scenario).groups({"ground.region.ice.friction": [0.0, 0.5]})
    ground = together.model.contact.ground
    assert together.model.contact.count == 2
    places = [(3.0, 0.0, 0.0), (9.0, 0.0, 0.0)]
    for row, friction in enumerate((0.0, 0.5)):
        at = ground.evaluate(places, row, device="cpu")
        own = at.factor[:, 1] * together.model.contact.friction[0] + at.value[:, 1]
        assert own.tolist() == [0.3, friction]


def test_a_map_under_pads(tmp_path):
    (tmp_path / "ground.csv").write_text(
        "latitude_deg,longitude_deg,friction\n"
        + "".join(f"{lat},{lon},{0.5 if lat > 0 else 1}\n" for lat in (-45, 45) for lon in (0, 180))
    )
    given = table()
    given["ground"] = {"kind": "sphere", "radius": "1 km", "map": "ground.csv"}
    given["release"] = {"latitude": "0 deg", "longitude": "0 deg", "height": "1 m"}
    scenario = from_dict(given, "case.toml", tmp_path)
    law = prepare(scenario).nominal().model.contact
    assert law.ground.evaluate([(0, 0, 1)], device="cpu").factor[0, 1] == 0.5


def test_bellies_of_a_file_are_those_of_python():
    given = table()
    corners = [["0.5 m", "0 m", "-0.2 m"], ["-0.5 m", "0 m", "-0.2 m"]]
    given["lander"]["belly"] = [
        {"body": "bus", "points": corners, "radius": "2 cm"},
        {"body": "bus", "name": "box", "box": ["1 m", "2 m", "0.4 m"], "place": ["0 m"] * 3},
    ]
    scenario = from_dict(given)
    assert loads(scenario.to_toml()) == scenario
    first, second = prepare(scenario).nominal().model.fitted.bellies
    assert np.asarray(first.points).tolist() == [[0.5, 0, -0.2], [-0.5, 0, -0.2]]
    assert (first.name, first.radius) == ("bus", 0.02)
    box = Belly.box("bus", (1.0, 2.0, 0.4))
    assert np.array_equal(np.asarray(second.points), np.asarray(box.points))


def test_the_bus_of_paper_002_touches_where_it_is_asked_to():
    given = table()
    given["lander"] = {"name": "dcap", "bus_touches": True}
    model = prepare(from_dict(given)).nominal().model
    assert len(model.fitted.touching) == 3 + 7
    given["lander"] = {"name": "dcap"}
    assert not prepare(from_dict(given)).nominal().model.fitted.bellies


# -- URDF ------------------------------------------------------------------------------------------


def robot(folder, text=URDF, **keys):
    (folder / "hopper.urdf").write_text(text)
    given = table()
    given["lander"] = {
        "shape": "tree",
        "urdf": "hopper.urdf",
        "slide_stiffness": "1e4 N/m",
        "pad": [{"body": "foot"}],
        **keys,
    }
    return given


def test_bodies_and_joints_from_a_urdf_file(tmp_path):
    scenario = from_dict(robot(tmp_path), "case.toml", tmp_path)
    model = prepare(scenario).nominal().model
    assert [body.name for body in model.tree.bodies] == ["bus", "foot"]
    assert model.tree.joints[1].stop_stiffness == 1e4
    again = loads(scenario.to_toml())
    assert again == scenario
    (tmp_path / "hopper.urdf").write_text(URDF.replace("20", "21"))
    with pytest.raises(ScenarioError, match=r"lander\.sha256: .* has changed"):
        loads(scenario.to_toml())


@pytest.mark.parametrize(
    ("keys", "text", "said"),
    [
        (
            {},
            URDF.replace("<axis", "<axes"),
            r"lander\.urdf: hopper\.urdf: line 7: unknown",
        ),
        ({}, "<robot>", r"lander\.urdf: hopper\.urdf: this is not an XML file"),
        ({"slide_stiffness": "0 N/m"}, URDF, r"lander\.slide_stiffness: found"),
        ({"pad": [{"body": "fot"}]}, URDF, 'Did you mean "foot"'),
        ({"pad": []}, URDF, r"has no \[\[lander\.pad\]\]"),
    ],
)
def test_what_is_wrong_with_a_urdf_file(tmp_path, keys, text, said):
    with pytest.raises((ScenarioError, FileError), match=said):
        from_dict(robot(tmp_path, text, **keys), "case.toml", tmp_path)


HULLS = URDF.replace(
    '<link name="foot">',
    '<link name="foot"><collision><origin xyz="0 0 -1" rpy="0 1.5707963267948966 0"/>'
    '<geometry><cylinder radius="0.5" length="2"/></geometry></collision>',
).replace(
    '<link name="bus">',
    '<link name="bus"><collision><geometry><box size="2 2 1"/></geometry></collision>'
    '<collision><geometry><sphere radius="0.3"/></geometry></collision>',
)


def test_collision_geometry_of_a_urdf_file(tmp_path):
    scenario = from_dict(robot(tmp_path, HULLS, collision=True), "case.toml", tmp_path)
    assert loads(scenario.to_toml()) == scenario
    bellies = prepare(scenario).nominal().model.fitted.bellies
    assert [b.name for b in bellies] == ["bus 1", "bus 2", "foot"]
    box, ball, rod = (np.asarray(b.points) for b in bellies)
    assert np.ptp(box, axis=0).tolist() == [2.0, 2.0, 1.0]
    assert ball.tolist() == [[0.0, 0.0, 0.0]]
    assert bellies[1].radius == 0.3
    np.testing.assert_allclose(np.ptp(rod, axis=0), (2.0, 1.0, 1.0))  # its length lies along x
    np.testing.assert_allclose(rod.mean(axis=0), (0.0, 0.0, -1.0), atol=1e-12)
    left_out = from_dict(robot(tmp_path, HULLS), "case.toml", tmp_path)
    assert not prepare(left_out).nominal().model.fitted.bellies


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('box size="2 2 1"', 'mesh filename="a.stl"', "a <collision> is a <mesh>; read are box"),
        ('box size="2 2 1"', 'box size="2 0 1"', "size of <box> must be above 0"),
        ('box size="2 2 1"', 'bok size="2 2 1"', 'Did you mean "box"'),
        ('<box size="2 2 1"/>', "", "holds 0 shapes"),
    ],
)
def test_what_is_wrong_with_collision_geometry(tmp_path, old, new, said):
    text = HULLS.replace(old, new)
    with pytest.raises((ScenarioError, FileError), match=said):
        from_dict(robot(tmp_path, text, collision=True), "case.toml", tmp_path)
    from_dict(robot(tmp_path, text), "case.toml", tmp_path)  # what is not read does not matter


def test_a_urdf_file_that_is_not_there(tmp_path):
    given = robot(tmp_path)
    given["lander"]["urdf"] = "hoper.urdf"
    with pytest.raises(ScenarioError, match=r'lander\.urdf: cannot read.*Did you mean "hopper'):
        from_dict(given, "case.toml", tmp_path)


# -- numbers by key, dispersions -------------------------------------------------------------------


def test_numbers_of_parts_go_by_name():
    scenario = loads(TEXT)
    assert scenario.number("lander.crushable.leg-2.force") == 8.0
    assert scenario.number("lander.joint.liquid.stiffness") == 3.0
    other = scenario.replaced(
        {
            "lander.joint.liquid.stiffness": 4.0,
            "contact.stiffness": 1e5,
            "lander.body.bus.mass": 9.0,
        }
    )
    assert other.lander.joint[1].stiffness.text == "4.0 N*m/rad"
    assert other.contact.stiffness.text == "100000.0 N/m^1.5"
    assert other.number("lander.body.bus.mass") == 9.0
    with pytest.raises(InputError, match=r'no crushable "leg-4".*Did you mean "leg-'):
        scenario.replaced({"lander.crushable.leg-4.force": 3.0})
    with pytest.raises(InputError, match=r'has no key "lander\.pad\.leg-1\.radus"'):
        scenario.number("lander.pad.leg-1.radus")


def test_what_differs_between_runs():
    spread = {
        "contact.stiffness": {"kind": "log-normal", "sigma": 0.1},
        "contact.friction": {"kind": "uniform", "low": 0.1, "high": 0.5},
        "lander.crushable.leg-1.force": {"kind": "uniform", "low": "6 N", "high": "9 N"},
        "ground.normal": {"kind": "cone", "half_angle": "5 deg"},
    }
    scenario = from_dict({**table(), "dispersions": spread})
    prepared = prepare(scenario)
    (together,) = prepared.groups({"contact.friction": [0.1, 0.2], "contact.stiffness": [1e4, 2e4]})
    assert together.model.contact.friction.tolist() == [0.1, 0.2]
    assert len(together.release) == 2
    apart = prepared.groups({"lander.crushable.leg-1.force": [6.0, 8.0, 6.0]})
    assert [group.rows.tolist() for group in apart] == [[0, 2], [1]]
    assert apart[0].model.fitted.crushables[0].force == 6.0
    steep = prepared.groups({"ground.normal": [[0.1, 0.0, 1.0], [0.0, 0.0, 1.0]]})
    (steep,) = steep  # a plane for each run
    result = run_batch(steep.model, steep.release, device="cpu")
    assert not np.array_equal(result.q[0], result.q[1])


@pytest.mark.parametrize(
    ("key", "values", "said"),
    [
        ("lander.crushable.leg-4.force", {"kind": "normal", "sigma": "1 N"}, "has no value under"),
        ("lander.joint.leg-1.kind", {"kind": "choice", "values": ["fixed"]}, "is not a number"),
        ("lander.joint.liquid.stiffness", {"kind": "normal", "sigma": "0.1 N/m"}, "is no unit of"),
        ("contact.stiffness", {"kind": "normal", "sigma": "1 N/m"}, "is no unit of Hertz"),
        ("contact.restitution", {"kind": "uniform", "low": 0.1, "high": 1}, "go with law"),
        ("lander.body.bus.mass", {"kind": "normal", "sigma": "10 kg"}, "beyond what"),
    ],
)
def test_what_cannot_vary(key, values, said):
    lines = faults({**table(), "dispersions": {key: values}})
    assert any(said in line for line in lines), lines


def test_the_json_schema_knows_trees():
    made = json_schema()
    joint = made["$defs"]["JointSection"]["properties"]
    assert joint["kind"]["enum"][-1] == "free"
    assert joint["stiffness"]["examples"] == ["10 N*m/rad", "4e4 N/m"]
    assert "integrator" in made["$defs"]["StepsSection"]["properties"]
    patterns = made["properties"]["dispersions"]["patternProperties"]
    assert any(re.match(p, "lander.crushable.leg-1.force") for p in patterns)
    assert not any(re.match(p, "lander.joint.leg-1.kind") for p in patterns)


def test_models_and_releases_go_together(plane):
    rigid, tree = prepare(from_dict(plane)).nominal(), prepare(loads(TEXT)).nominal()
    with pytest.raises(InputError, match="a TreeModel goes with a TreeRelease"):
        run_batch(tree.model, rigid.release)
    with pytest.raises(InputError, match="the release a TreeRelease"):
        simulate(rigid.model, tree.release)
