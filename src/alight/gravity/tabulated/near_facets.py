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
import scipy
import warp as wp

from alight.core import devices
from alight.core.checks import Array
from alight.core.types import mat33, scalar, vec3
from alight.gravity.lanes import arithmetic
from alight.gravity.law import FieldValue
from alight.gravity.polyhedron.terms import terms

#: Share of the reach on which a facet's sharp field is on in full.
PLATEAU = 0.6
#: Blunting: the kernel is erf(a r)/r with a = BLUNT / reach.
BLUNT = 3.15
#: Least reach in units of a piece's size: the blunt kernel's polynomial holds up to there.
LEAST_REACH = 3.0
#: Powers of (a r)^2 in the blunt kernel erf(z)/z, which is even and entire. Where the polynomial
#: errs it does so in the table and in the simulation alike, and the two cancel.
_BLUNT_TERMS = 13
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
        return np.asarray(scipy.special.erf(z) / z)

    fit = np.polynomial.Chebyshev.interpolate(ratio, _BLUNT_TERMS - 1, domain=[0.0, _BLUNT_END])
    return fit.convert(kind=np.polynomial.Polynomial, domain=[-1, 1], window=[-1, 1]).coef


blunt_table = wp.types.vector(length=_BLUNT_TERMS, dtype=scalar)
BLUNT_POWERS = wp.constant(blunt_table(*_blunt_powers()))


@wp.func
def blunt_kernel(t: scalar):
    """erf(z)/z at t = z^2, with its first two derivatives in t."""
    f = BLUNT_POWERS[wp.static(_BLUNT_TERMS - 1)]
    d = scalar(0.0)
    bent = scalar(0.0)
    for k in range(1, wp.static(_BLUNT_TERMS)):
        bent = bent * t + scalar(2.0) * d
        d = d * t + f
        f = f * t + BLUNT_POWERS[wp.static(_BLUNT_TERMS - 1) - k]
    return vec3(f, d, bent)


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
    lanes, edge_logarithm, facet_angle = term.lanes, term.edge_logarithm, term.facet_angle
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
        product = wp.cw_mul(ra, wp.cw_mul(rb, rc))
        denominator = (
            product
            + wp.cw_mul(ra, dot(bx, by, bz, cx, cy, cz))
            + wp.cw_mul(rb, dot(ax, ay, az, cx, cy, cz))
            + wp.cw_mul(rc, dot(ax, ay, az, bx, by, bz))
        )
        weight = wp.cw_div(lanes(scalar(1.0)), wp.cw_mul(area, area))
        out.height = height
        out.solid = facet_angle(wp.cw_mul(area, height), denominator, product, weight, on_plane)
        out.ab = wp.cw_div(edge_logarithm(ax, ay, az, ra, bx, by, bz, rb, ab, on_plane), ab)
        out.bc = wp.cw_div(edge_logarithm(bx, by, bz, rb, cx, cy, cz, rc, bc, on_plane), bc)
        out.ca = wp.cw_div(edge_logarithm(cx, cy, cz, rc, ax, ay, az, ra, ca, on_plane), ca)
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
        share_phi = (
            side_term(ax, ay, az, b - a, n, t.ab)
            + side_term(bx, by, bz, c - b, n, t.bc)
            + side_term(cx, cy, cz, a - c, n, t.ca)
            - wp.cw_mul(t.height, t.solid)
        )
        return wp.cw_mul(t.height, share_phi)

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
    def blunt_potential(patches: Patches, f: int, reach: scalar, px: lanes, py: lanes, pz: lanes):
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
def _turn_rate(a: vec3, b: vec3, ra: scalar, rb: scalar, side: scalar, on_edge: scalar):
    """1 / (r1 r2 + r1.r2), right also close to the side ab; 0 on it.

    On the side the gradient has a pole; between two pieces of one facet, where it has none, the
    poles of the two must be left out alike.
    """
    cosine = wp.dot(a, b)
    value = ra * rb + cosine
    distance = wp.min(ra * ra, rb * rb)
    if cosine < scalar(0.0):
        k = wp.cross(a, b)
        across = wp.dot(k, k)
        value = across / (ra * rb - cosine)
        distance = wp.min(distance, across / (side * side))
    result = scalar(0.0)
    if distance > on_edge:
        result = scalar(1.0) / value
    return result


@wp.func
def _bend(p: vec3, q: vec3, n: vec3, side: scalar, on_edge: scalar):
    """A side's part of the gradient of grad Phi: n (grad omega)^T - nu (grad L)^T."""
    rp = wp.length(p)
    rq = wp.length(q)
    rate = _turn_rate(p, q, rp, rq, side, on_edge)
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


@wp.struct
class Triangle:
    """A piece seen from a field point: vectors to its corners, and its angles there."""

    a: vec3
    b: vec3
    c: vec3
    n: vec3  # unit normal
    sides: vec3  # lengths ab, bc, ca [m]
    logs: vec3  # L of each side over its length [1/m]
    height: scalar  # h [m]
    solid: scalar  # signed solid angle
    area: scalar  # twice the area [m^2]


_single = facet_terms(1)
_one = _single.lanes


