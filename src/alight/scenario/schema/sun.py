"""The Sun in a scenario: what it does to a run, and where it stands, for runs and for reports."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from alight.core.constants import MOST_ECCENTRIC
from alight.core.errors import InputError
from alight.core.paths import user_path
from alight.scenario import bodies
from alight.scenario.errors import Fault, told
from alight.scenario.field_types import FieldType, ListField, Measure, Number, Switch, TextField
from alight.scenario.quantities import Quantity, in_si
from alight.scenario.schema.section import Section
from alight.scenario.schema.target import TargetBodySection

ANGLE = Measure(dimension="angle")

#: Keys that say which SPICE kernels know its place.
SPICE = ("spice", "spice_target", "spice_frame")


@dataclass(frozen=True)
class Date(FieldType):
    """A date and time, UTC unless it names another zone, as text or as a date of TOML's own."""

    def read(self, value: Any) -> Any:
        """ISO text in UTC."""
        wanted = 'a date in UTC, such as "2018-10-03T01:57:20"'
        if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
            value = dt.datetime(value.year, value.month, value.day)
        if not isinstance(value, str | dt.datetime):
            raise InputError(f"found {told(value)}; it must be {wanted}")
        try:
            moment = dt.datetime.fromisoformat(value) if isinstance(value, str) else value
            if moment.tzinfo is not None:
                moment = moment.astimezone(dt.UTC).replace(tzinfo=None)
        except (ValueError, OverflowError):
            raise InputError(
                f"found {told(value)}, which is no date; it must be {wanted}"
            ) from None
        return moment.isoformat()

    def json(self) -> dict[str, Any]:
        """A string."""
        return {
            "type": "string",
            "description": "date and time, UTC",
            "examples": ["2018-10-03T01:57:20"],
        }


@dataclass(frozen=True)
class Files(FieldType):
    """Names of files, relative to the scenario."""

    def read(self, value: Any) -> Any:
        """A tuple of names."""
        if not isinstance(value, list | tuple) or not value:
            raise InputError(f'found {told(value)}; it must be a list, such as ["naif0012.tls"]')
        return tuple(TextField().read(name) for name in value)

    def write(self, value: Any) -> Any:
        """A list."""
        return list(value)

    def json(self) -> dict[str, Any]:
        """An array of strings."""
        return {"type": "array", "items": {"type": "string"}, "minItems": 1}


class SunOrbit(Section):
    """The body's orbit about the Sun, against the J2000 ecliptic; the catalogue's if not given."""

    semi_major_axis: Annotated[float, Measure(dimension="length", above=0)]
    eccentricity: Annotated[float, Number(least=0, most=MOST_ECCENTRIC)]
    inclination: Annotated[float, ANGLE]
    node: Annotated[float, ANGLE]
    periapsis: Annotated[float, ANGLE]
    mean_anomaly: Annotated[float | None, ANGLE] = None
    epoch: Annotated[str | None, Date()] = None

    def problems(self) -> list[Fault]:
        """A mean anomaly and its date go together."""
        where = "environment.sun.orbit"
        if (self.mean_anomaly is None) != (self.epoch is None):
            return self.missing(where, "mean_anomaly", "epoch")
        return []

    @classmethod
    def of(cls, orbit: bodies.BodyOrbit) -> SunOrbit:
        """That of the catalogue."""
        angle = {
            name: in_si(value, "angle")
            for name in ("inclination", "node", "periapsis", "mean_anomaly")
            if (value := getattr(orbit, name)) is not None
        }
        return cls(
            semi_major_axis=in_si(orbit.semi_major_axis, "length"),
            eccentricity=orbit.eccentricity,
            epoch=None if orbit.epoch is None else Date().read(orbit.epoch),
            **angle,
        )


