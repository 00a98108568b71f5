"""How long a hull stays clear: it never touches sooner, and not much later.

Reference: the motion itself, sampled. Rates are of a body that turns evenly, so the path of each of
its points is known exactly; ``contact.distance`` tells when it first overlaps the ground.
"""

import functools

import numpy as np
import pytest
import warp as wp
from scipy.spatial.transform import Rotation

from alight import Mesh, contact, surfaces, vehicles
from alight.contact.hull.supported_surfaces import clear_function, touching_hull
from alight.contact.time_to_contact.feature_pairs import flying_from
from alight.core import devices
from alight.core.types import quat, scalar, vec3
from alight.core.warp_setup import HULL_OPTIONS
from alight.shapes import icosphere
from alight.surfaces.rocks.nearby_cache import NO_SHELF, ShelfSize, Shelves
from alight.vehicles.rigid.hull_data import HullData

DEVICES = [device.name for device in devices.available()]
RADIUS = 8.0
PULL = 1e-3
LONGEST = 20.0
SHELF = ShelfSize(rows=12, ahead=0.5, spare=0.3)
LANDERS = {
    "cube": vehicles.RigidLander.cube(0.4, 1.0),
    "plate": vehicles.RigidLander.box((0.6, 0.6, 0.05), 1.0),
    "drum": vehicles.RigidLander.cylinder(0.4, 0.3, 1.0, sides=12),
}


def lumpy():
    """Facets of about the size of the landers, with sharp ridges and valleys."""
    ball = icosphere(4)
    bumps = np.random.default_rng(3).uniform(-1.0, 1.0, ball.n_vertices)
    return Mesh(ball.vertices * (RADIUS * (1.0 + 0.02 * bumps))[:, None], ball.faces)


@functools.cache
def ground_of(kind):
    facets = surfaces.Facets(lumpy())
    if kind == "facets":
        return facets
    law = {"slope": 2.5, "density": 0.3, "reference": 0.5, "smallest": 0.15, "largest": 1.0}
    return surfaces.Rocky(facets, facets.mesh, surfaces.Rocks(**law, cover=0.4, seed=3), kept=300)


@functools.cache
def times_kernel(GroundData, clear):
    @wp.kernel(module="unique", enable_backward=False, module_options=HULL_OPTIONS)
    def find_times(
        offset: int,
        ground: GroundData,
        hull: HullData,
        size: scalar,
        x: wp.array(dtype=vec3),
        q: wp.array(dtype=quat),
        v: wp.array(dtype=vec3),
        w: wp.array(dtype=vec3),
        shelves: Shelves,
        time_out: wp.array(dtype=scalar),
    ) -> None:
        i = wp.tid() + offset
        given = flying_from(x[i], q[i], v[i], w[i], vec3(), scalar(PULL), size, scalar(LONGEST))
        now = clear(ground, hull, shelves, i, given)
        time_out[i] = now.clear

    return find_times


def clear_times(ground, lander, motion, device="cpu", shelves=None):
    """(n,) [s]."""
    if shelves is None:
        shelves = NO_SHELF.shelves(len(motion[0]), devices.resolve(device))
    target, ball = devices.resolve(device), lander.n_points == 1
    x, q, v, w = motion
    kinds = (vec3, quat, vec3, vec3)
    arrays = [
        wp.array(np.ascontiguousarray(a), dtype=kind, device=target.name)
        for a, kind in zip((x, q, v, w), kinds, strict=True)
    ]
    size = lander.radii[0] if ball else lander.bounding_radius
    inputs = [ground.data(target), touching_hull(lander, target), scalar(size), *arrays, shelves]
    out = wp.empty(len(x), dtype=scalar, device=target.name)
    kernel = times_kernel(ground.Data, clear_function(ground, ball))
    devices.launch(kernel, len(x), inputs, target, outputs=[out])
    return out.numpy()


def motions(count, low, high, seed=0):
    """Poses that far over the facets' mean radius, moving and turning in any direction."""
    rng = np.random.default_rng(seed)
    up = rng.normal(size=(count, 3))
    up /= np.linalg.norm(up, axis=1, keepdims=True)
    q = rng.normal(size=(count, 4))
    x = up * (RADIUS + rng.uniform(low, high, count))[:, None]
    v = rng.normal(size=(count, 3)) * 10.0 ** rng.uniform(-2.0, -0.5, (count, 1))
    w = rng.normal(size=(count, 3)) * 10.0 ** rng.uniform(-2.0, 0.3, (count, 1))
    return x, q / np.linalg.norm(q, axis=1, keepdims=True), v, w


