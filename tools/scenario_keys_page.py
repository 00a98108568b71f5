"""``docs/reference/scenario_keys.md``: every key of scenario files, from their JSON schema.

``python -m tools.scenario_keys_page`` writes the page; a test sees that it is up to date. Meanings
and defaults are those that editors show (``scenario/schema/meanings.toml``), units, bounds and
choices those that files are checked against; examples come from shipped scenarios or the schema.
"""

from __future__ import annotations

import pathlib
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from alight.scenario import json_schema
from alight.scenario.descriptions import meaning_of
from alight.scenario.quantities import DIMENSIONS

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "scenario_keys.md"

HEAD = """# Keys of scenario files

Every key of every section, written by `tools/scenario_keys_page.py` from the schema that files are
checked against. [Scenarios](../how_to/scenarios.md) says how to write a file and how keys work
together; `alight scenario check FILE` finds mistakes, and `alight scenario schema` prints the same
as a JSON schema for editors.

**required** marks keys that a section must have. Values with a dimension are strings with a
unit, `"60 m"`, in any unit of that dimension; the one shown is SI. `[name]` is a table, `[[name]]`
a table that may be given any number of times. Which keys go together depends on `kind`, `law` or
`shape` of the section; a key of another kind is an error that names those allowed.
"""

KINDS = {
    "landing": "A lander and a body. The kind of files that name none.",
    "capture": 'A spacecraft that takes hold of an asteroid: `kind = "capture"`.',
    "drop": 'A body that falls on a membrane: `kind = "drop"`.',
}


class Section(NamedTuple):
    """A table of a file, as the schema has it."""

    path: str
    name: str
    """Of its class, by which meanings go."""
    many: bool
    schema: dict[str, Any]
    chosen: str = ""
    """The kind of entry that it is, of lists whose entries have kinds."""


def text() -> str:
    """The page."""
    parts, shown = [HEAD], set()
    for kind, about in KINDS.items():
        schema = json_schema(kind)
        parts += [f"## Files of kind {kind}\n\n{about}\n"]
        common = []
        for section in _sections(schema):
            if section.path == "made_by":  # written by Alight, and never read
                continue
            mark = (section.path, section.name)
            if mark in shown:
                common.append(_title(section))
                continue
            shown.add(mark)
            parts += _part(section)
        if common:
            names = ", ".join(f"`{name}`" for name in dict.fromkeys(common))
            parts += [f"As above: {names}.\n"]
    return "\n".join(parts).rstrip() + "\n"


def _sections(schema: dict[str, Any]) -> Iterator[Section]:
    """The tables of a file, each before those inside it."""
    top = {**schema, "description": "Keys at the top of the file."}
    yield from _walk("", f"TOP:{schema['title']}", False, top, schema["$defs"])


def _walk(
    path: str,
    name: str,
    many: bool,
    schema: dict[str, Any],
    known: dict[str, Any],
    chosen: str = "",
) -> Iterator[Section]:
    yield Section(path, name.partition(":")[0] if path else name, many, schema, chosen)
    for key, told in schema.get("properties", {}).items():
        references = [r.rpartition("/")[2] for r in _references(told) if key != "dispersions"]
        base = min(references, key=len, default="")
        for reference in references:
            inner = f"{path}.{key}" if path else key
            kind = _kebab(reference.removeprefix(base)) if reference != base else ""
            within = known[reference]
            if kind:  # what every kind has stands in the section of the base
                own = {
                    k: v
                    for k, v in within["properties"].items()
                    if k not in known[base]["properties"]
                }
                within = {**within, "properties": own}
            yield from _walk(inner, reference, told.get("type") == "array", within, known, kind)


def _references(told: dict[str, Any]) -> list[str]:
    """The sections that a key holds: one, one or none, or a list of one of several kinds."""
    inner = told.get("items", told)
    choices = inner.get("oneOf") or inner.get("anyOf") or [inner]
    return [choice["$ref"] for choice in choices if "$ref" in choice]


def _kebab(name: str) -> str:
    return "-".join(word.lower() for word in re.findall(r"[A-Z][a-z]*", name))


def _title(section: Section) -> str:
    if not section.path:
        return "top of the file"
    return f"[[{section.path}]]" if section.many else f"[{section.path}]"


def _part(section: Section) -> list[str]:
    """The heading and the table of a section."""
    name = _title(section)
    head = f"`{name}`" if section.path else "Top of the file"
    if section.chosen:
        head, about = f"`{name}` of kind `{section.chosen}`", "Besides the keys of every kind:"
    else:
        about = section.schema.get("description", "").replace("``", "`")
    rows = [_row(section, key, told) for key, told in section.schema["properties"].items()]
    if not rows:
        return []
    table = "| key | value | default | meaning | example |\n|---|---|---|---|---|\n"
    return [f"### {head}\n", f"{about}\n", table + "\n".join(rows) + "\n"]


