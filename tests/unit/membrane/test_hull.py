"""The shape of a membrane against SciPy's convex hull: random and degenerate sets."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from alight.core import devices
from alight.core.errors import InputError
from alight.membrane import Captive, Ring, hexagon, hull
from alight.membrane.ring import APART

DEVICES = [device.name for device in devices.available()]
RING = Ring(hexagon(7.5))
#: Suspension points stand off by APART of their reach; areas and volumes by a few times that.
TOLERANCE = 8 * APART
SHIFT, DOWN = np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0])

pytestmark = pytest.mark.parametrize("device", DEVICES)


def ellipsoid(count, seed=1, size=(2.2, 1.8, 1.5)):
    points = np.random.default_rng(seed).normal(size=(count, 3))
    return points / np.linalg.norm(points, axis=1)[:, None] * size


def cube(side=2.0, pieces=1):
    """Corners of a cube, or a grid of points on all its faces."""
    grid = np.linspace(-0.5 * side, 0.5 * side, pieces + 1)
    points = np.stack(np.meshgrid(grid, grid, grid), axis=-1).reshape(-1, 3)
    return points[np.abs(points).max(axis=1) > 0.5 * side - 1e-12]


def poses(count, seed=2, lowest=-5.0, highest=2.0):
    rng = np.random.default_rng(seed)
    x = rng.uniform((-2.0, -2.0, lowest), (2.0, 2.0, highest), (count, 3))
    return x, Rotation.random(count, random_state=seed).as_quat()


def compare(shape, points, x, q, suspension=None):
    """Area, volume and touched points are SciPy's; True if there was contact."""
    suspension = RING.suspension if suspension is None else suspension
    placed = x + Rotation.from_quat(q).apply(points)
    below = placed[placed[:, 2] < 0.0]
    if not len(below):
        assert shape.below == 0
        assert len(shape.triangles) == 0
        return False
    other = ConvexHull(np.concatenate([suspension, below]))
    area = RING.area if suspension is RING.suspension else ConvexHull(suspension[:, :2]).volume
    assert shape.area == pytest.approx(other.area - area, rel=TOLERANCE)
    assert shape.volume == pytest.approx(other.volume, rel=TOLERANCE)
    return True


def closed(shape, count):
    """Every edge has two triangles but the sides of the polygon, which have one."""
    edges = np.sort(
        np.concatenate([shape.triangles[:, [a, b]] for a, b in ((0, 1), (1, 2), (2, 0))])
    )
    _, times = np.unique(edges, axis=0, return_counts=True)
    assert (times == 1).sum() == count
    assert times.max() <= 2


@pytest.mark.parametrize("count", [1, 2, 3, 4, 8, 40, 300])
def test_random_bodies_in_random_poses(device, count):
    points = ellipsoid(count)
    x, q = poses(100)
    shapes = hull(points, RING, x, q, device=device)
    met = [compare(s, points, a, b) for s, a, b in zip(shapes, x, q, strict=True)]
    assert sum(met) > 50
    for shape in shapes:
        assert shape.rim == 0
        if shape.below:
            closed(shape, 6)


def test_touching_vertices_are_those_of_the_hull(device):
    points = ellipsoid(60)
    x, q = poses(40)
    for shape, a, b in zip(hull(points, RING, x, q, device=device), x, q, strict=True):
        placed = a + Rotation.from_quat(b).apply(points)
        below = placed[placed[:, 2] < 0.0]
        if not len(below):
            continue
        other = ConvexHull(np.concatenate([RING.suspension, below]))
        wanted = other.points[other.vertices[other.vertices >= 6]]
        found = shape.points[shape.touching]
        assert len(found) == len(wanted)
        gaps = np.linalg.norm(found[:, None] - wanted[None], axis=-1).min(axis=1)
        assert gaps.max() < 1e-12


@pytest.mark.parametrize("pieces", [1, 3])
@pytest.mark.parametrize("depth", [1e-9, 1e-6, 0.3, 1.7, 2.5])
def test_cube_flat_on_the_membrane(device, pieces, depth):
    # Four coplanar corners (or a grid of them), parallel to the plane and to sides of the ring.
    points = cube(pieces=pieces)
    x, q = np.array([0.0, 0.0, 1.0 - depth]), np.array([0.0, 0.0, 0.0, 1.0])
    shape = hull(points, RING, x, q, device=device)
    below = (x + points)[(x + points)[:, 2] < 0.0]
    if depth > 1e-8:  # SciPy joins facets that are flatter
        other = ConvexHull(np.concatenate([RING.suspension, below]))
        assert shape.area == pytest.approx(other.area - RING.area, rel=TOLERANCE)
    assert shape.volume > 0.0
    closed(shape, 6)
    assert len(shape.touching) == 4


