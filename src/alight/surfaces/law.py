"""What every surface offers: one kernel function, one struct of data, bounds, and ``query``."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.core.checks import Array, checked_points
from alight.core.errors import InputError
from alight.core.frames import local_frame
from alight.core.given import Given
from alight.core.types import mat33, scalar, vec3
from alight.core.warp_setup import POINT_OPTIONS


@wp.struct
class SurfacePoint:
    """What a surface says at a point.

    ``distance`` [m] is negative inside. ``normal`` is the unit vector along ``gradient``, which
    is the derivative of ``distance`` itself: forces from a potential of ``distance`` must push
    along the gradient, or they do not conserve energy; planes and slopes are read off the normal.
    """

    distance: scalar
    normal: vec3
    gradient: vec3


@wp.struct
class SurfaceBend:
    """What a smooth surface says at a point about how it bends.

    ``distance`` [m], its ``gradient`` and its ``hessian`` [1/m] are value, first and second
    derivatives of the very function that ``point`` gives. It need not be a true distance: where
    its gradient is not of unit length, a path on the surface still has
    ``gradient.a + v.hessian.v = 0``.
    """

    distance: scalar
    gradient: vec3
    hessian: mat33


@dataclasses.dataclass(frozen=True)
class Bounds:
    """How fast a surface's distance can change, everywhere outside and down to some depth.

    ``|distance| / slope`` never exceeds the way to the surface. Along a path of speed v and
    acceleration a, the second derivative of ``distance`` is at least
    ``-(slope |a| + curvature |v|^2)`` while the path stays outside.
    """

    slope: float
    """Largest length of the gradient."""
    curvature: float
    """Largest second derivative along any direction [1/m]; infinite where the gradient jumps."""


class Sample(NamedTuple):
    """What ``Surface.sample`` returns."""

    distance: Array
    """(...) [m], negative inside."""
    normal: Array
    """(..., 3) unit, pointing out."""
    gradient: Array
    """(..., 3) derivative of the distance."""


class Bends(NamedTuple):
    """What ``Surface.bends`` returns."""

    distance: Array
    """(...) [m], negative inside."""
    gradient: Array
    """(..., 3) derivative of the distance."""
    hessian: Array
    """(..., 3, 3) second derivatives of the distance [1/m], symmetric."""

    @property
    def normal(self) -> Array:
        """(..., 3) unit, pointing out."""
        return np.asarray(self.gradient / np.linalg.norm(self.gradient, axis=-1)[..., None])

    def shape(self, axes: Array | None = None) -> Array:
        """(..., 2, 2) shape operator [1/m] in tangent unit ``axes`` (..., 3, 2), its columns.

        In the east and north of ``local_frame(normal)`` unless others are given. For a unit
        tangent t in these axes t.shape t is the normal curvature: positive on convex ground, 1/R
        on a sphere.
        """
        a = local_frame(self.gradient)[..., :2] if axes is None else axes
        bent = np.einsum("...ia,...ij,...jb->...ab", a, self.hessian, a)
        return np.asarray(bent / np.linalg.norm(self.gradient, axis=-1)[..., None, None])

    def curvature(self, tangent: npt.ArrayLike) -> Array:
        """(...) normal curvature [1/m] along ``tangent`` (..., 3), of any length.

        What ``tangent`` has along the normal is taken off.
        """
        t, n = np.asarray(tangent, dtype=np.float64), self.normal
        t = t - np.einsum("...i,...i->...", t, n)[..., None] * n
        t = t / np.linalg.norm(t, axis=-1)[..., None]
        return self.shape(t[..., None])[..., 0, 0]

    @property
    def principal(self) -> Array:
        """(..., 2) smallest and largest normal curvature [1/m]."""
        bent = self.shape()
        mean = 0.5 * (bent[..., 0, 0] + bent[..., 1, 1])
        half = np.hypot(0.5 * (bent[..., 0, 0] - bent[..., 1, 1]), bent[..., 0, 1])
        return np.stack((mean - half, mean + half), axis=-1)


class Surface(Given):
    """What can be touched, in the target-fixed frame.

    A subclass sets ``point``, a Warp function ``(data, x) -> SurfacePoint``, ``bounds_to(depth)``,
    and ``data(device)``, which returns its ``@wp.struct`` of parameters with arrays on that
    device. That is all an engine needs to compose the law into its kernel. A smooth surface also
    sets ``bend``, its second derivatives, without which nothing can slide along it.

    A surface may have numbers of its own for each of ``count`` runs (``table``). It is then asked
    about points (count, ..., 3), those of each run in turn.
    """

    #: Warp function ``(data: Data, x: vec3) -> SurfacePoint``.
    point: Any
    #: Warp function ``(data: Data, x: vec3) -> SurfaceBend``; None where a surface has kinks.
    bend: Any = None
    #: The ``@wp.struct`` class of the law's parameters.
    Data: Any
    #: How many runs it has numbers for, or 1 where they are the same for all.
    count: int = 1

    def data(self, device: devices.Device) -> Any:
        """The law's parameters as a struct whose arrays live on ``device``."""
        raise NotImplementedError

    def table(self) -> Any:
        """(count,) structured array of ``Data``, of a surface with numbers for each run."""
        raise NotImplementedError

    def of(self, runs: Any) -> "Surface":
        """The surface of some of the runs."""
        return self

    def bounds_to(self, depth: float) -> Bounds:
        """Slope and curvature wherever ``distance >= -depth`` [m]; an error where none hold."""
        raise NotImplementedError

    @property
    def bounds(self) -> Bounds:
        """Slope and curvature of the distance on the surface and outside it."""
        return self.bounds_to(0.0)

    def query(
        self, points: npt.ArrayLike, device: str = "auto", threads: int | None = None
    ) -> tuple[Array, Array]:
        """Distance (...) [m] and outward unit normal (..., 3) at points (..., 3) [m]."""
        found = self.sample(points, device, threads)
        return found.distance, found.normal

    def sample(
        self, points: npt.ArrayLike, device: str = "auto", threads: int | None = None
    ) -> Sample:
        """Distance, normal and gradient at points (..., 3) [m]; all cores unless ``threads``."""
        x = checked_points(points, "a surface")
        target = devices.resolve(device)
        launch, out = self.prepared(x.reshape(-1, 3), target, threads)
        launch()
        distance, normal, gradient = (a.numpy() for a in out)
        return Sample(
            distance.reshape(x.shape[:-1]), normal.reshape(x.shape), gradient.reshape(x.shape)
        )

    def bends(
        self, points: npt.ArrayLike, device: str = "auto", threads: int | None = None
    ) -> Bends:
        """Distance, gradient and Hessian at points (..., 3) [m], of a smooth surface alone."""
        x = checked_points(points, "a surface")
        launch, out = self.prepared_bends(x.reshape(-1, 3), devices.resolve(device), threads)
        launch()
        distance, gradient, hessian = (a.numpy() for a in out)
        shape = x.shape[:-1]
        return Bends(
            distance.reshape(shape), gradient.reshape(x.shape), hessian.reshape((*shape, 3, 3))
        )

    def prepared_bends(
        self, points: Array, device: devices.Device, threads: int | None = None
    ) -> tuple[Callable[[], None], tuple[wp.array, ...]]:
        """As ``prepared``, for arrays of distance, gradient and Hessian."""
        if self.bend is None:
            raise InputError(
                f"{type(self).__name__} has no second derivatives: its normal jumps from facet to "
                "facet or from cell to cell. They exist on a Plane, a Sphere and a Parametric "
                "surface; Parametric.from_mesh makes a smooth one out of a mesh"
            )
        kernel = _bend_kernel(self.bend, self.Data)
        inputs = [self.data(device), devices.array(points, vec3, device)]
        return devices.prepared(kernel, len(points), inputs, (scalar, vec3, mat33), device, threads)

    def prepared(
        self, points: Array, device: devices.Device, threads: int | None = None
    ) -> tuple[Callable[[], None], tuple[wp.array, ...]]:
        """A call that fills arrays of distance, normal and gradient, and the arrays.

        Everything stays on the device: this is what a trajectory pays for the law.
        """
        x, out = devices.array(points, vec3, device), (scalar, vec3, vec3)
        if self.count == 1:
            inputs = [self.data(device), x]
            return devices.prepared(self.point_kernel, len(points), inputs, out, device, threads)
        each, left = divmod(len(points), max(1, self.count))
        if left:
            raise InputError(
                f"{type(self).__name__} has numbers for {self.count} runs and is asked about "
                f"{len(points)} points; give as many for each run."
            )
        table = wp.array(self.table(), dtype=self.Data, device=device.name)
        kernel = _runs_kernel(self.point, self.Data)
        return devices.prepared(kernel, len(points), [table, each, x], out, device, threads)

    @property
    def point_kernel(self) -> Any:
        """The kernel that evaluates this law at points."""
        return _point_kernel(self.point, self.Data)


