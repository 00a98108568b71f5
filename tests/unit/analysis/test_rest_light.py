"""Light where runs rest: nights on a sphere in closed form, and requirements on them."""

import numpy as np
import pytest

from alight.analysis import requirements as rq
from alight.analysis.rest_light import RestLight, rest_light
from alight.analysis.sun import SunPath, sun_over_rotation
from alight.core import frames
from alight.core.errors import InputError
from alight.core.requirements import Requirement
from alight.shapes import icosphere

PERIOD, UPRIGHT = 27_000.0, (0.0, 0.0, 0.0, 1.0)


def sun(declination, samples=120):
    way = sun_over_rotation(frames.direction(np.radians(declination), 0.3), UPRIGHT, samples)
    return SunPath(way, PERIOD)


def places(latitudes, radius=440.0):
    """(n, 3) at latitudes [deg], all around the body."""
    b = np.radians(latitudes)
    return radius * frames.direction(b, np.linspace(0.0, 6.0, len(b)))


def night_on_a_sphere(latitude, declination):
    """The Sun is below the horizon where cos(hour angle) < -tan(latitude) tan(declination)."""
    cosine = -np.tan(np.radians(latitude)) * np.tan(np.radians(declination))
    half = np.arccos(np.clip(cosine, -1.0, 1.0))
    return np.where(cosine >= 1.0, np.inf, PERIOD * (1.0 - half / np.pi))


def table_of(rest):
    return {f"rest_{axis}_m": rest[:, i] for i, axis in enumerate("xyz")}


def night(hours, share=0.5, kind="below"):
    return Requirement("n", kind, share, column="longest_night_s", limit=3600.0 * hours)


# Sunrise is bisected to a thousandth of a sample; between samples the Sun goes along a chord, off
# its circle by at most (step / 2)^2 / 2 of the radius, less than that of the sample's length here.
CLOSE = PERIOD / 120 * 5e-3


def test_without_obliquity_every_night_is_half_a_turn():
    found = RestLight(None, sun(0.0)).column("longest_night_s", places([-85.0, -30, 0, 1, 60, 89]))
    np.testing.assert_allclose(found, 0.5 * PERIOD, atol=CLOSE)


@pytest.mark.parametrize("declination", [-35.0, 10.0, 50.0])
def test_nights_by_latitude_and_polar_day_and_night(declination):
    latitudes = np.array([-89.0, -70, -60, -45, -20, 0, 15, 39, 60, 75, 88])
    light = RestLight(None, sun(declination, 720))
    found = light.column("longest_night_s", places(latitudes))
    expected = night_on_a_sphere(latitudes, declination)
    assert (np.isinf(expected).any(), (expected == 0.0).any()) == (True, True)
    np.testing.assert_array_equal(np.isinf(found), np.isinf(expected))
    np.testing.assert_allclose(found, expected, atol=CLOSE)
    days = light.column("day_fraction", places(latitudes))
    np.testing.assert_allclose(days, np.where(np.isinf(expected), 0.0, 1.0 - expected / PERIOD),
                               atol=CLOSE / PERIOD)  # fmt: skip


def test_a_sphere_is_lit_alike_whatever_its_size_and_as_its_mesh_is():
    latitudes = np.linspace(-60.0, 60.0, 25)
    small, large = (
        RestLight(None, sun(20.0)).column("longest_night_s", places(latitudes, r)) for r in (1, 1e5)
    )
    np.testing.assert_allclose(small, large, rtol=1e-12)
    mesh = RestLight(icosphere(5, 440.0), sun(20.0))
    # Smooth normals of facets of 2 degrees tilt by up to 0.1 degrees, times tan(60 degrees).
    close = PERIOD * 2.0 * np.tan(np.radians(60.0)) * 0.1 / 360.0
    np.testing.assert_allclose(
        mesh.column("longest_night_s", places(latitudes)), small, atol=close + CLOSE
    )


def test_runs_that_do_not_rest_have_no_night_and_do_not_meet_it():
    latitudes = np.array([-60.0, 0.0, 30.0, 60.0])
    rest = np.vstack([places(latitudes), np.full((2, 3), np.nan)])
    light, limit = RestLight(None, sun(20.0)), 0.5 * PERIOD / 3600.0 - 0.01
    found, does = rq.judge_runs(night(limit), table_of(rest), light=light)
    assert does.tolist() == [False, False, True, True, False, False]
    assert (found.met, found.runs, found.empty) == (2, 6, 2)
    above = rq.judge(night(limit, kind="above"), table_of(rest), light=light)
    assert above.met == 2
    nowhere = table_of(np.full((3, 3), np.nan))
    assert rq.judge(night(limit), nowhere, light=light).met == 0


def test_shards_give_the_verdict_of_the_whole():
    rest = places(np.linspace(-80.0, 80.0, 90))
    light, asked = RestLight(icosphere(3, 440.0), sun(15.0)), night(3.7)
    whole = rq.judge_runs(asked, table_of(rest), light=light)
    parts = rq.judge_runs(asked, (table_of(rest[i : i + 7]) for i in range(0, 90, 7)), light=light)
    assert 10 < whole[0].met < 80
    assert whole[0] == parts[0]
    np.testing.assert_array_equal(whole[1], parts[1])


def test_what_is_not_known_is_said_and_not_judged():
    table = table_of(places([0.0, 10.0]))
    found = rq.judge(night(5.0), table, light="No Sun.")
    assert (found.word, found.runs, found.more) == (rq.UNJUDGED, 0, None)
    assert str(found).endswith("No Sun.")
    with pytest.raises(InputError, match=r"light = RestLight\(mesh, sun\)"):
        rq.judge(night(5.0), table)
    off = rq.judge(night(5.0), table_of(1e3 * places([0.0])), light=RestLight(_shell(), sun(0.0)))
    assert (off.word, "Light could not be computed" in off.why) == (rq.UNJUDGED, True)


def _shell():
    """A body far from the places that are asked for: no facet lies along their normals."""
    return icosphere(2, 1.0).translated((0.0, 0.0, 5e6))


def test_ground_that_has_no_day_and_no_mesh():
    way = sun(0.0)
    assert "plane" in rest_light({"kind": "plane"}, None, way)
    assert "No mesh" in rest_light({}, None, way)
    assert rest_light({"kind": "sphere"}, icosphere(1, 1.0), way).mesh is None
