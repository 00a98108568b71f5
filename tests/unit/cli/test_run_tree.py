"""``alight run`` of an articulated lander: how it ends, and what it bears."""

import json
import pathlib
import sys

import pytest
from typer.testing import CliRunner

from alight.cli.main import app

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "scenario"))  # tests are no package

from tree_case import TEXT


@pytest.fixture
def file(tmp_path):
    """A scenario file."""
    place = tmp_path / "legs.toml"
    place.write_text(TEXT)
    return str(place)


def test_it_tells_the_loads(file):
    result = CliRunner().invoke(app, ["run", file])
    assert result.exit_code == 0
    assert result.output.startswith("Came to rest on the surface after")
    assert "stroke leg 2 [m]" in result.output
    assert "tilt [deg]" in result.output


def test_json_has_them_too(file):
    result = CliRunner().invoke(app, ["run", file, "--json"])
    found = json.loads(result.output)
    assert found["outcome"] == "settled"
    assert 0.01 < found["loads"]["stroke_leg_1_m"] < 0.15
    assert found["steps"] > 100
    assert len(found["attitude_xyzw"]) == 4
