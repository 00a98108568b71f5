"""Bodies made of ellipsoid lobes whose joints are smoothly filled, such as comet 67P."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from alight.core.errors import InputError
from alight.shapes.isosurface import Lattice, even_out, project, subdivide
from alight.shapes.mesh import Mesh

Array = NDArray[np.float64]

#: Fewest facets cut from a lattice directly; coarser meshes are simplified from finer ones.
_MIN_CUT = 1000

#: Most facets cut from a lattice directly; finer meshes subdivide one of these.
_MAX_CUT = 40_000


@dataclass(frozen=True)
class Ellipsoid:
    """One lobe."""

    center: tuple[float, float, float]
    """Centre [m]."""
    semi_axes: tuple[float, float, float]
    """Half lengths along the lobe's own axes [m]."""
    quat: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)
    """Turns lobe axes into body axes, xyzw."""

    def __post_init__(self) -> None:
        for name, count in (("center", 3), ("semi_axes", 3), ("quat", 4)):
            value = tuple(float(x) for x in getattr(self, name))
            if len(value) != count or not np.isfinite(value).all():
                raise InputError(f"{name} is {value}; it must be {count} finite numbers.")
            object.__setattr__(self, name, value)
        if min(self.semi_axes) <= 0:
            raise InputError(f"semi_axes are {self.semi_axes} m; each must be positive.")
        norm = np.linalg.norm(self.quat)
        if abs(norm - 1) > 1e-3:
            raise InputError(f"quat {self.quat} has length {norm:.4g}; a rotation has length 1.")

    @property
    def matrix(self) -> Array:
        """Rotation matrix from lobe to body axes."""
        return np.asarray(scipy.spatial.transform.Rotation.from_quat(self.quat).as_matrix())

    @property
    def half_extent(self) -> Array:
        """Half the size of the box around the lobe, along body axes [m]."""
        return np.asarray(np.linalg.norm(self.matrix * np.array(self.semi_axes), axis=1))

    def distance(self, points: Array) -> tuple[Array, Array]:
        """Distance [m] to first order near the surface, negative inside, and its gradient.

        With p the point in lobe axes, k0 = |p/a| and k1 = |p/a^2|: k0 (k0 - 1)/k1. Exact for a
        sphere; zero with unit slope on the surface of any ellipsoid.
        """
        a = np.array(self.semi_axes)
        p = (points - np.array(self.center)) @ self.matrix
        k0 = np.maximum(np.linalg.norm(p / a, axis=1), 1e-12)
        k1 = np.maximum(np.linalg.norm(p / a**2, axis=1), 1e-12 / a.max())
        value = k0 * (k0 - 1) / k1
        slope0, slope1 = p / a**2 / k0[:, None], p / a**4 / k1[:, None]
        gradient = ((2 * k0 - 1)[:, None] * slope0 - value[:, None] * slope1) / k1[:, None]
        return value, gradient @ self.matrix.T


