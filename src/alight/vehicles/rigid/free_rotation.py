"""The rotation of a rigid body on which no torque acts, exact over any time.

Between contacts nothing turns a lander, so its attitude needs no steps. With h the angular
momentum in body axes and P the principal axes:

- a sphere turns at a constant rate;
- a body with two equal moments turns about h at |h|/I_t while it spins about its own axis;
- any other body has h = (a cn u, b sn u, c dn u) with u linear in time (Landau and Lifshitz,
  Mechanics, section 37), and one of its axes precesses about h at a rate whose
  integral is a linear term and the argument of a theta function (Jacobi 1849; van Zon and
  Schofield 2007 arrange it otherwise). See ``_tumble``.

Attitude is ``q_NB`` (body to inertial, xyzw) and ``w_NB_B`` is in body axes.
"""

import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices, frames
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.core.types import quat, real, scalar, vec2, vec3
from alight.core.warp_setup import POINT_OPTIONS
from alight.shapes.mass import principal_rotation
from alight.vehicles.checks import inertia_tensor
from alight.vehicles.rigid.elliptic import Descent, descend, phase_at, sn_cn, thetas, times

SPHERE, AXISYMMETRIC, TRIAXIAL = wp.constant(0), wp.constant(1), wp.constant(2)

#: Moments this close, relative to the largest, are equal: eigenvalues of a tilted tensor are good
#: to a few 1e-16. Neglected is at most this much of every radian; 1e-13 apart, nothing is.
EQUAL = 1e-14

#: Closer to the intermediate axis than this [rad] a body is on it: rounding decides the rest.
_ON_AXIS = wp.constant(scalar(1e-15))
#: Components of angular momentum below this cannot be squared, and turn nothing [kg m^2/s].
_AT_REST = wp.constant(scalar(1e-150))
#: Where turning about the greatest axis borders on turning about the least, k' c / h_z is 0; its
#: square is kept above this, a change of h in its last digit.
_SEPARATE = wp.constant(scalar(1e-17))


@wp.struct
class Circling:
    """Constants of a triaxial body while h circles an axis z of P (x the other extreme axis)."""

    ratio: scalar
    """(1/I_y - 1/I_z) / (1/I_x - 1/I_z), between 0 and 1."""
    rest: scalar
    """1 - ratio."""
    root: scalar
    """sqrt(ratio)."""
    wall: scalar
    """sqrt(rest / ratio): h circles z where h_z > wall |h_x|."""
    rate: scalar
    """Change of u per time and h_z; negative about the axis of least moment [1/(kg m^2)]."""
    inverse: vec3
    """1/I_x, 1/I_y, 1/I_z [1/(kg m^2)]."""


@wp.struct
class FreeRotor:
    """A rigid body as its free rotation needs it."""

    moments: vec3
    """Principal moments [kg m^2], ascending if triaxial, else the two equal ones first."""
    q_BP: quat  # noqa: N815  (monogram notation)
    """Principal axes to body axes."""
    axis: vec3
    """The axis of an axisymmetric body, in body axes."""
    kind: int
    """SPHERE, AXISYMMETRIC or TRIAXIAL."""
    greatest: Circling
    """For h around the third principal axis."""
    least: Circling
    """For h around the first; x is then the third axis, and y the second reversed."""


@wp.struct
class Turned:
    """Attitude and rate after some time."""

    q: quat
    """Body to inertial, of unit length."""
    w: vec3
    """Inertial rate in body axes [rad/s]."""


def free_body(inertia: npt.ArrayLike) -> Any:
    """The ``FreeRotor`` of an inertia tensor (3, 3), or three moments, in body axes [kg m^2].

    Moments within ``EQUAL`` of each other are taken as equal.
    """
    tensor = inertia_tensor(inertia, "a free body")
    R_PB = principal_rotation(tensor)
    low, mid, high = (float(moment) for moment in np.linalg.eigvalsh(tensor))
    near = EQUAL * high
    body = FreeRotor()
    body.kind = AXISYMMETRIC
    if high - low <= near:
        body.kind, body.moments = SPHERE, vec3(mid, mid, mid)
    elif mid - low <= near:
        body.moments = vec3(0.5 * (low + mid), 0.5 * (low + mid), high)
    elif high - mid <= near:
        # A cyclic change of axes puts the single moment last.
        body.moments = vec3(0.5 * (mid + high), 0.5 * (mid + high), low)
        R_PB = np.roll(R_PB, -1, axis=0)
    else:
        body.kind, body.moments = TRIAXIAL, vec3(low, mid, high)
        body.greatest, body.least = _circling(low, mid, high), _circling(high, mid, low)
    body.q_BP = quat(*frames.quat_from_matrix(R_PB.T))
    body.axis = vec3(*R_PB[2])
    return body


