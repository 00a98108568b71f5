"""Scenario files that name what is registered: keys, units, messages, dispersions, pickles."""

import copy
import json
import pickle
import re
from typing import Annotated

import numpy as np
import pytest
from examples.own_surface import Dunes

from alight import flight, gravity
from alight.contact import Compliant
from alight.core.errors import InputError
from alight.core.registry import registry
from alight.scenario import from_dict, json_schema, loads, prepare
from alight.scenario.errors import ScenarioError
from alight.scenario.keys import SPREAD, VALUE, Fault, ListField, Measure, Number, Section
from alight.scenario.registered import known_here_alone, packages_of
from alight.scenario.schema.landing import Scenario


class PairKeys(Section):
    share: Annotated[float, Number(above=0, below=1)] = 0.5
    spacing: Annotated[float, Measure(dimension="time", above=0)]
    """Of another kind than the key of that name which "smooth" has."""

    def problems(self, where):
        said = "is an odd one"
        return [Fault(f"{where}.share", said)] if self.share == 0.13 else []


class Pair(gravity.PointMass):
    def __init__(self, gm, share, spacing):
        super().__init__(gm * share)
        self.spacing = spacing


class GustKeys(Section):
    strength: Annotated[tuple, ListField(Measure(dimension="acceleration"))]
    start: Annotated[float, Number(least=0)] = 3.0
    """Of another kind than the key of that name which "timed" has."""


class Springs(Compliant):
    def __init__(self, hardness, **options):
        super().__init__(stiffness=hardness, damping=0.0, **options)


class DunesKeys(Section):
    height: Annotated[float, Measure(dimension="length", above=0)]
    length: Annotated[float, Measure(dimension="length", above=0)]


class SpringKeys(Section):
    hardness: Annotated[float, Measure(dimension="stiffness", above=0)]


ADDED = [
    ("gravity", "pair", Pair, PairKeys),
    ("gravity", "still", lambda: gravity.Uniform((0.0, 0.0, 0.0)), None),
    ("gravity", "odd", lambda: "no law", None),
    ("gravity", "hungry", lambda bread: gravity.PointMass(bread), None),
    ("gravity", "shaped", lambda mesh: gravity.PointMass(mesh.volume), None),
    ("external", "gust", lambda strength, start: flight.SteadyPush(strength), GustKeys),
    ("contact", "springs", Springs, SpringKeys),
    ("surface", "dunes", Dunes, DunesKeys),
    ("dispersion", "spike", None, {"peak": VALUE, "width": SPREAD, "power": Number(above=0)}),
]


def spike(nominal, peak, width, power=1.0):
    """A dispersion that is never drawn here."""


@pytest.fixture(autouse=True)
def added():
    for kind, name, make, keys in ADDED:
        registry.add(kind, name, make or spike, keys=keys)
    yield
    for kind, name, _, _ in ADDED:
        registry.drop(kind, name)


TABLE = {
    "body": {"gm": "20 m^3/s^2"},
    "gravity": {"law": "pair", "share": 0.25, "spacing": "2 min"},
    "ground": {"kind": "sphere", "radius": "100 m"},
    "lander": {"shape": "sphere", "diameter": "1 m", "mass": "2 kg"},
    "release": {"position": ["101 m", "0 m", "0 m"]},
    "contact": {"restitution": 0.5},
    "environment": {
        "push": [
            {
                "kind": "timed",
                "acceleration": ["0 m/s^2", "0 m/s^2", "1 cm/s^2"],
                "start": "1 s",
                "end": "2 s",
            },
            {"kind": "gust", "name": "wind", "strength": ["0 m/s^2", "1 m/s^2", "0 m/s^2"]},
            {
                "kind": "timed",
                "acceleration": ["0 m/s^2", "0 m/s^2", "2 cm/s^2"],
                "start": "3 s",
                "end": "4 s",
            },
        ]
    },
    "dispersions": {
        "gravity.share": {"kind": "uniform", "low": 0.2, "high": 0.3},
        "gravity.spacing": {"kind": "spike", "peak": "1 min", "width": "1 s"},
        "environment.push.timed-2.end": {"kind": "uniform", "low": "4 s", "high": "5 s"},
        "environment.push.wind.start": {"kind": "uniform", "low": 1, "high": 2},
    },
}


