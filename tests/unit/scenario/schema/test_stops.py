"""[[stop.when]]: what files may say, what is refused, and stops that other code registers."""

from typing import Annotated

import pytest
import warp as wp

from alight.core.outcomes import Ending, Outcome
from alight.core.registry import registry
from alight.core.types import scalar
from alight.engine.stops import BelowHeight, HitCompanion, InRegion, Scene, SpinAbove, StopLaw, law
from alight.flight import FixedInTarget
from alight.scenario import loads, prepare
from alight.scenario.document_kinds import json_schema
from alight.scenario.errors import ScenarioError
from alight.scenario.keys import Measure, Section
from alight.scenario.schema import stops

PLANE = """
[gravity]
law = "uniform"
acceleration = ["0 m/s^2", "0 m/s^2", "-5.7e-3 m/s^2"]
[ground]
kind = "plane"
[lander]
shape = "cube"
side = "20 cm"
mass = "1 kg"
[release]
position = ["0 m", "0 m", "1 m"]
[contact]
restitution = 0.5
"""
MOON = """
[body]
gm = "711e3 m^3/s^2"
[body.rotation]
period = "7.65 h"
[gravity]
law = "point-mass"
[ground]
kind = "sphere"
radius = "11 km"
[environment.companion]
gm = "4.28e13 m^3/s^2"
direction = [1, 0, 0]
[lander]
shape = "cube"
side = "20 cm"
mass = "1 kg"
[release]
latitude = "1 deg"
longitude = "2 deg"
height = "10 m"
[contact]
restitution = 0.5
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
[release]
height = "3 m"
[stop]
duration = "1.2 s"
"""


def when(**keys):
    """An entry of a file."""
    lines = [f"{key} = {value}" for key, value in keys.items()]
    return "\n".join(["[[stop.when]]", *lines, ""])


def stops_of(text):
    return prepare(loads(text), "cpu").nominal().model.stops


def test_a_landing_has_all_kinds():
    text = MOON + "".join(
        (
            when(kind='"below-height"', height='"5 m"', hold='"3 s"', when='"contact"'),
            when(kind='"in-region"', latitude='"1 deg"', longitude='"2 deg"', radius='"20 m"'),
            when(kind='"in-region"', south='"-5 deg"', north='"5 deg"', when='"always"'),
            when(kind='"hit-companion"', radius='"3390 km"'),
            when(kind='"spin-above"', rate='"5 rpm"', code=70, name='"fast"', sentence='"spun up"'),
        )
    )
    low, pond, belt, hit, fast = stops_of(text)
    assert isinstance(low, BelowHeight)
    assert (low.height, low.hold, low.when, low.ending) == (5.0, 3.0, "contact", 6)
    assert isinstance(pond, InRegion)
    assert sum(x * x for x in pond.shape.center) == pytest.approx(11e3**2, rel=1e-12)
    assert (pond.when, belt.when) == ("contact", "always")
    assert isinstance(hit, HitCompanion)
    assert isinstance(hit.place, FixedInTarget)
    assert hit.place.position == pytest.approx([9.36851e6, 0, 0], rel=1e-6)  # that of its period
    assert isinstance(fast, SpinAbove)
    assert (fast.ending, fast.ending.name, str(fast.ending)) == (70, "fast", "spun up")
    names = [one.name for one in loads(text).stop.when]
    assert names == ["below-height", "in-region", "in-region-2", "hit-companion", "fast"]


def test_drops_have_some():
    low, fast = stops_of(
        DROP
        + when(kind='"below-height"', height='"-1 m"')
        + when(kind='"spin-above"', rate='"1 rpm"')
    )
    assert (low.height, low.ending, fast.ending) == (-1.0, Outcome.BELOW_HEIGHT, Outcome.SPIN_ABOVE)


@pytest.mark.parametrize(
    ("text", "entry", "said"),
    [
        (PLANE, when(kind='"below"', height='"1 m"'), 'Did you mean "below-height"'),
        (PLANE, when(kind='"below-height"'), "stop.when.below-height.height: is missing"),
        (PLANE, when(kind='"below-height"', height='"1 s"'), '"s" is no unit of length'),
        (PLANE, when(kind='"below-height"', height='"1 m"', rate='"1 rpm"'), "unknown key"),
        (PLANE, when(kind='"in-region"'), "has no shape"),
        (PLANE, when(kind='"in-region"', south='"1 deg"', north='"2 deg"'), "needs a body about"),
        (
            PLANE,
            when(kind='"hit-companion"', radius='"1 m"'),
            r"needs the table \[environment.comp",
        ),
        (PLANE, when(kind='"spin-above"', rate='"1 rpm"', sentence='"a"'), "needs a code"),
        (PLANE, when(kind='"spin-above"', rate='"1 rpm"', code=9), "at least 64"),
        (PLANE, 2 * when(kind='"spin-above"', name='"a"', rate='"1 rpm"'), "is the name of two"),
        (PLANE, 2 * when(kind='"spin-above"', rate='"1 rpm"', code=64), "have the same code, 64"),
        (DROP, when(kind='"in-region"', south='"1 deg"', north='"2 deg"'), "a drop has none"),
        (DROP, when(kind='"hit-companion"', radius='"1 m"'), "a drop has none"),
    ],
)
def test_what_does_not_fit_is_refused(text, entry, said):
    with pytest.raises(ScenarioError, match=said):
        loads(text + entry)


def test_numbers_of_stops_vary():
    text = PLANE + when(kind='"below-height"', name='"low"', height='"1 m"')
    made = loads(
        text + '[dispersions]\n"stop.when.low.height" = { kind = "normal", sigma = "1 cm" }\n'
    )
    prepared = prepare(made, "cpu")
    groups = prepared.groups({"stop.when.low.height": [0.5, 0.7]})
    assert [group.model.stops[0].height for group in groups] == [0.5, 0.7]
    assert groups[0].model.loop() == groups[1].model.loop()
    with pytest.raises(ScenarioError, match="is not a number of the scenario"):
        loads(text + '[dispersions]\n"stop.when.low.rate" = { kind = "normal", sigma = "1 cm" }\n')
    known = json_schema()["properties"]["dispersions"]
    assert any(pattern.startswith(r"^stop\.when") for pattern in known["patternProperties"])


@wp.struct
class FarData:
    away: scalar


@wp.func
def far(data: FarData, scene: Scene):
    return wp.length(scene.x) > data.away


class Far(StopLaw):
    """Farther away than allowed."""

    Data, test = FarData, far
    ending = Ending(80, "far", "went too far")

    def __init__(self, away):
        self.away = away

    def data(self, device):
        data = FarData()
        data.away = self.away
        return data


class FarKeys(Section):
    """How far."""

    away: Annotated[float, Measure(dimension="length", above=0)]


def test_a_stop_of_ones_own_has_a_name():
    registry.add("stop", "far", Far, keys=FarKeys, text="farther away than allowed")
    try:
        made = loads(PLANE + when(kind='"far"', away='"2 km"', hold='"1 s"'))
        (law,) = prepare(made, "cpu").nominal().model.stops
        assert isinstance(law, Far)
        assert (law.away, law.hold) == (2000.0, 1.0)
        assert [(int(e), e.name, str(e)) for e in made.endings] == [(80, "far", "went too far")]
        assert loads(made.to_toml()) == made
    finally:
        registry.drop("stop", "far")
    with pytest.raises(ScenarioError, match="must be one of"):
        loads(PLANE + when(kind='"far"', away='"2 km"'))


def test_files_choose_when_among_what_the_engine_knows():
    assert stops.WHEN == law.WHEN
