"""Reading scenario files: TOML, checked against the schema, with all faults reported together."""

from __future__ import annotations

import hashlib
import os
import tomllib
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from alight.core.errors import AlightError, FileError, InputError, did_you_mean
from alight.core.files import MOST_BYTES as MOST_FILE
from alight.core.files import read_bounded
from alight.core.paths import check_text, user_path
from alight.core.registry import registry
from alight.scenario import dispersion
from alight.scenario.dispersion import Dispersion
from alight.scenario.document import LANDING, Document, component, keys
from alight.scenario.document_kinds import DOCUMENTS
from alight.scenario.errors import Fault, ScenarioError, told
from alight.scenario.field_types import ChoiceField, Either, NameField, OneOf
from alight.scenario.joint_dispersions import GROUP, LISTS, read_group, read_samples
from alight.scenario.partly_right import VARY_NOT, right_part
from alight.scenario.registered import extended, missing_package
from alight.scenario.schema.section import Section, wanted
from alight.scenario.shipped_scenarios import MOST_BYTES
from alight.scenario.suggestions import meant
from alight.scenario.sweeps import following_runs
from alight.scenario.toml_mistakes import what_is_wrong

#: Keys and numbers of entries that lead to a value.
Place = tuple[str | int, ...]


def load(path: str | os.PathLike[str]) -> Any:
    """The scenario in a TOML file; a ``ScenarioError`` lists everything that is wrong with it.

    A ``Scenario`` is one of a landing; other kinds of files have classes of their own.
    """
    file = Path(path)
    return loads(_text_of(file), source=os.fspath(path), folder=file.parent)


def loads(text: str, source: str = "scenario", folder: str | os.PathLike[str] = ".") -> Any:
    """The scenario in a text; paths in it are relative to ``folder``."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as cause:
        raise ScenarioError(source, [Fault("", what_is_wrong(str(cause), text))]) from None
    except (ValueError, RecursionError, OverflowError) as cause:
        said = "nested too deeply" if isinstance(cause, RecursionError) else str(cause)
        raise ScenarioError(source, [Fault("", f"is not valid TOML: {said}")]) from None
    return from_dict(table, source, folder)


def from_dict(
    table: dict[str, Any], source: str = "scenario", folder: str | os.PathLike[str] = "."
) -> Any:
    """The scenario that a table describes, as ``tomllib`` gives it."""
    kept = {key: value for key, value in table.items() if key not in ("kind", "dispersions")}
    document, rest = _with_names(_document_of(table, source), kept, source)
    problems: list[Fault] = []
    found: Document | None = None
    right: Document | None = None
    unknown: list[str] = []
    try:
        found = document.model_validate(rest)
    except ValidationError as cause:
        errors = cause.errors(include_url=False)
        names = [error for error in errors if _is_name(error, document)]
        unknown = [_table_of(error) for error in names]
        problems += [
            _rephrased(error, rest, document)
            for error in errors
            if error in names or _table_of(error) not in unknown
        ]
        right = right_part(document, rest, errors)
        broken = {fault.key.partition(".")[0] for fault in problems}
        if right is not None:
            others = [*right.problems(), *right.requirement_problems()]
            problems += [one for one in others if one.key.partition(".")[0] not in broken]
    if found is not None:
        right = found
        problems += [*found.problems(), *found.requirement_problems()]
        if not problems:
            found = _with_files(found.completed(), Path(folder), problems)
        if not problems:
            problems += found.file_problems()
    nominal = found if found is not None and not problems else None
    if problems and {fault.key.partition(".")[0] for fault in problems} <= VARY_NOT:
        nominal = _completed(right)
    spread, more = _dispersions(table.get("dispersions", {}), document, nominal, Path(folder))
    of_unknown = tuple(f'dispersions."{name}.' for name in unknown)
    problems += [fault for fault in more if not (unknown and fault.key.startswith(of_unknown))]
    if problems or found is None:
        raise ScenarioError(source, [*_lacking(table), *problems])
    made = found.model_copy(update={"dispersions": {**spread, **found.drawn()}})
    made, problems = following_runs(made, table.get("campaign", {}).get("runs"))
    if problems:
        raise ScenarioError(source, problems)
    made._source = source
    return made


def _completed(document: Document | None) -> Document | None:
    """With the defaults that values vary about; None where what is wrong stands in the way."""
    try:
        return None if document is None else document.completed()
    except AlightError:
        return None


def _document_of(table: dict[str, Any], source: str) -> type[Document]:
    """The class of files of the kind that a file says it is of."""
    try:
        return DOCUMENTS[ChoiceField(tuple(DOCUMENTS)).read(table.get("kind", LANDING))]
    except InputError as cause:
        raise ScenarioError(source, [Fault("kind", str(cause))]) from None


def _with_names(
    document: type[Document], table: dict[str, Any], source: str
) -> tuple[type[Document], dict[str, Any]]:
    """The class with the keys of what the file names from the registry, and its table."""
    try:
        made: tuple[type[Document], dict[str, Any]] = extended(document, table)
    except InputError as cause:
        raise ScenarioError(source, [Fault("", str(cause))]) from None
    return made


def _lacking(table: dict[str, Any]) -> list[Fault]:
    """Packages that a resolved scenario was made with and that are not here."""
    made_by = table.get("made_by")
    packages = made_by.get("packages") if isinstance(made_by, dict) else None
    return [
        Fault("made_by.packages", missing_package(name, str(version)))
        for name, version in (packages.items() if isinstance(packages, dict) else ())
        if name not in registry.packages()
    ]


# -- the file ------------------------------------------------------------------------------------


def _text_of(file: Path) -> str:
    try:
        data = read_bounded(file, MOST_BYTES, "the scenario")
    except FileError as cause:
        near = [] if os.path.lexists(file) else _neighbours(file, ".toml")
        raise FileError(f"{cause}{did_you_mean(file.name, near)}") from None
    return text_of(data, os.fspath(file))


def text_of(data: bytes, source: str) -> str:
    """The text of a scenario, which is UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as cause:
        line = data[: cause.start].count(b"\n") + 1
        text = f"is not UTF-8 text: byte 0x{data[cause.start]:02x} in line {line}"
        raise ScenarioError(source, [Fault("", text)]) from None


