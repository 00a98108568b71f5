"""The exterior series: exact moments, and derivatives that are those of its potential."""

import numpy as np
import pytest

from alight.core.errors import InputError
from alight.gravity import multipole
from alight.gravity.multipole import Multipole, index
from alight.gravity.polyhedron.field import Polyhedron
from alight.shapes.icosphere import icosphere
from alight.shapes.mesh import Mesh

BALL = icosphere(2)
#: Neither centred nor along its principal axes: every moment is there.
LUMP = Mesh(
    BALL.vertices * (1 + 0.3 * np.sin(3 * BALL.vertices[:, [1, 2, 0]] + 1.0)) * [1, 0.8, 0.6],
    BALL.faces,
).translated([0.2, -0.1, 0.3])


def ways(count=20, seed=0):
    d = np.random.default_rng(seed).normal(size=(count, 3))
    return d / np.linalg.norm(d, axis=1)[:, None]


def test_moments_of_degree_two_are_the_inertia():
    """C20, C21, S21, C22, S22 from the moments of inertia; degree 1 vanishes at the centre."""
    series = Multipole.from_mesh(LUMP, gm=1.0, degree=2)
    inertia = LUMP.inertia(1.0) / (LUMP.volume * series.radius**2)
    second = 0.5 * np.trace(inertia) * np.eye(3) - inertia  # mean of x_i x_j over the body
    C, S = series.C, series.S
    assert C[0] == pytest.approx(1.0, rel=1e-15)
    assert np.abs(C[1:3]).max() < 1e-15
    assert abs(S[2]) < 1e-15
    expected = [
        second[2, 2] - 0.5 * (second[0, 0] + second[1, 1]),
        second[0, 2],
        0.25 * (second[0, 0] - second[1, 1]),
    ]
    assert [C[index(2, m)] for m in range(3)] == pytest.approx(expected, rel=1e-12)
    assert S[index(2, 1)] == pytest.approx(second[1, 2], rel=1e-12)
    assert S[index(2, 2)] == pytest.approx(0.5 * second[0, 1], rel=1e-12)
    assert min(abs(v) for v in (*expected, second[1, 2], second[0, 1])) > 1e-4  # none is trivial


