"""Distances and contacts of hulls and facets: closed forms, and brute force over all pairs.

Two polyhedra that do not overlap are nearest at corner and face or at edge and edge: the reference
takes the least of all such pairs, with other formulas than the kernels have.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from alight.contact import contacts, distance
from alight.contact.hull.contact_list import MOST
from alight.contact.hull.feature_pairs import CORNER, EDGES, NOTHING, PEAK
from alight.core import devices
from alight.core.errors import AlightError
from alight.shapes import Mesh, icosphere
from alight.surfaces import Facets
from alight.vehicles import RigidLander
from alight.vehicles.rigid import hull_meshes

UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])
DEVICES = [device.name for device in devices.available()]


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


# -- the reference ----------------------------------------------------------------------------


def to_segments(points, a, b):
    """(n, m) distances of points to segments."""
    d = b - a
    s = np.einsum("nmi,mi->nm", points[:, None] - a, d) / np.einsum("mi,mi->m", d, d)
    foot = a + np.clip(s, 0.0, 1.0)[..., None] * d
    return np.linalg.norm(points[:, None] - foot, axis=2)


def to_triangles(points, corners):
    """(n, m) distances of points to triangles: to the plane if over it, else to the edges."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    over = np.ones((len(points), len(corners)), bool)
    rim = np.full(over.shape, np.inf)
    for k in range(3):
        a, b = corners[:, k], corners[:, (k + 1) % 3]
        inward = np.cross(normal, b - a)
        over &= np.einsum("nmi,mi->nm", points[:, None] - a, inward) >= 0.0
        rim = np.minimum(rim, to_segments(points, a, b))
    height = np.abs(np.einsum("nmi,mi->nm", points[:, None] - corners[:, 0], normal))
    return np.where(over, height, rim)


def between_segments(p, q, a, b):
    """(n, m) distances: on the common normal where that meets both, else of an end."""
    d, e, r = (q - p)[:, None], (b - a)[None], a[None] - p[:, None]
    c = np.cross(d, e)
    square = np.einsum("nmi,nmi->nm", c, c)
    with np.errstate(divide="ignore", invalid="ignore"):
        s = np.einsum("nmi,nmi->nm", np.cross(r, e), c) / square
        t = np.einsum("nmi,nmi->nm", np.cross(r, d), c) / square
        apart = np.abs(np.einsum("nmi,nmi->nm", r, c)) / np.sqrt(square)
    inner = (s >= 0.0) & (s <= 1.0) & (t >= 0.0) & (t <= 1.0) & (square > 0.0)
    ends = np.minimum(to_segments(p, a, b), to_segments(q, a, b))
    ends = np.minimum(ends, np.minimum(to_segments(a, p, q), to_segments(b, p, q)).T)
    return np.where(inner, apart, ends)


def brute(ground, hull, position, attitude):
    """The least distance of all pairs of features."""
    place = Rotation.from_quat(attitude).apply(np.array(hull.vertices)) + position
    found = [to_triangles(place, ground.vertices[ground.faces]).min()]
    found.append(to_triangles(ground.vertices, place[hull.faces]).min())
    p, q = (ground.vertices[ground.edges[:, k]] for k in (0, 1))
    a, b = (place[hull.edges[:, k]] for k in (0, 1))
    found.append(between_segments(p, q, a, b).min())
    return min(found)


def rocky(seed=0, cuts=2, radius=4.0):
    """A ball with peaks and valleys."""
    ball = icosphere(cuts, radius)
    rng = np.random.default_rng(seed)
    return Mesh(ball.vertices * rng.uniform(0.8, 1.2, (ball.n_vertices, 1)), ball.faces)


def staircase():
    """A hull that is not convex: an L of 1 x 1 x 0.5 m with a notch of 0.6 m."""
    outline = np.array([(0.4, 0.4), (0.4, 1), (0, 1), (0, 0), (1, 0), (1, 0.4)]) - 0.4
    low = np.column_stack([outline, np.full(6, -0.25)])
    vertices = np.concatenate([low, low + np.array([0.0, 0.0, 0.5])])
    fan = [(0, i, i + 1) for i in range(1, 5)]
    faces = [(a, c, b) for a, b, c in fan] + [(a + 6, b + 6, c + 6) for a, b, c in fan]
    for i in range(6):
        j = (i + 1) % 6
        faces += [(i, j, j + 6), (i, j + 6, i + 6)]
    return Mesh(vertices, faces)


