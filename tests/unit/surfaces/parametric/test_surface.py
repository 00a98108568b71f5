"""Parametric: the series it is made of, its derivatives at every place, and bounds that hold."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from alight.core.errors import InputError
from alight.shapes import builtin
from alight.shapes.icosphere import icosphere
from alight.shapes.radius_series import harmonics
from alight.shapes.radius_series.series import HarmonicSeries
from alight.surfaces import Facets, FractalNoise, Parametric, Plane, Rough, Sphere
from alight.surfaces.parametric import bounds as pb

EPS = np.finfo(float).eps
POLES = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])


def bumpy(degree, seed=0, bump=0.2):
    """A body of about 10 m with bumps of every degree, whatever their share of ``bump``."""
    rng = np.random.default_rng(seed)
    ls = np.floor(np.sqrt(np.arange((degree + 1) ** 2)))
    c = 10.0 * bump * rng.normal(size=len(ls)) / (1.0 + ls) ** 2
    c[0] = 10.0
    return HarmonicSeries(c)


def ellipsoid(axes, degree=22):
    """The series of an ellipsoid: means of r times each harmonic, by quadrature."""
    n, weights = harmonics.sphere_quadrature(4 * degree)
    radius = 1.0 / np.sqrt(((n / np.asarray(axes)) ** 2).sum(axis=1))
    return HarmonicSeries(harmonics.basis(degree, n).T @ (weights * radius))


def around(count=500, seed=1, low=0.7, high=3.0):
    """Points at all heights, some on the poles' axis and some just beside it."""
    rng = np.random.default_rng(seed)
    n = rng.normal(size=(count, 3))
    n /= np.linalg.norm(n, axis=1)[:, None]
    near = POLES[rng.integers(0, 2, 40)] + 10.0 ** rng.uniform(-17, -3, (40, 1)) * n[:40]
    n = np.concatenate([n, np.eye(3), -np.eye(3), near])
    return 10.0 * n * rng.uniform(low, high, (len(n), 1))


def expected(series, x):
    """d = |x| - r(x/|x|) with derivatives, from the host's evaluation."""
    length = np.linalg.norm(x, axis=1)
    n = x / length[:, None]
    r, dr, d2r = series.evaluate(n)
    across = np.eye(3) - n[:, :, None] * n[:, None, :]
    return (
        length - r,
        n - dr / length[:, None],
        across / length[:, None, None] - d2r / length[:, None, None] ** 2,
    )


@pytest.mark.parametrize("kind", ["harmonic", "polynomial"])
@pytest.mark.parametrize("degree", [0, 1, 2, 3, 8, 22])
def test_it_is_its_series(degree, kind, device):
    series = bumpy(degree)
    x = around()
    found = Parametric(series if kind == "harmonic" else series.to_polynomial()).bends(x, device)
    for ours, theirs in zip(found, expected(series, x), strict=True):
        # monomials are rewritten as harmonics: condition 1.4e3 at degree 22
        tolerance = 1e-12 if kind == "harmonic" else 1e-10
        assert ours == pytest.approx(theirs, rel=0, abs=tolerance * max(1.0, np.abs(theirs).max()))
    assert np.array_equal(found.hessian, np.swapaxes(found.hessian, 1, 2))


def test_point_and_bend_agree(device):
    ground = Parametric(bumpy(22))
    x = around()
    one, other = ground.sample(x, device), ground.bends(x, device)
    assert one.distance == pytest.approx(other.distance, rel=0, abs=1e-13 * 10)
    assert one.gradient == pytest.approx(other.gradient, rel=0, abs=1e-13)
    assert one.normal == pytest.approx(other.normal, rel=0, abs=1e-13)


def test_finite_differences(device):
    """Central differences: error h^2/6 d''' + eps d/h; d''' grows with the cube of the degree."""
    degree = 22
    ground = Parametric(bumpy(degree))
    x = around()
    h, scale = 1e-4, 10.0
    found = ground.bends(x, device)
    steep = np.abs(found.gradient).max() * (degree * h / scale) ** 2 + 1e2 * EPS * scale / h
    bent = np.abs(found.hessian).max() * (degree * h / scale) ** 2 + 1e2 * EPS / h
    for axis in range(3):
        step = h * np.eye(3)[axis]
        ahead, behind = ground.sample(x + step, device), ground.sample(x - step, device)
        slope = (ahead.distance - behind.distance) / (2.0 * h)
        assert found.gradient[:, axis] == pytest.approx(slope, rel=0, abs=steep)
        bend = (ahead.gradient - behind.gradient) / (2.0 * h)
        assert found.hessian[:, :, axis] == pytest.approx(bend, rel=0, abs=bent)


