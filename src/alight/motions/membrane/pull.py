"""What pulls at bodies in inertial axes: gravity of a target that may turn, and external pushes."""

import functools
from dataclasses import dataclass
from typing import Any

import warp as wp

from alight.core import devices
from alight.core.checks import Array
from alight.core.types import scalar, vec3
from alight.flight import External, Rotation
from alight.flight.combine import combine, combined_data, combined_next
from alight.gravity import Gravity, Uniform


@dataclass(frozen=True)
class Pull:
    """A function of kernels, ``(data, t, x) -> acceleration`` in inertial axes, and its struct."""

    function: Any
    Data: Any
    uniform: bool
    """Whether it is the same everywhere."""
    next: Any = None
    """A function ``(data, t) -> time`` [s] of the next switch; None where nothing switches."""


def pull_of(gravity: Gravity, rotation: Rotation | None, externals: tuple[External, ...]) -> Pull:
    """The pull of laws; the same laws with other numbers give the same one."""
    external_data, push = combine(externals)
    turning = rotation is not None
    return _pull(
        gravity.field,
        gravity.Data,
        type(gravity) is Uniform and not externals and not turning,
        rotation.attitude if rotation is not None else None,
        rotation.Data if rotation is not None else external_data,
        push,
        external_data,
        bool(externals),
        combined_next(externals),
    )


@functools.cache
def _pull(
    field: Any,
    gravity_data: Any,
    uniform: bool,
    attitude: Any,
    rotation_data: Any,
    push: Any,
    external_data: Any,
    pushed: bool,
    external_next: Any,
) -> Pull:
    turns = attitude is not None

    @wp.struct
    class PullData:
        gravity: gravity_data
        rotation: rotation_data
        external: external_data

    @wp.func
    def pull(data: PullData, t: scalar, x: vec3):
        """[m/s^2]"""
        q_NT = wp.quat_identity(scalar)
        place = x
        if wp.static(turns):
            q_NT = attitude(data.rotation, t)
            place = wp.quat_rotate_inv(q_NT, x)
        value = field(data.gravity, place)
        a = value.acceleration
        if wp.static(pushed):
            extra = push(data.external, t, q_NT, place)
            a += extra.acceleration
        if wp.static(turns):
            a = wp.quat_rotate(q_NT, a)
        return a

    if external_next is None:
        return Pull(pull, PullData, uniform)

    @wp.func
    def switch(data: PullData, t: scalar):
        return external_next(data.external, t)

    return Pull(pull, PullData, uniform, switch)


def pull_data(
    pull: Pull,
    gravity: Gravity,
    rotation: Rotation | None,
    externals: tuple[External, ...],
    device: devices.Device,
) -> Any:
    """The parameters of the laws."""
    data = pull.Data()
    data.gravity = gravity.data(device)
    data.external = combined_data(externals, device)
    data.rotation = data.external if rotation is None else rotation.data(device)
    return data


def released_energy(gravity: Gravity, mass: Any, before: Array, after: Array) -> Array:
    """(n,) what gravity gave bodies on their way between places (n, 3) [J]."""
    start, end = (gravity.evaluate(x, "cpu")[0] for x in (before, after))
    return mass * (end - start)
