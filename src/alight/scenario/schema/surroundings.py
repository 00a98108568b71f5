"""What pulls at a capture or a drop: a target with its gravity and rotation, Sun and companion.

The sections are those of landings. The target stands under [target]: in a drop, [body] is what
falls. Without one there is no gravity but what [gravity] says is the same everywhere.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Self

from alight.scenario.document import Document
from alight.scenario.errors import Fault
from alight.scenario.field_types import ChoiceField
from alight.scenario.quantities import Quantity
from alight.scenario.schema.run import Environment
from alight.scenario.schema.target import MESH_LAWS, GravitySection, TargetBodySection


class GravityAround(GravitySection):
    """The gravity law; uniform, and none, if nothing is said."""

    law: Annotated[str, ChoiceField((*MESH_LAWS, "point-mass", "uniform"))] = "uniform"

    def problems(self, body: TargetBodySection) -> list[Fault]:
        """What does not fit together, or with the target."""
        found = super().problems(body)
        for key in ("linearise", "error"):
            if getattr(self, key) is not None:
                from alight.motions.membrane.caught import NOT_LINEARISED

                found.append(Fault(f"gravity.{key}", NOT_LINEARISED))
        # A uniform law without a value is none; with another law a value is out of place.
        lacking = self.law == "uniform" and self.acceleration is None
        return [f for f in found if not (lacking and f.key == "gravity.acceleration")]

    def completed(self, body: TargetBodySection) -> Any:
        """With the defaults of its law; a uniform one is no gravity."""
        if self.law == "uniform":
            return self.filled(acceleration=(Quantity(0.0, "0 m/s^2"),) * 3)
        return super().completed(body)


class Surrounded(Document):
    """A document with a target, its gravity, and what else pulls."""

    target: TargetBodySection = TargetBodySection()
    gravity: GravityAround = GravityAround()
    environment: Environment = Environment()

    def surroundings_problems(self, place: str) -> list[Fault]:
        """What does not fit together; ``place`` is the key of where motion begins, if it has no
        value."""
        body = self.target
        found = [
            *body.problems(),
            *self.gravity.problems(body),
            *self.environment.problems(body),
            *self._light_problems(),
        ]
        if place and self.gravity.law != "uniform":
            said = (
                f'is missing; with gravity.law = "{self.gravity.law}" it must be given from the '
                'centre of the target, inertial axes, such as ["500 m", "0 m", "0 m"]'
            )
            found.append(Fault(place, said))
        return [_of_target(fault) for fault in found]

    def _light_problems(self) -> list[Fault]:
        """Light pushes all that moves by one area over mass, which follows from no hull."""
        sun = self.environment.sun
        if sun is None or not sun.pressure or sun.area_over_mass is not None:
            return []
        said = 'is missing; it pushes what is caught and what carries it alike: "0.02 m^2/kg"'
        return [Fault("environment.sun.area_over_mass", said)]

    def surroundings_completed(self) -> dict[str, Any]:
        """Sections with every default filled in."""
        body = self.target.completed()
        return {
            "target": body,
            "gravity": self.gravity.completed(body),
            "environment": self.environment.completed(body),
        }

    def located(self, folder: Path) -> Self:
        """With the kernels of the Sun's place relative to ``folder``."""
        environment = self.environment
        if environment.sun is None:
            return self
        sun = environment.sun.located(folder)
        return self.model_copy(update={"environment": environment.model_copy(update={"sun": sun})})


def _of_target(fault: Fault) -> Fault:
    """A fault of a section that stands under [body] in landings, and under [target] here."""
    key = fault.key
    if key == "body" or key.startswith("body."):
        key = f"target{key[4:]}"
    return Fault(key, fault.text.replace("body.", "target."))
