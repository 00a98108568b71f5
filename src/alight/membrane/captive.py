"""The body that a membrane meets: mass, inertia, and the convex hull of its vertices.

Only vertices of the body's own convex hull can touch a membrane, as long as the body passes
through the suspension plane within the polygon: every other vertex below the plane then lies in
the hull of those and of the suspension points. So the hull of the body is found once, on the
host, and a kernel has only to add the suspension points to it.

A body may be flat, a rod or a single point: its hull is then a polygon with two sides, an edge, or
nothing but the point.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy

from alight.core import devices
from alight.core.checks import Array, checked_number
from alight.core.errors import InputError
from alight.membrane.geometry import CaptiveData, captive_data
from alight.shapes import Mesh

Index = npt.NDArray[np.int32]

#: Spread of points across a line or plane, over their reach, below which they are on it.
THIN = 1e-9


@dataclass(frozen=True, eq=False)
class Captive:
    """A rigid body, its vertices from its centre of mass in body axes B.

    ``points`` may be (n, 2) for a body in the plane of x and z; ``inertia`` is then the moment
    about y, one number.
    """

    mass: float
    """[kg]"""
    inertia: Array
    """(3, 3) about the centre of mass [kg m^2]."""
    points: Array
    """(n, 3) vertices [m]; those inside the hull of the others do nothing."""
    mesh: Mesh | None = field(default=None)
    """Where it came from, for pictures."""

    def __post_init__(self) -> None:
        points = _checked_points(self.points)
        planar = points.shape[1] == 2
        inertia = _checked_inertia(self.inertia, planar)
        points = np.insert(points, 1, 0.0, axis=1) if planar else points
        object.__setattr__(self, "mass", checked_number("the mass of the body [kg]", self.mass))
        object.__setattr__(self, "inertia", inertia)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "_planar", planar)

    @property
    def planar(self) -> bool:
        """True for a body in the plane of x and z."""
        return bool(self.__dict__["_planar"])

    @classmethod
    def from_mesh(cls, mesh: Mesh, mass: float, inertia: npt.ArrayLike | None = None) -> Captive:
        """A body of ``mass`` [kg] and uniform density, or of another ``inertia`` [kg m^2].

        A given inertia is about the centre of mass of the uniform body.
        """
        checked_number("the mass of the body [kg]", mass)
        centred = mesh.recentred()
        own = centred.inertia(mass / mesh.volume) if inertia is None else inertia
        return cls(mass, np.asarray(own, dtype=np.float64), centred.vertices, centred)

    @classmethod
    def polygon(cls, corners: npt.ArrayLike, mass: float) -> Captive:
        """A uniform convex or concave plate (n, 2) in the plane of x and z, in order [m]."""
        corner = np.asarray(corners, dtype=np.float64)
        following = np.roll(corner, -1, axis=0)
        part = corner[:, 0] * following[:, 1] - corner[:, 1] * following[:, 0]
        total = part.sum()
        if not abs(total) > 0.0:
            raise InputError("the corners of the polygon enclose no area; give them in order")
        middle = ((corner + following) * part[:, None]).sum(axis=0) / (3.0 * total)
        own, then = corner - middle, following - middle
        part = own[:, 0] * then[:, 1] - own[:, 1] * then[:, 0]
        second = (part * (own * own + own * then + then * then).sum(axis=1)).sum() / 12.0
        return cls(mass, np.asarray(mass * second / (0.5 * total)), own)

    @cached_property
    def reach(self) -> float:
        """Largest distance of a vertex from the centre of mass [m]."""
        return float(np.linalg.norm(self.points, axis=1).max())

    @cached_property
    def hull(self) -> BodyHull:
        """Vertices, facets and edges of the convex hull."""
        return flat_hull(self.points) if self.planar else body_hull(self.points)

    def kernel_data(self, device: devices.Device) -> CaptiveData:
        """The struct for kernels, its arrays on ``device``."""
        h = self.hull
        arrays = (h.vertices, h.facets, h.normals, h.offsets, h.edges, h.shares, h.center)
        return captive_data(arrays, self.reach, device)


@dataclass(frozen=True)
class BodyHull:
    """A triangulated convex polyhedron, perhaps without volume."""

    vertices: Array
    """(V, 3) [m]; of a body in 2D, in order counter-clockwise in the plane of x and z."""
    facets: Index
    """(F, 3) vertices, counter-clockwise from outside."""
    normals: Array
    """(F, 3) unit, outward."""
    offsets: Array
    """(F,) normal . x on the facet [m]."""
    edges: Index
    """(E, 4) two vertices and the facets on both sides, -1 for none."""
    shares: Array
    """(V,) parts of the surface that belong to each vertex, 1 in all: a third of each of its
    facets, in 2D half of each of its sides; even where there is no surface."""
    center: Array
    """(3,) the mean of the vertices [m]."""


def body_hull(points: Array) -> BodyHull:
    """The convex hull of points (n, 3), whatever they span."""
    unique = np.unique(points, axis=0)
    middle = unique.mean(axis=0)
    _, sizes, rows = np.linalg.svd(unique - middle, full_matrices=False)
    rank = int((sizes > THIN * max(sizes[0], np.abs(middle).max() * 1e-6)).sum())
    if len(unique) == 1 or rank == 0:
        return _made(unique[:1], [], np.empty((0, 3)))
    if rank == 1:
        along = (unique - middle) @ rows[0]
        return _made(unique[[along.argmin(), along.argmax()]], [], np.empty((0, 3)))
    if rank == 2:
        return _plate(unique, (unique - middle) @ rows[:2].T, np.cross(rows[0], rows[1]))
    return _solid(unique)


def flat_hull(points: Array) -> BodyHull:
    """The convex hull of points (n, 3) in the plane of x and z, its corners in order."""
    unique = np.unique(points, axis=0)
    flat = unique[:, [0, 2]]
    spread = np.linalg.svd(flat - flat.mean(axis=0), compute_uv=False) if len(flat) > 1 else [0.0]
    if len(flat) > 2 and spread[-1] > THIN * spread[0]:
        unique = unique[scipy.spatial.ConvexHull(flat).vertices]
    elif len(flat) > 1:
        along = (flat - flat[0]) @ (flat[-1] - flat[0])
        unique = unique[[along.argmin(), along.argmax()]]
    return _made(unique, [], np.empty((0, 3)))


def _solid(points: Array) -> BodyHull:
    found = scipy.spatial.ConvexHull(points)
    used, facets = np.unique(found.simplices, return_inverse=True)
    vertices, facets = points[used], facets.reshape(-1, 3)
    normals = found.equations[:, :3]
    corner = vertices[facets]
    turned = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    back = np.einsum("fi,fi->f", turned, normals) < 0.0
    facets[back] = facets[back][:, ::-1]
    return _made(vertices, facets.tolist(), normals)


def _plate(points: Array, flat: Array, normal: Array) -> BodyHull:
    """A polygon with two sides, each a fan of triangles."""
    vertices = points[scipy.spatial.ConvexHull(flat).vertices]
    fan = [[0, i, i + 1] for i in range(1, len(vertices) - 1)]
    both = fan + [[a, c, b] for a, b, c in fan]
    normals = np.concatenate([np.tile(normal, (len(fan), 1)), np.tile(-normal, (len(fan), 1))])
    return _made(vertices, both, normals)


def _made(vertices: Array, facets: list[list[int]], normals: Array) -> BodyHull:
    """A hull with its edges, each with the facets on both sides."""
    beside: dict[tuple[int, int], list[int]] = {}
    for number, facet in enumerate(facets):
        for a, b in zip(facet, (*facet[1:], facet[0]), strict=True):
            beside.setdefault((min(a, b), max(a, b)), []).append(number)
    edges = _paired(beside)
    if not facets and len(vertices) == 2:
        edges = [[0, 1, -1, -1]]
    facet_array = np.array(facets, dtype=np.int32).reshape(-1, 3)
    offsets = np.einsum("fi,fi->f", normals, vertices[facet_array].mean(axis=1)) if facets else []
    return BodyHull(
        vertices,
        facet_array,
        normals,
        np.asarray(offsets, dtype=np.float64),
        np.array(edges, dtype=np.int32).reshape(-1, 4),
        _shares(vertices, facet_array),
        vertices.mean(axis=0),
    )


def _shares(vertices: Array, facets: Index) -> Array:
    """(V,) how the surface is shared out among vertices; without facets, the outline in order."""
    own = np.zeros(len(vertices))
    if len(facets):
        corner = vertices[facets]
        turned = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
        np.add.at(own, facets, np.linalg.norm(turned, axis=1)[:, None])
    elif len(vertices) > 2:
        sides = np.linalg.norm(np.roll(vertices, -1, axis=0) - vertices, axis=1)
        own = sides + np.roll(sides, 1)
    total = own.sum()
    return own / total if total > 0.0 else np.full(len(own), 1.0 / len(own))


def _paired(beside: dict[tuple[int, int], list[int]]) -> list[list[int]]:
    """Edges with their two facets; four meet in a diagonal that both sides of a plate share."""
    edges = []
    for (a, b), numbers in beside.items():
        if len(numbers) % 2:
            raise InputError(
                "the convex hull of the body does not close; its vertices are too close to a plane "
                "to tell: make the body thicker, or flat"
            )
        if len(numbers) == 2:
            edges.append([a, b, *numbers])
        # A diagonal of a plate: the facets of one side are in one plane, so it is never a fold.
    return edges


def _checked_points(points: npt.ArrayLike) -> Array:
    try:
        given = np.array(points, dtype=np.float64)
    except (TypeError, ValueError) as cause:
        raise InputError(f"vertices of the body must be numbers [m]: {cause}") from None
    if given.ndim != 2 or given.shape[1] not in (2, 3) or not len(given):
        raise InputError(
            f"vertices of the body have shape {given.shape}; give (n, 3) with n of at least 1, or "
            "(n, 2) for a body in the plane of x and z [m]"
        )
    if not np.isfinite(given).all():
        raise InputError("a vertex of the body is not finite")
    return given


def _checked_inertia(inertia: npt.ArrayLike, planar: bool) -> Array:
    given = np.array(inertia, dtype=np.float64)
    if planar:
        moment = checked_number("the inertia of the body [kg m^2]", float(given))
        return moment * np.eye(3)
    if given.shape == (3,):
        given = np.diag(given)
    if given.shape != (3, 3) or not np.allclose(given, given.T, rtol=1e-9, atol=0.0):
        raise InputError(
            f"the inertia of the body has shape {given.shape}; give a symmetric (3, 3) tensor or "
            "three moments about the body axes [kg m^2]"
        )
    if not np.linalg.eigvalsh(given)[0] > 0.0:
        raise InputError("the inertia of the body is not positive: its moments must be above 0")
    return 0.5 * (given + given.T)
