"""``Scenario``: all that a scenario file says, checked, with every default filled in."""

from __future__ import annotations

import copy
import functools
import importlib
import math
from importlib.metadata import version
from typing import Annotated, Any

import numpy as np
from pydantic import Field, PrivateAttr

from alight.core.checks import Array
from alight.core.errors import InputError, did_you_mean
from alight.scenario import toml_text
from alight.scenario.dispersion import KINDS, Pair
from alight.scenario.errors import Problem
from alight.scenario.fields import MOST_SEED, Either, Kind, Row, Text, Whole
from alight.scenario.schema_contact import Contact
from alight.scenario.schema_ground import RegionSection
from alight.scenario.schema_lander import LanderSection, ReleaseSection
from alight.scenario.schema_run import Campaign, Environment, Record, StepsSection, StopSection
from alight.scenario.schema_target import Body, GravitySection, Ground
from alight.scenario.section import Section

#: Sections whose numbers cannot vary from run to run.
FIXED = ("campaign", "record", "made_by")


class MadeBy(Section):
    """What wrote a resolved scenario: for people, and never read back."""

    alight: Annotated[str | None, Text()] = None
    warp: Annotated[str | None, Text()] = None
    device: Annotated[str | None, Text()] = None


class Scenario(Section):
    """A problem to simulate: body, lander, release, laws, and what is uncertain about them.

    Made by ``alight.scenario.load``; it never changes. ``replaced`` gives a copy with other values.
    """

    title: Annotated[str, Text(None, ("MINERVA-II-1 on Ryugu",))] = ""
    seed: Annotated[int, Whole(least=0, most=MOST_SEED)] = 0
    body: Body = Body()
    gravity: GravitySection = GravitySection()
    ground: Ground = Ground()
    lander: LanderSection
    release: ReleaseSection
    contact: Contact
    environment: Environment = Environment()
    stop: StopSection = StopSection()
    steps: StepsSection = StepsSection()
    dispersions: Annotated[dict[str, Any], Field(default_factory=dict)]
    campaign: Campaign = Campaign()
    record: Record = Record()
    made_by: MadeBy | None = None

    _source: str = PrivateAttr(default="scenario")

    def __eq__(self, other: object) -> bool:
        """Equal in everything that a run depends on."""
        return isinstance(other, Scenario) and self._numbers() == other._numbers()

    def __hash__(self) -> int:
        return hash(repr(self._numbers()))

    def _numbers(self) -> dict[str, Any]:
        kept = {name: getattr(self, name) for name in type(self).model_fields if name != "made_by"}
        return kept

    @property
    def source(self) -> str:
        """The file it was read from, for messages."""
        return self._source

    # -- checking and filling -----------------------------------------------------------------

    def problems(self) -> list[Problem]:
        """What does not fit together."""
        body = self.body
        return [
            *body.problems(),
            *self.gravity.problems(body),
            *self.ground.problems(body),
            *self.lander.problems(),
            *self.release.problems(self.ground.kind),
            *self.contact.problems(self.ground, self.lander),
            *self.environment.problems(body),
            *self.steps.problems(),
        ]

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
                "made_by": None,
            }
        )

    # -- writing ------------------------------------------------------------------------------

    def resolved(self, device: str | None = None) -> dict[str, Any]:
        """Everything as a file would say it: every default, and the version (and ``device``)."""
        out = self.written()
        out.pop("made_by", None)
        out["dispersions"] = {key: copy.deepcopy(d.written) for key, d in self.dispersions.items()}
        out["made_by"] = {"alight": _alight_version(), "warp": version("warp-lang")}
        if device is not None:
            out["made_by"]["device"] = device
        return out

    def to_toml(self, device: str | None = None) -> str:
        """The resolved scenario as the text of a file, which reads back to an equal scenario."""
        return toml_text.dumps(self.resolved(device))

    # -- single values ------------------------------------------------------------------------

    def number(self, key: str) -> Any:
        """The value under a dotted key in SI units: a float, or an array for a vector."""
        value = self._value(key)
        if value is None:
            raise InputError(f"{self.source}: {key} has no value in this scenario.")
        array = np.asarray(value, dtype=np.float64)
        return float(array) if array.ndim == 0 else array

    def _value(self, key: str) -> Any:
        kind_of(key)
        release = self.release
        if key == "release.place":
            both = (release.latitude, release.longitude)
            return None if None in both else both
        if key == "release.state":
            place = release.offset if release.position is None else release.position
            return (*place, *release.velocity)
        if key == "release.attitude" and release.euler is not None:
            return tuple(euler_attitude(np.asarray(release.euler, dtype=np.float64)))
        found: Any = self
        names = key.split(".")
        if _of_region(key):
            found, names = self.ground.named(names[2]), names[3:]
        for name in names:
            found = None if found is None else getattr(found, name)
        return found

    def kind_here(self, key: str) -> Kind | None:
        """The kind of value that may vary under a key, given the laws of this scenario."""
        section, _, name = key.partition(".")
        return self.contact.kind_of(name) if section == "contact" else varied_kind(key)

    def replaced(self, values: dict[str, Any]) -> Scenario:
        """A copy with other values under some dotted keys.

        Numbers with units may be in SI units or strings; None takes a value away.
        """
        from alight.scenario.reader import from_dict

        table = self.resolved()
        for key, value in values.items():
            place, names = table, key.split(".")
            if _of_region(key):
                place, names = self._region_table(table, names[2]), names[3:]
            for name in names[:-1]:
                place = place.setdefault(name, {})
            if value is None:
                place.pop(names[-1], None)
            else:
                place[names[-1]] = _spelt(key, value)
        return from_dict(table, self.source)

    def _region_table(self, table: dict[str, Any], name: str) -> dict[str, Any]:
        """The table of a region in that of the scenario."""
        found: list[dict[str, Any]] = table["ground"].get("region", [])
        for region in found:
            if region["name"] == name:
                return region
        known = [region["name"] for region in found]
        raise InputError(
            f'{self.source}: the ground has no region "{name}".{did_you_mean(name, known)}'
        )


