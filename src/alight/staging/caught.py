"""Captures and drops as tracks: body, craft, arrays and the fabric between them, inertial axes.

The fabric is the lower side of the convex hull of suspension points and body. Seen along its axis
it is a function, the largest of the planes of its facets: that is evaluated on a grid that stays
the same, so that its triangles do too. Between the points of the grid edges of the fabric are cut
off.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from alight.analysis import columns
from alight.core import frames
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.membrane import hull
from alight.shapes.solids import convex, rod, together
from alight.staging.tracks import contacts_of, stored_contacts
from alight.views.figures.capture.scene import THIN, Look, Solids
from alight.views.playback import Contacts, Part, Surface, Track

#: Rings of the grid of the fabric, and points along a side of the polygon.
RINGS, ALONG = 14, 6

#: Pressed fabric is drawn so far outside of the body, over its ring's reach: it hides the body.
#: Nearer to the plane of the ring than so many times as much it is less: without a step at the rim.
CLEAR, RISE = 0.01, 5.0

NOTE = (
    "the membrane is drawn on a grid of {0} points, a hundredth of its reach outside of the body: "
    "its edges are cut off between them"
)


class Fabric:
    """The grid of one membrane."""

    def __init__(self, body: Any, ring: Any) -> None:
        self.body, self.ring = body, ring
        self.grid, faces = (_strip if ring.planar else _disc)(ring.points)
        self.surface = Surface("membrane", "membrane", faces, NOTE.format(len(self.grid)))

    def at(self, place: Array, turn: Array) -> Array:
        """(n, V, 3) vertices in the carrier's axes, with the body at ``place`` (n, 3)."""
        ring = self.ring
        found = hull(self.body, ring, place, turn, device="cpu")
        depth = np.stack([self._depth((one.points - ring.origin) @ ring.R, one) for one in found])
        grid = np.broadcast_to(self.grid, (len(depth), *self.grid.shape)).copy()
        # Straight ways between points of the grid lie on the body's side: move away from it.
        away = CLEAR * float(ring.reach)
        grid[..., 2] = depth - away * np.minimum(1.0, -depth / (RISE * away))
        return np.asarray(grid @ ring.R.T + ring.origin)

    def _depth(self, points: Array, one: Any) -> Array:
        """(V,) heights of the fabric over the grid in M, 0 or below."""
        if not one.below or not len(one.triangles):
            return np.zeros(len(self.grid))
        corner = points[one.triangles]
        slope, level = _planes(corner) if corner.shape[1] == 3 else _lines(corner)
        heights = self.grid[:, :2] @ slope.T + level
        return np.asarray(np.minimum(heights.max(axis=1), 0.0))


def _planes(corner: Array) -> tuple[Array, Array]:
    """z = slope . (x, y) + level of triangles; those that stand upright bound nothing."""
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    size = np.linalg.norm(normal, axis=1)
    fit = np.abs(normal[:, 2]) > 1e-6 * np.maximum(size, 1e-300)
    normal, first = normal[fit], corner[fit, 0]
    slope = -normal[:, :2] / normal[:, 2:]
    return slope, first[:, 2] - (slope * first[:, :2]).sum(axis=1)


def _lines(corner: Array) -> tuple[Array, Array]:
    """The same of a membrane in 2D: lines in the plane of x and z."""
    way = corner[:, 1] - corner[:, 0]
    fit = np.abs(way[:, 0]) > 1e-9 * np.maximum(np.linalg.norm(way, axis=1), 1e-300)
    slope = np.zeros((int(fit.sum()), 2))
    slope[:, 0] = way[fit, 2] / way[fit, 0]
    return slope, corner[fit, 0, 2] - slope[:, 0] * corner[fit, 0, 0]


def _disc(points: Array) -> tuple[Array, Any]:
    """Points (V, 3) of a polygon about the origin in M, and triangles (F, 3)."""
    after = np.roll(points, -1, axis=0)
    part = np.arange(ALONG)[None, :, None] / ALONG
    rim = (points[:, None] + part * (after - points)[:, None]).reshape(-1, 3)
    n, out = len(rim), np.linspace(0.0, 1.0, RINGS + 1)[1:]
    grid = np.concatenate([np.zeros((1, 3)), *(r * rim for r in out)])
    k = np.arange(n)
    faces = [np.stack([np.zeros(n, int), 1 + k, 1 + (k + 1) % n], axis=1)]
    for ring in range(RINGS - 1):
        a, b = 1 + ring * n + k, 1 + ring * n + (k + 1) % n
        faces += [np.stack([a, a + n, b + n], axis=1), np.stack([a, b + n, b], axis=1)]
    return grid, np.concatenate(faces).astype(np.int64)


def _strip(points: Array) -> tuple[Array, Any]:
    """A ribbon between two points of a membrane in 2D."""
    x = np.linspace(points[0, 0], points[-1, 0], 81)
    half = 0.08 * (x[-1] - x[0])
    rows = [np.stack([x, np.full_like(x, y), 0.0 * x], axis=1) for y in (-half, half)]
    k, n = np.arange(len(x) - 1), len(x)
    faces = [np.stack([k, k + 1, k + 1 + n], axis=1), np.stack([k, k + 1 + n, k + n], axis=1)]
    return np.concatenate(rows), np.concatenate(faces).astype(np.int64)


# -- parts ------------------------------------------------------------------------------------


