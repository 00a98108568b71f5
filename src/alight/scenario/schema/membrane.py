"""``DropScenario``: a body that falls on a membrane; and what drops and captures share."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from alight.core.errors import AlightError, unknown_name
from alight.scenario.errors import Fault
from alight.scenario.field_types import (
    ChoiceField,
    ListField,
    Measure,
    Moments,
    Number,
    OneOf,
    Switch,
    TextField,
)
from alight.scenario.quantities import Quantity, in_si
from alight.scenario.schema.caught_body import ATTITUDE, CaughtBodySection
from alight.scenario.schema.craft_thruster import CraftThruster, thruster_problems
from alight.scenario.schema.run import Record
from alight.scenario.schema.section import Section
from alight.scenario.schema.stops import WhenSection, membrane_problems
from alight.scenario.schema.surroundings import Surrounded

#: Most records of one run: what a person or a page can take.
MOST_RECORDS = 100_000

_UPRIGHT = (0.0, 0.0, 0.0, 1.0)
_STILL = (Quantity(0.0, "0 m/s"),) * 3
_NO_RATE = (Quantity(0.0, "0 rad/s"),) * 3
_PLACE = ListField(Measure(dimension="length"))
_SPEED = ListField(Measure(dimension="speed"))
_RATE = ListField(Measure(dimension="angular rate"))


def profile_name(name: str) -> str:
    """A kind of membrane that Alight has, or that was registered."""
    from alight.scenario.building.membrane_drops import PROFILES

    if name not in PROFILES:
        raise unknown_name("profile of the membrane", name, PROFILES)
    return name


class MembraneSteps(Section):
    """How closely motion is followed."""

    method: Annotated[str, ChoiceField(("rk45", "rk4"))] = "rk45"
    tolerance: Annotated[float, Number(above=0, most=1e-2)] = 1e-8
    step: Annotated[float, Measure(dimension="time", above=0)] = Quantity(0.1, "0.1 s")


class Trajectories(Record):
    """Runs whose whole trajectory is kept, and how often it is written down."""

    every: Annotated[float | None, Measure(dimension="time", above=0)] = None

    def problems(self, duration: float) -> list[Fault]:
        """Not too many records."""
        if self.every is None or duration / self.every <= MOST_RECORDS:
            return []
        said = f"makes more than {MOST_RECORDS} records in {duration:g} s; take longer intervals"
        return [Fault("record.every", said)]

    def completed(self, duration: float) -> Trajectories:
        """With 400 records."""
        return self.filled(every=in_si(float(duration) / 400.0, "time"))


# -- drops ---------------------------------------------------------------------------------------


class DropBody(CaughtBodySection):
    """What falls: a shape, or in 2D a plate."""

    PLACE: ClassVar[str] = "body"

    corners: Annotated[Any, ListField(ListField(Measure(dimension="length"), 2), 0)] = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the shapes it may have; none where it is a mesh or a plate."""
        return () if self.corners is not None else super().names

    def problems(self) -> list[Fault]:
        """What does not fit together."""
        if self.corners is None:
            return super().problems()
        own = ("corners", "mass", "inertia_scale")
        given = [k for k in type(self).model_fields if k not in own and getattr(self, k)]
        found = [Fault(f"body.{key}", "does not go with corners") for key in given]
        if len(self.corners) < 3:
            found.append(Fault("body.corners", "must be three points or more, in order"))
        return found + self.missing("body", "mass")

    def completed(self) -> Any:
        """With the facets and proportions of its shape."""
        return self if self.corners is not None else super().completed()


class DropMembrane(Section):
    """A membrane on suspension points, or on a hexagon of some side."""

    suspension: Annotated[Any, ListField(ListField(Measure(dimension="length"), 0), 0)] = None
    side: Annotated[float | None, Measure(dimension="length", above=0)] = None
    up: Annotated[Any, ListField(Number(), nonzero=True)] = (0.0, 0.0, 1.0)
    stiffness: Annotated[float, OneOf(dimensions=("membrane stiffness", "stiffness"), above=0)]
    damping: Annotated[float | None, OneOf(dimensions=("membrane damping", "damping"), least=0)] = (
        None
    )
    friction: Annotated[float, Number(least=0)] = 0.0
    stick_stiffness: Annotated[float | None, Measure(dimension="stiffness", above=0)] = None
    relaxation: Annotated[float, Measure(dimension="time", above=0)] = Quantity(0.01, "10 ms")
    profile: Annotated[str, TextField(profile_name, ("linear",))] = "linear"
    more: Annotated[Any, ListField(Number())] = (0.0, 0.0, 0.0)

    @property
    def planar(self) -> bool:
        """True in 2D: points of two coordinates."""
        return bool(self.suspension) and len(self.suspension[0]) == 2

    def points(self) -> Any:
        """(k, 3), or (2, 2), suspension points [m]."""
        from alight.membrane import hexagon

        return hexagon(float(self.side)) if self.side is not None else self.suspension

    def problems(self) -> list[Fault]:
        """Points that span a membrane, and units that go with them."""
        if (self.side is None) == (self.suspension is None):
            said = (
                'needs either side = "7.5 m", of a hexagon, or suspension = [["5 m", "0 m", '
                '"0 m"], ...], and one only'
            )
            return [Fault("membrane", said)]
        return self._point_problems() or self._unit_problems()

    def _point_problems(self) -> list[Fault]:
        if self.suspension is not None and len({len(p) for p in self.suspension}) > 1:
            said = "has points of different numbers of coordinates; give three for each, or two"
            return [Fault("membrane.suspension", said)]
        from alight.membrane import Ring

        try:
            Ring(self.points(), self.up)
        except AlightError as cause:
            key = "membrane.up" if str(cause).startswith("up") else "membrane.suspension"
            return [Fault(key, str(cause))]
        return []

    def _unit_problems(self) -> list[Fault]:
        """In 2D a length stands for the area, and units change with it."""
        found, kinds = [], self.kinds()
        for key in ("stiffness", "damping"):
            kind, value = kinds[key], getattr(self, key)
            assert isinstance(kind, OneOf)
            right = kind.dimensions[1 if self.planar else 0]
            if value is not None and kind.dimension_of(value) != right:
                text = getattr(value, "text", value)
                example = kind.of(right).json()["examples"][0]
                hang = "between two points" if self.planar else "with an area"
                said = f'found "{text}"; of a membrane {hang} it must be such as "{example}"'
                found.append(Fault(f"membrane.{key}", said))
        return found

    def completed(self) -> DropMembrane:
        """Without damping, if none is given, and with fabric that holds as ``Membrane`` has it."""
        from alight.membrane import Membrane

        law = Membrane(float(self.stiffness), suspension=self.points(), up=self.up)
        return self.filled(
            damping=in_si(0.0, "damping" if self.planar else "membrane damping"),
            stick_stiffness=in_si(float(law.stick_stiffness[0]), "stiffness"),
        )


