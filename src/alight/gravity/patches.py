"""The exact share of each facet in a polyhedron's field, switched on and off by distance.

A polyhedron's potential is a sum over facets, u_f = 1/2 G rho h_f Phi_f, with h_f the height of
the facet's plane over the field point and Phi_f the integral of 1/r over the facet. Each u_f is
smooth except on its own facet. So the sum

    sum_f w(|x - c_f| / reach) u_f(x),      w = 1 near the facet's centre c_f, 0 beyond the reach

holds everything in the field that is rough (the jump of its gradient at a facet, the logarithms
at edges), and what is left is smooth on the scale of the reach: that can be tabulated. As in
Ewald's sums, the window closes on little: from u_f the same facet with the kernel 1/r blunted to
erf(a r)/r is taken off first, on three points of the facet. The blunt part is smooth, so it
belongs in the table, and what is left has all but died out where the window closes. Facets
larger than the reach allows are first cut into pieces.
"""

import functools
import types
from typing import Any

import numpy as np
import warp as wp

from scipy.special import erf

from alight.core import devices
from alight.core.types import mat33, scalar, vec3
from alight.gravity.lanes import arithmetic
from alight.gravity.law import Array, FieldValue
from alight.gravity.polyhedron_terms import terms

#: Share of the reach on which a facet's sharp field is on in full.
PLATEAU = 0.6
#: Blunting: the kernel is erf(a r)/r with a = BLUNT / reach.
BLUNT = 3.0
#: Least reach in units of a piece's size: the blunt kernel's polynomial holds up to there.
LEAST_REACH = 3.0
#: Powers of (a r)^2 in the blunt kernel erf(z)/z, which is even and entire. Where the polynomial
#: errs it does so in the table and in the simulation alike, and the two cancel.
_BLUNT_TERMS = 16
_BLUNT_END = (BLUNT * (1.0 + 1.0 / LEAST_REACH)) ** 2


@wp.struct
class Patches:
    """Pieces of facets, each with a centre about which its window is drawn."""

    center: wp.array(dtype=vec3)  # [m]
    corner: wp.array(dtype=vec3, ndim=2)  # (piece, 3) [m]
    normal: wp.array(dtype=vec3)  # unit, outward
    area: wp.array(dtype=scalar)  # twice the area [m^2]
    length: wp.array(dtype=vec3)  # sides ab, bc, ca [m]
    strength: scalar  # G rho [1/s^2]
    plane_tolerance: scalar  # squared distance below which a point is on a plane [m^2]


def cut(corner: Array, size: float) -> Array:
    """Halve triangles ``(n, 3, 3)`` at their longest side until none reaches past ``size``.

    The size of a triangle is the distance from its centroid to its farthest corner.
    """
    done = []
    while len(corner):
        far = np.linalg.norm(corner - corner.mean(axis=1, keepdims=True), axis=2).max(axis=1)
        done.append(corner[far <= size])
        large = corner[far > size]
        sides = np.linalg.norm(np.roll(large, -1, axis=1) - large, axis=2)
        turn = (np.argmax(sides, axis=1)[:, None] + np.arange(3)) % 3
        a, b, c = (large[np.arange(len(large)), turn[:, k]] for k in range(3))
        middle = 0.5 * (a + b)
        corner = np.concatenate([np.stack([a, middle, c], 1), np.stack([middle, b, c], 1)])
    return np.concatenate(done)


def piece_sizes(corner: Array) -> Array:
    """Distance from each triangle's centroid to its farthest corner [m]."""
    offset = corner - corner.mean(axis=1, keepdims=True)
    return np.asarray(np.linalg.norm(offset, axis=2).max(axis=1))


