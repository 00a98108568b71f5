"""The target in a scenario: body, rotation, gravity, ground, and what lies around it."""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar

from pydantic import model_validator

from alight.core.errors import InputError
from alight.scenario import bodies
from alight.scenario.errors import Fault, told
from alight.scenario.field_types import (
    MOST_SEED,
    ChoiceField,
    Either,
    ListField,
    Measure,
    NameField,
    Number,
    Switch,
    TextField,
    Whole,
)
from alight.scenario.quantities import Quantity, in_si
from alight.scenario.registered import asked_by, entry_of, own_problems
from alight.scenario.schema.ground_regions import RegionSection, factors_problems
from alight.scenario.schema.rocks import RocksSection
from alight.scenario.schema.section import Section

#: Units that a mesh file may be in.
MESH_UNITS = ("m", "km", "cm", "mm", "ft")
#: Gravity laws that are made from a mesh.
MESH_LAWS = ("smooth", "polyhedron", "reduced", "cached")
#: Keys that go with one law, which they name where the file does not.
LAW_OF_KEY = {
    "spacing": "smooth",
    "vertices": "reduced",
    "tolerance": "cached",
    "acceleration": "uniform",
}
#: Relative error of the acceleration where nothing is said of gravity: that of shape and density
#: is larger, and no table has to be made.
GRAVITY_ERROR = 5e-3
#: Grounds that are made from a mesh.
MESH_GROUNDS = ("distance-field", "facets", "parametric")
#: Grounds that are not about the origin: places on them have no latitude.
FLAT = ("plane", "patch")
#: Degree of the built-in radius series, and the most that is fitted to a mesh.
DEGREE, MOST_DEGREE = 22, 60

Direction = Annotated[Any, ListField(Number(), nonzero=True)]


def _body_name(name: str) -> str:
    try:
        return bodies.find(name).name
    except InputError as cause:
        raise InputError(f"found {told(name)}: {cause}") from None


class BodyRotation(Section):
    """How the body turns; that of the catalogue if nothing is said."""

    FORMS: ClassVar = (
        "kind",
        {
            "uniform": ("period", "rate", "axis"),
            "tumbling": ("inertia", "rate"),
            "none": (),
        },
    )

    kind: Annotated[str | None, ChoiceField(("uniform", "tumbling", "none"))] = None
    period: Annotated[float | None, Measure(dimension="time", above=0)] = None
    rate: Annotated[Any, Either(Measure(dimension="angular rate"))] = None
    axis: Annotated[Any, ListField(Number(), nonzero=True)] = None
    inertia: Annotated[Any, ListField(Number(above=0))] = None
    pole: Annotated[Any, ListField(Measure(dimension="angle"), 2)] = None
    meridian: Annotated[float | None, Measure(dimension="angle")] = None

    def problems(self) -> list[Fault]:
        """What does not fit together."""
        where = "body.rotation"
        found = self.misplaced(where)
        if self.kind == "uniform" and (self.period is None) == (self.rate is None):
            found.append(
                Fault(
                    where, 'needs either period = "7.63262 h" or rate = "1e-4 rad/s", and one only'
                )
            )
        if self.axis is not None and isinstance(self.rate, tuple):
            found.append(Fault(f"{where}.axis", "does not go with a rate that is a vector"))
        if self.kind == "tumbling":
            found += self.missing(where, "inertia", "rate")
            if isinstance(self.rate, float):
                said = 'must be rates about x, y, z: ["1e-5 rad/s", "0 rad/s", "2e-5 rad/s"]'
                found.append(Fault(f"{where}.rate", said))
        if self.pole is not None and abs(self.pole[1]) > math.pi / 2:
            found.append(
                Fault(
                    f"{where}.pole",
                    f"found a declination of {told(self.pole[1].text)}; it must "
                    "be between -90 deg and 90 deg, after the right ascension",
                )
            )
        return found

    def completed(self, body: bodies.Body | None) -> BodyRotation:
        """With the catalogue's rotation and pole where none is given."""
        made = self
        if self.kind is None and self.period is None and self.rate is None:
            made = self._catalogued(body)
        elif self.kind is None:
            made = self.filled(kind="uniform" if self.inertia is None else "tumbling")
        if made.kind == "uniform" and not isinstance(made.rate, tuple):
            made = made.filled(axis=(0.0, 0.0, 1.0))
        if made.pole is None and body is not None and body.pole is not None:
            made = made.filled(pole=_pole(body.pole))
        if made.pole is not None:
            made = made.filled(meridian=Quantity(0.0, "0 deg"))
        return made

    def _catalogued(self, body: bodies.Body | None) -> BodyRotation:
        if body is None:
            return self.filled(kind="none")
        if body.tumbling is not None:
            rates = tuple(in_si(float(w), "angular rate") for w in body.spin_vector)
            inertia = tuple(float(m) for m in body.tumbling.inertia_ratios)
            return self.filled(kind="tumbling", inertia=inertia, rate=rates)
        assert body.rotation_period is not None
        return self.filled(kind="uniform", period=in_si(body.rotation_period, "time"))