def test_a_path_over_a_pole_sees_nothing_special():
    """Along a great circle through the pole the distance and its slope stay smooth.

    Fourth differences of steps h are h^4 d'''' : no jump, no lost digits near the axis.
    """
    ground = Parametric(bumpy(22))
    h = 1e-3
    angle = h * np.arange(-200, 201)
    way = np.stack([0.6 * np.sin(angle), 0.8 * np.sin(angle), np.cos(angle)], axis=1)
    found = ground.bends(12.0 * way)
    assert np.array_equal(way[200], [0.0, 0.0, 1.0])
    for values in found:
        rough = np.abs(np.diff(values, 4, axis=0)).max()
        assert rough < np.abs(values).max() * ((22 * h) ** 4 + 100.0 * EPS)


def test_centre(device):
    """The centre itself has no direction: a number all the same, and +z."""
    series = bumpy(6)
    middle = np.array([1.0, -2.0, 3.0])
    ground = Parametric(series, middle)
    found = ground.bends(middle, device)
    assert found.distance == pytest.approx(-series.radius([0.0, 0.0, 1.0]), rel=1e-13)
    assert np.array_equal(found.gradient, [0.0, 0.0, 1.0])
    assert not found.hessian.any()
    x = around()
    for one, other in zip(ground.bends(x + middle), Parametric(series).bends(x), strict=True):
        assert one == pytest.approx(other, rel=0, abs=1e-12 * max(1.0, np.abs(other).max()))
    on = ground.at(x)
    assert ground.query(on)[0] == pytest.approx(0.0, abs=1e-13 * 10)
    assert np.abs(np.cross(on - middle, x)).max() < 1e-11 * 1e3


# -- bounds ------------------------------------------------------------------------------------


def test_the_grid_leaves_no_gap():
    spacing = 0.05
    grid = pb.covering_grid(spacing)
    n = around(20_000)
    chord = cKDTree(grid).query(n / np.linalg.norm(n, axis=1)[:, None])[0].max()
    assert 0.9 * spacing < np.sqrt(2.0) * 2.0 * np.arcsin(0.5 * chord) <= spacing
    assert len(grid) < 1.1 * 4.0 * np.pi / spacing**2


@pytest.mark.parametrize("depth", [0.0, 2.0])
@pytest.mark.parametrize("degree", [0, 1, 2, 5, 22])
def test_bounds_hold_and_are_tight(degree, depth):
    ground = Parametric(bumpy(degree, bump=0.4))
    bounds = ground.bounds_to(depth)
    n = around(100_000, low=1.0, high=1.0)
    reach = np.random.default_rng(3).exponential(0.3, len(n))
    reach[::2] = 0.0
    x = n * ((ground.series.radius(n) - depth) * (1.0 + reach) / np.linalg.norm(n, axis=1))[:, None]
    assert ground.query(x)[0].min() >= -depth - 1e-12
    slope, curvature = largest(ground, x)
    assert slope <= bounds.slope * (1.0 + 1e-12) <= 1.06 * slope
    assert curvature <= bounds.curvature * (1.0 + 1e-12) <= 1.25 * curvature


def largest(ground, x):
    """The longest gradient and the largest second derivative at points."""
    found = ground.bends(x)
    bend = np.abs(np.linalg.eigvalsh(found.hessian)).max()
    return np.array([np.linalg.norm(found.gradient, axis=1).max(), bend])


