"""The exterior multipole series of a body: what its gravity becomes a few radii away.

With V and W the irregular solid harmonics about the body's centre of mass, scaled by a radius R
(Cunningham's recursions, as in Montenbruck and Gill, Satellite Orbits, section 3.2):

    U = GM/R sum_nm ( C_nm V_nm + S_nm W_nm ),        r > R

A derivative of V or W is again a sum of harmonics one degree higher, so U, its three first and
its six second derivatives are ten sums over the same harmonics, with coefficients made once on
the host. The moments C and S of a mesh are exact: a homogeneous polynomial over the tetrahedron
between a facet and the centre reduces to Gauss quadrature over the facet.
"""

import functools
import math
from typing import Any

import numpy as np
import scipy
import warp as wp

from alight.core import devices
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.core.types import mat33, scalar, vec3, vec4
from alight.gravity.law import FieldValue, Gravity
from alight.shapes.mesh import Mesh

_BLOCK = wp.constant(512)  # facets an item integrates
#: The ten outputs: U, its gradient, and the upper triangle of its Hessian.
_OUTPUTS = 10
ten = wp.types.vector(length=_OUTPUTS, dtype=scalar)


@wp.struct
class Data:
    """Ten coefficients of each harmonic up to two degrees above the series'."""

    center: vec3  # [m]
    radius: scalar  # R [m]
    top: int  # highest degree of a harmonic
    inverse: wp.array(dtype=scalar)  # 1/k: divisions would take half the time
    c: wp.array(dtype=ten)  # factors GM/R^k included
    s: wp.array(dtype=ten)
    c_four: wp.array(dtype=vec4)  # the first four of the ten: U and its gradient
    s_four: wp.array(dtype=vec4)


def index(n: int, m: int) -> int:
    """Place of harmonic (n, m) in a coefficient row."""
    return n * (n + 1) // 2 + m


