"""``alight report``: says where the page is, gives numbers to scripts, and refuses clearly."""

import json
import pathlib
import sys

import pytest
import typer
from typer.testing import CliRunner

from alight.cli import report as cli
from alight.core.errors import AlightError, FileError, InputError
from alight.shapes import icosphere
from alight.staging.ground import body_mesh

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # tests are no package

from landing_case import make_campaign

app = typer.Typer()
app.command()(cli.command)


@pytest.fixture
def folder(tmp_path):
    return make_campaign(tmp_path / "campaign", 40, 40)


def _invoke(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def _mistake(*arguments):
    done = _invoke(*arguments)
    assert isinstance(done.exception, AlightError), done.exception or done.stdout
    return done.exception


def test_says_where_the_page_is(folder):
    done = _invoke(folder)
    assert done.exit_code == 0, done.exception
    assert f"wrote {folder / 'report.html'}" in done.stdout
    assert "Where does it come to rest?" in done.stdout
    assert (folder / "report.html").is_file()


def test_json_has_the_key_numbers_and_the_page_opens(folder, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(typer, "launch", opened.append)
    done = _invoke(folder, "--json", "--open", "--out", tmp_path / "page.html")
    assert done.exit_code == 0, done.exception
    told = json.loads(done.stdout)
    assert told["report"] == str(tmp_path / "page.html")
    assert opened == [(tmp_path / "page.html").resolve().as_uri()]
    assert told["runs"] == 40
    assert set(told["settle_time_s"]) == {"p05", "median", "p95", "p99"}
    assert all((pathlib.Path(file)).is_file() for file in told["figures"])


def test_mistakes(folder, tmp_path):
    assert "no campaign given" in str(_mistake())
    wrong = _mistake(tmp_path / "nowhere")
    assert isinstance(wrong, FileError)
    assert "not the folder of a campaign" in str(wrong)
    refused = _mistake(folder, "--out", tmp_path / "page.pdf")
    assert isinstance(refused, InputError)
    assert ".html" in str(refused)
    assert not list(tmp_path.glob("page*"))


def test_body_of_a_scenario(tmp_path):
    mesh, note = body_mesh({"name": "Ryugu", "facets": 1280}, 320)
    assert mesh.n_faces <= 320
    assert not note
    file = tmp_path / "ball.obj"
    icosphere(3, 0.5).save(file, unit="km")
    mesh, note = body_mesh({"mesh": str(file), "unit": "km"}, 320)
    assert mesh.n_faces == 320  # simplified from 1280
    assert not note
    file.unlink()
    mesh, note = body_mesh({"mesh": str(file), "unit": "km"}, 320)
    assert mesh is None
    assert "ball.obj" in note
    assert body_mesh({}, 320) == (None, "")


def test_the_page_has_a_viewer_unless_it_is_left_out(folder):
    told = json.loads(_invoke(folder, "--json").stdout)
    page = pathlib.Path(told["report"])
    text = page.read_text("utf-8")
    assert text.count('class="alight-viewer"') == 1
    assert "http" not in text.partition("<script>")[2]
    assert told["viewer"]["bytes"] < 3_000_000
    flat = json.loads(_invoke(folder, "--no-3d", "--json").stdout)
    assert "viewer" not in flat
    assert "alight-viewer" not in page.read_text("utf-8")
