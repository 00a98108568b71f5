"""The closed-form field of a homogeneous polyhedron, summed over its facets and edges.

Werner and Scheeres (1997); equations 7-13 of paper 000 with errata 000-5 to 000-7.
With ``r`` the vector from the field point to a facet's or edge's point, all divided by G rho:

    U     = 1/2 [ sum_e L_e r.E_e r - sum_f w_f r.F_f r ]
    g     =     - sum_e L_e E_e r   + sum_f w_f F_f r
    Gamma =       sum_e L_e E_e     - sum_f w_f F_f

where L_e is the edge's logarithm and w_f the facet's solid angle. Three forms make the sums
quick and right everywhere:

* ``N = 2 A n``, the facet's normal times twice its area, is all a facet needs: the numerator of
  tan(w_f / 2) is ``N.r``, and ``F = N N^T / |N|^2``.
* ``L = 2 atanh(e / (r1 + r2))`` and ``w = 2 atan(numerator / denominator)`` have small arguments
  for all but the nearest facets: there a short series stands in, free of branches.
* For the nearest edges the logarithm's small difference ``r1 + r2 - e`` comes from a cross
  product instead of a subtraction, so the field keeps its digits down to the edge itself. On the
  edge ``L`` multiplies zero in U and g (r ln r -> 0) and is taken as 0. On a facet's own plane
  ``w = 0``: the mean of its limits +-2 pi, so the Laplacian on a face is that of half a ball.
  *On* means nearer than the rounding of the coordinates: computed exactly, the logarithm at an
  edge's midpoint would be anything from 0 to 80, and the solid angle anything within +-2 pi.
"""

import functools
import types

import numpy as np
import warp as wp

from alight.core.types import scalar, vec3
from alight.gravity.lanes import arithmetic

vec6 = wp.types.vector(length=6, dtype=scalar)

#: Arguments up to this one are summed by series, larger ones by the exact functions.
SERIES_LIMIT = 1.0 / 3.0
SERIES_TERMS = 11
#: Below this times r1 r2 r3, the denominator of a solid angle may be rounding and nothing else.
DENOMINATOR_NOISE = 1e-13


@wp.struct
class PolyhedronTerms:
    """A polyhedron's facets and edges, ready to be summed."""

    corner: wp.array(dtype=vec3, ndim=2)  # (facet, 3) corners [m]
    normal: wp.array(dtype=vec3)  # N, normal times twice the area [m^2]
    weight: wp.array(dtype=scalar)  # 1 / |N|^2 [1/m^4]
    owned: wp.array(dtype=wp.vec3i)  # edges a facet sums for its neighbours too, or -1
    dyad: wp.array(dtype=vec6)  # E_e: xx, yy, zz, xy, xz, yz
    length: wp.array(dtype=scalar)  # e [m]
    plane_tolerance: scalar  # squared distance of points that are on a plane or edge [m^2]


def odd_coefficients(sign: float, end: float, terms: int) -> tuple[float, ...]:
    """Coefficients c of ``2 f(x) = x (c0 + c1 x^2 + ...)`` for ``x^2 <= end``, right to rounding.

    f is atanh (``sign`` +1) or atan (-1). c0 = 2 is exact, so that distant facets carry no bias;
    what follows interpolates the rest, ``2 (f(x)/x - 1) / x^2``, at Chebyshev's points.
    """

    def rest(z: np.ndarray) -> np.ndarray:
        k = np.arange(30.0)[:, None]  # of its Taylor series; enough for z up to 1/4
        return np.asarray((2.0 * sign ** (k + 1) * z**k / (2.0 * k + 3.0)).sum(axis=0))

    fit = np.polynomial.Chebyshev.interpolate(rest, terms - 2, domain=[0.0, end])
    power = fit.convert(kind=np.polynomial.Polynomial, domain=[-1, 1], window=[-1, 1])
    return (2.0, *(float(c) for c in power.coef))


