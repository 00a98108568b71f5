"""The words of ``alight film``."""

import json

import pytest
from typer.testing import CliRunner

from alight.cli.film import run_numbers, size_of
from alight.cli.main import app
from alight.core.errors import InputError


@pytest.mark.parametrize(
    ("text", "runs"), [("17", [17]), ("1,5, 9", [1, 5, 9]), ("0-3,2,7", [0, 1, 2, 3, 7])]
)
def test_lists_of_runs(text, runs):
    assert run_numbers(text) == runs


@pytest.mark.parametrize("text", ["", "a", "1,,2", "-3", "5-2", "0-999", "1.5"])
def test_no_lists_of_runs(text):
    with pytest.raises(InputError, match="--runs"):
        run_numbers(text)


def test_sizes():
    assert size_of("1280x720") == size_of("1280 X 720") == (1280, 720)
    for text in ("1280", "x720", "-1x5", "wide"):
        with pytest.raises(InputError, match="1280x720"):
            size_of(text)


def test_unknown_ending_is_refused_before_anything_runs(tmp_path):
    found = CliRunner().invoke(app, ["film", "ryugu_minerva", "--out", str(tmp_path / "a.avi")])
    assert isinstance(found.exception, InputError)
    assert "must end in" in str(found.exception)


def test_a_short_film_from_the_command_line(tmp_path):
    """A cube on a plane, from a file to a gif."""
    scenario = tmp_path / "drop.toml"
    scenario.write_text(
        'title = "A cube on a plane"\n'
        '[body.rotation]\nkind = "none"\n'
        '[gravity]\nlaw = "uniform"\n'
        'acceleration = ["0 m/s^2", "0 m/s^2", "-5.7e-3 m/s^2"]\n'
        '[ground]\nkind = "plane"\n'
        '[lander]\nshape = "cube"\nside = "20 cm"\nmass = "1 kg"\n'
        '[release]\nposition = ["0 m", "0 m", "20 cm"]\n'
        "[contact]\nrestitution = 0.3\n"
        '[stop]\nmax_time = "100 s"\n'
    )
    out = tmp_path / "drop.gif"
    words = ["film", str(scenario), "--out", str(out), "--size", "64x36", "--fps", "4"]
    found = CliRunner().invoke(app, [*words, "--seconds", "1", "--device", "cpu", "--json"])
    assert found.exception is None, found.output
    told = json.loads(found.stdout)
    assert (told["frames"], told["size"], told["camera"]) == (4, [64, 36], "follow")
    assert out.stat().st_size > 500
