"""Rigid contact, facets and rocks in scenarios: as any other law, dispersed and in campaigns."""

import dataclasses
import re

import numpy as np
import pytest

from alight import surfaces
from alight.campaign import run_campaign
from alight.campaign.dispersions.sampling import sample
from alight.campaign.tables.inputs import units_of
from alight.contact import Compliant, Impulse
from alight.contact.hull.supported_surfaces import HULL_TOUCHES
from alight.core import frames
from alight.core.errors import InputError
from alight.core.outcomes import Outcome
from alight.engine import run_batch
from alight.scenario import from_dict, json_schema, load, loads, prepare, shipped_scenarios
from alight.scenario.errors import ScenarioError
from alight.scenario.schema.contact import DEFAULTS, LAWS, ContactSection
from alight.surfaces.rocks.size_law import COUNTS

#: Shipped scenarios as small as they can be; other tests of them use the same kernels.
COARSE = {"body.facets": 320, "gravity.vertices": 42}


@pytest.fixture(scope="module")
def cube():
    """The rigid cube over Itokawa, coarse."""
    return load(shipped_scenarios.find("itokawa_cube").path).replaced(COARSE)


@pytest.fixture(scope="module")
def among_rocks():
    """The rover among the rocks of Ryugu, coarse."""
    given = load(shipped_scenarios.find("ryugu_minerva_rocks").path)
    return given.replaced({**COARSE, "ground.spacing": 22.0})


def numbers(law):
    """All that a law is; not how it was written down."""
    return {name: value for name, value in vars(law).items() if name != "_made_with"}


def told(table, folder="."):
    with pytest.raises(ScenarioError) as caught:
        from_dict(table, "case.toml", folder)
    return str(caught.value)


# -- the contact law -----------------------------------------------------------------------------


def test_each_law_has_its_own_defaults_and_the_other_one_none(plane, changed):
    springs = from_dict(plane).contact
    rigid = from_dict(changed(plane, contact__law="impulse")).contact
    assert (springs.law, rigid.law) == ("compliant", "impulse")
    for one, other in ((springs, "impulse"), (rigid, "compliant")):
        for key, value in DEFAULTS[one.law].items():
            assert getattr(one, key) == value
        assert all(getattr(one, key) is None for key in LAWS[other])
    # Keys that are bound to a law, and those of both, are all there are.
    both = {"law", "restitution", "friction", "static_friction"}
    both |= {"rolling_resistance", "patch_radius"}
    assert {*ContactSection.model_fields} == both | {key for keys in LAWS.values() for key in keys}


def test_defaults_are_those_of_the_classes(plane, changed):
    """A contact that says no more than its restitution is ``Compliant(e)`` or ``Impulse(e)``."""
    springs = prepare(from_dict(plane), "cpu").nominal().model.contact
    rigid = prepare(from_dict(changed(plane, contact__law="impulse")), "cpu").nominal().model
    assert numbers(springs) == numbers(Compliant(0.6))
    assert isinstance(rigid.contact, Impulse)
    assert numbers(rigid.contact) == numbers(Impulse(0.6))


