"""A tree of boxes and discs over millions of triangles: how it is built, how kernels walk it.

Each node has a box along the axes and, as a piece of ground is wide and flat, a disc: a cylinder
along the mean normal of its triangles, whose height shrinks with the square of its width. Close to
the ground boxes decide. Seen from a height H, boxes of width s alone would leave about H / s
triangles to look at; discs leave a few dozen.

The tree is a complete binary one: node 1 is the root, nodes 2i and 2i + 1 are the children of i,
and the leaves begin at ``leaves``, a power of two. Triangles are sorted so that leaf j holds those
from ceil(j n / leaves) on: no links and no counts are stored, and the way back up is a shift. Each
node is halved at the median along the longest side of its triangles' centres. A walk goes to the
nearer child first and keeps one bit a level that says whether the other child is still to be seen:
no stack, on a CPU as on a GPU.
"""

import functools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.core.checks import Array
from alight.core.types import scalar, vec3
from alight.core.warp_setup import POINT_OPTIONS

#: Triangles in a leaf: more than half this and no more than this on average.
LEAF = 3

#: Of a node: lower corner of its box, upper corner, from the tree's origin [m]; axis of its disc,
#: which goes through the middle of the box; bottom and top of the disc along it, radius [m].
Node = wp.types.vector(length=12, dtype=wp.float32)

#: Boxes and discs are larger than they need be by this share: far more than their rounding.
SLACK = 1e-6

Order = npt.NDArray[np.int64]


@wp.struct
class BoxTree:
    """Nodes in single precision, rounded outward: half the memory, and no triangle is missed."""

    count: int  # triangles
    leaves: int  # a power of two
    depth: int  # its logarithm
    origin: vec3  # that nodes are relative to [m]
    rise: scalar  # how far what stands on a triangle may reach beyond it [m]
    node: wp.array(dtype=Node)


# -- in kernels -------------------------------------------------------------------------------


@wp.func
def leaf_start(tree: BoxTree, leaf: int):
    """The first triangle of a leaf; that of the leaf after it is where it ends."""
    product = wp.int64(leaf) * wp.int64(tree.count) + wp.int64(tree.leaves - 1)
    return int(product >> wp.int64(tree.depth))


@wp.struct
class Extent:
    """Around what is asked about: a box along the axes, its middle, and a ball about that [m]."""

    lower: vec3
    upper: vec3
    center: vec3
    radius: scalar


@wp.func
def box_gap2(node: Node, lower: vec3, upper: vec3):
    """Squared distance [m^2] from a node's box to another box."""
    zero = scalar(0.0)
    x = wp.max(wp.max(scalar(node[0]) - upper[0], lower[0] - scalar(node[3])), zero)
    y = wp.max(wp.max(scalar(node[1]) - upper[1], lower[1] - scalar(node[4])), zero)
    z = wp.max(wp.max(scalar(node[2]) - upper[2], lower[2] - scalar(node[5])), zero)
    return x * x + y * y + z * z


@wp.func
def node_axis(node: Node):
    """The axis of a node's disc, of unit length to single precision."""
    return vec3(scalar(node[6]), scalar(node[7]), scalar(node[8]))


@wp.func
def disc_gap2(node: Node, center: vec3, spread: scalar, radius: scalar):
    """Squared distance [m^2] from a node's disc to a cylinder along its axis.

    The cylinder reaches ``spread`` up and down from ``center`` and ``radius`` sideways [m].
    """
    half = scalar(0.5)
    axis = node_axis(node)
    d = center - half * vec3(
        scalar(node[0]) + scalar(node[3]),
        scalar(node[1]) + scalar(node[4]),
        scalar(node[2]) + scalar(node[5]),
    )
    height = wp.dot(axis, d)
    off = wp.max(scalar(node[9]) - height, height - scalar(node[10])) - spread
    above = wp.max(off, scalar(0.0))
    gap2 = above * above
    # The axis is of unit length to single precision only: its square is mended to twice that.
    lateral2 = wp.dot(d, d) - height * height * (scalar(2.0) - wp.dot(axis, axis))
    edge = scalar(node[11]) + radius
    if lateral2 > edge * edge:
        beside = wp.sqrt(lateral2) - edge
        gap2 += beside * beside
    return gap2


