"""The exact shares of facets: cut, summed, blunted, windowed, and listed by place.

With h the height of a facet's plane over the field point and Phi the integral of 1/r over the
facet, the field of a polyhedron is the sum of 1/2 G rho h Phi. A piece's sharp share is that less
the blunt one, 1/2 G rho (A/3) sum_q h_q K(|y_q|), on three points y_q of the piece of area A, with
K(r) = a erf(a r) / (a r) and a = BLUNT / reach.
"""

import numpy as np
import pytest
import warp as wp
from scipy.special import erf

from alight.core import devices
from alight.core.types import scalar, vec3
from alight.gravity.law import Gravity
from alight.gravity.polyhedron.field import Polyhedron
from alight.gravity.tabulated import build, near_facets, near_lists
from alight.gravity.tabulated.near_facets import (
    NearLists,
    Patches,
    cut,
    near_field,
    patch_data,
    piece_sizes,
)
from alight.shapes.icosphere import icosphere
from alight.shapes.mesh import Mesh

CPU = devices.resolve("cpu")
STRENGTH = 1.7
near = near_field(True)


@wp.struct
class NearData:
    patches: Patches
    lists: NearLists


@wp.func
def near_at(data: NearData, x: vec3):
    return near(data.patches, data.lists, x)


class Near(Gravity):
    """The sharp shares of pieces near a point, alone, as a law."""

    Data = NearData
    field = near_at

    def __init__(self, corner, reach, listed=False):
        self.reach = reach
        cells = near_lists.sort_into_cells(corner.mean(axis=1), reach / 2.0)
        self.corner = corner[cells.order]
        if listed:
            pieces = patch_data(self.corner, STRENGTH, CPU)
            self.lists = near_lists.near_lists(pieces, cells, reach, CPU)
        else:
            self.lists = everything(len(corner))

    def data(self, device):
        near = NearData()
        near.patches = patch_data(self.corner, STRENGTH, device)
        near.lists = near_lists.lists_data(self.lists, self.reach, device)
        return near


def everything(count):
    """One block, as large as any point's distance, that lists every piece."""
    start, piece = np.array([0, count], np.int32), np.arange(count, dtype=np.int32)
    return near_lists.HostNearLists(np.full(3, -1e4), 2e4, np.ones(3, int), start, piece)


def lumpy(subdivisions):
    ball = icosphere(subdivisions)
    x = ball.vertices
    radius = 1.0 + 0.2 * np.sin(3.0 * x[:, 0] + 1.0) * np.cos(2.0 * x[:, 1]) + 0.1 * x[:, 2] ** 3
    return Mesh(x * radius[:, None], ball.faces)


MESH = lumpy(2)
CORNER = MESH.vertices[MESH.faces]
FULL = Polyhedron(MESH, density=STRENGTH, G=1.0)