def test_every_key_of_the_impulse_law_reaches_the_model(plane, changed):
    given = {
        "law": "impulse",
        "restitution": 0.0,
        "friction": 0.3,
        "static_friction": 0.4,
        "rolling_resistance": "1 mm",
        "patch_radius": "3 mm",
        "hop": "2 mm",
        "stride": 0.05,
    }
    scenario = from_dict({**plane, "contact": given})
    found = prepare(scenario, "cpu").nominal().model.contact
    expected = Impulse(
        0.0, 0.3, static_friction=0.4, rolling_resistance=1e-3, patch_radius=3e-3, hop=2e-3,
        stride=0.05,
    )  # fmt: skip
    assert numbers(found) == numbers(expected)
    assert loads(scenario.to_toml()) == scenario


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"law": "impuls"}, 'contact.law: found "impuls".*Did you mean "impulse"'),
        ({"depth": "1 mm"}, 'contact.depth: does not go with law = "impulse".* hop, stride'),
        ({"scheme": "smooth"}, 'contact.scheme: does not go with law = "impulse"'),
        ({"stiffness": "4e4 N/m"}, 'contact.stiffness: does not go with law = "impulse"'),
        ({"rolling_law": "torque"}, 'contact.rolling_law: does not go with law = "impulse"'),
        (
            {"law": "compliant", "rolling_law": "force"},
            'contact.rolling_law: found "force".*"torque".*"compensated"',
        ),
        ({"law": "compliant", "hop": "1 mm"}, 'contact.hop: does not go with law = "compliant"'),
        (
            {"law": "compliant", "restitution": 0},
            "contact.restitution: found 0; springs need at least 1e-12.*impulse",
        ),
        ({"restitution": None}, "contact.restitution: is missing"),
        ({"restitution": 1.1}, "contact.restitution: found 1.1; .*at least 0 and at most 1"),
        ({"hop": "0 m"}, "contact.hop: found .*above 0 m"),
        ({"hop": 1e-4}, 'contact.hop: found the bare number 0.0001.*"0.0001 m"'),
        ({"stride": 0}, "contact.stride: found 0; .*above 0"),
        ({"stride": 1.5}, "contact.stride: found 1.5; .*at most 1"),
        ({"static_friction": 0.1}, "contact.static_friction: found 0.1, below friction"),
    ],
)
def test_what_is_wrong_with_a_contact(plane, values, said):
    contact = {"law": "impulse", "restitution": 0.6, **values}
    table = {**plane, "contact": {k: v for k, v in contact.items() if v is not None}}
    assert re.search(f"case.toml: {said}", told(table))


@pytest.mark.parametrize(
    "ground",
    [
        {"rocks": {"smallest": "5 m"}},
        {"interpolation": "trilinear"},
    ],
)
def test_rigid_points_go_on_ground_with_edges(ryugu, changed, ground):
    """Where the bending of the ground has no bound, they go by its slope alone."""
    table = changed(ryugu, contact__law="impulse", ground=ground)
    assert from_dict(table).contact.law == "impulse"
    if "rocks" in ground:
        table["ground"] = {"kind": "facets", **ground}
        assert from_dict(table).ground.rocks is not None


@pytest.mark.parametrize(
    ("law", "key", "low", "said"),
    [
        ("impulse", "contact.restitution", 0, None),
        ("compliant", "contact.restitution", 0, "must be at least 1e-12 and at most 1"),
        ("impulse", "contact.rolling_resistance", "0 m", None),
        ("impulse", "contact.static_friction", 0.7, None),
        ("impulse", "contact.hop", "0.1 mm", None),
        ("compliant", "contact.hop", "0.1 mm", "contact.hop does not go with law"),
        ("impulse", "contact.depth", "0.1 mm", "contact.depth does not go with law"),
        ("impulse", "contact.patch_radius", "0 m", None),
        ("compliant", "contact.patch_radius", "0 m", None),
    ],
)
def test_what_may_vary_depends_on_the_law(plane, changed, law, key, low, said):
    high = "1 mm" if isinstance(low, str) else 0.8
    table = changed(plane, contact__law=law)
    table["dispersions"] = {key: {"kind": "uniform", "low": low, "high": high}}
    if said is None:
        assert list(from_dict(table).dispersions) == [key]
    else:
        assert re.search(f'case.toml: dispersions."{key}".*{said}', told(table))


def test_values_of_another_law_are_refused(plane, changed):
    ready = prepare(from_dict(changed(plane, contact__law="impulse")), "cpu")
    for key in ("contact.speed", "contact.resolution", "contact.depth"):
        with pytest.raises(InputError, match=f'{key} does not go with law = "impulse"'):
            ready.groups({key: np.array([0.1, 0.2])})


