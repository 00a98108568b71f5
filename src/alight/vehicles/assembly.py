"""Ready-made branches of trees: legs, slosh, wheels; and a tree made from them.

bus = Branch([TreeBody("bus", ...)], [Joint("bus", "free")])
lander = assemble("lander", [bus, crushable_leg("leg 1", "bus", ...), slosh_pendulum(...)])
lander.tree, lander.devices
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from alight.actuators import Brake, Motor, Schedule
from alight.core import frames
from alight.core.checks import Array, checked_number, checked_vector
from alight.core.errors import InputError, unknown_name
from alight.vehicles.fittings import Crushable, Device, Pad, Slosh, fitted
from alight.vehicles.tree.parts import Joint, TreeBody
from alight.vehicles.tree.tree import Tree

#: Legs slide up into their parents.
_UP = (0.0, 1.0, 0.0)

#: How a pendulum of slosh hangs.
HANGINGS = ("universal", "revolute", "spherical")


@dataclass(frozen=True, eq=False)
class Branch:
    """Bodies, their joints, and the devices fitted to them."""

    bodies: Sequence[TreeBody]
    joints: Sequence[Joint]
    devices: Sequence[Device] = ()


class Assembly(NamedTuple):
    """A tree with its devices, as ``engine.TreeModel`` takes them."""

    tree: Tree
    devices: tuple[Device, ...]


def assemble(name: str, branches: Sequence[Branch]) -> Assembly:
    """One tree of several branches, which find each other by the names of bodies."""
    for branch in branches:
        if not isinstance(branch, Branch):
            raise InputError(f"{branch!r} is among the branches; each must be a Branch.")
    tree = Tree(
        name,
        [body for branch in branches for body in branch.bodies],
        [joint for branch in branches for joint in branch.joints],
    )
    parts = tuple(device for branch in branches for device in branch.devices)
    fitted(tree, parts)
    return Assembly(tree, parts)


def crushable_leg(
    name: str,
    parent: str,
    place: npt.ArrayLike,
    *,
    mass: float,
    length: float,
    force: float,
    limit: float,
    turn: npt.ArrayLike = (0.0, 0.0, 0.0, 1.0),
    inertia: npt.ArrayLike | None = None,
    pad_radius: float = 0.0,
    stiffness: float | None = None,
    damping: float | None = None,
) -> Branch:
    """A leg down the -y axis of its joint, whose pad is ``length`` [m] below and crushes upward.

    The leg is a rod of ``mass`` [kg] unless an ``inertia`` is given; force [N], stroke limit [m],
    stiffness and damping are those of ``Crushable``. The stroke is positive in compression.
    """
    body = _leg(name, mass, length, inertia)
    crushes = Crushable(name, force, limit, stiffness, damping)
    joint = Joint(name, "prismatic", parent, place, turn, _UP)
    return Branch([body], [joint], [crushes, Pad(name, (0.0, -length, 0.0), pad_radius)])


def telescopic_leg(
    name: str,
    parent: str,
    place: npt.ArrayLike,
    *,
    mass: float,
    length: float,
    damping: float,
    stroke: float,
    stiffness: float = 0.0,
    preload: float = 0.0,
    stop_stiffness: float = 1e5,
    stop_damping: float = 0.0,
    turn: npt.ArrayLike = (0.0, 0.0, 0.0, 1.0),
    inertia: npt.ArrayLike | None = None,
    pad_radius: float = 0.0,
) -> Branch:
    """A leg down the -y axis of its joint on a telescopic damper, with a spring if it has one.

    It slides between stops from 0 to ``stroke`` [m]. ``damping`` [N s/m] acts both ways,
    ``stiffness`` [N/m] and ``preload`` [N] push it out.
    """
    stroke = checked_number(f'the stroke of leg "{name}" [m]', stroke)
    preload = checked_number(f'the preload of leg "{name}" [N]', preload, above=False)
    body = _leg(name, mass, length, inertia)
    joint = Joint(
        name,
        "prismatic",
        parent,
        place,
        turn,
        _UP,
        stiffness=stiffness,
        damping=damping,
        lower=0.0,
        upper=stroke,
        stop_stiffness=stop_stiffness,
        stop_damping=stop_damping,
        motor=-preload,
    )
    return Branch([body], [joint], [Pad(name, (0.0, -length, 0.0), pad_radius)])


def _leg(name: str, mass: float, length: float, inertia: npt.ArrayLike | None) -> TreeBody:
    mass = checked_number(f'the mass of leg "{name}" [kg]', mass)
    length = checked_number(f'the length of leg "{name}" [m]', length)
    if inertia is None:
        across = mass * length**2 / 12.0
        inertia = (across, 0.0, across)
    return TreeBody(name, mass, inertia, (0.0, -0.5 * length, 0.0))


def slosh_pendulum(
    name: str,
    parent: str,
    pivot: npt.ArrayLike,
    *,
    mass: float,
    arm: npt.ArrayLike,
    stiffness: float = 0.0,
    damping: float = 0.0,
    hanging: str = "universal",
    axis: npt.ArrayLike | None = None,
    inertia: npt.ArrayLike = (0.0, 0.0, 0.0),
) -> Branch:
    """A mass [kg] at the end of ``arm`` [m, the parent's axes] from ``pivot``: liquid that swings.

    It is attached by a cross of two hinges ("universal", a point of mass will do), on one hinge
    ("revolute", about ``axis``) or on a ball ("spherical", which needs an ``inertia`` [kg m^2]
    about the arm). ``stiffness`` [N m/rad] and ``damping`` [N m s/rad] are of each hinge.
    """
    hang = checked_vector(f'the arm of slosh "{name}" [m]', arm)
    if not hang.any():
        raise InputError(f'the arm of slosh "{name}" is zero; a pendulum has a length.')
    if hanging not in HANGINGS:
        raise unknown_name(f'hanging of slosh "{name}"', hanging, HANGINGS)
    liquid, watched = TreeBody(name, mass, inertia, hang), Slosh(name, hang, parent)
    if hanging == "revolute":
        joint = Joint(
            name, "revolute", parent, pivot, axis=axis, stiffness=stiffness, damping=damping
        )
        return Branch([liquid], [joint], [watched])
    if hanging == "spherical":
        return Branch(
            [liquid],
            [Joint(name, "spherical", parent, pivot, stiffness=stiffness, damping=damping)],
            [watched],
        )
    across = frames.local_frame(hang)
    cross = TreeBody(f"{name} cross")
    joints = [
        Joint(
            cross.name,
            "revolute",
            parent,
            pivot,
            axis=across[:, 0],
            stiffness=stiffness,
            damping=damping,
        ),
        Joint(
            name, "revolute", cross.name, axis=across[:, 1], stiffness=stiffness, damping=damping
        ),
    ]
    return Branch([cross, liquid], joints, [watched])


def slosh_spring(
    name: str,
    parent: str,
    place: npt.ArrayLike,
    *,
    mass: float,
    stiffness: float,
    damping: float = 0.0,
    axes: npt.ArrayLike = ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
) -> Branch:
    """A mass [kg] on springs [N/m] and dampers [N s/m] along one to three axes of its parent."""
    rows: Array = np.atleast_2d(np.asarray(axes, dtype=np.float64))
    if rows.ndim != 2 or rows.shape[1] != 3 or not 1 <= len(rows) <= 3:
        raise InputError(
            f'the axes of slosh "{name}" have shape {rows.shape}; they must be one to three rows '
            "of x, y, z."
        )
    names = [f"{name} slide {i + 1}" for i in range(len(rows) - 1)] + [name]
    bodies = [TreeBody(n) for n in names[:-1]] + [TreeBody(name, mass)]
    joints = []
    for i, (body, axis) in enumerate(zip(names, rows, strict=True)):
        below, at = (parent, place) if i == 0 else (names[i - 1], (0.0, 0.0, 0.0))
        joints.append(
            Joint(body, "prismatic", below, at, axis=axis, stiffness=stiffness, damping=damping)
        )
    return Branch(bodies, joints)


def flywheel(
    name: str,
    parent: str,
    place: npt.ArrayLike,
    axis: npt.ArrayLike,
    *,
    mass: float,
    inertia: float,
    torque: float = 0.0,
    schedule: Schedule | None = None,
    brake: float = 0.0,
    brake_schedule: Schedule | None = None,
    top_speed: float = math.inf,
    friction: float = 0.0,
) -> Branch:
    """A wheel of axial ``inertia`` [kg m^2] on a hinge, with a motor and a brake [N m] if given.

    About the other axes its inertia is that of a thin disc, half as much. ``top_speed`` [rad/s] is
    the motor's, ``friction`` [N m] that of the bearing. How fast it turns at the release is part of
    the release: ``TreeRelease.of(..., speeds=...)``.
    """
    along = checked_vector(f'the axis of flywheel "{name}"', axis)
    along = along / max(float(np.linalg.norm(along)), 1e-300)
    about = checked_number(f'the inertia of flywheel "{name}" [kg m^2]', inertia)
    tensor = 0.5 * about * (np.eye(3) + np.outer(along, along))
    devices: list[Device] = []
    if torque:
        devices.append(Motor(name, torque, schedule, top_speed=top_speed))
    if brake:
        devices.append(Brake(name, brake, brake_schedule))
    return Branch(
        [TreeBody(name, mass, tensor)],
        [Joint(name, "revolute", parent, place, axis=axis, friction=friction)],
        devices,
    )
