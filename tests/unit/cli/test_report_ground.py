"""The ground of reports: what is drawn is what landers touch, of every kind of ground."""

import types

import numpy as np
import pytest

from alight.analysis.terrain import NEAR
from alight.cli.report_ground import ground_of
from alight.core.constants import G
from alight.core.frames import local_frame
from alight.scenario import from_dict
from alight.scenario.building.laws import ScenarioLaws
from alight.shapes import icosphere

RADIUS = 50.0
LANDER = {"shape": "box", "size": ["20 cm", "20 cm", "20 cm"], "mass": "1 kg"}
CONTACT = {"restitution": 0.5, "friction": 0.5}


@pytest.fixture(scope="module")
def ball(tmp_path_factory):
    file = tmp_path_factory.mktemp("ground") / "ball.obj"
    icosphere(3, RADIUS).save(file, unit="m")
    body = {"mesh": str(file), "unit": "m", "density": "2 g/cm^3", "rotation": {"period": "5 h"}}
    release = {"latitude": "0 deg", "longitude": "0 deg", "height": "5 m"}
    return {"body": body, "lander": LANDER, "release": release, "contact": CONTACT}


NOISE = {"amplitude": "20 cm", "wavelength": "4 m", "octaves": 2}
ROCKS = {
    "smallest": "1 m", "largest": "4 m", "slope": 2.5, "density": "60000 1/km^2",
    "reference": "1 m",
}  # fmt: skip
GROUNDS = {
    "sphere": {"kind": "sphere", "radius": f"{RADIUS} m"},
    "facets": {"kind": "facets"},
    "parametric": {"kind": "parametric", "degree": 4},
    "field": {"spacing": "5 m"},
    "rough": {"spacing": "5 m", "noise": NOISE},
    "rocks": {"kind": "facets", "rocks": ROCKS},
}


def campaign(table, **more):
    return types.SimpleNamespace(scenario={**table, **more})


def surveyed(table, place, half):
    ground = ground_of(campaign(table))
    assert not isinstance(ground, str), ground
    return ground, ground.survey(place, local_frame(place), half)


LATER = [pytest.param(kind, marks=pytest.mark.validate) for kind in ("sphere", "field")]


@pytest.mark.parametrize(
    "kind", [*(kind for kind in GROUNDS if kind not in ("sphere", "field")), *LATER]
)
def test_what_is_drawn_is_what_landers_touch(kind, ball):
    table = {**ball, "ground": GROUNDS[kind]}
    place = np.array([RADIUS, 0.0, 0.0])
    ground, found = surveyed(table, place, 8.0)
    assert ground.size == pytest.approx(0.1 * np.sqrt(3.0), rel=1e-9)
    scenario = from_dict(table, "here")
    surface = ScenarioLaws(scenario, "cpu", "silent").ground(scenario)
    x, y = np.meshgrid(found.line, found.line)
    points = place + np.stack([x, y, found.height], axis=2) @ found.R_TL.T
    off = np.abs(surface.query(points)[0])
    assert off.max() <= surface.bounds.slope * NEAR * found.cell * (1.0 + 1e-9)
    assert found.rocks.any() == (kind == "rocks")
    if kind == "sphere":
        assert found.slope.max() == pytest.approx(_turned_aside(8.0), rel=0.05)


def _turned_aside(north):
    """Angle of the plumb line against the normal of a ball that turns, so far north [m] of its
    equator [rad]: Omega^2 R cos sin over the rest of the weight. The mesh of gravity has 5 % less
    volume than the ball."""
    sine = north / RADIUS
    pull, turn = 4.0 / 3.0 * np.pi * G * 2000.0 * RADIUS, (2.0 * np.pi / 18000.0) ** 2 * RADIUS
    cosine = np.sqrt(1.0 - sine**2)
    return np.arctan2(turn * cosine * sine, pull - turn * cosine**2)


def test_flat_ground_slopes_against_its_gravity():
    tilt = np.radians(20.0)
    table = {
        "gravity": {"law": "uniform", "acceleration": ["0 m/s^2", "0 m/s^2", "-1 mm/s^2"]},
        "ground": {"kind": "plane", "normal": [float(np.sin(tilt)), 0.0, float(np.cos(tilt))]},
        "lander": LANDER,
        "contact": CONTACT,
        "release": {"position": ["0 m", "0 m", "5 m"]},
    }
    ground = ground_of(campaign(table))
    found = ground.survey(np.zeros(3), np.eye(3), 2.0)
    np.testing.assert_allclose(found.slope, tilt, rtol=1e-9)
    assert not ground.varies


def test_ground_that_differs_from_run_to_run_is_said(ball):
    table = {**ball, "ground": GROUNDS["sphere"]}

    def varied(key):
        return ground_of(campaign(table, dispersions={key: {}})).varies

    assert varied("ground.radius")
    assert not varied("release.height")
    assert not varied("body.rotation.period")


def test_ground_that_is_not_known_is_said(ball):
    assert "made in Python" in ground_of(campaign({"study": {}}))
    gone = {**ball, "body": {**ball["body"], "mesh": "/nowhere/gone.obj"}}
    told = ground_of(campaign({**gone, "ground": GROUNDS["facets"]}))
    told = told if isinstance(told, str) else told.survey(np.ones(3), np.eye(3), 1.0)
    assert told.startswith("There is no map of the terrain: ")
    assert "gone.obj" in told
