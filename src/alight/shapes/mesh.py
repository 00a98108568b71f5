"""``Mesh``: a closed triangle mesh, the boundary of a solid body."""

from __future__ import annotations

import hashlib
import math
import os
from functools import cached_property
from typing import Any, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

from alight.core.errors import InputError, MeshError
from alight.shapes.integrity.arrays import BoolArray, FloatArray, IntArray, as_faces, as_vertices
from alight.shapes.integrity.health import MeshHealth, inspect
from alight.shapes.integrity.repair import repair as repair_arrays
from alight.shapes.integrity.topology import EdgeTable, find_edges
from alight.shapes.integrity.winding import contains
from alight.shapes.mass import (
    MassProperties,
    facet_vectors,
    mass_properties,
    principal_rotation,
)
from alight.shapes.readers import read_arrays
from alight.shapes.simplify import simplify
from alight.shapes.writers import write_arrays

_Number = TypeVar("_Number", bound=np.generic)


class Mesh:
    """The surface of a solid body: triangles that close, counter-clockwise seen from outside.

    A mesh never changes; methods return new ones. Everything derived is computed once, when it is
    first asked for.

    Attributes:
        vertices: (n, 3) coordinates [m], read-only.
        faces: (m, 3) vertex indices from 0, int32, read-only.
        repairs: What ``repair=True`` did, in words; empty if nothing.
    """

    vertices: FloatArray
    faces: IntArray
    repairs: tuple[str, ...]

    def __init__(
        self,
        vertices: npt.ArrayLike,
        faces: npt.ArrayLike,
        *,
        check: bool = True,
        repair: bool = False,
    ) -> None:
        """Take copies of ``vertices`` [m] and ``faces``.

        Args:
            vertices: (n, 3) coordinates [m].
            faces: (m, 3) vertex indices, counted from 0.
            check: Raise ``MeshError`` unless the mesh bounds a solid.
            repair: First weld vertices, drop empty and repeated facets, fix the winding.
        """
        self._set(as_vertices(vertices), as_faces(faces), repair)
        if check:
            self.health.require("the mesh")

    def _set(self, vertices: FloatArray, faces: IntArray, repair: bool = False) -> None:
        actions: tuple[str, ...] = ()
        if repair:
            vertices, faces, actions = repair_arrays(vertices, faces)
        vertices.flags.writeable = False
        faces.flags.writeable = False
        self.__dict__.update(vertices=vertices, faces=faces, repairs=actions)

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        unit: str | None = None,
        *,
        repair: bool = False,
        recentre: bool = False,
    ) -> Mesh:
        """Read a mesh file: OBJ, PLY, STL, NPZ, glTF, DSK, plates or Gaskell ICQ, by extension.

        Args:
            path: The file.
            unit: Unit of its coordinates: "m", "km", "cm", "mm" or "ft". Always required.
            repair: Weld vertices, drop empty and repeated facets, fix the winding.
            recentre: Move the centre of mass to the origin.
        """
        vertices, faces = read_arrays(path, unit)
        mesh = cls.__new__(cls)
        mesh._set(vertices, faces, repair)
        mesh.health.require(f'"{os.fspath(path)}"')
        return mesh.recentred() if recentre else mesh

    def save(self, path: str | os.PathLike[str], unit: str = "m") -> None:
        """Write the mesh to an .obj, .ply, .npz (all exact) or .stl (32-bit) file in ``unit``."""
        write_arrays(path, self.vertices, self.faces, unit)

    # -- the surface ---------------------------------------------------------------------------

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return len(self.vertices)

    @property
    def n_faces(self) -> int:
        """Number of facets."""
        return len(self.faces)

    @cached_property
    def health(self) -> MeshHealth:
        """What every integrity check finds."""
        return inspect(self.vertices, self.faces, self._edge_table)

    @cached_property
    def _edge_table(self) -> EdgeTable:
        return find_edges(self.faces)

    @cached_property
    def edges(self) -> IntArray:
        """(E, 2) the edges, each once, lower vertex first, sorted."""
        return _frozen(self._edge_table.edges)

    @cached_property
    def edge_faces(self) -> IntArray:
        """(E, 2) facets on either side of each edge.

        The first runs along the edge from its lower to its higher vertex, the second back.
        """
        table = self._edge_table
        one, other = table.pairs()
        if not (table.paired.all() and (table.forward[one] & ~table.forward[other]).all()):
            raise MeshError(
                "edges of this mesh do not each join two facets that wind the same way; build it "
                "with check=True to see what is wrong."
            )
        return _frozen(np.column_stack([one // 3, other // 3]).astype(np.int32))

    @cached_property
    def face_areas(self) -> FloatArray:
        """(m,) area of each facet [m^2]."""
        return _frozen(np.linalg.norm(facet_vectors(self.vertices, self.faces), axis=1))

    @cached_property
    def face_normals(self) -> FloatArray:
        """(m, 3) outward unit normal of each facet."""
        vectors = facet_vectors(self.vertices, self.faces)
        return _frozen(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))

    @cached_property
    def vertex_normals(self) -> FloatArray:
        """(n, 3) outward unit normal at each vertex: facet normals weighted by corner angle.

        With these weights the normal separates inside and outside for points nearest to the vertex,
        however the facets around it are cut (Baerentzen and Aanaes, 2005).
        """
        weights = corner_angles(self.vertices, self.faces)
        corner = self.faces.ravel()
        total = np.empty((self.n_vertices, 3))
        for axis in range(3):
            share = (weights * self.face_normals[:, axis, None]).ravel()
            total[:, axis] = np.bincount(corner, weights=share, minlength=self.n_vertices)
        return _frozen(total / np.linalg.norm(total, axis=1, keepdims=True))

    @cached_property
    def area(self) -> float:
        """Area of the surface [m^2]."""
        return float(self.face_areas.sum())

    @cached_property
    def extent(self) -> FloatArray:
        """(3,) sides of the bounding box along x, y, z [m]."""
        return _frozen(self.vertices.max(axis=0) - self.vertices.min(axis=0))

    @cached_property
    def bounding_radius(self) -> float:
        """Largest distance of a vertex from the origin [m]."""
        return float(np.linalg.norm(self.vertices, axis=1).max())

    # -- the solid -----------------------------------------------------------------------------

    @cached_property
    def _mass(self) -> MassProperties:
        return mass_properties(self.vertices, self.faces)

    @property
    def volume(self) -> float:
        """Volume enclosed [m^3]."""
        return self._mass.volume

    @cached_property
    def center_of_mass(self) -> FloatArray:
        """(3,) centre of mass of the body at uniform density [m]."""
        return _frozen(self._mass.center_of_mass)

    @property
    def radius(self) -> float:
        """Radius of the sphere of the same volume [m]."""
        return math.cbrt(3.0 * self.volume / (4.0 * math.pi))

    def inertia(self, density: float) -> FloatArray:
        """(3, 3) moments of inertia about the centre of mass [kg m^2] at ``density`` [kg/m^3]."""
        if not 0.0 < _number(density, "the density [kg/m^3]") < math.inf:
            raise InputError(f"the density is {density} kg/m^3; it must be positive and finite.")
        return density * self._mass.inertia

    @cached_property
    def principal_rotation(self) -> FloatArray:
        """(3, 3) rotation from this frame into principal axes: its rows are the axes."""
        return _frozen(principal_rotation(self._mass.inertia))

    def contains(self, points: npt.ArrayLike) -> BoolArray:
        """Which of the (k, 3) ``points`` [m] lie inside, by winding number.

        Takes about 0.1 us per point and facet; on the surface itself either answer may come.
        """
        given = _numbers(points, "points [m]")
        if given.shape[-1:] != (3,):
            raise InputError(f"points have shape {given.shape}; they must be rows of x, y, z [m].")
        flat = contains(given.reshape(-1, 3), self.vertices, self.faces)
        return flat.reshape(given.shape[:-1])

    # -- other meshes from this one ------------------------------------------------------------

    def recentred(self) -> Mesh:
        """The body with its centre of mass at the origin."""
        return self.translated(-self.center_of_mass)

    def principal_axes(self) -> Mesh:
        """The body recentred and turned into principal axes.

        Moments of inertia ascend from x to z, so z is the axis of largest inertia; the frame is
        right-handed and its signs are fixed by ``principal_rotation``, which holds the turn.
        """
        return self.recentred().rotated(self.principal_rotation)

    def translated(self, offset: npt.ArrayLike) -> Mesh:
        """The body moved by ``offset`` [m]."""
        return self._moved(self.vertices + _vector(offset))

    def rotated(self, rotation: npt.ArrayLike) -> Mesh:
        """The body turned by the (3, 3) ``rotation`` matrix: each vertex p becomes R p."""
        R = _numbers(rotation, "a rotation")
        proper = R.shape == (3, 3) and np.allclose(R @ R.T, np.eye(3), rtol=0.0, atol=1e-9)
        if not proper or np.linalg.det(R) < 0.0:
            raise InputError(
                "rotation must be a (3, 3) proper rotation matrix: orthogonal, determinant +1."
            )
        return self._moved(self.vertices @ R.T)

    def scaled(self, factor: float) -> Mesh:
        """The body ``factor`` times as large, about the origin."""
        if not 0.0 < _number(factor, "a scale factor") < math.inf:
            raise InputError(f"a mesh is scaled by a positive finite factor, not {factor}.")
        return self._moved(self.vertices * factor)

    def simplified(self, n_faces: int) -> Mesh:
        """The body with ``n_faces`` facets (one fewer if that is odd) and the same volume.

        Edges are collapsed where this moves the surface least; see ``alight.shapes.simplify``.
        """
        self.health.require("the mesh to simplify")
        return Mesh(*simplify(self.vertices, self.faces, n_faces))

    def _moved(self, vertices: FloatArray) -> Mesh:
        """The same facets on other coordinates; a rigid or similar move keeps a solid a solid."""
        mesh = Mesh.__new__(Mesh)
        mesh._set(np.ascontiguousarray(vertices), self.faces)
        if "_edge_table" in self.__dict__:
            mesh.__dict__["_edge_table"] = self._edge_table
        return mesh

    # -- identity ------------------------------------------------------------------------------

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of the vertices and faces, in hexadecimal: equal for equal meshes."""
        digest = hashlib.sha256(f"mesh {self.n_vertices} {self.n_faces} ".encode())
        digest.update((self.vertices + 0.0).astype("<f8").tobytes())  # -0.0 equals 0.0
        digest.update(self.faces.astype("<i4").tobytes())
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mesh):
            return NotImplemented
        return np.array_equal(self.faces, other.faces) and np.array_equal(
            self.vertices, other.vertices
        )

    def __hash__(self) -> int:
        return hash(self.content_hash)

    def __repr__(self) -> str:
        return f"Mesh({self.n_vertices} vertices, {self.n_faces} faces, radius {self.radius:.6g} m)"

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"a Mesh does not change: cannot set {name}.")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (np.array(self.vertices), np.array(self.faces), self.repairs)


def corner_angles(vertices: FloatArray, faces: IntArray) -> FloatArray:
    """(m, 3) angle of each facet at each of its corners [rad]."""
    angles = np.empty(faces.shape)
    for k in range(3):
        corner = vertices[faces[:, k]]
        ahead = vertices[faces[:, (k + 1) % 3]] - corner
        back = vertices[faces[:, (k + 2) % 3]] - corner
        across = np.linalg.norm(np.cross(ahead, back), axis=1)
        angles[:, k] = np.arctan2(across, np.einsum("ij,ij->i", ahead, back))
    return angles


def _frozen(array: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
    array.flags.writeable = False
    return array


def _number(value: Any, what: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(f"{what} must be a number, not {value!r}.") from None


def _numbers(values: npt.ArrayLike, what: str) -> FloatArray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be an array of numbers: {error}.") from None


def _vector(offset: npt.ArrayLike) -> FloatArray:
    vector = _numbers(offset, "an offset [m]")
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise InputError(f"an offset is three finite numbers [m], not {offset!r}.")
    return vector


def _rebuilt(vertices: FloatArray, faces: IntArray, repairs: tuple[str, ...]) -> Mesh:
    """Unpickle: the arrays were checked before they were stored."""
    mesh = Mesh.__new__(Mesh)
    mesh._set(vertices, faces)
    mesh.__dict__["repairs"] = repairs
    return mesh