HULLS = {
    "cube": hull_meshes.box((0.5, 0.5, 0.5)),
    "plate": hull_meshes.box((1.0, 0.6, 0.02)),
    "prism": hull_meshes.prism(7, 0.8, 0.3),
    "staircase": staircase(),
}


def poses_around(ground, hull, count, seed=1):
    """Poses from touching to far away, in any attitude."""
    rng = np.random.default_rng(seed)
    way = rng.normal(size=(count, 3))
    way /= np.linalg.norm(way, axis=1)[:, None]
    height = ground.bounding_radius + hull.bounding_radius * rng.uniform(-0.5, 3.0, (count, 1))
    return way * height, Rotation.random(count, random_state=seed).as_quat()


# -- distances --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HULLS)
def test_all_pairs(name, device):
    hull = HULLS[name]
    for seed in range(2):
        mesh = rocky(seed)
        x, q = poses_around(mesh, hull, 150, seed + 10)
        found = distance(Facets(mesh), hull, x, q, device=device)
        exact = np.array([brute(mesh, hull, *pose) for pose in zip(x, q, strict=True)])
        apart = found.distance > 0.0
        assert apart.sum() > 60
        assert np.abs(found.distance - exact)[apart].max() < 1e-12
        gap = found.on_lander - found.on_ground
        along = found.distance[:, None] * found.normal
        assert np.abs(gap - along)[apart].max() < 1e-12
        assert np.abs(np.linalg.norm(found.normal, axis=1) - 1.0).max() < 1e-14
        assert set(found.kind[apart]) >= {CORNER, EDGES}


def test_witnesses_lie_on_both_surfaces(device):
    mesh, hull = rocky(3), HULLS["prism"]
    x, q = poses_around(mesh, hull, 100)
    found = distance(Facets(mesh), hull, x, q, device=device)
    apart = found.distance > 0.0
    on_ground = Facets(mesh).query(found.on_ground, device)[0]
    inside = Rotation.from_quat(q).inv().apply(found.on_lander - x)
    on_lander = Facets(hull).query(inside, device)[0]
    assert np.abs(on_ground[apart]).max() < 1e-13
    assert np.abs(on_lander[apart]).max() < 1e-13
    corners = mesh.vertices[mesh.faces[found.facet]]
    near = [to_triangles(p[None], c[None])[0, 0] for p, c in zip(found.on_ground, corners)]  # noqa: B905
    assert np.max(near) < 1e-13


def test_cube_over_a_plane(device):
    """The lowest corner: z - sum |R_zi| s/2 above a slab."""
    slab = Facets(hull_meshes.box((40.0, 40.0, 2.0)).translated([0.0, 0.0, -1.0]))
    turn = Rotation.random(50, random_state=2)
    height = np.linspace(1.0, 3.0, 50)
    x = np.column_stack([np.linspace(-5, 5, 50), np.linspace(3, -3, 50), height])
    found = distance(slab, RigidLander.cube(1.0, 5.0), x, turn.as_quat(), device=device)
    expected = height - 0.5 * np.abs(turn.as_matrix()[:, 2]).sum(axis=1)
    assert np.abs(found.distance - expected).max() < 1e-14
    assert found.normal == pytest.approx(np.tile([0.0, 0.0, 1.0], (50, 1)), abs=1e-15)
    assert (found.kind == CORNER).all()


def roof(length=20.0, width=4.0, height=2.0):
    """A roof whose ridge runs along x at z = 0."""
    x, y = 0.5 * length, 0.5 * width
    low = [(-x, -y, -height), (x, -y, -height), (x, y, -height), (-x, y, -height)]
    vertices = [*low, (-x, 0, 0), (x, 0, 0)]
    faces = [(0, 2, 1), (0, 3, 2), (0, 1, 5), (0, 5, 4), (2, 3, 4), (2, 4, 5), (0, 4, 3), (1, 2, 5)]
    return Mesh(vertices, faces)


def on_edge(angle=0.0):
    """A cube with one edge down, turned by ``angle`` about z: the edge along y at 0."""
    return (Rotation.from_euler("z", angle) * Rotation.from_euler("y", np.pi / 4)).as_quat()