def table(**changes):
    made = copy.deepcopy(TABLE)
    for key, value in changes.items():
        *path, last = key.split("__")
        place = made
        for name in path:
            place = place[int(name) if name.isdigit() else name]
        if value is None:
            del place[last]
        else:
            place[last] = value
    return made


def said(**changes):
    with pytest.raises(ScenarioError) as found:
        from_dict(table(**changes), "file")
    return str(found.value)


# -- reading ------------------------------------------------------------------------------------


def test_keys_are_read_with_their_units():
    made = from_dict(table())
    assert isinstance(made, Scenario)
    assert (made.gravity.share, made.gravity.spacing) == (0.25, 120.0)
    assert [one.name for one in made.environment.push] == ["timed", "wind", "timed-2"]
    assert made.environment.push[1].start == 3
    assert made.number("environment.push.timed-2.start") == 3.0
    assert made.number("gravity.spacing") == 120.0


def test_a_file_reads_back_equal():
    made = from_dict(table(), "file")
    again = loads(made.to_toml(), "file")
    assert again == made
    assert type(again) is type(made)
    assert again.to_toml() == made.to_toml()
    assert made != from_dict(table(gravity__share=0.26))


def test_pickles_are_equal_and_keep_what_they_know():
    made = from_dict(table(), "file")
    again = pickle.loads(pickle.dumps(made))
    assert again == made
    assert type(again) is type(made)
    assert type(again.environment.push[1]) is type(made.environment.push[1])
    assert (again.source, again.to_toml()) == ("file", made.to_toml())


def test_classes_are_made_once_for_their_names():
    first, second = from_dict(table()), from_dict(table(gravity__share=0.3))
    assert type(first) is type(second)
    other = from_dict({**table(gravity={"law": "point-mass"}), "dispersions": {}})
    assert type(other) is not type(first)
    assert not hasattr(other.gravity, "share")


def test_values_can_be_replaced():
    made = from_dict(table()).replaced({"gravity.share": 0.3, "environment.push.timed.start": 1.5})
    assert made.gravity.share == 0.3
    assert made.environment.push[0].start == 1.5
    assert made.gravity.written()["spacing"] == "2 min"


# -- messages -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gravity__law": "pear"}, 'file: gravity.law: found "pear"; it must be one of "smooth", '),
        ({"gravity__law": "pear"}, 'Did you mean "pair"?'),
        (
            {"gravity__spacing": None},
            'file: gravity.spacing: is missing; it must be given, such as "',
        ),
        ({"gravity__spacing": "2 m"}, '"m" is no unit of time'),
        ({"gravity__share": 1.5}, "gravity.share: found 1.5; it must be above 0 and below 1"),
        (
            {"gravity__shar": 0.2},
            'gravity.shar: unknown key. Did you mean "share"? Known here: law',
        ),
        ({"gravity__vertices": 9}, 'gravity.vertices: does not go with law = "pair", whose own'),
        ({"gravity__share": 0.13}, "gravity.share: is an odd one"),
        ({"body": {}}, 'body.gm: is missing; law = "pair" needs it'),
        ({"gravity": {"law": "shaped"}}, 'gravity.law: found "shaped", which needs a shape'),
        ({"environment__push__0__end": None}, "environment.push.timed.end: is missing; it must"),
        ({"environment__push__0__end": "1 s"}, "environment.push.timed.end: must be after start"),
        ({"environment__push__0__start": 3}, "environment.push.timed.start: found the bare number"),
        ({"environment__push__1__start": "3 s"}, "environment.push.wind.start: found "),
        ({"environment__push__1__end": "3 s"}, "environment.push.wind.end: unknown key"),
        ({"environment__push__1__kind": "gusty"}, 'push.wind.kind: found "gusty"; it must be one'),
        ({"environment__push__1__kind": "gusty"}, 'Did you mean "gust"?'),
        ({"environment__push__1__kind": None}, "environment.push.wind.kind: is missing"),
        ({"environment__push__0__name": "wind"}, "environment.push.wind: is the name of two"),
        ({"environment__push": {}}, "it must be a list of tables: [[environment.push]]"),
        ({"record": {"columns": ["slope"]}}, "record.columns: entry 1: found "),
        ({"report": {"sections": ["slopes"]}}, "no report section is known here"),
    ],
)
def test_messages(changes, message):
    assert message in said(**changes)


