"""Sweeps, groups and tables of samples through the store: run, grown, resumed, read back."""

import numpy as np
import pytest

from alight.campaign import open_campaign, run_campaign
from alight.core.errors import InputError
from alight.scenario import loads

SWEEP = """
[dispersions]
"contact.restitution" = { kind = "sweep", values = [0.3, 0.6] }
"release.velocity.x" = { kind = "normal", sigma = "2 cm/s" }
"""


@pytest.fixture
def swept(cube_drop):
    def make(repeats, more=SWEEP):
        campaign = "\n[campaign]\nshard = 2\n" + (f"repeats = {repeats}\n" if repeats else "")
        return loads(cube_drop(dispersions=None, campaign=None) + campaign + more)

    return make


def table(folder):
    return open_campaign(folder).read()


def test_repeats_grow_and_earlier_runs_keep_their_bits(swept, tmp_path):
    run_campaign(swept(None), out=tmp_path / "grown", show="silent")
    first = table(tmp_path / "grown")
    run_campaign(swept(3), out=tmp_path / "grown", show="silent")
    run_campaign(swept(3), out=tmp_path / "whole", show="silent")
    grown, whole = table(tmp_path / "grown"), table(tmp_path / "whole")
    assert grown.equals(whole)
    assert grown.slice(0, 2).equals(first)
    assert grown.column("contact.restitution").to_pylist() == [0.3, 0.6] * 3
    assert len(set(grown.column("release.velocity.x_m_per_s").to_pylist())) == 6
    assert open_campaign(tmp_path / "grown").sweep_keys == ["contact.restitution"]


def test_another_number_of_runs_is_refused_before_anything_is_written(swept, tmp_path):
    with pytest.raises(InputError, match="2 combinations"):
        run_campaign(swept(None), 5, out=tmp_path / "out", show="silent")
    assert not (tmp_path / "out" / "plan.json").exists()


def test_groups_and_tables_reach_the_table_of_runs(swept, tmp_path):
    (tmp_path / "samples.csv").write_text("contact.friction\n0.2\n0.4\n0.8\n")
    more = f"""
[[dispersions.table]]
file = "{(tmp_path / "samples.csv").as_posix()}"
[[dispersions.group]]
keys = ["release.velocity", "contact.restitution"]
sigma = ["1 cm/s", "1 cm/s", "1 cm/s", 0.02]
"""
    scenario = swept(None, more)
    result = run_campaign(scenario, out=tmp_path / "out", show="silent")
    assert result.runs == 3
    found = table(tmp_path / "out")
    assert found.column("contact.friction").to_pylist() == [0.2, 0.4, 0.8]
    assert np.ptp(found.column("contact.restitution").to_numpy()) > 0.0
    assert open_campaign(tmp_path / "out").sweep_keys == []
    with pytest.raises(InputError, match="3 rows"):
        run_campaign(scenario, 4, out=tmp_path / "more", show="silent")
