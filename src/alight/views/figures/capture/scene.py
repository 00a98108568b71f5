"""Pictures of a capture by the renderer: asteroid, fabric and craft, seen from far away."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.analysis.columns import Array
from alight.core import frames
from alight.shapes.mesh import Mesh
from alight.shapes.solids import rod, together
from alight.views.figures.pieces import Piece, picture, placed
from alight.views.figures.solid import Viewer
from alight.views.playback import Part

#: How far above the level the viewer stands [rad], and a Sun on the viewer's side.
ABOVE, SUN = 0.22, np.array([-0.55, 0.62, 0.56])

#: From the middle of a picture to its top, over that to its bottom: there is its title. Pixels.
TOP, PIXELS = 1.25, 300

#: Radius of struts and booms, over the reach of the ring.
THIN = 0.006


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


def approach_view(poses: Poses) -> Viewer:
    """Upright in the picture is from where the craft comes, seen from a little above."""
    up = -frames.quat_rotate(poses.craft_attitude[0], (0.0, 0.0, 1.0))
    return upright(up, turn=0.5)


def upright(up: Array, turn: float = 0.0, above: float = ABOVE) -> Viewer:
    """A viewer for whom ``up`` stands in the picture, so far above the level [rad]."""
    up = up / np.linalg.norm(up)
    side = np.cross(up, (0.31, 0.77, -0.55))
    side /= np.linalg.norm(side)
    right = np.cos(turn) * side + np.sin(turn) * np.cross(side, up)
    toward = np.cos(above) * np.cross(right, up) + np.sin(above) * up
    return Viewer(np.stack([right, np.cross(toward, right), toward]))


# -- solids -----------------------------------------------------------------------------------


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
class Solids:
    """What does not change its shape over a capture."""

    asteroid: Part
    bus: Part
    rim: Part
    arrays: tuple[Part, Part]

    @classmethod
    def of(cls, look: Look) -> Solids:
        """Those of a capture."""
        thin = THIN * float(np.linalg.norm(look.ring, axis=1).max())
        discs = []
        for number, sign in ((1, 1.0), (2, -1.0)):
            boom = rod(np.zeros(3), np.array([sign * look.boom, 0.0, 0.0]), thin)
            corners = np.concatenate([array_triangles(look, sign), boom[0][boom[1]]])
            discs.append(Part.of_corners(f"array {number}", "array", corners))
        return cls(
            Part.of_mesh("body", "asteroid", look.asteroid),
            Part.of_corners("bus", "bus", bus_triangles(look)),
            Part("ring", "ring", *together([rod(a, b, thin) for a, b in rods(look)])),
            (discs[0], discs[1]),
        )


def pieces(look: Look, poses: Poses, number: int, solids: Solids | None = None) -> list[Piece]:
    """One record, about the point halfway between asteroid and bus; the fabric is the last."""
    made = Solids.of(look) if solids is None else solids
    x, q = poses.asteroid[number], poses.asteroid_attitude[number]
    place, turn = poses.craft[number], poses.craft_attitude[number]
    middle = 0.5 * (x + place)
    own = place - middle
    found = [Piece(made.asteroid, x - middle, q), Piece(made.bus, own, turn)]
    found.append(Piece(made.rim, own, turn))
    for sign, bent, part in zip((1.0, -1.0), poses.arrays[number], made.arrays, strict=True):
        hinge = np.array([0.5 * sign * look.width, 0.0, 0.0])
        at = own + frames.quat_rotate(turn, hinge)
        found.append(Piece(part, at, frames.quat_multiply(turn, bent)))
    hung = look.fabric(
        frames.quat_rotate_inv(turn, x - place),
        frames.quat_multiply(frames.quat_conjugate(turn), q),
    )
    cloth = hung.points[hung.triangles] if hung.below else fan(look.ring)
    return [*found, Piece(Part.of_corners("membrane", "membrane", cloth), own, turn, veil=True)]


# -- pictures ---------------------------------------------------------------------------------


def draw_strip(figure: Any, grid: Any, look: Look, poses: Poses, columns: int) -> None:
    """A picture of each record, ``columns`` abreast, all at one scale."""
    viewer, solids = approach_view(poses), Solids.of(look)
    shown = [pieces(look, poses, k, solids) for k in range(len(poses.time))]
    right, up = 1.03 * _reach(shown, viewer)
    for k, (one, time) in enumerate(zip(shown, poses.time, strict=True)):
        axes = figure.add_subplot(grid[divmod(k, columns)])
        window = (-right, right, -up, TOP * up)
        seen = picture(one, viewer, pixels=PIXELS, window=window, sun=SUN, grid=2, sky=False)
        axes.imshow(seen.rgba, extent=seen.extent, origin="lower", aspect="equal")
        axes.set(xlim=window[:2], ylim=window[2:], aspect="equal")
        axes.axis("off")
        title = {"va": "top", "size": 9, "weight": "bold"}
        axes.text(0.03, 0.99, f"{time:.0f} s", transform=axes.transAxes, **title)


def strip_shape(look: Look, poses: Poses) -> float:
    """Height of a picture over its width."""
    solids = Solids.of(look)
    shown = [pieces(look, poses, k, solids) for k in range(len(poses.time))]
    right, up = _reach(shown, approach_view(poses))
    return float(0.5 * (1.0 + TOP) * up / right)


def _reach(shown: list[list[Piece]], viewer: Viewer) -> Array:
    """(2,) how far things go to the sides and up or down [m]."""
    points = np.concatenate([placed(one) for each in shown for one in each])
    return np.asarray(np.abs(viewer.project(points)[:, :2]).max(axis=0))