def test_plane_of_a_face_through_suspension_points(device):
    # A wedge whose face lies in one plane with a side of the ring: five or more coplanar points.
    ring = hexagon(7.5)
    low = np.array([0.0, 0.0, -3.0])
    middle = 0.5 * (ring[0] + ring[1])
    shares = np.array([[0.5, 0.5], [0.7, 0.4], [0.6, 0.1], [0.9, 0.9]])
    face = low + shares[:, :1] * (ring[0] - low) * 0.5 + shares[:, 1:] * (ring[1] - low) * 0.5
    points = np.concatenate([face, [low, (0.0, 0.0, 2.0), (-1.0, -1.0, 1.0)], middle[None] * 0.1])
    shape = hull(points, RING, (0.0, 0.0, 0.0), device=device)
    other = ConvexHull(np.concatenate([ring, points[points[:, 2] < 0.0]]))
    assert shape.area == pytest.approx(other.area - RING.area, rel=TOLERANCE)
    assert shape.volume == pytest.approx(other.volume, rel=TOLERANCE)
    closed(shape, 6)


@pytest.mark.parametrize(
    "points",
    [
        [[0.3, 0.2, 0.1]],
        [[0.3, 0.2, 0.1]] * 5,
        [[-1.0, 0.0, 0.0], [1.0, 0.5, 0.2]],
        [[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.2, 0.0, 0.0], [0.2, 0.0, 0.0]],
        [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 0]],
        np.repeat(cube(), 3, axis=0),
        np.concatenate([cube(), 0.5 * cube(), np.zeros((1, 3))]),
    ],
    ids=["one", "repeated", "rod", "line", "plate", "repeated cube", "points inside"],
)
def test_degenerate_bodies(device, points):
    points = np.asarray(points, dtype=float)
    x, q = poses(60, seed=5, lowest=-3.0, highest=1.0)
    shapes = hull(points, RING, x, q, device=device)
    assert sum(compare(s, points, a, b) for s, a, b in zip(shapes, x, q, strict=True)) > 20
    for shape in shapes:
        if shape.below:
            closed(shape, 6)


def test_whole_numbers(device):
    # Bodies and poses on a grid, over rings on the same grid: coplanar, collinear, repeated points.
    rng = np.random.default_rng(6)
    square = np.array([[8, 8, 0], [-8, 8, 0], [-8, -8, 0], [8, -8, 0]], dtype=float)
    triangle = np.array([[16, -8, 0], [-16, -8, 0], [0, 24, 0]], dtype=float)
    met = 0
    for trial in range(200):
        suspension = (square, triangle)[trial % 2]
        points = rng.integers(-2, 3, (rng.integers(1, 14), 3)).astype(float)
        x = 0.5 * rng.integers((-4, -4, -8), (5, 5, 3), (8, 3))
        turned = np.tile((0.0, 0.0, 0.0, 1.0), (8, 1))
        for shape, a, b in zip(
            hull(points, suspension, x, turned, device=device), x, turned, strict=True
        ):
            if shape.below and not shape.rim:
                met += compare(shape, points, a, b, suspension)
                closed(shape, len(suspension))
    assert met > 1000


def test_nothing_below(device):
    shape = hull(cube(), RING, (0.0, 0.0, 1.0), device=device)
    assert (shape.below, len(shape.triangles), shape.volume) == (0, 0, 0.0)
    assert shape.area == RING.area


@pytest.mark.parametrize("count", [3, 4, 5, 12])
def test_other_polygons(device, count):
    angle = np.sort(np.random.default_rng(count).uniform(0.0, 0.5, count) + np.arange(count))
    angle = angle * 2.0 * np.pi / count
    suspension = 9.0 * np.stack([np.cos(angle), np.sin(angle), np.zeros(count)], axis=1)
    points = ellipsoid(30, size=(1.2, 0.8, 1.0))
    x, q = poses(40, seed=count)
    x[:, :2] *= 0.5
    shapes = hull(points, suspension, x, q, device=device)
    assert sum(compare(s, points, a, b, suspension) for s, a, b in zip(shapes, x, q, strict=True))
    for shape in shapes:
        assert shape.rim == 0
        if shape.below:
            closed(shape, count)


