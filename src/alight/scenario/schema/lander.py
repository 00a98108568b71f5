"""The lander in a scenario: what it is."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from alight.core.errors import InputError
from alight.scenario import landers
from alight.scenario.building.articulated_landers import READY, articulated, ready_name
from alight.scenario.errors import Fault, told
from alight.scenario.field_types import (
    ChoiceField,
    ListField,
    Measure,
    Moments,
    Number,
    Switch,
    TextField,
    Whole,
)
from alight.scenario.quantities import Quantity, in_si
from alight.scenario.schema.actuators import ActuatorSection, SpringSection, WheelSection
from alight.scenario.schema.articulated_lander import (
    BellySection,
    BodySection,
    BrakeSection,
    CrushableSection,
    JointSection,
    MotorSection,
    PadSection,
    SloshSection,
    ThrusterSection,
)
from alight.scenario.schema.section import Section
from alight.scenario.schema.target import MESH_UNITS

LENGTH = Measure(dimension="length", above=0)
#: Keys of each shape.
SHAPES = {
    "cube": ("side",),
    "box": ("size",),
    "cylinder": ("diameter", "height", "sides"),
    "prism": ("diameter", "height", "sides"),
    "sphere": ("diameter",),
    "point": ("diameter",),
    "mesh": ("mesh", "unit", "sha256", "density"),
    "tree": (
        "urdf",
        "sha256",
        "hinge_stiffness",
        "hinge_damping",
        "slide_stiffness",
        "slide_damping",
        "ignore_limits",
        "collision",
        "up",
    ),
}
#: Lists of a rigid lander, and those that an articulated one has not.
ACTUATORS = ("wheel", "thruster", "spring", "actuator")
RIGID_ONLY = ("wheel", "spring", "actuator")
#: Keys of a mesh or a solid, which an articulated lander has for each of its bodies.
OF_SOLIDS = ("mass", "points", "extra_points", "center_of_mass", "inertia")
#: Defaults of articulated landers of the catalogue.
_READY: dict[str, dict[str, Any]] = {
    "dcap": {
        "leg_mass": Quantity(5.0, "5 kg"),
        "crush_force": Quantity(400.0, "400 N"),
        "stroke": Quantity(0.2, "0.2 m"),
        "thrust": Quantity(5.0, "5 N"),
        "delay": Quantity(0.0, "0 s"),
        "pad_radius": Quantity(0.0, "0 m"),
        "bus_touches": False,
    },
    "idefix": {
        "leg_mass": Quantity(1.5, "1.5 kg"),
        "leg_torque": Quantity(8.0, "8 N*m"),
        "leg_rate": Quantity(0.6, "0.6 rad/s"),
    },
}


def _lander_name(name: str) -> str:
    ready = ready_name(name)
    if ready is not None:
        return ready
    try:
        return landers.find(name).name
    except InputError as cause:
        more = f"Articulated: {', '.join(READY)}."
        raise InputError(f"found {told(name)}: {cause} {more}") from None


class LanderSection(Section):
    """The lander: a name of the catalogue, a shape with a mass, or a tree of bodies."""

    FORMS: ClassVar = ("shape", SHAPES)

    name: Annotated[str | None, TextField(_lander_name, ("minerva-ii-1",))] = None
    shape: Annotated[str | None, ChoiceField(tuple(SHAPES))] = None
    side: Annotated[float | None, LENGTH] = None
    size: Annotated[Any, ListField(LENGTH)] = None
    diameter: Annotated[float | None, LENGTH] = None
    height: Annotated[float | None, LENGTH] = None
    sides: Annotated[int | None, Whole(least=3, most=10_000)] = None
    mesh: Annotated[str | None, TextField(None, ("lander.stl",))] = None
    unit: Annotated[str | None, ChoiceField(MESH_UNITS)] = None
    sha256: Annotated[str | None, TextField()] = None
    mass: Annotated[float | None, Measure(dimension="mass", above=0)] = None
    density: Annotated[float | None, Measure(dimension="density", above=0)] = None
    points: Annotated[int | None, Whole(least=4, most=10_000)] = None
    extra_points: Annotated[Any, ListField(ListField(Measure(dimension="length")), 0)] = None
    center_of_mass: Annotated[Any, ListField(Measure(dimension="length"))] = None
    inertia: Annotated[Any, Moments(Measure(dimension="moment of inertia"))] = None

    urdf: Annotated[str | None, TextField(None, ("lander.urdf",))] = None
    hinge_stiffness: Annotated[float | None, Measure(dimension="torsional stiffness", above=0)] = (
        None
    )
    hinge_damping: Annotated[float | None, Measure(dimension="torsional damping", least=0)] = None
    slide_stiffness: Annotated[float | None, Measure(dimension="stiffness", above=0)] = None
    slide_damping: Annotated[float | None, Measure(dimension="damping", least=0)] = None
    ignore_limits: Annotated[bool | None, Switch()] = None
    collision: Annotated[bool | None, Switch()] = None
    up: Annotated[Any, ListField(Number(), nonzero=True)] = None
    leg_mass: Annotated[float | None, Measure(dimension="mass", above=0)] = None
    leg_torque: Annotated[float | None, Measure(dimension="torque", above=0)] = None
    leg_rate: Annotated[float | None, Measure(dimension="angular rate", above=0)] = None
    crush_force: Annotated[float | None, Measure(dimension="force", above=0)] = None
    stroke: Annotated[float | None, Measure(dimension="length", above=0)] = None
    thrust: Annotated[float | None, Measure(dimension="force", least=0)] = None
    delay: Annotated[float | None, Measure(dimension="time", least=0)] = None
    pad_radius: Annotated[float | None, Measure(dimension="length", least=0)] = None
    bus_touches: Annotated[bool | None, Switch()] = None
    body: tuple[BodySection, ...] = ()
    joint: tuple[JointSection, ...] = ()
    pad: tuple[PadSection, ...] = ()
    belly: tuple[BellySection, ...] = ()
    crushable: tuple[CrushableSection, ...] = ()
    thruster: tuple[ThrusterSection, ...] = ()
    motor: tuple[MotorSection, ...] = ()
    brake: tuple[BrakeSection, ...] = ()
    slosh: tuple[SloshSection, ...] = ()
    wheel: tuple[WheelSection, ...] = ()
    spring: tuple[SpringSection, ...] = ()
    actuator: tuple[ActuatorSection, ...] = ()

    @property
    def is_tree(self) -> bool:
        """Whether it is articulated."""
        return self.shape == "tree" or self.name in READY

    def problems(self) -> list[Fault]:
        """What does not fit together."""
        found = self.misplaced("lander") + self._loose_problems()
        if (self.name is None) == (self.shape is None):
            given = "both name and shape" if self.name else "neither name nor shape"
            return [
                Fault(
                    "lander",
                    f'has {given}; give one: name = "minerva-ii-1", or shape = "cube" with its '
                    "sizes and mass",
                )
            ]
        if self.is_tree:
            return found + self._tree_problems()
        if self.name is not None:
            loose = {key for keys in SHAPES.values() for key in keys}
            wrong = sorted(key for key in loose if getattr(self, key) is not None)
            said = "goes with shape, not with name"
            return found + [Fault(f"lander.{key}", said) for key in wrong]
        assert self.shape is not None
        needed = [k for k in SHAPES[self.shape] if k not in ("density", "sha256")]
        if self.shape == "cylinder":
            needed.remove("sides")
        if self.shape == "point":
            needed.remove("diameter")  # to draw it by
        found += self.missing("lander", *needed)
        if (self.mass is None) == (self.density is None) and self.shape == "mesh":
            found.append(Fault("lander", 'a mesh needs mass = "10 kg" or density = "500 kg/m^3"'))
        elif self.shape != "mesh":
            found += self.missing("lander", "mass")
        return found

    def _loose_problems(self) -> list[Fault]:
        """Keys of ready-made landers and lists of parts where they do not belong."""
        found = []
        used = [name for name in self.lists() if getattr(self, name)]
        if self.is_tree:
            said = (
                "goes with rigid landers. A wheel of an articulated one is a body on a revolute "
                "joint, with [[lander.motor]] and [[lander.brake]]; a spring a prismatic joint"
            )
            found += [Fault(f"lander.{name}", said) for name in used if name in RIGID_ONLY]
        if self.shape != "tree":
            own = () if self.is_tree else ACTUATORS
            said = 'goes with shape = "tree"'
            found += [Fault(f"lander.{name}", said) for name in used if name not in own]
        if not self.is_tree:
            found += self._actuator_problems()
        own_keys = READY[self.name].keys if self.name in READY else ()
        for key in dict.fromkeys(key for ready in READY.values() for key in ready.keys):
            if key not in own_keys and getattr(self, key) is not None:
                whose = [f'name = "{name}"' for name, ready in READY.items() if key in ready.keys]
                found.append(Fault(f"lander.{key}", f"goes with {' or '.join(whose)}"))
        return found

    def _actuator_problems(self) -> list[Fault]:
        """What is wrong with the actuators of a rigid lander, each for itself."""
        found = []
        for name in ACTUATORS:
            known: set[str] = set()
            for part in getattr(self, name):
                if part.called in known or not part.called:
                    said = "two have this name" if part.called else "has no name"
                    found.append(Fault(part.where, f"{said}; each needs its own"))
                known.add(part.called)
        try:
            self.actuators()
        except InputError as cause:
            found.append(Fault("lander", " ".join(str(cause).split())))
        return found

    def actuators(self) -> list[Any]:
        """Those of a rigid lander."""
        thrusters = [part.make_rigid() for part in self.thruster]
        others = [part.make() for part in self.actuator]
        springs = [part.make() for part in self.spring]
        return [*(part.make() for part in self.wheel), *thrusters, *springs, *others]

    def _tree_problems(self) -> list[Fault]:
        """What is wrong with an articulated lander; of a URDF file, once it is read."""
        said = "does not go with an articulated lander: give it in each [[lander.body]]"
        wrong = [n for n in OF_SOLIDS if getattr(self, n) is not None]
        found = [Fault(f"lander.{name}", said) for name in wrong]
        of_urdf = [n for n in SHAPES["tree"] if n != "up" and getattr(self, n) is not None]
        if self.name is None and self.urdf is None:
            found += [Fault(f"lander.{n}", "goes with urdf only") for n in of_urdf]
            if not self.body or not self.joint:
                said = "needs [[lander.body]] and [[lander.joint]] tables, or urdf"
                found.append(Fault("lander", said))
        elif self.name is not None:
            wrong = [*of_urdf, *(["up"] if self.up is not None else [])]
            found += [Fault(f"lander.{n}", 'goes with shape = "tree"') for n in wrong]
        elif self.body or self.joint:
            said = "does not go with urdf, which has bodies and joints of its own"
            found.append(Fault("lander.body" if self.body else "lander.joint", said))
        if found or self.urdf is not None:
            return found
        return articulated(self.completed())[1]

    def completed(self) -> LanderSection:
        """With the defaults of its shape, and the catalogue's mass."""
        if self.name in READY:
            return self.filled(**_READY[self.name])
        if self.name is not None:
            return self.filled(mass=in_si(landers.find(self.name).mass, "mass"))
        if self.shape == "cylinder":
            return self.filled(sides=16)
        if self.shape == "point":
            return self.filled(diameter=Quantity(0.1, "10 cm"))
        if self.shape == "tree":
            made = self.filled(up=(0.0, 0.0, 1.0))
            if self.urdf is None:
                return made
            return made.filled(ignore_limits=False, collision=False)
        return self.filled(points=32) if self.shape == "mesh" else self
