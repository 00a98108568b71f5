"""``alight body --rocks``: the rocks of a place, and one clear line for every mistake."""

import json
import math

import pytest
from typer.testing import CliRunner

from alight.cli import body_rocks, body_subject
from alight.cli.main import app
from alight.core.errors import AlightError
from alight.views.figures.body import local_world


def _invoke(*arguments):
    return CliRunner().invoke(app, ["body", *map(str, arguments)])


@pytest.fixture(autouse=True)
def coarse(monkeypatch):
    """Few rocks and few pixels."""
    monkeypatch.setattr(body_rocks, "FINEST", 1.0 / 40.0)
    monkeypatch.setattr(body_subject, "PICTURE_FACETS", 20)
    for name, value in {"CELLS": 40, "PIXELS": 200, "BODY_PIXELS": 60}.items():
        monkeypatch.setattr(local_world, name, value)


def _place(*more):
    return ("itokawa", "--facets", 1280, "--rocks", "--world", 30, "--device", "cpu", *more)


def test_it_draws_and_tells(tmp_path):
    file = tmp_path / "world.png"
    done = _invoke(*_place("--at", "5,30", "--seed", 2, "--figure", file, "--json"))
    assert done.exit_code == 0, done.exception
    told = json.loads(done.stdout)
    assert file.stat().st_size > 10_000
    assert told["figures"] == [str(file)]
    assert (told["latitude_deg"], told["longitude_deg"]) == (5.0, 30.0)
    assert told["smallest_m"] == 0.75
    # The number on a square of ground; the ground is larger than its plan by some.
    expected = told["density_per_m2"] * (5.0 / 0.75) ** 3.1 * 30.0**2
    assert abs(told["rocks"] - expected) < 5.0 * math.sqrt(expected) + 0.15 * expected
    again = _invoke(*_place("--at", "5,30", "--seed", 3, "--figure", file, "--json"))
    assert json.loads(again.stdout)["largest_m"] != told["largest_m"]


def test_it_goes_into_a_folder_and_prints(tmp_path):
    done = _invoke(*_place("--at=-20,200", "--figure", tmp_path))
    assert done.exit_code == 0, done.exception
    assert (tmp_path / "itokawa_rocks.png").exists()
    for text in ("latitude -20°", "30 m × 30 m", "3.1", "949 per km²", "wrote"):
        assert text in done.stdout


def test_a_body_without_a_count_says_so():
    from alight.cli.body_subject import find_subject

    site = body_rocks.parse_site("0,0", 20.0, 0)
    rocks, source = body_rocks.rocks_of(find_subject("toutatis", 320), site)
    assert "no count is known; as on Itokawa" in source
    assert rocks.law.slope == 3.1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("itokawa", "--at", "1,2"), "add --rocks"),
        (("itokawa", "--seed", 1), "add --rocks"),
        (("itokawa", "--rocks", "--at", "north"), "latitude and east longitude"),
        (("itokawa", "--rocks", "--at", "91,0"), "latitude and east longitude"),
        (("itokawa", "--rocks", "--at", "nan,0"), "latitude and east longitude"),
        (("itokawa", "--rocks", "--world", "0"), "--world"),
        (("itokawa", "--rocks", "--world", "nan"), "--world"),
        (("itokawa", "--rocks", "--world", "9000", "--facets", 320), "too large"),
    ],
)
def test_mistakes(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = _invoke(*arguments)
    assert isinstance(done.exception, AlightError), done.exception
    assert message in str(done.exception)
