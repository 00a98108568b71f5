"""Files of states: CSV and Parquet tables, CCSDS orbit ephemeris messages, SPICE kernels.

A run takes a row; the state is that of the centre of mass from the centre of the body.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from alight.core.checks import Array
from alight.core.errors import InputError, did_you_mean
from alight.core.extras import require
from alight.core.files import MOST_BYTES, read_bounded
from alight.core.orbits import seconds_since_j2000
from alight.scenario.errors import Fault, told
from alight.scenario.schema.release import OEM, SPK, STATES, ReleaseSection
from alight.scenario.table_files import needed, read_table

#: Axes of messages that are N: J2000 equatorial, to milliarcseconds.
_J2000 = ("EME2000", "J2000", "ICRF", "GCRF", "ICRF2", "ICRF3")
_KNOWN = (*"xyz", "vx", "vy", "vz", "t", "name", *(f"q{c}" for c in "xyzw"), "wx", "wy", "wz")
_LETTERS = {"position": ("x", "y", "z"), "velocity": ("vx", "vy", "vz")}


@dataclass(frozen=True, eq=False)
class States:
    """States by row, in the axes of the file."""

    position: Array
    """(n, 3) [m]."""
    velocity: Array
    """(n, 3) [m/s]."""
    time: Array
    """(n,) of each row from t = 0 of the scenario [s]: how far the body has turned by then."""
    names: tuple[str, ...] = ()
    attitude: Array | None = None
    """(n, 4) where the file has it."""
    rate: Array | None = None
    """(n, 3) [rad/s]."""

    def __len__(self) -> int:
        return len(self.position)

    def row(self, section: ReleaseSection) -> int:
        """The row that a scenario names for its nominal run."""
        if section.row_name is None:
            return section.row or 0
        if section.row_name in self.names:
            return self.names.index(section.row_name)
        raise InputError(
            f"there is no row {told(section.row_name)}.{did_you_mean(section.row_name, self.names)}"
        )


def states_of(section: ReleaseSection) -> States | None:
    """The states of a file; None of a SPICE kernel, which has one at any time."""
    path = str(section.file)
    if path.lower().endswith(SPK):
        return None
    if path.lower().endswith(OEM):
        return _message(path, section.sha256 or "", section.date)
    return _table(path, section.sha256 or "")


def rows_of(section: ReleaseSection) -> int | None:
    """How many rows the file of a release has; None where there is no file or no end."""
    if section.form != STATES:
        return None
    states = states_of(section)
    return None if states is None else len(states)


def file_problems(section: ReleaseSection) -> list[Fault]:
    """What is wrong with the contents of the file."""
    if section.form != STATES:
        return []
    try:
        states = states_of(section)
        if states is None:
            spice_states(section, np.array([float(section.row or 0)]))
        elif states.row(section) >= len(states):
            said = f"is {section.row}, and the file has rows 0 to {len(states) - 1}"
            return [Fault("release.row", said)]
    except InputError as cause:
        key = "release.row_name" if "there is no row" in str(cause) else "release.file"
        return [Fault(key, str(cause))]
    return []


# -- tables ----------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=8)
def _table(path: str, _digest: str) -> States:
    table = read_table(Path(path))
    places, speeds = (
        np.stack([needed(table, n).in_si(dimension) for n in _LETTERS[what]], axis=1)
        for what, dimension in (("position", "length"), ("velocity", "speed"))
    )
    more: dict[str, Any] = {}
    if "qw" in table:
        more["attitude"] = np.stack([needed(table, f"q{c}").in_si(None) for c in "xyzw"], axis=1)
        if not (np.linalg.norm(more["attitude"], axis=1) > 0.0).all():
            raise InputError("has an attitude that is all zeros")
    if "wx" in table:
        rates = [needed(table, f"w{c}").in_si("angular rate") for c in "xyz"]
        more["rate"] = np.stack(rates, axis=1)
    if "name" in table:
        more["names"] = tuple(map(str, table["name"].values))
    for name in table:
        if name not in _KNOWN:
            raise InputError(
                f'has a column "{name}".{did_you_mean(name, _KNOWN)} Known: {", ".join(_KNOWN)}'
            )
    time = table["t"].in_si("time") if "t" in table else np.zeros(len(places))
    return States(places, speeds, time, **more)


# -- CCSDS orbit ephemeris messages ---------------------------------------------------------------


@functools.lru_cache(maxsize=8)
def _message(path: str, _digest: str, date: str | None) -> States:
    """An OEM in its text form (CCSDS 502.0-B): km and km/s."""
    text = read_bounded(Path(path), MOST_BYTES, "the message").decode("utf-8", "replace")
    if "CCSDS_OEM_VERS" not in text:
        raise InputError("is no CCSDS orbit ephemeris message: it has no CCSDS_OEM_VERS")
    rows, names, skipped = [], [], False
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0] == "COMMENT":
            continue
        if words[0] in ("COVARIANCE_START", "META_START"):
            skipped = words[0] == "COVARIANCE_START"
        elif words[0] in ("COVARIANCE_STOP", "META_STOP"):
            skipped = False
        elif "=" in line:
            _check_axes(*(part.strip() for part in line.split("=", 1)))
        elif not skipped:
            names.append(words[0])
            rows.append(_message_row(words, number))
    if not rows:
        raise InputError("has no states")
    table = 1e3 * np.array(rows)
    times = np.array([seconds_since_j2000(name) for name in names])
    start = times[0] if date is None else seconds_since_j2000(date)
    return States(table[:, :3], table[:, 3:], times - start, tuple(names))


def _check_axes(key: str, value: str) -> None:
    if key == "REF_FRAME" and value.upper() not in _J2000:
        listed = ", ".join(_J2000)
        raise InputError(f"has REF_FRAME = {told(value)}; axes that are read are {listed}")


def _message_row(words: list[str], number: int) -> list[float]:
    try:
        row = [float(word) for word in words[1:7]]
    except ValueError:
        row = []
    if len(row) != 6 or not np.isfinite(row).all():
        raise InputError(f"has no state in line {number}: a date and six numbers are needed")
    return row


# -- SPICE -----------------------------------------------------------------------------------------


def spice_states(section: ReleaseSection, rows: Array) -> States:
    """States of a SPICE kernel: row k is ``date`` (TDB) plus k times ``every``."""
    spice = require("spiceypy", "spice")
    start = seconds_since_j2000(str(section.date))
    after = rows * float(section.every or 0.0)
    try:
        with spice.KernelPool([str(section.file)]):
            names = str(section.spice_target), "J2000", "NONE", str(section.spice_center)
            found = [spice.spkezr(names[0], start + t, *names[1:])[0] for t in after.tolist()]
    except spice.SpiceyError as problem:
        said = getattr(problem, "long", "") or getattr(problem, "short", "") or str(problem)
        raise InputError(
            f"SPICE cannot compute the state of {told(section.spice_target)} from "
            f"{told(section.spice_center)} at {section.date} TDB + {after[0]:g} s: "
            f"{' '.join(said.split())}"
        ) from None
    table = 1e3 * np.array(found)
    return States(table[:, :3], table[:, 3:], after)
