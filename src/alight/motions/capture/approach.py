"""How a craft comes to a tumbling asteroid: controllers, replaceable as any law.

Until contact a controller holds the craft on its way with the thrusters; from contact on one of
them (``Approach.thruster``) presses the craft steadily to the asteroid, and nothing else is done
(paper 003, "Approach Strategy"). The three of
the paper differ in where they come from, how they spin, and what they keep in the middle:

- ``AngularMomentum``: along the angular momentum h, spinning about it at w.h/|h| = 2T/|h|, the part
  of the asteroid's rate along h, which stays the same however it tumbles;
- ``Instantaneous``: along the rate that the asteroid will have at contact, spinning with it;
- ``Corkscrew``: as the first, but the asteroid's middle, not its centre of mass, is kept on the
  craft's axis, so that the craft flies a helix.

Another is a subclass that plans rows of its own in ``aim``, or that names its own struct ``Data``
and Warp function ``push(data, scene, row) -> Wrench``: force and torque on the bus, at its origin,
in inertial axes; ``row`` is the number of the run.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.actuators import Schedule, Thruster
from alight.core import devices, frames
from alight.core.checks import Array, checked_number
from alight.core.errors import InputError, unknown_name
from alight.core.types import mat33, scalar, vec3
from alight.membrane import Captive
from alight.membrane.captives import Captives
from alight.motions.capture.craft import Spacecraft
from alight.motions.capture.stepping import CaptureScene
from alight.motions.membrane.state import Wrench

#: Step of the asteroid's motion ahead of contact, in turns [rad].
_TURN = 0.02
#: How often its reach is looked at on the way.
_LOOKS = 40


@wp.struct
class ApproachRow:
    """How one run is approached; vectors in inertial axes but for ``center``."""

    toward: vec3  # unit, from the asteroid to the craft
    spin: scalar  # wanted rate about it [rad/s]
    distance: scalar  # of the bus from the asteroid's centre of mass along it at t = 0 [m]
    miss: vec3  # error of navigation, across it [m]
    center: vec3  # what is kept in the middle of the membrane, asteroid's axes [m]


@wp.struct
class ApproachData:
    """What a controller knows about the craft, and its gains."""

    rows: wp.array(dtype=ApproachRow)
    speed: scalar  # [m/s]
    mass: scalar  # [kg]
    inertia: mat33  # of the stiff craft about the bus's origin, craft axes [kg m^2]
    bandwidth: scalar  # [rad/s]
    most_force: scalar  # before contact [N]
    most_torque: scalar  # [N m]


@wp.func
def limited(wanted: vec3, most: scalar):
    """A vector no longer than ``most``."""
    size = wp.length(wanted)
    if size > most:
        return (most / size) * wanted
    return wanted


@wp.func
def held_place(data: ApproachData, row: ApproachRow, scene: CaptureScene):
    """Force that keeps the craft on its way to the asteroid [N].

    Where ``center`` is not 0 the way winds about the line: the point of the asteroid turns, and
    the craft follows it across the line with velocity and acceleration known in advance.
    """
    body = scene.body
    d = row.toward
    w = wp.quat_rotate(body.q, body.rate)
    gyro = wp.cross(body.rate, scene.asteroid.inertia * body.rate)
    alpha = wp.quat_rotate(body.q, -(scene.asteroid.inverse * gyro))
    g = wp.quat_rotate(body.q, row.center)
    u = wp.cross(w, g)
    a = wp.cross(alpha, g) + wp.cross(w, u)
    g -= wp.dot(g, d) * d
    u -= wp.dot(u, d) * d
    a -= wp.dot(a, d) * d
    x = body.x + (row.distance - data.speed * scene.t) * d + g + row.miss
    v = body.v - data.speed * d + u
    k = data.bandwidth
    a += k * k * (x - scene.craft.x) + scalar(2.0) * k * (v - scene.craft.v)
    return limited(data.mass * a, data.most_force)


@wp.func
def held_attitude(data: ApproachData, row: ApproachRow, scene: CaptureScene):
    """Torque that keeps the craft's z on the asteroid, and its spin [N m]."""
    craft = scene.craft
    w = wp.quat_rotate(craft.q, craft.rate)
    axis = wp.quat_rotate(craft.q, vec3(scalar(0.0), scalar(0.0), scalar(1.0)))
    k = data.bandwidth
    alpha = k * k * wp.cross(axis, -row.toward) + scalar(2.0) * k * (row.spin * row.toward - w)
    own = data.inertia * wp.quat_rotate_inv(craft.q, alpha)
    own += wp.cross(craft.rate, data.inertia * craft.rate)
    return limited(wp.quat_rotate(craft.q, own), data.most_torque)


