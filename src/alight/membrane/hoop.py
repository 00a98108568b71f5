"""The hoop that a membrane hangs from: a tube along the sides of the polygon that a body can touch.

Paper 003 has suspension points and nothing between them; its area jumps where a body passes through
their plane outside the polygon. A hoop keeps it inside: the sides of the polygon are the middle
lines of a tube, stiff against what carries the membrane, and a body that comes within the tube's
radius of one is pushed away,

    F = k d (1 + x d')   and never pulled,

d being how deep its convex hull is in the tube; friction sticks and slides as on the fabric. Along
each side there are beads, spheres of the tube's radius: the distance of a point to a convex hull
has a continuous gradient as long as the point is outside, so that forces are continuous, which the
distance between two edges is not. d' is the speed at which hull and bead come closer, exactly, so
that power is balanced: what is lost is k x d d'^2.
"""

from dataclasses import dataclass

import numpy as np
import warp as wp

from alight.contact.stick_friction import stick, stick_stored
from alight.core.checks import Array, checked_number, checked_whole
from alight.core.rows import vector_at
from alight.core.types import mat33, scalar, vec3
from alight.membrane.geometry import CaptiveData
from alight.membrane.memory import AT_ONCE, MANY_AT_ONCE, HullMemory, put_touched
from alight.membrane.ring import RingData


@dataclass(frozen=True)
class Hoop:
    """A tube along the sides of a membrane's polygon."""

    radius: float = 0.15
    """Of the tube [m]."""
    stiffness: float = 1e5
    """Of each bead against a body, and of friction on it while it sticks [N/m]."""
    damping: float = 3.0
    """x, over the stiffness [s/m]."""
    beads: int = 15
    """Along each side."""

    def __post_init__(self) -> None:
        checked_number("the radius of the hoop [m]", self.radius)
        checked_number("the stiffness of the hoop [N/m]", self.stiffness)
        checked_number("the damping of the hoop [s/m]", self.damping, above=False)
        checked_whole("beads of the hoop along each side", self.beads, 2)

    def places(self, corners: Array) -> Array:
        """(n, 3) middles of the beads of a polygon (k, 3), a bead on each corner."""
        part = np.arange(self.beads)[:, None, None] / self.beads
        along = corners + part * (np.roll(corners, -1, axis=0) - corners)
        return np.asarray(along.transpose(1, 0, 2).reshape(-1, 3))


@wp.struct
class HullPoint:
    """Where a convex hull is nearest to a point; negative distances are inside."""

    distance: scalar
    normal: vec3  # from the hull to the point


@wp.struct
class HoopLoad:
    """Sums over beads, in M."""

    force: vec3  # on the body [N]
    torque: vec3  # about its centre of mass [N m]
    friction: vec3
    friction_torque: vec3
    pressed: scalar
    stored: scalar
    damped: scalar
    rubbed: scalar
    strained: scalar
    lost: scalar
    slipped: scalar
    gripped: scalar
    touching: int


@wp.func
def nearest_in_triangle(p: vec3, a: vec3, b: vec3, c: vec3):
    """The point of a triangle that is nearest to ``p`` (Ericson, Real-Time Collision Detection)."""
    zero = scalar(0.0)
    one = b - a
    other = c - a
    d1 = wp.dot(one, p - a)
    d2 = wp.dot(other, p - a)
    if d1 <= zero and d2 <= zero:
        return a
    d3 = wp.dot(one, p - b)
    d4 = wp.dot(other, p - b)
    if d3 >= zero and d4 <= d3:
        return b
    vc = d1 * d4 - d3 * d2
    if vc <= zero and d1 >= zero and d3 <= zero:
        return a + (d1 / (d1 - d3)) * one
    d5 = wp.dot(one, p - c)
    d6 = wp.dot(other, p - c)
    if d6 >= zero and d5 <= d6:
        return c
    vb = d5 * d2 - d1 * d6
    if vb <= zero and d2 >= zero and d6 <= zero:
        return a + (d2 / (d2 - d6)) * other
    va = d3 * d6 - d5 * d4
    if va <= zero and d4 - d3 >= zero and d5 - d6 >= zero:
        return b + ((d4 - d3) / ((d4 - d3) + (d5 - d6))) * (c - b)
    total = va + vb + vc
    return a + (vb / total) * one + (vc / total) * other


