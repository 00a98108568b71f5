"""Footprints of known normal laws: axes, angle, area, containment; densities that add up."""

import numpy as np
import pytest
from scipy import stats

from alight.analysis import density
from alight.analysis import footprint as fp
from alight.core import frames
from alight.core.errors import InputError
from alight.shapes import icosphere

RADIUS = 450.0


def _normal_places(n, sigma, angle, seed=0, latitude=0.4, longitude=2.0):
    """Places on the tangent plane of a sphere, spread by ``sigma`` along axes turned by angle."""
    u = np.random.default_rng(seed).normal(size=(n, 2)) * sigma
    c, s = np.cos(angle), np.sin(angle)
    plane = u @ np.array([[c, s], [-s, c]])
    up = frames.direction(latitude, longitude)
    return RADIUS * up + plane @ frames.local_frame(up)[:, :2].T


def test_origin_and_axes():
    latitude, longitude = 0.4, 2.0
    found = fp.footprint(_normal_places(2001, (5.0, 2.0), 0.0))
    at = found.latitude_longitude
    # The median of a normal law is known to 1.25 sigma/sqrt(n).
    assert at == pytest.approx((latitude, longitude), abs=4 * 1.25 * 5.0 / np.sqrt(2001) / RADIUS)
    north = RADIUS * frames.direction(latitude + 0.01, longitude) - found.origin
    assert (north @ found.R_TL)[1] > 0.99 * np.linalg.norm(north)
    assert np.median(found.plane, axis=0) == pytest.approx([0.0, 0.0], abs=0.1)
    assert found.far_share == 0.0
    back = found.to_target(found.plane) + found.up[:, None] * found.R_TL[:, 2]
    np.testing.assert_allclose(back, _normal_places(2001, (5.0, 2.0), 0.0), rtol=1e-13, atol=1e-10)


@pytest.mark.parametrize("angle", [-1.2, 0.0, 0.7, np.pi / 2])
def test_ellipses_of_a_normal_law(angle):
    n, sigma = 40_000, np.array([30.0, 8.0])
    found = fp.ellipses(fp.footprint(_normal_places(n, sigma, angle, seed=5)).plane)
    error = 4.0 / np.sqrt(n)
    for ellipse in found:
        scale = np.sqrt(-2.0 * np.log1p(-ellipse.share))
        loose = error * (1.0 if ellipse.kind == "gaussian" else 3.0)  # the 99 % quantile: 2.2
        axes = ellipse.semi_major, ellipse.semi_minor
        assert axes == pytest.approx(tuple(scale * sigma), rel=loose)
        turned = (ellipse.angle - angle + np.pi / 2) % np.pi - np.pi / 2
        assert turned == pytest.approx(0.0, abs=error)
        assert ellipse.contained == pytest.approx(ellipse.share, abs=error)
        assert ellipse.area.value == pytest.approx(np.pi * axes[0] * axes[1], rel=1e-12)
        assert ellipse.area.low < ellipse.area.value < ellipse.area.high
    exact = [e for e in found if e.kind == "empirical"]
    assert [e.contained for e in exact] == pytest.approx([0.5, 0.95, 0.99], abs=1e-12)


def _crosses(angle, centre):
    """Five crosses of four places each, 1 to 5 times 3 m along and 2 m across: nothing is random.

    The variances about the mean are 2 s^2 (1 + 4 + 9 + 16 + 25) / 19, s = 3 and 2, without
    correlation; the ends of cross i lie i^2 * 19/110 squared standard deviations out.
    """
    i = np.arange(1.0, 6.0)[:, None, None]
    plane = (i * [[3.0, 0.0], [-3.0, 0.0], [0.0, 2.0], [0.0, -2.0]]).reshape(-1, 2)
    c, s = np.cos(angle), np.sin(angle)
    return plane @ np.array([[c, s], [-s, c]]) + centre