def _neighbours(file: Path, suffix: str = "") -> list[str]:
    try:
        names = [p.name for p in sorted(file.parent.iterdir())[:500]]
        return [name for name in names if name.lower().endswith(suffix.lower())]
    except (OSError, ValueError):
        return []


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


# -- what pydantic found -------------------------------------------------------------------------


def _is_name(error: Any, document: type[Document]) -> bool:
    """Whether a law or kind is not known: then nothing else in its table can be judged."""
    section, path = _section_of(error["loc"], document)
    return isinstance(section.kinds().get(str(path[-1])), NameField)


def _table_of(error: Any) -> str:
    """The dotted key of the table that one of pydantic's errors is about."""
    return ".".join(map(str, error["loc"][:-1]))


def _rephrased(error: Any, table: Any, document: type[Document]) -> Fault:
    """One of pydantic's errors, about ``table``, in a person's words."""
    section, path = _section_of(error["loc"], document)
    key = _key_of(path, table)
    kind = error["type"]
    if kind == "tuple_type":
        said = f"found {told(error['input'])}; it must be a list of tables: [[{key}]] above each"
        return Fault(key, said)
    if kind == "extra_forbidden":
        return Fault(key, _unknown_key(section, str(path[-1]), document))
    if kind == "missing":
        return Fault(key, _missing_key(section, path))
    if kind in ("model_type", "model_attributes_type"):
        head, _, last = key.rpartition(".")
        title = f"[[{head}]]" if last.isdecimal() else f"[{key}]"
        said = f"found {told(error['input'])}; it must be a table: {title} and its keys below it"
        return Fault(key, said)
    return Fault(key, str(error["msg"]))


def _key_of(path: Place, table: Any) -> str:
    """The dotted key of a place in ``table``; a table in a list goes by its name."""
    parts = []
    for part in path:
        try:
            table = table[part]
        except (KeyError, IndexError, TypeError):
            table = None
        if isinstance(part, int):
            name = None
            if isinstance(table, dict):
                name = table.get("name") or table.get("body")
            part = name if isinstance(name, str) else part + 1
        parts.append(str(part))
    return ".".join(parts)


def _section_of(path: Place, document: type[Document]) -> tuple[type[Section], Place]:
    """The section that a key of pydantic's belongs to, and the key without the words for kinds."""
    section: type[Section] = document
    variants, clean = dict[str, type[Section]](), list[str | int]()
    for place, name in enumerate(path):
        if clean and isinstance(clean[-1], int) and name in variants:
            section, variants = variants[str(name)], {}
            continue
        clean.append(name)
        if isinstance(name, str) and place < len(path) - 1:
            variants = section.VARIANTS.get(name, {})
            section = {**section.tables(), **section.lists()}[name]
    return section, tuple(clean)


