"""What a membrane does to a body and to what carries it, inside kernels.

The membrane stores energy by its area A and loses power by dA/dt (paper 003, "Restoring and
Damping Forces"). Both follow from one number, its tension a [N/m]: every corner p of the membrane
is pulled by

    f = -a dA/dp,   a = max(0, k (A - A0) + c dA/dt)

which is the sum over its triangles of the nodal forces of erratum 003-8, and never pushes (003-7).
Power is balanced whatever the profile: v.F + w.tau + a dA/dt = 0.

At a vertex of the body f is what the stretched fabric presses there: each edge of the hull pulls
with a L tan(theta/2) (n1 + n2), half of it at either end, where L is its length, theta its fold and
n1, n2 the normals of the two triangles, into the body. No fold of a convex hull is negative, so
these shares are not either, and they add up to force and torque exactly: they solve paper 003's
non-negative problem in closed form. Friction acts at each vertex, against its velocity across f.
"""

import functools
from typing import Any

import warp as wp

from alight.core.types import quat, scalar, vec3
from alight.membrane.geometry import CaptiveData, HullMemory
from alight.membrane.ring import RingData


@wp.struct
class MembraneRow:
    """Parameters of a membrane in one run; units are those of 3D (of 2D in brackets)."""

    stiffness: scalar  # [N/m^3] ([N/m])
    damping: scalar  # [N s/m^3] ([N s/m])
    friction: scalar
    slip_speed: scalar  # [m/s] over which friction turns about
    more: vec3  # three numbers for profiles of your own


@wp.struct
class Moving:
    """A rigid body: place [m], velocity [m/s], attitude, and rate [rad/s] in its own axes."""

    x: vec3
    v: vec3
    q: quat
    rate: vec3


@wp.struct
class MembraneLoad:
    """What a membrane does at one instant; vectors in inertial axes."""

    force: vec3  # on the body [N]
    torque: vec3  # on the body about its centre of mass [N m]
    carrier_force: vec3  # on what carries the membrane [N]
    carrier_torque: vec3  # about the carrier's place [N m]
    friction: vec3  # part of ``force`` [N]
    friction_torque: vec3  # part of ``torque`` [N m]
    area: scalar  # [m^2] ([m])
    rate: scalar  # dA/dt [m^2/s] ([m/s])
    tension: scalar  # a [N/m] ([N])
    stored: scalar  # energy [J]
    damped: scalar  # power lost in the fabric [W], never negative
    rubbed: scalar  # power lost to friction [W], never negative
    pressed: scalar  # sum of the normal forces at vertices [N]
    slip: scalar  # mean speed of the vertices along the fabric, weighted by these [m/s]
    lowest: scalar  # height of the lowest vertex above the suspension plane [m]
    contacts: int  # vertices that press
    below: int  # vertices below the suspension plane
    rim: int  # edges of the body through the plane outside the polygon


# -- profiles: replaceable --------------------------------------------------------------------


@wp.func
def linear_tension(row: MembraneRow, stretch: scalar, rate: scalar):
    """k (A - A0) + c dA/dt; what is negative is taken as 0 by the caller."""
    return row.stiffness * stretch + row.damping * rate


@wp.func
def linear_stored(row: MembraneRow, stretch: scalar):
    """(1/2) k (A - A0)^2 [J]."""
    return scalar(0.5) * row.stiffness * stretch * stretch


# -- the load ---------------------------------------------------------------------------------


@wp.struct
class Shares:
    """Sums over vertices, in M."""

    force: vec3
    torque: vec3
    friction: vec3
    friction_torque: vec3
    rubbed: scalar
    pressed: scalar
    slipped: scalar
    contacts: int


@wp.func
def area_rate(x: vec3, v: vec3, w: vec3, count: int, memory: HullMemory, slot: int):
    """dA/dt of a body that moves with ``v``, ``w`` relative to the suspension points."""
    rate = scalar(0.0)
    for j in range(count):
        u = v + wp.cross(w, memory.place[j, slot] - x)
        rate += wp.dot(memory.slope[j, slot], u)
    return rate


