"""``CaptureScenario``: a spacecraft that takes hold of an asteroid with a membrane."""

from __future__ import annotations

import inspect
from typing import Annotated, Any, ClassVar

from alight.core.errors import unknown_name
from alight.scenario.dispersion import Dispersion
from alight.scenario.errors import Fault
from alight.scenario.field_types import ListField, Measure, Number, TextField, Whole
from alight.scenario.quantities import Quantity
from alight.scenario.schema.caught_body import Asteroid
from alight.scenario.schema.craft_thruster import CraftThruster, thruster_problems
from alight.scenario.schema.membrane import MembraneSteps, Trajectories, profile_name
from alight.scenario.schema.section import Section
from alight.scenario.schema.stops import WhenSection, membrane_problems
from alight.scenario.schema.surroundings import Surrounded

FORCE = Measure(dimension="force", above=0)
LENGTH = Measure(dimension="length", above=0)
MASS = Measure(dimension="mass", above=0)

#: The key of the shape that a run draws from ``asteroid.shapes``.
DRAWN_SHAPE = "asteroid.shapes"


class SpacecraftSection(Section):
    """The craft: a bus and two solar arrays on hinges; as ``Spacecraft`` if nothing is said."""

    mass: Annotated[float, MASS] = Quantity(15e3, "15 t")
    width: Annotated[float, LENGTH] = Quantity(3.0, "3 m")
    height: Annotated[float, LENGTH] = Quantity(6.0, "6 m")
    standoff: Annotated[float, LENGTH] = Quantity(5.0, "5 m")
    side: Annotated[float, LENGTH] = Quantity(7.5, "7.5 m")
    hoop_radius: Annotated[float, Measure(dimension="length", least=0)] = Quantity(0.15, "15 cm")
    hoop_stiffness: Annotated[float, Measure(dimension="stiffness", above=0)] = Quantity(
        1e5, "100 kN/m"
    )
    array_mass: Annotated[float, MASS] = Quantity(300.0, "300 kg")
    array_radius: Annotated[float, LENGTH] = Quantity(5.0, "5 m")
    array_thickness: Annotated[float, LENGTH] = Quantity(0.05, "5 cm")
    boom: Annotated[float, Measure(dimension="length", least=0)] = Quantity(2.5, "2.5 m")
    frequency: Annotated[float, Measure(dimension="frequency", above=0)] = Quantity(0.1, "0.1 Hz")
    damping_ratio: Annotated[float, Number(least=0)] = 0.01
    moment_limit: Annotated[float, Measure(dimension="torque", above=0)] = Quantity(
        1765.0, "1765 N*m"
    )
    specific_impulse: Annotated[float, Measure(dimension="time", above=0)] = Quantity(
        285.0, "285 s"
    )
    thruster_arm: Annotated[float, LENGTH] = Quantity(1.5, "1.5 m")
    thruster: tuple[CraftThruster, ...] = ()

    def problems(self) -> list[Fault]:
        """A bus must be left, and thrusters be such as a craft can have."""
        found = thruster_problems("spacecraft", self.thruster)
        if 2.0 * self.array_mass < self.mass:
            return found
        said = (
            f"two arrays of {self.array_mass:g} kg leave nothing of {self.mass:g} kg for the bus; "
            "make them lighter, or spacecraft.mass larger"
        )
        return [*found, Fault("spacecraft.array_mass", said)]


class CaptureMembrane(Section):
    """The membrane on the craft's six points; as in paper 003 if nothing is said."""

    stiffness: Annotated[float, Measure(dimension="membrane stiffness", above=0)] = Quantity(
        1.5, "1.5 N/m^3"
    )
    damping: Annotated[float, Measure(dimension="membrane damping", least=0)] = Quantity(
        15.0, "15 N*s/m^3"
    )
    friction: Annotated[float, Number(least=0)] = 1.0
    stick_stiffness: Annotated[float, Measure(dimension="stiffness", above=0)] = Quantity(
        2.2e5, "220 kN/m"
    )
    relaxation: Annotated[float, Measure(dimension="time", above=0)] = Quantity(0.2, "0.2 s")
    profile: Annotated[str, TextField(profile_name, ("linear",))] = "linear"
    more: Annotated[Any, ListField(Number())] = (0.0, 0.0, 0.0)


def _controller_name(name: str) -> str:
    """A controller that Alight has, or that was registered."""
    from alight.motions.capture.approach import CONTROLLERS

    if name not in CONTROLLERS:
        raise unknown_name("controller", name, CONTROLLERS)
    return name


