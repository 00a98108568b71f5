"""Scenario files that name what the registry holds: its keys become keys of their tables.

``[gravity] law = "dumbbell"`` brings the keys of that law into the table [gravity], and an entry of
a list such as [[environment.push]] has those of its ``kind``. A class of scenarios holds the keys
of every table, so a file that names something of the kind is read by a class made for its names:
units, messages, dispersions, defaults and the resolved file follow as they do for keys of Alight's
own. Classes are made once for each set of names and are found again when a scenario is unpickled.
"""

from __future__ import annotations

import copy
import functools
import typing
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, NamedTuple, Union

from pydantic import Discriminator, Tag, create_model

from alight.core.errors import InputError
from alight.core.registry import HERE, SHIPPED, Entry, registry
from alight.scenario.errors import Fault
from alight.scenario.field_types import AnyOf
from alight.scenario.schema.section import ANY, Section


class Named(NamedTuple):
    """A name in a file that brings keys of its own."""

    path: tuple[str, ...]
    """Keys of the tables it stands in, from the section that knows of it."""
    item: str
    """The entry of a list that has it; empty for a table."""
    name: str


Names = frozenset[Named]
#: Stands for entries of any name, which editors are told of.
EVERY = "*"


def extended(document: Any, table: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The class that reads a file's table, and the table with a name for each entry of a list."""
    names, table = _names_in(document, copy.deepcopy(table))
    return class_with(document, frozenset(names)), table


def with_all(document: Any) -> Any:
    """The class with the keys of everything that is registered, for the schema of files."""
    return class_with(document, frozenset(_all_names(document)))


# -- which names a file has --------------------------------------------------------------------


def _names_in(section: type[Section], table: Any) -> tuple[list[Named], Any]:
    """The names below a section, and its table with every entry of a list named."""
    if not isinstance(table, dict):
        return [], table
    found = []
    if section.REGISTRY and section.FORMS is not None:
        word = table.get(section.FORMS[0])
        if isinstance(word, str) and _has_keys(registry.known(section.REGISTRY, word)):
            found.append(Named((), "", word))
    for key, one in section.tables().items():
        below, _ = _names_in(one, table.get(key))
        found += [Named((key, *n.path), n.item, n.name) for n in below]
    for key, one in section.lists().items():
        if one.REGISTRY and isinstance(table.get(key), list):
            _give_names(table[key])
            found += _kinds_in(key, one, table[key])
    return found, table


def _has_keys(entry: Entry | None) -> bool:
    return entry is not None and entry.keys is not None


def _give_names(entries: list[Any]) -> None:
    """An entry without a name goes by its kind: ``timed``, and ``timed-2`` for the next."""
    tables = [one for one in entries if isinstance(one, dict)]
    taken = {str(one["name"]) for one in tables if "name" in one}
    for one in tables:
        if "name" not in one and isinstance(one.get("kind"), str):
            names = (one["kind"] if n == 1 else f"{one['kind']}-{n}" for n in range(1, 10**6))
            one["name"] = next(name for name in names if name not in taken)
            taken.add(one["name"])


def _kinds_in(key: str, section: type[Section], entries: list[Any]) -> list[Named]:
    tables = [one for one in entries if isinstance(one, dict)]
    return [
        Named((key,), one["name"], one["kind"])
        for one in tables
        if isinstance(one.get("kind"), str)
        and isinstance(one.get("name"), str)
        and registry.known(section.REGISTRY, one["kind"]) is not None
    ]


def _all_names(section: type[Section]) -> list[Named]:
    found = []
    if section.REGISTRY and section.FORMS is not None:
        known = [entry for entry in registry.entries(section.REGISTRY) if _has_keys(entry)]
        found += [Named((), "", entry.name) for entry in known]
    for key, one in section.tables().items():
        found += [Named((key, *n.path), n.item, n.name) for n in _all_names(one)]
    for key, one in section.lists().items():
        if one.REGISTRY:
            found += [Named((key,), EVERY, name) for name in registry.names(one.REGISTRY)]
    return found


# -- classes made for names ----------------------------------------------------------------------


def class_with(base: Any, names: Names) -> Any:
    """``base`` with the keys of ``names``; itself where there are none. Made once."""
    return _class_with(base, names, registry.dropped) if names else base


@functools.cache
def _class_with(base: Any, names: Names, _dropped: int) -> Any:
    own = sorted(n.name for n in names if not n.path)
    fields, variants = _inner(base, names)
    space: dict[str, Any] = {"ORIGIN": (base, names), "VARIANTS": variants}
    if own:
        entries = [registry.find(base.REGISTRY, name) for name in own]
        fields |= _merged(entries, base)
        space["FORMS"] = _forms(base, entries)
    made: Any = create_model(
        _titled(base.__name__, own), __base__=base, __doc__=base.__doc__, **fields
    )
    for name, value in space.items():
        setattr(made, name, value)
    return made


def _inner(base: type[Section], names: Names) -> tuple[dict[str, Any], dict[str, Any]]:
    """Fields whose sections have other classes, and the variants of lists."""
    fields: dict[str, Any] = {}
    variants: dict[str, Any] = {}
    for key, section in base.tables().items():
        below = frozenset(Named(n.path[1:], n.item, n.name) for n in names if n.path[:1] == (key,))
        if below:
            info = base.model_fields[key]
            optional = type(None) in typing.get_args(info.annotation)
            made = class_with(section, below)
            fields[key] = (made | None if optional else made, _default(info))
    for key, section in base.lists().items():
        kinds = sorted({n.name for n in names if n.path == (key,)})
        if kinds:
            variants[key] = {ANY: section, **{kind: variant(section, kind) for kind in kinds}}
            fields[key] = (tuple[_union(variants[key]), ...], ())  # type: ignore[misc]
    return fields, variants


def variant(base: type[Section], kind: str) -> Any:
    """The section of an entry of a list that is of some kind."""
    return class_with(base, frozenset([Named((), "", kind)]))


def _union(variants: Mapping[str, type[Section]]) -> Any:
    """Each entry is read by the class of its kind; one of no known kind by that of all."""
    tagged = [Annotated[one, Tag(kind)] for kind, one in variants.items()]

    def kind_of(table: Any) -> str:
        word = table.get("kind") if isinstance(table, dict) else getattr(table, "kind", None)
        return word if word and word in variants else ANY

    return Annotated[Union[tuple(tagged)], Discriminator(kind_of)]  # noqa: UP007


def _merged(entries: Iterable[Entry], base: type[Section]) -> dict[str, Any]:
    """The keys of some names; of several, none is required and kinds that differ are all right."""
    several: dict[str, list[Any]] = {}
    for entry in entries:
        for key, info in _keys_of(entry, base).items():
            several.setdefault(key, []).append(info)
    return {key: _field(infos, len(list(entries)) == 1) for key, infos in several.items()}


def _keys_of(entry: Entry, base: type[Section]) -> dict[str, Any]:
    """The keys that an entry brings, checked once they are wanted."""
    if entry.keys is None:
        return {}
    if not (isinstance(entry.keys, type) and issubclass(entry.keys, Section)):
        raise InputError(
            f"the keys of {entry} are {entry.keys!r}; they must be a subclass of "
            "alight.scenario.keys.Section."
        )
    _, forms = base.FORMS or ("kind", {})
    taken = set(base.model_fields) - {key for keys in forms.values() for key in keys}
    for key in entry.keys.model_fields:
        if key in taken:
            raise InputError(f'{entry} has a key "{key}", which the table has already.')
    return dict(entry.keys.model_fields)


def _field(infos: list[Any], alone: bool) -> Any:
    """One field of a section from those of the keys of one name, or of several."""
    info = infos[0]
    if alone:
        return (_annotated(info), _default(info))
    kinds = tuple(dict.fromkeys(m for one in infos for m in one.metadata if hasattr(m, "json")))
    if len(kinds) < 2:
        return (_annotated(info), None)
    return (Annotated[Any, AnyOf(kinds)], None)


def _annotated(info: Any) -> Any:
    return Annotated[(info.annotation, *info.metadata)] if info.metadata else info.annotation


def _default(info: Any) -> Any:
    return ... if info.is_required() else info.get_default(call_default_factory=True)


def _forms(base: type[Section], entries: Iterable[Entry]) -> Any:
    chooser, forms = base.FORMS or ("kind", {})
    added = {entry.name: tuple(_keys_of(entry, base)) for entry in entries}
    return chooser, {**forms, **added}


def _titled(name: str, kinds: list[str]) -> str:
    """A name for editors: GravitySection with dumbbell is GravitySectionDumbbell."""
    words = [w for kind in kinds for w in kind.replace("_", "-").split("-")]
    return name + "".join(w[:1].upper() + w[1:] for w in words)


# -- what a scenario names -----------------------------------------------------------------------


def entry_of(section: Section) -> Entry | None:
    """What the chooser of a section stands for; None for the laws that sections know themselves."""
    if not section.REGISTRY or section.FORMS is None:
        return None
    entry = registry.known(section.REGISTRY, getattr(section, section.FORMS[0]))
    own = entry is not None and entry.package == SHIPPED and entry.keys is None
    return None if own else entry


def own_values(section: Section, entry: Entry) -> dict[str, Any]:
    """The keys that an entry brought into a section and that have values, in SI units."""
    given = {name: plain(getattr(section, name)) for name in _names_of(entry)}
    return {name: value for name, value in given.items() if value is not None}


def asked_by(section: Section) -> set[str]:
    """What a registered law needs of a scenario besides its keys."""
    entry = entry_of(section)
    if entry is None:
        return set()
    return {name for name, needed in entry.asks(_names_of(entry)).items() if needed}


def own_problems(section: Section, where: str) -> list[Fault]:
    """What the keys that an entry brought into a section say does not fit together."""
    entry = registry.known(section.REGISTRY, getattr(section, (section.FORMS or ("kind",))[0]))
    if entry is None or not hasattr(entry.keys, "problems"):
        return []
    names = entry.keys.model_fields
    own = entry.keys.model_construct(**{name: getattr(section, name) for name in names})
    return list(own.problems(where))


def _names_of(entry: Entry) -> tuple[str, ...]:
    return () if entry.keys is None else tuple(entry.keys.model_fields)


def plain(value: Any) -> Any:
    """A value without its unit's text."""
    if isinstance(value, bool | int | str) or value is None:
        return value
    if isinstance(value, float):
        return float(value)
    if isinstance(value, tuple | list):
        return tuple(plain(item) for item in value)
    if isinstance(value, Section):
        return {name: plain(getattr(value, name)) for name in type(value).model_fields}
    return value


def entries_used(scenario: Any) -> list[Entry]:
    """Everything that a scenario has from the registry and that is not shipped."""
    # A study made in Python has laws of its own, and no sections.
    found = [*_named_below(scenario)] if isinstance(scenario, Section) else []
    kinds = {d.kind for d in scenario.dispersions.values()}
    found += [registry.known("dispersion", kind) for kind in sorted(kinds)]
    found += [registry.known("column", name) for name in scenario.record.columns or ()]
    found += [registry.known("report section", name) for name in scenario.report.sections or ()]
    return [entry for entry in found if entry is not None and entry.package != SHIPPED]


def _named_below(section: Section) -> Iterable[Entry | None]:
    """What the choosers of a section and of those below it stand for."""
    if section.REGISTRY and section.FORMS is not None:
        yield registry.known(section.REGISTRY, getattr(section, section.FORMS[0]))
    for name in section.tables():
        if getattr(section, name) is not None:
            yield from _named_below(getattr(section, name))
    for name in section.lists():
        for one in getattr(section, name):
            yield from _named_below(one)


def packages_of(scenario: Any) -> dict[str, str]:
    """Packages that a scenario needs besides Alight, and their versions here."""
    versions = registry.packages()
    names = {entry.package for entry in entries_used(scenario)}
    return {name: versions[name] for name in sorted(names - {HERE})}


def known_here_alone(scenario: Any) -> list[Entry]:
    """What a scenario has from this process, and no other process could know."""
    return [entry for entry in entries_used(scenario) if entry.package == HERE]


def missing_package(name: str, version: str) -> str:
    """What to say of a package that is not here."""
    return (
        f"package {name} {version}, which this was made with, is not installed here: pip install "
        f'"{name}=={version}", or put it where Python finds packages'
    )
