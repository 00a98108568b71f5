"""Pictures of a capture: asteroid, fabric and craft in a parallel projection, sorted by depth."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection

from alight.analysis.columns import Array
from alight.core import frames
from alight.shapes.mesh import Mesh
from alight.views import style

STONE, FABRIC, BUS, ARRAY = (
    np.array(rgb)
    for rgb in ((0.66, 0.60, 0.53), (0.24, 0.47, 0.66), (0.80, 0.81, 0.83), (0.17, 0.25, 0.44))
)

#: Slices of depth in which lines and triangles are drawn, and pieces that a line is cut into: so
#: that lines pass behind and before what they should.
LAYERS, PIECES = 14, 12

#: From the middle of a picture to its top, over that to its bottom: there is its title.
ABOVE = 1.25


@dataclass(frozen=True, eq=False)
class Look:
    """What is seen of a capture; the craft's axes: z toward the membrane, x along the booms."""

    asteroid: Mesh
    """About its centre of mass, body axes [m]."""
    width: float
    """Of the hexagonal bus, across flats [m]."""
    height: float
    """Of the bus [m]."""
    boom: float
    """From the bus to the rim of an array [m]."""
    array_radius: float
    """[m]"""
    ring: Array
    """(n, 3) points that the membrane hangs from, craft axes [m]."""
    fabric: Callable[[Array, Array], Any]
    """Place (3,) and attitude (4,) of the asteroid in craft axes to the hull of the fabric, with
    ``points``, ``triangles``, and ``below``: whether the asteroid presses into it."""

    @classmethod
    def of(cls, asteroid: Any, craft: Any, hull: Callable[..., Any]) -> Look:
        """A ``Captive`` and a ``Spacecraft`` as they look; ``hull`` is that of ``alight.membrane``.

        All three are given, since what draws imports no physics.
        """
        ring = craft.membrane().ring

        def fabric(place: Array, attitude: Array) -> Any:
            return hull(asteroid, ring, place, attitude, device="cpu")

        sizes = craft.width, craft.height, craft.boom, craft.array_radius
        return cls(asteroid.mesh, *sizes, ring.suspension, fabric)


@dataclass(frozen=True, eq=False)
class Poses:
    """Where asteroid and craft are at k times, inertial axes."""

    time: Array
    """(k,) [s]"""
    asteroid: Array
    """(k, 3) [m]"""
    asteroid_attitude: Array
    """(k, 4)"""
    craft: Array
    """(k, 3) the bus's middle [m]"""
    craft_attitude: Array
    """(k, 4)"""
    arrays: Array
    """(k, 2, 4) turn of each array against the bus, about its hinge"""

    def at(self, times: npt.ArrayLike) -> Poses:
        """The records that are nearest to ``times`` [s]."""
        k = [
            int(np.abs(self.time - t).argmin())
            for t in np.atleast_1d(np.asarray(times, dtype=np.float64))
        ]
        return Poses(*(getattr(self, item.name)[k] for item in fields(self)))


class View:
    """Parallel projection: ``up`` stands in the picture, seen from a little above."""

    def __init__(self, up: Array, turn: float = 0.0, above: float = 0.22) -> None:
        up = up / np.linalg.norm(up)
        side = np.cross(up, (0.31, 0.77, -0.55))
        side /= np.linalg.norm(side)
        right = np.cos(turn) * side + np.sin(turn) * np.cross(side, up)
        self.toward = np.cos(above) * np.cross(right, up) + np.sin(above) * up
        self.axes = np.stack([right, np.cross(self.toward, right), self.toward])
        self.sun = self.axes.T @ np.array([-0.55, 0.62, 0.56])

    def __call__(self, points: Array) -> Array:
        """Right, up, and toward the viewer."""
        return points @ self.axes.T


def approach_view(poses: Poses) -> View:
    """The craft comes from above."""
    return View(-frames.quat_rotate(poses.craft_attitude[0], (0.0, 0.0, 1.0)), turn=0.5)


# -- solids -----------------------------------------------------------------------------------