@pytest.mark.parametrize(
    ("dispersions", "message"),
    [
        ({"gravity.shar": {}}, 'is not a number of the scenario. Did you mean "gravity.share"?'),
        ({"environment.push.wnd.start": {}}, 'Did you mean "environment.push.wind.start"?'),
        ({"gravity.share": {"kind": "spike", "width": 0.1}}, "peak: is missing; spike needs peak"),
        (
            {"gravity.spacing": {"kind": "spike", "peak": "1 m", "width": "1 s"}},
            'peak: found "1 m": "m" is no unit of time',
        ),
        (
            {"gravity.share": {"kind": "spike", "peak": 2.0, "width": 0.1}},
            "peak: found 2.0; it must be above 0 and below 1",
        ),
        (
            {"gravity.share": {"kind": "spike", "peak": 0.2, "width": 0.1, "power": 0}},
            "power: found 0; it must be above 0",
        ),
        (
            {"gravity.share": {"kind": "spike", "peak": 0.2, "width": 0.1, "pow": 1}},
            'pow: is not a key of spike, whose keys are peak, width, power. Did you mean "power"?',
        ),
        ({"gravity.share": {"kind": "spik"}}, 'Did you mean "spike"?'),
    ],
)
def test_messages_of_dispersions(dispersions, message):
    assert message in said(dispersions=dispersions)


def test_keys_of_an_unknown_law_are_no_further_faults():
    """Nothing can be said of them, nor of what varies them; other faults are told."""
    changed = {**table(gravity__law="pear"), "seed": -1}
    del changed["dispersions"]["environment.push.wind.start"]
    with pytest.raises(ScenarioError) as found:
        from_dict(changed)
    assert sorted(fault.key for fault in found.value.problems) == ["gravity.law", "seed"]


def test_a_missing_package_is_named():
    packages = {"small-worlds": "1.0"}
    text = said(gravity__law="dumbbell", made_by={"packages": packages})
    assert "package small-worlds 1.0, which this was made with, is not installed here: pip" in text


def test_keys_that_the_table_has_are_refused():
    class Taken(Section):
        law: Annotated[float, Number()] = 1.0

    registry.add("gravity", "taken", Pair, keys=Taken)
    try:
        assert 'has a key "law", which the table has already' in said(gravity={"law": "taken"})
    finally:
        registry.drop("gravity", "taken")


# -- building -----------------------------------------------------------------------------------


def test_laws_are_made_of_keys_and_what_they_ask_for():
    made = prepare(from_dict(table()), "cpu").nominal().model
    assert isinstance(made.gravity, Pair)
    assert made.gravity.spacing == 120.0
    points = np.array([[200.0, 0.0, 0.0]])
    plain = gravity.PointMass(5.0).acceleration(points)
    assert made.gravity.acceleration(points).tolist() == plain.tolist()


def test_runs_that_differ_have_laws_of_their_own():
    prepared = prepare(from_dict(table()), "cpu")
    groups = prepared.groups({"gravity.spacing": np.array([60.0, 30.0, 60.0])})
    assert [(g.model.gravity.spacing, g.rows.tolist()) for g in groups] == [
        (60.0, [0, 2]),
        (30.0, [1]),
    ]


