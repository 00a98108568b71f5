"""Scenario files of captures and of drops on membranes: read, refused in words, built, flown."""

import dataclasses
import inspect
import pathlib
import tomllib

import numpy as np
import pytest

from alight.core.errors import InputError
from alight.core.outcomes import Outcome
from alight.engine import run_batch
from alight.membrane import Captive, Membrane, hexagon, pear
from alight.motions.capture.approach import CONTROLLERS, Corkscrew, approach
from alight.motions.capture.craft import Spacecraft
from alight.motions.capture.model import Capture
from alight.motions.membrane.model import MembraneMotion
from alight.scenario import ScenarioError, from_dict, json_schema, load, loads, prepare, simulate
from alight.scenario.building.captures import craft_of
from alight.scenario.building.membrane_drops import PROFILES, length_of, mesh_of
from alight.scenario.document import keys
from alight.scenario.document_kinds import DOCUMENTS
from alight.scenario.schema.caught_body import PROPORTIONS

FOLDER = pathlib.Path(__file__).resolve().parents[4] / "scenarios"
CAPTURE = """
kind = "capture"
[asteroid]
length = "8 m"
facets = 80
mass = "500 t"
spin = "0.5 rpm"
axis = [0.3, 0.2, 0.93]
[stop]
duration = "14 s"
"""
DROP = """
kind = "drop"
[body]
length = "3 m"
facets = 80
mass = "100 kg"
[membrane]
side = "7.5 m"
stiffness = "30 N/m^3"
damping = "1.5 N*s/m^3"
friction = 0.2
[release]
height = "3 m"
[gravity]
acceleration = ["0 m/s^2", "0 m/s^2", "-9.80665 m/s^2"]
[stop]
duration = "1.2 s"
"""
JET = {
    **{"name": "jet", "direction": [0, 0, 2], "force": "475 N", "after": "release"},
    **{"times": ["0.31 s", "0.72 s"], "levels": [1, 0]},
}


def changed(text, **changes):
    """A file's table with other values, ``section__key``; None takes one away."""
    table = tomllib.loads(text)
    for name, value in changes.items():
        *path, key = name.split("__")
        place = table
        for part in path:
            place = place.setdefault(part, {})
        if value is None:
            place.pop(key)
        else:
            place[key] = value
    return table


def refused(table):
    """Lines that a file is refused with."""
    with pytest.raises(ScenarioError) as caught:
        from_dict(table, "case.toml")
    return [str(problem) for problem in caught.value.problems]


# -- reading -----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [CAPTURE, DROP])
def test_it_reads_back_with_every_default(text):
    one = loads(text)
    assert loads(one.to_toml()) == one
    assert one.to_toml().startswith(f'kind = "{one.KIND}"')
    assert one.replaced({"seed": 4}).seed == 4


def test_a_landing_says_no_kind_and_may():
    text = (FOLDER / "paper002_landing.toml").read_text()
    one = loads(text)
    assert one.KIND == "landing"
    assert "kind" not in one.resolved()
    assert loads('kind = "landing"\n' + text) == one


