"""Replay: a run of a stored campaign again has the bits of its row, and its whole history."""

import dataclasses
import json
import pathlib
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.unit.campaign.jobs.membrane_cases import CAPTURE, DROP
from typer.testing import CliRunner

import alight
from alight.campaign import open_campaign, run_campaign, run_or_resume
from alight.campaign.plan import PlanError
from alight.campaign.replay import stored_row
from alight.campaign.replayed_row import Difference, same_bits, unlike
from alight.campaign.shard_store import Shard, read_seal, runs_name, seal_name, write_shard
from alight.campaign.tables.arrow import to_bytes
from alight.cli.main import app
from alight.core.errors import AlightError, FileError, InputError
from alight.core.outcomes import Outcome
from alight.scenario import load, loads, toml_text

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "scenario"))  # tests are no package

from tree_case import TEXT as TREE

TREE_MORE = """
[dispersions]
"release.velocity" = { kind = "normal", sigma = "2 cm/s" }
"contact.friction" = { kind = "uniform", low = 0.1, high = 0.5 }
"lander.crushable.leg-1.force" = { kind = "choice", values = ["6 N", "9 N"] }
[campaign]
runs = 5
shard = 3
"""


def run(scenario, folder, **options):
    return run_campaign(scenario, out=folder, device="cpu", show="silent", **options).open()


def check_replayed(campaign, number, **options):
    """A replay has the bits of what is stored, and a history that begins and ends as it should."""
    made = campaign.replay(number, **options)
    assert made.identical, made.differences
    assert made.row.equals(stored_row(campaign, number))
    history = made.history
    assert set(history["run"].to_pylist()) == {number}
    time = history["time_s"].to_numpy()
    end = "end_time_s" if "end_time_s" in made.row.column_names else "end_s"
    assert (time[0], time[-1]) == (0.0, made.row[end][0].as_py())
    assert (np.diff(time) >= 0.0).all()
    assert len(time) == made.thinning.steps + 1
    return made


@pytest.mark.parametrize("sampling", ["random", "latin-hypercube", "sobol"])
def test_landings(scenario, tmp_path, sampling):
    campaign = run(scenario(runs=8, shard=3, sampling=sampling), tmp_path / "out")
    for number in (0, 4, 7):
        made = check_replayed(campaign, number)
        assert made.outcome is Outcome.SETTLED
        assert np.array_equal(made.solution.result.position[0], made.solution.position[-1])
        assert len(made.contacts) == made.row["bounces"][0].as_py() > 0


def test_a_sweep_that_is_repeated(cube_drop, tmp_path):
    swept = {
        "contact.friction": {"kind": "sweep", "values": [0.2, 0.6, 0.9]},
        "release.attitude": {"kind": "orientation"},
    }
    text = cube_drop(dispersions=None).replace("runs = 4", "repeats = 2")
    text += toml_text.dumps({"dispersions": swept})
    campaign = run(loads(text), tmp_path / "out")
    assert len(campaign) == 6
    for number in range(6):
        check_replayed(campaign, number)


def test_nothing_dispersed(scenario, tmp_path):
    campaign = run(scenario(runs=3, shard=2, dispersions=""), tmp_path / "out")
    assert check_replayed(campaign, 2).row["run"].to_pylist() == [2]


def test_a_history_that_was_kept_is_the_same(scenario, tmp_path):
    campaign = run(scenario(runs=4, shard=2, trajectories=[3]), tmp_path / "out")
    assert campaign.replay(3).history.equals(campaign.trajectory(3))


@pytest.mark.parametrize(("text", "numbers"), [(DROP, (0, 3)), (CAPTURE, (1, 4))])
def test_membranes_with_a_record_after_each_step(text, numbers, tmp_path):
    """Records at times end steps of their own, and would change bits."""
    campaign = run(loads(text), tmp_path / "out")
    for number in numbers:
        made = check_replayed(campaign, number)
        assert made.history.num_rows == made.row["steps"][0].as_py() + 1
        assert len(np.unique(np.diff(made.history["time_s"].to_numpy()))) > 2


def test_articulated_landers(tmp_path):
    campaign = run(loads(TREE + TREE_MORE), tmp_path / "out")
    for number in (0, 4):
        made = check_replayed(campaign, number)
        assert made.history["stroke_leg_1_m"][-1] == made.row["stroke_leg_1_m"][0]


def test_long_histories_are_thinned_as_asked(scenario, tmp_path):
    campaign = run(scenario(runs=2, shard=2), tmp_path / "out")
    made = campaign.replay(1, max_lines=200)
    assert made.identical
    assert made.history.num_rows <= 200 < made.thinning.steps
    assert "one in" in str(made)


def test_released_inside_the_ground(scenario, tmp_path):
    below = {"release.position": ["0 m", "0 m", "-0.5 m"]}
    campaign = run(scenario(runs=2, shard=2, values=below), tmp_path / "out")
    made = campaign.replay(1)
    assert made.identical
    assert made.outcome is Outcome.STARTED_INSIDE
    assert made.solution is None
    with pytest.raises(InputError, match="no history"):
        _ = made.history
    assert "run 1" in str(made).lower()