def patch_data(corner: Array, strength: float, device: devices.Device) -> Any:
    """The struct of triangles ``(n, 3, 3)`` on a device."""
    side = np.roll(corner, -1, axis=1) - corner
    normal = np.cross(side[:, 0], -side[:, 2])
    area = np.linalg.norm(normal, axis=1)
    normal /= area[:, None]
    data = Patches()
    data.center = wp.array(corner.mean(axis=1), dtype=vec3, device=device.name)
    data.corner = wp.array(corner, dtype=vec3, device=device.name)
    data.normal = wp.array(normal, dtype=vec3, device=device.name)
    data.area = wp.array(area, dtype=scalar, device=device.name)
    data.length = wp.array(np.linalg.norm(side, axis=2), dtype=vec3, device=device.name)
    data.strength = strength
    data.plane_tolerance = (8.0 * np.finfo(float).eps * np.abs(corner).max()) ** 2
    return data


def _blunt_powers() -> Any:
    def ratio(t: Array) -> Array:
        z = np.sqrt(np.maximum(t, 1e-300))
        return np.asarray(erf(z) / z)

    fit = np.polynomial.Chebyshev.interpolate(ratio, _BLUNT_TERMS - 1, domain=[0.0, _BLUNT_END])
    return fit.convert(kind=np.polynomial.Polynomial, domain=[-1, 1], window=[-1, 1]).coef


blunt_table = wp.types.vector(length=_BLUNT_TERMS, dtype=scalar)
BLUNT_POWERS = wp.constant(blunt_table(*_blunt_powers()))


@wp.func
def blunt_kernel(t: scalar):
    """erf(z)/z at t = z^2, with its first two derivatives in t."""
    f = BLUNT_POWERS[wp.static(_BLUNT_TERMS - 1)]
    d = scalar(0.0)
    e = scalar(0.0)
    for k in range(1, wp.static(_BLUNT_TERMS)):
        e = e * t + scalar(2.0) * d
        d = d * t + f
        f = f * t + BLUNT_POWERS[wp.static(_BLUNT_TERMS - 1) - k]
    return vec3(f, d, e)


@wp.func
def window(r: scalar, reach: scalar):
    """w, dw/dr and d2w/dr2 at distance r: 1 on the plateau, 0 past the reach, C4 between."""
    width = (scalar(1.0) - scalar(PLATEAU)) * reach
    t = wp.clamp((r - scalar(PLATEAU) * reach) / width, scalar(0.0), scalar(1.0))
    u = scalar(1.0) - t
    t4 = t * t * t * t
    p = scalar(126.0) + t * (
        scalar(-420.0) + t * (scalar(540.0) + t * (scalar(-315.0) + t * scalar(70.0)))
    )
    w = scalar(1.0) - t * t4 * p
    slope = scalar(-630.0) * t4 * (u * u * u * u) / width
    bend = scalar(-2520.0) * (t * t * t) * (u * u * u) * (u - t) / (width * width)
    return vec3(w, slope, bend)


