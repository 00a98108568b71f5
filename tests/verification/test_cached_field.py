"""CachedField: a polyhedron's field from tables, to the error it states, and smooth.

Reference: the closed form, g_P. The promises checked here:

    |g - g_P| <= tolerance |g_P|                 outside the body
    g = grad U and Gamma = grad g                of the table's own U, everywhere
    U, g, Gamma continuous                       across cells, levels, windows, blocks and shell
    v^2/2 - |Omega x r|^2/2 - U = constant       along an orbit, to the order of the integrator

Derivatives are checked by fourth-order differences, error step^4 f^(5) / 30. Two bodies: a lumpy
one of 1280 facets, and one of two lobes with a neck, 600 facets; of the latter some are cut.
"""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from alight.core.errors import InputError
from alight.gravity import CachedField, PointMass, Polyhedron
from alight.gravity.tabulated.cached_field import CacheReport
from alight.gravity.tabulated.near_facets import PLATEAU
from alight.gravity.tabulated.spline import BRICK
from alight.shapes.icosphere import icosphere
from alight.shapes.lobes import Ellipsoid, Lobes

DENSITY = 2000.0
TOLERANCE = {"lumpy": 1e-5, "lobes": 1e-4}


def two_lobes():
    """Two ellipsoids with a narrow neck; the mesh is stretched so that facets differ in size."""
    lobes = [
        Ellipsoid((-62.0, 0.0, 0.0), (70.0, 60.0, 50.0)),
        Ellipsoid((60.0, 10.0, 5.0), (50.0, 45.0, 40.0)),
    ]
    return Lobes(lobes, blend=6.0).to_mesh(600)


@pytest.fixture(scope="module")
def meshes(lumpy_body):
    return {"lumpy": lumpy_body(3, 0.06).scaled(100.0), "lobes": two_lobes()}


@pytest.fixture(scope="module", params=["lobes", pytest.param("lumpy", marks=pytest.mark.validate)])
def name(request):
    return request.param


@pytest.fixture(scope="module")
def full(meshes, name):
    return Polyhedron(meshes[name], density=DENSITY)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="module")
def field(full, name, folder):
    return CachedField(full, tolerance=TOLERANCE[name], store=str(folder))


def directions(count, rng):
    d = rng.normal(size=(count, 3))
    return d / np.linalg.norm(d, axis=1)[:, None]


def facet_size(mesh):
    return float(np.sqrt(np.median(mesh.face_areas)))


def ground(mesh, count, rng):
    """Random places on the surface and the normals there."""
    facet = rng.choice(mesh.n_faces, count, p=mesh.face_areas / mesh.area)
    corner = mesh.vertices[mesh.faces[facet]]
    return np.einsum("ij,ijk->ik", rng.dirichlet([1, 1, 1], count), corner), mesh.face_normals[
        facet
    ]


def above_ground(mesh, heights, rng):
    """Points outside the body at given heights over random places of the surface."""
    start, normal = ground(mesh, len(heights), rng)
    points = start + heights[:, None] * normal
    return points[~mesh.contains(points)]


def zones(full, seed):
    """Points outside the body by zone: near the surface, in mid field, in the shell, beyond."""
    rng = np.random.default_rng(seed)
    mesh, radius = full.mesh, full.series.radius
    size = facet_size(mesh)

    def shell(low, high, count):
        return full.series.center + radius * directions(count, rng) * rng.uniform(
            low, high, (count, 1)
        )

    middle = shell(1.0, 5.4, 300)
    return {
        "near": above_ground(mesh, size * rng.uniform(0.4, 6.0, 300), rng),
        "middle": middle[~mesh.contains(middle)],
        "shell": shell(5.5, 6.5, 200),
        "beyond": shell(6.5, 15.0, 100),
    }


def relative(value, reference):
    axes = tuple(range(1, reference.ndim))
    return np.sqrt(((value - reference) ** 2).sum(axis=axes) / (reference**2).sum(axis=axes))


def differences(field, points, step):
    """Fourth-order derivatives of U and g along the axes; ``step`` one for each point."""
    slope, bend = np.empty((len(points), 3)), np.empty((len(points), 3, 3))
    for axis in range(3):
        shift = step[:, None] * np.eye(3)[axis]
        parts = [field.evaluate(points + k * shift) for k in (-2, -1, 1, 2)]
        for order, out in ((0, slope), (1, bend)):
            one, two, three, four = (p[order] for p in parts)
            rise = one - 8.0 * two + 8.0 * three - four
            out[:, axis] = rise / (12.0 * step if order == 0 else 12.0 * step[:, None])
    return slope, bend


