"""glTF 2.0, ``.glb`` or ``.gltf``: all triangles of the scene, placed by its nodes.

glTF is y up; meshes here are z up: (x, y, z) there is (x, -z, y) here. As in STL vertices may be
repeated in each facet, so those with equal coordinates are made one. Data in other files is read
from the folder of the ``.gltf`` alone; nothing is fetched, and compressed meshes are refused.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import struct
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from alight.core.errors import FileError
from alight.core.files import MOST_BYTES, read_bounded
from alight.shapes.integrity.arrays import FloatArray
from alight.shapes.integrity.topology import weld_equal
from alight.shapes.readers.raw import RawMesh
from alight.shapes.readers.text import read_bytes

_TYPES = {5120: "i1", 5121: "u1", 5122: "i2", 5123: "u2", 5125: "u4", 5126: "f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
_TRIANGLES = 4
#: Nodes below each other, at most, and nodes that are walked through.
_DEEPEST, _MOST_NODES = 64, 100_000
#: Vertices that a scene may come to with all copies of its meshes.
_MOST_VERTICES = 30_000_000
_Z_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


def read_gltf(path: Path) -> RawMesh:
    """Read a glTF file; metres are usual in it, and the unit is stated by who reads it."""
    file = _File(path)
    vertices, faces = file.scene()
    if not len(faces):
        raise FileError(f'"{path}" holds no triangles.')
    points, corners = weld_equal(vertices @ _Z_UP.T, faces)
    return RawMesh(points, corners.astype(np.int64))


class _File:
    """One file, and the buffers that it names."""

    def __init__(self, path: Path) -> None:
        self.path = path
        data = read_bytes(path)
        binary = data[:4] == b"glTF"
        text, self.inner = self._chunks(data) if binary else (data, None)
        try:
            root = json.loads(text)
        except (ValueError, RecursionError) as cause:
            self.refuse(f"its JSON cannot be read ({cause})")
        if not isinstance(root, dict) or not str(_dict(root, "asset").get("version")).startswith(
            "2"
        ):
            self.refuse("it is no glTF 2.0 file: its asset states no version 2")
        self.root = root
        for name in root.get("extensionsRequired") or ():
            self.refuse(f"it needs the extension {str(name)[:60]!r}; save it without compression")
        self.buffers: dict[int, bytes] = {}
        self.count = self.nodes = 0

    def refuse(self, why: str, offset: int | None = None) -> NoReturn:
        """An error that names the file, and the byte where one is at fault."""
        where = "" if offset is None else f", byte {offset}"
        raise FileError(f'"{self.path}"{where}: {why}.')

    def _chunks(self, data: bytes) -> tuple[bytes, bytes | None]:
        """The text of a ``.glb`` and its binary part."""
        if len(data) < 20:
            self.refuse("it is cut short: a header of 20 bytes is needed", len(data))
        _, version, total = struct.unpack_from("<4sII", data)
        if version != 2 or total > len(data):
            self.refuse(
                f"its header states version {version} and {total} bytes; version 2 and at most the "
                f"{len(data)} bytes that are there can be read",
                4,
            )
        at = 12
        found: dict[bytes, bytes] = {}
        while at + 8 <= total:
            size, kind = struct.unpack_from("<I4s", data, at)
            if at + 8 + size > total:
                self.refuse(f"a part of {size} bytes goes beyond the end of the file", at)
            found.setdefault(kind, data[at + 8 : at + 8 + size])
            at += 8 + size + (-size % 4)
        if b"JSON" not in found:
            self.refuse("it has no part with JSON", 12)
        return found[b"JSON"], found.get(b"BIN\0")

    def item(self, kind: str, number: Any) -> dict[str, Any]:
        """An entry of a list of the file."""
        listed = self.root.get(kind)
        found = None
        if isinstance(listed, list) and _is_index(number) and number < len(listed):
            found = listed[number]
        if not isinstance(found, dict):
            self.refuse(f"it refers to entry {str(number)[:20]} of {kind!r}, which is not there")
        return found

    # -- numbers -----------------------------------------------------------------------------------

    def buffer(self, number: Any) -> bytes:
        """The bytes of a buffer: inside, as text, or in a file beside."""
        if number not in self.buffers:
            uri = self.item("buffers", number).get("uri")
            self.buffers[number] = self._bytes(uri, number)
        return self.buffers[number]

    def _bytes(self, uri: Any, number: int) -> bytes:
        if uri is None:
            if self.inner is None or number != 0:
                self.refuse(f"buffer {number} has no data")
            return self.inner
        if not isinstance(uri, str):
            self.refuse(f"buffer {number} names no file")
        if uri.startswith("data:"):
            try:
                return base64.b64decode(uri.partition(",")[2], validate=True)
            except (ValueError, binascii.Error):
                self.refuse(f"buffer {number} is no base64 text")
        name = unquote(uri)
        if name != Path(name).name or name in ("", ".", "..") or ":" in name or "\\" in name:
            self.refuse(
                f"buffer {number} is in {uri[:60]!r}; only files in its own folder are read"
            )
        return read_bounded(self.path.parent / name, MOST_BYTES, "the buffer")

    def numbers(self, number: Any, width: int) -> npt.NDArray[Any]:
        """The values of an accessor, (n, width)."""
        about = self.item("accessors", number)
        kind, count = _TYPES.get(about.get("componentType", 0)), about.get("count", -1)
        if kind is None or _WIDTHS.get(str(about.get("type"))) != width or not _is_index(count):
            self.refuse(f"accessor {number} has another type than a mesh needs")
        if "sparse" in about or "bufferView" not in about:
            self.refuse(f"accessor {number} is sparse or has no data; save the mesh without that")
        view = self.item("bufferViews", about["bufferView"])
        data, size = self.buffer(view.get("buffer")), np.dtype(f"<{kind}").itemsize * width
        start, stride = view.get("byteOffset", 0), view.get("byteStride") or size
        first = about.get("byteOffset", 0)
        if not all(map(_is_index, (start, first, stride))) or stride < size:
            self.refuse(f"accessor {number} has offsets that are no whole numbers, or too small")
        at = start + first
        if count and at + (count - 1) * stride + size > len(data):
            self.refuse(
                f"accessor {number} wants {count} entries from byte {at} of a buffer of "
                f"{len(data)} bytes"
            )
        raw = np.lib.stride_tricks.as_strided(
            np.frombuffer(data, np.uint8)[at:], (count, size), (stride, 1)
        )
        found = np.ascontiguousarray(raw).view(f"<{kind}").reshape(count, width)
        return _normalised(found) if about.get("normalized") else found

    # -- the scene ---------------------------------------------------------------------------------

    def scene(self) -> tuple[FloatArray, npt.NDArray[np.int32]]:
        """Vertices and triangles of the scene that is shown, y up."""
        number = self.root.get("scene", 0)
        if self.root.get("scenes"):
            tops = _list(self.item("scenes", number), "nodes")
        else:
            tops = list(range(len(_list(self.root, "nodes"))))
        parts: list[tuple[FloatArray, Any]] = []
        for top in tops:
            self._walk(top, np.eye(4), 0, parts)
        points = [np.zeros((0, 3)), *(p for p, _ in parts)]
        start = np.cumsum([0, *(len(p) for p, _ in parts)])
        faces = [f + k for (_, f), k in zip(parts, start[:-1].tolist(), strict=True)]
        none = np.zeros((0, 3), np.int64)
        return np.concatenate(points), np.concatenate([none, *faces]).astype(np.int32)

    def _walk(self, number: Any, above: FloatArray, depth: int, parts: list[Any]) -> None:
        node = self.item("nodes", number)
        self.nodes += 1
        if depth > _DEEPEST or self.nodes > _MOST_NODES:
            self.refuse("its nodes are nested too deep, or in a ring")
        place = above @ self._placed(node, number)
        if "mesh" in node:
            for piece in _list(self.item("meshes", node["mesh"]), "primitives"):
                if isinstance(piece, dict) and piece.get("mode", _TRIANGLES) == _TRIANGLES:
                    parts.append(self._triangles(piece, place))
        for child in _list(node, "children"):
            self._walk(child, place, depth + 1, parts)

    def _triangles(self, piece: dict[str, Any], place: FloatArray) -> tuple[FloatArray, Any]:
        points = self.numbers(_dict(piece, "attributes").get("POSITION"), 3).astype(np.float64)
        self.count += len(points)
        if self.count > _MOST_VERTICES:
            self.refuse(f"its scene has more than {_MOST_VERTICES} vertices")
        if "indices" in piece:
            corners = self.numbers(piece["indices"], 1).reshape(-1).astype(np.int64)
        else:
            corners = np.arange(len(points))
        if len(corners) % 3 or (len(corners) and corners.max() >= len(points)):
            self.refuse(
                f"a mesh has {len(corners)} corners of triangles over {len(points)} vertices"
            )
        faces = corners.reshape(-1, 3)
        if np.linalg.det(place[:3, :3]) < 0.0:
            faces = faces[:, ::-1]
        return points @ place[:3, :3].T + place[:3, 3], faces

    def _placed(self, node: dict[str, Any], number: Any) -> FloatArray:
        """The matrix of a node."""
        from alight.core.frames import quat_normalize, quat_to_matrix  # which load Warp

        found = np.eye(4)
        if "matrix" in node:
            return self._values(node["matrix"], 16, number).reshape(4, 4).T
        turn = self._values(node.get("rotation", (0, 0, 0, 1)), 4, number)
        size = self._values(node.get("scale", (1, 1, 1)), 3, number)
        if not np.linalg.norm(turn) > 0.0:
            self.refuse(f"the rotation of node {number} is all zeros")
        found[:3, :3] = quat_to_matrix(quat_normalize(turn)) * size
        found[:3, 3] = self._values(node.get("translation", (0, 0, 0)), 3, number)
        return found

    def _values(self, given: Any, count: int, number: Any) -> FloatArray:
        good = isinstance(given, list | tuple) and len(given) == count
        if not good or not all(isinstance(x, int | float) and math.isfinite(x) for x in given):
            self.refuse(f"node {number} has {count} numbers that are none")
        return np.array(given, dtype=np.float64)


def _normalised(found: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Whole numbers that stand for 0 to 1, or -1 to 1."""
    if found.dtype.kind == "f":
        return found
    return np.maximum(found / float(np.iinfo(found.dtype).max), -1.0)


def _is_index(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _dict(table: dict[str, Any], key: str) -> dict[str, Any]:
    found = table.get(key)
    return found if isinstance(found, dict) else {}


def _list(table: dict[str, Any], key: str) -> list[Any]:
    found = table.get(key)
    return found if isinstance(found, list) else []
