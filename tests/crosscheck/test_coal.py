"""Against coal: distances of polyhedra by another tree (oriented boxes) and another language.

coal finds the distance of two triangle meshes pair by pair of triangles. It says nothing about
depth, so only poses that do not overlap are compared, and that both tools see them alike.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from alight.contact import distance
from alight.core import devices
from alight.scenario import bodies
from alight.shapes import Mesh, icosphere
from alight.surfaces import Facets
from alight.vehicles.rigid import hull_meshes

coal = pytest.importorskip("coal")

DEVICES = [device.name for device in devices.available()]

#: A cube, a drum, and one that is not convex.
HULLS = {"cube": hull_meshes.box((0.4, 0.4, 0.4)), "drum": hull_meshes.prism(16, 1.2, 0.5)}


def dented():
    """A ball of a metre with dents."""
    ball = icosphere(1)
    r = 0.5 * np.where(np.arange(ball.n_vertices) % 3, 1.0, 0.55)
    return Mesh(ball.vertices * r[:, None], ball.faces)


HULLS["dented"] = dented()


def model(mesh):
    """A mesh in coal."""
    found = coal.BVHModelOBBRSS()
    found.beginModel(mesh.n_faces, mesh.n_vertices)
    found.addVertices(np.array(mesh.vertices))
    found.addTriangles(mesh.faces.astype(np.int64))
    found.endModel()
    return found


def theirs(ground, hull, positions, turns):
    """Distances by coal; below 0 or 0 where bodies overlap."""
    request, result, rest = coal.DistanceRequest(), coal.DistanceResult(), coal.Transform3s()
    found = np.empty(len(positions))
    for i, (x, turn) in enumerate(zip(positions, turns.as_matrix(), strict=True)):
        result.clear()
        found[i] = coal.distance(ground, rest, hull, coal.Transform3s(turn, x), request, result)
    return found


def poses(mesh, hull, count, seed=0):
    """Over random facets, from a millimetre to the size of the body above them, in any attitude."""
    rng = np.random.default_rng(seed)
    turns = Rotation.random(count, random_state=seed)
    facet = rng.integers(0, mesh.n_faces, count)
    normal = mesh.face_normals[facet]
    share = rng.dirichlet((1, 1, 1), count)
    base = np.einsum("nk,nki->ni", share, mesh.vertices[mesh.faces[facet]])
    turned = np.einsum("nij,vj->nvi", turns.as_matrix(), hull.vertices)
    low = np.einsum("nvi,ni->nv", turned, normal).min(axis=1)
    height = 10.0 ** rng.uniform(-3.0, np.log10(mesh.radius), count)
    return base + (height - low)[:, None] * normal, turns


def compare(mesh, count, device):
    ground, peer = Facets(mesh), model(mesh)
    for seed, hull in enumerate(HULLS.values()):
        x, turns = poses(mesh, hull, count, seed)
        other = theirs(peer, model(hull), x, turns)
        ours = distance(ground, hull, x, turns.as_quat(), device=device).distance
        apart = other > 0.0
        assert apart.mean() > 0.5
        assert np.array_equal(ours > 0.0, apart)
        assert np.abs(ours - other)[apart].max() < 1e-9


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["67p", "ryugu"])
def test_a_body_of_the_catalogue(name, device):
    compare(bodies.find(name).mesh(20_000), 200, device)


@pytest.mark.parametrize("device", DEVICES)
def test_200_000_facets(shapes_dir, device):
    path = shapes_dir / "Itokawa_196608.npz"
    if not path.is_file():
        pytest.skip(f"no {path.name} in the folder of real shape models")
    compare(Mesh.read(path, unit="km"), 300, device)


@pytest.mark.validate
@pytest.mark.parametrize("device", DEVICES)
def test_1_500_000_facets(shapes_dir, device):
    path = shapes_dir / "67P_1549344_upsampled.npz"
    if not path.is_file():
        pytest.skip(f"no {path.name} in the folder of real shape models")
    compare(Mesh.read(path, unit="km"), 300, device)
