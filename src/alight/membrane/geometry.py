"""The shape of a membrane inside kernels: the hull of a body and of the suspension points.

In axes M (see ``ring``) the suspension points are a convex polygon in z = 0, which is the upper
facet of the hull; what hangs below is the membrane (paper 003, "Trampoline Shape"). Its
triangles are of three kinds, and each is found by a test of its own:

- a facet of the body that lies below the plane and has every suspension point behind it;
- an edge of the body and one suspension point, which sees one of the edge's two facets from in
  front and the other from behind, with all other suspension points behind the triangle;
- a side of the polygon and the vertex that is met first when the plane turns about that side.

No hull is built and nothing is remembered: the tests are a few dot products for each facet, edge
and vertex. They agree with each other because no sign is in doubt: see ``ring.APART``. This is the
hull of paper 003 as long as the body passes through the plane within the polygon; ``rim`` counts
the edges of the body that do not.
"""

from typing import Any

import warp as wp

from alight.core import devices
from alight.core.types import mat33, scalar, vec3
from alight.membrane.ring import RingData


@wp.struct
class CaptiveData:
    """The convex hull of a body, in body axes from its centre of mass (see ``BodyHull``)."""

    vertices: wp.array(dtype=vec3)
    facets: wp.array(dtype=wp.vec3i)
    normals: wp.array(dtype=vec3)
    offsets: wp.array(dtype=scalar)
    edges: wp.array(dtype=wp.vec4i)
    shares: wp.array(dtype=scalar)  # of the hull's surface that belong to each vertex; 1 in all
    center: vec3
    reach: scalar


@wp.struct
class HullMemory:
    """What an evaluation reads (``strain``) and writes, the slot last."""

    place: wp.array2d(dtype=vec3)  # [V, slot] vertices in M [m]
    slope: wp.array2d(dtype=vec3)  # [V + k, slot] derivative of the area by vertex, suspension [m]
    seen: wp.array2d(dtype=vec3)  # [k, slot] suspension points in body axes [m]
    front: wp.array2d(dtype=int)  # [F, slot] bit i: suspension point i sees the facet
    triangles: wp.array2d(dtype=wp.vec3i)  # [any, slot] for Python; vertex V + i is suspension i
    strain: wp.array2d(dtype=vec3)  # [V + beads, slot] of what sticks to vertex or bead, in M [m]
    strain_rate: wp.array2d(dtype=vec3)  # of that [m/s]
    limit: wp.array2d(dtype=scalar)  # of its friction [N]; 0: it does not touch


@wp.struct
class Hang:
    """The shape of a membrane at one instant."""

    area: scalar  # [m^2]; length in 2D [m]
    lowest: scalar  # height of the lowest vertex above the plane [m]
    below: int  # vertices below the plane
    triangles: int  # of the membrane
    through: int  # edges of the body that pass through the plane
    rim: int  # those that do so outside the polygon


def captive_data(arrays: Any, reach: float, device: devices.Device) -> CaptiveData:
    """The struct of a hull (vertices, facets, normals, offsets, edges, shares, centre)."""
    vertices, facets, normals, offsets, edges, shares, center = arrays
    data = CaptiveData()
    data.vertices = wp.array(vertices, dtype=vec3, device=device.name)
    data.facets = wp.array(facets, dtype=wp.vec3i, device=device.name)
    data.normals = wp.array(normals, dtype=vec3, device=device.name)
    data.offsets = wp.array(offsets, dtype=scalar, device=device.name)
    data.edges = wp.array(edges, dtype=wp.vec4i, device=device.name)
    data.shares = wp.array(shares, dtype=scalar, device=device.name)
    data.center, data.reach = vec3(*center), reach
    return data


def by_slot(rows: int, slots: int, dtype: Any, device: devices.Device) -> Any:
    """Zeros [row, slot]: neighbouring slots side by side on a GPU, rows of a slot on a CPU.

    Threads of a GPU read the same row together; a CPU thread reads all rows of its own slot.
    """
    if device.is_gpu or not rows:
        return wp.zeros((rows, slots), dtype=dtype, device=device.name)
    return wp.zeros((slots, rows), dtype=dtype, device=device.name).transpose()


def hull_memory(
    captive: CaptiveData, ring: RingData, slots: int, device: devices.Device, triangles: int = 0
) -> HullMemory:
    """Room for ``slots`` evaluations."""
    sizes = (captive.vertices.shape[0], captive.facets.shape[0])
    count, beads = ring.points.shape[0], ring.beads.shape[0]
    return new_hull_memory(*sizes, count, beads, slots, device, triangles)


