"""glTF 2.0, one binary file (``.glb``): the body, rocks, landers that move, their paths.

Numbers of glTF have 32 bits. Places are therefore counted from an origin near where runs end, which
the file states, and there they are right to a hundredth of a millimetre or so. +y is up in glTF: a
node above all others turns the z axis there. Metres and seconds.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.core.checks import Array
from alight.core.errors import InputError
from alight.views.exports import keys
from alight.views.exports.epoch import Epoch
from alight.views.exports.names import one_line
from alight.views.exports.palette import colour_of
from alight.views.exports.spice.ids import parts_of
from alight.views.playback import Part, Playback, Track

_FLOAT, _UINT = 5126, 5125
_VERTICES, _CORNERS = 34962, 34963
_POINTS, _LINES, _TRIANGLES = 0, 3, 4
_KINDS = {1: "SCALAR", 3: "VEC3", 4: "VEC4"}
#: z up to y up.
_UP = [-(0.5**0.5), 0.0, 0.0, 0.5**0.5]
#: Largest file of the format: lengths have 32 bits.
_LARGEST = 2**32 - 1
#: Shapes that a surface that bends goes through.
SHAPES = 48


class _Scene:
    """A glTF file that grows."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0
        self.root: dict[str, Any] = {"asset": {"version": "2.0", "generator": "Alight"}}
        self.known: dict[int, int] = {}

    def add(self, kind: str, item: dict[str, Any]) -> int:
        """Put an item into a list of the file; its number there."""
        listed = self.root.setdefault(kind, [])
        listed.append(item)
        return len(listed) - 1

    def corners(self, faces: npt.ArrayLike) -> int:
        """An accessor of the numbers of vertices."""
        return self.array(np.asarray(faces).reshape(-1), index=True, target=_CORNERS)

    def points(self, values: npt.ArrayLike) -> int:
        """An accessor of places of vertices."""
        return self.array(values, range_too=True, target=_VERTICES)

    def array(
        self,
        values: npt.ArrayLike,
        *,
        index: bool = False,
        range_too: bool = False,
        target: int | None = None,
    ) -> int:
        """An accessor of numbers, 32 bits each; ``target`` says what a graphics card does with
        them."""
        kind = np.uint32 if index else np.float32
        data = np.ascontiguousarray(values, dtype=f"<{np.dtype(kind).str[1:]}")
        view = {"buffer": 0, "byteOffset": self.size, "byteLength": data.nbytes}
        if target is not None:
            view["target"] = target
        raw = data.tobytes()
        self.parts.append(raw)
        self.size += len(raw)
        width = 1 if data.ndim == 1 else data.shape[-1]
        about: dict[str, Any] = {
            "bufferView": self.add("bufferViews", view),
            "componentType": _UINT if index else _FLOAT,
            "count": data.size // width,
            "type": _KINDS[width],
        }
        if range_too:
            rows = data.reshape(-1, width)
            about |= {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()}
        return self.add("accessors", about)

    def written(self) -> bytes:
        """The file."""
        if self.size:
            self.root["buffers"] = [{"byteLength": self.size}]
        text = json.dumps(self.root, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-len(text) % 4)
        total = 12 + 8 + len(text) + (8 + self.size if self.size else 0)
        if total > _LARGEST:
            raise InputError(
                "the scene is larger than 4 GB, which glTF cannot hold: export fewer runs."
            )
        head = struct.pack("<4sII", b"glTF", 2, total)
        pieces = [head, struct.pack("<I4s", len(text), b"JSON"), text]
        if self.size:
            pieces += [struct.pack("<I4s", self.size, b"BIN\x00"), *self.parts]
        return b"".join(pieces)


