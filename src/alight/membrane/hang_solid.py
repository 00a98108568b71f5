"""The shape of a membrane under a body with volume (3D): its triangles, listed and then added up.

``geometry`` says which there are. Facets, edges and triangles are noted in lists before anything is
done with them: see ``memory``.
"""

import warp as wp

from alight.core.rows import put_vector, vector_at
from alight.core.types import mat33, scalar, vec3, vec4
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
from alight.membrane.memory import AT_ONCE, MANY_AT_ONCE, HullMemory, bit_of, mat43
from alight.membrane.ring import RingData


@wp.func
def corner_place(ring: RingData, vertices: int, j: int, memory: HullMemory, slot: int):
    """Where corner ``j`` of a triangle is, in M [m]."""
    if j < vertices:
        return vector_at(memory.place, 3 * j, slot)
    return ring.points[j - vertices]


@wp.func
def add_listed(ring: RingData, vertices: int, start: Hang, memory: HullMemory, slot: int):
    """``start`` with the triangles that are listed; their parts of the slopes, (1/2) e x (side
    across)."""
    hang = start
    for n in range(hang.listed):
        one = memory.triangles[3 * n, slot]
        two = memory.triangles[3 * n + 1, slot]
        three = memory.triangles[3 * n + 2, slot]
        a = corner_place(ring, vertices, one, memory, slot)
        b = corner_place(ring, vertices, two, memory, slot)
        c = corner_place(ring, vertices, three, memory, slot)
        # All is read before any is written; corners of a triangle are different.
        slope_1 = slope_at(vertices, one, memory, slot)
        slope_2 = slope_at(vertices, two, memory, slot)
        slope_3 = slope_at(vertices, three, memory, slot)
        across = wp.cross(b - a, c - a)
        double = wp.length(across)
        if double > scalar(0.0):
            unit = across * (scalar(0.5) / double)
            hang.area += scalar(0.5) * double
            put_slope(vertices, one, slope_1 + wp.cross(unit, c - b), memory, slot)
            put_slope(vertices, two, slope_2 + wp.cross(unit, a - c), memory, slot)
            put_slope(vertices, three, slope_3 + wp.cross(unit, b - a), memory, slot)
    hang.triangles += hang.listed
    hang.listed = 0
    return hang


@wp.func
def facet_below(captive: CaptiveData, f: int, memory: HullMemory, slot: int):
    """3 for a facet below the plane, 2 for one that reaches there, 0 for others."""
    facet = captive.facets[f]
    one = bit_of(memory.low, facet[0], slot)
    two = bit_of(memory.low, facet[1], slot)
    three = bit_of(memory.low, facet[2], slot)
    return 2 * (one | two | three) + (one & two & three)


@wp.func
def note_facets(captive: CaptiveData, memory: HullMemory, slot: int):
    """List facets that reach below the plane, twice their number, and 1 more if all of one is
    below; how many."""
    noted = int(0)
    count = captive.facets.shape[0]
    for first in range(0, count, wp.static(MANY_AT_ONCE)):
        found = int(0)
        for u in range(wp.static(MANY_AT_ONCE)):
            f = wp.min(first + u, count - 1)
            found = found | (facet_below(captive, f, memory, slot) << (2 * u))
        f = first
        while found != 0 and f < count:
            if (found & 3) != 0:
                memory.noted[noted, slot] = 2 * f + (found & 1)
                noted += 1
            found = found >> 2
            f += 1
    return noted


@wp.func
def facets_seen(
    captive: CaptiveData, count: int, facets: wp.vec4i, seen: wp.array2d(dtype=scalar), slot: int
):
    """Of each facet bit i: suspension point i sees it."""
    masks = wp.vec4i()
    n = mat43()
    d = vec4()
    for u in range(wp.static(AT_ONCE)):
        normal = captive.normals[facets[u]]
        for i in range(3):
            n[u, i] = normal[i]
        d[u] = captive.offsets[facets[u]]
    for i in range(count):
        s = vector_at(seen, 3 * i, slot)
        for u in range(wp.static(AT_ONCE)):
            if wp.dot(vec3(n[u, 0], n[u, 1], n[u, 2]), s) > d[u]:
                masks[u] = masks[u] | (1 << i)
    return masks


