"""The shape of a membrane in the plane of x and z (2D): a line of straight pieces."""

import warp as wp

from alight.core.rows import put_vector, vector_at
from alight.core.types import mat33, scalar, vec3
from alight.membrane.geometry import (
    CaptiveData,
    Hang,
    find_met,
    leaves,
    place_vertices,
    put_slope,
    put_triangle,
    slope_at,
)
from alight.membrane.memory import HullMemory
from alight.membrane.ring import RingData


@wp.func
def add_piece(
    vertices: int, a: int, b: int, at: vec3, to: vec3, hang: Hang, memory: HullMemory, slot: int
):
    """``hang`` with the straight piece between corners ``a`` at ``at`` and ``b`` at ``to``."""
    out = hang
    length = wp.length(to - at)
    if 3 * out.triangles < memory.triangles.shape[0]:
        put_triangle(memory, out.triangles, a, b, -1, slot)
    out.triangles += 1
    if length > scalar(0.0):
        unit = (to - at) / length
        out.area += length
        one = slope_at(vertices, a, memory, slot) - unit
        two = slope_at(vertices, b, memory, slot) + unit
        put_slope(vertices, a, one, memory, slot)
        put_slope(vertices, b, two, memory, slot)
    return out


@wp.func
def count_through(ring: RingData, p: vec3, q: vec3, start: Hang):
    """``start`` with the edge from ``p`` to ``q``, should it pass through the plane."""
    hang = start
    zero = scalar(0.0)
    if (p[2] < zero) != (q[2] < zero):
        hang.through += 1
        hang.rim += leaves(ring, p, q)
    return hang


@wp.func
def hang_plane(
    ring: RingData, captive: CaptiveData, x: vec3, R: mat33, memory: HullMemory, slot: int
):
    """The membrane under a body at ``x`` [m], turned by ``R`` from body axes to M: pieces of a line
    from the left point to the right."""
    hang = place_vertices(ring, captive, x, R, memory, slot)
    if hang.below == 0:
        return hang
    hang.area = scalar(0.0)
    count = captive.vertices.shape[0]
    find_met(ring, hang.below, memory, slot)
    # Outside the points the line may lead over vertices above the plane.
    hang.hung = count
    for n in range(count):
        memory.below[n, slot] = n
        put_vector(memory.slope, 3 * n, slot, vec3())
    j = memory.met[0, slot]
    last = memory.met[1, slot]
    p = vector_at(memory.place, 3 * j, slot)
    hang = add_piece(count, count, j, ring.points[0], p, hang, memory, slot)
    while j != last:
        following = j + 1
        if following == count:
            following = 0
        q = vector_at(memory.place, 3 * following, slot)
        hang = add_piece(count, j, following, p, q, hang, memory, slot)
        j = following
        p = q
    hang = add_piece(count, last, count + 1, p, ring.points[1], hang, memory, slot)
    if count > 1:
        p = vector_at(memory.place, 3 * (count - 1), slot)
        for k in range(count):
            q = vector_at(memory.place, 3 * k, slot)
            hang = count_through(ring, p, q, hang)
            p = q
    return hang