def coloured(
    corners: Array, colour: Array, view: View, alpha: float = 1.0, ambient: float = 0.30
) -> Array:
    """(n, 4) colours of triangles in the Sun, whichever side is seen."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-12)[:, None]
    facing = np.sign(normal @ view.toward)
    light = ambient + (1.0 - ambient) * np.clip(facing * (normal @ view.sun), 0.0, 1.0)
    shade = np.clip(light[:, None] * colour * 1.22, 0.0, 1.0)
    return np.column_stack([shade, np.full(len(shade), alpha)])


def fan(ring: Array) -> Array:
    """Triangles of a flat polygon (n, 3)."""
    middle = np.broadcast_to(ring.mean(axis=0), ring.shape)
    return np.stack([middle, ring, np.roll(ring, -1, axis=0)], axis=1)


def _between(a: Array, b: Array) -> list[Array]:
    """Triangles between two closed lines of as many points."""
    c, d = np.roll(a, -1, axis=0), np.roll(b, -1, axis=0)
    return [np.stack([a, c, d], axis=1), np.stack([a, d, b], axis=1)]


def bus_triangles(look: Look) -> Array:
    """A hexagonal prism in craft axes, cut into slices that can be sorted."""
    angle = np.radians(30.0 + 60.0 * np.arange(6))
    ring = look.width / np.sqrt(3.0) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    levels = [np.column_stack([ring, np.full(6, z)]) for z in np.linspace(-0.5, 0.5, 7)]
    levels = [level * (1.0, 1.0, look.height) for level in levels]
    sides = [part for low, high in itertools.pairwise(levels) for part in _between(low, high)]
    return np.concatenate([*sides, fan(levels[0]), fan(levels[-1])])


def array_triangles(look: Look, sign: float) -> Array:
    """A disc about its hinge, in the array's axes, in rings."""
    angle = np.linspace(0.0, 2.0 * np.pi, 25)[:-1]
    circle = look.array_radius * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    middle = np.array([sign * (look.boom + look.array_radius), 0.0, 0.0])
    rings = [middle + 0.5 * circle, middle + circle]
    return np.concatenate([fan(rings[0]), *_between(*rings)])


def rods(look: Look) -> Array:
    """(n, 2, 3) struts and rim of the membrane, craft axes."""
    ring = look.ring
    foot = np.array([0.0, 0.0, 0.5 * look.height]) + ring * np.array([0.2, 0.2, 0.0])
    struts = np.stack([foot, ring], axis=1)
    return np.concatenate([struts, np.stack([ring, np.roll(ring, -1, axis=0)], axis=1)])


@dataclass(frozen=True, eq=False)
class Scene:
    """Triangles with colours, and lines, as they stand in the picture: right, up, depth."""

    corners: Array
    """(n, 3, 3)"""
    colours: Array
    """(n, 4)"""
    lines: Array
    """(m, 2, 3)"""

    @property
    def reach(self) -> Array:
        """(2,) how far it goes to the sides and up or down [m]."""
        both = np.concatenate([self.corners.reshape(-1, 3), self.lines.reshape(-1, 3)])
        return np.asarray(np.abs(both[:, :2]).max(axis=0))


def scene(look: Look, poses: Poses, number: int, view: View) -> Scene:
    """One record, about the point halfway between asteroid and bus."""
    x, q = poses.asteroid[number], poses.asteroid_attitude[number]
    place, turn = poses.craft[number], poses.craft_attitude[number]

    def placed(points: Array) -> Array:
        return place + frames.quat_rotate(turn, points)

    stone = (x + frames.quat_rotate(q, look.asteroid.vertices))[look.asteroid.faces]
    front = np.cross(stone[:, 1] - stone[:, 0], stone[:, 2] - stone[:, 0]) @ view.toward > 0.0
    solids = [(stone[front], STONE, 1.0, 0.30), (placed(bus_triangles(look)), BUS, 1.0, 0.30)]
    booms = []
    for sign, bent in zip((1.0, -1.0), poses.arrays[number], strict=True):
        hinge = np.array([0.5 * sign * look.width, 0.0, 0.0])
        disc = hinge + frames.quat_rotate(bent, array_triangles(look, sign))
        solids.append((placed(disc), ARRAY, 1.0, 0.55))
        booms.append([hinge, hinge + frames.quat_rotate(bent, (sign * look.boom, 0.0, 0.0))])
    hung = look.fabric(
        frames.quat_rotate_inv(turn, x - place),
        frames.quat_multiply(frames.quat_conjugate(turn), q),
    )
    cloth = hung.points[hung.triangles] if hung.below else fan(look.ring)
    solids.append((placed(cloth), FABRIC, 0.62, 0.45))
    middle = 0.5 * (x + place)
    return Scene(
        np.concatenate([view(part - middle) for part, *_ in solids]),
        np.concatenate([coloured(part, rgb, view, *how) for part, rgb, *how in solids]),
        _pieces(view(placed(np.concatenate([rods(look), np.array(booms)])) - middle)),
    )