@functools.cache
def terms(width: int) -> types.SimpleNamespace:
    """The sums over a polyhedron for ``width`` field points abreast."""
    lane = arithmetic(width)
    lanes, root, dot = lane.lanes, lane.root, lane.dot
    end = SERIES_LIMIT**2
    twice_atanh = lane.odd_series(odd_coefficients(1.0, end, SERIES_TERMS))
    twice_atan = lane.odd_series(odd_coefficients(-1.0, end, SERIES_TERMS))
    limit = wp.constant(scalar(SERIES_LIMIT))
    inverse_limit = wp.constant(scalar(1.0 / SERIES_LIMIT))
    noise = wp.constant(scalar(DENOMINATOR_NOISE))
    zero = wp.constant(scalar(0.0))
    two = wp.constant(scalar(2.0))

    @wp.struct
    class FieldSums:
        u: lanes
        gx: lanes
        gy: lanes
        gz: lanes
        xx: lanes
        yy: lanes
        zz: lanes
        xy: lanes
        xz: lanes
        yz: lanes

    @wp.func
    def near_logarithm(a: vec3, b: vec3, ra: scalar, rb: scalar, length: scalar, on_edge: scalar):
        """L of an edge close to the field point, without the subtraction r1 + r2 - length."""
        s = ra + rb + length
        cosine = wp.dot(a, b)
        over = s * s
        under = two * (ra * rb + cosine)
        distance = wp.min(ra * ra, rb * rb)
        if cosine < zero:
            k = wp.cross(a, b)
            across = wp.dot(k, k)
            over *= ra * rb - cosine
            under = two * across
            distance = wp.min(distance, across / (length * length))
        result = zero
        if distance > on_edge:
            result = wp.log(over / under)
        return result

    @wp.func
    def edge_logarithm(
        ax: lanes, ay: lanes, az: lanes, ra: lanes,
        bx: lanes, by: lanes, bz: lanes, rb: lanes, length: lanes, on_edge: scalar,
    ):  # fmt: skip
        x = wp.cw_div(length, ra + rb)
        result = twice_atanh(x)
        if wp.max(x) > limit:
            for i in range(wp.static(width)):
                if x[i] > limit:
                    a = vec3(ax[i], ay[i], az[i])
                    b = vec3(bx[i], by[i], bz[i])
                    result[i] = near_logarithm(a, b, ra[i], rb[i], length[i], on_edge)
        return result

    @wp.func
    def facet_angle(
        numerator: lanes, denominator: lanes, product: lanes, weight: lanes, on_plane: scalar
    ):
        result = twice_atan(wp.cw_div(numerator, denominator))
        # The series holds where |numerator| < limit * denominator, and the denominator is more
        # than the rounding that is left of it at an edge; both are false at 0 / 0.
        exact = inverse_limit * wp.abs(numerator) + noise * product - denominator
        if wp.max(exact) >= zero:
            for i in range(wp.static(width)):
                if exact[i] >= zero:
                    n = numerator[i]
                    result[i] = two * wp.atan2(n, denominator[i])
                    if n * n * weight[i] <= on_plane:
                        result[i] = zero
        return result

    @wp.func
    def add_edge(sums: FieldSums, dyad: vec6, L: lanes, rx: lanes, ry: lanes, rz: lanes):
        ex = wp.cw_mul(dyad[0] * rx + dyad[3] * ry + dyad[4] * rz, L)
        ey = wp.cw_mul(dyad[3] * rx + dyad[1] * ry + dyad[5] * rz, L)
        ez = wp.cw_mul(dyad[4] * rx + dyad[5] * ry + dyad[2] * rz, L)
        sums.gx -= ex
        sums.gy -= ey
        sums.gz -= ez
        sums.u += dot(rx, ry, rz, ex, ey, ez)
        sums.xx += dyad[0] * L
        sums.yy += dyad[1] * L
        sums.zz += dyad[2] * L
        sums.xy += dyad[3] * L
        sums.xz += dyad[4] * L
        sums.yz += dyad[5] * L
        return sums

    @wp.func
    def add_facet(sums: FieldSums, N: vec3, numerator: lanes, w: lanes):
        """Add a facet; ``w`` is its solid angle over |N|^2."""
        hw = wp.cw_mul(numerator, w)
        sums.gx += N[0] * hw
        sums.gy += N[1] * hw
        sums.gz += N[2] * hw
        sums.u -= wp.cw_mul(numerator, hw)
        sums.xx -= (N[0] * N[0]) * w
        sums.yy -= (N[1] * N[1]) * w
        sums.zz -= (N[2] * N[2]) * w
        sums.xy -= (N[0] * N[1]) * w
        sums.xz -= (N[0] * N[2]) * w
        sums.yz -= (N[1] * N[2]) * w
        return sums

    @wp.func
    def sum_facets(body: PolyhedronTerms, px: lanes, py: lanes, pz: lanes):
        """The sums over all facets and edges at the points (px, py, pz)."""
        sums = FieldSums()
        for f in range(body.normal.shape[0]):
            a = body.corner[f, 0]
            b = body.corner[f, 1]
            c = body.corner[f, 2]
            ax = lanes(a[0]) - px
            ay = lanes(a[1]) - py
            az = lanes(a[2]) - pz
            bx = lanes(b[0]) - px
            by = lanes(b[1]) - py
            bz = lanes(b[2]) - pz
            cx = lanes(c[0]) - px
            cy = lanes(c[1]) - py
            cz = lanes(c[2]) - pz
            ra = root(dot(ax, ay, az, ax, ay, az))
            rb = root(dot(bx, by, bz, bx, by, bz))
            rc = root(dot(cx, cy, cz, cx, cy, cz))
            N = body.normal[f]
            weight = body.weight[f]
            numerator = N[0] * ax + N[1] * ay + N[2] * az
            product = wp.cw_mul(ra, wp.cw_mul(rb, rc))
            denominator = (
                product
                + wp.cw_mul(ra, dot(bx, by, bz, cx, cy, cz))
                + wp.cw_mul(rb, dot(ax, ay, az, cx, cy, cz))
                + wp.cw_mul(rc, dot(ax, ay, az, bx, by, bz))
            )
            w = facet_angle(numerator, denominator, product, lanes(weight), body.plane_tolerance)
            sums = add_facet(sums, N, numerator, weight * w)
            owned = body.owned[f]
            if owned[0] >= 0:
                edge = owned[0]
                L = edge_logarithm(
                    ax, ay, az, ra, bx, by, bz, rb, lanes(body.length[edge]), body.plane_tolerance
                )
                sums = add_edge(sums, body.dyad[edge], L, ax, ay, az)
            if owned[1] >= 0:
                edge = owned[1]
                L = edge_logarithm(
                    bx, by, bz, rb, cx, cy, cz, rc, lanes(body.length[edge]), body.plane_tolerance
                )
                sums = add_edge(sums, body.dyad[edge], L, bx, by, bz)
            if owned[2] >= 0:
                edge = owned[2]
                L = edge_logarithm(
                    cx, cy, cz, rc, ax, ay, az, ra, lanes(body.length[edge]), body.plane_tolerance
                )
                sums = add_edge(sums, body.dyad[edge], L, cx, cy, cz)
        return sums

    return types.SimpleNamespace(
        lanes=lanes,
        Sums=FieldSums,
        sum_facets=sum_facets,
        edge_logarithm=edge_logarithm,
        facet_angle=facet_angle,
    )
