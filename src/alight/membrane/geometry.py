"""The shape of a membrane inside kernels: the hull of a body and of the suspension points.

What 2D and 3D share; ``hang_plane`` and ``hang_solid`` find the shapes.

In axes M (see ``ring``) the suspension points are a convex polygon in z = 0, which is the upper
facet of the hull; what hangs below is the membrane (paper 003, "Trampoline Shape"). Its
triangles are of three kinds, and each is found by a test of its own:

- a facet of the body that lies below the plane and has every suspension point behind it;
- an edge of the body and one suspension point, which sees one of the edge's two facets from in
  front and the other from behind, with all other suspension points behind the triangle;
- a side of the polygon and the vertex that is met first when the plane turns about that side.

No hull is built and nothing is remembered: the tests are a few dot products for each facet, edge
and vertex that is below the plane. These are listed first, and so are the triangles, before any is
added up (``memory`` says why). The tests agree with each other because no sign is in doubt: see
``ring.APART``. This is the hull of paper 003 as long as the body passes through the plane within
the polygon; ``rim`` counts the edges of the body that do not.
"""

from typing import Any

import warp as wp

from alight.core import devices
from alight.core.rows import put_vector, vector_at
from alight.core.types import mat33, scalar, vec3
from alight.membrane.memory import AT_ONCE, HullMemory, mat43, new_hull_memory
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
class Hang:
    """The shape of a membrane at one instant."""

    area: scalar  # [m^2]; length in 2D [m]
    lowest: scalar  # height of the lowest vertex above the plane [m]
    below: int  # vertices below the plane
    hung: int  # vertices that membrane may hang on: those listed in ``HullMemory.below``
    triangles: int  # of the membrane
    listed: int  # triangles that are still to be added
    noted: int  # edges that may carry one
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


def hull_memory(
    captive: CaptiveData, ring: RingData, slots: int, device: devices.Device, pulls: bool = False
) -> HullMemory:
    """Room for ``slots`` evaluations; ``pulls``: slopes by suspension points too."""
    sizes = (captive.vertices.shape[0], captive.facets.shape[0])
    count, beads = ring.points.shape[0], ring.beads.shape[0]
    return new_hull_memory(*sizes, count, beads, slots, device, pulls)


@wp.func
def place_vertices(
    ring: RingData, captive: CaptiveData, x: vec3, R: mat33, memory: HullMemory, slot: int
):
    """Vertices in M, those below the plane listed, with no slopes yet; how low the body reaches."""
    hang = Hang()
    hang.area = ring.area
    hang.lowest = scalar(1e300)
    low = int(0)
    under = int(0)
    count = captive.vertices.shape[0]
    for first in range(0, count, wp.static(AT_ONCE)):
        at = mat43()
        for u in range(wp.static(AT_ONCE)):
            p = x + R * captive.vertices[wp.min(first + u, count - 1)]
            for i in range(3):
                at[u, i] = p[i]
        for u in range(wp.static(AT_ONCE)):
            j = first + u
            if j < count:
                put_vector(memory.place, 3 * j, slot, vec3(at[u, 0], at[u, 1], at[u, 2]))
                hang.lowest = wp.min(hang.lowest, at[u, 2])
                if at[u, 2] < -ring.shallow:
                    memory.below[hang.below, slot] = j
                    hang.below += 1
                    low = low | (1 << (j & 31))
                if at[u, 2] < scalar(0.0):
                    under = under | (1 << (j & 31))
                if (j & 31) == 31 or j == count - 1:
                    memory.low[j >> 5, slot] = low
                    memory.under[j >> 5, slot] = under
                    low = 0
                    under = 0
    hang.hung = hang.below
    for n in range(hang.below):
        put_vector(memory.slope, 3 * memory.below[n, slot], slot, vec3())
    for r in range(memory.pull.shape[0]):
        memory.pull[r, slot] = scalar(0.0)
    return hang


@wp.func
def find_met(ring: RingData, below: int, memory: HullMemory, slot: int):
    """The vertices that lines or planes meet last on their way from the polygon down and around.

    Each turns about a suspension point, or side; by t inward and d down, the vertex is the one of
    the greatest angle atan2(d, t).
    """
    count = ring.points.shape[0]
    for first in range(0, count, 3):  # three sides at once, their vertices in registers
        met = wp.vec3i()
        inward = vec3()
        down = vec3()
        for n in range(below):
            j = memory.below[n, slot]
            p = vector_at(memory.place, 3 * j, slot)
            d = -p[2]
            for u in range(3):
                i = wp.min(first + u, count - 1)
                t = wp.dot(ring.inward[i], p - ring.points[i])
                if n == 0 or inward[u] * d > down[u] * t:
                    met[u] = j
                    inward[u] = t
                    down[u] = d
        for u in range(3):
            memory.met[wp.min(first + u, count - 1), slot] = met[u]


@wp.func
def outside(ring: RingData, p: vec3):
    """True for a point of the plane that is not within the polygon."""
    for i in range(ring.points.shape[0]):
        if wp.dot(ring.inward[i], p - ring.points[i]) < scalar(0.0):
            return True
    return False


@wp.func
def leaves(ring: RingData, p: vec3, q: vec3):
    """1 if the edge from ``p`` to ``q``, which passes through the plane, does so outside."""
    part = p[2] / (p[2] - q[2])
    if outside(ring, p + part * (q - p)):
        return 1
    return 0


@wp.func
def slope_at(vertices: int, corner: int, memory: HullMemory, slot: int):
    """What the area grows by as a corner of it is moved; 0 where that is not wanted."""
    if corner < vertices:
        return vector_at(memory.slope, 3 * corner, slot)
    if memory.pull.shape[0] > 0:
        return vector_at(memory.pull, 3 * (corner - vertices), slot)
    return vec3()


@wp.func
def put_slope(vertices: int, corner: int, value: vec3, memory: HullMemory, slot: int):
    """The same, from now on."""
    if corner < vertices:
        put_vector(memory.slope, 3 * corner, slot, value)
    elif memory.pull.shape[0] > 0:
        put_vector(memory.pull, 3 * (corner - vertices), slot, value)


@wp.func
def put_triangle(memory: HullMemory, n: int, a: int, b: int, c: int, slot: int):
    """Entry ``n`` of the list of triangles."""
    memory.triangles[3 * n, slot] = a
    memory.triangles[3 * n + 1, slot] = b
    memory.triangles[3 * n + 2, slot] = c