@pytest.mark.parametrize("angle", [-1.2, 0.0, 0.7, np.pi / 2])
def test_ellipses_of_given_places_are_exact(angle):
    n, sigma = 20, np.sqrt(110.0 / 19.0) * np.array([3.0, 2.0])
    # Of 20 places the 10th, 19th and 20th: crosses 3, 5 and 5, which hold 12, 20 and 20 places.
    empirical = {0.5: (9.0, 0.6), 0.95: (25.0, 1.0), 0.99: (25.0, 1.0)}
    found = fp.ellipses(_crosses(angle, (7.0, -4.0)), [0.5, 0.95, 0.99], confidence=0.9)
    assert [(e.kind, e.share) for e in found] == [
        (kind, share) for share in empirical for kind in ("empirical", "gaussian")
    ]
    for e in found:
        ends, held = empirical[e.share]
        # P(k^2 < x) = 1 - exp(-x/2) for two standard normal numbers: chi-square of two degrees.
        scale = ends * 19.0 / 110.0 if e.kind == "empirical" else stats.chi2(2).ppf(e.share)
        axes = np.sqrt(scale) * sigma
        assert (e.semi_major, e.semi_minor) == pytest.approx(tuple(axes), rel=1e-13)
        assert e.area.value == pytest.approx(np.pi * axes[0] * axes[1], rel=1e-13)
        assert e.centre == pytest.approx((7.0, -4.0), abs=1e-13)
        assert abs(np.sin(e.angle - angle)) < 1e-13
        assert -np.pi / 2 - 1e-13 < e.angle < np.pi / 2 + 1e-13
        assert e.area.n == n
        if e.kind == "gaussian":
            assert e.contained == np.mean(np.repeat(np.arange(1, 6) ** 2, 4) * 19 / 110 <= scale)
            off = np.log([e.area.low / e.area.value, e.area.high / e.area.value])
            assert off == pytest.approx(stats.norm.ppf([0.05, 0.95]) / np.sqrt(n), rel=1e-12)
        else:
            # The four ends of a cross lie equally far out but for rounding.
            assert e.share - 1e-12 <= e.contained <= held


def test_the_interval_of_an_empirical_area_is_between_order_statistics():
    """Ranks by the binomial distribution of 20: 6 and 15 at 50 % (P(X < 6) = 2.1 %), 90 % sure."""
    found = fp.ellipses(_crosses(0.3, (0.0, 0.0)), [0.5, 0.95], confidence=0.9)
    below = stats.binom(20, 0.5).cdf
    assert below(5) <= 0.05 < below(6)
    per = np.pi * 6.0  # k^2 sigma sigma = i^2 (19/110) (110/19) 3 2
    assert found[0].area.low == pytest.approx(per * 2**2, rel=1e-13)  # the 6th: cross 2
    assert found[0].area.high == pytest.approx(per * 4**2, rel=1e-13)  # the 15th: cross 4
    assert found[2].area.low == pytest.approx(per * 5**2, rel=1e-13)
    assert np.isnan(found[2].area.high)  # 20 places do not reach so far


def test_an_outline_goes_once_round_from_the_major_axis():
    """Points a quarter of a turn apart, in closed form, counterclockwise."""
    ellipse = fp.ellipses(_crosses(0.5, (7.0, -4.0)), [0.5])[1]
    a, b, c, s = ellipse.semi_major, ellipse.semi_minor, np.cos(0.5), np.sin(0.5)
    along, left = a * np.array([c, s]), b * np.array([-s, c])
    expected = np.stack([along, left, -along, -left, along]) + ellipse.centre
    np.testing.assert_allclose(ellipse.outline(5), expected, rtol=0.0, atol=1e-13 * a)
    assert len(ellipse.outline()) == 181


def test_a_normal_law_misjudges_a_heavy_tail_and_the_count_does_not():
    rng = np.random.default_rng(1)
    plane = rng.normal(size=(5000, 2)) * np.where(rng.random(5000) < 0.05, 30.0, 1.0)[:, None]
    empirical, gaussian = fp.ellipses(plane, [0.5])
    assert empirical.contained == 0.5
    assert gaussian.contained > 0.9


def test_outline_holds_the_places_it_says():
    plane = fp.footprint(_normal_places(500, (30.0, 8.0), 0.6)).plane
    for ellipse in fp.ellipses(plane):
        curve = ellipse.outline(2001)[:-1] - ellipse.centre
        along = np.array([np.cos(ellipse.angle), np.sin(ellipse.angle)])
        assert abs(curve @ along).max() == pytest.approx(ellipse.semi_major, rel=1e-5)
        # A place is inside where the curve, in its direction, is farther out.
        offset = plane - ellipse.centre
        nearest = np.argmax(
            (offset / np.linalg.norm(offset, axis=1, keepdims=True))
            @ (curve / np.linalg.norm(curve, axis=1, keepdims=True)).T,
            axis=1,
        )
        inside = np.linalg.norm(offset, axis=1) <= np.linalg.norm(curve[nearest], axis=1)
        assert inside.mean() == pytest.approx(ellipse.contained, abs=1.01 / len(plane))


