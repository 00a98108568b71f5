"""Maps of the terrain in a report: which ground they show, and how many sites they have."""

import pathlib
import sys

import numpy as np
import pytest

from alight.analysis.clusters import Clusters
from alight.analysis.terrain import Terrain, terrain
from alight.campaign.reader import open_campaign
from alight.surfaces import Sphere
from alight.views import report, style
from alight.views.report.landing.data import read
from alight.views.report.landing.findings import LandingFindings
from alight.views.report.landing.terrain import Ground, caption, large_rocks

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # tests are no package

from landing_case import RADIUS, make_campaign


def ball_ground(size=0.2, varies=False, survey=None):
    """The ground of the made-up campaign, as the command line would hand it over."""

    def over_ball(place, axes, half):
        return terrain(Sphere(radius=RADIUS), place, axes, half, lambda x: -x, points=41)

    return Ground(survey or over_ball, size, varies)


def landings(folder, ground, **options):
    return LandingFindings(read(open_campaign(make_campaign(folder, **options)), ground=ground))


def test_terrain_shows_nearly_all_sites_and_says_so(tmp_path):
    found = landings(tmp_path, ball_ground(), runs=400)
    ((one,), why) = found.terrain
    settled = int(found.data.settled.sum())
    assert not why
    assert 0.9 * settled <= len(one.rest) <= one.total == settled
    assert one.number == 0
    assert one.stem == "terrain"
    told = caption(one, found)
    assert f"{len(one.rest)} of {settled} rest sites" in told or f"all {settled} rest" in told
    assert "differs from run to run" not in told
    # On a ball whose weight is towards its middle no ground slopes; the weight is interpolated.
    assert one.numbers()["median_slope_deg"] < 1.0
    assert one.numbers()["rock_share"] == 0.0


def test_terrain_of_one_landing_is_as_wide_as_a_lander_needs(tmp_path):
    found = landings(tmp_path, ball_ground(size=0.5, varies=True), runs=1, shard=1, escaped=0.0)
    ((one,), _) = found.terrain
    assert one.terrain.half == pytest.approx(8.0 * 0.5)
    told = caption(one, found)
    assert "the one rest site" in told
    assert "differs from run to run" in told


def test_terrain_that_is_not_known_is_said_on_the_page(tmp_path):
    made = report.write(make_campaign(tmp_path, 40, 40), ground="There is no map: gone.")
    assert "There is no map: gone." in made.page.read_text(encoding="utf-8")
    assert made.numbers["terrain"] == []


def test_no_terrain_where_nothing_rests(tmp_path):
    found = landings(tmp_path, ball_ground(), runs=40, shard=40, escaped=1.0)
    assert found.terrain == ([], "")


def test_terrain_is_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(style, "DPI", 60)
    place = make_campaign(tmp_path / "c", 150, 150, trajectories=(0, 1))
    made = report.write(place, ground=ball_ground())
    assert (made.page.parent / "figures" / "terrain.png").is_file()
    assert made.numbers["terrain"][0]["half_side_m"] > 0.0


def test_only_large_rocks_have_an_outline():
    flat = np.zeros((20, 20))
    rocks = np.zeros((20, 20), dtype=bool)
    rocks[2:6, 2:6] = rocks[12, 12] = True
    piece = Terrain(np.zeros(3), np.eye(3), 1.0, flat, np.zeros((20, 20, 3)), flat, rocks)
    large = large_rocks(piece)
    assert large[3, 3]
    assert not large[12, 12]
    assert large.sum() == 16


def test_a_footprint_all_over_the_body_is_shown_where_sites_are_closest(tmp_path):
    found = landings(tmp_path, ball_ground(), runs=200)
    rng = np.random.default_rng(1)
    out = rng.normal(size=(int(found.data.settled.sum()), 3))
    out[: len(out) // 3] = [1.0, 0.0, 0.0] + 0.05 * out[: len(out) // 3]
    rest = np.full_like(found.data.rest, np.nan)
    rest[found.data.settled] = RADIUS * out / np.linalg.norm(out, axis=1, keepdims=True)
    found.data.__dict__["rest"] = rest
    found.__dict__["groups"] = Clusters(np.zeros(len(out), dtype=np.int64), 1)
    ((one,), _) = found.terrain
    assert one.wide
    assert "where landings rest most closely" in caption(one, found)
    toward = one.terrain.place / np.linalg.norm(one.terrain.place)
    assert toward[0] > 0.99
    assert one.terrain.half < 0.8 * RADIUS
