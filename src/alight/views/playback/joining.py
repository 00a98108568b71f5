"""Fine terrain in a coarser body: its rim is bent to the body, and the body is cut out beneath it.

Neither then sticks through the other, and no gap is seen between them. The terrain stands in a
cube, a ``Square``: its middle, its axes (east, north, up), and half its side.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from alight.analysis.shadows import Shadows
from alight.core.checks import Array
from alight.shapes.mesh import Mesh
from alight.views.playback.model import Part, Playback, Square

#: Bends of the rim end at this part of its width: the outermost lies on the body.
FLAT = 0.8

#: Rim of terrain about all that is touched, over half its side; half a side at most, over the
#: body's radius; cells along a side at most.
SEAM, MOST, CELLS = 0.5, 0.4, 176


def touched_ground(play: Playback, most_cells: int = CELLS) -> tuple[Part | None, Square | None]:
    """Terrain wherever runs touch the ground, or as much of it as stands on one side of the body,
    ``most_cells`` along a side at most; what the playback has, where that is all there is."""
    if play.wider is None or play.target is None or not play.tracks:
        return play.terrain, play.square
    places = [t.contacts.place for t in play.tracks] + [t.position[-1:, 0] for t in play.tracks]
    points = np.concatenate(places)
    points = points[np.isfinite(points).all(axis=1)]
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    reach = float(np.linalg.norm(points - middle, axis=1).max()) / (1.0 - SEAM)
    half, most = reach + 25.0 * play.lander_size, MOST * float(play.target.bounding_radius)
    if half > most:  # then where the first run ends, which is looked at closely
        middle, half = play.tracks[0].position[-1, 0], most
    cells = int(np.clip(2.0 * half / play.lander_size, 64, most_cells))
    found = play.wider(middle, half, cells)
    if found.terrain is None:
        return play.terrain, play.square
    return found.terrain, found.square


def grounded(play: Playback) -> Playback:
    """The same with terrain as it is touched, and the body cut out where that stands."""
    if play.target is None:
        return play
    terrain, square = touched_ground(play)
    if terrain is None or square is None:
        return play
    terrain = joined(terrain, play.target, square, SEAM)
    named = {name: values for name, (values, _) in play.colours.items()}
    body, carried = cut_out(play.target, square, named)
    colours = {name: (carried[name], unit) for name, (_, unit) in play.colours.items()}
    return dataclasses.replace(
        play, target=body, terrain=terrain, square=square, colours=colours, wider=None
    )


def joined(terrain: Part, target: Mesh, square: Square, seam: float) -> Part:
    """Terrain whose rim, the outer part ``seam`` of half its side, is bent to the body."""
    middle, axes, half = square
    local = (terrain.vertices - middle) @ axes.T
    aside = np.abs(local[:, :2]).max(axis=1) / half
    rim = np.flatnonzero(aside > 1.0 - seam)
    start = terrain.vertices[rim] + 2.0 * half * axes[2]
    drop = Shadows(target).first_hit(start, np.tile(-axes[2], (len(rim), 1)))
    way = np.where(np.isfinite(drop), 2.0 * half - drop, 0.0)
    s = np.clip((aside[rim] - (1.0 - seam)) / (FLAT * seam), 0.0, 1.0)
    vertices = terrain.vertices.copy()
    vertices[rim] += (way * s * s * (3.0 - 2.0 * s))[:, None] * axes[2]
    return dataclasses.replace(terrain, vertices=vertices)


def cut_out(
    mesh: Mesh, square: Square, values: Mapping[str, Array] | None = None
) -> tuple[Mesh, dict[str, Array]]:
    """The body outside the prism, its facets cut along it, and numbers on its vertices."""
    middle, axes, half = square
    given = dict(values or {})
    local = (mesh.vertices - middle) @ axes.T
    rows = np.column_stack([local, *given.values()])
    faces = np.asarray(mesh.faces, np.int64)
    corner = local[faces]
    beyond = np.concatenate([corner >= half, corner <= -half], axis=2).all(axis=1)
    apart = np.asarray(np.any(beyond, axis=1))
    pieces = [rows[faces[apart]]]
    for triangle in rows[faces[~apart]]:
        pieces += [_fan(piece) for piece in _outside(triangle, half)]
    corners = _wide(np.concatenate(pieces), half).reshape(-1, rows.shape[1])
    # Corners that are the same to the bit are one vertex again: those of facets left whole.
    kept, number = np.unique(corners, axis=0, return_inverse=True)
    points = kept[:, :3] @ axes + middle
    made = Mesh(points, number.reshape(-1, 3), check=False)
    return made, {name: kept[:, 3 + k].copy() for k, name in enumerate(given)}


def _wide(triangles: Array, half: float) -> Array:
    """Triangles (n, 3, columns) that have an area: of slivers normals are not known."""
    a, b, c = (triangles[:, k, :3] for k in range(3))
    twice = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    return triangles[twice > 1e-12 * half * half]


def _outside(triangle: Array, half: float) -> list[Array]:
    """Convex pieces (k, columns) of a triangle that lie outside the cube of ``half`` its side."""
    left, found = triangle, []
    for axis in range(3):
        for sign in (1.0, -1.0):
            over = sign * left[:, axis] - half
            beyond = _clipped(left, over)
            if len(beyond) >= 3:
                found.append(beyond)
            left = _clipped(left, -over)
            if len(left) < 3:
                return found
    return found


def _clipped(polygon: Array, over: Array) -> Array:
    """The part of a convex polygon where ``over`` is above 0."""
    after, further = np.roll(polygon, -1, axis=0), np.roll(over, -1)
    found = []
    for here, there, a, b in zip(polygon, after, over, further, strict=True):
        if a > 0.0:
            found.append(here)
        if (a > 0.0) != (b > 0.0):
            found.append(here + a / (a - b) * (there - here))
    return np.array(found).reshape(-1, polygon.shape[1])


def _fan(polygon: Array) -> Array:
    """(n, 3, columns) triangles of a convex polygon."""
    first = np.broadcast_to(polygon[0], (len(polygon) - 2, polygon.shape[1]))
    return np.stack([first, polygon[1:-1], polygon[2:]], axis=1)