@functools.cache
def facet_terms(width: int) -> types.SimpleNamespace:
    """Logarithms and solid angles of ``width`` pairs of a field point and a piece."""
    term = terms(width)
    lanes, logarithm, solid_angle = term.lanes, term.logarithm, term.solid_angle
    root, dot = arithmetic(width).root, arithmetic(width).dot

    @wp.struct
    class Angles:
        height: lanes  # h
        solid: lanes  # signed solid angle
        ab: lanes  # L of a side over its length
        bc: lanes
        ca: lanes

    @wp.func
    def angles(
        ax: lanes, ay: lanes, az: lanes,
        bx: lanes, by: lanes, bz: lanes,
        cx: lanes, cy: lanes, cz: lanes,
        nx: lanes, ny: lanes, nz: lanes,
        area: lanes, ab: lanes, bc: lanes, ca: lanes, on_plane: scalar,
    ):  # fmt: skip
        """Height, solid angle and logarithms of triangles abc; ``area`` is twice their area."""
        ra = root(dot(ax, ay, az, ax, ay, az))
        rb = root(dot(bx, by, bz, bx, by, bz))
        rc = root(dot(cx, cy, cz, cx, cy, cz))
        out = Angles()
        height = dot(nx, ny, nz, ax, ay, az)
        denominator = (
            wp.cw_mul(ra, wp.cw_mul(rb, rc) + dot(bx, by, bz, cx, cy, cz))
            + wp.cw_mul(rb, dot(ax, ay, az, cx, cy, cz))
            + wp.cw_mul(rc, dot(ax, ay, az, bx, by, bz))
        )
        weight = wp.cw_div(lanes(scalar(1.0)), wp.cw_mul(area, area))
        out.height = height
        out.solid = solid_angle(wp.cw_mul(area, height), denominator, weight, on_plane)
        out.ab = wp.cw_div(logarithm(ax, ay, az, ra, bx, by, bz, rb, ab), ab)
        out.bc = wp.cw_div(logarithm(bx, by, bz, rb, cx, cy, cz, rc, bc), bc)
        out.ca = wp.cw_div(logarithm(cx, cy, cz, rc, ax, ay, az, ra, ca), ca)
        return out

    @wp.func
    def side_term(lx: lanes, ly: lanes, lz: lanes, d: vec3, n: vec3, log: lanes):
        nu = wp.cross(d, n)
        return wp.cw_mul(log, nu[0] * lx + nu[1] * ly + nu[2] * lz)

    @wp.func
    def potential(patches: Patches, f: int, px: lanes, py: lanes, pz: lanes):
        """h Phi of one piece at ``width`` points."""
        a = patches.corner[f, 0]
        b = patches.corner[f, 1]
        c = patches.corner[f, 2]
        n = patches.normal[f]
        side = patches.length[f]
        ax = lanes(a[0]) - px
        ay = lanes(a[1]) - py
        az = lanes(a[2]) - pz
        bx = lanes(b[0]) - px
        by = lanes(b[1]) - py
        bz = lanes(b[2]) - pz
        cx = lanes(c[0]) - px
        cy = lanes(c[1]) - py
        cz = lanes(c[2]) - pz
        t = angles(
            ax, ay, az, bx, by, bz, cx, cy, cz,
            lanes(n[0]), lanes(n[1]), lanes(n[2]), lanes(patches.area[f]),
            lanes(side[0]), lanes(side[1]), lanes(side[2]), patches.plane_tolerance,
        )  # fmt: skip
        phi = (
            side_term(ax, ay, az, b - a, n, t.ab)
            + side_term(bx, by, bz, c - b, n, t.bc)
            + side_term(cx, cy, cz, a - c, n, t.ca)
            - wp.cw_mul(t.height, t.solid)
        )
        return wp.cw_mul(t.height, phi)

    @wp.func
    def blunt_point(y: vec3, n: vec3, a: scalar, px: lanes, py: lanes, pz: lanes):
        dx = lanes(y[0]) - px
        dy = lanes(y[1]) - py
        dz = lanes(y[2]) - pz
        t = (a * a) * dot(dx, dy, dz, dx, dy, dz)
        f = lanes(BLUNT_POWERS[wp.static(_BLUNT_TERMS - 1)])
        for k in range(1, wp.static(_BLUNT_TERMS)):
            f = wp.cw_mul(f, t) + lanes(BLUNT_POWERS[wp.static(_BLUNT_TERMS - 1) - k])
        return wp.cw_mul(n[0] * dx + n[1] * dy + n[2] * dz, f)

    @wp.func
    def blunt_potential(
        patches: Patches, f: int, reach: scalar, px: lanes, py: lanes, pz: lanes
    ):
        """h Phi of one piece with the blunt kernel at ``width`` points."""
        a = scalar(BLUNT) / reach
        n = patches.normal[f]
        c = patches.center[f]
        total = lanes()
        for i in range(3):
            y = scalar(0.5) * (patches.corner[f, i] + c)
            total += blunt_point(y, n, a, px, py, pz)
        return (a * patches.area[f] / scalar(6.0)) * total

    return types.SimpleNamespace(
        lanes=lanes,
        angles=angles,
        potential=potential,
        blunt_potential=blunt_potential,
        dot=dot,
        root=root,
    )


@wp.func
def _turn_rate(a: vec3, b: vec3, ra: scalar, rb: scalar):
    """1 / (r1 r2 + r1.r2), without its cancellation when the point is close to the side ab."""
    cosine = wp.dot(a, b)
    product = ra * rb
    value = product + cosine
    if cosine < scalar(0.0):
        k = wp.cross(a, b)
        value = wp.dot(k, k) / (product - cosine)
    result = scalar(0.0)
    if value > scalar(0.0):
        result = scalar(1.0) / value
    return result


