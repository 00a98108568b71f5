"""``Aimer``: places in, hops or a reason out; ``alight hop``; what is wrong is one sentence."""

import json
import math
import pathlib
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import alight
from alight import scenario
from alight.cli.main import app
from alight.core.errors import InputError
from alight.mobility import Aimer, ThrowErrors, scatter
from alight.mobility.aiming.push_off import push_off_scenario, thrown
from alight.scenario.shipped_scenarios import find

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # tests are no package

from ball import FLAT, RADIUS, ball


@pytest.fixture(scope="module")
def aimer():
    return Aimer(scenario.loads(ball()))


@pytest.fixture(scope="module")
def found(aimer):
    return aimer.aim((0.1, 0.2), (0.2, 0.5))


def test_hops_come_by_family_and_time_and_all_hit(found):
    assert [hop.name for hop in found.hops][:3] == ["shallow", "minimum speed", "steep"]
    assert not found.reason
    times = [hop.time for hop in found.hops if hop.family == 1]
    assert times == sorted(times)
    for hop in found.hops:
        assert hop.miss < 1e-3
        assert np.linalg.norm(hop.path[0] - found.start) == 0.0
        assert np.linalg.norm(hop.path[-1] - found.target) < 1e-2
        assert np.linalg.norm(hop.velocity) == pytest.approx(hop.speed)


@pytest.mark.validate  # a kernel of its own
def test_a_hop_is_a_release_that_any_scenario_can_have(aimer, found):
    hop = found.hops[0]
    one = thrown(aimer.scenario, found.place, hop.throw, (0.0, 0.0, 0.0), 5)
    contact = alight.simulate(one).events[0]
    assert np.linalg.norm(contact["place"] - found.target) < 1e-3


def test_sensitivities_are_those_of_the_engine(aimer, found):
    hop = next(hop for hop in found.hops if hop.name == "steep")
    step = math.radians(0.01)
    moved = (hop.speed, hop.azimuth, hop.elevation + step)
    one = thrown(aimer.scenario, found.place, moved, (0.0, 0.0, 0.0), 5)
    contact = alight.simulate(one).events[0]
    moves = np.linalg.norm(contact["place"] - found.target)
    assert 100.0 * moves == pytest.approx(hop.sensitivity()[2], rel=0.02)


def test_a_speed_that_is_given_is_kept_to(aimer):
    hops = aimer.aim((0.1, 0.2), (0.2, 0.5), speed=0.12).hops
    fast = [hop for hop in hops if hop.name != "minimum speed" and hop.family == 1]
    assert len(fast) == 2
    assert [hop.speed for hop in fast] == pytest.approx([0.12, 0.12], rel=1e-5)


def test_a_target_beyond_the_limit_is_out_of_reach(aimer):
    found = aimer.aim((0.0, 0.0), (0.0, 1.5), max_speed=0.05)
    assert found.hops == ()
    assert "out of reach" in found.reason
    assert "limit is 5 cm/s" in found.reason


@pytest.mark.validate  # a kernel of its own
def test_a_lander_with_a_size_is_corrected_until_it_hits():
    cube = Aimer(scenario.loads(ball(4.0, 'shape = "cube"\nside = "1 m"\nmass = "1 kg"')))
    hops = cube.aim((0.1, 0.2), (0.2, 0.5)).hops
    assert hops
    assert all(hop.miss < 1e-3 for hop in hops)
    assert any(hop.corrections > 0 for hop in hops)


@pytest.mark.validate  # a kernel of its own
def test_flat_ground_takes_positions():
    flat = Aimer(scenario.loads(FLAT))
    hops = flat.aim((0.0, 0.0, 0.0), (3.0, 4.0, 0.0)).hops
    slow = next(hop for hop in hops if hop.name == "minimum speed")
    assert slow.speed == pytest.approx(math.sqrt(5e-3), rel=1e-6)
    # Where up is the axis of the target, east is +y and north is -x (core.frames).
    assert slow.azimuth == pytest.approx(math.atan2(4.0, -3.0), rel=1e-6)


