"""Against ESA's polyhedral-gravity: another formulation (line integrals), another language.

Its conventions in version 3 are ours: V > 0, acceleration + grad V, second derivatives in the
order xx, yy, zz, xy, xz, yz. It loses
digits with distance about five times faster than the sums over edges and facets.
"""

import numpy as np
import pytest

from alight.gravity.polyhedron.field import Polyhedron
from alight.shapes.icosphere import icosphere
from alight.shapes.mesh import Mesh

peer = pytest.importorskip("polyhedral_gravity")

DENSITY = 1950.0


def lumpy(subdivisions):
    ball = icosphere(subdivisions)
    bump = 1.0 + 0.2 * np.sin(5.0 * ball.vertices[:, [2, 0, 1]] + 0.4)
    return Mesh(300.0 * ball.vertices * bump * [1.0, 0.7, 0.6], ball.faces)


def theirs(mesh, points):
    body = peer.Polyhedron(
        (mesh.vertices, mesh.faces),
        DENSITY,
        integrity_check=peer.PolyhedronIntegrity.DISABLE,
        metric_unit=peer.MetricUnit.METER,
    )
    rows = peer.GravityEvaluable(body)(points, parallel=False)
    V, g, six = (np.array([row[k] for row in rows]) for k in range(3))
    gradient = six[:, [0, 3, 4, 3, 1, 5, 4, 5, 2]].reshape(-1, 3, 3)
    return V, g, gradient


def differences(mesh, points):
    """Greatest relative difference of potential, acceleration and gradient, and how many points.

    On some edges of a body in general position the other tool gives NaN: those are left out.
    """
    found = Polyhedron(mesh, DENSITY).evaluate(points)
    reference = theirs(mesh, points)
    given = np.isfinite(reference[0])
    result = []
    for ours, others in zip(found, reference, strict=True):
        assert np.isfinite(ours).all()
        ours, others = (a[given].reshape(given.sum(), -1) for a in (ours, others))
        scale = np.abs(others).max(axis=1)
        result.append((np.abs(ours - others).max(axis=1) / scale).max())
    return *result, given.mean()


def directions(count):
    d = np.random.default_rng(0).normal(size=(count, 3))
    return d / np.linalg.norm(d, axis=1)[:, None]


@pytest.mark.parametrize("radius", [20.0, 150.0, 320.0, 600.0])
def test_inside_and_outside(radius):
    u, g, gradient, share = differences(lumpy(3), radius * directions(40))
    assert u < 1e-12
    assert g < 1e-12
    assert gradient < 1e-10
    assert share == 1.0


@pytest.mark.parametrize("radius", [3e3, 4e3])
def test_as_far_as_its_digits_go(radius):
    u, g, gradient, share = differences(lumpy(2), radius * directions(20))
    assert u < 1e-10
    assert g < 1e-9
    assert gradient < 1e-7
    assert share == 1.0


def test_close_to_the_ground():
    mesh = lumpy(2)
    middle = mesh.vertices[mesh.faces].mean(axis=1)
    for height in (1.0, 1e-3, -1e-3, -1.0):
        u, g, gradient, share = differences(mesh, (middle + height * mesh.face_normals)[::8])
        assert max(u, g) < 1e-12
        assert gradient < 1e-10
        assert share == 1.0


def test_on_vertices_edges_and_facets():
    """Potential and acceleration. In the gradient the other tool's rounding picks a side there."""
    mesh = lumpy(2)
    points = [mesh.vertices[::9], mesh.vertices[mesh.edges[::17]].mean(axis=1)]
    points = np.concatenate([*points, mesh.vertices[mesh.faces[::11]].mean(axis=1)])
    u, g, _, share = differences(mesh, points)
    assert max(u, g) < 1e-12
    assert share > 0.8


def test_a_real_body(shapes_dir):
    mesh = Mesh.read(shapes_dir / "Eros_1708.obj", unit="km")
    facet = np.arange(0, mesh.n_faces, 40)
    points = mesh.vertices[mesh.faces[facet]].mean(axis=1) + 100.0 * mesh.face_normals[facet]
    u, g, gradient, share = differences(mesh, points)
    assert max(u, g) < 1e-12
    assert gradient < 1e-10
    assert share == 1.0
