"""Manoeuvres: what a lander does by itself, one after the other, each from coming to rest.

A ``Manoeuvre`` waits (for rest, and a while; until a time; until the Sun is up) and then carries
out a command: ``Hop`` in a direction by its wheels, ``SpinAndBrake`` wheels, a ``Pulse`` of any
actuators, get ``Upright`` (or ``UprightByJoints``, of an articulated lander), or ``FollowPlan``. It
is over when the lander has come to rest again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from alight.actuators.policy import FollowPlan
from alight.actuators.wheel import Wheel
from alight.core.checks import checked_direction, checked_number, checked_vector
from alight.core.errors import InputError, unknown_name

#: Wheels reach no more than this share of the speed at which their motor's torque ends.
REACHED = 0.9


def reachable(wheel: Wheel) -> float:
    """The fastest that a wheel is commanded to [rad/s]; infinite where its torque does not fall."""
    if math.isinf(wheel.top_speed):
        return math.inf
    return REACHED * wheel.top_speed * max(0.0, 1.0 - wheel.friction / max(wheel.torque, 1e-300))


def time_to_speed(wheel: Wheel, speed: float, level: float = 1.0) -> float:
    """How long the motor takes from a stand to ``speed`` [rad/s] in a lander at rest [s]."""
    drive = level * wheel.torque - wheel.friction
    k = level * wheel.torque / wheel.top_speed / wheel.inertia
    pace = drive / wheel.inertia
    if pace <= 0.0 or k * abs(speed) >= pace:
        raise InputError(
            f'wheel "{wheel.name}" is to turn at {abs(speed):.4g} rad/s; with its torque of '
            f"{wheel.torque:g} N m, friction of {wheel.friction:g} N m and top speed of "
            f"{wheel.top_speed:g} rad/s it comes to {max(0.0, pace / k if k else 0.0):.4g} rad/s."
        )
    return -math.log1p(-k * abs(speed) / pace) / k if k > 0.0 else abs(speed) / pace


@dataclass(frozen=True)
class Hop:
    """A hop by braked wheels along the ground, in the direction ``azimuth`` [rad], clockwise from
    north, or towards a place ``toward`` (x, y, z) [m] in target axes.

    ``speed`` [m/s] is that at take-off. Or ``distance`` [m] says how far it flies over level
    ground; towards a place that is what is left of the way, unless it is given as the most.
    ``friction`` is what the plan takes the ground's to be: it says whether the foot holds, and so
    how steep the hop is. A hop that would need a wheel to be faster than it can be is made as fast
    as that allows.

    With ``settle`` [s] the wheels end the tumbling in flight, in about that time, and turn
    ``up`` (body axes) upward.
    """

    azimuth: float = 0.0
    speed: float | None = None
    distance: float | None = None
    toward: tuple[float, float, float] | None = None
    friction: float = 0.6
    settle: float = 0.0
    up: tuple[float, float, float] = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        checked_number("azimuth of a hop [rad]", self.azimuth, -math.inf)
        checked_number("friction that a hop is planned with", self.friction)
        checked_number("settle of a hop [s]", self.settle, above=False)
        checked_direction("up of a hop", self.up)
        if self.speed is not None:
            checked_number("speed of a hop [m/s]", self.speed)
        if self.distance is not None:
            checked_number("distance of a hop [m]", self.distance)
        if self.toward is not None:
            checked_vector("the place that a hop goes toward [m]", self.toward)
        if self.speed is not None and self.distance is not None:
            raise InputError("a hop has a speed and a distance; each follows from the other.")
        if self.speed is None and self.distance is None and self.toward is None:
            raise InputError("a hop has no speed, no distance and no place to go to; give one.")


@dataclass(frozen=True)
class SpinAndBrake:
    """Wheels spun up to ``speeds`` [rad/s], by their names, and braked all at once.

    ``level`` is that of the motors meanwhile. Wheels that need less time begin later.
    """

    speeds: Mapping[str, float]
    level: float = 1.0

    def __post_init__(self) -> None:
        if not self.speeds or not all(math.isfinite(s) and s != 0.0 for s in self.speeds.values()):
            raise InputError(
                f"spin and brake has the speeds {dict(self.speeds)!r}; it needs that of one wheel "
                "at least, [rad/s], and none of them 0."
            )
        level = checked_number("level of spin and brake", self.level)
        if level > 1.0:
            raise InputError(f"level of spin and brake is {level:g}; motors have 1 at most.")


@dataclass(frozen=True)
class Pulse:
    """Actuators at ``levels``, by their names, for ``duration`` [s]: motors of wheels, arms,
    thrusters, springs."""

    levels: Mapping[str, float]
    duration: float

    def __post_init__(self) -> None:
        if not self.levels or not all(math.isfinite(s) and s != 0.0 for s in self.levels.values()):
            raise InputError(
                f"a pulse has the levels {dict(self.levels)!r}; it needs that of one actuator at "
                "least, and none of them 0."
            )
        checked_number("duration of a pulse [s]", self.duration)


@dataclass(frozen=True)
class Upright:
    """Tumbles, over the feet on the ground, until ``up`` (body axes) is within ``within`` [rad] of
    the ground's normal; nothing where it is so already. ``margin`` is the energy of a tumble, as a
    share of what just takes it over its foot."""

    up: tuple[float, float, float] = (0.0, 0.0, 1.0)
    within: float = math.radians(30.0)
    margin: float = 1.3
    friction: float = 0.6

    def __post_init__(self) -> None:
        checked_direction("up of upright", self.up)
        checked_number("within of upright [rad]", self.within)
        checked_number("friction that upright is planned with", self.friction)
        if checked_number("margin of upright", self.margin) <= 1.0:
            raise InputError(
                f"margin of upright is {self.margin:g}; with 1 or less it falls back on its feet."
            )


@dataclass(frozen=True)
class UprightByJoints:
    """Motors in the joints of an articulated lander at ``levels``, by their names, for ``duration``
    [s]; nothing where the lander's up is within ``within`` [rad] of the vertical already. Several
    of them, one after the other, are a sequence that ends where the lander is upright."""

    levels: Mapping[str, float]
    duration: float
    within: float = math.radians(30.0)

    def __post_init__(self) -> None:
        if not self.levels or not all(math.isfinite(s) and s != 0.0 for s in self.levels.values()):
            raise InputError(
                f"upright by joints has the levels {dict(self.levels)!r}; it needs that of one "
                "motor at least, and none of them 0."
            )
        checked_number("duration of upright [s]", self.duration)
        checked_number("within of upright [rad]", self.within)


Command = Hop | SpinAndBrake | Pulse | Upright | UprightByJoints | FollowPlan


@dataclass(frozen=True)
class Manoeuvre:
    """A ``command``, ``delay`` [s] after coming to rest, no sooner than ``not_before`` [s] after
    the release, and when the Sun is ``sun_above`` [rad] over the horizon, if that is given.

    It is carried out ``repeats`` times, each from another coming to rest. ``within`` [m]: those of
    a hop toward a place are left out once the lander is as near to it.
    """

    command: Command
    delay: float = 60.0
    not_before: float = 0.0
    sun_above: float | None = None
    repeats: int = 1
    within: float = 0.0
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.command, Command):
            raise InputError(
                f"a manoeuvre has the command {self.command!r}; it must be a Hop, SpinAndBrake, "
                "Pulse, Upright, UprightByJoints or FollowPlan of alight.actuators."
            )
        checked_number("delay of a manoeuvre [s]", self.delay, above=False)
        checked_number("not_before of a manoeuvre [s]", self.not_before, above=False)
        checked_number("within of a manoeuvre [m]", self.within, above=False)
        if self.sun_above is not None and not abs(self.sun_above) < 0.5 * math.pi:
            raise InputError(
                f"a manoeuvre waits for the Sun to be {math.degrees(self.sun_above):g} deg above "
                "the horizon; give an angle between -90 and 90 deg."
            )
        if not isinstance(self.repeats, int) or self.repeats < 1:
            raise InputError(
                f"a manoeuvre repeats {self.repeats!r} times; give a whole number >= 1."
            )
        if isinstance(self.command, FollowPlan) and self.repeats > self.command.plan.hops:
            raise InputError(
                f"a manoeuvre follows {self.command.plan.name} for {self.repeats} hops, and that "
                f"plans {self.command.plan.hops} at most; make the plan with more, or ask for less."
            )


def require_named(what: str, names: Any, known: list[str]) -> None:
    """Raise where a command names an actuator that the lander does not have."""
    for name in names:
        if name not in known:
            raise unknown_name(what, name, known)
