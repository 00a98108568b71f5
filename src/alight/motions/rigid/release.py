"""``Release``: place, velocity, attitude and rate at the start, one row for each run."""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices, frames
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.core.types import quat, scalar, vec3
from alight.core.warp_setup import POINT_OPTIONS
from alight.vehicles.rigid.data import RigidBody


@dataclass(frozen=True, eq=False)
class Release:
    """States of the centre of mass at t = 0, relative to the turning target.

    Each may be one vector for all runs or one row for each run.
    """

    position: Array
    """(n, 3) from the target's origin, in target axes [m]."""
    velocity: Array
    """(n, 3) relative to the turning target [m/s]."""
    attitude: Array
    """(n, 4) quaternions xyzw, body to target axes."""
    rate: Array
    """(n, 3) relative to the target, in body axes [rad/s]."""
    draw: npt.NDArray[np.int64]
    """(n,) numbers that throws of a plan err by: those of the runs, from 0, if not given."""

    def __init__(
        self,
        position: npt.ArrayLike,
        velocity: npt.ArrayLike = (0.0, 0.0, 0.0),
        attitude: npt.ArrayLike = (0.0, 0.0, 0.0, 1.0),
        rate: npt.ArrayLike = (0.0, 0.0, 0.0),
        draw: npt.ArrayLike | None = None,
    ) -> None:
        given = {
            "position": _rows("position [m]", position, 3),
            "velocity": _rows("velocity [m/s]", velocity, 3),
            "attitude": _rows("attitude", attitude, 4),
            "rate": _rows("rate [rad/s]", rate, 3),
        }
        counts = {name: len(a) for name, a in given.items() if len(a) != 1}
        if len(set(counts.values())) > 1:
            said = ", ".join(f"{n} rows of {name}" for name, n in counts.items())
            raise InputError(
                f"a release has {said}; each needs one row for all runs or one for each run."
            )
        count = max(len(a) for a in given.values())
        length = np.linalg.norm(given["attitude"], axis=1, keepdims=True)
        if not (length > 0.0).all():
            raise InputError(
                "an attitude of a release is the zero quaternion; it has no direction."
            )
        # What is of unit length to rounding keeps its bits.
        unit = np.abs(length - 1.0) < 4.0 * np.finfo(np.float64).eps
        given["attitude"] = np.where(unit, given["attitude"], given["attitude"] / length)
        for name, array in given.items():
            full = np.array(np.broadcast_to(array, (count, array.shape[1])))
            full.flags.writeable = False
            object.__setattr__(self, name, full)
        numbers = np.arange(count) if draw is None else np.asarray(draw, dtype=np.int64)
        object.__setattr__(self, "draw", np.array(np.broadcast_to(numbers, (count,))))

    def __len__(self) -> int:
        return len(self.position)

    def __getitem__(self, rows: Any) -> "Release":
        """The release of some of the runs."""
        pick = np.atleast_1d(np.arange(len(self))[rows])
        return Release(
            self.position[pick],
            self.velocity[pick],
            self.attitude[pick],
            self.rate[pick],
            self.draw[pick],
        )

    @classmethod
    def above(
        cls,
        surface: Any,
        latitude: float,
        longitude: float,
        height: float,
        velocity: npt.ArrayLike = (0.0, 0.0, 0.0),
        attitude: npt.ArrayLike = (0.0, 0.0, 0.0, 1.0),
        rate: npt.ArrayLike = (0.0, 0.0, 0.0),
    ) -> "Release":
        """Release ``height`` [m] above the ground on the ray at a latitude and longitude [rad].

        Heights count along the ray, from where it first meets the ground coming from outside.
        ``velocity`` [m/s] is east, north and up there; the other arguments are as for ``Release``.
        """
        up = frames.direction(latitude, longitude)
        position = up * (_ground_radius(surface, up) + float(height))
        turn = frames.local_frame(up)
        return cls(position, np.asarray(velocity, dtype=np.float64) @ turn.T, attitude, rate)