# ---------------------------------------------------------------------------------------------
# The error that was asked for
# ---------------------------------------------------------------------------------------------


def test_error_at_points_it_was_not_checked_by(field, full):
    """From a hair's breadth over the surface to five radii; also the report tells the truth."""
    rng = np.random.default_rng(77)
    mesh, radius = full.mesh, full.series.radius
    size = facet_size(mesh)
    heights = [
        np.exp(rng.uniform(np.log(1e-9 * size), np.log(4.0 * radius), 8000)),
        rng.uniform(0.0, 6.0 * size, 8000),
    ]
    ball = 5.0 * radius * rng.uniform(0.0, 1.0, (4000, 1)) ** (1 / 3) * directions(4000, rng)
    ball = full.series.center + ball
    points = np.concatenate(
        [above_ground(mesh, np.concatenate(heights), rng), ball[~mesh.contains(ball)]]
    )
    assert len(points) > 18_000
    _, g, _ = full.evaluate(points)
    error = relative(field.acceleration(points), g)
    assert error.max() <= field.tolerance
    assert field.report.max_error <= field.tolerance
    # The report's worst is of fewer points, drawn otherwise; its mean must be of the same size.
    assert 0.3 < error.mean() / field.report.mean_error < 3.0
    # The table would be pointless if the field were simple.
    assert relative(PointMass(full.gm, full.series.center).evaluate(points)[1], g).max() > 0.1


def test_potential_and_gradient_are_close_too(field, full):
    """Not promised as g is: U is better by two orders, Gamma worse by two, a derivative each."""
    for zone, points in zones(full, seed=1).items():
        u, _, h = field.evaluate(points)
        eu, _, eh = full.evaluate(points)
        assert np.abs(u / eu - 1.0).max() <= 0.03 * field.tolerance, zone
        assert relative(h, eh).max() <= 100.0 * field.tolerance, zone


def test_beyond_the_shell_it_is_the_series(field, full):
    points = zones(full, seed=2)["beyond"]
    for value, exact in zip(field.evaluate(points), full.series.evaluate(points), strict=True):
        assert value == pytest.approx(exact, rel=1e-13, abs=1e-15 * np.abs(exact).max())
    far = full.series.center + full.series.radius * np.array([[1e3, 0, 0], [0, -1e6, 0]])
    assert relative(field.evaluate(far)[1], full.evaluate(far)[1]).max() < 1e-9


def test_on_the_surface(field, full):
    """Every vertex, edge midpoint and centroid: finite, and U and g right from either side."""
    mesh = full.mesh
    middle = mesh.vertices[mesh.edges].mean(axis=1)
    points = np.concatenate([mesh.vertices, middle, mesh.vertices[mesh.faces].mean(axis=1)])
    u, g, h = field.evaluate(points)
    eu, eg, eh = full.evaluate(points)
    assert np.isfinite(h).all()
    assert np.abs(u / eu - 1.0).max() <= field.tolerance
    assert relative(g, eg).max() <= field.tolerance
    # At a centroid the gradient jumps; like the polyhedron, the table gives the mean.
    centroid = slice(-mesh.n_faces, None)
    assert relative(h[centroid], eh[centroid]).max() <= 100.0 * field.tolerance


def test_inside(field, full):
    """Not promised: finite, and within a few tolerances of the body's typical gravity."""
    rng = np.random.default_rng(3)
    low, high = full.mesh.vertices.min(axis=0), full.mesh.vertices.max(axis=0)
    points = rng.uniform(low, high, (4000, 3))
    points = points[full.mesh.contains(points)]
    assert len(points) > 800
    u, g, h = field.evaluate(points)
    eu, eg, eh = full.evaluate(points)
    assert np.abs(u / eu - 1.0).max() <= field.tolerance
    typical = np.sqrt((eg**2).sum(axis=1).mean())
    assert np.linalg.norm(g - eg, axis=1).max() <= 3.0 * field.tolerance * typical
    assert relative(h, eh).max() <= 100.0 * field.tolerance


def test_acceleration_alone_is_that_of_evaluate(field, full):
    """The kernel without the gradient: the same sum, in another order."""
    points = np.concatenate(list(zones(full, seed=4).values()))
    assert relative(field.acceleration(points), field.evaluate(points)[1]).max() < 1e-12
    assert field.acceleration(points[0]).shape == (3,)
    assert field.acceleration(np.zeros((0, 3))).shape == (0, 3)


