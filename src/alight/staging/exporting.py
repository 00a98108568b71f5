"""``export(what, to, out)``: runs and campaigns as files for other tools."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from alight.core.checks import checked_number, checked_whole
from alight.core.errors import FileError, InputError
from alight.core.paths import user_path
from alight.staging.export_subject import Subject
from alight.views.exports.arcs import INERTIAL
from alight.views.exports.epoch import Epoch, epoch_of
from alight.views.exports.formats import Job, axes_of, formats_of
from alight.views.exports.names import one_line
from alight.views.exports.tables import write_tables
from alight.views.playback import Playback
from alight.views.playback.joining import grounded

#: The list of what an export wrote.
LIST = "export.json"


@dataclass(frozen=True)
class Exported:
    """What an export wrote."""

    folder: Path
    files: dict[str, list[Path]]
    """By format; of moments the file that lists them."""
    notes: tuple[str, ...]
    """What each file says: title, runs, axes, units, epoch."""

    def __str__(self) -> str:
        listed = ", ".join(f"{len(of)} of {name}" for name, of in self.files.items())
        return f"{self.folder}: files, {listed}"


def export(
    what: Any,
    to: str | Sequence[str],
    out: str | os.PathLike[str],
    *,
    runs: Sequence[int] | None = None,
    frame: str | None = None,
    epoch: str | None = None,
    scenario: Any = None,
    title: str | None = None,
    frames: int = 200,
    speed: float = 1.0,
    device: str = "cpu",
    show: str = "silent",
) -> Exported:
    """Write runs to files that other tools read.

    Parameters
    ----------
    what:
        A solution (as ``alight.simulate`` returns it), a ``Replay``, a campaign or its folder, a
        scenario or its file, of which one run is made with nothing dispersed.
    to:
        Formats: "csv", "parquet", "vtk", "gltf", "usd", "spice", "ccsds", "cosmographia".
    out:
        A folder, made where there is none. Each format has a folder in it.
    runs:
        Of a campaign: kept trajectories if not given. Others are computed again.
    frame:
        "inertial" or "fixed" (in the body); if not given inertial for SPICE, CCSDS and
        Cosmographia, fixed for all others.
    epoch:
        The date of t = 0, TDB, such as "2018-10-03T01:57:20"; that of the scenario if not given, or
        J2000 where it has none.
    scenario, title, device, show:
        As for ``alight.playback``.
    frames:
        Moments of VTK.
    speed:
        Seconds of a run in a second of an animation [s/s] (glTF, USD).
    """
    wanted = formats_of(to)
    axes = {one.name: axes_of(one, frame) for one in wanted if one.write is not None}
    for one in wanted:
        one.require()
    checked_whole("frames", frames, 2)
    checked_number("speed", speed)
    subject = Subject.of(what, runs, scenario, device, show)
    subject.check(wanted)
    when = epoch_of(epoch, subject.date)
    shown = subject.shown(title) if axes else None
    place = _folder(out)
    said = notes_of(shown, subject, when, title)
    files: dict[str, list[Path]] = {}
    scene: Playback | None = None
    for one in wanted:
        inside = place / one.name
        inside.mkdir(exist_ok=True)
        try:
            if one.write is None:
                files[one.name] = write_tables(subject.tables(), inside, one.name, said)
            else:
                assert shown is not None
                own = [*said, axes_note(shown, axes[one.name])]
                about = when, subject.body, axes[one.name], own, frames, speed
                if one.scene and scene is None:
                    scene = grounded(shown)
                drawn = scene if one.scene and scene is not None else shown
                files[one.name] = one.write(Job(drawn, inside, *about))
        except OSError as cause:
            if isinstance(cause, FileError):
                raise
            raise FileError(f"{inside} could not be written: {cause.strerror or cause}.") from None
    found = Exported(place, files, tuple(said))
    _write_list(found, axes, when)
    return found


def notes_of(shown: Playback | None, subject: Subject, when: Epoch, title: str | None) -> list[str]:
    """What each file says."""
    from alight import __version__

    name = shown.title if shown is not None else title or subject.title
    numbers = subject.run_numbers if shown is None else [track.run for track in shown.tracks]
    runs = ", ".join(map(str, numbers[:20])) + (", ..." if len(numbers) > 20 else "")
    said = [one_line(name), f"Alight {__version__}. Runs: {runs or 'tables alone'}."]
    said.append(f"{when.source} t = 0: {when.text()} TDB.")
    said.append(
        "Units: m, s, rad, kg, N unless a file or column says otherwise (SPICE, CCSDS: km)."
    )
    if shown is not None:
        said += [one_line(note) for note in shown.notes]
    return said


def axes_note(shown: Playback, axes: str) -> str:
    """Which axes a file is in, in a sentence."""
    if shown.frame == "inertial":
        return "Axes: inertial, as the scenario has them; they are called J2000 here."
    if axes != INERTIAL:
        return "Axes: fixed in the body, whose centre is the origin; velocities relative to them."
    still = shown.attitude is None or np.allclose(
        np.abs(shown.attitude(np.zeros(1))[0]), [0.0, 0.0, 0.0, 1.0], rtol=0.0, atol=1e-15
    )
    known = (
        "those of the body at t = 0, as the scenario gives no pole; they are called J2000 here"
        if still
        else "J2000 equatorial (EME2000), by the pole of the scenario"
    )
    return f"Axes: inertial, {known}. Origin: the centre of the body."


def _folder(out: str | os.PathLike[str]) -> Path:
    if not str(out).strip():
        raise InputError("--out: name the folder that files go to.")
    path = user_path(out, "out")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise FileError(f"{path} cannot be made a folder: {cause.strerror or cause}.") from None
    return path


def _write_list(found: Exported, axes: dict[str, str], when: Epoch) -> None:
    told = {
        "notes": list(found.notes),
        "epoch_tdb": when.text(),
        "epoch": when.source,
        "frames": axes,
        "files": {
            name: [path.relative_to(found.folder).as_posix() for path in listed]
            for name, listed in found.files.items()
        },
    }
    (found.folder / LIST).write_text(json.dumps(told, indent=2) + "\n", "ascii")
