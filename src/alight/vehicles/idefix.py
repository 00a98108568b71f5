"""IDEFIX, the rover of the mission MMX to Phobos: a body and four leg-wheels, each a leg that turns
in its shoulder with a wheel at its end. They stand it up after a drop, whichever side it lies on.

Published are the mass of 25 kg and that it rights itself by its four leg-wheels (PEPS; IEEE
10521275). All else here is assumed: sizes, masses of legs, motors, stops. Wheels are balls that
their gears hold. x is forward, y left, z up, and the origin is the middle of the body.
"""

from __future__ import annotations

import math

import numpy as np

from alight.actuators import Motor, Schedule
from alight.core.checks import checked_number
from alight.core.errors import InputError
from alight.vehicles.assembly import Assembly, Branch, assemble
from alight.vehicles.fittings import Belly, Pad
from alight.vehicles.tree.parts import Joint, TreeBody

MASS = 25.0
"""[kg]"""
SIZE = (0.40, 0.36, 0.30)
"""Of the body [m]."""
SHOULDER = (0.12, 0.28, -0.05)
"""Of the front left leg [m]; the others are its mirror images."""
LENGTH, WHEEL = 0.22, 0.10
"""From the shoulder to the middle of the wheel, and its radius [m]."""
STOWED = math.radians(90.0)
"""How far a leg is turned outward from straight down at the release [rad]."""
UPMOST = math.radians(180.0)
"""How far it can be turned [rad]; straight down at the other end."""
STOP_STIFFNESS, STOP_DAMPING = 200.0, 4.0
"""Of both ends [N m/rad], [N m s/rad]."""
GEAR_FRICTION, GEAR_SPEED = 0.5, 0.1
"""What holds a leg without a command [N m], and at what speed it is 0.71 of that [rad/s]."""
LEGS = {
    "front-left": (1, 1), "front-right": (1, -1), "rear-left": (-1, 1), "rear-right": (-1, -1),
}  # fmt: skip
"""Signs of x and y of their shoulders."""


def idefix_lander(
    leg_mass: float = 1.5,
    leg_torque: float = 8.0,
    leg_rate: float = 0.6,
) -> Assembly:
    """The rover and its devices: wheels as pads, the body's corners as a belly, and a motor of
    ``leg_torque`` [N m] that turns each leg at ``leg_rate`` [rad/s] at most.

    Motors have no schedules: a ``Manoeuvre`` commands them. A level of 1 turns any leg outward and
    up, from straight down to straight up; -1 turns it back.
    """
    mass = checked_number("leg_mass of IDEFIX [kg]", leg_mass)
    if 4.0 * mass >= MASS:
        raise InputError(
            f"leg_mass of IDEFIX is {mass:g} kg, and four of them are not less than the whole, "
            f"{MASS:g} kg; give less than {MASS / 4.0:g} kg."
        )
    return assemble("IDEFIX", [_body(mass), *(_leg(n, mass, leg_torque, leg_rate) for n in LEGS)])


def _body(leg_mass: float) -> Branch:
    mass = MASS - 4.0 * leg_mass
    x, y, z = (side * side for side in SIZE)
    inertia = mass / 12.0 * np.array([y + z, x + z, x + y])
    body = TreeBody("body", mass, inertia)
    return Branch([body], [Joint("body", "free")], [Belly.box("body", SIZE)])


def _leg(name: str, mass: float, torque: float, rate: float) -> Branch:
    """A leg: half of its mass is the wheel, a disc, the other half a rod."""
    front, left = LEGS[name]
    place = tuple(np.array(SHOULDER) * (front, left, 1))
    rod, disc = 0.5 * mass, 0.5 * mass
    middle = (0.25 + 0.5) * LENGTH
    across = rod * LENGTH**2 / 12.0 + rod * (0.5 * LENGTH - middle) ** 2
    across += disc * (LENGTH - middle) ** 2
    spun = 0.5 * disc * WHEEL**2
    body = TreeBody(
        name, mass, (across + 0.5 * spun, across + spun, 0.5 * spun), (0.0, 0.0, -middle)
    )
    joint = Joint(
        name,
        "revolute",
        "body",
        place,
        # A leg that hangs down goes forward about -y, back about +y.
        axis=(0.0, -float(front), 0.0),
        lower=0.0,
        upper=UPMOST,
        stop_stiffness=STOP_STIFFNESS,
        stop_damping=STOP_DAMPING,
        friction=GEAR_FRICTION,
        friction_speed=GEAR_SPEED,
    )
    wheel = Pad(name, (0.0, 0.0, -LENGTH), WHEEL)
    motor = Motor(name, torque, Schedule.never(), top_speed=rate)
    return Branch([body], [joint], [wheel, motor])
