"""``Document``: what scenario files of every kind have in common, checked, with every default."""

from __future__ import annotations

import copy
import functools
import importlib
import math
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import Field, PrivateAttr

from alight.core.errors import InputError, did_you_mean
from alight.core.html import facts_html, in_short
from alight.core.outcomes import AnyEnding
from alight.core.registry import registry
from alight.scenario import toml_text
from alight.scenario.descriptions import describe
from alight.scenario.dispersion import SWEEP, TABLE, Dispersion
from alight.scenario.errors import Fault
from alight.scenario.field_types import (
    MOST_SEED,
    Either,
    FieldType,
    ListField,
    OneOf,
    PackagesField,
    TextField,
    Whole,
)
from alight.scenario.joint_dispersions import GROUP, LISTS
from alight.scenario.registered import EVERY, packages_of, variant
from alight.scenario.schema.requirement import RequirementSection, requirement_problems
from alight.scenario.schema.run import CampaignSection, Record, ReportSection
from alight.scenario.schema.section import Section

#: Sections whose numbers cannot vary from run to run.
FIXED = ("campaign", "record", "report", "requirement", "made_by")
#: The kind of a file that does not say which it is.
LANDING = "landing"


class MadeBy(Section):
    """What wrote a resolved scenario: for people, and never read back."""

    alight: Annotated[str | None, TextField()] = None
    warp: Annotated[str | None, TextField()] = None
    device: Annotated[str | None, TextField()] = None
    packages: Annotated[Any, PackagesField()] = None


