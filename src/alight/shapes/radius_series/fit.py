"""Fitting a radius series to a mesh: samples, what the centre can see, least squares, errors."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from alight.core.errors import InputError
from alight.shapes.mesh import Mesh
from alight.shapes.radius_series import harmonics

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

#: Largest condition number of the normal equations that still counts as full rank. A smooth,
#: evenly sampled body has 1 to 5; at 1e4 some shape is seen a hundred times weaker than another
#: and the fit swings wildly between the samples.
MAX_CONDITION = 1e4

#: Smallest part of the surface that must be visible from the origin unless the caller says less.
MIN_VISIBLE = 0.95

_ROWS = 4096  # samples per block of the normal equations: bounds memory, keeps BLAS busy


@dataclass(frozen=True)
class FitReport:
    """How well a radius series of ``degree`` follows the mesh it was fitted to."""

    degree: int
    samples: int
    mean_radius: float
    """Radius of the sphere of the mesh's volume [m]."""
    rms: float
    """Root mean square radius error, weighted by solid angle, as a fraction of mean_radius."""
    max: float
    """Largest radius error, as a fraction of mean_radius."""
    visible: float
    """Fraction of the surface area that the origin sees (facing out and not hidden)."""
    facing: float
    """Fraction of the surface area whose facets face away from the origin, hidden or not."""
    condition: float
    """Condition number of the normal equations (1: perfectly even samples)."""

    def __str__(self) -> str:
        return (
            f"degree {self.degree} ({(self.degree + 1) ** 2} terms, {self.samples} samples): "
            f"rms {100 * self.rms:.3g} %, max {100 * self.max:.3g} % "
            f"of the mean radius {self.mean_radius:.6g} m; "
            f"{100 * self.visible:.2f} % of the surface visible from the origin"
        )


