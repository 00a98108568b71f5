"""What every gravity law offers: one kernel function, one struct of data, one ``evaluate``."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.core.checks import Array, checked_points
from alight.core.given import Given
from alight.core.types import mat33, scalar, vec3
from alight.core.warp_setup import VECTOR_OPTIONS


@wp.struct
class FieldValue:
    """Potential U > 0 [m^2/s^2], acceleration g = +grad U [m/s^2], gradient of g [1/s^2].

    A kernel that reads only some of the three pays only for those: the compiler drops the rest.
    """

    potential: scalar
    acceleration: vec3
    gradient: mat33


class Gravity(Given):
    """A gravity law in the target-fixed frame.

    A subclass sets ``field``, a Warp function ``(data, x) -> FieldValue``, and ``data(device)``,
    which returns its ``@wp.struct`` of parameters with arrays on that device. That is all an
    engine needs to compose the law into its kernel, and all ``evaluate`` needs to run it alone.
    """

    #: Warp function ``(data: Data, x: vec3) -> FieldValue``.
    field: Any
    #: The ``@wp.struct`` class of the law's parameters.
    Data: Any

    @property
    def flight(self) -> Any:
        """What a trajectory calls: like ``field``, but the gradient may be left out."""
        return self.field

    def data(self, device: devices.Device) -> Any:
        """The law's parameters as a struct whose arrays live on ``device``."""
        raise NotImplementedError

    def evaluate(
        self, points: npt.ArrayLike, device: str = "auto", threads: int | None = None
    ) -> tuple[Array, Array, Array]:
        """Potential, acceleration and gradient at points ``(..., 3)`` [m].

        Returns arrays of shape ``(...)`` [m^2/s^2], ``(..., 3)`` [m/s^2] and ``(..., 3, 3)``
        [1/s^2], in float64. ``threads`` limits the CPU threads (default: all cores).
        """
        x = checked_points(points, "gravity")
        target = devices.resolve(device)
        flat = np.ascontiguousarray(x.reshape(-1, 3))
        u, g, gradient = self._evaluate(flat, target, threads)
        shape = x.shape[:-1]
        return u.reshape(shape), g.reshape(*shape, 3), gradient.reshape(*shape, 3, 3)

    def acceleration(
        self, points: npt.ArrayLike, device: str = "auto", threads: int | None = None
    ) -> Array:
        """Acceleration alone [m/s^2] at points ``(..., 3)`` [m]."""
        return self.evaluate(points, device, threads)[1]

    def prepared(
        self, points: Array, device: devices.Device, threads: int | None = None
    ) -> tuple[Callable[[], None], wp.array]:
        """A call that fills an array of accelerations by ``flight``, and the array.

        Both stay on the device: this is what a trajectory pays for the law.
        """
        kernel = _acceleration_kernel(self.flight, self.Data)
        inputs = [self.data(device), devices.array(points, vec3, device)]
        launch, (g,) = devices.prepared(kernel, len(points), inputs, [vec3], device, threads)
        return launch, g

    def _evaluate(
        self, points: Array, device: devices.Device, threads: int | None
    ) -> tuple[Array, Array, Array]:
        kernel = _field_kernel(self.field, self.Data)
        return run_field_kernel(kernel, self.data(device), points, len(points), device, threads)


def run_field_kernel(
    kernel: Any,
    data: Any,
    points: Array,
    items: int,
    device: devices.Device,
    threads: int | None,
    min_items: int = devices.MIN_ITEMS_PER_THREAD,
) -> tuple[Array, Array, Array]:
    """Launch a kernel ``(offset, data, points, count, u, g, gradient)`` over ``items`` threads."""
    n = len(points)
    x = wp.array(points, dtype=vec3, device=device.name)
    u = wp.empty(n, dtype=scalar, device=device.name)
    g = wp.empty(n, dtype=vec3, device=device.name)
    gradient = wp.empty(n, dtype=mat33, device=device.name)
    if n:
        inputs = [data, x, n, u, g, gradient]
        devices.launch(kernel, items, inputs, device, threads, min_items=min_items)
    return u.numpy(), g.numpy(), gradient.numpy()


@functools.cache
def _field_kernel(field: Any, data_type: Any) -> Any:
    """A kernel that evaluates one law at one point a thread."""

    @wp.kernel(module="unique", enable_backward=False, module_options=VECTOR_OPTIONS)
    def evaluate_field(
        offset: int,
        data: data_type,
        points: wp.array(dtype=vec3),
        count: int,
        potential_out: wp.array(dtype=scalar),
        acceleration_out: wp.array(dtype=vec3),
        gradient_out: wp.array(dtype=mat33),
    ) -> None:
        i = wp.tid() + offset
        value = field(data, points[i])
        potential_out[i] = value.potential
        acceleration_out[i] = value.acceleration
        gradient_out[i] = value.gradient

    return evaluate_field


@functools.cache
def _acceleration_kernel(field: Any, data_type: Any) -> Any:
    """A kernel that evaluates one law's acceleration at one point a thread."""

    @wp.kernel(module="unique", enable_backward=False, module_options=VECTOR_OPTIONS)
    def evaluate_acceleration(
        offset: int,
        data: data_type,
        points: wp.array(dtype=vec3),
        acceleration_out: wp.array(dtype=vec3),
    ) -> None:
        i = wp.tid() + offset
        value = field(data, points[i])
        acceleration_out[i] = value.acceleration

    return evaluate_acceleration