@wp.func
def apart(captive: CaptiveData, p: vec3, reach: scalar):
    """True if a facet shows that ``p`` is further than ``reach`` from the hull, in its axes."""
    count = captive.facets.shape[0]
    for first in range(0, count, wp.static(AT_ONCE)):
        far = bool(False)
        for u in range(wp.static(AT_ONCE)):
            f = wp.min(first + u, count - 1)
            if wp.dot(captive.normals[f], p) - captive.offsets[f] > reach:
                far = True
        if far:
            return True
    return False


@wp.func
def nearest_on_hull(captive: CaptiveData, p: vec3):
    """How far ``p`` is from the hull, in its axes."""
    found = HullPoint()
    found.distance = scalar(-1e300)
    for f in range(captive.facets.shape[0]):
        height = wp.dot(captive.normals[f], p) - captive.offsets[f]
        if height > found.distance:
            found.distance = height
            found.normal = captive.normals[f]
    if found.distance <= scalar(0.0):
        return found
    best = scalar(1e300)
    for f in range(captive.facets.shape[0]):
        if wp.dot(captive.normals[f], p) > captive.offsets[f]:
            facet = captive.facets[f]
            a = captive.vertices[facet[0]]
            away = p - nearest_in_triangle(
                p, a, captive.vertices[facet[1]], captive.vertices[facet[2]]
            )
            size = wp.length(away)
            if size < best:
                best = size
                found.distance = size
                if size > scalar(0.0):
                    found.normal = away / size
    return found


@wp.func
def note_beads(
    ring: RingData, captive: CaptiveData, x: vec3, R: mat33, memory: HullMemory, slot: int
):
    """List the beads that may touch the body: how many."""
    near = int(0)
    if captive.facets.shape[0] > 0:
        count = ring.beads.shape[0]
        for first in range(0, count, wp.static(MANY_AT_ONCE)):
            found = int(0)
            for u in range(wp.static(MANY_AT_ONCE)):
                i = wp.min(first + u, count - 1)
                if wp.length(ring.beads[i] - x) < captive.reach + ring.tube:
                    found = found | (1 << u)
            i = first
            while found != 0 and i < count:
                if (found & 1) != 0:
                    memory.noted[near, slot] = i
                    near += 1
                found = found >> 1
                i += 1
    left = int(0)
    for n in range(near):
        i = memory.noted[n, slot]
        if not apart(captive, wp.transpose(R) * (ring.beads[i] - x), ring.tube):
            memory.noted[left, slot] = i
            left += 1
    return left


@wp.func
def press_hoop(
    ring: RingData,
    captive: CaptiveData,
    friction: scalar,
    relaxation: scalar,
    x: vec3,
    R: mat33,
    v: vec3,
    w: vec3,
    memory: HullMemory,
    slot: int,
):
    """What the beads do to a body at ``x``, turned by ``R``, that moves with ``v``, ``w`` in M;
    vertices have been listed as touched already."""
    zero = scalar(0.0)
    sums = HoopLoad()
    first = captive.vertices.shape[0]
    touched = memory.touched[0, slot]
    for m in range(note_beads(ring, captive, x, R, memory, slot)):
        i = memory.noted[m, slot]
        away = ring.beads[i] - x
        near = nearest_on_hull(captive, wp.transpose(R) * away)
        depth = ring.tube - near.distance
        if depth > zero:
            n = R * near.normal
            arm = away - near.distance * n
            u = v + wp.cross(w, arm)
            closing = wp.dot(u, n)
            spring = ring.hoop_stiffness * depth
            N = wp.max(zero, spring * (scalar(1.0) + ring.hoop_damping * closing))
            limit = friction * N
            held = vector_at(memory.strain, 3 * (first + i), slot)
            found = stick(held, u, n, limit, ring.hoop_stiffness, relaxation)
            sums.force += -N * n
            sums.torque += wp.cross(arm, -N * n)
            sums.friction += found.force
            sums.friction_torque += wp.cross(arm, found.force)
            sums.pressed += N
            sums.stored += scalar(0.5) * spring * depth
            sums.damped += (N - spring) * closing
            sums.rubbed += -wp.dot(found.force, u)
            sums.strained += stick_stored(ring.hoop_stiffness, held)
            sums.lost += found.lost
            sums.gripped += wp.length(found.force)
            if found.slides == 1:
                slide = u - found.rate
                sums.slipped += N * wp.length(slide - wp.dot(slide, n) * n)
            put_touched(memory, touched + sums.touching, first + i, found.rate, limit, slot)
            sums.touching += 1
    memory.touched[0, slot] = touched + sums.touching
    return sums
