"""``alight.export`` and ``alight export``: campaigns, scenarios, articulated landers, captures."""

import json
import pathlib
import sys

import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import alight
from alight.cli.main import app
from alight.core.errors import AlightError, InputError, MissingExtraError
from alight.scenario import from_dict, loads
from alight.views.exports.formats import FORMATS

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "scenario"))  # tests are no package

from tree_case import TEXT

CAPTURE = """
kind = "capture"
title = "a pear"
[asteroid]
length = "8 m"
facets = 80
mass = "500 t"
spin = "0.5 rpm"
[stop]
duration = "13 s"
"""
ALL = ",".join(FORMATS)


@pytest.fixture(scope="session")
def campaign(cube_drop, tmp_path_factory):
    """Four cubes on a plane; the course of run 1 was kept."""
    place = tmp_path_factory.mktemp("exported")
    scenario = loads(cube_drop(record={"trajectories": [1]}), source="a test")
    alight.run_campaign(scenario, out=place / "campaign", device="cpu")
    return place / "campaign"


def test_every_format_of_a_campaign(campaign, tmp_path):
    pytest.importorskip("pxr", reason="usd-core is not installed")
    made = alight.export(campaign, ALL, tmp_path)
    assert list(made.files) == list(FORMATS)
    for name, files in made.files.items():
        assert files
        endings = {path.suffix for path in files}
        assert endings <= {*FORMATS[name].endings, *(FORMATS["spice"].endings)}
        assert all(path.stat().st_size > 0 for path in files)
    told = json.loads((tmp_path / "export.json").read_text())
    assert told["epoch_tdb"] == "2000-01-01T12:00:00.000000"
    assert "no date" in told["epoch"]
    assert told["frames"]["spice"] == "inertial"
    assert told["frames"]["vtk"] == "fixed"


def test_tables_are_those_of_the_campaign(campaign, tmp_path):
    alight.export(campaign, ["csv", "parquet"], tmp_path)
    stored = alight.open_campaign(campaign)
    runs = pq.read_table(tmp_path / "parquet" / "runs.parquet")
    assert runs.equals(stored.read())
    assert b"alight.note_0" in runs.schema.metadata
    assert runs.schema.field("end_time_s").metadata[b"unit"] == b"s"
    text = pyarrow.csv.read_csv(tmp_path / "csv" / "runs.csv")
    assert text["end_x_m"].to_pylist() == stored.read()["end_x_m"].to_pylist()
    course = pq.read_table(tmp_path / "parquet" / "trajectory_1.parquet")
    assert course.equals(stored.trajectory(1))
    units = pyarrow.csv.read_csv(tmp_path / "csv" / "columns.csv").to_pylist()
    assert {"table": "runs", "column": "end_x_m", "unit": "m", "type": "double"} in units


def test_runs_that_were_not_kept_are_computed_again(campaign, tmp_path):
    made = alight.export(campaign, "csv,ccsds", tmp_path, runs=[3])
    text = pyarrow.csv.read_csv(tmp_path / "csv" / "trajectory_3.csv")
    row = alight.open_campaign(campaign).read().slice(3, 1).to_pylist()[0]
    assert text["x_m"].to_pylist()[-1] == row["end_x_m"]
    assert {path.name for path in made.files["ccsds"]} == {"run_3.oem", "run_3.aem"}


def test_a_replay_is_exported_too(campaign, tmp_path):
    again = alight.open_campaign(campaign).replay(2)
    made = alight.export(again, "parquet,ccsds", tmp_path)
    assert (tmp_path / "parquet" / "trajectory_2.parquet").is_file()
    assert made.files["ccsds"][0].name == "run_2.oem"


def test_releases_from_what_was_exported(tmp_path):
    """A lander let go from the first state of a message, or of a kernel, is where it was."""
    pytest.importorskip("spiceypy")
    table = {
        "body": {
            "gm": "10 m^3/s^2",
            "rotation": {"period": "2 h", "pole": ["40 deg", "-60 deg"], "meridian": "30 deg"},
        },
        "gravity": {"law": "point-mass"},
        "ground": {"kind": "sphere", "radius": "200 m"},
        "lander": {"shape": "cube", "side": "20 cm", "mass": "1 kg"},
        "release": {"latitude": "20 deg", "longitude": "40 deg", "height": "5 m"},
        "contact": {"restitution": 0.5},
        "stop": {"max_time": "60 s"},
    }
    date = "2018-10-03T01:57:20"
    first = alight.simulate(from_dict(table, "a test"), device="cpu")
    alight.export(first, "ccsds,spice", tmp_path, epoch=date)
    spk = {
        "file": str(tmp_path / "spice" / "target.bsp"),
        "spice_target": "-1000000",
        "spice_center": "999000001",
        "date": date,
    }
    oem = {"file": str(tmp_path / "ccsds" / "run_0.oem")}
    for keys in (spk, oem):
        release = {"kind": "states", **keys}
        again = alight.simulate(from_dict({**table, "release": release}, "a test"), device="cpu")
        assert again.position[0] == pytest.approx(first.position[0], rel=1e-12, abs=1e-9)
        assert again.velocity[0] == pytest.approx(first.velocity[0], abs=1e-11)
        assert again.position[-1] == pytest.approx(first.position[-1], abs=1e-6)


