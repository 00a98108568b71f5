"""The table of hops: a row for each manoeuvre that was begun, the same after a resume, in a replay,
and as a GPU goes about it; its section of the report; what is wrong with manoeuvres in a file."""

import dataclasses

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from alight import engine
from alight.campaign import open_campaign, run_campaign
from alight.campaign.dispersions.sampling import sample
from alight.campaign.shard_store import hops_name, seal_name
from alight.core.errors import AlightError
from alight.engine import batch as batch_module
from alight.engine import deck
from alight.scenario import loads, prepare
from alight.views.report.landing import data
from alight.views.report.landing.findings import LandingFindings
from alight.views.report.landing.hops import answer, read_hops

WHEEL = {
    "inertia": "1e-3 kg*m^2", "torque": "1 mN*m", "top_speed": "5000 rpm", "instant_brake": True,
}  # fmt: skip
AXES = {"x": [1.0, 0.0, 0.0], "y": [0.0, 1.0, 0.0], "z": [0.0, 0.0, 1.0]}
LANDER = {"wheel": [{"name": name, "axis": axis, **WHEEL} for name, axis in AXES.items()]}
RIGID = {"law": "impulse", "restitution": 0.3, "friction": 0.8, "rolling_resistance": "0 m"}
GO = {
    "name": "go", "command": "hop", "place": ["8 m", "3 m", "0 m"], "distance": "3 m",
    "within": "1 m", "repeats": 4, "delay": "20 s",
}  # fmt: skip
LAST = {"name": "last", "command": "pulse", "actuators": ["x"], "levels": [1.0],
        "duration": "5 s"}  # fmt: skip


def text(cube_drop, *manoeuvres, **changes):
    """A small cube with three wheels, and what it does."""
    given = {
        "lander": LANDER, "contact": RIGID, "stop": {"max_time": "2 h"},
        "campaign": {"runs": 6, "shard": 2}, **changes,
    }  # fmt: skip
    return cube_drop(manoeuvre=list(manoeuvres) or [GO, LAST], **given)


@pytest.fixture(scope="module")
def folder(cube_drop, tmp_path_factory):
    """A campaign whose hops are dispersed."""
    out = tmp_path_factory.mktemp("hops") / "out"
    spread = {
        "release.attitude": {"kind": "orientation"},
        "manoeuvre.go.distance": {"kind": "normal", "sigma": "0.3 m"},
    }
    written = loads(text(cube_drop, dispersions=spread))
    run_campaign(written, out=out, device="cpu", show="silent")
    return out


def test_rows_are_manoeuvres_that_were_begun(folder):
    campaign = open_campaign(folder)
    table = campaign.read("hops").to_pylist()
    assert {row["run"] for row in table} == set(range(6))
    for run in range(6):
        rows = [row for row in table if row["run"] == run]
        assert [row["hop"] for row in rows] == list(range(len(rows)))
        times = [t for row in rows for t in (row["start_time_s"], row["end_time_s"])]
        assert times == sorted(times)
        made = [row for row in rows[:-1] if row["result"] == "hopped"]
        assert made, "it hops towards the place"
        for row in made:
            assert row["takeoff_speed_m_per_s"] == pytest.approx(
                row["asked_speed_m_per_s"] * row["speed_share"], rel=0.05
            )
            flat = np.array(
                [row["touch_x_m"] - row["start_x_m"], row["touch_y_m"] - row["start_y_m"]]
            )
            wanted = np.array([row["meant_x"], row["meant_y"]])
            assert flat @ wanted > 0.99 * np.linalg.norm(flat)
        assert rows[-1]["result"] in ("stuck", "moved")
        assert rows[-1]["meant_distance_m"] == 0.0
        assert rows[-1]["miss_m"] is None
    unit = campaign.schema("hops").field("wheel_energy_J").metadata[b"unit"]
    assert unit == b"J"


def test_a_resume_writes_the_same_bytes(folder):
    whole = {k: (folder / hops_name(k)).read_bytes() for k in range(3)}
    (folder / seal_name(1)).unlink()
    (folder / hops_name(1)).unlink()
    campaign = open_campaign(folder)
    run_campaign(loads(campaign_text(campaign)), out=folder, device="cpu", show="silent")
    assert {k: (folder / hops_name(k)).read_bytes() for k in range(3)} == whole