class DropRelease(Section):
    """Where the body is released, and how it moves then."""

    height: Annotated[float | None, Measure(dimension="length")] = None
    position: Annotated[Any, _PLACE] = None
    velocity: Annotated[Any, _SPEED] = _STILL
    attitude: Annotated[Any, ATTITUDE] = _UPRIGHT
    rate: Annotated[Any, _RATE] = _NO_RATE
    in_contact: Annotated[bool, Switch()] = False

    def problems(self) -> list[Fault]:
        """A height or a place."""
        if (self.height is None) != (self.position is None):
            return []
        said = (
            'needs either height = "10 m", above the middle of the suspension points, or a '
            "position of three, and one only"
        )
        return [Fault("release", said)]


class Carrier(Section):
    """What carries the suspension points: it stands still, moves evenly, or has a mass."""

    mass: Annotated[float | None, Measure(dimension="mass", above=0)] = None
    inertia: Annotated[Any, Moments(Measure(dimension="moment of inertia"))] = None
    position: Annotated[Any, _PLACE] = (Quantity(0.0, "0 m"),) * 3
    velocity: Annotated[Any, _SPEED] = _STILL
    attitude: Annotated[Any, ATTITUDE] = _UPRIGHT
    rate: Annotated[Any, _RATE] = _NO_RATE
    thrust: Annotated[Any, ListField(Measure(dimension="force"))] = None
    thrust_point: Annotated[Any, _PLACE] = None
    from_start: Annotated[bool | None, Switch()] = None
    thruster: tuple[CraftThruster, ...] = ()

    def problems(self) -> list[Fault]:
        """Mass and inertia come together, and thrust moves only what has them."""
        found = thruster_problems("carrier", self.thruster)
        if (self.mass is None) != (self.inertia is None):
            found.append(Fault("carrier", "needs both mass and inertia, or neither"))
        if self.thrust is not None and self.mass is None:
            said = "acts on a carrier with mass and inertia, which are missing"
            found.append(Fault("carrier.thrust", said))
        if self.thruster and self.mass is None:
            said = "act on a carrier with mass and inertia, which are missing"
            found.append(Fault("carrier.thruster", said))
        for key in ("thrust_point", "from_start"):
            if getattr(self, key) is not None and self.thrust is None:
                found.append(Fault(f"carrier.{key}", "goes with thrust only"))
        return found

    def completed(self) -> Carrier:
        """With thrust from contact on, at the centre of mass."""
        if self.thrust is None:
            return self
        return self.filled(thrust_point=(Quantity(0.0, "0 m"),) * 3, from_start=False)


class DropStop(Section):
    """When a run ends."""

    duration: Annotated[float, Measure(dimension="time", above=0)]
    until_release: Annotated[bool, Switch()] = False
    when: tuple[WhenSection, ...] = ()


class DropScenario(Surrounded):
    """A drop: body, membrane, release, and what is uncertain about them."""

    KIND: ClassVar[str] = "drop"
    FILES: ClassVar = (("body", "mesh"), ("target", "mesh"))

    body: DropBody
    membrane: DropMembrane
    release: DropRelease
    carrier: Carrier = Carrier()
    stop: DropStop
    steps: MembraneSteps = MembraneSteps()
    record: Trajectories = Trajectories()

    def problems(self) -> list[Fault]:
        """What does not fit together."""
        return [
            *self.body.problems(),
            *self.membrane.problems(),
            *self.release.problems(),
            *self.carrier.problems(),
            *membrane_problems(self.stop.when, "a drop"),
            *self.record.problems(self.stop.duration),
            *self._plane_problems(),
            *self.surroundings_problems(""),
        ]

    def _plane_problems(self) -> list[Fault]:
        """A plate goes with two suspension points, and nothing else does."""
        plate = self.body.corners is not None
        if plate == self.membrane.planar:
            return []
        if plate:
            said = 'a plate falls on two points: suspension = [["-5 m", "0 m"], ["5 m", "0 m"]]'
            return [Fault("membrane.suspension", said)]
        return [Fault("body.corners", "is missing: with two suspension points a plate falls")]

    def completed(self) -> DropScenario:
        """With every default filled in."""
        update = {
            "body": self.body.completed(),
            "membrane": self.membrane.completed(),
            "carrier": self.carrier.completed(),
            "record": self.record.completed(self.stop.duration),
            **self.surroundings_completed(),
            "made_by": None,
        }
        return self.model_copy(update=update)
