"""A swing arm in a rigid lander: a mass on an arm that a gear turns about a fixed axis.

MASCOT hops with one. The mass m_i turns about an axis a that is fixed in the lander; s is its place
from the body's origin, the lander's centre of mass with all arms as released, and psi its angle
since. The gear holds it to a commanded rate: psi' goes to level * rate, evenly at ``acceleration``,
and no push of the ground turns it back. So psi(t) is given, and the lander with its arms is one
body of mass m whose centre of mass c, inertia I and internal momentum h are functions of it:

    m c = sum m_i (s_i - s_i0)
    I   = I_0 + sum m_i (S(s_i) - S(s_i0)) - m S(c),       S(s) = |s|^2 1 - s s^T
    h   = sum (m_i s_i x s_i' + J_i psi_i' a_i) - m c x c'
    T   = sum (m_i |s_i'|^2 + J_i psi_i'^2) / 2 - m |c'|^2 / 2

with J_i the arm's own moment of inertia about the axis through its mass. Then H = I w + h, and

    I w' = torque - w x H - I' w - h',       P = w' . h - w . I' w / 2 + T'

are Euler's equation about the moving centre of mass and the power of the motors in flight; both are
exact. What is left out: the arm itself is a ring about its axis, whose other moments do not change
as it turns; gears and shafts do not bend; the arm touches nothing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.actuators.controller import Controller
from alight.actuators.law import require_command
from alight.actuators.schedule import Schedule
from alight.core.checks import Array, checked_direction, checked_number, checked_vector
from alight.core.errors import InputError
from alight.core.types import mat33, scalar, vec3

#: Of the time to a commanded rate, what is rounding.
_ROUNDING = wp.constant(scalar(1e-9))


@wp.struct
class ArmData:
    """One arm; body axes."""

    axis: vec3  # unit
    place: vec3  # of its mass at the release [m]
    reach: vec3  # from the axis to it, then [m]
    mass: scalar  # [kg]
    inertia: scalar  # about the axis through its mass [kg m^2]
    rate: scalar  # at level 1 [rad/s]
    acceleration: scalar  # at which it goes there [rad/s^2]


@wp.struct
class ArmState:
    """Angle since the release [rad], its rate [rad/s] and the change of that [rad/s^2]."""

    angle: scalar
    rate: scalar
    pace: scalar


@wp.struct
class Swung:
    """Sums over arms, body axes: what they do to the lander that carries them."""

    moment: vec3  # m c [kg m], and its derivatives
    moment_rate: vec3
    moment_pace: vec3
    inertia: mat33  # about the body's origin, above that at the release [kg m^2]
    inertia_rate: mat33
    spin: vec3  # momentum about the body's origin [N m s]
    spin_rate: vec3
    energy: scalar  # [J]
    power: scalar  # its derivative [W]


@wp.func
def arm_pace(arm: ArmData, level: scalar, rate: scalar):
    """At what pace an arm goes to the rate that is commanded [rad/s^2]."""
    more = level * arm.rate - rate
    if more == scalar(0.0):
        return scalar(0.0)
    return wp.sign(more) * arm.acceleration


@wp.func
def time_to_rate(arm: ArmData, level: scalar, state: ArmState):
    """How long it takes to the commanded rate [s]."""
    return wp.abs(level * arm.rate - state.rate) / arm.acceleration


@wp.func
def arm_after(arm: ArmData, level: scalar, state: ArmState, dt: scalar):
    """An arm ``dt`` [s] later, up to where its rate is the one commanded."""
    out = state
    out.angle = state.angle + dt * (state.rate + scalar(0.5) * dt * state.pace)
    out.rate = state.rate + dt * state.pace
    left = time_to_rate(arm, level, state)
    # Times are known to the rounding of the run's: what is left of a ramp may be less than that.
    near = _ROUNDING * (left + arm.rate / arm.acceleration)
    if state.pace != scalar(0.0) and dt >= left - near:
        out.rate = level * arm.rate
    return out


@wp.func
def lever_square(s: vec3, u: vec3):
    """(s . u) 1 - (s u^T + u s^T) / 2: what a unit mass at s adds to an inertia where u = s, and
    half of how that changes where u = s'."""
    half = scalar(0.5) * (wp.outer(s, u) + wp.outer(u, s))
    return wp.dot(s, u) * wp.identity(n=3, dtype=scalar) - half


@wp.struct
class ArmMass:
    """The mass of an arm, from the body's origin and relative to the body."""

    moved: vec3  # since the release [m]
    place: vec3  # [m]
    v: vec3  # [m/s]
    a: vec3  # [m/s^2]


