"""The two simplest surfaces: a plane and a sphere, whose distances are exact."""

import copy
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.core.checks import Array, checked_number, checked_vector, checked_vectors
from alight.core.errors import InputError
from alight.core.types import mat33, scalar, vec3
from alight.surfaces.law import Bounds, Surface, SurfaceBend, SurfacePoint


@wp.struct
class PlaneData:
    """Unit normal, and its distance from the origin along it [m]."""

    normal: vec3
    offset: scalar


@wp.func
def plane_point(data: PlaneData, x: vec3):
    """d = n.(x - point)."""
    found = SurfacePoint()
    found.distance = wp.dot(data.normal, x) - data.offset
    found.normal = data.normal
    found.gradient = data.normal
    return found


@wp.func
def plane_bend(data: PlaneData, x: vec3):
    """A plane does not bend."""
    found = SurfaceBend()
    found.distance = wp.dot(data.normal, x) - data.offset
    found.gradient = data.normal
    found.hessian = mat33(scalar(0.0))
    return found


class Plane(Surface):
    """Flat ground through ``point`` [m]; ``normal`` points up, out of it, at any length.

    Each may also be (n, 3), a row for each run of a batch.
    """

    Data = PlaneData
    point = plane_point
    bend = plane_bend

    def __init__(self, point: npt.ArrayLike = (0, 0, 0), normal: npt.ArrayLike = (0, 0, 1)) -> None:
        self.origin = checked_vectors("point [m]", point)
        given = checked_vectors("normal", normal)
        size = np.abs(given).max(axis=-1, keepdims=True)
        if not size.all():
            raise InputError(f"normal is {normal!r}; a plane needs a direction, not a zero vector")
        given = given / size  # so that no square over- or underflows
        self.normal = given / np.sqrt(_product(given, given))
        lengths = {len(a) for a in (self.origin, self.normal) if a.ndim == 2}
        if len(lengths) > 1:
            raise InputError(
                f"a plane has point for {len(self.origin)} runs and normal for "
                f"{len(self.normal)}; give one for all, or one for each"
            )
        self.count = max([1, *lengths])
        if self.count == 1:
            self.origin, self.normal = self.origin.reshape(3), self.normal.reshape(3)

    def bounds_to(self, depth: float) -> Bounds:
        """Exact, at any depth."""
        return Bounds(slope=1.0, curvature=0.0)

    def data(self, device: devices.Device) -> Any:
        """Parameters; no arrays."""
        if self.count != 1:
            raise InputError(
                f"this plane has numbers for {self.count} runs, and here it must be the same for "
                "all: planes of their own are for runs of articulated landers (TreeModel). Give "
                "one point and one normal."
            )
        data, first = PlaneData(), self.table()[0]
        data.normal, data.offset = vec3(*first["normal"]), float(first["offset"])
        return data

    def table(self) -> Any:
        """(count,) parameters, a row a run."""
        kind: Any = PlaneData
        table: Any = np.zeros(self.count, dtype=kind.numpy_dtype())
        table["normal"] = self.normal
        table["offset"] = _product(self.normal, self.origin)[..., 0]
        return table

    def of(self, runs: Any) -> Surface:
        """The planes of some of the runs."""
        if self.count == 1:
            return self
        some = copy.copy(self)
        some.origin, some.normal = (
            np.broadcast_to(a, (self.count, 3))[runs] for a in (self.origin, self.normal)
        )
        some.count = len(some.normal)
        return some

    def __repr__(self) -> str:
        return f"Plane(point={self.origin.tolist()}, normal={self.normal.tolist()})"


def _product(a: Array, b: Array) -> Array:
    """(..., 1) of vectors (..., 3): NumPy's own for two vectors, whose bits it has in rows too."""
    return np.asarray((a[..., None, :] @ b[..., :, None])[..., 0])


@wp.struct
class SphereData:
    """Place and radius [m]."""

    center: vec3
    radius: scalar


@wp.func
def sphere_point(data: SphereData, x: vec3):
    """d = |x - center| - radius; at the centre itself the normal is +z."""
    r = x - data.center
    length = wp.length(r)
    found = SurfacePoint()
    found.distance = length - data.radius
    found.normal = wp.where(
        length > scalar(0.0), r / length, vec3(scalar(0.0), scalar(0.0), scalar(1.0))
    )
    found.gradient = found.normal
    return found


@wp.func
def sphere_bend(data: SphereData, x: vec3):
    """H = (1 - n n^T)/|x - center|; at the centre itself there is no bend to speak of: zero."""
    at = sphere_point(data, x)
    length = wp.length(x - data.center)
    found = SurfaceBend()
    found.distance = at.distance
    found.gradient = at.gradient
    found.hessian = mat33(scalar(0.0))
    if length > scalar(0.0):
        across = wp.identity(n=3, dtype=scalar) - wp.outer(at.normal, at.normal)
        found.hessian = across / length
    return found


class Sphere(Surface):
    """A ball of ``radius`` [m] about ``center`` [m]."""

    Data = SphereData
    point = sphere_point
    bend = sphere_bend

    def __init__(self, center: npt.ArrayLike = (0, 0, 0), radius: float = 1.0) -> None:
        self.center = checked_vector("center [m]", center)
        self.radius = checked_number("radius [m]", radius)

    def bounds_to(self, depth: float) -> Bounds:
        """Exact: the curvature of the smallest sphere that counts."""
        if depth >= self.radius:
            raise InputError(
                f"{depth:g} m below a sphere of radius {self.radius:g} m lies its centre, where "
                "the distance has no bounded curvature: take a larger radius, or a smaller depth"
            )
        return Bounds(slope=1.0, curvature=1.0 / (self.radius - depth))

    def data(self, device: devices.Device) -> Any:
        """Parameters; no arrays."""
        data = SphereData()
        data.center, data.radius = vec3(*self.center), self.radius
        return data

    def __repr__(self) -> str:
        return f"Sphere(center={self.center.tolist()}, radius={self.radius!r})"
