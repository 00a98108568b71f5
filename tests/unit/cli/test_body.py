"""``alight body``: tables, JSON, figures, and one clear line for every mistake."""

import json
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from alight.analysis import surface as sf
from alight.cli import body as command
from alight.cli.body_subject import find_subject, parse_time
from alight.cli.main import app
from alight.core.constants import G
from alight.core.errors import AlightError, DeviceError, FileError, InputError
from alight.gravity.polyhedron.field import Polyhedron
from alight.scenario import bodies
from alight.shapes import icosphere
from alight.views.figures.body import sheet


def _invoke(*arguments):
    return CliRunner().invoke(app, ["body", *map(str, arguments)])


def _json(*arguments):
    done = _invoke(*arguments, "--json")
    assert done.exit_code == 0, done.exception
    return json.loads(done.stdout)


def _mistake(*arguments):
    """The error that a call ends with; anything but an AlightError would be a traceback."""
    done = _invoke(*arguments)
    assert isinstance(done.exception, AlightError), done.exception or done.stdout
    return done.exception


@pytest.fixture
def ball(tmp_path):
    """A mesh file of a sphere of 100 m in kilometres, off centre."""
    file = tmp_path / "ball.obj"
    icosphere(2, 100.0).translated([3.0, 0.0, -1.0]).save(file, unit="km")
    return file


# -- what it says -----------------------------------------------------------------------------


def test_table_has_every_quantity():
    done = _invoke("ryugu", "--facets", 320)
    assert done.exit_code == 0
    for text in (
        "162173 Ryugu", "extent", "volume", "GM", "density", "7.63262 h", "RA 96.431",
        "synchronous", "Hill radius", "60.9 km", "effective gravity", "µm/s²", "slope",
        "escape speed", "cm/s", "lift-off, going east", "lift-off, going west",
        "steeper than 30°", "net gravity outward",
        "320, 162", "smallest angle", "14 of 14 checks pass", "Sources", "Watanabe",
    ):  # fmt: skip
        assert text in done.stdout, text


def test_json_agrees_with_the_library():
    told = _json("ryugu", "--facets", 320)
    body = bodies.find("ryugu")
    mesh = body.mesh(320)
    found = sf.examine(mesh, Polyhedron(mesh, gm=body.gm), body.gm, body.spin_vector)
    ranges = found.ranges()
    surface = told["surface"]
    assert surface["effective_gravity_m_s2"]["mean"] == ranges["effective_gravity"].mean
    assert surface["slope_deg"]["most"] == pytest.approx(
        np.degrees(ranges["slope"].most), rel=1e-14
    )
    assert surface["escape_speed_m_s"]["least"] == ranges["escape_speed"].least
    assert told["gm_m3_s2"] == body.gm
    assert told["density_kg_m3"] == pytest.approx(body.gm / (G * mesh.volume), rel=1e-14)
    assert told["period_s"] == pytest.approx(7.63262 * 3600.0, rel=1e-12)
    assert told["hill_radius_m"] == pytest.approx(body.hill_radius, rel=1e-14)
    assert told["mesh"]["facets"] == 320
    assert told["mesh"]["solid"] is True
    assert told["figures"] == []
    assert told["warnings"] == []
    assert "gm" in told["sources"]


def test_what_if_mass_and_spin():
    told = _json("ryugu", "--facets", 320, "--density", 2380, "--period", "275 min")
    plain = _json("ryugu", "--facets", 320)
    assert told["density_kg_m3"] == pytest.approx(2380.0, rel=1e-13)
    assert told["period_s"] == pytest.approx(16500.0, rel=1e-13)
    ratio = told["gm_m3_s2"] / plain["gm_m3_s2"]
    assert told["hill_radius_m"] / plain["hill_radius_m"] == pytest.approx(
        np.cbrt(ratio), rel=1e-12
    )


def test_warnings():
    assert any("outward" in w for w in _json("didymos")["warnings"])
    assert any("Tumbles" in w for w in _json("toutatis", "--facets", 80)["warnings"])
    assert any("tide of Mars" in w for w in _json("phobos", "--facets", 80)["warnings"])
    assert any(
        "check --unit" in w for w in _json("ryugu", "--facets", 80, "--gm", 1e-3)["warnings"]
    )
    told = _json("toutatis", "--facets", 80)
    assert told["period_s"] is None
    assert "tumbles: 5.41 d" in _invoke("toutatis", "--facets", 80).stdout