def _of_region(key: str) -> bool:
    """Whether a dotted key is one of a region: ground.region.<its name>.<key>."""
    return key.startswith("ground.region.") and key.count(".") == 3


def _spelt(key: str, value: Any) -> Any:
    """``value`` as a file would have it."""
    if isinstance(value, str | bool | dict) or key.split(".")[0] == "dispersions":
        return value
    kind = kind_of(key)
    if isinstance(value, list | tuple) and any(isinstance(v, str | list) for v in value):
        return list(value)
    plain = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    return kind.write(kind.from_si(plain))


def euler_attitude(angles: Array) -> Array:
    """Quaternions (..., 4) of roll, pitch and yaw [rad]: turned about z, then y, then x."""
    rows = []
    for roll, pitch, yaw in angles.reshape(-1, 3).tolist():
        (sr, cr), (sp, cp), (sy, cy) = (
            (math.sin(0.5 * a), math.cos(0.5 * a)) for a in (roll, pitch, yaw)
        )
        rows.append(
            (
                sr * cp * cy - cr * sp * sy,
                cr * sp * cy + sr * cp * sy,
                cr * cp * sy - sr * sp * cy,
                cr * cp * cy + sr * sp * sy,
            )
        )
    return np.array(rows).reshape(*angles.shape[:-1], 4)


def _alight_version() -> str:
    return str(importlib.import_module("alight").__version__)


# -- keys ----------------------------------------------------------------------------------------


@functools.cache
def keys(section: type[Section] = Scenario, before: str = "") -> dict[str, Kind]:
    """Every dotted key of a scenario that holds a value, and the kind of it."""
    found = {f"{before}{name}": kind for name, kind in section.kinds().items()}
    for name, table in section.tables().items():
        found |= keys(table, f"{before}{name}.")
    return found


@functools.cache
def dispersible() -> dict[str, Kind]:
    """The keys whose values may vary from run to run."""
    found = {
        key: kind
        for key, kind in keys().items()
        if kind.width and key != "seed" and key.split(".")[0] not in FIXED
    }
    release = ReleaseSection.kinds()
    found["release.place"] = Pair((release["latitude"], release["longitude"]))
    offset, velocity = release["offset"], release["velocity"]
    assert isinstance(offset, Row)
    assert isinstance(velocity, Row)
    found["release.state"] = Pair((*(offset.of,) * 3, *(velocity.of,) * 3))
    return found


def varied_kind(key: str) -> Kind | None:
    """The kind of value under a key that may vary from run to run; None if it may not."""
    if _of_region(key):
        kind = RegionSection.kinds().get(key.rpartition(".")[2])
        return kind if kind is not None and kind.width else None
    return dispersible().get(key)


@functools.cache
def _known() -> dict[str, Kind]:
    return {**keys(), **dispersible()}


def kind_of(key: str, value: Any = None) -> Kind:
    """The kind of value under a dotted key; ``value`` tells which, where there are two."""
    known = _known()
    if _of_region(key):
        known = {f"{key.rpartition('.')[0]}.{k}": v for k, v in RegionSection.kinds().items()}
    if key not in known:
        raise InputError(f'a scenario has no key "{key}".{did_you_mean(key, known)}')
    kind = known[key]
    return kind.form(value) if isinstance(kind, Either) else kind


def json_schema() -> dict[str, Any]:
    """The JSON schema of scenario files, for editors."""
    made = Scenario.model_json_schema()
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    made["title"] = "Alight scenario"
    table = {
        "type": "object",
        "properties": {"kind": {"enum": [*KINDS]}},
        "required": ["kind"],
    }
    varied = [key for key, kind in RegionSection.kinds().items() if kind.width]
    made["properties"]["dispersions"] = {
        "type": "object",
        "description": "How values vary from run to run, by their dotted keys.",
        "properties": {key: {"$ref": "#/$defs/Dispersion"} for key in dispersible()},
        "patternProperties": {
            rf"^ground\.region\.[A-Za-z0-9_-]+\.({'|'.join(varied)})$": {
                "$ref": "#/$defs/Dispersion"
            }
        },
        "additionalProperties": False,
    }
    made["$defs"]["Dispersion"] = table
    return made
