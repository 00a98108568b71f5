"""How a lander is released: above a place, on the ground, by inertial state, orbit or file."""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar

from alight.scenario.errors import Fault
from alight.scenario.field_types import (
    ChoiceField,
    ListField,
    Measure,
    Number,
    TextField,
    Whole,
)
from alight.scenario.quantities import Quantity
from alight.scenario.schema.ground_regions import LATITUDE, LONGITUDE
from alight.scenario.schema.section import Section
from alight.scenario.schema.target import FLAT

ABOVE, POSITION, GROUND = "above", "position", "ground"
INERTIAL, ORBIT, STATES = "inertial", "orbit", "states"
PLUMB, NORMAL, RADIAL = "plumb line", "surface normal", "radial"

_ANGLE = Measure(dimension="angle")
_MOVING = ("velocity", "speed", "azimuth", "elevation", "vertical")
_ELEMENTS = ("semi_major_axis", "eccentricity", "inclination", "node", "periapsis")
#: Keys of each kind of release that not all of them have.
KEYS: dict[str, tuple[str, ...]] = {
    ABOVE: ("latitude", "longitude", "height", "offset", *_MOVING),
    POSITION: ("position", *_MOVING),
    GROUND: ("latitude", "longitude", "position", *_MOVING),
    INERTIAL: ("position", "velocity"),
    ORBIT: (*_ELEMENTS, "true_anomaly", "mean_anomaly", "plane"),
    STATES: (
        *("file", "sha256", "axes", "row", "row_name", "date", "every"),
        *("spice_target", "spice_center"),
    ),
}
_ZERO = (Quantity(0.0, "0 m/s"),) * 3
#: Kinds of files of states, by how their names end.
OEM, SPK, TABLES = (".oem",), (".bsp", ".spk"), (".csv", ".parquet")