def _unknown_key(section: type[Section], name: str, document: type[Document]) -> str:
    allowed = list(section.model_fields)
    hint = _elsewhere(name) if section is document else ""
    hint = hint or ("" if "." in name else meant(name, allowed))
    if not hint:
        hint = _home(name, document)
    return f"unknown key.{hint} Known here: {', '.join(allowed)}."


#: Tables that a key may belong in, at most, for them to be named: "kind" is a key of many.
HOMES = 3


def _home(name: str, document: type[Document]) -> str:
    """In which tables a key is known."""
    if "." in name:
        known = name.partition(".")[0] in {key.partition(".")[0] for key in keys(document)}
        return f' Dispersions stand in [dispersions]: "{name}" = {{ ... }} there.' if known else ""
    homes = {k.rpartition(".")[0] for k in keys(document) if k.rpartition(".")[2] == name} - {""}
    if not 0 < len(homes) <= HOMES:
        return ""
    return f" It belongs in {' or '.join(f'[{home}]' for home in sorted(homes))}."


def _elsewhere(name: str) -> str:
    """Which kind of files has a table of this name."""
    others = [kind for kind, one in DOCUMENTS.items() if name in one.model_fields]
    return f' It belongs in files that say kind = "{others[0]}".' if others else ""


def _missing_key(section: type[Section], path: Place) -> str:
    name, tables = str(path[-1]), section.tables()
    if name in tables:
        inside = ", ".join(tables[name].model_fields)
        return f"the table [{'.'.join(map(str, path))}] is missing; its keys are {inside}"
    return f"is missing; it must be {wanted(section.kinds()[name])}"


# -- dispersions ---------------------------------------------------------------------------------


def _dispersions(
    tables: Any, document: type[Document], scenario: Document | None, folder: Path
) -> tuple[dict[str, Dispersion], list[Fault]]:
    if not isinstance(tables, dict):
        said = f"found {told(tables)}; it must be a table: [dispersions] and its keys below it"
        return {}, [Fault("dispersions", said)]
    single = {key: table for key, table in tables.items() if key not in LISTS}
    found: dict[str, Dispersion] = {}
    problems: list[Fault] = []
    for key, table in dispersion.flattened(single).items():
        try:
            kind, nominal = _varied(key, document, scenario)
        except InputError as cause:
            problems.append(Fault(f'dispersions."{key}"', str(cause)))
            continue
        if isinstance(kind, OneOf):
            continue  # which dimension it has is not known yet
        made, wrong = dispersion.read(key, kind, table, nominal)
        if scenario is None:  # whether there is a value to vary about is not known yet
            wrong = [p for p in wrong if "has no value under" not in p.text]
        problems += wrong
        if made is not None:
            found[key] = made
    joint, wrong = _joint(tables, document, scenario, folder)
    varied = [*found, *(key for one in joint.values() for key, _ in one.parts)]
    return {**found, **joint}, problems + wrong + _doubled(varied, document)


def _varied(key: str, document: type[Document], scenario: Document | None) -> tuple[Any, Any]:
    """The kind of value under a key that may vary, and the value that it varies about."""
    kind = document.varied_kind(key)
    if kind is None:
        said = f"{told(key)[1:-1]} is not a number of the scenario."
        raise InputError(f"{said}{_near_key(key, document)}")
    if scenario is None:
        return kind, None
    kind, nominal = scenario.kind_here(key), scenario.value(key)
    if kind is None:
        raise InputError(scenario.unfit(key))
    if nominal is None and key not in document.OPEN:
        said = f"this scenario has no value under {key} that could vary"
        raise InputError(f"{said}{_instead(key, scenario)}")
    return (kind.form(nominal) if isinstance(kind, Either) else kind), nominal


def _near_key(key: str, document: type[Document]) -> str:
    """The key that may be meant by one that cannot vary."""
    known, (head, _, last) = list(document.dispersible()), key.rpartition(".")
    if head.endswith(".attitude"):
        said = f'"{head}" as a whole, by kind = "orientation", or the angles of "release.euler"'
        return f" The numbers of an attitude are tied: vary {said}."
    beside = [name.rpartition(".")[2] for name in known if name.rpartition(".")[0] == head]
    word = meant(last, beside) if last.lower() not in map(str.lower, beside) else ""
    return word.replace('"', f'"{head}.', 1) if word else did_you_mean(key, known)