def _row(section: Section, key: str, told: dict[str, Any]) -> str:
    # The text of its class comes first: the keys of a file as a whole are listed under TOP.
    name = section.name.partition(":")[0]
    meaning, _, default = meaning_of(name, key).partition(" | ")
    must = "**required**" if key in section.schema.get("required", []) else (default or "–")
    cells = [f"`{key}`", _value(told, meaning), must, meaning, _example(section, key, told)]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _value(told: dict[str, Any], meaning: str) -> str:
    """Dimension and bounds, choices, or the kind of value."""
    if _references(told):
        return "tables" if told.get("type") == "array" else "table"
    if "enum" in told:
        return ", ".join(f"`{one}`" for one in told["enum"]) or "name"
    if told.get("type") == "array":
        count = told.get("maxItems") if told.get("maxItems") == told.get("minItems") else None
        return f"{count or 'list'} × {_value(told['items'], '')}"
    if "anyOf" in told:
        kinds = [_value(one, "") for one in told["anyOf"] if one.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    found = told.get("description", "").removeprefix(meaning)
    inside = re.match(r" \((.*)\)\.", found)
    said = inside.group(1) if inside else (found if not meaning else "")
    if told.get("type") == "string":
        return _dimension(said) if said else "text"
    return _plain(told)


def _dimension(said: str) -> str:
    """``length [m] at least 0``, and angles in degrees."""
    angle = re.fullmatch(r"angle at least -([\d.]+) deg and at most \1 deg", said)
    if angle:
        return f"angle [rad], up to ±{angle.group(1)} deg"
    known = next((n for n in sorted(DIMENSIONS, key=len, reverse=True) if said.startswith(n)), "")
    if not known or "[" in said:
        return said
    unit = DIMENSIONS[known].si
    rest = said.removeprefix(known).replace(f" {unit}", "") if unit else said.removeprefix(known)
    return f"{known} [{unit}]{rest}"


def _plain(told: dict[str, Any]) -> str:
    kind = {
        "integer": "whole number",
        "number": "number",
        "boolean": "true or false",
        "object": "table",
    }
    words = kind.get(told.get("type", ""), told.get("type", "text"))
    low, above = told.get("minimum"), told.get("exclusiveMinimum")
    high, below = told.get("maximum"), told.get("exclusiveMaximum")
    if high is not None and high >= 1e6:  # what a number can hold, not what is sensible
        high = None
    bounds = [
        f"from {low:g}" if low is not None else f"above {above:g}" if above is not None else "",
        f"up to {high:g}" if high is not None else f"below {below:g}" if below is not None else "",
    ]
    return " ".join([words, *(b for b in bounds if b)])


def _example(section: Section, key: str, told: dict[str, Any]) -> str:
    """One that is shipped, else the schema's, else a choice."""
    found = _shipped().get((section.path, section.chosen, key)) or _shipped().get(
        (section.path, "", key)
    )
    if found:
        return f"`{found}`"
    if told.get("examples"):
        return f"`{_toml(told['examples'][0])}`"
    inner = told.get("items", {})
    if inner.get("examples"):
        return f"`{_toml([inner['examples'][0]] * (told.get('maxItems') or 1))}`"
    if told.get("enum"):
        return f"`{_toml(told['enum'][0])}`"
    if told.get("type") == "boolean":
        return "`true`"
    default = meaning_of(section.name.partition(":")[0], key).partition(" | ")[2]
    return f"`{default}`" if re.fullmatch(r"[\d.e+-]+|\[[\d., e+-]+\]", default) else ""


@cache
def _shipped() -> dict[tuple[str, str, str], str]:
    """Values that shipped scenarios give, by section, kind of entry and key; the shortest first."""
    found: dict[tuple[str, str, str], str] = {}
    for file in sorted([*ROOT.glob("scenarios/*.toml"), *ROOT.glob("examples/*_*/*.toml")]):
        if file.name == "pyproject.toml":
            continue
        for mark, value in _values("", tomllib.loads(file.read_text("utf-8"))):
            if len(value) <= 60 and len(value) < len(found.get(mark, value + " ")):
                found[mark] = value
    return found


def _values(path: str, table: dict[str, Any]) -> Iterator[tuple[tuple[str, str, str], str]]:
    for key, value in table.items():
        entries = value if isinstance(value, list) else [value]
        if entries and all(isinstance(one, dict) for one in entries):
            for one in entries:
                yield from _values(f"{path}.{key}" if path else key, one)
        else:
            for kind in {"", str(table.get("kind", ""))}:
                yield (path, kind, key), _toml(value)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(_toml(one) for one in value)}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
    print(f"wrote {PAGE}")
