"""Rays against a mesh, in double precision: where a line first leaves or meets the surface."""

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.core.types import scalar, vec3
from alight.shapes.mesh import Mesh

Array = npt.NDArray[np.float64]


@wp.kernel(enable_backward=False)
def _first_hit(
    offset: int,
    corner: wp.array(dtype=vec3, ndim=2),
    origin: wp.array(dtype=vec3),
    direction: wp.array(dtype=vec3),
    slack: scalar,
    distance_out: wp.array(dtype=scalar),
) -> None:
    i = wp.tid() + offset
    o = origin[i]
    d = direction[i]
    best = scalar(wp.inf)
    for f in range(corner.shape[0]):
        a = corner[f, 0]
        e1 = corner[f, 1] - a
        e2 = corner[f, 2] - a
        p = wp.cross(d, e2)
        determinant = wp.dot(e1, p)
        if determinant != scalar(0.0):
            inverse = scalar(1.0) / determinant
            s = o - a
            u = wp.dot(s, p) * inverse
            q = wp.cross(s, e1)
            v = wp.dot(d, q) * inverse
            # A hair of slack: a ray through an edge must not slip between its two facets.
            if u >= -slack and v >= -slack and u + v <= scalar(1.0) + slack:
                t = wp.dot(e2, q) * inverse
                if t >= scalar(0.0) and t < best:
                    best = t
    distance_out[i] = best


def first_hit(mesh: Mesh, origins: Array, directions: Array) -> Array:
    """Distance along each ray to its first facet [units of ``directions``]; inf where none is met.

    Möller and Trumbore's test against every facet: meant for thousands of rays at set-up, not for
    a simulation's inner loop.
    """
    count = len(origins)
    cpu = devices.resolve("cpu")
    out = wp.empty(count, dtype=scalar, device="cpu")
    inputs = [
        wp.array(np.ascontiguousarray(mesh.vertices[mesh.faces]), dtype=vec3, device="cpu"),
        wp.array(np.ascontiguousarray(origins), dtype=vec3, device="cpu"),
        wp.array(np.ascontiguousarray(directions), dtype=vec3, device="cpu"),
        1e-12,
    ]
    if count:
        devices.launch(_first_hit, count, inputs, cpu, outputs=[out], min_items=1)
    return out.numpy()
