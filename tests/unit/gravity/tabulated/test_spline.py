"""The nested splines: what a spline reproduces, what its derivatives are, how levels meet.

The reference is scipy's quintic B-spline: a level of spacing h with coefficients c is

    s(x) = sum_ijk c_ijk B(x/h - i) B(y/h - j) B(z/h - k),      B on the knots -3, -2, ..., 3
"""

import itertools

import numpy as np
import pytest
import warp as wp
from scipy.interpolate import BSpline

from alight.core import devices
from alight.core.types import vec3
from alight.gravity.law import Gravity
from alight.gravity.tabulated import build
from alight.gravity.tabulated.spline import BRICK, Levels, find_cell, prefilter_taps, spline_value

CPU = devices.resolve("cpu")
ORIGIN = np.array([-3.0, 11.0, 0.5])
SPACING = 0.25
value_in_cell = spline_value(True)


@wp.func
def spline_at(levels: Levels, x: vec3):
    return value_in_cell(levels, find_cell(levels, x))


class Spline(Gravity):
    """A table alone, as a law: its potential, first and second derivatives."""

    Data = Levels
    field = spline_at

    def __init__(self, *grids, spacing=SPACING):
        self.grids, self.spacing = list(grids), spacing

    def data(self, device):
        return build.levels_data(self.grids, ORIGIN, self.spacing, device)