# ---------------------------------------------------------------------------------------------
# One potential, differentiated
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("zone", ["near", "middle", "shell", "beyond"])
def test_acceleration_and_gradient_are_derivatives(field, full, zone):
    """Steps of 1/400 of the distance to the surface, at least 0.4 facet sizes.

    The windows are 1.3 facet sizes wide and the cells of the table a third of one, so a step is
    at most some hundredth of what the field changes over.
    """
    points = zones(full, seed=5)[zone]
    corners = full.mesh.vertices[full.mesh.faces]
    gap = cKDTree(corners.mean(axis=1)).query(points)[0]
    step = np.minimum(gap, 10.0 * facet_size(full.mesh)) / 400.0
    _, g, h = field.evaluate(points)
    slope, bend = differences(field, points, step)
    assert relative(slope, g).max() < 1e-8
    assert relative(bend, h).max() < 2e-7
    assert np.abs(h - h.transpose(0, 2, 1)).max() < 1e-12 * np.abs(h).max()


# ---------------------------------------------------------------------------------------------
# No step anywhere
# ---------------------------------------------------------------------------------------------


def snapped(points, origin, side, rng):
    """Each point moved onto a wall of a grid, and the unit vector across the wall."""
    points = points.copy()
    row, axis = np.arange(len(points)), rng.integers(0, 3, len(points))
    start = np.broadcast_to(origin, points.shape)[row, axis]
    points[row, axis] = start + side * np.round((points[row, axis] - start) / side)
    return points, np.eye(3)[axis]


def cell_walls(field, mesh, level, rng):
    """Places on the walls of a level's cells where it may hand over to the next.

    A level has the stencil of a cell i if bricks hold nodes i - 2 to i + 3: it ends at cells 2 and
    5 of a brick of 8, some 12 to 30 spacings from the surface. Corners of its bricks are where the
    stencil reaches farthest back, so there must be many places.
    """
    h = field.spacing * 2**level
    start, normal = ground(mesh, 6000, rng)
    points = start + h * rng.uniform(11.0, 30.0, (6000, 1)) * normal
    offset = rng.choice([2.0, 5.0], (len(points), 1)) * h
    return snapped(points, field.origin + offset, BRICK * h, rng)


def sphere_walls(field, share, rng):
    """Places above the surface, on spheres about the pieces with a share of the windows' reach."""
    piece = field.pieces[rng.integers(0, len(field.pieces), 1200)]
    normal = np.cross(piece[:, 1] - piece[:, 0], piece[:, 2] - piece[:, 0])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    out = normal + 0.7 * directions(1200, rng)
    out /= np.linalg.norm(out, axis=1)[:, None]
    return piece.mean(axis=1) + share * field.reach * out, out


def all_walls(field, full, seed):
    """Kind, places and normals of the walls at which pieces of the law meet."""
    rng = np.random.default_rng(seed)
    for level in range(field.report.levels):
        yield f"level {level}", *cell_walls(field, full.mesh, level, rng)
    start, normal = ground(full.mesh, 1200, rng)
    near = start + field.reach * rng.uniform(0.25, 1.2, (1200, 1)) * normal
    yield "block", *snapped(near, field.lists.corner, field.lists.block, rng)
    yield "plateau", *sphere_walls(field, PLATEAU, rng)
    yield "reach", *sphere_walls(field, 1.0, rng)
    for radius in field.shell:
        out = directions(500, rng)
        yield "shell", full.series.center + radius * out, out


def test_no_wall_shows_in_potential_acceleration_or_gradient(field, full):
    """Across a wall U, g and Gamma change as little as anywhere else: no step of 3e-8.

    The points of a pair are 1e-9 facet sizes apart. By itself Gamma changes over the distance to
    the surface, here one facet size and more; near the edge of a facet a few times quicker.
    """
    apart = 1e-9 * facet_size(full.mesh)
    for wall, points, normal in all_walls(field, full, seed=6):
        below = field.evaluate(points - 0.5 * apart * normal)
        over = field.evaluate(points + 0.5 * apart * normal)
        for order in range(3):
            one, other = (v[order].reshape(len(points), -1) for v in (below, over))
            assert relative(other, one).max() < 3e-8, (wall, ["U", "g", "Gamma"][order])


