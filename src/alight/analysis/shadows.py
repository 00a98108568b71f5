"""What stands in a ray's way: exact tests of the few facets that a tree of boxes finds.

The tree is Warp's, in single precision, with boxes a little larger than the facets: whatever it
misses no ray can hit. Facets themselves are tested in double precision.
"""

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.analysis.columns import Array, Bools
from alight.core import devices
from alight.core.types import scalar, vec3
from alight.shapes.mesh import Mesh

#: Boxes are larger by this part of the body's radius: what single precision may lose on a ray.
MARGIN = 4e-6

#: By so much of a facet a ray may pass beside it: none slips between two facets.
SLACK = 1e-12


@wp.func
def _blunt(x: scalar) -> wp.float32:
    """A component of a direction for the tree, which divides by it."""
    if wp.abs(x) < scalar(1e-9):
        return wp.float32(1e-9)
    return wp.float32(x)


@wp.func
def _hit(a: vec3, b: vec3, c: vec3, o: vec3, d: vec3, slack: scalar) -> scalar:
    """Way along the ray to a facet, by Möller and Trumbore's test; inf where it is not met."""
    e1 = b - a
    e2 = c - a
    p = wp.cross(d, e2)
    determinant = wp.dot(e1, p)
    if determinant == scalar(0.0):
        return scalar(wp.inf)
    s = o - a
    u = wp.dot(s, p) / determinant
    q = wp.cross(s, e1)
    v = wp.dot(d, q) / determinant
    t = wp.dot(e2, q) / determinant
    if u < -slack or v < -slack or u + v > scalar(1.0) + slack or t < scalar(0.0):
        return scalar(wp.inf)
    return t


@wp.kernel(enable_backward=False)
def _cast(
    offset: int,
    tree: wp.uint64,
    corner: wp.array(dtype=vec3, ndim=2),
    origin: wp.array(dtype=vec3),
    direction: wp.array(dtype=vec3),
    slack: scalar,
    any_hit: bool,
    distance_out: wp.array(dtype=scalar),
) -> None:
    i = wp.tid() + offset
    o = origin[i]
    d = direction[i]
    start = wp.vec3(wp.float32(o[0]), wp.float32(o[1]), wp.float32(o[2]))
    way = wp.vec3(_blunt(d[0]), _blunt(d[1]), _blunt(d[2]))
    best = scalar(wp.inf)
    facet = int(0)
    query = wp.bvh_query_ray(tree, start, way)
    while wp.bvh_query_next(query, facet):
        t = _hit(corner[facet, 0], corner[facet, 1], corner[facet, 2], o, d, slack)
        if t < best:
            best = t
            if any_hit:
                break
    distance_out[i] = best


class Shadows:
    """Rays against one mesh; made once for many."""

    def __init__(self, mesh: Mesh) -> None:
        self.mesh = mesh
        corner = np.ascontiguousarray(mesh.vertices[mesh.faces])
        margin = MARGIN * float(np.abs(mesh.vertices).max())
        low, high = corner.min(axis=1) - margin, corner.max(axis=1) + margin
        self._corner = wp.array(corner, dtype=vec3, device="cpu")
        self._tree = wp.Bvh(
            wp.array(low.astype(np.float32), dtype=wp.vec3, device="cpu"),
            wp.array(high.astype(np.float32), dtype=wp.vec3, device="cpu"),
        )

    def hidden(self, origins: npt.ArrayLike, directions: npt.ArrayLike) -> Bools:
        """(n,) whether a facet stands in the way from ``origins`` [m] along unit vectors."""
        return np.isfinite(self._cast(origins, directions, any_hit=True))

    def first_hit(self, origins: npt.ArrayLike, directions: npt.ArrayLike) -> Array:
        """(n,) way to the first facet along unit vectors [m]; inf where none is met."""
        return self._cast(origins, directions, any_hit=False)

    def _cast(self, origins: npt.ArrayLike, directions: npt.ArrayLike, any_hit: bool) -> Array:
        o, d = (np.ascontiguousarray(x, dtype=np.float64) for x in (origins, directions))
        out = wp.empty(len(o), dtype=scalar, device="cpu")
        if len(o):
            rays = [wp.array(x, dtype=vec3, device="cpu") for x in (o, d)]
            inputs = [self._tree.id, self._corner, *rays, SLACK, any_hit]
            cpu = devices.resolve("cpu")
            devices.launch(_cast, len(o), inputs, cpu, outputs=[out])
        return out.numpy()