def _instead(key: str, scenario: Document) -> str:
    """What does have a value where ``key`` has none: entries of its list, or keys of its table."""
    head, _, last = key.rpartition(".")
    section = scenario.listed(key)
    if section is not None:
        names = [name for name in scenario.names_in(key) if name]
        hint = did_you_mean(head.rpartition(".")[2], names)
        listed = f". Known there: {', '.join(names)}." if names else ": the list is empty."
        place = head.rpartition(".")[0]
        return listed + (hint.replace('"', f'"{place}.', 1).replace('"?', f'.{last}"?'))
    known = [name for name in scenario.dispersible() if name.rpartition(".")[0] == head]
    given = [
        n for n in known if scenario.kind_here(n) is not None and scenario.value(n) is not None
    ]
    return f". Take a key of [{head}] that has one: {', '.join(given)}" if head and given else ""


def _joint(
    tables: dict[str, Any], document: type[Document], scenario: Document | None, folder: Path
) -> tuple[dict[str, Dispersion], list[Fault]]:
    """Groups and tables of samples: dispersions of several keys at once."""
    found: dict[str, Dispersion] = {}
    problems: list[Fault] = []
    for name in LISTS:
        entries = tables.get(name, [])
        if not isinstance(entries, list):
            said = f"found {told(entries)}; it must be a list of tables: [[dispersions.{name}]]"
            problems.append(Fault(f"dispersions.{name}", said))
            continue
        if scenario is None:
            continue  # the values that they vary about are not known yet
        for number, table in enumerate(entries, 1):
            look = partial(_varied, document=document, scenario=scenario)
            if name == GROUP:
                made, wrong = read_group(number, table, look)
            else:
                made, wrong = read_samples(number, table, look, folder)
            problems += wrong
            if made is not None:
                found[made.key] = made
    return found, problems


def _doubled(varied: list[str], document: type[Document]) -> list[Fault]:
    """Two dispersions of one thing."""
    parts = {both: list(ones) for both, ones in document.OVERLAPS.items()}
    for key in varied:
        whole = component(document, key)
        if whole is not None:
            parts.setdefault(whole[0], []).append(key)
            for both, ones in document.OVERLAPS.items():
                if whole[0] in ones:
                    parts[both].append(key)
    twice = sorted({key for key in varied if varied.count(key) > 1})
    found = [Fault(f'dispersions."{key}"', "is varied twice; keep one of them") for key in twice]
    return found + [
        Fault(f'dispersions."{one}"', f"is already varied by {both}; keep one of them")
        for both, ones in parts.items()
        for one in dict.fromkeys(ones)
        if both in varied and one in varied
    ]


# -- mesh files ----------------------------------------------------------------------------------


def _with_files(scenario: Document, folder: Path, problems: list[Fault]) -> Document:
    """Paths of meshes and maps made absolute, and their contents known by their digest."""
    update: dict[str, Any] = {}
    for name, key in scenario.FILES:
        whole: Any = getattr(scenario, name)
        if isinstance(whole, tuple):
            found = [
                _with_file(f"{name}.{getattr(one, 'name', None) or i}", one, key, folder, problems)
                for i, one in enumerate(whole)
            ]
            if any(one is not None for one in found):
                update[name] = tuple(a or b for a, b in zip(found, whole, strict=True))
        elif (made := _with_file(name, whole, key, folder, problems)) is not None:
            update[name] = made
    return scenario.model_copy(update=update).located(folder)


def _with_file(name: str, section: Any, key: str, folder: Path, problems: list[Fault]) -> Any:
    """A section whose file is known by its digest; None where it names none, or none that can be
    read."""
    given = getattr(section, key)
    if given is not None:
        try:
            path = check_text((folder / user_path(given, "file")).resolve())
            digest = hashlib.sha256(read_bounded(path, MOST_FILE, "the file")).hexdigest()
        except (OSError, ValueError, RuntimeError) as cause:
            reason = getattr(cause, "reason", "") or f"{_lower(str(cause))}."
            suffix = Path(given).suffix
            near = did_you_mean(Path(given).name, _neighbours(folder / given, suffix))
            problems.append(Fault(f"{name}.{key}", f"cannot read {told(given)}: {reason}{near}"))
            return None
        if section.sha256 not in (None, digest):
            text = f"{told(given)} has changed since the scenario was made: it is {digest}"
            problems.append(Fault(f"{name}.sha256", text))
        return section.model_copy(update={key: path.as_posix(), "sha256": digest})
    return None