def moved(motion, t):
    """Poses after t (n,) [s]; the pull is towards the middle, as it was at the start."""
    x, q, v, w = motion
    down = -x / np.linalg.norm(x, axis=1, keepdims=True)
    t = np.asarray(t)[:, None]
    # Turned at an even body rate.
    turned = Rotation.from_quat(q) * Rotation.from_rotvec(w * t)
    return x + v * t + 0.5 * PULL * down * t**2, turned.as_quat()


def first_touch(ground, lander, motion, until, steps=200):
    """(n,) the first of some times up to ``until`` (n,) [s] at which they overlap; else inf."""
    found = np.full(len(until), np.inf)
    for share in np.linspace(0.0, 1.0, steps + 1)[1:]:
        x, q = moved(motion, share * until)
        gap = contact.distance(ground, lander, x, q, device="cpu").distance
        found = np.where((gap < 0.0) & ~(found < np.inf), share * until, found)
    return found


#: Kernels of rocks take twenty seconds each to compile.
ROCKS = [pytest.param(kind, marks=pytest.mark.validate) for kind in ("rocks", "shelves")]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", LANDERS)
@pytest.mark.parametrize("kind", ["facets", *ROCKS])
def test_nothing_is_touched_while_clear(kind, name, device):
    ground, lander = ground_of(kind), LANDERS[name]
    shelf = SHELF if kind == "shelves" else NO_SHELF
    motion = motions(400, 0.1, 1.5)
    start = contact.distance(ground, lander, motion[0], motion[1], device="cpu").distance
    motion = [a[start > 1e-3] for a in motion]
    assert len(motion[0]) > 200
    shelves = shelf.shelves(len(motion[0]), devices.resolve(device))
    time = clear_times(ground, lander, motion, device, shelves)
    assert (time > 0.0).all()
    if kind == "shelves":
        reach = shelves.shelf.numpy()["reach"]
        assert (reach > 0.0).mean() > 0.5
        assert (reach < 0.0).any()  # too many rocks for one
    # Just before the end: a touch at the end itself is what was looked for.
    first = first_touch(ground, lander, motion, 0.999 * time, steps=60)
    assert not (first < np.inf).any()


@pytest.mark.parametrize("name", LANDERS)
@pytest.mark.parametrize("kind", ROCKS)
def test_straight_down_on_a_rock(kind, name):
    """Along the shortest way, and without turning: clear up to the touch, and no longer."""
    ground, lander, speed = ground_of("rocks"), LANDERS[name], 0.3
    x, q, _, _ = motions(600, 0.3, 0.8, seed=6)
    near = contact.distance(ground, lander, x, q, device="cpu")
    rock = (near.facet == -2) & (near.distance > 1e-3) & (near.distance < 0.1)
    count = int(rock.sum())
    assert count > 30
    motion = x[rock], q[rock], -speed * near.normal[rock], np.zeros((count, 3))
    shelf = SHELF if kind == "shelves" else NO_SHELF
    shelves = shelf.shelves(count, devices.resolve("cpu"))
    time = clear_times(ground, lander, motion, shelves=shelves)
    touch = near.distance[rock] / speed
    # The bound allows for half as much pull again: g t / v = 1e-3 of the way.
    assert (time < 1.001 * touch).all()
    assert np.median(time / touch) > 0.99


@pytest.mark.validate
@pytest.mark.parametrize("ball", [False, True], ids=["hull", "ball"])
@pytest.mark.parametrize("device", DEVICES)
def test_when_a_shelf_was_filled_changes_no_bit(ball, device):
    ground = ground_of("rocks")
    lander = vehicles.RigidLander.sphere(0.3, 1.0) if ball else LANDERS["cube"]
    motion = motions(400, 0.2, 1.0)
    target = devices.resolve(device)
    used, anew = (SHELF.shelves(400, target) for _ in range(2))
    clear_times(ground, lander, motion, device, used)
    before = used.shelf.numpy()
    rng = np.random.default_rng(1)
    x = motion[0] + rng.uniform(-0.1, 0.1, (400, 3))
    moved_on = (x, *motion[1:])
    time = clear_times(ground, lander, moved_on, device, used)
    after = used.shelf.numpy()
    same = (before["center"] == after["center"]).all(axis=1) & (after["reach"] > 0.0)
    assert same.mean() > 0.3
    np.testing.assert_array_equal(time, clear_times(ground, lander, moved_on, device, anew))


