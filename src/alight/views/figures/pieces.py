"""Pictures of several parts at poses, by the renderer: landers, crafts, what they stand on.

Parts look as they do in films and on pages (``views.looks``). A veil is a part that one sees
through: the picture is taken with it and without it, and mixed where it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from alight.core import devices
from alight.core.checks import Array
from alight.shapes.mesh import Mesh
from alight.views.figures.solid import (
    FILL,
    SUN,
    Picture,
    Viewer,
    parallel_lens,
    rgba_of,
    sky_view,
)
from alight.views.looks import Colour, colour_of, surface_of
from alight.views.playback import Part
from alight.views.render.exposure import Exposure, Lamps, Light, linear_light
from alight.views.render.lens import Lens
from alight.views.render.scene import REGOLITH, Scene, Thing
from alight.views.render.scene import Part as Drawn

#: Softer than a body's sunlight: no part of a lander is lost in the dark.
LIGHT = Light(sun=0.85, fill=0.22, sky=0.42)

#: Roles of stone and dust.
DUSTY = ("asteroid", "terrain", "rocks")

#: Left, right, bottom and top edge [m].
Window = tuple[float, float, float, float]


@dataclass(frozen=True, eq=False)
class Piece:
    """A part at a pose."""

    part: Part
    place: npt.ArrayLike = (0.0, 0.0, 0.0)
    """Of its origin [m]."""
    attitude: npt.ArrayLike = (0.0, 0.0, 0.0, 1.0)
    """xyzw, from its axes to those of the picture's world."""
    mesh: Mesh | None = field(default=None)
    """What is drawn; made of the part if not given. Pictures of the same part share it."""
    veil: bool = False
    """Whether one sees through it."""


#: How much of what is behind a veil it hides.
HIDES = 0.62


def picture(
    pieces: Sequence[Piece],
    viewer: Viewer,
    *,
    pixels: int = 420,
    window: Window | None = None,
    light: Light = LIGHT,
    sun: Array = SUN,
    grid: int = 3,
    sky: bool = True,
) -> Picture:
    """What a viewer far away sees of pieces.

    Args:
        pieces: Parts at poses.
        viewer: Where they are seen from.
        pixels: Along the longer side of the picture.
        window: What is shown [m]; all of them if None.
        light: How strongly Sun, the light in its shadows and the sky shine.
        sun: Direction to the Sun: right, up, to the viewer.
        grid: Rays along each side of a pixel at edges.
        sky: Whether hollows of single parts get less of the sky's light.
    """
    drawn = [_drawn(one, sky) for one in pieces]
    things = [Thing(k, one.place, one.attitude) for k, one in enumerate(pieces)]
    points = np.concatenate([placed(one) for one in pieces])
    lens, extent = parallel_lens(points, viewer, pixels, window)
    lamps = Lamps(viewer.direction(sun), viewer.direction(FILL))
    whole = _taken(drawn, things, lens, lamps, light, grid)
    if any(one.veil for one in pieces):
        solid = [k for k, one in enumerate(pieces) if not one.veil]
        bare = [Thing(i, things[k].place, things[k].attitude) for i, k in enumerate(solid)]
        behind = _taken([drawn[k] for k in solid], bare, lens, lamps, light, grid)
        whole = HIDES * whole + (1.0 - HIDES) * _over(behind, whole)
    return Picture(whole, extent, viewer)


def placed(one: Piece) -> Array:
    """(V, 3) vertices of a piece as it stands [m]."""
    from alight.core import frames

    turn = np.asarray(one.attitude, dtype=np.float64)
    return np.asarray(one.place) + frames.quat_rotate(turn, one.part.vertices)


def _over(
    behind: npt.NDArray[np.float32], whole: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """A picture without a veil, the veil's own light where nothing is behind it."""
    cover = behind[..., 3:]
    mixed = behind[..., :3] * cover + whole[..., :3] * (1.0 - cover)
    return np.concatenate([mixed, np.maximum(cover, 0.35 * whole[..., 3:])], axis=2)


def _drawn(one: Piece, sky: bool) -> Drawn:
    mesh = surface_of(one.part) if one.mesh is None else one.mesh
    rgb: Colour = colour_of(one.part)
    colours = np.broadcast_to(linear_light(rgb), (mesh.n_vertices, 3))
    lunar = REGOLITH if one.part.role in DUSTY else 0.0
    return Drawn(mesh, colours, sky_view(mesh) if sky else None, lunar)


def _taken(
    drawn: list[Drawn], things: list[Thing], lens: Lens, lamps: Lamps, light: Light, grid: int
) -> npt.NDArray[np.float32]:
    # Few rays, beside a page's other work: a GPU would have to be woken for them.
    middle = lens.eye
    scene = Scene(drawn, things, devices.resolve("cpu"), middle)
    return rgba_of(Exposure(scene, lens, lamps, grid), light)
