"""The lander of paper 002, section 5: a body, three legs with crushables, liquid that swings.

The paper gives mass, inertia, pads, crushables, thrusters and the pendulum (its tables 3 and 4). It
gives no mass of the legs, so that one is chosen here. The numbers of mass and inertia are of the
whole lander with its legs out and its liquid at rest: the body is what is left when legs and
liquid are taken off. y is up, and the origin is the centre of mass.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from alight.actuators import Schedule, Thruster
from alight.core import frames
from alight.core.checks import Array
from alight.vehicles.assembly import Assembly, Branch, assemble, crushable_leg, slosh_pendulum
from alight.vehicles.euler import quat_from_euler
from alight.vehicles.fittings import Belly
from alight.vehicles.tree.parts import Joint, TreeBody

MASS = 362.0
"""[kg]"""
INERTIA = ((645.8, 6.2, -14.9), (6.2, 690.1, 9.1), (-14.9, 9.1, 628.6))
"""[kg m^2] about the centre of mass."""
PADS = ((0.8877, -1.2968, 1.4935), (0.8877, -1.2968, -1.4935), (-1.7001, -1.2963, 0.0))
"""Table 3 [m]."""
CRUSHABLES = ((0.8668, -1.0, 1.455), (0.8668, -1.0, -1.455), (-1.6532, -1.0, 0.0))
"""Table 4 [m]: where the legs slide in."""
ANGLES = ((-7.4, 0.0, 4.0), (7.4, 0.0, 4.0), (0.0, 0.0, -9.0))
"""Table 4 [deg]: Euler angles 1-2-3 of the legs, which point along their -y axes."""
TOP = tuple(
    (0.6 * math.cos(a), 1.0, 0.6 * math.sin(a)) for a in np.radians((45, 135, 225, 315)).tolist()
)
"""Where the thrusters are [m]."""
LIQUID, ARM, PIVOT = 10.0, 0.15, 0.0268
"""Swinging mass [kg], length of its pendulum [m], height of its pivot [m]."""
#: Read as [N m/rad] and [N m s/rad]: erratum 002-11.
SWING_STIFFNESS, SWING_DAMPING = 10.0, 1.0


def dcap_lander(
    leg_mass: float = 5.0,
    crush_force: float = 400.0,
    stroke: float = 0.2,
    thrust: float = 5.0,
    delay: float = 0.0,
    pad_radius: float = 0.0,
    bus_touches: bool = False,
) -> Assembly:
    """The lander and its devices: pads "leg 1" to "leg 3", their crushables, four thrusters of
    ``thrust`` [N] that push it down from ``delay`` [s] after the first touch, and its slosh.

    ``leg_mass`` [kg] is the choice that the paper leaves. With ``bus_touches`` the body touches the
    ground too, by a belly "body": the paper gives no hull, so it is the corners that it does give,
    where the legs slide in and where the thrusters are.
    """
    legs = [
        crushable_leg(
            *(f"leg {i + 1}", "body", place),
            turn=quat_from_euler(np.radians(angles)),
            mass=leg_mass,
            length=float(np.linalg.norm(np.subtract(pad, place))),
            force=crush_force,
            limit=stroke,
            pad_radius=pad_radius,
        )
        for i, (pad, place, angles) in enumerate(zip(PADS, CRUSHABLES, ANGLES, strict=True))
    ]
    slosh = slosh_pendulum(
        *("liquid", "body", (0.0, PIVOT, 0.0)),
        mass=LIQUID,
        arm=(0.0, -ARM, 0.0),
        stiffness=SWING_STIFFNESS,
        damping=SWING_DAMPING,
    )
    return assemble("DCAP lander", [_body(legs, slosh, thrust, delay, bus_touches), *legs, slosh])


def _body(
    legs: Sequence[Branch], slosh: Branch, thrust: float, delay: float, touches: bool
) -> Branch:
    """What is left of the lander without its legs and its liquid, with thrusters on its top."""
    parts = [_placed(leg.bodies[0], leg.joints[0]) for leg in legs]
    parts.append((LIQUID, np.array([0.0, PIVOT - ARM, 0.0]), np.zeros((3, 3))))
    mass = MASS - sum(m for m, _, _ in parts)
    center = -np.sum([m * c for m, c, _ in parts], axis=0) / mass
    inertia = np.array(INERTIA) - _about(mass, center)
    inertia -= np.sum([i + _about(m, c) for m, c, i in parts], axis=0)
    after = Schedule.after_touch(delay)
    thrusters = [
        Thruster(thrust, (0.0, -1.0, 0.0), place, after, f"thruster {i + 1}", "body")
        for i, place in enumerate(TOP if thrust else ())
    ]
    belly = [Belly("body", (*CRUSHABLES, *TOP))] if touches else []
    bus = TreeBody("body", mass, inertia, center)
    return Branch([bus], [Joint("body", "free")], [*thrusters, *belly])


def _placed(body: TreeBody, joint: Joint) -> tuple[float, Array, Array]:
    """Mass, centre and inertia of a leg, in the axes of the lander."""
    turn = frames.quat_to_matrix(np.asarray(joint.turn))
    center = np.asarray(joint.place) + turn @ np.asarray(body.center)
    return body.mass, center, turn @ np.asarray(body.inertia) @ turn.T


def _about(mass: float, center: Array) -> Array:
    """Inertia of a point of mass at ``center`` about the origin."""
    return np.asarray(mass * ((center @ center) * np.eye(3) - np.outer(center, center)))