@pytest.mark.validate  # a kernel of its own
def test_an_articulated_lander(tmp_path):
    """Each part has its own file, where its body is."""
    pytest.importorskip("spiceypy")
    solution = alight.simulate(loads(TEXT, source="a test"), device="cpu")
    made = alight.export(solution, "ccsds,vtk,gltf,spice,csv", tmp_path, frames=3)
    shown = alight.playback(solution)
    assert len(shown.parts) > 4
    assert len(made.files["ccsds"]) == 2 * len(shown.parts)
    import spiceypy as spice

    kernels = [str(p) for p in made.files["spice"] if p.suffix != ".tm"]
    with spice.KernelPool(kernels):
        for k in (0, len(shown.parts) - 1):
            for line in (0, len(solution.time) // 2, -1):
                t = float(solution.time[line])
                found = spice.spkezr(str(-1000000 - k), t, "J2000", "NONE", "999000001")[0]
                right = shown.tracks[0].at([t])[0][0, k]
                assert 1e3 * found[:3] == pytest.approx(right, abs=1e-3)


@pytest.mark.validate  # a kernel of its own
def test_a_capture(tmp_path):
    """Asteroid, craft, arrays and the membrane; inertial axes."""
    flight = alight.simulate(loads(CAPTURE, source="a test"), device="cpu")
    made = alight.export(flight, "gltf,vtk,ccsds,parquet", tmp_path, frames=3)
    told = json.loads((tmp_path / "export.json").read_text())
    assert told["files"]["gltf"] == ["gltf/runs.glb"]
    text = made.files["ccsds"][0].read_text()
    assert "Axes: inertial, as the scenario has them" in text
    rows = [line.split() for line in text.splitlines() if line.startswith("2000")]
    end = 1e3 * np.array(rows[-1][1:4], float)
    assert end == pytest.approx(flight.position[0, int(flight.records[0]) - 1], abs=1e-6)


def test_a_run_that_failed_is_exported_up_to_there(campaign):
    from dataclasses import replace

    from alight.staging.export_subject import _finite

    track = alight.playback(campaign).tracks[0]
    assert _finite(track) is track
    broken = track.position.copy()
    broken[7:] = np.nan
    assert _finite(replace(track, position=broken)).time.tolist() == track.time[:7].tolist()


# -- mistakes --------------------------------------------------------------------------------------


def test_mistakes_are_told_before_anything_is_written(campaign, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(InputError, match='Did you mean "vtk"'):
        alight.export(campaign, "csv,vkt", out)
    with pytest.raises(InputError, match="fixed in the body, not in frame"):
        alight.export(campaign, "vtk", out, frame="inertial")
    with pytest.raises(InputError, match='unknown frame "icrf"'):
        alight.export(campaign, "spice", out, frame="icrf")
    with pytest.raises(InputError, match="run 4 is asked for"):
        alight.export(campaign, "ccsds", out, runs=[4])
    with pytest.raises(InputError, match="is no date"):
        alight.export(campaign, "ccsds", out, epoch="soon")
    (tmp_path / "file").write_text("")
    with pytest.raises(AlightError, match="cannot be made a folder"):
        alight.export(campaign, "csv", tmp_path / "file")


def test_trajectories_that_nobody_kept(cube_drop, tmp_path):
    scenario = loads(cube_drop(), source="a test")
    alight.run_campaign(scenario, out=tmp_path / "c", device="cpu")
    with pytest.raises(InputError, match="no kept trajectories, and spice need some"):
        alight.export(tmp_path / "c", "csv,spice", tmp_path / "out")
    made = alight.export(tmp_path / "c", "csv,gltf,vtk", tmp_path / "out", frames=2)
    assert (tmp_path / "out" / "vtk" / "rest_sites.vtp").is_file()
    assert [path.name for path in made.files["csv"]] == ["runs.csv", "contacts.csv", "columns.csv"]


def test_a_missing_extra_is_one_line(campaign, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pxr", None)
    with pytest.raises(MissingExtraError, match=r'pip install "alight\[usd\]"') as caught:
        alight.export(campaign, "usd", tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


# -- the command -----------------------------------------------------------------------------------


def test_the_command(campaign, tmp_path):
    words = ["export", str(campaign), "--to", "csv,vtk", "--out", str(tmp_path / "out"), "--json"]
    done = CliRunner().invoke(app, [*words, "--runs", "0-1", "--frames", "3"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert [pathlib.Path(name).name for name in told["files"]["csv"]] == [
        "runs.csv", "contacts.csv", "trajectory_0.csv", "trajectory_1.csv", "columns.csv"
    ]  # fmt: skip
    assert any("J2000" in note for note in told["notes"])


def test_the_list_and_mistakes_of_the_command(campaign, tmp_path):
    done = CliRunner().invoke(app, ["export", "--list"])
    assert all(name in done.stdout for name in FORMATS)
    for words, said in (
        (["export"], "what is missing"),
        (["export", str(campaign)], "--to FORMATS is missing"),
        (["export", str(campaign), "--to", "csv"], "--out FOLDER is missing"),
        (["export", str(campaign), "--to", "csv", "--out", "o", "--runs", "a"], "--runs"),
        (["export", str(campaign), "--to", "csv", "--out", "o", "--runs", "1-99999"], "10 000"),
    ):
        done = CliRunner().invoke(app, words)
        assert isinstance(done.exception, InputError)
        assert said in str(done.exception)