def test_body_past_the_rim_is_told(device):
    assert hull(cube(), RING, (6.4, 0.0, 0.0), device=device).rim > 0
    assert hull(cube(), RING, (0.0, 0.0, 0.0), device=device).rim == 0
    # Far below, a body may be wider than the ring.
    assert hull(20.0 * cube(), RING, (0.0, 0.0, -21.0), device=device).rim == 0


def test_line_in_the_plane(device):
    # 2D: pieces of a line around the corners below, as the hull of all of them but its upper side.
    rng = np.random.default_rng(4)
    corners = np.stack([np.cos(t := np.linspace(0, 6.1, 9)), 0.6 * np.sin(t)], axis=1)
    x = rng.uniform((-2.0, 0.0, -3.0), (2.0, 0.0, 0.8), (60, 3)) * (1.0, 0.0, 1.0)
    turn = rng.uniform(0.0, 2.0 * np.pi, 60)
    q = Rotation.from_rotvec(np.outer(turn, (0.0, 1.0, 0.0))).as_quat()
    ends = np.array([[-5.0, 0.0], [5.0, 0.0]])
    met = 0
    for shape, a, b in zip(hull(corners, ends, x, q, device=device), x, q, strict=True):
        placed = (a + Rotation.from_quat(b).apply(np.insert(corners, 1, 0.0, axis=1)))[:, [0, 2]]
        below = placed[placed[:, 1] < 0.0]
        if len(below):
            other = ConvexHull(np.concatenate([ends, below]))
            assert shape.area == pytest.approx(other.area - 10.0, rel=TOLERANCE)
            assert shape.volume == pytest.approx(other.volume, rel=TOLERANCE)
            met += 1
        else:
            assert shape.below == 0
    assert met > 20


@pytest.mark.parametrize("corners", [[[0.1, 0.2]], [[-1, 0], [1, 0.1]], [[0, 0], [1, 0], [2, 0]]])
def test_degenerate_bodies_in_the_plane(device, corners):
    shape = hull(corners, [[-5.0, 0.0], [5.0, 0.0]], (0.0, 0.0, -1.0), device=device)
    points = np.array(corners, dtype=float) - DOWN
    other = ConvexHull(np.concatenate([[[-5.0, 0.0], [5.0, 0.0]], points]))
    assert shape.area == pytest.approx(other.area - 10.0, rel=TOLERANCE)


def test_axes_of_the_ring_do_not_matter(device):
    points = ellipsoid(30)
    turn = Rotation.from_rotvec((0.4, 1.2, -0.8))
    x, q = poses(10, lowest=-2.0, highest=0.0)
    plain = hull(points, RING, x, q, device=device)
    moved = Ring(turn.apply(RING.suspension) + SHIFT, up=turn.apply((0.0, 0.0, 1.0)))
    there = turn.apply(x) + SHIFT
    turned = hull(points, moved, there, (turn * Rotation.from_quat(q)).as_quat(), device=device)
    for one, other in zip(plain, turned, strict=True):
        assert other.area == pytest.approx(one.area, rel=TOLERANCE)


def test_two_and_three_dimensions_do_not_mix(device):
    with pytest.raises(InputError, match="in 2D and the body is in 3D"):
        hull(cube(), [[-5.0, 0.0], [5.0, 0.0]], device=device)
    with pytest.raises(InputError, match="in 3D and the body is in 2D"):
        hull([[0.0, 0.0]], RING, device=device)


def test_vertices_inside_the_body_do_nothing(device):
    # Only the body's own hull can touch: a concave body is its hull.
    points = ellipsoid(50)
    with_dents = np.concatenate([points, 0.6 * ellipsoid(200, seed=9)])
    assert len(Captive(1.0, np.eye(3), with_dents).hull.vertices) == 50
    x, q = poses(30)
    shapes = hull(with_dents, RING, x, q, device=device)
    for shape, a, b in zip(shapes, x, q, strict=True):
        compare(shape, with_dents, a, b)
