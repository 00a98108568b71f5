"""Rocks as ground: the least of all distances, exact near them, a safe bound far off."""

import numpy as np
import pytest

from alight import contact, engine, gravity, motions
from alight.core import devices
from alight.core.errors import InputError
from alight.core.frames import quat_rotate
from alight.core.outcomes import Outcome
from alight.shapes import Mesh, icosphere
from alight.surfaces import (
    AmplitudeMap,
    DistanceField,
    Facets,
    FractalNoise,
    Plane,
    RockField,
    Rocks,
    Rocky,
    Rough,
    Sphere,
)
from alight.vehicles import RigidLander

LAW = {"slope": 2.6, "density": 6e-3, "reference": 2.0, "smallest": 0.4, "largest": 8.0}
RADIUS = 24.0

#: Grounds under rocks, by name; the later ones need a kernel of their own.
BASES = {
    "facets": Facets,
    "field": lambda mesh: DistanceField.from_mesh(mesh, spacing=2.0),
    "coarse": lambda mesh: DistanceField.from_mesh(mesh, spacing=5.0),
    "sphere": lambda mesh: Sphere(radius=RADIUS),
    "hills": lambda mesh: Rough(Sphere(radius=RADIUS), FractalNoise(0.2, 20.0, octaves=2, seed=1)),
}
LATER = [pytest.param(kind, marks=pytest.mark.validate) for kind in ("sphere", "hills")]


@pytest.fixture(scope="module")
def ball():
    """320 facets of some 7 m: small rocks are many on each, large ones span several."""
    return icosphere(2, RADIUS)


@pytest.fixture(scope="module")
def rocks():
    return Rocks(**LAW, seed=8)


@pytest.fixture(scope="module")
def ground(ball, rocks):
    """Rocks below 1 m are made when asked for, some 300 others are kept."""
    return Rocky(Facets(ball), ball, rocks, kept=400)


@pytest.fixture(scope="module")
def table(ball, rocks):
    return RockField(rocks, ball).near()


def points_about(n, low, high, seed=0):
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(n, 3))
    return u / np.linalg.norm(u, axis=1)[:, None] * (RADIUS + rng.uniform(low, high, (n, 1)))


def to_rock(vertices, faces, points):
    """Signed distance to a convex polyhedron: highest plane inside, nearest triangle outside."""
    start = vertices[faces]
    along = np.roll(start, -1, axis=1) - start
    normal = np.cross(along[:, 0], along[:, 1])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    way = points[:, None, None] - start  # (points, faces, corners, 3)
    height = np.einsum("pfi,fi->pf", way[:, :, 0], normal)
    inward = np.cross(normal[:, None], along)
    over = (np.einsum("pfki,fki->pfk", way, inward) >= 0.0).all(axis=2)
    s = np.einsum("pfki,fki->pfk", way, along) / np.sum(along**2, axis=2)
    beside = np.linalg.norm(way - np.clip(s, 0.0, 1.0)[..., None] * along, axis=3).min(axis=2)
    outside = np.where(over, np.abs(height), beside).min(axis=1)
    return np.where(height.max(axis=1) < 0.0, height.max(axis=1), outside)


def by_brute_force(base, table, points):
    """The least of the base's distance and that of every rock."""
    found = base.query(points)[0]
    for vertices, place, size in zip(table.vertices, table.ground, table.size, strict=True):
        near = np.linalg.norm(points - place, axis=1) - size < np.maximum(found, 0.0)
        if near.any():
            found[near] = np.minimum(found[near], to_rock(vertices, table.faces, points[near]))
    return found


