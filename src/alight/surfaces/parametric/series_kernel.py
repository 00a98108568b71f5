"""A radius series in a kernel: r(n) with first and second derivatives in one pass, no pole.

On unit directions n = (x, y, z) a real series of spherical harmonics is the polynomial

    r = sum over m of  C_m(z) Re (x + i y)^m + S_m(z) Im (x + i y)^m

(`shapes.radius_series.harmonics`). C_m, S_m and their z derivatives are sums over one column of
Legendre derivatives: those of order m weigh column m, their first z derivatives column m + 1 and
their second ones column m + 2. So column m, walked once, gives six sums: value of order m, slope of
order m - 1, second slope of order m - 2. Powers of x + i y of those three orders are carried along.
Nothing is divided by the distance to the axis, and nothing is kept in arrays.

Columns are scaled so that their first terms are 1 and each next one begins with z times the last:

    q[l] = z q[l-1] - b[l] q[l-2]

which takes one table and two operations a term; the scales are put into the weights. Relative
errors do not feel a scale.
"""

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.core.types import mat33, scalar, vec3
from alight.shapes.radius_series import harmonics
from alight.shapes.radius_series.series import HarmonicSeries
from alight.surfaces.law import SurfaceBend, SurfacePoint

#: A term of the table, one line of cache: b of the next term, then weights of the six sums:
#: cosine and sine part of the value, of the slope, and of the second slope along z.
Term = wp.types.vector(length=8, dtype=scalar)


@wp.struct
class SeriesData:
    """Degree of the series, and its terms in columns m = 0, 1, ... of l = m ... degree [m]."""

    degree: int
    terms: wp.array(dtype=Term)


def series_data(series: HarmonicSeries, device: devices.Device) -> SeriesData:
    """The series as the kernel reads it."""
    data = SeriesData()
    data.degree = series.degree
    data.terms = wp.array(table(series), dtype=Term, device=device.name)
    return data


def table(series: HarmonicSeries) -> npt.NDArray[np.float64]:
    """Rows of ``Term``."""
    degree = series.degree
    a, b, diagonal = harmonics.recursion(degree)
    rows = []
    for m, weights in enumerate(harmonics.column_weights(series.coefficients)):
        count = degree + 1 - m
        column = np.zeros((count, 8))
        scale = diagonal[m] * np.cumprod(np.r_[1.0, a[m + 1 :, m]])
        column[:, 1:7] = (weights * scale).T
        # In scaled terms b[l] q[l-2] loses the factors a of the last two steps.
        column[1:-1, 0] = b[m + 2 :, m] / (a[m + 2 :, m] * a[m + 1 : -1, m])
        rows.append(column)
    return np.concatenate(rows)


@wp.struct
class Radius:
    """Radius [m] towards a direction, with the derivatives of r(x/|x|) at |x| = 1."""

    value: scalar
    gradient: vec3
    hessian: mat33


@wp.func
def series_slope(data: SeriesData, n: vec3):
    """Radius and gradient towards the unit vector n; the Hessian is left at zero."""
    value = scalar(0.0)
    gx, gy, gz = scalar(0.0), scalar(0.0), scalar(0.0)
    re, im = scalar(1.0), scalar(0.0)  # (x + i y)^m, and of m - 1
    re1, im1 = scalar(0.0), scalar(0.0)
    k = int(0)
    for m in range(data.degree + 1):
        q, last = scalar(1.0), scalar(0.0)
        c0, s0, c1, s1 = scalar(0.0), scalar(0.0), scalar(0.0), scalar(0.0)
        for _l in range(m, data.degree + 1):
            term = data.terms[k]
            c0 += q * term[1]
            s0 += q * term[2]
            c1 += q * term[3]
            s1 += q * term[4]
            ahead = n[2] * q - term[0] * last
            last = q
            q = ahead
            k += 1
        fm = scalar(m)
        value += c0 * re + s0 * im
        gx += fm * (c0 * re1 + s0 * im1)
        gy += fm * (s0 * re1 - c0 * im1)
        gz += c1 * re1 + s1 * im1
        re1 = re
        im1 = im
        re = n[0] * re1 - n[1] * im1
        im = n[0] * im1 + n[1] * re1
    found = Radius()
    found.value = value
    g = vec3(gx, gy, gz)
    found.gradient = g - wp.dot(n, g) * n
    return found


