"""Columns: what is reported of runs, contacts and trajectories, each declared once.

A column has a name, a unit, a sentence, and where its values come from. Motions declare theirs
(``Motion.columns``), stops and actuators may add some; tables, documentation, reports and
``alight run --json`` read these lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from alight.core import frames
from alight.core.checks import Array
from alight.core.errors import InputError

#: What a column may hold, and the type of NumPy that it is told in.
KINDS = {"float": "f8", "int32": "i4", "int64": "i8", "bool": "?", "text": "O"}


@dataclass(frozen=True, eq=False)
class Source:
    """What columns are made from: a row for each run, contact or line of a trajectory."""

    found: Any
    """A result, an array of contacts, or the trajectory of a run: where paths begin."""
    runs: Any
    """(n,) number of the run of each row; (1,) of a trajectory."""
    model: Any = None
    device: str = "cpu"
    threads: int | None = None

    def at(self, path: str) -> Any:
        """What lies at a path such as ``final.x[2]``: attributes, keys, fields, then a column."""
        here = self.found
        for name, number in re.findall(r"(\w+)|\[(\d+)\]", path):
            here = here[:, int(number)] if number else _inside(here, name)
        return here


def _inside(here: Any, name: str) -> Any:
    named = getattr(getattr(here, "dtype", None), "names", None)
    return here[name] if named or isinstance(here, dict) else getattr(here, name)


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str
    """Name without its unit."""
    unit: str
    """As a person writes it: ``m/s``; empty for none."""
    text: str
    """What it holds."""
    of: str | Callable[[Source], Any] = ""
    """Where its values are: a path in what was found, or a function of the ``Source``."""
    kind: str = "float"
    """One of ``KINDS``."""
    where: str = ""
    """Where it is not empty: a path to true or false for each row; ``known``: where it is a
    number."""
    plain: bool = False
    """Whether the name has its unit already, in small letters: ``bending_nm``."""

    @property
    def full_name(self) -> str:
        """Name with its unit, as in the table."""
        return self.name if self.plain else named(self.name, self.unit)

    def values(self, source: Source) -> Any:
        """The values of each row; a masked array where some may be empty."""
        found = self.of(source) if callable(self.of) else source.at(self.of or self.name)
        if self.where == "known":
            found = np.asarray(found)
            empty = np.isnan(found)
            return np.ma.masked_array(found, mask=empty) if empty.any() else found
        if self.where:
            return np.ma.masked_array(np.asarray(found), mask=~np.asarray(source.at(self.where)))
        return found


@dataclass(frozen=True)
class Columns:
    """What a motion leaves: columns of runs, of contacts, and of the trajectory of one run."""

    runs: tuple[Column, ...]
    contacts: tuple[Column, ...] = ()
    course: tuple[Column, ...] = ()
    hops: tuple[Column, ...] = ()
    """Of manoeuvres, a row for each that was begun; none where there are none."""


def named(name: str, unit: str) -> str:
    """A column's name with its unit: ``end_x_m``, ``speed_m_per_s``."""
    return f"{name}_{spelt(unit)}" if unit else name


def spelt(unit: str) -> str:
    """A unit in letters, digits and underscores: ``N*s/m^2`` is ``N_s_per_m2``."""
    return unit.replace("^", "").replace("*", "_").replace(" ", "_").replace("/", "_per_")


def spelt_parts(names: Sequence[str]) -> list[str]:
    """Names of parts in letters, digits and underscores, each different."""
    out: list[str] = []
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_") or "part"
        more = 2
        while plain in out:
            plain, more = f"{plain.rstrip('0123456789').rstrip('_')}_{more}", more + 1
        out.append(plain)
    return out


def filled(columns: Iterable[Column], source: Source) -> dict[str, Any]:
    """Values by the names of columns, without units."""
    return {column.name: column.values(source) for column in columns}


# -- several columns at once ---------------------------------------------------------------------


def vector(
    name: str, unit: str, text: str, of: str, axes: str = "xyz", where: str = ""
) -> Iterator[Column]:
    """A column for each component of vectors (n, k)."""
    for i, axis in enumerate(axes):
        yield Column(f"{name}{axis}", unit, text, f"{of}[{i}]", where=where)


def each(name: str, parts: Sequence[str], unit: str, text: str, of: str) -> Iterator[Column]:
    """A column for each of ``parts``, by its name; angles [rad] are reported in degrees."""
    for i, part in enumerate(spelt_parts(parts)):
        path = f"{of}[{i}]"
        yield Column(f"{name}_{part}", unit, text, degrees(path) if unit == "deg" else path)


def degrees(path: str) -> Callable[[Source], Any]:
    """Angles at a path [rad], in degrees."""
    return lambda source: np.degrees(source.at(path))


def place(name: str, of: str, where: str = "", more: str = "") -> Iterator[Column]:
    """Latitude and longitude of points; ``more`` ends the sentence on the longitude."""

    def angles(i: int) -> Callable[[Source], Array]:
        return lambda source: np.degrees(frames.latitude_longitude(source.at(of))[i])

    texts = "planetocentric latitude of that place", f"east longitude of that place{more}"
    for i, word in enumerate(("latitude", "longitude")):
        yield Column(f"{name}{word}", "deg", texts[i], angles(i), where=where)


# -- what every motion has -----------------------------------------------------------------------


def outcome_words(source: Source) -> Any:
    """(n,) how runs ended, in a word each."""
    codes = np.asarray(source.found.outcome)
    words = {code: source.model.ending(code).name.lower() for code in np.unique(codes).tolist()}
    return np.array([words[code] for code in codes.tolist()], dtype=object)


RUN = Column("run", "", "number of the run", lambda source: source.runs, "int64")


def numbered(source: Source) -> Any:
    """(n,) number of each contact in its run."""
    runs = source.runs
    same = np.concatenate([[False], runs[1:] == runs[:-1]]) if len(runs) else np.zeros(0, bool)
    first = np.maximum.accumulate(np.where(same, 0, np.arange(len(runs))))
    return np.arange(len(runs)) - first


def law_columns(model: Any) -> tuple[Column, ...]:
    """The columns of runs that the laws of a model add: its stops, actuators and pushes."""
    laws = [law for name in ("stops", "actuators", "externals") for law in getattr(model, name, ())]
    return tuple(column for law in laws for column in getattr(law, "columns", ()))


def with_laws(columns: Columns, model: Any) -> Columns:
    """A motion's columns, and those that the laws of a model add."""
    more = law_columns(model)
    if not more:
        return columns
    check_names([*columns.runs, *more])
    return replace(columns, runs=(*columns.runs, *more))


def check_names(columns: Sequence[Column]) -> None:
    """An error where two columns of a table have one name."""
    seen: set[str] = set()
    for column in columns:
        if column.name in seen or column.full_name in seen - {column.name}:
            raise InputError(
                f'two columns of one table are called "{column.full_name}"; give one of the laws '
                "that add them another name."
            )
        seen |= {column.name, column.full_name}
