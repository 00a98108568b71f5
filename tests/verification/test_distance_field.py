"""The distance field against its mesh.

Reference: for a point x and a closed surface S, d(x) = +-min |x - y| over y in S, negative inside
(winding number), found by brute force over all facets or from a closed form. The field must
- equal d near the surface to its order: errors of a smooth surface fall as h^3 (quadratic splines
  with a prefilter that is exact for quadratics) or h^2 (trilinear);
- be no larger in size than d beyond the band (and two spacings in which it fades), with the
  right sign, everywhere;
- have the gradient of its own values, continuous across cells, bricks and levels (smooth);
- keep to its bounds: |grad| <= slope, |H v| <= curvature.
"""

import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from alight.core import devices
from alight.scenario import bodies
from alight.shapes.icosphere import icosphere
from alight.shapes.mesh import Mesh
from alight.surfaces import DistanceField
from alight.surfaces.facets.triangles import distances, triangles_data
from alight.surfaces.field.build import FADE

DEVICES = [device.name for device in devices.available()]
KINDS = ("smooth", "trilinear")


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


@pytest.fixture(scope="module")
def comet():
    """67P of three ellipsoids: two lobes, a neck, concave all around it."""
    return bodies.find("67P").mesh(2000)


@pytest.fixture(scope="module")
def fields(comet):
    return {
        kind: DistanceField.from_mesh(comet, 60.0, interpolation=kind, store=False)
        for kind in KINDS
    }


def directions(rng, n):
    u = rng.normal(size=(n, 3))
    return u / np.linalg.norm(u, axis=1)[:, None]


def everywhere(mesh, n, seed=0):
    """Points near the surface, deep inside, around, and far away."""
    rng = np.random.default_rng(seed)
    size = float(mesh.extent.max())
    start = mesh.vertices[rng.integers(0, mesh.n_vertices, n)]
    near = start + directions(rng, n) * (0.2 * size * rng.uniform(0, 1, (n, 1)) ** 2)
    wide = rng.uniform(-0.6, 0.6, (n, 3)) * mesh.extent + mesh.vertices.mean(axis=0)
    far = directions(rng, n) * size * 10.0 ** rng.uniform(-0.5, 1.5, (n, 1))
    return np.concatenate([near, wide, far])


def true_distance(mesh, points):
    """Exact search; tests/unit/surfaces/facets/test_triangles.py holds it against brute force."""
    cpu = devices.resolve("cpu")
    return distances(triangles_data(mesh, cpu), points, cpu)[0]


def ground_on(field, u):
    """Where a ray from the origin leaves the body [m]."""
    reach = np.linspace(10.0, 4000.0, 40_000)
    return reach[np.flatnonzero(field.query(reach[:, None] * u)[0] < 0.0).max()]


def box(x, y, z):
    corners = np.array([[i, j, k] for i in (0, x) for j in (0, y) for k in (0, z)], float)
    faces = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
             (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]  # fmt: skip
    return Mesh(corners, faces)