def test_runs_of_rigid_contact_share_a_model_and_other_keys_make_one(cube):
    ready = prepare(cube, "cpu")
    values = {
        "contact.restitution": np.array([0.0, 0.5, 1.0]),
        "contact.friction": np.array([0.2, 0.3, 0.4]),
        "contact.rolling_resistance": np.array([0.0, 1e-3, 2e-3]),
    }
    (group,) = ready.groups(values)
    for key, value in values.items():
        assert np.array_equal(getattr(group.model.contact, key.partition(".")[2]), value)
    one, two = ready.groups({"contact.hop": np.array([1e-4, 1e-3, 1e-4])})
    assert (one.model.contact.hop, two.model.contact.hop) == (1e-4, 1e-3)
    assert one.rows.tolist() == [0, 2]
    assert one.model.surface is two.model.surface


def test_the_json_schema_has_the_new_keys():
    made = json_schema()["$defs"]
    laws = ["compliant", "impulse", "sliding", "hertz"]
    assert made["ContactSection"]["properties"]["law"]["enum"] == laws
    assert made["ContactSection"]["properties"]["stride"]["maximum"] == 1
    assert made["ContactSection"]["properties"]["hop"]["type"] == "string"
    assert "facets" in made["GroundSection"]["properties"]["kind"]["enum"]
    rocks = made["RocksSection"]
    assert rocks["required"] == ["smallest"]
    assert rocks["properties"]["density"]["examples"] == ["0.0016 1/m^2"]
    assert rocks["additionalProperties"] is False
    spread = json_schema()["properties"]["dispersions"]["properties"]
    assert {"contact.hop", "ground.rocks.density", "ground.rocks.burial"} <= set(spread)


# -- facets --------------------------------------------------------------------------------------


def test_the_key_of_what_touches_reaches_the_model(ryugu):
    table = {**ryugu, "ground": {"kind": "facets"}, "body": {**ryugu["body"], "facets": 320}}
    asked = {None: True, "hull": True, "points": False}
    for touch, by_hull in asked.items():
        law = {"restitution": 0.5, **({} if touch is None else {"touch": touch})}
        scenario = from_dict({**table, "contact": law, "dispersions": {}})
        model = prepare(scenario, "cpu").nominal().model
        assert model.touches_by_hull == by_hull
        assert loads(scenario.to_toml()) == scenario


def test_a_hull_that_cannot_touch_is_refused(plane, changed):
    said = told(changed(plane, contact__touch="hull"))
    assert f'contact.touch: found "hull": {HULL_TOUCHES}' in said
    said = told(changed(plane, contact__law="impulse", contact__touch="hull"))
    assert "contact.touch" in said


def test_facets_are_those_of_the_body(cube):
    found = prepare(cube, "cpu").nominal().model
    assert isinstance(found.surface, surfaces.Facets)
    assert found.surface.mesh.n_faces == 320
    assert found.scheme.hull  # the whole hull touches, not its corners alone


@pytest.mark.parametrize(
    ("ground", "said"),
    [
        ({"spacing": "4 m"}, 'ground.spacing: does not go with kind = "facets".*no keys'),
        ({"band": "16 m"}, "ground.band: does not go with"),
        ({"kind": "facet"}, 'ground.kind: found "facet".*Did you mean "facets"'),
    ],
)
def test_what_does_not_go_with_facets(ryugu, ground, said):
    assert re.search(said, told({**ryugu, "ground": {"kind": "facets", **ground}}))


HILLS = {"amplitude": "1 m", "wavelength": "9 m", "seed": 4}


def test_hills_on_facets_are_those_of_python(ryugu):
    """Points touch them: a whole hull does not, in the same words from a file and from Python."""
    ground = {"kind": "facets", "noise": HILLS}
    table = {**ryugu, "body": {"name": "Ryugu", "facets": 320}, "ground": ground}
    table["gravity"] = {"law": "point-mass"}
    model = prepare(from_dict(table)).nominal().model
    hills = surfaces.FractalNoise(amplitude=1.0, wavelength=9.0, seed=4)
    assert isinstance(model.surface, surfaces.Rough)
    assert isinstance(model.surface.base, surfaces.Facets)
    by_hand = surfaces.Rough(surfaces.Facets(model.surface.base.mesh), hills)
    assert repr(model.surface) == repr(by_hand)
    assert model.surface.bounds_to(0.1) == by_hand.bounds_to(0.1)
    assert not model.touches_by_hull
    with pytest.raises(InputError, match=re.escape(HULL_TOUCHES)):
        dataclasses.replace(model, contact=Compliant(0.5, touch="hull"))
    table["contact"] = {"restitution": 0.5, "touch": "hull"}
    assert HULL_TOUCHES in told(table)


