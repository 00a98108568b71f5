"""Rocks: the law is met in number, size and cover; each is the same whatever is asked for first."""

import math

import numpy as np
import pytest
from scipy import stats

from alight.core.errors import InputError
from alight.shapes import Mesh, icosphere
from alight.surfaces import AmplitudeMap, Rocks
from alight.surfaces.rocks.field import RockField
from alight.surfaces.rocks.population import facet_cells
from alight.surfaces.rocks.shapes import shadow_area
from alight.surfaces.rocks.size_law import MOST_ROUGH

LAW = {"slope": 2.6, "density": 2e-3, "reference": 2.0, "smallest": 0.3, "largest": 8.0}


def slab(side=200.0):
    """A flat box, its top at z = 0 made of four facets that are nothing like one another."""
    s = 0.5 * side
    top = [(-s, -s, 0), (s, -s, 0), (s, s, 0), (-s, s, 0), (0.2 * s, -0.5 * s, 0)]
    low = [(x, y, -20.0) for x, y, _ in top[:4]]
    faces = [(0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4), (5, 7, 6), (5, 8, 7)]
    for i in range(4):
        j = (i + 1) % 4
        faces += [(5 + i, 5 + j, j), (5 + i, j, i)]
    return Mesh(top + low, faces)


@pytest.fixture(scope="module")
def ball():
    """5120 facets of some 5 m."""
    return icosphere(4, 60.0)


@pytest.fixture(scope="module")
def strewn(ball):
    """All rocks of a body: 12 765."""
    return RockField(Rocks(**LAW, seed=4), ball).near()


def rows(table):
    """Rocks as rows that can be compared."""
    keys = np.column_stack([table.facet, table.address])
    return {tuple(k): v for k, v in zip(keys, table.vertices, strict=True)}


# -- the law ----------------------------------------------------------------------------------


def test_counts_follow_the_law_in_every_octave(ball, strewn):
    rocks = Rocks(**LAW)
    edges = [0.3, 0.5, 1.0, 1.4, 2.0, 4.0, 8.0]
    expected = ball.area * -np.diff([rocks.number(d) for d in edges])
    found, _ = np.histogram(strewn.size, edges)
    assert found.sum() == len(strewn.size)
    square = np.sum((found - expected) ** 2 / expected)
    assert stats.chi2.sf(square, len(expected)) > 1e-3
    # The whole distribution, not only at the edges of classes.
    total = rocks.number(0.0)
    share = np.array([1.0 - rocks.number(d) / total for d in strewn.size[::7]])
    assert stats.kstest(share, "uniform").pvalue > 1e-3


def test_a_capped_law_is_met(ball):
    rocks = Rocks(**{**LAW, "smallest": 0.25}, cover=0.03, seed=2)
    assert rocks.law.bend > 1.0
    found = RockField(rocks, ball).near().size
    total = rocks.number(0.0)
    assert abs(len(found) - total * ball.area) < 4.0 * math.sqrt(total * ball.area)
    share = np.array([1.0 - rocks.number(d) / total for d in found[::3]])
    assert stats.kstest(share, "uniform").pvalue > 1e-3


def test_rocks_lie_evenly_on_facets_of_any_shape():
    """Numbers on facets go with their area, and places within a facet are even."""
    mesh = slab()
    found = RockField(Rocks(**LAW, seed=9), mesh).near()
    expected = Rocks(**LAW).number(0.0) * mesh.face_areas
    count = np.bincount(found.facet, minlength=mesh.n_faces)
    assert stats.chi2.sf(np.sum((count - expected) ** 2 / expected), mesh.n_faces) > 1e-3
    corner = mesh.vertices[mesh.faces[1]]
    here = found.ground[found.facet == 1]
    axes = np.column_stack([corner[1] - corner[0], corner[2] - corner[0]])
    u, v = np.linalg.lstsq(axes, (here - corner[0]).T, rcond=None)[0]
    assert min(u.min(), v.min(), (1.0 - u - v).min()) > 0.0
    # In a triangle 1 - (1 - u)^2 and v / (1 - u) are even and independent.
    for number in (1.0 - (1.0 - u) ** 2, v / (1.0 - u)):
        assert stats.kstest(number, "uniform").pvalue > 1e-3
    assert np.abs(here @ [0.0, 0.0, 1.0]).max() < 1e-12


def test_neighbouring_cells_are_independent(ball, strewn):
    """Counts of patches vary as a Poisson process says: variance over mean is 1."""
    count = np.bincount(strewn.facet, minlength=ball.n_faces)
    ratio = np.var(count) / np.mean(count)
    # Facets differ a little in area; for m facets the ratio spreads by sqrt(2 / m).
    expected = count.mean() * np.var(ball.face_areas) / np.mean(ball.face_areas) ** 2
    assert abs(ratio - 1.0 - expected) < 4.0 * math.sqrt(2.0 / ball.n_faces)