class Document(Section):
    """A problem to simulate; a subclass adds the sections of its ``KIND`` of file.

    Made by ``alight.scenario.load``; it never changes. ``replaced`` gives a copy with other values.
    """

    #: What files of this kind say under ``kind``.
    KIND: ClassVar[str] = ""
    #: Section and key of each file that a scenario names; its digest is beside it.
    FILES: ClassVar[tuple[tuple[str, str], ...]] = ()
    #: Keys that may vary without a value of their own: what they follow if not given may vary too.
    OPEN: ClassVar[tuple[str, ...]] = ()
    #: Keys of dispersions, and those that are parts of them.
    OVERLAPS: ClassVar[dict[str, tuple[str, ...]]] = {}

    title: Annotated[str, TextField(None, ("MINERVA-II-1 on Ryugu",))] = ""
    seed: Annotated[int, Whole(least=0, most=MOST_SEED)] = 0
    dispersions: Annotated[dict[str, Any], Field(default_factory=dict)]
    campaign: CampaignSection = CampaignSection()
    record: Record = Record()
    report: ReportSection = ReportSection()
    requirement: tuple[RequirementSection, ...] = ()
    made_by: MadeBy | None = None

    _source: str = PrivateAttr(default="scenario")

    def __eq__(self, other: object) -> bool:
        """Equal in everything that a run depends on."""
        return isinstance(other, type(self)) and self._numbers() == other._numbers()

    def __hash__(self) -> int:
        return hash(repr(self._numbers()))

    def _numbers(self) -> dict[str, Any]:
        kept = {name: getattr(self, name) for name in type(self).model_fields if name != "made_by"}
        return kept

    def __str__(self) -> str:
        varied = len(self.dispersions)
        said = f"{varied} dispersed" if varied else "nothing dispersed"
        return f"{self.KIND} {self.title or 'without a title'} ({self.source}): {said}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self}>"

    def _repr_html_(self) -> str:
        written = self.resolved()
        rows = [("file", self.source), ("kind", self.KIND), ("seed", str(self.seed))]
        tables = {k: v for k, v in written.items() if isinstance(v, dict) and v}
        rows += [(name, in_short(table)) for name, table in tables.items()]
        return facts_html(self.title or f"A {self.KIND}", rows)

    @property
    def source(self) -> str:
        """The file it was read from, for messages."""
        return self._source

    # -- checking and filling -----------------------------------------------------------------

    def problems(self) -> list[Fault]:
        """What does not fit together."""
        raise NotImplementedError

    def requirement_problems(self) -> list[Fault]:
        """What is wrong with its requirements."""
        return requirement_problems(self)

    @property
    def flat(self) -> bool:
        """Whether its ground has no latitudes and longitudes."""
        return False

    def completed(self) -> Self:
        """With every default filled in that does not need a mesh."""
        raise NotImplementedError

    def located(self, folder: Path) -> Self:
        """With paths other than those of ``FILES`` relative to ``folder``."""
        return self

    def file_problems(self) -> list[Fault]:
        """What is wrong with the contents of its files."""
        return []

    def drawn(self) -> dict[str, Dispersion]:
        """What varies from run to run without standing under [dispersions]."""
        return {}

    def most_runs(self) -> int | None:
        """How many runs there are values for; None where there is no end."""
        tables = (d for d in self.dispersions.values() if d.kind == TABLE and not d.random)
        return min((len(d.samples) for d in tables), default=None)

    @property
    def endings(self) -> list[AnyEnding]:
        """How its own stops end runs (``[[stop.when]]``)."""
        stop: Any = getattr(self, "stop", None)
        found = (one.ending for one in getattr(stop, "when", ()))
        return [ending for ending in found if ending is not None]

    # -- sweeps -------------------------------------------------------------------------------

    def sweep_keys(self) -> list[str]:
        """The keys whose values a sweep goes through, in the order of its combinations."""
        return sorted(key for key, one in self.dispersions.items() if one.kind == SWEEP)

    def combinations(self) -> int:
        """How many combinations of values a sweep has; 1 where there is none."""
        return math.prod(len(self.dispersions[key].values) for key in self.sweep_keys())

    # -- writing ------------------------------------------------------------------------------

    def resolved(self, device: str | None = None) -> dict[str, Any]:
        """Everything as a file would say it: every default, and the version (and ``device``)."""
        out: dict[str, Any] = {} if self.KIND == LANDING else {"kind": self.KIND}
        written = self.written()
        last = {name: written.pop(name) for name in ("campaign", "record", "report")}
        if not last["report"]:
            last.pop("report")
        if "requirement" in written:
            last["requirement"] = written.pop("requirement")
        written.pop("made_by", None)
        out |= {**written, **last}
        kept = {key: d for key, d in self.dispersions.items() if d.written}
        single = {key: d.written for key, d in kept.items() if not d.parts}
        out["dispersions"] = copy.deepcopy(single)
        for name in LISTS:
            listed = [d.written for d in kept.values() if d.parts and _list_of(d) == name]
            if listed:
                out["dispersions"][name] = copy.deepcopy(listed)
        out["made_by"] = {"alight": _alight_version(), "warp": _warp_version()}
        if device is not None:
            out["made_by"]["device"] = device
        if packages := packages_of(self):
            out["made_by"]["packages"] = packages
        return out

    def to_toml(self, device: str | None = None) -> str:
        """The resolved scenario as the text of a file, which reads back to an equal scenario."""
        return toml_text.dumps(self.resolved(device))

    # -- single values ------------------------------------------------------------------------

    def number(self, key: str) -> Any:
        """The value under a dotted key in SI units: a float, or an array for a vector."""
        value = self.value(key)
        if value is None:
            raise InputError(f"{self.source}: {key} has no value in this scenario.")
        array = np.asarray(value, dtype=np.float64)
        return float(array) if array.ndim == 0 else array

    def value(self, key: str) -> Any:
        """The value under a dotted key as it was read; None where there is none."""
        self.kind_of(key)
        part = component(type(self), key)
        if part is not None:
            whole = self.value(part[0])
            return None if whole is None else whole[part[1]]
        found: Any = self
        names = key.split(".")
        if self.listed(key) is not None:
            found, names = self._entries(key).get(names[-2]), names[-1:]
        for name in names:
            found = None if found is None else getattr(found, name)
        return found

    def _entries(self, key: str) -> dict[Any, Any]:
        """The entries of the list that a key is in, by their names."""
        entries: Any = self
        for name in key.split(".")[:-2]:
            entries = getattr(entries, name)
        return {getattr(e, "name", None) or getattr(e, "body", None): e for e in entries}

    def names_in(self, key: str) -> list[str]:
        """The names of the entries of the list that a key is in."""
        return [str(name) for name in self._entries(key) if name is not None]

    def kind_here(self, key: str) -> FieldType | None:
        """The kind of value that may vary under a key, given the laws of this scenario."""
        kind = self.varied_kind(key)
        return kind.form(self.value(key)) if isinstance(kind, OneOf) else kind

    def unfit(self, key: str) -> str:
        """Why ``kind_here`` has nothing under a key that may vary in other scenarios."""
        return f"{key} does not go with the laws of this scenario."

    def remarks(self) -> list[str]:
        """What a person should know of what the file left open: errors that are stated."""
        return []

    def replaced(self, values: dict[str, Any]) -> Self:
        """A copy with other values under some dotted keys.

        Numbers with units may be in SI units or strings; None takes a value away.
        """
        from alight.scenario.reader import from_dict

        table = self.resolved()
        for key, value in values.items():
            place, names = table, key.split(".")
            if self.listed(key) is not None:
                place, names = self._entry_table(table, names), names[-1:]
            for name in names[:-1]:
                place = place.setdefault(name, {})
            if value is None:
                place.pop(names[-1], None)
            else:
                place[names[-1]] = self._spelt(key, value)
        made = from_dict(table, self.source)
        assert isinstance(made, type(self))
        return made

    def _entry_table(self, table: dict[str, Any], names: list[str]) -> dict[str, Any]:
        """The table of an entry of a list, by its name, in that of the scenario."""
        *path, item, _ = names
        found: Any = table
        for name in path:
            found = found.get(name, {})
        known = {entry.get("name") or entry.get("body"): entry for entry in found}
        if item in known:
            entry: dict[str, Any] = known[item]
            return entry
        who = f"the {path[0]}" if len(path) > 1 else "it"
        raise InputError(
            f'{self.source}: {who} has no {path[-1]} "{item}".'
            f"{did_you_mean(item, [str(name) for name in known])}"
        )

    def _spelt(self, key: str, value: Any) -> Any:
        """``value`` as a file would have it."""
        if isinstance(value, str | bool | dict) or key.split(".")[0] == "dispersions":
            return value
        kind = self.kind_of(key)
        if isinstance(kind, OneOf):
            kind = kind.form(self.value(key))
        if isinstance(value, list | tuple) and any(isinstance(v, str | list) for v in value):
            return list(value)
        plain = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
        return kind.write(kind.from_si(plain))

    # -- keys ---------------------------------------------------------------------------------

    @classmethod
    def pairs(cls) -> dict[str, FieldType]:
        """Values of several keys that may vary together, by a name of their own."""
        return {}

    @classmethod
    def listed(cls, key: str) -> type[Section] | None:
        """The section that a key belongs to, if it is in a list: ground.region.pond.friction."""
        if key.count(".") == 2:
            top = key.partition(".")[0]
            return None if top in FIXED else cls.lists().get(top)
        if key.count(".") != 3:
            return None
        top, name, item, _ = key.split(".")
        return _items(cls).get((top, name, item)) or _lists(cls).get(f"{top}.{name}")

    @classmethod
    def dispersible(cls) -> dict[str, FieldType]:
        """The keys whose values may vary from run to run."""
        return _dispersible(cls)

    @classmethod
    def varied_kind(cls, key: str) -> FieldType | None:
        """The kind of value under a key that may vary from run to run; None if it may not."""
        section = cls.listed(key)
        if section is not None:
            kind = section.kinds().get(key.rpartition(".")[2])
            return kind if kind is not None and kind.width else None
        return cls.dispersible().get(key)

    @classmethod
    def kind_of(cls, key: str, value: Any = None) -> FieldType:
        """The kind of value under a dotted key; ``value`` decides which, where there are two."""
        known, section = _known(cls), cls.listed(key)
        if section is not None:
            known = {f"{key.rpartition('.')[0]}.{k}": v for k, v in section.kinds().items()}
        if key not in known:
            raise InputError(f'a scenario has no key "{key}".{did_you_mean(key, known)}')
        kind = known[key]
        return kind.form(value) if isinstance(kind, Either) else kind