@wp.func
def look_at_facets(
    ring: RingData,
    captive: CaptiveData,
    x: vec3,
    R: mat33,
    start: Hang,
    memory: HullMemory,
    slot: int,
):
    """Fill ``front``: which suspension points see each facet that reaches below the plane. Facets
    below that none sees are triangles."""
    hang = start
    count = ring.points.shape[0]
    for i in range(count):
        put_vector(memory.seen, 3 * i, slot, wp.transpose(R) * (ring.points[i] - x))
    noted = note_facets(captive, memory, slot)
    for first in range(0, noted, wp.static(AT_ONCE)):
        notes = wp.vec4i()
        facets = wp.vec4i()
        for u in range(wp.static(AT_ONCE)):
            notes[u] = memory.noted[wp.min(first + u, noted - 1), slot]
            facets[u] = notes[u] >> 1
        masks = facets_seen(captive, count, facets, memory.seen, slot)
        for u in range(wp.static(AT_ONCE)):
            memory.front[facets[u], slot] = masks[u]
            if first + u < noted and masks[u] == 0 and (notes[u] & 1) == 1:
                facet = captive.facets[facets[u]]
                put_triangle(memory, hang.listed, facet[0], facet[1], facet[2], slot)
                hang.listed += 1
    return hang


@wp.func
def spans(ring: RingData, i: int, p: vec3, q: vec3, center: vec3, thin: bool):
    """True if suspension point ``i`` and the edge p, q carry a triangle of the hull.

    Its plane cuts the polygon's along a line through that point: all other suspension points are
    on one side if its two neighbours are, and the body must be on the same side.
    """
    zero = scalar(0.0)
    count = ring.points.shape[0]
    before = i - 1
    if before < 0:
        before = count - 1
    after = i + 1
    if after == count:
        after = 0
    s = ring.points[i]
    n = wp.cross(p - s, q - s)
    one = wp.dot(n, ring.points[before] - s)
    other = wp.dot(n, ring.points[after] - s)
    if one * other < zero:
        return False
    return thin or one * wp.dot(n, center - s) >= zero


@wp.func
def points_between(captive: CaptiveData, count: int, k: int, memory: HullMemory, slot: int):
    """Bit i: suspension point i sees one of the facets beside edge ``k`` and not the other."""
    edge = captive.edges[k]
    if edge[2] < 0:
        return (1 << count) - 1
    return memory.front[edge[2], slot] ^ memory.front[edge[3], slot]


@wp.func
def edge_below(captive: CaptiveData, k: int, memory: HullMemory, slot: int):
    """1 for an edge below the plane, 2 for one that passes through it, 0 for others."""
    edge = captive.edges[k]
    low = bit_of(memory.low, edge[0], slot) & bit_of(memory.low, edge[1], slot)
    apart = bit_of(memory.under, edge[0], slot) ^ bit_of(memory.under, edge[1], slot)
    return low | (2 * apart)


@wp.func
def note_edges(captive: CaptiveData, start: Hang, memory: HullMemory, slot: int):
    """List edges below the plane from the first entry on, those through it from the last one back;
    count both."""
    hang = start
    last = memory.noted.shape[0] - 1
    count = captive.edges.shape[0]
    for first in range(0, count, wp.static(MANY_AT_ONCE)):
        found = int(0)
        for u in range(wp.static(MANY_AT_ONCE)):
            k = wp.min(first + u, count - 1)
            found = found | (edge_below(captive, k, memory, slot) << (2 * u))
        k = first
        while found != 0 and k < count:
            if (found & 1) != 0:
                memory.noted[hang.noted, slot] = k
                hang.noted += 1
            elif (found & 2) != 0:
                memory.noted[last - hang.through, slot] = k
                hang.through += 1
            found = found >> 2
            k += 1
    return hang