def places(count=300, seed=0):
    """Points just off the surface, some way off, and inside."""
    rng = np.random.default_rng(seed)
    facet = rng.integers(0, MESH.n_faces, count)
    ground = np.einsum("ij,ijk->ik", rng.dirichlet([1, 1, 1], count), CORNER[facet])
    height = np.concatenate(
        [10.0 ** rng.uniform(-4, 0, count // 2), -rng.uniform(0.01, 0.4, count)]
    )
    return ground + height[:count, None] * MESH.face_normals[facet]


def blunt_field(corner, reach, points):
    """U, g and gradient of the blunt shares, from their definition and the law's own kernel K."""
    a = near_facets.BLUNT / reach
    kernel = np.polynomial.Polynomial(np.array(near_facets.BLUNT_POWERS))
    n = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    area = 0.5 * np.linalg.norm(n, axis=1)
    n /= np.linalg.norm(n, axis=1)[:, None]
    node = 0.5 * (corner + corner.mean(axis=1, keepdims=True))
    u, g, h = [], [], []
    for x in points:
        y = node - x
        height = np.einsum("fi,fqi->fq", n, y)
        t = a * a * np.einsum("fqi,fqi->fq", y, y)
        k = [a * (2 * a * a) ** d * kernel.deriv(d)(t) for d in range(3)]  # in y^2 / 2
        w = STRENGTH / 2.0 * area / 3.0
        u.append(np.einsum("f,fq,fq->", w, height, k[0]))
        g.append(
            -np.einsum("f,fq,fi->i", w, k[0], n) - np.einsum("f,fq,fqi->i", w, height * k[1], y)
        )
        mixed = np.einsum("f,fq,fi,fqj->ij", w, k[1], n, y)
        trace = np.einsum("f,fq->", w, height * k[1]) * np.eye(3)
        h.append(mixed + mixed.T + trace + np.einsum("f,fq,fqi,fqj->ij", w, height * k[2], y, y))
    return np.array(u), np.array(g), np.array(h)


def assert_field(value, reference, tolerance):
    """U, g and gradient agree, relative to the largest of each."""
    for one, other in zip(value, reference, strict=True):
        assert np.abs(one - other).max() < tolerance * np.abs(other).max()


def finite_differences(field, points, step):
    """Fourth-order derivatives of U and of g along the axes."""
    slope, bend = np.empty((len(points), 3)), np.empty((len(points), 3, 3))
    for axis in range(3):
        shift = step * np.eye(3)[axis]
        parts = [field.evaluate(points + k * shift) for k in (-2, -1, 1, 2)]
        for order, out in ((0, slope), (1, bend)):
            one, two, three, four = (p[order] for p in parts)
            out[:, axis] = (one - 8.0 * two + 8.0 * three - four) / (12.0 * step)
    return slope, bend


# ---------------------------------------------------------------------------------------------
# Cutting
# ---------------------------------------------------------------------------------------------


def areas(corner):
    return 0.5 * np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])


def test_cut_keeps_area_and_leaves_small_pieces():
    size = 0.4 * float(np.median(piece_sizes(CORNER)))
    pieces = cut(CORNER, size)
    assert len(pieces) > 4 * len(CORNER)
    assert piece_sizes(pieces).max() <= size
    assert np.linalg.norm(areas(pieces), axis=1).sum() == pytest.approx(MESH.area, rel=1e-13)
    assert np.abs(areas(pieces).sum(axis=0)).max() < 1e-14  # normals kept: still closed
    volume = np.einsum("fi,fi->", areas(pieces), pieces.mean(axis=1)) / 3.0
    assert volume == pytest.approx(MESH.volume, rel=1e-13)


def test_cut_leaves_small_triangles_alone():
    pieces = cut(CORNER, float(piece_sizes(CORNER).max()))
    assert np.array_equal(pieces, CORNER)


def test_cut_halves_the_longest_side():
    """A needle becomes a row of pieces along it, not a fan of needles."""
    needle = np.array([[[0.0, 0.0, 0.0], [8.0, 0.0, 0.0], [4.0, 1.0, 0.0]]])
    pieces = cut(needle, 1.5)
    sides = np.linalg.norm(np.roll(pieces, -1, axis=1) - pieces, axis=2)
    assert sides.max() <= 3.0 * 1.5
    assert len(pieces) <= 16


# ---------------------------------------------------------------------------------------------
# Shares
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [np.inf, 0.15])
def test_shares_and_blunt_shares_make_up_the_polyhedron(size):
    """With the whole body on the windows' plateau; also when its facets are cut."""
    points = places()
    corner = CORNER if size == np.inf else cut(CORNER, size)
    assert len(corner) >= len(CORNER)
    centers = corner.mean(axis=1)
    farthest = max(np.linalg.norm(centers - x, axis=1).max() for x in points)
    reach = 1.01 * farthest / near_facets.PLATEAU
    sharp = Near(corner, reach).evaluate(points)
    blunt = blunt_field(corner, reach, points)
    assert np.abs(blunt[0]).max() > 0.1 * FULL.evaluate(points)[0].max()
    total = [one + other for one, other in zip(sharp, blunt, strict=True)]
    # Terms of either sign, about ten times the sum: 100 eps of it for 320 facets.
    assert_field(total[:2], FULL.evaluate(points)[:2], 1e-12)
    # The gradient's logarithms, 1e-4 from an edge, have lost two digits to its distance.
    assert_field(total[2:], FULL.evaluate(points)[2:], 1e-11)