@wp.func
def approach_push(data: ApproachData, scene: CaptureScene, row: int):
    """On the way until contact, then nothing."""
    push = Wrench()
    if scene.touched >= scalar(0.0):
        return push
    plan = data.rows[wp.min(row, data.rows.shape[0] - 1)]
    push.force = held_place(data, plan, scene)
    push.torque = held_attitude(data, plan, scene)
    return push


# -- plans ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Asteroids:
    """n asteroids of one shape before contact, at the origin and not moving."""

    body: Captive | Captives
    inertia: Array
    """(n, 3, 3) [kg m^2], body axes."""
    attitude: Array
    """(n, 4) at t = 0."""
    rate: Array
    """(n, 3) at t = 0 [rad/s], body axes."""
    _ahead: dict[tuple[float, int], Array] = field(default_factory=dict, repr=False)
    _inverse: Array | None = field(default=None, repr=False)

    @property
    def count(self) -> int:
        """n"""
        return len(self.rate)

    @property
    def momentum(self) -> Array:
        """(n, 3) angular momentum [kg m^2/s], inertial axes."""
        return frames.quat_rotate(self.attitude, times(self.inertia, self.rate))

    def after(self, time: float) -> Self:
        """The same a while later, tumbling freely; steps of RK4, of its own length for each run."""
        turns = np.abs(time) * np.linalg.norm(self.rate, axis=1) / _TURN
        count = np.maximum(1, np.ceil(turns)).astype(np.int64)[:, None]
        q, w, h = self.attitude, self.rate, time / count
        inverse = self._inverse
        if inverse is None:
            inverse = np.asarray(np.linalg.inv(self.inertia), dtype=np.float64)

        def slope(q: Array, w: Array) -> tuple[Array, Array]:
            spun = frames.cross(w, times(self.inertia, w))
            return frames.quat_rate(q, w), -times(inverse, spun)

        for number in range(int(count.max(initial=0))):
            a, b = slope(q, w)
            c, d = slope(q + 0.5 * h * a, w + 0.5 * h * b)
            e, f = slope(q + 0.5 * h * c, w + 0.5 * h * d)
            g, i = slope(q + h * e, w + h * f)
            on = number < count
            q = np.where(on, frames.quat_normalize(q + h / 6.0 * (a + 2.0 * c + 2.0 * e + g)), q)
            w = np.where(on, w + h / 6.0 * (b + 2.0 * d + 2.0 * f + i), w)
        return type(self)(self.body, self.inertia, q, w, _inverse=inverse)

    def ahead(self, step: float, count: int) -> Array:
        """(count, n, 4) attitudes after 1, 2, ... ``count`` steps [s]."""
        if (step, count) not in self._ahead:
            tumble_together([self], step, count)
        return self._ahead[step, count]

    def extent(self, direction: Array, attitude: Array) -> Array:
        """(..., n) how far the body reaches from its centre of mass along directions (n, 3) [m], at
        attitudes (..., n, 4)."""
        own = frames.quat_rotate_inv(attitude, direction)
        corners = self.body.corners
        heights = sum(own[..., k : k + 1] * corners[..., k] for k in range(3))
        return np.asarray(np.max(heights, axis=-1))


def tumble_together(some: Sequence[Asteroids], step: float, count: int) -> None:
    """Find ``ahead(step, count)`` of several at once; the bits are those of each alone."""
    now = Asteroids(
        some[0].body,
        np.concatenate([a.inertia for a in some]),
        np.concatenate([a.attitude for a in some]),
        np.concatenate([a.rate for a in some]),
    )
    edges = np.cumsum([0, *(a.count for a in some)])
    turns = np.empty((count, now.count, 4))
    for look in range(count):
        now = now.after(step)
        turns[look] = now.attitude
    for i, each in enumerate(some):
        each._ahead[step, count] = turns[:, edges[i] : edges[i + 1]]


def times(matrices: Array, vectors: Array) -> Array:
    """Matrices (n, m, k) times vectors (n, k), term by term: no run's bits depend on the others."""
    return np.asarray(
        sum(matrices[:, :, k] * vectors[:, k : k + 1] for k in range(vectors.shape[1]))
    )


def _along(a: Array, b: Array) -> Array:
    """(n,) products of rows (n, 3)."""
    return times(a[:, None, :], b)[:, 0]


