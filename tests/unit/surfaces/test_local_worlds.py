"""The atlas: no facet is missing from a local world; distances are those of all facets."""

import math

import numpy as np
import pytest
from examples.local_worlds import build
from examples.local_worlds.__main__ import main
from examples.local_worlds.atlas import Atlas

from alight.core import devices
from alight.core.errors import AlightError
from alight.scenario import bodies
from alight.shapes import Mesh, icosphere
from alight.surfaces import Facets


@pytest.fixture(scope="module", params=["coarse ball", "comet", "corner", "slit", "beside"])
def mesh(request):
    """Few large facets; no star; facets at the centre; the centre outside, near and far."""
    if request.param == "coarse ball":
        return icosphere(1, 10.0)
    if request.param == "comet":
        return bodies.find("67P").mesh(1200)
    if request.param == "corner":
        return request.getfixturevalue("box")
    block = request.getfixturevalue("slit_block")
    return block.translated([-12.0, -4.5, -6.0] if request.param == "slit" else [3.0, 7.0, -40.0])


def on_facets(mesh, each, seed=0):
    """Points of every facet, its corners among them, and the facets."""
    share = np.random.default_rng(seed).dirichlet((0.5, 0.5, 0.5), each - 3)
    share = np.concatenate([np.eye(3), share])
    points = np.einsum("ek,fki->fei", share, mesh.vertices[mesh.faces])
    return points.reshape(-1, 3), np.repeat(np.arange(mesh.n_faces), each)


def near_ground(mesh, n, low, high, seed=0):
    """Above and below the ground, from ``low`` to ``high`` [m] along facets' normals."""
    rng = np.random.default_rng(seed)
    facet = rng.integers(0, mesh.n_faces, n)
    share = rng.dirichlet((1, 1, 1), n)
    height = np.exp(rng.uniform(np.log(low), np.log(high), n)) * rng.choice([-1.0, 1.0], n)
    base = np.einsum("nk,nki->ni", share, mesh.vertices[mesh.faces[facet]])
    return base + height[:, None] * mesh.face_normals[facet]


def cells_by_hand(x, cells):
    """(2, n) the cell in either chart, -1 where a point is not on it; by arcsine and remainder."""
    u = x / np.linalg.norm(x, axis=1)[:, None]
    found = []
    for chart, (a, b, c) in enumerate(((0, 1, 2), (1, 2, 0))):
        north = np.degrees(np.arcsin(np.clip(u[:, c], -1, 1))) + 45.0
        east = (np.degrees(np.arctan2(u[:, b], u[:, a])) + 180.0) % 360.0
        row, column = (north // (90.0 / cells)).astype(int), (east // (90.0 / cells)).astype(int)
        cell = (chart * cells + row) * 4 * cells + column % (4 * cells)
        found.append(np.where((row >= 0) & (row < cells), cell, -1))
    return np.array(found)


def in_lists(atlas, cell, facet):
    """Whether facets are in the lists of cells."""
    lists = atlas.lists
    owner = np.repeat(np.arange(atlas.count), np.diff(lists.start))
    pairs = owner * atlas.mesh.n_faces + lists.order[lists.facet]
    return np.isin(cell * atlas.mesh.n_faces + facet, pairs)


@pytest.mark.parametrize("cells", [1, 3, 10])
@pytest.mark.parametrize("overlap", [0.0, 0.4])
def test_no_facet_is_missing_from_either_chart(mesh, cells, overlap):
    """Every direction within the margin of a point of a facet is in a cell that lists the facet."""
    atlas = Atlas(mesh, cells, overlap)
    points, facet = on_facets(mesh, 12)
    away = np.linalg.norm(points, axis=1) > 0.0
    points, facet = points[away], facet[away]
    rng = np.random.default_rng(cells)
    unit = points / np.linalg.norm(points, axis=1)[:, None]
    aside = np.cross(unit, rng.normal(size=unit.shape))
    aside /= np.linalg.norm(aside, axis=1)[:, None]
    angle = atlas.margin * rng.choice([0.0, 0.5, 0.999, 1.0], (len(unit), 1))
    seen = cells_by_hand(unit * np.cos(angle) + aside * np.sin(angle), cells)
    assert np.all(seen.max(axis=0) >= 0)
    for cell in seen:
        charted = cell >= 0
        assert in_lists(atlas, cell[charted], facet[charted]).all()


def test_across_the_seam_and_around_a_pole():
    """A cap over longitude 180 degrees is on both sides of it; one with the pole, at all."""
    east = np.array([[-1.0, 0.02, 0.1]])
    span = build.spanned(east / np.linalg.norm(east), np.array([0.1]), 8)
    columns = (span.column[0] + np.arange(span.columns[0])) % 32
    assert sorted(columns) == [0, 31]
    pole = np.array([[0.02, 0.0, 1.0]])
    span = build.spanned(pole / np.linalg.norm(pole), np.array([1.0]), 8)
    assert span.columns[0] == 32
    assert span.row[0] + span.rows[0] == 8


def test_a_facet_around_the_centre_is_everywhere():
    """Its cone is no cap: it goes over the far side, opposite to the mean of its corners."""
    low = math.radians(100.0)
    corners = np.array([[0, 0, 1], [math.sin(low), 0, math.cos(low)], [-1, 0, math.cos(low)]])
    beside = corners + np.array([0.0, 1e-3, 0.0])
    at = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    small = np.array([[5.0, 0, 0], [5, 0.1, 0], [5, 0, 0.1]])
    angle = build.caps(np.array([corners, beside, at, small]))[1]
    assert angle[:3].tolist() == [math.pi] * 3
    assert angle[3] < 0.02


def test_how_far_worlds_answer():
    """r sin(margin + angle to the edge of the cell), measured to points along the edge."""
    atlas = Atlas(icosphere(1, 5.0), 2, 0.25)
    x = np.random.default_rng(5).normal(size=(40, 3))
    along = np.linspace(0.0, 1.0, 2001)
    for point, valid in zip(x, atlas.valid(x), strict=True):
        world = atlas.world(point)
        (south, north), (west, east) = world.latitude, world.longitude
        lat = np.concatenate(
            [0 * along + south, 0 * along + north, *2 * [south + along * atlas.side]]
        )
        lon = np.concatenate([*2 * [west + along * atlas.side], 0 * along + west, 0 * along + east])
        edge = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)
        r = np.linalg.norm(point)
        turned = (point if world.chart == "Z" else np.roll(point, -1)) / r
        angle = np.arccos(np.clip(edge @ turned, -1.0, 1.0).max())
        assert valid == pytest.approx(r * math.sin(atlas.margin + angle), rel=1e-4)