def test_defaults_are_those_of_the_engine():
    one = loads(CAPTURE)
    assert craft_of(one).__dict__.keys() >= {f.name for f in dataclasses.fields(Spacecraft)}
    for field in dataclasses.fields(Spacecraft):
        assert float(getattr(one.spacecraft, field.name)) == field.default, field.name
    fabric = inspect.signature(Spacecraft.membrane).parameters
    for name in ("stiffness", "damping", "friction", "stick_stiffness", "relaxation"):
        assert float(getattr(one.membrane, name)) == fabric[name].default, name
    way = inspect.signature(CONTROLLERS["corkscrew"].__init__).parameters
    for name in ("speed", "thrust", "lead", "side", "bandwidth", "most_force", "most_torque"):
        assert float(getattr(one.approach, name)) == way[name].default, name
    for name in ("calm_speed", "calm_part", "lost_height"):
        default = {f.name: f.default for f in dataclasses.fields(Capture)}[name]
        assert float(getattr(one.stop, name)) == default, name
    for name in ("step", "method", "tolerance"):
        default = inspect.signature(Capture.run).parameters[name].default
        assert getattr(one.steps, name) == default, name
        default = inspect.signature(MembraneMotion.run).parameters[name].default
        assert getattr(loads(DROP).steps, name) == default, name
    parts = inspect.signature(pear).parameters
    assert {name: parts[name].default for name in PROPORTIONS} == PROPORTIONS


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("kind", "captur", 'kind: found "captur"; it must be one of "landing", "capture", "drop"'),
        ("kind", 3, "kind: found 3"),
        ("asteroid__lenght", "3 m", 'asteroid.lenght: unknown key. Did you mean "length"?'),
        ("asteroid__length", None, "asteroid.length: is missing"),
        ("asteroid__length", "8 kg", "is no unit of length"),
        ("asteroid__length", 8, 'did you mean "8 m"?'),
        ("asteroid__shape", "castali", 'Did you mean "castalia"?'),
        ("asteroid__shape", "castalia", None),
        ("asteroid__taper", 0.6, "at most 0.5"),
        ("asteroid__mesh", "a.obj", "asteroid.unit: is missing"),
        ("asteroid__unit", "m", "asteroid.unit: goes with mesh only"),
        ("asteroid__mass", None, "needs either mass"),
        ("asteroid__density", "2000 kg/m^3", "needs either mass"),
        ("asteroid__most_mass", "1 t", "goes with density only"),
        ("asteroid__spin", None, "needs either spin"),
        ("asteroid__rate", ["0 rpm", "0 rpm", "1 rpm"], "needs either spin"),
        ("asteroid__attitude", [0, 0, 0, 0], "all zeros"),
        ("asteroid__shapes", ["pear", "pear"], "list of different shapes"),
        ("asteroid__shapes", [], "list of different shapes"),
        ("asteroid__inertia_scale", [1.0, 0.0, 1.0], "above 0"),
        ("spacecraft", {"array_mass": "8 t"}, "spacecraft.array_mass: two arrays"),
        ("spacecraft", {"frequency": "6 rpm"}, "is no unit of frequency"),
        ("membrane", {"stiffness": "-1 N/m^3"}, "membrane.stiffness: found"),
        ("membrane", {"stiffness": "30 N/m"}, "is no unit of membrane stiffness"),
        ("membrane", {"profile": "linea"}, 'Did you mean "linear"?'),
        ("approach", {"controller": "corkscre"}, 'Did you mean "corkscrew"?'),
        ("approach", {"side": 0}, "approach.side: found 0"),
        ("approach", {"timing": "1 s"}, "which predicts nothing"),
        ("record", {"every": "1 us"}, "more than 100000 records"),
        ("lander", {}, 'It belongs in files that say kind = "landing".'),
        ("steps", {"method": "rk5"}, 'Did you mean "rk45"?'),
    ],
)
def test_what_is_wrong_with_a_capture(key, value, said):
    table = changed(CAPTURE, **{key: value})
    if said is None:
        assert from_dict(table).asteroid.shape == value
    else:
        lines = refused(table)
        assert any(said in line for line in lines), lines


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("membrane__side", None, "needs either side"),
        ("membrane__suspension", [["1 m", "0 m"]], "needs either side"),
        ("membrane__stiffness", "30 N/m", 'it must be such as "1.5 N/m^3"'),
        ("membrane__stiffness", "-30 N/m^3", "above 0"),
        ("membrane__up", [1.0, 0.0, 0.0], "membrane.up: up"),
        ("release__height", None, "release: needs either height"),
        ("release__position", ["0 m", "0 m", "1 m"], "release: needs either height"),
        ("stop__duration", None, "stop.duration: is missing"),
        ("carrier", {"mass": "1 t"}, "needs both mass and inertia"),
        ("carrier", {"thrust": ["1 N", "0 N", "0 N"]}, "carrier.thrust: acts on a carrier"),
        ("carrier", {"from_start": True}, "goes with thrust only"),
        ("carrier", {"thruster": [JET]}, "carrier.thruster: act on a carrier with mass"),
        ("body__corners", [["0 m", "0 m"]] * 3, "does not go with corners"),
        ("asteroid", {}, 'It belongs in files that say kind = "capture".'),
    ],
)
def test_what_is_wrong_with_a_drop(key, value, said):
    lines = refused(changed(DROP, **{key: value}))
    assert any(said in line for line in lines), lines


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ([["0 m", "0 m", "0 m"], ["5 m", "0 m", "0 m"]], "2 suspension points were given"),
        ([[f"{x} m", "0 m", "0 m"] for x in (0, 1, 3)], "lie on one line"),
        ([["0 m", "0 m"], ["5 m", "0 m"]], "body.corners: is missing"),
        ([["0 m", "0 m", "0 m"], ["5 m", "0 m"]], "different numbers of coordinates"),
        ([[f"{x} m", f"{y} m", "0 m"] for x, y in ((0, 0), (9, 0), (0, 9), (2, 2))], "convex"),
    ],
)
def test_suspension_points_must_span_a_membrane(points, said):
    table = changed(DROP, membrane__side=None, membrane__suspension=points)
    if len(points[0]) == len(points[1]) == 2:
        table["membrane"] |= {"stiffness": "30 N/m", "damping": "1 N*s/m"}
    lines = refused(table)
    assert len(lines) == 1
    assert said in lines[0]