def _circling(x: float, y: float, z: float) -> Any:
    """Constants for moments x, y, z in the order of the axes, with y between the others."""
    xz, yz, xy = (z - x) / (x * z), (z - y) / (y * z), (y - x) / (x * y)
    c = Circling()
    c.ratio, c.rest, c.root = yz / xz, xy / xz, math.sqrt(yz / xz)
    c.wall = math.sqrt(xy / yz)
    c.rate = math.copysign(math.sqrt(xz * yz), xz)
    c.inverse = vec3(1.0 / x, 1.0 / y, 1.0 / z)
    return c


@wp.func
def free_rotation(body: FreeRotor, q_NB: quat, w_B: vec3, dt: scalar) -> Turned:
    """Attitude and inertial rate (body axes) [rad/s] after ``dt`` [s], of either sign."""
    turn = Turned()
    if body.kind == SPHERE:
        turn.q = _rotation(w_B, dt)
        turn.w = w_B
    elif body.kind == AXISYMMETRIC:
        turn = _spin(body, w_B, dt)
    else:
        turn = _triaxial(body, w_B, dt)
    turn.q = wp.normalize(q_NB * turn.q)
    return turn


@wp.func
def _rotation(rate: vec3, dt: scalar) -> quat:
    """A turn at a constant ``rate`` for a time ``dt``."""
    size = wp.length(rate)
    if size == scalar(0.0):
        return quat(scalar(0.0), scalar(0.0), scalar(0.0), scalar(1.0))
    half = scalar(0.5) * size * dt
    axis = rate * (wp.sin(half) / size)
    return quat(axis[0], axis[1], axis[2], wp.cos(half))


@wp.func
def _spin(body: FreeRotor, w: vec3, dt: scalar) -> Turned:
    """Two equal moments: about h at |h|/I_t, after a spin about the axis (both body axes)."""
    across = body.moments[0]
    excess = (body.moments[2] - across) / across
    along = wp.dot(w, body.axis)
    spin = _rotation(body.axis, -excess * along * dt)
    turn = Turned()
    turn.q = _rotation(w + (excess * along) * body.axis, dt) * spin
    turn.w = wp.quat_rotate_inv(spin, w)
    return turn


@wp.func
def _triaxial(body: FreeRotor, w_B: vec3, dt: scalar) -> Turned:
    """Three moments: into axes where h circles +z, tumble, and back; relative to the start."""
    w = wp.quat_rotate_inv(body.q_BP, w_B)
    h = wp.cw_mul(body.moments, w)
    size = wp.length(h)
    small = wp.max(_ON_AXIS * size, _AT_REST)
    if wp.abs(h[0]) <= small and wp.abs(h[2]) <= small:
        fixed = Turned()
        fixed.q = _rotation(w_B, dt)
        fixed.w = w_B
        return fixed
    h = h / size
    about_greatest = wp.abs(h[2]) >= body.greatest.wall * wp.abs(h[0])
    c = body.greatest
    if not about_greatest:
        c = body.least
    g = _relabelled(h, about_greatest)
    # Half a turn about x makes h_z positive.
    sign = wp.where(g[2] < scalar(0.0), scalar(-1.0), scalar(1.0))
    flip = vec3(scalar(1.0), sign, sign)
    moved = _tumble(c, wp.cw_mul(flip, g), size * dt)
    h = size * _relabelled(wp.cw_mul(flip, moved.w), about_greatest)
    axis = wp.cw_mul(flip, vec3(moved.q[0], moved.q[1], moved.q[2]))
    axis = wp.quat_rotate(body.q_BP, _relabelled(axis, about_greatest))
    turn = Turned()
    turn.q = quat(axis[0], axis[1], axis[2], moved.q[3])
    turn.w = wp.quat_rotate(body.q_BP, wp.cw_div(h, body.moments))
    return turn