def test_every_facet_within_reach_is_in_the_world(mesh):
    """What ``valid`` promises, at points anywhere, however far from the ground."""
    atlas = Atlas(mesh, 5, 0.3)
    rng = np.random.default_rng(4)
    x = rng.normal(size=(150, 3)) * mesh.bounding_radius * rng.uniform(0.01, 1.5, (150, 1))
    x[:75] = near_ground(mesh, 75, 1e-3, 0.3 * mesh.bounding_radius)
    points, facet = on_facets(mesh, 8, seed=2)
    valid, cell = atlas.valid(x), atlas.cell(x)
    assert np.all(valid >= np.linalg.norm(x, axis=1) * math.sin(atlas.margin) * (1.0 - 1e-12))
    near = np.linalg.norm(points - x[:, None], axis=2) <= valid[:, None]
    i, k = np.nonzero(near)
    assert len(i) > 50
    assert in_lists(atlas, cell[i], facet[k]).all()


def test_cells_of_points(mesh):
    """The chart about z within 45 degrees of its equator, that about x beyond."""
    atlas = Atlas(mesh, 7)
    x = np.random.default_rng(1).normal(size=(2000, 3))
    about_z, about_x = cells_by_hand(x, 7)
    polar = np.abs(x[:, 2]) > math.sqrt(0.5) * np.linalg.norm(x, axis=1)
    assert np.array_equal(atlas.cell(x), np.where(polar, about_x, about_z))
    assert np.array_equal(atlas.cell(1e6 * x.reshape(2, -1, 3)).ravel(), atlas.cell(x))


def test_a_local_world():
    ball = icosphere(3, 10.0)
    atlas = Atlas(ball, 4, 0.0)
    for point, chart in (((0, 0, 3.0), "X"), ((0, -1e-3, -9), "X"), ((-2, 0, 0), "Z")):
        world = atlas.world(point)
        assert world.chart == chart
        a, b, c = point if chart == "Z" else (*point[1:], point[0])
        latitude, longitude = math.atan2(c, math.hypot(a, b)), math.atan2(b, a)
        assert world.latitude[0] <= latitude <= world.latitude[1]
        assert world.longitude[0] <= longitude <= world.longitude[1] + 1e-12
        # 22.5 degrees a side: a 90th of the sphere or so, and what reaches in from around.
        assert 12 <= len(world.facets) <= 60
        apart = np.linalg.norm(ball.vertices[ball.faces[world.facets]] - world.center, axis=-1)
        assert apart.max() <= world.radius
    assert atlas.world_of(world.cell).facets.tolist() == world.facets.tolist()


