"""What landers look like: parts in their own axes, and how they stand at each line."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from alight.core import frames
from alight.core.checks import Array
from alight.shapes.icosphere import icosphere
from alight.vehicles.fittings import Belly, Pad
from alight.views.playback import Part

#: Width of a bar that stands for a leg, over its length; corners of its section.
BAR, CORNERS = 0.06, 6


def rigid_parts(lander: Any) -> tuple[Part, ...]:
    """The hull of a rigid lander."""
    return (Part.of_mesh(str(lander.name), "lander", lander.hull),)


def tree_parts(tree: Any, devices: Any) -> tuple[list[Part], list[int]]:
    """Parts of an articulated lander, and the body of each.

    The first body is the hull of the points that are known of it; others are bars from their joint
    to their pads, or to their centre of mass; pads are balls, of half a bar where they are points.
    """
    parts: list[Part] = []
    owners: list[int] = []
    reach = _reach(tree, devices)
    for i, body in enumerate(tree.bodies):
        pads = [d for d in devices if isinstance(d, Pad) and d.body == body.name]
        solids = [_bar(np.asarray(pad.place), reach) for pad in pads] if i else []
        if i and not pads and body.mass > 0.0:
            solids = [_bar(np.asarray(body.center), reach)]
        if i == 0:
            solids = [_hull_of(points_on(tree, devices, 0))]
        for vertices, faces in (s for s in solids if s is not None):
            parts.append(Part(body.name, "leg" if i else "lander", vertices, faces))
            owners.append(i)
        for pad in pads:
            radius = float(pad.radius) or 0.5 * BAR * reach
            ball = icosphere(1, radius)
            place = np.asarray(pad.place) + ball.vertices
            parts.append(Part(str(pad.name), "pad", place, np.asarray(ball.faces, np.int64)))
            owners.append(i)
    return parts, owners


def points_on(tree: Any, devices: Any, body: int) -> Array:
    """Known points of a body, in its axes: joints of others, devices, what touches."""
    name = tree.bodies[body].name
    points = [np.asarray(j.place) for j in tree.joints if j.parent == name]
    for device in devices:
        if getattr(device, "body", None) != name:
            continue
        if isinstance(device, Belly):
            points += list(np.asarray(device.points))
        elif getattr(device, "place", None) is not None:
            points.append(np.asarray(device.place))
    return np.reshape(points, (-1, 3))


def _reach(tree: Any, devices: Any) -> float:
    """A length that the lander has [m]."""
    known = [points_on(tree, devices, i) for i in range(len(tree.bodies))]
    return max([1e-9, *(float(np.abs(p).max()) for p in known if len(p))])


def _hull_of(points: Array) -> tuple[Array, Any] | None:
    """The convex hull of points; a small ball where they span none."""
    try:
        return convex(points)
    except (scipy.spatial.QhullError, ValueError):
        size = float(np.abs(points).max(initial=0.0)) or 1.0
        ball = icosphere(1, 0.3 * size)
        return ball.vertices, np.asarray(ball.faces, np.int64)


def convex(points: Array) -> tuple[Array, Any]:
    """The convex hull of points, faces counter-clockwise from outside."""
    found = scipy.spatial.ConvexHull(points)
    faces = found.simplices.astype(np.int64)
    corner = points[faces]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    inward = (normal * found.equations[:, :3]).sum(axis=1) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    return points, faces


def _bar(end: Array, reach: float) -> tuple[Array, Any] | None:
    """A prism from the origin to ``end``."""
    length = float(np.linalg.norm(end))
    if length < 1e-6 * reach:
        return None
    return rod(np.zeros(3), end, 0.5 * BAR * min(reach, 4.0 * length))


def rod(start: Array, end: Array, radius: float) -> tuple[Array, Any]:
    """A closed prism of ``radius`` [m] between two points: vertices and faces."""
    R = frames.local_frame(end - start)
    angle = 2.0 * np.pi * np.arange(CORNERS) / CORNERS
    across = radius * (np.cos(angle)[:, None] * R[:, 0] + np.sin(angle)[:, None] * R[:, 1])
    vertices = np.concatenate([start + across, end + across, [start, end]])
    k, n = np.arange(CORNERS), CORNERS
    after = (k + 1) % n
    foot, top = np.full(n, 2 * n), np.full(n, 2 * n + 1)
    sides = [
        (k, after, n + after),
        (k, n + after, n + k),
        (after, k, foot),
        (n + k, n + after, top),
    ]
    return vertices, np.concatenate([np.stack(s, axis=1) for s in sides])