def test_blunt_kernel_is_an_error_function():
    """erf(z)/z as far as a window needs it; what is left out cancels, but must stay small."""
    z = np.linspace(1e-3, near_facets.BLUNT * (1.0 + 1.0 / near_facets.LEAST_REACH), 500)
    kernel = np.polynomial.Polynomial(np.array(near_facets.BLUNT_POWERS))
    assert kernel(z * z) == pytest.approx(erf(z) / z, abs=2e-4)
    assert kernel.deriv()(z * z) * 2.0 * z == pytest.approx(
        (2.0 / np.sqrt(np.pi) * np.exp(-z * z) - erf(z) / z) / z, abs=2e-3
    )


@pytest.mark.parametrize("shift", [0.0, 0.5])
def test_derivatives_under_a_closing_window_are_finite_differences(shift):
    """Reach 3.2 facet sizes: every point has pieces on the plateau, the slope and outside."""
    size = float(np.median(piece_sizes(CORNER)))
    field = Near(CORNER, 3.2 * size)
    rng = np.random.default_rng(3)
    facet = rng.integers(0, MESH.n_faces, 200)
    height = size * (rng.uniform(0.3, 1.0, (200, 1)) + 2.0 * shift)
    points = CORNER[facet].mean(axis=1) + height * MESH.face_normals[facet]
    _, g, h = field.evaluate(points)
    assert np.abs(h).max() > 0.1 * STRENGTH
    slope, bend = finite_differences(field, points, step=2e-3 * size)
    # Fourth order: (2e-3)^4 times derivatives five up, which a window's width of 1.3 sizes, and a
    # height of 0.3, make some thousand times the first.
    assert slope == pytest.approx(g, abs=3e-8 * np.abs(g).max())
    assert bend == pytest.approx(h, abs=3e-7 * np.abs(h).max())


def test_at_vertices_edges_and_centroids_all_is_finite():
    middle = MESH.vertices[MESH.edges].mean(axis=1)
    points = np.concatenate([MESH.vertices, middle, CORNER.mean(axis=1)])
    field = Near(cut(CORNER, 0.2), 0.7)
    values = field.evaluate(points)
    assert all(np.isfinite(v).all() for v in values)
    nudged = field.evaluate(points + 1e-12)
    assert values[0] == pytest.approx(nudged[0], abs=1e-9)
    assert values[1] == pytest.approx(nudged[1], abs=1e-9)


def test_seams_between_pieces_of_a_facet_leave_no_trace():
    """On an edge that cutting made, the gradient is that of the facet's plane: nothing special."""
    corner = np.array([[[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.45, 0.3, 0.1]]])
    pieces = cut(corner, 0.9 * float(piece_sizes(corner)[0]))
    assert len(pieces) == 2
    one, other = (p for p in pieces[0] if (pieces[1] == p).all(axis=1).any())
    points = one + np.linspace(0.2, 0.8, 7)[:, None] * (other - one)
    # Blunt shares differ between one triangle's three points and six: a reach of 1e3 has none.
    reach = 1e3
    whole, parts = Near(corner, reach).evaluate(points), Near(pieces, reach).evaluate(points)
    for one, other in zip(parts, whole, strict=True):
        assert np.abs(one - other).max() < 1e-9 * STRENGTH
    assert np.abs(whole[2]).max() > 0.1 * STRENGTH


# ---------------------------------------------------------------------------------------------
# Windows and lists
# ---------------------------------------------------------------------------------------------


@wp.kernel(module="unique", enable_backward=False)
def tabulate_window(offset: int, r: wp.array(dtype=scalar), w_out: wp.array(dtype=vec3)):
    i = wp.tid() + offset
    w_out[i] = near_facets.window(r[i], scalar(2.0))


def window(r):
    """w, w' and w'' at distances r for a reach of 2."""
    out = wp.zeros(len(r), dtype=vec3, device="cpu")
    devices.launch(tabulate_window, len(r), [wp.array(r, dtype=scalar, device="cpu"), out], CPU)
    return out.numpy().T


