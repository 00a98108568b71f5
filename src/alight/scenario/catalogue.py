"""What the catalogues of bodies and landers share: names in any spelling, sources of figures."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal, get_args

from alight.core.errors import InputError, did_you_mean, unknown_name

Mark = Literal["read", "unconfirmed", "derived"]


@dataclass(frozen=True)
class Source:
    """Where a figure comes from, and whether it was read there, derived, or is unconfirmed."""

    mark: Mark
    text: str

    def __str__(self) -> str:
        return f"{self.text} [{self.mark}]"


def tables(file: str) -> dict[str, Any]:
    """The tables of a file of the room's data."""
    text = (resources.files("alight.scenario") / "data" / file).read_text("utf-8")
    return tomllib.loads(text)


def find(kind: str, entries: Collection[Any], name: str) -> Any:
    """The entry of that name, number or other designation, in any letter case."""
    wanted = _plain(str(name))
    for entry in entries:
        if wanted in {_plain(a) for a in (entry.name, entry.designation, *entry.aliases)}:
            return entry
    hint = did_you_mean(name, [a for entry in entries for a in (entry.name, *entry.aliases)])
    known = ", ".join(entry.name for entry in entries)
    raise InputError(f'unknown {kind} "{name}".{hint} Known: {known}.')


def _plain(name: str) -> str:
    """Letters and digits only, in lower case: "67P/C-G" and "67p c_g" are one."""
    return re.sub(r"[^0-9a-z]+", "", name.lower())


def only(table: Mapping[str, Any], allowed: Iterable[str], kind: str) -> None:
    """An error for a key that no entry has."""
    known = set(allowed)
    for key in table:
        if key not in known:
            raise unknown_name(f"key of {kind}", key, known)


def sources(
    table: Mapping[str, Any], always: Iterable[str], optional: Mapping[str, str]
) -> dict[str, Source]:
    """Every figure must say where it comes from, and how far it can be trusted.

    ``optional`` figures need it where the table has their key.
    """
    figures = {*always, *(figure for figure, key in optional.items() if key in table)}
    given = table["sources"]
    if set(given) != figures:
        wrong = ", ".join(sorted(set(given) ^ figures))
        raise InputError(f"sources of {table['name']}: missing or unexpected {wrong}.")
    return {figure: _source(f"{figure} of {table['name']}", line) for figure, line in given.items()}


def _source(what: str, line: str) -> Source:
    marks: dict[str, Mark] = {mark: mark for mark in get_args(Mark)}
    mark, _, text = line.partition(": ")
    if mark not in marks or not text:
        raise InputError(
            f'source of {what} is "{line}"; it must start with '
            f"{', '.join(m + ':' for m in marks)} and continue with the source."
        )
    return Source(marks[mark], text)
