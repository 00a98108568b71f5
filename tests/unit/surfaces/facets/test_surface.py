"""Facets as ground: exact distances and signs, normals of length 1 everywhere, landings."""

import numpy as np
import pytest

from alight import contact, engine, gravity, motions
from alight.core import devices
from alight.core.errors import AlightError
from alight.core.outcomes import Outcome
from alight.scenario import bodies
from alight.shapes import Mesh, icosphere
from alight.surfaces import Facets
from alight.vehicles import RigidLander


def around(mesh, n, seed=0):
    rng = np.random.default_rng(seed)
    middle = 0.5 * (mesh.vertices.max(axis=0) + mesh.vertices.min(axis=0))
    wide = middle + rng.uniform(-0.9, 0.9, (n, 3)) * mesh.extent
    start = mesh.vertices[rng.integers(0, mesh.n_vertices, n)]
    return np.concatenate([wide, start + rng.normal(size=(n, 3)) * 0.03 * mesh.extent.min()])


@pytest.mark.parametrize("name", ["box", "corner_block", "slit_block", "67P"])
def test_distance_sign_and_normal(name, device, request, brute):
    mesh = bodies.find("67P").mesh(1200) if name == "67P" else request.getfixturevalue(name)
    points = around(mesh, 600)
    ground = Facets(mesh)
    found = ground.sample(points, device)
    scale = float(mesh.extent.max())
    assert np.abs(found.distance - brute(mesh, points)).max() <= 1e-13 * scale
    assert np.abs(np.linalg.norm(found.normal, axis=1) - 1.0).max() < 1e-14
    # One step along the normal ends on the surface.
    foot = points - found.distance[:, None] * found.normal
    assert np.abs(ground.query(foot, device)[0]).max() < 1e-13 * scale
    assert np.array_equal(found.normal, found.gradient)


def test_sign_at_a_sharp_edge(device):
    """Beside a blade's edge the nearest facet's own normal tells the wrong side."""
    vertices = [(-5, 0.2, -4), (-5, -0.2, -4), (5, -0.2, -4), (5, 0.2, -4), (-5, 0, 0), (5, 0, 0)]
    faces = [(0, 3, 2), (0, 2, 1), (1, 2, 5), (1, 5, 4), (3, 0, 4), (3, 4, 5), (0, 1, 4), (2, 3, 5)]
    blade = Mesh(vertices, faces)
    rng = np.random.default_rng(6)
    points = rng.normal(size=(1000, 3)) * [2.0, 0.3, 0.3]
    assert np.array_equal(Facets(blade).query(points, device)[0] < 0.0, blade.contains(points))


def test_gradient_is_that_of_the_distance(device):
    mesh = icosphere(2, 10.0)
    ground, points, h = Facets(mesh), around(mesh, 200, seed=5), 1e-6
    gradient = ground.sample(points, device).gradient
    steps = [ground.query(points + sign * h * e, device)[0] for e in np.eye(3) for sign in (1, -1)]
    measured = np.stack([steps[0] - steps[1], steps[2] - steps[3], steps[4] - steps[5]], axis=1)
    # Where the nearest feature changes within the step the two differ: few points.
    apart = np.linalg.norm(measured / (2.0 * h) - gradient, axis=1)
    assert np.mean(apart < 1e-7) > 0.97


def test_on_vertices_edges_and_facets(device, slit_block):
    """Distance 0, and a unit normal that is no NaN and points outward."""
    for mesh in (slit_block, bodies.find("67P").mesh(1200)):
        corners = mesh.vertices[mesh.faces]
        points = np.concatenate(
            [mesh.vertices, mesh.vertices[mesh.edges].mean(axis=1), corners.mean(axis=1)]
        )
        distance, normal = Facets(mesh).query(points, device)
        scale = float(mesh.extent.max())
        assert np.abs(distance).max() < 1e-15 * scale * 4
        assert np.abs(np.linalg.norm(normal, axis=1) - 1.0).max() < 1e-14
        inside = normal[-mesh.n_faces :]
        assert np.einsum("ij,ij->i", inside, mesh.face_normals).min() > 0.99


def test_bounds_and_size():
    ground = Facets(icosphere(3, 5.0))
    assert ground.bounds_to(2.0).slope == 1.0
    assert ground.bounds.curvature == np.inf
    data = ground.data(devices.resolve("cpu"))
    mesh = data.mesh
    arrays = [mesh.tree.node, mesh.vertex, mesh.vertex_normal, mesh.face, mesh.face_normal]
    arrays += [mesh.across, mesh.owned]
    assert ground.nbytes == sum(array.capacity for array in arrays)
    assert ground.data(devices.resolve("cpu")) is data


def test_far_from_the_origin(device, box):
    """Sizes of centimetres, a hundred kilometres away."""
    shift = np.array([1e5, -2e5, 3e5])
    small = box.scaled(0.01)
    points = around(small, 300)
    found = Facets(small.translated(shift)).query(points + shift, device)[0]
    assert np.abs(found - Facets(small).query(points, device)[0]).max() < 3e-10


def test_what_is_no_closed_mesh():
    with pytest.raises(AlightError, match="Mesh"):
        Facets("67P")
    with pytest.raises(AlightError):
        Facets(Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)], check=False))


@pytest.mark.validate
def test_a_lander_comes_to_rest_on_facets(box):
    """A cube dropped on a slab of facets lies on it: its centre half a side above the top."""
    slab = box.translated([-2.0, -3.0, -8.0])
    model = motions.Model(
        gravity=gravity.Uniform((0.0, 0.0, -1e-3)),
        surface=Facets(slab),
        lander=RigidLander.cube(0.2, 1.0),
        contact=contact.Compliant(restitution=0.4, friction=0.6, touch="points"),
        stop=engine.Stop(max_time=2000.0),
    )
    release = motions.Release(position=[0.1, 0.2, 0.4], velocity=[0.002, 0.0, -0.01])
    result = engine.run_batch(model, release, device="cpu", show="silent")
    assert result.outcome[0] == Outcome.SETTLED
    assert result.position[0, 2] == pytest.approx(0.1, abs=1e-4)