def test_bounding_spheres_hold_all_and_are_small(mesh):
    """Around every list; by Jung's theorem sqrt(3/8) of the width is enough for the smallest."""
    atlas = Atlas(mesh, 3)
    for cell in range(0, atlas.count, 5):
        world = atlas.world_of(cell)
        corners = mesh.vertices[np.unique(mesh.faces[world.facets])]
        if len(corners):
            assert np.linalg.norm(corners - world.center, axis=1).max() <= world.radius
            width = np.linalg.norm(corners[:, None] - corners, axis=2).max()
            assert world.radius <= 1.02 * math.sqrt(0.375) * width
        else:
            assert world.radius == -math.inf


def test_distances_are_those_of_all_facets(mesh, device):
    """For points near the ground, star-shaped body or not."""
    atlas, ground = Atlas(mesh, 6, 0.5), Facets(mesh)
    size = 1e-2 * float(mesh.extent.min())
    points = near_ground(mesh, 3000, 1e-6 * size, size)
    points = points[atlas.valid(points) > 1.01 * size]
    assert len(points) > 1000
    found = atlas.nearest(points, device)
    distance, normal = ground.query(points, device)
    assert found.in_world.all()
    assert np.abs(found.distance - distance).max() <= 1e-12
    same = np.abs(found.normal - normal).max(axis=1) <= 1e-6
    assert same.mean() > 0.999  # at edges either normal will do
    # The facet named is one of the mesh's own, at that distance: its plane is no farther.
    corner = mesh.vertices[mesh.faces[found.facet, 0]]
    plane = np.einsum("ij,ij->i", points - corner, mesh.face_normals[found.facet])
    assert np.all(np.abs(plane) <= np.abs(distance) + 1e-9 * size)


@pytest.mark.parametrize(
    ("name", "cells"), [("67P_6000.obj", 16), ("Itokawa_12288.obj", 12), ("Eros_7790.obj", 12)]
)
def test_distances_on_real_bodies(shapes_dir, device, name, cells):
    path = shapes_dir / name
    if not path.is_file():
        pytest.skip(f"no {name} among the real shape models")
    mesh = Mesh.read(path, unit="km")
    atlas = Atlas(mesh, cells, 0.5)
    points = near_ground(mesh, 5000, 1e-3, 1e-3 * mesh.bounding_radius, seed=7)
    found = atlas.nearest(points, device)
    assert found.in_world.all()
    assert np.abs(found.distance - Facets(mesh).query(points, device)[0]).max() <= 1e-12


def test_what_a_world_cannot_answer_is_refused_or_told(mesh, device):
    """Points anywhere: no answer is wrong, and none is made up in silence."""
    atlas = Atlas(mesh, 6, 0.0)
    rng = np.random.default_rng(8)
    points = rng.uniform(-1.2, 1.2, (20, 50, 3)) * mesh.bounding_radius
    with pytest.raises(AlightError, match="of 1000 points are too far from the ground"):
        atlas.nearest(points, device)
    with pytest.warns(UserWarning, match="all facets were asked"):
        found = atlas.nearest(points, device, otherwise="facets")
    assert found.distance.shape == found.facet.shape == (20, 50)
    assert (~found.in_world).sum() > 0
    assert np.all((found.facet >= 0) == found.in_world)
    assert np.abs(found.distance - Facets(mesh).query(points, device)[0]).max() <= 1e-12


def test_cells_without_overlap_do_miss_nearer_facets():
    """Why lists overlap: the paper's plain cells are wrong across an edge, which is noticed."""
    mesh = bodies.find("67P").mesh(20_000)
    points = near_ground(mesh, 4000, 10.0, 100.0)
    cpu = devices.resolve("cpu")
    true = Facets(mesh).query(points, "cpu")[0]
    share = []
    for overlap in (0.0, 0.5):
        launch, (distance, _, _, valid) = Atlas(mesh, 32, overlap).prepared(points, cpu)
        launch()
        wrong = np.abs(distance.numpy() - true) > 1e-9
        assert np.all(np.abs(distance.numpy())[wrong] > valid.numpy()[wrong])
        share.append(wrong.mean())
    assert share[0] > 0.02
    assert share[1] < 0.25 * share[0]