def test_dispersions_are_checked():
    spread = {
        "asteroid.spin": {"kind": "uniform", "low": "0.1 rpm", "high": "0.5 rpm"},
        "asteroid.attitude": {"kind": "orientation"},
        "asteroid.axis": {"kind": "cone", "half_angle": "180 deg"},
    }
    assert set(from_dict(changed(CAPTURE, dispersions=spread)).dispersions) == set(spread)
    for key, table, said in (
        ("asteroid.rate", {"kind": "ball", "radius": "1 rpm"}, "has no value under"),
        ("asteroid.spin", {"kind": "orientation"}, "goes with attitudes only"),
        ("record.every", {"kind": "choice", "values": ["1 s"]}, "is not a number of the scenario"),
        ("release.height", {"kind": "choice", "values": ["1 m"]}, "is not a number"),
    ):
        lines = refused(changed(CAPTURE, dispersions={key: table}))
        assert any(said in line for line in lines), lines


def test_schemas_for_editors_know_the_kinds():
    for kind, text in (("capture", CAPTURE), ("drop", DROP)):
        made = json_schema(kind)
        one = loads(text)
        assert set(made["properties"]) == {*type(one).model_fields, "kind"}
        assert made["properties"]["kind"]["const"] == kind
        assert "kind" in made["required"]
        varied = set(made["properties"]["dispersions"]["properties"])
        assert varied == {*one.dispersible(), "group", "table"}
    with pytest.raises(InputError, match='Did you mean "capture"'):
        json_schema("captur")


# -- building ----------------------------------------------------------------------------------


@pytest.mark.validate
def test_a_capture_is_the_engines():
    one = loads(CAPTURE)
    found = simulate(one, device="cpu")
    craft, axis = Spacecraft(), np.array([0.3, 0.2, 0.93])
    body = Captive.from_mesh(pear(8.0, subdivisions=1), 5e5)
    same = Capture(craft.membrane(), body, craft, approach("corkscrew")).run(
        0.5 * np.pi / 30.0 * axis / np.linalg.norm(axis),
        duration=14.0,
        every=14.0 / 400.0,
        device="cpu",
    )
    assert found.outcome == same.outcome
    for name in ("bending_nm", "force_n", "slip_m", "contact_s"):
        assert found.rows[name][0] == pytest.approx(same.rows[name][0], rel=1e-9), name