@wp.func
def count_outside(
    ring: RingData, captive: CaptiveData, through: int, memory: HullMemory, slot: int
):
    """How many of the edges that pass through the plane do so outside the polygon."""
    rim = int(0)
    last = memory.noted.shape[0] - 1
    for n in range(through):
        edge = captive.edges[memory.noted[last - n, slot]]
        p = vector_at(memory.place, 3 * edge[0], slot)
        q = vector_at(memory.place, 3 * edge[1], slot)
        rim += leaves(ring, p, q)
    return rim


@wp.func
def note_seen_edges(
    ring: RingData, captive: CaptiveData, noted: int, memory: HullMemory, slot: int
):
    """Leave of the edges below those that may carry a triangle, with the points: how many."""
    left = int(0)
    count = ring.points.shape[0]
    for first in range(0, noted, wp.static(AT_ONCE)):
        masks = wp.vec4i()
        edges = wp.vec4i()
        for u in range(wp.static(AT_ONCE)):
            edges[u] = memory.noted[wp.min(first + u, noted - 1), slot]
            masks[u] = points_between(captive, count, edges[u], memory, slot)
        for u in range(wp.static(AT_ONCE)):
            if first + u < noted and masks[u] != 0:
                memory.noted[left, slot] = edges[u]
                memory.between[left, slot] = masks[u]
                left += 1
    return left


@wp.func
def list_edges(
    ring: RingData,
    captive: CaptiveData,
    center: vec3,
    start: Hang,
    memory: HullMemory,
    slot: int,
):
    """Triangles of an edge of the body and one suspension point; edges outside the rim."""
    hang = note_edges(captive, start, memory, slot)
    hang.rim = count_outside(ring, captive, hang.through, memory, slot)
    hang.noted = note_seen_edges(ring, captive, hang.noted, memory, slot)
    vertices = captive.vertices.shape[0]
    count = ring.points.shape[0]
    room = memory.triangles.shape[0] / 3 - count  # one for each side is left
    n = int(0)
    i = int(0)
    left = int(0)  # bits of the points that are still to be tried, that of ``i`` the first
    edge = wp.vec4i()
    p = vec3()
    q = vec3()
    # Edges and points in one loop: threads need not wait for edges that many points see.
    while left != 0 or n < hang.noted:
        if left == 0:
            k = memory.noted[n, slot]
            edge = captive.edges[k]
            p = vector_at(memory.place, 3 * edge[0], slot)
            q = vector_at(memory.place, 3 * edge[1], slot)
            left = memory.between[n, slot]
            i = 0
            n += 1
        while (left & 1) == 0:
            left = left >> 1
            i += 1
        if spans(ring, i, p, q, center, edge[2] < 0):
            if hang.listed == room:  # more than a hull can have: rounding alone
                hang = add_listed(ring, vertices, hang, memory, slot)
            put_triangle(memory, hang.listed, edge[0], edge[1], vertices + i, slot)
            hang.listed += 1
        left = left >> 1
        i += 1
    return hang


@wp.func
def list_sides(ring: RingData, vertices: int, start: Hang, memory: HullMemory, slot: int):
    """Triangles of a side of the polygon and the vertex that is met first."""
    hang = start
    find_met(ring, hang.below, memory, slot)
    count = ring.points.shape[0]
    for i in range(count):
        following = i + 1
        if following == count:
            following = 0
        j = memory.met[i, slot]
        put_triangle(memory, hang.listed, vertices + i, vertices + following, j, slot)
        hang.listed += 1
    return hang


@wp.func
def hang_solid(
    ring: RingData, captive: CaptiveData, x: vec3, R: mat33, memory: HullMemory, slot: int
):
    """The membrane under a body at ``x`` [m], turned by ``R`` from body axes to M."""
    hang = place_vertices(ring, captive, x, R, memory, slot)
    if hang.below == 0:
        return hang
    hang.area = scalar(0.0)
    vertices = captive.vertices.shape[0]
    hang = look_at_facets(ring, captive, x, R, hang, memory, slot)
    hang = list_edges(ring, captive, x + R * captive.center, hang, memory, slot)
    hang = list_sides(ring, vertices, hang, memory, slot)
    return add_listed(ring, vertices, hang, memory, slot)
