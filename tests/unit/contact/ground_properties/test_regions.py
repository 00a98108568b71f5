"""Regions of the ground alone: where their edges are, how layers combine, what is refused."""

import numpy as np
import pytest

from alight.contact import Ball, Box, Cap, Compliant, GroundMap, Polygon, Region, Regions
from alight.core import devices, frames
from alight.core.errors import InputError

DEVICES = [device.name for device in devices.available()]
EPS = 1e-9


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


def inside(shape, latitude, longitude, device="cpu", radius=300.0):
    """Whether places in degrees lie in a shape."""
    law = Regions([Region("it", shape, friction=0.5)])
    up = frames.direction(np.radians(latitude), np.radians(longitude))
    return law.within(radius * np.atleast_2d(up), device)[:, 0].tolist()


def deg(*angles):
    return [float(a) for a in np.radians(angles)]


# -- edges ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("middle", [(0.0, 0.0), (20.0, 179.9), (-89.0, 30.0), (90.0, 0.0)])
@pytest.mark.parametrize("radius", [1e-3, 0.1, 1.5, 3.0])
def test_the_edge_of_a_cap(middle, radius, device):
    shape = Cap(*deg(*middle), radius)
    frame = frames.local_frame(frames.direction(*deg(*middle)))
    turn = np.linspace(0.0, 6.0, 7)
    side = np.cos(turn)[:, None] * frame[:, 0] + np.sin(turn)[:, None] * frame[:, 1]
    law = Regions([Region("it", shape, friction=0.5)])
    for off, want in ((-EPS, True), (EPS, False)):
        a = radius + off
        x = 1e4 * (np.cos(a) * frame[:, 2] + np.sin(a) * side)
        assert (law.within(x, device) == want).all()


def test_the_edge_of_a_ball(device):
    center, radius = np.array([100.0, 20.0, -5.0]), 3.0
    law = Regions([Region("it", Ball(center, radius), friction=0.5)])
    way = np.random.default_rng(0).normal(size=(20, 3))
    way /= np.linalg.norm(way, axis=1)[:, None]
    assert law.within(center + way * (radius - EPS), device).all()
    assert not law.within(center + way * (radius + EPS), device).any()


@pytest.mark.parametrize(("west", "east"), [(10.0, 40.0), (170.0, -160.0), (170.0, 200.0)])
def test_the_edges_of_a_box(west, east, device):
    shape = Box(*deg(-20.0, 35.0, west, east))
    middle = west + 15.0
    lat = [-20 + EPS, -20 - EPS, 35 - EPS, 35 + EPS, 0, 0, 0, 0, 0]
    lon = [middle] * 4 + [west + EPS, west - EPS, west + 30 - EPS, west + 30 + EPS, middle + 180]
    want = [True, False, True, False, True, False, True, False, False]
    assert inside(shape, lat, lon, device) == want
    assert inside(shape, lat, [a - 360.0 for a in lon], device) == want
    assert shape.width == pytest.approx(np.radians(30.0))


def test_a_box_all_the_way_round(device):
    shape = Box(*deg(60.0, 90.0, -180.0, 180.0))
    assert inside(shape, [90, 61, 60.5, 59.5], [0, 180, -180, 20], device) == [True] * 3 + [False]


def test_the_edges_of_a_polygon(device):
    """Sides are great circles: between corners at 40 degrees they bulge towards the pole."""
    shape = Polygon(np.radians([[40.0, -30.0], [40.0, 30.0], [-10.0, 30.0], [-10.0, -30.0]]))
    top = np.degrees(np.arctan(np.tan(np.radians(40.0)) / np.cos(np.radians(30.0))))
    assert inside(shape, [top - 1e-7, top + 1e-7], [0, 0], device) == [True, False]
    assert inside(shape, [10, 10], [30 - 1e-7, 30 + 1e-7], device) == [True, False]
    assert inside(shape, [10, 10, 0], [180, -150, 0], device) == [False, False, True]


@pytest.mark.parametrize("turn", [0.0, 150.0])
def test_a_polygon_with_a_bay_over_seam_and_pole(turn):
    """Even, odd: a bay between two arms is outside; the seam and the pole are no edges."""
    bay = np.array([[0, 0], [0, 30], [20, 30], [5, 15], [20, 0]], dtype=float)
    bay[:, 1] += turn + 15.0
    shape = Polygon(np.radians((bay + 180.0) % 360.0 - 180.0))
    lon = turn + 15.0 + np.array([2.0, 28.0, 15.0, 15.0])
    assert inside(shape, [10, 10, 10, 3], lon) == [True, True, False, True]
    around = Polygon(np.radians([[70.0, 0.0], [70.0, 90.0], [70.0, 180.0], [70.0, -90.0]]))
    assert inside(around, [90, 80, 60], [0, 45, 45]) == [True, True, False]


# -- layers ---------------------------------------------------------------------------------------


