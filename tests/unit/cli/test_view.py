"""``alight view``: writes a page of a campaign or a scenario, and refuses clearly."""

import json
import pathlib
import sys

import pytest
import typer
from typer.testing import CliRunner

from alight.cli import view as cli
from alight.core.errors import AlightError, InputError
from alight.views.viewer.container import opened

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "views" / "report"))

from landing_case import make_campaign

app = typer.Typer()
app.command()(cli.command)


@pytest.fixture
def folder(tmp_path):
    body = {"name": "Ryugu", "facets": 1280}
    return make_campaign(tmp_path / "campaign", 40, 40, body=body, title="<b>here</b>")


def _invoke(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def _mistake(*arguments):
    done = _invoke(*arguments)
    assert isinstance(done.exception, AlightError), done.exception or done.stdout
    return str(done.exception)


def test_a_campaign_becomes_a_page_with_all_rest_sites(folder, monkeypatch):
    launched = []
    monkeypatch.setattr(typer, "launch", launched.append)
    done = _invoke(folder, "--json")
    assert done.exit_code == 0, done.exception
    told = json.loads(done.stdout)
    page = pathlib.Path(told["page"])
    assert page == pathlib.Path(folder) / "view.html"
    assert told["rest_sites"] == 40
    assert told["runs"] == []
    assert any("no trajectory was kept" in note for note in told["notes"])
    assert launched == [page.resolve().as_uri()]
    text = page.read_text(encoding="utf-8")
    assert "&lt;b&gt;here" in text
    assert "<b>here" not in text
    header, arrays = opened(text.split('<script type="text/plain">')[1].partition("<")[0])
    assert header["title"] == "<b>here</b>"
    assert len(arrays["sites.run"]) == header["sites"]["count"]
    assert {one["name"] for one in header["target"]["colours"]} >= {"slope", "gravity"}


def test_mistakes(folder, tmp_path):
    assert "has runs 0 to 39" in _mistake(folder, "--run", 99, "--no-open")
    assert "is a scenario" in _mistake("ryugu_minerva", "--run", 1)
    assert "--release is for scenarios" in _mistake(folder, "--release")
    assert "watches the folder of a campaign" in _mistake("ryugu_minerva", "--live")
    wrong = _invoke(folder, "--out", tmp_path / "none" / "of" / "these" / "p.html").exception
    assert isinstance(wrong, AlightError)


def test_a_live_view_names_its_extra(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    said = _mistake(folder, "--live")
    assert 'pip install "alight[viser]"' in said


def test_a_live_view_follows_a_campaign(tmp_path):
    """More rest sites are there after another shard."""
    pytest.importorskip("viser", reason="the extra viser is not installed")
    from alight.campaign.reader import open_campaign
    from alight.staging.live import Live

    body = {"name": "Ryugu", "facets": 1280}
    place = make_campaign(tmp_path / "growing", 40, 20, shards=1, body=body, title="x<y")
    live = Live(pathlib.Path(place), 0)
    try:
        assert live.runs == 20
        assert "20 of 40 runs" in live.words.content
        assert "<" not in live.words.content
        assert live.show(open_campaign(place)) is False
        make_campaign(tmp_path / "growing", 40, 20, body=body, title="x<y")
        assert live.look() is True
        assert live.runs == 40
    finally:
        live.stop()


def test_a_capture_cannot_be_watched(tmp_path):
    pytest.importorskip("viser", reason="the extra viser is not installed")
    from alight.staging.live import Live

    place = make_campaign(tmp_path / "flat", 20, 20, body={}, ground={"kind": "plane"})
    with pytest.raises(InputError, match="no body to show live"):
        Live(pathlib.Path(place), 0)
