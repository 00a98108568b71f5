"""Reference answers for verification: textbook sums in as many digits as a question needs."""

import mpmath as mp
import numpy as np
import pytest

DIGITS = 50


def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def _minus(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def _over(a, s):
    return (a[0] / s, a[1] / s, a[2] / s)


def _row(x):
    return tuple(mp.mpf(float(v)) for v in x)


class Textbook:
    """A homogeneous polyhedron's field at G rho = 1, in 50 digits, straight from the definition.

    Every facet with normal n and every one of its edges with in-plane outward normal m adds

        U += 1/2 [ (n.r)(m.r) L - (n.r)^2 w ],   g += n [ (n.r) w - (m.r) L ],   n [ m L - n w ]

    with r from the field point, L = ln((r1 + r2 + e)/(r1 + r2 - e)) and w the facet's signed
    solid angle by its three corners. No edge is shared, no branch is taken, no series is used.
    """

    def __init__(self, vertices, faces, digits=DIGITS):
        self.digits = digits
        with mp.workdps(digits):
            self.vertices = [_row(v) for v in vertices]
            self.faces = [tuple(int(i) for i in f) for f in faces]
            self.frames = [self._frame(f) for f in self.faces]

    def _frame(self, face):
        a, b, c = (self.vertices[i] for i in face)
        n = _cross(_minus(b, a), _minus(c, a))
        n = _over(n, mp.sqrt(_dot(n, n)))
        sides = []
        for p, q in ((a, b), (b, c), (c, a)):
            d = _minus(q, p)
            e = mp.sqrt(_dot(d, d))
            sides.append((_cross(_over(d, e), n), e))
        return n, sides

    def __call__(self, point, shift=(0, 0, 0)):
        """U, g and gradient as float64 at ``point + shift``; a shift may be as small as 1e-30."""
        with mp.workdps(self.digits):
            x = tuple(p + mp.mpf(s) for p, s in zip(_row(point), shift, strict=True))
            return self._sum(x)

    def _sum(self, x):
        r = [_minus(v, x) for v in self.vertices]
        length = [mp.sqrt(_dot(v, v)) for v in r]
        u, g = mp.mpf(0), [mp.mpf(0)] * 3
        gradient = [[mp.mpf(0)] * 3 for _ in range(3)]
        for face, (n, sides) in zip(self.faces, self.frames, strict=True):
            ra, rb, rc = (r[i] for i in face)
            la, lb, lc = (length[i] for i in face)
            h = _dot(n, ra)
            w = 2 * mp.atan2(
                _dot(ra, _cross(rb, rc)),
                la * lb * lc + la * _dot(rb, rc) + lb * _dot(rc, ra) + lc * _dot(ra, rb),
            )
            force, row = h * w, [-n[i] * w for i in range(3)]
            ends = ((ra, la, lb), (rb, lb, lc), (rc, lc, la))
            for (m, e), (start, l1, l2) in zip(sides, ends, strict=True):
                L = mp.log((l1 + l2 + e) / (l1 + l2 - e))
                force -= _dot(m, start) * L
                row = [row[i] + m[i] * L for i in range(3)]
            u -= h * force / 2
            g = [g[i] + n[i] * force for i in range(3)]
            for i in range(3):
                for j in range(3):
                    gradient[i][j] += n[i] * row[j]
        return (
            float(u),
            np.array([float(v) for v in g]),
            np.array([[float(v) for v in line] for line in gradient]),
        )


@pytest.fixture(scope="session")
def textbook():
    """``textbook(mesh)(point)``: the field of a mesh at G rho = 1, right to the last digit."""

    def make(mesh, digits=DIGITS):
        return Textbook(mesh.vertices, mesh.faces, digits)

    return make


def lumpy(mesh, amplitude, seed=0, axes=(1.0, 0.85, 0.75), waves=8, wavenumber=6.0):
    """A sphere's mesh stretched to an ellipsoid and bent by random plane waves of its radius."""
    from alight.shapes.mesh import Mesh

    rng = np.random.default_rng(seed)
    bump = np.zeros(mesh.n_vertices)
    for _ in range(waves):
        along = rng.normal(size=3)
        along /= np.linalg.norm(along)
        phase = wavenumber * (mesh.vertices @ along) + rng.uniform(0.0, 2.0 * np.pi)
        bump += rng.normal() * np.cos(phase)
    radius = 1.0 + amplitude * bump / np.sqrt(waves)
    return Mesh(mesh.vertices * axes * radius[:, None], mesh.faces)


@pytest.fixture(scope="session")
def lumpy_body():
    """``lumpy_body(subdivisions, amplitude, seed)``: an irregular, off-centre, tilted body."""
    from alight.shapes.icosphere import icosphere

    def make(subdivisions, amplitude=0.2, seed=0, **shape):
        return lumpy(icosphere(subdivisions), amplitude, seed, **shape)

    return make
