"""Cheaper gravity: how large the errors of the reduced and the linearised field are.

Reduced (paper 000, section 3.3): a coarser polyhedron of the same mass. Its error is the mean
over the surface of | |g_reduced| / |g| - 1 |. It falls with the area of a facet, by 4 for each
4 times as many vertices, on smooth ground; real ground has detail below any facet.

Linearised (paper 000, section 3.2): g0 + Gamma0 d instead of g(r0 + d). For a point mass the
first neglected term is, relative to g, 3 (d/R)^2 along the radius and 1.5 (d/R)^2 across it.
"""

import numpy as np
import pytest

from alight.gravity.linearised import Linearised
from alight.gravity.polyhedron.field import Polyhedron
from alight.gravity.reduced import Reduced, inscribed_ellipsoid
from alight.gravity.simple import PointMass
from alight.shapes.mesh import Mesh

SURFACE_SAMPLES = 800


def ground(mesh, count=SURFACE_SAMPLES, seed=0):
    """Facet centroids drawn without repetition, and their normals."""
    few = min(count, mesh.n_faces)
    facet = np.random.default_rng(seed).choice(mesh.n_faces, few, replace=False)
    return mesh.vertices[mesh.faces[facet]].mean(axis=1), mesh.face_normals[facet]


def magnitude_error(mesh, vertices):
    """Relative error of the magnitude of g on the ground of ``mesh`` for each vertex count."""
    points, _ = ground(mesh)
    truth = np.linalg.norm(Polyhedron(mesh, gm=1.0).evaluate(points)[1], axis=1)
    errors = []
    for count in vertices:
        g = Reduced(mesh, gm=1.0, vertices=count).evaluate(points)[1]
        errors.append(np.abs(np.linalg.norm(g, axis=1) / truth - 1.0))
    return np.array(errors)


def test_reduced_keeps_mass_and_centre_of_mass(lumpy_body):
    mesh = lumpy_body(4, 0.15).translated([30.0, -20.0, 10.0])
    field = Reduced(mesh, 1950.0, vertices=162)
    assert field.mesh.n_vertices == 162
    assert field.gm == pytest.approx(Polyhedron(mesh, 1950.0).gm, rel=1e-14)
    assert field.density * field.mesh.volume == pytest.approx(1950.0 * mesh.volume, rel=1e-13)
    assert field.mesh.center_of_mass == pytest.approx(mesh.center_of_mass, abs=1e-13)


def test_b0_1_162_vertices_serve_a_smooth_body(lumpy_body):
    """Triaxial 1 : 0.85 : 0.75 with low bumps, 10242 vertices: about 1 % with 162."""
    errors = magnitude_error(lumpy_body(5, 0.06), (42, 162, 642))
    mean = errors.mean(axis=1)
    assert 0.005 < mean[1] < 0.02
    assert errors[1].max() < 0.06
    # Second order in the size of a facet: 4 per step, less before the bumps are resolved.
    assert mean[0] / mean[1] == pytest.approx(3.0, rel=0.25)
    assert mean[1] / mean[2] == pytest.approx(4.0, rel=0.2)


def test_b0_2_642_vertices_serve_an_irregular_body(lumpy_body):
    """The same with bumps over three times as high: 162 are too few, 642 give about 1 %."""
    errors = magnitude_error(lumpy_body(5, 0.2), (162, 642, 2562))
    mean = errors.mean(axis=1)
    assert mean[0] > 0.02
    assert 0.005 < mean[1] < 0.02
    assert mean[1] / mean[2] == pytest.approx(4.0, rel=0.25)


@pytest.mark.parametrize("name", ["Ryugu", "Bennu", "Didymos", "Phobos"])
def test_b0_1_on_real_round_bodies(shapes_dir, name):
    mesh = Mesh.read(shapes_dir / f"{name}_12288.obj", unit="km")
    assert 0.005 < magnitude_error(mesh, [162]).mean() < 0.02


@pytest.mark.parametrize("file", ["Itokawa_12288", "Eros_12288", "Geographos_16380"])
def test_b0_2_on_real_elongated_bodies(shapes_dir, file):
    mesh = Mesh.read(shapes_dir / f"{file}.obj", unit="km")
    coarse, fine = magnitude_error(mesh, [162, 642]).mean(axis=1)
    assert coarse > 0.02
    assert 0.005 < fine < 0.02


def test_the_construction_fails_on_a_neck(shapes_dir):
    """Rays from one ellipsoid cannot reach behind the neck of 67P: more vertices help little."""
    mesh = Mesh.read(shapes_dir / "67P_6000.obj", unit="km")
    coarse, fine = magnitude_error(mesh, [162, 642]).mean(axis=1)
    assert 0.05 < fine < coarse < 0.15