def test_it_is_the_least_of_all_distances(ball, ground, table, device):
    assert ground.field.made == 2
    assert len(ground.field.scene(devices.resolve(device)).kept.rock) > 200
    points = points_about(1500, -1.5, 4.0)
    found = ground.sample(points, device)
    expected = by_brute_force(Facets(ball), table, points)
    # Small rocks are exact within twice their reach, 1.9 m, and never told to be farther.
    assert (found.distance <= expected + 1e-12).all()
    near = expected < 1.9
    assert near.sum() > 800
    assert found.distance[near] == pytest.approx(expected[near], rel=1e-11, abs=1e-11)
    assert np.sum(expected < Facets(ball).query(points)[0] - 0.01) > 500  # rocks do count
    assert np.linalg.norm(found.normal, axis=1) == pytest.approx(1.0, rel=1e-13)


def test_what_is_kept_does_not_change_what_is_found(ball, rocks, ground):
    points = points_about(3000, -1.0, 1.0, seed=1)
    found = ground.sample(points)
    for kept in (0, 100, 10**6):
        other = Rocky(Facets(ball), Facets(ball), rocks, kept=kept).sample(points)
        # The same to rounding: compilers fuse operations one way here, another way there.
        assert other.distance == pytest.approx(found.distance, rel=1e-12, abs=1e-12)
        same = np.abs(found.normal - other.normal).max(axis=1) < 1e-9
        assert same.mean() > 0.999


@pytest.mark.parametrize("span", [(-2.0, 3.0), (1.0, 30.0), (10.0, 200.0)])
def test_distance_never_changes_faster_than_the_way(ground, span):
    """Also where bounds take over from exact distances."""
    rng = np.random.default_rng(2)
    x = points_about(20_000, *span, seed=3)
    step = rng.normal(size=x.shape) * 10.0 ** rng.uniform(-6, 1, (len(x), 1))
    change = np.abs(ground.query(x + step)[0] - ground.query(x)[0])
    way = np.linalg.norm(step, axis=1)
    assert (change <= way * (1.0 + 1e-9) + 1e-12).all()
    assert (ground.bounds.slope, ground.bounds.curvature) == (1.0, np.inf)


def test_far_off_it_is_a_lower_bound(ball, ground, table):
    points = points_about(300, 2.0, 60.0, seed=5)
    expected = by_brute_force(Facets(ball), table, points)
    found = ground.query(points)[0]
    assert (found <= expected + 1e-12).all()
    assert (found > 0.0).all()
    assert np.abs(found - expected).max() <= ground.field.reaches[0] * 1.5
    assert ground.query([[0.0, 0.0, 1e4]])[0][0] > 0.9e4


def test_it_is_zero_on_rocks(ground, table):
    rng = np.random.default_rng(7)
    weight = rng.dirichlet(np.ones(3), (len(table.size), 20))
    on_faces = np.einsum("nfk,nfki->nfi", weight, table.vertices[:, table.faces])
    for points in (table.vertices, on_faces):
        found = ground.query(points)[0]
        assert found.max() < 1e-11  # on a rock, if not inside another or below ground
        assert np.mean(np.abs(found) < 1e-11) > 0.4


def test_gradient_is_that_of_the_distance(ground):
    points, h = points_about(3000, -0.3, 1.0, seed=9), 1e-6
    gradient = ground.sample(points).gradient
    steps = [ground.query(points + s * h * e)[0] for e in np.eye(3) for s in (1, -1)]
    measured = np.stack([steps[0] - steps[1], steps[2] - steps[3], steps[4] - steps[5]], axis=1)
    apart = np.linalg.norm(measured / (2.0 * h) - gradient, axis=1)
    assert np.mean(apart < 1e-6) > 0.99  # but where the nearest feature changes


@pytest.mark.parametrize("kind", ["field", *LATER])
def test_rocks_stand_on_other_grounds(kind, ball, rocks):
    """On a smooth ground rocks are moved to it: their places are on it to second order."""
    base = BASES[kind](ball)
    ground = Rocky(base, ball, rocks, kept=400)
    assert 0.0 < ground.field.shift < 3.0
    moved = ground.field.near()
    before = np.abs(base.query(RockField(rocks, ball).near().ground)[0])
    after = np.abs(base.query(moved.ground)[0])
    assert after.max() < 0.25 * before.max()
    points = points_about(800, -0.5, 1.0, seed=11)
    expected = by_brute_force(base, moved, points)
    found = ground.query(points)[0]
    near = expected < 1.0
    assert near.sum() > 300
    assert found[near] == pytest.approx(expected[near], rel=1e-10, abs=1e-10)
    assert ground.bounds.slope == max(1.0, base.bounds.slope)
    assert "Rocky(" in repr(ground)