@wp.func
def series_bend(data: SeriesData, n: vec3):
    """Radius, gradient and Hessian towards the unit vector n."""
    value = scalar(0.0)
    gx, gy, gz = scalar(0.0), scalar(0.0), scalar(0.0)
    hxx, hxy, hxz = scalar(0.0), scalar(0.0), scalar(0.0)
    hyz, hzz = scalar(0.0), scalar(0.0)
    re, im = scalar(1.0), scalar(0.0)  # (x + i y)^m, and of m - 1 and m - 2
    re1, im1, re2, im2 = scalar(0.0), scalar(0.0), scalar(0.0), scalar(0.0)
    k = int(0)
    for m in range(data.degree + 1):
        q, last = scalar(1.0), scalar(0.0)
        c0, s0, c1, s1 = scalar(0.0), scalar(0.0), scalar(0.0), scalar(0.0)
        c2, s2 = scalar(0.0), scalar(0.0)
        for _l in range(m, data.degree + 1):
            term = data.terms[k]
            c0 += q * term[1]
            s0 += q * term[2]
            c1 += q * term[3]
            s1 += q * term[4]
            c2 += q * term[5]
            s2 += q * term[6]
            ahead = n[2] * q - term[0] * last
            last = q
            q = ahead
            k += 1
        # d (x + i y)^m / dx = m (x + i y)^(m - 1), and d / dy is i times that.
        fm = scalar(m)
        less = fm - scalar(1.0)
        value += c0 * re + s0 * im
        gx += fm * (c0 * re1 + s0 * im1)
        gy += fm * (s0 * re1 - c0 * im1)
        gz += c1 * re1 + s1 * im1
        hxx += fm * less * (c0 * re2 + s0 * im2)
        hxy += fm * less * (s0 * re2 - c0 * im2)
        hxz += less * (c1 * re2 + s1 * im2)
        hyz += less * (s1 * re2 - c1 * im2)
        hzz += c2 * re2 + s2 * im2
        re2 = re1
        im2 = im1
        re1 = re
        im1 = im
        re = n[0] * re1 - n[1] * im1
        im = n[0] * im1 + n[1] * re1
    h = mat33(hxx, hxy, hxz, hxy, -hxx, hyz, hxz, hyz, hzz)
    return on_sphere(n, value, vec3(gx, gy, gz), h)


@wp.func
def on_sphere(n: vec3, value: scalar, g: vec3, h: mat33):
    """Derivatives of E(x/|x|) at |x| = 1 from those of the polynomial E in space.

    With P = 1 - n n^T: gradient P g; Hessian P h P - (n.g) P - n (P g)^T - (P g) n^T.
    """
    radial = wp.dot(n, g)
    tangent = g - radial * n
    hn = h * n
    mixed = hn + tangent
    found = Radius()
    found.value = value
    found.gradient = tangent
    # P h P = h - n (hn)^T - (hn) n^T + (n.hn) n n^T; a matrix and its transpose add up to one that
    # is symmetric to the last bit.
    half = (
        scalar(0.5) * (h - radial * wp.identity(n=3, dtype=scalar))
        - wp.outer(n, mixed)
        + scalar(0.5) * (wp.dot(n, hn) + radial) * wp.outer(n, n)
    )
    found.hessian = half + wp.transpose(half)
    return found


@wp.func
def direction_of(x: vec3, length: scalar):
    """x/|x|; +z where x is zero."""
    up = vec3(scalar(0.0), scalar(0.0), scalar(1.0))
    return wp.where(length > scalar(0.0), x / length, up)


@wp.struct
class ParametricData:
    """A series, and where its radii begin [m]."""

    series: SeriesData
    center: vec3


@wp.func
def parametric_point(data: ParametricData, x: vec3):
    """d = |x| - r(x/|x|), gradient n - dr/|x|, x from the centre; there the gradient is +z."""
    place = x - data.center
    length = wp.length(place)
    n = direction_of(place, length)
    r = series_slope(data.series, n)
    found = SurfacePoint()
    found.distance = length - r.value
    found.gradient = n
    if length > scalar(0.0):
        found.gradient = n - r.gradient / length
    found.normal = wp.normalize(found.gradient)
    return found


@wp.func
def parametric_bend(data: ParametricData, x: vec3):
    """The same, and its Hessian (1 - n n^T)/|x| - d2r/|x|^2; at the centre itself zero."""
    place = x - data.center
    length = wp.length(place)
    n = direction_of(place, length)
    r = series_bend(data.series, n)
    found = SurfaceBend()
    found.distance = length - r.value
    found.gradient = n
    found.hessian = mat33(scalar(0.0))
    if length > scalar(0.0):
        over = scalar(1.0) / length
        found.gradient = n - over * r.gradient
        across = wp.identity(n=3, dtype=scalar) - wp.outer(n, n)
        found.hessian = over * (across - over * r.hessian)
    return found