def test_the_lander_s_sphere(mesh):
    """Where a ball does not reach its world's sphere, no facet is within its radius."""
    atlas, size = Atlas(mesh, 6, 0.3), 0.01 * float(mesh.extent.min())
    rng = np.random.default_rng(3)
    points = rng.uniform(-1.5, 1.5, (3000, 3)) * mesh.bounding_radius
    points = points[atlas.valid(points) >= size]
    reached = atlas.reaches(points, size)
    assert 10 < (~reached).sum() < len(points)
    assert np.abs(Facets(mesh).query(points[~reached], "cpu")[0]).min() > size
    # On the ground it always does.
    ground, _ = on_facets(mesh, 5)
    ground = ground[np.linalg.norm(ground, axis=1) * math.sin(atlas.margin) > 1.01 * size]
    assert atlas.reaches(ground, size).all()


def test_spheres_that_meet_and_that_do_not():
    atlas = Atlas(icosphere(3, 10.0), 8)
    assert bool(atlas.reaches([0, 0, 10.3], 0.3))
    assert not atlas.reaches([0, 0, 30.0], 0.3)
    with pytest.raises(AlightError, match="reaches beyond the local worlds"):
        atlas.reaches([[0, 0, 10.3], [0, 10, 0]], 6.0)


def test_a_world_without_facets():
    """The centre outside the body: most cells are empty, which is told."""
    atlas = Atlas(icosphere(2, 1.0).translated([100.0, 0.0, 0.0]), 8)
    world = atlas.world([-5.0, 0.0, 0.0])
    assert len(world.facets) == 0
    assert not atlas.reaches([-5.0, 0.0, 0.0], 0.1)
    with pytest.raises(AlightError, match="is empty"):
        atlas.nearest([-5.0, 0.0, 0.0])
    assert float(atlas.nearest([101.5, 0.0, 0.0]).distance) == pytest.approx(0.5, rel=0.05)


def test_size_and_nothing_asked():
    atlas = Atlas(icosphere(2, 5.0), 3)
    cpu = devices.resolve("cpu")
    data = atlas.data(cpu)
    mesh = data.mesh
    arrays = [data.start, data.facet, data.center, data.radius, mesh.vertex, mesh.vertex_normal]
    arrays += [mesh.face, mesh.face_normal, mesh.across, mesh.owned]
    assert atlas.nbytes == sum(array.capacity for array in arrays)
    assert atlas.data(cpu) is data
    assert atlas.count == 72
    assert "cells=3" in repr(atlas)
    assert atlas.nearest(np.zeros((0, 3))).distance.shape == (0,)
    assert atlas.cell(np.zeros((0, 3))).shape == (0,)


def test_the_example_runs_and_says_how_far_it_is_from_the_tree(capsys):
    main()
    told = capsys.readouterr().out
    assert "2048 local worlds of" in told
    assert float(told.split("by ")[-1].split(" m")[0]) < 1e-12


def test_what_is_refused():
    ball = icosphere(1, 5.0)
    for cells in (0, -3, 2.5, True, "16"):
        with pytest.raises(AlightError, match=r"cells is .* whole number of at least 1"):
            Atlas(ball, cells)
    with pytest.raises(AlightError, match=r"overlap is -0\.1"):
        Atlas(ball, 4, -0.1)
    with pytest.raises(AlightError, match=r"overlap is 3.*At most 45"):
        Atlas(ball, 4, 3.0)
    with pytest.raises(AlightError, match="fewer cells"):
        Atlas(ball, 5000)
    with pytest.raises(AlightError, match="that of a Mesh"):
        Atlas("67P")
    with pytest.raises(AlightError, match="no facets"):
        Atlas(Mesh(np.zeros((0, 3)), np.zeros((0, 3), int), check=False))
    atlas = Atlas(ball, 4)
    for call in (atlas.world, atlas.nearest, atlas.valid, lambda x: atlas.reaches(x, 1.0)):
        with pytest.raises(AlightError, match="no latitude and longitude"):
            call([0.0, 0.0, 0.0])
    with pytest.raises(AlightError, match=r"first at index \(1,\)"):
        atlas.cell([[1.0, 0, 0], [0, 0, 0]])
    with pytest.raises(AlightError, match="three finite numbers"):
        atlas.world([[1.0, 2.0, 3.0]])
    with pytest.raises(AlightError, match="cells 0 to 127"):
        atlas.world_of(128)
    with pytest.raises(AlightError, match="otherwise"):
        atlas.nearest([1.0, 0, 0], otherwise="nothing")
    with pytest.raises(AlightError, match="radius"):
        atlas.reaches([1.0, 0, 0], -1.0)