def test_a_drop_is_the_engines():
    found = simulate(loads(DROP), device="cpu")
    fabric = Membrane(30.0, 1.5, 0.2, suspension=hexagon(7.5))
    body = Captive.from_mesh(pear(3.0, subdivisions=1), 100.0)
    motion = MembraneMotion(fabric, body, gravity=(0.0, 0.0, -9.80665))
    same = motion.run((0.0, 0.0, 3.0), duration=1.2, every=1.2 / 400.0, device="cpu")
    for name in ("first_contact_s", "depth_m", "force_n"):
        assert found.notes[name][0] == pytest.approx(same.notes[name][0], rel=1e-9), name


def test_shapes_have_their_length_and_mass(tmp_path):
    for shape in ("pear", "castalia", "itokawa"):
        one = from_dict(changed(CAPTURE, asteroid__shape=shape))
        assert length_of(mesh_of(one.asteroid)) == pytest.approx(8.0, rel=0.03)
    table = changed(CAPTURE, asteroid__mass=None, asteroid__density="2000 kg/m^3")
    one = from_dict(table)
    body = prepare(one, "cpu").nominal().asteroid
    assert body.mass == pytest.approx(2000.0 * body.mesh.volume, rel=1e-12)
    assert prepare(
        one.replaced({"asteroid.most_mass": "100 t"}), "cpu"
    ).nominal().asteroid.mass == pytest.approx(1e5)
    file = tmp_path / "rock.obj"
    mesh = pear(800.0, subdivisions=1)
    lines = [f"v {x} {y} {z}" for x, y, z in mesh.vertices]
    file.write_text("\n".join([*lines, *(f"f {a + 1} {b + 1} {c + 1}" for a, b, c in mesh.faces)]))
    given = {"mesh": str(file), "unit": "cm", "mass": "500 t", "spin": "0.5 rpm"}
    one = from_dict({"kind": "capture", "asteroid": given})
    assert one.asteroid.sha256
    # Eight metres in centimetres; the coarse sphere beneath the pear has no vertex at its ends.
    assert length_of(mesh_of(one.asteroid)) == pytest.approx(8.0, rel=0.1)


def test_what_runs_may_share_is_shared():
    one = loads(CAPTURE)
    values = {
        "asteroid.spin": [0.01, 0.02, 0.01],
        "membrane.friction": [0.1, 0.2, 0.3],
        "membrane.stiffness": [1.0, 1.5, 2.0],
        "approach.roll": [0.0, 1.0, 2.0],
    }
    (group,) = prepare(one, "cpu").groups(values)
    rows = run_batch(group.model, group.release, device="cpu").rows
    assert rows["friction"].tolist() == [0.1, 0.2, 0.3]
    assert len(set(rows["bending_nm"])) == 3
    values["asteroid.length"] = [8.0, 7.0, 8.0]
    (sizes,) = prepare(one, "cpu").groups(values)
    lengths = sizes.asteroid.lengths
    assert lengths[1] < lengths[0] == lengths[2]
    values["asteroid.facets"] = [80.0, 320.0, 80.0]
    first, second = prepare(one, "cpu").groups(values)
    assert (first.rows.tolist(), second.rows.tolist()) == ([0, 2], [1])
    with pytest.raises(InputError, match="cannot vary"):
        prepare(one, "cpu").groups({"campaign.runs": [1.0]})


def test_a_run_alone_has_the_bits_it_has_among_others():
    values = {"asteroid.spin": [0.02, 0.4, 0.2], "asteroid.axis": np.eye(3) + 0.2}
    prepared = prepare(loads(CAPTURE), "cpu")
    (group,) = prepared.groups(values)
    rows = run_batch(group.model, group.release, device="cpu").rows
    for i in range(3):
        (one,) = prepared.groups({key: np.asarray(a)[i : i + 1] for key, a in values.items()})
        alone = run_batch(one.model, one.release, device="cpu").rows
        alone["run"] = i
        assert alone[0].tobytes() == rows[i].tobytes(), i