def test_a_small_campaign_tells_where_it_rests(aimer, found, tmp_path):
    hop = next(hop for hop in found.hops if hop.name == "minimum speed")
    errors = ThrowErrors(0.005, math.radians(0.5))
    cloud = scatter(aimer, found, hop, errors, runs=60, out=tmp_path / "hop", device="cpu")
    assert cloud.runs == 60
    assert sum(cloud.outcomes.values()) == 60
    assert len(cloud.impacts) == 60
    assert len(cloud.rests) == cloud.outcomes.get("settled", 0) > 0
    assert np.abs(np.linalg.norm(cloud.rests, axis=1) - RADIUS).max() < 0.01
    assert cloud.within[0].value < cloud.within[1].value
    again = scatter(aimer, found, hop, errors, runs=60, out=tmp_path / "hop", device="cpu")
    assert np.array_equal(again.impacts, cloud.impacts)


def test_a_push_off_keeps_what_is_uncertain_beside_the_release():
    table = ball().replace('kind = "ground"', 'kind = "above"\nheight = "5 m"') + (
        '[dispersions]\n"contact.restitution" = { kind = "uniform", low = 0.2, high = 0.4 }\n'
        '"release.height" = { kind = "normal", sigma = "1 m" }\n'
        '"release.attitude" = { kind = "orientation" }\n'
    )
    made = push_off_scenario(scenario.loads(table))
    assert set(made.dispersions) == {"contact.restitution", "release.attitude"}
    assert made.release.kind == "ground"


# -- mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "target", "said"),
    [
        ((0.1, 0.2), (0.1, 0.2), "one place"),
        ((0.1, 2.0, 3.0), (0.1, 0.2), "latitude and longitude"),
        ((2.0, 0.0), (0.1, 0.2), "from -90 to 90"),
        ((math.nan, 0.0), (0.1, 0.2), "latitude and longitude"),
    ],
)
def test_places_that_are_none_are_refused(aimer, start, target, said):
    with pytest.raises(InputError, match=said):
        aimer.aim(start, target)


def test_a_speed_below_zero_is_refused(aimer):
    with pytest.raises(InputError, match="max_speed"):
        aimer.aim((0.1, 0.2), (0.2, 0.5), max_speed=-1.0)


def test_articulated_landers_are_refused():
    with pytest.raises(InputError, match="rigid"):
        Aimer(find("paper002_landing").path)


# -- the command ----------------------------------------------------------------------------------


@pytest.fixture
def alight_hop(tmp_path, monkeypatch):
    """``alight_hop(words...)``: the command, on the ball in ``ball.toml``."""
    (tmp_path / "ball.toml").write_text(ball())
    (tmp_path / "flat.toml").write_text(FLAT)
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, ["hop", *words])


def test_the_command_tells_and_draws(alight_hop, tmp_path):
    done = alight_hop("ball.toml", "--from", "6,11", "--to", "11,29", "--runs", "20", "--json",
                      "--figure", "sheet.png")  # fmt: skip
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["hops"][0]["miss_m"] < 1e-3
    assert told["campaign"]["runs"] == 20
    assert (tmp_path / "sheet.png").stat().st_size > 20_000


def test_a_person_reads_a_table(alight_hop):
    done = alight_hop("ball.toml", "--from", "6,11", "--to", "11,29", "--runs", "0")
    assert done.exit_code == 0, done.output
    assert "minimum speed" in done.output
    assert "within" in done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ball.toml", "--from", "95,0", "--to", "1,1"], "no place"),
        (["ball.toml", "--from", "6,11", "--to", "11"], "no place"),
        (["nowhere", "--from", "0,0", "--to", "1,1"], "neither a scenario"),
        (["flat.toml", "--from", "0,0", "--to", "1,1"], "flat ground"),
        (["ball.toml", "--from", "0,0", "--to", "0,0"], "one place"),
        (["ball.toml", "--from", "0,0", "--to", "0,80", "--max-speed", "5 cm/s"], "out of reach"),
        (["ball.toml", "--from", "0,0", "--to", "0,80", "--max-speed", "5"], "--max-speed"),
        (["ball.toml", "--from", "0,0", "--to", "0,80", "--speed", "-1 m/s"], "above 0"),
        (["ball.toml", "--from", "0,0", "--to", "0,8", "--fly", "high"], "unknown hop"),
        (["ball.toml", "--from", "0,0", "--to", "0,8", "--runs", "0", "--out", "x"], "--runs 0"),
    ],
)
def test_mistakes_are_one_sentence(alight_hop, words, said):
    done = alight_hop(*words)
    assert isinstance(done.exception, InputError), done.output
    assert said in str(done.exception)
    assert "\n" not in str(done.exception)
