"""The report of articulated landers: tipping over, loads, one touchdown."""

import pathlib
import re
import sys

import numpy as np
import pytest

from alight.campaign import open_campaign, run_campaign
from alight.core.outcomes import Outcome
from alight.scenario import loads
from alight.views import report
from alight.views.report.landing.data import read
from alight.views.report.landing.findings import LandingFindings

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scenario"))  # tests are no package

from tree_case import TEXT

MORE = """
[dispersions]
"release.velocity" = { kind = "normal", sigma = "5 cm/s" }
"contact.friction" = { kind = "uniform", low = 0.1, high = 0.9 }

[campaign]
runs = 24

[record]
trajectories = [1]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """24 landings, some of which tilt by more than 3.5 degrees and so tip over."""
    place = tmp_path_factory.mktemp("report") / "out"
    given = loads(TEXT + MORE).replaced({"stop.tip_angle": np.radians(3.5)})
    run_campaign(given, out=place, device="cpu", show="silent")
    return place


@pytest.fixture(scope="module")
def made(folder, tmp_path_factory):
    """Its report."""
    return report.write(folder, tmp_path_factory.mktemp("page") / "report.html")


def test_how_often_it_tips_over(folder, made):
    tipped = open_campaign(folder).count().get(Outcome.TIPPED_OVER, 0)
    assert 0 < tipped < 24
    said = dict(made.answers)["How often is it lost?"]
    assert re.match(
        rf".* % of the runs tip over \({tipped} of 24; 95 % interval .* to .* %\)", said
    )
    assert "escape" not in said
    share = made.numbers["tipped_over_share"]
    assert share["value"] == pytest.approx(tipped / 24)
    assert share["low"] < share["value"] < share["high"]


def test_what_it_must_bear(folder, made):
    table = open_campaign(folder).read()
    push = table["peak_acceleration_m_per_s2"].to_numpy()
    strokes = np.max([table[f"stroke_leg_{k}_m"].to_numpy() for k in (1, 2, 3)], axis=0)
    told = made.numbers["loads"]
    assert told["peak_acceleration_m_per_s2"]["median"]["value"] == pytest.approx(np.median(push))
    assert told["stroke_m"]["p95"]["value"] == pytest.approx(np.quantile(strokes, 0.95))
    assert f"{np.median(push):.3g}"[:4] in dict(made.answers)["How large are the loads?"]
    page = made.page.read_text(encoding="utf-8")
    assert ">Loads</h2>" in page
    assert "normal force on a pad: leg 2 [N]" in page
    assert "stroke crushed: the largest [cm]" in page


def test_figures_of_loads_and_of_one_touchdown(made):
    stems = {file.stem for file in made.figures}
    assert {"loads", "touchdown", "trajectories", "convergence"} <= stems
    assert "energy" not in stems
    assert all(file.stat().st_size > 2000 for file in made.figures)


def test_axes_of_a_plane_are_named_by_the_target(folder):
    data = read(open_campaign(folder))
    assert data.axes == ("x", "y")
    tilted = {**data.scenario, "ground": {"kind": "plane", "normal": [0.0, 1.0, 0.0]}}
    object.__setattr__(data, "scenario", tilted)
    assert data.axes == ("x", "−z")


def test_what_is_held_against_inputs(folder):
    found = LandingFindings(read(open_campaign(folder)))
    assert {"tipping over", "largest stroke", "peak acceleration"} < set(found.sensitivity.outputs)
    assert "tipped_over" in found.convergence.answers
    assert "escaped" not in found.convergence.answers