def test_own_file(ball):
    told = _json(ball, "--unit", "km", "--density", 2000, "--period", "5 h")
    mesh = icosphere(2, 100.0)
    assert told["gm_m3_s2"] == pytest.approx(G * 2000.0 * mesh.volume, rel=1e-12)
    assert told["extent_m"] == pytest.approx(mesh.extent, rel=1e-12)
    assert told["mesh"]["center_of_mass_in_file_m"] == pytest.approx([3.0, 0.0, -1.0], rel=1e-9)
    assert told["hill_radius_m"] is None
    assert told["spin_rad_s"] == pytest.approx([0.0, 0.0, 2.0 * np.pi / 18000.0], rel=1e-13)
    moved = find_subject(str(ball), unit="km", density=2000.0).mesh
    assert np.abs(moved.center_of_mass).max() < 1e-9
    shown = _invoke(ball, "--unit", "km", "--density", 2000, "--period", "5 h").stdout
    assert "3, " in shown
    assert "moved to the origin" in shown


def test_file_without_period_does_not_turn(ball):
    told = _json(ball, "--unit", "km", "--gm", 0.5)
    assert told["spin_rad_s"] == [0.0, 0.0, 0.0]
    assert told["synchronous_radius_m"] is None
    shown = _invoke(ball, "--unit", "km", "--gm", 0.5).stdout
    assert "does not rotate" in shown
    assert "going west" not in shown


def test_file_is_simplified_on_demand(ball):
    told = _json(ball, "--unit", "km", "--gm", 0.5, "--facets", 100)
    assert told["mesh"]["facets"] <= 102
    kept = _json(ball, "--unit", "km", "--gm", 0.5, "--facets", 10_000)
    assert kept["mesh"]["facets"] == 320


def test_repair(tmp_path):
    sphere = icosphere(2, 100.0)
    file = tmp_path / "flipped.obj"
    faces = np.array(sphere.faces)
    faces[:7] = faces[:7, ::-1]
    lines = [f"v {x} {y} {z}" for x, y, z in sphere.vertices]
    lines += [f"f {a} {b} {c}" for a, b, c in faces + 1]
    file.write_text("\n".join(lines))
    error = _mistake(file, "--unit", "m", "--gm", 0.5)
    assert "7 facets wind against" in str(error)
    assert "--repair fixes this" in str(error)
    told = _json(file, "--unit", "m", "--gm", 0.5, "--repair")
    assert told["mesh"]["repairs"]


def test_list():
    done = _invoke("--list")
    assert done.exit_code == 0
    for name in bodies.names():
        assert name in done.stdout
    rows = json.loads(_invoke("--list", "--json").stdout)
    assert [row["name"] for row in rows] == list(bodies.names())


# -- figures ----------------------------------------------------------------------------------


@pytest.fixture
def small_pictures(monkeypatch):
    monkeypatch.setattr(sheet, "PIXELS", 80)
    monkeypatch.setattr(sheet, "PORTRAIT_PIXELS", 100)
    monkeypatch.setattr("alight.cli.body_subject.PICTURE_FACETS", 0)


def test_figures_into_a_folder(tmp_path, small_pictures):
    done = _invoke("ryugu", "--facets", 80, "--figure", tmp_path / "new" / "demo")
    assert done.exit_code == 0, done.exception
    names = {p.name for p in (tmp_path / "new" / "demo").iterdir()}
    assert names == {"ryugu.png", "ryugu.svg", "ryugu_solid.png"}
    for name in names:
        assert str(tmp_path / "new" / "demo" / name) in done.stdout.replace("\n", "")


def test_figure_into_a_file(tmp_path, ball, small_pictures):
    file = tmp_path / "x.svg"
    told = _json(ball, "--unit", "km", "--gm", 0.5, "--figure", file)
    assert told["figures"] == [str(file)]
    assert file.read_text().startswith("<?xml")
    assert {p.name for p in tmp_path.iterdir()} == {"x.svg", "ball.obj"}


@pytest.mark.parametrize("arguments", [["--figure"], ["--figure", "--json"]])
def test_figure_without_a_place(arguments, monkeypatch):
    seen = []
    monkeypatch.setattr(command, "make_folder", seen.append)
    monkeypatch.setattr(command, "_draw", lambda *given: [])
    assert _invoke("ryugu", "--facets", 80, *arguments).exit_code == 0
    assert [str(p) for p in seen] == [command.FIGURES]


