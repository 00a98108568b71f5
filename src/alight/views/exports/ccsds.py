"""CCSDS messages: orbits (OEM, 502.0-B) and attitudes (AEM, 504.0-B), as text of keys and values.

A segment for each arc between two jumps of velocity: it ends at the time of a hit with the state
before it, and the next begins there with the state after. Kilometres, seconds, TDB.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from alight.core.checks import Array
from alight.views.exports import arcs
from alight.views.exports.arcs import INERTIAL, Arc
from alight.views.exports.epoch import RESOLUTION, Epoch
from alight.views.exports.names import comment_lines, file_stem, plain_ascii
from alight.views.exports.spice.ids import parts_of
from alight.views.playback import Playback

#: The origin of a message.
ORIGINATOR = "ALIGHT"


@dataclass(frozen=True)
class Subject:
    """What a message is about."""

    name: str
    number: str
    center: str
    frame: str
    """Axes of places, and axes that attitudes lead to."""
    epoch: Epoch
    notes: Sequence[str]


def write_messages(
    playback: Playback,
    folder: Path,
    epoch: Epoch,
    body_name: str,
    axes: str,
    notes: Sequence[str],
) -> list[Path]:
    """An OEM and an AEM for each part of each run."""
    center = plain_ascii(body_name, 60).upper()
    frame = "EME2000" if axes == INERTIAL else f"{file_stem(body_name, 'TARGET').upper()}_FIXED"
    written = []
    for track in playback.tracks:
        for k, part in enumerate(parts_of(playback, track)):
            name = plain_ascii(f"run {track.run} {part.name or part.role}", 60)
            about = Subject(name, f"ALIGHT-{track.run}-{k}", center, frame, epoch, notes)
            stem = f"run_{track.run}" + (f"_{file_stem(part.name, part.role)}_{k}" if k else "")
            places = arcs.arcs_of(playback, track, k, axes, np.inf)
            turns = arcs.arcs_of(playback, track, k, axes)
            for ending, lines in (("oem", oem(about, places)), ("aem", aem(about, turns))):
                path = folder / f"{stem}.{ending}"
                with path.open("w", encoding="ascii", newline="\n") as out:
                    out.writelines(f"{line}\n" for line in lines)
                written.append(path)
    return written


def oem(about: Subject, found: Sequence[Arc]) -> Iterator[str]:
    """Lines of an orbit ephemeris message."""
    yield from _head("CCSDS_OEM_VERS = 2.0", about)
    for arc in found:
        keys = {"REF_FRAME": about.frame, "TIME_SYSTEM": "TDB"}
        lines = _told_apart(arc.time)
        yield from _meta(about, keys, arc, {"INTERPOLATION": "HERMITE", "INTERPOLATION_DEGREE": 3})
        states = 1e-3 * np.hstack([arc.position, arc.velocity])
        for i in lines:
            numbers = " ".join(f"{value:.15e}" for value in states[i])
            yield f"{about.epoch.text(float(arc.time[i]))} {numbers}"
        yield ""


def aem(about: Subject, found: Sequence[Arc]) -> Iterator[str]:
    """Lines of an attitude ephemeris message."""
    yield from _head("CCSDS_AEM_VERS = 1.0", about)
    for arc in found:
        keys = {
            "REF_FRAME_A": about.frame,
            "REF_FRAME_B": "SC_BODY_1",
            "ATTITUDE_DIR": "A2B",
            "TIME_SYSTEM": "TDB",
        }
        known = arc.spin is not None
        kind: dict[str, object] = {
            "ATTITUDE_TYPE": "QUATERNION/DERIVATIVE" if known else "QUATERNION",
            "QUATERNION_TYPE": "LAST",
            "INTERPOLATION_METHOD": "HERMITE" if known else "LINEAR",
            "INTERPOLATION_DEGREE": 3 if known else 1,
        }
        rows = np.hstack(arc.quaternions) if known else arc.attitude
        lines = _told_apart(arc.time)
        yield from _meta(about, keys, arc, kind)
        yield "DATA_START"
        for i in lines:
            numbers = " ".join(f"{value:.15e}" for value in rows[i])
            yield f"{about.epoch.text(float(arc.time[i]))} {numbers}"
        yield "DATA_STOP"
        yield ""


def _head(version: str, about: Subject) -> Iterator[str]:
    """The date of creation is that of t = 0: the same export has the same bytes."""
    yield version
    yield from comment_lines("COMMENT ", about.notes)
    yield f"CREATION_DATE = {about.epoch.text()}"
    yield f"ORIGINATOR = {ORIGINATOR}"
    yield ""


def _meta(about: Subject, keys: dict[str, str], arc: Arc, more: dict[str, object]) -> Iterator[str]:
    """The head of a segment."""
    first, last = (about.epoch.text(float(arc.time[i])) for i in (0, -1))
    listed: dict[str, object] = {
        "OBJECT_NAME": about.name,
        "OBJECT_ID": about.number,
        "CENTER_NAME": about.center,
        **keys,
        "START_TIME": first,
        "STOP_TIME": last,
        **more,
    }
    yield "META_START"
    yield from (f"{key} = {value}" for key, value in listed.items())
    yield "META_STOP"
    yield ""


def _told_apart(time: Array) -> list[int]:
    """Lines whose dates differ as they are written; the first and the last are among them."""
    ticks = np.round(time / RESOLUTION)
    kept = np.flatnonzero(np.concatenate([np.diff(ticks) > 0, [True]]))
    return [0, *kept[kept > 0].tolist()] if ticks[0] < ticks[-1] else [0]