def _pieces(lines: Array) -> Array:
    """Lines cut in pieces, which can be sorted by depth."""
    along = np.linspace(0.0, 1.0, PIECES + 1)
    points = lines[:, :1] + along[None, :, None] * (lines[:, 1:] - lines[:, :1])
    return np.stack([points[:, :-1], points[:, 1:]], axis=2).reshape(-1, 2, 3)


# -- pictures ---------------------------------------------------------------------------------


def draw_scene(axes: Axes, shown: Scene, half: npt.ArrayLike, title: str = "") -> None:
    """One picture, ``half`` (2,) [m] from its middle to its sides and to its top."""
    corners, lines = shown.corners, shown.lines
    depth, line_depth = corners[..., 2].mean(axis=1), lines[..., 2].mean(axis=1)
    for layer, (far, near) in enumerate(_layers(np.concatenate([depth, line_depth]))):
        inside = np.flatnonzero((depth >= far) & (depth < near))
        order = inside[np.argsort(depth[inside])]
        shade = shown.colours[order]
        axes.add_collection(
            PolyCollection(
                list(corners[order][..., :2]), facecolors=shade, edgecolors=shade, lw=0.22,
                zorder=2 * layer,
            )
        )  # fmt: skip
        own = lines[(line_depth >= far) & (line_depth < near)][..., :2]
        axes.add_collection(
            LineCollection(list(own), colors=style.INK, lw=0.65, zorder=2 * layer + 1)
        )
    # Thousands of triangles: as an image they take a hundredth of the room in SVG files.
    axes.set_rasterization_zorder(2 * LAYERS + 1)
    right, up = np.asarray(half, dtype=np.float64)
    axes.set(xlim=(-right, right), ylim=(-up, ABOVE * up), aspect="equal")
    axes.axis("off")
    axes.text(
        0.03, 0.99, title, transform=axes.transAxes, va="top", size=9, weight="bold",
        zorder=2 * LAYERS + 2,
    )  # fmt: skip


def _layers(depth: Array) -> list[tuple[float, float]]:
    """Bounds of slices of depth, the farthest first."""
    edges = np.quantile(depth, np.linspace(0.0, 1.0, LAYERS + 1))
    edges[-1] = np.inf
    return [(float(a), float(b)) for a, b in itertools.pairwise(edges)]


def draw_strip(figure: Any, grid: Any, look: Look, poses: Poses, columns: int) -> None:
    """A picture of each record, ``columns`` abreast, all at one scale."""
    view = approach_view(poses)
    shown = [scene(look, poses, k, view) for k in range(len(poses.time))]
    half = 1.03 * np.max([one.reach for one in shown], axis=0)
    for k, (one, time) in enumerate(zip(shown, poses.time, strict=True)):
        axes = figure.add_subplot(grid[divmod(k, columns)])
        draw_scene(axes, one, half, f"{time:.0f} s")


def strip_shape(look: Look, poses: Poses) -> float:
    """Height of a picture over its width."""
    view = approach_view(poses)
    reach = np.max([scene(look, poses, k, view).reach for k in range(len(poses.time))], axis=0)
    return float(0.5 * (1.0 + ABOVE) * reach[1] / reach[0])
