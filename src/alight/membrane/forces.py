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
non-negative problem in closed form.

Friction acts at each vertex, across f and relative to the suspension points: it sticks, up to
Coulomb's limit mu |f|, and slides at exactly that limit (``contact.stick_friction``). What the
fabric is strained by where it sticks belongs to the vertex; it is a state of the motion, in axes M,
in which the fabric stands still.
"""

import functools
from typing import Any

import warp as wp

from alight.contact.stick_friction import stick, stick_stored
from alight.core.rows import vector_at
from alight.core.types import quat, scalar, vec3, vec4
from alight.membrane.geometry import CaptiveData
from alight.membrane.hoop import press_hoop
from alight.membrane.memory import AT_ONCE, HullMemory, clear_touched, put_touched
from alight.membrane.ring import RingData


@wp.struct
class MembraneRow:
    """Parameters of a membrane in one run; units are those of 3D (of 2D in brackets)."""

    stiffness: scalar  # [N/m^3] ([N/m])
    damping: scalar  # [N s/m^3] ([N s/m])
    friction: scalar
    stick_stiffness: scalar  # of fabric that sticks, along it: all of the body's surface [N/m]
    relaxation: scalar  # damping over stiffness of fabric that sticks [s]
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
    rubbed: scalar  # power that friction takes from the bodies [W]: stored where it sticks, or lost
    strained: scalar  # energy stored where the fabric sticks [J]
    lost: scalar  # power lost to friction [W], never negative
    pressed: scalar  # sum of the normal forces at vertices [N]
    grip: scalar  # sum of the sizes of friction forces over that of their limits, 0 to 1
    slip: scalar  # mean speed at which vertices slide, weighted by the normal forces [m/s]
    lowest: scalar  # height of the lowest vertex above the suspension plane [m]
    hoop: scalar  # sum of the normal forces at beads of the hoop [N]
    contacts: int  # vertices that press
    beads: int  # of the hoop that press
    below: int  # vertices below the suspension plane
    through: int  # edges of the body through that plane
    rim: int  # those outside the polygon


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
    strained: scalar
    lost: scalar
    gripped: scalar
    pressed: scalar
    slipped: scalar
    contacts: int


@wp.func
def area_rate(x: vec3, v: vec3, w: vec3, hung: int, memory: HullMemory, slot: int):
    """dA/dt of a body that moves with ``v``, ``w`` relative to the suspension points, ``hung`` of
    its vertices being listed."""
    rate = scalar(0.0)
    for n in range(hung):
        j = memory.below[n, slot]
        u = v + wp.cross(w, vector_at(memory.place, 3 * j, slot) - x)
        rate += wp.dot(vector_at(memory.slope, 3 * j, slot), u)
    return rate


@wp.func
def note_pressed(tension: scalar, hung: int, memory: HullMemory, slot: int):
    """List the vertices that press: how many."""
    pressed = int(0)
    if tension > scalar(0.0):
        for first in range(0, hung, wp.static(AT_ONCE)):
            vertices = wp.vec4i()
            size = vec4()
            for u in range(wp.static(AT_ONCE)):
                vertices[u] = memory.below[wp.min(first + u, hung - 1), slot]
                f = -tension * vector_at(memory.slope, 3 * vertices[u], slot)
                size[u] = wp.length_sq(f)
            for u in range(wp.static(AT_ONCE)):
                if first + u < hung and size[u] > scalar(0.0):
                    memory.noted[pressed, slot] = vertices[u]
                    pressed += 1
    return pressed


@wp.func
def press_vertices(
    row: MembraneRow,
    captive: CaptiveData,
    tension: scalar,
    hung: int,
    x: vec3,
    v: vec3,
    w: vec3,
    memory: HullMemory,
    slot: int,
):
    """Normal force and friction at every vertex of the body; limits and rates of its strains."""
    sums = Shares()
    clear_touched(memory, slot)
    sums.contacts = note_pressed(tension, hung, memory, slot)
    for n in range(sums.contacts):
        j = memory.noted[n, slot]
        f = -tension * vector_at(memory.slope, 3 * j, slot)
        N = wp.length(f)
        arm = vector_at(memory.place, 3 * j, slot) - x
        u = v + wp.cross(w, arm)
        normal = f / N
        own = row.stick_stiffness * captive.shares[j]
        held = vector_at(memory.strain, 3 * j, slot)
        limit = row.friction * N
        found = stick(held, u, normal, limit, own, row.relaxation)
        sums.force += f
        sums.torque += wp.cross(arm, f)
        sums.friction += found.force
        sums.friction_torque += wp.cross(arm, found.force)
        sums.rubbed += -wp.dot(found.force, u)
        sums.strained += stick_stored(own, held)
        sums.lost += found.lost
        sums.gripped += wp.length(found.force)
        sums.pressed += N
        if found.slides == 1:
            slide = u - found.rate
            sums.slipped += N * wp.length(slide - wp.dot(slide, normal) * normal)
        put_touched(memory, n, j, found.rate, limit, slot)
    memory.touched[0, slot] = sums.contacts
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
        R = R_MN * R_NB
        shape = hang(ring, captive, x, R, memory, slot)

        load = MembraneLoad()
        load.area = shape.area
        load.lowest = shape.lowest
        load.below = shape.below
        load.through = shape.through
        load.rim = shape.rim
        # Beyond a hoop, all of it outside, a body is past the fabric and not on it.
        over = ring.beads.shape[0] > 0 and shape.rim > 0 and shape.rim == shape.through
        if shape.below > 0 and not over:
            load.rate = area_rate(x, v, w, shape.hung, memory, slot)
            stretch = wp.max(zero, shape.area - ring.area)
            load.tension = wp.max(zero, tension(row, stretch, load.rate))
            still = wp.max(zero, tension(row, stretch, zero))
            load.stored = stored(row, stretch)
            load.damped = (load.tension - still) * load.rate
        hung = shape.hung
        sums = press_vertices(row, captive, load.tension, hung, x, v, w, memory, slot)
        hoop = press_hoop(ring, captive, row.friction, row.relaxation, x, R, v, w, memory, slot)
        load.friction = R_NM * (sums.friction + hoop.friction)
        load.friction_torque = R_NM * (sums.friction_torque + hoop.friction_torque)
        load.force = R_NM * (sums.force + hoop.force) + load.friction
        load.torque = R_NM * (sums.torque + hoop.torque) + load.friction_torque
        load.carrier_force = -load.force
        load.carrier_torque = -(load.torque + wp.cross(away, load.force))
        load.stored += hoop.stored
        load.damped += hoop.damped
        load.rubbed = sums.rubbed + hoop.rubbed
        load.strained = sums.strained + hoop.strained
        load.lost = sums.lost + hoop.lost
        load.hoop = hoop.pressed
        load.pressed = sums.pressed + hoop.pressed
        if load.pressed > zero:
            load.slip = (sums.slipped + hoop.slipped) / load.pressed
            if row.friction > zero:
                load.grip = (sums.gripped + hoop.gripped) / (row.friction * load.pressed)
        load.contacts = sums.contacts
        load.beads = hoop.touching
        return load

    return load_of