@pytest.mark.parametrize("kind", KINDS)
def test_sign_and_size_everywhere_on_a_comet(comet, fields, kind, device):
    """In the band within the interpolation's error; beyond it never too large, rarely 20 % off."""
    field = fields[kind]
    points = everywhere(comet, 6000)
    exact = true_distance(comet, points)
    found, normal = field.query(points, device)
    band = np.abs(exact) < field.band
    assert np.abs(found - exact)[band].max() < 0.25 * field.spacing
    assert np.array_equal(found[~band] < 0.0, exact[~band] < 0.0)
    beyond = np.abs(exact) > field.band + FADE * field.spacing
    assert (np.abs(found) <= np.abs(exact))[beyond].all()
    assert (np.abs(found) - np.abs(exact))[~beyond].max() < 0.25 * field.spacing
    assert np.quantile(found[~band] / exact[~band], 0.01) > 0.8
    unclear = np.abs(exact) < field.report.max_error
    assert np.array_equal((found < 0.0)[~unclear], comet.contains(points[~unclear]))
    assert np.linalg.norm(normal, axis=1) == pytest.approx(1.0, rel=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_no_contact_far_away(fields, kind):
    """Out to a million kilometres the distance grows as the range does, and the normal is up."""
    rng = np.random.default_rng(1)
    u = directions(rng, 300)
    field = fields[kind]
    for r in (1e4, 2e4, 1e5, 1e9):
        distance, normal = field.query(r * u)
        assert (distance > r - 6000.0).all()
        assert (distance <= r).all()
        assert np.einsum("ij,ij->i", normal, u).min() > 0.8


def test_thin_plate_and_its_rim(device):
    """Two spacings thin: the sign holds on both faces and around the rim."""
    plate = box(40.0, 40.0, 2.0)
    field = DistanceField.from_mesh(plate, 1.0, store=False, device=device)
    rng = np.random.default_rng(2)
    points = rng.uniform([-6.0, -6.0, -5.0], [46.0, 46.0, 7.0], (20_000, 3))
    exact = true_distance(plate, points)
    found = field.query(points, device)[0]
    clear = np.abs(exact) > 0.35
    assert np.array_equal((found < 0.0)[clear], (exact < 0.0)[clear])
    # Along the middle of the plate the distance has a crease that no spline follows.
    assert np.abs(found - exact)[np.abs(exact) < 4.0].max() < 0.5
    assert np.abs(found - exact)[(exact > 0.0) & (exact < 4.0)].max() < 0.35


def test_box_distance_in_closed_form():
    """Outside a box: the length of the positive parts of |x - centre| - half sides."""
    sides = np.array([10.0, 14.0, 20.0])
    field = DistanceField.from_mesh(box(*sides), 0.5, store=False, device="cpu")
    rng = np.random.default_rng(3)
    points = rng.uniform(-2.0, sides + 2.0, (20_000, 3))
    q = np.abs(points - sides / 2.0) - sides / 2.0
    exact = np.linalg.norm(np.maximum(q, 0.0), axis=1) + np.minimum(q.max(axis=1), 0.0)
    found, normal = field.query(points)
    close = np.abs(exact) < 2.0
    assert np.abs(found - exact)[close].max() < 0.25 * field.spacing
    # Over a face, away from its edges, quadratics are reproduced: only float32 rounds.
    face = (q[:, 2] > 0.0) & (q[:, 2] < 1.5) & (q[:, :2] < -2.0).all(axis=1)
    assert face.sum() > 100
    assert np.abs(found - exact)[face].max() < 4e-6
    assert np.abs(normal[face] - np.sign(points[face] - sides / 2.0) * [0, 0, 1]).max() < 4e-6


@pytest.mark.parametrize(("kind", "order"), [("smooth", 3.0), ("trilinear", 2.0)])
def test_order_of_convergence(kind, order):
    """A ball whose facets lie within 4e-4 of it, at two spacings that err by far more."""
    radius = 10.0
    mesh = icosphere(6, radius)
    rng = np.random.default_rng(4)
    u, height = directions(rng, 4000), rng.uniform(0.5, 3.0, 4000)
    errors = []
    spacings = (3.6, 1.8)
    for h in spacings:
        field = DistanceField.from_mesh(mesh, h, interpolation=kind, store=False, device="cpu")
        found = field.query((radius + height)[:, None] * u)[0]
        errors.append(np.std(found - height))  # the facets' mean depth is no error of the field
    measured = np.log(errors[0] / errors[1]) / np.log(spacings[0] / spacings[1])
    assert measured == pytest.approx(order, abs=0.5)


def test_gradient_is_the_derivative_of_the_distance(comet, fields):
    """Central differences of a quadratic are exact; across a cell wall they err by e kappa."""
    field = fields["smooth"]
    rng = np.random.default_rng(5)
    points = everywhere(comet, 4000, seed=5)
    points = points[np.abs(points).max(axis=1) < 3e4]
    u, e = directions(rng, len(points)), 1e-3
    difference = (field.query(points + e * u)[0] - field.query(points - e * u)[0]) / (2 * e)
    slope = np.einsum("ij,ij->i", field.sample(points).gradient, u)
    # Between levels, coefficients are rounded to float32: a jump of 2^-24 of some kilometres.
    wrong = np.abs(difference - slope) > 2.0 * e * field.bounds.curvature
    assert wrong.mean() < 2e-3
    inside = np.abs(field.query(points)[0]) < field.band
    assert not wrong[inside].any()


def test_gradient_is_continuous_across_cells_bricks_and_levels(fields):
    """Along straight tracks, cut finer and finer, the gradient changes by curvature x step."""
    field = fields["smooth"]
    rng = np.random.default_rng(6)
    for _ in range(20):
        start, end = directions(rng, 2) * np.array([[500.0], [9000.0]])
        t = np.linspace(0.0, 1.0, 50_001)[:, None]
        track = start + t * (end - start)
        found = field.sample(track)
        step = float(np.linalg.norm(track[1] - track[0]))
        change = np.linalg.norm(np.diff(found.gradient, axis=0), axis=1)
        outside = found.distance[1:] > -field.band
        # Where levels meet, float32 coefficients differ in their last bit.
        rounding = 2.0**-23 * np.abs(found.distance[1:]) / field.spacing + 1e-7
        assert (change <= field.bounds.curvature * step + rounding)[outside].all()
        jump = np.abs(np.diff(found.distance)) - field.bounds.slope * step
        assert (jump <= 2.0**-22 * np.abs(found.distance[1:]) + 1e-9).all()


def test_trilinear_gradient_jumps_and_smooth_does_not(fields):
    """The reason for the smooth kind: steps of the normal between neighbouring cells."""
    u = np.array([0.6, 0.64, 0.48])
    worst = {}
    for kind, field in fields.items():
        t = ground_on(field, u) + np.linspace(-200.0, 200.0, 40_001)[:, None]
        found = field.sample(t * u)
        near = np.abs(found.distance[1:]) < field.band
        worst[kind] = np.linalg.norm(np.diff(found.gradient, axis=0), axis=1)[near].max()
    assert worst["smooth"] < 1e-4 < 5e-3 < worst["trilinear"]


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_hold_and_are_not_loose(comet, fields, kind):
    field = fields[kind]
    rng = np.random.default_rng(7)
    points = everywhere(comet, 30_000, seed=7)
    step = 1e-3
    one, other = (field.sample(points + s * directions(rng, len(points))) for s in (0.0, step))
    outside = one.distance > -field.band
    slope = np.linalg.norm(one.gradient, axis=1)[outside].max()
    assert 0.6 * field.bounds.slope < slope <= field.bounds.slope
    if kind == "smooth":
        bend = np.linalg.norm(one.gradient - other.gradient, axis=1)[outside] / step
        assert 0.2 * field.bounds.curvature < bend.max() <= field.bounds.curvature * 1.001 + 1e-4
    else:
        assert field.bounds.curvature == np.inf


def test_bounds_hold_where_the_ball_around_the_body_takes_over():
    """Between two and four radii; around a ball that hand-over is the steepest place there is."""
    field = DistanceField.from_mesh(icosphere(4, 100.0), 4.0, store=False, device="cpu")
    rng = np.random.default_rng(9)
    points = directions(rng, 40_000) * rng.uniform(190.0, 410.0, (40_000, 1))
    slope = np.linalg.norm(field.sample(points).gradient, axis=1)
    assert 1.02 < slope.max() <= field.bounds.slope < 1.1


def test_storage_in_single_precision_is_enough():
    """Over a flat face all but rounding is exact. Coefficients that a point near the surface
    draws on are at most 1.5 sqrt(3) spacings, 13 m at 5 m, so they are rounded by 2^-21 m, and
    slopes by that over a spacing or so."""
    cube = box(200.0, 200.0, 200.0)
    field = DistanceField.from_mesh(cube, 5.0, store=False, device="cpu")
    rng = np.random.default_rng(8)
    points = rng.uniform([40.0, 40.0, 199.0], [160.0, 160.0, 201.0], (5000, 3))
    found = field.sample(points)
    assert np.abs(found.distance - (points[:, 2] - 200.0)).max() < 2.0**-20
    assert np.abs(found.gradient - [0.0, 0.0, 1.0]).max() < 2.0**-20 / 5.0 * 2.0


def test_elastic_work_around_a_loop_is_zero(fields):
    """A force along the raw gradient of the field comes from a potential: no work is left over a
    closed loop through the ground (FACTS of paper 004: with unit normals some is)."""
    for field, limit in ((fields["smooth"], 1e-7), (fields["trilinear"], 1e-4)):
        center = np.array([0.6, 0.64, 0.48])
        at = ground_on(field, center) * center
        angle = np.linspace(0.0, 2.0 * np.pi, 200_001)
        a, b = np.linalg.svd(center[None])[2][1:]
        tilt = center + 0.3 * b
        loop = at + 40.0 * (np.cos(angle)[:, None] * a + np.sin(angle)[:, None] * tilt)
        middle = 0.5 * (loop[1:] + loop[:-1])
        found = field.sample(middle)
        depth = np.maximum(-found.distance, 0.0)
        work = np.einsum("i,ij,ij->", depth, found.gradient, np.diff(loop, axis=0))
        assert depth.max() > 10.0
        assert abs(work) < limit * 0.5 * depth.max() ** 2


#: Builds a field, asks it for distances, and says how much memory the process held at most: VmHWM,
#: which begins with the program. ru_maxrss would begin with what its parent held.
ALONE = """
import json, re, sys
import numpy as np
from alight.shapes.mesh import Mesh
from alight.surfaces import DistanceField

shape, points, found = sys.argv[1:]
field = DistanceField.from_mesh(Mesh.read(shape, unit="km"), 5.0, store=False)
peak = int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
np.save(found, field.query(np.load(points))[0])
rms, most = field.report.rms_error, field.report.max_error
print(json.dumps({"peak_kB": peak, "rms": rms, "most": most, "band": field.band}))
"""


@pytest.mark.validate
@pytest.mark.skipif(not pathlib.Path("/proc/self/status").exists(), reason="reads Linux's /proc")
def test_real_67p_with_a_million_and_a_half_facets(shapes_dir, tmp_path):
    """Spacing 5 m: the surface within decimetres, at most 2 GB resident in a process of its own."""
    shape, spacing = shapes_dir / "67P_1549344_upsampled.npz", 5.0
    mesh = Mesh.read(shape, unit="km")
    points = everywhere(mesh, 4000)
    np.save(tmp_path / "points.npy", points)
    files = [str(file) for file in (shape, tmp_path / "points.npy", tmp_path / "found.npy")]
    done = subprocess.run([sys.executable, "-c", ALONE, *files], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    field = json.loads(done.stdout.splitlines()[-1])
    assert field["peak_kB"] < 2_000_000
    assert field["rms"] < 0.05
    assert field["most"] < 0.5
    exact, found = true_distance(mesh, points), np.load(tmp_path / "found.npy")
    band = np.abs(exact) < field["band"]
    assert np.abs(found - exact)[band].max() < 0.25 * spacing
    beyond = np.abs(exact) > field["band"] + FADE * spacing
    assert (np.abs(found) <= np.abs(exact))[beyond].all()
    assert np.array_equal(found[~band] < 0.0, exact[~band] < 0.0)