def pyramid(half=60.0, low=-80.0):
    """A flat square on top of a point."""
    top = [(-half, -half, 0), (half, -half, 0), (half, half, 0), (-half, half, 0), (0, 0, low)]
    return Mesh(top, [(0, 1, 2), (0, 2, 3), (0, 4, 1), (1, 4, 2), (2, 4, 3), (3, 4, 0)])


def test_no_ground_where_there_is_none():
    """Where all rocks are kept, or none, nothing is said about those that are not there."""
    mesh = pyramid()
    base = DistanceField.from_mesh(mesh, spacing=2.0, store=False)
    few = Rocks(slope=2.6, density=1e-4, reference=1.0, smallest=1.0, largest=4.0, seed=3)
    points = np.array([(3.0, 4.0, 0.5), (3.0, 4.0, 1.9), (3.0, 4.0, 3.9)])
    for kept in (None, 0):
        ground = Rocky(base, mesh, few, kept=kept)
        assert ground.query(points)[0] == pytest.approx(points[:, 2], rel=1e-6)


@pytest.mark.parametrize("kind", ["facets", "field", "coarse", *LATER])
def test_every_base_size_cover_and_way_of_keeping(kind, ball):
    """The least of bare ground and of every rock tried one by one, wherever it is exact."""
    base = BASES[kind](ball)
    rng = np.random.default_rng(21)
    for case, smallest in enumerate((0.3, 0.8, 2.0, 5.0)):
        largest = smallest * rng.uniform(1.3, 8.0)
        cover = 10.0 ** rng.uniform(-2.5, -0.5)
        law = {"slope": 2.6, "density": cover / smallest**2, "reference": smallest}
        rocks = Rocks(**law, smallest=smallest, largest=largest, seed=case)
        points = points_about(400, -0.5, 2.0 * smallest, seed=case)
        expected = None
        for kept in (10**7, 0, 150):
            ground = Rocky(base, ball, rocks, kept=kept)
            if expected is None:
                expected = by_brute_force(base, ground.field.near(), points)
            found = ground.query(points)[0]
            assert (found <= expected + 1e-10).all()
            exact = expected < 1.9 * min(reach for reach in ground.field.reaches if reach > 0.0)
            assert exact.sum() > 100
            assert found[exact] == pytest.approx(expected[exact], rel=1e-9, abs=1e-9)


def test_a_map_is_respected(ball):
    table = np.ones((19, 36))
    table[:9], table[9:] = 0.0, 1.0
    bare = Facets(ball)
    ground = Rocky(bare, ball, Rocks(**LAW, seed=3, density_map=AmplitudeMap(table, 60.0)), kept=0)
    points = points_about(4000, 0.0, 0.5, seed=13)
    z = points[:, 2] / np.linalg.norm(points, axis=1)
    changed = ground.query(points)[0] < bare.query(points)[0] - 1e-9
    assert not changed[z < -0.6].any()
    assert changed[z > 0.6].mean() > 0.2