def test_gradient_along_lines_has_no_steps(field, full):
    """Samples eight times as close move by an eighth: no step hides at any place of a line."""
    rng = np.random.default_rng(8)
    mesh, size = full.mesh, facet_size(full.mesh)
    start, normal = ground(mesh, 16, rng)
    along = normal + 0.9 * directions(16, rng)
    span = np.linspace(0.4, 6.0, 4097)[:, None, None]
    lines = start + span * size * along
    lines = lines[:, ~mesh.contains(lines[::128]).any(axis=0)]
    assert lines.shape[1] >= 8
    h = field.evaluate(lines)[2]
    fine, coarse = (np.abs(np.diff(part, axis=0)).max(axis=(0, 2, 3)) for part in (h, h[::8]))
    assert coarse / fine == pytest.approx(8.0, rel=0.1)


# ---------------------------------------------------------------------------------------------
# Energy
# ---------------------------------------------------------------------------------------------


def test_no_work_is_done_around_a_loop(field, full):
    """The integral of g along closed curves through near field, table and shell is zero."""
    rng = np.random.default_rng(9)
    radius = full.series.radius
    t = np.linspace(0.0, 2.0 * np.pi, 20_001)[:, None]
    for distance in (1.15, 2.0, 5.9):
        one, other = np.linalg.qr(rng.normal(size=(3, 2)))[0].T
        wobble = 1.0 + 0.08 * np.cos(3.0 * t + 1.0)
        curve = full.series.center + radius * distance * wobble * (
            np.cos(t) * one + np.sin(t) * other
        )
        assert not full.mesh.contains(curve[::20]).any()
        _, g, _ = field.evaluate(curve)
        # Trapezoid on chords, the curve periodic: the error is second order in 3e-4.
        work = 0.5 * (g[1:] + g[:-1]) * np.diff(curve, axis=0)
        assert abs(work.sum()) < 1e-8 * np.abs(work).sum()