def _ground_radius(surface: Any, up: Array) -> float:
    """Distance from the origin at which the ray along ``up`` meets the ground, from outside.

    A distance over the slope bound never exceeds the way to the ground: the ray is walked inwards
    by it.
    """

    def distance(radius: float) -> float:
        return float(surface.query(up * radius, device="cpu")[0])

    radius = 1.0
    while distance(radius) < 0.5 * radius:
        radius *= 2.0
        if radius > 1e12:
            raise InputError(
                "no place on this ray is high above the ground; a release by latitude and "
                "longitude needs a body about the origin, not a plane."
            )
    slope = surface.bounds.slope
    for _ in range(10_000):
        gap = distance(radius)
        if gap <= 1e-9 * radius:
            return radius
        radius -= gap / slope
    raise InputError("the ray at this latitude and longitude does not meet the ground.")


def _rows(name: str, value: npt.ArrayLike, width: int) -> Array:
    try:
        array = np.atleast_2d(np.asarray(value, dtype=np.float64))
    except (TypeError, ValueError):
        array = np.empty((0, 0))
    if array.ndim != 2 or array.shape[1] != width or not len(array):
        raise InputError(
            f"{name} of a release must be {width} numbers or rows of {width}; got "
            f"{np.shape(value)}."
        )
    bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if len(bad):
        raise InputError(f"{name} of run {bad[0]} is not finite: {array[bad[0]]}.")
    return array


@wp.struct
class Lowest:
    """The contact point nearest to the ground, or farthest below it."""

    gap: scalar  # its distance from the ground [m], or a lower bound of it
    way: vec3  # what way would raise that by 1 m
    pressed: scalar  # sum of the depths of all points below the ground [m]


@functools.cache
def gap_kernel(surface_point: Any, surface_data: Any) -> Any:
    """A kernel for the smallest distance between a lander's contact points and the ground."""

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def least_gap(
        offset: int,
        surface: surface_data,
        body: RigidBody,
        slope: scalar,
        x: wp.array(dtype=vec3),
        q: wp.array(dtype=quat),
        lowest_out: wp.array(dtype=Lowest),
    ) -> None:
        i = wp.tid() + offset
        middle = surface_point(surface, x[i])
        low = Lowest()
        low.gap = middle.distance - slope * body.bounding_radius
        if low.gap < scalar(0.0):
            low.gap = scalar(1e300)
            for j in range(body.points.shape[0]):
                found = surface_point(surface, x[i] + wp.quat_rotate(q[i], body.points[j]))
                gap = found.distance - body.radii[j]
                low.pressed += wp.max(scalar(0.0), -gap)
                if gap < low.gap:
                    low.gap = gap
                    low.way = found.gradient / wp.dot(found.gradient, found.gradient)
        lowest_out[i] = low

    return least_gap


def lowest_points(
    model: Any, positions: Array, attitudes: Array, device: devices.Device, threads: int | None
) -> Any:
    """(n,) structured array of ``Lowest``, of a rigid lander at each pose."""
    kernel = gap_kernel(model.surface.point, model.surface.Data)
    x = wp.array(np.ascontiguousarray(positions), dtype=vec3, device=device.name)
    q = wp.array(np.ascontiguousarray(attitudes), dtype=quat, device=device.name)
    out = wp.empty(len(positions), dtype=Lowest, device=device.name)
    inputs = [model.surface.data(device), model.lander.kernel_data(device)]
    inputs += [model.surface.bounds.slope, x, q]
    if len(positions):
        devices.launch(kernel, len(positions), inputs, device, threads, outputs=[out])
    return out.numpy()


def gaps(model: Any, release: Release, device: devices.Device, threads: int | None) -> Array:
    """(n,) smallest distance of any contact point from the ground [m], or a lower bound of it."""
    found = lowest_points(model, release.position, release.attitude, device, threads)
    return np.array(found["gap"])
