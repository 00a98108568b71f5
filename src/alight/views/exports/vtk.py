"""VTK's XML files for ParaView: surfaces, paths and sites (``.vtp``), and moments (``.pvd``).

Numbers keep their 64 bits, compressed by zlib in blocks of base64. Metres and seconds, axes of the
playback.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.core import frames
from alight.core.checks import Array
from alight.views.exports import keys
from alight.views.exports.names import one_line, xml_text
from alight.views.exports.spice.ids import parts_of
from alight.views.playback import Playback, Track

#: Moments of an export if no number is asked for.
FRAMES = 200
_BLOCK = 1 << 20
_TYPES = {"f8": "Float64", "i8": "Int64", "i4": "Int32", "u1": "UInt8"}
_TOPOLOGY = ("Verts", "Lines", "Strips", "Polys")


@dataclass
class Poly:
    """A set of points with cells of one kind, and numbers on them."""

    points: Array
    kind: str
    """One of Verts, Lines and Polys."""
    cells: list[npt.NDArray[np.int64]] | npt.NDArray[np.int64]
    """Numbers of points: a row a cell, or a list of cells of different lengths."""
    on_points: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    on_cells: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)


def write_vtk(
    playback: Playback, folder: Path, notes: Sequence[str], count: int = FRAMES
) -> list[Path]:
    """The scene of a playback: a file for each thing that stands still, and moments of the rest."""
    written = []
    for name, poly in _still(playback).items():
        path = folder / f"{name}.vtp"
        path.write_text(vtp(poly, notes), "ascii")
        written.append(path)
    times = moments(playback, count)
    inside = folder / "landers"
    inside.mkdir(exist_ok=True)
    listed = []
    for i, t in enumerate(times.tolist()):
        path = inside / f"landers_{i:05d}.vtp"
        path.write_text(vtp(_at(playback, t), [*notes, f"t = {t!r} s"]), "ascii")
        listed.append((t, f"landers/{path.name}"))
    written.append(folder / "landers.pvd")
    written[-1].write_text(pvd(listed, notes), "ascii")
    return written


def moments(playback: Playback, count: int) -> Array:
    """Times of files [s]: evenly over the runs, and of these the first hits."""
    even = np.linspace(0.0, playback.end, max(2, count))
    hits = np.sort(np.concatenate([track.contacts.time for track in playback.tracks] or [even[:0]]))
    return np.unique(np.concatenate([even, hits[: count // 2]]))


def vtp(poly: Poly, notes: Sequence[str] = ()) -> str:
    """The text of a file of polygonal data."""
    offsets, joined = _cells(poly.cells)
    empty = np.zeros(0, np.int64)
    counts = {kind: len(offsets) if kind == poly.kind else 0 for kind in _TOPOLOGY}
    head = "".join(f' NumberOf{kind}="{n}"' for kind, n in counts.items())
    cells = "".join(
        f"<{kind}>{_array('connectivity', joined if kind == poly.kind else empty)}"
        f"{_array('offsets', offsets if kind == poly.kind else empty)}</{kind}>\n"
        for kind in _TOPOLOGY
    )
    return (
        f"{_head('PolyData', notes)}<PolyData>\n"
        f'<Piece NumberOfPoints="{len(poly.points)}"{head}>\n'
        f"<PointData>{_arrays(poly.on_points)}</PointData>\n"
        f"<CellData>{_arrays(poly.on_cells)}</CellData>\n"
        f"<Points>{_array('Points', poly.points)}</Points>\n{cells}"
        "</Piece>\n</PolyData>\n</VTKFile>\n"
    )


def pvd(listed: Sequence[tuple[float, str]], notes: Sequence[str]) -> str:
    """The text of a file that says which file is of which time [s]."""
    sets = "".join(
        f'<DataSet timestep="{t!r}" part="0" file="{xml_text(name)}"/>\n' for t, name in listed
    )
    return f"{_head('Collection', notes)}<Collection>\n{sets}</Collection>\n</VTKFile>\n"


def _head(kind: str, notes: Sequence[str]) -> str:
    """The head of a file; what is said in it, as a comment, in which XML allows no "--"."""
    said = "\n".join(one_line(note).replace("-", "\u2010") for note in notes)
    text = xml_text(f"Alight. {said}").encode("ascii", "xmlcharrefreplace").decode()
    compressed = ' compressor="vtkZLibDataCompressor"' if kind == "PolyData" else ""
    return (
        f'<?xml version="1.0"?>\n<!-- {text} -->\n<VTKFile type="{kind}" version="1.0" '
        f'byte_order="LittleEndian" header_type="UInt64"{compressed}>\n'
    )


def _cells(cells: Any) -> tuple[Any, Any]:
    """Where cells end, and the numbers of their points."""
    if isinstance(cells, np.ndarray):
        width = cells.shape[1] if cells.ndim == 2 else 1
        return np.arange(1, len(cells) + 1) * width, cells.reshape(-1)
    ends = np.cumsum([len(one) for one in cells], dtype=np.int64)
    return ends, np.concatenate(cells) if len(cells) else np.zeros(0, np.int64)


def _arrays(listed: Mapping[str, npt.NDArray[Any]]) -> str:
    return "".join(_array(name, values) for name, values in listed.items())


def _array(name: str, values: npt.NDArray[Any]) -> str:
    """An array of a file: a head of sizes of blocks, then the blocks."""
    kind = "f8" if values.dtype.kind == "f" else "u1" if values.dtype == bool else "i8"
    data = np.ascontiguousarray(values, dtype=f"<{kind}" if kind != "u1" else kind)
    raw = data.tobytes()
    pieces = [zlib.compress(raw[i : i + _BLOCK]) for i in range(0, len(raw), _BLOCK)]
    head = [len(pieces), _BLOCK if pieces else 0, len(raw) % _BLOCK, *map(len, pieces)]
    text = base64.b64encode(np.array(head, "<u8").tobytes()) + base64.b64encode(b"".join(pieces))
    width = data.shape[1] if data.ndim == 2 else 1
    label = xml_text(one_line(name)).encode("ascii", "xmlcharrefreplace").decode()
    return (
        f'<DataArray type="{_TYPES[kind]}" Name="{label}" NumberOfComponents="{width}" '
        f'format="binary">{text.decode()}</DataArray>'
    )


# -- what a playback has ---------------------------------------------------------------------------


def _still(playback: Playback) -> dict[str, Poly]:
    """Bodies, paths, contacts and rest sites."""
    found: dict[str, Poly] = {}
    if (mesh := playback.target) is not None:
        colours = {f"{name} [{unit}]": v for name, (v, unit) in playback.colours.items()}
        found["body"] = Poly(mesh.vertices, "Polys", np.asarray(mesh.faces, np.int64), colours)
    for part in (playback.terrain, playback.rocks):
        if part is not None and len(part.faces):
            found[part.role] = Poly(part.vertices, "Polys", np.asarray(part.faces, np.int64))
    if playback.tracks:
        found["paths"] = _paths(playback)
        found["contacts"] = _contacts(playback.tracks)
    if playback.sites is not None:
        found["rest_sites"] = _sites(playback)
    return found


def _paths(playback: Playback) -> Poly:
    """A line for each run: where its first part was, with times and speeds."""
    fine = keys.place_tolerance(playback)
    ways = [keys.place_keys(track, 0, fine) for track in playback.tracks]
    start = np.cumsum([0, *(len(way.time) for way in ways[:-1])])
    speed = [t.speed_at(way.time) for t, way in zip(playback.tracks, ways, strict=True)]
    run = np.array([track.run for track in playback.tracks])
    return Poly(
        np.concatenate([way.value for way in ways]),
        "Lines",
        [k + np.arange(len(way.time)) for k, way in zip(start.tolist(), ways, strict=True)],
        {"time_s": np.concatenate([w.time for w in ways]), "speed_m_per_s": np.concatenate(speed)},
        {"run": run},
    )


def _contacts(tracks: Sequence[Track]) -> Poly:
    """A point for each contact."""
    met = [track.contacts for track in tracks]
    runs = [np.full(len(track.contacts), track.run) for track in tracks]
    place = np.concatenate([m.place for m in met])
    columns = {
        "run": np.concatenate(runs),
        "time_s": np.concatenate([m.time for m in met]),
        "speed_m_per_s": np.concatenate([m.speed for m in met]),
        "force_N": np.concatenate([m.force for m in met]),
        "normal": np.concatenate([m.normal for m in met]),
    }
    return Poly(place, "Verts", np.arange(len(place))[:, None], columns)


def _sites(playback: Playback) -> Poly:
    """A point for each run of a campaign, with its columns."""
    sites = playback.sites
    assert sites is not None
    shown = np.isfinite(sites.place).all(axis=1)
    words = sorted(set(sites.outcome))
    coded = np.array([words.index(word) for word in sites.outcome])
    label = "outcome (" + ", ".join(f"{i} {word}" for i, word in enumerate(words)) + ")"
    columns = {"run": sites.run, label: coded, **sites.columns}
    place = sites.place[shown]
    return Poly(
        place,
        "Verts",
        np.arange(len(place))[:, None],
        {name: np.asarray(values)[shown] for name, values in columns.items()},
    )


def _at(playback: Playback, t: float) -> Poly:
    """All that moves at one time: facets of all parts of all runs, and what bends."""
    points: list[Array] = []
    cells: list[Any] = []
    numbers: dict[str, list[Any]] = {"run": [], "part": [], "speed_m_per_s": []}
    count = 0
    for track in playback.tracks:
        place, turn, bent = track.at([t])
        speed = float(track.speed_at([t])[0]) if t <= track.end else 0.0
        shapes = [
            (place[0, k] + frames.quat_rotate(turn[0, k], part.vertices), part.faces)
            for k, part in enumerate(parts_of(playback, track))
        ]
        if bent is not None and playback.surface is not None:
            shapes.append((bent[0], playback.surface.faces))
        for k, (vertices, faces) in enumerate(shapes):
            points.append(vertices)
            cells.append(np.asarray(faces, np.int64) + count)
            count += len(vertices)
            for name, value in (("run", track.run), ("part", k), ("speed_m_per_s", speed)):
                numbers[name].append(np.full(len(faces), value))
    none = np.zeros((0, 3))
    return Poly(
        np.concatenate(points) if points else none,
        "Polys",
        np.concatenate(cells) if cells else none.astype(np.int64),
        {},
        {name: np.concatenate(values) for name, values in numbers.items() if values},
    )
