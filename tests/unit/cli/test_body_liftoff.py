"""``alight body --liftoff``: maps of lift-off speed, and one clear line for every mistake."""

import json
import math

import pytest
from typer.testing import CliRunner

from alight.cli import body_liftoff, body_subject
from alight.cli.main import app
from alight.core.errors import AlightError, FileError
from alight.shapes import builtin, icosphere
from alight.views.figures.body import liftoff as view


def _invoke(*arguments):
    return CliRunner().invoke(app, ["body", *map(str, arguments), "--device", "cpu"])


@pytest.fixture(autouse=True)
def coarse(monkeypatch):
    """Few places and few pixels."""
    monkeypatch.setattr(body_liftoff, "ROWS", 13)
    monkeypatch.setattr(body_liftoff, "COLUMNS", 24)
    monkeypatch.setattr(body_subject, "PICTURE_FACETS", 20)
    monkeypatch.setattr(view, "PIXELS", 60)


def test_it_draws_and_tells(tmp_path):
    file = tmp_path / "lift.png"
    done = _invoke("ryugu", "--facets", 320, "--liftoff", "--figure", file, "--json")
    assert done.exit_code == 0, done.exception
    told = json.loads(done.stdout)
    assert file.read_bytes().startswith(b"\x89PNG")
    assert told["figures"] == [str(file)]
    assert told["degree"] == 22
    assert told["shortest_bump_m"] == pytest.approx(math.pi * 448.0 / 22.0, rel=0.01)
    # ridges are sharper than a sphere, and half of the ground is
    slow, fast = told["sphere_m_s"]
    assert [round(v, 3) for v in (slow, fast)] == [0.156, 0.361]
    assert (
        told["least_m_s"]["smallest"] < told["least_m_s"]["p10"] < told["least_m_s"]["p50"] < slow
    )
    assert told["east_m_s"]["p50"] < told["west_m_s"]["p50"]
    assert 0.0 < told["least_never_fraction"] < told["east_never_fraction"] < 0.5
    assert -90.0 <= told["slowest_at_deg"]["latitude"] <= 90.0


def test_it_goes_into_a_folder_and_prints(tmp_path):
    done = _invoke("ryugu", "--facets", 320, "--liftoff", "--figure", tmp_path)
    assert done.exit_code == 0, done.exception
    assert (tmp_path / "ryugu_liftoff.png").exists()
    for text in ("slowest anywhere", "cm/s", "going east", "15.6 to 36.1 cm/s", "64 m", "wrote"):
        assert text in done.stdout, text


def test_a_file_gets_a_fitted_surface(tmp_path):
    """162 vertices bear (162 / 2) terms: degree 8. A ball at rest is the same everywhere."""
    mesh = tmp_path / "ball.obj"
    icosphere(2, 100.0).save(mesh, unit="m")
    file = tmp_path / "ball.svg"
    done = _invoke(mesh, "--unit", "m", "--gm", 1e-2, "--liftoff", "--figure", file, "--json")
    assert done.exit_code == 0, done.exception
    told = json.loads(done.stdout)
    assert told["degree"] == 8
    # facets lie up to 2 % below the sphere, and the fit ripples by less
    assert told["least_m_s"]["p50"] == pytest.approx(1e-2, rel=0.05)
    assert told["fit_rms_m"] < 2.0
    assert told["least_never_fraction"] == 0.0
    assert told["east_m_s"] == told["west_m_s"]
    assert b"<svg" in file.read_bytes()[:500]
    shown = _invoke(mesh, "--unit", "m", "--gm", 1e-2, "--liftoff", "--figure", file).stdout
    assert "the same going north or south" in shown
    assert "west" in shown.split("east or ")[1][:5]


def test_bodies_and_options_that_cannot_be(tmp_path):
    done = _invoke("67p", "--facets", 320, "--liftoff", "--figure", tmp_path)
    assert isinstance(done.exception, AlightError)
    assert "--liftoff needs a smooth surface" in str(done.exception)
    assert "not star-shaped" in str(done.exception)
    mesh = tmp_path / "comet.obj"
    builtin.find("67p").mesh(1200).save(mesh, unit="m")
    done = _invoke(mesh, "--unit", "m", "--density", 500, "--liftoff", "--figure", tmp_path)
    assert "% of its surface cannot be seen" in str(done.exception)
    done = _invoke("ryugu", "--liftoff", "--rocks", "--figure", tmp_path)
    assert "ask for one" in str(done.exception)
    taken = tmp_path / "taken"
    taken.write_text("")
    done = _invoke("ryugu", "--facets", 80, "--liftoff", "--figure", taken / "deep")
    assert isinstance(done.exception, FileError)


def test_notes_on_what_must_not_be_overlooked(tmp_path):
    done = _invoke("didymos", "--facets", 320, "--liftoff", "--figure", tmp_path)
    assert "Net gravity points outward" in done.stdout
    done = _invoke("toutatis", "--facets", 320, "--liftoff", "--figure", tmp_path)
    assert "tumbles" in done.stdout
    done = _invoke("phobos", "--facets", 320, "--liftoff", "--figure", tmp_path)
    assert "tide of Mars" in done.stdout
