"""The potential of a polyhedron at many points: facets near, clusters of facets far.

A facet's share of the potential, 1/2 G rho integral of n.(y - x) / |y - x| over the facet, is
that of four harmonic densities: n.(y - c) and the three parts of n, with c the centre of the
cluster the facet is in. So a cluster far from a point is given by four multipole series, and a
sum over a million facets by some hundred clusters and the facets close by. This is how tables
are filled; simulations use the table or the closed form.
"""

import functools
import math
from typing import Any, NamedTuple

import numpy as np
import warp as wp

from alight.core import devices
from alight.core.checks import Array
from alight.core.types import scalar, vec3
from alight.gravity.multipole import index, triangle_rule
from alight.gravity.tabulated.near_facets import Patches, facet_terms, patch_data, piece_sizes

DEGREE = 7
LEAF = 8

eight = wp.types.vector(length=8, dtype=scalar)


@wp.struct
class ClusterTree:
    """A complete binary tree of clusters; node j has children 2j and 2j + 1, the root is 1."""

    patches: Patches
    depth: int
    opening: scalar  # a cluster is far when its radius is below this share of its distance
    center: wp.array(dtype=vec3)
    radius: wp.array(dtype=scalar)
    moment: wp.array(dtype=eight, ndim=2)  # (node, harmonic): C and S of the four densities


class Clusters(NamedTuple):
    """The tree's shape on the host, with pieces in tree order."""

    order: Any
    depth: int
    center: Array
    radius: Array


def split(corner: Array) -> Clusters:
    """Halve the triangles at the median of the longest axis until leaves are small."""
    count = len(corner)
    depth = max(0, math.ceil(math.log2(count / LEAF)))
    middle = corner.mean(axis=1)
    order = np.arange(count)
    center = np.zeros((2 ** (depth + 1), 3))
    radius = np.zeros(2 ** (depth + 1))
    for level in range(depth + 1):
        edges = np.arange(2**level + 1) * count >> level
        corners = corner[order]
        low = np.minimum.reduceat(corners.min(axis=1), edges[:-1])
        high = np.maximum.reduceat(corners.max(axis=1), edges[:-1])
        segment = np.repeat(np.arange(2**level), np.diff(edges))
        nodes = slice(2**level, 2 ** (level + 1))
        center[nodes] = 0.5 * (low + high)
        far = np.linalg.norm(corners - center[nodes][segment][:, None], axis=2).max(axis=1)
        radius[nodes] = np.maximum.reduceat(far, edges[:-1])
        if level < depth:
            axis = np.argmax(high - low, axis=1)[segment]
            order = order[np.lexsort((middle[order, axis], segment))]
    return Clusters(order, depth, center, radius)


@wp.func
def node_range(node: int, count: int):
    """First piece of a node and the first past it: a level has 2^level equal parts."""
    level = int(0)
    n = node
    while n > 1:
        n = n >> 1
        level += 1
    part = wp.int64(node - (1 << level))
    first = int((part * wp.int64(count)) >> wp.int64(level))
    last = int(((part + wp.int64(1)) * wp.int64(count)) >> wp.int64(level))
    return wp.vec2i(first, last)


@functools.cache
def _moment_kernel(degree: int) -> Any:
    @wp.kernel(module="unique", enable_backward=False)
    def cluster_moments(
        offset: int,
        patches: Patches,
        level: int,
        center: wp.array(dtype=vec3),
        radius: wp.array(dtype=scalar),
        u: wp.array(dtype=scalar),
        v: wp.array(dtype=scalar),
        weight: wp.array(dtype=scalar),
        moment_out: wp.array(dtype=eight, ndim=2),
    ) -> None:
        node = (1 << level) + wp.tid() + offset
        count = patches.normal.shape[0]
        o = center[node]
        scale = scalar(1.0) / radius[node]
        pieces = node_range(node, count)
        for f in range(pieces[0], pieces[1]):
            n = patches.normal[f]
            a = patches.corner[f, 0]
            b = patches.corner[f, 1] - a
            c = patches.corner[f, 2] - a
            area = wp.dot(n, wp.cross(b, c))
            for q in range(weight.shape[0]):
                y = a + u[q] * b + v[q] * c - o
                s = wp.dot(n, y)
                x = scale * y
                square = wp.length_sq(x)
                c_diagonal = area * weight[q]
                s_diagonal = scalar(0.0)
                for m in range(wp.static(degree + 1)):
                    if m > 0:
                        k = scalar(2 * m - 1)
                        new = k * (x[0] * c_diagonal - x[1] * s_diagonal)
                        s_diagonal = k * (x[0] * s_diagonal + x[1] * c_diagonal)
                        c_diagonal = new
                    c_now = c_diagonal
                    s_now = s_diagonal
                    c_last = scalar(0.0)
                    s_last = scalar(0.0)
                    for i in range(m, wp.static(degree + 1)):
                        row = i * (i + 1) // 2 + m
                        moment_out[node, row] += eight(
                            s * c_now, n[0] * c_now, n[1] * c_now, n[2] * c_now,
                            s * s_now, n[0] * s_now, n[1] * s_now, n[2] * s_now,
                        )  # fmt: skip
                        g = scalar(1.0) / scalar(i + 1 - m)
                        p = g * scalar(2 * i + 1) * x[2]
                        t = g * scalar(i + m) * square
                        c_new = p * c_now - t * c_last
                        s_new = p * s_now - t * s_last
                        c_last = c_now
                        s_last = s_now
                        c_now = c_new
                        s_now = s_new

    return cluster_moments