def test_cover_by_shadows_and_by_drops():
    """Drops on flat ground meet as many rocks as the formula says; none with exp(-cover)."""
    rocks = Rocks(**{**LAW, "smallest": 0.5}, seed=3)
    found = RockField(rocks, slab(240.0)).near()
    vertices = found.vertices[np.abs(found.ground[:, 2]) < 1e-9]
    shadows = shadow_area(vertices)
    spread = np.linalg.norm(shadows) / 240.0**2
    assert abs(shadows.sum() / 240.0**2 - rocks.cover) < 4.0 * spread
    rng = np.random.default_rng(1)
    drops = rng.uniform(-100.0, 100.0, (4000, 2))
    met = np.zeros(len(drops), int)
    for rock in vertices:
        near = np.abs(drops - rock[:, :2].mean(axis=0)).max(axis=1) < 10.0
        met[near] += _under(rock, found.faces, drops[near])
    noise = 4.0 * math.sqrt(rocks.cover / len(drops)) + 4.0 * spread
    assert abs(met.mean() - rocks.cover) < noise
    assert abs((met == 0).mean() - math.exp(-rocks.cover)) < noise


def _under(rock, faces, drops):
    """Whether drops fall on one of a rock's faces that look up."""
    hit = np.zeros(len(drops), bool)
    for a, b, c in rock[faces][:, :, :2]:
        one, two = b - a, c - a
        area = one[0] * two[1] - one[1] * two[0]
        if area > 0.0:
            d = drops - a
            u = (d[:, 0] * two[1] - d[:, 1] * two[0]) / area
            v = (d[:, 1] * one[0] - d[:, 0] * one[1]) / area
            hit |= (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0)
    return hit


def test_a_map_varies_the_density(ball):
    """None in the south, twice as many in the north, by Poisson's law."""
    table = np.ones((19, 36))
    table[:9], table[9], table[10:] = 0.0, 1.0, 2.0
    rocks = Rocks(**LAW, seed=6, density_map=AmplitudeMap(table, 60.0))
    found = RockField(rocks, ball).near()
    latitude = np.degrees(np.arcsin(found.up[:, 2]))
    centroid = ball.vertices[ball.faces].mean(axis=1)
    facet_latitude = np.degrees(np.arcsin(centroid[:, 2] / np.linalg.norm(centroid, axis=1)))
    # The map is smoothed over some degrees about its step.
    assert (latitude > -16.0).all()
    north = np.sum(latitude > 16.0)
    area = ball.face_areas[facet_latitude > 16.0].sum()
    expected = 2.0 * rocks.number(0.0) * area
    assert abs(north - expected) < 4.0 * math.sqrt(expected) + 0.02 * expected


# -- each rock --------------------------------------------------------------------------------


def test_same_rocks_in_whatever_order(ball, strewn, device):
    """A second look, at a small place, on any device, finds the same rocks."""
    everything = rows(strewn)
    for center in ball.vertices[[5, 900, 77, 5]]:
        field = RockField(Rocks(**LAW, seed=4), ball)  # nothing is remembered
        part = field.near(center, 9.0, device=device)
        inside = np.linalg.norm(strewn.ground - center, axis=1) <= 9.0
        assert len(part.size) == inside.sum() > 50
        for address, vertices in rows(part).items():
            assert vertices == pytest.approx(everything[address], rel=1e-13, abs=1e-11)


def test_smaller_rocks_leave_larger_ones_alone(ball, strewn):
    fewer = RockField(Rocks(**{**LAW, "smallest": 0.7}, seed=4), ball).near()
    assert len(fewer.size) == np.sum(strewn.size >= 0.7)
    everything = rows(strewn)
    for address, vertices in rows(fewer).items():
        assert np.array_equal(vertices, everything[address])


def test_another_seed_gives_other_rocks(ball, strewn):
    other = RockField(Rocks(**LAW, seed=5), ball).near()
    assert not np.isin(other.size, strewn.size).any()


def test_rocks_are_frozen():
    """Addressing must never change: rocks stand where they stood in stored campaigns."""
    found = RockField(Rocks(**LAW, seed=12), icosphere(1, 30.0)).near()
    assert len(found.size) == FROZEN_COUNT
    for i, (size, sunk, vertex) in FROZEN.items():
        assert found.size[i] == pytest.approx(size, rel=1e-12)
        assert found.sunk[i] == pytest.approx(sunk, rel=1e-12)
        assert found.vertices[i, 7] == pytest.approx(vertex, rel=1e-11)


def test_rocks_are_sunk_by_the_part_they_say(strewn):
    height = np.einsum("nki,ni->nk", strewn.vertices - strewn.ground[:, None], strewn.up)
    low, high = height.min(axis=1), height.max(axis=1)
    assert (-low / (high - low)) == pytest.approx(strewn.sunk, rel=1e-9)
    assert stats.kstest((strewn.sunk - 0.15) / 0.35, "uniform").pvalue > 1e-3