def test_a_cube_has_its_known_fourth_moment():
    """Mean of z^4 - 3 z^2 (x^2 + y^2) + 3/8 (x^2 + y^2)^2 over a cube of side 2: -7/30."""
    faces = [
        [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
        [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
    ]  # fmt: skip
    cube = Mesh([[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)], faces)
    series = Multipole.from_mesh(cube, gm=1.0, degree=4)
    assert series.radius == pytest.approx(np.sqrt(3.0), rel=1e-15)
    assert np.abs(series.C[index(2, 0) : index(4, 0)]).max() < 1e-15
    assert series.C[index(4, 0)] == pytest.approx(-7.0 / 30.0 / 9.0, rel=1e-13)


def test_a_high_degree_is_the_polyhedron():
    """All of U, g and gradient, for a body with every moment, at 3 radii: (1/3)^33 is nothing."""
    field = Polyhedron(LUMP, 1.0, G=1.0)
    series = Multipole.from_mesh(LUMP, gm=field.gm, degree=32)
    points = LUMP.center_of_mass + 3.0 * series.radius * ways()
    for found, wanted in zip(series.evaluate(points), field.evaluate(points), strict=True):
        scale = np.abs(wanted).reshape(20, -1).max(axis=1)
        assert (np.abs(found - wanted).reshape(20, -1).max(axis=1) / scale).max() < 1e-12


@pytest.mark.parametrize("degree", [0, 1, 4, 8])
def test_the_error_falls_as_the_next_degree(degree):
    field = Polyhedron(LUMP, 1.0, G=1.0)
    series = Multipole.from_mesh(LUMP, gm=field.gm, degree=degree)
    errors = []
    for r in (6.0, 12.0):
        points = LUMP.center_of_mass + r * series.radius * ways(100)
        truth = Multipole.from_mesh(LUMP, gm=field.gm, degree=20).evaluate(points)[0]
        errors.append(np.abs(series.evaluate(points)[0] / truth - 1.0).max())
    # Degree 1 vanishes at the centre of mass, so 0 and 1 both miss degree 2 first.
    order = max(degree + 1, 2)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)


def test_derivatives_by_differences():
    series = Multipole.from_mesh(LUMP, gm=2.0, degree=8)
    points, h = LUMP.center_of_mass + 1.6 * ways(), 1e-5
    _, g, gradient = series.evaluate(points)
    plus, minus = (series.evaluate(points[:, None] + s * h * np.eye(3)) for s in (1, -1))
    assert np.abs((plus[0] - minus[0]) / (2 * h) - g).max() < 1e-8 * np.abs(g).max()
    bend = (plus[1] - minus[1]) / (2 * h)
    assert np.abs(bend - gradient).max() < 1e-8 * np.abs(gradient).max()
    assert np.abs(np.trace(gradient, axis1=1, axis2=2)).max() < 1e-13 * np.abs(gradient).max()


def test_the_poles_are_points_like_others():
    """No coordinate singularity on the z axis through the centre."""
    series = Multipole.from_mesh(LUMP, gm=2.0, degree=8)
    offset = np.array([[0, 0, 3.0], [1e-9, 0, 3.0], [0, 0, -3.0], [0, 1e-9, -3.0]])
    pole = LUMP.center_of_mass + offset
    u, g, h = series.evaluate(pole)
    assert u[0::2] == pytest.approx(u[1::2], rel=1e-8)
    assert g[0::2] == pytest.approx(g[1::2], rel=1e-7, abs=1e-8)
    assert np.isfinite(h).all()


@pytest.mark.parametrize("subdivisions", [1, 3, 4])
def test_fewer_quadrature_points_on_small_facets_lose_nothing(subdivisions, monkeypatch):
    ball = icosphere(subdivisions)
    mesh = Mesh(ball.vertices * [1, 0.8, 0.6] * (1 + 0.2 * ball.vertices[:, [0]]), ball.faces)
    quick = Multipole.from_mesh(mesh, gm=1.0, degree=16)
    monkeypatch.setattr(multipole, "_rule_order", lambda corner, degree: degree // 2 + 1)
    full = Multipole.from_mesh(mesh, gm=1.0, degree=16)
    assert np.abs(quick.C - full.C).max() < 1e-15
    assert np.abs(quick.S - full.S).max() < 1e-15
    # Unnormalised high orders are tiny: compare what they do at r = R.
    point = mesh.center_of_mass + full.radius * ways()
    for a, b in zip(quick.evaluate(point), full.evaluate(point), strict=True):
        assert np.abs(a - b).max() < 1e-13 * np.abs(b).max()


def test_thetriangle_rule_is_exact_to_its_degree():
    """Integrals of u^i v^j over the unit triangle are i! j! / (i + j + 2)!."""
    from math import factorial

    for k in (1, 2, 5):
        u, v, w = multipole.triangle_rule(k)
        for i in range(2 * k):
            for j in range(2 * k - i):
                exact = factorial(i) * factorial(j) / factorial(i + j + 2)
                assert (w * u**i * v**j).sum() == pytest.approx(exact, rel=1e-13)


@pytest.mark.parametrize("degree", [-1, 41, 2.5, "two"])
def test_degrees_that_cannot_be_used(degree):
    with pytest.raises(InputError, match="0 to 40"):
        Multipole.from_mesh(BALL, gm=1.0, degree=degree)


def test_the_degree_is_read_from_the_coefficients():
    for degree in (0, 1, 2, 7, 40):
        size = index(degree + 1, 0)
        assert Multipole(1.0, 1.0, np.zeros(3), np.zeros(size), np.zeros(size)).degree == degree