def _pole(pole: bodies.Pole) -> tuple[Quantity, Quantity]:
    """Right ascension and declination."""
    x, y, z = pole.direction
    ra, dec = (pole.longitude, pole.latitude)
    if pole.frame == "ecliptic":
        ra, dec = math.atan2(y, x) % (2 * math.pi), math.asin(z)
    return in_si(ra, "angle"), in_si(dec, "angle")


class TargetBodySection(Section):
    """The body: a name of the catalogue, or a mesh file of your own."""

    name: Annotated[str | None, TextField(_body_name, ("Ryugu",))] = None
    facets: Annotated[int | None, Whole(least=20, most=2_000_000)] = None
    mesh: Annotated[str | None, TextField(None, ("itokawa.obj",))] = None
    unit: Annotated[str | None, ChoiceField(MESH_UNITS)] = None
    recentre: Annotated[bool | None, Switch()] = None
    repair: Annotated[bool | None, Switch()] = None
    sha256: Annotated[str | None, TextField()] = None
    gm: Annotated[float | None, Measure(dimension="gravitational parameter", above=0)] = None
    density: Annotated[float | None, Measure(dimension="density", above=0)] = None
    rotation: BodyRotation = BodyRotation()

    def problems(self) -> list[Fault]:
        """What does not fit together."""
        found = self.rotation.problems()
        if self.name is not None and self.mesh is not None:
            found.append(Fault("body", "has both name and mesh; a body is one or the other"))
        if self.gm is not None and self.density is not None:
            found.append(Fault("body", "has both gm and density; give one of them"))
        of_mesh = {
            key
            for key in ("unit", "recentre", "repair", "sha256")
            if getattr(self, key) is not None
        }
        if self.mesh is None:
            found += [Fault(f"body.{key}", "goes with mesh only") for key in sorted(of_mesh)]
        else:
            found += self.missing("body", "unit")
            if self.gm is None and self.density is None:
                found.append(
                    Fault("body", 'a mesh needs gm = "30 m^3/s^2" or density = "1190 kg/m^3"')
                )
        if self.name is None and self.facets is not None:
            found.append(Fault("body.facets", "goes with name only: a mesh file has its own"))
        if self.density is not None and self.name is None and self.mesh is None:
            found.append(Fault("body.density", "needs a shape: name or mesh; without one give gm"))
        return found

    @property
    def entry(self) -> bodies.Body | None:
        """The body in the catalogue."""
        return bodies.find(self.name) if self.name is not None else None

    def completed(self) -> TargetBodySection:
        """With the catalogue's figures where none are given."""
        entry = self.entry
        made = self.model_copy(update={"rotation": self.rotation.completed(entry)})
        if entry is not None:
            made = made.filled(facets=5120)
            if self.density is None:
                made = made.filled(gm=in_si(entry.gm, "gravitational parameter"))
        if self.mesh is not None:
            made = made.filled(recentre=True, repair=False)
        return made