@functools.cache
def ordered_walk(Data: Any, Query: Any, view: Any, value: Any, limit: Any, visit: Any) -> Any:
    """A Warp function ``(data, query) -> query`` that visits what matters, smallest value first.

    ``Data`` is a struct with a ``BoxTree`` as ``data.mesh.tree``, ``view(tree, query)`` is what
    stays the same on the way, and ``value(tree, number, query, view)`` is at most that of
    anything a node holds. Nodes from ``limit(query)`` on are left out; ``visit(data, query,
    triangle) -> query`` is called for each triangle of the leaves that are left, and may lower it.
    """

    @wp.func
    def walk(data: Data, given: Query):
        leaves = data.mesh.tree.leaves
        seen = view(data.mesh.tree, given)
        now = given
        node = int(1)
        pending = int(0)  # bit k: k levels up, the other child is still to be seen
        walking = value(data.mesh.tree, 1, now, seen) < limit(now)
        while walking:
            deeper = bool(False)
            if node < leaves:
                child = 2 * node
                near = value(data.mesh.tree, child, now, seen)
                far = value(data.mesh.tree, child + 1, now, seen)
                if far < near:
                    child += 1
                    swap = near
                    near = far
                    far = swap
                if near < limit(now):
                    deeper = True
                    node = child
                    pending = 2 * pending + wp.where(far < limit(now), 1, 0)
            else:
                leaf = node - leaves
                end = leaf_start(data.mesh.tree, leaf + 1)
                for i in range(leaf_start(data.mesh.tree, leaf), end):
                    now = visit(data, now, i)
            while walking and not deeper:
                if pending == 0:
                    walking = False
                else:
                    while (pending & 1) == 0:
                        pending = pending >> 1
                        node = node >> 1
                    pending -= 1
                    node = node ^ 1
                    # What was found since may have made it too far.
                    deeper = value(data.mesh.tree, node, now, seen) < limit(now)
        return now

    return walk


@functools.cache
def walk_function(Data: Any, Query: Any, spread: Any, visit: Any) -> Any:
    """A Warp function ``(data, query) -> query`` that visits what may be near, nearest first.

    An ``ordered_walk`` by distance. ``Query`` is a struct with an ``extent`` and ``limit2``:
    nothing farther than the root of ``limit2`` [m^2] matters. ``spread(query, axis)`` is how far
    what is asked about reaches along an axis from the centre of its extent [m]. What stands on a
    triangle, and reaches beyond it by ``tree.rise`` at most, can be visited with it.
    """

    @wp.func
    def extent_of(tree: BoxTree, query: Query):
        """What is asked about, from the tree's origin, grown by what stands on triangles."""
        rise = vec3(tree.rise, tree.rise, tree.rise)
        extent = Extent()
        extent.lower = query.extent.lower - tree.origin - rise
        extent.upper = query.extent.upper - tree.origin + rise
        extent.center = query.extent.center - tree.origin
        extent.radius = query.extent.radius + tree.rise
        return extent

    @wp.func
    def gap2_of(tree: BoxTree, number: int, query: Query, extent: Extent):
        """A squared distance [m^2] that all a node holds keeps from what is asked about."""
        node = tree.node[number]
        gap2 = box_gap2(node, extent.lower, extent.upper)
        if gap2 < query.limit2:
            along = spread(query, node_axis(node)) + tree.rise
            gap2 = wp.max(gap2, disc_gap2(node, extent.center, along, extent.radius))
        return gap2

    @wp.func
    def limit2_of(query: Query):
        return query.limit2

    return ordered_walk(Data, Query, extent_of, gap2_of, limit2_of, visit)


# -- on the host ------------------------------------------------------------------------------


class Built(NamedTuple):
    """A tree as it was built."""

    order: Order
    """(n,) the triangles in the order of leaves."""
    leaves: int
    """Number of leaves, a power of two."""
    origin: Array
    """(3,) what nodes are relative to [m]."""
    node: npt.NDArray[np.float32]
    """(2 leaves, 12) as ``Node``; row 0 is not used."""


