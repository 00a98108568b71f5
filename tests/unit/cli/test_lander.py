"""``alight lander``: tables, JSON, figures, and one clear line for every mistake."""

import json
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from alight.cli.main import app
from alight.core.errors import AlightError, FileError, InputError
from alight.scenario import landers
from alight.vehicles.rigid import hull_meshes
from alight.views.figures import lander as view


@pytest.fixture(autouse=True)
def small_pictures(monkeypatch):
    """Pictures of few pixels, for speed."""
    monkeypatch.setattr(view, "PIXELS", 120)
    monkeypatch.setattr(view, "PLAN_PIXELS", 60)


def _invoke(*arguments):
    return CliRunner().invoke(app, ["lander", *map(str, arguments)])


def _json(*arguments):
    done = _invoke(*arguments, "--json")
    assert done.exit_code == 0, done.exception
    return json.loads(done.stdout)


def _mistake(*arguments):
    done = _invoke(*arguments)
    assert isinstance(done.exception, AlightError), done.exception or done.stdout
    return done.exception


@pytest.fixture
def slab(tmp_path):
    """A hull in millimetres, off centre."""
    file = tmp_path / "slab.stl"
    hull_meshes.box([0.4, 0.25, 0.125]).translated([0.5, 0.0, -0.25]).save(file, unit="mm")
    return file


def test_table():
    done = _invoke("minerva-ii-1")
    assert done.exit_code == 0
    for text in (
        "MINERVA-II-1A", "1.1 kg", "18 × 18 × 7 cm", "2.677, 2.677, 4.455 g m²", "9.657 cm",
        "32", "JAXA", "[read]", "[derived]", "turntable",
    ):  # fmt: skip
        assert text in done.stdout, text
    assert "products" not in done.stdout
    assert "radius 5.00 cm" in _invoke("target marker").stdout


def test_json_agrees_with_the_library():
    told = _json("mascot", "--points", 20)
    rigid = landers.find("mascot").rigid(20)
    np.testing.assert_array_equal(told["points_m"], rigid.points)
    np.testing.assert_array_equal(told["inertia_kg_m2"], rigid.inertia)
    assert told["bounding_radius_m"] == rigid.bounding_radius
    assert told["mass_kg"] == 9.6
    assert told["sources"]["mass"].endswith("[unconfirmed]")
    assert told["figures"] == []


def test_own_hull(slab):
    told = _json(slab, "--unit", "mm", "--mass", 6)
    assert told["size_m"] == pytest.approx([0.4, 0.25, 0.125], rel=1e-6)
    assert told["center_of_mass_m"] == pytest.approx([0.5, 0.0, -0.25], abs=1e-7)
    assert told["inertia_kg_m2"][0][0] == pytest.approx(0.5 * (0.25**2 + 0.125**2), rel=1e-6)
    assert len(told["points_m"]) == 32
    assert "centre of mass in the shape" in _invoke(slab, "--unit", "mm", "--mass", 6).stdout


def test_list():
    shown = _invoke("--list").stdout
    assert all(name in shown for name in landers.names())
    assert [row["name"] for row in _json("--list")] == [*landers.names(), "dcap", "idefix"]


def test_figures(tmp_path):
    done = _invoke("hedgehog", "--figure", tmp_path / "new")
    assert done.exit_code == 0, done.exception
    names = {file.name for file in (tmp_path / "new").iterdir()}
    assert names == {"hedgehog.png", "hedgehog.svg"}
    told = _json("mascot", "--figure", tmp_path / "one.pdf")
    assert told["figures"] == [str(tmp_path / "one.pdf")]
    assert (tmp_path / "one.pdf").read_bytes()[:4] == b"%PDF"


def test_figures_of_landers_with_joints(tmp_path):
    told = _json("dcap", "--figure", tmp_path / "dcap.png")
    assert told["figures"] == [str(tmp_path / "dcap.png")]
    assert (tmp_path / "dcap.png").read_bytes()[:4] == b"\x89PNG"


def test_mistakes(tmp_path, slab):
    assert "no lander given" in str(_mistake())
    assert 'Did you mean "MASCOT"' in str(_mistake("maskot"))
    assert "number of contact points is 0" in str(_mistake("mascot", "--points", 0))
    assert "--mass is for mesh files" in str(_mistake("mascot", "--mass", 5))
    assert "--unit is for mesh files" in str(_mistake("mascot", "--unit", "mm"))
    assert "--mass 5" in str(_mistake(slab, "--unit", "mm"))
    assert "mass" in str(_mistake(slab, "--unit", "mm", "--mass", -2))
    assert isinstance(_mistake(slab, "--mass", 5), InputError)  # no unit
    assert isinstance(_mistake(tmp_path / "no.stl", "--unit", "mm", "--mass", 5), FileError)
    assert "name a folder" in str(_mistake("mascot", "--figure", "x.jpeg"))
    (tmp_path / "file").write_text("")
    assert isinstance(_mistake("mascot", "--figure", tmp_path / "file" / "deeper"), FileError)


def test_help_does_not_load_warp():
    script = "import sys; import alight.cli.lander; assert 'warp' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


# -- articulated landers --------------------------------------------------------------------------


def test_articulated_lander_is_told_by_its_parts():
    done = _invoke("dcap")
    assert done.exit_code == 0
    for text in (
        "6 bodies",
        "11 degrees of freedom",
        "362 kg",
        "prismatic on body",
        "gives at 400 N",
    ):
        assert text in done.stdout, text
    told = _json("DCAP")
    assert sum(body["mass_kg"] for body in told["bodies"]) == pytest.approx(told["mass_kg"])
    assert [d["kind"] for d in told["devices"]].count("crushable") == 3
    assert "dcap" in _invoke("--list").stdout


def test_urdf_file_is_told_too(tmp_path):
    file = tmp_path / "two.urdf"
    file.write_text(
        '<robot name="two"><link name="a"><inertial><mass value="2"/><inertia ixx="1" iyy="1" '
        'izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><link name="b"><inertial><mass '
        'value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>'
    )
    told = _json(file)
    assert told["mass_kg"] == 3.0
    assert [body["joint"] for body in told["bodies"]] == ["free", "revolute"]


def test_options_of_rigid_landers_are_refused():
    assert "--points is for rigid landers" in str(_mistake("dcap", "--points", 8))