@pytest.mark.parametrize("gap", [2.0, 1e-3, 1e-8])
@pytest.mark.parametrize("angle", [0.0, 0.3, 1.2])
def test_edge_over_edge(gap, angle, device):
    """A cube's edge across a ridge: straight above each other, whatever the angle between."""
    half = 0.5 * np.sqrt(2.0)
    x = np.array([1.3, 0.1, half + gap])
    cube = hull_meshes.box((1.0, 1.0, 1.0))
    found = distance(Facets(roof()), cube, x, on_edge(angle), device=device)
    assert found.distance == pytest.approx(gap, abs=3e-15)
    assert found.kind == EDGES
    assert found.normal == pytest.approx([0.0, 0.0, 1.0], abs=1e-13)
    # The edge runs along (-sin, cos): it meets y = 0 at x + 0.1 tan(angle).
    assert found.on_ground == pytest.approx([1.3 + 0.1 * np.tan(angle), 0.0, 0.0], abs=1e-9)


def pyramid(height=1.0):
    """A peak at the origin over a square."""
    base = [(-2, -2, -height), (2, -2, -height), (2, 2, -height), (-2, 2, -height)]
    faces = [(0, 2, 1), (0, 3, 2), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)]
    return Mesh([*base, (0, 0, 0)], faces)


@pytest.mark.parametrize("gap", [0.7, 1e-6, 1e-10])
def test_peak_under_a_face(gap, device):
    """The middle of a cube's face, tilted by less than the peak's slopes."""
    turn = Rotation.from_euler("xyz", [0.1, -0.05, 0.4])
    normal = turn.apply([0.0, 0.0, 1.0])
    x = (0.5 + gap) * normal + turn.apply([0.11, -0.2, 0.0])
    found = distance(
        Facets(pyramid()), hull_meshes.box((1, 1, 1)), x, turn.as_quat(), device=device
    )
    assert found.kind == PEAK
    assert found.distance == pytest.approx(gap, abs=1e-15)
    assert found.normal == pytest.approx(normal, abs=1e-15)
    assert found.on_ground == pytest.approx([0.0, 0.0, 0.0], abs=1e-15)


def test_a_peak_in_a_notch(device):
    """A spike in the notch of a staircase, whose convex hull it would be inside of."""
    spike = Mesh(pyramid().vertices * [0.05, 0.05, 1.0], pyramid().faces)
    down = Rotation.align_vectors([[0, 0, -1.0]], [[1, 1, 0]])[0]
    x = np.array([[0.0, 0.0, 0.1], [0.03, 0.02, 0.05]])
    found = distance(Facets(spike), staircase(), x, down.as_quat(), device=device)
    exact = [brute(spike, staircase(), place, down.as_quat()) for place in x]
    assert found.distance == pytest.approx(exact, abs=1e-14)
    # The inner edge runs through the origin of the body: it is never nearest, its two faces are.
    convex = hull_meshes.box((1, 1, 0.5))
    assert distance(Facets(spike), convex, x, down.as_quat(), device=device).distance.max() <= 0.0


# -- touching and overlap ---------------------------------------------------------------------


def test_corners_on_corners_edges_and_facets(device):
    """A corner of the cube exactly on each feature of the ground: gap 0, a normal, no NaN."""
    mesh = rocky(5)
    places = [mesh.vertices, mesh.vertices[mesh.edges].mean(axis=1)]
    places = np.concatenate([*places, mesh.vertices[mesh.faces].mean(axis=1)])
    corner = np.array([0.25, 0.25, 0.25])
    up = places / np.linalg.norm(places, axis=1)[:, None]
    turn = [Rotation.align_vectors([u], [-corner / np.linalg.norm(corner)])[0] for u in up]
    x = np.array([p - r.apply(corner) for p, r in zip(places, turn, strict=True)])
    q = np.array([r.as_quat() for r in turn])
    found = distance(Facets(mesh), HULLS["cube"], x, q, device=device)
    for value in found:
        assert np.isfinite(value).all()
    assert np.abs(np.linalg.norm(found.normal, axis=1) - 1.0).max() < 1e-14
    # Elsewhere the cube may reach into a peak; where it does not, it touches.
    free = np.abs(found.distance) < 1e-6
    assert free.mean() > 0.5
    assert np.abs(found.distance[free]).max() < 4e-15
    listed = contacts(Facets(mesh), HULLS["cube"], x, q, 1e-6, device=device)
    for index in np.flatnonzero(free):
        assert len(listed[index])
        assert np.isfinite(listed[index]["normal"]).all()
        assert np.abs(np.linalg.norm(listed[index]["normal"], axis=1) - 1.0).max() < 1e-14