def build(corners: Array) -> Built:
    """The tree over triangles (n, 3, 3) [m]."""
    leaves = 1 << max(0, -(-len(corners) // LEAF) - 1).bit_length()
    order = median_order(corners.mean(axis=1), leaves)
    flat = corners.reshape(-1, 3)
    origin = 0.5 * (flat.min(axis=0) + flat.max(axis=0))
    return Built(order, leaves, origin, _nodes(corners[order] - origin, leaves))


def tree_data(built: Built, device: devices.Device, rise: float = 0.0) -> Any:
    """The tree on a device; ``rise`` [m] as in ``BoxTree``."""
    tree = BoxTree()
    tree.count, tree.leaves = len(built.order), built.leaves
    tree.depth, tree.rise = built.leaves.bit_length() - 1, rise
    tree.origin = vec3(*built.origin)
    tree.node = wp.array(built.node, dtype=Node, device=device.name)
    return tree


def leaf_starts(count: int, leaves: int) -> Order:
    """(leaves + 1,) the first triangle of each leaf, and their number."""
    return -(-np.arange(leaves + 1, dtype=np.int64) * count // leaves)


def median_order(centers: Array, leaves: int) -> Order:
    """(n,) points (n, 3) in the order of ``leaves``; all nodes of a level are halved at once.

    Every node gets room for as many points as the largest; what is missing are blanks, which are
    shared out between the two halves so that leaves come out as ``leaf_starts`` says.
    """
    count = len(centers)
    room = -(-count // leaves)
    order: Order = np.full(room * leaves, -1, np.int64)
    order[:count] = np.arange(count)
    place = np.full((3, room * leaves), np.nan, np.float32)
    place[:, :count] = (centers - centers.mean(axis=0)).T
    rows = 1
    while rows < leaves:
        order, place = _halved(order.reshape(rows, -1), place.reshape(3, rows, -1), count, leaves)
        rows *= 2
    order = order.reshape(leaves, room)
    return order[order >= 0]


def _halved(order: Order, place: Any, count: int, leaves: int) -> tuple[Order, Any]:
    """Each row of a level sorted into a lower and an upper half."""
    rows, size = order.shape
    extent = np.fmax.reduce(place, axis=2) - np.fmin.reduce(place, axis=2)
    key = place[np.argmax(extent, axis=0), np.arange(rows)]
    blank = order < 0
    with_blanks = np.flatnonzero(blank.any(axis=1))
    if len(with_blanks):
        per_half = leaves // (2 * rows)
        starts = leaf_starts(count, leaves)
        middle = 2 * per_half * with_blanks + per_half
        to_lower = size // 2 - (starts[middle] - starts[middle - per_half])
        some = blank[with_blanks]
        rank = np.cumsum(some, axis=1)
        ends = np.where(rank <= to_lower[:, None], -np.inf, np.inf).astype(np.float32)
        key[with_blanks] = np.where(some, ends, key[with_blanks])
    split = np.argpartition(key, size // 2 - 1, axis=1)
    split += size * np.arange(rows)[:, None]
    return order.ravel()[split], np.stack([along.ravel()[split] for along in place])


def _nodes(corners: Array, leaves: int) -> npt.NDArray[np.float32]:
    """(2 leaves, 12) boxes and discs over sorted triangles (n, 3, 3)."""
    starts = leaf_starts(len(corners), leaves)
    number = np.maximum(np.arange(2 * leaves), 1)
    level = np.frexp(number.astype(np.float64))[1] - 1
    width = leaves >> level
    first = (number - (1 << level)) * width
    begin, end = starts[first], starts[first + width]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    total = np.concatenate([np.zeros((1, 3)), np.cumsum(area, axis=0)])
    axis = total[end] - total[begin]
    length = np.linalg.norm(axis, axis=1, keepdims=True)
    axis = np.where(length > 0.0, axis / np.maximum(length, 1e-300), [0.0, 0.0, 1.0])
    cpu = devices.resolve("cpu")
    out = wp.zeros(2 * leaves, dtype=Node, device=cpu.name)
    spans = np.column_stack([begin, end]).astype(np.int32)
    inputs = [
        wp.array(np.ascontiguousarray(corners.reshape(-1, 3)), dtype=vec3, device=cpu.name),
        wp.array(spans, dtype=wp.vec2i, device=cpu.name),
        wp.array(axis, dtype=vec3, device=cpu.name),
    ]
    devices.launch(_node_kernel, 2 * leaves, inputs, cpu, outputs=[out])
    return out.numpy()


@wp.func
def single(x: vec3):
    """x rounded to single precision."""
    return vec3(scalar(wp.float32(x[0])), scalar(wp.float32(x[1])), scalar(wp.float32(x[2])))


@wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
def _node_kernel(
    offset: int,
    corner: wp.array(dtype=vec3),
    span: wp.array(dtype=wp.vec2i),
    axis: wp.array(dtype=vec3),
    node_out: wp.array(dtype=Node),
) -> None:
    """Box and disc of one node over its triangles' corners."""
    i = wp.tid() + offset
    begin = 3 * span[i][0]
    end = 3 * span[i][1]
    lower = corner[begin]
    upper = lower
    for k in range(begin + 1, end):
        lower = wp.min(lower, corner[k])
        upper = wp.max(upper, corner[k])
    # By so much rounding may move anything here.
    size = wp.length(lower) + wp.length(upper)
    slack = scalar(SLACK) * vec3(size, size, size)
    lower = single(lower - slack)
    upper = single(upper + slack)
    middle = scalar(0.5) * (lower + upper)
    n = single(axis[i])
    unit = wp.normalize(n)
    bottom = scalar(wp.inf)
    top = scalar(-wp.inf)
    square = scalar(0.0)
    for k in range(begin, end):
        d = corner[k] - middle
        height = wp.dot(n, d)
        bottom = wp.min(bottom, height)
        top = wp.max(top, height)
        aside = d - wp.dot(unit, d) * unit
        square = wp.max(square, wp.dot(aside, aside))
    out = Node()
    for k in range(3):
        out[k] = wp.float32(lower[k])
        out[3 + k] = wp.float32(upper[k])
        out[6 + k] = wp.float32(n[k])
    out[9] = wp.float32(bottom - slack[0])
    out[10] = wp.float32(top + slack[0])
    out[11] = wp.float32(wp.sqrt(square) + slack[0])
    node_out[i] = out
