"""The shape of a membrane from Python: ``hull``."""

import functools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices, frames
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.core.types import quat, vec3
from alight.core.warp_setup import POINT_OPTIONS
from alight.membrane.captive import Captive
from alight.membrane.captives import Captives
from alight.membrane.geometry import (
    CaptiveData,
    Hang,
    hull_memory,
)
from alight.membrane.hang_plane import hang_plane
from alight.membrane.hang_solid import hang_solid
from alight.membrane.memory import HullMemory, vectors
from alight.membrane.ring import Ring, RingData

UPRIGHT = (0.0, 0.0, 0.0, 1.0)


class Hull(NamedTuple):
    """A membrane under one body."""

    area: float
    """Of the membrane alone [m^2]; its length in 2D [m]."""
    volume: float
    """Between the suspension plane and the membrane [m^3]; the area there in 2D [m^2]."""
    triangles: npt.NDArray[np.int32]
    """(n, 3) corners, in 2D (n, 2) ends: below ``vertices`` of the body, from there suspension
    points."""
    points: Array
    """(V + k, 3) vertices of the body's hull and suspension points, in the carrier's axes [m]."""
    vertices: int
    """V, the number of vertices of the body's hull."""
    below: int
    """Vertices of the body's hull below the suspension plane."""
    rim: int
    """Edges of the body that pass through the plane outside the polygon; the membrane is that of
    paper 003 where there are none."""

    @property
    def touching(self) -> npt.NDArray[np.int64]:
        """The vertices of the body that the membrane touches."""
        used = np.unique(self.triangles)
        return np.asarray(used[used < self.vertices], dtype=np.int64)


def hull(
    body: Captive | npt.ArrayLike,
    suspension: Ring | npt.ArrayLike,
    position: npt.ArrayLike = (0.0, 0.0, 0.0),
    attitude: npt.ArrayLike = UPRIGHT,
    *,
    device: str = "auto",
) -> Any:
    """The membrane under ``body``, a ``Captive`` or vertices (n, 3) or (n, 2) [m].

    ``position`` (..., 3) [m] and ``attitude`` (..., 4) of the body in the axes in which the
    suspension points are given. Returns a ``Hull``, or a list of them for several poses. In 2D
    positions are (x, 0, z) and attitudes turn about y.
    """
    ring = suspension if isinstance(suspension, Ring) else Ring(suspension)
    captive = body if isinstance(body, Captive) else _weightless(body)
    require_same_kind(ring, captive)
    x, q = np.atleast_2d(np.asarray(position, float)), np.atleast_2d(np.asarray(attitude, float))
    count = max(len(x), len(q))
    target = devices.resolve(device)
    data, around = captive.kernel_data(target), ring.data(target)
    memory = hull_memory(data, around, count, target)
    out = wp.zeros(count, dtype=Hang, device=target.name)
    x_in = wp.array(np.broadcast_to(x, (count, 3)), dtype=vec3, device=target.name)
    q_in = wp.array(np.broadcast_to(q, (count, 4)), dtype=quat, device=target.name)
    kernel = _hull_kernel(hang_function(ring.planar))
    devices.launch(kernel, count, [around, data, x_in, q_in, memory], target, outputs=[out])
    shapes = _shapes(ring, captive, memory, out.numpy())
    single = np.ndim(position) == 1 and np.ndim(attitude) == 1
    return shapes[0] if single else shapes


def hang_function(planar: bool) -> Any:
    """The kernel function of the shape."""
    return hang_plane if planar else hang_solid


def require_same_kind(ring: Ring, captive: Captive | Captives) -> None:
    """An error where one is in 2D and the other is not."""
    if ring.planar != captive.planar:
        words = {True: "in 2D", False: "in 3D"}
        raise InputError(
            f"the suspension points are {words[ring.planar]} and the body is "
            f"{words[captive.planar]}; give both as (n, 2) or both as (n, 3)"
        )


def _weightless(points: npt.ArrayLike) -> Captive:
    planar = np.asarray(points).shape[-1:] == (2,)
    return Captive(1.0, np.asarray(1.0) if planar else np.eye(3), np.asarray(points))


def _shapes(ring: Ring, captive: Captive, memory: HullMemory, found: Any) -> list[Hull]:
    """A ``Hull`` for each slot."""
    corners, place = vectors(memory.triangles), vectors(memory.place)
    vertices, ends = place.shape[0], 2 if ring.planar else 3
    out = []
    for slot, row in enumerate(found):
        points = np.concatenate([place[:, slot], ring.points])
        triangles = corners[: row["triangles"], slot, :ends]
        volume = _volume(points, triangles)
        world = points @ ring.R.T + ring.origin
        counts = (vertices, int(row["below"]), int(row["rim"]))
        out.append(Hull(float(row["area"]), volume, triangles, world, *counts))
    return out


def _volume(points: Array, triangles: npt.NDArray[np.int32]) -> float:
    """Between the membrane and z = 0; cones from the origin of M, which is in that plane."""
    if not len(triangles):
        return 0.0
    corner = points[triangles]
    if triangles.shape[1] == 2:
        a, b = corner[:, 0, [0, 2]], corner[:, 1, [0, 2]]
        return float(0.5 * np.abs(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum())
    return float(np.abs(np.linalg.det(corner)).sum() / 6.0)


@functools.cache
def _hull_kernel(hang: Any) -> Any:
    """A kernel that finds one membrane a thread, the carrier at the origin."""

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def find_hull(
        offset: int,
        ring: RingData,
        captive: CaptiveData,
        x: wp.array(dtype=vec3),
        q: wp.array(dtype=quat),
        memory: HullMemory,
        hang_out: wp.array(dtype=Hang),
    ) -> None:
        slot = wp.tid() + offset
        R = wp.transpose(ring.R) * wp.quat_to_matrix(wp.normalize(q[slot]))
        place = wp.transpose(ring.R) * (x[slot] - ring.origin)
        hang_out[slot] = hang(ring, captive, place, R, memory, slot)

    return find_hull


def in_ring_axes(ring: Ring, position: npt.ArrayLike, attitude: npt.ArrayLike) -> tuple[Any, Any]:
    """Places (..., 3) and rotations (..., 3, 3) of bodies in M, on the host."""
    x = (np.asarray(position, float) - ring.origin) @ ring.R
    return x, ring.R.T @ frames.quat_to_matrix(frames.quat_normalize(attitude))