class Sun(Section):
    """The Sun: its tide, its light, and where it stands."""

    tide: Annotated[bool, Switch()] = True
    pressure: Annotated[bool, Switch()] = False
    date: Annotated[str | None, Date()] = None
    mean_anomaly: Annotated[float | None, ANGLE] = None
    direction: Annotated[Any, ListField(Number(), nonzero=True)] = None
    distance: Annotated[float | None, Measure(dimension="length", above=0)] = None
    spice: Annotated[Any, Files()] = None
    spice_target: Annotated[str | None, TextField(None, ("RYUGU",))] = None
    spice_frame: Annotated[str | None, TextField(None, ("RYUGU_FIXED",))] = None
    area_over_mass: Annotated[float | None, Measure(dimension="area over mass", least=0)] = None
    reflectivity: Annotated[float, Number(least=0, most=2)] = 1.3
    shadow_radius: Annotated[float, Measure(dimension="length", least=0)] = Quantity(0.0, "0 m")
    orbit: SunOrbit | None = None

    # -- checking and filling -----------------------------------------------------------------

    def problems(self, body: TargetBodySection) -> list[Fault]:
        """What does not fit together; what pushes a lander must stand somewhere."""
        where = "environment.sun"
        found = self._spice_problems(where, body)
        if self.orbit is not None:
            found += self.orbit.problems()
        if self.direction is not None or self.distance is not None:
            found += self.missing(where, "direction", "distance")
            others = ("date", "mean_anomaly", "spice", "orbit")
            given = [name for name in others if getattr(self, name) is not None]
            return found + [
                Fault(f"{where}.{name}", "does not go with direction") for name in given
            ]
        if self.date is not None and self.mean_anomaly is not None:
            found.append(Fault(f"{where}.mean_anomaly", "follows from date; give one of them"))
        if self.tide or self.pressure:
            only = "or tide = false, for a Sun that only the report needs"
            found += self._place_problems(where, body, only)
        return found

    def sky_problems(self, asker: str, body: TargetBodySection) -> list[Fault]:
        """What light at rest sites lacks, which ``asker`` needs: days, a pole, and a place."""
        where, rotation = "environment.sun", body.rotation
        rate = rotation.rate if isinstance(rotation.rate, tuple) else (rotation.rate,)
        if rotation.kind in (None, "none") or (rotation.period is None and not any(rate)):
            return [Fault("body.rotation", f"the body does not rotate and has no day: {asker}")]
        if self.spice is not None and self.spice_frame is not None:
            return []
        if rotation.pole is None:
            said = f'is missing: {asker}; give pole = ["96.4 deg", "-66.4 deg"] (right ascension '
            return [Fault("body.rotation.pole", f"{said}and declination)")]
        if self.spice is not None or self.direction is not None:
            return []
        return self._place_problems(where, body, f"as {asker}")

    def _spice_problems(self, where: str, body: TargetBodySection) -> list[Fault]:
        named = [n for n in ("spice_target", "spice_frame") if getattr(self, n) is not None]
        if self.spice is None:
            return [Fault(f"{where}.{name}", "goes with spice only") for name in named]
        found = [] if body.name else self.missing(where, "spice_target")
        return found + self.missing(where, "date")

    def _place_problems(self, where: str, body: TargetBodySection, only: str) -> list[Fault]:
        """Tide and pressure need the Sun's place at every moment, and the way the body turns."""
        who = body.name or "this body"
        orbit = self._orbit_of(body)
        if orbit is None:
            said = f"the orbit of {who} about the Sun is not in the catalogue; give "
            said += 'direction = [1.0, 0.0, 0.0] (inertial axes) and distance = "1.2 AU", or '
            return [Fault(where, f"{said}[{where}.orbit] with its elements, {only}")]
        if self.date is not None and orbit.epoch is None:
            said = f"where {who} is on its orbit on that date is not known; give [{where}.orbit] "
            return [Fault(f"{where}.date", f"{said}with mean_anomaly and epoch, {only}")]
        if body.completed().rotation.pole is None:
            said = f"the pole of {body.name} is not known; give body.rotation.pole, or direction "
            return [Fault(where, f"{said}and distance of the Sun, {only}")]
        return []

    def completed(self, body: TargetBodySection) -> Sun:
        """With the catalogue's orbit; at perihelion where nothing is said."""
        if self.direction is not None:
            return self
        made = self.filled(orbit=self._orbit_of(body))
        if self.spice is not None and body.name is not None:
            made = made.filled(spice_target=body.name.upper())
        if self.date is None and made.orbit is not None:
            made = made.filled(mean_anomaly=Quantity(0.0, "0 deg"))
        return made

    def _orbit_of(self, body: TargetBodySection) -> SunOrbit | None:
        if self.orbit is not None:
            return self.orbit
        known = body.entry.solar_orbit if body.entry is not None else None
        return None if known is None else SunOrbit.of(known)

    def located(self, folder: Path) -> Sun:
        """With kernels by their full paths; whether they are there is seen when they are read."""
        if self.spice is None:
            return self
        paths = (folder / user_path(name, "SPICE kernel") for name in self.spice)
        return self.model_copy(update={"spice": tuple(p.resolve().as_posix() for p in paths)})

    # -- where it stands ----------------------------------------------------------------------

    @property
    def anomaly(self) -> float | None:
        """Mean anomaly of the body on its orbit at t = 0 [rad]; None where it is not known."""
        orbit = self.orbit
        if orbit is None or self.date is None:
            return None if self.mean_anomaly is None else float(self.mean_anomaly)
        if orbit.epoch is None or orbit.mean_anomaly is None:
            return None
        from alight.core import orbits

        start = float(orbit.mean_anomaly)
        return orbits.mean_anomaly_at(self.date, orbit.epoch, float(orbit.semi_major_axis), start)