def test_bounds_hold_where_the_grid_is_too_coarse_to_see(monkeypatch):
    """With k delta = 1.2 the grid misses the peaks: its own maxima do not bound, the proof does."""
    monkeypatch.setattr(pb, "FINENESS", 1.2)
    missed = 0
    for seed in range(6):
        ground = Parametric(bumpy(5, seed, bump=0.3))
        seen = largest(ground, ground.at(ground._survey._n))
        real = largest(ground, ground.at(around(30_000)))
        missed += int((seen < real * (1.0 - 1e-6)).sum())
        assert (real <= [ground.bounds.slope, ground.bounds.curvature]).all()
        radius = ground.series.radius(around(30_000))
        assert ground._survey.least <= radius.min()
        assert radius.max() <= ground._survey.most
    assert missed >= 6


def test_the_distance_over_the_slope_is_a_safe_step():
    ground = Parametric(bumpy(12, bump=0.5))
    rng = np.random.default_rng(5)
    x = around(3000, low=0.5, high=4.0)
    x = x[ground.query(x)[0] > 0.0]
    distance, normal = ground.query(x)
    way = rng.normal(size=x.shape)
    way /= np.linalg.norm(way, axis=1)[:, None]
    for u in (way, -normal, -x / np.linalg.norm(x, axis=1)[:, None]):
        end = x + u * (distance / ground.bounds.slope)[:, None]
        assert ground.query(end)[0].min() > -1e-12


def test_no_bounds_at_the_centre():
    ground = Parametric(bumpy(3))
    with pytest.raises(InputError, match=r"12 m below this surface lies its centre"):
        ground.bounds_to(12.0)


def test_bounds_of_a_sphere():
    """d = |x| - R exactly: slope 1 and curvature 1/(R - depth), and a margin of the grid."""
    ground = Parametric(HarmonicSeries([4.0]))
    assert ground.bounds.slope == 1.0
    assert ground.bounds.curvature == pytest.approx(0.25, rel=0.05)
    assert ground.bounds.curvature >= 0.25
    assert ground.bounds_to(2.0).curvature == pytest.approx(0.5, rel=0.05)


def test_hills_can_stand_on_it():
    ground = Parametric(bumpy(8))
    rough = Rough(ground, FractalNoise(0.01, 0.5, octaves=2, seed=1))
    assert rough.bounds.slope > ground.bounds.slope
    assert np.abs(rough.query(ground.at(around()))[0]).max() < 0.05
    assert rough.bend is None


# -- curvature ---------------------------------------------------------------------------------


def test_curvature_of_plane_and_sphere(device):
    rng = np.random.default_rng(6)
    x, t = rng.normal(size=(50, 3)), rng.normal(size=(50, 3))
    flat = Plane((0, 0, 1), (1, 2, 2)).bends(x, device)
    assert not flat.hessian.any()
    assert np.array_equal(flat.curvature(t), np.zeros(50))
    assert np.array_equal(flat.principal, np.zeros((50, 2)))
    ball = Sphere((1, 2, 3), 5.0)
    x = np.array([1, 2, 3]) + 5.0 * x / np.linalg.norm(x, axis=1)[:, None]
    round_ = ball.bends(x, device)
    assert round_.distance == pytest.approx(0.0, abs=1e-14)
    assert round_.curvature(t) == pytest.approx(0.2, rel=1e-13)
    assert round_.principal == pytest.approx(0.2, rel=1e-13)
    assert round_.gradient == pytest.approx(ball.sample(x, device).gradient)
    assert not ball.bends([1.0, 2.0, 3.0], device).hessian.any()


def test_curvature_of_an_ellipsoid(device):
    """At the end of axis c: c/a^2 along a and c/b^2 along b; everywhere the Gaussian curvature
    is 1/(a b c)^2 / (x^2/a^4 + y^2/b^4 + z^2/c^4)^2."""
    a, b, c = axes = np.array([1.3, 1.1, 0.9])
    ground = Parametric(ellipsoid(axes))
    tip = ground.bends([0.0, 0.0, c], device)
    # the series itself misses the ellipsoid by a few 1e-10, and its Hessian by 22^2 of that
    assert tip.distance == pytest.approx(0.0, abs=1e-9)
    assert tip.curvature([1.0, 0.0, 0.5]) == pytest.approx(c / a**2, rel=1e-6)
    assert tip.curvature([0.0, -2.0, 0.0]) == pytest.approx(c / b**2, rel=1e-6)
    assert tip.principal == pytest.approx([c / a**2, c / b**2], rel=1e-6)
    x = ground.at(around())
    found = ground.bends(x, device)
    gauss = found.principal.prod(axis=1)
    assert gauss == pytest.approx(
        1.0 / (axes.prod() * ((x / axes**2) ** 2).sum(axis=1)) ** 2, rel=1e-6
    )
    normal = x / axes**2
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    assert found.normal == pytest.approx(normal, abs=1e-7)


