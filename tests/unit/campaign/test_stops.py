"""Campaigns whose runs stops end: tables, plan, bar and report know endings of one's own."""

import json
import shutil

import numpy as np
import pytest

from alight.campaign import open_campaign, run_campaign
from alight.campaign.plan import PLAN_FILE
from alight.core.outcomes import Outcome
from alight.core.progress import Silent
from alight.scenario import from_dict, loads
from alight.views.report.common import outcomes
from alight.views.report.landing import data as report_data
from alight.views.report.landing.findings import LandingFindings
from alight.views.report.writing import sections_of

# The kinds of stops of tests/unit/engine/stops, whose kernels these are.
STOPS = """
[[stop.when]]
kind = "below-height"
name = "low"
height = "20 cm"
code = 64
sentence = "came within 20 cm of the ground"
[[stop.when]]
kind = "in-region"
center = ["50 cm", "0 m", "0 m"]
radius = "60 cm"
[[stop.when]]
kind = "spin-above"
rate = "50 rpm"
hold = "1 s"
when = "flight"
[dispersions]
"release.velocity" = { kind = "normal", sigma = "2 cm/s" }
"stop.when.low.height" = { kind = "uniform", low = "1 cm", high = "25 cm" }
"""


class Told(Silent):
    """What a bar is told last."""

    def __init__(self):
        self.facts = {}

    def advance(self, n=1, **facts):
        self.facts |= facts


@pytest.fixture(scope="module")
def made(cube_drop):
    attitude = {"attitude": [0.1, 0.2, 0.3, 1.0]}
    campaign = {"runs": 12, "shard": 5}
    changes = {"seed": 1, "dispersions": None, "contact": {"friction": 0.6}}
    return loads(cube_drop(release=attitude, campaign=campaign, **changes) + STOPS)


@pytest.fixture(scope="module")
def done(made, tmp_path_factory):
    bar, folder = Told(), tmp_path_factory.mktemp("stops") / "out"
    return run_campaign(made, out=folder, device="cpu", threads=1, show=bar), bar


def test_tables_have_word_and_code(done):
    result, _ = done
    table = result.open().read("runs").to_pydict()
    codes, words = np.array(table["outcome_code"]), np.array(table["outcome"])
    assert set(words[codes == 64]) == {"low"}
    assert set(words[codes == Outcome.IN_REGION]) == {"in_region"}
    stopped = (codes == 64) | (codes == Outcome.IN_REGION)
    assert 0 < (codes == 64).sum() < stopped.sum()
    assert all(time is None for time in np.array(table["settle_time_s"])[stopped])
    height, limit = np.array(table["end_z_m"]), np.array(table["stop.when.low.height_m"])
    assert (height[codes == 64] < limit[codes == 64]).all()
    assert (height[codes != 64] >= limit[codes != 64] - 1e-12).all()


def test_counts_plan_and_bar_know_it(done, tmp_path):
    result, bar = done
    ends = {ending.name: (int(ending), str(ending)) for ending in result.outcomes}
    assert ends["low"] == (64, "came within 20 cm of the ground")
    assert bar.facts["low"] == result.outcomes[64]
    assert "failed" not in bar.facts
    assert f"{result.outcomes[64]} low" in str(result)
    plan = json.loads((result.folder / PLAN_FILE).read_text())
    said = {"code": 64, "name": "low", "sentence": "came within 20 cm of the ground"}
    assert plan["endings"] == [said]
    # On another machine there is the folder alone.
    shutil.copytree(result.folder, tmp_path / "elsewhere")
    counted = open_campaign(tmp_path / "elsewhere").count()
    assert {e.name: n for e, n in counted.items()} == {
        e.name: n for e, n in result.outcomes.items()
    }


def test_a_campaign_goes_on_with_it(made, done):
    result, _ = done
    again = run_campaign(made, out=result.folder, device="cpu", threads=1, show="silent")
    assert (again.computed, again.outcomes) == (0, result.outcomes)


def test_the_report_tells_how_runs_ended(done):
    result, _ = done
    found = LandingFindings(report_data.read(result.open()))
    (table,) = [part for part in outcomes(found).parts if hasattr(part, "rows")]
    rows = {row[0]: row for row in table.rows}
    assert rows["low"][1] == str(result.outcomes[64])
    assert rows["low"][-1] == "came within 20 cm of the ground"
    assert "in region" in rows
    told = sections_of(found)
    text = " ".join(said for section in told for _, said in section.answers)
    assert f"({result.outcomes[64]}) ended by a stop, low: came within 20 cm of the ground." in text
    assert not found.failed.any()
    numbers = {key: value for section in told for key, value in section.numbers.items()}
    assert numbers["outcomes"]["low"] == result.outcomes[64]


def test_a_plan_without_stops_says_nothing_of_endings(scenario, tmp_path):
    run_campaign(scenario(runs=1), out=tmp_path / "out", device="cpu", show="silent")
    assert "endings" not in json.loads((tmp_path / "out" / PLAN_FILE).read_text())


def test_resolved_scenarios_read_back(made):
    assert loads(made.to_toml()) == made
    assert from_dict(made.resolved()).endings == [64, 14]  # and one that is an outcome
