"""What is in a picture: parts (meshes with colours) and things, which are parts at poses.

A scene is made once and moved from picture to picture. It lives on the device that draws it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices, frames
from alight.shapes.mesh import Mesh
from alight.views.render import tracing

Array = npt.NDArray[np.float64]

#: Reflectance of what is drawn without colours: a warm grey, linear light.
GREY = np.array([0.52, 0.50, 0.475])

#: Weight of Lommel and Seeliger's law on regolith; what is made of metal or foil has none.
REGOLITH = 0.35

#: Shadow rays begin above the ground by this part of the scene's size.
LIFT = 2e-6


@dataclass(frozen=True, eq=False)
class Part:
    """A mesh and how it looks."""

    mesh: Mesh
    colours: Array | None = None
    """(n, 3) reflectance of vertices, linear light; grey if not given."""
    sky: Array | None = None
    """(n,) open part of the sky over vertices; all of it if not given."""
    lunar: float = REGOLITH
    """Weight of Lommel and Seeliger's law against Lambert's, 0 to 1."""
    grain: float = 0.0
    """Slopes of a fine roughness that is drawn for scale, and casts no shadow; it is no part of
    what was simulated."""


@dataclass(frozen=True, eq=False)
class Thing:
    """A part at a pose."""

    part: int
    place: npt.ArrayLike = (0.0, 0.0, 0.0)
    """Of the part's origin [m]."""
    attitude: npt.ArrayLike = (0.0, 0.0, 0.0, 1.0)
    """xyzw, from axes of the part to those of the scene."""
    tint: npt.ArrayLike = (1.0, 1.0, 1.0)
    """Factors of its colours."""


@dataclass(frozen=True, eq=False)
class Hole:
    """Where a thing is not there: inside a box."""

    thing: int
    middle: Array
    axes: Array
    """(3, 3) rows."""
    half: Array
    """(3,) of its sides [m]."""