class ApproachSection(Section):
    """The controller, and its numbers."""

    controller: Annotated[str, TextField(_controller_name, ("corkscrew",))] = "corkscrew"
    speed: Annotated[float, Measure(dimension="speed", above=0)] = Quantity(0.05, "5 cm/s")
    thrust: Annotated[float, Measure(dimension="force", least=0)] = Quantity(475.0, "475 N")
    lead: Annotated[float, Measure(dimension="time", above=0)] = Quantity(10.0, "10 s")
    side: Annotated[int, Whole(least=-1, most=1)] = 1
    offset: Annotated[Any, ListField(Measure(dimension="length"), 2)] = (
        Quantity(0.0, "0 m"),
        Quantity(0.0, "0 m"),
    )
    roll: Annotated[float, Measure(dimension="angle")] = Quantity(0.0, "0 deg")
    timing: Annotated[float | None, Measure(dimension="time")] = None
    bandwidth: Annotated[float, Measure(dimension="angular rate", above=0)] = Quantity(
        0.1, "0.1 rad/s"
    )
    most_force: Annotated[float, FORCE] = Quantity(475.0, "475 N")
    most_torque: Annotated[float, Measure(dimension="torque", above=0)] = Quantity(500.0, "500 N*m")

    def problems(self) -> list[Fault]:
        """One end of the axis or the other; and a prediction only where there is one."""
        found = []
        if self.side == 0:
            said = "found 0; it must be 1, to come from where the axis points, or -1"
            found.append(Fault("approach.side", said))
        if self.timing is not None and not self._predicts():
            said = f'does not go with controller = "{self.controller}", which predicts nothing'
            found.append(Fault("approach.timing", said))
        return found

    def completed(self) -> ApproachSection:
        """With no error of the prediction, where there is one."""
        return self.filled(timing=Quantity(0.0, "0 s")) if self._predicts() else self

    def _predicts(self) -> bool:
        from alight.motions.capture.approach import CONTROLLERS

        kind: Any = CONTROLLERS[self.controller]
        return "timing" in inspect.signature(kind.__init__).parameters


class CaptureStop(Section):
    """When a run ends, and what counts as rest."""

    duration: Annotated[float, Measure(dimension="time", above=0)] = Quantity(170.0, "170 s")
    calm_speed: Annotated[float, Measure(dimension="speed", above=0)] = Quantity(0.02, "2 cm/s")
    calm_part: Annotated[float, Number(above=0)] = 0.25
    lost_height: Annotated[float, LENGTH] = Quantity(5.0, "5 m")
    when: tuple[WhenSection, ...] = ()


class CaptureSteps(MembraneSteps):
    """How closely a capture is followed."""

    tolerance: Annotated[float, Number(above=0, most=1e-2)] = 1e-6


class CaptureScenario(Surrounded):
    """A capture: asteroid, craft, membrane, approach, and what is uncertain about them."""

    KIND: ClassVar[str] = "capture"
    FILES: ClassVar = (("asteroid", "mesh"), ("target", "mesh"))

    asteroid: Asteroid
    spacecraft: SpacecraftSection = SpacecraftSection()
    membrane: CaptureMembrane = CaptureMembrane()
    approach: ApproachSection = ApproachSection()
    stop: CaptureStop = CaptureStop()
    steps: CaptureSteps = CaptureSteps()
    record: Trajectories = Trajectories()

    def problems(self) -> list[Fault]:
        """What does not fit together."""
        return [
            *self.asteroid.problems(),
            *self.spacecraft.problems(),
            *self.approach.problems(),
            *membrane_problems(self.stop.when, "a capture"),
            *self.record.problems(self.stop.duration),
            *self.surroundings_problems("" if self.asteroid.position else "asteroid.position"),
        ]

    def completed(self) -> CaptureScenario:
        """With every default filled in."""
        update = {
            "asteroid": self.asteroid.completed(),
            "approach": self.approach.completed(),
            "record": self.record.completed(self.stop.duration),
            **self.surroundings_completed(),
            "made_by": None,
        }
        return self.model_copy(update=update)

    def drawn(self) -> dict[str, Dispersion]:
        """One of ``asteroid.shapes`` a run."""
        if not self.asteroid.shapes:
            return {}
        numbers = tuple((float(i),) for i in range(len(self.asteroid.shapes)))
        return {DRAWN_SHAPE: Dispersion(DRAWN_SHAPE, "choice", 1, values=numbers)}