# -- mistakes ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "kind", "told"),
    [
        ([], InputError, ["no body given", "alight body ryugu"]),
        (["ryugo"], InputError, ['Did you mean "Ryugu"?', "Castalia", "./ryugo.obj"]),
        (["nowhere.obj"], FileError, ['no file "nowhere.obj"', "alight body --list"]),
        (["no/such/place"], FileError, ['no file "no/such/place"']),
        (["."], FileError, ["is a folder"]),
        (["ryugu", "--unit", "km"], InputError, ["--unit is for mesh files", "./ryugu"]),
        (["ryugu", "--repair"], InputError, ["--repair is for mesh files"]),
        (["ryugu", "--gm", 1, "--density", 2], InputError, ["both given", "leave one out"]),
        (["ryugu", "--gm", -1], InputError, ["--gm: found -1.0", "at least 1e-12", "--gm 30"]),
        (["ryugu", "--density", "nan"], InputError, ["--density: found nan", "--density 1190"]),
        (["ryugu", "--period", "7.6"], InputError, ["without a unit", '--period "7.63 h"']),
        (["ryugu", "--device", "cuda:99"], DeviceError, ["cuda:99", "cpu"]),
        (["ryugu", "--figure", "x.jpg"], InputError, ["x.jpg", ".png, .svg or .pdf"]),
        (["ryugu", "--figure", "/dev/null/x"], FileError, ["cannot write", "/dev/null/x"]),
    ],
)
def test_mistakes(arguments, kind, told):
    error = _mistake(*arguments)
    assert isinstance(error, kind)
    for text in told:
        assert text in str(error)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "add --unit km"),
        (["--unit", "km"], "add --density 1190"),
        (["--unit", "kilometre", "--gm", 1], 'Did you mean "km"'),
        (["--unit", "mm", "--gm", 1], "read with --unit mm is 0.0003464 m across"),
        (["--unit", "cm", "--gm", 1], "--unit km"),
    ],
)
def test_mistakes_with_a_file(ball, options, told):
    assert told in str(_mistake(ball, *options))


def test_misspelt_file_is_suggested(ball):
    assert 'Did you mean "ball.obj"?' in str(_mistake(ball.with_name("bal.obj")))


def test_file_wins_only_where_the_catalogue_has_no_such_name(ball, monkeypatch):
    monkeypatch.chdir(ball.parent)
    ball.rename("ryugu")
    assert find_subject("ryugu").body is not None
    with pytest.raises(InputError, match=r"mesh file extension|--unit"):
        find_subject("./ryugu", unit="km", gm=1.0)


def test_mistake_on_the_command_line_is_one_line():
    done = subprocess.run(
        [sys.executable, "-m", "alight", "body", "ryugo"], capture_output=True, text=True
    )
    assert done.returncode == 2
    # On a busy machine lines of progress come before it.
    said = [one for one in done.stderr.splitlines() if not one.startswith("Inspecting the body: ")]
    assert len(said) == 1
    assert said[0].startswith('alight: error: unknown body "ryugo".')


# -- times ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7.63262 h", 27477.432),
        ("275 min", 16500.0),
        ("5.41d", 467424.0),
        ("1e3 s", 1000.0),
        (" .5 h ", 1800.0),
        ("7.6 hours", 27360.0),
        ("3 days", 259200.0),
    ],
)
def test_times(text, seconds):
    assert parse_time("--period", text) == pytest.approx(seconds, rel=1e-14)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("7.6", "without a unit"),
        ("7.6 H", '"H" is no unit of time'),
        ("3 parsec", '"parsec" is no unit of time'),
        ("3 huor", 'did you mean "hour"?'),
        ("h", "does not start with a number"),
        ("7.6 h 3", '"h 3" is not a unit'),
        ("7,6 h", 'numbers have a point: did you mean "7.6 h"?'),
        ("nan h", "must be a finite time"),
        ("", "does not start with a number"),
        ("0 h", "must be at least 0.1 s"),
        ("-3 h", "must be at least 0.1 s"),
        ("1e400 h", "must be a finite time"),
    ],
)
def test_wrong_times(text, told):
    with pytest.raises(InputError) as caught:
        parse_time("--period", text)
    assert told in str(caught.value)
    assert '--period "7.63 h"' in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "say"),
    [
        (("--density", "1e300"), "at least 0.001 and at most 1000000"),
        (("--gm", "1e-300"), "at least 1e-12 and at most 1e+16"),
        (("--period", "1e-300 s"), "at least 0.1 s and at most 1e+11 s"),
        (("--period", "1e300 d"), "at least 0.1 s and at most 1e+11 s"),
        (("--facets", 10**12), "at most 5000000"),
        (("--figure", ""), "names no place"),
    ],
)
def test_absurd_values_are_refused_before_they_become_nan(arguments, say):
    assert say in str(_mistake("ryugu", *arguments))


def test_values_at_the_limits_give_finite_figures():
    for arguments in (("--density", 1e-3), ("--gm", 1e16), ("--period", "0.1 s")):
        _json("ryugu", "--facets", 80, *arguments)  # JSON refuses what is not finite


def test_no_name_and_a_name_too_long():
    assert "has no name" in str(_mistake(""))
    assert "unknown body" in str(_mistake("a" * 5000))
    assert "no file" in str(_mistake("a" * 5000 + ".obj", "--unit", "km", "--density", 1))


def test_file_names_keep_letters_of_every_script():
    assert command.file_stem("Ïtokawa Ü-2", "body") == "ïtokawa_ü_2"
    assert command.file_stem("../..", "body") == "body"


def test_narrow_terminal_breaks_no_figure(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    lines = _invoke("ryugu", "--facets", 80).stdout.splitlines()
    (row,) = (line for line in lines if "attraction" in line)
    assert "µm/s²" in row
    assert max(len(line) for line in lines if line.startswith("│")) <= 40
