"""Arrays as bytes that compress well, and the container that a page carries.

Numbers are rounded to whole multiples of a step, each column stored as its differences; these are
folded to numbers from 0 up (0, -1, 1, -2, ... as 0, 1, 2, 3) and stored plane by plane: first all
lowest bytes, then the next. Differences of smooth motion are small, so that the higher planes are
zeros, of which deflate leaves nothing.

The container is a length, a header in JSON, then the planes; deflated and in base64 it is text that
cannot end a script or begin a tag, whatever names the header holds.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.core.checks import Array
from alight.core.errors import InputError

#: Whole numbers that are stored stay below this.
MOST = 2**31 - 1
#: How hard deflate tries: 6 is within 2 % of 9 in a third of the time.
LEVEL = 6


class Container:
    """Named arrays under way to a page."""

    def __init__(self) -> None:
        self.header: dict[str, Any] = {}
        self._arrays: dict[str, dict[str, Any]] = {}
        self._parts: list[bytes] = []
        self._size = 0

    def put(self, name: str, values: npt.ArrayLike, step: float) -> float:
        """Store (n,) or (n, w) numbers to multiples of ``step``; the largest error made."""
        table = np.asarray(values, np.float64)
        table = table.reshape(len(table), -1)
        base = table.min(axis=0) if len(table) else np.zeros(table.shape[1])
        whole = np.rint((table - base) / step)
        if whole.size and whole.max() > MOST:
            raise InputError(f"{name} spans {np.ptp(table):g}, too much for steps of {step:g}.")
        self._store(name, whole.astype(np.int64), {"q": step, "b": base.tolist()})
        return float(np.abs(whole * step + base - table).max(initial=0.0))

    def whole(self, name: str, values: npt.ArrayLike) -> None:
        """Store (n,) or (n, w) whole numbers."""
        table = np.asarray(values, np.int64)
        self._store(name, table.reshape(len(table), -1), {})

    def floats(self, name: str, values: npt.ArrayLike) -> None:
        """Store (n,) numbers in single precision, NaN as it is."""
        data = np.asarray(values, "<f4").ravel()
        planes = data.view(np.uint8).reshape(-1, 4).T
        self._add(name, {"n": len(data), "f": 1}, np.ascontiguousarray(planes).tobytes())

    def _store(self, name: str, table: npt.NDArray[np.int64], more: dict[str, Any]) -> None:
        rows, width = table.shape
        change = np.diff(table, axis=0, prepend=np.zeros((1, width), np.int64)).T.ravel()
        folded = np.where(change < 0, -2 * change - 1, 2 * change).astype("<u4")
        planes = folded.view(np.uint8).reshape(-1, 4).T
        count = max(1, int(np.flatnonzero(planes.any(axis=1)).max(initial=0)) + 1)
        about = {"n": rows, "w": width, "k": count, **more}
        self._add(name, about, np.ascontiguousarray(planes[:count]).tobytes())

    def _add(self, name: str, about: dict[str, Any], data: bytes) -> None:
        self._arrays[name] = {"o": self._size, **about}
        self._parts.append(data)
        self._size += len(data)

    def text(self) -> str:
        """All of it, deflated, in base64."""
        told = json.dumps({**self.header, "arrays": self._arrays}, allow_nan=False)
        head = told.encode("utf-8")
        data = b"".join([struct.pack("<I", len(head)), head, *self._parts])
        return base64.b64encode(zlib.compress(data, LEVEL)).decode("ascii")


def opened(text: str) -> tuple[dict[str, Any], dict[str, Array]]:
    """Header and arrays of a container, as the page reads them."""
    data = zlib.decompress(base64.b64decode(text))
    (size,) = struct.unpack("<I", data[:4])
    header = json.loads(data[4 : 4 + size])
    body = np.frombuffer(data, np.uint8, offset=4 + size)
    return header, {name: _read(body, about) for name, about in header["arrays"].items()}


def _read(body: Any, about: dict[str, Any]) -> Array:
    at, rows = about["o"], about["n"]
    if "f" in about:
        planes = body[at : at + 4 * rows].reshape(4, rows).T
        return np.ascontiguousarray(planes).view("<f4").ravel().astype(np.float64)
    width, count = about["w"], about["k"]
    planes = body[at : at + count * rows * width].reshape(count, -1).astype(np.int64)
    folded = (planes << (8 * np.arange(count))[:, None]).sum(axis=0)
    change = np.where(folded & 1, -(folded + 1) // 2, folded // 2).reshape(width, rows)
    table = np.cumsum(change, axis=1).T
    if "q" not in about:
        return table.astype(np.float64)
    return table * about["q"] + np.asarray(about["b"])
