"""``[[manoeuvre]]``: what a lander does by itself, one after the other, each from rest."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Annotated, Any, ClassVar

from alight import actuators
from alight.core.errors import InputError
from alight.scenario.errors import Fault, blame
from alight.scenario.field_types import (
    ChoiceField,
    ListField,
    Measure,
    Number,
    TextField,
    Whole,
)
from alight.scenario.schema.ground_regions import LATITUDE, LONGITUDE, checked_name
from alight.scenario.schema.section import Section

_ANGLE = Measure(dimension="angle")
_LENGTH = Measure(dimension="length")
_OF_HOPS = (
    "azimuth", "speed", "distance", "latitude", "longitude", "place", "settle", "within",
)  # fmt: skip
_PLANNED = ("friction", "up")
#: Keys of each command.
COMMANDS = {
    "hop": (*_OF_HOPS, *_PLANNED),
    "spin": ("wheels", "speeds", "level"),
    "pulse": ("actuators", "levels", "duration"),
    "upright": ("tilt", "margin", *_PLANNED, "actuators", "levels", "duration"),
    "policy": ("plan", "sha256", "speed_error", "angle_error"),
}
#: Of articulated landers, and keys of getting upright that go with them, and with rigid ones.
OF_TREES = ("pulse", "upright")
_BY_JOINTS, _BY_WHEELS = ("actuators", "levels", "duration"), ("margin", *_PLANNED)


class ManoeuvreSection(Section):
    """One manoeuvre: what it waits for, its command, and when it is done."""

    FORMS: ClassVar = ("command", COMMANDS)

    name: Annotated[str | None, TextField(checked_name, ("first",))] = None
    command: Annotated[str, ChoiceField(tuple(COMMANDS))]
    delay: Annotated[float | None, Measure(dimension="time", least=0)] = None
    not_before: Annotated[float | None, Measure(dimension="time", least=0)] = None
    sun_above: Annotated[float | None, _ANGLE] = None
    repeats: Annotated[int | None, Whole(least=1, most=1000)] = None
    azimuth: Annotated[float | None, _ANGLE] = None
    speed: Annotated[float | None, Measure(dimension="speed", above=0)] = None
    distance: Annotated[float | None, Measure(dimension="length", above=0)] = None
    latitude: Annotated[float | None, LATITUDE] = None
    longitude: Annotated[float | None, LONGITUDE] = None
    place: Annotated[Any, ListField(_LENGTH)] = None
    within: Annotated[float | None, Measure(dimension="length", least=0)] = None
    settle: Annotated[float | None, Measure(dimension="time", least=0)] = None
    friction: Annotated[float | None, Number(above=0)] = None
    up: Annotated[Any, ListField(Number(), nonzero=True)] = None
    tilt: Annotated[float | None, Measure(dimension="angle", above=0)] = None
    margin: Annotated[float | None, Number(above=1)] = None
    wheels: Annotated[Any, ListField(TextField(None, ("x",)), 0)] = None
    speeds: Annotated[Any, ListField(Measure(dimension="angular rate"), 0)] = None
    level: Annotated[float | None, Number(above=0, most=1)] = None
    actuators: Annotated[Any, ListField(TextField(None, ("torquer",)), 0)] = None
    levels: Annotated[Any, ListField(Number(), 0)] = None
    duration: Annotated[float | None, Measure(dimension="time", above=0)] = None
    plan: Annotated[str | None, TextField(None, ("out/map/plan.npz",))] = None
    sha256: Annotated[str | None, TextField()] = None
    speed_error: Annotated[float | None, Number(least=0)] = None
    angle_error: Annotated[float | None, Measure(dimension="angle", least=0)] = None

    def problems(self, where: str, flat: bool, is_tree: bool) -> list[Fault]:
        """What does not fit together."""
        found = self.misplaced(where) + self._kind_problems(where, is_tree)
        if self.command == "spin":
            found += self.missing(where, "wheels", "speeds") or self._pairs(where, "speeds")
        if self.command == "pulse" or (self.command == "upright" and is_tree):
            needed = self.missing(where, "actuators", "levels", "duration")
            found += needed or self._pairs(where, "levels")
        if self.command == "policy":
            found += self.missing(where, "plan")
        if (self.latitude is None) != (self.longitude is None):
            found.append(Fault(where, "has one of latitude and longitude; a place needs both"))
        if self.latitude is not None and flat:
            said = "is on no body here: on flat ground give place = [x, y, z]"
            found.append(Fault(f"{where}.latitude", said))
        return found

    def _kind_problems(self, where: str, is_tree: bool) -> list[Fault]:
        """What goes with rigid landers alone, or with articulated ones."""
        if is_tree and self.command not in OF_TREES:
            said = (
                f'found "{self.command}"; an articulated lander has pulse and upright, both by '
                "motors in its joints: hops and plans are for rigid ones"
            )
            return [Fault(f"{where}.command", said)]
        if self.command != "upright":
            return []
        wrong = _BY_WHEELS if is_tree else _BY_JOINTS
        said = (
            "goes with rigid landers; an articulated one gets upright by the actuators, levels and "
            "duration given, and its up is lander.up"
            if is_tree
            else "goes with articulated landers; a rigid one gets upright by its wheels"
        )
        return [Fault(f"{where}.{key}", said) for key in wrong if getattr(self, key) is not None]

    def _pairs(self, where: str, values: str) -> list[Fault]:
        names = "wheels" if values == "speeds" else "actuators"
        counts = [len(getattr(self, key)) for key in (names, values)]
        if counts[0] == counts[1]:
            return []
        said = f"has {counts[1]} entries for {counts[0]} {names}; give one for each"
        return [Fault(f"{where}.{values}", said)]

    def make(self, friction: float, ground_at: Callable[[float, float], Any], seed: int) -> Any:
        """The manoeuvre on ground of this ``friction``; throws of a plan err by the ``seed``."""
        waits = self._given("delay", "not_before", "sun_above", "within")
        if self.command == "policy":
            command: Any = actuators.FollowPlan(
                stored_plan(str(self.plan), str(self.sha256)),
                **self._given("speed_error", "angle_error"),
                seed=seed,
            )
            waits["repeats"] = command.plan.hops
        else:
            command = self._command(friction, ground_at)
        if self.repeats is not None:
            waits["repeats"] = self.repeats
        return actuators.Manoeuvre(command, **waits, name=str(self.name or ""))

    def _command(self, friction: float, ground_at: Callable[[float, float], Any]) -> Any:
        if self.command == "spin":
            speeds = dict(zip(self.wheels, (float(s) for s in self.speeds), strict=True))
            return actuators.SpinAndBrake(speeds, **self._given("level"))
        if self.command == "pulse" or self.actuators is not None:
            levels = dict(zip(self.actuators, (float(s) for s in self.levels), strict=True))
            if self.command == "pulse":
                return actuators.Pulse(levels, float(self.duration or 0.0))
            tilt = {} if self.tilt is None else {"within": float(self.tilt)}
            return actuators.UprightByJoints(levels, float(self.duration or 0.0), **tilt)
        own: dict[str, Any] = {"friction": friction, **self._given("friction")}
        if self.up is not None:
            own["up"] = tuple(float(x) for x in self.up)
        if self.command == "upright":
            more = self._given("margin")
            if self.tilt is not None:
                more["within"] = float(self.tilt)
            return actuators.Upright(**own, **more)
        own |= self._given("azimuth", "speed", "distance", "settle")
        if self.place is not None:
            own["toward"] = tuple(float(x) for x in self.place)
        if self.latitude is not None and self.longitude is not None:
            at = ground_at(float(self.latitude), float(self.longitude))
            own["toward"] = tuple(float(x) for x in at)
        return actuators.Hop(**own)

    def _given(self, *names: str) -> dict[str, Any]:
        found = {name: getattr(self, name) for name in names}
        return {name: float(value) for name, value in found.items() if value is not None}


@functools.lru_cache(maxsize=8)
def stored_plan(path: str, sha256: str) -> actuators.StoredPlan:
    """The plan in a file, which is read once for all models of a campaign."""
    return actuators.StoredPlan.read(path)


def manoeuvre_problems(
    entries: Sequence[ManoeuvreSection], is_tree: bool, flat: bool, sunny: bool, driven: bool
) -> list[Fault]:
    """What is wrong with the manoeuvres of a scenario."""
    found: list[Fault] = []
    names = [one.name for one in entries if one.name is not None]
    for number, one in enumerate(entries):
        where = f"manoeuvre.{one.name or number}"
        found += one.problems(where, flat, is_tree)
        if one.name is not None and names.count(one.name) > 1:
            found.append(Fault(where, "is the name of two; each needs its own"))
        if one.sun_above is not None and not sunny:
            said = "waits for the Sun: give [environment.sun] with a date or a direction"
            found.append(Fault(f"{where}.sun_above", said))
    commanded = [one for one in entries if one.command != "policy"]
    if commanded and not is_tree and not driven:
        said = "needs actuators to do it with, such as [[lander.wheel]]"
        found.append(Fault("manoeuvre", said))
    return found


def manoeuvres_of(
    source: str,
    entries: Sequence[ManoeuvreSection],
    friction: float,
    ground_at: Callable[[float, float], Any],
    seed: int = 0,
) -> tuple[Any, ...]:
    """The manoeuvres of a scenario; what is wrong with one is reported with its key."""
    out = []
    for number, one in enumerate(entries):
        with blame(source, f"manoeuvre.{one.name or number}"):
            try:
                out.append(one.make(friction, ground_at, seed))
            except InputError as cause:
                raise InputError(" ".join(str(cause).split())) from None
    return tuple(out)
