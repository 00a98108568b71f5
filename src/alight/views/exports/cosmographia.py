"""A catalogue for NAIF's Cosmographia: the body and its landers, by SPICE kernels, with meshes.

Cosmographia must know where the body is: the catalogue places it at rest, seen from the Sun as
the scenario has it. Whoever has an ephemeris of the body loads it beside and takes that item out.

What Cosmographia reads is said by its user's guide (cosmoguide.org): a catalogue of kernels, one of
items, and one that lists both; dates as Julian dates of TDB; meshes as 3DS or, here, CMOD, in
kilometres.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from alight.core import frames
from alight.core.constants import AU
from alight.shapes.mesh import Mesh
from alight.views.exports.epoch import Epoch
from alight.views.exports.names import distinct, file_stem, one_line
from alight.views.exports.palette import colour_of
from alight.views.exports.spice.ids import Named, parts_of
from alight.views.exports.spice.kernels import Kernels, write_kernels
from alight.views.looks import surface_of
from alight.views.playback import Part, Playback

_VERSION = "1.0"
#: The direction of the Sun where the scenario has none.
_NO_SUN = (1.0, 0.0, 0.0)


def write_catalogue(
    playback: Playback,
    folder: Path,
    epoch: Epoch,
    body_name: str,
    axes: str,
    notes: Sequence[str],
) -> list[Path]:
    """Kernels, meshes and the files that Cosmographia opens; ``open_this.json`` loads them all."""
    inside = folder / "kernels"
    inside.mkdir(exist_ok=True)
    made = write_kernels(playback, inside, epoch, body_name, axes, notes)
    said = {"version": _VERSION, "name": one_line(playback.title), "notes": list(notes)}
    listed = [f"kernels/{path.name}" for path in made.files if path != made.meta]
    meshes, items = _items(playback, folder, epoch, body_name, made)
    files = {
        "spice.json": {**said, "spiceKernels": listed},
        "scene.json": {**said, "items": items},
        "open_this.json": {**said, "require": ["spice.json", "scene.json"]},
    }
    written = []
    for name, content in files.items():
        written.append(folder / name)
        written[-1].write_text(json.dumps(content, indent=2) + "\n", "ascii")
    return [*written, *meshes, *made.files]


def _items(
    playback: Playback, folder: Path, epoch: Epoch, body_name: str, made: Kernels
) -> tuple[list[Path], list[dict[str, Any]]]:
    """Meshes, and the items of the scene."""
    times = {"startTime": epoch.julian(), "endTime": epoch.julian(playback.end)}
    meshes: list[Path] = []
    body: dict[str, Any] = {
        "class": "asteroid",
        "name": one_line(body_name),
        **times,
        "center": "Sun",
        "trajectoryFrame": "EquatorJ2000",
        "trajectory": {"type": "FixedPoint", "position": _away(playback)},
        "bodyFrame": {"type": "Spice", "name": made.ids.body.frame},
    }
    if playback.target is not None:
        path = folder / "body.cmod"
        _write_cmod(path, playback.target, colour_of("body"))
        meshes.append(path)
        body["geometry"] = {"type": "Mesh", "source": path.name, "scale": 1.0}
    items = [body]
    known: dict[int, Path] = {}
    for track, named in zip(playback.tracks, made.ids.parts, strict=True):
        own = parts_of(playback, track)
        for part, one in zip(own, named, strict=True):
            if id(part) not in known:
                known[id(part)] = _part_file(folder, part, len(known))
            items.append(_lander(part, one, body_name, made, known[id(part)], times))
    return [*meshes, *known.values()], _told_apart(items)


def _lander(
    part: Part, one: Named, body_name: str, made: Kernels, mesh: Path, times: dict[str, float]
) -> dict[str, Any]:
    """An item of something that moves."""
    colour = list(colour_of("path"))
    item: dict[str, Any] = {
        "class": "spacecraft",
        "name": one_line(one.about),
        **times,
        "center": one_line(body_name),
        "trajectoryFrame": "EquatorJ2000",
        "trajectory": {
            "type": "Spice",
            "target": str(one.number),
            "center": str(made.ids.body.number),
        },
        "bodyFrame": {"type": "Spice", "name": one.frame},
        "label": {"color": colour},
        "trajectoryPlot": {"color": colour, "lineWidth": 1, "duration": "10 d", "lead": "0 d"},
    }
    if len(part.faces):
        item["geometry"] = {"type": "Mesh", "source": mesh.name, "scale": 1.0}
    return item


def _part_file(folder: Path, part: Part, number: int) -> Path:
    path = folder / f"part_{number}_{file_stem(part.name, part.role)}.cmod"
    _write_cmod(path, surface_of(part), part.colour or colour_of(part.role))
    return path


def _write_cmod(path: Path, mesh: Mesh, colour: tuple[float, float, float]) -> None:
    """A model of one mesh and one material, as text [km]."""
    rows = np.hstack([1e-3 * mesh.vertices, mesh.vertex_normals])
    diffuse = " ".join(f"{x:g}" for x in colour)
    with path.open("w", encoding="ascii", newline="\n") as out:
        out.write(f"#celmodel__ascii\n\nmaterial\ndiffuse {diffuse}\nend_material\n\n")
        out.write("mesh\nvertexdesc\nposition f3\nnormal f3\nend_vertexdesc\n\n")
        out.write(f"vertices {len(rows)}\n")
        # Single precision is what Cosmographia has, and nine digits give that back.
        out.writelines(" ".join(f"{x:.9g}" for x in row) + "\n" for row in rows.tolist())
        out.write(f"\ntrilist 0 {3 * mesh.n_faces}\n")
        out.writelines(f"{a} {b} {c}\n" for a, b, c in np.asarray(mesh.faces).tolist())
        out.write("\nend_mesh\n")


def _told_apart(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Cosmographia knows items by their names."""
    names = distinct(item["name"] for item in items)
    return [{**item, "name": name} for item, name in zip(items, names, strict=True)]


def _away(playback: Playback) -> list[float]:
    """Where the body is from the Sun [km], an astronomical unit away, J2000 axes, at t = 0."""
    toward = np.asarray(_NO_SUN)
    if playback.sun is not None:
        toward = playback.sun(np.zeros(1))[0]
        if playback.attitude is not None:
            toward = frames.quat_rotate(playback.attitude(np.zeros(1))[0], toward)
    return [float(x) for x in -1e-3 * AU * toward]
