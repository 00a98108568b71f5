"""CachedField on real shapes: Itokawa and 67P, against their full polyhedra.

The promise: |g_table - g| / |g| <= 1e-5 at 1e5 random points from the surface to 5 radii, within
256 MB. Every point is compared with the exact sum over all facets, and tells inside from outside
by its Laplacian: -4 pi G rho or 0. None of the points is one that the builder checked itself by.
"""

import numpy as np
import pytest

from alight.gravity import CachedField, Polyhedron
from alight.shapes.mesh import Mesh

POINTS = 100_000
TOLERANCE = 1e-5
MEMORY = 256e6
BODIES = {"Itokawa": ("Itokawa_49152.npz", 1950.0), "67P": ("67P_24000.npz", 533.0)}


def facet_points(mesh, count, rng):
    """Random points of the surface, every square metre alike, and the normals there."""
    area = mesh.face_areas
    facet = rng.choice(mesh.n_faces, count, p=area / area.sum())
    weight = rng.dirichlet([1.0, 1.0, 1.0], count)
    return np.einsum("ij,ijk->ik", weight, mesh.vertices[mesh.faces[facet]]), facet


def points_about(mesh, radius, count, seed):
    """A third at all heights above the ground, a third close to it, a third through the ball.

    Heights are drawn evenly in their logarithm, from a millionth of a facet's size to 5 radii;
    the close ones evenly up to six facet sizes, where the exact shares fade out.
    """
    rng = np.random.default_rng(seed)
    size = float(np.sqrt(np.median(mesh.face_areas)))
    third = count // 3
    ground, facet = facet_points(mesh, 2 * third, rng)
    height = np.concatenate(
        [
            np.exp(rng.uniform(np.log(1e-6 * size), np.log(4.0 * radius), third)),
            rng.uniform(0.0, 6.0 * size, third),
        ]
    )
    above = ground + height[:, None] * mesh.face_normals[facet]
    direction = rng.normal(size=(count - 2 * third, 3))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    far = 5.0 * radius * rng.uniform(0.0, 1.0, len(direction)) ** (1.0 / 3.0)
    return np.concatenate([above, mesh.center_of_mass + far[:, None] * direction])


@pytest.mark.validate
@pytest.mark.parametrize("name", BODIES)
def test_a_real_body_keeps_the_promise(name, shapes_dir, tmp_path, capsys):
    file, density = BODIES[name]
    mesh = Mesh.read(shapes_dir / file, unit="km")
    full = Polyhedron(mesh, density=density)
    field = CachedField(full, tolerance=TOLERANCE, memory=MEMORY, store=str(tmp_path))
    radius = full.series.radius
    points = points_about(mesh, radius, POINTS + POINTS // 10, seed=2026)
    _, g, gradient = full.evaluate(points)
    outside = np.trace(gradient, axis1=1, axis2=2) > -2.0 * np.pi * full.G * full.density
    outside &= np.linalg.norm(points - mesh.center_of_mass, axis=1) <= 5.0 * radius
    points, g = points[outside][:POINTS], g[outside][:POINTS]
    error = np.linalg.norm(field.acceleration(points) - g, axis=1) / np.linalg.norm(g, axis=1)
    with capsys.disabled():
        worst = points[np.argmax(error)] - mesh.center_of_mass
        print(
            f"\n{name}: {field.report}\n"
            f"    at {len(points)} other points: worst {error.max():.2e}, mean {error.mean():.2e}, "
            f"99 % below {np.quantile(error, 0.99):.1e}; "
            f"worst {np.linalg.norm(worst) / radius:.2f} radii out"
        )
    assert len(points) == POINTS
    assert error.max() <= TOLERANCE
    assert field.report.max_error <= TOLERANCE
    assert field.report.nbytes <= MEMORY
    again = CachedField(full, tolerance=TOLERANCE, memory=MEMORY, store=str(tmp_path))
    assert again.report.seconds == 0.0
    assert np.array_equal(again.acceleration(points[::100]), field.acceleration(points[::100]))
