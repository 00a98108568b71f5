"""Gravity of a coarser polyhedron of the same mass (paper 000, section 3.3).

The vertices of the largest ellipsoid inside the body are carried outward to its surface; the new
polyhedron is moved to the body's centre of mass and its density set to the body's mass.
"""

from __future__ import annotations

import numpy as np
import scipy

from alight.core import store as core_store
from alight.core.checks import Array
from alight.core.constants import G as NEWTON
from alight.core.errors import InputError
from alight.gravity.polyhedron.field import Polyhedron, mass_from
from alight.shapes.icosphere import sphere_points_mesh
from alight.shapes.mesh import Mesh
from alight.shapes.rays import first_hit


class Reduced(Polyhedron):
    """The polyhedron law on a reduced copy of a mesh, with the same mass and centre of mass.

    One of ``density`` [kg/m^3] and ``gm`` [m^3/s^2] is given.

    ``vertices`` may be any count from 4; 162 keep the surface gravity of a smooth body to about
    1 %, 642 that of an irregular one. ``original`` is the mesh it was made from. ``store`` says
    where the reduced mesh is kept on disk: True in the cache folder, a path elsewhere, False not.
    """

    def __init__(
        self,
        mesh: Mesh,
        density: float | None = None,
        *,
        vertices: int = 642,
        gm: float | None = None,
        G: float = NEWTON,
        store: core_store.Store = True,
    ) -> None:
        gm = mass_from(mesh, density, gm, G)[1]
        self.original = mesh
        super().__init__(_kept_mesh(mesh, vertices, store), gm=gm, G=G)

    def __repr__(self) -> str:
        return (
            f"Reduced({self.mesh.n_vertices} vertices for {self.original.n_vertices}, "
            f"gm={self.gm:.6g} m^3/s^2)"
        )


def _kept_mesh(mesh: Mesh, vertices: int, store: core_store.Store) -> Mesh:
    """The reduced mesh, from disk where it was made before."""
    place = core_store.folder(store, "gravity")
    name = core_store.name_of(__name__, ["reduced", mesh.content_hash, str(vertices)])
    kept = core_store.load(place, name)
    if kept is None:
        made = reduced_mesh(mesh, vertices)
        core_store.save(place, name, {"vertices": made.vertices, "faces": made.faces})
        return made
    return Mesh(kept["vertices"], kept["faces"])


def reduced_mesh(mesh: Mesh, vertices: int) -> Mesh:
    """A mesh of ``vertices`` vertices on the surface of ``mesh``, with its centre of mass."""
    if not isinstance(vertices, (int, np.integer)) or vertices < 4:
        raise InputError(f"vertices is {vertices!r}; a reduced model needs a whole number from 4")
    center = mesh.center_of_mass
    axes, turn = inscribed_ellipsoid(mesh)
    sphere = sphere_points_mesh(int(vertices))
    start = (sphere.vertices * axes) @ turn.T
    outward = start / np.linalg.norm(start, axis=1)[:, None]
    distance = first_hit(mesh, center + start, outward)
    if not np.isfinite(distance).all():
        raise InputError(
            f"{int((~np.isfinite(distance)).sum())} rays from inside the mesh never leave it; "
            "the mesh is not closed, or its centre of mass lies outside it"
        )
    reduced = Mesh(center + start + distance[:, None] * outward, sphere.faces)
    return reduced.translated(center - reduced.center_of_mass)


def inscribed_ellipsoid(mesh: Mesh) -> tuple[Array, Array]:
    """Semi-axes [m] and directions (columns) of the largest ellipsoid inside a mesh.

    Its centre is the centre of mass and its directions are the principal axes. With
    ``p = 1/axes^2``, no vertex inside means ``x^2 . p >= 1`` for each vertex: half-spaces. The
    volume, prod p^(-1/2), is largest at a corner of their intersection, so all are tried.
    """
    turn = np.linalg.eigh(mesh.inertia(1.0))[1]
    turn[:, 2] *= np.sign(np.linalg.det(turn))
    x = (mesh.vertices - mesh.center_of_mass) @ turn
    scale = np.linalg.norm(x, axis=1).min()
    if scale <= 0.0:
        raise InputError("the centre of mass lies on a vertex of the mesh; it must lie inside")
    squares = (x / scale) ** 2
    most = 10.0 / np.maximum(squares.max(axis=0), 1e-12) + 10.0
    bounds = np.vstack([np.eye(3), -np.eye(3)])
    sides = np.vstack([-squares, bounds])
    walls = np.column_stack([sides, np.r_[np.ones(len(x)), -most, 0, 0, 0]])
    corners = scipy.spatial.HalfspaceIntersection(walls, most * (1.0 - 1e-6)).intersections
    corners = corners[(corners > 0).all(axis=1)]
    p = corners[np.argmin(np.log(corners).sum(axis=1))]
    axes = scale / np.sqrt(p)
    # Facets dip inside between their vertices; shrink until none crosses the ellipsoid.
    return axes * _clearance(x / axes, mesh.faces), turn


def _clearance(x: Array, faces: np.ndarray) -> float:
    """Distance from the origin to the nearest facet plane's foot inside it, at most 1."""
    a, b, c = (x[faces[:, k]] for k in range(3))
    n = np.cross(b - a, c - a)
    height = np.einsum("ij,ij->i", n, a) / np.linalg.norm(n, axis=1)
    near = np.abs(height) < 1.0
    nearest = min(np.abs(height[near & _foot_inside(a, b, c, n)]), default=1.0)
    edge = min((_edge_distance(a, b), _edge_distance(b, c), _edge_distance(c, a)))
    return float(min(1.0, nearest, edge)) * (1.0 - 1e-9)


def _foot_inside(a: Array, b: Array, c: Array, n: Array) -> np.ndarray:
    """Whether the foot of the origin on each facet's plane lies in the facet."""
    foot = n * (np.einsum("ij,ij->i", n, a) / np.einsum("ij,ij->i", n, n))[:, None]

    def side(p: Array, q: Array) -> Array:
        return np.asarray(np.einsum("ij,ij->i", np.cross(q - p, foot - p), n))

    return (side(a, b) >= 0) & (side(b, c) >= 0) & (side(c, a) >= 0)


def _edge_distance(p: Array, q: Array) -> float:
    """Smallest distance from the origin to the segments pq."""
    d = q - p
    t = np.clip(-np.einsum("ij,ij->i", p, d) / np.einsum("ij,ij->i", d, d), 0.0, 1.0)
    return float(np.linalg.norm(p + t[:, None] * d, axis=1).min())
