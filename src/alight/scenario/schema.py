"""``Scenario``: all that a scenario file says, checked, with every default filled in."""

from __future__ import annotations

import copy
import functools
import importlib
from importlib.metadata import version
from typing import Annotated, Any

import numpy as np
from pydantic import Field, PrivateAttr

from alight.core.errors import InputError, did_you_mean
from alight.scenario import toml_text
from alight.scenario.dispersion import KINDS, Pair
from alight.scenario.errors import Problem
from alight.scenario.fields import MOST_SEED, Either, Kind, OneOf, Row, Text, Whole
from alight.scenario.schema_contact import Contact
from alight.scenario.schema_lander import LanderSection, ReleaseSection
from alight.scenario.schema_run import Campaign, Environment, Record, StepsSection, StopSection
from alight.scenario.schema_target import Body, GravitySection, Ground
from alight.scenario.schema_tree import euler_attitude
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
            *self.stop.problems(self.lander.is_tree),
            *self.steps.problems(self.lander.is_tree),
            *self._hull_problems(),
        ]

    def _hull_problems(self) -> list[Problem]:
        """Light pushes a hull, which an articulated lander has not."""
        sun = self.environment.sun
        if sun is None or not sun.pressure or sun.area_over_mass or not self.lander.is_tree:
            return []
        said = 'is missing; an articulated lander has no hull to take it from: "0.02 m^2/kg"'
        return [Problem("environment.sun.area_over_mass", said)]

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
        if listed(key) is not None:
            entries = getattr(getattr(self, names[0]), names[1])
            named = {getattr(e, "name", None) or getattr(e, "body", None): e for e in entries}
            found, names = named.get(names[2]), names[3:]
        for name in names:
            found = None if found is None else getattr(found, name)
        return found

    def kind_here(self, key: str) -> Kind | None:
        """The kind of value that may vary under a key, given the laws of this scenario."""
        section, _, name = key.partition(".")
        kind = self.contact.kind_of(name) if section == "contact" else varied_kind(key)
        return kind.form(self._value(key)) if isinstance(kind, OneOf) else kind

    def replaced(self, values: dict[str, Any]) -> Scenario:
        """A copy with other values under some dotted keys.

        Numbers with units may be in SI units or strings; None takes a value away.
        """
        from alight.scenario.reader import from_dict

        table = self.resolved()
        for key, value in values.items():
            place, names = table, key.split(".")
            if listed(key) is not None:
                place, names = self._entry_table(table, names), names[3:]
            for name in names[:-1]:
                place = place.setdefault(name, {})
            if value is None:
                place.pop(names[-1], None)
            else:
                place[names[-1]] = self._spelt(key, value)
        return from_dict(table, self.source)

    def _entry_table(self, table: dict[str, Any], names: list[str]) -> dict[str, Any]:
        """The table of an entry of a list, by its name, in that of the scenario."""
        found: list[dict[str, Any]] = table[names[0]].get(names[1], [])
        known = {entry.get("name") or entry.get("body"): entry for entry in found}
        if names[2] in known:
            return known[names[2]]
        raise InputError(
            f'{self.source}: the {names[0]} has no {names[1]} "{names[2]}".'
            f"{did_you_mean(names[2], [str(name) for name in known])}"
        )

    def _spelt(self, key: str, value: Any) -> Any:
        """``value`` as a file would have it."""
        if isinstance(value, str | bool | dict) or key.split(".")[0] == "dispersions":
            return value
        kind = kind_of(key)
        if isinstance(kind, OneOf):
            kind = kind.form(self._value(key))
        if isinstance(value, list | tuple) and any(isinstance(v, str | list) for v in value):
            return list(value)
        plain = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
        return kind.write(kind.from_si(plain))


@functools.cache
def _lists() -> dict[str, type[Section]]:
    """The section of each list of tables whose entries go by their names."""
    tables = Scenario.tables().items()
    return {f"{top}.{name}": one for top, t in tables for name, one in t.lists().items()}


def listed(key: str) -> type[Section] | None:
    """The section that a dotted key belongs to, if it is in a list: ground.region.pond.friction."""
    if key.count(".") != 3:
        return None
    top, name, *_ = key.split(".")
    return _lists().get(f"{top}.{name}")


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
    section = listed(key)
    if section is not None:
        kind = section.kinds().get(key.rpartition(".")[2])
        return kind if kind is not None and kind.width else None
    return dispersible().get(key)


@functools.cache
def _known() -> dict[str, Kind]:
    return {**keys(), **dispersible()}


def kind_of(key: str, value: Any = None) -> Kind:
    """The kind of value under a dotted key; ``value`` tells which, where there are two."""
    known, section = _known(), listed(key)
    if section is not None:
        known = {f"{key.rpartition('.')[0]}.{k}": v for k, v in section.kinds().items()}
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
    made["properties"]["dispersions"] = {
        "type": "object",
        "description": "How values vary from run to run, by their dotted keys.",
        "properties": {key: {"$ref": "#/$defs/Dispersion"} for key in dispersible()},
        "patternProperties": {
            pattern: {"$ref": "#/$defs/Dispersion"}
            for pattern in (_pattern(name, one) for name, one in _lists().items())
        },
        "additionalProperties": False,
    }
    made["$defs"]["Dispersion"] = table
    return made


def _pattern(name: str, section: type[Section]) -> str:
    """What the keys of the numbers in a list look like."""
    varied = [key for key, kind in section.kinds().items() if kind.width]
    return rf"^{name.replace('.', chr(92) + '.')}\.[A-Za-z0-9_-]+\.({'|'.join(varied)})$"
