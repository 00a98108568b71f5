"""The body that a membrane meets: mass, inertia, and the convex hull of its vertices.

Only vertices of the body's own convex hull can touch a membrane, as long as the body passes
through the suspension plane within the polygon: every other vertex below the plane then lies in
the hull of those and of the suspension points. So the hull of the body is found once, on the
host, and a kernel has only to add the suspension points to it.

A body may be flat, a rod or a single point: its hull is then a polygon with two sides, an edge, or
nothing but the point.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import scipy

from alight.core import devices
from alight.core.checks import Array, checked_number
from alight.core.errors import InputError
from alight.membrane.geometry import CaptiveData, captive_data
from alight.membrane.hulls import THIN, BodyHull, body_hull, made_hull
from alight.shapes import Mesh


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

    #: Of bodies: all runs have this one.
    count: ClassVar[int] = 1

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

    def body(self, run: int) -> Captive:
        """That of a run: this one."""
        return self

    @property
    def corners(self) -> Array:
        """(1, V, 3) vertices of the hull [m]."""
        return self.hull.vertices[None]

    @property
    def room(self) -> tuple[int, int]:
        """Vertices and facets of the hull."""
        return len(self.hull.vertices), len(self.hull.facets)

    @property
    def volume(self) -> float:
        """Of the mesh that it came from [m^3]; not a number without one."""
        return math.nan if self.mesh is None else self.mesh.volume

    @property
    def lengths(self) -> Array:
        """(1,) extent of that mesh along the principal axis of the least moment [m]."""
        return np.array([math.nan if self.mesh is None else length_of(self.mesh)])

    def kernel_data(self, device: devices.Device) -> CaptiveData:
        """The struct for kernels, its arrays on ``device``."""
        h = self.hull
        arrays = (h.vertices, h.facets, h.normals, h.offsets, h.edges, h.shares, h.center)
        return captive_data(arrays, self.reach, device)


def length_of(mesh: Mesh) -> float:
    """Extent along the principal axis of the least moment [m]."""
    return float(mesh.principal_axes().extent[0])


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
    return made_hull(unique, [], np.empty((0, 3)))


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
    return checked_tensors(given[None])[0]


def checked_tensors(given: Array) -> Array:
    """Moments of inertia (n, 3, 3), made symmetric to the last bit."""
    if not (np.linalg.eigvalsh(given)[:, 0] > 0.0).all():
        raise InputError("the inertia of the body is not positive: its moments must be above 0")
    return np.asarray(0.5 * (given + np.swapaxes(given, -1, -2)))