CASES = {
    "corner": (
        hull_meshes.box((40, 40, 2)).translated([0, 0, -1]),
        Rotation.from_euler("xy", [0.5, 0.6]),
    ),
    "edges": (roof(), Rotation.from_quat(on_edge(0.4))),
    "peak": (pyramid(), Rotation.from_euler("xy", [0.1, 0.05])),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("gap", [1e-5, 1e-9, 0.0, -1e-12, -1e-9, -1e-5])
def test_gaps_go_on_below_zero(name, gap, device):
    """The same normal above and below, and a gap that passes through 0."""
    mesh, turn = CASES[name]
    ground, cube, start = Facets(mesh), hull_meshes.box((1, 1, 1)), np.array([0.05, 0.02, 3.0])
    above = distance(ground, cube, start, turn.as_quat(), device=device)
    x = start - (above.distance - gap) * above.normal
    found = distance(ground, cube, x, turn.as_quat(), device=device)
    assert found.distance == pytest.approx(gap, abs=1e-14)
    assert found.normal == pytest.approx(above.normal, abs=1e-12)
    assert found.kind == above.kind
    listed = contacts(ground, cube, x, turn.as_quat(), 1e-4, device=device)[0]
    assert len(listed) == 1
    assert listed["gap"][0] == pytest.approx(gap, abs=1e-14)
    assert listed["normal"][0] == pytest.approx(above.normal, abs=1e-12)
    assert listed["kind"][0] == above.kind


def test_overlap_is_told_by_the_deepest_corner(device):
    slab = Facets(hull_meshes.box((40.0, 40.0, 8.0)).translated([0.0, 0.0, -4.0]))
    x = np.array([[0.0, 0.0, 0.3], [0.0, 0.0, -0.2], [0.0, 0.0, -3.0]])
    turn = Rotation.from_euler("xy", [0.3, 0.2])
    found = distance(slab, hull_meshes.box((1, 1, 1)), x, turn.as_quat(), device=device)
    reach = 0.5 * np.abs(turn.as_matrix()[2]).sum()
    assert found.distance == pytest.approx(x[:, 2] - reach, abs=1e-14)
    # A wall through a peak's flanks has no corner inside: overlap all the same.
    crossed = distance(Facets(pyramid(3.0)), hull_meshes.box((8, 8, 0.1)), [0, 0, -1.0], UPRIGHT)
    assert crossed.distance <= 0.0


def test_wholly_inside_a_body_that_is_not_convex(device):
    mesh = rocky(2)
    found = distance(Facets(mesh), HULLS["cube"], [0.3, 0.1, -0.2], UPRIGHT, device=device)
    exact = Facets(mesh).query(HULLS["cube"].vertices + np.array([0.3, 0.1, -0.2]), device)[0]
    assert found.distance == pytest.approx(exact.min(), abs=1e-14)


def test_reach(device):
    slab, cube = (
        Facets(hull_meshes.box((40, 40, 2)).translated([0, 0, -1])),
        hull_meshes.box((1, 1, 1)),
    )
    found = distance(slab, cube, [[0, 0, 1.0], [0, 0, 9.0]], UPRIGHT, reach=2.0, device=device)
    assert found.distance == pytest.approx([0.5, 2.0])
    assert list(found.kind) == [CORNER, NOTHING]
    assert found.facet[1] == -1
    assert not found.normal[1].any()


# -- contacts ---------------------------------------------------------------------------------


def listed(mesh, hull, x, q=UPRIGHT, margin=1e-5, device="cpu"):
    return contacts(Facets(mesh), hull, x, q, margin, device=device)[0]


SLAB = hull_meshes.box((10, 10, 2)).translated([0, 0, -1])


@pytest.mark.parametrize("gap", [1e-7, 0.0, -1e-7])
@pytest.mark.parametrize("tilt", [0.0, 1e-7])
def test_a_face_touches_at_its_corners(gap, tilt, device):
    """Tilted by less than the margin, too."""
    q = Rotation.from_euler("xyz", [tilt, -tilt, 0.2]).as_quat()
    found = listed(SLAB, hull_meshes.box((1, 1, 1)), [0, 0, 0.5 + gap], q, device=device)
    assert (found["kind"] == CORNER).all()
    assert sorted(found["feature"]) == [0, 1, 2, 3]
    assert found["gap"] == pytest.approx([gap] * 4, abs=1.1 * tilt + 1e-15)
    assert found["normal"] == pytest.approx(np.tile([0.0, 0.0, 1.0], (4, 1)), abs=1e-12)


def test_edge_and_corner_down(device):
    half = np.sqrt(0.5)
    found = listed(SLAB, hull_meshes.box((1, 1, 1)), [0.3, 0.1, half], on_edge(0.3), device=device)
    assert len(found) == 2
    q = Rotation.align_vectors([[0, 0, -1.0]], [[1, 1, 1]])[0].as_quat()
    x = [0.3, 0.1, 0.5 * np.sqrt(3.0)]
    assert len(listed(SLAB, hull_meshes.box((1, 1, 1)), x, q, device=device)) == 1


def test_a_face_across_a_ridge(device):
    """The ridge under a face touches where it crosses the edges of that face."""
    found = listed(roof(), hull_meshes.box((1, 1, 1)), [0.2, 0.1, 0.5 + 1e-8], device=device)
    assert list(found["kind"]) == [EDGES, EDGES]
    assert sorted(found["point"][:, 0]) == pytest.approx([-0.3, 0.7])
    assert found["gap"] == pytest.approx([1e-8] * 2, abs=1e-15)


def test_over_the_rim_of_a_table(device):
    """Two corners on the table, two edges across its rim."""
    found = listed(SLAB, hull_meshes.box((1, 1, 1)), [5.0, 0.0, 0.5], device=device)
    assert sorted(found["kind"]) == [CORNER, CORNER, EDGES, EDGES]
    place = sorted(map(tuple, np.round(found["point"][:, :2], 9)))
    assert place == [(4.5, -0.5), (4.5, 0.5), (5.0, -0.5), (5.0, 0.5)]


def test_a_face_that_leans_on_a_rim(device):
    """Corners just above the table, whose face goes down beyond its rim: the rim alone touches."""
    turn = Rotation.from_euler("y", np.arctan(0.5))
    corner = np.array([5.0 - 1e-6, 0.0, 1e-6])  # the middle of the cube's upper lower edge
    x = corner - turn.apply([-0.5, 0.0, -0.5])
    found = listed(SLAB, hull_meshes.box((1, 1, 1)), x, turn.as_quat(), device=device)
    assert list(found["kind"]) == [EDGES, EDGES]
    assert found["normal"] == pytest.approx(np.tile(turn.apply([0.0, 0.0, 1.0]), (2, 1)))
    assert found["gap"] == pytest.approx([1e-6 * np.sqrt(0.2)] * 2, abs=1e-14)


def test_a_face_that_rises_over_a_rim(device):
    """Its lower corners stand on the table close to the rim, which does not touch."""
    turn = Rotation.from_euler("y", -np.arctan(0.5))
    corner = np.array([5.0 - 2e-6, 0.0, 1e-7])  # the middle of the cube's lowest edge
    x = corner - turn.apply([-0.5, 0.0, -0.5])
    found = listed(SLAB, hull_meshes.box((1, 1, 1)), x, turn.as_quat(), device=device)
    assert list(found["kind"]) == [CORNER, CORNER]
    assert found["normal"] == pytest.approx(np.tile([0.0, 0.0, 1.0], (2, 1)), abs=1e-12)
    assert found["gap"] == pytest.approx([1e-7] * 2, abs=1e-14)


def test_over_the_corner_of_a_table(device):
    found = listed(SLAB, hull_meshes.box((1, 1, 1)), [5.0, 5.0, 0.5], device=device)
    assert sorted(found["kind"]) == [CORNER, EDGES, EDGES, PEAK]


def test_corner_in_a_valley_touches_both_sides(device):
    """Two normals at one point; no contact with the valley's own edge."""
    # A block with a groove along y.
    block = np.array([(-3, -3), (3, -3), (3, 2), (0, 0), (-3, 2)], float)
    n = len(block)
    front = np.column_stack([block[:, 0], np.full(n, -4.0), block[:, 1]])
    both = np.concatenate([front, front + np.array([0.0, 8.0, 0.0])])
    cap = [(0, 1, 3), (1, 2, 3), (0, 3, 4)]
    faces = cap + [(a + n, c + n, b + n) for a, b, c in cap]
    for i in range(n):
        j = (i + 1) % n
        faces += [(i, i + n, j + n), (i, j + n, j)]
    groove = Mesh(both, faces)
    q = Rotation.align_vectors([[0, 0, -1.0]], [[1, 1, 1]])[0].as_quat()
    cube = hull_meshes.box((0.2, 0.2, 0.2))
    for gap in (1e-9, -1e-9):
        x = [0.0, 0.3, 0.1 * np.sqrt(3.0) + gap]
        found = listed(groove, cube, x, q, 1e-7, device)
        assert len(found) == 2
        assert (found["kind"] == CORNER).all()
        assert found["normal"][:, 0].sum() == pytest.approx(0.0, abs=1e-12)
        assert found["normal"][:, 2] == pytest.approx([3.0 / np.sqrt(13.0)] * 2)


def test_a_needle_beside_a_ridge_touches_one_side(device):
    """Its tip is below the plane of the far side, by less than the margin, yet outside."""
    normal = [0.0, 0.5 * np.sqrt(3.0), 0.5]  # the sides are 60 degrees from the ground
    for gap in (1e-7, -1e-7):
        ridge, needle, x, turn = needle_at_ridge(gap)
        found = listed(ridge, needle, x, turn.as_quat(), device=device)
        assert len(found) == 1
        assert found["gap"][0] == pytest.approx(gap, abs=1e-14)
        assert found["normal"][0] == pytest.approx(normal, abs=1e-9)


def needle_at_ridge(gap):
    ridge, base = roof(width=2.0, height=np.sqrt(3.0)), pyramid(4.0)
    needle = Mesh(base.vertices * [0.2, 0.2, -1.0], base.faces[:, ::-1])
    normal, down = np.array([[0.0, 0.5 * np.sqrt(3.0), 0.5], [0.0, 0.5, -0.5 * np.sqrt(3.0)]])
    return ridge, needle, 2e-6 * down + gap * normal, Rotation.identity()


def cube_at_rim(tilt, place):
    turn = Rotation.from_euler("y", tilt)
    x = np.array(place) - turn.apply([-0.5, 0.0, -0.5])
    return SLAB, hull_meshes.box((1, 1, 1)), x, turn


POSES = {
    "flat": (
        SLAB,
        hull_meshes.box((1, 1, 1)),
        np.array([0.1, 0.2, 0.5 + 1e-7]),
        Rotation.identity(),
    ),
    "sunk": (
        SLAB,
        hull_meshes.box((1, 1, 1)),
        np.array([0.1, 0.2, 0.5 - 1e-7]),
        Rotation.identity(),
    ),
    "rim": (SLAB, hull_meshes.box((1, 1, 1)), np.array([5.0, 0.1, 0.5]), Rotation.identity()),
    "corner": (SLAB, hull_meshes.box((1, 1, 1)), np.array([5.0, 5.0, 0.5]), Rotation.identity()),
    "ridge": (roof(), hull_meshes.box((1, 1, 1)), np.array([0.2, 0.1, 0.5]), Rotation.identity()),
    "leaning": cube_at_rim(np.arctan(0.5), [5.0 - 1e-6, 0.0, 1e-6]),
    "rising": cube_at_rim(-np.arctan(0.5), [5.0 - 2e-6, 0.0, 1e-7]),
    "needle": needle_at_ridge(1e-7),
    "needle inside": needle_at_ridge(-1e-7),
}


@pytest.mark.parametrize("name", POSES)
def test_lander_and_ground_may_change_places(name, device):
    """What was corner on facet is then peak on face, at the same places with turned normals."""
    mesh, hull, x, turn = POSES[name]
    moved = Mesh(turn.apply(np.array(hull.vertices)) + x, hull.faces)
    one = listed(mesh, hull, x, turn.as_quat(), device=device)
    other = listed(moved, mesh, np.zeros(3), device=device)
    assert len(one)
    assert sorted(2 - one["kind"]) == sorted(other["kind"])
    for row in one:
        apart = np.linalg.norm(other["point"] - row["point"], axis=1)
        twin = other[np.argmin(apart)]
        assert apart.min() <= abs(row["gap"]) + 1e-12
        assert twin["gap"] == pytest.approx(row["gap"], abs=1e-14)
        assert twin["normal"] == pytest.approx(-row["normal"], abs=1e-9)


def test_the_nearest_pair_is_among_the_contacts(device):
    """Any hull, any pose close to rough ground: the lowest contact is the distance."""
    mesh = rocky(7)
    ground = Facets(mesh)
    for name, hull in HULLS.items():
        x, q = poses_around(mesh, hull, 200, seed=20)
        far = distance(ground, hull, x, q, device=device)
        apart = far.distance > 0.0
        for gap in (1e-4, 1e-7):
            close = x - (far.distance - gap)[:, None] * far.normal
            near = distance(ground, hull, close, q, device=device)
            use = apart & (near.distance > 0.0)
            assert use.sum() > 80, name
            found = contacts(ground, hull, close, q, 10.0 * gap, device=device)
            for i in np.flatnonzero(use):
                assert len(found[i]), (name, i)
                assert found[i]["gap"][0] == pytest.approx(near.distance[i], abs=1e-13)
                # Ways that differ by rounding, 1e-14 m, may differ by sqrt(2e-14 / gap) in angle.
                turned = np.linalg.norm(found[i]["normal"][0] - near.normal[i])
                assert turned < np.sqrt(2e-14 / gap)
                assert (found[i]["gap"] >= near.distance[i] - 1e-13).all()


def test_no_more_contacts_than_fit_and_the_lowest_among_them(device):
    """A ball of many corners that nearly fills its mould."""
    found = listed(SLAB, hull_meshes.prism(40, 2.0, 0.5), [0, 0, 0.25], margin=1e-3, device=device)
    assert len(found) == MOST
    apart = found["point"][:, None] - found["point"]
    closest = np.linalg.norm(apart, axis=2) + 9.0 * np.eye(MOST)
    assert closest.min() > 1.9 * np.sin(np.pi / 40)
    turn = np.sort(np.arctan2(found["point"][:, 1], found["point"][:, 0]))
    assert np.diff(turn).max() < np.pi / 3  # all around, not on one side
    drum = hull_meshes.prism(40, 2.0, 0.5)
    for azimuth in np.linspace(0.0, 6.0, 13):
        q = Rotation.from_rotvec([1e-5 * np.cos(azimuth), 1e-5 * np.sin(azimuth), 0.0]).as_quat()
        tilted = listed(SLAB, drum, [0, 0, 0.2501], q, margin=1e-3, device=device)
        exact = distance(Facets(SLAB), drum, [0, 0, 0.2501], q, device=device).distance
        assert tilted["gap"][0] == pytest.approx(float(exact), abs=1e-14)


# -- what users get wrong ---------------------------------------------------------------------


def test_bad_input():
    ground, cube = Facets(SLAB), HULLS["cube"]
    with pytest.raises(AlightError, match="Facets"):
        distance(SLAB, cube, [0, 0, 1], UPRIGHT)
    with pytest.raises(AlightError, match="RigidLander or a closed Mesh"):
        distance(ground, "cube", [0, 0, 1], UPRIGHT)
    with pytest.raises(AlightError, match="attitudes"):
        distance(ground, cube, [0, 0, 1], [1, 0, 0])
    with pytest.raises(AlightError, match="zero"):
        distance(ground, cube, [0, 0, 1], [0, 0, 0, 0])
    with pytest.raises(AlightError, match="every pose"):
        distance(ground, cube, np.zeros((3, 3)), np.ones((2, 4)))
    with pytest.raises(AlightError, match="margin"):
        contacts(ground, cube, [0, 0, 1], UPRIGHT, 0.0)
    assert contacts(ground, cube, np.empty((0, 3)), np.empty((0, 4)), 1.0) == []