@wp.func
def look(patches: Patches, f: int, x: vec3):
    """Piece f as seen from x."""
    t = Triangle()
    t.a = patches.corner[f, 0] - x
    t.b = patches.corner[f, 1] - x
    t.c = patches.corner[f, 2] - x
    t.n = patches.normal[f]
    t.sides = patches.length[f]
    t.area = patches.area[f]
    s = _single.angles(
        _one(t.a[0]), _one(t.a[1]), _one(t.a[2]),
        _one(t.b[0]), _one(t.b[1]), _one(t.b[2]),
        _one(t.c[0]), _one(t.c[1]), _one(t.c[2]),
        _one(t.n[0]), _one(t.n[1]), _one(t.n[2]),
        _one(t.area), _one(t.sides[0]), _one(t.sides[1]), _one(t.sides[2]),
        patches.plane_tolerance,
    )  # fmt: skip
    t.logs = vec3(s.ab[0], s.bc[0], s.ca[0])
    t.height = s.height[0]
    t.solid = s.solid[0]
    return t


@wp.func
def exact_share(t: Triangle):
    """h Phi and its gradient; the Hessian is left to ``exact_bend``."""
    nu_ab = wp.cross(t.b - t.a, t.n)
    nu_bc = wp.cross(t.c - t.b, t.n)
    nu_ca = wp.cross(t.a - t.c, t.n)
    share_phi = (
        t.logs[0] * wp.dot(nu_ab, t.a)
        + t.logs[1] * wp.dot(nu_bc, t.b)
        + t.logs[2] * wp.dot(nu_ca, t.c)
        - t.height * t.solid
    )
    grad_phi = t.solid * t.n - t.logs[0] * nu_ab - t.logs[1] * nu_bc - t.logs[2] * nu_ca
    share = Share()
    share.potential = t.height * share_phi
    share.acceleration = t.height * grad_phi - share_phi * t.n
    share.gradient = -(wp.outer(t.n, grad_phi) + wp.outer(grad_phi, t.n))
    return share


@wp.func
def exact_bend(t: Triangle, on_edge: scalar):
    """What is left of the Hessian of h Phi: h times that of Phi."""
    bend = _bend(t.a, t.b, t.n, t.sides[0], on_edge)
    bend += _bend(t.b, t.c, t.n, t.sides[1], on_edge)
    bend += _bend(t.c, t.a, t.n, t.sides[2], on_edge)
    return t.height * bend


@wp.struct
class NearLists:
    """For each block of space, the pieces whose windows reach into it."""

    corner: vec3  # of the grid of blocks [m]
    block: scalar  # side of a block [m]
    size: wp.vec3i  # blocks a side
    start: wp.array(dtype=int)  # (blocks + 1), places in ``piece``
    piece: wp.array(dtype=int)
    reach: scalar  # [m]


@wp.func
def block_at(lists: NearLists, x: vec3):
    """The block that holds x, or -1."""
    q = (x - lists.corner) / lists.block
    i = int(wp.floor(q[0]))
    j = int(wp.floor(q[1]))
    k = int(wp.floor(q[2]))
    result = int(-1)
    above = i >= 0 and j >= 0 and k >= 0
    if above and i < lists.size[0] and j < lists.size[1] and k < lists.size[2]:
        result = (i * lists.size[1] + j) * lists.size[2] + k
    return result


@functools.cache
def near_field(with_gradient: bool) -> Any:
    """The sharp shares of the pieces near a point, ``(patches, lists, x) -> FieldValue``.

    Without the gradient a piece costs a third less; a compiler does not find that by itself.
    """

    @wp.func
    def sharp_share(t: Triangle, reach: scalar, on_edge: scalar):
        """A piece's share with the blunt one taken off."""
        share = exact_share(t)
        if wp.static(with_gradient):
            share.gradient += exact_bend(t, on_edge)
        middle = (t.a + t.b + t.c) / scalar(6.0)
        third = t.area / scalar(6.0)
        sharpness = scalar(BLUNT) / reach
        for i in range(3):
            y = wp.where(i == 0, t.a, wp.where(i == 1, t.b, t.c))
            blunt = blunt_share(scalar(0.5) * y + middle, t.n, sharpness)
            share.potential -= third * blunt.potential
            share.acceleration -= third * blunt.acceleration
            if wp.static(with_gradient):
                share.gradient -= third * blunt.gradient
        return share

    @wp.func
    def windowed(share: Share, d: vec3, reach: scalar):
        """A share under its window; d runs from the piece's centre to the point."""
        r = wp.length(d)
        w = window(r, reach)
        result = Share()
        result.potential = w[0] * share.potential
        result.acceleration = w[0] * share.acceleration
        result.gradient = w[0] * share.gradient
        if w[1] != scalar(0.0):
            unit = d / r
            u = share.potential
            result.acceleration += (w[1] * u) * unit
            if wp.static(with_gradient):
                g = share.acceleration
                over_r = w[1] / r
                result.gradient += w[1] * (wp.outer(unit, g) + wp.outer(g, unit))
                result.gradient += (u * (w[2] - over_r)) * wp.outer(unit, unit)
                result.gradient += (u * over_r) * wp.identity(n=3, dtype=scalar)
        return result

    @wp.func
    def near(patches: Patches, lists: NearLists, x: vec3):
        value = FieldValue()
        block = block_at(lists, x)
        if block >= 0:
            for place in range(lists.start[block], lists.start[block + 1]):
                f = lists.piece[place]
                d = x - patches.center[f]
                if wp.length_sq(d) < lists.reach * lists.reach:
                    t = look(patches, f, x)
                    sharp = sharp_share(t, lists.reach, patches.plane_tolerance)
                    share = windowed(sharp, d, lists.reach)
                    value.potential += share.potential
                    value.acceleration += share.acceleration
                    if wp.static(with_gradient):
                        value.gradient += share.gradient
            half = scalar(0.5) * patches.strength
            value.potential *= half
            value.acceleration *= half
            value.gradient *= half
        return value

    return near
