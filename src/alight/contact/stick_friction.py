"""Friction that sticks: a tangential spring with a damper, which gives way at Coulomb's limit.

A contact remembers a strain z [m], a vector along the ground: how far it has been dragged
elastically from where it would hold with no force. With the slip velocity u (along the ground),
spring k, damper c = k T, where T is the relaxation time, and the limit L = mu times the normal
force, the contact resists with

    f = k (z + T u), shortened to the length L if it is longer;       force = -f,
    z' = (f / k - z) / T.

Where f is not shortened, z' = u: the strain follows the motion, nothing is lost but in the damper,
and what stands still has z' = 0 and stays. So there is no creep below the limit, at any time. Where
it is shortened, |force| = L exactly, and the contact slides at u_p = u - z', which is along f. This
is the return mapping of plasticity (Cundall and Strack 1979; Simo and Hughes 1998, section 1.7) for
a spring and damper side by side, in closed form: an ordinary differential equation with a slope
that is continuous in z, u and L. Any integrator takes it, and a rejected step leaves z as it was.

Energy: with k z^2 / 2 stored, force . u + d/dt (k z^2 / 2) = -c z'^2 - L |u_p|. No term can be
positive, whatever L does in time: energy never rises.

Where the normal turns (round ground, a pad that rolls), z keeps a part along the new normal. It
bears no force there, as beyond a limit of 0, and relaxes within T: z_n' = -z_n / T.

Why not a constraint: sticking as one is exact too, but it changes the number of freedoms at each
stick and slip of each contact, has to be solved for all contacts together, and has no answer where
more hold than are needed (four legs). A spring has; its give, L / k, is of the size of the depth
to which the contact is pressed in, and comes back. Regularised Coulomb friction and the model of
Dahl creep under any load.

Static friction above ``mu`` is not in the law.

In an integrator z is part of the state, in the axes of the ground, with the slope ``rate``. Off the
ground (L = 0) force and rate are 0: set z = 0 at the end of a step there; what was stored is lost.
While it slides, z follows its limit at the rate 1 / T, and explicit steps must be shorter than
about T. ``slides`` changes where slopes have a corner.
"""

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.core.checks import Array
from alight.core.types import scalar, vec3


@wp.struct
class Stick:
    """What a contact does at one instant."""

    force: vec3
    """On what slips [N]."""
    rate: vec3
    """Of the strain [m/s]."""
    slides: int
    """1 where the force is at its limit."""
    lost: scalar
    """Power of damper and sliding [W], never negative."""


@wp.func
def stick(
    strain: vec3,
    slip: vec3,
    normal: vec3,
    limit: scalar,
    stiffness: scalar,
    relaxation: scalar,
) -> Stick:
    """Friction at a ``strain`` [m] and a velocity ``slip`` [m/s], whose part along ``normal`` is
    left out, up to a ``limit`` [N]; ``stiffness`` [N/m], ``relaxation`` = damping / stiffness [s].
    """
    found = Stick()
    if limit <= scalar(0.0):
        found.slides = 1
        return found
    along = slip - wp.dot(slip, normal) * normal
    out = wp.dot(strain, normal) * normal
    reach = strain - out + relaxation * along
    most = limit / stiffness
    size = wp.length(reach)
    if size > most:
        reach = (most / size) * reach
        found.slides = 1
        found.rate = (reach - strain) / relaxation
    else:
        # Not through ``reach``: what stands still must read 0, not the rest of a rounding.
        found.rate = along - out / relaxation
    found.force = -stiffness * reach
    damped = relaxation * wp.dot(found.rate, found.rate)
    found.lost = stiffness * (damped + wp.dot(reach, along - found.rate))
    return found


@wp.func
def stick_stored(stiffness: scalar, strain: vec3):
    """Energy of the spring [J]."""
    return scalar(0.5) * stiffness * wp.dot(strain, strain)


@wp.kernel(enable_backward=False)
def _stick_each(
    offset: int,
    stiffness: scalar,
    relaxation: scalar,
    strain: wp.array(dtype=vec3),
    slip: wp.array(dtype=vec3),
    normal: wp.array(dtype=vec3),
    limit: wp.array(dtype=scalar),
    found_out: wp.array(dtype=Stick),
) -> None:
    i = wp.tid() + offset
    found_out[i] = stick(strain[i], slip[i], normal[i], limit[i], stiffness, relaxation)


def evaluate_stick(
    strain: npt.ArrayLike,
    slip: npt.ArrayLike,
    limit: npt.ArrayLike,
    stiffness: float,
    relaxation: float,
    normal: npt.ArrayLike = (0.0, 0.0, 1.0),
    device: str = "cpu",
) -> tuple[Array, Array, npt.NDArray[np.bool_], Array]:
    """The law on arrays of contacts: force (..., 3), rate (..., 3), slides (...) and lost (...)."""
    where = devices.resolve(device)
    vectors = np.broadcast_arrays(
        *(np.asarray(a, dtype=np.float64) for a in (strain, slip, normal))
    )
    limits = np.asarray(limit, dtype=np.float64)
    shape = np.broadcast_shapes(vectors[0].shape[:-1], limits.shape)
    rows = [np.broadcast_to(v, (*shape, 3)).reshape(-1, 3) for v in vectors]
    flat = np.broadcast_to(limits, shape).reshape(-1)
    inputs = [stiffness, relaxation, *(devices.array(r, vec3, where) for r in rows)]
    inputs.append(devices.array(flat, scalar, where))
    (table,) = devices.computed(_stick_each, len(flat), inputs, [Stick], where)
    return (
        table["force"].reshape(*shape, 3),
        table["rate"].reshape(*shape, 3),
        table["slides"].reshape(shape) != 0,
        table["lost"].reshape(shape),
    )
