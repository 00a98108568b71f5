"""What runs can be exported to: one table of formats, their files, and what writes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from alight.core.errors import InputError, unknown_name
from alight.core.extras import require
from alight.views.exports.arcs import AXES, FIXED, INERTIAL
from alight.views.exports.epoch import Epoch
from alight.views.playback import Playback


@dataclass(frozen=True, eq=False)
class Job:
    """What is to be written."""

    playback: Playback
    folder: Path
    """Of this format."""
    epoch: Epoch
    body: str
    """Name of the body, or of the origin of captures."""
    axes: str
    notes: Sequence[str]
    """What each file says: title, runs, axes, units, epoch."""
    frames: int
    """Moments of formats that have one file for each."""
    speed: float
    """Seconds of a run in a second of an animation."""


@dataclass(frozen=True)
class Format:
    """One of the formats."""

    name: str
    endings: tuple[str, ...]
    holds: str
    axes: tuple[str, ...] = (FIXED,)
    """Axes that it can be in, the usual one first."""
    extra: tuple[str, str] | None = None
    """A package, and the extra of Alight that brings it."""
    write: Callable[[Job], list[Path]] | None = field(default=None, compare=False)
    """None of tables, which are made from stored ones and not from a playback."""
    needs_runs: bool = True
    """Whether it is of no use without the trajectory of a run."""
    scene: bool = False
    """Whether it shows the ground: then that as it is touched, and the body cut out beneath it."""

    def require(self) -> None:
        """An error in one line where its package is missing."""
        if self.extra is not None:
            require(*self.extra)


def _vtk(job: Job) -> list[Path]:
    from alight.views.exports.vtk import write_vtk

    return write_vtk(job.playback, job.folder, job.notes, job.frames)


def _gltf(job: Job) -> list[Path]:
    from alight.views.exports.gltf import write_glb

    path = job.folder / "runs.glb"
    write_glb(job.playback, path, job.epoch, job.axes, job.notes, job.speed)
    return [path]


def _usd(job: Job) -> list[Path]:
    from alight.views.exports.usd import write_usd

    path = job.folder / "runs.usdc"
    write_usd(job.playback, path, job.epoch, job.axes, job.notes, job.speed)
    return [path]


def _spice(job: Job) -> list[Path]:
    from alight.views.exports.spice.kernels import write_kernels

    return write_kernels(job.playback, job.folder, job.epoch, job.body, job.axes, job.notes).files


def _ccsds(job: Job) -> list[Path]:
    from alight.views.exports.ccsds import write_messages

    return write_messages(job.playback, job.folder, job.epoch, job.body, job.axes, job.notes)


def _cosmographia(job: Job) -> list[Path]:
    from alight.views.exports.cosmographia import write_catalogue

    return write_catalogue(job.playback, job.folder, job.epoch, job.body, job.axes, job.notes)


_SPICE = ("spiceypy", "spice")
#: All formats, in the order in which they are listed.
FORMATS: dict[str, Format] = {
    one.name: one
    for one in (
        Format("csv", (".csv",), "tables of runs and contacts, trajectories", needs_runs=False),
        Format("parquet", (".parquet",), "the same, with units as metadata", needs_runs=False),
        Format(
            "vtk",
            (".vtp", ".pvd"),
            "ParaView: body, rocks, landers over time, paths, contacts, rest sites",
            write=_vtk,
            scene=True,
            needs_runs=False,
        ),
        Format(
            "gltf",
            (".glb",),
            "Blender and the web: the scene, animated",
            (FIXED, INERTIAL),
            write=_gltf,
            scene=True,
            needs_runs=False,
        ),
        Format(
            "usd",
            (".usdc",),
            "Omniverse, Houdini and others: the scene, animated",
            (FIXED, INERTIAL),
            ("pxr", "usd"),
            _usd,
            needs_runs=False,
            scene=True,
        ),
        Format(
            "spice",
            (".bsp", ".bc", ".tsc", ".tf", ".bds", ".tm"),
            "kernels: places (SPK), attitudes (CK), clock, frames, shape (DSK), meta-kernel",
            (INERTIAL, FIXED),
            _SPICE,
            _spice,
        ),
        Format(
            "ccsds",
            (".oem", ".aem"),
            "CCSDS messages of places and attitudes, a segment for each arc",
            (INERTIAL, FIXED),
            write=_ccsds,
        ),
        Format(
            "cosmographia",
            (".json", ".cmod"),
            "a catalogue for NAIF's Cosmographia, with SPICE kernels and meshes",
            (INERTIAL, FIXED),
            _SPICE,
            _cosmographia,
        ),
    )
}


def formats_of(to: str | Sequence[str]) -> list[Format]:
    """The formats that are asked for: names, or a text of names with commas between."""
    words = to.split(",") if isinstance(to, str) else list(to)
    names = list(dict.fromkeys(word.strip().lower() for word in words if word.strip()))
    if not names:
        raise InputError(f"which format? Known: {', '.join(FORMATS)}.")
    for name in names:
        if name not in FORMATS:
            raise unknown_name("format", name, FORMATS)
    return [FORMATS[name] for name in names]


def axes_of(made: Format, asked: str | None) -> str:
    """The axes of a format: those asked for, or its usual ones."""
    if asked is None:
        return made.axes[0]
    if asked not in AXES:
        raise unknown_name("frame", asked, AXES)
    if asked not in made.axes:
        raise InputError(
            f'{made.name} is written in axes fixed in the body, not in frame "{asked}": leave the '
            "frame out, or export the others by themselves."
        )
    return asked


def rows() -> list[dict[str, Any]]:
    """The table of formats, for ``--list``."""
    return [
        {
            "format": one.name,
            "files": " ".join(one.endings),
            "holds": one.holds,
            "frames": " or ".join(one.axes) if one.write is not None else "as the tables",
            "needs": f"alight[{one.extra[1]}]" if one.extra else "",
        }
        for one in FORMATS.values()
    ]