def tree_data(corner: Array, strength: float, device: devices.Device, opening: float = 0.3) -> Any:
    """The tree of triangles ``(n, 3, 3)``, its moments up to ``DEGREE``, on a device."""
    clusters = split(corner)
    tree = ClusterTree()
    tree.patches = patch_data(corner[clusters.order], strength, device)
    tree.depth, tree.opening = clusters.depth, opening
    tree.center = wp.array(clusters.center, dtype=vec3, device=device.name)
    tree.radius = wp.array(clusters.radius, dtype=scalar, device=device.name)
    shape = (len(clusters.center), index(DEGREE + 1, 0))
    tree.moment = wp.zeros(shape, dtype=eight, device=device.name)
    largest = float(piece_sizes(corner).max())
    for level in range(clusters.depth + 1):
        # Facets small against their cluster need fewer points.
        ratio = largest / float(clusters.radius[2**level : 2 ** (level + 1)].min())
        rule = triangle_rule(5 if ratio > 0.2 else 3 if ratio > 0.05 else 2)
        arrays = [wp.array(a, dtype=scalar, device=device.name) for a in rule]
        inputs = [tree.patches, level, tree.center, tree.radius, *arrays, tree.moment]
        devices.launch(_moment_kernel(DEGREE), 2**level, inputs, device, min_items=1)
    moment = tree.moment.numpy()
    for n in range(DEGREE + 1):
        for m in range(n + 1):
            factor = (1.0 if m == 0 else 2.0) * math.factorial(n - m) / math.factorial(n + m)
            moment[:, index(n, m)] *= factor
    tree.moment.assign(moment)
    return tree


@functools.cache
def tree_potential(width: int) -> Any:
    """The potential at ``width`` close points, ``(tree, px, py, pz, middle, spread)``.

    ``middle`` and ``spread`` bound the points: which clusters are far is decided for all at once.
    """
    term = facet_terms(width)
    lanes, root, potential = term.lanes, term.root, term.potential
    degree = DEGREE

    @wp.func
    def far_cluster(tree: ClusterTree, node: int, px: lanes, py: lanes, pz: lanes):
        o = tree.center[node]
        a = tree.radius[node]
        x = px - lanes(o[0])
        y = py - lanes(o[1])
        z = pz - lanes(o[2])
        square = wp.cw_mul(x, x) + wp.cw_mul(y, y) + wp.cw_mul(z, z)
        q = wp.cw_div(lanes(a), square)
        tail = a * q
        sx = wp.cw_mul(q, x)
        sy = wp.cw_mul(q, y)
        sz = wp.cw_mul(q, z)
        v_diagonal = wp.cw_div(lanes(scalar(1.0)), root(square))
        w_diagonal = lanes()
        s0 = lanes()
        s1 = lanes()
        s2 = lanes()
        s3 = lanes()
        # A number that loops cannot see: unrolled, 25 s of compiling for the same speed.
        orders = int(wp.static(degree + 1))
        for m in range(orders):
            if m > 0:
                k = scalar(2 * m - 1)
                new = k * (wp.cw_mul(sx, v_diagonal) - wp.cw_mul(sy, w_diagonal))
                w_diagonal = k * (wp.cw_mul(sx, w_diagonal) + wp.cw_mul(sy, v_diagonal))
                v_diagonal = new
            v_now = v_diagonal
            w_now = w_diagonal
            v_last = lanes()
            w_last = lanes()
            for n in range(m, orders):
                c = tree.moment[node, n * (n + 1) // 2 + m]
                s0 += c[0] * v_now + c[4] * w_now
                s1 += c[1] * v_now + c[5] * w_now
                s2 += c[2] * v_now + c[6] * w_now
                s3 += c[3] * v_now + c[7] * w_now
                g = scalar(1.0) / scalar(n + 1 - m)
                p = (g * scalar(2 * n + 1)) * sz
                t = (g * scalar(n + m)) * tail
                v_new = wp.cw_mul(p, v_now) - wp.cw_mul(t, v_last)
                w_new = wp.cw_mul(p, w_now) - wp.cw_mul(t, w_last)
                v_last = v_now
                w_last = w_now
                v_now = v_new
                w_now = w_new
        return s0 - wp.cw_mul(x, s1) - wp.cw_mul(y, s2) - wp.cw_mul(z, s3)

    @wp.func
    def tree_sum(tree: ClusterTree, px: lanes, py: lanes, pz: lanes, middle: vec3, spread: scalar):
        total = lanes()
        count = tree.patches.normal.shape[0]
        node = int(1)
        while node > 0:
            gap = wp.length(middle - tree.center[node]) - spread
            deeper = bool(False)
            if tree.radius[node] < tree.opening * gap:
                total += far_cluster(tree, node, px, py, pz)
            elif node >= (1 << tree.depth):
                pieces = node_range(node, count)
                for f in range(pieces[0], pieces[1]):
                    total += potential(tree.patches, f, px, py, pz)
            else:
                deeper = bool(True)
            if deeper:
                node = 2 * node
            else:
                while node & 1 == 1:
                    node = node >> 1
                # A left child's sibling comes next; the root has none.
                node = wp.where(node == 0, 0, node + 1)
        return scalar(0.5) * tree.patches.strength * total

    return tree_sum