def test_pushes_are_made_in_order():
    scenario = from_dict(table())
    (laws,) = [prepare(scenario, "cpu")._parts.externals(scenario)]
    assert [type(law).__name__ for law in laws] == ["Timed", "SteadyPush", "Timed"]
    assert (laws[0].start, laws[0].end) == (1.0, 2.0)
    assert laws[2].law.acceleration.tolist() == [0.0, 0.0, 0.02]


def test_a_law_without_keys():
    scenario = from_dict({**table(gravity={"law": "still"}), "dispersions": {}})
    assert isinstance(prepare(scenario, "cpu").nominal().model.gravity, gravity.Uniform)


@pytest.mark.parametrize(
    ("law", "message"),
    [
        ("odd", r'gravity: the gravity "odd" of this process makes .no law., which is no Gravity'),
        ("hungry", r'"hungry" of this process asks for bread, .*offers it \(gm, mesh, '),
    ],
)
def test_laws_that_are_none(law, message):
    with pytest.raises(InputError, match=message):
        prepare(from_dict({**table(gravity={"law": law}), "dispersions": {}}), "cpu")


def test_a_surface_with_what_lies_on_it():
    """That of examples/own_surface.py, as such and under hills; its height may vary."""
    ground = {"kind": "dunes", "height": "20 cm", "length": "3 m"}
    prepared = prepare(from_dict(table(ground=ground)), "cpu")
    made = prepared.nominal().model.surface
    assert isinstance(made, Dunes)
    points = np.array([[0.75, 0.0, 1.0]])
    assert made.query(points)[0] == pytest.approx(0.8, rel=1e-12)
    taller, _ = prepared.groups({"ground.height": np.array([0.4, 0.2])})
    assert taller.model.surface.query(points)[0] == pytest.approx(0.6, rel=1e-12)
    noise = {"amplitude": "1 cm", "wavelength": "1 m"}
    rough = prepare(from_dict(table(ground={**ground, "noise": noise})), "cpu").nominal().model
    assert isinstance(rough.surface.base, Dunes)
    assert 'does not go with kind = "dunes"' in said(ground={**ground, "band": "3 m"})


def test_a_contact_law_with_the_common_keys():
    contact = {"law": "springs", "hardness": "4e4 N/m", "friction": 0.3}
    made = prepare(from_dict(table(contact=contact)), "cpu").nominal().model.contact
    assert isinstance(made, Springs)
    assert (made.stiffness, made.friction) == (4e4, 0.3)
    assert 'does not go with law = "springs"' in said(contact={**contact, "stride": 0.5})


# -- who brought it -------------------------------------------------------------------------------


def test_what_no_other_process_knows():
    made = from_dict(table())
    names = {entry.name for entry in known_here_alone(made)}
    assert names == {"pair", "gust", "spike"}
    assert packages_of(made) == {}


def test_editors_are_told_of_everything():
    made = json_schema()
    json.dumps(made)
    defined = made["$defs"]
    law = next(one for name, one in defined.items() if name.startswith("GravitySection"))
    assert {"pair", "still", "smooth"} < set(law["properties"]["law"]["enum"])
    share = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
    assert law["properties"]["share"].items() >= share.items()
    assert "share" not in law.get("required", [])
    assert defined["PushSectionGust"]["required"] == ["kind", "strength"]
    assert defined["PushSectionTimed"]["properties"]["start"]["type"] == "string"
    assert "spike" in defined["Dispersion"]["properties"]["kind"]["enum"]
    (push,) = [p for p in made["properties"]["dispersions"]["patternProperties"] if "push" in p]
    assert re.match(push, "environment.push.wind.strength")
    assert not re.match(push, "environment.push.wind.kind")


def test_all_shipped_names_lead_to_something():
    """They are named by module and name, and load when a scenario uses them."""
    json_schema()
    for entry in registry.entries():
        assert entry.make is None or callable(entry.make), entry