class Lobes:
    """The union of ``ellipsoids``, its joints filled over a length ``blend`` [m].

    The surface is the zero level of a soft minimum of the lobes' distances,
    -blend log(sum exp(-d/blend)): smooth to every order, the same in whatever order the lobes
    come. Where two lobes cross, the fill lifts the level by blend log 2; it dies away within a
    few times ``blend``. With blend = 0 the joints are creases.
    """

    def __init__(self, ellipsoids: Sequence[Ellipsoid], *, blend: float) -> None:
        if len(ellipsoids) == 0:
            raise InputError("no lobes were given; a body needs at least one ellipsoid.")
        if not (np.isfinite(blend) and blend >= 0):
            raise InputError(f"blend is {blend} m; it must be a length of 0 or more.")
        smallest = min(min(e.semi_axes) for e in ellipsoids)
        if blend > 0.5 * smallest:
            raise InputError(
                f"blend is {blend:g} m but the smallest semi-axis is {smallest:g} m: the fill "
                f"would swallow that lobe. Use at most half of it, {0.5 * smallest:g} m."
            )
        self.ellipsoids = tuple(ellipsoids)
        self.blend = float(blend)

    def distance(self, points: ArrayLike) -> tuple[Array, Array]:
        """Blended distance (n,) [m], negative inside, and its gradient (n, 3).

        First order: exact in sign and zero, and a fair length only near the surface.
        """
        p = np.asarray(points, dtype=np.float64)
        if p.ndim != 2 or p.shape[1] != 3:
            raise InputError(f"points have shape {p.shape}; they must be (n, 3).")
        parts = [e.distance(p) for e in self.ellipsoids]
        values = np.stack([v for v, _ in parts])
        gradients = np.stack([g for _, g in parts])
        least = values.min(axis=0)
        if self.blend == 0:
            return least, np.asarray(gradients[values.argmin(axis=0), np.arange(len(p))])
        weights = np.exp((least - values) / self.blend)
        total = weights.sum(axis=0)
        value = least - self.blend * np.log(total)
        return value, np.einsum("ln,lni->ni", weights / total, gradients)

    def bounds(self) -> tuple[Array, Array]:
        """Corners of a box that holds the body [m]."""
        margin = self.blend * np.log(len(self.ellipsoids))
        centers = np.array([e.center for e in self.ellipsoids])
        half = np.array([e.half_extent for e in self.ellipsoids]) + 2 * margin
        return (centers - half).min(axis=0), (centers + half).max(axis=0)

    def to_mesh(self, n_faces: int = 5120) -> Mesh:
        """Closed mesh of close to ``n_faces`` facets, its vertices on the surface.

        Below a thousand facets a finer mesh is simplified, and vertices lie near the surface.
        """
        if isinstance(n_faces, bool) or not isinstance(n_faces, int | np.integer) or n_faces < 4:
            raise InputError(f"n_faces is {n_faces!r}; it must be a whole number, 4 or more.")
        if n_faces < _MIN_CUT:
            return self.to_mesh(4 * _MIN_CUT).simplified(n_faces)
        halvings = 0
        while n_faces / 4**halvings > _MAX_CUT:
            halvings += 1
        vertices, faces, spacing = self._cut(round(n_faces / 4**halvings))
        _check_one_piece(vertices, faces)
        vertices = even_out(vertices, faces, self.distance, spacing)
        for _ in range(halvings):
            vertices, faces = subdivide(vertices, faces)
            vertices = project(vertices, self.distance, largest=spacing)
        self._check_followed(vertices, faces)
        return Mesh(np.ascontiguousarray(vertices), faces)

    def _check_followed(self, vertices: Array, faces: NDArray[np.int64]) -> None:
        """Refuse a mesh with a facet turned away from the surface: it folds over a sharp end."""
        corners = vertices[faces]
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        slope = np.einsum("ij,ij->i", normal, self.distance(corners.mean(axis=1))[1])
        folded = int(np.count_nonzero(slope <= 0))
        if folded:
            raise InputError(
                f"{len(faces)} facets are too few to follow these lobes: {folded} of them fold "
                "over where the surface bends sharply. Ask for more facets."
            )

    def _cut(self, n_faces: int) -> tuple[Array, NDArray[np.int64], float]:
        """Cut from a lattice of the spacing h that gives close to ``n_faces``; they go as h^-2."""
        lower, upper = self.bounds()
        spacing = float((upper - lower).max()) / 16
        best: tuple[Array, NDArray[np.int64], float] | None = None
        for _ in range(8):
            vertices, faces = Lattice(lower, upper, spacing, self.distance).surface()
            if len(faces) == 0:  # thinner than the lattice
                spacing *= 0.5
                continue
            if best is None or abs(len(faces) - n_faces) < abs(len(best[1]) - n_faces):
                best = (vertices, faces, spacing)
            if abs(len(faces) / n_faces - 1) < 0.01:
                break
            spacing *= float(np.sqrt(len(faces) / n_faces))
        if best is None:
            raise InputError(f"{n_faces} facets are too few for lobes as thin as these.")
        return best

    def __repr__(self) -> str:
        lower, upper = self.bounds()
        size = " x ".join(f"{s:.4g}" for s in upper - lower)
        return f"Lobes({len(self.ellipsoids)} ellipsoids, blend {self.blend:g} m, box {size} m)"


def _check_one_piece(vertices: Array, faces: NDArray[np.int64]) -> None:
    ends = (faces[:, :2].ravel(), faces[:, 1:].ravel())
    links = scipy.sparse.csr_matrix((np.ones(len(ends[0])), ends), (len(vertices), len(vertices)))
    pieces, piece_of = scipy.sparse.csgraph.connected_components(links, directed=False)
    if pieces > 1:
        smallest = vertices[piece_of == np.bincount(piece_of).argmin()].mean(axis=0)
        raise InputError(
            f"the lobes give {pieces} separate surfaces (the smallest around "
            f"{np.round(smallest, 1).tolist()} m): they do not overlap, or enclose a hollow, or "
            "the neck between them is thinner than a facet. Move or enlarge them, or ask for more "
            "facets."
        )