def new_hull_memory(
    vertices: int,
    facets: int,
    count: int,
    beads: int,
    slots: int,
    device: devices.Device,
    triangles: int = 0,
) -> HullMemory:
    """Room for ``slots`` evaluations of bodies with up to this number of vertices and facets."""

    def new(rows: int, dtype: Any) -> Any:
        return by_slot(rows, slots, dtype, device)

    memory, sticking = HullMemory(), vertices + beads
    memory.place, memory.slope = new(vertices, vec3), new(vertices + count, vec3)
    memory.seen, memory.front = new(count, vec3), new(facets, int)
    memory.triangles = new(triangles, wp.vec3i)
    memory.strain, memory.strain_rate = new(sticking, vec3), new(sticking, vec3)
    memory.limit = new(sticking, scalar)
    return memory


def triangle_room(captive: CaptiveData, count: int) -> int:
    """Triangles that a membrane can have: those of a hull of all points."""
    return 2 * (int(captive.vertices.shape[0]) + count)


# -- what 2D and 3D share ---------------------------------------------------------------------


@wp.func
def place_vertices(
    ring: RingData, captive: CaptiveData, x: vec3, R: mat33, memory: HullMemory, slot: int
):
    """Vertices in M, no slopes yet; how low the body reaches."""
    hang = Hang()
    hang.area = ring.area
    hang.lowest = scalar(1e300)
    for j in range(captive.vertices.shape[0]):
        p = x + R * captive.vertices[j]
        memory.place[j, slot] = p
        hang.lowest = wp.min(hang.lowest, p[2])
        if p[2] < -ring.shallow:
            hang.below += 1
    for j in range(memory.slope.shape[0]):
        memory.slope[j, slot] = vec3()
    return hang


@wp.func
def first_met(ring: RingData, count: int, side: int, memory: HullMemory, slot: int):
    """The vertex that a line or plane meets last on its way from the polygon down and around.

    It turns about suspension point, or side, number ``side``; by t inward and d down, the vertex
    is the one of the greatest angle atan2(d, t).
    """
    best = int(-1)
    best_t = scalar(0.0)
    best_d = scalar(0.0)
    for j in range(count):
        p = memory.place[j, slot]
        if p[2] < -ring.shallow:
            t = wp.dot(ring.inward[side], p - ring.points[side])
            d = -p[2]
            if best < 0 or best_t * d > best_d * t:
                best = j
                best_t = t
                best_d = d
    return best


@wp.func
def outside(ring: RingData, p: vec3):
    """True for a point of the plane that is not within the polygon."""
    for i in range(ring.points.shape[0]):
        if wp.dot(ring.inward[i], p - ring.points[i]) < scalar(0.0):
            return True
    return False


@wp.func
def count_through(ring: RingData, p: vec3, q: vec3, start: Hang):
    """``start`` with the edge from ``p`` to ``q``, should it pass through the plane."""
    hang = start
    zero = scalar(0.0)
    if (p[2] < zero) != (q[2] < zero):
        hang.through += 1
        part = p[2] / (p[2] - q[2])
        if outside(ring, p + part * (q - p)):
            hang.rim += 1
    return hang


# -- 3D ---------------------------------------------------------------------------------------


@wp.func
def corner_place(ring: RingData, vertices: int, j: int, memory: HullMemory, slot: int):
    """Where corner ``j`` of a triangle is, in M [m]."""
    if j < vertices:
        return memory.place[j, slot]
    return ring.points[j - vertices]


@wp.func
def add_triangle(
    ring: RingData, vertices: int, corners: wp.vec3i, hang: Hang, memory: HullMemory, slot: int
):
    """``hang`` with one triangle more; its part of the slopes, (1/2) e x (side across)."""
    out = hang
    a = corner_place(ring, vertices, corners[0], memory, slot)
    b = corner_place(ring, vertices, corners[1], memory, slot)
    c = corner_place(ring, vertices, corners[2], memory, slot)
    across = wp.cross(b - a, c - a)
    double = wp.length(across)
    if out.triangles < memory.triangles.shape[0]:
        memory.triangles[out.triangles, slot] = corners
    out.triangles += 1
    if double > scalar(0.0):
        unit = across * (scalar(0.5) / double)
        out.area += scalar(0.5) * double
        memory.slope[corners[0], slot] = memory.slope[corners[0], slot] + wp.cross(unit, c - b)
        memory.slope[corners[1], slot] = memory.slope[corners[1], slot] + wp.cross(unit, a - c)
        memory.slope[corners[2], slot] = memory.slope[corners[2], slot] + wp.cross(unit, b - a)
    return out


