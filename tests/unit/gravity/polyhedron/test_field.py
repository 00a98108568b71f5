"""The polyhedron law: how it is built, refused, split over lanes and threads, handed to kernels."""

import numpy as np
import pytest

from alight.core.constants import G as NEWTON
from alight.core.devices import resolve
from alight.core.errors import InputError, MeshError
from alight.gravity.law import Gravity
from alight.gravity.polyhedron.field import Polyhedron, _edge_owners, facet_tables, mass_from
from alight.shapes.icosphere import icosphere
from alight.shapes.mesh import Mesh

BALL = icosphere(2)
LUMP = Mesh(
    BALL.vertices * (1 + 0.2 * np.sin(5 * BALL.vertices[:, [2, 0, 1]])) * [1, 0.8, 0.7], BALL.faces
)


def places(count, seed=0, low=0.2, high=40.0):
    rng = np.random.default_rng(seed)
    way = rng.normal(size=(count, 3))
    way /= np.linalg.norm(way, axis=1)[:, None]
    return way * np.exp(rng.uniform(np.log(low), np.log(high), (count, 1)))


def same(one, other, **tolerance):
    for a, b in zip(one, other, strict=True):
        if tolerance:
            assert a == pytest.approx(b, **tolerance)
        else:
            assert np.array_equal(a, b)


def test_density_and_gm_are_two_ways_to_say_one_thing():
    by_density = Polyhedron(LUMP, 1950.0)
    assert by_density.gm == pytest.approx(NEWTON * 1950.0 * LUMP.volume, rel=1e-15)
    by_gm = Polyhedron(LUMP, gm=by_density.gm)
    assert by_gm.density == pytest.approx(1950.0, rel=1e-14)
    same(by_density.evaluate(places(20)), by_gm.evaluate(places(20)), rel=1e-13, abs=0)


def test_g_scales_the_field_of_a_density_and_not_that_of_a_gm():
    points = places(10)
    u, g, h = Polyhedron(LUMP, 1950.0).evaluate(points)
    doubled = Polyhedron(LUMP, 1950.0, G=2 * NEWTON).evaluate(points)
    same(doubled, (2 * u, 2 * g, 2 * h), rel=1e-14, abs=0)
    gm = Polyhedron(LUMP, 1950.0).gm
    field = Polyhedron(LUMP, gm=gm, G=2 * NEWTON)
    assert field.density == pytest.approx(975.0, rel=1e-14)
    same(field.evaluate(points), (u, g, h), rel=1e-13, abs=0)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "neither of density and gm"),
        ({"density": 1.0, "gm": 1.0}, "both of density and gm"),
        ({"density": -1.0}, "density .* positive"),
        ({"density": "rock"}, "density .*'rock'.* positive"),
        ({"gm": 0.0}, "gm .* positive"),
        ({"density": 1.0, "G": np.nan}, "G is nan"),
    ],
)
def test_strengths_that_cannot_be_used(arguments, says):
    with pytest.raises(InputError, match=says):
        Polyhedron(LUMP, **arguments)


@pytest.mark.parametrize("missing", [1, 2])
def test_an_open_mesh_is_refused(missing):
    mesh = Mesh(BALL.vertices, BALL.faces[missing:], check=False)
    with pytest.raises(MeshError, match="do not close"):
        Polyhedron(mesh, 1000.0)


def test_a_facet_turned_over_is_refused():
    faces = BALL.faces.copy()
    faces[5] = faces[5][::-1]
    with pytest.raises(MeshError, match="turn the same way"):
        Polyhedron(Mesh(BALL.vertices, faces, check=False), 1000.0)


def test_an_inside_out_mesh_is_refused():
    with pytest.raises(MeshError, match="encloses -"):
        mass_from(Mesh(BALL.vertices, BALL.faces[:, ::-1], check=False), 1000.0, None, NEWTON)


@pytest.mark.parametrize("count", [1, 7, 8, 9, 17, 64])
def test_points_abreast_do_not_touch_each_other(count):
    """Near and far points share lane vectors, the last of which is not full."""
    field, points = Polyhedron(LUMP, 1.0, G=1.0), places(count)
    together = field.evaluate(points, device="cpu")
    alone = [field.evaluate(p, device="cpu") for p in points]
    for k in range(3):
        # Not bit for bit: the compiler fuses products and sums differently from lane to lane.
        one = np.array([a[k] for a in alone]).reshape(count, -1)
        gap = np.abs(together[k].reshape(count, -1) - one).max(axis=1)
        assert (gap / np.abs(one).max(axis=1)).max() < 1e-12