def test_facets_need_a_shape(plane, changed):
    table = changed(plane, ground__kind="facets")
    assert 'ground.kind: found "facets", which needs a shape' in told(table)


def test_facets_of_a_mesh_file(tmp_path, ryugu):
    from alight.shapes import Mesh
    from alight.shapes.icosphere import sphere_points_mesh

    ball = sphere_points_mesh(162)
    Mesh(500.0 * ball.vertices, ball.faces).save(tmp_path / "body.obj", "km")
    body = {"mesh": "body.obj", "unit": "km", "density": "1190 kg/m^3"}
    table = {**ryugu, "body": body, "ground": {"kind": "facets"}}
    found = prepare(from_dict(table, folder=tmp_path), "cpu").nominal().model.surface
    assert found.mesh.n_faces == ball.n_faces


# -- the campaign --------------------------------------------------------------------------------


@pytest.mark.validate
def test_a_campaign_of_rigid_cubes_runs_again_from_what_it_wrote(tmp_path, cube):
    """Ten runs; from the scenario written out beside them the same bytes come again."""
    table = cube.replaced({"campaign.runs": 10, "campaign.shard": 5}).resolved()
    table["dispersions"] |= {
        "contact.restitution": {"kind": "uniform", "low": 0.5, "high": 0.7},
        "contact.rolling_resistance": {"kind": "uniform", "low": "0.5 mm", "high": "2 mm"},
    }
    found = []
    for name, scenario in (("first", from_dict(table)), ("again", None)):
        given = scenario or load(tmp_path / "first" / "scenario.toml")
        result = run_campaign(given, out=tmp_path / name, device="cpu", show="silent")
        found.append(result.open().read())
    first, again = found
    assert first.num_rows == 10
    assert first.equals(again)
    assert set(first["outcome"].to_pylist()) == {"settled"}
    drawn = np.asarray(first["contact.restitution"])
    assert ((drawn > 0.5) & (drawn < 0.7)).all()


# -- rocks ---------------------------------------------------------------------------------------


def test_rocks_follow_the_count_of_the_body(among_rocks):
    rocks, count = among_rocks.ground.rocks, COUNTS["ryugu"]
    for key in ("slope", "density", "reference", "largest"):
        assert among_rocks.number(f"ground.rocks.{key}") == getattr(count, key)
    assert (rocks.seed, rocks.cover) == (3, 0.5)
    assert loads(among_rocks.to_toml()) == among_rocks


def test_rocks_take_the_seed_of_the_scenario(ryugu):
    ground = {"kind": "facets", "rocks": {"smallest": "2 m"}}
    assert from_dict({**ryugu, "ground": ground}).ground.rocks.seed == 1


@pytest.mark.validate
def test_every_key_of_rocks_reaches_the_ground(ryugu):
    given = {
        "smallest": "3 m",
        "slope": 2.5,
        "density": "2000 1/km^2",
        "reference": "4 m",
        "largest": "30 m",
        "cover": 0.2,
        "seed": 9,
        "burial": [0.1, 0.3],
        "shape": [3, 2, 1],
        "variety": 0.1,
        "roughness": 0.05,
        "map": [[0, 0], [1, 1]],
    }
    scenario = from_dict({**ryugu, "ground": {"kind": "facets", "rocks": given}})
    found = prepare(scenario, "cpu").nominal().model.surface
    assert isinstance(found, surfaces.Rocky)
    assert isinstance(found.base, surfaces.Facets)
    rocks, law = found.rocks, found.rocks.law
    assert (law.slope, law.density, law.reference, law.smallest) == (2.5, 2e-3, 4.0, 3.0)
    assert (law.largest, rocks.seed, rocks.burial, rocks.shape) == (30.0, 9, (0.1, 0.3), (3, 2, 1))
    assert (rocks.variety, rocks.roughness, len(rocks.density_map.table)) == (0.1, 0.05, 2)
    assert loads(scenario.to_toml()) == scenario