def all_bricks(low, high):
    """Brick numbers of a box, the last axis running fastest."""
    axes = [np.arange(a, b) for a, b in zip(low, high, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


def nodes_of(bricks):
    """Node indices ``(bricks, 512, 3)`` in the order in which a grid keeps them."""
    return bricks[:, None] * BRICK + all_bricks((0, 0, 0), (BRICK, BRICK, BRICK))


def random_grid(bricks, seed=0):
    rng = np.random.default_rng(seed)
    return build.grid_from(bricks, rng.normal(size=len(bricks) * BRICK**3))


def reference(grid, spacing, points):
    """U, g and gradient of one level by scipy's B-splines, straight from the definition."""
    basis = BSpline.basis_element(np.arange(-3.0, 4.0), extrapolate=False)
    orders = [basis, basis.derivative(1), basis.derivative(2)]
    node = nodes_of(grid.bricks).reshape(-1, 3)

    def along(order, axis, x):
        weight = orders[order]((x[axis] - ORIGIN[axis]) / spacing - node[:, axis])
        return np.nan_to_num(weight) / spacing**order

    def derivative(x, *axes):
        count = [axes.count(i) for i in range(3)]
        return (grid.coefficient * np.prod([along(count[i], i, x) for i in range(3)], axis=0)).sum()

    u = np.array([derivative(x) for x in points])
    g = np.array([[derivative(x, i) for i in range(3)] for x in points])
    h = np.array([[[derivative(x, i, j) for j in range(3)] for i in range(3)] for x in points])
    return u, g, h


def inside(low, high, count, seed, spacing=SPACING):
    """Random points whose stencils lie in the bricks of a box."""
    rng = np.random.default_rng(seed)
    low, high = np.array(low) * BRICK + 2.01, np.array(high) * BRICK - 3.01
    return ORIGIN + spacing * rng.uniform(low, high, (count, 3))


def hand_down(grid, coarse, distance, limit):
    """Give a level the coarser one's coefficients where ``distance`` is at least ``limit``."""
    coefficient = wp.array(grid.coefficient, dtype=wp.float64, device="cpu")
    missing = wp.zeros(1, dtype=int, device="cpu")
    places = wp.array(grid.bricks.astype(np.int32), dtype=wp.vec3i, device="cpu")
    levels = build.levels_data([coarse], ORIGIN, SPACING, CPU)
    gap = wp.array(distance, dtype=wp.float64, device="cpu")
    inputs = [levels, places, gap, limit, coefficient, missing]
    devices.launch(build._take_coarser, coefficient.size, inputs, CPU)
    return grid._replace(coefficient=coefficient.numpy()), int(missing.numpy()[0])


# ---------------------------------------------------------------------------------------------
# One level
# ---------------------------------------------------------------------------------------------


def test_value_and_derivatives_are_those_of_b_splines():
    """Bricks from -2 to 2: indices below zero, all eight bricks of a stencil, every offset."""
    grid = random_grid(all_bricks((-2, -1, 0), (2, 1, 2)))
    points = inside((-2, -1, 0), (2, 1, 2), 60, seed=1)
    u, g, h = Spline(grid).evaluate(points)
    eu, eg, eh = reference(grid, SPACING, points)
    # Coefficients of size 1: rounding of 216 terms, over a spacing for each derivative.
    assert u == pytest.approx(eu, abs=1e-14)
    assert g == pytest.approx(eg, abs=1e-14 / SPACING)
    assert h == pytest.approx(eh, abs=1e-13 / SPACING**2)


def test_derivatives_are_finite_differences():
    """Fourth order, steps of a hundredth of a spacing: 1e-8 of derivatives five orders up.

    Points keep off the walls of cells, where the fifth derivative jumps.
    """
    spline = Spline(random_grid(all_bricks((0, 0, 0), (2, 2, 2))))
    rng = np.random.default_rng(2)
    cell = rng.integers(2, 13, (200, 3))
    points = ORIGIN + SPACING * (cell + rng.uniform(0.05, 0.95, cell.shape))
    step = 0.01 * SPACING
    _, g, h = spline.evaluate(points)
    for axis in range(3):
        shift = step * np.eye(3)[axis]
        parts = [spline.evaluate(points + k * shift)[:2] for k in (-2, -1, 1, 2)]
        slope, bend = (
            (parts[0][i] - 8.0 * parts[1][i] + 8.0 * parts[2][i] - parts[3][i]) / (12.0 * step)
            for i in (0, 1)
        )
        assert slope == pytest.approx(g[:, axis], abs=1e-7 / SPACING)
        assert bend == pytest.approx(h[:, axis], abs=1e-7 / SPACING**2)


def test_partition_of_unity():
    """Equal coefficients give the same everywhere, with no slope and no bend."""
    bricks = all_bricks((-1, 0, 3), (1, 2, 5))
    grid = build.grid_from(bricks, np.full(len(bricks) * BRICK**3, 7.0))
    u, g, h = Spline(grid).evaluate(inside((-1, 0, 3), (1, 2, 5), 300, seed=3))
    assert u == pytest.approx(7.0, rel=1e-14)
    assert np.abs(g).max() < 1e-12
    assert np.abs(h).max() < 1e-11


def test_polynomials_up_to_degree_five_come_back():
    """Samples of a polynomial, filtered as tables are, give the polynomial and its derivatives."""
    rng = np.random.default_rng(4)
    power = np.polynomial.polynomial
    c = rng.normal(size=(6, 6, 6))
    bricks = all_bricks((0, 0, 0), (2, 2, 2))
    node = nodes_of(bricks).reshape(-1, 3)
    builder = object.__new__(build.Builder)
    builder.device, builder.origin, builder.spacing = CPU, ORIGIN, SPACING
    taps = prefilter_taps(build._TAPS)
    builder.taps = wp.array(taps, dtype=wp.float64, device="cpu")
    samples = power.polyval3d(*(node / 16.0).T, c)
    places = wp.array(bricks.astype(np.int32), dtype=wp.vec3i, device="cpu")
    filtered = builder._filter(bricks, places, wp.array(samples, dtype=wp.float64, device="cpu"))
    grid = build.grid_from(bricks, filtered.numpy())
    # Coefficients nearer than the filter's radius to the rim lack samples: stay clear of them.
    rim = build._TAPS + 2.01
    t = rng.uniform(rim, 15.0 - rim, (200, 3))
    u, g, h = Spline(grid).evaluate(ORIGIN + SPACING * t)
    scale = 1.0 / (16.0 * SPACING)

    def derivative(*orders):
        d = c
        for axis, order in enumerate(orders):
            d = power.polyder(d, order, axis=axis)
        return power.polyval3d(*(t / 16.0).T, d) * scale ** sum(orders)

    assert u == pytest.approx(derivative(0, 0, 0), rel=1e-12)
    eg = np.stack([derivative(*np.eye(3, dtype=int)[i]) for i in range(3)], axis=1)
    assert g == pytest.approx(eg, rel=1e-11, abs=1e-12 * np.abs(eg).max())
    for i in range(3):
        for j in range(3):
            eh = derivative(*(np.eye(3, dtype=int)[i] + np.eye(3, dtype=int)[j]))
            assert h[:, i, j] == pytest.approx(eh, rel=1e-10, abs=1e-11 * np.abs(eh).max())


@pytest.mark.parametrize("radius", [1, 2, 4, 7])
def test_filter_undoes_the_sampling_of_a_spline(radius):
    """Taps times the B-spline at its nodes: a unit pulse but for the differences left out."""
    taps = prefilter_taps(radius)
    assert np.array_equal(taps, taps[::-1])
    assert len(taps) == 2 * radius + 1
    both = np.convolve(taps, np.array([1.0, 26.0, 66.0, 26.0, 1.0]) / 120.0)
    k = np.arange(len(both)) - len(both) // 2
    # d^(radius + 1) kills polynomials up to degree 2 radius + 1, and nothing above.
    for power in range(2 * radius + 2):
        moment = (both * k.astype(float) ** power).sum()
        assert moment == pytest.approx(float(power == 0), abs=1e-12 * radius ** max(power, 1))
    power = 2 * radius + 2
    assert abs((both * k.astype(float) ** power).sum()) > 1e-3


# ---------------------------------------------------------------------------------------------
# Nested levels
# ---------------------------------------------------------------------------------------------


def numbered(bricks, value):
    """A level whose spline is a constant: the number of the level."""
    return build.grid_from(bricks, np.full(len(bricks) * BRICK**3, float(value)))


def ragged_bricks(seed=5):
    """A ball of bricks with a hole, inside the 4 x 4 x 4 bricks from (2, 2, 2)."""
    bricks = all_bricks((2, 2, 2), (6, 6, 6))
    keep = np.linalg.norm(bricks - 3.5, axis=1) < 2.0
    keep &= np.random.default_rng(seed).uniform(size=len(bricks)) > 0.15
    return bricks[keep]


COARSE = all_bricks((0, 0, 0), (4, 4, 4))
FINE = ragged_bricks()


def fine_holds_stencil(points):
    """Whether the fine level has all 216 nodes about each point, by looking for each."""
    have = {tuple(b) for b in FINE}
    cell = np.floor((points - ORIGIN) / SPACING).astype(int)
    reach = list(itertools.product((-2, 3), repeat=3))
    return np.array([all(tuple((c + o) // BRICK) in have for o in reach) for c in cell])


def test_the_finest_level_that_holds_the_stencil_is_taken():
    table = Spline(numbered(FINE, 0.0), numbered(COARSE, 1.0))
    points = inside((1, 1, 1), (7, 7, 7), 4000, seed=6)
    fine = fine_holds_stencil(points)
    assert 100 < fine.sum() < 3900
    assert table.evaluate(points)[0] == pytest.approx(np.where(fine, 0.0, 1.0), abs=1e-13)


def test_a_coarse_level_is_handed_down_exactly():
    """The two-scale rule: a level and its halved copy are one and the same function."""
    coarse = random_grid(COARSE, seed=7)
    fine, missing = hand_down(random_grid(FINE), coarse, np.full(len(FINE) * BRICK**3, 2.0), 1.0)
    assert missing == 0
    points = inside((2, 2, 2), (6, 6, 6), 4000, seed=8)
    points = points[fine_holds_stencil(points)]
    assert len(points) > 100
    u, g, h = Spline(fine).evaluate(points)
    eu, eg, eh = Spline(coarse, spacing=2.0 * SPACING).evaluate(points)
    assert u == pytest.approx(eu, abs=1e-14)
    assert g == pytest.approx(eg, abs=1e-14 / SPACING)
    assert h == pytest.approx(eh, abs=1e-13 / SPACING**2)


def test_a_level_that_reaches_past_the_coarser_one_is_told():
    coarse = random_grid(all_bricks((0, 0, 0), (1, 1, 1)))
    grid = random_grid(all_bricks((1, 1, 1), (3, 3, 3)))
    distance = np.full(grid.coefficient.size, 2.0)
    assert hand_down(grid, coarse, distance, 1.0)[1] == 1
    assert hand_down(grid, coarse, distance, 3.0)[1] == 0  # nothing is handed down


def nested_table():
    """Two levels; the finer one differs from the coarser deep inside its bricks only."""
    coarse = random_grid(COARSE, seed=9)
    node = nodes_of(FINE)
    have = {tuple(b) for b in FINE}
    steps = list(itertools.product((-5, 0, 5), repeat=3))
    deep = [[all(tuple((n + s) // BRICK) in have for s in steps) for n in nodes] for nodes in node]
    own = np.where(np.array(deep).ravel(), 0.0, 2.0)
    assert 50 < (own == 0.0).sum() < 0.5 * own.size
    fine, missing = hand_down(random_grid(FINE, seed=10), coarse, own, 1.0)
    assert missing == 0
    return Spline(fine, coarse)


def across_walls(seed, count=12000):
    """Pairs of points on either side of a wall between cells of the fine grid."""
    points = inside((1, 1, 1), (7, 7, 7), count, seed)
    axis = np.random.default_rng(seed).integers(0, 3, count)
    row = np.arange(count)
    wall = np.round((points[row, axis] - ORIGIN[axis]) / SPACING)
    points[row, axis] = ORIGIN[axis] + SPACING * wall
    step = np.zeros((count, 3))
    step[row, axis] = 1e-10 * SPACING
    return points - step, points + step


def test_levels_and_bricks_meet_without_a_step():
    """U, g and the gradient do not jump where the level, the brick or the cell changes."""
    table = nested_table()
    below, above = across_walls(seed=11)
    changed = fine_holds_stencil(below) != fine_holds_stencil(above)
    assert changed.sum() > 100
    # Coefficients of size 1: 2e-10 of a spacing moves the gradient by some 1e-9 / spacing^2.
    sides = zip(table.evaluate(below), table.evaluate(above), strict=True)
    for order, jump in enumerate(np.abs(one - other) for one, other in sides):
        assert jump.max() < 1e-8 / SPACING**order
        assert jump[changed].max() > 0.0  # the two sides were not the same point


def test_levels_that_do_not_agree_show_a_step():
    """The check above sees a fine level that was not handed the coarse one."""
    table = Spline(random_grid(FINE, seed=10), random_grid(COARSE, seed=9))
    below, above = across_walls(seed=11)
    assert np.abs(table.evaluate(below)[0] - table.evaluate(above)[0]).max() > 1e-3
