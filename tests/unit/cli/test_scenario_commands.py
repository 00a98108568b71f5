"""``alight run``, ``campaign`` and ``scenario`` from the command line."""

import json
import subprocess
import sys

import pytest


@pytest.fixture
def scenario(tmp_path, cube_drop):
    file = tmp_path / "cube.toml"
    file.write_text(cube_drop(campaign={"runs": 6, "shard": 3}))
    return file


def alight(*arguments, folder=None):
    command = [sys.executable, "-m", "alight", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)


def test_run_tells_the_outcome_and_the_contacts(scenario):
    said = alight("run", scenario)
    assert said.returncode == 0, said.stderr
    assert "Came to rest" in said.stdout
    assert "force" in said.stdout


def test_run_as_json(scenario):
    facts = json.loads(alight("run", scenario, "--json").stdout)
    assert facts["outcome"] == "settled"
    assert facts["contacts"][0]["normal_speed_in_m_s"] == pytest.approx(-0.0675, rel=0.02)


def test_campaign_runs_and_goes_on(scenario, tmp_path):
    first = alight("campaign", scenario, "--out", tmp_path / "out", "--json")
    assert first.returncode == 0, first.stderr
    assert json.loads(first.stdout)["outcomes"] == {"settled": 6}
    again = alight("campaign", scenario, "--out", tmp_path / "out", "--runs", 9, "--json")
    assert json.loads(again.stdout)["runs"] == 9


def test_a_campaign_ends_with_its_verdicts(scenario, tmp_path):
    asked = """
[[requirement]]
kind = "below"
column = "peak_force"
value = "1 kN"
share = 0.3

[[requirement]]
name = "no escape"
kind = "outcome"
outcome = "escaped"
at_most = 0.01
"""
    alight("campaign", scenario, "--out", tmp_path / "out", "--json")
    scenario.write_text(scenario.read_text() + asked)  # what is asked may be added later
    said = alight("campaign", scenario, "--out", tmp_path / "out")
    assert said.returncode == 0, said.stderr
    assert "  pass: peak_force_N below 1 kN in at least 30 % of runs: 6 of 6 runs" in said.stdout
    assert "not yet decided: no escape" in said.stdout
    # None of n: 0.99^n < 0.05 from 299 on, as handbooks have it.
    assert "about 293 more runs would decide" in said.stdout
    facts = json.loads(alight("campaign", scenario, "--out", tmp_path / "out", "--json").stdout)[
        "requirements"
    ]
    assert [(one["name"], one["verdict"], one["more_runs"]) for one in facts] == [
        ("peak_force_N below 1 kN in at least 30 % of runs", "pass", 0),
        ("no escape", "not yet decided", 293),
    ]


def test_check_tells_where_it_starts_and_what_it_costs(scenario, cube_drop):
    facts = json.loads(alight("scenario", "check", scenario, "--json").stdout)
    assert facts[0]["fine"]
    assert facts[0]["runs"] == 6
    scenario.write_text(cube_drop(release={"position": ["0 m", "0 m", "1 cm"]}))
    said = alight("scenario", "check", scenario)
    assert said.returncode == 2
    assert "release.position: the lander is released 0.09 m inside the ground" in said.stderr


def test_a_mistake_is_told_without_a_traceback(scenario, cube_drop):
    scenario.write_text(cube_drop(contact={"fricton": 0.6}))
    for command in (("run", scenario), ("scenario", "check", scenario)):
        said = alight(*command)
        assert said.returncode == 2
        assert "contact.fricton" in said.stderr
        assert "friction" in said.stderr
        assert "Traceback" not in said.stderr


@pytest.mark.validate
def test_scenarios_are_listed_begun_and_described(tmp_path):
    names = [s["name"] for s in json.loads(alight("scenario", "list", "--json").stdout)]
    assert "ryugu_minerva" in names
    begun = alight("scenario", "new", "mine.toml", "--like", "mascot_ryugu", folder=tmp_path)
    assert begun.returncode == 0, begun.stderr
    assert alight("scenario", "check", tmp_path / "mine.toml").returncode == 0
    refused = alight("scenario", "new", "mine.toml", folder=tmp_path)
    assert refused.returncode == 2
    assert "not overwritten" in refused.stderr
    unknown = alight("scenario", "new", "other.toml", "--like", "mascott_ryugu", folder=tmp_path)
    assert "mascot_ryugu" in unknown.stderr
    assert json.loads(alight("scenario", "schema").stdout)["type"] == "object"