@wp.func
def _bend(p: vec3, q: vec3, n: vec3, side: scalar):
    """A side's part of the gradient of grad Phi: n (grad omega)^T - nu (grad L)^T."""
    rp = wp.length(p)
    rq = wp.length(q)
    rate = _turn_rate(p, q, rp, rq)
    result = mat33()
    if rate > scalar(0.0):
        nu = wp.cross(q - p, n) / side
        grad_l = (side * rate) * (p / rp + q / rq)
        grad_omega = (rate * (rp + rq) / (rp * rq)) * wp.cross(p, q)
        result = wp.outer(n, grad_omega) - wp.outer(nu, grad_l)
    return result


@wp.struct
class Share:
    """What the pieces of facets near a point add to its field, over G rho / 2."""

    potential: scalar
    acceleration: vec3
    gradient: mat33


@wp.func
def blunt_share(y: vec3, n: vec3, a: scalar):
    """n.y times the blunt kernel, with first and second derivatives; y from the field point."""
    h = wp.dot(n, y)
    k = blunt_kernel(a * a * wp.length_sq(y))
    slope = scalar(2.0) * a * a * a * k[1]
    share = Share()
    share.potential = h * a * k[0]
    share.acceleration = -(a * k[0]) * n - (slope * h) * y
    share.gradient = (
        (scalar(4.0) * wp.pow(a, scalar(5.0)) * k[2] * h) * wp.outer(y, y)
        + slope * (wp.outer(n, y) + wp.outer(y, n))
        + (slope * h) * wp.identity(n=3, dtype=scalar)
    )
    return share


@wp.func
def piece_share(
    a: vec3, b: vec3, c: vec3, n: vec3, sides: vec3, logs: vec3, h: scalar, solid: scalar,
    area: scalar, d: vec3, reach: scalar,
):  # fmt: skip
    """The windowed sharp share of a piece, with its derivatives; ``logs`` are L over length.

    a, b, c run from the field point to the corners, d from the piece's centre to the point.
    """
    nu_ab = wp.cross(b - a, n)
    nu_bc = wp.cross(c - b, n)
    nu_ca = wp.cross(a - c, n)
    phi = (
        logs[0] * wp.dot(nu_ab, a)
        + logs[1] * wp.dot(nu_bc, b)
        + logs[2] * wp.dot(nu_ca, c)
        - h * solid
    )
    grad_phi = solid * n - logs[0] * nu_ab - logs[1] * nu_bc - logs[2] * nu_ca
    u = h * phi
    grad = h * grad_phi - phi * n
    hessian = h * (_bend(a, b, n, sides[0]) + _bend(b, c, n, sides[1]) + _bend(c, a, n, sides[2]))
    hessian -= wp.outer(n, grad_phi) + wp.outer(grad_phi, n)
    center = (a + b + c) / scalar(3.0)
    half = scalar(0.5)
    s0 = blunt_share(half * (a + center), n, scalar(BLUNT) / reach)
    s1 = blunt_share(half * (b + center), n, scalar(BLUNT) / reach)
    s2 = blunt_share(half * (c + center), n, scalar(BLUNT) / reach)
    third = area / scalar(6.0)
    u -= third * (s0.potential + s1.potential + s2.potential)
    grad -= third * (s0.acceleration + s1.acceleration + s2.acceleration)
    hessian -= third * (s0.gradient + s1.gradient + s2.gradient)
    r = wp.length(d)
    w = window(r, reach)
    share = Share()
    share.potential = w[0] * u
    share.acceleration = w[0] * grad
    share.gradient = w[0] * hessian
    if w[1] != scalar(0.0):
        e = d / r
        over_r = w[1] / r
        share.acceleration += (w[1] * u) * e
        share.gradient += w[1] * (wp.outer(e, grad) + wp.outer(grad, e))
        share.gradient += u * (
            (w[2] - over_r) * wp.outer(e, e) + over_r * wp.identity(n=3, dtype=scalar)
        )
    return share