def test_a_controller_of_ones_own_goes_by_its_name(monkeypatch):
    class Late(Corkscrew):
        """Twice the way."""

        name = "late"

        def plan(self, asteroids, craft):
            rows = super().plan(asteroids, craft)
            rows["distance"] += 10.0 * self.speed
            return rows

    table = changed(CAPTURE, approach={"controller": "late"}, stop__duration="25 s")
    assert "unknown controller" in refused(table)[0]
    monkeypatch.setitem(CONTROLLERS, "late", Late)
    found = simulate(from_dict(table), device="cpu")
    assert found.rows["contact_s"][0] == pytest.approx(20.0, abs=1.0)


def test_a_membrane_of_ones_own_goes_by_its_name(monkeypatch):
    class Mine(Membrane):
        """The same."""

    monkeypatch.setitem(PROFILES, "mine", Mine)
    one = from_dict(changed(CAPTURE, membrane={"profile": "mine", "more": [1.0, 2.0, 3.0]}))
    assert simulate(one, device="cpu").outcome[0].finished


def test_what_starts_through_the_membrane_is_told_with_file_and_key(monkeypatch):
    with pytest.raises(ScenarioError, match=r"case\.toml: release: the body of run 0 starts thr"):
        simulate(from_dict(changed(DROP, release__height="0.1 m"), "case.toml"), device="cpu")
    pressed = changed(DROP, release__height="0.1 m", release__in_contact=True)
    assert simulate(from_dict(pressed), device="cpu").notes["first_contact_s"][0] == 0.0

    class Close(Corkscrew):
        """Too near."""

        def plan(self, asteroids, craft):
            rows = super().plan(asteroids, craft)
            rows["distance"] -= 3.0
            return rows

    monkeypatch.setitem(CONTROLLERS, "corkscrew", Close)
    with pytest.raises(ScenarioError, match=r"scenario: approach: the asteroid of run 0 starts"):
        simulate(loads(CAPTURE), device="cpu")
    with pytest.raises(ScenarioError, match=r"asteroid\.inertia_scale: .* no body has"):
        simulate(from_dict(changed(CAPTURE, asteroid__inertia_scale=[1.0, 1.0, 5.0])), device="cpu")


def test_a_carrier_with_a_mass_is_pushed():
    carrier = {
        "mass": "15 t",
        "inertia": ["6e4 kg*m^2", "6e4 kg*m^2", "2e4 kg*m^2"],
        "thrust": ["0 N", "0 N", "475 N"],
        "from_start": True,
    }
    table = changed(DROP, carrier=carrier, gravity=None, release__height="9 m")
    found = simulate(from_dict(table), device="cpu")
    # No contact in 1.2 s: v = F t / m, to the rounding of the steps.
    assert found.craft_velocity[0, -1, 2] == pytest.approx(475.0 / 15e3 * 1.2, rel=1e-9)


def test_thrusters_of_a_carrier_and_of_a_craft():
    moments = ["6e4 kg*m^2", "6e4 kg*m^2", "2e4 kg*m^2"]
    carrier = {"mass": "15 t", "inertia": moments, "thruster": [JET]}
    one = from_dict(changed(DROP, carrier=carrier, gravity=None, release__height="9 m"))
    assert loads(one.to_toml()) == one
    found = simulate(one, device="cpu")
    assert found.craft_velocity[0, -1, 2] == pytest.approx(475.0 / 15e3 * 0.41, rel=1e-9)
    both = [JET, {**JET, "name": "after", "after": "touch"}]
    capture = from_dict(changed(CAPTURE, spacecraft__thruster=both))
    assert loads(capture.to_toml()) == capture
    made = prepare(capture, device="cpu").nominal().model.pushers
    told = [(one.name, one.force, one.schedule.after) for one in made]
    assert told == [
        *(("main", 475.0, "touch"), ("jet", 475.0, "release"), ("after", 475.0, "touch")),
    ]
    stronger = capture.replaced({"spacecraft.thruster.jet.force": 600.0})
    assert prepare(stronger, device="cpu").nominal().model.pushers[1].force == 600.0


