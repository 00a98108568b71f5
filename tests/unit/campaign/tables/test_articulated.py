"""Campaigns of articulated landers: loads in the tables, joints in the courses, the same bytes."""

import pathlib
import sys

import numpy as np
import pytest

from alight import engine
from alight.campaign import open_campaign, run_campaign, sample
from alight.core.outcomes import Outcome
from alight.engine.columns import Source
from alight.motions.rigid.columns import TREE_RUNS
from alight.motions.tree.columns import load_columns
from alight.scenario import loads, prepare

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scenario"))  # tests are no package

from tree_case import TEXT

MORE = """
[dispersions]
"release.velocity" = { kind = "normal", sigma = "2 cm/s" }
"contact.friction" = { kind = "uniform", low = 0.1, high = 0.5 }
"lander.crushable.leg-1.force" = { kind = "choice", values = ["6 N", "9 N"] }

[campaign]
runs = 7
shard = 3

[record]
trajectories = [4]
"""


def contents(folder):
    files = [p for p in sorted(folder.rglob("*")) if p.is_file() and p.name != ".lock"]
    return {str(p.relative_to(folder)): p.read_bytes() for p in files}


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A campaign of seven landings."""
    folder = tmp_path_factory.mktemp("campaign") / "out"
    run_campaign(loads(TEXT + MORE), out=folder, device="cpu", show="silent")
    return folder


def test_tables_have_the_loads_of_each_run(done):
    given = loads(TEXT + MORE)
    table = open_campaign(done).read()
    values = sample(given, np.arange(7))
    groups = prepare(given, "cpu").groups(values)
    assert len(groups) == 2
    for group in groups:
        result = engine.run_batch(group.model, group.release, device="cpu")
        for column in load_columns(group.model):
            expected = column.values(Source(result, group.rows, group.model))
            got = table[column.full_name].to_numpy()[group.rows]
            assert np.array_equal(got, expected), column.full_name
        assert np.array_equal(table["outcome_code"].to_numpy()[group.rows], result.outcome)
    names = table.column_names[len(TREE_RUNS) :]
    assert names[:4] == [
        "peak_acceleration_m_per_s2", "peak_tilt_deg", "peak_speed_m_per_s", "peak_rate_rad_per_s",
    ]  # fmt: skip
    assert {"stroke_leg_1_m", "peak_pad_force_leg_3_N", "peak_joint_moment_liquid_N_m"} < {*names}
    assert "peak_joint_force_bus_N" not in names
    assert "lander.crushable.leg-1.force_N" in names
    assert table["stroke_leg_1_m"].to_numpy().max() > 0.01
    assert set(table["outcome"].to_pylist()) <= {"settled", "tipped_over", "timed_out"}


def test_courses_have_joints(done):
    given, campaign = loads(TEXT + MORE), open_campaign(done)
    (group,) = prepare(given, "cpu").groups(sample(given, [4]))
    solution = engine.simulate(group.model, group.release)
    table = campaign.trajectory(4)
    assert np.array_equal(table["time_s"].to_numpy(), solution.time)
    for column in group.model.columns.course[2:]:
        expected = column.values(Source(solution, np.array([4]), group.model))
        assert np.array_equal(table[column.full_name].to_numpy(), expected), column.full_name
    swing = table["joint_liquid_rad"].to_numpy()
    assert swing[0] == pytest.approx(np.radians(2.0))
    assert "joint_rate_leg_2_m_per_s" in table.column_names
    assert not any(name.startswith("energy") for name in table.column_names)


def test_going_on_gives_the_same_bytes(done, tmp_path):
    given, out = loads(TEXT + MORE), tmp_path / "out"
    run_campaign(given, 3, out=out, device="cpu", show="silent")
    again = run_campaign(given, 7, out=out, device="cpu", show="silent")
    assert (again.kept, again.computed) == (1, 2)
    whole, grown = contents(done), contents(out)
    assert grown.keys() == whole.keys()
    assert grown == whole


def test_rigid_landers_have_no_loads(scenario, tmp_path):
    result = run_campaign(scenario(runs=2), out=tmp_path / "out", device="cpu", show="silent")
    assert not any("stroke" in n or "tilt" in n for n in result.open().read().column_names)


def test_tipping_over_is_told(tmp_path):
    """A tip angle below the tilt of the release: every landing tips over as it touches."""
    given = loads(TEXT + MORE).replaced({"stop.tip_angle": 0.02})
    result = run_campaign(given, 3, out=tmp_path / "out", device="cpu", show="silent")
    assert result.outcomes == {Outcome.TIPPED_OVER: 3}
    assert str(result).endswith("3 tipped over")
