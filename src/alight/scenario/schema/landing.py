"""``Scenario``: all that the scenario file of a landing says, checked, with every default."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from alight.scenario.building.articulated_landers import articulated
from alight.scenario.dispersion import RUN_NUMBER, Dispersion, MixedVector
from alight.scenario.document import LANDING, Document
from alight.scenario.errors import Fault
from alight.scenario.field_types import FieldType, ListField, OneOf
from alight.scenario.schema.articulated_lander import euler_attitude
from alight.scenario.schema.contact import ContactSection
from alight.scenario.schema.lander import ACTUATORS, LanderSection
from alight.scenario.schema.manoeuvre import ManoeuvreSection, manoeuvre_problems
from alight.scenario.schema.release import STATES, ReleaseSection
from alight.scenario.schema.run import Environment, StepsSection, StopSection
from alight.scenario.schema.target import FLAT, GravitySection, GroundSection, TargetBodySection


class Scenario(Document):
    """A landing: body, lander, release, laws, and what is uncertain about them."""

    KIND: ClassVar[str] = LANDING
    FILES: ClassVar = (
        ("body", "mesh"),
        ("lander", "mesh"),
        ("lander", "urdf"),
        ("ground", "map"),
        ("release", "file"),
        ("manoeuvre", "plan"),
    )
    OPEN: ClassVar = (
        "contact.static_friction",
        "contact.rolling_resistance",
        "contact.patch_radius",
        "contact.tangential_stiffness",
        "contact.tangential_damping",
    )
    OVERLAPS: ClassVar = {
        "release.place": ("release.latitude", "release.longitude"),
        "release.state": ("release.offset", "release.position", "release.velocity"),
        "release.attitude": ("release.euler",),
    }

    body: TargetBodySection = TargetBodySection()
    gravity: GravitySection = GravitySection()
    ground: GroundSection = GroundSection()
    lander: LanderSection
    release: ReleaseSection
    contact: ContactSection
    environment: Environment = Environment()
    manoeuvre: tuple[ManoeuvreSection, ...] = ()
    stop: StopSection = StopSection()
    steps: StepsSection = StepsSection()

    # -- checking and filling -----------------------------------------------------------------

    def problems(self) -> list[Fault]:
        """What does not fit together."""
        body = self.body
        return [
            *body.problems(),
            *self.gravity.problems(body),
            *self.ground.problems(body),
            *self.lander.problems(),
            *self._release_problems(),
            *self.contact.problems(self.ground, self.lander),
            *self.environment.problems(body),
            *self.stop.problems(
                self.lander.is_tree,
                self.ground.kind in FLAT,
                self.environment.companion is not None,
            ),
            *self.steps.problems(self.lander.is_tree),
            *self._hull_problems(),
            *manoeuvre_problems(
                self.manoeuvre,
                self.lander.is_tree,
                self.flat,
                self.environment.sun is not None,
                any(getattr(self.lander, name) for name in ACTUATORS),
            ),
        ]

    def _release_problems(self) -> list[Fault]:
        body = self.body.completed()
        mass = body.gm is not None or body.density is not None
        return self.release.problems(self.ground.kind, mass, body.rotation.pole is not None)

    @property
    def flat(self) -> bool:
        """Whether its ground has no latitudes and longitudes."""
        return self.ground.kind in FLAT

    def _hull_problems(self) -> list[Fault]:
        """Light pushes a hull, which an articulated lander has not."""
        sun = self.environment.sun
        if sun is None or not sun.pressure or sun.area_over_mass or not self.lander.is_tree:
            return []
        said = 'is missing; an articulated lander has no hull to take it from: "0.02 m^2/kg"'
        return [Fault("environment.sun.area_over_mass", said)]

    def completed(self) -> Scenario:
        """With every default filled in that does not need a mesh."""
        body = self.body.completed()
        return self.model_copy(
            update={
                "body": body,
                "gravity": self.gravity.completed(body),
                "ground": self.ground.completed(body, self.seed),
                "lander": self.lander.completed(),
                "release": self.release.completed(),
                "contact": self.contact.completed(),
                "environment": self.environment.completed(body),
                "stop": self.stop.completed(self.lander.is_tree),
                "steps": self.steps.completed(self.lander.is_tree),
                "made_by": None,
            }
        )

    def located(self, folder: Path) -> Scenario:
        """With the kernels of the Sun's place relative to ``folder``."""
        environment = self.environment
        if environment.sun is None:
            return self
        sun = environment.sun.located(folder)
        return self.model_copy(update={"environment": environment.model_copy(update={"sun": sun})})

    def file_problems(self) -> list[Fault]:
        """What is wrong with a URDF, or with a file of states."""
        found = articulated(self.lander)[1] if self.lander.urdf is not None else []
        if self.release.form != STATES:
            return found
        from alight.scenario.building.state_files import file_problems

        return found + file_problems(self.release)

    def drawn(self) -> dict[str, Dispersion]:
        """Run k takes row k of a file of states that names no row; throws of a plan err by the
        run's number."""
        release = self.release
        if any(one.command == "policy" for one in self.manoeuvre) and release.draw is None:
            return {"release.draw": Dispersion("release.draw", RUN_NUMBER, 1), **self._row_drawn()}
        return self._row_drawn()

    def _row_drawn(self) -> dict[str, Dispersion]:
        release = self.release
        if release.form != STATES or release.row is not None or release.row_name is not None:
            return {}
        return {"release.row": Dispersion("release.row", RUN_NUMBER, 1)}

    def most_runs(self) -> int | None:
        """Of a file of states, too, there are as many runs as it has rows."""
        known = [super().most_runs()]
        if self._row_drawn():
            from alight.scenario.building.state_files import rows_of

            known.append(rows_of(self.release))
        return min((n for n in known if n is not None), default=None)

    def remarks(self) -> list[str]:
        """What a person should know of what the file left open."""
        return [said] if (said := self.gravity.stated()) else []

    # -- single values ------------------------------------------------------------------------

    def value(self, key: str) -> Any:
        """The value under a dotted key as it was read; None where there is none."""
        release = self.release
        if key == "release.place":
            both = (release.latitude, release.longitude)
            return None if None in both else both
        if key == "release.state":
            place = getattr(release, release.moved)
            return None if None in (place, release.velocity) else (*place, *release.velocity)
        if key == "release.attitude" and release.euler is not None:
            return tuple(euler_attitude(np.asarray(release.euler, dtype=np.float64)))
        return super().value(key)

    def kind_here(self, key: str) -> FieldType | None:
        """The kind of value that may vary under a key, given the laws of this scenario."""
        section, _, name = key.partition(".")
        if key.startswith(("release.velocity.", "release.offset.")):
            axis = name.rpartition(".")[2]
            return super().kind_here(key) if (axis in "xyz") != self.release.local else None
        if section != "contact":
            return super().kind_here(key)
        kind = self.contact.kind_of(name)
        return kind.form(self.value(key)) if isinstance(kind, OneOf) else kind

    def unfit(self, key: str) -> str:
        """Why a value of the contact may not vary, or which axes a component has."""
        if key.startswith("release."):
            names = "east, north, up" if self.release.local else "x, y, z (target axes)"
            return f"the components of {key.rpartition('.')[0]} are {names} in this scenario."
        return f'{key} does not go with law = "{self.contact.law}" of the contact.'

    @classmethod
    def pairs(cls) -> dict[str, FieldType]:
        """Latitude and longitude, and place and velocity."""
        release = ReleaseSection.kinds()
        offset, velocity = release["offset"], release["velocity"]
        assert isinstance(offset, ListField)
        assert isinstance(velocity, ListField)
        return {
            "release.place": MixedVector((release["latitude"], release["longitude"])),
            "release.state": MixedVector((*(offset.of,) * 3, *(velocity.of,) * 3)),
        }