@wp.func
def _relabelled(v: vec3, keep: bool) -> vec3:
    """The axes 3, -2, 1 (half a turn, its own inverse), unless they are to be kept."""
    if keep:
        return v
    return vec3(v[2], -v[1], v[0])


@wp.struct
class Polhode:
    """The curve h = (a cn u, b sn u, c dn u) of a unit h, and where on it h is."""

    a: scalar
    c: scalar
    k: scalar
    """Modulus, sqrt(rest / ratio) a / c."""
    kc: scalar
    """Its complement."""
    cn: scalar
    sn: scalar


@wp.func
def _polhode(body: Circling, h: vec3) -> Polhode:
    """The polhode of unit ``h`` that circles +z; b = a / sqrt(ratio)."""
    p = Polhode()
    hy2 = h[1] * h[1]
    p.a = wp.sqrt(h[0] * h[0] + body.ratio * hy2)
    p.c = wp.sqrt(h[2] * h[2] + body.rest * hy2)
    p.k = body.wall * p.a / p.c
    wall = body.wall * wp.abs(h[0])
    gap = wp.max((h[2] - wall) * (h[2] + wall), _SEPARATE * h[2] * h[2])
    p.kc = wp.sqrt(gap) / p.c
    p.cn = scalar(1.0)
    if p.a > scalar(0.0):
        p.cn = h[0] / p.a
        p.sn = body.root * h[1] / p.a
    return p


@wp.func
def _descent(body: Circling, p: Polhode, along_x: bool) -> Descent:
    """Landen's descent for a polhode and the shift i d of the axis that is followed.

    exp(2 X) is (1 + c)^2 / a^2 for z and (1 + root)^2 / rest for x.
    """
    one = scalar(1.0)
    ratio = body.wall * (one + p.c) / p.c
    f = p.a / (one + p.c)
    decay = f * f
    if along_x:
        ratio = (one + body.root) * p.a / (body.root * p.c)
        decay = body.rest / ((one + body.root) * (one + body.root))
    lift = ratio * ratio / scalar(16.0)
    return descend(p.k, p.kc, wp.abs(p.cn), wp.abs(p.sn), lift, decay)


@wp.func
def _tumble(body: Circling, h: vec3, elapsed: scalar) -> Turned:
    """The turn (of any length) and, in the field w, the new h, for unit ``h`` circling +z.

    ``elapsed`` is tau, time by |h|. On the polhode du/dtau = rate c. Follow one axis of the body, z
    or x, as it precesses about h:

        z at  (h_x^2/I_x + h_y^2/I_y) / (h_x^2 + h_y^2),  which is 1/I_y at u = K,
        x at  (h_y^2/I_y + h_z^2/I_z) / (h_y^2 + h_z^2),  which is a^2/I_x + c^2/I_z at u = K.

    These rates have poles at +-i (K' - d), where sn(i d) is i c/a for z and i root / sqrt(rest)
    for x, with residues -+i/2 for z and +-i/2 for x in u. So the angles are a linear term plus
    (z) or minus (x) arg theta_4(pi (u + i d) / 2K), and the rate at u = K gives the linear term.
    The two d add up to K'. The axis of the lesser is followed: its poles are the further ones,
    and h never comes near it.
    """
    p = _polhode(body, h)
    a2 = p.a * p.a
    c2 = p.c * p.c
    # sn(i K'/2) = i / sqrt(k). On z itself, where a = k = 0, x is followed.
    along_x = c2 * p.k >= a2
    down = _descent(body, p, along_x)
    x = down.phase
    if p.cn < scalar(0.0):
        x = scalar(math.pi) - x
    if p.sn < scalar(0.0):
        x = -x
    speed = body.rate * p.c * down.mean
    first = phase_at(x)
    second = phase_at(x + speed * elapsed)
    u = sn_cn(down, second.cos, second.sin)
    dn = wp.sqrt(p.kc * p.kc + p.k * p.k * u[1] * u[1])
    g = vec3(p.a * u[1], p.a * u[0] / body.root, p.c * dn)
    theta = thetas(down.nome, down.lift, first, second)
    turned = times(vec2(theta.first[0], -theta.first[1]), theta.second)
    rate = body.inverse[1] + speed * theta.slope
    if along_x:
        turned = vec2(turned[0], -turned[1])
        rate = a2 * body.inverse[0] + c2 * body.inverse[2] - speed * theta.slope
    turn = Turned()
    turn.q = _precess(h, g, rate * elapsed, turned, along_x)
    turn.w = g
    return turn