def test_the_interval_of_the_area_covers_the_true_one():
    rng, n, trials = np.random.default_rng(9), 300, 400
    covered = {"empirical": 0, "gaussian": 0}
    for _ in range(trials):
        for e in fp.ellipses(rng.normal(size=(n, 2)) * (3.0, 1.0), [0.9]):
            covered[e.kind] += e.area.low <= np.pi * 3.0 * -2.0 * np.log(0.1) <= e.area.high
    # 95 %, three standard errors of 400 trials are 3.3 %.
    assert all(0.917 < count / trials < 0.99 for count in covered.values()), covered


def test_what_has_no_ellipse_or_footprint():
    with pytest.raises(InputError, match="no run came to rest"):
        fp.footprint(np.full((3, 3), np.nan))
    with pytest.raises(InputError, match="at least 3"):
        fp.ellipses(np.zeros((2, 2)))
    for line in (np.zeros((9, 2)), np.arange(9.0)[:, None] * [1.0, 2.0]):
        with pytest.raises(InputError, match="one line"):
            fp.ellipses(line)
    with pytest.raises(InputError, match="body's centre"):
        fp.footprint([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    with pytest.raises(InputError, match="between 0 and 1"):
        fp.ellipses(np.random.default_rng(0).normal(size=(9, 2)), [95])


@pytest.mark.parametrize(
    "up", [(0.0, 0.0, 2.0), (0.3, -0.4, 1.2), (1.0, 0.1, 0.0), (0.0, 0.0, -1.0)]
)
def test_a_footprint_on_plane_ground_has_the_axes_of_the_plane(up):
    """x is the target's x dropped on the plane (z where x is nearly its normal), y left of it."""
    normal = np.array(up) / np.linalg.norm(up)
    ahead = np.array([1.0, 0.0, 0.0] if abs(normal[0]) < 0.9 else [0.0, 0.0, 1.0])
    east, north, high = fp.plane_frame(np.array(up)).T
    np.testing.assert_allclose(high, normal, atol=1e-15)
    np.testing.assert_allclose(north, np.cross(high, east), atol=1e-15)
    assert [east @ east, east @ high] == pytest.approx([1.0, 0.0], abs=1e-15)
    assert ahead @ east == pytest.approx(np.sqrt(1.0 - (ahead @ normal) ** 2), rel=1e-14)
    # Three places, one of them over the plane: distances in the plane, and heights over it.
    offsets = np.stack([0.0 * east, 3.0 * east, -2.0 * north + 0.5 * high])
    places = offsets + np.array([5.0, 6.0, 7.0])
    found = fp.footprint(places, up=up)
    np.testing.assert_allclose(found.R_TL, np.stack([east, north, high], axis=1), atol=1e-15)
    back = found.to_target(found.plane) + found.up[:, None] * high
    np.testing.assert_allclose(back, places, rtol=1e-14)
    assert np.ptp(found.plane, axis=0) == pytest.approx([3.0, 2.0], rel=1e-13)
    assert np.ptp(found.up) == pytest.approx(0.5, rel=1e-13)


def test_the_far_side_is_told():
    x = np.array([[1.0, 0.0, 0.0]] * 3 + [[-1.0, 0.1, 0.0]])
    assert fp.footprint(x).far_share == 0.25


# -- densities ---------------------------------------------------------------------------------


def _runs(places):
    latitude, longitude = (np.degrees(a) for a in frames.latitude_longitude(places))
    named = dict(zip(("rest_x_m", "rest_y_m", "rest_z_m"), places.T, strict=True))
    return {**named, "rest_latitude_deg": latitude, "rest_longitude_deg": longitude}


def test_even_places_have_an_even_density():
    v = np.random.default_rng(2).normal(size=(200_000, 3))
    runs = _runs(RADIUS * v / np.linalg.norm(v, axis=1, keepdims=True))
    found = density.lat_long_density(runs, (6, 8))
    assert found.count.sum() == 200_000
    # The rarest cell, at a pole, holds 1700 places: four standard errors are 10 %.
    np.testing.assert_allclose(found.per_steradian, 1.0 / (4.0 * np.pi), rtol=0.1)
    sines = np.diff(np.sin(np.radians(found.latitude_edges)))
    angles = np.outer(sines, np.diff(np.radians(found.longitude_edges)))
    assert np.sum(found.per_steradian * angles) == pytest.approx(1.0, rel=1e-12)
    mesh = icosphere(1, RADIUS)
    per_area = density.facet_counts(mesh, [runs]) / mesh.face_areas
    np.testing.assert_allclose(per_area, 200_000 / mesh.area, rtol=0.12)


def test_cells_are_found_by_latitude_and_longitude():
    runs = {
        "rest_latitude_deg": np.array([-90.0, 89.9, 90.0, np.nan, 0.1]),
        "rest_longitude_deg": np.array([-180.0, 179.9, 180.0, np.nan, 0.1]),
    }
    found = density.lat_long_density([runs, runs], (2, 4)).count
    np.testing.assert_array_equal(found, [[2, 0, 0, 0], [2, 0, 2, 2]])


@pytest.mark.parametrize("smooth", [False, True])
def test_plane_density_adds_up_and_its_levels_hold_their_share(smooth):
    found = fp.footprint(_normal_places(100_000, (30.0, 8.0), 0.0, seed=8))
    grid = density.plane_density(found, cells=80, smooth=smooth)
    assert grid.per_area.sum() * grid.cell_area == pytest.approx(grid.inside, abs=2e-3)
    # A normal law has the density (1 - share)/(2 pi sigma sigma) on the ellipse of a share; noise
    # of cells raises levels, smoothing by 0.15 sigma lowers the peak by 2 %.
    expected = (1.0 - np.array([0.5, 0.9])) / (2.0 * np.pi * 30.0 * 8.0)
    assert density.levels(grid, [0.5, 0.9]) == pytest.approx(expected, rel=0.1)


def test_levels_of_four_cells():
    """Cells of 40, 30, 20 and 5 %: the densest ones that together hold the share."""
    cells = np.array([[0.2, 0.05], [0.4, 0.3]])
    edges = np.array([0.0, 2.0, 4.0]), np.array([0.0, 0.5, 1.0])  # each cell is 1 m^2
    grid = density.PlaneDensity(*edges, cells, inside=0.95)
    shares = [0.39, 0.41, 0.69, 0.71, 0.89, 0.91, 0.94, 0.96]
    expected = [0.4, 0.3, 0.3, 0.2, 0.2, 0.05, 0.05, 0.0]  # 96 % are not on the grid
    assert density.levels(grid, shares).tolist() == expected


def test_a_plane_density_is_smooth_unless_asked_otherwise():
    found = fp.footprint(_normal_places(1000, (30.0, 8.0), 0.0))
    grid, smooth = density.plane_density(found), density.plane_density(found, smooth=True)
    assert grid.per_area.shape == (120, 120)
    np.testing.assert_array_equal(grid.per_area, smooth.per_area)
    assert (grid.per_area > 0.0).sum() > 1000  # without: at most a cell a place


def test_rows_of_the_plane_density_go_north():
    """Two thirds of the places in one lump, one third in another, east of it."""
    plane = np.random.default_rng(3).normal(size=(3000, 2))
    plane[::3, 0] += 40.0
    found = fp.Footprint(np.zeros(3), np.eye(3), plane, np.zeros(3000), 0.0)
    grid = density.plane_density(found, cells=50, smooth=False)
    east = 0.5 * (grid.east_edges[1:] + grid.east_edges[:-1])
    share = (grid.per_area * grid.cell_area).sum(axis=0)
    assert share[east > 30.0].sum() == pytest.approx(1 / 3, abs=0.01)
    assert share[(east > 10.0) & (east < 30.0)].sum() == 0.0


def test_thinning_keeps_the_ends():
    np.testing.assert_array_equal(density.thin(5, 10), np.arange(5))
    kept = density.thin(1_000_000, 100)
    assert (len(np.unique(kept)), kept[0], kept[-1]) == (100, 0, 999_999)