class Scene:
    """Parts and things on a device, ready for rays."""

    def __init__(
        self,
        parts: Sequence[Part],
        things: Sequence[Thing],
        device: devices.Device,
        origin: npt.ArrayLike = (0.0, 0.0, 0.0),
        hole: Hole | None = None,
    ) -> None:
        """Take parts to the device.

        Args:
            parts: What things are made of.
            things: What is seen first; ``move`` replaces them.
            device: Where rays are traced.
            origin: A point near what is looked at closely [m]: there arithmetic is finest.
            hole: Where a thing is not there, as another one stands for it.
        """
        self.device, self.origin = device, np.asarray(origin, dtype=np.float64)
        # Parts are kept about their middles, so that single precision serves far from an origin.
        boxes = [(p.mesh.vertices.min(axis=0), p.mesh.vertices.max(axis=0)) for p in parts]
        self._home = [0.5 * (low + high) for low, high in boxes]
        self._half = [0.5 * (high - low) for low, high in boxes]
        counts = np.cumsum([0, *(p.mesh.n_vertices for p in parts)])
        faces = np.concatenate([p.mesh.faces + k for p, k in zip(parts, counts, strict=False)])
        self._own = self._array(np.concatenate([_colours(p) for p in parts]), wp.vec3)
        self.world = tracing.World()
        self._surfaces = [
            (p.mesh.vertices - home, p.mesh.vertex_normals)
            for p, home in zip(parts, self._home, strict=True)
        ]
        self._meshes = [
            self._mesh(vertices, p.mesh.faces)
            for (vertices, _), p in zip(self._surfaces, parts, strict=True)
        ]
        self.world.mesh = self._array([m.id for m in self._meshes], wp.uint64)
        first = np.cumsum([0, *(p.mesh.n_faces for p in parts)])[:-1]
        self.world.first = self._array(first, wp.int32)
        self.world.lunar = self._array([p.lunar for p in parts], wp.float32)
        self.world.corner = self._array(faces, wp.vec3i)
        self.world.sky = self._array(np.concatenate([_sky(p) for p in parts]), wp.float32)
        self.grainy = any(p.grain > 0.0 for p in parts)
        self.world.grain = self._array([p.grain for p in parts], wp.float32)
        self._take_surfaces()
        self._take_hole(hole)
        self.move(things)

    def move(self, things: Sequence[Thing]) -> None:
        """Put things where they are now."""
        self.things = list(things)
        turn = np.stack([np.asarray(t.attitude, dtype=np.float64) for t in things])
        part = [t.part for t in things]
        home = frames.quat_rotate(turn, np.stack([self._home[k] for k in part]))
        place = np.stack([np.asarray(t.place, dtype=np.float64) for t in things])
        place = place + home - self.origin
        reach = _boxes(turn, np.stack([self._half[k] for k in part]))
        low, high = place - reach, place + reach
        self.size = float(np.linalg.norm(np.max(high, axis=0) - np.min(low, axis=0)))
        margin = 1e-5 * self.size  # boxes of flat parts have a thickness, too
        self.world.part = self._array(part, wp.int32)
        self.world.place = self._array(place, wp.vec3)
        self.world.turn = self._array(turn, wp.quat)
        self.world.lift = LIFT * self.size
        self.tints = self._array(np.array([t.tint for t in things]), wp.vec3)
        boxes = [self._array(x, wp.vec3) for x in (low - margin, high + margin)]
        self._tree = wp.Bvh(*boxes)
        self.world.tree = self._tree.id

    def deform(self, part: int, mesh: Mesh) -> None:
        """Give a part other vertices; facets stay. Things are placed again by ``move``."""
        about = mesh.vertices - self._home[part]
        self._surfaces[part] = (about, mesh.vertex_normals)
        self._half[part] = np.abs(about).max(axis=0)
        self._meshes[part].points.assign(np.ascontiguousarray(about, dtype=np.float32))
        self._meshes[part].refit()
        self._take_surfaces()

    def array_of_colours(self, colours: Array | None = None) -> wp.array:
        """Reflectances of all vertices on the device."""
        return self._own if colours is None else self._array(colours, wp.vec3)

    def _take_surfaces(self) -> None:
        vertex, normal = (np.concatenate(x) for x in zip(*self._surfaces, strict=True))
        self.world.vertex = self._array(vertex, wp.vec3)
        self.world.normal = self._array(normal, wp.vec3)

    def _take_hole(self, hole: Hole | None) -> None:
        self.world.hole = -1
        if hole is not None:
            self.world.hole = hole.thing
            self.world.middle = wp.vec3(*(hole.middle - self.origin))
            self.world.prism = wp.mat33(*(hole.axes / hole.half[:, None]).ravel())

    def _mesh(self, vertices: Array, faces: Any) -> wp.Mesh:
        points = self._array(vertices, wp.vec3)
        return wp.Mesh(points, self._array(np.ravel(faces), wp.int32))

    def _array(self, values: npt.ArrayLike, kind: Any) -> wp.array:
        return devices.array(_single(values), kind, self.device)


def _boxes(turn: Array, half: Array) -> Array:
    """(n, 3) half the sides of boxes about boxes that are turned: |R| h."""
    rows = np.abs([frames.quat_rotate(turn, np.eye(3)[k]) for k in range(3)])
    return np.asarray(np.einsum("kni,nk->ni", rows, half))


def _single(values: npt.ArrayLike) -> npt.NDArray[Any]:
    """Values as kernels have them: single precision."""
    given = np.asarray(values)
    return given.astype(np.float32) if given.dtype == np.float64 else given


def _colours(part: Part) -> Array:
    if part.colours is None:
        return np.broadcast_to(GREY, (part.mesh.n_vertices, 3))
    return np.asarray(part.colours, dtype=np.float64)


def _sky(part: Part) -> Array:
    return np.ones(part.mesh.n_vertices) if part.sky is None else part.sky