@wp.struct
class NearLists:
    """For each block of space, the pieces whose windows reach into it."""

    corner: vec3  # of the grid of blocks [m]
    block: scalar  # side of a block [m]
    size: wp.vec3i  # blocks a side
    start: wp.array(dtype=int)  # (blocks + 1), places in ``piece``
    piece: wp.array(dtype=int)
    reach: scalar  # [m]


@functools.cache
def near_field(width: int) -> Any:
    """The sum over the pieces near a point, ``(patches, lists, x) -> FieldValue``."""
    term = facet_terms(width)
    lanes, angles = term.lanes, term.angles
    chosen_type = wp.types.vector(length=width, dtype=wp.int32)

    @wp.func
    def add_pieces(patches: Patches, reach: scalar, x: vec3, chosen: chosen_type, count: int, sum: Share):
        ax = lanes()
        ay = lanes()
        az = lanes()
        bx = lanes()
        by = lanes()
        bz = lanes()
        cx = lanes()
        cy = lanes()
        cz = lanes()
        nx = lanes()
        ny = lanes()
        nz = lanes()
        area = lanes()
        ab = lanes()
        bc = lanes()
        ca = lanes()
        for i in range(wp.static(width)):
            f = chosen[wp.min(i, count - 1)]
            a = patches.corner[f, 0] - x
            b = patches.corner[f, 1] - x
            c = patches.corner[f, 2] - x
            n = patches.normal[f]
            side = patches.length[f]
            ax[i] = a[0]
            ay[i] = a[1]
            az[i] = a[2]
            bx[i] = b[0]
            by[i] = b[1]
            bz[i] = b[2]
            cx[i] = c[0]
            cy[i] = c[1]
            cz[i] = c[2]
            nx[i] = n[0]
            ny[i] = n[1]
            nz[i] = n[2]
            area[i] = patches.area[f]
            ab[i] = side[0]
            bc[i] = side[1]
            ca[i] = side[2]
        t = angles(
            ax, ay, az, bx, by, bz, cx, cy, cz, nx, ny, nz, area, ab, bc, ca,
            patches.plane_tolerance,
        )  # fmt: skip
        for i in range(wp.static(width)):
            if i < count:
                share = piece_share(
                    vec3(ax[i], ay[i], az[i]),
                    vec3(bx[i], by[i], bz[i]),
                    vec3(cx[i], cy[i], cz[i]),
                    vec3(nx[i], ny[i], nz[i]),
                    vec3(ab[i], bc[i], ca[i]),
                    vec3(t.ab[i], t.bc[i], t.ca[i]),
                    t.height[i],
                    t.solid[i],
                    area[i],
                    x - patches.center[chosen[i]],
                    reach,
                )
                sum.potential += share.potential
                sum.acceleration += share.acceleration
                sum.gradient += share.gradient
        return sum

    @wp.func
    def near(patches: Patches, lists: NearLists, x: vec3):
        sum = Share()
        q = (x - lists.corner) / lists.block
        i = int(wp.floor(q[0]))
        j = int(wp.floor(q[1]))
        k = int(wp.floor(q[2]))
        inside = i >= 0 and j >= 0 and k >= 0
        if inside and i < lists.size[0] and j < lists.size[1] and k < lists.size[2]:
            b = (i * lists.size[1] + j) * lists.size[2] + k
            chosen = chosen_type()
            count = int(0)
            for place in range(lists.start[b], lists.start[b + 1]):
                f = lists.piece[place]
                if wp.length_sq(x - patches.center[f]) < lists.reach * lists.reach:
                    chosen[count] = f
                    count += 1
                    if count == wp.static(width):
                        sum = add_pieces(patches, lists.reach, x, chosen, count, sum)
                        count = int(0)
            if count > 0:
                sum = add_pieces(patches, lists.reach, x, chosen, count, sum)
        half = scalar(0.5) * patches.strength
        value = FieldValue()
        value.potential = half * sum.potential
        value.acceleration = half * sum.acceleration
        value.gradient = half * sum.gradient
        return value

    return near