class GravitySection(Section):
    """The gravity law; where none is named, the polyhedron's, to an error that is stated."""

    REGISTRY: ClassVar = "gravity"
    FORMS: ClassVar = (
        "law",
        {
            "smooth": ("spacing", "linearise"),
            "polyhedron": ("linearise", "error"),
            "reduced": ("vertices", "linearise"),
            "cached": ("tolerance", "linearise"),
            "point-mass": (),
            "uniform": ("acceleration",),
        },
    )

    law: Annotated[str, NameField("gravity")] = "polyhedron"
    spacing: Annotated[float | None, Measure(dimension="length", above=0)] = None
    vertices: Annotated[int | None, Whole(least=4, most=200_000)] = None
    tolerance: Annotated[float | None, Number(least=1e-7, most=1e-2)] = None
    acceleration: Annotated[Any, ListField(Measure(dimension="acceleration"))] = None
    linearise: Annotated[float | None, Measure(dimension="length", above=0)] = None
    error: Annotated[float | None, Number(least=1e-5, most=0.05)] = None

    @model_validator(mode="before")
    @classmethod
    def _law_of_its_key(cls, table: Any) -> Any:
        """A key that goes with one law names it: ``spacing`` alone asks for a smooth table."""
        if not isinstance(table, dict) or "law" in table:
            return table
        laws = [law for key, law in LAW_OF_KEY.items() if key in table]
        return {**table, "law": laws[0]} if laws else table

    def problems(self, body: TargetBodySection) -> list[Fault]:
        """What does not fit together, or with the body."""
        found = self.misplaced("gravity")
        if self.error is not None and self.linearise is not None:
            said = "does not go with linearise: either the reach is given or the error"
            found.append(Fault("gravity.error", said))
        if self.law == "uniform":
            found += self.missing("gravity", "acceleration")
        if self.law in MESH_LAWS and body.name is None and body.mesh is None:
            found.append(_shapeless("gravity.law", self.law, "point-mass or uniform"))
        if self.law == "point-mass" and body.gm is None and body.density is None and not body.name:
            found.append(
                Fault("body.gm", 'is missing; a point mass needs it, such as "30 m^3/s^2"')
            )
        return found + extension_problems(self, "gravity", body)

    def completed(self, body: TargetBodySection) -> GravitySection:
        """With the defaults of its law."""
        if self.law == "polyhedron" and "law" not in self.model_fields_set:
            return self if self.linearise is not None else self.filled(error=GRAVITY_ERROR)
        if self.law == "reduced":
            return self.filled(vertices=642)
        if self.law == "cached":
            return self.filled(tolerance=1e-5)
        if self.law == "smooth" and body.entry is not None:
            return self.filled(spacing=in_si(max(body.entry.size) / 200.0, "length"))
        return self

    def stated(self) -> str:
        """What a person reads of a law that errs and that the file may not have named."""
        if self.error is None:
            return ""
        return (
            "Gravity: the polyhedron's, reused over short distances: 99 of 100 accelerations "
            f"within {100.0 * self.error:g} % (gravity.error). For the exact one write "
            '[gravity] law = "polyhedron"; for many landings "smooth" or "cached", from a table.'
        )


def extension_problems(section: Section, where: str, body: TargetBodySection) -> list[Fault]:
    """What the keys of a registered law say, and what of the body it needs and has not."""
    asked = asked_by(section)
    chooser, _ = section.FORMS or ("kind", {})
    word, found = getattr(section, chooser), own_problems(section, where)
    if "mesh" in asked and body.name is None and body.mesh is None:
        found.append(_shapeless(f"{where}.{chooser}", word, "another"))
    if "gm" in asked and body.gm is None and body.density is None and not body.name:
        said = f'is missing; {chooser} = "{word}" needs it, such as "30 m^3/s^2"'
        found.append(Fault("body.gm", said))
    return found


def _shapeless(key: str, word: str, instead: str) -> Fault:
    return Fault(
        key, f'found "{word}", which needs a shape: give body.name or body.mesh, or take {instead}'
    )


class Noise(Section):
    """Fractal hills on the ground."""

    amplitude: Annotated[float, Measure(dimension="length", least=0)]
    wavelength: Annotated[float, Measure(dimension="length", above=0)]
    octaves: Annotated[int, Whole(least=1, most=24)] = 4
    roughness: Annotated[float, Number(above=0)] = 0.5
    lacunarity: Annotated[float, Number(above=1)] = 2.0
    seed: Annotated[int | None, Whole(least=0, most=MOST_SEED)] = None
    map: Annotated[Any, ListField(ListField(Number(least=0), 0), 0)] = None

    def problems(self) -> list[Fault]:
        """A map must be a table."""
        return factors_problems("ground.noise.map", self.map)