def test_window_is_one_then_falls_to_zero():
    start, end = 2.0 * near_facets.PLATEAU, 2.0
    r = np.concatenate([np.linspace(0, start, 20), np.linspace(start, end, 500), [2.5, 100.0]])
    w = window(r)[0]
    assert (w[:20] == 1.0).all()
    assert np.abs(w[-3:]).max() < 1e-14
    assert (np.diff(w[20:520]) <= 0.0).all()
    half = window(np.array([0.5 * (start + end)]))[0]
    assert half == pytest.approx(0.5, rel=1e-13)


def test_window_derivatives_are_its_own():
    start, end = 2.0 * near_facets.PLATEAU, 2.0
    step = 1e-3 * (end - start)
    r = np.linspace(start + 3 * step, end - 3 * step, 300)
    w = [window(r + k * step) for k in (-2, -1, 0, 1, 2)]
    for order in (0, 1):
        rise = (w[0][order] - 8 * w[1][order] + 8 * w[3][order] - w[4][order]) / (12 * step)
        # Step^4 times a fifth derivative of 1e4 / width^5.
        assert rise == pytest.approx(w[2][order + 1], abs=1e-8 / (end - start) ** (order + 1))


def test_window_opens_and_closes_with_four_derivatives():
    """1 - w on one end and w on the other fall as the fifth power of the distance from it."""
    start, end = 2.0 * near_facets.PLATEAU, 2.0
    t = np.array([0.005, 0.01, 0.02])
    for gap in (1.0 - window(start + t * (end - start))[0], window(end - t * (end - start))[0]):
        ratio = gap[1:] / gap[:-1]
        assert ratio == pytest.approx([32.0, 32.0], rel=0.05)


def test_lists_name_every_piece_in_reach():
    """A point's block has every piece whose window is open there: no sum differs."""
    reach = 3.2 * float(np.median(piece_sizes(CORNER)))
    listed, complete = Near(CORNER, reach, listed=True), Near(CORNER, reach)
    assert listed.lists.piece.size < 0.5 * len(CORNER) * (listed.lists.start.size - 1)
    rng = np.random.default_rng(5)
    points = np.concatenate([places(400, seed=4), rng.uniform(-2.5, 2.5, (3000, 3))])
    one, other = listed.evaluate(points), complete.evaluate(points)
    assert (other[0] == 0.0).any()
    assert_field(one, other, 1e-13)
    assert np.array_equal(one[0] == 0.0, other[0] == 0.0)


def test_a_table_is_spared_what_a_simulation_adds():
    """The builder takes out of its samples what ``near_field`` adds back, to rounding."""
    reach = 3.2 * float(np.median(piece_sizes(CORNER)))
    field = Near(CORNER, reach)
    cells = near_lists.sort_into_cells(CORNER.mean(axis=1), reach / 2.0)
    bricks = np.array([[0, 0, 0], [1, -1, 0], [0, 0, 1]], dtype=np.int32)
    origin, spacing = np.array([0.6, 0.1, -0.3]), reach / 9.0
    sample = wp.zeros(len(bricks) * 512, dtype=scalar, device="cpu")
    inputs = [
        patch_data(CORNER[cells.order], STRENGTH, CPU),
        near_lists.cell_data(cells, CPU),
        wp.array(bricks, dtype=wp.vec3i, device="cpu"),
        vec3(*origin),
        spacing,
        reach,
        sample,
    ]
    width = build._WIDTH
    devices.launch(build._near_kernel(width), sample.size // width, inputs, CPU, min_items=8)
    node = np.stack(np.meshgrid(*3 * [np.arange(8)], indexing="ij"), axis=-1).reshape(-1, 3)
    points = origin + spacing * (8 * bricks[:, None] + node).reshape(-1, 3)
    u = field.evaluate(points)[0]
    assert (u != 0.0).mean() > 0.3
    assert -sample.numpy() == pytest.approx(u, abs=1e-14 * np.abs(u).max())