@pytest.mark.validate  # a kernel of its own
def test_rocks_lie_on_hills_too(ryugu, changed):
    table = changed(ryugu, ground__rocks={"smallest": "5 m"})
    found = prepare(from_dict(table), "cpu").nominal().model.surface
    assert isinstance(found, surfaces.Rocky)
    assert isinstance(found.base, surfaces.Rough)


@pytest.mark.parametrize(
    ("rocks", "said"),
    [
        ({}, "ground.rocks.smallest: is missing"),
        ({"smallest": "1 m", "cover": 1.5}, "ground.rocks.cover: found 1.5; .*at most 1"),
        ({"smallest": "1 m", "density": "2 1/m"}, '"1/m" is no unit of number per area'),
        ({"smallest": "1 m", "density": 2e-3}, 'did you mean "0.002 1/m\\^2"'),
        ({"smallest": "1 m", "roughness": 0.3}, "ground.rocks.roughness: found 0.3"),
        ({"smallest": "1 m", "smalest": "1 m"}, 'unknown key. Did you mean "smallest"'),
        ({"smallest": "1 m", "burial": [0.5, 0.1]}, "ground.rocks: burial is"),
        ({"smallest": "1 m", "shape": [1, 2, 3]}, "ground.rocks: shape is .*longest first"),
        ({"smallest": "1 m", "map": [[1, 2]]}, "ground.rocks.map: .*at least 2 rows"),
        ({"smallest": "200 m"}, "ground.rocks: smallest is 200 m and largest 160 m"),
        (
            {"smallest": "1 m", "density": "1 1/m^2"},
            "ground.rocks: has one of density and reference",
        ),
        ({"smallest": "1 cm"}, "ground.rocks: rocks would cover .*cover=0.6"),
        ({"smallest": "1e-300 m", "slope": 9.0, "cover": 0.5}, "ground.rocks: "),
    ],
)
def test_what_is_wrong_with_rocks(ryugu, rocks, said):
    assert re.search(f"case.toml: .*{said}", told({**ryugu, "ground": {"rocks": rocks}}))


def test_rocks_need_facets_and_a_count(ryugu, plane, changed):
    table = changed(plane, ground__rocks={"smallest": "1 m"})
    assert "ground.rocks: rocks lie on the facets of a shape, not on a plane" in told(table)
    other = changed(ryugu, body__name="eros", ground={"rocks": {"smallest": "50 m"}})
    assert re.search("ground.rocks: lacks slope, density, reference, largest; .*bennu", told(other))


def test_density_of_rocks_is_dispersed(among_rocks):
    """Each value makes a ground of its own, on one distance field."""
    assert units_of("ground.rocks.density") == ("1/m^2",)
    ready = prepare(among_rocks.replaced({"ground.rocks.smallest": 4.0}), "cpu")
    one, two = ready.groups({"ground.rocks.density": np.array([1e-4, 1e-3, 1e-4])})
    assert [g.model.surface.rocks.law.density for g in (one, two)] == [1e-4, 1e-3]
    assert one.rows.tolist() == [0, 2]
    assert one.model.surface.base is two.model.surface.base


@pytest.mark.validate  # a kernel of its own: random rigid hulls land among rocks every day
def test_rovers_come_to_rest_among_rocks(among_rocks):
    """At rest no point is inside rock or ground, and one at least touches."""
    ready = prepare(among_rocks, "cpu")
    (group,) = ready.groups(sample(among_rocks, np.arange(6)))
    found = run_batch(group.model, group.release, device="cpu")
    assert (found.outcome == Outcome.SETTLED).all()
    model = group.model
    for position, attitude in zip(found.position, found.attitude, strict=True):
        points = position + frames.quat_rotate(attitude, model.lander.points)
        gap = model.surface.query(points)[0]
        assert -model.contact.depth < gap.min() < 1e-4