class GroundSection(Section):
    """What is touched."""

    REGISTRY: ClassVar = "surface"
    FORMS: ClassVar = (
        "kind",
        {
            "distance-field": ("spacing", "interpolation", "band"),
            "facets": (),
            "parametric": ("degree",),
            "sphere": ("radius",),
            "plane": ("point", "normal"),
            "patch": ("point", "normal", "along", "length", "width", "thickness"),
        },
    )

    kind: Annotated[str, NameField("surface")] = "distance-field"
    spacing: Annotated[float | None, Measure(dimension="length", above=0)] = None
    interpolation: Annotated[str | None, ChoiceField(("smooth", "trilinear"))] = None
    band: Annotated[float | None, Measure(dimension="length", above=0)] = None
    degree: Annotated[int | None, Whole(least=0, most=MOST_DEGREE)] = None
    radius: Annotated[float | None, Measure(dimension="length", above=0)] = None
    point: Annotated[Any, ListField(Measure(dimension="length"))] = None
    normal: Annotated[Any, ListField(Number(), nonzero=True)] = None
    along: Annotated[Any, ListField(Number(), nonzero=True)] = None
    length: Annotated[float | None, Measure(dimension="length", above=0)] = None
    width: Annotated[float | None, Measure(dimension="length", above=0)] = None
    thickness: Annotated[float | None, Measure(dimension="length", above=0)] = None
    map: Annotated[str | None, TextField(None, ("ground.csv",))] = None
    sha256: Annotated[str | None, TextField()] = None
    noise: Noise | None = None
    rocks: RocksSection | None = None
    region: tuple[RegionSection, ...] = ()

    def problems(self, body: TargetBodySection) -> list[Fault]:
        """What does not fit together, or with the body."""
        found = self.misplaced("ground") + (self.noise.problems() if self.noise else [])
        found += extension_problems(self, "ground", body)
        if self.kind in MESH_GROUNDS and body.name is None and body.mesh is None:
            found.append(_shapeless("ground.kind", self.kind, "sphere or plane"))
        if self.kind == "distance-field":
            found += self._field_problems(body)
        if self.kind == "patch":
            found += self.missing("ground", "length", "width")
        if self.kind == "parametric" and body.name is not None and (self.degree or 0) > DEGREE:
            said = f"found {self.degree}, but the built-in shapes are series of degree {DEGREE}"
            found.append(Fault("ground.degree", said))
        if self.rocks is not None:
            found += self.rocks.problems(self.kind, body.entry)
        if self.kind == "sphere" and self.radius is None and body.name is None:
            found += self.missing("ground", "radius")
        if self.kind in FLAT and self.noise is not None and self.noise.map is not None:
            found.append(Fault("ground.noise.map", "needs a body about the origin, not a plane"))
        return found + self._varied_problems()

    def _field_problems(self, body: TargetBodySection) -> list[Fault]:
        """What does not fit together of a distance field."""
        found, entry = [], body.entry
        if self.spacing is not None and entry and self.spacing > min(entry.size) / 2:
            found.append(
                Fault(
                    "ground.spacing",
                    f"found {told(getattr(self.spacing, 'text', self.spacing))}, but "
                    f"{entry.name} is only {min(entry.size):g} m across at its thinnest; take "
                    f'at most half of that, better "{max(entry.size) / 100:.2g} m"',
                )
            )
        if self.band is not None and self.spacing is not None and self.band < 4 * self.spacing:
            found.append(
                Fault("ground.band", f"must be at least 4 spacings, {4 * self.spacing:g} m")
            )
        return found

    def _varied_problems(self) -> list[Fault]:
        """What does not fit together of the map and the regions."""
        found = []
        if self.kind in FLAT and self.map is not None:
            found.append(Fault("ground.map", "needs a body about the origin, not a plane"))
        if self.map is None and self.sha256 is not None:
            found.append(Fault("ground.sha256", "goes with map only"))
        names = [region.name for region in self.region]
        for name in sorted({name for name in names if names.count(name) > 1}):
            said = "is the name of two regions; each needs its own"
            found.append(Fault(f"ground.region.{name}", said))
        for region in self.region:
            found += region.problems(self.kind in FLAT)
        return found

    def completed(self, body: TargetBodySection, seed: int) -> GroundSection:
        """With the defaults of its kind."""
        made, entry = self, body.entry
        if self.noise is not None:
            made = made.model_copy(update={"noise": self.noise.filled(seed=seed)})
        if self.rocks is not None:
            made = made.model_copy(update={"rocks": self.rocks.completed(entry, seed)})
        if self.kind == "facets" or entry_of(self) is not None:
            return made
        if self.kind == "parametric":
            return made.filled(degree=DEGREE)
        if self.kind in FLAT:
            zero = Quantity(0.0, "0 m")
            made = made.filled(point=(zero, zero, zero), normal=(0.0, 0.0, 1.0))
            if self.kind == "plane":
                return made
            return made.filled(along=(1.0, 0.0, 0.0), thickness=Quantity(1.0, "1 m"))
        if self.kind == "sphere":
            return made.filled(radius=in_si(entry.mean_radius, "length")) if entry else made
        made = made.filled(interpolation="smooth")
        return made.filled(spacing=in_si(max(entry.size) / 100.0, "length")) if entry else made
