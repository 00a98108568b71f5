"""``alight run`` of an articulated lander: how it ends, and what it bears."""

import json
import pathlib
import sys

import pytest
from typer.testing import CliRunner

from alight.cli.main import app

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "scenario"))  # tests are no package

from tree_case import TEXT

#: A bus on three feet, with a thruster that lifts it a second long, twice, each time after rest.
HOPPER = """
[gravity]
law = "uniform"
acceleration = ["0 m/s^2", "0 m/s^2", "-0.02 m/s^2"]

[ground]
kind = "plane"

[release]
position = ["0 m", "0 m", "0.21 m"]

[contact]
law = "hertz"
stiffness = "2e4 N/m^1.5"
damping = "100 N*s/m"
friction = 0.3

[stop]
max_time = "1000 s"
settle_time = "5 s"

[lander]
shape = "tree"
body = [{ name = "bus", mass = "10 kg", inertia = ["1 kg*m^2", "1 kg*m^2", "1 kg*m^2"] }]
joint = [{ body = "bus", kind = "free" }]
pad = [
  { body = "bus", name = "a", place = ["0.5 m", "0 m", "-0.2 m"] },
  { body = "bus", name = "b", place = ["-0.25 m", "0.4 m", "-0.2 m"] },
  { body = "bus", name = "c", place = ["-0.25 m", "-0.4 m", "-0.2 m"] },
]

[[lander.thruster]]
body = "bus"
place = ["0 m", "0 m", "0 m"]
direction = [0, 0, 1]
force = "0.8 N"
after = "rest"
times = ["100 s", "101 s"]
levels = [1, 0]
repeats = 2
"""


@pytest.fixture
def file(tmp_path):
    """A scenario file."""
    place = tmp_path / "legs.toml"
    place.write_text(TEXT)
    return str(place)


def test_it_tells_the_loads(file):
    result = CliRunner().invoke(app, ["run", file])
    assert result.exit_code == 0
    assert result.stdout.startswith("Came to rest on the surface after")
    assert "stroke leg 2 [m]" in result.output
    assert "tilt [deg]" in result.output


def test_json_has_them_too(file):
    result = CliRunner().invoke(app, ["run", file, "--json"])
    found = json.loads(result.output)
    assert found["outcome"] == "settled"
    assert 0.01 < found["loads"]["stroke_leg_1_m"] < 0.15
    assert found["steps"] > 100
    assert len(found["attitude_xyzw"]) == 4


def test_it_hops_after_rest_and_rests_again(tmp_path):
    """Twice 100 s of rest, a second of thrust, and a flight at 0.06 m/s up: 6 s and more."""
    ends = {}
    for repeats in (1, 2):
        place = tmp_path / f"hopper_{repeats}.toml"
        place.write_text(HOPPER.replace("repeats = 2", f"repeats = {repeats}"))
        result = CliRunner().invoke(app, ["run", str(place), "--json"])
        assert result.exit_code == 0, result.output
        found = json.loads(result.output)
        assert found["outcome"] == "settled"
        ends[repeats] = found["time_s"]
    assert 107.0 < ends[1] < 150.0
    assert ends[2] - ends[1] > 107.0