def visible_fractions(mesh: Mesh) -> tuple[float, float]:
    """Fractions of the area that the origin sees, and that faces away from it.

    A ray from a point inside crosses the surface outward, inward, outward, ... Behind a first
    crossing every further one has an inward crossing before it, so a facet is hidden exactly
    where an inward facet lies across its ray nearer to the origin. Judged at centroids.
    """
    corners = mesh.vertices[mesh.faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(normal, axis=1)
    height = np.einsum("ij,ij->i", normal, corners[:, 0])
    outward = height > 0
    inward = np.flatnonzero(~outward)
    seen = outward.copy()
    seen[_behind(inward, corners, normal, height)] = False
    return float(area[seen].sum() / area.sum()), float(area[outward].sum() / area.sum())


def _behind(inward: Indices, corners: Array, normal: Array, height: Array) -> Indices:
    """Facets whose centroid lies behind one of the ``inward`` facets, seen from the origin."""
    centroid = corners.mean(axis=1)
    distance = np.linalg.norm(centroid, axis=1)
    ray = centroid / distance[:, None]
    rim = corners[inward] / np.linalg.norm(corners[inward], axis=2, keepdims=True)
    reach = np.linalg.norm(rim - ray[inward, None], axis=2).max(axis=1, initial=0.0)
    near = scipy.spatial.cKDTree(ray).query_ball_point(ray[inward], reach)
    screen = np.repeat(inward, [len(found) for found in near])
    target = np.array([t for found in near for t in found], dtype=np.intp)
    across = np.ones(len(target), dtype=bool)
    for i in range(3):
        edge_plane = np.cross(corners[screen, i], corners[screen, (i + 1) % 3])
        across &= np.einsum("ij,ij->i", ray[target], edge_plane) < 0
    target, screen = target[across], screen[across]
    depth = height[screen] / np.einsum("ij,ij->i", normal[screen], ray[target])
    return np.asarray(target[depth < distance[target] * (1 - 1e-12)])


def solid_angles(mesh: Mesh) -> Array:
    """Signed solid angle of each facet seen from the origin [sr] (van Oosterom & Strackee 1983)."""
    a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
    la, lb, lc = (np.linalg.norm(p, axis=1) for p in (a, b, c))
    ab, bc, ca = (np.einsum("ij,ij->i", p, q) for p, q in ((a, b), (b, c), (c, a)))
    triple = np.einsum("ij,ij->i", a, np.cross(b, c))
    return np.asarray(2.0 * np.arctan2(triple, la * lb * lc + ab * lc + bc * la + ca * lb))


def radius_samples(mesh: Mesh) -> tuple[Array, Array, Array]:
    """Unit directions (n, 3), radii (n,) [m] and weights (n,) summing to 1.

    Every vertex and every centroid is a sample. Half of a facet's solid angle goes to its
    centroid, half to its three vertices, so that neither corners nor flats are favoured.
    """
    angle = np.abs(solid_angles(mesh))
    corner_weight = np.bincount(mesh.faces.ravel(), np.repeat(angle / 6, 3), len(mesh.vertices))
    weight = np.concatenate((corner_weight, angle / 2))
    points = np.concatenate((mesh.vertices, mesh.vertices[mesh.faces].mean(axis=1)))
    radius = np.linalg.norm(points, axis=1)
    return points / radius[:, None], radius, weight / weight.sum()


def fit_harmonics(mesh: Mesh, degree: int, min_visible: float) -> tuple[Array, FitReport]:
    """Harmonic coefficients [m] of the solid-angle-weighted least-squares fit, and its errors."""
    _check_degree(degree, len(mesh.vertices))
    winding = solid_angles(mesh).sum() / (4 * np.pi)
    if not abs(winding - 1) < 1e-6:
        raise InputError(
            f"the origin is not inside the mesh (it winds around it {winding:.3g} times): a radius "
            "series needs an inner origin. Move the mesh first, for example to its centre of mass."
        )
    visible, facing = visible_fractions(mesh)
    if visible < min_visible:
        raise InputError(
            f"the mesh is not star-shaped: {100 * (1 - visible):.2f} % of its surface cannot be "
            f"seen from the origin ({100 * visible:.2f} % visible, at least "
            f"{100 * min_visible:g} % asked). A radius series has one radius per direction and "
            "would smooth such overhangs away. Move the origin, use the mesh itself, or accept "
            f"the smoothing with min_visible={np.floor(100 * visible) / 100:g}."
        )
    directions, radius, weight = radius_samples(mesh)
    coefficients, condition = _least_squares(degree, directions, radius, weight)
    error = _series_value(coefficients, directions) - radius
    scale = mesh.radius
    report = FitReport(
        degree=degree,
        samples=len(radius),
        mean_radius=scale,
        rms=float(np.sqrt(weight @ error**2)) / scale,
        max=float(np.abs(error).max()) / scale,
        visible=visible,
        facing=facing,
        condition=condition,
    )
    return coefficients, report


def _check_degree(degree: int, vertices: int) -> None:
    if isinstance(degree, bool) or not isinstance(degree, int | np.integer) or degree < 0:
        raise InputError(f"degree is {degree!r}; it must be a whole number, 0 or more.")
    terms = (degree + 1) ** 2
    if terms > vertices:
        raise InputError(
            f"degree {degree} has {terms} terms but the mesh has only {vertices} vertices, which "
            f"cannot determine it. Use degree {math.isqrt(vertices) - 1} or less, or a finer mesh."
        )


def _least_squares(degree: int, n: Array, radius: Array, weight: Array) -> tuple[Array, float]:
    """Solve the normal equations; in the harmonic basis they are nearly the unit matrix."""
    terms = (degree + 1) ** 2
    gram, right = np.zeros((terms, terms)), np.zeros(terms)
    for start in range(0, len(radius), _ROWS):
        rows = slice(start, start + _ROWS)
        y = harmonics.basis(degree, n[rows])
        weighted = y * weight[rows, None]
        gram += weighted.T @ y
        right += weighted.T @ radius[rows]
    values, vectors = np.linalg.eigh(gram)
    condition = float(values[-1] / values[0]) if values[0] > 0 else np.inf
    if condition > MAX_CONDITION:
        raise InputError(
            f"the mesh does not determine a series of degree {degree}: the normal equations have "
            f"condition {condition:.2g} (at most {MAX_CONDITION:g} allowed), so its samples leave "
            "some shapes unseen. Use a lower degree, or a finer or more even mesh."
        )
    return vectors @ ((vectors.T @ right) / values), condition


def _series_value(coefficients: Array, n: Array) -> Array:
    weights = harmonics.column_weights(coefficients)
    blocks = range(0, len(n), _ROWS)
    return np.concatenate([harmonics.series_value(weights, n[s : s + _ROWS]) for s in blocks])