@wp.func
def press_vertices(
    row: MembraneRow,
    tension: scalar,
    x: vec3,
    v: vec3,
    w: vec3,
    count: int,
    memory: HullMemory,
    slot: int,
):
    """Normal force and Coulomb friction at every vertex of the body.

    Friction is mu N s / sqrt(s^2 + slip_speed^2) against the slip s: Coulomb's above a few times
    ``slip_speed``, a creep below it. It always opposes the slip, so it never adds energy.
    """
    zero = scalar(0.0)
    sums = Shares()
    for j in range(count):
        f = -tension * memory.slope[j, slot]
        N = wp.length(f)
        if wp.length_sq(f) > zero:
            arm = memory.place[j, slot] - x
            u = v + wp.cross(w, arm)
            n = f / N
            slide = u - wp.dot(u, n) * n
            speed = wp.length(slide)
            soft = wp.sqrt(speed * speed + row.slip_speed * row.slip_speed)
            rub = -(row.friction * N / soft) * slide
            sums.force += f
            sums.torque += wp.cross(arm, f)
            sums.friction += rub
            sums.friction_torque += wp.cross(arm, rub)
            sums.rubbed += -wp.dot(rub, u)
            sums.pressed += N
            sums.slipped += N * speed
            sums.contacts += 1
    return sums


@functools.cache
def membrane_load(hang: Any, tension: Any, stored: Any) -> Any:
    """The function ``(row, ring, captive, body, carrier, memory, slot) -> MembraneLoad``.

    ``hang`` finds the shape, ``tension(row, stretch, rate)`` and ``stored(row, stretch)`` are the
    profiles.
    """

    @wp.func
    def load_of(
        row: MembraneRow,
        ring: RingData,
        captive: CaptiveData,
        body: Moving,
        carrier: Moving,
        memory: HullMemory,
        slot: int,
    ):
        zero = scalar(0.0)
        R_NC = wp.quat_to_matrix(carrier.q)
        R_NB = wp.quat_to_matrix(body.q)
        R_NM = R_NC * ring.R
        R_MN = wp.transpose(R_NM)
        arm = R_NC * ring.origin
        away = body.x - carrier.x
        turning = R_NC * carrier.rate
        x = R_MN * (away - arm)
        # As seen from the suspension points, which turn with their carrier.
        v = R_MN * (body.v - carrier.v - wp.cross(turning, away))
        w = R_MN * (R_NB * body.rate - turning)
        shape = hang(ring, captive, x, R_MN * R_NB, memory, slot)

        load = MembraneLoad()
        load.area = shape.area
        load.lowest = shape.lowest
        load.below = shape.below
        load.rim = shape.rim
        if shape.below == 0:
            return load
        count = captive.vertices.shape[0]
        load.rate = area_rate(x, v, w, count, memory, slot)
        stretch = wp.max(zero, shape.area - ring.area)
        load.tension = wp.max(zero, tension(row, stretch, load.rate))
        still = wp.max(zero, tension(row, stretch, zero))
        load.stored = stored(row, stretch)
        load.damped = (load.tension - still) * load.rate
        sums = press_vertices(row, load.tension, x, v, w, count, memory, slot)
        load.friction = R_NM * sums.friction
        load.friction_torque = R_NM * sums.friction_torque
        load.force = R_NM * sums.force + load.friction
        load.torque = R_NM * sums.torque + load.friction_torque
        load.carrier_force = -load.force
        load.carrier_torque = -(load.torque + wp.cross(away, load.force))
        load.rubbed = sums.rubbed
        load.pressed = sums.pressed
        if sums.pressed > zero:
            load.slip = sums.slipped / sums.pressed
        load.contacts = sums.contacts
        return load

    return load_of