def write_glb(
    playback: Playback,
    path: Path,
    epoch: Epoch,
    axes: str,
    notes: Sequence[str],
    speed: float = 1.0,
) -> dict[str, float]:
    """Write a scene; how far its straight ways are from the tracks, by what they are of."""
    scene = _Scene()
    still, origin = keys.origin_of(playback, axes)
    below = _surroundings(scene, playback, origin)
    errors = {"place_m": 0.0, "turn_rad": 0.0}
    channels: list[dict[str, Any]] = []
    samplers: list[dict[str, Any]] = []
    move = _Movement(scene, channels, samplers, speed)
    for track in playback.tracks:
        below += _moving(scene, playback, track, origin, move, errors)
    above = scene.add("nodes", {"name": "axes of the body", "children": below})
    if not still:
        _turning(playback, above, move)
    top = scene.add("nodes", {"name": "z up to y up", "rotation": _UP, "children": [above]})
    scene.root["scenes"] = [{"name": one_line(playback.title) or "Alight", "nodes": [top]}]
    scene.root["scene"] = 0
    if channels:
        scene.root["animations"] = [{"name": "runs", "channels": channels, "samplers": samplers}]
    scene.root["asset"]["extras"] = {
        "title": one_line(playback.title),
        "units": "m, s",
        "axes": f"{'fixed in the body' if still else 'inertial; the body turns'}, z up before the "
        "topmost node, which turns it to y up",
        "origin_m": [float(x) for x in origin],
        "epoch_tdb": epoch.text(),
        "seconds_of_a_run_in_a_second": speed,
        "error_of_straight_ways": errors,
        "notes": [one_line(note) for note in notes],
    }
    path.write_bytes(scene.written())
    return errors


class _Movement:
    """The animation of a scene."""

    def __init__(
        self, scene: _Scene, channels: list[Any], samplers: list[Any], speed: float
    ) -> None:
        self._scene, self._channels, self._samplers = scene, channels, samplers
        self._speed = speed

    def add(self, node: int, path: str, time: Array, value: npt.NDArray[Any]) -> None:
        """Let a node move: straight from key to key."""
        stamps = _rising((time / self._speed).astype(np.float32))
        sampler = {
            "input": self._scene.array(stamps, range_too=True),
            "output": self._scene.array(value.reshape(-1) if path == "weights" else value),
            "interpolation": "LINEAR",
        }
        self._samplers.append(sampler)
        target = {"node": node, "path": path}
        self._channels.append({"sampler": len(self._samplers) - 1, "target": target})