def body_part(captive: Any, role: str) -> Part:
    """The body that is caught; of one without a mesh the hull of its points."""
    if captive.mesh is not None:
        return Part.of_mesh("body", role, captive.mesh)
    corners = captive.hull.vertices
    if captive.planar:  # a plate: with some width it is seen
        wide = 0.1 * float(np.ptp(corners, axis=0).max()) * np.array([0.0, 1.0, 0.0])
        corners = np.concatenate([corners - wide, corners + wide])
    return Part("body", role, *convex(corners))


def craft_parts(look: Look) -> tuple[Part, ...]:
    """Bus with struts and rim, and two arrays on their booms, each in its own axes."""
    made = Solids.of(look)
    return (made.bus, made.rim, *made.arrays)


def ring_part(ring: Any) -> Part:
    """What a membrane hangs from, where there is no craft to see."""
    points = ring.suspension
    ends = np.stack([points, np.roll(points, -1, axis=0)], axis=1)
    ends = ends[:1] if ring.planar else ends
    if ring.planar:
        wide = 0.16 * (points[-1, 0] - points[0, 0]) * np.array([0.0, 1.0, 0.0])
        ends = np.stack([[p - 0.5 * wide, p + 0.5 * wide] for p in points])
    return Part("ring", "ring", *_rods(ends, 2.0 * THIN * float(ring.reach)))


def _rods(ends: Array, radius: float) -> tuple[Array, Any]:
    """Rods between pairs of points (n, 2, 3), as one mesh."""
    return together([rod(a, b, radius) for a, b in ends])


# -- tracks -----------------------------------------------------------------------------------


class Caught:
    """Body and membrane of one model of a capture or drop."""

    def __init__(self, model: Any) -> None:
        if model is None:
            raise InputError("what was run is not known: take the flight as a run returned it.")
        self.model = model
        self.craft: Any = getattr(model, "craft", None)
        self.fabric = Fabric(model.captive, model.membrane.ring)
        capture = hasattr(self.craft, "tree")
        own = craft_parts(Look.of(model.captive, self.craft, hull)) if capture else ()
        first = body_part(model.captive, "asteroid")
        self.parts: tuple[Part, ...] = (first, *(own or (ring_part(model.membrane.ring),)))
        self.capture = capture

    def of_flight(self, flight: Any, run: int, row: Any) -> Track:
        """The track of a flight of one run."""
        n = int(flight.records[0])
        body = [a[0, :n] for a in (flight.position, flight.velocity, flight.attitude)]
        if self.capture:
            q, v = flight.q[0, :n], flight.v[0, :n]
            craft = q[:, :3], v[:, :3], q[:, 3:7]
            arrays = [q[:, self.craft.tree.q_slices[p]] for p in ("array 1", "array 2")]
        else:
            names = ("craft_position", "craft_velocity", "craft_attitude")
            craft, arrays = tuple(getattr(flight, name)[0, :n] for name in names), []
        met = contacts_of(flight.events)
        word = flight.outcome[0].name.lower()
        return self._track(flight.time[:n], body, craft, arrays, met, run, word, row)

    def of_table(self, table: Any, contacts: Any, run: int, row: Any, outcome: str) -> Track:
        """The track of a kept trajectory."""
        one, other = ("asteroid_", "craft_") if self.capture else ("body_", "carrier_")
        body, craft = _states(table, one), _states(table, other)
        arrays = [_rows(table, f"array_{k}_q", "", "xyzw") for k in (1, 2)] if self.capture else []
        met = Contacts.none() if contacts is None else stored_contacts(contacts)
        time = columns.column(table, "time_s")
        return self._track(time, body, craft, arrays, met, run, outcome, row)

    def _track(
        self, time: Any, body: Any, craft: Any, arrays: Any, met: Any, run: int, word: str, row: Any
    ) -> Track:
        turn = frames.quat_normalize(craft[2])
        own = frames.quat_normalize(body[2])
        cloth = self.fabric.at(
            frames.quat_rotate_inv(turn, body[0] - craft[0]),
            frames.quat_multiply(frames.quat_conjugate(turn), own),
        )
        surface = craft[0][:, None] + frames.quat_rotate(turn[:, None], cloth)
        place, speed, attitude = [body[0]], [body[1]], [own]
        for _ in range(2 if self.capture else 1):
            place, speed, attitude = [*place, craft[0]], [*speed, craft[1]], [*attitude, turn]
        for bent, sign in zip(arrays, (1.0, -1.0), strict=False):
            hinge = np.array([0.5 * sign * self.craft.width, 0.0, 0.0])
            place.append(craft[0] + frames.quat_rotate(turn, hinge))
            speed.append(np.gradient(place[-1], time, axis=0) if len(time) > 1 else craft[1])
            attitude.append(frames.quat_multiply(turn, frames.quat_normalize(bent)))
        p, v, q = (np.stack(a, axis=1) for a in (place, speed, attitude))
        return Track(run, word, np.asarray(time), p, v, q, np.zeros(0), met, row or {}, surface)


def _rows(table: Any, start: str, end: str, axes: str = "xyz") -> Array:
    return np.stack([columns.column(table, f"{start}{a}{end}") for a in axes], axis=1)


def _states(table: Any, name: str) -> tuple[Array, Array, Array]:
    turn = _rows(table, f"{name}q", "", "xyzw")
    return _rows(table, name, "_m"), _rows(table, f"{name}v", "_m_per_s"), turn