def test_rocks_are_convex_however_rough(ball):
    rocks = Rocks(**LAW, seed=1, roughness=MOST_ROUGH, variety=0.5, shape=(3, 2, 1))
    found = RockField(rocks, ball).near()
    assert len(found.size) > 10_000
    a, b, c = np.moveaxis(found.vertices[:, found.faces], 2, 0)
    normal = np.cross(b - a, c - a)
    area = np.linalg.norm(normal, axis=2)
    assert (area > 0.0).all()
    normal /= area[..., None]
    plane = np.einsum("nfi,nfi->nf", a, normal)
    heights = np.einsum("nvi,nfi->nvf", found.vertices, normal) - plane[:, None]
    assert heights.max() < 1e-12 * 60.0


def test_axes_and_reach(ball, strewn):
    """Shadows have the sides of the axes, nothing reaches farther than it says."""
    rocks = Rocks(**LAW)
    way = strewn.vertices - strewn.ground[:, None]
    up = np.einsum("nki,ni->nk", way, strewn.up)
    aside = np.linalg.norm(way - up[..., None] * strewn.up[:, None], axis=2)
    wide, tall = rocks.spread
    assert (aside.max(axis=1) <= wide * strewn.size).all()
    assert (np.abs(up).max(axis=1) <= tall * strewn.size).all()
    # Corners stand out a little: it is the shadow that is as large as the axes say.
    assert 0.5 < np.mean(aside.max(axis=1) / strewn.size) < 0.6
    assert 0.45 < np.mean(np.ptp(up, axis=1) / strewn.size) < 0.6


def test_cells_on_any_facet():
    """Thin facets are cut along their length only; many cells stay within their bound."""
    thin = Mesh(
        [(0, 0, 0), (1000, 0, 0), (500, 0.5, 0), (500, 0.2, -1)],
        [(0, 1, 2), (0, 3, 1), (1, 3, 2), (0, 2, 3)],
    )
    across = facet_cells(thin)["across"]
    assert across.max() < 400.0
    rocks = Rocks(slope=2.5, density=1.0, reference=0.1, smallest=0.1, largest=1.0, seed=1)
    found = RockField(rocks, thin).near()
    expected = rocks.number(0.0) * thin.area
    assert abs(len(found.size) - expected) < 4.0 * math.sqrt(expected)


# -- what is given ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"slope": -1.0}, "slope"),
        ({"density": math.nan}, "density"),
        ({"smallest": 9.0}, "smallest"),
        ({"smallest": 0.001}, "times the ground"),
        ({"burial": 1.0}, "burial"),
        ({"burial": (0.5, 0.2)}, "burial"),
        ({"burial": "half"}, "burial"),
        ({"shape": (1, 2, 3)}, "longest first"),
        ({"shape": (1, 1)}, "shape"),
        ({"roughness": 0.3}, "roughness"),
        ({"roughness": math.nan}, "roughness"),
        ({"variety": 0.6}, "variety"),
        ({"density_map": 2.0}, "AmplitudeMap"),
        ({"density_map": AmplitudeMap(np.full((2, 2), 50.0), 60.0)}, "density map is 50"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_rocks_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        Rocks(**{**LAW, **change})


def test_bad_fields_are_refused(ball):
    with pytest.raises(InputError, match="rocks"):
        RockField("rocks", ball)
    with pytest.raises(InputError, match="Mesh"):
        RockField(Rocks(**LAW), "ball")
    field = RockField(Rocks(**LAW), ball)
    with pytest.raises(InputError, match="radius"):
        field.near((0, 0, 60), -1.0)
    with pytest.raises(InputError, match="center"):
        field.near((0, 60), 1.0)


def test_rocks_too_small_for_their_facets_are_refused():
    tiny = {"slope": 1.5, "density": 1e-3, "reference": 0.1, "largest": 1.0}
    with pytest.raises(InputError, match="too small for facets") as error:
        RockField(Rocks(**tiny, smallest=1e-5), slab())
    least = float(str(error.value).split("at least ")[1].split(" m")[0])
    RockField(Rocks(**tiny, smallest=least), slab())  # what it suggests works


def test_no_rocks_is_a_density_of_zero(ball):
    found = RockField(Rocks(**{**LAW, "density": 0.0}), ball).near()
    assert found.vertices.shape == (0, 12, 3)


def test_counted_on_a_body():
    rocks = Rocks.counted_on("itokawa", smallest=1.0, largest=20.0)
    assert rocks.number(5.0) * 0.393e6 == pytest.approx(373.0, rel=1e-9)
    with pytest.raises(InputError, match="Itokaw"):
        Rocks.counted_on("Itokaw", smallest=1.0)


#: Number in the table: size [m], part sunk, vertex 7 [m].
FROZEN_COUNT = 2961
FROZEN = {
    0: (
        1.0827584332086007,
        0.1765033722098451,
        [11.27840634112902, 6.56549421044289, 26.02839969064363],
    ),
    700: (
        0.6777044916991461,
        0.3203558092180174,
        [-17.53815449061781, 12.654971506052336, 18.762569422703134],
    ),
    2960: (
        0.422725790373802,
        0.1500658729870338,
        [-24.55076963511433, 14.461705694732474, -6.630174800895008],
    ),
}