def test_threads_give_the_same_bits():
    field, points = Polyhedron(LUMP, 1.0, G=1.0), places(3000)
    same(field.evaluate(points, "cpu", threads=1), field.evaluate(points, "cpu", threads=3))


def test_the_kernel_function_is_the_same_law():
    """One point a thread, as trajectory kernels use it, against the lanes."""
    field = Polyhedron(LUMP, 1.0, G=1.0)
    points = np.concatenate([places(200), LUMP.vertices, LUMP.vertices[LUMP.edges].mean(axis=1)])
    single = Gravity._evaluate(field, points, resolve("cpu"), None)
    together = field.evaluate(points, "cpu")
    assert single[0] == pytest.approx(together[0], rel=1e-12)
    scale = np.linalg.norm(together[1], axis=1)
    assert (np.linalg.norm(single[1] - together[1], axis=1) / scale).max() < 1e-11
    scale = np.abs(together[2]).max(axis=(1, 2))
    assert (np.abs(single[2] - together[2]).max(axis=(1, 2)) / scale).max() < 1e-11


def test_the_hand_over_to_the_series_does_not_show():
    field = Polyhedron(LUMP, 1.0, G=1.0)
    way = places(50) / np.linalg.norm(places(50), axis=1)[:, None]
    step = 1e-9
    inside, outside = (
        field.evaluate(LUMP.center_of_mass + field.far_radius * (1 + s) * way)
        for s in (-step, step)
    )
    # U falls as 1/r, g as 1/r^2, the gradient as 1/r^3: by 2, 4 and 6 steps.
    for a, b, power in zip(inside, outside, (1, 2, 3), strict=True):
        scale = np.abs(b).reshape(50, -1).max(axis=1)
        jump = np.abs(a - b * (1 + 2 * power * step)).reshape(50, -1).max(axis=1)
        assert (jump / scale).max() < 1e-11


def test_every_edge_has_one_owner():
    first, slot, second = _edge_owners(LUMP.faces)
    assert len(first) == len(LUMP.edges) == 3 * LUMP.n_faces // 2
    start = LUMP.faces[first, slot]
    end = LUMP.faces[first, (slot + 1) % 3]
    pairs = np.sort(np.stack([start, end], 1), axis=1)
    assert len(np.unique(pairs, axis=0)) == len(pairs)
    for f, a, b in zip(second, start, end, strict=True):
        assert {a, b} <= set(LUMP.faces[f])
    assert (first != second).all()


def test_edge_dyads_are_symmetric_and_across_the_edge():
    """E has no part along its edge and no trace, so edges add nothing to the Laplacian."""
    tables = facet_tables(LUMP).arrays
    xx, yy, zz, xy, xz, yz = tables["dyad"].T
    E = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]).transpose(2, 0, 1)
    first, slot, _ = _edge_owners(LUMP.faces)
    a = LUMP.vertices[LUMP.faces[first, slot]]
    b = LUMP.vertices[LUMP.faces[first, (slot + 1) % 3]]
    along = (b - a) / tables["length"][:, None]
    assert np.linalg.norm(along, axis=1) == pytest.approx(1.0, rel=1e-14)
    assert np.abs(np.einsum("eij,ej->ei", E, along)).max() < 1e-13
    assert np.abs(xx + yy + zz).max() < 1e-14
    assert np.abs(E).max() > 0.05


def test_tables_are_copied_to_a_device_once():
    field = Polyhedron(LUMP, 1.0)
    cpu = resolve("cpu")
    assert field.data(cpu) is field.data(cpu)


def test_repr_says_what_it_is():
    assert repr(Polyhedron(BALL, gm=4.9)) == "Polyhedron(320 facets, gm=4.9 m^3/s^2)"


def test_a_file_name_is_no_mesh():
    with pytest.raises(InputError, match=r"'x.obj'.*alight\.Mesh"):
        Polyhedron("x.obj", density=1000.0)