# -- studies -------------------------------------------------------------------------------------


def falling(**changes):
    """A study of the cube of the scenario of these tests."""
    model = alight.Model(
        alight.gravity.Uniform((0.0, 0.0, -5.7e-3)),
        alight.surfaces.Plane(),
        alight.RigidLander.cube(0.2, 1.0),
        alight.contact.Compliant(**{"restitution": 0.5, "friction": 0.6, **changes}),
        stop=alight.engine.Stop(max_time=150.0),
    )
    spread = {"release.velocity": alight.dispersions.normal(sigma=0.02)}
    return alight.Study(model, alight.Release((0.0, 0.0, 0.5)), dispersions=spread, runs=4, shard=2)


def test_a_study_is_replayed_with_the_study(tmp_path):
    campaign = run(falling(), tmp_path / "out")
    check_replayed(campaign, 3, scenario=falling())
    with pytest.raises(InputError, match=r"study made in Python.*replay\(run, study\)"):
        campaign.replay(3)
    with pytest.raises(PlanError, match=r"not what .* was made from: .*friction"):
        campaign.replay(3, falling(friction=0.7))
    with pytest.raises(PlanError, match="study made in Python"):
        campaign.replay(3, loads(DROP))


def test_a_study_with_a_function(tmp_path):
    def make(values):
        own = falling(friction=values["grip"])
        return own.model, own.release

    spread = {"grip": alight.dispersions.uniform(0.2, 0.8)}
    study = alight.Study(make, dispersions=spread, runs=3, shard=2)
    check_replayed(run(study, tmp_path / "out"), 2, scenario=study)


# -- what is not as it was -----------------------------------------------------------------------


def altered(folder, number, column, value):
    """Put another value into a stored row, and seal the shard again."""
    campaign = open_campaign(folder)
    shard = number // campaign.plan.shard
    seal = read_seal(folder / seal_name(shard))
    table = campaign.read().slice(shard * campaign.plan.shard, seal.runs)
    values = table[column].to_pylist()
    values[number - shard * campaign.plan.shard] = value
    place = table.column_names.index(column)
    field = table.schema.field(column)
    table = table.set_column(place, field, pa.array(values, field.type))
    files = {name: (folder / name).read_bytes() for name in seal.files}
    files[runs_name(shard)] = to_bytes(table)
    write_shard(folder, campaign.plan, Shard(shard, files, seal.contacts, seal.outcomes))
    return open_campaign(folder)


def test_a_value_that_differs_is_named_with_its_size(scenario, tmp_path):
    first = run(scenario(runs=4, shard=2), tmp_path / "out")
    time = first.read()["end_time_s"][3].as_py()
    campaign = altered(tmp_path / "out", 3, "end_time_s", time * (1.0 + 1e-4))
    made = campaign.replay(3)
    assert [one.column for one in made.differences] == ["end_time_s"]
    assert made.differences[0].relative == pytest.approx(1e-4, rel=1e-3)
    assert not made.identical
    assert "ends as stored: settled" in made.verdict()
    assert "and 1 by more" in made.verdict()
    assert campaign.replay(2).identical
    other = altered(tmp_path / "out", 3, "outcome_code", int(Outcome.ESCAPED)).replay(3)
    assert "ends differently: settled now, escaped as stored" in other.verdict()


def test_another_version_is_named(scenario, tmp_path, monkeypatch):
    with monkeypatch.context() as before:
        old = {"alight": "0.0.1", "warp-lang": "1.0"}
        before.setattr(run_or_resume, "versions_of", lambda given: old)
        run(scenario(runs=2, shard=2), tmp_path / "out")
    made = open_campaign(tmp_path / "out").replay(1)
    assert made.identical  # the code is in fact the same
    assert "version of alight: was" in made.notes[0]
    assert "0.0.1" in made.notes[0]


def test_a_campaign_of_a_gpu_on_a_cpu_says_so(scenario, tmp_path, monkeypatch):
    make_plan = run_or_resume.make_plan

    def on_gpu(*given):
        return dataclasses.replace(make_plan(*given), device="gpu")

    with monkeypatch.context() as before:
        before.setattr(run_or_resume, "make_plan", on_gpu)
        run(scenario(runs=2, shard=2), tmp_path / "out")
    made = open_campaign(tmp_path / "out").replay(1, device="cpu")
    assert "computed on a GPU and this run on a CPU" in made.notes[0]


