"""The body that a membrane catches, in a scenario: its shape, its size, its mass."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from alight.core.errors import InputError, did_you_mean
from alight.scenario.errors import Fault, told
from alight.scenario.field_types import (
    ChoiceField,
    ListField,
    Measure,
    Number,
    Switch,
    TextField,
    Whole,
)
from alight.scenario.quantities import Quantity
from alight.scenario.schema.section import Section
from alight.scenario.schema.target import MESH_UNITS
from alight.shapes import builtin

#: The shape of paper 003's asteroid.
PEAR = "pear"
#: Its proportions unless the scenario says otherwise: those of ``membrane.pear``.
PROPORTIONS = {"width": 0.80, "thickness": 0.72, "taper": 0.32, "waist": 0.10}

ATTITUDE = ListField(Number(), 4, nonzero=True)
LENGTH = Measure(dimension="length", above=0)


def _shape_name(name: str) -> str:
    known = (PEAR, *builtin.names())
    plain = name.strip().lower()
    if plain not in known:
        listed = ", ".join(f'"{word}"' for word in known)
        raise InputError(
            f"found {told(name)}; it must be one of {listed}.{did_you_mean(plain, known)}"
        )
    return plain


SHAPE = TextField(_shape_name, (PEAR, "castalia"))


class CaughtBodySection(Section):
    """A body of one shape; without any it is a pear."""

    #: Where it stands in the file.
    PLACE: ClassVar[str] = ""

    shape: Annotated[str | None, SHAPE] = None
    mesh: Annotated[str | None, TextField(None, ("asteroid.obj",))] = None
    unit: Annotated[str | None, ChoiceField(MESH_UNITS)] = None
    repair: Annotated[bool | None, Switch()] = None
    sha256: Annotated[str | None, TextField()] = None
    facets: Annotated[int | None, Whole(least=20, most=81_920)] = None
    length: Annotated[float | None, LENGTH] = None
    width: Annotated[float | None, Number(above=0, most=10)] = None
    thickness: Annotated[float | None, Number(above=0, most=10)] = None
    taper: Annotated[float | None, Number(least=0, most=0.5)] = None
    waist: Annotated[float | None, Number(least=0, most=0.5)] = None
    mass: Annotated[float | None, Measure(dimension="mass", above=0)] = None
    density: Annotated[float | None, Measure(dimension="density", above=0)] = None
    most_mass: Annotated[float | None, Measure(dimension="mass", above=0)] = None
    inertia_scale: Annotated[Any, ListField(Number(above=0))] = (1.0, 1.0, 1.0)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the shapes it may have; none where it is a mesh."""
        if self.mesh is not None:
            return ()
        return (self.shape or PEAR,)

    def problems(self) -> list[Fault]:
        """What does not fit together."""
        where = self.PLACE
        found = []
        if self.shape is not None and self.mesh is not None:
            found.append(Fault(where, "has both shape and mesh; a body is one or the other"))
        if (self.mass is None) == (self.density is None):
            said = 'needs either mass = "1000 t" or density = "2000 kg/m^3", and one only'
            found.append(Fault(where, said))
        if self.most_mass is not None and self.density is None:
            found.append(Fault(f"{where}.most_mass", "goes with density only"))
        return found + self._shape_problems()

    def _shape_problems(self) -> list[Fault]:
        """Keys that do not go with its shape."""
        where = self.PLACE
        if self.mesh is not None:
            found = self.missing(where, "unit")
            said = "goes with shape only: a mesh file has its own"
            return found + ([Fault(f"{where}.facets", said)] if self.facets is not None else [])
        given = [key for key in ("unit", "repair", "sha256") if getattr(self, key) is not None]
        found = [Fault(f"{where}.{key}", "goes with mesh only") for key in given]
        found += self.missing(where, "length")
        if PEAR not in self.names:
            wrong = [key for key in PROPORTIONS if getattr(self, key) is not None]
            found += [Fault(f"{where}.{key}", f'goes with "{PEAR}" only') for key in wrong]
        return found

    def completed(self) -> Any:
        """With the facets and proportions of its shape."""
        if self.mesh is not None:
            return self.filled(repair=False)
        made = self.filled(shape=self.names[0], facets=1280)
        return made.filled(**PROPORTIONS) if PEAR in self.names else made


class Asteroid(CaughtBodySection):
    """The asteroid of a capture, and how it tumbles."""

    PLACE: ClassVar[str] = "asteroid"

    shapes: Annotated[Any, ListField(SHAPE, 0)] = None
    rate: Annotated[Any, ListField(Measure(dimension="angular rate"))] = None
    spin: Annotated[float | None, Measure(dimension="angular rate", least=0)] = None
    axis: Annotated[Any, ListField(Number(), nonzero=True)] = None
    attitude: Annotated[Any, ATTITUDE] = (0.0, 0.0, 0.0, 1.0)
    position: Annotated[Any, ListField(Measure(dimension="length"))] = None
    velocity: Annotated[Any, ListField(Measure(dimension="speed"))] = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the shapes it may have; none where it is a mesh."""
        return tuple(self.shapes) if self.shapes else super().names

    def problems(self) -> list[Fault]:
        """What does not fit together."""
        found = super().problems()
        if self.shapes is not None:
            found += self._list_problems()
        if (self.rate is None) == (self.spin is None):
            said = (
                'needs either spin = "0.5 rpm" with axis = [0.3, 0.2, 0.93], or a rate of three, '
                "and one only"
            )
            found.append(Fault("asteroid", said))
        if self.axis is not None and self.spin is None:
            found.append(Fault("asteroid.axis", "goes with spin only"))
        return found

    def _list_problems(self) -> list[Fault]:
        found = []
        for key in ("shape", "mesh"):
            if getattr(self, key) is not None:
                found.append(Fault(f"asteroid.{key}", "does not go with shapes"))
        if not self.shapes or len(set(self.shapes)) < len(self.shapes):
            said = 'must be a list of different shapes, such as ["pear", "castalia"]'
            found.append(Fault("asteroid.shapes", said))
        return found

    def completed(self) -> Any:
        """With the facets and proportions of its shapes, and an axis."""
        zero, still = Quantity(0.0, "0 m"), Quantity(0.0, "0 m/s")
        made = super().completed().filled(position=(zero,) * 3, velocity=(still,) * 3)
        if self.shapes is not None:
            made = made.model_copy(update={"shape": None})
        return made if self.spin is None else made.filled(axis=(0.0, 0.0, 1.0))