def test_a_touch_is_found_in_a_few_steps():
    """Steps that end where a touch is close: from millimetres to rounding in five of them."""
    ground, lander = ground_of("facets"), LANDERS["cube"]
    motion = motions(300, 0.1, 0.6, seed=4)
    start = contact.distance(ground, lander, motion[0], motion[1], device="cpu").distance
    motion = [a[start > 1e-3] for a in motion]
    time = first_touch(ground, lander, motion, np.full(len(motion[0]), 5.0), steps=100)
    motion = [a[time < np.inf] for a in motion]
    assert len(motion[0]) > 30
    gone = np.zeros(len(motion[0]))
    x, q, v, w = motion
    down = -x / np.linalg.norm(x, axis=1, keepdims=True)
    gaps = []
    for _ in range(30):
        x, q = moved(motion, gone)
        gaps.append(contact.distance(ground, lander, x, q, device="cpu").distance)
        gone += clear_times(ground, lander, (x, q, v + PULL * down * gone[:, None], w))
    gaps = np.array(gaps)
    assert gaps.min() > -1e-9
    close = np.argmax(gaps < 1e-3, axis=0)
    there = np.argmax(gaps < 1e-10, axis=0)
    ended = (gaps < 1e-10).any(axis=0)
    assert ended.mean() > 0.9
    assert np.median((there - close)[ended]) <= 5.0


@pytest.mark.parametrize("kind", ["facets", *ROCKS])
def test_a_ball(kind):
    """Its middle is as far from the ground as its radius when it touches, and never nearer."""
    ground, ball = ground_of(kind), vehicles.RigidLander.sphere(0.3, 1.0)
    motion = motions(400, 0.3, 1.0, seed=2)
    apart = ground.query(motion[0], device="cpu")[0] > 0.151
    motion = [a[apart] for a in motion]
    shelf = SHELF if kind == "shelves" else NO_SHELF
    shelves = shelf.shelves(len(motion[0]), devices.resolve("cpu"))
    time = clear_times(ground, ball, motion, shelves=shelves)
    for share in np.linspace(0.02, 1.0, 50):
        x, _ = moved(motion, share * time)
        assert (ground.query(x, device="cpu")[0] > 0.15 - 1e-9).all()


def test_a_peak_under_a_face():
    """A plate that comes down flat on the tip of a pyramid: no corner or edge of it is near."""
    corners = 50.0 * np.array([[1, 1, -1], [-1, 1, -1], [-1, -1, -1], [1, -1, -1], [0, 0, 0.0]])
    faces = [[1, 0, 2], [2, 0, 3], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]
    ground = surfaces.Facets(Mesh(corners, faces))
    gap, speed = np.array([1e-6, 1e-4, 1e-2]), 0.05
    x = np.column_stack([np.full((3, 2), 0.1), gap + 0.025])
    q = np.tile([0.0, 0.0, 0.0, 1.0], (3, 1))
    v = np.tile([0.0, 0.0, -speed], (3, 1))
    time = clear_times(ground, LANDERS["plate"], (x, q, v, np.zeros((3, 3))))
    touch = gap / speed
    assert (time <= touch).all()
    assert time == pytest.approx(touch, rel=1e-2)


def test_what_touches_and_opens_is_free():
    """A cube on a facet that leaves it: as long as gravity takes to bring it back."""
    half = 0.2
    corners = 50.0 * np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0], [0, 0, -1.0]])
    faces = [[0, 1, 2], [0, 2, 3], [1, 0, 4], [2, 1, 4], [3, 2, 4], [0, 3, 4]]
    ground = surfaces.Facets(Mesh(corners, faces))
    x = np.array([[3.0, -2.0, half], [3.0, -2.0, half]])
    q = np.tile([0.0, 0.0, 0.0, 1.0], (2, 1))
    v = np.array([[0.1, 0.0, 0.01], [0.1, 0.0, -0.01]])
    time = clear_times(ground, LANDERS["cube"], (x, q, v, np.zeros((2, 3))))
    # The bound allows for half as much pull again.
    assert time[0] == pytest.approx(2.0 * 0.01 / (1.5 * PULL))
    assert time[1] < 1e-9