@functools.cache
def _point_kernel(point: Any, data_type: Any) -> Any:
    """A kernel that evaluates one law at one point a thread."""

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def evaluate_surface(
        offset: int,
        data: data_type,
        points: wp.array(dtype=vec3),
        distance_out: wp.array(dtype=scalar),
        normal_out: wp.array(dtype=vec3),
        gradient_out: wp.array(dtype=vec3),
    ) -> None:
        i = wp.tid() + offset
        found = point(data, points[i])
        distance_out[i] = found.distance
        normal_out[i] = found.normal
        gradient_out[i] = found.gradient

    return evaluate_surface


@functools.cache
def _runs_kernel(point: Any, data_type: Any) -> Any:
    """The same of a law with numbers for each run, ``each`` points a run."""

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def evaluate_surfaces(
        offset: int,
        data: wp.array(dtype=data_type),
        each: int,
        points: wp.array(dtype=vec3),
        distance_out: wp.array(dtype=scalar),
        normal_out: wp.array(dtype=vec3),
        gradient_out: wp.array(dtype=vec3),
    ) -> None:
        i = wp.tid() + offset
        found = point(data[i / each], points[i])
        distance_out[i] = found.distance
        normal_out[i] = found.normal
        gradient_out[i] = found.gradient

    return evaluate_surfaces


@functools.cache
def _bend_kernel(bend: Any, data_type: Any) -> Any:
    """A kernel that evaluates the second derivatives of one law at one point a thread."""

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def evaluate_bend(
        offset: int,
        data: data_type,
        points: wp.array(dtype=vec3),
        distance_out: wp.array(dtype=scalar),
        gradient_out: wp.array(dtype=vec3),
        hessian_out: wp.array(dtype=mat33),
    ) -> None:
        i = wp.tid() + offset
        found = bend(data, points[i])
        distance_out[i] = found.distance
        gradient_out[i] = found.gradient
        hessian_out[i] = found.hessian

    return evaluate_bend