def test_values_replace_and_factors_multiply_what_lies_beneath(device):
    under = GroundMap({"friction": np.full((3, 4), 0.5), "restitution": np.full((3, 4), 0.8)})
    everywhere = Box(*deg(-90, 90, -180, 180))
    law = Regions(
        [
            Region("first", everywhere, friction_factor=3.0, rolling_resistance=0.01),
            Region("second", Cap(0.0, 0.0, 0.1), friction=0.2, restitution_factor=0.5),
            Region("third", Cap(0.0, 0.0, 0.05), friction_factor=2.0, static_friction=0.9),
        ],
        under,
    )
    found = law.evaluate(frames.direction([0.0, 0.07, 0.5], [0.0, 0.0, 0.0]), device=device)
    assert found.factor == pytest.approx(
        np.array([[0.4, 0, 0, 0], [0.4, 0, 0, 0], [0.8, 1.5, 1.5, 0]]), rel=1e-13
    )
    assert found.value == pytest.approx(
        np.array([[0, 0.4, 0.9, 0.01], [0, 0.2, 0.2, 0.01], [0, 0, 0, 0.01]]), rel=1e-13
    )
    assert law.varies == ("restitution", "friction", "static_friction", "rolling_resistance")


def test_each_run_has_its_own_values(device):
    law = Regions([Region("a", Cap(0, 0, 1.0), friction=[0.1, 0.2, 0.3], restitution=0.5)])
    assert law.count == 3
    for row, want in enumerate([0.1, 0.2, 0.3]):
        found = law.evaluate([1.0, 0.0, 0.0], row, device)
        assert found.value.tolist() == [[0.5, want, want, 0.0]]


# -- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Cap(2.0, 0.0, 0.1), "latitude of a region is 2.0"),
        (lambda: Cap(0.0, 7.0, 0.1), "longitude of a region is 7.0"),
        (lambda: Cap(0.0, np.nan, 0.1), "longitude of a region is nan"),
        (lambda: Cap(0.0, 0.0, 0.0), "radius of a cap"),
        (lambda: Cap(0.0, 0.0, 30.0), "metres is that of a Ball"),
        (lambda: Ball((0, 0), 1.0), "centre of a ball"),
        (lambda: Ball((0, 0, 1), -1.0), "radius of a ball"),
        (lambda: Box(0.2, 0.1, 0.0, 1.0), "south must be below its north"),
        (lambda: Box(0.1, 0.2, 1.0, 1.0), "no width"),
        (lambda: Polygon([[0.0, 0.0], [0.1, 0.1]]), "at least 3 rows"),
        (lambda: Polygon([[0, 0], [0, 2.0], [0.1, 4.0]]), "within 85 degrees"),
        (lambda: Polygon([[0, 0], [0.1, 0.1], [0, 0.1], [0.1, 0]]), "cross each other"),
        (lambda: Region("a", "cap", friction=1.0), "Cap, Ball, Box or Polygon"),
        (lambda: Region("a", Cap(0, 0, 1)), 'region "a" changes nothing'),
        (lambda: Region("a", Cap(0, 0, 1), mu=1.0), "no property 'mu'"),
        (lambda: Region("a", Cap(0, 0, 1), friction=1.0, friction_factor=1.0), "both friction"),
        (lambda: Region("a", Cap(0, 0, 1), restitution=1.1), 'restitution of the region "a"'),
        (lambda: Region("a", Cap(0, 0, 1), restitution_factor=0.0), "restitution_factor of"),
        (lambda: Region("a", Cap(0, 0, 1), friction=-0.1), 'friction of the region "a" is -0.1'),
        (lambda: Region("a", Cap(0, 0, 1), friction=[0.1, np.nan]), "is nan"),
        (lambda: Regions([]), "at least one Region"),
        (lambda: Regions([Region("a", Cap(0, 0, 1), friction=1.0)], 3), "must be a GroundMap"),
        (lambda: Regions([Region("a", Cap(0, 0, 1), friction=1.0)] * 2), "equal names"),
    ],
)
def test_bad_regions_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_numbers_of_runs_must_agree():
    one = Region("a", Cap(0, 0, 1), friction=[0.1, 0.2])
    with pytest.raises(InputError, match=r"\[2, 3\]"):
        Regions([one, Region("b", Cap(0, 0, 1), friction=[0.1, 0.2, 0.3])])
    with pytest.raises(InputError, match=r"\[2, 3\]"):
        Compliant(restitution=[0.1, 0.2, 0.3], ground=Regions([one]))


def test_out_of_range_is_told_with_the_region():
    """Each run by itself: 0.9 times 1.0 and 0.5 times 1.5 are in range, as is no overlap."""
    a = Region("a", Cap(0.0, 0.0, 0.1), restitution_factor=[1.0, 1.5])
    b = Region("b", Cap(1.0, 0.0, 0.1), restitution_factor=1.2)
    assert Compliant(restitution=[0.8, 0.5], ground=Regions([a, b])).count == 2
    with pytest.raises(InputError, match=r'1.05 in the region "a": 0.7 times 1.5'):
        Compliant(restitution=[0.8, 0.7], ground=Regions([a, b]))
    over = Region("c", Cap(0.0, 0.05, 0.1), restitution_factor=1.4)
    with pytest.raises(InputError, match=r'1.05 in the region "a" and "c"'):
        Compliant(restitution=[0.5, 0.5], ground=Regions([a, over]))
    low = Region("d", Cap(0.0, 0.0, 0.1), static_friction=0.5)
    with pytest.raises(InputError, match=r'static_friction would be 0.5 in the region "d", below'):
        Compliant(restitution=0.5, friction=0.6, ground=Regions([low]))
    bumpy = np.ones((19, 36))
    bumpy[9, 9] = 1.5
    on_map = Regions([b], GroundMap({"restitution": bumpy}))
    assert Compliant(restitution=0.6, ground=on_map).ground is on_map
    with pytest.raises(InputError, match=r"1.05 outside all regions"):
        Compliant(restitution=0.7, ground=on_map)