def _list_of(one: Dispersion) -> str:
    """The list of [dispersions] that a joint one stands in."""
    return TABLE if one.kind == TABLE else GROUP


@functools.cache
def _warp_version() -> str:
    return version("warp-lang")


def _alight_version() -> str:
    return str(importlib.import_module("alight").__version__)


@functools.cache
def keys(section: type[Section], before: str = "") -> dict[str, FieldType]:
    """Every dotted key of a kind of scenario that holds a value, and the kind of it."""
    found = {f"{before}{name}": kind for name, kind in section.kinds().items()}
    for name, table in section.tables().items():
        found |= keys(table, f"{before}{name}.")
    return found


@functools.cache
def _lists(document: type[Document]) -> dict[str, type[Section]]:
    """The section of each list of tables whose entries go by their names."""
    tables = document.tables().items()
    return {f"{top}.{name}": one for top, t in tables for name, one in t.lists().items()}


def _all_lists(document: type[Document]) -> list[str]:
    """Those and the lists that stand at the top of a file, where their numbers may vary."""
    return [*_lists(document), *(name for name in document.lists() if name not in FIXED)]


@functools.cache
def _items(document: type[Document]) -> dict[tuple[str, ...], type[Section]]:
    """The sections of entries whose keys depend on their kind, by list and name."""
    if document.ORIGIN is None:
        return {}
    origin, names = document.ORIGIN
    lists, named = _lists(origin), [n for n in names if n.item not in ("", EVERY)]
    return {(*n.path, n.item): variant(lists[".".join(n.path)], n.name) for n in named}