class ReleaseSection(Section):
    """Place, velocity, attitude and rate of the lander at its release."""

    KEYS: ClassVar = KEYS

    kind: Annotated[str | None, ChoiceField(tuple(KEYS))] = None
    latitude: Annotated[float | None, LATITUDE] = None
    longitude: Annotated[float | None, LONGITUDE] = None
    height: Annotated[float | None, Measure(dimension="length", least=0)] = None
    offset: Annotated[Any, ListField(Measure(dimension="length"))] = None
    position: Annotated[Any, ListField(Measure(dimension="length"))] = None
    velocity: Annotated[Any, ListField(Measure(dimension="speed"))] = _ZERO
    speed: Annotated[float | None, Measure(dimension="speed", least=0)] = None
    azimuth: Annotated[
        float | None, Measure(dimension="angle", least=-2 * math.pi, most=2 * math.pi)
    ] = None
    elevation: Annotated[
        float | None, Measure(dimension="angle", least=-math.pi / 2, most=math.pi / 2)
    ] = None
    vertical: Annotated[str | None, ChoiceField((PLUMB, NORMAL, RADIAL))] = None
    semi_major_axis: Annotated[float | None, Measure(dimension="length")] = None
    eccentricity: Annotated[float | None, Number(least=0)] = None
    inclination: Annotated[float | None, _ANGLE] = None
    node: Annotated[float | None, _ANGLE] = None
    periapsis: Annotated[float | None, _ANGLE] = None
    true_anomaly: Annotated[float | None, _ANGLE] = None
    mean_anomaly: Annotated[float | None, _ANGLE] = None
    plane: Annotated[str | None, ChoiceField(("equator", "inertial"))] = None
    draw: Annotated[int | None, Whole(least=0, most=10**15)] = None
    file: Annotated[str | None, TextField(None, ("states.csv",))] = None
    sha256: Annotated[str | None, TextField()] = None
    axes: Annotated[str | None, ChoiceField(("target", "inertial"))] = None
    row: Annotated[int | None, Whole(least=0, most=10**9)] = None
    row_name: Annotated[str | None, TextField(None, ("nominal",))] = None
    date: Annotated[str | None, TextField(None, ("2018-10-03T01:57:20",))] = None
    every: Annotated[float | None, Measure(dimension="time", above=0)] = None
    spice_target: Annotated[str | None, TextField(None, ("-37",))] = None
    spice_center: Annotated[str | None, TextField(None, ("2162173",))] = None
    attitude: Annotated[Any, ListField(Number(), 4, nonzero=True)] = None
    euler: Annotated[Any, ListField(_ANGLE)] = None
    attitude_axes: Annotated[str | None, ChoiceField(("target", "local", "inertial"))] = None
    rate: Annotated[Any, ListField(Measure(dimension="angular rate"))] = (
        Quantity(0.0, "0 rad/s"),
    ) * 3

    @property
    def form(self) -> str:
        """Its kind, given by its keys where it does not say."""
        if self.kind is not None:
            return self.kind
        return ABOVE if self.position is None else POSITION

    @property
    def local(self) -> bool:
        """Whether velocities are east, north and up."""
        return self.form in (ABOVE, GROUND) or self.vertical is not None

    @property
    def moved(self) -> str:
        """The key of its place that ``release.state`` has with the velocity."""
        return "offset" if self.position is None else "position"

    # -- checking ------------------------------------------------------------------------------

    def problems(self, ground: str, gm: bool, pole: bool) -> list[Fault]:
        """What does not fit together, with the ground, or with what is known of the body."""
        found = self._misplaced()
        if self.form == ABOVE:
            found += self._above_problems(ground)
        elif self.form == GROUND:
            by_position = ground in FLAT or self.position is not None
            place = ("position",) if by_position else ("latitude", "longitude")
            found += self._ground_problems(ground) or self.missing("release", *place)
        elif self.form in (POSITION, INERTIAL):
            found += self.missing("release", "position")
        elif self.form == ORBIT:
            found += self._orbit_problems(gm)
        else:
            found += self._file_problems(pole)
        if self.attitude_axes == "local" and self.form not in (ABOVE, GROUND) and not self.vertical:
            said = '"local" needs latitude and longitude, or vertical: which way is up'
            found.append(Fault("release.attitude_axes", said))
        if self.attitude is not None and self.euler is not None:
            found.append(Fault("release", "has both attitude and euler; give one of them"))
        return found + self._speed_problems()

    def _misplaced(self) -> list[Fault]:
        """Keys of other kinds of release than this one."""
        own = KEYS[self.form]
        every = dict.fromkeys(key for keys in KEYS.values() for key in keys)
        given = [k for k in every if k in self.model_fields_set and getattr(self, k) is not None]
        wrong = [key for key in given if key not in own]
        if self.kind is None and self.form == POSITION:
            return [
                Fault(f"release.{key}", "does not go with position; give one or the other")
                for key in wrong
            ]
        homes = {key: [kind for kind, keys in KEYS.items() if key in keys] for key in wrong}
        return [
            Fault(
                f"release.{key}",
                f"goes with kind = {' or '.join(f'{q!r}' for q in homes[key])}, not with "
                f'"{self.form}"'.replace("'", '"'),
            )
            for key in wrong
        ]

    def _above_problems(self, ground: str) -> list[Fault]:
        if ground in FLAT:
            said = f'is missing; over a {ground} it must be given, such as ["0 m", "0 m", "2 m"]'
            return [Fault("release.position", said)]
        lacks = [key for key in ("latitude", "longitude", "height") if getattr(self, key) is None]
        if not lacks:
            return []
        said = (
            f'lacks {", ".join(lacks)}; give latitude = "20 deg", longitude = "40 deg" and height '
            '= "60 m", or position = ["500 m", "0 m", "0 m"] in the axes of the target'
        )
        return [Fault("release", said)]

    def _ground_problems(self, ground: str) -> list[Fault]:
        """On a body a place goes by latitude and longitude or by position, on flat ground by
        position alone."""
        given = [key for key in ("latitude", "longitude") if getattr(self, key) is not None]
        if ground in FLAT:
            told = f'does not go with {ground} ground; give position = ["0 m", "0 m", "0 m"]'
        elif self.position is not None:
            told = "does not go with position; give one or the other"
        else:
            return []
        return [Fault(f"release.{key}", told) for key in given]

    def _orbit_problems(self, gm: bool) -> list[Fault]:
        found = self.missing("release", "semi_major_axis")
        if not gm:
            said = '"orbit" needs the mass of the body: body.name, body.gm or body.density'
            found.append(Fault("release.kind", said))
        if (self.true_anomaly is None) == (self.mean_anomaly is None):
            said = 'needs either true_anomaly or mean_anomaly, such as true_anomaly = "90 deg"'
            found.append(Fault("release", said))
        a, e = self.semi_major_axis, self.eccentricity or 0.0
        if e == 1.0 or (a is not None and (a == 0.0 or (a > 0.0) != (e < 1.0))):
            said = (
                "must fit semi_major_axis: an ellipse has an axis above 0 and an eccentricity "
                "below 1, a hyperbola an axis below 0 and an eccentricity above 1"
            )
            found.append(Fault("release.eccentricity", said))
        if self.mean_anomaly is not None and e > 0.99:
            said = "goes with an eccentricity up to 0.99; beyond give true_anomaly"
            found.append(Fault("release.mean_anomaly", said))
        return found

    def _file_problems(self, pole: bool) -> list[Fault]:
        found = self.missing("release", "file")
        if self.file is None:
            return found
        if self.row is not None and self.row_name is not None:
            found.append(Fault("release", "has both row and row_name; give one of them"))
        name = self.file.lower()
        if not name.endswith((*OEM, *SPK, *TABLES)):
            said = "must end in .csv, .parquet, .oem (CCSDS) or .bsp (SPICE), which say what it is"
            found.append(Fault("release.file", said))
        tied = name.endswith((*OEM, *SPK))
        if tied and self.axes == "target":
            found.append(Fault("release.axes", "are inertial in files of this kind"))
        if tied and not pole:
            said = (
                "its states are in J2000 axes, which need the pole of the body: [body.rotation] "
                'pole = ["96.4 deg", "-66.4 deg"]'
            )
            found.append(Fault("release.file", said))
        spice = ("spice_target", "spice_center", "date", "every")
        if name.endswith(SPK):
            return found + self.missing("release", *spice[:3])
        own = [k for k in spice if getattr(self, k) is not None and not (tied and k == "date")]
        said = "goes with SPICE files (.bsp) alone"
        return found + [Fault(f"release.{key}", said) for key in own]

    def _speed_problems(self) -> list[Fault]:
        """A velocity is a vector, or a speed and two angles."""
        angles = [key for key in ("azimuth", "elevation") if getattr(self, key) is not None]
        if self.speed is None:
            said = "goes with speed; without it give velocity"
            return [Fault(f"release.{key}", said) for key in angles]
        if "velocity" in self.model_fields_set and self.velocity is not None:
            said = "does not go with speed, azimuth and elevation; give one or the other"
            return [Fault("release.velocity", said)]
        return self.missing("release", "azimuth", "elevation")

    # -- filling -------------------------------------------------------------------------------

    def completed(self) -> ReleaseSection:
        """With the defaults of its kind, and an attitude along the axes."""
        form = self.form
        free = form in (INERTIAL, ORBIT, STATES) and self.axes != "target"
        made = self.filled(attitude_axes="inertial" if free else "target")
        if form == ABOVE:
            zero = Quantity(0.0, "0 m")
            made = made.filled(offset=(zero, zero, zero))
        if form in (ORBIT, STATES) or self.speed is not None:
            made = made.model_copy(update={"velocity": None})
        if form == GROUND or self.speed is not None:
            made = made.filled(vertical=PLUMB)
        if form == ORBIT:
            angles = dict.fromkeys(("inclination", "node", "periapsis"), Quantity(0.0, "0 deg"))
            made = made.filled(eccentricity=0.0, plane="equator", **angles)
        if form == STATES:
            made = made.filled(axes="inertial")
        if form == STATES and str(self.file).lower().endswith(SPK):
            made = made.filled(every=Quantity(60.0, "60 s"))
        return made if self.euler is not None else made.filled(attitude=(0.0, 0.0, 0.0, 1.0))