class Approach:
    """A controller: its plan for each run, and what it does in the kernel.

    Args:
        speed: Toward the asteroid [m/s].
        thrust: Along the craft's z from contact on [N].
        lead: About how long before contact a run starts [s].
        side: 1 to come from where the axis points, -1 from the other end.
        offset: Error of navigation across the way [m], (2,) or (n, 2).
        roll: Angle of the craft about its axis at the start [rad], one or (n,).
        bandwidth: Of the control until contact [rad/s].
        most_force: Largest force of the control [N].
        most_torque: Largest torque of the control [N m].
    """

    name: ClassVar[str] = ""
    Data: Any = ApproachData
    push: Any = approach_push

    def __init__(
        self,
        speed: float = 0.05,
        thrust: float = 475.0,
        *,
        lead: float = 10.0,
        side: int = 1,
        offset: npt.ArrayLike = (0.0, 0.0),
        roll: npt.ArrayLike = 0.0,
        bandwidth: float = 0.1,
        most_force: float = 475.0,
        most_torque: float = 500.0,
    ) -> None:
        self.speed = checked_number("speed of the approach [m/s]", speed)
        self.thrust = checked_number("thrust after contact [N]", thrust, above=False)
        self.lead = checked_number("lead before contact [s]", lead)
        if side not in (1, -1):
            raise InputError(
                f"side is {side!r}; it must be 1, to come from where the axis points, or -1"
            )
        self.side = int(side)
        self.offset = np.atleast_2d(_numbers("offset [m]", offset))
        if self.offset.ndim != 2 or self.offset.shape[1] != 2:
            raise InputError(
                f"offset has shape {self.offset.shape}; give two numbers [m] across the way, or "
                "two for each run"
            )
        self.roll = np.atleast_1d(_numbers("roll [rad]", roll))
        if self.roll.ndim != 1:
            raise InputError("roll must be one angle [rad], or one for each run")
        self.bandwidth = checked_number("bandwidth of the control [rad/s]", bandwidth)
        self.most_force = checked_number("most_force [N]", most_force)
        self.most_torque = checked_number("most_torque [N m]", most_torque)

    @property
    def thruster(self) -> Thruster:
        """What presses the craft to the asteroid: along its z, from the first touch on."""
        if self.thrust == 0.0:  # the same kernel, with nothing to switch on
            return Thruster(1.0, (0.0, 0.0, 1.0), schedule=Schedule.never(), name="main")
        after = Schedule.after_touch()
        return Thruster(self.thrust, (0.0, 0.0, 1.0), schedule=after, name="main")

    @staticmethod
    def look_ahead(plans: "Sequence[tuple[Approach, Asteroids]]") -> None:
        """Let all asteroids tumble at once, as far as the plans of their approaches look."""
        by_lead: dict[float, list[Asteroids]] = {}
        for one, asteroids in plans:
            by_lead.setdefault(one.lead, []).append(asteroids)
        for lead, some in by_lead.items():
            tumble_together(some, lead / _LOOKS, _LOOKS)

    def aim(self, asteroids: Asteroids) -> tuple[Array, Array, Array]:
        """Directions (n, 3) to come from, spins (n,) about them [rad/s], and centres (n, 3) [m]."""
        raise NotImplementedError

    def plan(self, asteroids: Asteroids, craft: Spacecraft) -> Any:
        """One record of ``ApproachRow`` for each run.

        The craft starts so far away that, held on its way, it makes contact after ``lead``
        seconds, or before where the tumbling asteroid reaches out toward it.
        """
        toward, spin, center = self.aim(asteroids)
        gap, short = asteroids.extent(toward, asteroids.attitude), self.lead / _LOOKS
        nearer = self.speed * np.arange(1.0, _LOOKS + 1.0) * short
        # One after the other: of many runs all looks at once would take much memory.
        for attitude, near in zip(asteroids.ahead(short, _LOOKS), nearer.tolist(), strict=True):
            gap = np.maximum(gap, asteroids.extent(toward, attitude) + near)
        kind: Any = ApproachRow
        rows: Any = np.zeros(asteroids.count, dtype=kind.numpy_dtype())
        rows["toward"], rows["spin"], rows["center"] = toward, spin, center
        rows["distance"] = gap + craft.ring_height
        R = facing(toward)
        rows["miss"] = times(R[:, :, :2], self._over(self.offset, asteroids))
        return rows

    def start(self, rows: Any, asteroids: Asteroids) -> tuple[Array, Array, Array, Array]:
        """Place [m], velocity [m/s], attitude and rate [rad/s] of the bus, on its way."""
        d, w = rows["toward"], frames.quat_rotate(asteroids.attitude, asteroids.rate)
        g = frames.quat_rotate(asteroids.attitude, rows["center"])
        u = frames.cross(w, g)
        g, u = (x - _along(x, d)[:, None] * d for x in (g, u))
        x = rows["distance"][:, None] * d + g + rows["miss"]
        turn = frames.quat_from_axis_angle((0.0, 0.0, 1.0), self._over(self.roll, asteroids))
        q = frames.quat_multiply(frames.quat_from_matrix(facing(d)), turn)
        # z points at the asteroid, against ``toward``, and so does the craft's share of the spin.
        rate = np.outer(rows["spin"], (0.0, 0.0, -1.0))
        return x, u - self.speed * d, q, rate

    def data(self, device: devices.Device, rows: Any, craft: Spacecraft) -> Any:
        """Parameters as the kernel reads them."""
        data = self.Data()
        data.rows = wp.array(rows, dtype=ApproachRow, device=device.name)
        data.mass, data.inertia = craft.mass, mat33(*craft.inertia.ravel())
        for name in ("speed", "bandwidth", "most_force", "most_torque"):
            setattr(data, name, getattr(self, name))
        return data

    def part(self, runs: npt.NDArray[np.int64], count: int) -> Self:
        """The same for some of ``count`` runs."""
        other = copy.copy(self)
        if len(self.offset) == count:
            other.offset = self.offset[runs]
        if len(self.roll) == count:
            other.roll = self.roll[runs]
        return other

    def _over(self, values: Array, asteroids: Asteroids) -> Array:
        if len(values) not in (1, asteroids.count):
            raise InputError(
                f"offset or roll of the approach is given for {len(values)} runs, and there are "
                f"{asteroids.count}; give one for all, or one for each"
            )
        return np.broadcast_to(values, (asteroids.count, *values.shape[1:]))


