"""The series and near forms behind a facet's solid angle and an edge's logarithm."""

import functools

import mpmath as mp
import numpy as np
import pytest
import warp as wp

from alight.core.types import scalar, vec3
from alight.gravity.polyhedron.terms import SERIES_LIMIT, SERIES_TERMS, odd_coefficients, terms

EPS = np.finfo(float).eps


@pytest.mark.parametrize(("sign", "inverse"), [(1.0, mp.atanh), (-1.0, mp.atan)])
def test_series_reach_the_last_digit_up_to_their_limit(sign, inverse):
    x = np.concatenate([np.logspace(-9, -1, 50), np.linspace(0.1, SERIES_LIMIT, 300)])
    exact = np.array([float(2 * inverse(mp.mpf(v)) / mp.mpf(v)) for v in map(float, x)])

    def error(terms):
        c = odd_coefficients(sign, SERIES_LIMIT**2, terms)
        assert len(c) == terms
        return np.polynomial.polynomial.polyval(x * x, c) / exact - 1.0

    assert np.abs(error(SERIES_TERMS)).max() < 3 * EPS
    assert abs(error(SERIES_TERMS)[:50].mean()) < 0.2 * EPS  # no bias of distant facets
    assert np.abs(error(SERIES_TERMS - 2)).max() > 8 * EPS  # so the terms are all needed


@functools.cache
def sampler():
    """Logarithm and solid angle of one edge and facet a thread, as a scalar kernel."""
    term = terms(1)
    one, logarithm, solid_angle = term.lanes, term.edge_logarithm, term.facet_angle

    @wp.kernel(module="unique", enable_backward=False)
    def sample(
        points: wp.array(dtype=vec3),
        corner: wp.array(dtype=vec3),
        tolerance: scalar,
        log_out: wp.array(dtype=scalar),
        angle_out: wp.array(dtype=scalar),
    ):
        i = wp.tid()
        a = corner[0] - points[i]
        b = corner[1] - points[i]
        c = corner[2] - points[i]
        ra = wp.length(a)
        rb = wp.length(b)
        rc = wp.length(c)
        e = wp.length(corner[1] - corner[0])
        L = logarithm(
            one(a[0]), one(a[1]), one(a[2]), one(ra),
            one(b[0]), one(b[1]), one(b[2]), one(rb), one(e), scalar(0.0),
        )  # fmt: skip
        N = wp.cross(corner[1] - corner[0], corner[2] - corner[0])
        below = ra * rb * rc + ra * wp.dot(b, c) + rb * wp.dot(c, a) + rc * wp.dot(a, b)
        weight = scalar(1.0) / wp.length_sq(N)
        product = one(ra * rb * rc)
        w = solid_angle(one(wp.dot(N, a)), one(below), product, one(weight), tolerance)
        log_out[i] = L[0]
        angle_out[i] = w[0]

    return sample


def sample(points, corner, tolerance=1e-30):
    out = [wp.zeros(len(points), dtype=scalar, device="cpu") for _ in range(2)]
    inputs = [
        wp.array(np.array(points, float), dtype=vec3, device="cpu"),
        wp.array(np.array(corner, float), dtype=vec3, device="cpu"),
        tolerance,
    ]
    wp.launch(sampler(), dim=len(points), inputs=[*inputs, *out], device="cpu")
    return tuple(o.numpy() for o in out)


def exact(point, corner):
    with mp.workdps(60):
        r = [mp.matrix([mp.mpf(float(v)) - mp.mpf(float(p)) for v, p in zip(c, point, strict=True)])
             for c in corner]  # fmt: skip
        length = [mp.norm(v) for v in r]
        e = mp.norm(r[1] - r[0])
        dot = [[(r[i].T * r[j])[0] for j in range(3)] for i in range(3)]
        triple = mp.det(mp.matrix([list(r[0]), list(r[1]), list(r[2])]))
        below = (
            length[0] * length[1] * length[2]
            + length[0] * dot[1][2]
            + length[1] * dot[2][0]
            + length[2] * dot[0][1]
        )
        L = mp.log((length[0] + length[1] + e) / (length[0] + length[1] - e))
        return float(L), float(2 * mp.atan2(triple, below))


TRIANGLE = np.array([[0.1, -0.2, 0.3], [1.2, 0.1, 0.2], [0.4, 0.9, -0.1]])


def test_logarithm_and_solid_angle_from_far_to_hair_breadth():
    """Distances from the edge from 1e-14 to 1e3 of its length, all round it."""
    rng = np.random.default_rng(0)
    start = TRIANGLE[0] + 0.3 * (TRIANGLE[1] - TRIANGLE[0])
    way = rng.normal(size=(60, 3))
    way /= np.linalg.norm(way, axis=1)[:, None]
    distance = np.logspace(-14, 3, 60)
    points = start + distance[:, None] * way
    L, w = sample(points, TRIANGLE)
    for i, x in enumerate(points):
        el, ew = exact(x, TRIANGLE)
        condition = EPS * (1.0 + 1.0 / distance[i])  # of the place itself
        assert abs(L[i] - el) < 30 * condition * (1 + distance[i]) * max(abs(el), 1e-3)
        assert abs(w[i] - ew) < 30 * condition * (1 + distance[i]) * max(abs(ew), 1e-6)


def test_signs():
    """Seen from below the facet (where its normal points away) the solid angle is positive."""
    middle = TRIANGLE.mean(axis=0)
    normal = np.cross(TRIANGLE[1] - TRIANGLE[0], TRIANGLE[2] - TRIANGLE[0])
    L, w = sample([middle - 1e-6 * normal, middle + 1e-6 * normal, middle], TRIANGLE)
    assert w[:2] == pytest.approx([2 * np.pi, -2 * np.pi], rel=1e-4)
    assert w[2] == 0.0
    assert (L > 0).all()


@pytest.mark.parametrize("part", [0.0, 0.25, 0.5, 0.9, 1.0])
def test_on_the_edge_both_are_zero(part):
    """Corners with few digits make the points exact; on the edge L stands for r ln r -> 0."""
    corner = np.array([[0.0, 0, 0], [4.0, 8.0, 0], [1.0, 0, 8.0]])
    point = corner[0] + part * (corner[1] - corner[0])
    if part == 0.9:  # not exact: on the plane within the tolerance only
        assert sample([point], corner)[1][0] == 0.0
        return
    L, w = sample([point], corner)
    assert L[0] == w[0] == 0.0


def test_sums_of_a_width_are_built_once():
    assert terms(1) is terms(1)