def test_large_facets_and_unbounded_ground():
    """A plane with rocks on two facets of a kilometre."""
    s = 500.0
    top = [(-s, -s, 0), (s, -s, 0), (s, s, 0), (-s, s, 0)]
    low = [(x, y, -50.0) for x, y, _ in top]
    faces = [(0, 1, 2), (0, 2, 3), (4, 6, 5), (4, 7, 6)]
    for i in range(4):
        j = (i + 1) % 4
        faces += [(4 + i, 4 + j, j), (4 + i, j, i)]
    rocks = Rocks(slope=2.6, density=0.01, reference=1.0, smallest=0.1, largest=2.0, seed=2)
    mesh = Mesh(top + low, faces)
    bare = Facets(mesh)
    ground = Rocky(bare, mesh, rocks, kept=1000)
    rng = np.random.default_rng(1)
    points = rng.uniform(-8, 8, (600, 3)) * [1, 1, 0.05] + [100.0, -30.0, 0.3]
    near = RockField(rocks, mesh).near([100.0, -30.0, 0.0], 18.0)
    assert len(near.size) > 300
    expected = by_brute_force(bare, near, points)
    assert ground.query(points)[0] == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_bad_grounds_are_refused(ball, rocks):
    with pytest.raises(InputError, match="Surface"):
        Rocky("ball", ball, rocks)
    with pytest.raises(InputError, match="Mesh"):
        Rocky(Facets(ball), "ball", rocks)
    with pytest.raises(InputError, match="rocks"):
        Rocky(Facets(ball), ball, "rocks")
    with pytest.raises(InputError, match="mesh that the ground was made from"):
        Rocky(Plane(), ball, rocks)
    with pytest.raises(InputError, match="kept"):
        Rocky(Facets(ball), ball, rocks, kept=-1)


@pytest.mark.validate  # a kernel of its own: the shipped scenario with rocks is flown every day
def test_a_lander_comes_to_rest_among_rocks(ball, rocks, table):
    """A cube dropped on a rocky ball bounces and lies still, touching and not sunk in."""
    ground = Rocky(Facets(ball), ball, rocks, kept=400)
    model = motions.Model(
        gravity=gravity.PointMass(2.0),
        surface=ground,
        lander=RigidLander.cube(0.3, 2.0),
        contact=contact.Compliant(restitution=0.2, friction=0.8, touch="points"),
        stop=engine.Stop(max_time=5000.0),
    )
    largest = np.argsort(table.size)[-8:]
    place, up = table.vertices[largest].mean(axis=1), table.up[largest]
    releases = motions.Release(position=place + 6.0 * up, velocity=-0.02 * up)
    result = engine.run_batch(model, releases, device="cpu", show="silent")
    assert (result.outcome == Outcome.SETTLED).all()
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 0.15
    at = result.position[:, None] + quat_rotate(result.attitude[:, None], corners)
    lowest = ground.query(at, "cpu")[0].min(axis=1)
    assert np.abs(lowest).max() < 2e-3
    bare = Facets(ball).query(result.position, "cpu")[0]
    assert (bare > 0.5).any()  # on a rock; most fall off, as rocks are steep


@pytest.mark.validate  # kernels of their own
@pytest.mark.parametrize("kept", [None, 0, 300])
@pytest.mark.parametrize("rigid", [True, False])
def test_a_lander_that_is_a_point_touches_the_rocks_themselves(kept, rigid, ball, rocks):
    """Not the cylinders about them, nor a ground above the ground."""
    base = Facets(ball) if rigid else DistanceField.from_mesh(ball, spacing=2.0)
    ground = Rocky(base, ball, rocks, kept=kept)
    law = contact.Impulse if rigid else contact.Compliant
    model = motions.Model(
        gravity=gravity.PointMass(2.0),
        surface=ground,
        lander=RigidLander.point(1.0),
        contact=law(restitution=0.3, friction=0.5),
        stop=engine.Stop(max_time=3000.0),
    )
    place = points_about(60, 8.0, 8.0, seed=17)
    releases = motions.Release(position=place, velocity=-0.05 * place / np.linalg.norm(place[0]))
    result = engine.run_batch(model, releases, device="cpu", show="silent")
    assert (result.outcome == Outcome.SETTLED).all()
    first = ground.query(result.final["first_place"], "cpu")[0]
    assert np.abs(first).max() < (1e-9 if rigid else 1e-3)
    assert base.query(result.final["first_place"], "cpu")[0].max() > 0.5  # some meet a rock