def test_what_is_wrong_with_thrusters_of_a_craft():
    lines = refused(changed(CAPTURE, spacecraft__thruster=[JET, {**JET, "after": "rest"}]))
    assert any("two have this name" in line for line in lines), lines
    assert any("which comes to landers" in line for line in lines), lines
    lines = refused(changed(CAPTURE, spacecraft__thruster=[{**JET, "levels": [1]}]))
    assert any("spacecraft.thruster.jet: a schedule has 2 times" in line for line in lines), lines


# -- shipped -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["paper003_capture", "paper003_low_friction"])
def test_shipped_captures_hold(name):
    one = load(FOLDER / f"{name}.toml").replaced({"asteroid.facets": 80, "stop.duration": 40.0})
    found = simulate(one, device="cpu")
    assert found.rows["success"][0]
    assert found.rows["contact_s"][0] == pytest.approx(10.0, abs=1.0)
    assert 100.0 < found.rows["bending_nm"][0] < 400.0
    assert found.rows["force_n"][0] == pytest.approx(1.25e3, rel=0.1)


def test_the_shipped_drop_is_figure_five():
    """First contact at 1.256 s, off at 2.240 s, as docs/explanation/membrane.md has them."""
    found = simulate(load(FOLDER / "paper003_drop.toml"), device="cpu")
    assert found.outcome == [Outcome.TIMED_OUT]
    assert found.notes["first_contact_s"][0] == pytest.approx(1.256, abs=1e-3)
    assert found.notes["release_s"][0] == pytest.approx(2.240, abs=5e-3)


def test_a_plate_stays_in_its_plane():
    one = load(FOLDER / "paper003_2d.toml")
    for key, value in (("velocity", ["0 m/s", "1 m/s", "0 m/s"]), ("attitude", [0.1, 0, 0, 1])):
        with pytest.raises(ScenarioError, match=f"release: the {key} leads out of the plane"):
            simulate(one.replaced({f"release.{key}": value}), device="cpu")


def test_the_shipped_plate_bounces_in_its_plane():
    found = simulate(load(FOLDER / "paper003_2d.toml"), device="cpu")
    assert found.notes["contacts"][0] == 1
    assert np.abs(found.position[0, :, 1]).max() == 0.0


def test_the_shipped_thousand_draw_shape_and_length():
    one = load(FOLDER / "paper003_dispersed.toml")
    from alight.campaign import sample

    values = sample(one, np.arange(40))
    groups = prepare(one, "cpu").groups(values)
    assert len(groups) == 7  # one a shape: lengths are rows of it
    assert len({group.shape for group in groups}) == 7
    for group in groups:
        wanted = values["asteroid.length"][group.rows]
        assert group.asteroid.lengths.tolist() == pytest.approx(wanted.tolist(), rel=0.03)


# -- the manual --------------------------------------------------------------------------------


def test_every_key_is_documented():
    page = (FOLDER.parent / "docs" / "reference" / "scenario_keys.md").read_text()
    for kind in ("capture", "drop"):
        for key in keys(DOCUMENTS[kind]):
            if not key.startswith("made_by"):
                assert f"| `{key.rpartition('.')[2]}` |" in page, key


@pytest.mark.parametrize("head", ["## Captures", "## Drops"])
def test_the_examples_of_the_manual_read(head):
    text = (FOLDER.parent / "docs" / "how_to" / "scenarios.md").read_text().split(head)[1]
    assert loads(text.split("```toml")[1].split("```")[0]).KIND in head.lower()
