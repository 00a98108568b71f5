"""Dispersed releases inside the ground: a check counts those that a campaign then cannot run."""

import numpy as np
import pytest

from alight.campaign import run_campaign, sample
from alight.core.outcomes import Outcome
from alight.scenario.building import dispersed_starts as starts

LOW = """
[dispersions]
"release.position.z" = { kind = "uniform", low = "0 m", high = "0.3 m" }
"release.attitude" = { kind = "orientation" }
"""


def looked(given, runs):
    return starts.dispersed_starts(given, sample(given, np.arange(runs)))


def test_the_count_is_that_of_the_campaign(scenario, tmp_path):
    given = scenario(runs=60, shard=60, dispersions=LOW)
    found = looked(given, 60)
    made = run_campaign(given, out=tmp_path / "c", device="cpu", show="silent")
    assert (found.looked, found.inside) == (60, made.outcomes[Outcome.STARTED_INSIDE])
    assert 5 < found.inside < 55
    (said,) = found.remarks()
    assert f"of the first 60 runs at least {found.inside} start inside the ground" in said.text


def test_depth_is_that_of_the_lowest_corner(scenario):
    given = scenario(dispersions=LOW)
    found = looked(given, 50)
    values = sample(given, np.arange(50))
    x, y, z, w = values["release.attitude"].T
    third = np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=1)
    depth = 0.1 * np.abs(third).sum(axis=1) - values["release.position.z"]
    assert found.inside == (depth > starts.TOLERANCE).sum()
    assert found.deepest == pytest.approx(depth.max(), rel=1e-9)


def test_nothing_is_said_where_none_is_inside(scenario):
    high = LOW.replace('low = "0 m", high = "0.3 m"', 'low = "0.2 m", high = "0.3 m"')
    given = scenario(dispersions=high)
    assert looked(given, 20).inside == 0
    assert not starts.dispersed_remarks(given, sample(given, np.arange(20)))
    assert not starts.dispersed_remarks(given, {"contact.friction": np.full(20, 0.5)})


def test_work_is_bounded_and_the_runs_looked_at_are_the_first(scenario, monkeypatch):
    given = scenario(dispersions=LOW)
    monkeypatch.setattr(starts, "MOST_PAIRS", 2 * starts.POINTS * 7)  # seven runs near the ground
    few = looked(given, 50)
    assert 7 <= few.looked < 50
    monkeypatch.undo()
    assert few.inside == looked(given, few.looked).inside
