"""Bodies of one shape and many sizes have the numbers that each has alone, to the last bit."""

import dataclasses

import numpy as np
import pytest

from alight.core import devices
from alight.core.errors import InputError
from alight.engine.motion import world_rows
from alight.membrane import Captive, pear
from alight.membrane.captives import Captives
from alight.membrane.hulls import MANY, body_hull, body_hulls
from alight.membrane.pear import pears
from alight.shapes import Mesh, builtin

CPU = devices.resolve("cpu")
FIELDS = ("vertices", "facets", "normals", "offsets", "edges", "shares")
SIZES = np.random.default_rng(8).uniform(0.5, 2.0, MANY + 6)  # enough for threads


def bodies(shape):
    """Vertices of all sizes, facets, and the meshes of some of them made one by one."""
    if shape == "pear":
        numbers = {"width": 0.8, "thickness": 0.72, "taper": 0.32, "waist": 0.1}
        vertices, faces = pears(6.0 * SIZES, **numbers, subdivisions=2)
        return vertices, faces, lambda i: pear(6.0 * SIZES[i], subdivisions=2)
    mesh = builtin.find(shape).mesh(80).recentred()
    return mesh.vertices * SIZES[:, None, None], mesh.faces, lambda i: mesh.scaled(SIZES[i])


@pytest.mark.parametrize("shape", ["pear", "itokawa"])
def test_each_is_what_it_is_alone(shape):
    vertices, faces, mesh = bodies(shape)
    many = Captives.of_density(vertices, faces, None, 2000.0, None)
    for i in range(0, len(SIZES), 9):
        alone = Captive.from_mesh(mesh(i), 2000.0 * mesh(i).volume)
        assert (many.mass[i], many.reach[i]) == (alone.mass, alone.reach)
        assert (many.volume[i], many.lengths[i]) == (alone.volume, alone.lengths[0])
        assert np.array_equal(many.inertia[i], alone.inertia)
        assert np.array_equal(many.points[i], alone.points)
        hull, known = alone.hull, many.hulls
        assert np.array_equal(known.flat["center"][i], hull.center)
        for name in FIELDS:
            first = known.first[name][i]
            found = known.flat[name][first : first + known.counts[name][i]]
            assert np.array_equal(found, getattr(hull, name)), name
        assert np.array_equal(many.corners[i, : len(hull.vertices)], hull.vertices)
        assert all((corner == hull.vertices).all(axis=1).any() for corner in many.corners[i])
        again = many.body(i)
        assert (again.mass, again.volume) == (alone.mass, alone.volume)


def test_rows_for_kernels_point_to_the_hull_of_each():
    vertices, faces, _ = bodies("itokawa")
    many = Captives.of_density(vertices[:3], faces, 5e5, None, None)
    rows, behind = many.kernel_rows(world_rows([many.kernel_data(CPU)]), CPU)
    for i, row in enumerate(rows):
        hull = many.body(i).hull
        for name in FIELDS:
            assert int(row[name]["shape"][0]) == len(getattr(hull, name))
            size, whole = behind[name].strides[0], behind[name].numpy()
            first = (int(row[name]["data"]) - behind[name].ptr) // size
            own = whole[first : first + len(getattr(hull, name))]
            assert np.array_equal(own, getattr(hull, name))
        assert np.array_equal(row["center"], hull.center)


def test_bodies_that_share_no_order_or_repeat_vertices_are_done_one_by_one():
    """A cube whose corners are given twice, and one turned a little: as alone."""
    cube = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    points = np.stack([np.concatenate([cube, cube]), np.concatenate([cube, 0.5 * cube[:, ::-1]])])
    found = body_hulls(points)
    for i in range(2):
        alone = body_hull(points[i])
        for name in ("vertices", "facets", "edges", "shares"):
            first = found.first[name][i]
            own = found.flat[name][first : first + found.counts[name][i]]
            assert np.array_equal(own, getattr(alone, name))


def test_a_body_without_mass_is_refused():
    vertices, faces, _ = bodies("itokawa")
    with pytest.raises(InputError, match="mass of the body"):
        Captives.of_density(vertices, faces, np.nan, None, None)


def test_one_of_them_is_a_solid():
    vertices, faces, _ = bodies("itokawa")
    one = Captives.of_density(vertices[:2], faces, 5e5, None, None).body(1)
    assert isinstance(one.mesh, Mesh)
    assert one.mesh.health.ok
    assert dataclasses.replace(one, mass=1.0).mass == 1.0
