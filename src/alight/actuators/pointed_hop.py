"""Pointed hops: the momentum that wheels must have so that, braked at once, they throw a lander in
a wanted direction along the ground.

A lander stands on feet, on ground with the normal n. Braked wheels give it their momentum L, and it
turns about the foot O that is farthest along the wanted direction d, at the rate w = omega n x d.
With r from O to the centre of mass, c = n . r and b = -d . r (l cos(alpha) and l sin(alpha) in the
plane of n and d), the ground pushes by P there and

    I w = L - r x P,     v = P / m.

- The foot holds, friction mu >= c / b: v = w x r = omega (c d + b n), so v = omega sqrt(b^2 + c^2)
  at alpha above the ground (H1, H2 of docs/explanation/hopping.md).
- It slides back along d: P = m omega b (n + mu d), v = omega b sqrt(1 + mu^2) at atan(1 / mu) (H6).

Either way v is along d whatever lies aside in r, and no other foot gets into the ground: each moves
along n by omega times how far it is behind O along d. So L = I w + r x P is exact in space.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.core.checks import Array
from alight.core.types import mat33, quat, scalar, vec3

#: Of the radius: how much higher than the lowest a foot may be that still stands on rough ground,
#: and how far apart, along d, feet are that it turns about together.
_STANDS = wp.constant(scalar(0.15))
_TOGETHER = wp.constant(scalar(1e-3))


@wp.struct
class Stance:
    """How a lander stands, seen along a direction."""

    lever: vec3  # r, from the foot that it turns about to the centre of mass [m]
    ahead: scalar  # b: how far that foot is ahead of the centre of mass [m]
    behind: scalar  # how far the last foot is behind it [m]
    height: scalar  # c [m]


@wp.func
def stance_of(feet: wp.array(dtype=vec3), radius: scalar, q: quat, n: vec3, d: vec3):
    """How a lander with these feet [m, body axes] stands on ground with the normal ``n``."""
    out = Stance()
    low = scalar(1e30)
    for k in range(feet.shape[0]):
        low = wp.min(low, wp.dot(n, wp.quat_rotate(q, feet[k])))
    first = scalar(-1e30)
    last = scalar(1e30)
    for k in range(feet.shape[0]):
        p = wp.quat_rotate(q, feet[k])
        if wp.dot(n, p) <= low + _STANDS * radius:
            first = wp.max(first, wp.dot(d, p))
            last = wp.min(last, wp.dot(d, p))
    sum = vec3()
    count = scalar(0.0)
    for k in range(feet.shape[0]):
        p = wp.quat_rotate(q, feet[k])
        stands = wp.dot(n, p) <= low + _STANDS * radius
        if stands and wp.dot(d, p) >= first - _TOGETHER * radius:
            sum += p
            count += scalar(1.0)
    out.lever = -sum / count
    out.ahead = -wp.dot(d, out.lever)
    out.behind = -last
    out.height = wp.dot(n, out.lever)
    return out


@wp.struct
class HopPlan:
    """A hop of 1 m/s, as wheels must give it; everything is proportional to the speed."""

    momentum: vec3  # L of all wheels, target axes [N m s]
    velocity: vec3  # of the centre of mass at take-off, target axes [m/s]
    rate: scalar  # omega [rad/s]
    possible: bool  # a foot is ahead of the centre of mass


@wp.func
def unit_hop(mass: scalar, inertia: mat33, lever: vec3, n: vec3, d: vec3, friction: scalar):
    """The plan of a hop of 1 m/s along ``d``; ``inertia`` [kg m^2] is in target axes."""
    out = HopPlan()
    b = -wp.dot(d, lever)
    c = wp.dot(n, lever)
    out.possible = b > scalar(0.0) and c > scalar(0.0)
    if out.possible:
        if friction * b >= c:
            out.rate = scalar(1.0) / wp.sqrt(b * b + c * c)
            out.velocity = out.rate * (c * d + b * n)
        else:
            out.rate = scalar(1.0) / (b * wp.sqrt(scalar(1.0) + friction * friction))
            out.velocity = (out.rate * b) * (n + friction * d)
        w = out.rate * wp.cross(n, d)
        out.momentum = inertia * w + mass * wp.cross(lever, out.velocity)
    return out


@wp.kernel
def _plan_kernel(
    offset: int,
    feet: wp.array(dtype=vec3),
    radius: scalar,
    mass: scalar,
    inertia: mat33,
    friction: scalar,
    q: wp.array(dtype=quat),
    n: wp.array(dtype=vec3),
    d: wp.array(dtype=vec3),
    plans_out: wp.array(dtype=HopPlan),
) -> None:
    i = wp.tid() + offset
    R = wp.quat_to_matrix(q[i])
    stands = stance_of(feet, radius, q[i], n[i], d[i])
    turned = R * inertia * wp.transpose(R)
    plans_out[i] = unit_hop(mass, turned, stands.lever, n[i], d[i], friction)


def unit_hops(
    feet: Array,
    mass: float,
    inertia: Array,
    friction: float,
    attitude: npt.ArrayLike,
    normal: npt.ArrayLike,
    direction: npt.ArrayLike,
) -> Any:
    """Plans of hops of 1 m/s: a structured array (n,) with the fields of ``HopPlan``.

    ``feet`` (k, 3) [m] and ``inertia`` are in body axes, ``attitude`` (n, 4) is from body to target
    axes, ``normal`` and ``direction`` (n, 3) are perpendicular unit vectors, target axes.
    """
    q, up, along = (np.atleast_2d(np.asarray(a, np.float64)) for a in (attitude, normal, direction))
    count = max(len(q), len(up), len(along))
    device = devices.resolve("cpu")
    arrays = [
        wp.array(
            np.ascontiguousarray(np.broadcast_to(a, (count, a.shape[1]))), dtype=t, device="cpu"
        )
        for a, t in ((q, quat), (up, vec3), (along, vec3))
    ]
    out = wp.zeros(count, dtype=HopPlan, device="cpu")
    radius = float(np.linalg.norm(feet, axis=1).max())
    where = wp.array(np.ascontiguousarray(feet, dtype=np.float64), dtype=vec3, device="cpu")
    inputs = [where, radius, mass, mat33(*np.asarray(inertia).ravel()), friction, *arrays]
    devices.launch(_plan_kernel, count, inputs, device, outputs=[out])
    return out.numpy()