def test_a_scenario_with_a_file_that_has_moved(cube_drop, tmp_path):
    """The plan has the path of a mesh: given the scenario with the new one, the run is the same."""
    alight.shapes.icosphere(1).save(tmp_path / "ball.obj", unit="m")
    text = cube_drop(release={"position": ["0 m", "0 m", "1.2 m"]})
    lander = 'shape = "mesh"\nmesh = "ball.obj"\nunit = "m"'
    text = text.replace('shape = "cube"\nside = "20 cm"', lander)
    (tmp_path / "ball.toml").write_text(text)
    campaign = run(load(tmp_path / "ball.toml"), tmp_path / "out")
    (tmp_path / "moved").mkdir()
    for name in ("ball.obj", "ball.toml"):
        (tmp_path / name).rename(tmp_path / "moved" / name)
    said = r"(?s)cannot be built here.*lander\.mesh: cannot read.*--scenario"
    with pytest.raises(InputError, match=said):
        campaign.replay(0)
    assert campaign.replay(0, tmp_path / "moved" / "ball.toml").identical


# -- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (20, "has runs 0 to 19"),
        (-1, "run"),
        (1.5, "run"),
        (True, "run"),
        ("three", "run"),
    ],
)
def test_runs_that_are_not_there(scenario, tmp_path, given, said):
    campaign = run(scenario(), tmp_path / "out", runs=20)
    with pytest.raises(AlightError, match=said):
        campaign.replay(given)


def test_a_run_that_is_not_computed_yet(scenario, tmp_path):
    run(scenario(runs=6, shard=3), tmp_path / "out")
    (tmp_path / "out" / seal_name(1)).unlink()
    campaign = open_campaign(tmp_path / "out")
    assert campaign.replay(2).identical
    with pytest.raises(InputError, match="3 of 6 runs are there"):
        campaign.replay(4)


def test_folders_that_are_no_campaign_or_damaged(scenario, tmp_path):
    command = CliRunner()
    found = command.invoke(app, ["replay", str(tmp_path), "0"])
    assert isinstance(found.exception, FileError)
    assert "not the folder of a campaign" in str(found.exception)
    run(scenario(runs=2, shard=2), tmp_path / "out")
    file = tmp_path / "out" / runs_name(0)
    file.write_bytes(file.read_bytes()[:-1])
    found = command.invoke(app, ["replay", str(tmp_path / "out"), "0"])
    assert "shard 0" in str(found.exception)
    assert "damaged" in str(found.exception)


# -- the command ---------------------------------------------------------------------------------


def test_the_command_tells_and_writes(scenario, tmp_path):
    campaign = run(scenario(runs=4, shard=2), tmp_path / "out")
    command = CliRunner()
    told = command.invoke(
        app, ["replay", str(campaign.folder), "3", "--out", str(tmp_path / "run.csv")]
    )
    assert told.exit_code == 0, told.exception
    assert "have the same bits as stored" in told.stdout
    lines = (tmp_path / "run.csv").read_text().splitlines()
    made = campaign.replay(3)
    assert len(lines) == made.history.num_rows + 1
    data = command.invoke(
        app, ["replay", str(campaign.folder), "3", "--json", "--out", str(tmp_path / "r.parquet")]
    )
    facts = json.loads(data.stdout)
    assert facts["identical"] is True
    assert facts["row"] == {
        name: None if value != value else value for name, value in made.row.to_pylist()[0].items()
    }
    assert facts["history_lines"] == len(lines) - 1
    assert pq.read_table(tmp_path / "r.parquet").equals(made.history)
    for place in ("run.txt", "absent/run.csv"):
        found = command.invoke(app, ["replay", str(campaign.folder), "3", "--out", place])
        assert isinstance(found.exception, AlightError)


# -- values --------------------------------------------------------------------------------------


def test_the_same_bits():
    assert same_bits(0.1, 0.1)
    assert same_bits(float("nan"), float("nan"))
    assert not same_bits(0.0, -0.0)
    assert not same_bits(1.0, np.nextafter(1.0, 2.0))
    assert not same_bits(None, 0.0)
    assert not same_bits(1, 1.0)


def test_columns_that_one_table_lacks_differ():
    one, other = pa.table({"a": [1.0], "b": [2.0]}), pa.table({"a": [1.0], "c": [None]})
    found = list(unlike("runs", one, other))
    assert found == [Difference("runs", "b", 2.0, None)]
    assert found[0].relative == np.inf


# -- all kinds -----------------------------------------------------------------------------------

#: What moves and what it meets: clipped springs, hulls by impulses, a sliding point, joints,
#: wheels that hop, captures, drops.
KINDS = (
    "ryugu_minerva",
    "itokawa_cube",
    "paper001_ryugu_drop",
    "paper002_dispersed",
    "minerva_hop_ryugu",
    "paper003_dispersed",
    "paper003_drop",
)


@pytest.mark.validate
@pytest.mark.parametrize("name", KINDS)
def test_a_hundred_runs_of_every_kind(name, tmp_path):
    """100 random runs of every kind of campaign give the bits of their row."""
    folder = pathlib.Path(alight.scenario.__file__).parent / "shipped"
    given = load(folder / f"{name}.toml").replaced({"campaign.runs": 1000, "campaign.shard": 100})
    chosen = np.random.default_rng(18).choice(100, 100, replace=False)
    campaign = run(given, tmp_path / "out", runs=100)
    for number in chosen:
        made = campaign.replay(int(number))
        assert made.identical, (number, made.differences)