@pytest.mark.parametrize("name", ["Ryugu_3072", "Itokawa_3072", "67P_6000"])
def test_ellipsoid_is_inside_and_large(shapes_dir, name):
    """No point of a facet lies in it; none of 2000 other shapes that avoid the vertices is much
    larger (it is shrunk a little where facets dip between their vertices)."""
    mesh = Mesh.read(shapes_dir / f"{name}.obj", unit="km")
    axes, turn = inscribed_ellipsoid(mesh)
    x = (mesh.vertices - mesh.center_of_mass) @ turn
    weights = np.random.default_rng(1).dirichlet([0.6, 0.6, 0.6], size=30)
    on_facets = np.einsum("kj,fji->fki", weights, x[mesh.faces])
    assert np.linalg.norm(on_facets / axes, axis=-1).min() >= 1.0
    assert np.linalg.norm(x / axes, axis=1).min() < 1.2
    shapes = axes * np.exp(np.random.default_rng(0).normal(scale=0.3, size=(2000, 3)))
    # Grown until it touches a vertex, each is the largest of its shape.
    touch = [np.linalg.norm(x / s, axis=1).min() for s in shapes]
    assert (np.array(touch) ** 3 * shapes.prod(axis=1)).max() < 1.15 * axes.prod()


# ---------------------------------------------------------------------------------------------
# Linearised
# ---------------------------------------------------------------------------------------------


def path_error(field, start, step):
    """Relative error of g after one step of each path, evaluated as a linearised field."""
    reach = 1.0001 * np.linalg.norm(step, axis=1).max()
    truth = field.evaluate(start + step)[1]
    guess = np.array(
        [
            Linearised(field, reach).evaluate([a, a + d])[1][1]
            for a, d in zip(start, step, strict=True)
        ]
    )
    return np.linalg.norm(guess - truth, axis=1) / np.linalg.norm(truth, axis=1)


@pytest.mark.parametrize("fraction", [30.0, 100.0, 330.0, 1000.0])
def test_b0_3_law_of_a_ball(fraction):
    """3 (d/R)^2 along the radius, 1.5 (d/R)^2 across it; the next term is of order d/R."""
    radius, ball = 250.0, PointMass(4.9)
    start = np.array([[radius, 0, 0], [radius, 0, 0]])
    step = radius / fraction * np.array([[1.0, 0, 0], [0, 1.0, 0]])
    error = path_error(ball, start, step) * fraction**2
    assert error == pytest.approx([3.0, 1.5], rel=3.0 / fraction)


def test_potential_needs_the_half():
    """With 1/2 d.Gamma d the potential errs as d^3; without it, as d^2."""
    ball = PointMass(1.0)
    start = np.array([0.6, -0.5, 0.7])
    error = []
    for d in (0.1, 0.01, 0.001):
        step = d * np.array([0.48, 0.6, 0.64])
        guess = Linearised(ball, 1.0).evaluate([start, start + step])[0][1]
        error.append(abs(guess - ball.evaluate(start + step)[0]))
    assert error[0] / error[1] == pytest.approx(1e3, rel=0.15)
    assert error[1] / error[2] == pytest.approx(1e3, rel=0.05)


@pytest.mark.parametrize("name", ["Ryugu_3072", "Bennu_3072", "Itokawa_3072", "67P_6000"])
def test_b0_3_law_on_real_shapes(shapes_dir, name):
    """At R/20 above the ground the mean error is near half of 3 (d/R)^2 and falls as d^2."""
    mesh = Mesh.read(shapes_dir / f"{name}.obj", unit="km")
    field, radius = Polyhedron(mesh, gm=1.0), mesh.radius
    points, normal = ground(mesh, 60)
    start = points + 0.05 * radius * normal
    way = np.random.default_rng(1).normal(size=(60, 3))
    way /= np.linalg.norm(way, axis=1)[:, None]
    mean = {}
    for fraction in (100.0, 1000.0):
        error = path_error(field, start, radius / fraction * way)
        mean[fraction] = error.mean()
        # Six times the sphere's law is the worst found over rough ground.
        assert error.max() < 6.0 * 3.0 / fraction**2
        assert 0.3 < mean[fraction] / (3.0 / fraction**2) < 1.0
    assert mean[100.0] / mean[1000.0] == pytest.approx(100.0, rel=0.1)
    assert 5e-5 < mean[100.0] < 5e-4  # the class of 1e-4, not 1e-5, at R/100