def orbit(field, position, velocity, spin, step, count):
    """RK4 in the frame that turns with the body; greatest change of Jacobi's integral over U."""

    def rate(x, v):
        g = field.acceleration(x)
        return v, g - np.cross(spin, np.cross(spin, x)) - 2.0 * np.cross(spin, v)

    def energy(x, v):
        u = field.evaluate(x)[0]
        return 0.5 * (v**2).sum(axis=1) - 0.5 * (np.cross(spin, x) ** 2).sum(axis=1) - u

    x, v, start, worst = position, velocity, energy(position, velocity), 0.0
    for i in range(count):
        dx1, dv1 = rate(x, v)
        dx2, dv2 = rate(x + 0.5 * step * dx1, v + 0.5 * step * dv1)
        dx3, dv3 = rate(x + 0.5 * step * dx2, v + 0.5 * step * dv2)
        dx4, dv4 = rate(x + step * dx3, v + step * dv3)
        x = x + step / 6.0 * (dx1 + 2.0 * dx2 + 2.0 * dx3 + dx4)
        v = v + step / 6.0 * (dv1 + 2.0 * dv2 + 2.0 * dv3 + dv4)
        if (i + 1) % (count // 25) == 0:
            worst = np.maximum(worst, np.abs(energy(x, v) - start))
    return worst / field.evaluate(position)[0], x


def energy_drifts(field, full, position, velocity, time, count):
    """Drift of Jacobi's integral over a time [in orbits at the surface] with a step and half."""
    gm, radius = full.gm, full.series.radius
    spin = np.array([0.0, 0.0, 0.3]) * np.sqrt(gm / radius**3)
    velocity = velocity - np.cross(spin, position)
    step = time * 2.0 * np.pi * np.sqrt(radius**3 / gm) / count
    coarse, _ = orbit(field, position, velocity, spin, step, count)
    fine, end = orbit(field, position, velocity, spin, 0.5 * step, 2 * count)
    assert not full.mesh.contains(end).any()
    return coarse, fine, np.linalg.norm(end - full.series.center, axis=1) / radius


def test_orbits_keep_their_energy(field, full):
    """Jacobi's integral drifts by the integrator's error alone: a sixteenth at half the step."""
    rng = np.random.default_rng(10)
    distance = np.array([1.8, 2.5, 4.0, 5.6, 6.2]) * full.series.radius
    out = directions(5, rng)
    across = np.cross(out, directions(5, rng))
    across /= np.linalg.norm(across, axis=1)[:, None]
    # Low orbits a little faster than a circle's, high ones slower: they cross the shell.
    speed = np.array([1.15, 1.1, 1.0, 0.8, 0.8]) * np.sqrt(full.gm / distance)
    x = full.series.center + distance[:, None] * out
    coarse, fine, _ = energy_drifts(field, full, x, speed[:, None] * across, 2.0, 500)
    assert fine.max() < 1e-8
    # Where rounding does not show yet: fourth order and better.
    assert ((coarse / fine)[fine > 1e-13] > 12.0).all()


def test_a_launch_from_the_surface_keeps_its_energy(field, full):
    """Up through windows, cells and levels at the speed of escape, from half a facet's height."""
    rng = np.random.default_rng(12)
    size = facet_size(full.mesh)
    start, normal = ground(full.mesh, 6, rng)
    x = start + 0.5 * size * normal
    speed = np.sqrt(2.0 * field.evaluate(x)[0])
    coarse, fine, end = energy_drifts(field, full, x, speed[:, None] * normal, 0.6, 500)
    assert (end > 2.0).all()
    assert fine.max() < 1e-8
    assert ((coarse / fine)[fine > 1e-13] > 8.0).all()


# ---------------------------------------------------------------------------------------------
# The report, the disk, refusals
# ---------------------------------------------------------------------------------------------


def test_report(field):
    report = field.report
    assert isinstance(report, CacheReport)
    assert report.tolerance == field.tolerance
    assert 0.0 < report.mean_error < report.max_error <= report.tolerance
    assert report.points >= 1000
    assert report.levels == len(field.grids)
    coefficients = sum(g.coefficient.nbytes for g in field.grids)
    assert coefficients < report.nbytes < 1.5 * coefficients + 10e6
    text = str(report)
    assert f"{report.max_error:.1e}" in text
    assert f"{report.nbytes / 1e6:.0f} MB" in text
    assert f"{report.max_error:.1e}" in repr(field)


def test_read_back_it_is_the_same_field(field, full, folder):
    again = CachedField(full, tolerance=field.tolerance, store=str(folder))
    assert again.report.seconds == 0.0
    points = np.concatenate([*zones(full, seed=11).values(), full.mesh.vertices])
    for one, other in zip(again.evaluate(points), field.evaluate(points), strict=True):
        assert np.array_equal(one, other)


def test_too_little_memory_is_told_with_figures(full, name):
    with pytest.raises(InputError, match=r"within 2 MB .* would take \d+ MB.*Allow more memory"):
        CachedField(full, tolerance=TOLERANCE[name], memory=2e6, store=False)


def test_what_is_no_polyhedron_is_refused():
    with pytest.raises(InputError, match=r"tabulates a gravity.Polyhedron; got PointMass"):
        CachedField(PointMass(1.0), store=False)
    with pytest.raises(InputError, match="got str"):
        CachedField("itokawa", store=False)


@pytest.mark.parametrize("tolerance", [0.0, -1e-5, 1e-9, 0.5, np.nan, np.inf, "1e-5", None])
def test_tolerances_that_no_table_is_made_to(meshes, tolerance):
    full = Polyhedron(meshes["lobes"], density=DENSITY)
    with pytest.raises(InputError, match=r"between 1e-7 and 1e-2"):
        CachedField(full, tolerance=tolerance, store=False)


@pytest.mark.parametrize(
    "option",
    [{"memory": m} for m in ("256 MB", None, 0.0, -1.0, np.nan)]
    + [{"store": s} for s in (None, 3)],
)
def test_options_that_cannot_be_used(meshes, option):
    full = Polyhedron(meshes["lobes"], density=DENSITY)
    with pytest.raises(InputError, match=next(iter(option))):
        CachedField(full, **{"store": False, **option})


def test_a_grid_that_misses_the_tolerance_is_not_handed_out(monkeypatch):
    """A first guess far too coarse: the builder sees it, and refines until the error is met."""
    full = Polyhedron(icosphere(1), density=DENSITY)
    monkeypatch.setattr(CachedField, "_first_try", lambda self: 0)
    coarse = CachedField(full, tolerance=1e-2, store=False).report
    fine = CachedField(full, tolerance=1e-4, store=False).report
    assert coarse.max_error > 1e-4
    assert fine.max_error <= 1e-4
    assert fine.spacing < coarse.spacing


def test_a_tolerance_that_no_grid_keeps_is_told_with_figures():
    """Eighty large facets: a table to 1e-7 would be finer than any that is tried."""
    with pytest.raises(InputError, match=r"tolerance of 1e-07 .*nodes: error \d"):
        CachedField(Polyhedron(icosphere(1), density=DENSITY), tolerance=1e-7, store=False)


def test_points_that_are_no_points(field):
    with pytest.raises(InputError, match="not finite"):
        field.acceleration([[0.0, np.nan, 1.0]])
    with pytest.raises(InputError, match="shape"):
        field.evaluate([1.0, 2.0])
