"""The memory in which kernels find the shape of a membrane, and what presses on it.

Arrays are [row, slot]. Threads of a GPU that are side by side have bodies of their own in poses of
their own: where one has to look closely at an edge or vertex, its neighbours mostly have not, and
would wait. So all first note in lists, quickly and together, what concerns them, and then each
works through its own lists, the n-th entry of one along with the n-th entries of all. Entries are
in ascending order, so that lists change no order in which sums are taken.

A vector is three rows, its components: threads that read the same vector then read what lies side
by side. Vertices of the hull are counted from 0, beads of the hoop follow them.
"""

from typing import Any

import warp as wp

from alight.core import devices
from alight.core.rows import by_slot, put_vector
from alight.core.types import scalar, vec3

#: Entries that are read before anything of them is written: a thread waits for memory once, not
#: for each, as no compiler moves what is read before what is written.
AT_ONCE = 4
#: The same of what leaves two bits or one.
MANY_AT_ONCE = 8

mat43 = wp.types.matrix(shape=(AT_ONCE, 3), dtype=scalar)


@wp.struct
class HullMemory:
    """What an evaluation reads (``strain``) and writes, the slot last."""

    place: wp.array2d(dtype=scalar)  # [3 V, slot] vertices in M [m]
    slope: wp.array2d(dtype=scalar)  # [3 V, slot] derivative of the area by vertices below [m]
    pull: wp.array2d(dtype=scalar)  # [3 k, slot] by suspension points [m]; no rows: not wanted
    seen: wp.array2d(dtype=scalar)  # [3 k, slot] suspension points in body axes [m]
    low: wp.array2d(dtype=int)  # [V / 32, slot] a bit for each vertex: it is below the plane
    under: wp.array2d(dtype=int)  # the same, by however little
    below: wp.array2d(dtype=int)  # [V, slot] list of the vertices below
    front: wp.array2d(dtype=int)  # [F, slot] bit i: suspension point i sees the facet
    noted: wp.array2d(dtype=int)  # [any, slot] lists of facets, edges, vertices, beads, in turn
    between: wp.array2d(dtype=int)  # [E, slot] bit i: point i sees one side of a listed edge
    met: wp.array2d(dtype=int)  # [k, slot] vertex that each side meets first
    triangles: wp.array2d(dtype=int)  # [3 any, slot] list of corners; V + i is suspension point i
    touched: wp.array2d(dtype=int)  # [1 + V + beads, slot] how many press, and the list of them
    strain: wp.array2d(dtype=scalar)  # [3 (V + beads), slot] of what sticks there, in M [m]
    strain_rate: wp.array2d(dtype=scalar)  # of that [m/s]; 0 where nothing presses
    limit: wp.array2d(dtype=scalar)  # [V + beads, slot] of its friction [N]; 0: it does not touch


def new_hull_memory(
    vertices: int,
    facets: int,
    count: int,
    beads: int,
    slots: int,
    device: devices.Device,
    pulls: bool = False,
) -> HullMemory:
    """Room for ``slots`` evaluations of bodies with up to this number of vertices and facets;
    ``pulls``: slopes by suspension points too."""

    def new(rows: int, dtype: Any = scalar) -> Any:
        return by_slot(rows, slots, dtype, device)

    memory, sticking = HullMemory(), vertices + beads
    memory.place, memory.slope = new(3 * vertices), new(3 * vertices)
    memory.pull, memory.seen = new(3 * count if pulls else 0), new(3 * count)
    words = (vertices + 31) // 32
    memory.low, memory.under = new(words, int), new(words, int)
    memory.below, memory.front = new(vertices, int), new(facets, int)
    memory.noted = new(most_noted(vertices, facets, beads), int)
    memory.between, memory.met = new(facets + facets // 2 + 1, int), new(count, int)
    memory.triangles = new(3 * most_triangles(vertices, facets, count), int)
    memory.touched = new(1 + sticking, int)
    memory.strain, memory.strain_rate = new(3 * sticking), new(3 * sticking)
    memory.limit = new(sticking)
    return memory


def most_noted(vertices: int, facets: int, beads: int) -> int:
    """Entries of the longest list: of vertices, edges (three for two facets) or beads."""
    return max(vertices, facets + facets // 2, beads)


def most_triangles(vertices: int, facets: int, count: int) -> int:
    """Triangles that are listed at once: those of a hull of all points, and one for each side."""
    return max(facets, 2 * (vertices + count)) + count


def hull_bytes(vertices: int, facets: int, count: int, beads: int) -> int:
    """What one slot takes [bytes], about."""
    lists = most_noted(vertices, facets, beads) + 3 * most_triangles(vertices, facets, count)
    each = 48 * vertices + 28 * count + 60 * (vertices + beads)
    return each + 4 * (lists + 2 * vertices + 2 * facets + facets // 2 + beads)


def vectors(rows: Any) -> Any:
    """(n, slots, 3) the vectors in an array [3 n, slot], on the host."""
    values = rows.numpy()
    return values.reshape(len(values) // 3, 3, values.shape[1]).transpose(0, 2, 1)


@wp.func
def bit_of(bits: wp.array2d(dtype=int), j: int, slot: int):
    """The bit of vertex ``j``, 0 or 1."""
    return (bits[j >> 5, slot] >> (j & 31)) & 1


@wp.func
def clear_touched(memory: HullMemory, slot: int):
    """What was pressed in the last evaluation is not."""
    for n in range(memory.touched[0, slot]):
        j = memory.touched[1 + n, slot]
        put_vector(memory.strain_rate, 3 * j, slot, vec3())
        memory.limit[j, slot] = scalar(0.0)
    memory.touched[0, slot] = 0


@wp.func
def put_touched(memory: HullMemory, n: int, j: int, rate: vec3, limit: scalar, slot: int):
    """Entry ``n`` of what is pressed: vertex or bead ``j``, how its strain changes, its limit."""
    memory.touched[1 + n, slot] = j
    put_vector(memory.strain_rate, 3 * j, slot, rate)
    memory.limit[j, slot] = limit