@wp.func
def look_at_facets(
    ring: RingData, captive: CaptiveData, x: vec3, R: mat33, memory: HullMemory, slot: int
):
    """Fill ``front``: which suspension points see each facet that reaches below the plane."""
    count = ring.points.shape[0]
    for i in range(count):
        memory.seen[i, slot] = wp.transpose(R) * (ring.points[i] - x)
    for f in range(captive.facets.shape[0]):
        facet = captive.facets[f]
        mask = int(0)
        low = wp.min(memory.place[facet[0], slot][2], memory.place[facet[1], slot][2])
        low = wp.min(low, memory.place[facet[2], slot][2])
        if low < -ring.shallow:
            n = captive.normals[f]
            d = captive.offsets[f]
            for i in range(count):
                if wp.dot(n, memory.seen[i, slot]) > d:
                    mask = mask | (1 << i)
        memory.front[f, slot] = mask


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
def add_edges(
    ring: RingData,
    captive: CaptiveData,
    center: vec3,
    start: Hang,
    memory: HullMemory,
    slot: int,
):
    """Triangles of an edge of the body and one suspension point; edges outside the rim."""
    hang = start
    vertices = captive.vertices.shape[0]
    count = ring.points.shape[0]
    for k in range(captive.edges.shape[0]):
        edge = captive.edges[k]
        p = memory.place[edge[0], slot]
        q = memory.place[edge[1], slot]
        if wp.max(p[2], q[2]) < -ring.shallow:
            thin = edge[2] < 0
            mask = int(-1)
            if not thin:
                mask = memory.front[edge[2], slot] ^ memory.front[edge[3], slot]
            if mask != 0:
                for i in range(count):
                    if (mask & (1 << i)) != 0 and spans(ring, i, p, q, center, thin):
                        corners = wp.vec3i(edge[0], edge[1], vertices + i)
                        hang = add_triangle(ring, vertices, corners, hang, memory, slot)
        else:
            hang = count_through(ring, p, q, hang)
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
    count = ring.points.shape[0]
    look_at_facets(ring, captive, x, R, memory, slot)
    for f in range(captive.facets.shape[0]):
        if memory.front[f, slot] == 0:
            facet = captive.facets[f]
            high = wp.max(memory.place[facet[0], slot][2], memory.place[facet[1], slot][2])
            high = wp.max(high, memory.place[facet[2], slot][2])
            if high < -ring.shallow:
                hang = add_triangle(ring, vertices, facet, hang, memory, slot)
    hang = add_edges(ring, captive, x + R * captive.center, hang, memory, slot)
    for i in range(count):
        following = i + 1
        if following == count:
            following = 0
        j = first_met(ring, vertices, i, memory, slot)
        corners = wp.vec3i(vertices + i, vertices + following, j)
        hang = add_triangle(ring, vertices, corners, hang, memory, slot)
    return hang


# -- 2D ---------------------------------------------------------------------------------------


@wp.func
def add_piece(a: int, b: int, at: vec3, to: vec3, hang: Hang, memory: HullMemory, slot: int):
    """``hang`` with the straight piece between corners ``a`` at ``at`` and ``b`` at ``to``."""
    out = hang
    length = wp.length(to - at)
    if out.triangles < memory.triangles.shape[0]:
        memory.triangles[out.triangles, slot] = wp.vec3i(a, b, -1)
    out.triangles += 1
    if length > scalar(0.0):
        unit = (to - at) / length
        out.area += length
        memory.slope[a, slot] = memory.slope[a, slot] - unit
        memory.slope[b, slot] = memory.slope[b, slot] + unit
    return out


@wp.func
def hang_plane(
    ring: RingData, captive: CaptiveData, x: vec3, R: mat33, memory: HullMemory, slot: int
):
    """The same in the plane of x and z: pieces of a line from the left point to the right."""
    hang = place_vertices(ring, captive, x, R, memory, slot)
    if hang.below == 0:
        return hang
    hang.area = scalar(0.0)
    count = captive.vertices.shape[0]
    j = first_met(ring, count, 0, memory, slot)
    last = first_met(ring, count, 1, memory, slot)
    p = memory.place[j, slot]
    hang = add_piece(count, j, ring.points[0], p, hang, memory, slot)
    while j != last:
        following = j + 1
        if following == count:
            following = 0
        q = memory.place[following, slot]
        hang = add_piece(j, following, p, q, hang, memory, slot)
        j = following
        p = q
    hang = add_piece(last, count + 1, p, ring.points[1], hang, memory, slot)
    if count > 1:
        p = memory.place[count - 1, slot]
        for k in range(count):
            q = memory.place[k, slot]
            hang = count_through(ring, p, q, hang)
            p = q
    return hang