def campaign_text(campaign):
    return (campaign.folder / "scenario.toml").read_text("utf-8")


def test_a_replay_compares_hops(folder):
    campaign = open_campaign(folder)
    assert campaign.replay(3).identical
    path = folder / hops_name(1)
    kept, table = path.read_bytes(), pq.read_table(path)
    where = table.column_names.index("takeoff_time_s")
    other = pa.array([None if t is None else t + 1.0 for t in table[where].to_pylist()])
    pq.write_table(table.set_column(where, table.field(where), other), path)
    try:
        found = campaign.replay(3)
        assert {one.table for one in found.differences} == {"hops"}
        assert "hop 0, takeoff_time_s" in str(found.differences[0])
    finally:
        path.write_bytes(kept)


def test_the_report_tells_of_them(folder):
    found = LandingFindings(data.read(open_campaign(folder)))
    hops = read_hops(found)
    table = open_campaign(folder).read("hops").to_pylist()
    made = [row for row in table if row["result"] != "nothing_to_do"]
    assert hops.count == len(made)
    stuck = sum(row["result"] == "stuck" for row in made)
    assert hops.share("stuck").value == pytest.approx(stuck / len(made))
    ways = [row["distance_m"] for row in made]
    assert hops.spread("distance_m").mean.value == pytest.approx(np.mean(ways))
    assert f"{len(made)} hops were begun" in answer(hops)


@pytest.mark.validate
def test_phases_apart_leave_the_same_records(cube_drop, monkeypatch):
    """As a GPU goes about it: phases in launches of their own, runs in several decks."""
    scenario = loads(text(cube_drop, campaign={"runs": 30}))
    (group,) = prepare(scenario).groups(sample(scenario, range(30), total=30))
    together = engine.run_batch(group.model, group.release, device="cpu")
    for module in (deck, batch_module):
        monkeypatch.setattr(module, "many_at_once", lambda device: True)
    monkeypatch.setattr(batch_module, "GPU_DECKS", 2)
    monkeypatch.setattr(batch_module, "GPU_FEW", 0)
    apart = engine.Batch(group.model, group.release, device="cpu", slots=9, hands_over=False)
    assert apart.run().manoeuvres.tobytes() == together.manoeuvres.tobytes()
    assert dataclasses.asdict(apart.result()).keys() == dataclasses.asdict(together).keys()


@pytest.mark.parametrize(
    ("said", "changes"),
    [
        ("needs actuators", {"lander": {"wheel": []}}),
        ("at the top speed of its wheels the lander hops at",
         {"manoeuvre": [{"command": "hop", "speed": "9 m/s"}]}),
        ("each follows from the other",
         {"manoeuvre": [{"command": "hop", "speed": "1 cm/s", "distance": "1 m"}]}),
        ("manoeuvre.0.sun_above: waits for the Sun",
         {"manoeuvre": [{"command": "hop", "speed": "1 cm/s", "sun_above": "5 deg"}]}),
        ("on flat ground give place",
         {"manoeuvre": [{"command": "hop", "latitude": "5 deg", "longitude": "1 deg"}]}),
        ('does not go with command = "hop"',
         {"manoeuvre": [{"command": "hop", "speed": "1 cm/s", "level": 0.5}]}),
        ("has 1 entries for 2 wheels",
         {"manoeuvre": [{"command": "spin", "wheels": ["x", "y"], "speeds": ["9 rad/s"]}]}),
        ("wheel of manoeuvre 0",
         {"manoeuvre": [{"command": "spin", "wheels": ["w"], "speeds": ["9 rad/s"]}]}),
        ("its top speed is",
         {"manoeuvre": [{"command": "spin", "wheels": ["x"], "speeds": ["9000 rpm"]}]}),
        ("this scenario has no value under manoeuvre.gone.speed",
         {"dispersions": {"manoeuvre.gone.speed": {"kind": "normal", "sigma": "1 cm/s"}}}),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_a_sentence(cube_drop, said, changes):
    with pytest.raises(AlightError, match=said):
        built(cube_drop, changes)


def built(cube_drop, changes):
    rest = {name: value for name, value in changes.items() if name != "manoeuvre"}
    scenario = loads(text(cube_drop, *changes.get("manoeuvre", [GO]), **rest))
    return prepare(scenario).groups(sample(scenario, [0], total=1))[0].model
