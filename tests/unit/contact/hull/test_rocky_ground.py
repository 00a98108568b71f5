"""Hulls over facets with rocks on them, against every rock near by as a closed mesh of its own."""

import functools

import numpy as np
import pytest
import warp as wp

from alight import Mesh, RigidLander, contact, surfaces
from alight.contact.hull.contact_list import MOST, HullContact
from alight.contact.hull.supported_surfaces import hull_functions, touching_hull
from alight.core import devices
from alight.core.types import quat, scalar, vec3
from alight.core.warp_setup import HULL_OPTIONS
from alight.shapes.icosphere import icosphere
from alight.surfaces.rocks.nearby_cache import NO_SHELF, ShelfSize, Shelves
from alight.vehicles.rigid.hull_data import HullData

RADIUS = 30.0


@pytest.fixture(scope="module", params=[0, 100_000], ids=["made", "kept"])
def ground(request):
    """Rocks that are made when they are asked for, and the same rocks kept in a tree."""
    ball = icosphere(3)
    mesh = Mesh(RADIUS * ball.vertices, ball.faces)
    law = {"slope": 2.5, "density": 0.05, "reference": 1.0, "smallest": 0.15, "largest": 4.0}
    rocks = surfaces.Rocks(**law, cover=0.4, seed=3)
    return surfaces.Rocky(surfaces.Facets(mesh), mesh, rocks, kept=request.param)


@pytest.fixture(scope="module")
def poses():
    rng = np.random.default_rng(0)
    up = np.array([0.2, 0.1, 1.0]) + 0.05 * rng.normal(size=(40, 3))
    up /= np.linalg.norm(up, axis=1, keepdims=True)
    return up * (RADIUS + rng.uniform(0.3, 2.5, 40))[:, None], rng.normal(size=(40, 4))


CUBE = RigidLander.cube(0.3, 1.0)


def test_the_nearest_of_facets_and_rocks(ground, poses):
    x, q = poses
    found = contact.distance(ground, CUBE, x, q, device="cpu")
    best = contact.distance(ground.base, CUBE, x, q, device="cpu").distance
    table = ground.field.near(x.mean(axis=0), 12.0, device="cpu")
    for k in range(len(table.size)):
        if np.linalg.norm(table.ground[k] - x, axis=1).min() < table.size[k] + 3.0:
            rock = surfaces.Facets(Mesh(table.vertices[k], table.faces))
            best = np.minimum(best, contact.distance(rock, CUBE, x, q, device="cpu").distance)
    apart = best > 0.0
    assert apart.sum() > 15
    assert (found.facet[apart] == -2).sum() > 10
    assert found.distance[apart] == pytest.approx(best[apart], abs=1e-12)


@pytest.mark.validate
def test_contacts_hold_the_nearest_pair(ground, poses):
    x, q = poses
    near = contact.distance(ground, CUBE, x, q, device="cpu")
    apart = near.distance > 0.0
    # Down along the normal until a micrometre is left.
    x = (x - (near.distance - 1e-6)[:, None] * near.normal)[apart]
    listed = contact.contacts(ground, CUBE, x, q[apart], 1e-4, device="cpu")
    for contacts, normal in zip(listed, near.normal[apart], strict=True):
        assert contacts["gap"][0] == pytest.approx(1e-6, abs=1e-9)
        assert contacts["normal"][0] @ normal == pytest.approx(1.0, abs=1e-9)


@functools.cache
def contacts_kernel(GroundData, contacts):
    @wp.kernel(module="unique", enable_backward=False, module_options=HULL_OPTIONS)
    def find_all(
        offset: int,
        ground: GroundData,
        hull: HullData,
        x: wp.array(dtype=vec3),
        q: wp.array(dtype=quat),
        margin: scalar,
        shelves: Shelves,
        found_out: wp.array2d(dtype=HullContact),
        count_out: wp.array(dtype=int),
    ) -> None:
        i = wp.tid() + offset
        count_out[i] = contacts(ground, hull, x[i], q[i], margin, found_out, i, shelves)

    return find_all


def listed_with(ground, x, q, margin, shelves, device):
    """Lists of contacts, as they are found."""
    inputs = [
        ground.data(device),
        touching_hull(CUBE, device),
        wp.array(x, dtype=vec3, device=device.name),
        wp.array(q, dtype=quat, device=device.name),
        scalar(margin),
        shelves,
    ]
    found = wp.zeros((MOST, len(x)), dtype=HullContact, device=device.name)
    count = wp.zeros(len(x), dtype=int, device=device.name)
    kernel = contacts_kernel(ground.Data, hull_functions(ground)[1])
    devices.launch(kernel, len(x), inputs, device, outputs=[found, count])
    return [found.numpy()[:n, i] for i, n in enumerate(count.numpy())]


@pytest.mark.validate
@pytest.mark.parametrize("device", devices.available(), ids=lambda device: device.name)
@pytest.mark.parametrize("rows", [3, 48])
def test_contacts_from_a_shelf(ground, poses, rows, device):
    """The same as of rocks that are made anew, and to the bit whenever the shelf was filled."""
    x, q = poses
    near = contact.distance(ground, CUBE, x, q, device="cpu")
    apart = near.distance > 0.0
    x = (x - (near.distance - 1e-6)[:, None] * near.normal)[apart]
    q = (q / np.linalg.norm(q, axis=1, keepdims=True))[apart]
    size = ShelfSize(rows=rows, ahead=0.5, spare=0.5)
    used, fresh = (size.shelves(len(x), device) for _ in range(2))
    aside = x + np.random.default_rng(1).uniform(-0.2, 0.2, x.shape)
    listed_with(ground, aside, q, 0.05, used, device)
    one = listed_with(ground, x, q, 0.05, used, device)
    two = listed_with(ground, x, q, 0.05, fresh, device)
    direct = listed_with(ground, x, q, 0.05, NO_SHELF.shelves(len(x), device), device)
    if ground.field.made:
        served = fresh.shelf.numpy()["reach"] > 0.0
        assert served.any()
        assert served.all() == (rows == 48)
        for slot in np.flatnonzero(served):
            rows_used = fresh.order.numpy()[: fresh.shelf.numpy()["count"][slot], slot]
            rock = fresh.rock.numpy()[rows_used, slot]
            cell = rock["cell"].astype(np.uint32)
            address = list(zip(rock["facet"], rock["octave"], cell, rock["index"], strict=True))
            assert address == sorted(set(address))
    assert sum(len(listed) > 1 for listed in one) > 5
    for mine, other, anew in zip(one, two, direct, strict=True):
        for name in mine.dtype.names:
            np.testing.assert_array_equal(mine[name], other[name])
        assert len(mine) == len(anew)
        # Found in another order.
        assert np.sort(mine["gap"]) == pytest.approx(np.sort(anew["gap"]), abs=1e-12)