@wp.func
def arm_mass(arm: ArmData, state: ArmState):
    """Where the mass of an arm is."""
    out = ArmMass()
    aside = wp.cross(arm.axis, arm.reach)
    c = wp.cos(state.angle)
    s = wp.sin(state.angle)
    around = c * arm.reach + s * aside
    ahead = wp.cross(arm.axis, around)
    out.moved = (c - scalar(1.0)) * arm.reach + s * aside
    out.place = arm.place + out.moved
    out.v = state.rate * ahead
    out.a = state.pace * ahead - state.rate * state.rate * around
    return out


@wp.func
def add_arm(sums: Swung, arm: ArmData, state: ArmState):
    """``sums`` with one arm more."""
    out = sums
    at = arm_mass(arm, state)
    place = at.place
    v = at.v
    a = at.a
    m = arm.mass
    out.moment += m * at.moved
    out.moment_rate += m * v
    out.moment_pace += m * a
    was = lever_square(arm.place, arm.place)
    out.inertia += m * (lever_square(place, place) - was)
    out.inertia_rate += (scalar(2.0) * m) * lever_square(place, v)
    out.spin += m * wp.cross(place, v) + (arm.inertia * state.rate) * arm.axis
    out.spin_rate += m * wp.cross(place, a) + (arm.inertia * state.pace) * arm.axis
    turning = arm.inertia * state.rate
    out.energy += scalar(0.5) * (m * wp.dot(v, v) + turning * state.rate)
    out.power += m * wp.dot(v, a) + turning * state.pace
    return out


@wp.struct
class Swinging:
    """A lander with its arms: centre of mass, inertia and momentum about it, body axes."""

    shift: vec3  # c, centre of mass from the body's origin [m]
    shift_rate: vec3  # [m/s]
    shift_pace: vec3  # [m/s^2]
    inertia: mat33  # above that at the release [kg m^2]
    inertia_rate: mat33  # [kg m^2/s]
    spin: vec3  # h [N m s]
    spin_rate: vec3  # [N m]
    energy: scalar  # T [J]
    power: scalar  # T' [W]


@wp.func
def about_centre(sums: Swung, mass: scalar):
    """The sums about the centre of mass of a lander of ``mass`` [kg]."""
    out = Swinging()
    c = sums.moment / mass
    v = sums.moment_rate / mass
    a = sums.moment_pace / mass
    out.shift = c
    out.shift_rate = v
    out.shift_pace = a
    out.inertia = sums.inertia - mass * lever_square(c, c)
    out.inertia_rate = sums.inertia_rate - (scalar(2.0) * mass) * lever_square(c, v)
    out.spin = sums.spin - mass * wp.cross(c, v)
    out.spin_rate = sums.spin_rate - mass * wp.cross(c, a)
    out.energy = sums.energy - scalar(0.5) * mass * wp.dot(v, v)
    out.power = sums.power - mass * wp.dot(v, a)
    return out


@wp.func
def arm_work(
    arm: ArmData, state: ArmState, all: Swinging, star: vec3, turn: vec3, kick: vec3, dt: scalar
):
    """What the motor of an arm does in ``dt`` [s], in which the inertial rate ``star`` changes by
    ``turn`` [rad/s] and all but gravity the velocity of the centre of mass by ``kick`` [m/s]: the
    force that carries its mass along, times the way that this goes in the body [J]."""
    at = arm_mass(arm, state)
    r = at.place - all.shift
    v = at.v - all.shift_rate
    swing = wp.cross(star, wp.cross(star, r)) + scalar(2.0) * wp.cross(star, v)
    push = kick + wp.cross(turn, r) + dt * (swing + at.a - all.shift_pace)
    spun = dt * state.pace + wp.dot(arm.axis, turn)
    return arm.mass * wp.dot(push, at.v) + arm.inertia * state.rate * spun