@wp.func
def _precess(h: vec3, g: vec3, angle: scalar, turned: vec2, along_x: bool) -> quat:
    """The turn in which body components of h go from ``h`` to ``g`` as an axis e precesses.

    e is x or z and turns about h by ``angle`` and the argument of ``turned``. At either end the
    frame of h and e is the shortest turn from e to h after a turn about e by the azimuth of h;
    the turns about e in the middle become one. Written for e = z.
    """
    p = h
    r = g
    if along_x:
        p = vec3(h[1], h[2], h[0])
        r = vec3(g[1], g[2], g[0])
    whole = times(turned, times(vec2(p[0], p[1]), vec2(r[0], -r[1])))
    half = scalar(0.5) * (angle + wp.atan2(whole[1], whole[0]))
    zero = scalar(0.0)
    start = quat(-p[1], p[0], zero, scalar(1.0) + p[2])
    end = quat(r[1], -r[0], zero, scalar(1.0) + r[2])
    q = start * quat(zero, zero, wp.sin(half), wp.cos(half)) * end
    if along_x:
        q = quat(q[2], q[0], q[1], q[3])
    return q


@functools.cache
def _turn_kernel() -> wp.Kernel:
    """The kernel of ``turn``: one item, one body in one state."""

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def turn_kernel(
        offset: int,
        body: FreeRotor,
        q: wp.array[quat],
        w: wp.array[vec3],
        dt: wp.array[scalar],
        q_out: wp.array[quat],
        w_out: wp.array[vec3],
    ) -> None:
        i = wp.tid() + offset
        turned = free_rotation(body, q[i], w[i], dt[i])
        q_out[i] = turned.q
        w_out[i] = turned.w

    return turn_kernel


def turn(
    inertia: npt.ArrayLike,
    q: npt.ArrayLike,
    w: npt.ArrayLike,
    dt: npt.ArrayLike,
    device: str = "auto",
) -> tuple[Array, Array]:
    """Attitudes ``q_NB`` and rates ``w_NB_B`` [rad/s] after times ``dt`` [s] without torque.

    ``inertia`` is one tensor (3, 3) in body axes [kg m^2]; ``q`` (..., 4), ``w`` (..., 3) and
    ``dt`` (...) are broadcast against each other.
    """
    body = free_body(inertia)
    q, w, dt = (_finite(n, v) for n, v in (("q", q), ("w", w), ("dt", dt)))
    try:
        if q.shape[-1:] != (4,) or w.shape[-1:] != (3,):
            raise ValueError
        shape = np.broadcast_shapes(q.shape[:-1], w.shape[:-1], dt.shape)
    except ValueError:
        raise InputError(
            f"q, w and dt have shapes {q.shape}, {w.shape} and {dt.shape}; expected (..., 4), "
            "(..., 3) and (...), where the leading ones match, or are 1 or absent"
        ) from None
    if not (np.abs(np.linalg.norm(q, axis=-1) - 1.0) < 1e-6).all():
        raise InputError("q holds quaternions that are not of unit length; divide by their norm")
    return _launched(body, q, w, dt, shape, devices.resolve(device))


def _launched(
    body: Any, q: Array, w: Array, dt: Array, shape: tuple[int, ...], device: devices.Device
) -> tuple[Array, Array]:
    """Run ``turn_kernel`` over checked states."""
    n = math.prod(shape)
    given = [
        wp.array(np.broadcast_to(v, shape + tail).reshape(n, *tail), dtype=kind, device=device.name)
        for v, tail, kind in ((q, (4,), quat), (w, (3,), vec3), (dt, (), scalar))
    ]
    outputs = [wp.empty(n, dtype=kind, device=device.name) for kind in (quat, vec3)]
    if n:
        devices.launch(_turn_kernel(), n, [body, *given], device, outputs=outputs)
    return outputs[0].numpy().reshape(*shape, 4), outputs[1].numpy().reshape(*shape, 3)


def _finite(name: str, value: npt.ArrayLike) -> Array:
    """``value`` as finite numbers, or an error that names it."""
    try:
        array = np.asarray(value, dtype=real)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers; got {value!r}") from None
    if not np.isfinite(array).all():
        raise InputError(f"{name} must be finite; got {value!r}")
    return array