class AngularMomentum(Approach):
    """Along the angular momentum, with the asteroid's mean spin about it."""

    name = "angular-momentum"

    def aim(self, asteroids: Asteroids) -> tuple[Array, Array, Array]:
        """h, the part of the rate along it, and the centre of mass."""
        h = asteroids.momentum
        size = np.linalg.norm(h, axis=1)
        # An asteroid that does not turn may be met from anywhere: from its z.
        still = frames.quat_rotate(asteroids.attitude, (0.0, 0.0, 1.0))
        safe = np.where(size > 0.0, size, 1.0)[:, None]
        axis = self.side * np.where(size[:, None] > 0.0, h / safe, still)
        rate = frames.quat_rotate(asteroids.attitude, asteroids.rate)
        return axis, _along(rate, axis), np.zeros((asteroids.count, 3))


class Corkscrew(AngularMomentum):
    """Along the angular momentum, keeping the asteroid's middle on the craft's axis."""

    name = "corkscrew"

    def aim(self, asteroids: Asteroids) -> tuple[Array, Array, Array]:
        """As along the angular momentum, and the middle of the asteroid's extent."""
        axis, spin, _ = super().aim(asteroids)
        corners = asteroids.body.corners
        middle = 0.5 * (corners.min(axis=1) + corners.max(axis=1))
        return axis, spin, np.broadcast_to(middle, (asteroids.count, 3))


class Instantaneous(Approach):
    """Along the rate that the asteroid has after ``lead`` seconds, spinning with it.

    ``timing`` is by how much the prediction is late [s].
    """

    name = "instantaneous"

    def __init__(self, *args: Any, timing: float = 0.0, **options: Any) -> None:
        super().__init__(*args, **options)
        self.timing = checked_number("timing [s]", timing, -np.inf)

    def aim(self, asteroids: Asteroids) -> tuple[Array, Array, Array]:
        """The rate at contact, all of it, and the centre of mass."""
        then = asteroids.after(self.lead + self.timing)
        rate = frames.quat_rotate(then.attitude, then.rate)
        size = np.linalg.norm(rate, axis=1)
        still = frames.quat_rotate(then.attitude, (0.0, 0.0, 1.0))
        safe = np.where(size > 0.0, size, 1.0)[:, None]
        axis = self.side * np.where(size[:, None] > 0.0, rate / safe, still)
        return axis, self.side * size, np.zeros((asteroids.count, 3))


#: Controllers by the names that files choose them by.
CONTROLLERS: dict[str, type[Approach]] = {
    kind.name: kind for kind in (AngularMomentum, Instantaneous, Corkscrew)
}


def approach(name: str, **options: Any) -> Approach:
    """A controller by its name, with the options of its class."""
    if name not in CONTROLLERS:
        raise unknown_name("controller", str(name), list(CONTROLLERS))
    return CONTROLLERS[name](**options)


def facing(toward: Array) -> Array:
    """(n, 3, 3) axes, as columns, of a craft whose z points against directions (n, 3)."""
    z = -toward
    other = np.where(np.abs(z[:, :1]) < 0.7, [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]])
    x = other - _along(np.broadcast_to(other, z.shape), z)[:, None] * z
    x = x / np.linalg.norm(x, axis=1)[:, None]
    return np.stack([x, np.cross(z, x), z], axis=2)


def _numbers(name: str, given: npt.ArrayLike) -> Array:
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    if not np.isfinite(values).all():
        raise InputError(f"{name} is {given!r}; it must be finite numbers")
    return values