def _ten_rows(C: Array, S: Array, degree: int, gm: float, radius: float) -> tuple[Array, Array]:
    """Coefficients of U, its gradient and its Hessian, padded to degree + 2."""
    first = _derivatives(C, S, degree)
    second = [_derivatives(*first[i], degree + 1) for i in range(3)]
    rows = [(C, S), *first]
    rows += [second[i][j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    orders = [1] + 3 * [2] + 6 * [3]
    c = np.zeros((index(degree + 3, 0), _OUTPUTS))
    s = np.zeros_like(c)
    for k, ((a, b), order) in enumerate(zip(rows, orders, strict=True)):
        c[: len(a), k] = a * gm / radius**order
        s[: len(b), k] = b * gm / radius**order
    return c, s


def _derivatives(C: Array, S: Array, degree: int) -> list[tuple[Array, Array]]:
    """Coefficients of R d/dx, R d/dy, R d/dz of a series (Montenbruck and Gill, eq. 3.33)."""
    size = index(degree + 2, 0)
    out = [(np.zeros(size), np.zeros(size)) for _ in range(3)]
    (cx, sx), (cy, sy), (cz, sz) = out
    for n in range(degree + 1):
        for m in range(n + 1):
            a, b, up = C[index(n, m)], S[index(n, m)], index(n + 1, m + 1)
            b = 0.0 if m == 0 else b  # W_n0 is zero, whatever an earlier derivative left there
            weight = 1.0 if m == 0 else 0.5
            cx[up] -= weight * a
            sx[up] -= weight * b
            cy[up] += weight * b
            sy[up] -= weight * a
            cz[index(n + 1, m)] -= (n - m + 1) * a
            sz[index(n + 1, m)] -= (n - m + 1) * b
            if m > 0:
                down, f = index(n + 1, m - 1), 0.5 * (n - m + 2) * (n - m + 1)
                cx[down] += f * a
                sx[down] += f * b
                cy[down] += f * b
                sy[down] -= f * a
    return out


@functools.cache
def multipole_field(with_gradient: bool) -> Any:
    """The law at one point, ``(data, x) -> FieldValue``; four outputs cost half of ten.

    Its loops stay loops: unrolled they take a minute to compile.
    """

    @wp.func
    def field(data: Data, x: vec3):
        r = x - data.center
        square = wp.length_sq(r)
        q = data.radius / square
        p = q * r
        tail = data.radius * q
        v_diagonal = data.radius / wp.sqrt(square)
        w_diagonal = scalar(0.0)
        sums = ten()
        four = vec4()
        top = data.top
        if wp.static(not with_gradient):
            top = data.top - 1
        for m in range(top + 1):
            if m > 0:
                f = scalar(2 * m - 1)
                v = f * (p[0] * v_diagonal - p[1] * w_diagonal)
                w_diagonal = f * (p[0] * w_diagonal + p[1] * v_diagonal)
                v_diagonal = v
            v_now = v_diagonal
            w_now = w_diagonal
            v_last = scalar(0.0)
            w_last = scalar(0.0)
            for n in range(m, top + 1):
                row = n * (n + 1) // 2 + m
                if wp.static(with_gradient):
                    sums += v_now * data.c[row] + w_now * data.s[row]
                else:
                    four += v_now * data.c_four[row] + w_now * data.s_four[row]
                # (n+1-m) V_n+1,m = (2n+1) z R/r^2 V_nm - (n+m) R^2/r^2 V_n-1,m
                g = data.inverse[n + 1 - m]
                a = g * scalar(2 * n + 1) * p[2]
                b = g * scalar(n + m) * tail
                v = a * v_now - b * v_last
                w = a * w_now - b * w_last
                v_last = v_now
                w_last = w_now
                v_now = v
                w_now = w
        value = FieldValue()
        if wp.static(with_gradient):
            value.potential = sums[0]
            value.acceleration = vec3(sums[1], sums[2], sums[3])
            value.gradient = mat33(
                sums[4], sums[7], sums[8],
                sums[7], sums[5], sums[9],
                sums[8], sums[9], sums[6],
            )  # fmt: skip
        else:
            value.potential = four[0]
            value.acceleration = vec3(four[1], four[2], four[3])
        return value

    return field


class Multipole(Gravity):
    """A truncated exterior series of a body; diverges inside the sphere of radius ``radius``.

    ``gm`` [m^3/s^2]; ``radius`` and ``center`` [m]; ``C`` and ``S`` have no unit.
    """

    Data = Data
    field = multipole_field(True)
    flight = multipole_field(False)

    def __init__(self, gm: float, radius: float, center: Array, C: Array, S: Array) -> None:
        self.gm, self.radius = float(gm), float(radius)
        self.center = np.asarray(center, dtype=float)
        self.C, self.S = np.asarray(C, float), np.asarray(S, float)
        self.degree = (math.isqrt(8 * len(self.C) + 1) - 3) // 2

    @classmethod
    def from_mesh(cls, mesh: Mesh, *, gm: float, degree: int = 8) -> "Multipole":
        """The series of a homogeneous mesh about its centre of mass, moments exact."""
        if not isinstance(degree, (int, np.integer)) or not 0 <= degree <= 40:
            raise InputError(f"degree is {degree!r}; a multipole series takes 0 to 40")
        center = mesh.center_of_mass
        radius = float(np.linalg.norm(mesh.vertices - center, axis=1).max())
        C, S = _moments(mesh, center, radius, degree)
        return cls(gm, radius, center, C, S)

    def data(self, device: devices.Device) -> Any:
        """The ten coefficient rows on ``device``."""
        c, s = _ten_rows(self.C, self.S, self.degree, self.gm, self.radius)
        data = Data()
        data.center = vec3(*self.center)
        data.radius = self.radius
        data.top = self.degree + 2
        with np.errstate(divide="ignore"):
            inverse = 1.0 / np.arange(data.top + 2.0)
        data.inverse = wp.array(inverse, dtype=scalar, device=device.name)
        data.c = wp.array(c, dtype=ten, device=device.name)
        data.s = wp.array(s, dtype=ten, device=device.name)
        data.c_four = wp.array(np.ascontiguousarray(c[:, :4]), dtype=vec4, device=device.name)
        data.s_four = wp.array(np.ascontiguousarray(s[:, :4]), dtype=vec4, device=device.name)
        return data


def _moments(mesh: Mesh, center: Array, radius: float, degree: int) -> tuple[Array, Array]:
    """C_nm and S_nm of a homogeneous mesh, unnormalised, about ``center``."""
    corner = (mesh.vertices - center)[mesh.faces] / radius
    u, v, w = triangle_rule(_rule_order(corner, degree))
    items = -(-len(corner) // _BLOCK)
    cpu = devices.resolve("cpu")
    arrays = [wp.array(a, dtype=scalar, device="cpu") for a in (u, v, w)]
    out = [wp.zeros((items, index(degree + 1, 0)), dtype=scalar, device="cpu") for _ in range(2)]
    inputs = [degree, wp.array(corner, dtype=vec3, device="cpu"), *arrays]
    devices.launch(_integrate_harmonics, items, inputs, cpu, outputs=out, min_items=1)
    C, S = (o.numpy().sum(axis=0) for o in out)
    volume = C[0]
    for n in range(degree + 1):
        for m in range(n + 1):
            factor = (1.0 if m == 0 else 2.0) * math.factorial(n - m) / math.factorial(n + m)
            C[index(n, m)] *= factor / volume
            S[index(n, m)] *= factor / volume
    return C, S


def _rule_order(corner: Array, degree: int) -> int:
    """Gauss points a side: exact for the degree, fewer where facets are small against R."""
    exact = degree // 2 + 1
    size = float(np.abs(np.roll(corner, -1, axis=1) - corner).max())
    # A rule of k points errs as (size/2)^(2k) relative to the polynomial on the facet.
    enough = math.ceil(-36.0 / (2.0 * math.log(min(0.5, size / 2.0)))) + 1
    return max(2, min(exact, enough))


def triangle_rule(k: int) -> tuple[Array, Array, Array]:
    """Points and weights on the unit triangle, exact to degree 2k - 1 (collapsed square)."""
    x, wx = scipy.special.roots_jacobi(k, 1.0, 0.0)
    y, wy = scipy.special.roots_legendre(k)
    s, t = np.meshgrid((x + 1.0) / 2.0, (y + 1.0) / 2.0, indexing="ij")
    weight = np.outer(wx / 4.0, wy / 2.0)
    return s.ravel(), (t * (1.0 - s)).ravel(), weight.ravel()


@wp.kernel(enable_backward=False)
def _integrate_harmonics(
    offset: int,
    degree: int,
    corner: wp.array(dtype=vec3, ndim=2),
    u: wp.array(dtype=scalar),
    v: wp.array(dtype=scalar),
    weight: wp.array(dtype=scalar),
    c_out: wp.array(dtype=scalar, ndim=2),
    s_out: wp.array(dtype=scalar, ndim=2),
) -> None:
    """Integrate regular solid harmonics over a block of tetrahedra, each facet with the centre."""
    item = wp.tid() + offset
    for f in range(item * _BLOCK, wp.min((item + 1) * _BLOCK, corner.shape[0])):
        a = corner[f, 0]
        b = corner[f, 1] - a
        c = corner[f, 2] - a
        volume = wp.dot(a, wp.cross(b, c))
        for q in range(weight.shape[0]):
            x = a + u[q] * b + v[q] * c
            part = volume * weight[q]
            square = wp.length_sq(x)
            c_diagonal = part
            s_diagonal = scalar(0.0)
            for m in range(degree + 1):
                if m > 0:
                    k = scalar(2 * m - 1)
                    new = k * (x[0] * c_diagonal - x[1] * s_diagonal)
                    s_diagonal = k * (x[0] * s_diagonal + x[1] * c_diagonal)
                    c_diagonal = new
                c_now = c_diagonal
                s_now = s_diagonal
                c_last = scalar(0.0)
                s_last = scalar(0.0)
                for n in range(m, degree + 1):
                    row = n * (n + 1) // 2 + m
                    # Radial integral of a homogeneous polynomial: 1 / (n + 3).
                    c_out[item, row] += c_now / scalar(n + 3)
                    s_out[item, row] += s_now / scalar(n + 3)
                    g = scalar(1.0) / scalar(n + 1 - m)
                    y = g * scalar(2 * n + 1) * x[2]
                    z = g * scalar(n + m) * square
                    c_new = y * c_now - z * c_last
                    s_new = y * s_now - z * s_last
                    c_last = c_now
                    s_last = s_now
                    c_now = c_new
                    s_now = s_new
