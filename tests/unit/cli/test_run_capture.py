"""``alight run``, ``scenario`` and ``campaign`` of captures and drops."""

import json

import pytest
from typer.testing import CliRunner

from alight.cli.main import app
from alight.core.errors import AlightError

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
[dispersions]
"asteroid.spin" = { kind = "uniform", low = "0.1 rpm", high = "0.5 rpm" }
"""
DROP = """
kind = "drop"
[body]
length = "3 m"
facets = 80
mass = "100 kg"
[membrane]
side = "7.5 m"
stiffness = "30 N/m^3"
[release]
height = "3 m"
[gravity]
acceleration = ["0 m/s^2", "0 m/s^2", "-9.80665 m/s^2"]
[stop]
duration = "1 s"
"""


@pytest.fixture
def file(tmp_path):
    """``file(text)``: the name of a file with that text."""

    def make(text):
        place = tmp_path / "case.toml"
        place.write_text(text)
        return str(place)

    return make


def call(*words):
    return CliRunner().invoke(app, list(words))


def test_a_capture_is_told(file):
    result = call("run", file(CAPTURE))
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("In contact, and at rest against the asteroid after 13 s.")
    for word in ("first contact", "1765 N m kept", "propellant", "90: flat spin", "never"):
        assert word in result.output


def test_a_capture_as_json(file):
    found = json.loads(call("run", file(CAPTURE), "--json").output)
    assert found["outcome"] == "at_rest"  # 3 s of contact tell nothing of what comes later
    assert found["lost_s"] is None
    assert found["success"] is True
    assert found["margin"] > 1.0
    assert "run" not in found


def test_a_drop_is_told(file):
    result = call("run", file(DROP))
    assert "Reached the end of the simulated time after 1 s." in result.output
    assert "max tension" in result.output
    found = json.loads(call("run", file(DROP), "--json").output)
    assert found["outcome"] == "timed_out"
    assert found["release_s"] is None


def test_check_and_schema_know_captures(file):
    assert ": OK (a pear)\n" in call("scenario", "check", file(CAPTURE)).output
    wrong = call("scenario", "check", file(CAPTURE.replace("8 m", "8 kg")))
    assert wrong.exit_code == 2
    made = json.loads(call("scenario", "schema", "--kind", "capture").output)
    assert "asteroid" in made["properties"]


def test_a_campaign_of_captures(file, tmp_path):
    out = str(tmp_path / "out")
    words = ("campaign", file(CAPTURE), "--runs", "3", "--out", out, "--device", "cpu", "--json")
    found = json.loads(call(*words).output)
    assert found["outcomes"] == {"at_rest": 3}


def test_a_mistake_is_one_line_without_a_traceback(file):
    result = call("run", file(DROP.replace('height = "3 m"', 'height = "0.2 m"')))
    assert isinstance(result.exception, AlightError)
    said = str(result.exception)
    assert "case.toml: release: the body of run 0 starts through the membrane" in said
    assert "\n" not in said