class Arm:
    """A ``mass`` [kg] that turns about an ``axis`` through ``pivot``; ``reach`` is the way from
    there to it at the release, perpendicular to the axis. Both [m] in body axes, the pivot from the
    lander's centre of mass as it is released.

    At level 1 it turns at ``rate`` [rad/s], to which it comes at ``acceleration`` [rad/s^2]; at
    level 0 it stands. ``inertia`` [kg m^2] is its own about an axis through its mass. The lander's
    mass, centre of mass and inertia include it, as it stands at the release.
    """

    def __init__(
        self,
        mass: float,
        axis: npt.ArrayLike,
        reach: npt.ArrayLike,
        rate: float,
        acceleration: float,
        pivot: npt.ArrayLike = (0.0, 0.0, 0.0),
        inertia: float = 0.0,
        schedule: Schedule | Controller | None = None,
        name: str = "arm",
    ) -> None:
        self.name, who = name, f'arm "{name}"'
        self.mass = checked_number(f"the mass of {who} [kg]", mass)
        self.axis = checked_direction(f"the axis of {who}", axis)
        self.reach = checked_vector(f"the reach of {who} [m]", reach)
        self.pivot = checked_vector(f"the pivot of {who} [m]", pivot)
        self.rate = checked_number(f"the rate of {who} [rad/s]", rate)
        self.acceleration = checked_number(f"the acceleration of {who} [rad/s^2]", acceleration)
        self.inertia = checked_number(f"the inertia of {who} [kg m^2]", inertia, above=False)
        length = float(np.linalg.norm(self.reach))
        if not abs(self.reach @ self.axis) <= 1e-9 * length or length == 0.0:
            raise InputError(
                f"the reach of {who} is {self.reach.tolist()} m and its axis "
                f"{self.axis.tolist()}; the reach goes from the axis to the mass and must be "
                "perpendicular to it, and not 0. Put what lies along the axis into the pivot."
            )
        self.schedule = Schedule.after_rest() if schedule is None else schedule
        self.scheduled = schedule is not None
        require_command(who, self.schedule)

    @property
    def place(self) -> Array:
        """(3,) of its mass at the release, from the lander's centre of mass [m]."""
        return np.asarray(self.pivot + self.reach)

    def row(self) -> tuple[Any, ...]:
        """What kernels read, in the order of ``ArmData``."""
        numbers = (self.mass, self.inertia, self.rate, self.acceleration)
        return self.axis, self.place, self.reach, *numbers


def lever_squares(s: Array, u: Array) -> Array:
    """(..., 3, 3) ``lever_square`` on arrays."""
    outer = s[..., :, None] * u[..., None, :]
    turned = np.swapaxes(outer, -1, -2)
    return np.asarray((s * u).sum(-1)[..., None, None] * np.eye(3) - 0.5 * (outer + turned))


def without_arms(arms: Sequence[Arm], mass: float, inertia: Array) -> tuple[float, Array]:
    """Mass [kg] of a lander without its arms, and its inertia about its own centre [kg m^2]."""
    left = mass - math.fsum(arm.mass for arm in arms)
    out = np.array(inertia, dtype=np.float64)
    moment = np.zeros(3)
    for arm in arms:
        out -= arm.mass * lever_squares(arm.place, arm.place)
        out -= arm.inertia * np.outer(arm.axis, arm.axis)
        moment -= arm.mass * arm.place
    if left > 0.0:
        out -= lever_squares(moment, moment) / left
    return left, out


@dataclass(frozen=True)
class ArmsSwung:
    """(n, ...) what arms do to a lander at n instants: as ``Swinging``, for NumPy."""

    shift: Array
    shift_rate: Array
    inertia: Array
    spin: Array
    energy: Array


def arms_swung(arms: Sequence[Arm], mass: float, angle: Array, rate: Array) -> ArmsSwung:
    """Of angles (n, arms) [rad] and rates [rad/s]."""
    n = len(angle)
    moment, moment_rate, spin = (np.zeros((n, 3)) for _ in range(3))
    inertia, energy = np.zeros((n, 3, 3)), np.zeros(n)
    for i, arm in enumerate(arms):
        aside = np.cross(arm.axis, arm.reach)
        c, s = np.cos(angle[:, i, None]), np.sin(angle[:, i, None])
        around = c * arm.reach + s * aside
        moved = (c - 1.0) * arm.reach + s * aside
        place, v = arm.place + moved, rate[:, i, None] * np.cross(arm.axis, around)
        moment += arm.mass * moved
        moment_rate += arm.mass * v
        inertia += arm.mass * (lever_squares(place, place) - lever_squares(arm.place, arm.place))
        spin += arm.mass * np.cross(place, v) + arm.inertia * rate[:, i, None] * arm.axis
        energy += 0.5 * (arm.mass * (v * v).sum(-1) + arm.inertia * rate[:, i] ** 2)
    c, v = moment / mass, moment_rate / mass
    return ArmsSwung(
        c,
        v,
        inertia - mass * lever_squares(c, c),
        spin - mass * np.cross(c, v),
        energy - 0.5 * mass * (v * v).sum(-1),
    )
