"""A plan that a scenario follows: hop by hop in the engine, through a campaign.

Throws are those of the plan for the cell where the lander rests and the hops that are left; without
errors and bounces a point lands where a throw on level ground goes, d = v^2 sin(2 e) / g.
"""

import math

import numpy as np
import pytest

from alight.actuators import StoredPlan
from alight.analysis.intervals import wilson
from alight.campaign import open_campaign, run_campaign
from alight.core.errors import InputError
from alight.scenario import load, prepare

pytestmark = pytest.mark.validate  # a kernel of its own

G, WAY = 1e-3, 2.0
TEXT = """
seed = 5
[gravity]
law = "uniform"
acceleration = ["0 m/s^2", "0 m/s^2", "-1e-3 m/s^2"]
[ground]
kind = "plane"
[lander]
shape = "point"
mass = "1 kg"
[release]
kind = "ground"
position = ["0.1 m", "0 m", "0 m"]
[contact]
restitution = 0.02
friction = 3.0
[stop]
max_time = "10 h"
[[manoeuvre]]
name = "go"
command = "policy"
plan = "plan.npz"
delay = "10 s"
[campaign]
runs = {runs}
shard = 40
"""


def stored(**changes):
    """Squares of 2 m along x and y; the throw of each takes a lander one of them to +x, from x = 6
    on to +y. On flat ground north is -x and east +y."""
    line = np.arange(-2.0, 13.0, 2.0)
    x, y = np.meshgrid(line, line, indexing="ij")
    centres = np.stack([x, y, np.zeros_like(x)], -1).reshape(-1, 3)
    speed = math.sqrt(G * WAY)
    throws = np.array([[speed, math.pi, math.pi / 4], [speed, math.pi / 2, math.pi / 4]])
    plan = np.tile((centres[:, 0] > 5.0).astype(int), (7, 1))
    given = {"centres": centres, "throws": throws, "plan": plan,
             "goal": np.array([6.0, 6.0, 0.0]), "goal_radius": 0.7}  # fmt: skip
    return StoredPlan(**(given | changes))


def folder(tmp_path, plan, runs=1):
    """The scenario beside its plan."""
    plan.save(tmp_path / "plan.npz")
    (tmp_path / "fly.toml").write_text(TEXT.format(runs=runs))
    return load(tmp_path / "fly.toml")


def test_each_throw_is_that_of_the_cell_and_none_is_left_at_the_goal(tmp_path):
    solution = prepare(folder(tmp_path, stored())).simulate()
    found = solution.result.manoeuvres[0]
    done = found[found["state"] == 2.0]
    assert len(done) == 6
    flown = done["touch_place"] - done["place"]
    along = np.repeat([[WAY, 0.0], [0.0, WAY]], 3, axis=0)
    assert flown[:, :2] == pytest.approx(along, abs=2e-3)
    assert (found["state"][6:] == 3.0).all()  # there was nothing to do
    assert np.linalg.norm(solution.position[-1] - [6.0, 6.0, 0.0]) < 0.7


def test_it_goes_no_farther_from_where_it_is_lost(tmp_path):
    bad = stored(avoid=np.array([[4.0, 0.0, 0.0, 0.5]]))
    found = prepare(folder(tmp_path, bad)).simulate().result.manoeuvres[0]
    assert (found["state"] == 2.0).sum() == 2
    places = stored().centres
    dark = stored(dark_places=places, dark=places[:, 0] > 1.0)
    found = prepare(folder(tmp_path, dark)).simulate().result.manoeuvres[0]
    assert (found["state"] == 2.0).sum() == 1


def test_errors_are_those_asked_for_and_each_throw_has_its_own(tmp_path):
    erring = stored(speed_error=0.05, angle_error=0.03, goal=np.array([99.0, 0, 0]))
    run_campaign(folder(tmp_path, erring, 300), out=tmp_path / "out", device="cpu", show="silent")
    hops = open_campaign(tmp_path / "out").read("hops").to_pandas()
    assert len(hops) == 300 * 7
    speed = hops["takeoff_speed_m_per_s"].to_numpy()
    share = speed / math.sqrt(G * WAY) - 1.0
    n = len(share)
    assert share.mean() == pytest.approx(0.0, abs=4.0 * 0.05 / math.sqrt(n))
    assert share.std() == pytest.approx(0.05, rel=4.0 / math.sqrt(2.0 * n))
    up = np.arcsin(hops["takeoff_vz_m_per_s"].to_numpy() / speed) - math.pi / 4
    assert up.std() == pytest.approx(0.03, rel=4.0 / math.sqrt(2.0 * n) + 0.02)
    rows = share.reshape(300, 7)
    off = np.corrcoef(rows.T) - np.eye(7)
    assert np.abs(off).max() < 4.5 / math.sqrt(300)


def test_a_campaign_resumes_and_replays_to_the_bit(tmp_path):
    erring = stored(speed_error=0.05, angle_error=0.03)
    given = folder(tmp_path, erring, 120)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    run_campaign(given, out=whole, device="cpu", show="silent")
    run_campaign(given, out=parts, device="cpu", show="silent", runs=40)
    run_campaign(given, out=parts, device="cpu", show="silent")
    for table in ("runs", "hops"):
        first, second = (open_campaign(f).read(table) for f in (whole, parts))
        assert first.equals(second), table
    arrived = open_campaign(whole).read("runs")["arrived"].to_numpy()
    assert 0.1 < wilson(int(arrived.sum()), len(arrived)).value < 1.0
    assert open_campaign(whole).replay(97, device="cpu", show="silent").identical
    # The file of the plan is part of what a campaign is.
    stored().save(tmp_path / "plan.npz")
    with pytest.raises(InputError, match="another"):
        run_campaign(load(tmp_path / "fly.toml"), out=whole, device="cpu", show="silent")


def test_a_plan_over_another_body_is_refused(tmp_path):
    other = stored(centres=stored().centres + np.array([0.0, 0.0, 40.0]))
    with pytest.raises(InputError, match="is for another body: its cells are up to 40 m off"):
        prepare(folder(tmp_path, other)).nominal()