@functools.cache
def _dispersible(document: type[Document]) -> dict[str, FieldType]:
    found = {
        key: kind
        for key, kind in keys(document).items()
        if kind.width and key != "seed" and key.split(".")[0] not in FIXED
    }
    found |= {
        f"{key}.{name}": kind.of
        for key, kind in found.items()
        if isinstance(kind, ListField)
        for name in component_names(key, kind)
    }
    for path, section in _items(document).items():
        kinds = section.kinds().items()
        found |= {".".join((*path, key)): kind for key, kind in kinds if kind.width}
    return {**found, **document.pairs()}


#: Names of the numbers of some vectors; of others they are x, y, z.
_NAMED = {
    "release.velocity": ("east", "north", "up"),
    "release.offset": ("east", "north", "up"),
    "release.euler": ("roll", "pitch", "yaw"),
    "body.rotation.pole": ("ra", "dec"),
    "target.rotation.pole": ("ra", "dec"),
}


def component_names(key: str, kind: FieldType) -> tuple[str, ...]:
    """What the numbers of a vector are called, where each may vary by itself."""
    if not isinstance(kind, ListField) or kind.width not in (2, 3) or kind.of.width != 1:
        return ()
    own, plain = _NAMED.get(key, ()), ("x", "y", "z")[: kind.width]
    # A velocity is east, north, up or x, y, z, whichever its release has.
    return (*own, *plain) if key in ("release.velocity", "release.offset") else own or plain


def component(document: type[Document], key: str) -> tuple[str, int] | None:
    """The vector that a key is a component of, and which; None where it is none."""
    whole, _, name = key.rpartition(".")
    names = component_names(whole, keys(document).get(whole, FieldType()))
    return (whole, names.index(name) % 3) if name in names else None


@functools.cache
def _known(document: type[Document]) -> dict[str, FieldType]:
    return {**keys(document), **_dispersible(document)}


# -- for editors ---------------------------------------------------------------------------------


def schema_of(document: type[Document]) -> dict[str, Any]:
    """The JSON schema of one kind of scenario files."""
    made = document.model_json_schema()
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    made["title"] = "Alight scenario"
    made["properties"]["kind"] = {"const": document.KIND}
    if document.KIND != LANDING:
        made["title"] += f": {document.KIND}"
        made["required"] = ["kind", *made.get("required", [])]
    table = {
        "type": "object",
        "properties": {"kind": {"enum": registry.names("dispersion")}},
        "required": ["kind"],
    }
    made["properties"]["dispersions"] = {
        "type": "object",
        "description": "How values vary from run to run, by their dotted keys.",
        "properties": {key: {"$ref": "#/$defs/Dispersion"} for key in document.dispersible()},
        "patternProperties": {
            pattern: {"$ref": "#/$defs/Dispersion"}
            for pattern in (_pattern(name, document) for name in _all_lists(document))
        },
        "additionalProperties": False,
    }
    made["properties"]["dispersions"]["properties"] |= _joint_schema()
    made["$defs"]["Dispersion"] = table
    return describe(made)


def _joint_schema() -> dict[str, Any]:
    """Of dispersions of several keys at once."""
    rows = {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}
    group = {
        "keys": {"type": "array", "items": {"type": "string"}, "description": "Dotted keys."},
        "matrix": {**rows, "description": "Covariance in SI units, in the order of keys."},
        "sigma": {"type": "array", "description": "Standard deviations, in the order of keys."},
        "correlation": {**rows, "description": "Their correlation; none if not given."},
        "kind": {"const": "covariance", "description": "Normal with a covariance (default)."},
    }
    table = {
        "file": {"type": "string", "description": "CSV or Parquet, a column for each key."},
        "rows": {
            "enum": ["by run", "random"],
            "description": "Run k takes row k, or rows are drawn at random with replacement.",
        },
        "sha256": {"type": "string", "description": "Digest of the file, written by Alight."},
    }
    return {
        name: {
            "type": "array",
            "items": {"type": "object", "properties": keys, "additionalProperties": False},
        }
        for name, keys in (("group", group), ("table", table))
    }


def _pattern(name: str, document: type[Document]) -> str:
    """What the keys of the numbers in a list look like."""
    top, _, key = name.partition(".")
    table = document.tables()[top] if key else document
    key = key or top
    sections = table.VARIANTS.get(key, {"": table.lists()[key]}).values()
    varied = dict.fromkeys(k for one in sections for k, kind in one.kinds().items() if kind.width)
    return rf"^{name.replace('.', chr(92) + '.')}\.[A-Za-z0-9_-]+\.({'|'.join(varied)})$"