def _rising(stamps: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Times as 32 bits hold them, each after the one before: moved by the last bit where needed."""
    rising = np.maximum.accumulate(stamps)
    for i in np.flatnonzero(np.diff(rising) <= 0.0):
        if rising[i + 1] <= rising[i]:
            rising[i + 1] = np.nextafter(rising[i], np.float32(np.inf))
    return rising


# -- shapes ----------------------------------------------------------------------------------------


def _surroundings(scene: _Scene, playback: Playback, origin: Array) -> list[int]:
    """What stands still in the axes of the playback."""
    found = []
    if (mesh := playback.target) is not None:
        shape = _mesh(
            scene, "body", mesh.vertices - origin, mesh.faces, "body", normals=mesh.vertex_normals
        )
        found.append(scene.add("nodes", {"name": "body", "mesh": shape}))
    for part in (playback.terrain, playback.rocks):
        if part is not None and len(part.faces):
            shape = _mesh(scene, part.name, part.vertices - origin, part.faces, part.role)
            found.append(scene.add("nodes", {"name": one_line(part.name), "mesh": shape}))
    if playback.sites is not None and len(playback.sites.run):
        place = playback.sites.place
        shown = place[np.isfinite(place).all(axis=1)] - origin
        if len(shown):
            shape = _primitive(scene, "rest sites", shown, _POINTS, "site")
            found.append(scene.add("nodes", {"name": "rest sites", "mesh": shape}))
    return found


def _mesh(
    scene: _Scene, name: str, vertices: Array, faces: Any, role: str, normals: Any = None,
    colour: Any = None, targets: Any = None,
) -> int:  # fmt: skip
    places = {"POSITION": scene.points(vertices)}
    if normals is not None:
        unit = np.array(normals, np.float32)
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        places["NORMAL"] = scene.array(unit, target=_VERTICES)
    item: dict[str, Any] = {
        "attributes": places,
        "indices": scene.corners(faces),
        "mode": _TRIANGLES,
        "material": _material(scene, role, colour),
    }
    made: dict[str, Any] = {"name": one_line(name), "primitives": [item]}
    if targets is not None:
        item["targets"] = [{"POSITION": scene.points(one)} for one in targets]
        made["weights"] = [0.0] * len(targets)
    return scene.add("meshes", made)


def _primitive(scene: _Scene, name: str, points: Array, mode: int, role: str) -> int:
    places = {"POSITION": scene.points(points)}
    item = {"attributes": places, "mode": mode, "material": _material(scene, role, None)}
    return scene.add("meshes", {"name": one_line(name), "primitives": [item]})


def _material(scene: _Scene, role: str, colour: Any) -> int:
    """One material for each role and colour."""
    red, green, blue = (float(c) for c in (colour or colour_of(role)))
    name = role if colour is None else f"{role} {red:.3f} {green:.3f} {blue:.3f}"
    for i, known in enumerate(scene.root.get("materials", ())):
        if known["name"] == name:
            return i
    linear = [
        ((c + 0.055) / 1.055) ** 2.4 if c > 0.04045 else c / 12.92 for c in (red, green, blue)
    ]
    looks = {"baseColorFactor": [*linear, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.9}
    # Thin things are seen from both sides, and who made a hull may have turned a facet.
    both = role != "body"
    return scene.add(
        "materials", {"name": name, "pbrMetallicRoughness": looks, "doubleSided": both}
    )


# -- what moves ------------------------------------------------------------------------------------


def _moving(
    scene: _Scene,
    playback: Playback,
    track: Track,
    origin: Array,
    move: _Movement,
    errors: dict[str, float],
) -> list[int]:
    """A node for a run: its parts below it, its path, and what bends."""
    fine = keys.place_tolerance(playback)
    nodes = []
    for k, part in enumerate(parts_of(playback, track)):
        place, turn = keys.place_keys(track, k, fine), keys.turn_keys(track, k)
        errors["place_m"] = max(errors["place_m"], place.error)
        errors["turn_rad"] = max(errors["turn_rad"], turn.error)
        about: dict[str, Any] = {
            "name": one_line(f"run {track.run}: {part.name or part.role}"),
            "translation": (place.value[0] - origin).tolist(),
            "rotation": _unit(turn.value[:1])[0].tolist(),
        }
        if len(part.faces):
            about["mesh"] = _part_mesh(scene, part)
        node = scene.add("nodes", about)
        nodes.append(node)
        move.add(node, "translation", place.time, place.value - origin)
        move.add(node, "rotation", turn.time, _unit(turn.value))
        if k == 0 and len(place.time) > 1:
            way = _primitive(scene, f"run {track.run}: path", place.value - origin, _LINES, "path")
            nodes.append(scene.add("nodes", {"name": f"run {track.run}: path", "mesh": way}))
    if track.surface is not None and playback.surface is not None:
        nodes.append(_bending(scene, playback, track, origin, move))
    return [
        scene.add(
            "nodes", {"name": f"run {track.run}, {one_line(track.outcome)}", "children": nodes}
        )
    ]


def _unit(q: Array) -> npt.NDArray[np.float32]:
    """Quaternions of length 1 as 32 bits hold them."""
    short = np.asarray(q, np.float32)
    return np.asarray(short / np.linalg.norm(short, axis=1, keepdims=True), np.float32)


def _part_mesh(scene: _Scene, part: Part) -> int:
    """The mesh of a part, once however many runs have it."""
    if id(part) not in scene.known:
        scene.known[id(part)] = _mesh(
            scene, part.name or part.role, part.vertices, part.faces, part.role, colour=part.colour
        )
    return scene.known[id(part)]


def _bending(
    scene: _Scene, playback: Playback, track: Track, origin: Array, move: _Movement
) -> int:
    """A surface that bends: shapes that it goes through, each fading into the next."""
    time = np.linspace(track.time[0], track.time[-1], SHAPES)
    shape = track.at(time)[2]
    surface = playback.surface
    assert shape is not None
    assert surface is not None
    first = shape[0]
    mesh = _mesh(
        scene, surface.name, first - origin, surface.faces, surface.role, targets=shape[1:] - first
    )
    node = scene.add("nodes", {"name": one_line(surface.name), "mesh": mesh})
    weights = np.eye(SHAPES)[:, 1:]
    move.add(node, "weights", time, weights)
    return node


def _turning(playback: Playback, node: int, move: _Movement) -> None:
    """Let the body turn, with all that is on it."""
    time, value = keys.body_keys(playback)
    move.add(node, "rotation", time, _unit(value))