# -- where it comes from -----------------------------------------------------------------------


def test_from_mesh_reports_its_errors():
    series = bumpy(6)
    ground = Parametric.from_mesh(series.to_mesh(subdivisions=4), 6)
    assert ground.report.degree == 6
    assert ground.report.rms < 1e-3
    assert ground.report.visible == 1.0
    assert "fitted" in repr(ground)
    assert Parametric(series).report is None


def test_from_mesh_about_another_place():
    mesh = bumpy(6).to_mesh(subdivisions=4)
    away = np.array([20.0, 5.0, -3.0])
    moved = Parametric.from_mesh(mesh.translated(away), 6, center=away)
    x = around(100)
    assert moved.query(x + away)[0] == pytest.approx(
        Parametric.from_mesh(mesh, 6).query(x)[0], rel=0, abs=1e-9
    )


@pytest.mark.parametrize("name", ["ryugu", "itokawa", "eros"])
def test_from_body_is_about_its_centre_of_mass(name):
    """Facets cut corners by h^2: four times as many put the centre of mass four times nearer."""
    ground = Parametric.from_body(name)
    coarse, fine = (
        np.linalg.norm(ground.center + builtin.find(name).mesh(count).center_of_mass)
        for count in (20_000, 80_000)
    )
    assert fine < 5e-4 * ground.series.mean_radius
    assert fine < 0.45 * coarse


def test_what_is_refused():
    lobes = builtin.find("67p").mesh(1200)
    with pytest.raises(InputError, match=r"not star-shaped: .* % of its surface cannot be seen"):
        Parametric.from_mesh(lobes)
    with pytest.raises(InputError, match="built of lobes"):
        Parametric.from_body("67p")
    with pytest.raises(InputError, match="ryugu"):
        Parametric.from_body("ryugo")
    with pytest.raises(InputError, match=r"degree 22 has 529 terms .* degree 11 or less"):
        Parametric.from_mesh(icosphere(2))
    with pytest.raises(InputError, match=r"falls to -0.7.* m towards \[.*-0.99.\]: it must be pos"):
        Parametric(HarmonicSeries([1.0, 0.0, 1.0, 0.0]))
    with pytest.raises(InputError, match="needs a HarmonicSeries"):
        Parametric(icosphere(1))
    with pytest.raises(InputError, match="center"):
        Parametric(bumpy(2), center=(0, 1))


@pytest.mark.parametrize("rough", [False, True])
def test_a_surface_with_kinks_has_no_second_derivatives(rough):
    ground = Rough(Plane(), FractalNoise(0.01, 0.5)) if rough else Facets(icosphere(1))
    assert ground.bend is None
    with pytest.raises(InputError, match=r"has no second derivatives.*Parametric\.from_mesh"):
        ground.bends([0.0, 0.0, 2.0])


@pytest.mark.parametrize("shape", [(), (0,), (4,), (2, 3)])
def test_shapes_of_points(shape):
    x = 20.0 + np.random.default_rng(7).normal(size=(*shape, 3))
    found = Parametric(bumpy(4)).bends(x)
    assert found.distance.shape == shape
    assert found.gradient.shape == found.normal.shape == (*shape, 3)
    assert found.hessian.shape == (*shape, 3, 3)
    assert found.curvature([1.0, 0.0, 0.0]).shape == shape
    assert found.principal.shape == (*shape, 2)


def test_devices_and_threads(device):
    ground = Parametric(bumpy(22))
    x = around(5000)
    here = ground.bends(x, "cpu", threads=1)
    for one, other in zip(here, ground.bends(x, "cpu", threads=2), strict=True):
        assert np.array_equal(one, other)
    for one, other in zip(here, ground.bends(x, device), strict=True):
        assert other == pytest.approx(one, rel=0, abs=1e-12 * max(1.0, np.abs(one).max()))
