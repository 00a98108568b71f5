"""A rigid body inside kernels: its struct, and the functions that every contact law needs.

Vectors are in body axes B unless a name says otherwise; levers run from the centre of mass to the
point of contact. The matrix that turns an impulse at a lever c into the change of velocity there,

    m* = 1/m - [c] I^-1 [c]        (paper 000, equation 20; [c] the matrix of c x)

is the "inverse mass" of the contact: symmetric, positive definite, never below 1/m.
"""

import functools
from typing import Any

import warp as wp

from alight.core.types import mat33, scalar, vec3


@wp.struct
class RigidBody:
    """Mass [kg], inertia [kg m^2] and its inverse, reach [m], contact points [m] and radii [m].

    ``shift`` [m] is the centre of mass from where points are counted from: 0 but where a mass moves
    in the body.
    """

    mass: scalar
    inertia: mat33
    inverse_inertia: mat33
    bounding_radius: scalar
    shift: vec3
    points: wp.array(dtype=vec3)
    radii: wp.array(dtype=scalar)


# -- free motion ------------------------------------------------------------------------------


@wp.func
def angular_acceleration(body: RigidBody, w: vec3, torque: vec3):
    """Euler's equation: I^-1 (torque - w x I w) [rad/s^2], ``w`` the inertial rate."""
    return body.inverse_inertia * (torque - wp.cross(w, body.inertia * w))


@wp.func
def linear_energy(body: RigidBody, v: vec3):
    """Kinetic energy of the centre of mass [J] at velocity ``v`` [m/s], in any axes."""
    return scalar(0.5) * body.mass * wp.dot(v, v)


@wp.func
def angular_energy(body: RigidBody, w: vec3):
    """Kinetic energy of the turning [J] at the rate ``w`` [rad/s]."""
    return scalar(0.5) * wp.dot(w, body.inertia * w)


# -- at a point of contact --------------------------------------------------------------------


@wp.func
def rate_change(body: RigidBody, lever: vec3, impulse: vec3):
    """What ``impulse`` [N s] at ``lever`` [m] adds to the rate [rad/s]."""
    return body.inverse_inertia * wp.cross(lever, impulse)


@wp.func
def inverse_mass_at(body: RigidBody, inverse_inertia: mat33, lever: vec3):
    """m* = 1/m - [c] I^-1 [c] [1/kg] in the axes that inertia and lever are given in."""
    c = wp.skew(lever)
    return (scalar(1.0) / body.mass) * wp.identity(n=3, dtype=scalar) - c * inverse_inertia * c


@wp.func
def inverse_mass_along(body: RigidBody, inverse_inertia: mat33, lever: vec3, t: vec3):
    """t.m* t [1/kg] for a unit vector t, without forming m*."""
    c = wp.cross(lever, t)
    return scalar(1.0) / body.mass + wp.dot(c, inverse_inertia * c)


@wp.func
def contact_inverse_mass(body: RigidBody, lever: vec3):
    """m* [1/kg] in body axes, exactly symmetric."""
    m = inverse_mass_at(body, body.inverse_inertia, lever)
    return scalar(0.5) * (m + wp.transpose(m))


@wp.func
def effective_mass(body: RigidBody, lever: vec3, normal: vec3):
    """Mass [kg] that a frictionless hit at ``lever`` along the unit ``normal`` meets.

    1 / (n . m* n) = 1 / (1/m + (c x n) . I^-1 (c x n)).
    """
    return scalar(1.0) / inverse_mass_along(body, body.inverse_inertia, lever, normal)


# -- alone, on arrays -------------------------------------------------------------------------


@functools.cache
def contact_kernel() -> Any:
    """A kernel that evaluates m* and the effective mass at one lever a thread."""

    @wp.kernel(module="unique", enable_backward=False)
    def evaluate_contact(
        offset: int,
        body: RigidBody,
        lever: wp.array(dtype=vec3),
        normal: wp.array(dtype=vec3),
        inverse_mass_out: wp.array(dtype=mat33),
        effective_mass_out: wp.array(dtype=scalar),
    ) -> None:
        i = wp.tid() + offset
        inverse_mass_out[i] = contact_inverse_mass(body, lever[i])
        effective_mass_out[i] = effective_mass(body, lever[i], normal[i])

    return evaluate_contact
